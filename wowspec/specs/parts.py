"""What a spec or a gateway's world is made of: parts, profiles, faults; each is checked where it is named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ..errors import SpecError
from ..faults.values import Fault
from ..modeling.aggregates import is_aggregate
from ..modeling.processors import Context, is_processor, processor_metadata
from ..world.profiles import PROFILES as ROWS
from .session import Profile, Session

PROFILES: Final = {row.name: Profile(row.name, ports=row) for row in ROWS}


def members_of(parts: Iterable[Any], verb: str) -> list[Any]:
    """Aggregates and processors; contexts are unfolded.

    Raises:
        SpecError: for anything else.
    """
    members: list[Any] = []
    for part in parts:
        for member in part.members if isinstance(part, Context) else (part,):
            if not is_aggregate(member) and not is_processor(member):
                shown = getattr(member, "__name__", repr(member))
                raise SpecError(
                    f"{verb}({shown}): neither an aggregate root, nor a processor, nor a context",
                    why="a world holds just the parts that its spec names",
                    instead="@aggregate_root, @projection, @event_processor or @stateless_saga above the class, or "
                    'Context("shop", ...)',
                )
            members.append(member)
    return members


def join(session: Session, member: Any) -> None:
    """Let an aggregate or a processor join the world."""
    if is_aggregate(member):
        session.use_aggregate(member)
    else:
        session.runtime.add_processor(processor_metadata(member))


def profile_of(profile: Profile | str) -> Profile:
    """A profile, or the one of this name.

    Raises:
        SpecError: if none has it.
    """
    if isinstance(profile, Profile):
        return profile
    found = PROFILES.get(profile)
    if found is None:
        raise SpecError(
            f"unknown profile {profile!r}",
            why="a profile says what the bus and the stores of a world can do",
            instead=" or ".join(f"with_profile({name!r})" for name in PROFILES),
        )
    return found


def require_fault(fault: Any, verb: str) -> None:
    """Refuse what is no fault with a `SpecError`."""
    if not isinstance(fault, Fault):
        raise SpecError(
            f"{verb}({fault!r})",
            why="a fault says where and how: a point and a verb",
            instead=f"{verb}(faults.event_store.append.fails())",
        )
