"""Rows that functions have in hand: what is changed in place, without a word to the `Views` that keep it.

Kept only where faults are aimed at writes to views. Whoever is handed a row may change it until its function ends; what
differs then has been written.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import MemberDescriptorType
from typing import Any, Final

from ...messages.records import attributes_of

#: What a row was that was not there.
ABSENT: Final = object()


@dataclass(slots=True, eq=False)
class HeldRow:
    """A row in the hands of a function.

    Attributes:
        row: the row.
        before: a copy of it as it was handed out, or written; `ABSENT` if it was inserted and is yet to be written.
    """

    row: Any
    before: Any

    @property
    def is_changed(self) -> bool:
        """Whether the row is not what it was."""
        return not _is_same(self.row, self.before, set())

    def put_back(self) -> None:
        """Make a row that was there what it was; it stays the same object, since others may have it in hand."""
        if not self.is_changed:
            return
        row, before = self.row, copy.deepcopy(self.before)
        if isinstance(row, list | deque | bytearray):
            row.clear()
            row.extend(before)
        elif isinstance(row, dict | set):
            row.clear()
            row.update(before)
        held = getattr(row, "__dict__", None)
        if held is not None:
            held.clear()
            held.update(before.__dict__)
        for cls in type(row).__mro__:
            for slot in vars(cls).values():
                if isinstance(slot, MemberDescriptorType):
                    _copy_slot(slot, before, row)


class RowsInHand:
    """The rows of one `Views` that functions have in hand, by what they handle."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        # The exchange is kept beside, so that no other one gets its id.
        self._held: dict[int, tuple[Any, dict[str, HeldRow]]] = {}

    def hand_out(self, exchange: Any, view_id: str, row: Any) -> None:
        """A function got a row; again is a no-op. What cannot be changed, or not be copied, is not looked at."""
        known = self.held(exchange, view_id)
        if known is None or known.row is not row:
            self.write(exchange, view_id, row)

    def write(self, exchange: Any, view_id: str, row: Any) -> None:
        """A function wrote a row, as it is now, and may go on changing it."""
        self.let_go(exchange, view_id)
        try:
            before = copy.deepcopy(row)
        except Exception:  # noqa: BLE001 - whatever a class of the user's raises
            return
        if before is not row:
            self._held.setdefault(id(exchange), (exchange, {}))[1][view_id] = HeldRow(row, before)

    def insert(self, exchange: Any, view_id: str, row: Any) -> bool:
        """A function inserted a row, to fill it; whether that waits for the function's end, since it can be changed."""
        self.write(exchange, view_id, row)
        held = self.held(exchange, view_id)
        if held is None:
            return False
        held.before = ABSENT
        return True

    def held(self, exchange: Any, view_id: str) -> HeldRow | None:
        """What a function has in hand under an id."""
        found = self._held.get(id(exchange))
        return None if found is None else found[1].get(view_id)

    def let_go(self, exchange: Any, view_id: str) -> None:
        """A row was deleted, or another one stands in its place."""
        found = self._held.get(id(exchange))
        if found is not None:
            found[1].pop(view_id, None)

    def take(self, exchange: Any) -> Iterator[tuple[str, HeldRow]]:
        """The rows that a function had in hand, in the order in which it got them; it has none any more."""
        found = self._held.pop(id(exchange), None)
        return iter(()) if found is None else iter(found[1].items())


def _copy_slot(slot: MemberDescriptorType, source: Any, target: Any) -> None:
    try:
        value = slot.__get__(source)
    except AttributeError:
        if hasattr(target, slot.__name__):
            slot.__delete__(target)
    else:
        slot.__set__(target, value)


def _is_same(one: Any, other: Any, seen: set[tuple[int, int]]) -> bool:
    """Whether two values hold the same, whether or not their classes can tell."""
    if one is other or (id(one), id(other)) in seen:
        return True
    if type(one) is not type(other):
        return False
    seen.add((id(one), id(other)))
    if isinstance(one, dict):
        if not _has_same_items(one, other, seen):
            return False
    elif isinstance(one, list | tuple | deque):
        if len(one) != len(other) or not all(_is_same(mine, its, seen) for mine, its in zip(one, other, strict=True)):
            return False
    elif not attributes_of(one):
        return bool(one == other)
    return _has_same_items(attributes_of(one), attributes_of(other), seen)


def _has_same_items(one: dict[Any, Any], other: dict[Any, Any], seen: set[tuple[int, int]]) -> bool:
    return list(one) == list(other) and all(_is_same(one[key], other[key], seen) for key in one)
