"""The expectation verbs after `when_concurrently(...)`: each speaks of every outcome that was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, TypeVar

from ..errors import SpecError, SpecFailure
from . import (
    compared,
    downstream_expectations as on_downstream,
    event_expectations as on_events,
    outcome_expectations as on_outcome,
)
from .concurrency import Concurrency, explore, is_conflict
from .concurrent_texts import blamed, is_one_of, sides_of_outcome, unlike
from .conditions import first_breach, require_condition
from .interleaving import command_line, interleaving, told
from .items import On
from .layout import several
from .misspelt import no_verb
from .nodes import Node
from .outcomes import Outcome
from .recorded import ConditionKind, recording
from .render import BRIEF, render
from .requirements import require_number, require_some
from .run import PROGRAMMING_ERRORS, Run
from .sides import Sides, failure
from .tracking import note_cut_off, watch
from .verdicts import undecided_text, unseen_text
from .world_view import WorldView

S = TypeVar("S")


@recording
class ConcurrentSpec(Generic[S]):
    """What can be expected of commands that were in flight together. `S` is the state's class.

    Every verb holds for all outcomes of all orders that were run; a failure shows one of them, and the line that runs
    it again. An error is decided by a verb that speaks of it; a spec in which one is left undecided fails.
    """

    __slots__ = ("_found", "_node", "_told")

    def __init__(self, node: Node) -> None:
        self._node = node
        self._found: Concurrency | None = None
        self._told = False

    if not TYPE_CHECKING:
        __getattr__ = no_verb("a spec of commands in flight together")

    def run(self) -> Concurrency:
        """Run the orders (once) and give what came of them.

        Raises:
            SpecFailure: if a law is broken in any of them, or something that was given failed.
        """
        __tracebackhide__ = True
        self._node.judged = True
        found = self._found
        if found is None:
            watch(self)
            try:
                found = self._found = explore(self._node)
                if not found.is_complete and found.step.schedule is None:
                    note_cut_off(f"{self._node.where()}{found.explored}")
            except (SpecError, SpecFailure) as error:
                raise error.with_traceback(None) from error.__cause__
        for outcome in found.outcomes:
            breaches = outcome.runs[0].breaches
            if breaches:
                self._fail("\n".join(breach.text for breach in breaches), outcome)
        return found

    # --- all outcomes -------------------------------------------------------------------------------------------------

    def expect_serializable(self) -> Self:
        """Each outcome is that of some order of the commands, one after another.

        A command that lost, was told so by a typed conflict or duplicate error, and stored nothing, may be left out.
        What services remember is not compared: `expect_one_of(lambda outcome: outcome.service(Till).money == 20)`.
        """
        __tracebackhide__ = True
        found = self.run()
        for outcome in found.outcomes:
            order = found.order_like(outcome)
            if order is None:
                self._fail(self._unserializable(found, outcome), outcome)
            for place, run in enumerate(outcome.runs):
                if place not in order or not isinstance(run.error, PROGRAMMING_ERRORS):
                    run.decided = True
        return self

    def expect_state(
        self, target: On | Callable[[S], Any] | None = None, that: Callable[[S], Any] | None = None, /, **fields: Any
    ) -> Self:
        """In each outcome the state has these fields, and a function says yes to a copy of it.

        Args:
            target: `on(T, id)`, where the commands are for several aggregates; or the function.
            that: the function, after a target.
            fields: field → value or matcher; other fields may be anything.
        """
        __tracebackhide__ = True
        where, function = (target, that) if isinstance(target, On) else (None, target)
        return self._each(
            lambda run: on_events.state(run, where, function, fields),
            lambda run: compared.state(run, where, fields),
            named=where is not None,
        )

    def expect_state_aggregate(self, target: On | None = None, /, **fields: Any) -> Self:
        """In each outcome this is known of the aggregate beside its state: `version`, `owner_id`, `deleted`, …."""
        __tracebackhide__ = True
        return self._each(
            lambda run: on_events.state_aggregate(run, target, fields),
            lambda run: compared.state_aggregate(run, target, fields),
            named=target is not None,
        )

    def expect_version(self, version: int) -> Self:
        """In each outcome this is the stored head of the aggregate."""
        __tracebackhide__ = True
        require_number("expect_version", version, least=0)
        return self._each(
            lambda run: on_events.version(run, version), lambda run: compared.count(version, on_events.head(run))
        )

    def expect_events(self, *events: Any) -> Self:
        """In each outcome exactly these events were stored: by aggregate, the commands' own first, in their order."""
        __tracebackhide__ = True
        require_some("expect_events", events, "expect_no_events()")
        return self._one_of((events,))

    def expect_no_events(self) -> Self:
        """In no outcome was any event stored."""
        __tracebackhide__ = True
        return self._event_count(0)

    def expect_event_count(self, count: int) -> Self:
        """In each outcome so many events were stored."""
        __tracebackhide__ = True
        require_number("expect_event_count", count, least=0)
        return self._event_count(count)

    def _event_count(self, count: int) -> Self:
        __tracebackhide__ = True
        for outcome in self.run().outcomes:
            stored = len(outcome.events)
            if stored != count:
                text = f"{several(stored, 'event')} stored, expected {count}: {render(list(outcome.events))}"
                self._fail(text, outcome, partial(compared.count, count, stored))
        return self

    def expect_stored(self, target: On, *history: Any) -> Self:
        """In each outcome these events are an instance's whole history: `expect_stored(on(T, id), ...)`."""
        __tracebackhide__ = True
        if not isinstance(target, On):
            raise SpecError(
                f"expect_stored({render(target, BRIEF)})",
                why="the commands may be for several aggregates",
                instead="expect_stored(on(Account, 'a-1'), *its_whole_history)",
            )
        wanted = on_events.with_types(history)
        return self._each(
            lambda run: on_events.history(run, target, wanted),
            lambda run: compared.history(run, target, wanted),
            named=True,
        )

    def expect_one_of(self, *alternatives: Any) -> Self:
        """Each outcome is one of these.

        Args:
            alternatives: each a list of all stored events (by aggregate, the commands' own first), or a function of the
                outcome that says yes or no.
        """
        __tracebackhide__ = True
        require_some("expect_one_of", alternatives, "expect_no_events()")
        for alternative in alternatives:
            if not callable(alternative) and not isinstance(alternative, list | tuple):
                raise SpecError(
                    f"expect_one_of({render(alternative, BRIEF)})",
                    why="an outcome is told by all of its stored events, or by a function of it",
                    instead="expect_one_of([Withdrawn(amount=80)], [Withdrawn(amount=70)])",
                )
        return self._one_of(alternatives)

    def _one_of(self, alternatives: Sequence[Any]) -> Self:
        __tracebackhide__ = True
        found = self.run()
        for outcome in found.outcomes:
            if not is_one_of(outcome, alternatives):
                text = unlike(outcome, alternatives)
                in_turn = found.in_order(tuple(range(len(outcome.runs))))
                who = blamed(outcome, in_turn=is_one_of(in_turn, alternatives))
                self._fail(text + who, outcome, partial(sides_of_outcome, outcome, alternatives))
        return self

    def expect_view(
        self,
        view_id: str,
        that: Callable[[Any], Any] | object = None,
        /,
        *,
        projection: type | None = None,
        **fields: Any,
    ) -> Self:
        """In each outcome a projection's row has these fields, and a function says yes to it; or it is a value."""
        __tracebackhide__ = True

        def judge(run: Run) -> str | None:
            return on_downstream.view(
                run, on_downstream.projection_of(run, self._node, projection), view_id, that, fields
            )

        return self._each(judge, named=True)

    def expect_no_view(self, view_id: str, /, *, projection: type | None = None) -> Self:
        """In no outcome does a projection keep such a row."""
        __tracebackhide__ = True

        def judge(run: Run) -> str | None:
            cls = on_downstream.projection_of(run, self._node, projection, "expect_no_view")
            return on_downstream.no_view(run, cls, view_id)

        return self._each(judge, named=True)

    def eventually(self, condition: Callable[[WorldView], Any], name: str | None = None) -> Self:
        """In each outcome, when the world is at rest, a function of it says yes.

        Args:
            condition: says yes or no, or raises `AssertionError`.
            name: what a failure calls it, beside its source.
        """
        __tracebackhide__ = True
        wanted = require_condition(ConditionKind.EVENTUALLY, condition, name)
        return self._each(lambda run: first_breach(run.session, [wanted], wanted.kind, "at rest"), named=True)

    # --- what the senders were told -----------------------------------------------------------------------------------

    def expect_succeeded(self, *, times: int | None = None) -> Self:
        """In each outcome so many commands succeeded; all of them, if no number is said."""
        __tracebackhide__ = True
        wanted = len(self.run().step.commands) if times is None else times
        require_number("expect_succeeded", wanted, least=0, name="times=")
        for outcome in self.run().outcomes:
            done = sum(1 for run in outcome.runs if run.succeeded)
            if done != wanted:
                self._fail(f"{done} of {len(outcome.runs)} commands succeeded, expected {wanted}", outcome)
        return self

    def expect_error(
        self,
        kind: type[BaseException] | None = None,
        *,
        match: str | None = None,
        code: str | None = None,
        times: int | None = None,
    ) -> Self:
        """In each outcome so many commands failed like this; without a number, some command did in some outcome.

        Args:
            kind: class of the original error; a handler's bug must be named by its type.
            match: searched in its text (a regular expression).
            code: its error code.
            times: how many commands, in each outcome.
        """
        __tracebackhide__ = True
        if times is not None:
            require_number("expect_error", times, least=0, name="times=")
        total = 0
        outcomes = self.run().outcomes
        for outcome in outcomes:
            failed = sum(1 for run in outcome.runs if on_outcome.error(run, kind, match, code) is None)
            total += failed
            if times is not None and failed != times:
                self._fail(f"{failed} commands failed as expected, in each outcome {times} should", outcome)
        if times is None and not total:
            self._fail("no command failed as expected in any outcome", outcomes[0])
        return self

    def expect_downstream_error(
        self,
        source: type,
        kind: type[BaseException] | None = None,
        *,
        match: str | None = None,
        code: str | None = None,
    ) -> Self:
        """In some outcome a command that followed, or a function of a processor (its class), failed so."""
        __tracebackhide__ = True
        found = 0
        outcomes = self.run().outcomes
        for outcome in outcomes:
            run = outcome.runs[0]
            # Each by itself: in one outcome several may have failed alike.
            for index, entry in enumerate(run.logged):
                alone = replace(run, logged=[entry], excused=set())
                if on_outcome.downstream_error(alone, source, kind, match, code) is None:
                    run.excused.add(index)
                    found += 1
        if not found:
            self._fail(f"in no outcome did anything of {source.__name__} fail so downstream", outcomes[0])
        return self

    def expect_any_outcome(self) -> Self:
        """Success, failure and an unknown outcome are all right for each command; a handler's bug is not."""
        __tracebackhide__ = True
        for outcome in self.run().outcomes:
            for run in outcome.runs:
                text = on_outcome.any_outcome(run)
                if text is not None:
                    self._fail(text, outcome)
        return self

    def expect_complete(self) -> Self:
        """Every order was run that makes a difference: no bound cut anything off."""
        __tracebackhide__ = True
        found = self.run()
        if not found.is_complete:
            self._told = True
            raise SpecFailure(
                f"not every order was run: {found.explored}\n"
                "  instead: larger bounds, when_concurrently(..., max_schedules=...), or fewer commands"
            )
        return self

    # --- when the test ends -------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Require that every error was decided.

        Raises:
            SpecFailure: for the first that was not; not if a failure was told already.
        """
        __tracebackhide__ = True
        if self._found is None or self._told:
            return
        for outcome in self._found.outcomes:
            for run in outcome.runs:
                if run.error is not None and not run.decided:
                    self._fail(undecided_text(run, run.error), outcome, timeline=False)
            for entry in outcome.unseen():
                self._fail(unseen_text(outcome.runs[0], entry), outcome, timeline=False)

    def abandon(self) -> None:
        """Nothing moves in the worlds any more."""

    # --- judging ------------------------------------------------------------------------------------------------------

    def _each(
        self,
        judge: Callable[[Run], str | None],
        sides: Callable[[Run], Sides | None] | None = None,
        *,
        named: bool = False,
    ) -> Self:
        __tracebackhide__ = True
        for outcome in self.run().outcomes:
            run = outcome.runs[0] if named else outcome.run_of_reference()
            text = judge(run)
            if text is not None:
                self._fail(text, outcome, None if sides is None else partial(sides, run))
        return self

    def _fail(
        self,
        text: str,
        outcome: Outcome,
        sides: Callable[[], Sides | None] | None = None,
        *,
        timeline: bool = True,
    ) -> NoReturn:
        __tracebackhide__ = True
        found = self._found
        assert found is not None
        self._told = True
        names = self._node.branch_names()
        total = len(found.outcomes)
        place = next((place for place, other in enumerate(found.outcomes) if other is outcome), 0) + 1
        parts = [f"in branch {' > '.join(names)}: {text}" if names else text]
        parts += [f"  outcome {place} of {total}, of {outcome.times} of the schedules:", *told(outcome)]
        if timeline:
            parts += interleaving(outcome)
        parts += [f"  replay: {command_line(found.step, outcome.schedule)}", f"  explored: {found.explored}"]
        raise failure("\n".join(parts), sides) from None

    def _unserializable(self, found: Concurrency, outcome: Outcome) -> str:
        lines = ["no order of the commands, one after another, ends like this"]
        lines += [f"  stored: {render(list(outcome.events))}"]
        losers = [run for run in outcome.runs if is_conflict(run.error)]
        if losers and any(run.stored for run in losers):
            lines += ["  why: a command was told of a conflict, and yet it stored events"]
        lines += ["  one after another they end so:"]
        for order, other in found.orders.items():
            if len(order) == len(outcome.runs):
                names = " then ".join(str(place + 1) for place in order)
                lines += [f"    {names}: {render(list(other.events))}"]
        return "\n".join(lines)
