"""What verbs ask of their arguments: an expectation that can never hold, or never fail, is the author's mistake."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, Literal

from ..errors import SpecError
from ..faults.values import FaultPoint, close_points
from ..messages.envelopes import CommandMessage
from ..messages.stages import CommandStage
from ..modeling.aggregates import AggregateMetadata
from ..modeling.claims import aggregate_of_command, aggregates_of_event
from ..modeling.processors import is_processor
from ..world.points import point_row
from .items import CommandOf, CommandOptions, On, SentCommand, Stream, TimeStep
from .render import BRIEF, render


def require_number(verb: str, value: Any, *, least: int, name: str = "") -> None:
    """Refuse what is no whole number: `"1"` and `True` are not 1."""
    if type(value) is not int or value < least:
        raise SpecError(
            f"{verb}({name}{render(value, BRIEF)})",
            why=f"it is compared with a whole number that is {least} or more",
            instead=f"{verb}({name}{max(least, 1)})",
        )


def require_point(verb: str, point: Any) -> None:
    """Refuse what is no point of the pipeline."""
    if isinstance(point, FaultPoint):
        raise SpecError(f"{verb}({point!r})", why="points are named by their text", instead=f"{verb}({point.point!r})")
    row = point_row(point) if isinstance(point, str) else None
    if row is None or bool(row.part) is not bool(point.partition(":")[2]):
        raise SpecError(
            f"{verb}({render(point, BRIEF)}): there is no such point",
            why="what passes no point of the pipeline leaves no trace to look at",
            instead=" or ".join(map(repr, close_points(str(point)))),
        )


#: For type checkers: the names of `CommandStage` and of `CommandState`.
StageName = Literal["SENT", "PROCESSED", "SNAPSHOT", "PROJECTED", "EVENT_HANDLED", "SAGA_HANDLED"]
CommandStateName = Literal["STORED", "SOURCED", "EXPIRED"]


def require_stage(verb: str, stage: Any) -> CommandStage:
    """A stage, or the one of this name; refuse what is none."""
    if isinstance(stage, str) and stage in CommandStage.__members__:
        return CommandStage[stage]
    close = difflib.get_close_matches(str(stage), list(CommandStage.__members__), 1) or ["PROCESSED"]
    raise SpecError(
        f"{verb}({render(stage, BRIEF)})",
        why="a stage is one of " + ", ".join(item.name for item in CommandStage),
        instead=f"from wowspec import {close[0]}; {verb}({close[0]})",
    )


def require_some(verb: str, items: Sequence[Any], instead: str) -> None:
    """Refuse a call that expects nothing: it reads as if something were expected."""
    if not items:
        raise SpecError(f"{verb}() expects nothing", why="it reads as if something were expected", instead=instead)


def require_types(verb: str, kinds: Sequence[Any], instead: str) -> None:
    """Refuse what is no class."""
    for kind in kinds:
        if not isinstance(kind, type):
            raise SpecError(
                f"{verb}({render(kind, BRIEF)}) is given no class",
                why="it speaks of all events of a class",
                instead=f"{verb}({type(kind).__name__}){instead}",
            )


def require_no_processors(verb: str, items: Sequence[Any]) -> None:
    """Refuse the class of a processor where events are expected: what reached it is told by causation."""
    for item in items:
        if is_processor(item):
            raise SpecError(
                f"{verb}({item.__name__}) is given a processor",
                why="it lists events, whoever took them",
                instead=f"expect_causation('OrderPaid > {item.__name__}')",
            )


def require_possible(verb: str, kinds: Sequence[type], metadata: AggregateMetadata) -> None:
    """Refuse classes of which this aggregate could never store an event: that they lack would prove nothing."""
    own = metadata.command_class.__name__
    for kind in kinds:
        if any(issubclass(event, kind) for event in metadata.events):
            continue
        owner = next(iter(aggregates_of_event(kind)), None)
        what = f"an event of {owner.__name__}" if owner is not None else "a command"
        if owner is None and aggregate_of_command(kind) is None:
            continue
        raise SpecError(
            f"{verb}({kind.__name__}): {kind.__name__} is {what}, and this is about the events of {own}",
            why="an expectation that cannot fail proves nothing",
            instead=f"{verb}() for no event at all, or a class of: "
            + ", ".join(each.__name__ for each in metadata.events),
        )


def require_events(verb: str, events: Sequence[Any]) -> None:
    """Refuse what stands for history or a command where events are expected."""
    for event in events:
        if isinstance(event, On):
            raise SpecError(
                f"{verb}({event!r}) speaks of another instance",
                why="it is about what this command did to its own aggregate",
                instead=f"expect_stored(on({event.aggregate.__name__}, {event.id!r}), *its_whole_history)",
            )
        if isinstance(event, Stream):
            raise SpecError(
                f"{verb}(stream(...))",
                why="one command stores one stream: its events stand side by side",
                instead=f"{verb}(first, second)",
            )
        if isinstance(event, TimeStep | SentCommand | CommandOf):
            raise SpecError(
                f"{verb}({render(event, BRIEF)})", why="events are expected", instead=f"{verb}(OrderPaid(...))"
            )


def require_bare(verb: str, target: On | None) -> None:
    """Refuse `on(T, id, ...)` with more than it takes to find an instance."""
    if target is None:
        return
    options = target.options
    if target.items:
        instead = f"{verb}(on({target.aggregate.__name__}, {target.id!r}), ...)"
        raise SpecError(
            f"{verb}({target!r}): events within on(...)",
            why="here on(...) says which instance is meant, and nothing more",
            instead=instead,
        )
    if options.owner_id is not None or options.space_id is not None:
        raise SpecError(
            f"{verb}(on({target.aggregate.__name__}, {target.id!r}, owner_id=... or space_id=...))",
            why="an instance is found by its id and tenant; an owner or space would be ignored here",
            instead="expect_state_aggregate(on(T, id), owner_id='u-1')",
        )


def require_agreement(verb: str, message: CommandMessage[Any], options: CommandOptions) -> None:
    """Refuse an option that a command's own field overrides: it would be ignored (CMD-056)."""
    reference = message.aggregate_id
    for name, said, own in (
        ("aggregate_id", options.aggregate_id, reference.id),
        ("tenant_id", options.tenant_id, reference.tenant_id),
        ("owner_id", options.owner_id, message.owner_id),
        ("space_id", options.space_id, message.space_id),
    ):
        if said is not None and said != own:
            body = render(message.body, BRIEF)
            raise SpecError(
                f"{verb}({body}, {name}={said!r}): the command itself says {own!r}",
                why="what a command's class says goes before what stands beside it, which would be ignored",
                instead=f"the field alone: {verb}({type(message.body).__name__}(...))",
            )
