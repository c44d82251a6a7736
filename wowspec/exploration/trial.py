"""One run under a plan, as its laws look at it: its ledgers, the fault-free run, what processors should make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from ..messages.codec import encode
from ..messages.envelopes import CommandMessage
from ..world.points import Room
from ..world.trace import TraceRow
from ..world.world import LoggedFailure
from .ledgers import Ledgers
from .playing import Played, Way
from .reference import Made, RowKey, made_by, reference

K = TypeVar("K")

#: How many references are remembered at once, so that memory stays flat.
_MOST_REFERENCES = 64
#: Records of failed event functions are no facts of the domain.
_EXECUTION_FAILED = "execution_failed"


@dataclass(frozen=True, slots=True)
class Allowances:
    """What the author of a spec declares to be right under faults.

    Attributes:
        ambiguous: classes of errors that say nothing of the outcome: whoever gets one does not know it.
        alternatives: classes of commands that sagas may send in place of others.
        laws_off: names of laws that are not checked.
    """

    ambiguous: tuple[type[BaseException], ...] = ()
    alternatives: tuple[type, ...] = ()
    laws_off: frozenset[str] = frozenset()


@dataclass(eq=False)
class Trial:
    """One run, to be judged.

    Attributes:
        way: the steps of the spec.
        played: the run.
        base: the fault-free run; None for that run itself.
        allowed: what the author declares to be right.
        asked: whether a recovery was tried in which somebody looked at what is stored.
        references: of the fault-free run: what is due, by facts.
    """

    way: Way
    played: Played
    base: Trial | None = None
    allowed: Allowances = field(default_factory=Allowances)
    asked: bool = False
    references: dict[object, Made] = field(default_factory=dict, repr=False)

    @cached_property
    def ledgers(self) -> Ledgers:
        """What the run left behind."""
        return Ledgers(self.played)

    @cached_property
    def made(self) -> Made:
        """What processors made in this run."""
        return made_by(self.ledgers)

    @cached_property
    def due(self) -> Made:
        """What they should have made of the facts that it stored."""
        return self._reference(later=False)

    @cached_property
    def due_later(self) -> Made:
        """The same, handled at another time."""
        return self._reference(later=True)

    def _reference(self, *, later: bool) -> Made:
        """Runs that stored the same facts share what is due: many do."""
        known = (self.base or self).references
        key = (later, facts_key(self.ledgers))
        found = known.get(key)
        if found is None:
            if len(known) >= _MOST_REFERENCES:
                known.clear()
            found = known[key] = reference(self.way, self.played, later=later)
        return found

    @cached_property
    def went_straight(self) -> bool:
        """Whether processors heard each public event once, in order, without an error: they made what is due."""
        if any(entry.point.startswith("event.") for entry in self.played.session.world.log):
            return False
        if any(row.was_struck and self._concerns_processors(row) for row in self.played.rows):
            return False
        return self._heard() == self._should_hear()

    def _concerns_processors(self, row: TraceRow) -> bool:
        """Whether a point is one within a processor's function, or one that a saga's command passes as it is sent.

        A crash concerns everybody, whoever's point it strikes.
        """
        if row.outcome.startswith("crash"):
            return True
        room = row.lane.room
        if room is Room.GATEWAY:
            return (
                isinstance(row.subject, CommandMessage) and self.ledgers.armory.chains.cause_of(row.subject) is not None
            )
        return room not in (Room.COMMAND, Room.SNAPSHOT)

    def _heard(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for function, event_id in self.ledgers.delivered:
            processor = function.partition(".")[0]
            kind = self._kinds.get(function, "")
            found.setdefault((processor, kind), []).append(event_id)
        return found

    def _should_hear(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        functions = [
            function
            for dispatcher in self.played.session.runtime.event_dispatchers()
            for function in dispatcher.functions
        ]
        for stream in self.ledgers.public:
            named = stream.aggregate_id.named_aggregate
            for event in stream.events:
                for function in functions:
                    if named not in function.topics:
                        continue
                    if not function.handler.wraps_state and not isinstance(event.body, function.handler.supported):
                        continue
                    key = (function.info.processor_name, function.info.kind.value)
                    found.setdefault(key, []).append(event.id)
        return found

    @cached_property
    def _kinds(self) -> dict[str, str]:
        return {
            f"{function.info.processor_name}.{function.info.name}": function.info.kind.value
            for dispatcher in self.played.session.runtime.event_dispatchers()
            for function in dispatcher.functions
        }

    @cached_property
    def facts(self) -> tuple[object, ...]:
        """What was stored in which aggregate, without ids and times, and which commands their senders believe done."""
        return (*self.stored_facts, *(answer.failure is None for answer in self.played.answers))

    @cached_property
    def stored_facts(self) -> tuple[object, ...]:
        """What was stored in which aggregate, without ids and times."""
        return tuple(
            sorted(
                (str(stream.aggregate_id), stream.version, tuple(type(event.body).__name__ for event in stream.events))
                for stream in self.ledgers.own
                if stream.aggregate_id.aggregate_name != _EXECUTION_FAILED
            )
        )

    @cached_property
    def settled_rows(self) -> frozenset[RowKey]:
        """Rows of the fault-free run that are not what its own facts make of them: nothing can be said of these."""
        return frozenset(differing(self.made.rows, self.due.rows))

    @cached_property
    def settled_commands(self) -> frozenset[str]:
        """Names of processors whose commands in the fault-free run are not what its facts make of them."""
        return frozenset(key[1] for key in differing(self.made.commands, self.due.commands))

    @cached_property
    def usual_errors(self) -> frozenset[tuple[str, str]]:
        """Where the runtime logged errors in this run, and of which class."""
        return frozenset((entry.point, type(entry.cause).__name__) for entry in self.logged())

    def logged(self) -> Iterator[LoggedFailure]:
        """Errors that the runtime logged and swallowed, but for what faults raised and what senders were told."""
        told = {id(answer.message) for answer in self.played.answers if answer.message is not None}
        told |= {id(message) for answer in self.played.answers for message in answer.earlier}
        struck = [row.error for row in self.played.rows if row.was_struck and row.error is not None]
        for entry in self.played.session.world.log:
            if id(entry.subject) not in told and not any(_is_caused_by(entry.error, error) for error in struck):
                yield entry


def facts_key(ledgers: Ledgers) -> object:
    """The same for runs that stored the same streams: of the same ids, times and bodies."""
    public = {stream.id for stream in ledgers.public}
    return tuple(
        (stream.id, stream.create_time, stream.id in public, *(encode(event.body) for event in stream.events))
        for stream in ledgers.played.audit.whole
    )


def differing(one: Mapping[K, str], other: Mapping[K, str]) -> list[K]:
    """The keys under which two mappings do not hold the same."""
    return [key for key in dict.fromkeys([*one, *other]) if one.get(key) != other.get(key)]


def _is_caused_by(error: BaseException, origin: BaseException) -> bool:
    seen: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in seen:
        if current is origin:
            return True
        seen.append(current)
        current = current.__cause__ or current.__context__
    return False
