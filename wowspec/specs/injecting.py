"""Services that a spec gives: registered in a session; kept as they were, where later runs need them unused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import SpecError
from ..world.copying import deep_copy
from .nodes import Kept, Setup
from .session import Session

#: How many of those who run specs again want services as they were before anybody used them.
_wanted = 0


def want_kept() -> None:
    """From here on services are copied when a spec is given them: its steps will be run again."""
    global _wanted  # noqa: PLW0603 - one process runs one suite
    _wanted += 1


def no_longer_want_kept() -> None:
    """Whoever wanted it does no more."""
    global _wanted  # noqa: PLW0603
    _wanted = max(0, _wanted - 1)


def give(session: Session, services: Sequence[Any], by_name: Mapping[str, Any]) -> None:
    """Register services; what was given before under the same name, or made by a factory of it, is replaced."""
    replaced = {type(service) for service in services}
    session.factories = [
        (factory, name)
        for factory, name in session.factories
        if name not in by_name and not (isinstance(factory, type) and name is None and factory in replaced)
    ]
    for service in services:
        session.provide(service)
    for name, service in by_name.items():
        session.provide(service, name)


def unused(step: Setup, memo: dict[int, Any]) -> Setup:
    """A step that gives services, with copies of them as they were before anybody used them.

    Args:
        step: the step; one that kept nothing is given back.
        memo: as `copy.deepcopy` keeps it: with the same one, copies of services that know each other do so, too.

    Raises:
        SpecError: if one of them could not be copied.
    """
    kept = step.kept
    if kept is None:
        return step
    if kept.error is not None:
        raise kept.error
    services, by_name = deep_copy((kept.services, kept.by_name), memo)
    return replace(step, apply=lambda session: kept.give(session, services, by_name), kept=None)


def keep(services: Sequence[Any], by_name: Mapping[str, Any]) -> Kept | None:
    """The services as they are now; None where nobody wants that."""
    if not _wanted:
        return None
    memo: dict[int, Any] = {}
    copies: list[Any] = []
    named: dict[str, Any] = {}
    for what, service in [*enumerate(services), *by_name.items()]:
        try:
            copied = deep_copy(service, memo)
        except Exception as error:  # noqa: BLE001 - whatever a user's object raises when it is copied
            return Kept((), {}, give, _uncopied(what, service, error))
        if isinstance(what, str):
            named[what] = copied
        else:
            copies.append(copied)
    return Kept(tuple(copies), named, give)


def _uncopied(what: object, service: Any, error: Exception) -> SpecError:
    name = type(service).__name__
    said = f"{what}=" if isinstance(what, str) else ""
    return SpecError(
        f"the service {said}{name} cannot be copied: {error}",
        why="a spec that is run again under faults needs services that no other run has changed",
        instead=f".inject_factory({said}{name}) instead of .inject({said}{name}(...)): it makes a fresh one for each "
        "run; or @pytest.mark.wowspec_no_sweep",
    )
