"""Has jobs done by an executor: in order, and none is lost when a worker dies."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Executor, Future
from enum import Enum
from typing import Any, Final

from ..faults.plans import Plan, PlannedFault
from .collected import tell
from .enumeration import RunMany, Step
from .executors import Shop
from .explore import SpecExploration
from .jobs import JobJson, ReplyJson, SuiteJson
from .results import PlanJson
from .serving import PLANS, base_of, killed_by, step_of
from .workers import probe, work

#: How many items a job has at least and at most, and into how many parts for each worker a task is cut.
_LEAST, _MOST, _PARTS = 8, 64, 4
#: How often a job may be lost before its items are done one by one, and how often one of these alone.
_LOSSES: Final = 2


class Undone(Enum):
    """Why there is no result of an item."""

    #: It must be done in this process.
    HERE = "here"
    #: It ends the process in which it is done.
    KILLED = "killed"


class Crew:
    """Workers for a test session.

    Args:
        shop: makes executors.
        suite: what a worker needs to open the suite.
    """

    def __init__(self, shop: Shop, suite: SuiteJson) -> None:
        self._shop = shop
        self._suite = suite
        self._executor: Executor | None = None
        #: Why nobody works any more.
        self._gone = ""

    def close(self) -> None:
        """Let all workers go."""
        executor, self._executor = self._executor, None
        if executor is not None:
            self._shop.close(executor)

    def run_many(self, exploration: SpecExploration) -> RunMany[PlanJson]:
        """Runs plans of a spec elsewhere, to the same results."""
        base = base_of(exploration)
        faults: dict[str, PlannedFault] = {}

        def run(plans: Sequence[Plan], deeper: bool) -> Generator[Step[PlanJson], None, None]:
            said = {"base": base, "deeper": deeper}
            texts = [str(plan) for plan in plans]
            answers = self.map_json(PLANS, texts, test=exploration.test, spec=exploration.spec, said=said)
            for plan, answer in zip(plans, answers, strict=True):
                if answer is Undone.KILLED:
                    yield killed_by(plan)
                elif answer is Undone.HERE or answer is None:
                    yield exploration.step(plan, deeper=deeper)
                else:
                    yield step_of(plan, answer, faults)

        return run

    def map_json(
        self, task: str, items: Sequence[Any], *, test: str, spec: int = 0, said: dict[str, Any] | None = None
    ) -> Generator[Any, None, None]:
        """Have items of a task done; gives a result for each, in order, or why there is none.

        Args:
            task: its name; the test's `serve` has somebody who does it.
            items: plain JSON, each done by itself.
            test: node id of the test that they are about.
            spec: which of its specs.
            said: plain JSON that all of them need.
        """
        size = min(_MOST, max(_LEAST, -(-len(items) // (self._shop.width * _PARTS))))
        waiting = deque(items[start : start + size] for start in range(0, len(items), size))

        def job(some: Sequence[Any]) -> JobJson:
            return JobJson(suite=self._suite, test=test, task=task, spec=spec, said=said or {}, items=list(some))

        running: deque[tuple[Sequence[Any], Future[ReplyJson] | None]] = deque()
        losses = 0
        try:
            while waiting or running:
                while waiting and len(running) < 2 * self._shop.width:
                    some = waiting.popleft()
                    running.append((some, self._submit(job(some))))
                some, future = running[0]
                try:
                    reply = self._result(future)
                except Exception as error:  # noqa: BLE001 - workers report what goes wrong; they are lost, then
                    losses += 1
                    self._lost(error, test)
                    if losses >= _LOSSES:
                        running.popleft()
                        losses = 0
                        for item in some:
                            yield from self._alone(job([item]), test)
                    running = deque(
                        (each, known if _is_done(known) else self._submit(job(each))) for each, known in running
                    )
                    continue
                running.popleft()
                losses = 0
                yield from self._read(reply, some, test)
        finally:
            for _, left in running:
                if left is not None:
                    left.cancel()

    def _alone(self, job: JobJson, test: str) -> Generator[Any, None, None]:
        """Do a job of one item, which may be what ends processes, in a process that is known to live."""
        for _ in range(_LOSSES):
            try:
                reply = self._result(self._submit(job))
            except Exception as error:  # noqa: BLE001 - as above
                self._lost(error, test)
                if not self._lives():
                    break
                continue
            yield from self._read(reply, job["items"], test)
            return
        if self._gone:
            yield Undone.HERE
            return
        tell(f"{test}: a process ended each time that it did {job['items'][0]}")
        yield Undone.KILLED

    def _read(self, reply: ReplyJson, some: Sequence[Any], test: str) -> Generator[Any, None, None]:
        if reply["refused"]:
            tell(f"{test} is explored in its own process: in another one, {reply['refused']}")
            yield from [Undone.HERE] * len(some)
        else:
            yield from reply["results"]

    def _submit(self, job: JobJson) -> Future[ReplyJson] | None:
        """Hand over a job; None where nobody works any more."""
        if self._gone:
            return None
        try:
            if self._executor is None:
                self._executor = self._shop.make()
            return self._executor.submit(work, job)
        except Exception as error:  # noqa: BLE001 - an executor that is broken, or of which none can be made
            broken: Future[ReplyJson] = Future()
            broken.set_exception(error)
            return broken

    def _result(self, future: Future[ReplyJson] | None) -> ReplyJson:
        if future is None:
            return {"results": [], "refused": self._gone}
        if future.done() or self._executor is None:
            return future.result()
        reply: ReplyJson = self._shop.wait(self._executor, future)
        return reply

    def _lost(self, error: Exception, test: str) -> None:
        """A worker died, or all of them: whoever comes next has a new executor."""
        tell(f"{test}: a worker was lost ({type(error).__name__}); what it did is done again")
        try:
            self.close()
        except Exception:  # noqa: BLE001 - what is broken cannot be closed
            self._executor = None

    def _lives(self) -> bool:
        """Whether new workers work at all; from then on nobody is asked where they do not."""
        try:
            if self._executor is None:
                self._executor = self._shop.make()
            self._shop.wait(self._executor, self._executor.submit(probe))
        except Exception as error:  # noqa: BLE001 - whatever keeps an executor from working
            self._gone = f"nobody works: {type(error).__name__}: {error}"
            return False
        return True


def _is_done(future: Future[ReplyJson] | None) -> bool:
    return future is not None and future.done() and not future.cancelled() and future.exception() is None
