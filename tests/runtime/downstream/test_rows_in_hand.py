"""What counts as a change of a row, and that it can be undone in the row itself."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel

from wowspec.runtime.downstream.rows_in_hand import RowsInHand


@dataclass
class Row:
    n: int = 0
    names: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Slim:
    n: int = 0
    row: Row = field(default_factory=Row)


class Model(BaseModel):
    n: int = 0
    rows: dict[str, Row] = {}


class Plain:
    """Has no `__eq__`."""

    def __init__(self) -> None:
        self.n = 0
        self.other: Any = None


class Named(dict[str, int]):
    """A mapping with an attribute."""

    name = "first"


def names_in(row: Any) -> None:
    row.name = "second"


def points_to_itself() -> Plain:
    row = Plain()
    row.other = [row]
    return row


CHANGES: dict[str, tuple[Any, Any]] = {
    "list": ([1], lambda row: row.append(2)),
    "dict": ({"a": [1]}, lambda row: row["a"].append(2)),
    "order of a dict": ({"a": 1, "b": 2}, lambda row: row.update(a=row.pop("a"))),
    "set": ({1}, lambda row: row.add(2)),
    "deque": (deque([1]), lambda row: row.appendleft(0)),
    "dataclass": (Row(), lambda row: row.names.append("x")),
    "slots": (Slim(), lambda row: row.row.names.append("x")),
    "model": (Model(rows={"a": Row()}), lambda row: row.rows["a"].names.append("x")),
    "attribute of an object": (Plain(), lambda row: setattr(row, "n", 1)),
    "new attribute": (Plain(), lambda row: setattr(row, "more", 1)),
    "missing slot": (Slim(), lambda row: delattr(row, "n")),
    "attribute of a mapping": (Named(a=1), names_in),
    "circle": (points_to_itself(), lambda row: row.other.append(1)),
    "type": ([1], lambda row: row.__setitem__(0, True)),
}


@pytest.mark.parametrize(("row", "change"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_seen_and_undone(row, change):
    """The row stays the same object, and can be changed and undone again."""
    in_hand, exchange = RowsInHand(), object()
    in_hand.hand_out(exchange, "id", row)
    held = in_hand.held(exchange, "id")
    assert held is not None

    for _ in range(2):
        assert not held.is_changed
        change(row)
        assert held.is_changed
        held.put_back()
        assert held.row is row


@pytest.mark.parametrize(
    "row", [1, "text", None, (1, "a"), (each for each in "ab")], ids=lambda row: type(row).__name__
)
def test_what_cannot_be_changed_or_copied_is_not_looked_at(row):
    """Nothing is told of it, and nobody is stopped."""
    in_hand, exchange = RowsInHand(), object()
    in_hand.hand_out(exchange, "id", row)

    assert list(in_hand.take(exchange)) == []


def test_rows_are_taken_once_in_the_order_in_which_they_were_handed_out():
    """Each function has its own; a row that it is handed again keeps its place, and what it was at first."""
    in_hand, mine, others = RowsInHand(), object(), object()
    rows = {name: [name] for name in ("b", "a", "c")}
    for name, row in rows.items():
        in_hand.hand_out(mine, name, row)
    rows["b"].append("more")
    in_hand.hand_out(mine, "b", rows["b"])
    in_hand.hand_out(others, "a", rows["a"])
    in_hand.let_go(mine, "c")

    assert [(name, held.is_changed) for name, held in in_hand.take(mine)] == [("b", True), ("a", False)]
    assert list(in_hand.take(mine)) == []
    assert [name for name, _ in in_hand.take(others)] == ["a"]
