"""What is remembered while commands run, for the always-on laws: exchanges, stored texts, mutations.

Functions decide on a state and a command that they must leave as they are. The modelled runtime would not notice if one
of them did not, so nothing is raised here: an `Audit` keeps what it found, and the laws report it after the step. What
is compared is a mark: the fields themselves where all are plain values, else the JSON text.
"""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import from_json

from ..errors import DecodeError, NotSerializableError, SpecError
from ..messages.codec import decode, encode
from ..messages.envelopes import DomainEventStream
from ..messages.equality import MISSING, Difference, deep_difference
from ..messages.exchange import ServerCommandExchange
from ..messages.records import attributes_of, slots_of
from ..modeling.functions import HandlerFunction
from ..modeling.identity import AggregateRef
from .returned import makers_of, no_event
from .sourcing import StateAggregate

#: JSON of each event of a stream, in order; None for what has no JSON.
Texts = tuple[bytes | None, ...]
UNKNOWN: Final[Texts] = ()


class Subject(StrEnum):
    """What a function must leave as it is."""

    STATE = "state"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Mutation:
    """A function changed what it must leave as it is.

    Attributes:
        place: the function, such as `Cart.add`.
        subject: what it changed.
        aggregate_id: whose command was being processed.
        value: class of the state or the command.
        difference: the first field that changed: `expected` is what it was, `actual` what it became.
    """

    place: str
    subject: Subject
    aggregate_id: AggregateRef
    value: type
    difference: Difference

    def key(self) -> tuple[Any, ...]:
        """Equal for what is found again, such as in a retry."""
        return self.place, self.subject, self.aggregate_id, self.value, self.difference.path


class Audit:
    """What happened in the current step of one runtime.

    Attributes:
        exchanges: of the commands that were taken from the bus, by command id; void ones too.
        stored: the streams that were stored, whoever did it, oldest first.
        decided: ids of those that commands of this world decided; the others are rivals' or the spec's.
        working: the state aggregate of each command that stored its stream and got the reply, with that stream.
        mutations: what functions changed although they must not, in order, each once.
        errors: what has no JSON: errors of the author's.
    """

    __slots__ = ("_decided", "_seen", "_written", "decided", "errors", "exchanges", "mutations", "stored", "working")

    def __init__(self) -> None:
        self.exchanges: dict[str, ServerCommandExchange[Any]] = {}
        self.stored: list[DomainEventStream] = []
        self.decided: set[str] = set()
        self.working: list[tuple[DomainEventStream, StateAggregate]] = []
        self.mutations: list[Mutation] = []
        self.errors: list[SpecError] = []
        self._seen: set[tuple[Any, ...]] = set()
        self._decided: dict[str, Texts] = {}
        self._written: tuple[DomainEventStream, Texts] | None = None

    def begin_step(self) -> None:
        """Forget the step before."""
        self.exchanges.clear()
        self.stored.clear()
        self.decided.clear()
        self.working.clear()
        self.mutations.clear()
        self.errors.clear()
        self._seen.clear()
        self._decided.clear()

    def taken(self, exchange: ServerCommandExchange[Any]) -> None:
        """A command was taken from the bus."""
        self.exchanges[exchange.message.id] = exchange

    def watch(self, exchange: ServerCommandExchange[Any], state: StateAggregate) -> Watch:
        """Look at one attempt from before its first function on."""
        return Watch(self, exchange, state)

    def built(self, stream: DomainEventStream) -> None:
        """A command's stream was built, and is about to be sourced: its texts are those of what was decided."""
        exchange = self.exchanges.get(stream.command_id)
        command = None if exchange is None else type(exchange.message.body)
        errors = self.errors
        known = len(errors)
        for event in stream.events:
            kind = type(event.body)
            alien = _ALIEN.get(kind)
            if alien is None:
                alien = _ALIEN[kind] = kind.__module__ == "builtins" or issubclass(kind, type)
            if alien or kind is command:
                errors.append(no_event(event.body, exchange))
        self._decided[stream.id] = self.texts_of(stream)
        if len(errors) > known:
            errors[known:] = [_made_by(error, exchange) for error in errors[known:]]

    def wrote(self, stream: DomainEventStream, texts: Texts) -> None:
        """A stream that no command decided is about to be stored; these are its texts."""
        self._written = (stream, texts)

    def tell(self, stream: DomainEventStream) -> None:
        """The spec itself publishes a stream that it wrote."""

    def done(self, stream: DomainEventStream, state: StateAggregate) -> None:
        """A command's stream was stored, and its state is the working state now."""
        self.working.append((stream, state))

    def on_stored(self, stream: DomainEventStream) -> Texts:
        """A stream is stored; its texts, which the store keeps beside it."""
        self.stored.append(stream)
        written, self._written = self._written, None
        if written is not None and written[0] is stream:
            return written[1]
        texts = self._decided.pop(stream.id, None)
        if texts is None:
            return self.texts_of(stream)
        self.decided.add(stream.id)
        return texts

    def texts_of(self, stream: DomainEventStream) -> Texts:
        """JSON of each event as it is now."""
        return tuple([self.text_of(event.body) for event in stream.events])

    def text_of(self, value: Any) -> bytes | None:
        """JSON of a value as it is now; None, and an error is kept, if it has none."""
        try:
            return encode(value)
        except SpecError as error:
            self.errors.append(error)
            return None

    def mark(self, value: Any) -> Mark:
        """What a value is now."""
        kind = type(value)
        shallow = _SHALLOW.get(kind)
        if shallow is None:
            shallow = _SHALLOW[kind] = _is_shallow(kind)
        if shallow:
            held: dict[str, Any] = value.__dict__
            if _PLAIN.issuperset(map(type, held.values())):
                return held.copy()
        return self.text_of(value)

    def is_as_marked(self, value: Any, mark: Mark) -> bool:
        """Whether a value is what it was; true where that is not known."""
        if type(mark) is dict:
            return bool(value.__dict__ == mark)
        return mark is None or self.text_of(value) == mark

    def changed(self, place: str, subject: Subject, aggregate_id: AggregateRef, value: Any, before: Mark) -> None:
        """Keep a finding, if a value really differs from its mark."""
        difference = self._difference(value, before)
        if difference is None:
            return
        mutation = Mutation(place, subject, aggregate_id, type(value), difference)
        key = mutation.key()
        if key not in self._seen:
            self._seen.add(key)
            self.mutations.append(mutation)

    def _difference(self, value: Any, before: Mark) -> Difference | None:
        if isinstance(before, dict):
            now = value.__dict__
            computed = now.keys() - attributes_of(value).keys()
            for name in {**before, **now}:
                if name in computed:
                    continue
                found = deep_difference(before.get(name, MISSING), now.get(name, MISSING))
                if found is not None:
                    path = name if not found.path or found.path.startswith("[") else f"{name}."
                    return Difference(path + found.path, found.expected, found.actual)
            return None
        after = self.text_of(value)
        return None if before is None or after is None else difference_of(type(value), before, after)


class Watch:
    """One attempt at one command: what its functions must leave as it is.

    Attributes:
        running: the function that was called last.
    """

    __slots__ = ("_audit", "_command", "_message", "_state", "_state_aggregate", "running")

    def __init__(self, audit: Audit, exchange: ServerCommandExchange[Any], state: StateAggregate) -> None:
        self.running: HandlerFunction | None = None
        self._audit = audit
        self._message = exchange.message
        self._state_aggregate = state
        self._command = audit.mark(exchange.message.body)
        self._state = audit.mark(state.state)

    def ran(self) -> None:
        """A command or after-command function returned."""
        self.failed()
        audit, state = self._audit, self._state_aggregate.state
        if not audit.is_as_marked(state, self._state):
            self._changed(Subject.STATE, state, self._state)
            self._state = audit.mark(state)

    def failed(self) -> None:
        """A function raised, or an error function ran: their state is thrown away, the command is not."""
        audit, command = self._audit, self._message.body
        if not audit.is_as_marked(command, self._command):
            self._changed(Subject.COMMAND, command, self._command)
            self._command = audit.mark(command)

    def _changed(self, subject: Subject, value: Any, before: Mark) -> None:
        place = self.running.place if self.running is not None else "a function"
        self._audit.changed(place, subject, self._message.aggregate_id, value, before)


def _made_by(error: SpecError, exchange: ServerCommandExchange[Any] | None) -> SpecError:
    """What has no JSON, with the functions that made it."""
    if type(error) is not NotSerializableError:
        return error
    return NotSerializableError(f"{makers_of(exchange)}: {error.what}", why=error.why, instead=error.instead)


#: What a value was: its fields, if all of them are plain; else its JSON; None if it has none.
Mark = dict[str, Any] | bytes | None

_PLAIN: Final[frozenset[type]] = frozenset(
    (
        str, int, bool, float, bytes, type(None), decimal.Decimal, dt.datetime, dt.date, dt.time, dt.timedelta,
        uuid.UUID,
    )
)  # fmt: skip
#: Whether an object of this class can be no event: one of Python's own, or itself a class.
_ALIEN: Final[dict[type, bool]] = {}
#: Whether all that an object of this class holds is in its dictionary.
_SHALLOW: Final[dict[type, bool]] = {}


def _is_shallow(kind: type) -> bool:
    if issubclass(kind, BaseModel):
        return kind.model_config.get("extra") != "allow"
    return bool(kind.__dictoffset__) and not slots_of(kind) and not issubclass(kind, dict | list | set | tuple | str)


def difference_of(value: type, before: bytes, after: bytes) -> Difference | None:
    """The first field in which two texts of a class differ; None if they stand for equal values."""
    try:
        return deep_difference(decode(value, before), decode(value, after))
    except (DecodeError, SpecError):
        return deep_difference(from_json(before), from_json(after))
