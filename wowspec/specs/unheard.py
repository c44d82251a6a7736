"""A wait for a function that the world has not: it ends in the deadline, and this says why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..messages.stages import CommandStage
from ..messages.wait_plans import ChainTarget, FunctionSelector, StageTarget, WaitTarget
from ..modeling.identity import FunctionInfo
from ..modeling.processors import ProcessorKind
from ..runtime.system import Runtime

#: Whose functions signal a stage.
_KINDS: Final = {
    CommandStage.PROJECTED: ProcessorKind.PROJECTION,
    CommandStage.EVENT_HANDLED: ProcessorKind.EVENT_PROCESSOR,
    CommandStage.SAGA_HANDLED: ProcessorKind.STATELESS_SAGA,
}


def unheard_text(target: WaitTarget, runtime: Runtime) -> str | None:
    """Which function is waited for and is not there, and which are; None where each waited-for one is there."""
    for stage, selector in _selected(target):
        kind = _KINDS.get(stage)
        if kind is None:
            continue
        held = [function.info for function in runtime.event_dispatcher(kind).functions]
        if not any(selector.matches(info) for info in held):
            there = ", ".join(dict.fromkeys(map(_name, held)))
            return f"nobody signals {stage.name}: no {kind} in this world is called {_said(selector)}; " + (
                f"there is {there}" if there else "there is none: .using(...) brings one"
            )
    return None


def note_unheard(error: BaseException, target: WaitTarget, runtime: Runtime) -> None:
    """Let the error of a deadline say so."""
    text = unheard_text(target, runtime)
    if text is not None:
        error.add_note(f"hint: {text}")


def _selected(target: WaitTarget) -> Iterator[tuple[CommandStage, FunctionSelector]]:
    if isinstance(target, StageTarget):
        yield target.stage, target.selector or FunctionSelector()
    elif isinstance(target, ChainTarget):
        yield target.stage, target.selector
        yield target.tail.stage, target.tail.selector


def _name(info: FunctionInfo) -> str:
    return f"{info.context_name}/{info.processor_name}.{info.name}"


def _said(selector: FunctionSelector) -> str:
    """As far as it says anything: `fleet/Dispatch.booked`, the blank parts as `*`."""
    context, processor, name = (
        part if part.strip() else "*"
        for part in (selector.context_name, selector.processor_name, selector.function_name)
    )
    return f"{context}/{processor}.{name}"
