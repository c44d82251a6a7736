"""Message headers: text to text, with a latch that makes them read-only (CMD-063 to CMD-065, EVT-072, EVT-073)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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

    __slots__ = ("_read_only",)

    def __init__(self, entries: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(entries)
        self._read_only = False

    @property
    def is_read_only(self) -> bool:
        """Whether every write is refused."""
        return self._read_only

    def freeze(self) -> Self:
        """Refuse every later write; cannot be undone."""
        self._read_only = True
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

    def _refuse(self, what: str) -> NoReturn:
        message = f"the header is read-only since its message was sent: cannot {what}; write to header.copy()"
        raise UnsupportedOperationError(message)

    def __setitem__(self, key: str, value: str) -> None:
        if self._read_only:
            self._refuse(f"set {key!r}")
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        if self._read_only:
            self._refuse(f"delete {key!r}")
        super().__delitem__(key)

    def pop(self, key: str, *default: Any) -> Any:
        """Remove an entry and return its value."""
        if self._read_only:
            self._refuse(f"remove {key!r}")
        return super().pop(key, *default)

    def popitem(self) -> tuple[str, str]:
        """Remove the last entry."""
        if self._read_only:
            self._refuse("remove an entry")
        return super().popitem()

    def clear(self) -> None:
        """Remove every entry."""
        if self._read_only:
            self._refuse("clear it")
        super().clear()

    def update(self, *args: Any, **kwargs: str) -> None:
        """Write entries."""
        if self._read_only:
            self._refuse("update it")
        super().update(*args, **kwargs)

    def setdefault(self, key: str, default: str = "") -> str:
        """Write an entry unless there is one."""
        if self._read_only:
            self._refuse(f"set {key!r}")
        return super().setdefault(key, default)

    def __ior__(self, other: Any) -> Self:  # type: ignore[override, misc]
        self.update(other)
        return self


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
