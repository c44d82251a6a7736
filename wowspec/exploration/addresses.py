"""Which faults could strike next: each visit that a run made, with each kind that is legal there."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import SpecError
from ..faults.plans import NUMBERED, Address, PlannedFault, kinds_in_order
from ..faults.values import close_points
from ..world.points import POINT_BY_NAME, SERVICE_CALL, USER_POINT, FaultKind, point_row
from ..world.profiles import PortProfile, legal_kinds
from ..world.services import ServiceProvider
from ..world.trace import TraceRow

#: Kinds that a plain block of the user's, or a plain method, cannot have: there is nothing to await.
_AWAITED = frozenset({FaultKind.HANG})


@dataclass(frozen=True, slots=True)
class Selection:
    """Which points and kinds are explored; None: all.

    Attributes:
        points: texts of points, or their beginnings: `event_store`, `event.deliver:OrderView`.
        kinds: kinds.
        rivals: whether rivals are explored though no kind was named. What a rival stores is right, and conditions of
            the user's that speak of exact values may not hold with it: so they are explored where laws alone judge.
    """

    points: tuple[str, ...] | None = None
    kinds: frozenset[FaultKind] | None = None
    rivals: bool = True

    def takes_kind(self, kind: FaultKind) -> bool:
        """Whether a kind is selected."""
        if self.kinds is None:
            return self.rivals or kind is not FaultKind.RIVAL
        return kind in self.kinds

    def takes_point(self, point: str) -> bool:
        """Whether a point is selected: by its text, or by its beginning up to a dot or a colon."""
        if self.points is None:
            return True
        return any(point == said or point.startswith((f"{said}.", f"{said}:")) for said in self.points)

    @staticmethod
    def of(points: Iterable[str] | None, kinds: Iterable[FaultKind | str] | None) -> Selection:
        """A selection as a user says it; one point, or one kind, may stand alone.

        Raises:
            SpecError: for a kind that is none, or a point that no point begins with.
        """
        said = (points,) if isinstance(points, str) else None if points is None else tuple(points)
        kinds = (kinds,) if isinstance(kinds, str) else kinds
        for point in said or ():
            _require_point(point)
        return Selection(said, None if kinds is None else frozenset(_require_kind(kind) for kind in kinds))


def _require_point(said: Any) -> None:
    if not isinstance(said, str):
        raise SpecError(
            f"points=[{said!r}]",
            why="a point is told by its text, or the beginning of it",
            instead='points=["event_store", "domain_event_bus.send"]',
        )
    head = said.partition(":")[0]
    if not any(name == head or name.startswith(f"{head}.") for name in POINT_BY_NAME) and point_row(said) is None:
        raise SpecError(
            f"points=[{said!r}]: no point begins so",
            why="a fault strikes where an effect of the pipeline passes a point of the points table",
            instead=" or ".join(close_points(said)),
        )


def _require_kind(said: FaultKind | str) -> FaultKind:
    try:
        return FaultKind(said)
    except ValueError:
        known = ", ".join(kind.value for kind in FaultKind)
        raise SpecError(f"kinds=[{said!r}]", why="there is no such kind of fault", instead=f"some of {known}") from None


def faults_along(
    reached: Iterable[tuple[Address, TraceRow]],
    profile: PortProfile,
    selection: Selection,
    services: ServiceProvider,
) -> Iterator[PlannedFault]:
    """Each legal fault at each visit, in the order of the visits, the simplest kinds first."""
    for address, row in reached:
        if not address.chain or not selection.takes_point(address.point):
            continue
        for kind in kinds_in_order(legal_kinds(address.point, profile)):
            if not selection.takes_kind(kind):
                continue
            if kind in _AWAITED and not _is_awaited(row, services):
                continue
            yield PlannedFault(address, kind, number=NUMBERED.get(kind, 0))


def _is_awaited(row: TraceRow, services: ServiceProvider) -> bool:
    if point_row(row.point) is USER_POINT or row.point.startswith("projection."):
        return False
    if not row.point.startswith(f"{SERVICE_CALL}:"):
        return True
    name, _, method = row.point.partition(":")[2].rpartition(".")
    return inspect.iscoroutinefunction(getattr(services.by_name(name), method, None))
