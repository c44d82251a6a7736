"""What the strategies of commands and histories read from an aggregate's metadata."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from ..errors import SpecError
from ..modeling.aggregates import AggregateMetadata
from ..modeling.annotations import AggregateId, StaticAggregateId, merged_mark
from ..modeling.commands import command_metadata
from ..modeling.fields import fields_of, first_marked
from .callers import Caller


def id_field(command_class: type) -> str | None:
    """The field that says which instance a command is for (CMD-010 to CMD-013); None if none does."""
    if merged_mark(command_class, StaticAggregateId):
        return None
    fields = fields_of(command_class)
    marked = first_marked(fields, AggregateId)
    if marked is not None:
        return marked.name
    return next((field.name for field in fields if field.name == "id"), None)


def creates(command_class: type) -> bool:
    """Whether a command may be the first one of an instance."""
    metadata = command_metadata(command_class)
    return metadata.is_create or metadata.allow_create


def may_follow(command_class: type) -> bool:
    """Whether a command may be sent to an instance that is there."""
    return not command_metadata(command_class).is_create


def command_classes(
    metadata: AggregateMetadata, caller: Caller, only: Any, exclude: Any, *, built_in: bool, void: bool
) -> list[type]:
    """The command classes that are asked for.

    Args:
        metadata: whose commands.
        caller: the call that the author wrote.
        only: these alone; one class or several.
        exclude: all but these.
        built_in: whether those that the runtime answers itself are among them.
        void: whether void commands, which reach no instance, are.

    Raises:
        SpecError: for a class that is no command of the aggregate, or where none is left.
    """
    known = list(dict.fromkeys([*metadata.commands, *metadata.built_in]))
    wanted = _classes(only, "only", known, metadata, caller) if only is not None else None
    unwanted = _classes(exclude, "exclude", known, metadata, caller) if exclude is not None else []
    found = []
    for cls in known if wanted is None else wanted:
        is_extra = (cls in metadata.built_in and not built_in) or (command_metadata(cls).is_void and not void)
        if cls not in unwanted and (wanted is not None or not is_extra):
            found.append(cls)
    if not found:
        names = ", ".join(cls.__name__ for cls in known)
        raise SpecError(
            f"{caller} has no command to draw",
            why=f"commands are drawn from those of {metadata.command_class.__name__}, without what only= and exclude= "
            "take out",
            instead=f"only= with some of {names}",
        )
    return found


def _classes(said: Any, option: str, known: list[type], metadata: AggregateMetadata, caller: Caller) -> list[type]:
    wanted: list[Any] = list(said) if isinstance(said, Iterable) and not isinstance(said, type) else [said]
    for item in wanted:
        if item not in known:
            shown = getattr(item, "__name__", repr(item))
            names = [cls.__name__ for cls in known]
            close = difflib.get_close_matches(shown, names) or names
            raise SpecError(
                f"{caller} is given {option}={shown}, which is no command of {metadata.command_class.__name__}",
                why="commands are those that the aggregate root handles or mounts",
                instead=f"{option}={' or '.join(close)}",
            )
    return wanted
