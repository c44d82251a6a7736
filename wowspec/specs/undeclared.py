"""A class that would take a command, were it declared as an aggregate root: nothing keeps it, so it is looked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from inspect import isfunction
from typing import Any

from ..modeling.aggregates import is_aggregate
from ..modeling.decorators import Role, mark_of
from ..modeling.places import PACKAGE, written_at


def undeclared_taker(command_class: type) -> tuple[str, str] | None:
    """A class with a command function for a command, and that function with its place; None if there is none.

    It is looked for where somebody can see the command's class by its name: in modules, and in the functions of the
    author's that are running.
    """
    for names in _scopes(command_class):
        for cls in list(names.values()):
            if not isinstance(cls, type) or is_aggregate(cls):
                continue
            for name, function in vars(cls).items():
                mark = mark_of(function)
                if mark is not None and mark.role is Role.COMMAND and takes(function, command_class):
                    place = f"{cls.__name__}.{name}"
                    return cls.__name__, written_at(function, place) or place
    return None


def takes(function: Any, command_class: type) -> bool:
    """Whether a parameter of a function is annotated with a class."""
    if not isfunction(function):
        return False
    for parameter, annotation in function.__annotations__.items():
        text = annotation.rpartition(".")[2] if isinstance(annotation, str) else annotation
        if parameter != "return" and text in (command_class, command_class.__name__):
            return True
    return False


def _scopes(command_class: type) -> Iterator[Mapping[str, Any]]:
    name = command_class.__name__
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        if names.get(name) is command_class:
            yield names
    frame = sys._getframe(1).f_back
    while frame is not None:
        if not frame.f_code.co_filename.startswith(PACKAGE) and frame.f_locals.get(name) is command_class:
            yield frame.f_locals
        frame = frame.f_back
