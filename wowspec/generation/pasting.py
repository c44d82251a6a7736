"""A run of a state machine as a test to paste."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from ..exploration.imports import with_imports
from ..exploration.pasting import item_text, steps_of, values_of
from ..faults.plans import Plan
from ..specs.items import SentCommand
from ..specs.nodes import Node, When
from ..specs.run import Run


def game_text(
    nodes: Sequence[Node], plan: Plan, runs: Sequence[Run], name: str, model: Callable[[], Any] | None
) -> str:
    """A test that pins the plan over the same steps, with the model if there is one, and the imports that it needs.

    Args:
        nodes: the steps.
        plan: the faults.
        runs: what came of each command without any fault: what was refused is expected there. The last one is not
            there if the world never came to rest.
        name: of the machine.
        model: makes the model.
    """
    opening = [node for node in nodes if not isinstance(node.step, When)]
    sent = [node.step for node in nodes if isinstance(node.step, When)]
    lines = [f"@explore_faults.example({str(plan)!r})", f"def test_{_snake(name)}(spec):"]
    start = "".join(line for line in steps_of(opening, conditions=False) if not line.startswith("#"))
    lines += [f"    {line}" for line in steps_of(opening, conditions=False) if line.startswith("#")]
    if model is not None:
        lines.append(f"    model = {getattr(model, '__name__', 'Model')}()")
    lines.append(f"    spec = {start}")
    for step, run in zip_longest(sent, runs[: len(sent)]):
        text = item_text(SentCommand(step.command, step.options))
        inner = text.removeprefix("sent_as(").removesuffix(")") if text.startswith("sent_as(") else text
        lines.append(f"    spec = spec.when({inner})")
        if model is not None:
            lines.append(f"    model.{_method(model, step.command)}({item_text(step.command)}, spec.run())")
        if run is not None and run.error is not None:
            lines.append(f"    spec = spec.expect_error({type(run.error).__name__})")
    named = [model, *(type(run.error) for run in runs)]
    return with_imports("\n".join([*lines, "    spec.run()"]), *values_of(nodes), named)


def _method(model: Any, command: Any) -> str:
    from .games import command_class, model_method

    return model_method(model, command_class(command))


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).strip("_")
