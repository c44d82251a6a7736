"""Fields that a command class takes as keywords."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from ..errors import SpecError
from .matchers import suggestion


def require_known_fields(verb: str, command_class: type, fields: Iterable[str], options: Iterable[str]) -> None:
    """Refuse fields that a pydantic model would silently drop.

    Raises:
        SpecError: which names the field that was meant, or says that options stand elsewhere.
    """
    if not issubclass(command_class, BaseModel) or command_class.model_config.get("extra", "ignore") != "ignore":
        return
    validators = command_class.__pydantic_decorators__.model_validators.values()
    if any(item.info.mode in ("before", "wrap") for item in validators):
        return
    known = _names_of(command_class)
    if known is None:
        return
    for name in fields:
        if name in known:
            continue
        if name in options:
            instead = f"when(command_of({command_class.__name__}, ...), {name}=...)"
        else:
            instead = suggestion(command_class, name) or f"{verb}({command_class.__name__}), since it has no fields"
        raise SpecError(
            f"{verb}({command_class.__name__}, {name}=...): {command_class.__name__} has no field {name!r}",
            why="pydantic would drop it, and the command would be another than the one that is written here",
            instead=instead,
        )


def _names_of(model: type[BaseModel]) -> set[str] | None:
    """What the model takes as keywords; None where an alias is more than a name."""
    names = set(model.model_fields)
    for field in model.model_fields.values():
        for alias in (field.alias, field.validation_alias):
            if alias is None:
                continue
            if not isinstance(alias, str):
                return None
            names.add(alias)
    return names
