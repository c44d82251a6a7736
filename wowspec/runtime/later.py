"""A call that was made, whose work is done when it is awaited: how stores answer (EVT-002, SNP-003)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class Later(Generic[T]):
    """Work to do at the await, and again at each further one; dropping it unawaited does nothing and warns of nothing.

    What is wrong with the call itself is raised by the call; what goes wrong in the work, by the await (EVT-018).
    """

    __slots__ = ("_args", "_work")

    def __init__(self, work: Callable[..., T], *args: Any) -> None:
        self._work = work
        self._args = args

    def __await__(self) -> Generator[Any, Any, T]:
        return self._work(*self._args)
        yield  # what makes this a generator; a store in memory has nothing to wait for

    def now(self) -> T:
        """Do the work at once."""
        return self._work(*self._args)


async def awaited(answer: Awaitable[T]) -> T:
    """A coroutine for any awaitable."""
    return await answer


def sync_form(owner: object, name: str) -> Callable[..., Any]:
    """The method that does an operation at once: `<name>_now` where a store has it, else one that gives a coroutine.

    Stores in memory have one; it spares the pipeline an awaitable for each visit.
    """
    direct = getattr(owner, f"{name}_now", None)
    if direct is not None:
        return cast("Callable[..., Any]", direct)
    method = getattr(owner, name)
    return lambda *args: awaited(method(*args))
