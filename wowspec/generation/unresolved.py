"""What a type lacks to become a strategy; told of with the path of its field."""

from __future__ import annotations

from ..errors import SpecError
from .callers import Caller


class Unresolved(Exception):  # noqa: N818 - it becomes a `SpecError` where the path is known
    """No strategy follows from a type; the text says why."""


def unresolved_error(caller: Caller, root: str, path: str, why: str) -> SpecError:
    """The error for a field that no strategy follows for."""
    return SpecError(
        f"no strategy follows for {f'{root}.{path}' if path else root}: {why}",
        why="values are drawn from what the types of fields say",
        instead=f"{caller.with_override(path)}, with a strategy for it" if path else "a strategy of your own for it",
    )
