"""When a text is blank, in the sense of the modelled runtime."""

from __future__ import annotations

#: White space to Python, a control character to the runtime (NEL); the only character that the two disagree on.
_NOT_BLANK = "\x85"


def is_blank(text: str) -> bool:
    """Whether a text is empty or white space alone; every "blank" of the contract is this."""
    return not text or (text.isspace() and _NOT_BLANK not in text)
