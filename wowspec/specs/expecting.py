"""The expectation verbs of a spec. Each judges at once and gives the spec back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from ..errors import SpecError, SpecFailure
from ..messages.stages import CommandStage
from ..runtime.aggregate import CommandState
from . import compared, event_expectations as on_events, outcome_expectations as on_outcome
from .departing import departure_text
from .execution import run_of
from .items import CommandOf, On
from .matchers import some
from .misspelt import no_verb
from .nodes import Node
from .placing import SoftFailure, place_of_caller
from .recorded import recording
from .remarks import downstream
from .requirements import CommandStateName, StageName, require_no_processors, require_some
from .run import Run
from .run_hints import explain_missing_service, run_hints
from .saying import named_in_reason, traceback_text
from .sides import Sides, failure, sides_of_events, sides_of_order, sides_of_types
from .story import timeline
from .tracking import current, look_at, soft_failure
from .verdicts import if_it_should, obey_laws

S = TypeVar("S")


@recording
class Expecting(Generic[S]):
    """What can be expected of a run. `S` is the state's class."""

    __slots__ = ("_node", "_soft")

    def __init__(self, node: Node, soft: list[SoftFailure] | None = None) -> None:
        self._node = node
        self._soft = soft

    if not TYPE_CHECKING:
        __getattr__ = no_verb("a spec")

    # --- running ------------------------------------------------------------------------------------------------------

    def run(self) -> Run:
        """Run the command (once) and give what came of it.

        Raises:
            SpecError: without a `when`.
            SpecFailure: if a law is broken, or something that was given failed.
        """
        __tracebackhide__ = True
        when = self._action()
        if when is None:
            raise SpecError(
                "an expectation without when(...)",
                why="nothing was run, so there is nothing to look at",
                instead=".when(SomeCommand(...)) before it",
            )
        try:
            run = run_of(when)
        except (SpecError, SpecFailure) as error:
            raise self._not_run(when, error) from error.__cause__
        when.judged = self._node.judged = True
        if when.driver is None:
            look_at(when)
            obey_laws(run, self._node)
        return run

    def _action(self) -> Node | None:
        """The step whose run is looked at."""
        return self._node.last_when()

    def _not_run(self, when: Node, error: SpecError | SpecFailure) -> SpecError | SpecFailure:
        """The error that a step ended in before it came to a run; its text says the place, our frames would hide it."""
        when.judged = self._node.judged = True
        explain_missing_service(error, self._node)
        return error.with_traceback(None)

    def _judge(self, text: str | None, run: Run, sides: Callable[[], Sides | None] | None = None) -> Self:
        __tracebackhide__ = True
        if text is None:
            return self
        error = run.error if not run.decided else None
        how = "its sender's call ended" if run.is_unknown else "the command failed"
        if run.message is None and not isinstance(run.command, CommandOf):
            how = "the function failed"
        if error is not None:
            text = named_in_reason(text, error, how)
        names = self._node.branch_names()
        parts = [f"in branch {' > '.join(names)}: {text}" if names else text]
        if error is not None:
            parts.append(f"  {how}:\n{traceback_text(error)}")
        parts += [f"  hint: {hint}" for hint in run_hints(run, self._node)]
        parts += if_it_should(run, text)
        parts += departure_text(run, self._node)
        parts.append(timeline(run))
        whole = "\n".join(parts)
        if self._soft is not None:
            self._soft.append(SoftFailure(place_of_caller(), whole))
            return self
        raise failure(whole, sides) from None

    def soft(self) -> Self:
        """Collect failures from here on; they are reported together when the test ends, or by `verify()`."""
        tracker = current()
        return self._with(self._node, tracker.soft if tracker is not None else [])

    def verify(self) -> Self:
        """Raise what `soft()` collected.

        Raises:
            SpecFailure: if anything was collected.
        """
        __tracebackhide__ = True
        if self._soft:
            failed = soft_failure(self._soft)
            self._soft.clear()
            raise failed
        return self

    def _with(self, node: Node, soft: list[SoftFailure] | None) -> Self:
        return type(self)(node, soft)

    # --- events -------------------------------------------------------------------------------------------------------

    def expect_events(self, *events: Any, that: Callable[[Any], Any] | None = None) -> Self:
        """The command stored exactly these events on its aggregate, in this order.

        Args:
            events: events, or matchers: `some(...)`, `any_of(...)`, `unordered(...)`, `ANY_EVENTS`.
            that: instead of them, a function of the stored events that says yes or no.
        """
        __tracebackhide__ = True
        run = self.run()
        if that is not None:
            if events:
                raise SpecError(
                    "expect_events(...) with events and that=",
                    why="each says what all of the stored events are",
                    instead="expect_events(...) and expect_events(that=...), one after the other",
                )
            return self._judge(on_events.events_that(run, that, "stored"), run)
        if not events:
            raise SpecError(
                "expect_events() expects nothing",
                why="it reads as if something were expected",
                instead="expect_no_events()",
            )
        text = on_events.events(run, events, "stored")
        return self._judge(text, run, lambda: sides_of_events(events, run.stored))

    def expect_no_events(self) -> Self:
        """The command stored no event."""
        __tracebackhide__ = True
        run = self.run()
        return self._judge(on_events.no_events(run, "stored"), run, lambda: sides_of_events((), run.stored))

    def expect_event(self, event: Any, /, **fields: Any) -> Self:
        """The command stored at least one such event: `expect_event(OrderPaid, amount=3)`, an instance or a matcher."""
        __tracebackhide__ = True
        run = self.run()
        wanted = some(event, **fields) if isinstance(event, type) else event
        if fields and not isinstance(event, type):
            raise SpecError(
                "expect_event(instance, field=...)",
                why="an instance says all of its fields already",
                instead=f"expect_event({type(event).__name__}, ...)",
            )
        text = on_events.contains(run, wanted, "stored")
        return self._judge(text, run, lambda: compared.one_event(run, wanted, "stored"))

    def expect_event_types(self, *types: type) -> Self:
        """The command stored events of exactly these types, in this order."""
        __tracebackhide__ = True
        run = self.run()
        return self._judge(on_events.of_types(run, types, "stored"), run, lambda: sides_of_types(types, run.stored))

    def expect_event_count(self, count: int) -> Self:
        """The command stored so many events."""
        __tracebackhide__ = True
        run = self.run()
        text = on_events.count(run, count, "stored")
        return self._judge(text, run, lambda: compared.count(count, len(run.stored)))

    def expect_all_events(self, *events: Any) -> Self:
        """All events stored since the command was sent, whoever stored them: the command, a rival, a saga's command."""
        __tracebackhide__ = True
        run = self.run()
        text = downstream(on_events.events(run, events, "stored", run.all_events), run)
        return self._judge(text, run, lambda: sides_of_events(events, run.all_events))

    def expect_emitted(self, *events: Any) -> Self:
        """The command's functions returned exactly these events, whether or not they were stored."""
        __tracebackhide__ = True
        run = self.run()
        wanted = on_events.with_types(events)
        text = on_events.events(run, wanted, "emitted")
        return self._judge(text, run, lambda: sides_of_events(wanted, run.emitted))

    def expect_stored(self, *items: Any) -> Self:
        """The command stored exactly these events; after `on(T, id)`, these are that instance's whole history."""
        __tracebackhide__ = True
        run = self.run()
        if items and isinstance(items[0], On):
            target, wanted = items[0], on_events.with_types(items[1:])
            text = downstream(on_events.history(run, target, wanted), run)
            return self._judge(text, run, lambda: compared.history(run, target, wanted))
        require_some("expect_stored", items, "expect_not_stored()")
        wanted = on_events.with_types(items)
        text = on_events.events(run, wanted, "stored")
        return self._judge(text, run, lambda: sides_of_events(wanted, run.stored))

    def expect_not_stored(self, *types: type) -> Self:
        """The command stored nothing (or no event of these types)."""
        __tracebackhide__ = True
        run = self.run()
        text = on_events.lacks(run, types, "stored") if types else on_events.no_events(run, "stored")
        return self._judge(text, run, lambda: compared.lacking(run, types, "stored"))

    def expect_published(self, *events: Any) -> Self:
        """The domain event bus accepted exactly these events of the command; a class stands for any event of it."""
        __tracebackhide__ = True
        run = self.run()
        require_some("expect_published", events, "expect_not_published()")
        wanted = on_events.with_types(events)
        text = on_events.events(run, wanted, "published")
        return self._judge(text, run, lambda: sides_of_events(wanted, run.published))

    def expect_not_published(self, *types: type) -> Self:
        """The domain event bus accepted no event of the command (or none of these types)."""
        __tracebackhide__ = True
        run = self.run()
        text = on_events.lacks(run, types, "published") if types else on_events.no_events(run, "published")
        return self._judge(text, run, lambda: compared.lacking(run, types, "published"))

    def expect_delivered(self, *events: Any) -> Self:
        """These events of the command reached functions of projections, processors or sagas, once for each delivery."""
        __tracebackhide__ = True
        run = self.run()
        require_no_processors("expect_delivered", events)
        wanted = on_events.with_types(events)
        text = on_events.events(run, wanted, "delivered")
        return self._judge(text, run, lambda: sides_of_events(wanted, run.delivered))

    def expect_state_event_published(self) -> Self:
        """The state event bus accepted the command's state event."""
        __tracebackhide__ = True
        run = self.run()
        return self._judge(None if run.state_events else "the state event bus accepted no state event", run)

    def expect_state_event_not_published(self) -> Self:
        """The state event bus accepted no state event of the command."""
        __tracebackhide__ = True
        run = self.run()
        return self._judge("the state event bus accepted a state event" if run.state_events else None, run)

    def expect_header(self, **entries: Any) -> Self:
        """The event stream's header has these entries."""
        __tracebackhide__ = True
        run = self.run()
        return self._judge(on_events.header(run, entries), run, lambda: compared.header(run, entries))

    # --- state --------------------------------------------------------------------------------------------------------

    def expect_state(
        self, target: On | Callable[[S], Any] | None = None, that: Callable[[S], Any] | None = None, /, **fields: Any
    ) -> Self:
        """The state has these fields, and a function says yes to a copy of it.

        Args:
            target: `on(T, id)` for another instance than the command's own; or the function.
            that: the function, after a target.
            fields: field → value or matcher; other fields may be anything.
        """
        __tracebackhide__ = True
        run = self.run()
        where, function = (target, that) if isinstance(target, On) else (None, target)
        text = on_events.state(run, where, function, fields)
        told = text if where is None else downstream(text, run)
        return self._judge(told, run, lambda: compared.state(run, where, fields))

    def expect_state_aggregate(self, target: On | None = None, /, **fields: Any) -> Self:
        """What is known of an aggregate beside its state: `version`, `owner_id`, `space_id`, `tenant_id`, `deleted`, ….

        Args:
            target: `on(T, id)` for another instance than the command's own.
            fields: field → value or matcher.
        """
        __tracebackhide__ = True
        run = self.run()
        text = on_events.state_aggregate(run, target, fields)
        told = text if target is None else downstream(text, run)
        return self._judge(told, run, lambda: compared.state_aggregate(run, target, fields))

    def expect_version(self, version: int) -> Self:
        """The stored head of the command's aggregate."""
        __tracebackhide__ = True
        run = self.run()
        return self._judge(on_events.version(run, version), run, lambda: compared.count(version, on_events.head(run)))

    # --- outcome ------------------------------------------------------------------------------------------------------

    def expect_error(
        self, kind: type[BaseException] | None = None, *, match: str | None = None, code: str | None = None
    ) -> Self:
        """The command failed; all given parts must hold.

        Args:
            kind: class of the original error; a handler's bug must be named by its type.
            match: searched in its text, or in `field: why` of a field that was refused (a regular expression).
            code: its error code.
        """
        __tracebackhide__ = True
        run = self.run()
        text = on_outcome.error(run, kind, match, code)
        return self._judge(text, run, lambda: compared.error(run, kind, match, code))

    def expect_succeeded(self) -> Self:
        """The command's sender was told of success."""
        __tracebackhide__ = True
        run = self.run()
        return self._judge(on_outcome.succeeded(run), run, lambda: compared.succeeded(run))

    def expect_unknown_outcome(self) -> Self:
        """The sender's own deadline passed, so that it knows nothing of the command's outcome."""
        __tracebackhide__ = True
        run = self.run()
        return self._judge(on_outcome.unknown_outcome(run), run, lambda: compared.unknown_outcome(run))

    def expect_any_outcome(self) -> Self:
        """Success, failure and an unknown outcome are all right, as in a spec that runs under many faults.

        A handler's bug is none of them: it must be named by its type.
        """
        __tracebackhide__ = True
        run = self.run()
        return self._judge(on_outcome.any_outcome(run), run)

    def expect_result(self, **entries: Any) -> Self:
        """The result map that reached the sender, exactly."""
        __tracebackhide__ = True
        run = self.run()
        return self._judge(on_outcome.result(run, entries), run, lambda: compared.result(run, entries))

    def expect_stage(self, stage: CommandStage | StageName, *, succeeded: bool = True, **fields: Any) -> Self:
        """A stage was signalled, with success or failure, and its signal has these fields."""
        __tracebackhide__ = True
        run = self.run()
        text = on_outcome.stage(run, stage, succeeded, fields)
        return self._judge(text, run, lambda: compared.stage(run, stage, succeeded, fields))

    # --- pipeline -----------------------------------------------------------------------------------------------------

    def expect_order(self, *points: str) -> Self:
        """The points were passed in this order, others between them or not."""
        __tracebackhide__ = True
        run = self.run()
        text = on_outcome.order(run, points)
        return self._judge(text, run, lambda: sides_of_order(points, [row.point for row in run.rows]))

    def expect_logged(self, point: str, kind: type[BaseException] | None = None) -> Self:
        """The runtime logged and swallowed an error at a point."""
        __tracebackhide__ = True
        run = self.run()
        text = on_outcome.logged(run, point, kind)
        return self._judge(text, run, lambda: compared.logged(run, point, kind))

    def expect_downstream_error(
        self,
        source: type,
        kind: type[BaseException] | None = None,
        *,
        match: str | None = None,
        code: str | None = None,
    ) -> Self:
        """A command that followed (its class), or a function of a processor (its class), failed so."""
        __tracebackhide__ = True
        run = self.run()
        text = downstream(on_outcome.downstream_error(run, source, kind, match, code), run)
        return self._judge(text, run, lambda: compared.downstream_error(run, source, kind, match, code))

    def expect_acknowledged(self, *, times: int = 1) -> Self:
        """The command was acknowledged to its bus so often."""
        __tracebackhide__ = True
        run = self.run()
        text = on_outcome.acknowledged(run, times)
        return self._judge(text, run, lambda: compared.count(times, on_outcome.acknowledgements(run)))

    def expect_command_state(self, state: CommandState | CommandStateName) -> Self:
        """The command aggregate of the last attempt is `STORED`, `SOURCED` or `EXPIRED`."""
        __tracebackhide__ = True
        run = self.run()
        text = on_outcome.command_state(run, state)
        return self._judge(text, run, lambda: compared.command_state(run, state))

    def expect_attempts(self, attempts: int) -> Self:
        """The aggregate processed the command so often: once, and once for each retry."""
        __tracebackhide__ = True
        run = self.run()
        text = on_outcome.attempts(run, attempts)
        return self._judge(text, run, lambda: compared.count(attempts, run.attempts))

    def expect_fired(self, times: int) -> Self:
        """So many faults struck during this run."""
        __tracebackhide__ = True
        run = self.run()
        text = on_outcome.fired(run, times)
        return self._judge(text, run, lambda: compared.count(times, len(run.fired)))
