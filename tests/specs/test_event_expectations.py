"""Expectations of events: what a failure says of the other ledgers."""

from __future__ import annotations

import pytest

from tests.golden.domain import AccountOpened, Rename, Renamed
from wowspec import InjectedFault, SpecFailure, faults, given

OPENED = AccountOpened(holder="h", balance=1)
LOST = given(OPENED).with_faults(faults.domain_event_bus.send.fails()).when(Rename(id="a-1", version=None, holder="i"))
TABLE = """
                         emitted  stored  published
    Renamed(holder="i")    yes     yes        -
"""


@pytest.mark.parametrize(
    "expect",
    [
        lambda spec: spec.expect_published(Renamed(holder="i")),
        lambda spec: spec.expect_not_stored(),
        lambda spec: spec.expect_not_stored(Renamed),
        lambda spec: spec.expect_event(Renamed, holder="j"),
        lambda spec: spec.expect_event_count(2),
        lambda spec: spec.expect_event_types(AccountOpened),
    ],
    ids=["published", "not stored", "not of a type", "an event", "count", "types"],
)
def test_ledgers_that_differ_are_shown(expect):
    """Where an event was stored and not published, each failure about events says how far each came."""
    with pytest.raises(SpecFailure) as caught:
        expect(LOST.expect_error(InjectedFault))

    assert TABLE in str(caught.value)


def test_ledgers_that_agree_are_not_shown():
    """Where all that was emitted was stored and published, there is nothing more to say."""
    with pytest.raises(SpecFailure) as caught:
        given(OPENED).when(Rename(id="a-1", version=None, holder="i")).expect_event_count(2)

    assert "emitted" not in str(caught.value)
