"""What is said of a coroutine that stands where its result belongs: somebody forgot to await it."""

from __future__ import annotations

from types import CoroutineType
from typing import Any, Final

NEVER_RAN: Final = "an async function runs when it is awaited, so nothing of this one ran"


def close_unawaited(coroutine: CoroutineType[Any, Any, Any]) -> str:
    """The function that made it, as the author calls it: `Rates.rate`; Python need not warn of it any more."""
    coroutine.close()
    return coroutine.__qualname__.rpartition("<locals>.")[2]
