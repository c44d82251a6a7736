"""Copies of objects of the author's, with the errors in them.

The standard library copies an error by calling its class with its `args`. Where `__init__` takes something else than it
hands on (`def __init__(self): super().__init__("TooEarly", "come later")`), that raises, or the copy says another thing
than the error did. Here such an error is built as it is, without its `__init__`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import suppress
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, Final, TypeVar

E = TypeVar("E", bound=BaseException)

#: What nobody copies, so that nothing is looked for in it.
_ATOMIC: Final = (type, FunctionType, MethodType, ModuleType, str, bytes, int, float, complex, type(None))


def deep_copy(value: Any, copies: dict[int, Any]) -> Any:
    """A copy of whatever an author's object is made of.

    Args:
        value: the object.
        copies: copies by identity, as `copy.deepcopy` keeps them.

    Raises:
        Exception: whatever it raises when it is copied.
    """
    errors: list[BaseException] = []
    with suppress(Exception):  # an object that raises when it is looked at may be copied all the same
        errors += _errors_in(value)
    for error in errors:
        if id(error) not in copies and _is_built_otherwise(error):
            copies[id(error)] = copied_error(error)
    return copy.deepcopy(value, copies)


def copied_error(error: E) -> E:
    """A copy of an error that says the same; what it holds is shared. The error itself where it has no copy."""
    with suppress(Exception):  # whatever a class raises that is called with its `args`
        made = copy.copy(error)
        if _says_same(made, error):
            return made
    try:
        made = type(error).__new__(type(error), *error.args)
        made.args = error.args
        for name, value in _state_of(error):
            object.__setattr__(made, name, value)
        return made if _says_same(made, error) else error
    except Exception:  # noqa: BLE001 - likewise
        return error


def _says_same(made: object, error: BaseException) -> bool:
    return type(made) is type(error) and made.args == error.args and str(made) == str(error)


def _is_built_otherwise(error: BaseException) -> bool:
    return isinstance(type(error).__init__, FunctionType)


def _errors_in(value: Any) -> Iterator[BaseException]:
    seen: set[int] = set()
    open_ = [value]
    while open_:
        each = open_.pop()
        if isinstance(each, _ATOMIC) or id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, BaseException):
            yield each
        if isinstance(each, dict):
            open_ += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple | set | frozenset):
            open_ += each
        open_ += [held for _, held in _state_of(each)]


def _state_of(value: object) -> Iterator[tuple[str, Any]]:
    """What an object holds by name, in its dictionary and in slots."""
    held = getattr(value, "__dict__", None)
    if isinstance(held, dict):
        yield from list(held.items())
    for cls in type(value).__mro__:
        for name, slot in vars(cls).items():
            if isinstance(slot, MemberDescriptorType) and hasattr(value, name):
                yield name, getattr(value, name)
