"""The expectation that would have noticed: tried on the run as it is, where it must hold, and on the perturbed one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from ..errors import CommandResultError, SpecFailure
from ..modeling.identity import AggregateRef
from ..specs.builder import Spec
from ..specs.items import On, on
from ..specs.looking import stored
from ..specs.nodes import Node
from ..specs.render import Limits, quoted, render
from ..specs.run import Run
from .alterations import fields_of
from .perturbations import Perturbation, Target
from .pictures import aggregates_of

#: A line to paste is whole, but for what nobody would paste.
_LINE = Limits(text=400, items=40, depth=8, line=1_000)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An expectation that might notice.

    Attributes:
        verb: the verb.
        args: what it is given.
        kwargs: likewise, by name.
        condition: of a function of the state, its body as code.
    """

    verb: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    condition: str = ""

    def __str__(self) -> str:
        said = [f"lambda state: {self.condition}" if callable(arg) and self.condition else _written(arg)
                for arg in self.args]  # fmt: skip
        said += [f"{name}={_written(value)}" for name, value in self.kwargs.items()]
        return f".{self.verb}({', '.join(said)})"

    def holds(self, node: Node) -> bool:
        """Whether it holds of a step's run."""
        try:
            getattr(Spec(node), self.verb)(*self.args, **self.kwargs)
        except SpecFailure:
            return False
        return True


#: Within, a history is replayed as the perturbed system does.
Around = Callable[[], AbstractContextManager[None]]


def catching(perturbation: Perturbation, base: Sequence[Node], other: Sequence[Node], around: Around) -> str:
    """The first expectation, as code, that holds of a run and not of the perturbed one; empty if there is none.

    Args:
        perturbation: what was perturbed.
        base: the steps of the run as it is.
        other: those of the perturbed run.
        around: within, the system is the perturbed one.
    """
    for mine, theirs in zip(base, other, strict=True):
        if mine.run is None or theirs.run is None:
            continue
        for candidate in _candidates(perturbation, mine.run, theirs.run, around):
            try:
                if candidate.holds(mine) and not _holds_within(candidate, theirs, around):
                    return str(candidate)
            except Exception:  # noqa: BLE001, S112 - the author's own comparison, or what a verb cannot be given here
                continue
    return ""


def _holds_within(candidate: Candidate, node: Node, around: Around) -> bool:
    with around():
        return candidate.holds(node)


def _candidates(perturbation: Perturbation, run: Run, other: Run, around: Around) -> Iterator[Candidate]:
    target = perturbation.deed.target
    if target is Target.ERROR or run.error is not None:
        yield from _errors(run)
    if target is Target.SOURCING:
        yield from _states(run, other, around)
    if target is Target.COMMAND:
        yield from _commands(run)
    if target is Target.FUNCTION:
        yield from _views(run, other)
    yield from _events(perturbation, run)
    yield from _commands(run)
    yield from _states(run, other, around)
    yield from _views(run, other)
    if run.outcome is not None and run.outcome.result:
        yield Candidate("expect_result", kwargs=dict(run.outcome.result))
    yield from _histories(run, other)
    if run.error is None and run.message is not None:
        yield Candidate("expect_succeeded")


def _errors(run: Run) -> Iterator[Candidate]:
    error = run.error
    if error is None:
        return
    code = run.session.world.errors.info(error).error_code
    kind = type(error) if not isinstance(error, CommandResultError) else None
    if kind is not None:
        yield Candidate("expect_error", (kind,))
    yield Candidate("expect_error", kwargs={"code": code})
    if str(error):
        yield Candidate("expect_error", kwargs={"match": _pattern(str(error))})


def _pattern(text: str) -> str:
    """A regular expression that finds a text, and is as readable as can be."""
    return "".join(f"\\{sign}" if sign in ".^$*+?{}[]\\|()" else sign for sign in text)


def _events(perturbation: Perturbation, run: Run) -> Iterator[Candidate]:
    if run.message is None:
        return
    bodies = tuple(run.stored)
    name = perturbation.change.path.lstrip(".").partition(".")[0].partition("[")[0]
    if perturbation.deed.target is Target.EVENT and name:
        for body in bodies:
            if type(body) is type(perturbation.deed.value) and name in {each for each, _, _ in fields_of(body)}:
                yield Candidate("expect_event", (type(body),), {name: getattr(body, name)})
    yield Candidate("expect_events", bodies) if bodies else Candidate("expect_no_events")


def _commands(run: Run) -> Iterator[Candidate]:
    sent = tuple(run.commands)
    yield Candidate("expect_commands", sent) if sent else Candidate("expect_no_commands")


def _states(run: Run, other: Run, around: Around) -> Iterator[Candidate]:
    own = run.reference if run.message is not None else None
    for reference in sorted(aggregates_of(run.session), key=lambda each: each != own):
        target = () if reference == own else (_instance(run, reference),)
        try:
            mine = run.aggregate_of(reference).state
            with around():
                theirs = other.aggregate_of(reference).state
        except Exception:  # noqa: BLE001, S112 - a sourcing function that fails on what it was given
            continue
        changed = _changed(mine, theirs)
        if changed:
            yield Candidate("expect_state", target, changed)
        elif not fields_of(mine):
            # A state without fields, such as a number.
            yield Candidate(
                "expect_state",
                (*target, lambda state, due=mine: state == due),
                condition=f"state == {_written(mine)}",
            )


def _instance(run: Run, reference: AggregateRef) -> On:
    root = run.session.metadata_of(reference.named_aggregate).command_class
    return on(root, reference.id)


def _changed(mine: Any, theirs: Any) -> dict[str, Any]:
    """The fields of a state that the perturbed run left otherwise, as they should be."""
    left = {name: value for name, value, _ in fields_of(theirs)}
    return {name: value for name, value, _ in fields_of(mine) if name not in left or left[name] != value}


def _views(run: Run, other: Run) -> Iterator[Candidate]:
    for projection in run.session.runtime.catalog.processors:
        mine, theirs = run.session.runtime.views.of(projection), other.session.runtime.views.of(projection)
        for view_id, row in mine.items():
            if view_id not in theirs or theirs[view_id] != row:
                yield Candidate("expect_view", (view_id, row), {"projection": projection})
        for view_id in theirs:
            if view_id not in mine:
                yield Candidate("expect_no_view", (view_id,), {"projection": projection})


def _histories(run: Run, other: Run) -> Iterator[Candidate]:
    for reference in run.session.runtime.event_store.aggregate_ids():
        bodies = stored(run.session, reference)
        if bodies != stored(other.session, reference):
            yield Candidate("expect_stored", (_instance(run, reference), *bodies))
    if run.all_events:
        yield Candidate("expect_all_events", tuple(run.all_events))


def _written(value: Any) -> str:
    if isinstance(value, On):
        return f"on({value.aggregate.__name__}, {quoted(value.id)})"
    return render(value, _LINE)
