"""Strategies that the author names for single fields, by path: `lines.quantity` goes through lists and unions alike."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import strategies as st

from ..errors import SpecError
from .callers import Caller

_SUGGESTIONS: Final = 3
_MOST_NAMED: Final = 8


@dataclass(slots=True, eq=False)
class Overrides:
    """One field's place in the tree of paths.

    Attributes:
        strategy: what the field is drawn from; None: from its type.
        inner: the fields below it.
        used: whether a field of this name was met.
        known: the names of fields that were met here.
    """

    strategy: st.SearchStrategy[Any] | None = None
    inner: dict[str, Overrides] = field(default_factory=dict)
    used: bool = False
    known: dict[str, None] = field(default_factory=dict)

    def meet(self, name: str) -> Overrides:
        """What is said of a field, and of those below it."""
        self.known[name] = None
        found = self.inner.get(name)
        if found is None:
            return NOTHING_SAID
        found.used = True
        return found

    def unused(self, path: str = "") -> Iterator[tuple[str, str, list[str]]]:
        """Paths that no field has: each with its last name, and the names of the fields that are there.

        Args:
            path: where this place stands.
        """
        for name, inner in self.inner.items():
            whole = f"{path}.{name}" if path else name
            if not inner.used:
                yield whole, name, list(self.known)
            elif inner.strategy is None:
                yield from inner.unused(whole)

    def require_used(self, caller: Caller) -> None:
        """Refuse paths that no field has with a `SpecError`."""
        for path, name, known in self.unused():
            raise unknown_field(caller, path, name, known)


#: Shared by all fields that nothing is said of.
NOTHING_SAID = Overrides()


def unknown_field(caller: Caller, path: str, name: str, known: Sequence[str]) -> SpecError:
    """The error for an override of a field that is not there."""
    close = difflib.get_close_matches(name, known, _SUGGESTIONS) or list(known)[:_MOST_NAMED]
    parent = path.removesuffix(name)
    return SpecError(
        f"{caller} has no field {path!r}",
        why="an override takes the place of what a field's type says",
        instead=" or ".join(repr(f"{parent}{other}") for other in close) or "no override: there are no fields",
    )


def overrides_of(caller: Caller, said: Mapping[str, Any]) -> Overrides:
    """The tree of paths.

    Raises:
        SpecError: for a value that is no strategy.
    """
    root = Overrides()
    for path, strategy in said.items():
        if not isinstance(strategy, st.SearchStrategy):
            raise SpecError(
                f"{caller} is given {path} = {strategy!r}, which is no strategy",
                why="an override says what a field is drawn from",
                instead=caller.override(path, f"st.just({strategy!r})"),
            )
        place = root
        for name in path.split("."):
            place = place.inner.setdefault(name, Overrides())
        place.strategy = strategy
    return root
