"""`@failure_orderings`: a property of every failure ordering; Hypothesis draws the plans, and shrinks them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any, Final

import hypothesis
from hypothesis import strategies as st
from hypothesis.control import current_build_context

from ..errors import PlanNotReached, SpecError, SpecFailure
from ..exploration.addresses import Selection
from ..exploration.collected import demands
from ..exploration.decorator import ATTRIBUTE
from ..exploration.run_laws import RUN_LAW_BY_NAME, Broken, require_run_law
from ..exploration.trial import Allowances
from ..faults.plans import Plan, nearest
from ..modeling.aggregates import is_aggregate
from ..modeling.processors import is_processor
from ..specs.builder import Spec
from ..specs.nodes import Node, Subject
from ..specs.parts import profile_of
from ..specs.session import Profile
from ..world.copying import deep_copy
from ..world.points import FaultKind
from ..world.schedules import Schedule, parse_schedule, schedule_text
from .calling import Asked, Called, Calls, is_of_hypothesis
from .judging import Blame, struck_faults
from .plans import require_max_faults
from .schedules import drawn_schedules
from .telling import minimal, pins, shown_trial, story, test_name

__tracebackhide__ = True


_SCHEDULES: Final = drawn_schedules()


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn for `ordering`; reads as `@hypothesis.example(ordering=...)` takes it.

    Attributes:
        plan: the faults.
        schedule: the order of commands in flight.
    """

    plan: Plan
    schedule: Schedule = ()

    def __repr__(self) -> str:
        if not self.schedule:
            return repr(str(self.plan))
        return repr((str(self.plan), schedule_text(self.schedule)))

    def _repr_pretty_(self, printer: Any, cycle: Any) -> None:  # noqa: ARG002
        printer.text(repr(self))

    @staticmethod
    def read(said: Any) -> Drawn:
        """What an explicit example says: a plan, or a plan and a schedule.

        Raises:
            SpecError: if it is neither.
        """
        if isinstance(said, Drawn):
            return said
        plan: Any = said
        schedule = ""
        if isinstance(said, tuple) and len(said) == 2:
            plan, schedule = said
        if isinstance(plan, Plan):
            return Drawn(plan, parse_schedule(schedule))
        return Drawn(Plan.parse(plan), parse_schedule(schedule))


@dataclass(slots=True, eq=False)
class Property:
    """What is asked of one test.

    Attributes:
        function: the test as its author wrote it.
        name: of its first parameter, which gets a driven spec.
        asked: how it is called.
        extras: strategies of what else is drawn, by the names of parameters.
        max_faults: how many faults a plan has at most.
        schedules: whether the order of commands in flight is drawn, too.
    """

    function: Callable[..., Any]
    name: str
    asked: Asked
    extras: dict[str, st.SearchStrategy[Any]]
    max_faults: int
    schedules: bool
    #: Arguments that do not come from Hypothesis: an instance, fixtures, parameters.
    _args: tuple[Any, ...] = ()
    _fixtures: dict[str, Any] = field(default_factory=dict)
    _calls: Calls | None = None

    def strategies(self) -> dict[str, st.SearchStrategy[Any]]:
        """What `@hypothesis.given` draws. The faults depend on the way that the other values lead."""
        # Shared, so that the fault-free run sees the values that the test will get.
        shared = {name: st.shared(each, key=(self, name)) for name, each in self.extras.items()}

        @st.composite
        def ordering(draw: st.DrawFn) -> Drawn:
            values = {name: draw(each) for name, each in shared.items()}
            asked = demands().plan
            if asked is not None:
                return Drawn(asked)
            calls = self._learned(values)
            if calls is None:
                return Drawn(Plan())
            plan = draw(calls.plans(self.max_faults))
            schedule = draw(_SCHEDULES) if self.schedules and calls.is_concurrent else ()
            return Drawn(plan, schedule)

        return {self.name: ordering(), **shared}

    def _learned(self, values: dict[str, Any]) -> Calls | None:
        """The calls with these values; None if the function fails without any fault: the test will show it."""
        try:
            return self.calls(values)
        except (SpecError, SpecFailure, AssertionError):
            return None
        except Exception as error:
            if is_of_hypothesis(error):
                raise
            return None

    def calls(self, values: dict[str, Any]) -> Calls:
        """The calls with drawn values; kept where nothing else is drawn."""
        __tracebackhide__ = True
        if not self.extras and self._calls is not None:
            return self._calls
        args, fixtures = self._args, self._fixtures

        def function(spec: Spec[Any]) -> Any:
            __tracebackhide__ = True
            return self.function(*args, **{self.name: spec}, **fixtures, **_copies(values))

        calls = Calls(function, self.asked, probes=not self.extras)
        if not self.extras:
            self._calls = calls
        return calls

    def begin(self, args: tuple[Any, ...], fixtures: dict[str, Any]) -> None:
        """A test with these fixtures begins."""
        self._args, self._fixtures, self._calls = args, fixtures, None

    def example(self, said: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """One example: call the function under the plan, judge what came of it.

        Raises:
            SpecFailure: if a law breaks that is due to the domain.
            PlanNotReached: for a plan that the author wrote, and that does not strike whole.
            Exception: what the function raises.
        """
        __tracebackhide__ = True
        drawn = Drawn.read(said)
        if self._calls is None and not self.extras:
            fixtures = {name: value for name, value in kwargs.items() if name not in self.extras}
            self._args, self._fixtures = args, fixtures
        values = {name: kwargs[name] for name in self.extras}
        calls = self.calls(values)
        explicit = not isinstance(said, Drawn) or demands().plan is not None
        called = calls.call(drawn.plan, drawn.schedule, record=explicit)
        self._observe(called, drawn.plan)
        if explicit:
            _require_reached(called, drawn.plan)
        final = explicit or _is_final()
        if called.error is not None:
            if final and not is_of_hypothesis(called.error):
                self._annotate(calls, drawn, values, called.error)
            raise called.error
        if not self.asked.laws:
            return
        blame = calls.judge_of(drawn.schedule).judged(drawn.plan, called.trials).blame
        if blame is not None:
            raise SpecFailure(self._blamed(blame, drawn, values) if final else blame.broken[0].law)

    def _observe(self, called: Called, plan: Plan) -> None:
        if not hypothesis.currently_in_test_context():
            return
        struck = struck_faults(called.trials)
        hypothesis.target(float(len(struck)), label="faults that struck")
        for fault in struck:
            hypothesis.event(str(fault))
        if not plan:
            hypothesis.event("no fault")

    # --- telling ------------------------------------------------------------------------------------------------------

    def _annotate(self, calls: Calls, drawn: Drawn, values: dict[str, Any], error: Exception) -> None:
        """Tell of an assertion of the test's own, that fails under faults alone."""

        def fails(plan: Plan) -> bool:
            return type(calls.call(plan, drawn.schedule).error) is type(error)

        plan = minimal(drawn.plan, fails)
        called = calls.call(plan, drawn.schedule)
        trial = shown_trial(called.trials)
        if trial is None or not (plan or drawn.schedule):
            return
        test = test_name(self.function)
        broken = [Broken("assertion", f"{type(error).__name__}: {error}")]
        lines = story(plan, trial, broken, test)
        lines += pins(self.name, plan, drawn.schedule, values, trial, test, own=True)
        error.add_note("\n".join(lines))

    def _blamed(self, blame: Blame, drawn: Drawn, values: dict[str, Any]) -> str:
        test = test_name(self.function)
        lines = story(blame.plan, blame.trial, blame.broken, test)
        lines += pins(self.name, blame.plan, drawn.schedule, values, blame.trial, test, own=False)
        return "\n".join(lines)


def _is_final() -> bool:
    """Whether the example that runs is the one that Hypothesis will show: shrunk, and run a last time."""
    return bool(getattr(current_build_context(), "is_final", True))


def _copies(values: dict[str, Any]) -> dict[str, Any]:
    """Copies of drawn values: one call must not see what another did to them."""
    found = {}
    for name, value in values.items():
        try:
            found[name] = deep_copy(value, {})
        except Exception:  # noqa: BLE001 - whatever a value raises that cannot be copied
            found[name] = value
    return found


def _require_reached(called: Called, plan: Plan) -> None:
    struck = set(struck_faults(called.trials))
    missing = [fault for fault in plan if fault not in struck]
    if not missing:
        return
    reached = [address for trial in called.trials for address, _ in trial.played.armory.reached or ()]
    lines = [f"the plan was not reached whole: {plan}"]
    for fault in missing:
        near = ", ".join(map(str, nearest(fault.address, reached))) or "nothing"
        lines.append(f"  never reached: {fault.address}; near it: {near}")
    lines.append("  why: a plan that no longer strikes proves nothing: the test has changed since it was made")
    lines.append("  instead: the address of a visit that is made, or no plan")
    raise PlanNotReached("\n".join(lines))


def failure_orderings(
    subject: Any = None,
    /,
    *,
    max_faults: int = 3,
    points: Iterable[str] | None = None,
    kinds: Iterable[FaultKind | str] | None = None,
    profile: Profile | str | None = None,
    laws: bool | Iterable[str] = True,
    schedules: bool = False,
    ambiguous: Iterable[type[BaseException]] = (),
    alternatives: Iterable[type] = (),
    **extras: st.SearchStrategy[Any],
) -> Any:
    """Make a Hypothesis test of a function: `ordering`, else its first parameter, gets a spec that runs under
    a drawn plan of faults.

        @failure_orderings(Order, amount=st.integers(1, 9))
        def test_no_payment_is_lost(ordering, amount):
            run = ordering.given(OrderCreated(...)).when(PayOrder(amount=amount)).run()
            assert run.stored.count(OrderPaid) <= 1

    What its verbs expect is judged in the run without faults; under faults count its own `assert`s, the laws, `always`
    and `eventually`. It fails with the fewest faults, of the simplest kinds.

    Args:
        subject: the aggregate root or processor that the spec is about, or a spec to begin with; None: nothing.
        max_faults: how many faults a plan has at most.
        points: texts of points, or their beginnings: `["event_store", "domain_event_bus.send"]`; None: all.
        kinds: fault kinds; None: all that the profile allows.
        profile: in place of the spec's own.
        laws: whether laws that break fail the test, unless the runtime is known for it; or the names of those that are
            checked.
        schedules: whether the order of commands in flight (`when_concurrently`) is drawn, too.
        ambiguous: classes of errors that say nothing of the outcome.
        alternatives: classes of commands that sagas may send in place of others.
        extras: strategies for other parameters of the function.

    Raises:
        SpecError: for what makes no sense.
    """
    require_max_faults(max_faults)
    for name, each in extras.items():
        if not isinstance(each, st.SearchStrategy):
            raise SpecError(
                f"failure_orderings({name}={each!r})",
                why="what is no option of it is a strategy for the test's parameter of that name",
                instead=f"{name}=st.integers(1, 9)",
            )
    checked = frozenset(map(require_run_law, laws)) if not isinstance(laws, bool) else None
    off = frozenset() if checked is None else frozenset(RUN_LAW_BY_NAME) - checked
    allowed = Allowances(tuple(ambiguous), tuple(alternatives), off)
    said = None if profile is None else profile_of(profile)
    # What a rival stores is right, and the function's own assertions know nothing of it.
    selection = replace(Selection.of(points, kinds), rivals=False)

    def decorate(function: Callable[..., Any], root: Node) -> Callable[..., Any]:
        asked = Asked(root, said, selection, allowed, laws is not False)
        name = _parameter(function, extras)
        return _test_of(Property(function, name, asked, extras, max_faults, schedules))

    if inspect.isfunction(subject) and not is_aggregate(subject):
        return decorate(subject, Node(None, Subject(None)))
    root = _root(subject)
    return lambda function: decorate(function, root)


def _root(subject: Any) -> Node:
    if isinstance(subject, Spec):
        subject._node.has_child = True  # the test goes on with it
        return subject._node
    if subject is None or is_aggregate(subject) or is_processor(subject):
        return Node(None, Subject(subject))
    raise SpecError(
        f"failure_orderings({subject!r})",
        why="an ordering begins with an aggregate root, a processor, or a spec",
        instead="@failure_orderings(Order), or @failure_orderings(spec(Order).using(OrderSaga))",
    )


def _parameter(function: Callable[..., Any], extras: dict[str, Any]) -> str:
    """The name of the parameter that gets the spec."""
    if getattr(function, "is_hypothesis_test", False):
        raise SpecError(
            f"@failure_orderings above @given of {function.__name__}",
            why="it is a @given itself: Hypothesis draws everything together",
            instead="@failure_orderings(Order, amount=st.integers(1, 9)) alone: further strategies are keywords of it",
        )
    names = list(inspect.signature(function).parameters)
    own = names[1:] if names[:1] == ["self"] else names
    name = "ordering" if "ordering" in own else own[0] if own else ""
    missing = [extra for extra in extras if extra not in own or extra == name]
    if not name or missing:
        raise SpecError(
            f"@failure_orderings above {function.__name__}({', '.join(names)})"
            + (f", which takes no {missing[0]}" if missing else ", which takes no spec"),
            why="`ordering`, else its first parameter, gets a spec that runs under faults; strategies go to the others",
            instead=f"def {function.__name__}({', '.join(['ordering', *extras])}): ...",
        )
    return name


def _test_of(wanted: Property) -> Callable[..., Any]:
    function = wanted.function

    @functools.wraps(function)
    def example(*args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        wanted.example(kwargs.pop(wanted.name), args, kwargs)

    drawing: Any = hypothesis.given(**wanted.strategies())(example)

    def test(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        wanted.begin(args, kwargs)
        plan = demands().plan
        if plan is not None and not wanted.extras:
            return wanted.example(plan, args, kwargs)
        if not wanted.extras:
            # Outside of any example: what it costs is no example's.
            wanted.calls({})
        return drawing(*args, **kwargs)

    # One and the same test to Hypothesis: what `@settings`, `@example` and their like write on one is read from it.
    test.__dict__ = drawing.__dict__
    for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(test, attribute, getattr(function, attribute))
    test.__signature__ = inspect.signature(drawing)  # type: ignore[attr-defined]
    setattr(test, ATTRIBUTE, wanted)
    # Where its author wrote it: pytest shows this place, and cuts tracebacks there.
    code: CodeType = function.__code__
    test.__code__ = test.__code__.replace(co_filename=code.co_filename, co_firstlineno=code.co_firstlineno)
    return test
