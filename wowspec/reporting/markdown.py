"""Plain text as Markdown that shows it literally, in CommonMark, on GitHub and in Python-Markdown alike."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Final

#: Characters that would be markup, as what all three renderers show for the character itself.
_LITERAL: Final = str.maketrans(
    {
        "\\": "&#92;",
        "`": "&#96;",
        "*": "&#42;",
        "[": "&#91;",
        "]": "&#93;",
        "{": "&#123;",
        "}": "&#125;",
        "<": "&lt;",
        ">": "&gt;",
        "&": "&amp;",
        "|": "&#124;",
        "~": "&#126;",
        "$": "&#36;",
        "!": "&#33;",
    }
)
#: Underscores that stand between letters are no markup anywhere.
_UNDERSCORE: Final = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
#: What begins a heading, a list or a rule at the beginning of a line.
_LINE_START: Final = re.compile(r"^(\s*)([#+\-=:]|\d+(?=[.)]))")
_SLUG: Final = re.compile(r"[^a-z0-9]+")
#: Names that some file system keeps for itself, and the one of our own first page.
_RESERVED: Final = frozenset(
    {"index", "con", "prn", "aux", "nul", *(f"{p}{n}" for p in ("com", "lpt") for n in range(10))}
)


def literal(text: str) -> str:
    """Text in a line of Markdown; line ends become a sign, since a line is one thing."""
    line = " ⏎ ".join(part.strip() for part in text.splitlines()) if "\n" in text or "\r" in text else text
    line = _UNDERSCORE.sub("&#95;", line.translate(_LITERAL))
    return _LINE_START.sub(lambda found: f"{found[1]}{_entities(found[2])}", line)


def code(text: str) -> str:
    """Text as code, in a line."""
    return literal(text) if "`" in text or "\n" in text else f"`{text}`"


def _entities(text: str) -> str:
    return "".join(f"&#{ord(each)};" for each in text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; every cell is Markdown already."""
    lines = [_row(head), _row(["---"] * len(head))]
    return lines + [_row(row) for row in rows]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def slug(text: str, taken: set[str]) -> str:
    """A name for a file or an anchor: a-z, 0-9 and `-` alone, and none that is taken; takes it.

    The same text, after the same others, gives the same name.
    """
    found = _SLUG.sub("-", text.lower()).strip("-")[:80].strip("-")
    if not found or (len(found) < len(text) / 2 and not text.isascii()):
        found = f"{found}-{hashlib.sha256(text.encode()).hexdigest()[:8]}".strip("-")
    if found in _RESERVED:
        found = f"{found}-scenarios"
    name, number = found, 2
    while name in taken:
        name, number = f"{found}-{number}", number + 1
    taken.add(name)
    return name
