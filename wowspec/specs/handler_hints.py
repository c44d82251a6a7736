"""What would mend mistakes within handlers, and in what they are given, as far as an error or their source shows it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import CoroutineType
from typing import Any, Final

from pydantic import ValidationError

from ..errors import CommandValidationError
from ..messages.envelopes import CommandMessage
from ..messages.records import attributes_of
from ..modeling.functions import HandlerFunction
from ..modeling.places import PACKAGE, short_path, tree_of
from ..modeling.unawaited import close_unawaited
from ..world.points import EVENT_DELIVER
from .items import CommandOf
from .misspelt import misspelt_field
from .nodes import Node
from .raising import named_in
from .render import BRIEF, render
from .row_hints import no_row_yet
from .run import Run

#: What Python says where a time with a zone meets one without.
_NAIVE: Final = "offset-naive"
#: Times that are named, and how deep they are looked for.
_MOST_NAMED: Final = 2
_DEEPEST: Final = 4
#: What runs later, if at all.
_OTHERS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def class_sent(run: Run, node: Node | None) -> str | None:  # noqa: ARG001
    """A command's class was sent, without any field."""
    command, error = run.command, run.error
    if not isinstance(command, CommandOf) or command.fields or type(error) is not CommandValidationError:
        return None
    name, field = command.command_class.__name__, next((each.name for each in error.binding_errors), "field")
    return f"{name} is a class, and is given no field: when({name}(...)), or when({name}, {field}=...)"


def of_error(run: Run, node: Node | None) -> str | None:  # noqa: ARG001
    """What led to the error of a command's function, where the error shows it."""
    if run.error is None or run.message is None or run.decided:
        return None
    return error_hint(run.error, run, run.message)


def error_hint(error: BaseException, run: Run, subject: Any) -> str | None:
    """What led to an error of the author's code.

    Args:
        error: the error; coroutines that it holds are closed.
        run: what it came up in.
        subject: the command, or the event, that was being handled.
    """
    if isinstance(error, ValidationError):
        return _unawaited(error)
    if isinstance(error, TypeError) and _NAIVE in str(error):
        return _naive(run, subject)
    return no_row_yet(error) or misspelt_field(error)


def _unawaited(error: ValidationError) -> str | None:
    found = None
    for row in error.errors(include_url=False, include_context=False):
        held = row["input"]
        if isinstance(held, CoroutineType):
            name, path = close_unawaited(held), ".".join(map(str, (error.title, *row["loc"])))
            found = found or f"{path} is given the coroutine of {name}(...): write `await` before the call"
    return found


def _naive(run: Run, subject: Any) -> str:
    bodies = [getattr(subject, "body", subject)]
    if isinstance(subject, CommandMessage):
        streams = run.session.runtime.event_store.peek(subject.aggregate_id)
        bodies += [event.body for stream in streams for event in stream.events]
    found = [f"{path} is {render(value, BRIEF)}" for body in bodies for path, value in _times(body)]
    if not found:
        return "a time without a zone meets one that has one, as the times of clock.now() have: UTC"
    named = " and ".join(list(dict.fromkeys(found))[:_MOST_NAMED])
    return f"{named}, without a time zone: write it with tzinfo=UTC, as clock.now() has it"


def _times(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, datetime]]:
    """The times without a zone that a body holds."""
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            yield path, value
    elif depth < _DEEPEST and not isinstance(value, str | bytes | int | float):
        if isinstance(value, Mapping):
            parts = [(f"{path}[{key!r}]", item) for key, item in value.items()]
        elif isinstance(value, Sequence):
            parts = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
        else:
            own = path or type(value).__name__
            parts = [(f"{own}.{name}", item) for name, item in attributes_of(value).items()]
        for name, item in parts:
            yield from _times(item, name, depth + 1)


def not_awaited(run: Run, node: Node | None) -> str | None:  # noqa: ARG001
    """Which async function is called by one that ran, and is not awaited."""
    for handler in _ran(run):
        for call, line in _dropped(handler):
            return f"{handler.place} calls {call}(...) without `await` ({line}): nothing in it runs"
    return None


def _ran(run: Run) -> Iterable[HandlerFunction]:
    aggregate = run.exchange.command_aggregate if run.exchange is not None else None
    if aggregate is not None and run.message is not None:
        yield from aggregate.makers(run.message)
    passed = {row.point for row in run.rows if row.point.startswith(EVENT_DELIVER)}
    for metadata in run.session.runtime.catalog.processors.values():
        for function in metadata.functions:
            if f"{EVENT_DELIVER}:{metadata.name}.{function.info.name}" in passed:
                yield function.handler


def _dropped(handler: HandlerFunction) -> Iterator[tuple[str, str]]:
    """Calls of async functions that stand alone, each with its place: what they give is thrown away."""
    function: Any = inspect.unwrap(handler.function)
    code = getattr(function, "__code__", None)
    if code is None or code.co_filename.startswith(PACKAGE):
        return
    tree = tree_of(function)
    if tree is None:
        return
    for node in _statements(tree.body):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            target = node.value.func
            if inspect.iscoroutinefunction(_meant(target, handler, function)):
                yield ast.unparse(target), f"{short_path(code.co_filename)}:{code.co_firstlineno + node.lineno - 1}"


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in body:
        if not isinstance(node, _OTHERS):
            yield node
            yield from _statements(ast.iter_child_nodes(node))


def _meant(target: ast.expr, handler: HandlerFunction, function: Any) -> Any:
    """What is called: a function, or a method of `self` or of a service that the handler asks for; else None."""
    first = target
    while isinstance(first, ast.Attribute):
        first = first.value
    if not isinstance(first, ast.Name):
        return None
    if first.id not in function.__code__.co_varnames:
        return named_in(target, function)
    if not isinstance(target, ast.Attribute) or target.value is not first:
        return None
    kinds = {each.name: each.wanted for each in handler.parameters}
    return getattr(handler.owner if first.id == "self" else kinds.get(first.id), target.attr, None)
