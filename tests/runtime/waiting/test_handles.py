"""Wait handles (section T)."""

from __future__ import annotations

import pytest

from tests.runtime.waiting.builders import MAIN, PROCESSED, SENT, SNAPSHOT, Recorder, plan_of, signal
from wowspec.errors import EmissionError, IllegalArgumentError, IllegalStateError
from wowspec.messages.wait_plans import processed
from wowspec.runtime.waiting.handles import LastHandle, StreamHandle

BOTH = pytest.mark.parametrize("kind", [LastHandle, StreamHandle])


class Ended:
    """A terminate callback that counts."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, handle):
        self.times += 1


def last():
    """A last-result handle for PROCESSED."""
    return LastHandle(plan_of(processed()), Ended())


def stream():
    """A stream handle for PROCESSED."""
    return StreamHandle(plan_of(processed()), Ended())


@pytest.mark.clause("CMD-402", "CMD-417")
@BOTH
def test_both_kinds_share_their_operations(kind):
    """Plan, wait id, next, error, cancel; next tells whether the state accepted."""
    handle = kind(plan_of(processed()), Ended())
    assert (handle.plan, handle.wait_command_id) == (plan_of(processed()), MAIN)
    assert [handle.next(signal(stage)) for stage in (SNAPSHOT, SENT, PROCESSED)] == [False, True, True]


@pytest.mark.clause("CMD-402", "CMD-403")
@BOTH
def test_after_the_end(kind):
    """Next answers false, error and cancel do nothing, the callback ran once."""
    ended, seen = Ended(), Recorder()
    handle = kind(plan_of(processed()), ended)
    handle.subscribe(seen)
    handle.next(signal(PROCESSED))
    handle.error(ValueError())
    handle.cancel()
    assert handle.next(signal(PROCESSED)) is False
    assert seen.seen == [f"{MAIN}/PROCESSED", "complete"]
    assert ended.times == 1


@pytest.mark.clause("CMD-403")
@BOTH
@pytest.mark.parametrize("callback", ["next", "complete", "error"])
@pytest.mark.parametrize("reaction", ["cancel", "error"])
def test_re_entrant_ends(kind, callback, reaction):
    """A subscriber may end the handle inside its callbacks; the end is told once."""
    ended = Ended()
    handle = kind(plan_of(processed()), ended)
    act = handle.cancel if reaction == "cancel" else lambda: handle.error(KeyError())
    seen = Recorder(**{callback: act})
    handle.subscribe(seen)
    handle.next(signal(SENT))
    handle.error(ValueError()) if callback == "error" else handle.next(signal(PROCESSED))
    assert ended.times == 1
    ends = [entry for entry in seen.seen if not isinstance(entry, str) or entry == "complete"]
    assert len(ends) == 1


@pytest.mark.clause("CMD-403", "CMD-404")
def test_an_error_inside_the_last_next_of_a_stream_wins():
    """The state has completed, but the handle has not ended while the signal is being emitted."""
    handle = stream()
    seen = Recorder(next=lambda: handle.error(KeyError()))
    handle.subscribe(seen)
    assert handle.next(signal(PROCESSED)) is True
    assert seen.seen == [f"{MAIN}/PROCESSED", KeyError]


@pytest.mark.clause("CMD-404")
def test_a_signal_from_inside_a_callback_comes_after_it():
    """Emissions of one handle never overlap."""
    handle, order = stream(), []

    class Nested(Recorder):
        def on_next(self, signal_):
            order.append(f"begin {signal_.stage}")
            if signal_.stage is SENT:
                handle.next(signal(PROCESSED))
            order.append(f"end {signal_.stage}")

    handle.subscribe(Nested())
    handle.next(signal(SENT))
    assert order == ["begin SENT", "end SENT", "begin PROCESSED", "end PROCESSED"]


@pytest.mark.clause("CMD-404")
@BOTH
def test_the_terminate_callback_comes_after_emission(kind):
    """Who is told of the end already finds everything emitted."""
    seen, at_end = Recorder(), []
    handle = kind(plan_of(processed()), lambda _: at_end.extend(seen.seen))
    handle.subscribe(seen)
    handle.next(signal(PROCESSED))
    assert at_end == [f"{MAIN}/PROCESSED", "complete"]


@pytest.mark.clause("CMD-409", "CMD-413")
@BOTH
def test_who_wants_out_at_a_signal_that_was_kept_hears_of_no_end(kind):
    """The subscription is there before the first signal, which comes while it is being made."""
    handle, mine = kind(plan_of(processed()), lambda _: None), []
    handle.next(signal(PROCESSED))

    def leave() -> None:
        mine[0].cancel()

    seen = Recorder(next=leave)

    handle.subscribe(seen, started=mine.append)

    assert seen.seen == [f"{MAIN}/PROCESSED"]


@pytest.mark.clause("CMD-405")
def test_last_emits_the_final_signal_alone():
    """Once, with the merged result."""
    handle, values = last(), []
    seen = Recorder()
    seen.on_next = values.append
    handle.subscribe(seen)
    handle.next(signal(SENT, result={"a": 1}))
    assert values == []
    handle.next(signal(PROCESSED, result={"b": 2}))
    assert [value.result for value in values] == [{"a": 1, "b": 2}]


@pytest.mark.clause("CMD-406")
def test_the_final_signal_is_kept():
    """For an await that starts later."""
    handle, seen = last(), Recorder()
    handle.next(signal(PROCESSED))
    handle.subscribe(seen)
    assert seen.seen == [f"{MAIN}/PROCESSED", "complete"]


@pytest.mark.clause("CMD-407")
def test_cancelling_completes_last_empty():
    """Awaits before and after."""
    handle, before, after = last(), Recorder(), Recorder()
    handle.subscribe(before)
    handle.cancel()
    handle.subscribe(after)
    assert before.seen == after.seen == ["complete"]


@pytest.mark.clause("CMD-408", "CMD-413")
@BOTH
def test_an_error_ends_the_wait(kind):
    """With that error, also for who subscribes later."""
    handle, seen = kind(plan_of(processed()), Ended()), Recorder()
    handle.error(ValueError())
    handle.subscribe(seen)
    assert seen.seen == [ValueError]


@pytest.mark.clause("CMD-409", "CMD-413")
@BOTH
def test_a_subscriber_that_cancels_ends_the_handle(kind):
    """Nothing is told to it any more; a second cancel changes nothing."""
    ended, seen = Ended(), Recorder()
    handle = kind(plan_of(processed()), ended)
    subscription = handle.subscribe(seen)
    subscription.cancel()
    subscription.cancel()
    assert handle.next(signal(PROCESSED)) is False
    assert (ended.times, seen.seen) == (1, [])


@pytest.mark.clause("CMD-403", "CMD-409")
@BOTH
def test_cancelling_inside_next_leaves_out_the_end(kind):
    """Who leaves while a signal is delivered hears of no completion."""
    handle, seen = kind(plan_of(processed()), Ended()), Recorder()
    subscription = handle.subscribe(seen, demand=0)
    seen.on_next = lambda _: subscription.cancel()
    handle.next(signal(PROCESSED))
    subscription.request(1)
    assert seen.seen == []


@pytest.mark.clause("CMD-410", "CMD-361")
def test_a_stream_emits_every_accepted_signal():
    """Unmerged, in order, then it completes."""
    handle, values = stream(), []
    seen = Recorder()
    seen.on_next = values.append
    handle.subscribe(seen)
    signals = [signal(SENT, result={"a": 1}), signal(SNAPSHOT), signal(PROCESSED, result={"b": 2})]
    for item in signals:
        handle.next(item)
    assert values == [signals[0], signals[2]]
    assert seen.seen == ["complete"]


@pytest.mark.clause("CMD-411", "CMD-414")
def test_a_stream_buffers_without_bound():
    """More than the link size, although it had ended before anyone came."""
    handle, seen = StreamHandle(plan_of(processed()), Ended(), queue_link_size=1), Recorder()
    for number in range(20):
        handle.next(signal(SENT, id=str(number)))
    handle.next(signal(PROCESSED, id="end"))
    handle.subscribe(seen)
    assert seen.seen == [*map(str, range(20)), "end", "complete"]


@pytest.mark.clause("CMD-415")
def test_a_buffer_that_refuses():
    """The signalling caller gets the error, the stream ends with it after what it holds, and it unregisters once."""
    ended, seen = Ended(), Recorder()
    handle = StreamHandle(plan_of(processed()), ended, capacity=1)
    assert handle.next(signal(SENT, id="1"))
    with pytest.raises(EmissionError, match="holds 1 signals"):
        handle.next(signal(SENT, id="2"))
    assert not handle.next(signal(PROCESSED))
    assert ended.times == 1
    handle.subscribe(seen)
    assert seen.seen[0] == "1"
    assert len(seen.seen) == 2
    assert "EmissionError" in str(seen.seen[1])


@pytest.mark.clause("CMD-411")
def test_demand_is_respected():
    """Signals wait until they are wanted; the end comes with the last of them."""
    handle, seen = stream(), Recorder()
    subscription = handle.subscribe(seen, demand=0)
    handle.next(signal(SENT))
    handle.next(signal(PROCESSED))
    assert seen.seen == []
    subscription.request(1)
    assert seen.seen == [f"{MAIN}/SENT"]
    subscription.request(5)
    assert seen.seen == [f"{MAIN}/SENT", f"{MAIN}/PROCESSED", "complete"]


@pytest.mark.clause("CMD-406")
def test_demand_of_last():
    """The value waits for demand; emptiness does not."""
    handle, seen, empty = last(), Recorder(), Recorder()
    subscription = handle.subscribe(seen, demand=0)
    handle.next(signal(PROCESSED))
    assert seen.seen == []
    subscription.request(1)
    subscription.request(1)
    assert seen.seen == [f"{MAIN}/PROCESSED", "complete"]
    cancelled = last()
    cancelled.subscribe(empty, demand=0)
    cancelled.cancel()
    assert empty.seen == ["complete"]


@pytest.mark.clause("CMD-412")
@pytest.mark.parametrize("end", ["open", "completed", "cancelled"])
def test_a_stream_has_one_subscriber(end):
    """A second one is refused, whatever came before, and cannot end the handle."""
    handle, second = stream(), Recorder()
    first = handle.subscribe(Recorder())
    if end == "completed":
        handle.next(signal(PROCESSED))
    if end == "cancelled":
        first.cancel()
    handle.subscribe(second).cancel()
    assert second.seen == [IllegalStateError]
    assert handle.next(signal(PROCESSED)) is (end == "open")


@pytest.mark.clause("CMD-412", "CMD-409")
def test_last_has_several_subscribers():
    """They get the same; one that cancels ends the handle, and the other completes empty."""
    shared, one, two = last(), Recorder(), Recorder()
    shared.subscribe(one)
    shared.subscribe(two)
    shared.next(signal(PROCESSED))
    assert one.seen == two.seen == [f"{MAIN}/PROCESSED", "complete"]
    left, stays = last(), Recorder()
    left.subscribe(stays)
    left.subscribe(Recorder()).cancel()
    assert stays.seen == ["complete"]


@pytest.mark.clause("CMD-413")
def test_cancelling_completes_the_stream():
    """After what was buffered."""
    handle, seen = stream(), Recorder()
    handle.next(signal(SENT))
    handle.cancel()
    handle.subscribe(seen)
    assert seen.seen == [f"{MAIN}/SENT", "complete"]


@pytest.mark.clause("CMD-414")
@pytest.mark.parametrize("size", [0, -1])
def test_the_link_size_is_positive(size):
    """Zero and negative sizes are refused when a stream handle is made."""
    with pytest.raises(IllegalArgumentError, match="greater than 0"):
        StreamHandle(plan_of(processed()), Ended(), queue_link_size=size)


@pytest.mark.clause("CMD-418")
def test_the_marker():
    """Only the last-result handle lets the gateway skip SENT."""
    assert (last().skips_successful_sent, stream().skips_successful_sent) == (True, False)
