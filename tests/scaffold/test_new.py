"""What `wowspec new` writes, and what it refuses."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from wowspec import SpecError
from wowspec.scaffold import new
from wowspec.scaffold.new import add_example, new_project, package_of


def files_of(folder):
    """Every file below a folder, seen from there."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_project_is_written(tmp_path):
    """A package, its specs, and what pytest needs to find them."""
    made = new_project("parcel-shop", tmp_path)

    assert made.folder == tmp_path / "parcel-shop"
    assert files_of(made.folder) == sorted(made.files)
    assert "src/parcel_shop/domain.py" in made.files
    assert files_of(tmp_path) == [f"parcel-shop/{path}" for path in files_of(made.folder)]


def test_its_files_are_what_they_should_be(tmp_path):
    """TOML, Python, and no placeholder left."""
    made = new_project("parcel-shop", tmp_path, github=True)

    config = tomllib.loads((made.folder / "pyproject.toml").read_text())
    assert config["project"]["name"] == "parcel-shop"
    assert config["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["src/parcel_shop"]
    for path in made.files:
        text = (made.folder / path).read_text()
        assert text.endswith("\n")
        assert "$package" not in text
        assert "$name" not in text
        if path.endswith(".py"):
            assert ast.get_docstring(ast.parse(text))
    assert "python-version: ${{ matrix.python-version }}" in (made.folder / made.files[-1]).read_text()


def test_a_workflow_is_written_only_where_it_is_asked_for(tmp_path):
    """Not everybody is on GitHub."""
    assert ".github/workflows/specs.yml" not in new_project("one", tmp_path).files
    assert ".github/workflows/specs.yml" in new_project("two", tmp_path, github=True).files


def test_an_empty_folder_is_taken(tmp_path):
    """Somebody made it for the purpose."""
    (tmp_path / "shop").mkdir()

    assert files_of(new_project("shop", tmp_path).folder)


def test_the_example_s_specs_pass(tmp_path, monkeypatch):
    """Each function of the one file that is added, called as it stands."""
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'theirs'\n")
    made = add_example("shop", tmp_path)
    spec = importlib.util.spec_from_file_location("shop_example", tmp_path / made.files[0])
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "shop_example", module)
    spec.loader.exec_module(module)

    called = [name for name in vars(module) if name.startswith("test_")]
    for name in called:
        if name == "test_a_table_has_eight_seats":
            module.test_a_table_has_eight_seats(9)
        elif "whatever_fails" not in name:
            getattr(module, name)()

    assert len(called) == 6
    assert made.files == ("tests/test_shop.py",)
    assert made.commands == ("python -m pytest tests/test_shop.py",)
    assert (tmp_path / "pyproject.toml").read_text() == "[project]\nname = 'theirs'\n"


@pytest.mark.parametrize(
    ("name", "what", "instead"),
    [
        ("", "'' is no name", "wowspec new parcel-shop"),
        ("Parcel Shop", "'Parcel Shop' is no name", "wowspec new parcel-shop"),
        ("../shop", "'../shop' is no name", "wowspec new shop"),
        ("1st", "'1st' is no name", "wowspec new parcel-shop"),
        ("shop-", "'shop-' is no name", "wowspec new shop"),
        ("json", "'json' is taken", "wowspec new json-shop"),
        ("class", "'class' is taken", "wowspec new class-shop"),
        ("wowspec", "'wowspec' is taken", "wowspec new wowspec-shop"),
        ("tests", "'tests' is taken", "wowspec new tests-shop"),
    ],
)
def test_bad_names_are_refused(tmp_path, name, what, instead):
    """With one that would do; nothing is written."""
    for make in (new_project, add_example):
        with pytest.raises(SpecError) as caught:
            make(name, tmp_path)
        assert what in caught.value.what
        assert instead in caught.value.instead
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "package"), [("shop", "shop"), ("parcel-shop", "parcel_shop"), ("a_b-2", "a_b_2")])
def test_packages_are_named_after_projects(name, package):
    """As Python wants it."""
    assert package_of(name) == package


def test_what_is_there_is_left_alone(tmp_path):
    """A folder that is not empty, a file in its place, no folder to make it in."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    (tmp_path / "file").write_text("x")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "pyproject.toml").write_text("")
    before = files_of(tmp_path)

    with pytest.raises(SpecError, match="is not empty"):
        new_project("full", tmp_path)
    with pytest.raises(SpecError, match="is a file"):
        new_project("file", tmp_path)
    with pytest.raises(SpecError, match="there is no folder"):
        new_project("shop", tmp_path / "nowhere")
    with pytest.raises(SpecError, match="wowspec new project --into"):
        new_project("project", tmp_path)
    with pytest.raises(SpecError, match=r"has no pyproject\.toml"):
        add_example("shop", tmp_path / "full")

    assert files_of(tmp_path) == before


def test_an_example_is_not_written_over(tmp_path):
    """Somebody may have changed it."""
    (tmp_path / "pyproject.toml").write_text("")
    add_example("shop", tmp_path)

    with pytest.raises(SpecError, match=r"test_shop\.py is there already"):
        add_example("shop", tmp_path)


def test_nothing_half_done_is_left(tmp_path, monkeypatch):
    """Whatever stops it: the disk is full, somebody interrupts."""

    def full(folder, texts):
        (folder / "README.md").write_text("x")
        raise OSError("no space left on device")

    monkeypatch.setattr(new, "_write_all", full)

    with pytest.raises(OSError, match="no space"):
        new_project("shop", tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_two_at_once_do_not_mix(tmp_path):
    """The second one is told of the first."""
    (tmp_path / ".shop.being-made").mkdir()

    with pytest.raises(SpecError, match="is there already"):
        new_project("shop", tmp_path)

    assert (tmp_path / ".shop.being-made").is_dir()


@pytest.mark.long
@pytest.mark.parametrize("into", [False, True], ids=["new", "into"])
def test_a_project_is_clean_and_its_specs_pass(tmp_path, into):
    """Pytest with warnings as errors, also as a sweep; mypy and ruff by the project's own configuration."""
    made = new_project("parcel-shop", tmp_path)
    if into:
        add_example("desk", made.folder)
    commands = [
        ["pytest", "-q", "-W", "error", "-p", "no:asyncio"],
        ["pytest", "-q", "-W", "error", "-p", "no:asyncio", "--wowspec-faults=sweep", "--wowspec-strength"],
        ["mypy"],
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
    ]

    for command in commands:
        environment = {"PYTHONPATH": str(Path(__file__).parent.parent.parent), "PATH": "/usr/bin:/bin"}
        finished = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=made.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert finished.returncode == 0, f"{command}\n{finished.stdout}{finished.stderr}"
