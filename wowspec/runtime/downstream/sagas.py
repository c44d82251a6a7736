"""Stateless sagas: what their functions return becomes commands, sent one after another (section 12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...messages.commands import CommandBuilder
from ...messages.envelopes import CommandMessage, DomainEvent
from ...messages.propagation import propagate

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


async def send_commands(result: Any, event: DomainEvent[Any], runtime: Runtime) -> CommandStream:
    """Build and send the commands strictly in order; a failure stops the rest (SAG-010, SAG-013).

    Raises:
        Exception: what building or sending a command raised; earlier commands stay sent.
    """
    items = list(result) if isinstance(result, list | tuple | set | frozenset) else [] if result is None else [result]
    sent = []
    for index, item in enumerate(items):
        command = to_saga_command(item, index, event, runtime)
        await runtime.gateway.send(command)
        sent.append(command)
    return CommandStream(event.id, tuple(sent))


def to_saga_command(item: Any, index: int, event: DomainEvent[Any], runtime: Runtime) -> CommandMessage[Any]:
    """A body or builder gets what it lacks from the event; a ready message only headers (SAG-003 to SAG-008)."""
    if isinstance(item, CommandMessage):
        propagate(event, item.header)
        return item
    builder = item if isinstance(item, CommandBuilder) else runtime.command_builder(item)
    builder.request_id_if_absent(f"{event.id}-{index}")
    builder.tenant_id_if_absent(event.aggregate_id.tenant_id)
    builder.space_id_if_absent(event.space_id)
    builder.upstream(event)
    return builder.to_command_message(runtime.world, scopes=runtime)
