"""What became of commands that were in flight together, and when two such outcomes are the same.

Ids and times of a run depend on its schedule without meaning anything; in what is compared, each id that the run made
is replaced by its place among them, and each instant of the run by a mark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..errors import SpecError
from ..messages.codec import encode
from ..messages.envelopes import DomainEventStream
from ..modeling.identity import AggregateRef
from ..runtime.sourcing import StateAggregate
from ..world.world import LoggedFailure
from .facts import Facts
from .items import on
from .masks import Mask
from .render import render
from .run import Run

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Outcome:
    """One way in which it can end.

    Attributes:
        schedule: the first schedule that led here, as text.
        runs: one for each command, in the order in which the spec names them.
        began: when they were sent, in epoch nanoseconds.
        machines: machine ids of the processes.
        times: how many of the schedules that were run led here.
        passed_by: which task passed a point, as a number, by the place of the row in the trace.
    """

    schedule: str
    runs: tuple[Run, ...]
    began: int
    machines: tuple[int, ...]
    times: int = 1
    passed_by: dict[int, int] = field(default_factory=dict)

    @property
    def events(self) -> Facts[Any]:
        """Every event that was stored, whoever stored it: by aggregate (the commands' own first), each in its order."""
        return Facts.of_envelopes(event for stream in self._streams() for event in stream.events)

    @property
    def stored(self) -> Facts[Any]:
        """As `events`."""
        return self.events

    @property
    def errors(self) -> list[BaseException]:
        """The errors of the commands that failed, in the order of the commands."""
        return [run.error for run in self.runs if run.error is not None]

    @property
    def state(self) -> Any:
        """A copy of the state of the aggregate that all commands were for."""
        return self.run_of_reference().state

    @property
    def reference(self) -> AggregateRef:
        """The aggregate that all commands were for.

        Raises:
            SpecError: if they were for several.
        """
        found: list[AggregateRef] = []
        for run in self.runs:
            if run.message is not None and run.reference not in found:
                found.append(run.reference)
        if len(found) == 1:
            return found[0]
        raise SpecError(
            f"the commands of when_concurrently(...) are for {len(found)} aggregates",
            why="nothing says which of them is meant",
            instead="on(Account, 'a-1') as the first argument, or outcome.aggregate(Account, 'a-1')",
        )

    def run_of_reference(self) -> Run:
        """A run of the aggregate that all commands were for.

        Raises:
            SpecError: if they were for several.
        """
        reference = self.reference
        return next(run for run in self.runs if run.message is not None and run.reference == reference)

    def unseen(self) -> list[LoggedFailure]:
        """Logged errors that are no command's own, and that no fault injected."""
        own = [run.message for run in self.runs]
        return [entry for _, entry in self.runs[0].unexpected() if not any(entry.subject is message for message in own)]

    def aggregate(self, cls: type, aggregate_id: str) -> StateAggregate:
        """A copy of an aggregate, as its history says."""
        run = self.runs[0]
        return run.aggregate_of(run.session.look_at(on(cls, aggregate_id)))

    def service(self, kind: type[T]) -> T:
        """The service of a class, as this run left it."""
        found: T = self.runs[0].session.world.services.require_type(kind)
        return found

    # --- comparing ----------------------------------------------------------------------------------------------------

    def exactly(self) -> Any:
        """Equal for outcomes that no expectation can tell apart, but by ids and times."""
        mask = self._mask()
        return (
            tuple(_answer(run, mask) for run in self.runs),
            tuple(
                (mask.text(str(stream.aggregate_id)), self._sender(stream), stream.version, _bodies(stream, mask))
                for stream in self._streams()
            ),
            self._views(mask),
            tuple(sorted((entry.point, type(entry.error).__name__) for entry in self.runs[0].logged)),
            tuple(sorted(str(fired) for fired in self.runs[0].fired)),
            mask.structure(self.runs[0].session.world.services),
        )

    def as_seen(self, places: Sequence[int]) -> Any:
        """Equal for outcomes in which these commands answered and stored the same, and all was left in the same state.

        In which order others' events came that commute is of no concern: the states tell whether they did. Nor are
        services, which may remember more than matters, such as how often they were called.
        """
        mask = self._mask()
        own = [self.runs[place] for place in places]
        streams = self._streams()
        mine = [tuple(_bodies(stream, mask) for stream in streams if self._sender(stream) == place) for place in places]
        others = sorted(
            repr((mask.text(str(stream.aggregate_id)), _bodies(stream, mask)))
            for stream in streams
            if self._sender(stream) not in places
        )
        touched = sorted({str(stream.aggregate_id): stream.aggregate_id for stream in streams}.items())
        states = tuple((mask.text(text), self._state(reference, mask)) for text, reference in touched)
        return tuple(_answer(run, mask) for run in own), tuple(mine), tuple(others), states, self._views(mask)

    def _mask(self) -> Mask:
        ended = self.runs[0].session.world.clock.nanos
        return Mask(self.began, ended, self.machines, [run.command_id for run in self.runs])

    def _streams(self) -> list[DomainEventStream]:
        audit = self.runs[0].session.runtime.audit
        own = [run.reference for run in self.runs if run.message is not None]

        def rank(stream: DomainEventStream) -> tuple[int, str]:
            reference = stream.aggregate_id
            return own.index(reference) if reference in own else len(own), str(reference)

        return sorted(audit.stored if audit is not None else (), key=rank)

    def _sender(self, stream: DomainEventStream) -> int:
        """The place of the command that stored a stream; -1 if none of them did."""
        return next((place for place, run in enumerate(self.runs) if run.command_id == stream.command_id), -1)

    def _state(self, reference: AggregateRef, mask: Mask) -> Any:
        try:
            aggregate = self.runs[0].aggregate_of(reference)
        except SpecError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a user's sourcing function raises
            return type(error).__name__
        return aggregate.deleted, aggregate.owner_id, aggregate.space_id, mask.json(encode(aggregate.state))

    def _views(self, mask: Mask) -> Any:
        views = self.runs[0].session.runtime.views
        return tuple(
            (name, mask.text(view_id), mask.text(render(row)))
            for name, view_id, row in sorted(views.rows(), key=lambda found: found[:2])
        )


def _answer(run: Run, mask: Mask) -> Any:
    """What a command's sender was told."""
    if run.failure is not None:
        error = run.error
        info = run.session.world.errors.info(error if error is not None else run.failure)
        return type(error).__name__, info.error_code
    result = run.outcome
    return "succeeded", mask.value(dict(result.result)) if result is not None else None


def _bodies(stream: DomainEventStream, mask: Mask) -> Any:
    return tuple((type(event.body).__name__, mask.json(encode(event.body))) for event in stream.events)


class Outcomes:
    """Each outcome once, in the order in which they came; worlds that ended alike are let go."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[Any, Outcome] = {}

    def add(self, outcome: Outcome) -> None:
        """One more schedule ended so."""
        known = self._found.setdefault(outcome.exactly(), outcome)
        if known is not outcome:
            known.times += 1

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self._found.values())
