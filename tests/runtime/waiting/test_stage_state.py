"""The state of a wait for one stage (section R)."""

from __future__ import annotations

import pytest

from tests.runtime.waiting.builders import (
    EVENT_HANDLED,
    OTHER_VIEW,
    PROCESSED,
    PROJECTED,
    SAGA_HANDLED,
    SENT,
    SNAPSHOT,
    VIEW,
    signal,
)
from wowspec.messages.wait_plans import FunctionSelector, StageTarget
from wowspec.runtime.waiting.stage_state import IGNORED, StageWaitState

LATER = [SNAPSHOT, PROJECTED, EVENT_HANDLED, SAGA_HANDLED]


def answers(state, *signals):
    """One letter a signal: ignored, accepted or completed."""
    return "".join(
        "c" if step.completed else "i" if step.accepted is None else "a" for step in map(state.next, signals)
    )


def state_of(stage, selector=None):
    """A state for one stage."""
    return StageWaitState(StageTarget(stage, selector))


@pytest.mark.clause("CMD-357", "CMD-369")
def test_signals_of_no_interest_are_ignored():
    """Another stage, or a function that was not selected; nothing is kept of them."""
    state = state_of(PROJECTED, FunctionSelector("shop", "OrderView"))
    ignored = [signal(SNAPSHOT), signal(PROJECTED, function=OTHER_VIEW, last=True, result={"a": 1})]
    assert [state.next(item) for item in ignored] == [IGNORED, IGNORED]
    assert answers(state, signal(PROCESSED)) == "a"


@pytest.mark.clause("CMD-360", "CMD-361")
def test_the_final_signal_has_the_merged_result():
    """Later keys win; the accepted signal keeps its own result."""
    state = state_of(PROCESSED)
    state.next(signal(SENT, result={"a": 1, "b": 1}))
    step = state.next(signal(PROCESSED, result={"b": 2}))
    assert step.accepted.result == {"b": 2}
    assert step.final.result == {"a": 1, "b": 2}


@pytest.mark.clause("CMD-362")
@pytest.mark.parametrize("stage", LATER)
def test_a_failed_prerequisite_completes_at_once(stage):
    """It is the final signal, and a retained target signal is discarded."""
    state = state_of(stage)
    state.next(signal(stage, last=True, result={"a": 1}))
    step = state.next(signal(PROCESSED, error="X"))
    assert (step.final.stage, step.final.error_code, step.final.result) == (PROCESSED, "X", {"a": 1})
    assert answers(state_of(stage), signal(SENT, error="X")) == "c"


@pytest.mark.clause("CMD-363")
@pytest.mark.parametrize("stage", [SENT, PROCESSED])
def test_a_failed_target_completes(stage):
    """Failed or not, the target ends the wait."""
    assert state_of(stage).next(signal(stage, error="X")).final.error_code == "X"


@pytest.mark.clause("CMD-363", "PRJ-010")
@pytest.mark.parametrize("stage", LATER)
def test_a_failed_later_target_completes(stage):
    """After PROCESSED, the failed target ends the wait as a successful one would."""
    assert answers(state_of(stage), signal(PROCESSED), signal(stage, error="X", last=True)) == "ac"


@pytest.mark.clause("CMD-364", "CMD-426")
@pytest.mark.parametrize("stage", LATER)
def test_a_target_that_overtakes_processed_is_retained(stage):
    """PROCESSED completes the wait with the retained signal, refreshed with its own result."""
    state = state_of(stage)
    early = signal(stage, last=True, result={"a": 1})
    assert state.next(early).completed is False
    step = state.next(signal(PROCESSED, result={"b": 2}))
    assert (step.final.stage, step.final.result) == (stage, {"a": 1, "b": 2})
    assert step.accepted.stage is PROCESSED
    assert early.result == {"a": 1}


@pytest.mark.clause("CMD-364")
def test_a_retained_signal_takes_in_what_comes_before_processed():
    """A SENT with a result refreshes it too."""
    state = state_of(SNAPSHOT)
    state.next(signal(SNAPSHOT))
    state.next(signal(SENT, result={"s": 1}))
    assert state.retained.result == {"s": 1}
    assert state.next(signal(PROCESSED)).final.result == {"s": 1}


@pytest.mark.clause("CMD-365")
def test_a_later_target_signal_replaces_the_retained_one():
    """An early failure is overwritten by a success before PROCESSED."""
    state = state_of(EVENT_HANDLED)
    assert answers(state, signal(EVENT_HANDLED, error="X"), signal(EVENT_HANDLED, id="second")) == "aa"
    assert state.next(signal(PROCESSED)).final.id == "second"


@pytest.mark.clause("CMD-366", "PRJ-010")
@pytest.mark.parametrize("stage", [EVENT_HANDLED, SAGA_HANDLED])
def test_event_and_saga_complete_at_the_first_match(stage):
    """Whatever events and functions are still to come."""
    assert answers(state_of(stage), signal(PROCESSED), signal(stage, last=False), signal(stage, last=True)) == "acc"


@pytest.mark.clause("CMD-367", "PRJ-010")
def test_projected_completes_at_the_last_event():
    """Earlier events are progress."""
    state = state_of(PROJECTED)
    assert answers(state, signal(PROCESSED), signal(PROJECTED), signal(PROJECTED, last=True)) == "aac"


@pytest.mark.clause("CMD-367", "CMD-369", "PRJ-010")
def test_projected_without_a_last_event_stays_open():
    """A projection that handles earlier events alone never completes the wait."""
    state = state_of(PROJECTED)
    assert answers(state, signal(PROJECTED), signal(PROCESSED), signal(PROJECTED)) == "aaa"
    assert state.retained is None


@pytest.mark.clause("CMD-368")
def test_a_failed_projection_of_an_earlier_event_is_progress():
    """It neither completes the wait nor marks the result."""
    state = state_of(PROJECTED)
    assert answers(state, signal(PROCESSED), signal(PROJECTED, error="X", result={"a": 1})) == "aa"
    final = state.next(signal(PROJECTED, last=True)).final
    assert (final.succeeded, final.result) == (True, {"a": 1})


@pytest.mark.clause("CMD-370")
def test_ids_are_not_compared():
    """A foreign wait id and a foreign command id are the coordinator's business."""
    assert answers(state_of(PROCESSED), signal(PROCESSED, wait="foreign", of="other")) == "c"


@pytest.mark.clause("CMD-371")
def test_after_completion():
    """It answers with the stored final and accepts nothing."""
    state = state_of(PROCESSED)
    final = state.next(signal(PROCESSED)).final
    step = state.next(signal(SENT))
    assert (step.accepted, step.final, step.completed) == (None, final, True)


@pytest.mark.clause("CMD-332")
def test_sent_ignores_processed():
    """A wait for SENT hears of nothing else."""
    assert answers(state_of(SENT), signal(PROCESSED, error="X"), signal(SENT)) == "ic"


@pytest.mark.clause("CMD-355")
def test_a_selector_with_blanks_selects_all():
    """The empty selector accepts every function."""
    state = state_of(EVENT_HANDLED, FunctionSelector())
    assert answers(state, signal(PROCESSED), signal(EVENT_HANDLED, function=VIEW)) == "ac"
