"""A plain `assert run.events == [...]` shows what differs as the verbs do, the same on a terminal and on CI."""

from __future__ import annotations

from wowspec.specs.comparing import comparison
from wowspec.specs.facts import Facts

from .reports.domain import OrderPaid


def test_the_first_line_has_the_cause():
    """The path that differs, expected left and actual right, whichever side the facts stand on."""
    facts = Facts([OrderPaid(amount=2)])

    for sides in ((facts, [OrderPaid(amount=3)]), ([OrderPaid(amount=3)], facts)):
        lines = comparison(*sides, whole=False)
        assert lines is not None
        assert lines[0] == "1 event expected and there: events[0].amount: 3 ≠ 2"
        assert lines[-1] == "  if it is right: [OrderPaid(amount=2)]"


def test_no_more_than_pytest_lets_through():
    """Seven lines and 600 characters, and how many lines more there are; all of them on request."""
    facts = Facts([OrderPaid(amount=place) for place in range(9)])
    expected = [OrderPaid(amount=place + 10) for place in range(9)]
    short, whole = comparison(facts, expected, whole=False), comparison(facts, expected, whole=True)

    assert short is not None
    assert whole is not None
    assert len(short) <= 7
    assert sum(map(len, short)) <= 640
    assert short[-1].endswith("more lines: -vv shows all")
    assert len(whole) > 20
    assert whole[0].endswith("]) == [OrderPaid(amount=10), OrderPaid(amount=11), … 6 more …, OrderPaid(amount=18)]]")


def test_other_comparisons_are_left_to_pytest():
    """What is no list, and what is equal."""
    assert comparison(Facts([OrderPaid()]), 3, whole=False) is None
    assert comparison(Facts([OrderPaid()]), [OrderPaid()], whole=False) is None
