"""`profile(...)`: what the ports of a spec's world can do, and how its runtime is set up."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..errors import SpecError
from ..world.points import FaultKind
from ..world.profiles import PROFILE_BY_NAME, PortProfile, port_profile
from .session import Profile

#: What is raised here is the author's mistake: pytest shows the line of theirs, not of ours.
__tracebackhide__ = True


def profile(
    name: str = "in_memory",
    *,
    like: str | Profile | None = None,
    without: Iterable[FaultKind | str] = (),
    adding: Iterable[FaultKind | str] = (),
    redelivers: bool | None = None,
    ordered: bool | None = None,
    request_id_existence: str = "store",
    snapshot_offset: int | None = None,
    compensation: bool = False,
) -> Profile:
    """A profile: `with_profile(profile("kafka", request_id_existence="noop"))`, `profile("ours", like="kafka")`.

    Args:
        name: `in_memory`, `kafka`, `mongo` or `redis`; with `like` any name.
        like: the profile that this one is like, but for what follows.
        without: fault kinds that cannot happen here, such as `("hang", "delay")`.
        adding: fault kinds that can happen here besides, at each point where they are possible at all.
        redelivers: whether messages that were not acknowledged are delivered again; None: as in the other profile.
        ordered: whether messages of one aggregate stay in order on a bus; None: as in the other profile.
        request_id_existence: `store` or `noop`.
        snapshot_offset: save a snapshot every so many versions; None: at each state event.
        compensation: record failed event functions as aggregates `ExecutionFailed`, to be tried again.

    Raises:
        SpecError: for a name, a kind or a value that there is not.
    """
    if request_id_existence not in ("store", "noop"):
        raise SpecError(
            f"request_id_existence={request_id_existence!r}",
            why="a request id that was seen before is looked up in the event store, or counts as existing",
            instead="'store' or 'noop'",
        )
    if snapshot_offset is not None and (type(snapshot_offset) is not int or snapshot_offset < 1):
        raise SpecError(
            f"snapshot_offset={snapshot_offset!r}",
            why="a snapshot is saved when the version is so many above the stored one's",
            instead="snapshot_offset=5, or None for one at each state event",
        )
    ports = _ports(name, like).with_kinds(adding=_kinds("adding", adding), without=_kinds("without", without))
    ports = replace(
        ports,
        name=name,
        redelivers=ports.redelivers if redelivers is None else redelivers,
        ordered=ports.ordered if ordered is None else ordered,
    )
    return Profile(name, request_id_existence, snapshot_offset, compensation, ports)


def _ports(name: str, like: str | Profile | None) -> PortProfile:
    if like is None:
        if name not in PROFILE_BY_NAME:
            raise SpecError(
                f"unknown profile {name!r}",
                why="a profile of your own is like one of the kit's, but for what you say",
                instead=f"profile({name!r}, like='kafka'), or one of {', '.join(map(repr, PROFILE_BY_NAME))}",
            )
        return PROFILE_BY_NAME[name]
    if name in PROFILE_BY_NAME:
        raise SpecError(
            f"profile({name!r}, like=...)",
            why="the kit's own profiles are what its table says",
            instead="a name of your own: profile('ours', like=...)",
        )
    return like.ports if isinstance(like, Profile) else port_profile(like)


def _kinds(option: str, said: Any) -> frozenset[FaultKind]:
    if isinstance(said, str):
        said = (said,)
    found = []
    for kind in said:
        if kind not in list(FaultKind):
            close = difflib.get_close_matches(str(kind), [each.value for each in FaultKind], 3, 0.4)
            raise SpecError(
                f"profile(..., {option}={said!r}): there is no kind of fault {kind!r}",
                why="a profile says which faults can happen",
                instead=" or ".join(map(repr, close or [each.value for each in FaultKind])),
            )
        found.append(FaultKind(kind))
    return frozenset(found)
