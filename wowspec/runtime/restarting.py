"""A process that died starts again, in place; and what else makes good what was lost: redelivery, resending.

What a restart keeps lies outside of the process: stores, snapshots, views, prepare keys, services, and the messages
that a durable bus still holds. What is about the process goes on, too: clock, ids, trace, log, armed faults.
Everything else is made anew: dispatchers, their queues, chains, processor objects, the filter of request ids, wait
handles, buses in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ..messages.envelopes import DomainEventStream, StateEvent
from ..world.points import DOMAIN_EVENT_BUS_SEND, STATE_EVENT_BUS_SEND, Room
from ..world.trace import make_lane
from ..world.unrest import unrest_of
from .command_filters import version_text
from .downstream.compensation import replayed
from .later import sync_form
from .local_first import Buses

if TYPE_CHECKING:
    from .system import Runtime


def restart(runtime: Runtime) -> None:
    """Lose what a process has in memory, and start it again; what the bus still holds is delivered again."""
    survives = runtime.world.ports.redelivers
    unrest = unrest_of(runtime.world)
    errors_taken = {kind: events.on_error for kind, events in runtime._event_dispatchers.items()}
    # Kept, so that nothing that stood still in them is closed while the world goes on.
    unrest.lost.append(
        (
            runtime.coordinator.lose_all(),
            runtime._command_dispatchers,
            runtime._event_dispatchers,
            runtime._snapshot_dispatcher,
            runtime._instances,
        )
    )
    unrest.bury(bus_survives=survives)
    runtime.request_ids.lose_all()
    runtime._put_in(_restarted(runtime) if survives else runtime._bus_factory(runtime))
    runtime.gateway.bus = runtime.command_bus
    if runtime.compensation is not None:
        runtime.compensation.renew(runtime)
    catalog = runtime.catalog.copy()
    runtime.catalog.aggregates.clear()
    runtime.catalog.processors.clear()
    runtime._command_chain = runtime._snapshot_dispatcher = None
    runtime._command_dispatchers, runtime._event_dispatchers = {}, {}
    runtime._subscriptions, runtime._instances = {}, {}
    for kind, on_error in errors_taken.items():
        runtime.event_dispatcher(kind).on_error = on_error
    runtime.use(catalog)


def _restarted(runtime: Runtime) -> Buses:
    buses = Buses(runtime.command_bus, runtime.domain_event_bus, runtime.state_event_bus)
    for bus in (buses.command, buses.domain_event, buses.state_event):
        bus.restart()
    return buses


def logs_of(runtime: Runtime) -> list[Any]:
    """The logs of those of its buses that have one: commands, domain events, state events."""
    buses = (runtime.command_bus, runtime.domain_event_bus, runtime.state_event_bus)
    return [bus.log for bus in buses if hasattr(bus, "log")]


def redeliver(runtime: Runtime) -> int:
    """Deliver again what was not acknowledged, each consumer's in order; how many messages that were."""
    return sum([log.give_again() for log in logs_of(runtime)])


async def resend(runtime: Runtime, streams: Iterable[DomainEventStream]) -> None:
    """Publish stored streams again on both buses of events; what fails is logged, and the next one follows."""
    for stream in streams:
        for point, message in _messages(runtime, stream):
            bus = runtime.domain_event_bus if point == DOMAIN_EVENT_BUS_SEND else runtime.state_event_bus
            lane = make_lane((Room.COMMAND, stream.aggregate_id.id, ""))
            try:
                await runtime.world.at(
                    point, lane, message, version_text(message), partial(sync_form(bus, "send"), message)
                )
            except Exception as error:  # noqa: BLE001 - one that cannot be sent must not stop the others
                runtime.world.log_failure(point, message, error)


def _messages(runtime: Runtime, stream: DomainEventStream) -> Iterator[tuple[str, DomainEventStream | StateEvent[Any]]]:
    yield DOMAIN_EVENT_BUS_SEND, stream.copy()
    metadata = runtime.catalog.state_type(stream.aggregate_id.named_aggregate)
    if metadata is None:
        return
    history = runtime.event_store.load_now(stream.aggregate_id, 1, stream.version)
    for state_event in replayed(stream.aggregate_id, metadata, history):
        if state_event.version == stream.version:
            yield STATE_EVENT_BUS_SEND, state_event
