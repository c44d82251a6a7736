"""Where a run first departs from the one without faults, in the texts of specs that armed some."""

from __future__ import annotations

import pytest

from wowspec import SpecFailure, faults, given
from wowspec.specs import tracking
from wowspec.specs.departing import departure

from .reports.domain import OrderCreated, OrderPaid, PayOrder

PAYING = given(OrderCreated())
#: Specs of the module are nobody's to judge.
MISSED = PAYING.with_faults(faults.event_store.append.fails(at=2))
LOST_REPLY = PAYING.with_faults(faults.event_store.append.loses_reply())
FAILED = PAYING.with_faults(faults.event_store.append.fails())
SERVED = given(OrderCreated()).inject(object()).with_faults(faults.event_store.append.fails())
DEPARTURE = "first departure from the fault-free run: "


def failure_of(spec, *expected):
    """The text of a failed `expect_published`."""
    tracking.start()
    try:
        with pytest.raises(SpecFailure) as caught:
            spec.when(PayOrder(id="o-1")).expect_published(*expected)
    finally:
        tracking.stop()
    return str(caught.value)


def test_a_struck_run_says_where_it_went_another_way():
    """The first point, past the one that was struck, that the other run did not pass."""
    text = failure_of(LOST_REPLY, OrderPaid())

    assert f"{DEPARTURE}snapshot.load of o-1, where it was command.acknowledge of o-1" in text


def test_nothing_is_said_without_faults():
    """Neither where none was armed, nor where it did not strike."""
    assert DEPARTURE not in failure_of(PAYING, OrderPaid(amount=2))
    assert DEPARTURE not in failure_of(MISSED, OrderPaid(amount=2))


def test_nothing_is_said_where_services_were_used():
    """They can't be had as they were, so the other run is not made."""
    assert DEPARTURE not in failure_of(SERVED, OrderPaid())


def test_nothing_is_said_of_what_concerns_no_test():
    """An exploration tells it by itself, once for all of its runs."""
    with tracking.aside():
        text = failure_of(FAILED, OrderPaid())

    assert DEPARTURE not in text


def test_runs_that_went_the_same_way():
    """It is said that there is no departure; and the end of one is one."""
    rows = PAYING.when(PayOrder(id="o-1")).run().rows

    assert departure(rows, rows) == "none: both passed the same points"
    assert departure(rows[:-1], rows) == "the end, where it was snapshot.save of snapshot@o-1"
