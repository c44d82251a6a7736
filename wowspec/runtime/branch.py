"""An independent copy of an idle runtime: what a branch of a spec goes on with.

Stores, request ids, armed faults, time and ids are copied; services and processor objects are shared. Work that hangs
cannot be copied: its group simply stays blocked.
"""

from __future__ import annotations

from typing import Any

from ..errors import ModelError
from ..world.clock import VirtualClock
from ..world.world import World
from .system import Runtime


def branch(runtime: Runtime, copies: dict[int, Any] | None = None) -> Runtime:
    """The copy.

    Args:
        runtime: what to copy.
        copies: if given, services and processor objects are copied, too; copies by identity, as `copy.deepcopy` keeps
            them, and what is there already is taken from there.

    Raises:
        ModelError: while something can still move in the world.
        SpecError: for a service or a processor that cannot be copied.
    """
    world = runtime.world
    if not world.scheduler.is_idle:
        message = "a world can be branched only when nothing moves in it"
        raise ModelError(message)
    clock = VirtualClock(world.clock.nanos)
    other_world = World(clock=clock, machine_id=world.ids.machine_id, errors=world.errors.copy())
    other_world.ids = world.ids.copy()
    other_world.services = world.services.copy() if copies is None else world.services.deep_copy(copies)
    return runtime.rebuilt_in(other_world, copies)


def process_beside(runtime: Runtime, machine_id: int) -> Runtime:
    """Another process of the same service, in the same world.

    Both share what lies outside of them: the stores, read models, prepare keys and injected services. Each has its own
    buses, dispatchers, wait handles, request id filter, ids and processor objects, so that between them nothing but the
    event store's version check keeps two commands for one aggregate apart.
    """
    world = runtime.world
    other_world = World(clock=world.clock, machine_id=machine_id, errors=world.errors)
    other_world.scheduler, other_world.trace, other_world.log = world.scheduler, world.trace, world.log
    other_world.spec_errors, other_world.services = world.spec_errors, world.services
    other_world.injector = world.injector
    other = Runtime(
        other_world,
        request_id_existence=runtime._request_id_existence,
        event_store=runtime.event_store,
        snapshot_store=runtime.snapshot_store,
        buses=runtime._bus_factory,
        compensation=runtime.compensation is not None,
        snapshot_offset=runtime.snapshot_offset,
        profile=world.ports,
    )
    # What one process was doing cannot be told from what the other was: neither can die alone.
    world.restart = other_world.restart = None
    other.views, other.prepare_keys = runtime.views, runtime.prepare_keys
    other.command_factory.rewriters = runtime.command_factory.rewriters.copy()
    for item in runtime._extra_filters:
        other.add_filter(item)
    other.use(runtime.catalog)
    other.armory = runtime.armory
    other.audit = runtime.audit
    return other
