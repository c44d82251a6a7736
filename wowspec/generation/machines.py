"""`state_machine(Order)`: Hypothesis plays sequences of commands, under faults; laws are its invariants."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ..errors import SpecError
from ..exploration.addresses import Selection
from ..exploration.run_laws import RUN_LAW_BY_NAME, require_run_law
from ..exploration.trial import Allowances
from ..exploration.witness import ports_of
from ..faults.plans import kinds_in_order
from ..modeling.aggregates import is_aggregate
from ..modeling.processors import processor_metadata
from ..specs.builder import Spec
from ..specs.execution import plan_of
from ..specs.nodes import Node, Subject
from ..specs.parts import profile_of
from ..specs.session import Profile
from ..world.points import COMMAND_VALIDATE, POINTS, FaultKind
from ..world.profiles import legal_kinds
from .games import Game, Rules, model_method
from .plans import require_max_faults
from .strategies import commands as commands_of

__tracebackhide__ = True


def state_machine(
    subject: Any,
    /,
    *,
    commands: Iterable[type] | st.SearchStrategy[Any] | None = None,
    faults: bool = True,
    model: Callable[[], Any] | None = None,
    max_steps: int = 12,
    max_faults: int = 1,
    points: Iterable[str] | None = None,
    kinds: Iterable[FaultKind | str] | None = None,
    profile: Profile | str | None = None,
    laws: bool | Iterable[str] = True,
    ambiguous: Iterable[type[BaseException]] = (),
    alternatives: Iterable[type] = (),
    name: str | None = None,
    **overrides: st.SearchStrategy[Any],
) -> Any:
    """Make a Hypothesis state machine of an aggregate; its `TestCase` is a test.

    It has one rule, which sends a command while faults strike. Laws that speak of every moment are invariants; in the
    end the world is drained, healed as the profile's runtime heals, and judged by all of them. What the runtime is
    known for fails nothing. A failure prints a test that can be pasted.

    Args:
        subject: the aggregate root, or a spec of one to begin with: processors, services (`inject_factory`), history.
        commands: their classes, or a strategy of commands; None: every command of the aggregate.
        faults: whether faults strike.
        model: a class, or another factory, of what the aggregate is compared with: for each command a method of its
            name, `pay_order(command, run)`, or one for all, `apply(command, run)`. It is called after the command, and
            asserts what it thinks of the run; under faults commands fail, so it asks `run.succeeded`, `run.stored`.
        max_steps: how many commands a run has at most.
        max_faults: how many faults strike at one command at most.
        points: texts of points, or their beginnings; None: all that a command passes.
        kinds: fault kinds; None: all that the profile allows.
        profile: in place of the spec's own.
        laws: whether laws are checked; or the names of those that are.
        ambiguous: classes of errors that say nothing of the outcome.
        alternatives: classes of commands that sagas may send in place of others.
        name: of the machine; by it Hypothesis keeps its examples.
        overrides: strategies of fields, as `commands(...)` takes them.

    Raises:
        SpecError: for what makes no sense.
    """
    require_max_faults(max_faults)
    root, aggregate = _root(subject)
    sent = _commands(aggregate, commands, overrides)
    known = [kind for kind in commands if isinstance(kind, type)] if isinstance(commands, list | tuple) else []
    if model is not None:
        for kind in known:
            model_method(model, kind)
    checked = frozenset(map(require_run_law, laws)) if not isinstance(laws, bool) else frozenset(RUN_LAW_BY_NAME)
    allowed = Allowances(tuple(ambiguous), tuple(alternatives), frozenset(RUN_LAW_BY_NAME) - checked)
    chosen = None if profile is None else profile_of(profile)
    called = name or f"{aggregate.__name__}Machine"
    rules = Rules(root, called, model, chosen, allowed, laws is not False)
    texts = _faults(root, chosen, Selection.of(points, kinds)) if faults else []
    return _machine(rules, sent, _lists(texts, max_faults), max_steps)


def _machine(rules: Rules, sent: st.SearchStrategy[Any], struck: st.SearchStrategy[Any], max_steps: int) -> Any:
    def begin(self: Any) -> None:
        RuleBasedStateMachine.__init__(self)
        self.game = Game(rules)

    def send(self: Any, command: Any, faults: tuple[str, ...]) -> None:
        _told(self.game, lambda: self.game.send(command, faults))

    def laws_hold(self: Any) -> None:
        _told(self.game, self.game.check)

    def teardown(self: Any) -> None:
        _told(self.game, self.game.end)

    body = {
        "__init__": begin,
        "__doc__": f"Sends commands of {rules.name.removesuffix('Machine')}, and judges what comes of them.",
        "send": rule(command=sent, faults=struck)(send),
        "laws_hold": invariant()(laws_hold),
        "teardown": teardown,
    }
    machine: Any = type(rules.name, (RuleBasedStateMachine,), body)
    machine.TestCase.settings = hypothesis.settings(machine.TestCase.settings, stateful_step_count=max_steps)
    return machine


def _told(game: Game, act: Callable[[], Any]) -> None:
    """Act; what fails in the example that Hypothesis will show is told with a test to paste."""
    __tracebackhide__ = True
    try:
        act()
    except Exception as error:
        if not game.failed and type(error).__module__.partition(".")[0] != "hypothesis":
            game.failed = True
            if getattr(current_build_context(), "is_final", True):
                lines = ["paste it as a test:", *(f"    {line}" for line in game.pasted().splitlines())]
                error.add_note("\n".join(lines))
        raise


def _root(subject: Any) -> tuple[Node, type]:
    if isinstance(subject, Spec):
        subject._node.has_child = True  # the machine goes on with it
        first: Any = subject._node.path()[0].step
        if isinstance(first, Subject) and first.cls is not None and is_aggregate(first.cls):
            return subject._node, first.cls
    elif is_aggregate(subject):
        return Node(None, Subject(subject)), subject
    raise SpecError(
        f"state_machine({subject!r})",
        why="a machine sends the commands of an aggregate",
        instead="state_machine(Order), or state_machine(spec(Order).using(OrderSaga))",
    )


def _commands(aggregate: type, said: Any, overrides: dict[str, Any]) -> st.SearchStrategy[Any]:
    if isinstance(said, st.SearchStrategy):
        if overrides:
            raise SpecError(
                f"state_machine(commands=a strategy, {next(iter(overrides))}=...)",
                why="a strategy draws whole commands",
                instead="commands=[PayOrder], with strategies for its fields",
            )
        return said
    return commands_of(aggregate, only=said, **overrides)


def _faults(root: Node, profile: Profile | None, selection: Selection) -> list[str]:
    """What may strike while a command is on its way: points in pipeline order, the simplest kinds first."""
    nodes = root.path()
    plan, _ = plan_of(nodes)
    ports = ports_of(profile or plan.profile)
    points: list[str] = []
    for row in POINTS:
        if row.name == COMMAND_VALIDATE or row.name.startswith(("service", "saga")):
            continue
        points += [row.name] if not row.part else list(_parts(row.name, plan.held_parts()))
    return [
        f"{point}={kind.value}"
        for point in points
        if selection.takes_point(point)
        for kind in kinds_in_order(legal_kinds(point, ports))
        if kind is not FaultKind.RIVAL and (selection.kinds is None or kind in selection.kinds)
    ]


def _parts(name: str, parts: Iterable[Any]) -> Iterable[str]:
    if name == "wait.notify":
        yield "wait.notify:PROCESSED"
    if name == "event.deliver":
        for part in parts:
            if not is_aggregate(part):
                metadata = processor_metadata(part)
                for function in metadata.functions:
                    yield f"event.deliver:{metadata.name}.{function.info.name}"


def _lists(texts: list[str], max_faults: int) -> st.SearchStrategy[tuple[str, ...]]:
    """A few faults, mostly none; of a fixed number of choices, as plans are."""
    if not texts or not max_faults:
        return st.just(())
    number = st.integers(0, 3 * len(texts))

    def chosen(drawn: tuple[int, ...]) -> tuple[str, ...]:
        found = {texts[place - 1].partition("=")[0]: texts[place - 1] for place in drawn if 0 < place <= len(texts)}
        return tuple(found.values())

    return st.tuples(*[number] * max_faults).map(chosen)
