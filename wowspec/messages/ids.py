"""Ids and time as messages need them; a world supplies both, so that every run gives the same ones.

A global id has 15 radix-62 characters: 8 of time, 4 of the machine, 3 of a sequence. Ids of one generator grow as texts
(CMD-035, NAM-020), and the machine part tells which process waits for a command (CMD-432).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Protocol

from ..errors import IllegalArgumentError

RADIX62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_VALUES: Final = {char: value for value, char in enumerate(RADIX62)}
TIME_CHARS: Final = 8
MACHINE_CHARS: Final = 4
SEQUENCE_CHARS: Final = 3
ID_CHARS: Final = TIME_CHARS + MACHINE_CHARS + SEQUENCE_CHARS
_SEQUENCES: Final = 62**SEQUENCE_CHARS
_NANOS_PER_MILLI: Final = 1_000_000
#: The machine id of a world's own process.
DEFAULT_MACHINE_ID: Final = 7


class Origin(Protocol):
    """Where messages get their ids and times from."""

    def next_id(self) -> str:
        """A new global id, greater as text than all before."""
        ...

    def now_millis(self) -> int:
        """The time in epoch milliseconds."""
        ...


# A process has one machine id, and most worlds begin at the same time.
@lru_cache(maxsize=64)
def to_radix62(value: int, width: int) -> str:
    """A non-negative integer as radix-62 text of a fixed width."""
    chars = []
    for _ in range(width):
        value, digit = divmod(value, 62)
        chars.append(RADIX62[digit])
    return "".join(reversed(chars))


def from_radix62(text: str) -> int:
    """The integer that a radix-62 text stands for; another character is an `IllegalArgumentError`."""
    value = 0
    for char in text:
        digit = _VALUES.get(char)
        if digit is None:
            message = f"{char!r} in {text!r} is no radix-62 digit (0-9, A-Z, a-z)"
            raise IllegalArgumentError(message)
        value = value * 62 + digit
    return value


def machine_id_of(global_id: str) -> int:
    """The machine that generated an id; another layout is an `IllegalArgumentError` (CMD-433)."""
    if len(global_id) != ID_CHARS:
        message = f"{global_id!r} is no global id: it has {len(global_id)} characters instead of {ID_CHARS}"
        raise IllegalArgumentError(message)
    from_radix62(global_id)
    return from_radix62(global_id[TIME_CHARS : TIME_CHARS + MACHINE_CHARS])


class IdGenerator:
    """Deterministic global ids: the same calls at the same times give the same ids."""

    __slots__ = ("_head", "_low", "_machine", "_millis", "_nanos", "_sequence", "machine_id")

    def __init__(self, machine_id: int = DEFAULT_MACHINE_ID) -> None:
        self.machine_id: int = machine_id
        self._machine = to_radix62(machine_id, MACHINE_CHARS)
        #: When an id was last asked for: time mostly stands still, and a division takes long.
        self._nanos = -1
        self._millis = -1
        # All but the last digit, which alone changes most of the time; `_sequence` is that of digit 0.
        self._head = ""
        self._low = 62
        self._sequence = _SEQUENCES

    def next_id(self, millis: int) -> str:
        """The next id at this time in epoch milliseconds."""
        return self.next_at(millis * _NANOS_PER_MILLI)

    def next_at(self, nanos: int) -> str:
        """The next id at this time in epoch nanoseconds."""
        if nanos is not self._nanos:
            self._nanos = nanos
            millis = nanos // _NANOS_PER_MILLI
            if millis > self._millis:
                self._start(millis, 0)
        low = self._low
        if low == 62:
            self._start(self._millis, self._sequence + 62)
            low = 0
        self._low = low + 1
        return self._head + RADIX62[low]

    def _start(self, millis: int, sequence: int) -> None:
        if sequence >= _SEQUENCES:
            millis, sequence = millis + 1, 0
        self._millis = millis
        self._sequence = sequence
        self._low = 0
        self._head = to_radix62(millis, TIME_CHARS) + self._machine + to_radix62(sequence // 62, SEQUENCE_CHARS - 1)

    def copy(self) -> IdGenerator:
        """A generator that goes on from here on its own."""
        other = IdGenerator(self.machine_id)
        other._millis, other._sequence, other._head, other._low = self._millis, self._sequence, self._head, self._low
        return other
