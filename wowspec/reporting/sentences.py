"""The steps of a spec in words: what was given, what is done, what is expected; for people who do not read Python."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from ..exploration.pasting import item_text
from ..faults.values import Fault
from ..specs.defaults import WorldPlan
from ..specs.items import On, SentCommand, TimeStep
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
from ..specs.recorded import Expected
from ..specs.render import Limits, render, shorten
from ..specs.showing import step_text
from ..world.points import KINDS, FaultKind
from .document import StepJson
from .failing import Line
from .phrases import in_words
from .said import Said, Words
from .steps_in_words import STEPS
from .subjects import subject_of_way, view_of_way
from .wording import plural, words

#: Lines below a sentence; what is cut is counted in the last one.
_MOST_DETAILS: Final = 24
#: Neighbouring lines that begin alike.
_MOST_ALIKE: Final = 8
#: Characters of a line; what is cut is counted in its place.
_MOST_TEXT: Final = 4_000
_CODE: Final = Limits(text=400, items=24, depth=10, line=1_000)


def steps_in_words(nodes: Sequence[Node], *, failed: bool = False, soft: Collection[Line] = ()) -> list[StepJson]:
    """Every step of a way of nodes, and every expectation that was called after it and held, in their order.

    Steps that say nothing to people are left out: what the spec is about, branches, an empty `given()` before another.

    Args:
        nodes: the way, from the root.
        failed: whether the test failed: then the expectation that did not hold is told, too, where one was noted.
        soft: where soft expectations stand that did not hold, although they were noted as if they did.
    """
    return list(_told(nodes, soft, failed=failed))


def step_places(nodes: Sequence[Node], *, failed: bool = False) -> dict[int, int]:
    """The place of each node's own step among `steps_in_words`, by the node's place; one that is left out has none."""
    places: dict[int, int] = {}
    told = 0
    for place, node in enumerate(nodes):
        if not _is_silent(nodes, place):
            places[place] = told
            told += 1
        told += len(node.calls or ()) + (failed and node.broken is not None)
    return places


def _told(nodes: Sequence[Node], soft: Collection[Line], *, failed: bool) -> Iterator[StepJson]:
    cls = subject_of_way(nodes)
    noun = words(cls.__name__) if cls is not None else "state"
    view = view_of_way(nodes)
    for place, node in enumerate(nodes):
        if not _is_silent(nodes, place):
            yield _own(node, noun)
        for each in node.expected:
            held = (each.code, each.instruction) not in soft
            told = _expectation(node, each, noun, view, held=held)
            yield told if held else {**told, "failed": True}
        if failed and node.broken is not None:
            broken = _expectation(node, Expected(*node.broken), noun, view, held=False)
            broken["failed"] = True
            yield broken


def _is_silent(nodes: Sequence[Node], place: int) -> bool:
    step = nodes[place].step
    if isinstance(step, Subject):
        return True
    if isinstance(step, Setup):
        return step.verb == "fork"
    if isinstance(step, WhenEvent):
        return step.event is None
    if isinstance(step, History) and not step.items:
        others = list(_before_action(nodes, place))
        return any(isinstance(node.step, GivenState | WhenEvent) or _has_items(node) for node in others)
    return False


def _before_action(nodes: Sequence[Node], place: int) -> Iterator[Node]:
    """The steps before and after one, up to and with the first after it that runs something."""
    for index, node in enumerate(nodes):
        if index != place:
            yield node
        if index > place and isinstance(node.step, ACTIONS):
            return


def _has_items(node: Node) -> bool:
    return isinstance(node.step, History) and bool(node.step.items)


def _own(node: Node, noun: str) -> StepJson:
    keyword, row = STEPS[type(node.step)]
    found = row(node, noun)
    return _json(keyword, verb_of(node), found, _code(node))


def _expectation(node: Node, expected: Expected, noun: str, view: str, *, held: bool = True) -> StepJson:
    run = node.run
    said = Said(
        expected.verb,
        expected.args,
        expected.kwargs,
        noun,
        view,
        together=isinstance(node.step, WhenConcurrently),
        error=run.error if held and run is not None else None,
    )
    return _json("then", expected.verb, in_words(said), _call(expected.verb, expected.args, expected.kwargs.items()))


def _json(keyword: str, verb: str, found: Words, code: str) -> StepJson:
    return {
        "keyword": keyword,
        "verb": verb,
        "sentence": shorten(found.sentence, _MOST_TEXT),
        "details": [shorten(line, _MOST_TEXT) for line in _few(_without_repetition(found.details))],
        "code": code,
    }


def _without_repetition(lines: list[str]) -> list[str]:
    """Long rows of the same kind of thing, such as a hundred items of a cart, show their ends."""
    kept: list[str] = []
    for _, group in groupby(lines, key=lambda line: line.partition(" (")[0]):
        same = list(group)
        if len(same) > _MOST_ALIKE:
            same = [*same[:2], f"… {len(same) - 3} more of the kind …", same[-1]]
        kept += same
    return kept


def _few(lines: list[str]) -> list[str]:
    if len(lines) <= _MOST_DETAILS:
        return lines
    return [*lines[: _MOST_DETAILS - 1], f"… and {plural(len(lines) - _MOST_DETAILS + 1, 'more line')}"]


# --- code -------------------------------------------------------------------------------------------------------------


def verb_of(node: Node) -> str:
    """The verb of the language that made a step."""
    step = node.step
    if isinstance(step, Setup):
        return step.verb
    if isinstance(step, History) and len(step.items) == 1 and isinstance(step.items[0], TimeStep):
        return "advance" if step.items[0].to is None else "given"
    return _VERBS[type(step)]


_VERBS: Final[dict[type, str]] = {
    Subject: "spec",
    History: "given",
    GivenState: "given_state",
    WithFaults: "with_faults",
    WithoutLaw: "without_law",
    When: "when",
    WhenEvent: "when_event",
    WhenConcurrently: "when_concurrently",
}


def _code(node: Node) -> str:
    step = node.step
    verb = verb_of(node)
    if isinstance(step, History):
        items = [item_text(item) for item in step.items]
        if verb == "advance":
            return shorten(items[0], _CODE.line)
        return _written(verb, [*items, *(["deliver=True"] if step.deliver else [])])
    if isinstance(step, When):
        sent = item_text(SentCommand(step.command, step.options))
        return _written(
            verb, [sent.removeprefix("sent_as(").removesuffix(")") if sent.startswith("sent_as(") else sent]
        )
    if isinstance(step, WhenConcurrently):
        return _written(verb, [item_text(sent) for sent in step.commands])
    if isinstance(step, GivenState):
        return _call(verb, (step.state,), [("version", step.version)])
    if isinstance(step, WhenEvent):
        named = [("aggregate_id", step.aggregate_id), ("state", step.state), ("function", step.function)]
        named += [("tenant_id", step.tenant_id), ("owner_id", step.owner_id), ("space_id", step.space_id)]
        return _call(verb, (step.event,), [(name, value) for name, value in named if value])
    if isinstance(step, WithFaults):
        return _written(verb, map(fault_code, step.faults))
    if isinstance(step, Setup):
        return _written(verb, _arguments(step))
    return shorten(step_text(node), _CODE.line)


def _arguments(step: Setup) -> list[str]:
    """What a step that shapes the world was given; services by their names."""
    plan = WorldPlan()
    plan.apply(step)
    if step.verb == "with_profile":
        return [repr(plan.profile.name)]
    parts = [part.__name__ for part in (*plan.parts, *plan.excluded)]
    return parts or [named.name for named in plan.filters] or list(step.names)


def fault_code(fault: Fault) -> str:
    """A fault as its author would write it."""
    verb = next(row.verb for row in KINDS if row.kind is fault.kind)
    name, _, said = verb.partition("(")
    arguments = [] if fault.kind in (FaultKind.RIVAL, FaultKind.DELAY) else [said.removesuffix(")")]
    if isinstance(fault.payload, tuple):
        arguments += [render(event, _CODE) for event in fault.payload]
    elif fault.payload is not None:
        arguments.append(f"steps={fault.payload!r}")
    arguments += [f"at={fault.at}"] if fault.at > 1 else []
    arguments += [f"times={fault.times}"] if fault.times > 1 else []
    arguments += [f"aggregate={_argument(fault.aggregate)}"] if fault.aggregate is not None else []
    point = f"point({fault.point!r})" if ":" in fault.point else fault.point
    return f"faults.{point}.{name}({', '.join(filter(None, arguments))})"


def _call(verb: str, args: Iterable[Any], kwargs: Iterable[tuple[str, Any]]) -> str:
    return _written(verb, [*map(_argument, args), *(f"{name}={_argument(value)}" for name, value in kwargs)])


def _argument(value: Any) -> str:
    return item_text(value) if isinstance(value, On) else render(value, _CODE)


def _written(verb: str, arguments: Iterable[str]) -> str:
    return shorten(f"{verb}({', '.join(arguments)})", _CODE.line)
