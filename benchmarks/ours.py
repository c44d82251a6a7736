"""wowspec's side of each comparison, through its public interface."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

from wowspec import given, on

from .domain import Account, AccountOpened, AccountState, Deposit, Deposited, OpenAccount
from .measure import timed


def create_command(times: int) -> Callable[[], float]:
    """Seconds of one create command through the whole pipeline, in a world of its own, with every law checked."""
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
    """Seconds of `given(one event).when(command).expect_events(event)`."""

    def once() -> None:
        (
            given(AccountOpened(holder="ann", balance=5))
            .when(Deposit(id="a-1", amount=3))
            .expect_events(Deposited(amount=3))
        )

    return lambda: timed(once, times)


def save_load_save(times: int) -> Callable[[], float]:
    """Seconds of two commands to one aggregate: it is created and stored, loaded, changed and stored again."""

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
