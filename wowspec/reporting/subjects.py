"""What a spec is about: an aggregate root or a processor, its bounded context, and the titles of tests and specs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import SpecError
from ..modeling.aggregates import aggregate_metadata, is_aggregate
from ..modeling.claims import aggregate_of_command, aggregates_of_event
from ..modeling.processors import is_processor, processor_metadata
from ..specs.events import is_projection
from ..specs.execution import plan_of
from ..specs.items import CommandOf, On, SentCommand, Stream
from ..specs.nodes import GivenState, History, Node, Subject, When, WhenConcurrently, WhenEvent
from .wording import title, words


def subject_of_way(nodes: Sequence[Node]) -> type | None:
    """The class that a way of steps is about: of its first word, else of its first command, else of what was given.

    None if nothing says it.
    """
    first = nodes[0].step if nodes else None
    if isinstance(first, Subject) and first.cls is not None:
        return first.cls
    return next(_candidates(nodes), None)


def view_of_way(nodes: Sequence[Node]) -> str:
    """Whose rows an expectation looks at that names no projection, in words: "order board"."""
    first = subject_of_way(nodes)
    views = [part for part in plan_of(nodes)[0].held_parts() if is_projection(part)]
    chosen = first if is_projection(first) else views[0] if len(views) == 1 else None
    return words(chosen.__name__) if chosen is not None else "view"


def context_of(cls: type | None) -> str:
    """The bounded context of an aggregate root or a processor; empty where it has none."""
    try:
        if cls is None:
            return ""
        if is_aggregate(cls):
            return aggregate_metadata(cls).named.context_name
        return processor_metadata(cls).context_name if is_processor(cls) else ""
    except SpecError:
        return ""


def kind_of_subject(cls: type | None) -> str:
    """What a subject is, in words: "aggregate", "projection", "stateless saga", "event processor"; empty: neither."""
    if cls is None:
        return ""
    if is_processor(cls):
        return str(processor_metadata(cls).kind.value).lower().replace("_", " ")
    return "aggregate" if is_aggregate(cls) else ""


def title_of_test(name: str, docstring: str | None) -> str:
    """A test's title: the first line of its docstring, or its name in words."""
    lines = (docstring or "").strip().splitlines()
    if lines:
        return lines[0].strip().removesuffix(".")
    bare, bracket, parameters = name.partition("[")
    return title(bare.removeprefix("test_")) + (f" [{parameters}" if bracket else "")


def title_of_spec(nodes: Sequence[Node], test_title: str) -> str:
    """A scenario's title: of its branches, outermost first; else its test's."""
    branches = nodes[-1].branch_names() if nodes else []
    return f"{test_title}: {', '.join(branches)}" if branches else test_title


# --- finding it -------------------------------------------------------------------------------------------------------


def _candidates(nodes: Sequence[Node]) -> Iterator[type]:
    """Aggregates of commands that are sent; then those of events that reach somebody, and of what was given."""
    for node in nodes:
        step = node.step
        if isinstance(step, When):
            made = node.run.command if callable(step.command) and node.run is not None else step.command
            yield from _of_message(made)
        elif isinstance(step, WhenConcurrently):
            for sent in step.commands:
                yield from _of_message(sent)
    for node in nodes:
        if isinstance(node.step, WhenEvent):
            yield from _of_message(node.step.event)
        elif isinstance(node.step, History):
            for item in node.step.items:
                yield from _of_message(item)
        elif isinstance(node.step, GivenState):
            yield from _of_state(node.step.state)


def _of_message(item: Any) -> Iterator[type]:
    if isinstance(item, On):
        yield item.aggregate
        return
    if isinstance(item, Stream):
        item = item.events[0]
    if isinstance(item, SentCommand):
        item = item.command
    kind = item.command_class if isinstance(item, CommandOf) else type(item)
    try:
        found = aggregate_of_command(kind)
        claims = (found,) if found is not None else aggregates_of_event(kind)
    except SpecError:
        return
    if len(claims) == 1:
        yield claims[0]


def _of_state(state: Any) -> Iterator[type]:
    if is_aggregate(type(state)):
        yield type(state)
