"""Which expected item met which actual event: the matching of `expect_events`, and the best fit where it fails.

Theory of operation. An expected list is a pattern: a plain item takes one event, `unordered` of k items takes k, and
`ANY_EVENTS` any number. Whether it matches is decided by the places in the actual list from which each rest of the
pattern reaches the end: that is exact, needs no backtracking, and leaves one alignment, in which `ANY_EVENTS` takes as
few events as it can from left to right. Where nothing reaches the end, an alignment of least cost is made for the
reader: equal pairs cost nothing, pairs of one class a little for each field that differs, and all else is an item
missing and an event too many. What is equal at both ends is set aside first: long lists cost what their middle costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ..messages.equality import MISSING
from .compare import differences, equals
from .matchers import AnyEvents, AnyOf, Unordered, is_group, kind_of

_MISSING_COST: Final = 8
_SURPLUS_COST: Final = 8
#: Pairs of one class are always nearer than a missing item and a surplus event together.
_DIFFERS_COST: Final = 4
_MOST_FIELDS: Final = 8
#: Cells of the table of least costs, those of each group's windows included; beyond it the lists are laid side by side.
_MOST_CELLS: Final = 10_000

#: Cost, and how many items and how many places it takes.
_Step = tuple[int, int, int]
#: Least cost, rank of the step that begins it among equals, and how many items and places that step takes.
_Best = tuple[int, int, int, int]


class Verdict(StrEnum):
    """What became of one line of an alignment."""

    MET = "met"
    DIFFERS = "differs"
    MISSING = "missing"
    SURPLUS = "surplus"
    LET_PASS = "let pass"  # noqa: S105 - ANY_EVENTS took it


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an alignment.

    Attributes:
        verdict: what became of it.
        expected: the expected event or the member of an `unordered` group; `MISSING` where there is none.
        actual: the actual event; `MISSING` where there is none.
        item: index of the expected item; None for a surplus event.
        place: index of the actual event; None for a missing one.
        grouped: whether the item is an `unordered` group.
    """

    verdict: Verdict
    expected: Any = MISSING
    actual: Any = MISSING
    item: int | None = None
    place: int | None = None
    grouped: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """How an expected list and an actual one go together.

    Attributes:
        matched: whether the actual events are as expected.
        expected: the expected items.
        actual: the actual events.
        rows: the alignment, in the order of the actual events, missing ones where they were expected.
    """

    matched: bool
    expected: tuple[Any, ...]
    actual: tuple[Any, ...]
    rows: tuple[Row, ...]

    @property
    def failures(self) -> tuple[Row, ...]:
        """The rows that are not as expected."""
        return tuple(row for row in self.rows if row.verdict not in (Verdict.MET, Verdict.LET_PASS))


def surely_match(expected: Sequence[Any], actual: Sequence[Any]) -> bool:
    """A quick look at the usual case, one event for each item; False says nothing."""
    if len(expected) != len(actual):
        return False
    return all(not is_group(item) and equals(item, event) for item, event in zip(expected, actual, strict=True))


def match_events(expected: Sequence[Any], actual: Sequence[Any]) -> Match:
    """Lay actual events against the expected items: exact events, matchers, `unordered(...)`, `ANY_EVENTS`."""
    return _Alignment(tuple(expected), tuple(actual)).match()


class _Alignment:
    """One run; remembers each comparison of an item with an event."""

    __slots__ = ("_costs", "_equal", "_items", "_places")

    def __init__(self, items: tuple[Any, ...], places: tuple[Any, ...]) -> None:
        self._items = items
        self._places = places
        self._equal: dict[tuple[int, int, int], bool] = {}
        self._costs: dict[tuple[int, int, int], int] = {}

    def match(self) -> Match:
        most = min(len(self._items), len(self._places))
        head = self._common(range(most))
        tail = self._common(range(-1, head - most - 1, -1))
        item_end, place_end = len(self._items) - tail, len(self._places) - tail
        matched = True
        middle = self._exact(head, item_end, head, place_end)
        if middle is None:
            matched = False
            middle = self._nearest(head, item_end, head, place_end)
        rows = [self._pair(n, n) for n in range(head)] + middle
        rows += [self._pair(item_end + n, place_end + n) for n in range(tail)]
        return Match(matched, self._items, self._places, tuple(rows))

    def _common(self, indices: range) -> int:
        """How many items, from one end on, stand for one event each and equal it."""
        count = 0
        for index in indices:
            item = index % len(self._items)
            if is_group(self._items[item]) or not self._meets(item, 0, index % len(self._places)):
                break
            count += 1
        return count

    # -- one item against one event

    def _members(self, item: int) -> tuple[Any, ...]:
        found = self._items[item]
        return found.items if isinstance(found, Unordered) else (found,)

    def _meets(self, item: int, member: int, place: int) -> bool:
        key = (item, member, place)
        known = self._equal.get(key)
        if known is None:
            known = self._equal[key] = equals(self._members(item)[member], self._places[place])
        return known

    def _cost(self, item: int, member: int, place: int) -> int | None:
        """What it costs to call the event the item: 0 if it is, a little if it has its class, None otherwise."""
        key = (item, member, place)
        known = self._costs.get(key)
        if known is None:
            known = self._costs[key] = self._find_cost(item, member, place)
        return None if known < 0 else known

    def _find_cost(self, item: int, member: int, place: int) -> int:
        if self._meets(item, member, place):
            return 0
        expected, actual = self._members(item)[member], self._places[place]
        choices = expected.items if isinstance(expected, AnyOf) else (expected,)
        found = [
            len(differences(choice, actual, limit=_MOST_FIELDS))
            for choice in choices
            if kind_of(choice) is type(actual)
        ]
        return _DIFFERS_COST + min(*found, _MOST_FIELDS) if found else -1

    def _pair(self, item: int, place: int, member: int = 0) -> Row:
        verdict = Verdict.MET if self._meets(item, member, place) else Verdict.DIFFERS
        grouped = isinstance(self._items[item], Unordered)
        return Row(verdict, self._members(item)[member], self._places[place], item, place, grouped)

    def _missing(self, item: int, member: int = 0) -> Row:
        grouped = isinstance(self._items[item], Unordered)
        return Row(Verdict.MISSING, self._members(item)[member], MISSING, item, None, grouped)

    def _surplus(self, place: int) -> Row:
        return Row(Verdict.SURPLUS, MISSING, self._places[place], None, place)

    # -- the exact matching

    def _exact(self, item_start: int, item_end: int, place_start: int, place_end: int) -> list[Row] | None:
        """The rows of the matching, or None if there is none."""
        # leads[i]: the places from which the items from i on can take all events to the end.
        leads: list[set[int]] = [set() for _ in range(item_start, item_end)] + [{place_end}]
        for item in reversed(range(item_start, item_end)):
            after = leads[item - item_start + 1]
            before = leads[item - item_start] = self._leads(item, after, place_start)
            if not before:
                return None
        if place_start not in leads[0]:
            return None
        rows: list[Row] = []
        place = place_start
        for item in range(item_start, item_end):
            after = leads[item - item_start + 1]
            if isinstance(self._items[item], AnyEvents):
                end = min(lead for lead in after if lead >= place)
            else:
                end = place + len(self._members(item))
            rows += self._taken(item, place, end)
            place = end
        return rows

    def _leads(self, item: int, after: set[int], place_start: int) -> set[int]:
        """The places from which an item can take events up to one of the places `after`."""
        if isinstance(self._items[item], AnyEvents):
            return set(range(place_start, max(after) + 1))
        taken = len(self._members(item))
        starts = [end - taken for end in after if end - taken >= place_start]
        return {start for start in starts if self._takes(item, start, start + taken)}

    def _takes(self, item: int, start: int, end: int) -> bool:
        """Whether an item can take just these events, as many as it has members."""
        if isinstance(self._items[item], Unordered):
            return len(self._assign(item, start, end)) == end - start
        return self._meets(item, 0, start)

    def _taken(self, item: int, start: int, end: int) -> list[Row]:
        found = self._items[item]
        if isinstance(found, AnyEvents):
            return [Row(Verdict.LET_PASS, found, self._places[place], item, place) for place in range(start, end)]
        if isinstance(found, Unordered):
            member_of = self._assign(item, start, end)
            return [self._pair(item, place, member_of[place]) for place in range(start, end)]
        return [self._pair(item, start)]

    def _assign(self, item: int, start: int, end: int) -> dict[int, int]:
        """As many members of a group as can have an event each, by augmenting paths (place → member)."""
        member_of: dict[int, int] = {}
        for member in range(len(self._members(item))):
            reached_from: dict[int, int] = {}  # place → the member that asks for it
            asking = [member]
            free: int | None = None
            while asking and free is None:
                asker = asking.pop(0)
                for place in range(start, end):
                    if place in reached_from or not self._meets(item, asker, place):
                        continue
                    reached_from[place] = asker
                    if place not in member_of:
                        free = place
                        break
                    asking.append(member_of[place])
            place_of = {holder: place for place, holder in member_of.items()}
            while free is not None:
                asker = reached_from[free]
                member_of[free] = asker
                free = place_of.get(asker)
        return member_of

    # -- the nearest alignment, for the reader

    def _nearest(self, item_start: int, item_end: int, place_start: int, place_end: int) -> list[Row]:
        height, width = item_end - item_start, place_end - place_start
        if (width + 1) * (1 + sum(self._work(item, width) for item in range(item_start, item_end))) > _MOST_CELLS:
            return self._side_by_side(item_start, item_end, place_start, place_end)
        # cheapest[i][j]: the items from i on against the places from j on: least cost, and the step that begins it.
        cheapest: list[list[_Best]] = [[(0, 0, 0, 0)] * (width + 1) for _ in range(height + 1)]
        for i in reversed(range(height + 1)):
            for j in reversed(range(width + 1)):
                if i < height or j < width:
                    item = item_start + i if i < height else None
                    cheapest[i][j] = min(
                        (cost + cheapest[i + down][j + right][0], rank, down, right)
                        for rank, (cost, down, right) in enumerate(self._steps(item, place_start + j, place_end))
                    )
        rows: list[Row] = []
        i = j = 0
        while i < height or j < width:
            _, _, down, right = cheapest[i][j]
            item = item_start + i if i < height else None
            rows += self._rows(item, place_start + j, down, right)
            i, j = i + down, j + right
        return rows

    def _work(self, item: int, width: int) -> int:
        """How many comparisons an item may need at each place."""
        found = self._items[item]
        if not isinstance(found, Unordered):
            return 1
        windows = min(width, 2 * len(found.items)) + 1
        return 1 + windows * windows * len(found.items) // 8

    def _steps(self, item: int | None, place: int, place_end: int) -> Iterator[_Step]:
        """The ways to go on from here, those first that are preferred among equals."""
        if item is not None:
            found = self._items[item]
            if isinstance(found, AnyEvents):
                yield 0, 1, 0
            elif isinstance(found, Unordered):
                for taken in range(min(place_end - place, 2 * len(found.items)) + 1):
                    yield self._group(item, place, place + taken)[0], 1, taken
            else:
                cost = self._cost(item, 0, place) if place < place_end else None
                if cost is not None:
                    yield cost, 1, 1
                yield _MISSING_COST, 1, 0
            if isinstance(found, AnyEvents) and place < place_end:
                yield 0, 0, 1
                return
        if place < place_end:
            yield _SURPLUS_COST, 0, 1

    def _rows(self, item: int | None, place: int, down: int, right: int) -> list[Row]:
        """The rows of one step."""
        if item is None:
            return [self._surplus(place)]
        found = self._items[item]
        if isinstance(found, AnyEvents):
            return [] if down else [Row(Verdict.LET_PASS, found, self._places[place], item, place)]
        if not down:
            return [self._surplus(place)]
        if isinstance(found, Unordered):
            return self._group(item, place, place + right)[1]
        return [self._pair(item, place) if right else self._missing(item)]

    def _group(self, item: int, start: int, end: int) -> tuple[int, list[Row]]:
        """A group against a run of events: what is equal first, then what has the same class, in order."""
        member_of = self._assign(item, start, end)
        cost = 0
        lacking = [member for member in range(len(self._members(item))) if member not in member_of.values()]
        for place in range(start, end):
            if place in member_of:
                continue
            near = [(found, member) for member in lacking if (found := self._cost(item, member, place)) is not None]
            if near:
                found, member = min(near)
                cost += found
                member_of[place] = member
                lacking.remove(member)
        rows = [
            self._pair(item, place, member_of[place]) if place in member_of else self._surplus(place)
            for place in range(start, end)
        ]
        rows += [self._missing(item, member) for member in lacking]
        return cost + _MISSING_COST * len(lacking) + _SURPLUS_COST * (end - start - len(member_of)), rows

    def _side_by_side(self, item_start: int, item_end: int, place_start: int, place_end: int) -> list[Row]:
        """Too long to look for the best: each item against the next events, as many as it has members."""
        rows: list[Row] = []
        place = place_start
        for item in range(item_start, item_end):
            found = self._items[item]
            if isinstance(found, AnyEvents):
                continue
            end = min(place + len(self._members(item)), place_end)
            if isinstance(found, Unordered):
                rows += self._group(item, place, end)[1]
            elif place == end:
                rows.append(self._missing(item))
            elif self._cost(item, 0, place) is None:
                rows += [self._missing(item), self._surplus(place)]
            else:
                rows.append(self._pair(item, place))
            place = end
        return rows + [self._surplus(left) for left in range(place, place_end)]
