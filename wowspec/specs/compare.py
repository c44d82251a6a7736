"""Where an expected value and an actual one differ, matchers looked into.

`messages.equality` decides what is equal, here as in the always-on laws; this module lets matchers explain themselves,
and turns each difference into one line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set as AbstractSet
from typing import Any, Final

from ..messages.equality import MISSING, Difference, all_differences
from .render import DEFAULT_LIMITS, Limits, in_order, quoted, render

#: Differences looked for in one pair of values; more are rarely read.
MOST_DIFFERENCES: Final = 20
#: Elements of lists that are compared in any order.
_MOST_REORDERED: Final = 60


class Unreadable:
    """Stands for a value that could not be read or compared, and says why."""

    __slots__ = ("why",)

    def __init__(self, doing: str, error: Exception) -> None:
        self.why: str = f"{doing} raises {type(error).__name__}: {error}"

    def __repr__(self) -> str:
        return f"<{self.why}>"


def differences(expected: Any, actual: Any, *, limit: int = MOST_DIFFERENCES) -> list[Difference]:
    """The places at which the actual value is not as expected, in the order of the fields."""
    explain = _explanation(expected)
    if explain is not None:
        return explain(expected, actual)
    try:
        found = all_differences(expected, actual, limit=limit)
    except Exception as error:  # noqa: BLE001 - a user's `__eq__`: it did not say that they are equal
        return [Difference("", expected, Unreadable("comparing", error))]
    explained: list[Difference] = []
    for difference in found:
        explain = _explanation(difference.expected)
        if explain is None:
            explained.append(difference)
        else:
            explained.extend(below(difference.path, explain(difference.expected, difference.actual)))
    return _with_insertions(expected, actual, explained) if limit > 1 else explained


def _explanation(expected: Any) -> Callable[[Any, Any], list[Difference]] | None:
    """How a matcher says where it is not met; None for one that only says that it is not, and for plain values."""
    return getattr(type(expected), "__wowspec_differences__", None)


def equals(expected: Any, actual: Any) -> bool:
    """Whether the actual value is as expected."""
    return not differences(expected, actual, limit=1)


def below(path: str, found: list[Difference]) -> list[Difference]:
    """The same differences, seen from further up."""
    return [Difference(join(path, each.path), each.expected, each.actual) for each in found]


def join(path: str, rest: str) -> str:
    """One path after another: `events[1]` and `lines[0]` are `events[1].lines[0]`."""
    return path + rest if not path or not rest or rest.startswith("[") else f"{path}.{rest}"


def _with_insertions(expected: Any, actual: Any, found: list[Difference]) -> list[Difference]:
    """Where a list only gained or only lost a run of elements, say so, instead of how each element after it differs."""
    for each in found:
        for index in _INDEX.finditer(each.path):
            root = each.path[: index.start()]
            told = _one_run(_at(expected, root), _at(actual, root))
            if told:
                inside = [n for n, other in enumerate(found) if other.path.startswith(f"{root}[")]
                return found[: inside[0]] + below(root, told) + found[inside[-1] + 1 :]
    return found


def _one_run(left: Any, right: Any) -> list[Difference]:
    """The elements that one list has more than the other, if they are one run; both if one is empty; else nothing."""
    if not (isinstance(left, list | tuple) and isinstance(right, list | tuple)) or len(left) == len(right):
        return []
    if not left or not right:
        return [Difference("", left, right)]
    short, long = sorted((left, right), key=len)
    head = next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if not equals(a, b)), len(short))
    extra = len(long) - len(short)
    rest = len(short) - head
    if not all(map(equals, left[len(left) - rest :], right[len(right) - rest :])):
        return []
    run = range(head, head + extra)
    if long is left:
        return [Difference(f"[{n}]", left[n], MISSING) for n in run]
    return [Difference(f"[{n}]", MISSING, right[n]) for n in run]


def is_reordered(expected: Any, actual: Any) -> bool:
    """Whether two lists that differ hold the same elements."""
    if not (isinstance(expected, list | tuple) and isinstance(actual, list | tuple)):
        return False
    if len(expected) != len(actual) or not 1 < len(expected) <= _MOST_REORDERED:
        return False
    left = list(actual)
    for item in expected:
        place = next((n for n, other in enumerate(left) if equals(item, other)), None)
        if place is None:
            return False
        del left[place]
    return True


def _at(value: Any, path: str) -> Any:
    """The value at a path of attributes and indices; None where the path has anything else."""
    for name, index in _STEP.findall(path):
        try:
            value = getattr(value, name) if name else value[int(index)]
        except Exception:  # noqa: BLE001 - a matcher's field, or an object of the user's
            return None
    return (
        value if "".join(f".{n}" if n else f"[{i}]" for n, i in _STEP.findall(path)).removeprefix(".") == path else None
    )


_INDEX: Final = re.compile(r"\[\d+\]")
_STEP: Final = re.compile(r"(?:^|\.)([^.\[\]]+)|\[(\d+)\]")


def line_of(difference: Difference, root: str = "", limits: Limits = DEFAULT_LIMITS) -> str:
    """One difference as a line: `events[1].lines[0].quantity: 3 ≠ 4`, expected left, actual right."""
    path = join(root, difference.path) or "value"
    expected, actual = difference.expected, difference.actual
    if isinstance(actual, Unreadable):
        return f"{path}: {actual.why} (expected {render(expected, limits)})"
    if actual is MISSING:
        return f"{path}: expected {render(expected, limits)}, but there is none"
    if expected is MISSING:
        return f"{path}: unexpected {render(actual, limits)}"
    if isinstance(expected, AbstractSet) and isinstance(actual, AbstractSet):
        told = _members(expected, actual, limits)
        if told:
            return f"{path}: {told}"
    left, right = texts_of_both(expected, actual, limits)
    return f"{path}: {left} ≠ {right}"


def texts_of_both(expected: Any, actual: Any, limits: Limits) -> tuple[str, str]:
    """Two values that differ, as texts that do."""
    if isinstance(expected, str) and isinstance(actual, str):
        left, right = _texts(expected, actual, limits.text)
    else:
        left, right = render(expected, limits), render(actual, limits)
    return _alike(expected, actual, left) if left == right else (left, right)


def _alike(expected: Any, actual: Any, text: str) -> tuple[str, str]:
    """Two values that read the same: their classes, or at least the fact that they differ."""
    left, right = type(expected), type(actual)
    if left is right:
        return text, f"{text} (they read the same, but == of {left.__name__} says that they differ)"
    if left.__name__ != right.__name__:
        return f"{text} ({left.__name__})", f"{text} ({right.__name__})"
    return f"{text} ({left.__module__}.{left.__qualname__})", f"{text} ({right.__module__}.{right.__qualname__})"


def _members(expected: AbstractSet[Any], actual: AbstractSet[Any], limits: Limits) -> str:
    lacking = [member for member in in_order(expected) if not any(equals(member, other) for other in actual)]
    excess = [member for member in in_order(actual) if not any(equals(other, member) for other in expected)]
    told = []
    if lacking:
        told.append(f"{_listed(lacking, limits)} missing")
    if excess:
        told.append(f"{_listed(excess, limits)} unexpected")
    return "; ".join(told)


def _listed(members: list[Any], limits: Limits) -> str:
    shown = ", ".join(render(member, limits) for member in members[: limits.items])
    return f"{shown} and {len(members) - limits.items:,} more" if len(members) > limits.items else shown


def _texts(expected: str, actual: str, limit: int) -> tuple[str, str]:
    """Two strings; of long ones the part where they part."""
    if len(expected) <= limit and len(actual) <= limit:
        return render(expected, Limits(text=limit)), render(actual, Limits(text=limit))
    at = next(
        (n for n, (a, b) in enumerate(zip(expected, actual, strict=False)) if a != b), min(len(expected), len(actual))
    )
    start = max(at - limit // 4, 0)
    return _window(expected, start, limit), f"{_window(actual, start, limit)} (from character {at:,} on)"


def _window(text: str, start: int, limit: int) -> str:
    end = start + limit // 2
    return f"{'…' if start else ''}{quoted(text[start:end])}{'…' if end < len(text) else ''}"
