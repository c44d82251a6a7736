"""Values that commands share: ids from small pools, so that later commands often speak of what earlier ones did."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final
from uuid import UUID

from hypothesis import strategies as st

from .leaves import Schema, Strategy, accepts

#: How many values a pool has.
SIZE: Final = 3
_ID: Final = re.compile(r"(?:(?P<snake>.*)_)?ids?|(?P<camel>.+)Ids?")


def stem_of(name: str) -> str | None:
    """What a field is an id of: `product` for `product_id`, `productId` and `product_ids`; None if it is no id."""
    found = _ID.fullmatch(name)
    return None if found is None else (found["snake"] or found["camel"] or "").strip("_")


def shared_values(path: Sequence[str], schema: Schema) -> Strategy | None:
    """The pool of a field that is an id by its name; None for others, and where the type accepts none of its values."""
    stem = stem_of(path[-1].removesuffix("[]").removesuffix("[]")) if path else None
    values = _VALUES.get(schema["type"])
    if stem is None or values is None:
        return None
    accepted = [value for value in values(stem, schema) if accepts(schema)(value)]
    return st.sampled_from(accepted) if accepted else None


def _texts(stem: str, schema: Schema) -> list[Any]:  # noqa: ARG001
    return [f"{stem}-{number}" if stem else str(number) for number in range(1, SIZE + 1)]


def _numbers(stem: str, schema: Schema) -> list[Any]:  # noqa: ARG001
    return list(range(1, SIZE + 1))


def _uuids(stem: str, schema: Schema) -> list[Any]:  # noqa: ARG001
    version = schema.get("version") or 4
    return [UUID(int=version << 76 | 2 << 62 | number) for number in range(1, SIZE + 1)]


_VALUES: Final[dict[str, Callable[[str, Schema], list[Any]]]] = {"str": _texts, "int": _numbers, "uuid": _uuids}
