"""What came of a run, comparable: ledgers, answers, states and views; two runs of one spec are told apart by it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import SpecError
from ..messages.codec import encode
from ..modeling.identity import AggregateRef
from ..specs.masks import Mask
from ..specs.nodes import Node
from ..specs.render import EVERYTHING, render
from ..specs.run import Run
from ..specs.session import Session
from ..world.clock import VirtualClock


@dataclass(frozen=True, slots=True)
class Picture:
    """One run of a way of steps; equal for runs that came to the same.

    Attributes:
        actions: of each action: what its sender was told, what was emitted, stored, published, delivered and sent, and
            which errors were logged.
        held: the histories at the end, what was given included.
        states: state, owner, space and whether it is deleted, of aggregates, by id.
        views: the rows of projections.
    """

    actions: tuple[Any, ...]
    held: tuple[Any, ...]
    states: tuple[Any, ...]
    views: tuple[Any, ...]


def picture_of(nodes: Sequence[Node]) -> Picture:
    """The whole picture: ids and times too, since the same steps come to the same ones."""
    runs = runs_of(nodes)
    session = runs[-1].session
    references = aggregates_of(session)
    return Picture(
        tuple(_action(run, _text) for run in runs),
        tuple((str(reference), _history(session, reference)) for reference in references),
        tuple((str(reference), state_of(session, reference, _text)) for reference in references),
        tuple(sorted((name, view_id, render(row, EVERYTHING)) for name, view_id, row in session.runtime.views.rows())),
    )


def consequence_of(nodes: Sequence[Node], until: int | None = None) -> Picture:
    """What the actions came to, apart from what was given, versions, ids and times.

    Of states those count that an action changed: what was given alone is in no aggregate that nothing was done to.

    Args:
        nodes: the steps.
        until: up to which instant, in epoch nanoseconds, a time counts as one of the run; default: up to its end.
    """
    runs = runs_of(nodes)
    session = runs[-1].session
    world = session.world
    commands = [run.command_id for run in runs]
    mask = Mask(VirtualClock().nanos, until or world.clock.nanos, {world.ids.machine_id}, commands)

    def masked(value: Any) -> Any:
        return mask.json(encode(value))

    changed: dict[str, AggregateRef] = {}
    for run in runs:
        for event in run.all_events.envelopes:
            changed.setdefault(mask.text(str(event.aggregate_id)), event.aggregate_id)
    return Picture(
        tuple(_action(run, masked, mask.text) for run in runs),
        (),
        tuple((text, state_of(session, reference, masked)) for text, reference in sorted(changed.items())),
        tuple(
            sorted(
                (name, mask.text(view_id), mask.text(render(row, EVERYTHING)))
                for name, view_id, row in session.runtime.views.rows()
            )
        ),
    )


def runs_of(nodes: Iterable[Node]) -> list[Run]:
    """The runs of the actions, in their order."""
    return [node.run for node in nodes if node.run is not None]


def aggregates_of(session: Session) -> list[AggregateRef]:
    """Every aggregate that has a history, or a state that was given."""
    return list(dict.fromkeys([*session.initial, *session.runtime.event_store.aggregate_ids()]))


def state_of(session: Session, reference: AggregateRef, write: Callable[[Any], Any]) -> Any:
    """What the history of an aggregate makes of it; the name of the error, if it makes none."""
    try:
        aggregate = session.replay(reference)
        return aggregate.deleted, aggregate.owner_id, aggregate.space_id, write(aggregate.state)
    except SpecError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a sourcing function of the author's raises
        return type(error).__name__


def _text(value: Any) -> Any:
    return encode(value)


def _history(session: Session, reference: AggregateRef) -> Any:
    return tuple(_message(event.body, _text) for stream in session.runtime.event_store.peek(reference)
                 for event in stream.events)  # fmt: skip


def _action(run: Run, write: Callable[[Any], Any], said: Callable[[str], str] = str) -> Any:
    return (
        _answer(run, write, said),
        *(
            tuple(_message(body, write) for body in getattr(run, ledger))
            for ledger in ("emitted", "all_events", "published", "delivered", "commands")
        ),
        tuple((entry.point, type(entry.cause).__name__, said(str(entry.cause))) for entry in run.logged),
    )


def _message(body: Any, write: Callable[[Any], Any]) -> Any:
    return type(body).__qualname__, write(body)


def _answer(run: Run, write: Callable[[Any], Any], said: Callable[[str], str]) -> Any:
    """What a command's sender was told."""
    error = run.error
    if error is not None:
        code = run.session.world.errors.info(error).error_code
        return type(error).__qualname__, code, said(str(error))
    return "succeeded", write(dict(run.outcome.result)) if run.outcome is not None else None
