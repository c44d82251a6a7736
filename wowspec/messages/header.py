"""Message headers: text to text, with a latch that makes them read-only (CMD-063 to CMD-065, EVT-072, EVT-073)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn, Self

from ..errors import IllegalStateError, UnsupportedOperationError

COMMAND_OPERATOR: Final = "command_operator"
TRACE_ID: Final = "trace_id"
UPSTREAM_ID: Final = "upstream_id"
UPSTREAM_NAME: Final = "upstream_name"
USER_AGENT: Final = "user_agent"
REMOTE_IP: Final = "remote_ip"
LOCAL_FIRST: Final = "local_first"


class Header(dict[str, str]):
    """A mutable text map that can be frozen for good; a copy is always writable."""

    __slots__ = ()

    @property
    def is_read_only(self) -> bool:
        """Whether every write is refused."""
        return type(self) is _FrozenHeader

    def freeze(self) -> Self:
        """Refuse every later write; cannot be undone."""
        # Another class instead of a latch: so writing to a header costs no more than writing to a dict.
        self.__class__ = _FrozenHeader  # type: ignore[assignment]
        return self

    def with_(self, key: str, value: str) -> Self:
        """Write one entry and return this header."""
        self[key] = value
        return self

    def with_all(self, entries: Mapping[str, str]) -> Self:
        """Write entries and return this header."""
        self.update(entries)
        return self

    def copy(self) -> Header:
        """A new writable header with the same entries."""
        return Header(self)

    def __ior__(self, other: Any) -> Self:  # type: ignore[override, misc]
        self.update(other)
        return self


class _FrozenHeader(Header):
    """What a header becomes when it is frozen."""

    __slots__ = ()

    def _refuse(self, what: str) -> NoReturn:
        message = f"the header is read-only since its message was sent: cannot {what}; write to header.copy()"
        raise UnsupportedOperationError(message)

    def __setitem__(self, key: str, value: str) -> None:
        self._refuse(f"set {key!r}")

    def __delitem__(self, key: str) -> None:
        self._refuse(f"delete {key!r}")

    def pop(self, key: str, *default: Any) -> Any:  # noqa: ARG002
        """Refuse."""
        self._refuse(f"remove {key!r}")

    def popitem(self) -> tuple[str, str]:
        """Refuse."""
        self._refuse("remove an entry")

    def clear(self) -> None:
        """Refuse."""
        self._refuse("clear it")

    def update(self, *args: Any, **kwargs: str) -> None:  # noqa: ARG002
        """Refuse."""
        self._refuse("update it")

    def setdefault(self, key: str, default: str = "") -> str:  # noqa: ARG002
        """Refuse."""
        self._refuse(f"set {key!r}")

    def __reduce_ex__(self, protocol: Any) -> tuple[type[Header], tuple[dict[str, str]]]:
        return Header, (dict(self),)


def to_header(entries: Mapping[str, str] | None) -> Header:
    """A header of these entries: the header itself if it is one with entries, else a new one (CMD-065)."""
    if not entries:
        return Header()
    if isinstance(entries, Header):
        return entries
    return Header(entries)


def require_operator(header: Mapping[str, str]) -> str:
    """Who commanded it; a header without operator is an `IllegalStateError` (CMD-066)."""
    operator = header.get(COMMAND_OPERATOR)
    if operator is None:
        message = f"the header has no operator: {COMMAND_OPERATOR} is missing"
        raise IllegalStateError(message)
    return operator


def is_local_first(header: Mapping[str, str]) -> bool:
    """Whether the header asks to be handled locally first: only `true`, in any case, does (CMD-055)."""
    return header.get(LOCAL_FIRST, "").lower() == "true"


def write_local_first(header: Header, value: bool = True) -> None:
    """Ask to be handled locally first, or not to be (CMD-055)."""
    header[LOCAL_FIRST] = "true" if value else "false"
