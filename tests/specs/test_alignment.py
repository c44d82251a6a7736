"""Matching is exact, and its alignment accounts for every item and every event."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, strategies as st

from wowspec.messages.equality import MISSING
from wowspec.specs.alignment import Verdict, match_events
from wowspec.specs.matchers import ANY_EVENTS, AnyEvents, Unordered, any_of, some, unordered

from .shop import OrderCreated, OrderPaid, Positive, Stocked


def meets(expected: Sequence[Any], actual: Sequence[Any]) -> bool:
    """Whether a pattern takes all events: every way of taking them is tried."""
    if not expected:
        return not actual
    first, rest = expected[0], expected[1:]
    if isinstance(first, AnyEvents):
        return any(meets(rest, actual[taken:]) for taken in range(len(actual) + 1))
    if isinstance(first, Unordered):
        size = len(first.items)
        head = actual[:size]
        return (
            len(head) == size
            and any(
                all(item == event for item, event in zip(order, head, strict=True))
                for order in permutations(first.items)
            )
            and meets(rest, actual[size:])
        )
    return bool(actual) and first == actual[0] and meets(rest, actual[1:])


EVENTS = st.builds(Stocked, st.sampled_from("ab"), st.integers(0, 2))
LOOSE = st.one_of(
    EVENTS,
    st.builds(lambda sku: some(Stocked, sku=sku), st.sampled_from("ab")),
    st.just(some(Stocked, amount=Positive())),
    st.lists(EVENTS, min_size=1, max_size=2).map(lambda items: any_of(*items)),
)
ITEMS = st.one_of(LOOSE, st.just(ANY_EVENTS), st.lists(LOOSE, max_size=3).map(lambda items: unordered(*items)))


@given(st.lists(ITEMS, max_size=4), st.lists(EVENTS, max_size=5))
def test_matches_just_what_trying_everything_matches(expected, actual):
    """A list matches exactly if some way of laying the events against the items does."""
    assert match_events(expected, actual).matched is meets(expected, actual)


@given(st.lists(EVENTS, max_size=5), st.data())
def test_a_pattern_made_of_the_events_matches(actual, data):
    """Events loosened one by one, or in runs, are still met by themselves."""
    expected: list[Any] = []
    place = 0
    while place < len(actual):
        size = data.draw(st.integers(1, 3))
        run = actual[place : place + size]
        place += size
        form = data.draw(st.sampled_from(("exact", "some", "unordered", "any")))
        if form == "unordered":
            expected.append(unordered(*data.draw(st.permutations(run))))
        elif form == "any":
            expected.append(ANY_EVENTS)
        else:
            expected += run if form == "exact" else [some(Stocked, amount=event.amount) for event in run]

    assert match_events(expected, actual).matched


@given(st.lists(ITEMS, max_size=4), st.lists(EVENTS, max_size=5))
def test_every_event_and_every_item_has_its_row(expected, actual):
    """An alignment shows each event once and in order, and each item once, whether it is met or not."""
    match = match_events(expected, actual)
    members = sum(
        len(item.items) if isinstance(item, Unordered) else not isinstance(item, AnyEvents) for item in expected
    )

    assert [row.place for row in match.rows if row.place is not None] == list(range(len(actual)))
    assert [row.actual for row in match.rows if row.place is not None] == actual
    assert sum(row.verdict in (Verdict.MET, Verdict.DIFFERS, Verdict.MISSING) for row in match.rows) == members
    assert match.matched is not bool(match.failures)


@given(st.lists(ITEMS, max_size=4), st.lists(EVENTS, max_size=5))
def test_rows_say_the_truth(expected, actual):
    """What is called met is equal; what is called different is of one class and unequal."""
    for row in match_events(expected, actual).rows:
        if row.verdict is Verdict.MET:
            assert row.expected == row.actual
        if row.verdict is Verdict.DIFFERS:
            assert row.expected != row.actual
        assert (row.expected is MISSING) is (row.verdict is Verdict.SURPLUS)
        assert (row.actual is MISSING) is (row.verdict is Verdict.MISSING)


@pytest.mark.parametrize("matcher", [some(Stocked, sku="a"), any_of(Stocked)], ids=str)
def test_a_matcher_equals_itself(matcher):
    """Whatever holds one can be compared."""
    assert matcher.__eq__(matcher) is True


@given(st.lists(ITEMS, max_size=4), st.lists(EVENTS, max_size=5))
def test_alignment_is_deterministic(expected, actual):
    """The same lists always give the same rows."""
    assert match_events(expected, actual).rows == match_events(list(expected), tuple(actual)).rows


@pytest.mark.parametrize(
    ("expected", "actual", "verdicts"),
    [
        ([], [], ""),
        ([ANY_EVENTS], [], ""),
        ([1, 2, 3], [1, 3], "met missing met"),
        ([1, 3], [1, 2, 3], "met surplus met"),
        ([OrderPaid(id="a")], [OrderCreated(id="a")], "missing surplus"),
        ([OrderPaid(id="a")], [OrderCreated(id="a"), OrderPaid(id="b")], "surplus differs"),
        ([ANY_EVENTS, 3], [1, 2, 3], "let pass let pass met"),
        ([unordered(1, 2), ANY_EVENTS, 9], [2, 1, 5, 9], "met met let pass met"),
        ([unordered("a", 2)], ["a", b"b", 2], "met surplus met"),
        ([unordered(OrderPaid(id="a"), 2)], [2, OrderPaid(id="b")], "met differs"),
        ([some(OrderPaid), unordered()], [OrderPaid(id="b")], "met"),
    ],
)
def test_alignment_of(expected, actual, verdicts):
    """Small alignments, row by row."""
    assert " ".join(row.verdict for row in match_events(expected, actual).rows) == verdicts


def test_any_events_takes_as_few_as_it_can():
    """Of several ways to match, the one in which the leftmost gap is shortest is shown."""
    rows = match_events([ANY_EVENTS, 1, ANY_EVENTS], [1, 1, 1]).rows

    assert [row.verdict for row in rows] == [Verdict.MET, Verdict.LET_PASS, Verdict.LET_PASS]


def test_a_group_gives_each_member_an_event_of_its_own():
    """A member that could take either of two events leaves the one that another member needs."""
    match = match_events([unordered(any_of(1, 2), 1)], [1, 2])

    assert match.matched
    assert [row.expected for row in match.rows] == [1, any_of(1, 2).items[1]]


def test_equality_is_that_of_the_laws():
    """True is not 1, and a plain class that does not compare itself is compared by what it holds."""
    assert not match_events([Stocked("a", True)], [Stocked("a", 1)]).matched
    assert match_events([some(Stocked, amount=1)], [Stocked("a", 1)]).matched
    assert not match_events([some(Stocked, amount=1)], [Stocked("a", True)]).matched


def test_long_lists_cost_what_their_middle_costs():
    """Ten thousand events against as many and one more are laid side by side from both ends."""
    events = [Stocked("a", n) for n in range(10_000)]
    match = match_events(events, [*events[:5_000], Stocked("b", 1), *events[5_000:]])

    assert [row.place for row in match.failures] == [5_000]


def test_lists_too_long_to_align_are_laid_side_by_side():
    """Where a table of costs would be too large, the nth item meets the nth event."""
    match = match_events(list(range(300)), [n + 1 for n in range(302)])

    assert len(match.failures) == 302
    assert match.rows[0].expected == 0
    assert match.rows[-1].verdict is Verdict.SURPLUS


def test_a_large_group_takes_the_next_events():
    """A group too large to be tried everywhere is laid against as many events, equal ones first."""
    match = match_events([ANY_EVENTS, unordered(*range(60)), "end"], [*reversed(range(1, 60)), -1, b"other"])
    verdicts = [row.verdict for row in match.rows]

    assert not match.matched
    assert verdicts.count(Verdict.MET) == 59
    assert [row.expected for row in match.failures if row.verdict is Verdict.DIFFERS] == [0]
    assert [row.expected for row in match.failures if row.verdict is Verdict.MISSING] == ["end"]
    assert match.rows[-1].verdict is Verdict.SURPLUS


def test_an_equal_pair_is_preferred_to_a_near_one():
    """Of two events of a class the equal one is paired, and the other is too many."""
    rows = match_events(["first", Stocked("a", 1), "end"], [Stocked("a", 2), Stocked("a", 1), "stop"]).rows

    assert [(row.place, row.verdict) for row in rows if row.expected == Stocked("a", 1)] == [(1, Verdict.MET)]
