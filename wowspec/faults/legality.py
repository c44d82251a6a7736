"""Whether a fault can happen in a world: what its profile says."""

from __future__ import annotations

from ..errors import SpecError
from ..world.points import KINDS
from ..world.profiles import PortProfile, allowing, legal_kinds
from .plans import PlannedFault
from .values import Fault


def require_legal(fault: Fault | PlannedFault, profile: PortProfile) -> None:
    """Refuse a fault, armed or of a plan, that cannot happen under a profile.

    Raises:
        SpecError: which says under which profiles it can.
    """
    point = fault.point if isinstance(fault, Fault) else fault.address.point
    if fault.kind in legal_kinds(point, profile):
        return
    verb = next(row.verb for row in KINDS if row.kind is fault.kind)
    names = allowing(point, fault.kind)
    raise SpecError(
        f"{verb} cannot happen at {point} under the profile {profile.name!r}",
        why=f"{profile.name} is {profile.doc}",
        instead=" or ".join(f"with_profile({name!r})" for name in names)
        or "with_profile(profile('ours', adding=...)), if a bus of yours really does so",
    )
