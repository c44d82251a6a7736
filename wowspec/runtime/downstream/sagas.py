"""Stateless sagas: what their functions return becomes commands, sent one after another (section 12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import SpecError
from ...messages.commands import CommandBuilder
from ...messages.envelopes import CommandMessage, DomainEvent
from ...messages.propagation import propagate
from ...messages.streams import flatten
from ...modeling.claims import aggregates_of_event
from ...modeling.functions import HandlerFunction
from ..returned import no_command

if TYPE_CHECKING:
    from ..system import Runtime


@dataclass(frozen=True, slots=True)
class CommandStream:
    """The commands that one execution of a saga function sent (SAG-012)."""

    domain_event_id: str
    commands: tuple[CommandMessage[Any], ...]

    def __iter__(self) -> Iterator[CommandMessage[Any]]:
        return iter(self.commands)

    def __len__(self) -> int:
        return len(self.commands)


async def send_commands(
    result: Any, event: DomainEvent[Any], runtime: Runtime, handler: HandlerFunction
) -> CommandStream:
    """Build and send the commands strictly in order; a failure stops the rest (SAG-010, SAG-013).

    Args:
        result: what the function returned (SAG-002).
        event: what it was given.
        runtime: whose gateway sends.
        handler: the function.

    Raises:
        SpecError: for a set, whose commands have no order; for an event, a class or a coroutine.
        Exception: what building or sending a command raised; earlier commands stay sent.
    """
    place = handler.place
    if isinstance(result, set | frozenset):
        raise runtime.world.blame_author(_unordered(result, place))
    sent = []
    for index, item in enumerate([] if result is None else flatten(result)):
        if not isinstance(item, CommandMessage | CommandBuilder) and _is_event(item, runtime):
            raise runtime.world.blame_author(_event_returned(item, place))
        try:
            command = await to_saga_command(item, index, event, runtime)
        except Exception:
            stray = no_command(item, handler)
            if stray is None:
                raise
            raise runtime.world.blame_author(stray) from None
        if runtime.armory is not None:
            runtime.armory.caused(command, event, place.partition(".")[0], index)
        if runtime.world.perturber is not None:
            runtime.world.perturber.caused(command, event, place.partition(".")[0], index)
        await runtime.gateway.send(command)
        sent.append(command)
    return CommandStream(event.id, tuple(sent))


def _unordered(result: Any, place: str) -> SpecError:
    return SpecError(
        f"{place} returned a {type(result).__name__} of commands",
        why="commands are sent one after another, and a set has no order: each run could send them in another",
        instead="a list or a tuple of commands",
    )


def _is_event(item: Any, runtime: Runtime) -> bool:
    """Whether an aggregate claims it as its event, and none takes it as a command."""
    kind = type(item)
    return bool(aggregates_of_event(kind)) and runtime.catalog.for_command(kind) is None


def _event_returned(item: Any, place: str) -> SpecError:
    name, owner = type(item).__name__, aggregates_of_event(type(item))[0].__name__
    return SpecError(
        f"{place} returned {name}, which is an event of {owner}",
        why="what a saga returns is sent as commands; only an aggregate's command function makes events",
        instead=f"the command of {owner} that leads to {name}",
    )


async def to_saga_command(item: Any, index: int, event: DomainEvent[Any], runtime: Runtime) -> CommandMessage[Any]:
    """A body or builder gets what it lacks from the event; a ready message only headers (SAG-003 to SAG-009).

    Raises:
        CommandValidationError: if there is a rewriter for the body, whose fields are not valid.
        RewriteNoCommandError: if that rewriter yields nothing.
    """
    if isinstance(item, CommandMessage):
        propagate(event, item.header)
        return item
    builder = item if isinstance(item, CommandBuilder) else runtime.command_builder(item)
    builder.request_id_if_absent(f"{event.id}-{index}")
    builder.tenant_id_if_absent(event.aggregate_id.tenant_id)
    builder.space_id_if_absent(event.space_id)
    builder.upstream(event)
    return await runtime.command_factory.create(builder)
