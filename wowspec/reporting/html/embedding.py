"""How texts of anybody's are put into a page, so that none of them is taken for a part of it."""

from __future__ import annotations

import hashlib
import html
import json
import re
from typing import Any, Final

#: What a parser of HTML could take for the end of a script, or for a comment; U+2028 and U+2029 are escaped as all
#: that is not ASCII.
_MARKUP: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
#: How terminals are told of colours.
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
#: What no HTML text may hold, what cannot be written as UTF-8, and what has no shape but moves what stands around it.
_NO_TEXT: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)
_SPACES: Final = re.compile(r"[^\w]+")


def script_json(value: Any) -> str:
    """A value as JSON that may stand within a `<script>` element: ASCII alone, and nothing that looks like markup."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character, escape in _MARKUP.items():
        text = text.replace(character, escape)
    return text


def readable(text: str) -> str:
    """A text without the colours of terminals, and with what has no shape written as its number."""
    return _NO_TEXT.sub(lambda found: f"\\u{ord(found[0]):04x}", _COLOURS.sub("", text))


def escaped(text: str) -> str:
    """A text as it stands in HTML, between tags or within the quotes of an attribute."""
    return html.escape(readable(text), quote=True)


def slug(text: str, most: int = 60) -> str:
    """A text as a part of an address: letters, digits and `-`."""
    plain = _SPACES.sub("-", readable(text).replace("_", "-")).strip("-").lower()
    ascii_only = plain.encode("ascii", "ignore").decode("ascii")
    return re.sub(r"-+", "-", ascii_only)[:most].strip("-")


def address(kind: str, name: str, identity: str) -> str:
    """The part of an address that leads to one thing: readable, and another one for each identity."""
    digest = hashlib.blake2b(identity.encode("utf-8", "backslashreplace"), digest_size=4).hexdigest()
    return "-".join(part for part in (kind, slug(name), digest) if part)
