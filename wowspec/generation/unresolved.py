"""What a type lacks to become a strategy; told of with the path of its field."""

from __future__ import annotations

from ..errors import SpecError


class Unresolved(Exception):  # noqa: N818 - it becomes a `SpecError` where the path is known
    """No strategy follows from a type; the text says why."""


def unresolved_error(root: str, path: str, why: str) -> SpecError:
    """The error for a field that no strategy follows for."""
    key = path.replace("[]", "")
    said = f"{key}=..." if key.isidentifier() else f'**{{"{key}": ...}}'
    place = f"{root}.{path}" if path else root
    instead = f"from_model({root}, {said}), with a strategy for it" if path else "a strategy of your own for it"
    return SpecError(
        f"no strategy follows for {place}: {why}",
        why="values are drawn from what the types of fields say",
        instead=instead,
    )
