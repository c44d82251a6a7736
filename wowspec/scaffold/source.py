"""Where this wowspec was installed from, and so what a new project has to ask for."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any, Final

from ..errors import SpecError

_NAME: Final = "wowspec"
#: How URLs begin that any machine may ask.
_SCHEMES: Final = ("git+https://", "git+ssh://", "git+http://", "https://", "http://")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a project gets wowspec from.

    Attributes:
        requirement: what stands among its dependencies; no path of one machine.
        command: what installs wowspec first, where the requirement alone finds none; else empty.
    """

    requirement: str = _NAME
    command: str = ""

    @property
    def is_direct(self) -> bool:
        """Whether the requirement holds a URL."""
        return self.requirement != _NAME


def source_of(url: str | None) -> Source:
    """The source that its user names, else the one that pip or its like wrote down at the installation (PEP 610).

    Args:
        url: `git+https://…` of a repository, or `https://…` of a wheel.

    Raises:
        SpecError: for a URL that is neither.
    """
    if url is None:
        return _of_direct_url(_direct_url())
    if not url.startswith(_SCHEMES) or any(map(str.isspace, url)) or '"' in url or "\\" in url:
        raise SpecError(
            f"--from {url} is no URL to install from",
            why="it is written into pyproject.toml, for pip on any machine",
            instead="--from git+https://… of a repository, or https://… of a wheel",
        )
    return Source(f"{_NAME} @ {url}")


def _direct_url() -> dict[str, Any]:
    """What was written down; nothing where wowspec came from an index, or is not installed."""
    try:
        text = distribution(_NAME).read_text("direct_url.json")
        found = json.loads(text) if text else {}
    except (PackageNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _of_direct_url(said: dict[str, Any]) -> Source:
    url = said.get("url")
    if not isinstance(url, str):
        return Source()
    repository = said.get("vcs_info")
    if isinstance(repository, dict):
        url = f"{repository.get('vcs', 'git')}+{url}@{repository.get('commit_id', 'HEAD')}"
        url += f"#subdirectory={said['subdirectory']}" if said.get("subdirectory") else ""
    if "file:" not in url:
        return Source(f"{_NAME} @ {url}")
    if isinstance(repository, dict):
        # Without the name: pip takes no `NAME @ git+file:…`.
        return Source(command=f"python -m pip install {shlex.quote(url)}")
    editable = "-e " if said.get("dir_info", {}).get("editable") else ""
    return Source(command=f"python -m pip install {editable}{shlex.quote(_path_of(url))}")


def _path_of(url: str) -> str:
    """The path that a `file:` URL stands for, where it reads the same; else the URL, which pip takes as well."""
    return url.removeprefix("file://") if url.startswith("file:///") and os.sep == "/" and "%" not in url else url
