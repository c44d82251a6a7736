"""Verbs that do not exist: the nearest are named, and `hasattr` and copies still work."""

from __future__ import annotations

import copy

import pytest

from wowspec import SpecError, given

from .language_domain import CreateOrder

UNTRACKED = given()
SPEC = given().when(CreateOrder(id="o-1"))
TOGETHER = given().when_concurrently(CreateOrder(id="o-1"), CreateOrder(id="o-2"))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda gateway: SPEC.expect_event_s,
            "a spec has no 'expect_event_s'\n  instead: .expect_events or .expect_event or .expect_event_types",
        ),
        (lambda gateway: UNTRACKED.wen, "a spec has no 'wen'\n  instead: .when"),
        (lambda gateway: UNTRACKED.zzz, "a spec has no 'zzz'"),
        (
            lambda gateway: TOGETHER.expect_serialisable,
            "a spec of commands in flight together has no 'expect_serialisable'\n  instead: .expect_serializable",
        ),
        (
            lambda gateway: gateway.send_and_wai,
            "a gateway has no 'send_and_wai'\n  instead: .send_and_wait",
        ),
        (
            lambda gateway: gateway.aio.sent,
            "gateway.aio has no 'sent'\n  instead: .send",
        ),
        (lambda gateway: gateway.world.storde, "a gateway's world has no 'storde'\n  instead: .stored"),
    ],
    ids=["expectation", "step", "nothing near", "in flight", "gateway", "aio", "world"],
)
def test_the_nearest_are_named(gateway, call, text):
    """A verb that does not exist is refused with those that may be meant."""
    with pytest.raises(SpecError) as caught:
        call(gateway)

    assert str(caught.value) == text
    assert isinstance(caught.value, AttributeError)


def test_asking_is_no_mistake():
    """What asks for a name that may be missing gets Python's usual answer; a copy can be made."""
    assert not hasattr(SPEC, "expect_nothing_at_all")
    assert getattr(SPEC, "__wrapped__", None) is None
    assert copy.copy(SPEC)._node is SPEC._node
