"""What follows publication costs: projections, sagas, snapshots, streams of results, many commands in one world.

Every subject goes through a `Gateway`, as a client's tests do, with the laws on.
"""

from __future__ import annotations

import gc
import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from wowspec import (
    CommandStage,
    DomainEvent,
    Gateway,
    Views,
    chain,
    event_processor,
    processed,
    projected,
    projection,
    saga_handled,
    stateless_saga,
)

from .domain import Account, AccountOpened, Deposit, Deposited, OpenAccount
from .measure import interleave, timed
from .rows import Row as TableRow, at_most


class Row(BaseModel):
    """What an account holds."""

    balance: int


@projection(context="bank")
class BalanceView:
    """A row for each account."""

    def on_event(self, event: DomainEvent[AccountOpened | Deposited], views: Views[Row]) -> None:
        """Write it anew."""
        body, account = event.body, event.aggregate_id.id
        if isinstance(body, AccountOpened):
            views[account] = Row(balance=body.balance)
        else:
            views[account] = Row(balance=views[account].balance + body.amount)


@stateless_saga(context="bank")
class WelcomeSaga:
    """Whoever opens an account is given one."""

    def on_event(self, event: DomainEvent[AccountOpened]) -> Deposit:
        """The second command of the round trip."""
        return Deposit(id=event.aggregate_id.id, amount=1)


@event_processor(context="bank")
class Letters:
    """Writes to nobody."""

    def on_event(self, event: AccountOpened) -> None:
        """Nothing to do."""


def opened(times: int, *parts: Any, wait_for: Any = None) -> Callable[[], float]:
    """Seconds of one create command that waits for a fact, in a standing world that holds these parts."""

    def measure() -> float:
        gateway = Gateway()
        gateway.world.using(Account, *parts)
        numbers = itertools.count()
        waiting = {} if wait_for is None else {"wait_for": wait_for}

        def once() -> None:
            gateway.send_and_wait(OpenAccount(id=f"a-{next(numbers)}", holder="ann", balance=5), **waiting)

        once()
        return timed(once, times)

    return measure


def to_projected(times: int) -> Callable[[], float]:
    """To the end of the one projection."""
    return opened(times, BalanceView, wait_for=projected("bank", processor="BalanceView"))


def saga_round_trip(times: int) -> Callable[[], float]:
    """To the end of the command that the saga sent."""
    waited = chain(saga_handled("bank", processor="WelcomeSaga"), then=processed())
    return opened(times, WelcomeSaga, wait_for=waited)


def streamed(times: int) -> Callable[[], float]:
    """Each result on the way to PROCESSED, instead of the last one."""

    def measure() -> float:
        gateway = Gateway()
        numbers = itertools.count()

        def once() -> None:
            command = OpenAccount(id=f"a-{next(numbers)}", holder="ann", balance=5)
            results = list(gateway.send_and_wait_stream(command))
            if results[-1].stage is not CommandStage.PROCESSED:
                raise RuntimeError("the stream ended early")

        once()
        return timed(once, times)

    return measure


def all_commands(aggregates: int, each: int, *parts: Any) -> Gateway:
    """So many aggregates with so many commands each, in one world."""
    gateway = Gateway()
    gateway.world.using(Account, *parts)
    for number in range(aggregates):
        gateway.send_and_wait(OpenAccount(id=f"a-{number}", holder="ann", balance=5))
    for _ in range(each - 1):
        for number in range(aggregates):
            gateway.send_and_wait(Deposit(id=f"a-{number}", amount=1))
    return gateway


ALL_PARTS = (BalanceView, WelcomeSaga, Letters)


def many(aggregates: int, each: int, *parts: Any) -> Callable[[], float]:
    """Seconds of `all_commands`, for each command."""
    return lambda: timed(lambda: all_commands(aggregates, each, *parts), 1) / (aggregates * each)


def megabytes(aggregates: int, each: int) -> float:
    """Megabytes that a world with everything downstream holds after `all_commands`."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        gateway = all_commands(aggregates, each, *ALL_PARTS)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if gateway.world.state(Account, "a-0").balance != 5 + each:
        raise RuntimeError("a deposit is missing")
    return (after - before) / 1e6


def growth(commands: int) -> float:
    """Seconds of each of the last hundred of so many create commands in one world, over those of the first hundred."""
    gateway = Gateway()
    numbers = itertools.count()

    def once() -> None:
        gateway.send_and_wait(OpenAccount(id=f"a-{next(numbers)}", holder="ann", balance=5))

    timed(once, 100)
    first = min(timed(once, 100) for _ in range(5))
    timed(once, commands - 1100)
    gc.collect()
    return min(timed(once, 100) for _ in range(5)) / first


def rows(*, quick: bool) -> list[TableRow]:
    """The rows of the table about what follows publication."""
    rounds, times, commands = (3, 100, 10_000) if quick else (9, 300, 100_000)
    aggregates, each = (100, 10) if quick else (1_000, 10)
    one = interleave(
        {
            "processed": opened(times),
            "projected": to_projected(times),
            "saga": saga_round_trip(times),
            "stream": streamed(times),
        },
        rounds,
    )
    all_of = interleave({"alone": many(aggregates, each), "with": many(aggregates, each, *ALL_PARTS)}, 3)
    counted = f"{aggregates:,} aggregates × {each} commands with everything downstream"
    return [
        at_most("command to PROJECTED / to PROCESSED", one["projected"] / one["processed"], "×", 2),
        at_most("saga round trip of two commands / one command", one["saga"] / one["processed"], "×", 3),
        at_most("send_and_wait_stream / send_and_wait", one["stream"] / one["processed"], "×", 1.5),
        at_most(f"{counted} / the commands alone", all_of["with"] / all_of["alone"], "×", 2.5),
        at_most(f"memory of {counted}", megabytes(aggregates, each), "MB", 150),
        at_most(f"cost of a command, the last of {commands:,} / the first", growth(commands), "×", 1.3),
    ]
