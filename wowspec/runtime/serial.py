"""Work in groups: one job at a time within a group, in order of arrival; groups go on beside each other (CMD-164)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from ..errors import ProcessCrash
from ..world.scheduler import Scheduler, Task

Job = Callable[[], Coroutine[Any, Any, None]]


class SerialGroups:
    """Queues of jobs by group key. A job that hangs blocks its group for good."""

    __slots__ = ("_queues", "_scheduler", "_workers", "name")

    def __init__(self, scheduler: Scheduler, name: str) -> None:
        self._scheduler = scheduler
        #: Groups where a job runs: who runs it (None if it was blocked in the world that this one is a copy of), and
        #: what the job is about.
        self._workers: dict[Any, tuple[Task[None] | None, Any]] = {}
        #: What waits behind it.
        self._queues: dict[Any, deque[tuple[Job, Any]]] = {}
        self.name: str = name

    def submit(self, key: Any, job: Job, subject: Any = None) -> None:
        """Run a job when its turn in the group comes; `subject` says what it is about, to whoever looks."""
        if key in self._workers:
            self._queues.setdefault(key, deque()).append((job, subject))
            return
        self._workers[key] = self._scheduler.spawn(self._work(key, job), f"{self.name}[{key}]"), subject

    async def _work(self, key: Any, job: Job) -> None:
        while True:
            try:
                await job()
            except (GeneratorExit, ProcessCrash):
                # The world is gone, or the process, and a job that hung with it; nothing moves any more.
                raise
            except BaseException:
                # The caller in whose event loop it ran was cancelled: this job is lost, those behind it are not.
                del self._workers[key]
                for waiting, subject in self._queues.pop(key, ()):
                    self.submit(key, waiting, subject)
                raise
            queue = self._queues.get(key)
            if not queue:
                del self._workers[key]
                self._queues.pop(key, None)
                return
            job, subject = queue.popleft()
            self._workers[key] = self._workers[key][0], subject

    def end(self) -> None:
        """Drop what waits, and cancel what runs, but for the caller's own job."""
        for queue in self._queues.values():
            queue.clear()
        for worker, _ in self._workers.values():
            if worker is not None and worker is not self._scheduler.current:
                worker.cancel()

    @property
    def busy(self) -> bool:
        """Whether a job runs, in whatever group; one that hangs runs for good."""
        return bool(self._workers)

    @property
    def waiting(self) -> dict[Any, int]:
        """How many jobs wait behind the running one, by group."""
        return {key: len(self._queues.get(key, ())) for key in self._workers}

    @property
    def lines(self) -> list[tuple[Task[None] | None, Any, list[Any]]]:
        """Each group where a job runs: who runs it, what it is about, and what those behind it are about."""
        return [
            (worker, subject, [behind for _, behind in self._queues.get(key, ())])
            for key, (worker, subject) in self._workers.items()
        ]

    def copy_blocked(self, other: SerialGroups) -> None:
        """Take over which groups of another are blocked: in an idle world a running job is one that hangs for good."""
        self._workers.update({key: (None, subject) for key, (_, subject) in other._workers.items()})
        self._queues.update({key: deque(queue) for key, queue in other._queues.items()})
