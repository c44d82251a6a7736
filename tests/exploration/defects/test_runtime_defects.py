"""Defects that are the runtime's: found, told of, and failing nobody's test unless it is strict."""

from __future__ import annotations

from typing import Any

import pytest

from tests.exploration.defects.orders import Order, PlaceOrder
from tests.exploration.defects.sweeping import assert_known, assert_nothing_found, sweep
from wowspec import Spec, profile
from wowspec.exploration.witness import Place, findings_at, would_heal
from wowspec.specs.parts import profile_of
from wowspec.specs.session import Profile

REPLY_LOST = "PlaceOrder/event_store.append@1=ack_lost"
NEVER_PUBLISHED = "PlaceOrder/domain_event_bus.send@1=fail"
ID_SPENT = "PlaceOrder/event_store.append@1=fail"


def place(spec: Spec[Any]) -> None:
    """One order."""
    spec.using(Order).when(PlaceOrder(id="o-1")).run()


def place_in_the_end(spec: Spec[Any]) -> None:
    """One order, which must be there in the end."""
    spec.using(Order).when(PlaceOrder(id="o-1")).eventually(lambda world: world.state(Order, "o-1").placed)


def known_at(place: Place, law: str, said: str | Profile = "in_memory") -> str | None:
    """What heals a law that the witness breaks in a place; None if it does not. As the whole table, for one row."""
    held = profile_of(said)
    broken = any(law in item.laws for item in findings_at(held, place))
    return would_heal(held, place, law) if broken else None


@pytest.mark.parametrize(
    "recovery", [None, ["redelivery", "client retry", "resend", "restart"]], ids=["none", "every recovery"]
)
def test_a_lost_reply_of_the_store_never_heals(recovery):
    """The append was applied and its reply lost: a retry meets its own events, the stream is never published."""
    found = sweep(place, recovery=recovery)

    assert_known(found, REPLY_LOST, "no_lying_failure")
    assert_known(found, REPLY_LOST, "publication")
    assert found.failure == ""


def test_a_lost_reply_of_the_store_fails_a_strict_test():
    """Under --wowspec-strict the same finding fails the test, and its report says that nothing heals it."""
    found = sweep(place, strict=True, points=["event_store.append"], kinds=["ack_lost"])

    assert found.plans == [REPLY_LOST]
    assert f"plan   {REPLY_LOST}" in found.failure
    assert "never heals" in found.failure


@pytest.mark.parametrize("law", ["no_lying_failure", "publication"])
def test_a_lost_reply_of_the_store_is_in_the_witness_table(law):
    """The witness breaks the same laws, and nothing heals it either."""
    assert known_at(Place("command", "event_store.append", "ack_lost"), law) == ""


def test_a_store_whose_replies_arrive_loses_nothing():
    """The twin: an append whose reply cannot be lost breaks nothing, not even for a strict test."""
    ours = profile("ours", like="in_memory", without=["ack_lost", "ack_lost_permanent"])

    found = sweep(place, strict=True, points=["event_store.append"], profile=ours)

    assert found.plans == []
    assert_nothing_found(found)


def test_what_was_not_published_after_the_acknowledgement_never_is():
    """Acknowledged, then the send failed: without somebody who sends it again, nobody ever hears of it."""
    found = sweep(place, profile="kafka")

    assert_known(found, NEVER_PUBLISHED, "publication")
    assert found.failure == ""
    assert NEVER_PUBLISHED in sweep(place, profile="kafka", strict=True, points=["domain_event_bus"]).failure


@pytest.mark.parametrize("kind", ["fail", "timeout", "crash_before"])
def test_an_unpublished_stream_is_in_the_witness_table(kind):
    """The witness never publishes it either, unless it is sent again."""
    assert known_at(Place("command", "domain_event_bus.send", kind), "publication", "kafka") == "resend"


def test_resending_heals_what_was_not_published():
    """The twin: an application that sends again what was stored and never published has nothing left to find."""
    found = sweep(
        place, strict=True, recovery="resend", profile="kafka", points=["domain_event_bus.send"], kinds=["fail"]
    )

    assert_known(found, NEVER_PUBLISHED, "publication", heals="resend")
    assert found.result["outcomes"] == {"healed": 1}
    assert found.failure == ""


def test_a_request_id_is_spent_by_a_command_that_failed():
    """Where request ids that were seen count as existing, a sender cannot try again what failed."""
    found = sweep(place_in_the_end, profile=profile(request_id_existence="noop"), recovery="client retry")

    assert_known(found, ID_SPENT, "eventually")
    assert found.failure == ""


def test_a_spent_request_id_fails_a_strict_test():
    """Strictly, the order that never came about is a finding."""
    noop = profile(request_id_existence="noop")

    found = sweep(
        place_in_the_end,
        strict=True,
        profile=noop,
        recovery="client retry",
        points=["event_store.append"],
        kinds=["fail"],
    )

    assert ID_SPENT in found.failure
    assert "tried: client retry" in found.failure


def test_a_spent_request_id_is_in_the_witness_table():
    """The witness under the same profile is not healed by a sender who tries again; under the store's check it is."""
    place = Place("command", "event_store.append", "fail")
    assert known_at(place, "eventually", profile(request_id_existence="noop")) == ""
    assert known_at(place, "eventually") == "client retry"


def test_a_request_id_that_is_looked_up_is_not_spent():
    """The twin: where the store is asked, the second attempt with the same request id goes through."""
    found = sweep(place_in_the_end, strict=True, recovery="client retry", points=["event_store.append"], kinds=["fail"])

    assert_known(found, ID_SPENT, "eventually", heals="client retry")
    assert found.failure == ""
