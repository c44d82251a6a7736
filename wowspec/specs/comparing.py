"""What a plain `assert run.events == [...]` shows: the cause in the first line, and no more than pytest lets through.

pytest cuts what a plugin explains to 8 lines and 640 characters, unless it runs with `-vv` or on CI. Cut here, the text
is the same everywhere and ends where a reader can follow.
"""

from __future__ import annotations

from typing import Any, Final

from .alignment import match_events
from .diff import events_text
from .facts import Facts
from .layout import several
from .render import BRIEF, DEFAULT_LIMITS, render
from .sides import Sides, quietly, sides_of_events

#: pytest's own limits are 8 and 640; its first line is counted in.
_MOST_LINES: Final = 7
_MOST_CHARACTERS: Final = 600
#: What there is, as code to paste, where it is no longer than this.
_LONGEST_RIGHT: Final = 120


#: The last comparison that was explained: its first line, and its sides for a diff viewer.
_last: list[tuple[str, Sides]] = []


def last_sides(error: BaseException) -> Sides | None:
    """The sides of the comparison that an error tells of, if it is one of these; then it is forgotten."""
    found, _last[:] = list(_last), []
    return next((sides for reason, sides in found if reason in str(error)), None)


def comparison(left: Any, right: Any, *, whole: bool) -> list[str] | None:
    """The lines that explain why two sequences of facts are not equal; None where the kit has nothing to say.

    Args:
        left: one side.
        right: the other; the side that is no `Facts` is what is expected, and of two it is the right one.
        whole: whether everything is shown.
    """
    actual, expected = (left, right) if isinstance(left, Facts) else (right, left)
    if not isinstance(expected, list | tuple | Facts):
        return None
    match = match_events(list(expected), tuple(actual))
    if match.matched:
        return None
    limits = DEFAULT_LIMITS if whole else BRIEF
    reason, *lines = events_text(match, ledger="there", limits=limits).splitlines()
    lines = [line for line in lines if line.strip()]
    if not any(line.startswith("  hint: ") for line in lines):
        holds = f"  if it is right: {render(list(actual))}"
        lines += [holds] if len(holds) <= _LONGEST_RIGHT else []
    compared = f"{_brief(left)} == {_brief(right)}"
    shown = [f"{reason.replace(' and there', ', as many there')}  [{compared}]" if whole else reason]
    sides = quietly(lambda: sides_of_events(list(expected), tuple(actual)))
    _last[:] = [] if sides is None else [(shown[0], sides)]
    if whole:
        return [shown[0], *lines]
    room = _MOST_CHARACTERS - len(shown[0])
    for place, line in enumerate(lines):
        room -= len(line)
        if (len(shown) == _MOST_LINES - 1 and place < len(lines) - 1) or room < 0:
            shown.append(f"… {several(len(lines) - place, 'more line')}: -vv shows all")
            break
        shown.append(line)
    return shown


def _brief(side: Any) -> str:
    return render(side, BRIEF)
