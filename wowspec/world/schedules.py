"""Schedules as text: which of the ready tasks went first, at each choice."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ..errors import SpecError

#: A run of zeros no longer than this is written out.
LONGEST_WRITTEN_OUT: Final = 2
_ZEROS: Final = re.compile(r"0x([1-9][0-9]*)")

Schedule = tuple[int, ...]


def schedule_text(choices: Iterable[int]) -> str:
    """A schedule as text: `0.2.1`; a longer run of zeros is written `0x7`, and trailing zeros are left out."""
    parts: list[str] = []
    zeros = 0
    for choice in choices:
        if not choice:
            zeros += 1
            continue
        parts += [f"0x{zeros}"] if zeros > LONGEST_WRITTEN_OUT else ["0"] * zeros
        zeros = 0
        parts.append(str(choice))
    return ".".join(parts) or "0"


def parse_schedule(text: str) -> Schedule:
    """The choices that a text stands for; an empty one is the ordinary run.

    Raises:
        SpecError: if it is no schedule.
    """
    choices: list[int] = []
    for part in str(text).split(".") if text else ():
        zeros = _ZEROS.fullmatch(part)
        if zeros is not None:
            choices += [0] * int(zeros[1])
        elif part.isascii() and part.isdecimal():
            choices.append(int(part))
        else:
            raise SpecError(
                f"schedule={text!r}",
                why="a schedule is a list of choices, each the place of a task among those that are ready",
                instead='schedule="0.2.1", as a failure prints it',
            )
    while choices and not choices[-1]:
        choices.pop()
    return tuple(choices)
