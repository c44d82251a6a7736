"""Failure texts of events: the parts that a golden text cannot show."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from wowspec.specs.alignment import match_events
from wowspec.specs.diff import count_text, event_text, events_text, ledger_table, ledgers_text, types_text
from wowspec.specs.matchers import ANY_EVENTS, some, unordered

from .shop import Hostile, OrderCreated, OrderPaid, OrderShipped, Plain, Stocked
from .test_alignment import EVENTS, ITEMS

CREATED = OrderCreated(id="o-1")
PAID = OrderPaid(id="o-1", total=3)


def first_line(expected, actual):
    """The reason."""
    return events_text(match_events(expected, actual)).splitlines()[0]


@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [
        ([CREATED, PAID], [CREATED], "2 events expected, 1 stored: OrderPaid missing"),
        ([CREATED], [CREATED, CREATED], "1 event expected, 2 stored: events[1] OrderCreated not expected"),
        ([PAID], [CREATED], "1 event expected and stored: OrderPaid missing, OrderCreated came instead"),
        ([], [CREATED, PAID, PAID], "no events expected, 3 stored: OrderCreated, 2 OrderPaid are not expected"),
        ([PAID, ANY_EVENTS], [], "at least 1 event expected, none stored: OrderPaid missing"),
        (
            [OrderPaid(id="o-2", total=4)],
            [PAID],
            '1 event expected and stored: events[0].id: "o-2" ≠ "o-1" (and 1 more difference)',
        ),
        ([unordered(PAID, CREATED)], [PAID], "2 events expected, 1 stored: OrderCreated missing"),
        ([some(OrderPaid, total=4)], [PAID], "1 event expected and stored: events[0].total: 4 ≠ 3"),
        ([PAID, CREATED], [CREATED, PAID], "2 events expected and stored: the same events in another order"),
        ([OrderPaid], [PAID], "1 event expected and stored: the class OrderPaid stands where an event belongs"),
    ],
)
def test_reason(expected, actual, reason):
    """The first line says how many, and what is wrong first."""
    assert first_line(expected, actual) == reason


@given(st.lists(ITEMS, max_size=4), st.lists(EVENTS, max_size=5))
def test_a_failed_match_always_has_a_text(expected, actual):
    """Whatever fails is explained: each missing and each surplus event has its marked line."""
    match = match_events(expected, actual)
    text = events_text(match)
    marked = [line for line in text.splitlines() if line.startswith(("  - ", "  + "))]
    wrong = sum(2 if row.verdict == "differs" else 1 for row in match.failures)

    assert len(marked) == wrong
    assert bool(wrong) is not match.matched


def test_hostile_values_are_told():
    """Nothing that a user's class does keeps the text from being written."""
    hostile = [Plain(a=Hostile()), Hostile()]
    for expected, actual in ((hostile, [CREATED]), ([CREATED], hostile), (hostile, [Hostile(), Plain(a=Hostile())])):
        assert "Hostile" in events_text(match_events(expected, actual))
        assert event_text(expected[0], actual)
        assert ledgers_text({"stored": expected}, {"stored": actual, "published": hostile})


def test_every_loosening_is_visible():
    """An event that met a matcher says which."""
    text = events_text(match_events([some(OrderPaid), unordered(CREATED), ANY_EVENTS, PAID], [PAID, CREATED, CREATED]))

    assert "(met some(OrderPaid))" in text
    assert "(unordered)" in text
    assert "(let pass by ANY_EVENTS)" in text


def test_ledger_and_noun_are_named():
    """Commands of a saga read as commands."""
    text = events_text(match_events([Stocked("a", 1)], []), ledger="sent", noun="command")

    assert text.startswith("1 command expected, none sent: Stocked missing\n  (- expected, + sent)")


def test_types_are_compared_without_fields():
    """Classes against classes; a class that stands where it should is not marked."""
    text = types_text([OrderCreated, OrderShipped, OrderPaid], [CREATED, PAID])

    assert text.startswith("3 events expected, 2 stored: OrderShipped missing")
    assert "    events[1]  OrderPaid" in text
    assert "hint" not in text


def test_types_in_another_order():
    """For classes there is no `unordered`, so the hint says what is so."""
    assert "hint: the classes are right, their order is not" in types_text([OrderPaid, OrderCreated], [CREATED, PAID])


def test_count():
    """A count shows what was counted."""
    assert count_text(1, [CREATED, PAID]).splitlines() == [
        "1 event expected, 2 stored",
        "",
        '    events[0]  OrderCreated(id="o-1")',
        '    events[1]  OrderPaid(id="o-1", total=3)',
    ]
    assert count_text(2, []) == "2 events expected, none stored"


def test_event_among_none():
    """Where there is nothing at all there is nothing to show."""
    assert event_text(some(OrderPaid), []) == "no event is some(OrderPaid): none stored"


def test_event_that_is_there():
    """Empty if the wanted event is there; where it must be there once, once only."""
    assert not event_text(some(OrderPaid), [CREATED, PAID])
    assert not event_text(PAID, [CREATED, PAID], once=True)
    assert not event_text(PAID, [PAID, PAID])
    assert event_text(PAID, [PAID, PAID], once=True).startswith("one event expected that is OrderPaid(")


def test_event_shows_the_nearest_first_five():
    """Of many candidates five are shown, the rest counted."""
    text = event_text(some(OrderPaid, total=100), [OrderPaid(id="o-1", total=n) for n in range(9)])

    assert text.count("100 ≠") == 5
    assert "… 4 more of class OrderPaid …" in text


def test_ledgers():
    """Empty if all are as expected; only the named ones count."""
    held = {"emitted": [CREATED, PAID], "stored": [CREATED], "published": []}

    assert not ledgers_text({"stored": [CREATED]}, held)
    assert ledgers_text({"published": [CREATED]}, held).startswith("published: 1 event expected, none published")
    assert ledgers_text({"delivered": [CREATED]}, held).startswith("delivered: 1 event expected, none delivered")


def test_ledger_table():
    """An event that several ledgers hold is one line; one held twice is counted."""
    assert ledger_table({"emitted": [CREATED, PAID], "stored": [CREATED, CREATED]}) == [
        "                                  emitted  stored",
        '    OrderCreated(id="o-1")          yes      2x',
        '    OrderPaid(id="o-1", total=3)    yes      -',
    ]
    assert ledger_table({"stored": []}) == ["    stored: nothing in any of them"]
