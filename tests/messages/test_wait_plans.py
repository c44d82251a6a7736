"""Wait plans, targets and selectors."""

from __future__ import annotations

import pytest

from tests.runtime.waiting.builders import OTHER_VIEW, SAGA, VIEW, signal
from wowspec.errors import IllegalArgumentError, SpecError
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_plans import (
    DEFAULT_TIMEOUT_NANOS,
    EMPTY_SELECTOR,
    ChainTail,
    ChainTarget,
    FunctionSelector,
    StageTarget,
    WaitPlan,
    chain,
    event_handled,
    processed,
    projected,
    saga_handled,
    selector_matches,
    sent,
    snapshot,
    wait_for_stage,
)
from wowspec.modeling.identity import FunctionInfo, FunctionKind

SENT, PROCESSED, SNAPSHOT, PROJECTED, EVENT_HANDLED, SAGA_HANDLED = CommandStage
ALL = FunctionSelector("shop", "OrderView", "on_event")


@pytest.mark.clause("CMD-342")
def test_a_plan_is_id_target_and_void_support():
    """A stage target has a stage and perhaps a selector; a chain target's stage is SAGA_HANDLED."""
    plan = WaitPlan("w", StageTarget(PROJECTED, ALL))
    assert (plan.wait_command_id, plan.stage, plan.supports_void) == ("w", PROJECTED, False)
    assert ChainTarget(ALL, ChainTail(PROCESSED)).stage is SAGA_HANDLED


@pytest.mark.clause("CMD-104", "CMD-343")
def test_only_sent_supports_void():
    """Of all factories, only `sent` suits a void command."""
    others = [processed(), snapshot(), projected("c"), event_handled("c"), saga_handled("c")]
    assert sent().plan("w").supports_void is True
    assert [wait.plan("w").supports_void for wait in others] == [False] * 5
    assert chain(saga_handled("c"), then=sent()).plan("w").supports_void is False


@pytest.mark.clause("CMD-343")
def test_function_factories_take_names():
    """Context is required, processor and function may be left out."""
    assert projected("shop", "OrderView").target == StageTarget(PROJECTED, FunctionSelector("shop", "OrderView"))
    assert event_handled("shop").target == StageTarget(EVENT_HANDLED, FunctionSelector("shop"))
    assert saga_handled("shop", function="f").target == StageTarget(SAGA_HANDLED, FunctionSelector("shop", "", "f"))


@pytest.mark.clause("CMD-344")
def test_general_factory_drops_the_selector():
    """A dropped stage selector becomes None."""
    assert wait_for_stage(SNAPSHOT, "shop", "P", "f").target == StageTarget(SNAPSHOT, None)
    assert wait_for_stage(PROJECTED, "shop").target == StageTarget(PROJECTED, FunctionSelector("shop"))


@pytest.mark.clause("CMD-345")
def test_tail_keeps_the_selector_for_function_stages():
    """A dropped tail selector becomes the empty selector."""
    assert ChainTail.of(PROJECTED, ALL).selector == ALL
    assert ChainTail.of(PROCESSED, ALL).selector == EMPTY_SELECTOR


@pytest.mark.clause("CMD-346")
def test_timeouts():
    """30 seconds unless replaced; a second own timeout replaces the first; the rest stays."""
    plan = sent().plan("w")
    assert plan.timeout_nanos == DEFAULT_TIMEOUT_NANOS == 30_000_000_000
    replaced = plan.with_timeout(seconds=10).with_timeout(milliseconds=250)
    assert replaced == WaitPlan("w", plan.target, True, 250_000_000)
    assert projected("c").with_timeout(seconds=0.5).plan("w").timeout_nanos == 500_000_000


@pytest.mark.clause("CMD-346")
@pytest.mark.parametrize("millis", [0, -1])
def test_a_timeout_is_positive(millis):
    """Zero and negative timeouts are refused."""
    with pytest.raises(IllegalArgumentError, match="greater than zero"):
        processed().with_timeout(milliseconds=millis)


@pytest.mark.clause("CMD-355", "PRJ-006")
@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        (None, True),
        (FunctionSelector(), True),
        (FunctionSelector(" ", "\t", ""), True),
        (ALL, True),
        (FunctionSelector("", "OrderView"), True),
        (FunctionSelector("shop "), False),
        (FunctionSelector("", "StockView"), False),
        (FunctionSelector("", "", "on_other"), False),
        (FunctionSelector("other", "OrderView", "on_event"), False),
    ],
)
def test_selector(selector, matches):
    """Blank parts match everything; every other part must be equal."""
    assert selector_matches(selector, VIEW) is matches


@pytest.mark.clause("CMD-355", "CMD-356")
def test_kind_and_aggregate_are_not_compared():
    """The function's own context counts; its kind, and the aggregate's context, do not."""
    elsewhere = FunctionInfo(FunctionKind.STATE_EVENT, "billing", "OrderView", "on_event")
    target = StageTarget(PROJECTED, FunctionSelector("billing"))
    assert target.accepts(signal(PROJECTED, function=elsewhere)) is True
    assert target.accepts(signal(PROJECTED, function=VIEW)) is False


@pytest.mark.clause("CMD-357", "PRJ-006")
def test_a_target_accepts_prerequisites_and_itself():
    """A prerequisite needs no function; the stage itself needs a matching one."""
    target = StageTarget(PROJECTED, FunctionSelector("shop", "OrderView"))
    assert target.accepts(signal(SENT, function=OTHER_VIEW)) is True
    assert target.accepts(signal(PROCESSED, function=OTHER_VIEW)) is True
    assert target.accepts(signal(PROJECTED)) is True
    assert target.accepts(signal(PROJECTED, function=OTHER_VIEW)) is False
    assert target.accepts(signal(SNAPSHOT)) is False


@pytest.mark.clause("CMD-357")
def test_a_selector_on_processed_is_ignored():
    """A stage that is not function-aware takes every function, even with a selector."""
    assert StageTarget(PROCESSED, FunctionSelector("nowhere")).accepts(signal(PROCESSED)) is True


@pytest.mark.clause("CMD-357")
def test_a_chain_accepts_its_saga():
    """A chain target wants SENT, PROCESSED and the selected saga's signal."""
    target = ChainTarget(FunctionSelector("shop", "OrderSaga"), ChainTail(PROCESSED))
    assert target.accepts(signal(PROCESSED)) is True
    assert target.accepts(signal(SAGA_HANDLED, function=SAGA)) is True
    assert target.accepts(signal(SAGA_HANDLED, function=VIEW)) is False
    assert target.accepts(signal(PROJECTED)) is False


def test_a_chain_starts_with_a_saga():
    """A chain of something else tells what to write."""
    with pytest.raises(SpecError, match="cannot start with a wait for PROCESSED"):
        chain(processed(), then=processed())
    with pytest.raises(SpecError, match="cannot end in another chain"):
        chain(saga_handled("c"), then=chain(saga_handled("c"), then=sent()))
    with pytest.raises(SpecError, match="deadline of its own"):
        chain(saga_handled("c"), then=processed().with_timeout(seconds=1))
