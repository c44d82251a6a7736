"""Profiles of buses and stores: which faults can happen there, and what is left after a crash. One row each.

A fault that a profile does not allow is refused when it is armed, and never enumerated: what cannot happen in
production is no finding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from ..errors import SpecError
from .points import FaultKind, Port, point_row

#: What may go wrong at any port of any process, without its dying.
_CALLS: Final = frozenset(
    {
        FaultKind.FAIL,
        FaultKind.TIMEOUT,
        FaultKind.HANG,
        FaultKind.ACK_LOST,
        FaultKind.ACK_LOST_PERMANENT,
        FaultKind.CONFLICT,
        FaultKind.RIVAL,
    }
)
_CRASHES: Final = frozenset({FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER})
_DIES: Final = _CALLS | _CRASHES
_AT_LEAST_ONCE: Final = _DIES | {FaultKind.DUPLICATE, FaultKind.DELAY}
_SIGNALS: Final = _DIES | {FaultKind.DELAY, FaultKind.DROP}
_READS: Final = _DIES | {FaultKind.CORRUPT}


@dataclass(frozen=True, slots=True)
class PortProfile:
    """What the bus and the stores of a world are like.

    Attributes:
        name: what a spec calls it.
        kinds: the fault kinds that are legal, by port, among those that a point can have at all.
        redelivers: whether messages that were not acknowledged are delivered again, after a restart above all.
        ordered: whether messages of one aggregate stay in order on a bus, even where one is late.
        durable: whether stored streams and snapshots survive a crash.
        doc: one line on it.
    """

    name: str
    kinds: tuple[tuple[Port, frozenset[FaultKind]], ...]
    redelivers: bool
    ordered: bool
    durable: bool
    doc: str

    def kinds_of(self, port: Port) -> frozenset[FaultKind]:
        """The kinds that are legal at a port."""
        return next((kinds for each, kinds in self.kinds if each is port), frozenset())

    @property
    def crashes(self) -> bool:
        """Whether a process can die and start again."""
        return any(_CRASHES & kinds for _, kinds in self.kinds)

    def with_kinds(self, *, adding: Iterable[FaultKind] = (), without: Iterable[FaultKind] = ()) -> PortProfile:
        """This profile with further kinds, and without others, at every port."""
        more, gone = frozenset(adding), frozenset(without)
        return replace(self, kinds=tuple((port, (legal | more) - gone) for port, legal in self.kinds))


def _by_port(
    *,
    gateway: frozenset[FaultKind],
    bus: frozenset[FaultKind],
    store: frozenset[FaultKind],
    delivery: frozenset[FaultKind],
    code: frozenset[FaultKind],
    notice: frozenset[FaultKind],
) -> tuple[tuple[Port, frozenset[FaultKind]], ...]:
    return (
        (Port.GATEWAY, gateway),
        (Port.BUS, bus),
        (Port.STORE, store),
        (Port.DELIVERY, delivery),
        (Port.CODE, code),
        (Port.NOTICE, notice),
    )


PROFILES: Final[tuple[PortProfile, ...]] = (
    PortProfile(
        "in_memory",
        _by_port(gateway=_CALLS, bus=_CALLS, store=_CALLS, delivery=_CALLS, code=_CALLS, notice=_CALLS),
        redelivers=False,
        ordered=True,
        durable=False,
        doc="buses and stores in memory: acknowledging has no effect, nothing is delivered again, and "
        "there is nothing to come back to",
    ),
    PortProfile(
        "kafka",
        _by_port(gateway=_DIES, bus=_AT_LEAST_ONCE, store=_DIES, delivery=_AT_LEAST_ONCE, code=_DIES, notice=_SIGNALS),
        redelivers=True,
        ordered=True,
        durable=True,
        doc="a bus that delivers at least once, in order for each aggregate, over durable stores",
    ),
    PortProfile(
        "mongo",
        _by_port(gateway=_DIES, bus=_DIES, store=_READS, delivery=_DIES, code=_DIES, notice=_DIES),
        redelivers=False,
        ordered=True,
        durable=True,
        doc="durable stores beside buses in memory: a crash loses what they held",
    ),
    PortProfile(
        "redis",
        _by_port(
            gateway=_DIES,
            bus=_AT_LEAST_ONCE | {FaultKind.REORDER},
            store=_READS,
            delivery=_AT_LEAST_ONCE,
            code=_DIES,
            notice=_SIGNALS,
        ),
        redelivers=True,
        ordered=False,
        durable=True,
        doc="a bus that delivers at least once, in no certain order, over durable stores",
    ),
)

PROFILE_BY_NAME: Final[dict[str, PortProfile]] = {row.name: row for row in PROFILES}
IN_MEMORY: Final = PROFILE_BY_NAME["in_memory"]


def port_profile(profile: str | PortProfile) -> PortProfile:
    """A profile, or the row of this name.

    Raises:
        SpecError: if there is none.
    """
    if isinstance(profile, PortProfile):
        return profile
    found = PROFILE_BY_NAME.get(profile)
    if found is None:
        raise SpecError(
            f"unknown profile {profile!r}",
            why="a profile says what the bus and the stores of a world can do",
            instead=" or ".join(map(repr, PROFILE_BY_NAME)),
        )
    return found


def legal_kinds(point: str, profile: str | PortProfile = IN_MEMORY) -> frozenset[FaultKind]:
    """The fault kinds that a profile allows at a point, by its text; none at what is no point.

    Raises:
        SpecError: if there is no profile of this name.
    """
    row, held = point_row(point), port_profile(profile)
    return frozenset() if row is None else row.kinds & held.kinds_of(row.port)


def allowing(point: str, kind: FaultKind) -> list[str]:
    """Names of the profiles that allow a kind at a point, in their order."""
    return [row.name for row in PROFILES if kind in legal_kinds(point, row)]
