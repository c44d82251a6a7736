"""The state of a chain wait (section S)."""

from __future__ import annotations

import pytest

from tests.runtime.waiting.builders import (
    EVENT_HANDLED,
    MAIN,
    PROCESSED,
    PROJECTED,
    SAGA,
    SAGA_HANDLED,
    SENT,
    SNAPSHOT,
    VIEW,
    signal,
)
from wowspec.messages.wait_plans import (
    ChainTarget,
    StageTarget,
    WaitPlan,
    chain,
    projected,
    saga_handled,
    wait_for_stage,
)
from wowspec.runtime.waiting.chain_state import ChainWaitState
from wowspec.runtime.waiting.stage_state import StageWaitState
from wowspec.runtime.waiting.states import wait_state_of


def state_of(stage=PROCESSED, wait_id=MAIN):
    """A chain over the saga of the builders, with a tail stage."""
    target = chain(saga_handled("shop", "OrderSaga"), then=wait_for_stage(stage)).target
    assert isinstance(target, ChainTarget)
    return ChainWaitState(wait_id, target)


def saga(*commands, **more):
    """The main saga signal, which lists these commands."""
    return signal(SAGA_HANDLED, function=SAGA, commands=commands, **more)


def tail(name, stage=PROCESSED, **more):
    """A signal of a tail command."""
    return signal(stage, of=name, last=True, **more)


def run(state, *signals):
    """One letter a signal: ignored, accepted or completed."""
    return "".join(
        "c" if step.completed else "i" if step.accepted is None else "a" for step in map(state.next, signals)
    )


@pytest.mark.clause("CMD-359")
def test_each_target_has_its_state():
    """A stage target gets a stage state, a chain target a chain state."""
    assert isinstance(wait_state_of(WaitPlan("w", StageTarget(SENT))), StageWaitState)
    assert isinstance(wait_state_of(chain(saga_handled("c"), then=projected("c")).plan("w")), ChainWaitState)


@pytest.mark.clause("CMD-372")
def test_the_wait_id_must_be_the_command_id():
    """Otherwise the main command's own signals are taken for pending tails, and nothing ends the wait."""
    state = state_of(wait_id="cmd-other")
    mine = [signal(PROCESSED, wait="cmd-other"), saga(wait="cmd-other")]
    assert run(state, *mine) == "ai"
    assert state.completed is False


@pytest.mark.clause("CMD-373")
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_without_commands(order):
    """Saga signal and main PROCESSED end it, in either order; the saga signal is the final one."""
    state = state_of()
    signals = [signal(PROCESSED), saga()]
    assert run(state, *[signals[index] for index in order]) == "ac"
    assert state.retained.stage is SAGA_HANDLED


@pytest.mark.clause("CMD-374", "CMD-396")
def test_with_commands_it_waits_for_every_tail():
    """Results of main and tails are merged; the final signal is the tail's own."""
    state = state_of()
    main = [signal(PROCESSED, result={"m": 1}), saga("t-1", "t-2", result={"s": 2})]
    assert run(state, *main, tail("t-2", result={"x": 3})) == "aaa"
    final = state.next(tail("t-1", result={"y": 4})).final
    assert (final.command_id, final.wait_command_id) == ("t-1", MAIN)
    assert final.result == {"m": 1, "s": 2, "x": 3, "y": 4}


@pytest.mark.clause("CMD-375")
def test_nothing_completes_it_before_main_processed():
    """Neither a failed tail nor a failed saga signal."""
    state = state_of()
    assert run(state, saga("t-1", error="X"), tail("t-1", error="Y")) == "aa"
    assert run(state, signal(PROCESSED)) == "c"
    assert state.retained.error_code == "Y"


@pytest.mark.clause("CMD-376")
@pytest.mark.parametrize("stage", [SENT, PROCESSED])
def test_a_failed_main_command_completes_it(stage):
    """At once, with that signal."""
    state = state_of()
    assert run(state, saga("t-1"), signal(stage, error="X", result={"a": 1})) == "ac"
    assert (state.retained.stage, state.retained.result) == (stage, {"a": 1})


@pytest.mark.clause("CMD-377")
def test_a_failed_saga_does_not_wait_for_tails():
    """Once main PROCESSED was seen."""
    state = state_of()
    assert run(state, signal(PROCESSED), saga("t-1", error="X")) == "ac"
    assert (state.retained.stage, state.retained.error_code) == (SAGA_HANDLED, "X")


@pytest.mark.clause("CMD-378")
def test_a_failed_tail_does_not_wait_for_others():
    """A completed tail that failed ends the chain."""
    state = state_of()
    assert run(state, signal(PROCESSED), saga("t-1", "t-2"), tail("t-2", error="X")) == "aac"
    assert state.retained.command_id == "t-2"


@pytest.mark.clause("CMD-379")
def test_a_failed_later_tail_waits_for_its_own_processed():
    """Its PROCESSED completes it, with the failed signal as final."""
    state = state_of(PROJECTED)
    assert run(state, signal(PROCESSED), saga("t-1"), tail("t-1", PROJECTED, error="X")) == "aaa"
    assert run(state, tail("t-1", PROCESSED)) == "c"
    assert (state.retained.stage, state.retained.error_code) == (PROJECTED, "X")


@pytest.mark.clause("CMD-380")
def test_a_tail_whose_processed_failed():
    """It is failed with that signal, although its projection succeeded."""
    state = state_of(PROJECTED)
    run(state, signal(PROCESSED), saga("t-1"), tail("t-1", PROJECTED))
    assert run(state, tail("t-1", PROCESSED, error="X")) == "c"
    assert (state.retained.stage, state.retained.error_code) == (PROCESSED, "X")


@pytest.mark.clause("CMD-381")
def test_early_tail_signals_are_kept():
    """SENT, PROCESSED and the tail's stage of an unknown command are accepted, and count once it is confirmed."""
    state = state_of(PROJECTED)
    early = [tail("t-1", SENT), tail("t-1", PROCESSED), tail("t-1", PROJECTED, result={"a": 1})]
    assert run(state, *early) == "aaa"
    assert run(state, signal(PROCESSED), saga("t-1")) == "ac"
    assert (state.retained.command_id, state.retained.result) == ("t-1", {"a": 1})


@pytest.mark.clause("CMD-382")
def test_unknown_commands_of_other_waits_are_ignored():
    """Another wait id, or a stage that the tail does not want; a known tail may carry a foreign wait id."""
    state = state_of()
    assert run(state, tail("t-1", wait="foreign"), tail("t-1", SNAPSHOT), tail("t-1", EVENT_HANDLED)) == "iii"
    assert run(state, signal(PROCESSED), saga("t-1"), tail("t-1", wait="foreign")) == "aac"


@pytest.mark.clause("CMD-383")
def test_unconfirmed_commands_have_no_influence():
    """Neither their failure nor their result counts."""
    state = state_of()
    assert run(state, tail("stranger", error="X", result={"a": 1}), signal(PROCESSED), saga()) == "aac"
    assert (state.retained.succeeded, state.retained.result) == (True, {})


@pytest.mark.clause("CMD-384", "CMD-385")
def test_replay_follows_arrival():
    """Not the saga's list: of two early failures the one that arrived first is told."""
    state = state_of()
    run(state, tail("t-2", error="second in the list"), tail("t-1", error="first in the list"))
    assert run(state, saga("t-1", "t-2"), signal(PROCESSED)) == "ac"
    assert state.retained.error_code == "second in the list"


@pytest.mark.clause("CMD-386")
def test_a_refreshed_final_keeps_its_place():
    """A tail that failed first stays first when its retained signal is refreshed."""
    state = state_of(PROJECTED)
    run(state, saga("t-1", "t-2"), tail("t-1", PROJECTED, error="X"), tail("t-2", PROJECTED, error="Y"))
    run(state, tail("t-2", PROCESSED), tail("t-1", PROCESSED, result={"late": 1}))
    assert run(state, signal(PROCESSED)) == "c"
    assert state.retained.error_code == "X"


@pytest.mark.clause("CMD-387")
def test_equal_keys_by_arrival():
    """A replayed tail signal counts at its original arrival, so it loses to main PROCESSED."""
    state = state_of()
    run(state, tail("t-1", result={"k": "tail"}), signal(PROCESSED, result={"k": "main"}))
    assert run(state, saga("t-1")) == "c"
    assert state.retained.result == {"k": "main"}


@pytest.mark.clause("CMD-388")
def test_several_saga_signals_add_tails():
    """The latest is the main signal; a repeat does not reset a completed tail."""
    state = state_of()
    run(state, saga("t-1"), tail("t-1"), saga("t-1", "t-2", id="again"))
    assert run(state, signal(PROCESSED), tail("t-2")) == "ac"


@pytest.mark.clause("CMD-388")
def test_the_latest_saga_signal_is_the_main_one():
    """It is the final signal where there are no tails."""
    state = state_of()
    run(state, saga(id="first"), saga(id="second"), signal(PROCESSED))
    assert state.retained.id == "second"


@pytest.mark.clause("CMD-389")
def test_a_first_saga_signal_without_commands_completes():
    """Although another one with commands would follow."""
    state = state_of()
    assert run(state, signal(PROCESSED), saga(), saga("t-1")) == "acc"
    assert state.retained.commands == ()


@pytest.mark.clause("CMD-390")
def test_a_completed_tail_takes_nothing_more():
    """Further signals for it are ignored, with their results."""
    state = state_of()
    assert run(state, saga("t-1", "t-2"), tail("t-1"), tail("t-1", result={"a": 1})) == "aai"
    assert run(state, signal(PROCESSED), tail("t-2")) == "ac"
    assert state.retained.result == {}


@pytest.mark.clause("CMD-391")
def test_another_saga_is_ignored():
    """A SAGA_HANDLED of a function that was not selected."""
    assert run(state_of(), signal(SAGA_HANDLED, function=VIEW)) == "i"


@pytest.mark.clause("CMD-392")
def test_after_completion():
    """It answers with the stored final and accepts nothing."""
    state = state_of()
    run(state, signal(PROCESSED), saga())
    step = state.next(tail("t-1"))
    assert (step.accepted, step.final) == (None, state.retained)


@pytest.mark.clause("CMD-393")
def test_any_stage_can_be_a_tail():
    """SENT ends with the tail's SENT, PROCESSED with its PROCESSED, later ones need both."""
    assert run(state_of(SENT), signal(PROCESSED), saga("t-1"), tail("t-1", SENT)) == "aac"
    assert run(state_of(PROCESSED), signal(PROCESSED), saga("t-1"), tail("t-1", SENT), tail("t-1")) == "aaac"
    later = [tail("t-1", SNAPSHOT), tail("t-1", PROCESSED)]
    assert run(state_of(SNAPSHOT), signal(PROCESSED), saga("t-1"), *later) == "aaac"


@pytest.mark.clause("CMD-394")
def test_a_void_tail_can_only_be_sent():
    """It never gives PROCESSED, so a chain for PROCESSED stays open with its SENT."""
    assert run(state_of(PROCESSED), signal(PROCESSED), saga("void"), tail("void", SENT)) == "aaa"


@pytest.mark.clause("CMD-395")
def test_every_accepted_signal_is_told():
    """Pending ones too: each step names the signal that it accepted."""
    state = state_of()
    signals = [tail("t-1", SENT), signal(SENT), signal(PROCESSED), saga("t-1"), tail("t-1")]
    assert [state.next(item).accepted for item in signals] == signals


@pytest.mark.clause("CMD-396")
def test_the_last_tail_by_first_appearance_is_final():
    """Where main PROCESSED ends the chain, the tail that appeared last is told, not the one that completed last."""
    state = state_of(PROJECTED)
    run(state, saga("t-1", "t-2"), tail("t-1", PROJECTED), tail("t-2", PROJECTED))
    run(state, tail("t-2", PROCESSED), tail("t-1", PROCESSED))
    assert run(state, signal(PROCESSED)) == "c"
    assert state.retained.command_id == "t-2"
