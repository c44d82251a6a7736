"""A spec as code again: what a failure prints for its author to paste."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from ..faults.plans import Plan
from ..messages.stages import FUNCTION_STAGES, CommandStage
from ..messages.wait_plans import DEFAULT_TIMEOUT_NANOS, ChainTarget, FunctionSelector, WaitFor
from ..modeling.processors import is_processor
from ..specs.execution import plan_of
from ..specs.items import CommandOf, CommandOptions, On, Options, SentCommand, Stream, TimeStep
from ..specs.nodes import (
    ACTIONS,
    GivenState,
    History,
    Node,
    Setup,
    Subject,
    When,
    WhenConcurrently,
    WhenEvent,
    WithFaults,
    WithoutLaw,
)
from ..specs.parts import PROFILES
from ..specs.render import EVERYTHING, render
from ..specs.session import Profile
from ..world.clock import NANOS_PER_MILLI, NANOS_PER_SECOND
from .imports import with_imports


def paste(
    nodes: Sequence[Node],
    plan: Plan,
    *,
    name: str = "test_pinned",
    conditions: bool = True,
    profile: Profile | None = None,
) -> str:
    """A test that explores one plan over the same steps, whatever they come to without it, with the imports it needs.

    What cannot be written as code is named in a comment.

    Args:
        nodes: the steps.
        plan: the plan that it pins.
        name: the test's name.
        conditions: whether what must hold always, or in the end, is named, too.
        profile: in place of the steps' own.
    """
    lines = [f"@explore_faults.example({str(plan)!r})"]
    subject = next((node.step.cls for node in nodes if isinstance(node.step, Subject)), None)
    if subject is not None and is_processor(subject):
        lines.append(f"@explore_faults({subject.__name__}, depth=0)")
    lines += [f"def {name}(spec):", "    ("]
    lines += [f"        {line}" for line in steps_of(nodes, conditions=conditions, profile=profile, judged=True)]
    return with_imports("\n".join([*lines, "    )"]), *values_of(nodes))


def values_of(nodes: Sequence[Node]) -> list[Any]:
    """The classes and messages that steps name, so that their modules can be found."""
    steps = [node.step for node in nodes if not isinstance(node.step, Setup | WithFaults | WithoutLaw)]
    return [*plan_of(nodes)[0].parts, *steps]


def steps_of(
    nodes: Sequence[Node], *, conditions: bool = True, profile: Profile | None = None, judged: bool = False
) -> list[str]:
    """The steps, one verb a line, beginning with `spec`.

    Args:
        nodes: the steps.
        conditions: whether what must hold always, or in the end, is named, too.
        profile: in place of the steps' own.
        judged: whether each command is followed by an expectation that any outcome meets: without one it is not run.
    """
    lines = ["spec"]
    held, _ = plan_of(nodes)
    parts = [part.__name__ for part in held.parts if part not in held.excluded]
    if parts:
        lines.append(f".using({', '.join(dict.fromkeys(parts))})")
    lines += _profile_lines(profile or held.profile)
    for node in nodes:
        lines += _lines(node)
        if judged and isinstance(node.step, ACTIONS):
            lines.append(".expect_any_outcome()")
        if conditions:
            lines += [f"# .{item.kind.value}(...){_as_in(item.place)}" for item in node.conditions]
    return lines


def _profile_lines(profile: Profile) -> list[str]:
    known = PROFILES.get(profile.name)
    if profile == Profile():
        return []
    if known is None or known.ports != profile.ports:
        return [f"# .with_profile(...): the profile {profile.name!r} of this suite"]
    names = [name for name in Profile.__dataclass_fields__ if getattr(profile, name) != getattr(known, name)]
    options = "".join(f", {name}={getattr(profile, name)!r}" for name in names)
    return [f".with_profile(profile({profile.name!r}{options}))" if options else f".with_profile({profile.name!r})"]


def _lines(node: Node) -> list[str]:
    step = node.step
    match step:
        case Subject():
            return []
        case Setup():
            known = ("using", "without", "with_profile", "fork")
            return [] if step.verb in known else [f"# .{step.verb}(...){_as_in(node.place)}"]
        case History():
            items = ", ".join(map(item_text, step.items))
            return [f".given({items}{', deliver=True' if step.deliver else ''})"]
        case GivenState():
            return [f".given_state({_said(step.state)}, {step.version})"]
        case WithFaults():
            return [f"# .with_faults({', '.join(map(str, step.faults))}){_as_in(node.place)}"]
        case WithoutLaw():
            return [f".without_law({step.name!r})"]
        case When():
            return [f".when({_arguments(step.command, step.options)})"]
        case WhenEvent():
            return [] if step.event is None else [f".when_event({_said(step.event)})"]
        case WhenConcurrently():
            said = [*map(item_text, step.commands)]
            said += [f"processes={step.processes}"] if step.processes != 1 else []
            said += [f"schedule={step.schedule!r}"] if step.schedule is not None else []
            return [f".when_concurrently({', '.join(said)})"]


def _as_in(place: object) -> str:
    """Where the author wrote it; nothing says that of steps from outside the test."""
    return f" as in {place}" if place else " as in the spec that this one goes on from"


def item_text(item: Any) -> str:
    """An item of `given(...)` as code."""
    match item:
        case On():
            inner = [item.aggregate.__name__, repr(item.id), *map(item_text, item.items), *_options(item.options)]
            return f"on({', '.join(inner)})"
        case Stream():
            return f"stream({', '.join([*map(_said, item.events), *_options(item.options)])})"
        case SentCommand():
            arguments = _arguments(item.command, item.options)
            return f"sent_as({arguments})" if arguments != _said(item.command) else arguments
        case CommandOf():
            return f"command_of({_of(item)})"
        case TimeStep():
            return _time(item)
    return _said(item)


def _time(item: TimeStep) -> str:
    if item.to is not None:
        seconds, nanos = divmod(item.to, NANOS_PER_SECOND)
        return f"at({_said(datetime.fromtimestamp(seconds, UTC).replace(microsecond=nanos // 1_000))})"
    return f"advance(milliseconds={item.by // NANOS_PER_MILLI})"


def _arguments(command: Any, options: CommandOptions) -> str:
    said = _of(command) if isinstance(command, CommandOf) else _said(command)
    return ", ".join([said, *_options(options)])


def _of(command: CommandOf) -> str:
    fields = [f"{name}={_said(value)}" for name, value in command.fields.items()]
    return ", ".join([command.command_class.__name__, *fields])


def _options(options: CommandOptions | Options) -> Iterable[str]:
    for name in options.__dataclass_fields__:
        value = getattr(options, name)
        if isinstance(value, WaitFor):
            yield f"{name}={_wait(value)}"
        elif value is not None:
            yield f"{name}={_said(value)}"


def _wait(value: WaitFor) -> str:
    """What a sender waits for, as code."""
    target = value.target
    if isinstance(target, ChainTarget):
        saga, tail = _stage(target.stage, target.selector), _stage(target.tail.stage, target.tail.selector)
        text = f"chain({saga}, then={tail})"
    else:
        text = _stage(target.stage, target.selector)
    if value.timeout_nanos == DEFAULT_TIMEOUT_NANOS:
        return text
    return f"{text}.with_timeout(milliseconds={value.timeout_nanos // NANOS_PER_MILLI})"


def _stage(stage: CommandStage, selector: FunctionSelector | None) -> str:
    if selector is None or stage not in FUNCTION_STAGES:
        return f"{stage.name.lower()}()"
    said = [repr(selector.context_name)]
    said += [f"processor={selector.processor_name!r}"] if selector.processor_name else []
    said += [f"function={selector.function_name!r}"] if selector.function_name else []
    return f"{stage.name.lower()}({', '.join(said)})"


def _said(value: Any) -> str:
    return render(value, EVERYTHING)
