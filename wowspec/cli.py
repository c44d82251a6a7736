"""The command `wowspec`: living documentation of a suite, and a project to begin with."""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from .errors import SpecError
from .scaffold.new import Made, add_example, new_project
from .scaffold.source import Source, source_of

_DOCS: Final = "docs/scenarios"
#: What a shell says of a command that was used wrongly.
_USAGE: Final = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: those of the command line, unless others are given.

    Returns:
        The exit code: of `docs` that of pytest; 2 where something cannot be done.
    """
    said = list(sys.argv[1:] if arguments is None else arguments)
    place = said.index("--") if "--" in said else len(said)
    own, passed_on = said[:place], said[place + 1 :]
    parser = _parser()
    options = parser.parse_args(own)
    if options.command is None:
        parser.print_help()
        return 0
    if passed_on and options.command != "docs":
        parser.error("only `wowspec docs` passes arguments on to pytest, after --")
    try:
        return _docs(Path(options.dir or _DOCS), passed_on) if options.command == "docs" else _new(options)
    except (SpecError, OSError) as error:
        sys.stderr.write(f"wowspec {options.command}: {error}\n")
        return _USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wowspec",
        description="Given/when/expect specs for event-sourced aggregates. Specs are run by pytest; "
        "`pytest --help` lists the options of its plugin in groups of their own.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"wowspec {_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    docs = commands.add_parser(
        "docs",
        help="run the specs, and write them as scenarios for people who do not read Python",
        description="Run the specs with pytest, and write them as Markdown scenarios, a page for each aggregate and "
        "processor. Failing ones are marked. The exit code is pytest's.",
        epilog="example: wowspec docs docs/scenarios -- tests/orders -k paid -n 4",
        usage="wowspec docs [-h] [DIR] [-- PYTEST ARGUMENTS]",
        allow_abbrev=False,
    )
    docs.add_argument("dir", nargs="?", default=_DOCS, metavar="DIR", help=f"where the pages go ({_DOCS})")
    new = commands.add_parser(
        "new",
        help="make a small project whose specs pass",
        description="Make a folder NAME with a domain of one aggregate, its specs, and a spec that is run again under "
        "every fault.",
        epilog="example: wowspec new parcel-shop && cd parcel-shop && python -m pytest",
        allow_abbrev=False,
    )
    new.add_argument("name", metavar="NAME", help="words of a-z and 0-9 with - between them, such as parcel-shop")
    where = new.add_mutually_exclusive_group()
    where.add_argument("--dir", metavar="PATH", help="the folder in which NAME is made (the current one)")
    where.add_argument(
        "--into", metavar="PATH", help="add one file, tests/test_NAME.py, to the project in PATH instead of making one"
    )
    new.add_argument("--github", action="store_true", help="write a workflow of GitHub Actions, too")
    new.add_argument(
        "--from",
        dest="source",
        metavar="URL",
        help="where the project gets wowspec from, such as git+https://… of its repository (where this one came from)",
    )
    return parser


def _version() -> str:
    try:
        return version("wowspec")
    except PackageNotFoundError:
        return "(not installed)"


def _docs(folder: Path, passed_on: Sequence[str]) -> int:
    """Run pytest, in a process of its own: it must rewrite the assertions of modules that nobody imported before."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", f"--wowspec-report=docs:{folder}", *passed_on]
    process = subprocess.Popen(command)  # noqa: S603 - what its user asks for
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            # pytest was told, too, and still writes what it has.
            continue
        return code if code >= 0 else 128 - code


def _new(options: argparse.Namespace) -> int:
    if options.into is not None:
        if options.github:
            raise SpecError(
                "--into PATH --github", why="--into adds one spec file, and nothing else", instead="one of the two"
            )
        if options.source:
            raise SpecError(
                "--into PATH --from URL",
                why="the project has dependencies of its own, which --into leaves alone",
                instead=f'"wowspec @ {options.source}" among those that its tests need',
            )
        made = add_example(options.name, Path(options.into))
        sys.stdout.write(_told(made) + "\n")
        return 0
    source = source_of(options.source)
    made = new_project(options.name, Path(options.dir or "."), github=options.github, source=source)
    sys.stdout.write(_told(made) + _told_of_source(source, made, github=options.github) + "\n")
    return 0


def _told(made: Made) -> str:
    lines = [f"written in {made.folder}:", *(f"  {path}" for path in made.files), "", "next:"]
    if made.folder.resolve() != Path.cwd():
        lines.append(f"  cd {shlex.quote(str(made.folder))}")
    return "\n".join([*lines, *(f"  {_here(command)}" for command in made.commands)])


def _told_of_source(source: Source, made: Made, *, github: bool) -> str:
    """How another environment comes to run the specs."""
    text = "\n\nin another environment, first:\n" + "\n".join(f"  {command}" for command in made.elsewhere)
    if source.command:
        who = "The workflow, as any other machine," if github else "Another machine"
        text += (
            f"\n\n{who} cannot install wowspec from there. "
            "`wowspec new NAME --from git+URL` writes into pyproject.toml where it comes from."
        )
    return text


def _here(command: str) -> str:
    """The command as it is to be typed: the `python` of the path may be another one than this."""
    python = shutil.which("python")
    if python is None or Path(python).parent != Path(sys.executable).parent:
        return command.replace("python", shlex.quote(sys.executable), 1)
    return command
