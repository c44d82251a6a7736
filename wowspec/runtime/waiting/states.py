"""Which state a plan gets."""

from __future__ import annotations

from ...messages.wait_plans import ChainTarget, WaitPlan
from .chain_state import ChainWaitState
from .stage_state import StageWaitState, WaitState


def wait_state_of(plan: WaitPlan) -> WaitState:
    """A stage target gets a stage state, a chain target a chain state (CMD-359)."""
    if isinstance(plan.target, ChainTarget):
        return ChainWaitState(plan.wait_command_id, plan.target)
    return StageWaitState(plan.target)
