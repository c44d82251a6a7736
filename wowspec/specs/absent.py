"""What is missing, and whose it would be: sagas that are not in the world, or return nothing; other aggregates' events.

Sought only when a failure text is being made: among the classes that modules hold.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from types import CodeType, ModuleType
from typing import Any, Final

from ..errors import SpecError
from ..modeling.aggregates import aggregate_metadata
from ..modeling.claims import aggregates_of_event
from ..modeling.functions import HandlerFunction
from ..modeling.identity import AggregateRef
from ..modeling.places import place_of, tree_of
from ..modeling.processors import ProcessorKind, ProcessorMetadata, is_processor, processor_metadata
from ..world.points import EVENT_DELIVER
from .alignment import Match, Verdict
from .hints import Rule, kinds_of
from .matchers import known_fields
from .render import quoted
from .run import Run

_MOST_NAMED: Final = 3
_SAGA: Final = ProcessorKind.STATELESS_SAGA
_NESTED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def unsent(run: Run, wanted: Sequence[type]) -> str | None:
    """Why sagas did not send commands of these classes, as far as that can be told.

    Args:
        run: whose events sagas take.
        wanted: classes of the commands that are missing.
    """
    if run.error is not None or run.fired:
        return None
    found = absent(run, wanted)
    if found is not None or run.commands:
        return found
    sagas = [held for held in run.session.runtime.catalog.processors.values() if held.kind is _SAGA]
    if run.message is not None and not sagas:
        return "this world has no saga, and sagas send commands: .using(...) brings one, before when(...)"
    silent = [place_of(each) for each in _reached(run, sagas) if _returns_nothing(each.function)]
    return f"{', '.join(silent[:_MOST_NAMED])} returned None: a `return` may be missing" if any(silent) else None


def absent(run: Run, wanted: Sequence[type]) -> str | None:
    """Which saga takes an event of a run, names one of these command classes, and is not in its world."""
    held = run.session.runtime.catalog.processors
    kinds = list(dict.fromkeys(run.all_events.types)) if run.message is not None else []
    for cls, metadata in _known_sagas() if kinds and wanted else ():
        if cls in held:
            continue
        for function in metadata.functions:
            taken = next((kind for kind in kinds if issubclass(kind, function.handler.supported)), None)
            if taken is not None and _names(function.handler.function, wanted):
                name = cls.__name__
                return f"{name} takes {taken.__name__} and is not in this world: .using({name}) before when(...)"
    return None


def of_another(run: Run) -> Rule:
    """Finds an event of another aggregate where a command's own are expected, and says who stored it, or would have."""

    def rule(match: Match) -> str | None:
        missing = [row.expected for row in match.failures if row.verdict is Verdict.MISSING]
        kinds = [kind for item in missing for kind in ([item] if isinstance(item, type) else kinds_of(item))]
        return next((hint for kind in kinds if (hint := _of_another(run, kind)) is not None), None)

    return rule


def _of_another(run: Run, kind: type) -> str | None:
    message, owners = run.message, aggregates_of_event(kind)
    if message is None or len(owners) != 1:
        return None
    named, owner = message.aggregate_id.named_aggregate, aggregate_metadata(owners[0])
    if owner.named == named or kind in run.session.metadata_of(named).events:
        return None
    root = owner.command_class.__name__
    said = f"{kind.__name__} is an event of {root}"
    stored = next((event for event in run.all_events.envelopes if type(event.body) is kind), None)
    if stored is not None:
        instance = f"on({root}, {quoted(stored.aggregate_id.id)})"
        return f"{said}, {stored.aggregate_id} stored it: write expect_stored({instance}, ...) for its whole history"
    missing = absent(run, list(owner.functions)) if run.error is None else None
    return (
        f"{said}; {missing}" if missing else f"{said}, and {type(message.body).__name__} went to {message.aggregate_id}"
    )


def of_another_state(run: Run, reference: AggregateRef, fields: Iterable[str]) -> str | None:
    """Which other aggregate's state has a field that an instance's own has not."""
    named, world = reference.named_aggregate, run.session.runtime
    own = known_fields(run.session.metadata_of(named).state_class)
    for name in fields if own is not None else ():
        for other in world.catalog.aggregates.values():
            if name in (own or ()) or other.named == named or name not in (known_fields(other.state_class) or ()):
                continue
            held = [each for each in world.event_store.aggregate_ids() if each.named_aggregate == other.named]
            instance = quoted(held[0].id) if len(held) == 1 else "..."
            target = f"on({other.command_class.__name__}, {instance})"
            return f"{other.state_class.__name__} has a field {name}: expect_state({target}, {name}=...)"
    return None


def _known_sagas() -> Iterator[tuple[type, ProcessorMetadata]]:
    """The sagas that modules hold, each once, in the order of the modules' imports."""
    seen: set[type] = set()
    for module in list(sys.modules.values()):
        for value in _values(module):
            # By its type: what stands for something else until it is asked is not to be asked.
            if issubclass(type(value), type) and is_processor(value) and value not in seen:
                seen.add(value)
                # One that cannot be completed is in no world.
                with suppress(SpecError):
                    metadata = processor_metadata(value)
                    if metadata.kind is _SAGA:
                        yield value, metadata


def _values(module: ModuleType) -> list[Any]:
    try:
        # A module that is loaded when it is first looked at stays as it is.
        return list(object.__getattribute__(module, "__dict__").values())
    except AttributeError:
        return []


def _names(function: Callable[..., Any], wanted: Sequence[type]) -> bool:
    """Whether a function's code names one of these classes."""
    function = inspect.unwrap(function)
    held = getattr(function, "__globals__", {})
    return any(held.get(name) in wanted for name in _global_names(getattr(function, "__code__", None)))


def _global_names(code: CodeType | None) -> Iterator[str]:
    if code is not None:
        yield from code.co_names
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from _global_names(constant)


def _reached(run: Run, sagas: Sequence[ProcessorMetadata]) -> Iterator[HandlerFunction]:
    passed = {row.point for row in run.rows}
    for metadata in sagas:
        for function in metadata.functions:
            if f"{EVENT_DELIVER}:{metadata.name}.{function.info.name}" in passed:
                yield function.handler


def _returns_nothing(function: Callable[..., Any]) -> bool:
    """Whether no `return` of a function has a value, and it yields nothing."""
    tree = tree_of(function)
    return tree is not None and not any(map(_gives, _own(tree.body)))


def _own(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for node in body:
        if not isinstance(node, _NESTED):
            yield node
            yield from _own(list(ast.iter_child_nodes(node)))


def _gives(node: ast.AST) -> bool:
    return isinstance(node, ast.Yield | ast.YieldFrom) or (isinstance(node, ast.Return) and node.value is not None)
