"""Retries inside the process, on virtual time."""

from __future__ import annotations

import pytest

from wowspec.errors import RetriesExhaustedError
from wowspec.runtime.retrying import DEFAULT_RETRIES, RetryStrategy
from wowspec.world.world import World

START = World().clock.nanos


class Work:
    """Fails some times; remembers when it was tried."""

    def __init__(self, world: World, failures: int) -> None:
        self.world = world
        self.failures = failures
        self.tried: list[int] = []

    async def __call__(self) -> str:
        self.tried.append((self.world.clock.nanos - START) // 1_000_000)
        if len(self.tried) <= self.failures:
            raise KeyError(len(self.tried))
        return "done"


def run(strategy, failures, is_worth_it=None):
    """The task, and when the work was tried in milliseconds."""
    world = World()
    work = Work(world, failures)
    options = (work, world.scheduler) if is_worth_it is None else (work, world.scheduler, is_worth_it)
    task = world.scheduler.spawn(strategy.run(*options), "work")
    world.scheduler.run()
    return task, work.tried


@pytest.mark.clause("EVT-131", "CMD-187")
def test_ten_tries_from_200_ms_after_any_error():
    """By default any error is tried again, ten times, each wait twice as long as the one before."""
    task, tried = run(DEFAULT_RETRIES, 10)
    assert task.result() == "done"
    assert tried == [200 * (2**n - 1) for n in range(11)]

    task, tried = run(DEFAULT_RETRIES, 11)
    assert len(tried) == 11
    assert isinstance(task.error, RetriesExhaustedError)
    assert isinstance(task.error.__cause__, KeyError)
    assert task.error.__cause__.args == (11,)


def test_what_is_not_worth_it_is_raised_at_once():
    """An error that is not worth another try comes through as it is."""
    task, tried = run(RetryStrategy(3, 1), 1, lambda error: False)

    assert tried == [0]
    assert isinstance(task.error, KeyError)
