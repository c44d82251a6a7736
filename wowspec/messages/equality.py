"""Comparing events and states field by field, and naming the first field that differs.

Stricter than `==` where `==` hides a bug: `True` is not `1`, classes count, and an entity that compares by its id alone
is still looked into. Laxer in one point: a NaN equals a NaN. A matcher on the expected side (`pytest.approx`,
`mock.ANY`, any object of another class with an `__eq__` of its own) decides by itself.
"""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import fractions
import inspect
import sys
import types
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from .records import attributes_of, slots_of


class Missing:
    """Stands for a field, key or element that one side does not have."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<missing>"


MISSING: Final = Missing()

#: What a path is made of, innermost part first.
_Path = tuple[Any, str] | None
_Item = tuple[_Path, Any, Any]

_ATOMS: Final[frozenset[type]] = frozenset(
    (
        str, int, bool, float, complex, bytes, type(None), decimal.Decimal, fractions.Fraction, dt.datetime, dt.date,
        dt.time, dt.timedelta, uuid.UUID, range,
    )
)  # fmt: skip
_NUMBERS: Final[frozenset[type]] = frozenset((int, float, complex, decimal.Decimal, fractions.Fraction))
_BUILT_IN: Final = (str, int, float, bytes, list, tuple, dict, set, frozenset)
_SEQUENCES: Final = (list, tuple, collections.deque)
_LIBRARY: Final = frozenset(sys.stdlib_module_names) - {"__main__"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One place at which two values differ.

    Attributes:
        path: where, such as `lines[0].quantity`; empty for the values as a whole.
        expected: what is expected there, or `MISSING`.
        actual: what is there, or `MISSING`.
    """

    path: str
    expected: Any
    actual: Any

    def __str__(self) -> str:
        return f"{self.path or 'value'}: expected {self._shown(self.expected)}, got {self._shown(self.actual)}"

    def _shown(self, value: Any) -> str:
        text = repr(value)
        other = self.actual if value is self.expected else self.expected
        return f"{text} ({type(value).__name__})" if type(value) is not type(other) else text


def deep_equal(expected: Any, actual: Any) -> bool:
    """Whether two values are equal field by field."""
    return deep_difference(expected, actual) is None


def deep_difference(expected: Any, actual: Any) -> Difference | None:
    """The first difference between two values, in the order of their fields; None if there is none."""
    try:
        if _surely_equal(expected, actual):
            return None
    except RecursionError:
        pass  # as in `all_differences`
    found = all_differences(expected, actual, limit=1)
    return found[0] if found else None


def all_differences(expected: Any, actual: Any, *, limit: int = 20) -> list[Difference]:
    """The differences between two values in the order of their fields, at most `limit` of them."""
    try:
        if _surely_equal(expected, actual):
            return []
    except RecursionError:
        pass  # too deep or a cycle: the walk below needs no stack of calls
    found: list[Difference] = []
    stack: list[_Item] = [(None, expected, actual)]
    # Pairs already looked into, so that cycles end; they are kept alive because ids of dead objects are used again.
    seen: dict[tuple[int, int], Any] = {}
    while stack:
        item = stack.pop()
        path, left, right = item
        if left is right:
            continue
        kind = type(left)
        if kind in _ATOMS and kind is type(right):
            if left == right or (left != left and right != right):  # noqa: PLR0124
                continue
            parts = None
        else:
            pair = (id(left), id(right))
            if pair in seen:
                continue
            seen[pair] = item
            parts = _parts(path, left, right)
        if parts is None:
            found.append(Difference(_text(path), left, right))
            if len(found) >= limit:
                break
        elif parts:
            stack.extend(reversed(parts))
    return found


#: From here on a list counts as long.
_MANY: Final = 16


def _surely_equal(left: Any, right: Any) -> bool:
    """A quick look at the common case; False says nothing."""
    if left is right:
        return True
    kind = type(left)
    if kind is not type(right):
        return False
    holds = _HOLDS_DICT.get(kind)
    if holds is not None:
        return _holds_same(holds, left, right)
    if kind in _ATOMS:
        return bool(left == right)
    if kind is list or kind is tuple:
        if len(left) != len(right):
            return False
        if len(left) > _MANY:
            # Long lists are mostly of one plain class, and those Python compares faster than we do.
            kinds = set(map(type, left))
            if len(kinds) == 1 and kinds <= _ATOMS and kinds == set(map(type, right)):
                return bool(left == right)
        return all(map(_surely_equal, left, right))
    if kind is dict:
        return _same_texts(left, right)
    if kind is set or kind is frozenset:
        return bool(left == right) and set(map(type, left)) | set(map(type, right)) <= {str}
    holds = _HOLDS_DICT[kind] = _holds_dict(kind)
    return _holds_same(holds, left, right)


def _holds_same(holds: int, left: Any, right: Any) -> bool:
    """The same look at two objects of one class."""
    if not holds:
        return False
    held = left.__dict__
    # What holds nothing is judged by its own comparison, if it has one.
    if not held or not _same_texts(held, right.__dict__):
        return False
    return holds != _MODEL or not (
        left.__pydantic_extra__ or right.__pydantic_extra__ or left.__pydantic_private__ or right.__pydantic_private__
    )


def _same_texts(left: dict[Any, Any], right: dict[Any, Any]) -> bool:
    if len(left) != len(right):
        return False
    kinds = list(map(type, left.values()))
    if _ATOMS.issuperset(kinds) and kinds == list(map(type, right.values())) and list(left) == list(right):
        # All values are plain and of the same classes, place by place: those Python compares faster than we do.
        return left == right and _TEXT.issuperset(map(type, left))
    for key, value in left.items():
        if type(key) is not str or key not in right or not _surely_equal(value, right[key]):
            return False
    return True


_TEXT: Final[frozenset[type]] = frozenset((str,))

#: How instances of a class hold what they hold: in a dictionary alone, as a model with more than that, in another way.
_OTHER, _DICT, _MODEL = 0, 1, 2
_HOLDS_DICT: Final[dict[type, int]] = {}


def _holds_dict(kind: type) -> int:
    if issubclass(kind, BaseModel):
        has_more = kind.model_config.get("extra") == "allow" or kind.__private_attributes__
        return _MODEL if has_more else _DICT
    special = issubclass(kind, BaseException | type | Mapping | AbstractSet | Sequence)
    return _OTHER if special or _is_library(kind) or slots_of(kind) or not kind.__dictoffset__ else _DICT


def _text(path: _Path) -> str:
    labels = []
    while path is not None:
        path, label = path
        labels.append(label)
    return "".join(reversed(labels)).removeprefix(".")


def _parts(path: _Path, left: Any, right: Any) -> list[_Item] | None:
    """The parts of two values that have to be equal; None if the values differ as they are."""
    kind, other = type(left), type(right)
    if kind is not other:
        if kind in _NUMBERS and other in _NUMBERS:
            return [] if left == right or (left != left and right != right) else None  # noqa: PLR0124
        if kind in _BUILT_IN and issubclass(other, kind) and other is not bool:
            return _content(path, left, right) if issubclass(kind, Iterable) and kind not in (str, bytes) else (
                [] if left == right else None
            )  # fmt: skip
        if issubclass(kind, AbstractSet) and issubclass(other, AbstractSet):
            return [] if _same_members(left, right) else None
        return [] if _is_matcher(kind) and _equal(left, right) else None
    return _content(path, left, right)


def _content(path: _Path, left: Any, right: Any) -> list[_Item] | None:
    if isinstance(left, _SEQUENCES):
        return list(_in_order(path, left, right))
    if isinstance(left, Mapping):
        return list(_by_key(path, left, right))
    if isinstance(left, AbstractSet):
        return [] if _same_members(left, right) else None
    kind = type(left)
    if issubclass(kind, BaseModel):
        return _attributes(path, _model_attributes(left), _model_attributes(right))
    if isinstance(left, BaseException):
        mine, theirs = {"args": left.args, **attributes_of(left)}, {"args": right.args, **attributes_of(right)}
        return _attributes(path, mine, theirs)
    if issubclass(kind, enum.Enum | type | types.FunctionType | types.ModuleType) or _is_library(kind):
        return [] if _equal(left, right) else None
    mine, theirs = attributes_of(left), attributes_of(right)
    if not mine and not theirs:
        return [] if not _compares(kind) or _equal(left, right) else None
    if _compares(kind) and not hasattr(kind, "__dataclass_fields__") and _equal(left, right):
        mine, theirs = _without_caches(mine, theirs), _without_caches(theirs, mine)
    return _attributes(path, mine, theirs)


def _in_order(path: _Path, left: Sequence[Any], right: Sequence[Any]) -> Iterator[_Item]:
    names = getattr(type(left), "_fields", None)
    for index in range(max(len(left), len(right))):
        label = f".{names[index]}" if names is not None and index < len(names) else f"[{index}]"
        yield (
            (path, label),
            left[index] if index < len(left) else MISSING,
            right[index] if index < len(right) else MISSING,
        )


def _by_key(path: _Path, left: Mapping[Any, Any], right: Mapping[Any, Any]) -> Iterator[_Item]:
    # Keys are compared with their classes: True is not the key 1.
    theirs = {(type(key), key): item for key, item in right.items()}
    for key, item in left.items():
        yield (path, f"[{key!r}]"), item, theirs.pop((type(key), key), MISSING)
    for (_, key), item in theirs.items():
        yield (path, f"[{key!r}]"), MISSING, item


def _attributes(path: _Path, mine: dict[str, Any], theirs: dict[str, Any]) -> list[_Item]:
    items: list[_Item] = [((path, f".{name}"), value, theirs.get(name, MISSING)) for name, value in mine.items()]
    if mine.keys() != theirs.keys():
        items.extend(((path, f".{name}"), MISSING, value) for name, value in theirs.items() if name not in mine)
    return items


def _model_attributes(model: BaseModel) -> dict[str, Any]:
    """Fields, extra fields and private attributes; not what a cached property keeps."""
    fields = type(model).model_fields
    held = {name: value for name, value in model.__dict__.items() if name in fields}
    if model.__pydantic_extra__:
        held.update(model.__pydantic_extra__)
    if model.__pydantic_private__:
        held.update(model.__pydantic_private__)
    return held


def _same_members(left: AbstractSet[Any], right: AbstractSet[Any]) -> bool:
    if len(left) != len(right):
        return False
    if all(type(member) in _ATOMS for member in left):
        rest = {(type(member), member) for member in right}
        if {(type(member), member) for member in left} == rest:
            return True
    unmatched = list(right)
    for member in left:
        for index, candidate in enumerate(unmatched):
            if deep_equal(member, candidate):
                del unmatched[index]
                break
        else:
            return False
    return True


def _is_matcher(kind: type) -> bool:
    """Whether a class compares itself by a rule of its own, not by one that it has from a built-in class."""
    owner = next(base for base in kind.__mro__ if "__eq__" in vars(base))
    return owner.__module__ not in ("builtins", "collections", "enum")


def _compares(kind: type) -> bool:
    return inspect.getattr_static(kind, "__eq__") is not object.__eq__


def _is_library(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in _LIBRARY and kind is not types.SimpleNamespace


def _without_caches(held: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Without private attributes that one side alone has filled: an object that compares itself computed them."""
    return {
        name: value
        for name, value in held.items()
        if not name.startswith("_") or (value is not None and other.get(name) is not None)
    }


def _equal(left: Any, right: Any) -> bool:
    result = left == right
    try:
        return bool(result)
    except ValueError:  # an array of answers
        return bool(result.all())
