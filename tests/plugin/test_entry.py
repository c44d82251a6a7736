"""What a pytest run pays that has wowspec installed and does not use it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

PLUGINS = {entry.name for entry in entry_points(group="pytest11")}
INSTALLED = "wowspec" in PLUGINS

WHAT_IS_LOADED = """
import json, pathlib, sys

def test_trivial():
    heavy = {"wowspec", "hypothesis", "pydantic"}
    loaded = sorted(name for name in sys.modules if name.split(".")[0] in heavy)
    pathlib.Path("loaded.json").write_text(json.dumps(loaded))
"""


def run_pytest(folder, *arguments):
    """Run pytest in a fresh process in `folder`, with the plugin loaded as an installed one is."""
    plugin = [] if INSTALLED else ["-p", "wowspec.plugin"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", "GITHUB_"))
    }
    environment["PYTHONPATH"] = os.pathsep.join([os.getcwd(), environment.get("PYTHONPATH", "")])  # noqa: PTH109
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_unused_plugin_loads_its_entry_module_alone(tmp_path):
    """Of wowspec the package and the entry module are loaded, and neither Hypothesis nor pydantic."""
    (tmp_path / "test_trivial.py").write_text(WHAT_IS_LOADED)

    # Other people's plugins may load pydantic: this is about ours.
    others = [f"-pno:{name}" for name in PLUGINS - {"wowspec"}]
    finished = run_pytest(tmp_path, "-p", "no:hypothesispytest", *others)

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert json.loads((tmp_path / "loaded.json").read_text()) == ["wowspec", "wowspec.plugin"]


@pytest.mark.skipif(not INSTALLED, reason="the package is not installed here, so its entry point is not registered")
def test_plugin_can_be_switched_off(tmp_path):
    """With `-p no:wowspec` neither fixture is there."""
    (tmp_path / "test_it.py").write_text("def test_it(wowspec): pass")

    finished = run_pytest(tmp_path, "-p", "no:wowspec")

    assert "fixture 'wowspec' not found" in finished.stdout


def test_every_option_is_prefixed(tmp_path):
    """No option and no ini key of the plugin can collide with another plugin's."""
    added = []

    class Recorder:
        def addini(self, name, *_arguments, **_keywords):
            added.append(name)

        def addoption(self, *names, **_keywords):
            added.extend(name.removeprefix("--") for name in names)

        def getgroup(self, *_arguments):
            return self

    from wowspec import plugin

    plugin.pytest_addoption(Recorder())

    assert added
    assert all(name.startswith("wowspec") for name in added)


def test_no_autouse_fixture():
    """A test that asks for no fixture of the plugin gets none."""
    from wowspec import plugin

    markers = [getattr(value, "_fixture_function_marker", None) for value in vars(plugin).values()]
    fixtures = [marker for marker in markers if marker is not None]

    assert len(fixtures) >= 2
    assert not any(marker.autouse for marker in fixtures)
