"""What may stand in `given(...)` and `when(...)` besides bare events and commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypedDict, Unpack

from pydantic import ValidationError

from ..errors import IllegalArgumentError, SpecError
from ..messages.wait_plans import WaitFor, processed
from ..modeling.aggregates import aggregate_metadata
from ..world.clock import VirtualClock, datetime_nanos, duration_nanos
from .fields import require_known_fields
from .render import BRIEF, render, render_call

#: What is raised here is the author's mistake: pytest shows the line of theirs, not of ours.
__tracebackhide__ = True


@dataclass(frozen=True, slots=True)
class Options:
    """Whose and where: what an envelope says beside its body; None means unsaid."""

    owner_id: str | None = None
    space_id: str | None = None
    tenant_id: str | None = None


@dataclass(frozen=True, slots=True)
class On:
    """One aggregate instance: what is said of it, and (in `given`) its history."""

    aggregate: type
    id: str
    items: tuple[Any, ...] = ()
    options: Options = field(default=Options())

    def __repr__(self) -> str:
        return f"on({self.aggregate.__name__}, {self.id!r}{', ...' if self.items else ''})"

    def __wowspec_code__(self) -> tuple[str, list[tuple[str, Any]]]:
        options = [(name, getattr(self.options, name)) for name in Options.__dataclass_fields__]
        said = [(name, value) for name, value in options if value is not None]
        return "on", [("", self.aggregate), ("", self.id), *(("", item) for item in self.items), *said]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002
        """As Hypothesis prints it: the whole call, to be pasted."""
        _print_call(printer, "on", (self.aggregate, self.id, *self.items), self.options)


def on(
    aggregate: type,
    id: str,  # noqa: A002
    *items: Any,
    owner_id: str | None = None,
    space_id: str | None = None,
    tenant_id: str | None = None,
) -> On:
    """Speak of one instance: `on(Order, "o-1", OrderCreated(...), OrderPaid(...), owner_id="u-1")`.

    Args:
        aggregate: the aggregate root's class.
        id: its id.
        items: in `given`, its history: bare events, `stream(...)`, commands.
        owner_id: owner that the streams (and commands) name.
        space_id: space that they name.
        tenant_id: tenant of the instance.

    Raises:
        DefinitionError: if the class is no aggregate root.
        SpecError: if the id is blank.
    """
    aggregate_metadata(aggregate)
    text: Any = id
    if not isinstance(text, str) or not text.strip():
        raise SpecError(
            f"on({aggregate.__name__}, {render(id, BRIEF)}) has no id",
            why="it speaks of one instance, and an aggregate's id is text that is not blank",
            instead=f'on({aggregate.__name__}, "an-id", ...)',
        )
    require_texts("on", owner_id=owner_id, space_id=space_id, tenant_id=tenant_id)
    return On(aggregate, id, items, Options(owner_id, space_id, tenant_id))


@dataclass(frozen=True, slots=True)
class Stream:
    """Several events in one version, as one command that returned them all would store them."""

    events: tuple[Any, ...]
    options: Options = field(default=Options())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002
        """As Hypothesis prints it: the call, to be pasted."""
        _print_call(printer, "stream", self.events, self.options)


def stream(
    *events: Any, owner_id: str | None = None, space_id: str | None = None, tenant_id: str | None = None
) -> Stream:
    """Several events in one version: `given(stream(OrderCreated(...), StockReserved(...)))`.

    Raises:
        SpecError: without an event.
    """
    if not events:
        raise SpecError(
            "stream() without an event",
            why="a stream is what one command stored, and it stored something",
            instead="stream(OrderCreated(...), OrderPaid(...)), or nothing at all",
        )
    require_texts("stream", owner_id=owner_id, space_id=space_id, tenant_id=tenant_id)
    return Stream(events, Options(owner_id, space_id, tenant_id))


def _print_call(printer: Any, name: str, arguments: Sequence[Any], options: Options) -> None:
    """A call, written by a pretty printer of IPython's protocol."""
    named = [(option, getattr(options, option)) for option in Options.__dataclass_fields__]
    with printer.group(4, f"{name}(", ")"):
        for place, (option, value) in enumerate([*[("", value) for value in arguments], *named]):
            if option and value is None:
                continue
            if place:
                printer.text(",")
                printer.breakable()
            printer.text(f"{option}=" if option else "")
            printer.text(value.__name__) if isinstance(value, type) else printer.pretty(value)


#: The units of a duration, each in nanoseconds.
_UNITS: Final = (
    ("days", 86_400_000_000_000),
    ("hours", 3_600_000_000_000),
    ("minutes", 60_000_000_000),
    ("seconds", 1_000_000_000),
    ("milliseconds", 1_000_000),
)


@dataclass(frozen=True, slots=True)
class TimeStep:
    """Moves the world's clock: by a duration, or to an instant (both in nanoseconds)."""

    by: int = 0
    to: int | None = None

    def __wowspec_code__(self) -> tuple[str, list[tuple[str, Any]]]:
        if self.to is not None:
            return "at", [("", VirtualClock(self.to).now())]
        parts, rest = [], self.by
        for name, nanos in _UNITS:
            number, rest = divmod(rest, nanos)
            parts += [(name, number)] if number else []
        return "advance", parts


def advance(*, days: int = 0, hours: int = 0, minutes: int = 0, seconds: float = 0, milliseconds: int = 0) -> TimeStep:
    """Virtual time that passes between two items of `given`.

    Raises:
        SpecError: for a negative duration.
    """
    return TimeStep(by=_nanos(days, hours, minutes, seconds, milliseconds))


def _nanos(days: int, hours: int, minutes: int, seconds: float, milliseconds: int) -> int:
    try:
        return duration_nanos(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)
    except IllegalArgumentError:
        parts = {"days": days, "hours": hours, "minutes": minutes, "seconds": seconds, "milliseconds": milliseconds}
        said = ", ".join(f"{name}={value!r}" for name, value in parts.items() if value)
        raise SpecError(
            f"advance({said}) by a negative time",
            why="virtual time goes one way, as real time does",
            instead="advance(hours=2), or at(...) of an earlier instant before everything else",
        ) from None


def at(moment: datetime) -> TimeStep:
    """Set virtual time to an instant: `given(at(datetime(2024, 5, 1, tzinfo=UTC)), ...)`.

    Raises:
        SpecError: if the datetime has no time zone.
    """
    return TimeStep(to=datetime_nanos(moment))


@dataclass(frozen=True, slots=True)
class CommandOptions:
    """What a command's envelope says beside its body, and what its sender waits for; None means unsaid."""

    aggregate_id: str | None = None
    tenant_id: str | None = None
    owner_id: str | None = None
    space_id: str | None = None
    request_id: str | None = None
    expected_version: int | None = None
    header: Any = None
    wait_for: Any = None


NO_OPTIONS: Final = CommandOptions()


class Envelope(TypedDict, total=False):
    """What stands beside a command, for type checkers; what is left out is unsaid."""

    aggregate_id: str | None
    tenant_id: str | None
    owner_id: str | None
    space_id: str | None
    request_id: str | None
    expected_version: int | None
    header: Mapping[str, str] | None


class WaitingEnvelope(Envelope, total=False):
    """The same, and what its sender waits for."""

    wait_for: WaitFor | None


def wanted(wait_for: Any) -> WaitFor:
    """What a command's sender waits for: PROCESSED, unless it says something else."""
    if wait_for is None:
        return processed()
    if isinstance(wait_for, WaitFor):
        return wait_for
    raise SpecError(
        f"wait_for={wait_for!r}",
        why="it says which stage of the command its sender waits for",
        instead="wait_for=processed(), snapshot(), sent(), projected('shop', processor='OrderView'), …",
    )


@dataclass(frozen=True, slots=True)
class SentCommand:
    """A command with its envelope's options."""

    command: Any
    options: CommandOptions


def sent_as(command: Any, **options: Unpack[WaitingEnvelope]) -> SentCommand:
    """Put an envelope around a command in `given`: `given(sent_as(CreateOrder(...), owner_id="u-1"))`.

    Args:
        command: the command.
        options: as in `when`: `aggregate_id=`, `tenant_id=`, `owner_id=`, `space_id=`, `request_id=`,
            `expected_version=`, `header=`, `wait_for=`.
    """
    return SentCommand(command, command_options(options))


def command_options(options: Mapping[str, Any]) -> CommandOptions:
    """Options by name; an unknown one is a `SpecError` that lists them."""
    if not options:
        return NO_OPTIONS
    known = CommandOptions.__dataclass_fields__
    unknown = [name for name in options if name not in known]
    if unknown:
        raise SpecError(
            f"unknown option {unknown[0]!r} of a command",
            why="these stand beside the command, in its envelope; fields belong into the command",
            instead=" ".join(f"{name}=" for name in known),
        )
    for name, value in options.items():
        if name != "wait_for":
            _require(f"the option {name}=", name, value)
    return CommandOptions(**options)


def require_texts(verb: str, **values: Any) -> None:
    """Refuse an id, or a name, that is no text."""
    for name, value in values.items():
        _require(f"{verb}(..., {name}=", name, value)


def _require(place: str, name: str, value: Any) -> None:
    """Refuse an option of the wrong type: the model would fail far from here, or compare 2 with "2"."""
    if value is None:
        return
    end = ")" if "(" in place else ""
    if name == "expected_version":
        if type(value) is not int or value < 0:
            raise SpecError(
                f"{place}{render(value, BRIEF)}{end}",
                why="an aggregate's version is a whole number, 0 before its first stream",
                instead=f"{name}=2",
            )
    elif name == "header":
        entries = value.items() if isinstance(value, Mapping) else [(None, None)]
        if not all(isinstance(key, str) and isinstance(entry, str) for key, entry in entries):
            raise SpecError(
                f"{place}{render(value, BRIEF)}{end}",
                why="a header holds texts by their names",
                instead='header={"trace_id": "x"}',
            )
    elif not isinstance(value, str):
        raise SpecError(
            f"{place}{render(value, BRIEF)}{end}",
            why="ids are texts",
            instead=f"{name}={str(value)!r}",
        )


@dataclass(frozen=True, slots=True)
class CommandOf:
    """A command that is built at the gateway's boundary, so that a refusal of its fields is an outcome."""

    command_class: type
    fields: dict[str, Any]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.fields.items())
        return f"command_of({self.command_class.__name__}, {fields})"


def command_of(command_class: type, /, **fields: Any) -> CommandOf:
    """A command from its fields: a pydantic refusal becomes the outcome `CommandValidation`.

    Raises:
        SpecError: if it is no class.
    """
    if not isinstance(command_class, type):
        raise SpecError(
            f"command_of({command_class!r}, ...) is given no class",
            why="it builds the command from its class and fields",
            instead="command_of(Deposit, amount=0)",
        )
    require_known_fields("command_of", command_class, fields, CommandOptions.__dataclass_fields__)
    return CommandOf(command_class, fields)


def build_command(command: CommandOf) -> Any:
    """The command of a class and its fields.

    Raises:
        ValidationError: if pydantic refuses a field; the gateway's boundary makes an outcome of it.
        SpecError: if its constructor fails otherwise, which says nothing of the system under test.
    """
    try:
        return command.command_class(**command.fields)
    except (ValidationError, SpecError):
        raise
    except Exception as error:
        raise SpecError(
            f"{render_call(command.command_class.__name__, command.fields.items())} cannot be made: "
            f"{type(error).__name__}: {error}",
            why="only a refusal by pydantic is an outcome; here the constructor failed before anything was sent",
            instead=f"{command.command_class.__name__}(...) with fields that it takes, or pytest.raises around it",
        ) from error
