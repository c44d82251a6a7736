"""`@explore_faults`: a test that is called again under every plan, and judged by the laws."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Never

from ..errors import SpecError, SpecFailure
from ..faults.plans import Plan, plan_of
from ..specs import injecting, tracking
from ..specs.builder import Spec, spec as make_spec
from ..specs.placing import is_placed, place_of_function, raise_at
from ..specs.session import Profile
from ..world.points import FaultKind
from .collected import current_test, demands, note
from .driver import FunctionPlayer
from .explore import SOUGHT, SpecExploration, require_nothing_found
from .playing import Way
from .results import ResultJson, vanished_from_test
from .serving import PLANS, Plans
from .settings import Settings, settings

#: Where a decorated test keeps what is asked of it.
ATTRIBUTE: Final = "wowspec_exploration"


@dataclass(slots=True)
class Exploration:
    """What is asked of one test.

    Attributes:
        function: the test as its author wrote it: its first parameter gets a spec.
        subject: what the spec is about, if anything.
        said: how it is explored.
    """

    function: Callable[..., Any]
    subject: type | None
    said: Settings

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Call the test without faults, then under every plan.

        Raises:
            SpecFailure: for what was found, at the test.
        """
        __tracebackhide__ = True
        try:
            self._run(args, kwargs)
        except (SpecError, SpecFailure) as error:
            if is_placed(error):
                raise
            raise_at(place_of_function(_author_of(self.function)), error)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        __tracebackhide__ = True
        asked = demands()
        test = current_test() or self.function.__qualname__
        said = replace(
            self.said,
            shard=asked.shard,
            expected=(*self.said.expected, *asked.baseline.get(test, ())),
            tells_known=asked.strict or asked.plan is not None,
            draws=asked.draws,
        )

        def function(spec: Spec[Any]) -> Any:
            return self.function(spec, *args, **kwargs)

        injecting.want_kept()
        try:
            if asked.serve is not None:
                makers = [
                    functools.partial(SpecExploration, way, said, test, place, self._player(function, place))
                    for place, way in enumerate(self._ways(function, said))
                ]
                asked.serve({PLANS: Plans(makers)})
                return
            results = [
                self._explore(way, said, test, place, function) for place, way in enumerate(self._ways(function, said))
            ]
        finally:
            injecting.no_longer_want_kept()
        vanished_from_test(results)
        for result in results:
            note(result)
        if asked.writes_baseline:
            return
        for result in results:
            require_nothing_found(result, strict=asked.strict or asked.plan is not None)

    def _explore(
        self, way: Way, said: Settings, test: str, place: int, function: Callable[[Spec[Any]], Any]
    ) -> ResultJson:
        player = self._player(function, place)
        asked = demands()
        if asked.plan is None:
            return asked.run(SpecExploration(way, said, test, place, player))
        return SpecExploration(way, replace(said, expected=()), test, place, player).replay(asked.plan)

    def _player(self, function: Callable[[Spec[Any]], Any], place: int) -> FunctionPlayer:
        return FunctionPlayer(function, self.subject, place)

    def _ways(self, function: Callable[[Spec[Any]], Any], said: Settings) -> list[Way]:
        """The ways that the test goes when nothing goes wrong; it is judged as any other."""
        __tracebackhide__ = True
        with tracking.aside() as tracker:
            made = make_spec(self.subject) if self.subject is not None else make_spec()
            made._node.place = place_of_function(self.function)
            answer = function(made)
            if inspect.iscoroutine(answer):
                answer.close()
                raise SpecError(
                    f"@explore_faults above the coroutine function {self.function.__name__}",
                    why="it is called again for each plan, by a world that runs no event loop",
                    instead="def instead of async def: handlers may be coroutines all the same",
                )
            tracker.finish(self.function)
            paths = tracking.paths(tracker)
        tracking.note_inner(tracker)
        if not paths:
            raise SpecError(
                f"{self.function.__name__} under @explore_faults runs nothing",
                why="faults strike while commands run",
                instead="spec.given(...).when(SomeCommand(...)).always(...) in it",
            )
        return [Way(tuple(path), said.profile, SOUGHT) for path in paths]


class _ExploreFaults:
    """The decorator; `explore_faults.example(plan)` pins one plan."""

    def __call__(
        self,
        subject: Any = None,
        /,
        *,
        depth: int = 1,
        points: Iterable[str] | None = None,
        kinds: Iterable[FaultKind | str] | None = None,
        max_runs: int | None = None,
        max_seconds: float | None = None,
        profile: Profile | str | None = None,
        recovery: str | Iterable[str] | None = None,
        expected: Iterable[str] = (),
        ambiguous: Iterable[type[BaseException]] = (),
        alternatives: Iterable[type] = (),
        without_laws: Iterable[str] = (),
    ) -> Any:
        """Call a test again under every plan of faults, and judge each run by the laws.

        The test's first parameter gets a spec. What its verbs expect describes the fault-free run; under faults count
        the laws, `always`, `eventually` and the test's own `assert`s.

        Args:
            subject: the aggregate root or processor that the spec is about, if any.
            depth: how many faults a plan has at most.
            points: texts of points, or their beginnings: `["event_store", "domain_event_bus.send"]`; None: all.
            kinds: fault kinds; None: all that the profile allows.
            max_runs: how many runs at most; what is left out is told.
            max_seconds: how long at most, in real seconds.
            profile: in place of the spec's own.
            recovery: what the application does after something went wrong: `redelivery`, `client retry`, `resend`,
                `restart`; None: what the profile's runtime does by itself.
            expected: findings that are known: `["PlaceOrder/event_store.append@1=ack_lost → publication"]`.
            ambiguous: classes of errors that say nothing of the outcome.
            alternatives: classes of commands that sagas may send in place of others.
            without_laws: names of laws that are not checked.

        Raises:
            SpecError: for what makes no sense.
        """
        said = settings(
            depth=depth,
            points=points,
            kinds=kinds,
            max_runs=max_runs,
            max_seconds=max_seconds,
            profile=profile,
            recovery=recovery,
            expected=expected,
            ambiguous=ambiguous,
            alternatives=alternatives,
            without_laws=without_laws,
        )
        if inspect.isfunction(subject):
            return _decorated(subject, None, said)
        return lambda function: _decorated(function, subject, said)

    @staticmethod
    def example(plan: Plan | str, **unknown: Never) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Run one plan in any case; above a plain test, that plan alone.

        Raises:
            SpecError: if the plan cannot be read, or anything is said besides.
        """
        __tracebackhide__ = True
        if unknown:
            name = next(iter(unknown))
            raise SpecError(
                f"explore_faults.example(..., {name}=...): an example is a plan, and nothing else",
                why="how a test is explored is said of the test, whose worlds the spec itself makes",
                instead='spec.with_profile("kafka") in the test'
                if name == "profile"
                else f"@explore_faults({name}=...) below it",
            )
        one = plan_of(plan)

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            known: Exploration | None = getattr(function, ATTRIBUTE, None)
            if known is None:
                return _decorated(function, None, Settings(depth=0, examples=(one,)))
            known.said = known.said.with_example(one)
            return function

        return decorate


def _decorated(function: Callable[..., Any], subject: type | None, said: Settings) -> Callable[..., Any]:
    known: Exploration | None = getattr(function, ATTRIBUTE, None)
    if known is not None:
        known.said = replace(said, examples=known.said.examples)
        known.subject = subject
        return function
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    own = 1 if parameters and parameters[0].name == "self" else 0
    if len(parameters) <= own:
        raise SpecError(
            f"@explore_faults above {function.__name__}(), which takes no spec",
            why="the test is called again for each plan, each time with a spec of its own",
            instead=f"def {function.__name__}(spec): spec.given(...).when(...)",
        )
    exploration = Exploration(function, subject, said)

    @functools.wraps(function)
    def test(*args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        if own:
            bound = replace(exploration, function=functools.partial(_bound, function, args[0]))
            bound.run(args[1:], kwargs)
        else:
            exploration.run(args, kwargs)

    del parameters[own]
    test.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    del test.__wrapped__  # pytest would look through it, and take the spec for a fixture
    setattr(test, ATTRIBUTE, exploration)
    return test


def _author_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as its author wrote it, of one that is bound to an instance."""
    return function.args[0] if isinstance(function, functools.partial) else function


def _bound(function: Callable[..., Any], instance: Any, spec: Spec[Any], *args: Any, **kwargs: Any) -> Any:
    return function(instance, spec, *args, **kwargs)


explore_faults: Final = _ExploreFaults()
