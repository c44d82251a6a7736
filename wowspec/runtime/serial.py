"""Work in groups: one job at a time within a group, in order of arrival; groups go on beside each other (CMD-164)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from ..world.scheduler import Scheduler, Task

Job = Callable[[], Coroutine[Any, Any, None]]


class SerialGroups:
    """Queues of jobs by group key. A job that hangs blocks its group for good."""

    __slots__ = ("_queues", "_scheduler", "_workers", "name")

    def __init__(self, scheduler: Scheduler, name: str) -> None:
        self._scheduler = scheduler
        #: Groups where a job runs; None for one that was blocked in the world that this one is a copy of.
        self._workers: dict[Any, Task[None] | None] = {}
        #: What waits behind it.
        self._queues: dict[Any, deque[Job]] = {}
        self.name = name

    def submit(self, key: Any, job: Job) -> None:
        """Run a job when its turn in the group comes."""
        if key in self._workers:
            self._queues.setdefault(key, deque()).append(job)
            return
        self._workers[key] = self._scheduler.spawn(self._work(key, job), f"{self.name}[{key}]")

    async def _work(self, key: Any, job: Job) -> None:
        while True:
            try:
                await job()
            except GeneratorExit:
                # The world is gone, and a job that hung with it; nothing moves any more.
                raise
            except BaseException:
                # The caller in whose event loop it ran was cancelled: this job is lost, those behind it are not.
                del self._workers[key]
                for waiting in self._queues.pop(key, ()):
                    self.submit(key, waiting)
                raise
            queue = self._queues.get(key)
            if not queue:
                del self._workers[key]
                self._queues.pop(key, None)
                return
            job = queue.popleft()

    def end(self) -> None:
        """Drop what waits, and cancel what runs, but for the caller's own job."""
        for queue in self._queues.values():
            queue.clear()
        for worker in self._workers.values():
            if worker is not None and worker is not self._scheduler.current:
                worker.cancel()

    @property
    def waiting(self) -> dict[Any, int]:
        """How many jobs wait behind the running one, by group."""
        return {key: len(self._queues.get(key, ())) for key in self._workers}

    def copy_blocked(self, other: SerialGroups) -> None:
        """Take over which groups of another are blocked: in an idle world a running job is one that hangs for good."""
        self._workers.update(dict.fromkeys(other._workers))
        self._queues.update({key: deque(queue) for key, queue in other._queues.items()})
