"""Every single fault that could strike on a way through the pipeline, for specs that state what holds under each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..world.points import FaultKind
from ..world.profiles import PortProfile, legal_kinds
from ..world.trace import TraceRow
from .values import Fault


def along(
    trace: Iterable[TraceRow], *, rival: tuple[Any, ...] = (), profile: str | PortProfile = "in_memory"
) -> list[Fault]:
    """Each legal fault at each visit of each point that a run passed, in the order of its trace, one at a time.

    `for fault in faults.along(spec.when(command).run().trace): spec.with_faults(fault).when(command)...`

    Args:
        trace: of a run without faults.
        rival: events that another writer appends first where that can happen; without them, none does.
        profile: says which faults are legal: that of the world whose trace it is.

    Raises:
        SpecError: if there is no profile of this name.
    """
    visits: dict[str, int] = {}
    found: list[Fault] = []
    for row in trace:
        legal = legal_kinds(row.point, profile)
        visit = visits[row.point] = visits.get(row.point, 0) + 1
        for kind in FaultKind:
            if kind not in legal or (kind is FaultKind.RIVAL and not rival):
                continue
            payload = rival if kind is FaultKind.RIVAL else None
            found.append(Fault(row.point, kind, at=visit, payload=payload))
    return found
