"""Notifier filters: what they signal, when, and what they pass on (sections P and U)."""

from __future__ import annotations

import pytest

from tests.runtime.waiting.builders import ORDER, PROCESSED, PROJECTED, SAGA, SAGA_HANDLED, SNAPSHOT, VIEW
from wowspec.errors import BindingError, ErrorInfo, IllegalArgumentError, RetriesExhaustedError, WowError
from wowspec.messages.envelopes import CommandMessage, DomainEvent, DomainEventStream, StateEvent
from wowspec.messages.exchange import DomainEventExchange, ServerCommandExchange, StateEventExchange
from wowspec.messages.header import Header
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_headers import write_wait_plan
from wowspec.messages.wait_plans import event_handled, processed, projected, saga_handled, sent, snapshot
from wowspec.modeling.identity import PROCESS_FUNCTION, SNAPSHOT_FUNCTION, FunctionInfo, FunctionKind
from wowspec.runtime.waiting.notifier_filters import NotifierFilter
from wowspec.world.points import Room
from wowspec.world.trace import Lane
from wowspec.world.world import World

LANE = Lane(Room.COMMAND, "o-1")
UNKNOWN = FunctionInfo(FunctionKind.ERROR, "shop", "Unknown", "Unknown")


def header_with(wait):
    """A header that holds the plan."""
    return Header() if wait is None else write_wait_plan(wait.plan("w"), "e", Header())


def command(wait, **more):
    """A command's exchange."""
    message = CommandMessage("c-1", object(), ORDER, "pay", "r-1", header_with(wait), aggregate_version=1)
    return ServerCommandExchange(message, lane=LANE, **more)


def event(wait, *, is_last=True, **more):
    """An event's exchange."""
    message = DomainEvent("e-1", object(), ORDER, 3, "paid", "c-1", header_with(wait), is_last=is_last)
    return DomainEventExchange(message, lane=LANE, **more)


def state_event(wait, **more):
    """A state event's exchange."""
    first = DomainEvent("e-1", object(), ORDER, 3, "paid", "c-1", header_with(wait))
    stream = DomainEventStream("s-1", "r-1", first.header, (first,))
    return StateEventExchange(StateEvent(stream, object()), lane=LANE, **more)


class Run:
    """A filter around an inner chain, run to its end; `log` tells the order of what happened."""

    def __init__(self, stage, exchange, inner=None, *, fails=False, cancel=False):
        self.world, self.log, self.signals = World(), [], []
        self._inner, self._fails = inner, fails
        chain = NotifierFilter(stage, self, self.world).filter(exchange, self.next)
        self.task = self.world.scheduler.spawn(chain, "chain")
        self.task.on_done(lambda: self.log.append("ended"))
        self.world.scheduler.run()
        if cancel:
            self.task.cancel()
            self.world.scheduler.run()

    async def next(self, exchange):
        """The inner chain."""
        self.log.append("inner")
        if self._inner is not None:
            answer = self._inner(self.world)
            if answer is not None:
                await answer

    async def notify(self, endpoint, signal):
        """The notifier."""
        self.log.append(f"{signal.stage} {signal.error_code}")
        self.signals.append(signal)
        if self._fails:
            raise ConnectionError


def raises(error):
    """An inner chain that fails."""

    def inner(_):
        raise error

    return inner


@pytest.mark.clause("CMD-419", "CMD-421", "CMD-425")
def test_success_is_signalled_after_the_inner_chain():
    """And before the end is passed outward."""
    run = Run(PROCESSED, command(processed()))
    assert run.log == ["inner", "PROCESSED Ok", "ended"]
    assert run.task.error is None


@pytest.mark.clause("CMD-420", "PRJ-006")
@pytest.mark.parametrize("wait", [None, sent()])
def test_nothing_without_a_plan_that_wants_the_stage(wait):
    """No plan, or one that ends before this stage: the error passes as it was, wrapper and all."""
    exhausted = RetriesExhaustedError("gave up")
    exhausted.__cause__ = ValueError("why")
    run = Run(PROCESSED, command(wait), raises(exhausted))
    assert (run.log, run.task.error) == (["inner", "ended"], exhausted)


@pytest.mark.clause("CMD-420", "CMD-107")
def test_an_incomplete_plan_is_no_plan():
    """Without the endpoint nothing is signalled."""
    exchange = command(processed())
    del exchange.message.header["command_wait_endpoint"]
    assert Run(PROCESSED, exchange).log == ["inner", "ended"]


@pytest.mark.clause("CMD-420")
def test_the_header_is_read_at_subscription():
    """Making the chain reads nothing; a header that is emptied afterwards has no plan."""
    exchange, world, signals = command(processed()), World(), []

    class Notifier:
        async def notify(self, endpoint, signal):
            signals.append(signal)

    async def inner(_):
        return

    chain = NotifierFilter(PROCESSED, Notifier(), world).filter(exchange, inner)
    exchange.message.header.clear()
    world.scheduler.spawn(chain, "chain")
    world.scheduler.run()
    assert signals == []


@pytest.mark.clause("CMD-353")
def test_an_unknown_stage_in_the_header():
    """The error is raised at subscription, and the inner chain never starts."""
    exchange = command(processed())
    exchange.message.header["command_wait_stage"] = "NOPE"
    run = Run(PROCESSED, exchange)
    assert run.log == ["ended"]
    assert isinstance(run.task.error, IllegalArgumentError)


@pytest.mark.clause("CMD-421", "PRJ-011")
def test_completion_with_an_error_on_the_exchange():
    """It signals failure, and ends normally all the same."""
    error = WowError("no", error_code="X", binding_errors=[BindingError("a", "bad")])
    run = Run(PROCESSED, command(processed(), error=error))
    (signal,) = run.signals
    assert (signal.error_code, signal.error_msg, signal.binding_errors) == ("X", "no", (BindingError("a", "bad"),))
    assert signal.original_error is error
    assert run.task.error is None


@pytest.mark.clause("CMD-320", "CMD-421")
def test_an_error_event_is_a_failed_processed():
    """Its code and message, no binding errors, although nothing went wrong."""
    exchange = command(processed())
    body = ErrorInfo("Refused", "not today", (BindingError("a", "bad"),))
    message = DomainEvent("e-1", body, ORDER, 1, "refused", "c-1", Header())
    exchange.event_stream = DomainEventStream("s-1", "r-1", Header(), (message,))
    run = Run(PROCESSED, exchange)
    (signal,) = run.signals
    assert (signal.error_code, signal.error_msg, signal.binding_errors) == ("Refused", "not today", ())
    assert run.task.error is None


@pytest.mark.clause("CMD-422", "PRJ-011")
def test_an_error_is_signalled_and_passed_on():
    """The chain's own error counts, not the one on the exchange."""
    error = ValueError("no")
    run = Run(PROCESSED, command(processed(), error=KeyError("hidden")), raises(error))
    assert run.log == ["inner", "PROCESSED IllegalArgument", "ended"]
    assert run.task.error is error


@pytest.mark.clause("CMD-423", "CMD-201", "PRJ-011")
@pytest.mark.parametrize("wait", [projected("shop"), projected("elsewhere")])
def test_a_retry_wrapper_is_replaced_by_its_cause(wait):
    """For the signal and for the error, also where the selector then stops the notification."""
    cause = TimeoutError("late")
    exhausted = RetriesExhaustedError("gave up")
    exhausted.__cause__ = cause
    run = Run(PROJECTED, event(wait, function=VIEW), raises(exhausted))
    assert run.task.error is cause
    assert [signal.error_code for signal in run.signals] == (["RequestTimeout"] if wait == projected("shop") else [])


@pytest.mark.clause("CMD-422")
def test_a_retry_wrapper_without_cause_never_ends():
    """Neither signal nor error."""
    run = Run(PROCESSED, command(processed()), raises(RetriesExhaustedError("gave up")))
    assert run.log == ["inner"]
    assert run.task.done is False


@pytest.mark.clause("CMD-424", "PRJ-011")
def test_cancellation_signals_nothing():
    """The inner chain hangs and is cancelled."""
    run = Run(PROCESSED, command(processed()), lambda world: world.scheduler.future(), cancel=True)
    assert run.log == ["inner", "ended"]


@pytest.mark.clause("CMD-428", "PRJ-012")
def test_a_failing_transport_changes_nothing():
    """It is logged."""
    run = Run(PROCESSED, command(processed()), fails=True)
    assert (run.task.error, [type(entry.error) for entry in run.world.log]) == (None, [ConnectionError])


@pytest.mark.clause("CMD-427")
def test_a_function_that_was_not_selected():
    """Nothing is transmitted."""
    assert Run(PROJECTED, event(projected("shop", "StockView"), function=VIEW)).log == ["inner", "ended"]


@pytest.mark.clause("PRJ-008", "CMD-340")
def test_fields_of_processed():
    """Ids are the command's, the version the exchange's, not the expected one."""
    exchange = command(processed(), function=PROCESS_FUNCTION)
    exchange.aggregate_version = 7
    exchange.set_command_result("k", 1)
    run = Run(PROCESSED, exchange)
    (signal,) = run.signals
    assert (signal.id, signal.wait_command_id, signal.command_id, signal.aggregate_id) == ("c-1", "w", "c-1", ORDER)
    assert (signal.function, signal.aggregate_version, signal.is_last_projection) == (PROCESS_FUNCTION, 7, False)
    assert (signal.result, signal.commands) == ({"k": 1}, ())
    assert signal.signal_time == run.world.now_millis()


@pytest.mark.clause("PRJ-008", "PRJ-009", "CMD-340")
@pytest.mark.parametrize("is_last", [True, False])
@pytest.mark.parametrize("wait", [projected("shop"), event_handled("shop"), saga_handled("shop")])
def test_fields_of_event_stages(wait, is_last):
    """Ids and version are the event's; the last projection is the event's own flag."""
    stage = wait.stage
    (signal,) = Run(stage, event(wait, is_last=is_last, function=VIEW)).signals
    assert (signal.id, signal.command_id, signal.function) == ("e-1", "c-1", VIEW)
    assert (signal.aggregate_version, signal.is_last_projection) == (3, is_last)


@pytest.mark.clause("PRJ-008", "PRJ-009")
def test_fields_of_snapshot():
    """The id is the stream's, and nothing is a last projection."""
    (signal,) = Run(SNAPSHOT, state_event(snapshot(), function=SNAPSHOT_FUNCTION)).signals
    assert (signal.id, signal.command_id, signal.function) == ("s-1", "c-1", SNAPSHOT_FUNCTION)
    assert (signal.aggregate_version, signal.is_last_projection) == (3, False)


@pytest.mark.clause("CMD-338", "PRJ-008")
@pytest.mark.parametrize(
    ("stage", "exchange"),
    [(PROCESSED, command(processed())), (SNAPSHOT, state_event(snapshot())), (PROJECTED, event(projected("shop")))],
)
def test_without_a_function(stage, exchange):
    """Kind ERROR, the message's context, Unknown."""
    (signal,) = Run(stage, exchange).signals
    assert signal.function == UNKNOWN


@pytest.mark.clause("CMD-339", "PRJ-008")
def test_only_sagas_carry_commands():
    """The ids of what the saga sent; empty where it recorded none."""
    sent_commands = [CommandMessage(id_, object(), ORDER, "x", "r", Header()) for id_ in ("t-1", "t-2")]
    (signal,) = Run(SAGA_HANDLED, event(saga_handled("shop"), function=SAGA, command_stream=sent_commands)).signals
    assert signal.commands == ("t-1", "t-2")
    (none,) = Run(SAGA_HANDLED, event(saga_handled("shop"), function=SAGA)).signals
    assert none.commands == ()
    (view,) = Run(PROJECTED, event(projected("shop"), function=VIEW, command_stream=sent_commands)).signals
    assert view.commands == ()


@pytest.mark.clause("CMD-419")
def test_the_point_is_passed_in_the_lane_of_the_exchange():
    """One row, keyed by the aggregate."""
    run = Run(PROCESSED, command(processed()), raises(ValueError("no")))
    (row,) = run.world.trace
    assert (row.point, row.lane, row.key, row.detail) == ("wait.notify:PROCESSED", LANE, "o-1", "IllegalArgument")


def test_stages_after_sent_have_a_filter():
    """Each of them signals its own stage."""
    assert [
        Run(CommandStage.EVENT_HANDLED, event(event_handled("shop"), function=VIEW)).log[1],
        Run(SNAPSHOT, state_event(snapshot())).log[1],
    ] == ["EVENT_HANDLED Ok", "SNAPSHOT Ok"]
