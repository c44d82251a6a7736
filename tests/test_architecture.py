"""The rules of the house that a machine can check: direction of imports, sizes, docstrings, forbidden names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
PACKAGE: Final = ROOT / "wowspec"
MAX_LINES: Final = 450

#: Imports go one way: a room imports from the rooms before it, and from itself.
ROOMS: Final = (
    "texts",
    "errors",
    "error_policy",
    "preconditions",
    "modeling",
    "messages",
    "world",
    "faults",
    "runtime",
    "specs",
    "exploration",
    "generation",
    "reporting",
    "plugin",
    "scaffold",
    "cli",
    "__main__",
)
#: The package itself loads every room lazily, by text; its imports for type checkers show the whole house.
ROOT_MODULE: Final = "__init__"

#: What would let the real world into the model: real time, chance, threads, event loops, the network.
FORBIDDEN_MODULES: Final = frozenset(
    {
        "aiohttp",
        "anyio",
        "asyncio",
        "concurrent",
        "http",
        "httpx",
        "multiprocessing",
        "random",
        "requests",
        "secrets",
        "select",
        "socket",
        "ssl",
        "subprocess",
        "threading",
        "time",
        "trio",
        "urllib",
    }
)
FORBIDDEN_CALLS: Final = re.compile(
    r"(^|\.)(datetime\.(now|utcnow|today)|date\.today|uuid[1-8]|uuid\.(uuid\w+|getnode)|time\.\w+|random\.\w+|asyncio\.\w+"
    r"|socket\.\w+|os\.urandom|getrandbits|perf_counter(_ns)?|monotonic(_ns)?)$"
)
#: Modules that touch the real world, and why; no result of theirs depends on it.
REAL_WORLD: Final = {
    "wowspec/cli.py": "`wowspec docs` runs pytest in a process of its own",
    "wowspec/exploration/executors.py": "plans are run in other processes",
    "wowspec/exploration/crew.py": "waits for what is done in other processes",
    "wowspec/exploration/workers.py": "holds a test open in another process, beside the one that answers jobs",
    "wowspec/exploration/progress.py": "a terminal is told no more often than a person reads",
    "wowspec/exploration/budget.py": "`max_seconds` ends an exploration after so many real seconds",
}


def modules(folder: Path) -> list[Path]:
    """Every Python file below a folder."""
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def name_of(path: Path) -> str:
    """A file's name in a test id."""
    return path.relative_to(ROOT).as_posix()


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def room_of(path: Path) -> str:
    """The room that a module of the package lies in."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> Iterator[tuple[int, str]]:
    """Line and room of each import of the package's own modules; imports for type checkers and in functions count."""
    package = ("wowspec", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            targets = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            target = (*base, *(node.module.split(".") if node.module else ()))
            # `from . import x` names rooms or modules; `from .errors import X` names things in one.
            targets = [(*target, alias.name) for alias in node.names] if len(target) == 1 else [target]
        else:
            continue
        for target in targets:
            if target[0] == "wowspec" and len(target) > 1:
                yield node.lineno, target[1]


def wrong_direction(path: Path) -> list[str]:
    """The imports of a module that do not go to its left."""
    room = room_of(path)
    if room == ROOT_MODULE:
        return []
    allowed = ROOMS[: ROOMS.index(room) + 1]
    return [
        f"{name_of(path)}:{line} imports {target}, which stands right of {room}"
        for line, target in imported_rooms(path)
        if target not in allowed
    ]


def dotted(node: ast.expr) -> str:
    """The dotted name of an expression, or empty."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def forbidden_names(path: Path) -> list[str]:
    """Uses of real time, chance, threads, event loops or the network in a module."""
    found = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found += [
                (node.lineno, alias.name) for alias in node.names if alias.name.split(".")[0] in FORBIDDEN_MODULES
            ]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            top = (node.module or "").split(".")[0]
            if top in FORBIDDEN_MODULES:
                found.append((node.lineno, top))
            elif top == "uuid":
                found += [(node.lineno, alias.name) for alias in node.names if alias.name.startswith("uuid")]
        elif isinstance(node, ast.Call) and FORBIDDEN_CALLS.search(dotted(node.func)):
            found.append((node.lineno, dotted(node.func)))
    return [f"{name_of(path)}:{line} uses {name}" for line, name in found]


@pytest.mark.parametrize("path", modules(PACKAGE), ids=name_of)
def test_imports_go_one_way(path):
    """A module imports from its own room and those left of it in the order of the house."""
    assert wrong_direction(path) == []


@pytest.mark.parametrize("path", modules(PACKAGE), ids=name_of)
def test_nothing_real_gets_in(path):
    """Time, ids and order come from the world alone, but for the modules whose business the real world is."""
    if name_of(path) not in REAL_WORLD:
        assert forbidden_names(path) == []


@pytest.mark.parametrize("path", [path for path in modules(PACKAGE) if room_of(path) != "generation"], ids=name_of)
def test_hypothesis_is_imported_by_generation_alone(path):
    """Whoever asks for no strategy does not pay for Hypothesis."""
    imported = [
        alias.name if isinstance(node, ast.Import) else node.module or ""
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    ]

    assert [name for name in imported if name.split(".")[0] == "hypothesis"] == []


@pytest.mark.parametrize("path", modules(PACKAGE), ids=name_of)
def test_module_is_short(path):
    """A module can be read in one sitting."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("path", modules(PACKAGE), ids=name_of)
def test_module_has_docstring(path):
    """Each module says what it is for."""
    assert ast.get_docstring(parsed(path))


@pytest.mark.parametrize("path", modules(PACKAGE), ids=name_of)
def test_module_postpones_annotations(path):
    """Each module with code begins with the same future import."""
    body = parsed(path).body[1:]
    if body:
        assert ast.unparse(body[0]) == "from __future__ import annotations"


@pytest.mark.parametrize(
    "path", [path for path in modules(ROOT / "tests") if path.name.startswith("test_")], ids=name_of
)
def test_every_test_has_docstring(path):
    """A test says in one sentence what must hold."""
    silent = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]

    assert silent == []


def test_every_room_is_in_the_order():
    """A new room or top-level module gets its place in the order before anything can import it."""
    rooms = {room_of(path) for path in modules(PACKAGE)} - {ROOT_MODULE}

    assert rooms <= set(ROOMS)


@pytest.mark.parametrize(
    ("place", "code", "rooms"),
    [
        ("world/x.py", "from ..errors import A", ["errors"]),
        ("world/x.py", "from .clock import A", ["world"]),
        ("world/x.py", "from . import clock", ["world"]),
        ("world/x.py", "from .. import runtime, errors", ["runtime", "errors"]),
        ("world/x.py", "def f():\n    from wowspec.specs.diff import A", ["specs"]),
        ("world/x.py", "import wowspec.runtime.gateway as g", ["runtime"]),
        ("world/x.py", "if TYPE_CHECKING:\n    from ..runtime.gateway import G", ["runtime"]),
        ("runtime/waiting/x.py", "from ...world.world import W", ["world"]),
        ("runtime/waiting/x.py", "from ..gateway import G", ["runtime"]),
        ("plugin.py", "from .specs.fixtures import make_factory", ["specs"]),
        ("plugin.py", "import pytest", []),
    ],
)
def test_the_import_check_sees(monkeypatch, place, code, rooms):
    """Each way of importing one's own package is seen, wherever it stands."""
    path = PACKAGE / place
    monkeypatch.setitem(globals(), "parsed", lambda _path: ast.parse(code))

    assert [room for _, room in imported_rooms(path)] == rooms


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("import time", True),
        ("from threading import Lock", True),
        ("from uuid import uuid4", True),
        ("from uuid import UUID", False),
        ("datetime.now(UTC)", True),
        ("datetime.datetime.now()", True),
        ("uuid.uuid4()", True),
        ("os.urandom(8)", True),
        ("world.clock.now()", False),
        ("datetime.fromtimestamp(0, UTC)", False),
        ("event.time()", False),
    ],
)
def test_the_name_check_sees(monkeypatch, code, seen):
    """Real time, chance and threads are seen; the world's own clock is not mistaken for them."""
    monkeypatch.setitem(globals(), "parsed", lambda _path: ast.parse(code))

    assert bool(forbidden_names(PACKAGE / "world" / "x.py")) is seen
