"""Where a new project gets wowspec from."""

from __future__ import annotations

import json
import tomllib

import pytest

from wowspec import SpecError
from wowspec.scaffold import source
from wowspec.scaffold.new import new_project
from wowspec.scaffold.source import Source, source_of


class Installed:
    """A distribution that was installed from somewhere."""

    def __init__(self, text):
        self._text = text

    def read_text(self, name):
        assert name == "direct_url.json"
        return self._text


def installed_from(monkeypatch, said):
    """What pip wrote down; None: it came from an index."""
    text = said if said is None or isinstance(said, str) else json.dumps(said)
    monkeypatch.setattr(source, "distribution", lambda name: Installed(text))


GIT = {"url": "https://example.org/wowspec.git", "vcs_info": {"vcs": "git", "commit_id": "abc123"}}


@pytest.mark.parametrize(
    ("said", "requirement"),
    [
        (None, "wowspec"),
        ("", "wowspec"),
        ("no JSON", "wowspec"),
        ("[]", "wowspec"),
        ({}, "wowspec"),
        (GIT, "wowspec @ git+https://example.org/wowspec.git@abc123"),
        (
            {**GIT, "subdirectory": "kit"},
            "wowspec @ git+https://example.org/wowspec.git@abc123#subdirectory=kit",
        ),
        ({"url": "https://example.org/w.whl", "archive_info": {}}, "wowspec @ https://example.org/w.whl"),
    ],
)
def test_what_any_machine_can_install_is_required(monkeypatch, said, requirement):
    """An index, a repository, a wheel behind a URL."""
    installed_from(monkeypatch, said)

    assert source_of(None) == Source(requirement)
    assert source_of(None).is_direct == (requirement != "wowspec")


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ({"url": "file:///home/ann/wowspec", "dir_info": {}}, "python -m pip install /home/ann/wowspec"),
        (
            {"url": "file:///home/ann/my%20kit", "dir_info": {"editable": True}},
            "python -m pip install -e file:///home/ann/my%20kit",
        ),
        ({"url": "file:///home/ann/w.whl", "archive_info": {}}, "python -m pip install /home/ann/w.whl"),
        (
            {"url": "file:///home/ann/w", "vcs_info": {"vcs": "git", "commit_id": "abc123"}},
            "python -m pip install git+file:///home/ann/w@abc123",
        ),
    ],
)
def test_a_folder_of_one_machine_is_told_and_not_written(monkeypatch, said, command, tmp_path):
    """Its path is in what is printed, and in no file of the project."""
    installed_from(monkeypatch, said)

    made = new_project("shop", tmp_path, github=True, source=source_of(None))

    assert source_of(None) == Source(command=command)
    assert made.elsewhere == (command, "python -m pip install -e '.[test]'")
    texts = {path: (made.folder / path).read_text() for path in made.files}
    assert [path for path, text in texts.items() if "/home/ann" in text] == []
    assert "from a folder of that machine" in texts["README.md"]


def test_it_may_not_be_installed(monkeypatch):
    """As in a folder that is on the path alone."""

    def missing(name):
        raise source.PackageNotFoundError(name)

    monkeypatch.setattr(source, "distribution", missing)

    assert source_of(None) == Source()


def test_a_repository_is_written_into_the_project(tmp_path):
    """Its build allows that, its extra has what the workflow needs, and nothing is to be installed first."""
    url = "git+https://example.org/wowspec.git"

    made = new_project("shop", tmp_path, github=True, source=source_of(url))

    config = tomllib.loads((made.folder / "pyproject.toml").read_text())
    assert f"wowspec @ {url}" in config["project"]["dependencies"]
    assert config["tool"]["hatch"]["metadata"]["allow-direct-references"] is True
    assert set(config["project"]["optional-dependencies"]["test"]) < set(config["dependency-groups"]["dev"])
    assert '-e ".[test]"' in (made.folder / ".github/workflows/specs.yml").read_text()
    assert made.elsewhere == ("python -m pip install -e '.[test]'",)
    assert "from a folder of that machine" not in (made.folder / "README.md").read_text()


@pytest.mark.parametrize("url", ["", "wowspec", "/home/ann/wowspec", "file:///x", 'git+https://x/"y', "https://x y"])
def test_other_urls_are_refused(url):
    """A path is nobody else's; a quote would end the text that it stands in."""
    with pytest.raises(SpecError, match="no URL to install from"):
        source_of(url)
