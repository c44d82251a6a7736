"""JSON text taken apart as the modelled runtime does it: lenient with scalars, strict with what is not there.

Bodies and states stay text until their class is known, so that numbers keep every digit (SER-014).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, NoReturn, TypeVar

from pydantic_core import from_json, to_json

from ..errors import DecodeError

E = TypeVar("E")
M = TypeVar("M", bound=StrEnum)

_SCAN: Final = json.JSONDecoder().raw_decode
_SPACE: Final = " \t\n\r"
_INT: Final = (-(2**31), 2**31 - 1)
_LONG: Final = (-(2**63), 2**63 - 1)
_DIGITS: Final = re.compile(r"[+-]?[0-9]+").fullmatch


def text_of(data: bytes | str) -> str:
    """JSON data as text; what is no UTF-8 is a `DecodeError`."""
    if isinstance(data, str):
        return data
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message = f"the text is no UTF-8: {error}"
        raise DecodeError(message) from error


def parse(data: bytes | str) -> Any:
    """The JSON value of a text.

    Raises:
        DecodeError: if it is none.
    """
    try:
        return from_json(data)
    except ValueError as error:
        message = f"the text is no JSON: {error}"
        raise DecodeError(message) from error


def skip(text: str, at: int) -> int:
    """The index of the next character that is no space."""
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def members(text: str) -> dict[str, str]:
    """The texts of an object's values, by key; the text was parsed before."""
    found: dict[str, str] = {}
    at = skip(text, 0) + 1
    while text[at := skip(text, at)] != "}":
        key, at = _SCAN(text, at)
        start = skip(text, skip(text, at) + 1)
        _, at = _SCAN(text, start)
        found[key] = text[start:at]
        at = skip(text, at)
        if text[at] == ",":
            at += 1
    return found


def elements(text: str) -> Iterator[str]:
    """The texts of an array's elements; the text was parsed before."""
    at = skip(text, 0) + 1
    while text[at := skip(text, at)] != "]":
        _, end = _SCAN(text, at)
        yield text[at:end]
        at = skip(text, end)
        if text[at] == ",":
            at += 1


class Tree:
    """A JSON object that is read by key."""

    __slots__ = ("_values", "what")

    def __init__(self, what: str, value: Any) -> None:
        if not isinstance(value, dict):
            kind = "nothing" if value is None else type(value).__name__
            message = f"cannot read {what} from JSON: it is no object but {kind}"
            raise DecodeError(message)
        self.what: str = what
        self._values: dict[str, Any] = value

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def get(self, key: str) -> Any:
        """The value of a key as it is, or None."""
        return self._values.get(key)

    def need(self, key: str) -> Any:
        """The value of a key as it is; a missing key is a `DecodeError`, null is not."""
        try:
            return self._values[key]
        except KeyError:
            message = f"cannot read {self.what} from JSON: {key} is missing"
            raise DecodeError(message) from None

    def need_value(self, key: str) -> Any:
        """The value of a key; missing or null is a `DecodeError`."""
        value = self.need(key)
        if value is None:
            self.refuse(key, "it must not be null")
        return value

    def refuse(self, key: str, reason: str) -> NoReturn:
        """Raise the `DecodeError` that a value is not what its key needs."""
        message = f"cannot read {self.what} from JSON: {key}: {reason}"
        raise DecodeError(message)

    def text(self, key: str, default: str | None = None) -> str:
        """A text; a number or a boolean counts as its text, null as an empty one."""
        value = self.need(key) if default is None else self._values.get(key, default)
        return "" if value is None else self._scalar(key, value)

    def _scalar(self, key: str, value: Any) -> str:
        if type(value) is str:
            return value
        if value is None or isinstance(value, dict | list):
            self.refuse(key, "it is no text")
        return to_json(value).decode()

    def value_text(self, key: str) -> str:
        """As `text`, but null is refused as a missing key is."""
        return self._scalar(key, self.need_value(key))

    def member(self, key: str, members: type[M]) -> M:
        """A member of an enum, by its name (blanks around it count for nothing) or by its place from 0 on."""
        value = self.need_value(key)
        name = value.strip() if isinstance(value, str) else value
        if isinstance(name, str) and name in members.__members__:
            return members[name]
        if type(name) is int or (isinstance(name, str) and name.isascii() and name.isdigit()):
            among = list(members)
            if 0 <= int(name) < len(among):
                return among[int(name)]
        return self.refuse(key, f"{value!r} is none of {', '.join(members.__members__)}")

    def integer(self, key: str, default: int | None = None) -> int:
        """A signed 32-bit integer: text of digits is parsed, a number's fraction cut off, null is 0 (SER-011)."""
        return self._whole(key, default, _INT)

    def long(self, key: str, default: int | None = None) -> int:
        """A signed 64-bit integer, likewise."""
        return self._whole(key, default, _LONG)

    def _whole(self, key: str, default: int | None, limits: tuple[int, int]) -> int:
        value = self.need(key) if default is None else self._values.get(key, default)
        try:
            number = _number(value)
        except ValueError:
            self.refuse(key, f"{value!r} is no integer")
        if not limits[0] <= number <= limits[1]:
            self.refuse(key, f"{value!r} is out of range")
        return number

    def boolean(self, key: str, default: bool | None = None) -> bool:
        """A boolean: null is false, a whole number false where it is 0, text is parsed (SER-011)."""
        value = self.need(key) if default is None else self._values.get(key, default)
        if isinstance(value, dict | list | float):
            self.refuse(key, "it is no boolean")
        if isinstance(value, str):
            if value not in ("true", "false"):
                self.refuse(key, f"{value!r} is no boolean")
            return value == "true"
        return bool(value)

    def list_of(self, key: str, read: Callable[[Any], E]) -> list[E]:
        """A list, empty where it is missing or null."""
        value = self._values.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.refuse(key, "it is no list")
        return [read(item) for item in value]

    def texts(self, key: str) -> dict[str, str]:
        """A flat object of texts (SER-013)."""
        inner = Tree(f"{key} of {self.what}", self.need(key))
        return {name: inner.text(name) for name in inner._values}

    def tags(self, key: str) -> dict[str, list[str]]:
        """Lists of texts by key; empty where it is missing or null."""
        if self._values.get(key) is None:
            return {}
        inner = Tree(f"{key} of {self.what}", self._values[key])
        return {name: inner.texts_of(name) for name in inner._values}

    def texts_of(self, key: str) -> list[str]:
        """A list of texts, empty where it is missing or null; null is no text."""
        return self.list_of(key, lambda value: self._scalar(key, value))


def _number(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, bool):
        raise ValueError(value)  # noqa: TRY004 - the caller says which key
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return int(value)
    if isinstance(value, str) and _DIGITS(value):
        return int(value)
    raise ValueError(value)


def written(head: Mapping[str, Any], raw: Mapping[str, bytes | str], tail: Mapping[str, Any]) -> bytes:
    """An object of values, then of ready JSON texts, then of values again, in this order."""
    parts = [to_json(dict(head))[1:-1]] if head else []
    for key, text in raw.items():
        parts.append(to_json(key) + b":" + (text.encode() if isinstance(text, str) else text))
    if tail:
        parts.append(to_json(dict(tail))[1:-1])
    return b"{" + b",".join(parts) + b"}"
