"""Hints: each rule speaks where its mistake shows, and is silent elsewhere."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, strategies as st

from wowspec.specs.alignment import match_events
from wowspec.specs.hints import MOST_HINTS, hints, other_order
from wowspec.specs.matchers import ANY_EVENTS, AnyEvents, any_of, some, unordered

from .shop import OrderCreated, OrderPaid, OrderPaidTwice, OrderReceived, OrderShipped, Stocked
from .test_alignment import EVENTS, ITEMS

CREATED = OrderCreated(id="o-1")
PAID = OrderPaid(id="o-1", total=3)
NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("expected", "actual", "says"),
    [
        ([OrderPaid], [PAID], "write expect_event_types(OrderPaid)"),
        ([AnyEvents], [PAID], "the matcher is ANY_EVENTS"),
        ([[PAID]], [PAID], "unpack it"),
        ([lambda events: True], [PAID], "that=function"),
        ([some], [PAID], "some is a function: call it"),
        ([OrderPaidTwice(id="o-1")], [OrderPaid(id="o-1")], "OrderPaid is no OrderPaidTwice here"),
        ([some(OrderPaid)], [OrderPaidTwice(id="o-1")], "OrderPaidTwice is no OrderPaid here"),
        ([any_of(some(OrderPaid), CREATED)], [OrderPaidTwice(id="o-1")], "OrderPaidTwice is no OrderPaid here"),
        (
            [OrderShipped(id="a", shipped_at=NOON)],
            [OrderShipped(id="a", shipped_at=NOON.replace(tzinfo=None))],
            "actual time has no time zone",
        ),
        ([Stocked("a", 3)], [Stocked("a", "3")], 'one is text: write "3"'),
        ([Stocked("a", 0)], [Stocked("a", False)], "write False"),
        ([PAID, CREATED], [CREATED, PAID], 'unordered(OrderPaid(id="o-1", total=3), OrderCreated('),
        ([OrderReceived(id="x")], [OrderReceived(id="y")], 'is "x" the one that the spec speaks of?'),
        ([OrderShipped(id="a", shipped_at=NOON)], [OrderShipped(id="a")], None),
        ([unordered(PAID, CREATED)], [PAID, OrderReceived(id="y"), CREATED], "OrderReceived stands between them"),
        ([PAID], [PAID, CREATED], "ANY_EVENTS where others may stand"),
        ([PAID], [CREATED], None),
        ([PAID], [], None),
        ([], [PAID], None),
        ([ANY_EVENTS, PAID], [PAID, CREATED], None),
        ([OrderPaid(id="o-1", total=4)], [PAID], None),
        ([some(OrderPaid, id="x")], [PAID], None),
    ],
)
def test_hint(expected, actual, says):
    """The mistake is answered with what to write; without one there is no hint."""
    match = match_events(expected, actual)
    assert not match.matched
    found = hints(match)

    assert bool(found) is (says is not None)
    assert says is None or says in found[0]


@given(st.lists(ITEMS, max_size=4), st.lists(EVENTS, max_size=5))
def test_hints_are_few_and_never_for_a_match(expected, actual):
    """A match that succeeded needs no order hint, and a failed one gets at most two hints."""
    match = match_events(expected, actual)

    assert len(hints(match)) <= MOST_HINTS
    assert not (match.matched and other_order(match))


def test_the_first_two_hints_are_given():
    """Mistakes in the spec's own text come first; a third hint would not be read."""
    match = match_events([OrderPaid, [PAID], lambda events: True], [PAID])

    assert [hint.split(":")[0].split("(")[0] for hint in hints(match)] == ["write expect_event_types", "unpack it"]


@given(st.lists(EVENTS, max_size=5), st.data())
def test_another_order_is_seen(actual, data):
    """Events in another order are called that, and `unordered` would indeed match them."""
    expected = data.draw(st.permutations(actual))
    match = match_events(expected, actual)

    assert other_order(match) is not match.matched
    assert match_events([unordered(*expected)], actual).matched
