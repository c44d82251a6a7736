"""Work that goes from process to process, as plain JSON: what is asked of a worker, and what it answers."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import PurePath
from typing import Any, Final, TypedDict

import pytest


class SuiteJson(TypedDict):
    """How a worker opens the suite: folders, options as they were parsed, who asks."""

    root: str
    ini: str
    folder: str
    path: list[str]
    options: dict[str, Any]
    asker: str


class JobJson(TypedDict):
    """One job: items of a task about one spec of one test; `said` is the same for all of them."""

    suite: SuiteJson
    test: str
    task: str
    spec: int
    said: dict[str, Any]
    items: list[Any]


class ReplyJson(TypedDict):
    """The answer: a result for each item, null where the asker must do it; `refused`: why there is none at all."""

    results: list[Any]
    refused: str


#: Options that concern the asker alone, and what a worker has instead.
_ALONE: Final[dict[str, Any]] = {
    "basetemp": None,
    "collectonly": False,
    "dist": "no",
    "distload": False,
    "htmlpath": None,
    "looponfail": False,
    "maxfail": 0,
    "maxprocesses": None,
    "no_cov": True,
    "numprocesses": None,
    "timeout": 0,
    "trace": False,
    "tx": [],
    "usepdb": False,
    "wowspec_check_determinism": False,
    "wowspec_executor": "serial",
    "wowspec_fault_json": None,
    "wowspec_lint": False,
    "wowspec_strength_fail_under": None,
    "wowspec_strength_json": None,
    "wowspec_unreachable": None,
    "wowspec_unreachable_json": None,
    "xmlpath": None,
}
_PERTURBING: Final = (
    "wowspec_strength",
    "wowspec_strength_fail_under",
    "wowspec_strength_json",
    "wowspec_lint",
)
#: A process in which one session after another is opened has imported what the next one would rewrite.
_SECOND_SESSION: Final = "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning"


def this_process() -> str:
    """Tells processes of all machines apart."""
    return f"{platform.node()}:{os.getpid()}"


def suite_of(config: pytest.Config) -> SuiteJson:
    """What a worker needs to open the suite as this session did."""
    options = {name: _plain(value) for name, value in vars(config.option).items() if _is_plain(value)}
    # Whatever asks for perturbations, workers are to know of: they make them.
    perturbs = any(options.get(name) not in (None, False) for name in _PERTURBING)
    options |= {name: value for name, value in _ALONE.items() if name in options}
    options["wowspec_strength"] = perturbs
    # A test is held open while its plans are run: that takes longer than a test may hang.
    options["override_ini"] = [*(options.get("override_ini") or ()), "faulthandler_timeout=0"]
    options["pythonwarnings"] = [*(options.get("pythonwarnings") or ()), _SECOND_SESSION]
    options["plugins"] = [*(options.get("plugins") or ()), "no:terminal", "no:cacheprovider"]
    return {
        "root": str(config.rootpath),
        "ini": "" if config.inipath is None else str(config.inipath),
        "folder": str(config.invocation_params.dir),
        "path": list(sys.path),
        "options": options,
        "asker": this_process(),
    }


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    return value is None or isinstance(value, str | int | float | bool | PurePath)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, PurePath) else value
