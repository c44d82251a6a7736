"""What becomes of code inside the world that awaits something of a real event loop."""

from __future__ import annotations

from typing import Any

from ..errors import SpecError


class ForeignAwaitError(SpecError):
    """Code inside the world awaited something of a real event loop."""


def foreign_error(foreign: Any) -> ForeignAwaitError:
    """What is thrown into a task that awaits something of an event loop where there is none."""
    what = "something that gave control back to an event loop" if foreign is None else f"{foreign!r}"
    return ForeignAwaitError(
        f"the code awaited {what}, which needs a real event loop",
        why="a world steps its code on virtual time and runs no event loop, so that every run is the same",
        instead="inject a service that answers at once, ask for `clock: Clock` and `await clock.sleep(...)`, "
        "or use the asynchronous form (`gateway.aio`) inside an async test",
    )
