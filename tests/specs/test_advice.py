"""What a failure advises is what helps, and names what was written."""

from __future__ import annotations

import datetime as dt

import pytest

from wowspec import SpecError, SpecFailure, advance, at, given

from .library_domain import BrokenNotify, CopyLent, CopyRegistered, LendCopy

LEND = LendCopy(id="c-1")


def test_the_advice_for_a_failed_event_function_works():
    """It names the processor, as `expect_downstream_error` asks for."""
    base = given(CopyRegistered()).using(BrokenNotify).when(LEND).expect_events(CopyLent())
    with pytest.raises(SpecFailure) as caught:
        base.when(LEND).run()
    assert "if it should: .expect_downstream_error(BrokenNotify, RuntimeError)" in str(caught.value)
    base.expect_downstream_error(BrokenNotify, RuntimeError)


def test_an_instant_that_has_passed_is_named():
    """The instant that was asked for, and the world's time beside it."""
    past = given(CopyRegistered(), at(dt.datetime(2020, 1, 1, tzinfo=dt.UTC))).when(LEND)
    with pytest.raises(SpecError) as caught:
        past.run()
    assert caught.value.what == "at(2020-01-01 00:00:00) has passed: the world's time is 2024-01-01 00:00:00"


def test_a_negative_time_is_named_as_it_was_written():
    """Not in nanoseconds."""
    with pytest.raises(SpecError, match=r"^advance\(days=-1, hours=2\) by a negative time\n"):
        advance(days=-1, hours=2)
