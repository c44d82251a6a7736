"""Where a command function raises an error that did not come: the line, what it stands under, and what that saw.

Read from the function's source, and from that of what it calls of its own: methods of its class and of its state, and
functions of its module.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Final

from ..messages.equality import MISSING
from ..modeling.functions import HandlerFunction
from ..modeling.places import PACKAGE, short_path, tree_of
from ..runtime.sourcing import StateAggregate
from ..world.clock import VirtualClock
from ..world.user_clock import Clock
from .matchers import read
from .render import BRIEF, render, shorten
from .run import Run

#: Lines that are named, and values that their conditions saw.
_MOST_NAMED: Final = 3
#: A longer condition is cut.
_LONGEST_CONDITION: Final = 120
#: Functions that call each other are followed so far.
_DEEPEST: Final = 2
#: What may raise without being told where it was raised.
_CATCHING: Final = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)
_OPPOSITE: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Eq: ast.NotEq}
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Raising:
    """A `raise` that a command did not come to.

    Attributes:
        name: what is raised, as it is written.
        place: file and line.
        within: the function, as class and method.
        conditions: what the line stands under.
        owner: the function's object.
    """

    name: str
    place: str
    within: str
    conditions: tuple[ast.expr, ...]
    owner: Callable[..., Any]

    @property
    def under(self) -> str:
        """The conditions, as code; empty where it stands under none."""
        text = " and ".join(
            f"({shown})" if isinstance(each, ast.BoolOp) and len(self.conditions) > 1 else shown
            for each in self.conditions
            for shown in [ast.unparse(each)]
        )
        return shorten(text, _LONGEST_CONDITION)


def raisings(run: Run, handler: HandlerFunction, kind: type[BaseException] | None, match: str | None) -> list[Raising]:
    """The lines that would have raised an error, in the order of the source; empty where they cannot be told."""
    if run.attempts != 1:
        return []
    state = run.session.metadata_of(run.reference.named_aggregate).state.cls
    found = list(_followed(inspect.unwrap(handler.function), handler.owner, state, _DEEPEST, set()))
    kept = [each for each, node in found if kind is None or _is_of(node, each.owner, kind)]
    said = [each for each, node in found if each in kept and match is not None and _says(node, match)]
    kept = said or kept
    return kept if len(kept) <= _MOST_NAMED else []


def not_reached(run: Run, handler: HandlerFunction, found: Sequence[Raising], before: StateAggregate) -> list[str]:
    """Lines that say where it would have been raised, and what the conditions saw."""
    lines = []
    for each in found:
        under = f", if {each.under}" if each.conditions else ""
        lines.append(f"  not reached: raise {each.name} in {each.within} ({each.place}){under}")
    return lines + [f"    {line}" for line in _seen(run, handler, found, before)]


def asks_the_state(handler: HandlerFunction, found: Sequence[Raising]) -> bool:
    """Whether a condition may depend on what came before the command."""
    return any(_is_more_than_the_command(each, handler) for each in found if each.conditions)


# -- reading the source


def _followed(
    function: Any, owner: type, state: type | None, depth: int, seen: set[int]
) -> Iterator[tuple[Raising, ast.Raise]]:
    code = getattr(function, "__code__", None)
    if code is None or id(code) in seen or code.co_filename.startswith(PACKAGE):
        return
    seen.add(id(code))
    tree = tree_of(function)
    if tree is None:
        return
    alone = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node, conditions in _statements(tree.body, ()):
        if isinstance(node, ast.Raise):
            if node.exc is not None:
                place = f"{short_path(code.co_filename)}:{code.co_firstlineno + node.lineno - 1}"
                yield Raising(_name(node.exc), place, _place(function), conditions, function), node
        elif depth:
            called = _called(node, function, owner, state)
            # Nothing runs in a coroutine that is not awaited.
            if called is not None and not (id(node) in alone and inspect.iscoroutinefunction(called)):
                yield from _followed(inspect.unwrap(called), owner, state, depth - 1, seen)


def _statements(
    body: Sequence[ast.AST], conditions: tuple[ast.expr, ...]
) -> Iterator[tuple[ast.Raise | ast.Call, tuple[ast.expr, ...]]]:
    """Each `raise`, and each call, with the conditions that it stands under."""
    for node in body:
        if isinstance(node, _FUNCTIONS + _CATCHING):
            continue
        if isinstance(node, ast.If):
            yield from _statements([node.test], conditions)
            yield from _statements(node.body, (*conditions, node.test))
            yield from _statements(node.orelse, (*conditions, _negated(node.test)))
            continue
        if isinstance(node, ast.Raise | ast.Call):
            yield node, conditions
        if not isinstance(node, ast.Raise):
            yield from _statements(list(ast.iter_child_nodes(node)), conditions)


def _negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
        return ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def _called(node: ast.Call, function: Any, owner: type, state: type | None) -> FunctionType | None:
    """A function of the author's that is called by its plain name, or as a method of `self` or of the state."""
    target = node.func
    found: Any = None
    if isinstance(target, ast.Name):
        found = named_in(target, function)
    elif isinstance(target, ast.Attribute):
        before = ast.unparse(target.value)
        kind = owner if before == "self" else state if before in ("self.state", "state") else None
        found = getattr(kind, target.attr, None) if kind is not None else None
    return found if isinstance(found, FunctionType) else None


def named_in(node: ast.expr, function: Any) -> Any:
    """What a name stands for in a function; None if that cannot be told."""
    if isinstance(node, ast.Attribute):
        owner = named_in(node.value, function)
        return None if owner is None else getattr(owner, node.attr, None)
    if not isinstance(node, ast.Name):
        return None
    cells = inspect.getclosurevars(function) if function.__closure__ else None
    held = cells.nonlocals if cells is not None else {}
    return held.get(node.id, function.__globals__.get(node.id, getattr(builtins, node.id, None)))


def _is_of(node: ast.Raise, function: Any, kind: type[BaseException]) -> bool:
    exc = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    named = named_in(exc, function) if exc is not None else None
    return isinstance(named, type) and issubclass(named, kind)


def _says(node: ast.Raise, match: str) -> bool:
    texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return any(re.search(match, text) for text in texts)


def _name(exc: ast.expr) -> str:
    return ast.unparse(exc.func if isinstance(exc, ast.Call) else exc)


def _place(function: Any) -> str:
    return str(function.__qualname__).rpartition("<locals>.")[2]


# -- what the conditions saw


def _seen(run: Run, handler: HandlerFunction, found: Sequence[Raising], before: StateAggregate) -> list[str]:
    clocks = [each.name for each in handler.parameters if each.wanted is Clock]
    lines: list[str] = []
    whole = False
    for each in found:
        fields = list(_fields_of_state(each, before.state))
        lines += [f"{path} was {render(value, BRIEF)}" for path, value in fields]
        names = {node.id for test in each.conditions for node in ast.walk(test) if isinstance(node, ast.Name)}
        if names & set(clocks):
            lines.append(f"the time was {render(VirtualClock(run.rows[0].nanos).now(), BRIEF)}")
        whole = whole or (not fields and bool(each.conditions) and _is_more_than_the_command(each, handler))
    told = list(dict.fromkeys(lines))[:_MOST_NAMED]
    return [*told, f"the state was {render(before.state, BRIEF)}"] if whole and not told else told


def _fields_of_state(each: Raising, state: Any) -> Iterator[tuple[str, Any]]:
    """Fields of the state that a condition reads, as they were."""
    for test in each.conditions:
        for node in ast.walk(test):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self.state", "state"):
                value = read(state, node.attr)
                if value is not MISSING and not callable(value):
                    yield ast.unparse(node), value


def _is_more_than_the_command(each: Raising, handler: HandlerFunction) -> bool:
    """Whether a condition reads anything but the command, the time, and what its module holds."""
    known = set()
    if each.owner is inspect.unwrap(handler.function):
        parameters = [name for name in inspect.signature(each.owner).parameters if name != "self"]
        clocks = [parameter.name for parameter in handler.parameters if parameter.wanted is Clock]
        known = {*parameters[:1], *clocks}
    names = [node for test in each.conditions for node in ast.walk(test) if isinstance(node, ast.Name)]
    return any(node.id not in known and named_in(node, each.owner) is None for node in names)
