"""The coordinator: one live handle for each wait id (section T of the contract)."""

from __future__ import annotations

from ...errors import IllegalArgumentError
from ...messages.wait_plans import WaitPlan
from ...messages.wait_signals import WaitSignal
from .handles import DEFAULT_STREAM_QUEUE_LINK_SIZE, LastHandle, StreamHandle, WaitHandle


class WaitCoordinator:
    """Registers handles and routes signals to them by wait id.

    Args:
        stream_queue_link_size: setting of stream handles; must be positive, does not limit buffering (CMD-414).
    """

    __slots__ = ("_handles", "_stream_queue_link_size")

    def __init__(self, stream_queue_link_size: int = DEFAULT_STREAM_QUEUE_LINK_SIZE) -> None:
        self._handles: dict[str, WaitHandle] = {}
        self._stream_queue_link_size = stream_queue_link_size

    def open_last(self, plan: WaitPlan) -> LastHandle:
        """Register a last-result handle; a taken wait id is an `IllegalArgumentError` (CMD-397)."""
        handle = LastHandle(plan, self._forget)
        self._register(handle)
        return handle

    def open_stream(self, plan: WaitPlan) -> StreamHandle:
        """Register a stream handle; refuses a taken wait id and a bad link size (CMD-397, CMD-414)."""
        handle = StreamHandle(plan, self._forget, self._stream_queue_link_size)
        self._register(handle)
        return handle

    def signal(self, signal: WaitSignal) -> bool:
        """Route a signal; False if it was ignored or nobody waits any more (CMD-398, CMD-399, CMD-435)."""
        handle = self._handles.get(signal.wait_command_id)
        return False if handle is None else handle.next(signal)

    def lose_all(self) -> list[WaitHandle]:
        """Forget the handles, unanswered: the process that had them is gone; gives them."""
        lost = list(self._handles.values())
        self._handles.clear()
        return lost

    def __contains__(self, wait_command_id: object) -> bool:
        """Whether a live handle waits under this id (CMD-401)."""
        return wait_command_id in self._handles

    @property
    def waiting(self) -> tuple[str, ...]:
        """The wait ids that are registered, oldest first."""
        return tuple(self._handles)

    def _register(self, handle: WaitHandle) -> None:
        wait_command_id = handle.plan.wait_command_id
        if wait_command_id in self._handles:
            message = (
                f"a wait handle is already registered for wait id {wait_command_id!r}: "
                "a command can be waited for by one caller at a time"
            )
            raise IllegalArgumentError(message)
        self._handles[wait_command_id] = handle

    def _forget(self, handle: WaitHandle) -> None:
        # Only that very handle: an old one that ends again must not take the new one's place away (CMD-400).
        wait_command_id = handle.plan.wait_command_id
        if self._handles.get(wait_command_id) is handle:
            del self._handles[wait_command_id]
