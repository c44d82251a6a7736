"""What was put where it does not belong: each stranger in `given(...)` or `when(...)` is told where it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import CoroutineType, GeneratorType
from typing import Any, Final
from weakref import WeakSet

from ..errors import SpecError
from ..faults.values import Fault, FaultPoint
from ..messages.envelopes import CommandMessage, DomainEvent, DomainEventStream
from ..modeling.aggregates import AggregateMetadata, aggregate_metadata, is_aggregate
from ..modeling.claims import aggregate_of_command, aggregates_of_event
from ..modeling.processors import is_processor
from .items import On, SentCommand, Stream, TimeStep
from .matchers import is_loose
from .render import BRIEF, render
from .undeclared import takes

_PLAIN: Final = (str, bytes, int, float, complex, dict)
#: Classes whose objects were found to be at home in `given(...)`, and those at home in `when(...)`: each is asked once.
_AT_HOME: Final[WeakSet[type]] = WeakSet()
_SENDABLE: Final[WeakSet[type]] = WeakSet()


def require_item(item: Any, place: int) -> None:
    """Refuse what can be neither an event nor a command nor anything else that happened before.

    Raises:
        SpecError: which says where it belongs.
    """
    kind = type(item)
    if kind in _AT_HOME:
        return
    found = _stranger(item, "given")
    if found is None:
        _AT_HOME.add(kind)
    else:
        why, instead = found
        raise SpecError(f"item {place + 1} of given(...) is {_said(item)}", why=why, instead=instead)


def refuse_coroutine(answer: Any, what: str) -> None:
    """Refuse what an `async` function (or one that yields) gave: it would never run, and count as a yes.

    Raises:
        SpecError: which says so.
    """
    if isinstance(answer, CoroutineType | GeneratorType):
        name = answer.__qualname__.rpartition(".")[2]
        asynchronous = isinstance(answer, CoroutineType)
        answer.close()
        raise SpecError(
            f"{what} is {'an async function' if asynchronous else 'a generator'}: {name}",
            why="it is called once and not awaited, so nothing in it would have run",
            instead=f"def {name}(...): ... without {'async' if asynchronous else 'yield'}",
        )


def require_command(command: Any) -> None:
    """Refuse what cannot be a command, or stands for one of another sort.

    Raises:
        SpecError: which says where it belongs.
    """
    kind = type(command)
    if kind in _SENDABLE:
        return
    refuse_coroutine(command, "the function of when(...)")
    found = _stranger(command, "when") or _no_command(command)
    if found is None:
        _SENDABLE.add(kind)
    else:
        why, instead = found
        raise SpecError(f"when(...) is given {_said(command)}", why=why, instead=instead)


def refuse_more_commands(command: Any, more: Sequence[Any]) -> None:
    """Refuse several commands where one is sent.

    Raises:
        SpecError: which says how several are sent.
    """
    said = ", ".join(map(_said, (command, *more)))
    raise SpecError(
        f"when({said}) is given {len(more) + 1} commands",
        why="one command is sent at a time, so that what is expected is of that one",
        instead="given(first).when(second), .when(first).expect_...(...).when(second), or when_concurrently(...)",
    )


def require_command_class(command_class: type) -> None:
    """Refuse the class of an event where one of a command belongs.

    Raises:
        SpecError: which says so.
    """
    found = _event_class(command_class)
    if found is not None:
        why, instead = found
        raise SpecError(f"when({command_class.__name__}, ...) is given an event's class", why=why, instead=instead)


def _said(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, GeneratorType):
        return f"the generator {value.__name__}"
    return render(value, BRIEF)


def _stranger(item: Any, verb: str) -> tuple[str, str] | None:
    """Why something is out of place in a verb, and what to write instead; None if it may be at home there."""
    if item is None:
        what = "happened" if verb == "given" else "could be sent"
        return (
            f"None is nothing that {what}; a helper may have lost its `return`",
            "given() for nothing" if verb == "given" else "when(SomeCommand(...))",
        )
    if isinstance(item, list | tuple | set | frozenset | GeneratorType) and not hasattr(item, "_fields"):
        return (
            f"{verb}(...) takes {'its items' if verb == 'given' else 'one command'}, not a collection of them",
            "unpack it: given(*events), on(T, id, *events), or stream(*events) for several in one version"
            if verb == "given"
            else "when(first).expect_...(...).when(second)",
        )
    if is_loose(item):
        return (
            "a matcher loosens what is expected; what happened or is sent is exact",
            "the event itself" if verb == "given" else "the command itself, or a function of the run so far",
        )
    if isinstance(item, Fault | FaultPoint):
        return "a fault is neither an event nor a command", f".with_faults(...) {_near(verb)}"
    if hasattr(type(item), "expect_events") and hasattr(type(item), "with_faults"):
        return "a spec is no part of another one", "the spec itself: it is immutable, so go on with it"
    if isinstance(item, BaseException):
        return "an error is raised by a handler, or injected by a fault", f".with_faults(...) {_near(verb)}"
    if isinstance(item, DomainEvent | DomainEventStream | CommandMessage):
        body = "sent_as(command, ...)" if verb == "given" else "when(command, owner_id=...)"
        return "envelopes are made by the kit from the bodies and their options", f"its body; {body}"
    if isinstance(item, _PLAIN):
        return "events and commands are objects of classes of their own", f"{verb}({_example(verb)})"
    if verb == "given" and callable(item) and not isinstance(item, type) and not hasattr(type(item), "model_fields"):
        return "what happened before is known before anything runs", "its result: given(make())"
    kind = type(item)
    if is_aggregate(kind) and not aggregates_of_event(kind) and aggregate_of_command(kind) is None:
        state = aggregate_metadata(kind).state_class.__name__
        return "an aggregate's history consists of events", f"spec({kind.__name__}).given_state({state}(...))"
    return None


def _no_command(command: Any) -> tuple[str, str] | None:
    """What may stand in `given(...)` and not in `when(...)`."""
    if isinstance(command, On):
        return "one command is sent; its own fields or options say whereto", "when(command, aggregate_id='o-1')"
    if isinstance(command, SentCommand):
        return "an envelope is put around a command of given(...) that way", "when(command, owner_id=...)"
    if isinstance(command, Stream):
        return "when(...) sends a command", "given(stream(...))"
    if isinstance(command, TimeStep):
        return "time passes between steps", f".given({render(command, BRIEF)}).when(SomeCommand(...))"
    kind = type(command)
    if is_aggregate(kind) or is_processor(kind):
        return None
    return _event_class(kind)


def _event_class(kind: type) -> tuple[str, str] | None:
    owner = next(iter(aggregates_of_event(kind)), None)
    if owner is not None and aggregate_of_command(kind) is None:
        return (
            f"{kind.__name__} is an event of {owner.__name__}, and when(...) sends a command",
            f"given({kind.__name__}(...)), or when(...) of a command that leads to it",
        )
    return None


def unmarked_taker(command_class: type, aggregates: Iterable[AggregateMetadata]) -> str | None:
    """A method of these aggregate roots that is annotated with the class, as if it were a command function."""
    for metadata in aggregates:
        for name, method in vars(metadata.command_class).items():
            if not name.startswith("_") and takes(method, command_class):
                return f"{metadata.command_class.__name__}.{name}"
    return None


def _near(verb: str) -> str:
    return "before when(...)" if verb == "given" else "before it"


def _example(verb: str) -> str:
    return "OrderCreated(...)" if verb == "given" else "CreateOrder(...)"
