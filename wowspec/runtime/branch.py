"""An independent copy of an idle runtime: what a branch of a spec goes on with.

Stores, request ids, armed faults, time and ids are copied; services and processor objects are shared. Work that hangs
cannot be copied: its group simply stays blocked.
"""

from __future__ import annotations

from ..errors import ModelError
from ..world.clock import VirtualClock
from ..world.world import World
from .system import Runtime


def branch(runtime: Runtime) -> Runtime:
    """The copy.

    Raises:
        ModelError: while something can still move in the world.
    """
    world = runtime.world
    if not world.scheduler.is_idle:
        message = "a world can be branched only when nothing moves in it"
        raise ModelError(message)
    clock = VirtualClock(world.clock.nanos)
    other_world = World(clock=clock, machine_id=world.ids.machine_id, errors=world.errors.copy())
    other_world.ids = world.ids.copy()
    other_world.services = world.services.copy()
    return runtime.rebuilt_in(other_world)
