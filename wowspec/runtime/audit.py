"""What is remembered while commands run, for the always-on laws: exchanges, stored texts, mutations.

Functions decide on a state, a command and events that they must leave as they are. The modelled runtime would not
notice if one of them did not, so nothing is raised here: an `Audit` keeps what it found, and the laws report it after
the step. It compares JSON texts, taken before and after each function, and looks for the field only where they differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from pydantic_core import from_json

from ..errors import DecodeError, SpecError
from ..messages.codec import decode, encode
from ..messages.envelopes import DomainEventStream
from ..messages.equality import Difference, deep_difference
from ..messages.exchange import ServerCommandExchange
from ..modeling.identity import AggregateRef
from .sourcing import StateAggregate

#: JSON of each event of a stream, in order; None for what has no JSON.
Texts = tuple[bytes | None, ...]
UNKNOWN: Final[Texts] = ()


class Subject(StrEnum):
    """What a function must leave as it is."""

    STATE = "state"
    COMMAND = "command"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class Mutation:
    """A function changed what it must leave as it is.

    Attributes:
        place: the function, such as `Cart.add`.
        subject: what it changed.
        aggregate_id: whose command was being processed.
        value: class of the state, the command or the event.
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

    __slots__ = ("_seen", "_sourced", "decided", "errors", "exchanges", "mutations", "stored", "working")

    def __init__(self) -> None:
        self.exchanges: dict[str, ServerCommandExchange[Any]] = {}
        self.stored: list[DomainEventStream] = []
        self.decided: set[str] = set()
        self.working: list[tuple[DomainEventStream, StateAggregate]] = []
        self.mutations: list[Mutation] = []
        self.errors: list[SpecError] = []
        self._seen: set[tuple[Any, ...]] = set()
        self._sourced: dict[str, Texts] = {}

    def begin_step(self) -> None:
        """Forget the step before."""
        self.exchanges.clear()
        self.stored.clear()
        self.decided.clear()
        self.working.clear()
        self.mutations.clear()
        self.errors.clear()
        self._seen.clear()
        self._sourced.clear()

    def taken(self, exchange: ServerCommandExchange[Any]) -> None:
        """A command was taken from the bus."""
        self.exchanges[exchange.message.id] = exchange

    def watch(self, exchange: ServerCommandExchange[Any], state: StateAggregate) -> Watch:
        """Look at one attempt from before its first function on."""
        return Watch(self, exchange, state)

    def on_stored(self, stream: DomainEventStream) -> Texts:
        """A stream is about to be stored; its texts, which the store keeps beside it."""
        self.stored.append(stream)
        texts = self._sourced.pop(stream.id, None)
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

    def changed(
        self,
        place: str,
        subject: Subject,
        aggregate_id: AggregateRef,
        value: type,
        before: bytes | None,
        after: bytes | None,
    ) -> None:
        """Keep a finding, if two texts that differ stand for different values."""
        if before is None or after is None:
            return
        difference = difference_of(value, before, after)
        if difference is None:
            return
        mutation = Mutation(place, subject, aggregate_id, value, difference)
        key = mutation.key()
        if key not in self._seen:
            self._seen.add(key)
            self.mutations.append(mutation)


class Watch:
    """One attempt at one command: the texts of what its functions must leave as it is."""

    __slots__ = ("_audit", "_command", "_events", "_exchange", "_state", "_state_aggregate")

    def __init__(self, audit: Audit, exchange: ServerCommandExchange[Any], state: StateAggregate) -> None:
        self._audit = audit
        self._exchange = exchange
        self._state_aggregate = state
        self._command = audit.text_of(exchange.message.body)
        self._state = audit.text_of(state.state)
        self._events: Texts = UNKNOWN

    def ran(self, place: str) -> None:
        """A command or after-command function returned."""
        self.failed(place)
        state = self._state_aggregate.state
        text = self._audit.text_of(state)
        if text != self._state:
            self._changed(place, Subject.STATE, type(state), self._state, text)
            self._state = text

    def failed(self, place: str) -> None:
        """A function raised, or an error function ran; their state is thrown away, the command is not."""
        command = self._exchange.message.body
        text = self._audit.text_of(command)
        if text != self._command:
            self._changed(place, Subject.COMMAND, type(command), self._command, text)
            self._command = text

    def built(self, stream: DomainEventStream) -> None:
        """The stream was built and is about to be sourced."""
        self._events = self._audit.texts_of(stream)

    def sourced(self, stream: DomainEventStream) -> None:
        """The stream was sourced and is about to be stored."""
        audit = self._audit
        texts = audit.texts_of(stream)
        if texts != self._events:
            functions = self._state_aggregate.metadata.functions
            for event, before, after in zip(stream.events, self._events, texts, strict=True):
                if before != after:
                    kind = type(event.body)
                    function = functions.get(kind)
                    place = function.place if function is not None else self._state_aggregate.metadata.cls.__name__
                    self._changed(place, Subject.EVENT, kind, before, after)
        audit._sourced[stream.id] = texts

    def stored(self, stream: DomainEventStream) -> None:
        """The stream was stored, and its command is done."""
        self._audit.working.append((stream, self._state_aggregate))

    def _changed(self, place: str, subject: Subject, value: type, before: bytes | None, after: bytes | None) -> None:
        self._audit.changed(place, subject, self._exchange.message.aggregate_id, value, before, after)


def difference_of(value: type, before: bytes, after: bytes) -> Difference | None:
    """The first field in which two texts of a class differ; None if they stand for equal values."""
    try:
        return deep_difference(decode(value, before), decode(value, after))
    except (DecodeError, SpecError):
        return deep_difference(from_json(before), from_json(after))
