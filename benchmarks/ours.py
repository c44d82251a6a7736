"""wowspec's side of each comparison."""

from __future__ import annotations

import gc
import itertools
import tracemalloc
from collections.abc import Callable, Coroutine
from typing import Any

from wowspec import Gateway, given, on
from wowspec.messages.codec import encode
from wowspec.messages.commands import to_command_message
from wowspec.messages.envelopes import DomainEventStream
from wowspec.messages.exchange import ServerCommandExchange
from wowspec.modeling.aggregates import aggregate_metadata
from wowspec.runtime.catalog import catalog_of
from wowspec.runtime.command_filters import AggregateProcessorFilter
from wowspec.runtime.processor import RetryableAggregateProcessor
from wowspec.runtime.system import Runtime
from wowspec.specs import tracking
from wowspec.world.trace import COMMAND_ROOM, make_lane
from wowspec.world.world import World

from .domain import Account, AccountOpened, AccountState, Deposit, Deposited, OpenAccount
from .measure import timed


def create_command(times: int) -> Callable[[], float]:
    """Seconds of one create command through the whole pipeline of a standing world, with every law checked.

    Each repetition has a world of its own, and each command creates another aggregate.
    """

    def measure() -> float:
        gateway = Gateway()
        numbers = itertools.count()

        def once() -> None:
            gateway.send_and_wait(OpenAccount(id=f"a-{next(numbers)}", holder="ann", balance=5))

        once()  # the world is made at the first use
        return timed(once, times)

    return measure


def create_spec(times: int) -> Callable[[], float]:
    """Seconds of one create command in a world of its own, made for it: `given().when(command).run()`."""
    base = given()

    def once() -> None:
        base.when(OpenAccount(id="a-1", holder="ann", balance=5)).run()

    return lambda: timed(once, times)


def arithmetic(times: int) -> Callable[[], float]:
    """Seconds of the bare work of a create command: its command, event and state to JSON, back, and compared."""

    def once() -> None:
        command = OpenAccount(id="a-1", holder="ann", balance=5)
        command = OpenAccount.model_validate_json(command.model_dump_json())
        event = AccountOpened(holder=command.holder, balance=command.balance)
        stored = event.model_dump_json()
        state = AccountState(id=command.id)
        state.on_sourcing(event)
        replayed = AccountState(id=command.id)
        replayed.on_sourcing(AccountOpened.model_validate_json(stored))
        snapshot = AccountState.model_validate_json(state.model_dump_json())
        if not state == replayed == snapshot:
            raise RuntimeError("the arithmetic is wrong")

    return lambda: timed(once, times)


def spec(times: int) -> Callable[[], float]:
    """Seconds of `given(one event).when(command).expect_events(event)`, tracked and judged as in a test of its own."""

    def once() -> None:
        tracking.start()
        (
            given(AccountOpened(holder="ann", balance=5))
            .when(Deposit(id="a-1", amount=3))
            .expect_events(Deposited(amount=3))
        )
        tracker = tracking.stop()
        assert tracker is not None
        tracker.finish()

    return lambda: timed(once, times)


def save_load_save(times: int) -> Callable[[], float]:
    """Seconds of what a repository with an aggregate does: create and store, load, command, store again.

    The aggregate processor alone, since the other side has no gateway, bus, chain of filters, wait or law. Events are
    written as JSON when they are stored, as they are there, and each step passes its point.
    """

    def measure() -> float:
        world = World()
        runtime = Runtime(world, catalog=catalog_of([Account]))
        runtime.event_store.on_stored = _texts_of
        metadata = aggregate_metadata(Account)
        append, repository = AggregateProcessorFilter(runtime).append, runtime.repository
        numbers = itertools.count()

        async def process(body: Any) -> None:
            message = to_command_message(body, origin=world, scopes=runtime)
            exchange = ServerCommandExchange(message)
            exchange.lane = make_lane((COMMAND_ROOM, message.aggregate_id.id, ""))
            await RetryableAggregateProcessor(metadata, repository, append, world).process(exchange)

        async def cycle() -> None:
            account = f"a-{next(numbers)}"
            await process(OpenAccount(id=account, holder="ann", balance=5))
            await process(Deposit(id=account, amount=3))

        return timed(lambda: _complete(cycle()), times)

    return measure


def _texts_of(stream: DomainEventStream) -> tuple[bytes, ...]:
    return tuple([encode(event.body) for event in stream.events])


def _complete(work: Coroutine[Any, Any, object]) -> None:
    try:
        work.send(None)
    except StopIteration:
        return
    raise RuntimeError("a store in memory has nothing to wait for")


def two_commands(times: int) -> Callable[[], float]:
    """Seconds of the same two commands in a spec: a world of its own, a copy of it, the whole pipeline and the laws."""

    def once() -> None:
        given().when(OpenAccount(id="a-1", holder="ann", balance=5)).when(Deposit(id="a-1", amount=3)).run()

    return lambda: timed(once, times)


def history(events: int) -> Callable[[], float]:
    """Seconds for each event of a `given` of so many."""
    events_before = [AccountOpened(holder="ann", balance=0), *(Deposited(amount=1) for _ in range(events - 1))]

    def once() -> None:
        given(*events_before).when(Deposit(id="a-1", amount=3)).expect_events(Deposited(amount=3))

    return lambda: timed(once, max(1, 1000 // events)) / events


def megabytes(streams: int) -> float:
    """Megabytes that one world takes for so many stored streams, each of an aggregate of its own."""
    opened = AccountOpened(holder="ann", balance=5)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        run = given(*(on(Account, f"a-{n}", opened) for n in range(streams))).when(Deposit(id="a-0", amount=3)).run()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if not run.succeeded:
        raise RuntimeError("the deposit failed")
    return (after - before) / 1e6
