"""What a world of a spec holds at its start: parts, profile, filters; and what a whole suite uses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ..errors import SpecError
from ..modeling.processors import Context
from ..runtime.chain import NamedFilter
from .nodes import Setup
from .session import Profile

#: What the suites that are running use (ini key `wowspec_using`), innermost last: one test session may run another.
_suites: list[tuple[str, ...]] = []


def use_in_suite(names: Iterable[str]) -> None:
    """Let every spec and gateway of a suite use these parts, each as `module:name`; found at the first use."""
    _suites.append(tuple(names))


def leave_suite() -> None:
    """The suite is over."""
    if _suites:
        _suites.pop()


def suite_parts() -> list[Any]:
    """The parts that the running suite uses.

    Raises:
        SpecError: if one cannot be found.
    """
    return [_named(name) for name in _suites[-1]] if _suites else []


def _named(text: str) -> Any:
    module, colon, name = text.partition(":")
    if not colon:
        raise SpecError(
            f"wowspec_using = {text}",
            why="it names what every spec of the suite uses",
            instead="wowspec_using = shop.domain:shop",
        )
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise SpecError(
            f"wowspec_using = {text}: {error}",
            why="it names what every spec of the suite uses, and that was not found",
            instead="a module that can be imported from the root directory, and a name in it",
        ) from error


@dataclass(slots=True)
class WorldPlan:
    """What the first words of a spec say of its world."""

    parts: list[Any] = field(default_factory=list)
    excluded: list[Any] = field(default_factory=list)
    filters: list[NamedFilter] = field(default_factory=list)
    profile: Profile = field(default_factory=Profile)

    def apply(self, setup: Setup) -> None:
        """Take in one step."""
        if setup.plan is not None:
            setup.plan(self)

    def held_parts(self) -> list[Any]:
        """Each part that was named and not taken out, contexts unfolded, in their order."""
        found: list[Any] = []
        for part in [*self.parts, *suite_parts()]:
            members = part.members if isinstance(part, Context) else (part,)
            found.extend(member for member in members if member not in found and member not in self.excluded)
        return found
