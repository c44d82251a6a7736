"""Compare a recorded value with what the model did: types, order and every field count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Wildcard = Callable[[Any], bool]


def is_present(actual: Any) -> bool:
    """A wildcard for values that differ from run to run: text that isn't empty, or any other value but none."""
    return actual is not None and actual != ""


def first_difference(
    expected: Any, actual: Any, path: str = "", *, wildcards: Mapping[str, Wildcard] | None = None
) -> str | None:
    """The first difference of two JSON values, as `path: expected X, got Y`; None when they are equal.

    Types count (`true` is not `1`, `1` is not `1.0`); the order of lists counts, the order of keys does not. Where
    `expected` is a key of `wildcards`, its function judges the actual value instead; so does `expected` itself where it
    is a function.
    """
    if callable(expected):
        return None if expected(actual) else f"{path or '(whole)'}: {_name(expected)} refuses {_short(actual)}"
    if wildcards and isinstance(expected, str) and expected in wildcards:
        return None if wildcards[expected](actual) else _text(path, expected, actual)
    if type(expected) is not type(actual):
        return _text(path, expected, actual)
    if isinstance(expected, dict):
        return _first_of_keys(expected, actual, path, wildcards)
    if isinstance(expected, list):
        for index, (want, have) in enumerate(zip(expected, actual, strict=False)):
            found = first_difference(want, have, f"{path}[{index}]", wildcards=wildcards)
            if found is not None:
                return found
        if len(expected) > len(actual):
            return f"{path}[{len(actual)}]: expected {_short(expected[len(actual)])}, got nothing"
        if len(expected) < len(actual):
            return f"{path}[{len(expected)}]: expected nothing, got {_short(actual[len(expected)])}"
        return None
    return None if expected == actual else _text(path, expected, actual)


def _first_of_keys(
    expected: dict[str, Any], actual: dict[str, Any], path: str, wildcards: Mapping[str, Wildcard] | None
) -> str | None:
    for key, want in expected.items():
        where = f"{path}.{key}" if path else str(key)
        if key not in actual:
            return f"{where}: expected {_short(want)}, got nothing"
        found = first_difference(want, actual[key], where, wildcards=wildcards)
        if found is not None:
            return found
    for key, have in actual.items():
        if key not in expected:
            where = f"{path}.{key}" if path else str(key)
            return f"{where}: expected nothing, got {_short(have)}"
    return None


def _text(path: str, expected: Any, actual: Any) -> str:
    kinds = "" if type(expected) is type(actual) else f" ({type(expected).__name__} against {type(actual).__name__})"
    return f"{path or '(whole)'}: expected {_short(expected)}, got {_short(actual)}{kinds}"


def _short(value: Any, limit: int = 300) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def _name(function: Any) -> str:
    return getattr(function, "__name__", repr(function))
