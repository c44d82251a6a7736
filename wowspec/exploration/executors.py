"""Where plans are run: in this process, in a pool of others, on a Dask cluster, or wherever a user's factory says."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Final

from ..errors import SpecError

SERIAL: Final = "serial"
_EXAMPLES: Final = "serial, processes, processes:4, dask:tcp://scheduler:8786, or my_package.executors:make"
#: How long a Dask cluster may be without a worker, in seconds, looked at in steps.
_STEP, _STEPS = 5.0, 6


@dataclass(frozen=True, slots=True)
class Shop:
    """Makes executors, all alike: after one broke, another one goes on.

    Attributes:
        name: as the command line says it.
        make: makes one.
        width: how many jobs it does at a time, about.
        wait: gives the result of a job; raises if it is lost.
        close: lets go of one.
    """

    name: str
    make: Callable[[], Executor]
    width: int
    wait: Callable[[Executor, Future[Any]], Any]
    close: Callable[[Executor], None]


def shop_of(said: str | None) -> Shop | None:
    """Who makes executors, as `--wowspec-executor` says it; None: all is done in this process.

    Raises:
        SpecError: for what names none.
    """
    if said is None or said == SERIAL:
        return None
    head, _, rest = said.partition(":")
    if head == "processes":
        return _processes(said, rest)
    if head == "dask":
        return _dask(said, rest)
    return _factory(said)


def _processes(said: str, count: str) -> Shop:
    if count and (not count.isdecimal() or int(count) < 1):
        raise _refused(said, "it says how many processes there are")
    width = int(count) if count else os.cpu_count() or 2
    # Processes that begin anew: a copy of this one would have the test's state half-way, and its locks.
    return Shop(said, lambda: ProcessPoolExecutor(width, mp_context=get_context("spawn")), width, _result, _shut)


def _factory(said: str) -> Shop:
    module, colon, name = said.partition(":")
    if not colon or not module or not name:
        raise _refused(said, "there is no such executor")
    try:
        factory: Any = importlib.import_module(module)
        for part in name.split("."):
            factory = getattr(factory, part)
    except (ImportError, AttributeError) as error:
        raise _refused(said, f"it cannot be imported: {error}") from error

    def make() -> Executor:
        made = factory()
        if not isinstance(made, Executor):
            raise _refused(said, f"it makes a {type(made).__name__}, which is no concurrent.futures.Executor")
        return made

    return Shop(said, make, os.cpu_count() or 2, _result, _shut)


def _dask(said: str, address: str) -> Shop:
    if not address:
        raise _refused(said, "it says no address of a scheduler")
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise SpecError(
            f"--wowspec-executor={said}", why="distributed is not installed", instead="pip install 'wowspec[dask]'"
        ) from error
    clients: dict[int, Any] = {}

    def make() -> Executor:
        client = distributed.Client(address, set_as_default=False)
        executor: Executor = client.get_executor(pure=False)
        clients[id(executor)] = client
        return executor

    def wait(executor: Executor, future: Future[Any]) -> Any:
        without = 0
        while True:
            try:
                return future.result(_STEP)
            except TimeoutError:
                without = 0 if clients[id(executor)].nthreads() else without + 1
                if without >= _STEPS:
                    raise

    def close(executor: Executor) -> None:
        executor.shutdown(wait=False)
        clients.pop(id(executor)).close()

    return Shop(said, make, os.cpu_count() or 2, wait, close)


def _result(_: Executor, future: Future[Any]) -> Any:
    return future.result()


def _shut(executor: Executor) -> None:
    executor.shutdown(wait=True, cancel_futures=True)


def _refused(said: str, why: str) -> SpecError:
    return SpecError(f"--wowspec-executor={said}", why=why, instead=_EXAMPLES)
