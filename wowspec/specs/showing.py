"""What a spec's author wrote, as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from .items import CommandOf, On, SentCommand, Stream, TimeStep
from .nodes import GivenState, Node, Setup, Subject, When, WhenConcurrently, WhenEvent, WithFaults, WithoutLaw
from .render import BRIEF, render, render_call

#: Items of a step that are shown in one line.
_MOST_ITEMS: Final = 4


def shown(command: Any) -> str:
    """A command as the author would write it."""
    if isinstance(command, CommandOf):
        return render_call(command.command_class.__name__, command.fields.items())
    return render(command)


def step_text(node: Node) -> str:
    """A step of a spec in a few words: its verb, and the classes or names of what it was given."""
    step = node.step
    if isinstance(step, Subject):
        return f"spec({_name(step.cls)})" if step.cls is not None else "spec()"
    if isinstance(step, Setup):
        return f"fork({node.name!r})" if node.name else f"{step.verb}(...)"
    if isinstance(step, WithoutLaw):
        return f"without_law({step.name!r})"
    if isinstance(step, GivenState):
        return f"given_state({_name(step.state)}, version={step.version})"
    if isinstance(step, WithFaults):
        return f"with_faults({_several(str(fault) for fault in step.faults)})"
    if isinstance(step, When):
        return f"when({_name(step.command)})"
    if isinstance(step, WhenEvent):
        return f"when_event({_name(step.event)})" if step.event is not None else "delivered"
    if isinstance(step, WhenConcurrently):
        return f"when_concurrently({_several(_name(sent.command) for sent in step.commands)})"
    return f"given({_several(_name(item) for item in step.items)})"


def _several(texts: Iterable[str]) -> str:
    shown_texts = list(texts)
    rest = [f"… {len(shown_texts) - _MOST_ITEMS} more"] if len(shown_texts) > _MOST_ITEMS else []
    return ", ".join([*shown_texts[:_MOST_ITEMS], *rest])


def _name(item: Any) -> str:
    if isinstance(item, On):
        return f"on({_several([item.aggregate.__name__, repr(item.id), *map(_name, item.items)])})"
    if isinstance(item, Stream):
        return f"stream({_several(map(_name, item.events))})"
    if isinstance(item, SentCommand):
        return _name(item.command)
    if isinstance(item, CommandOf):
        return item.command_class.__name__
    if isinstance(item, TimeStep):
        return "advance(...)" if item.to is None else "at(...)"
    if callable(item) and not isinstance(item, type) and not hasattr(type(item), "model_fields"):
        return render(item, BRIEF)
    return item.__name__ if isinstance(item, type) else type(item).__name__
