"""What is said of a verb, or a field, that does not exist: the nearest of those that do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any, Final, NoReturn

from pydantic import BaseModel

from ..errors import SpecError
from .matchers import known_fields, suggestion

#: What pydantic says where a field is set that a model does not have.
_NO_FIELD: Final = re.compile(r'"(\w+)" object has no field "(\w+)"')


class UnknownVerbError(SpecError, AttributeError):
    """There is no such verb; an `AttributeError` too, as Python asks."""

    @property
    def name(self) -> Any:
        """None, whatever Python sets it to: newer ones would add a suggestion of their own to ours."""
        return None

    @name.setter
    def name(self, value: Any) -> None: ...  # pyright: ignore[reportIncompatibleVariableOverride]


def no_verb(owner: str) -> Callable[[Any, str], NoReturn]:
    """A `__getattr__` that names the nearest verbs; type checkers must not see it, or they'd let every name pass.

    Args:
        owner: whose verbs they are, read as "a spec".
    """

    def __getattr__(self: Any, name: str) -> NoReturn:  # noqa: N807
        __tracebackhide__ = True
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        known = [verb for verb in dir(self) if not verb.startswith("_")]
        close = difflib.get_close_matches(name, known, 3, 0.8) or difflib.get_close_matches(name, known, 1)
        raise UnknownVerbError(f"{owner} has no {name!r}", instead=" or ".join(f".{verb}" for verb in close))

    return __getattr__


def misspelt_field(error: BaseException) -> str | None:
    """A field that a handler, or a sourcing function, sets or reads, and that its class does not have."""
    if isinstance(error, AttributeError):
        kind, name = type(error.obj), error.name
        close = difflib.get_close_matches(name or "", known_fields(kind) or (), 1)
        # The error says already that there is none: only what may be meant is news.
        return no_field(kind, name) if name and close else None
    said = _NO_FIELD.fullmatch(str(error)) if type(error) is ValueError else None
    traceback = error.__traceback__ if said is not None else None
    while said is not None and traceback is not None:
        for value in traceback.tb_frame.f_locals.values():
            if isinstance(value, BaseModel) and type(value).__name__ == said[1]:
                return no_field(type(value), said[2])
        traceback = traceback.tb_next
    return None


def no_field(kind: type, name: str) -> str:
    """That a class has no such field: the one that may be meant, else those that it has."""
    meant = suggestion(kind, name)
    others = meant.removeprefix("one of ")
    told = (f": did you mean {meant}?" if others == meant else f", but {others}") if meant else ""
    return f"{kind.__name__} has no field {name}{told}"
