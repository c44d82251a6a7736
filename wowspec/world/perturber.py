"""Who may change what the system under test does, to see whether a spec notices; a world has one only then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .world import World


class Perturber(Protocol):
    """Stands between the pipeline and the functions of a domain."""

    def call(self, handler: Any, instance: Any, exchange: Any, world: World) -> Any:
        """Call a message function and give its result, or another one; as `runtime.invocation.call`."""
        ...

    def skips(self, check: str, command: Any) -> bool:
        """Whether a check that refuses a command's message is passed over."""
        ...

    def caused(self, command: Any, event: Any, processor: str, index: int) -> None:
        """A processor's function made a command of an event: its `index`-th."""
        ...
