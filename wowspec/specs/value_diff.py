"""Failure texts of one value against another: fields of a state or a view, a whole value, a map, an order of points.

Written as those of `diff.py` are: reason first, then the lines, then the hint. Each is empty where nothing is wrong.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..messages.equality import MISSING, Difference
from .compare import MOST_DIFFERENCES, below, differences, equals, is_reordered, line_of
from .hints import is_function
from .layout import legend_of, paths_of, report, several
from .matchers import read
from .misspelt import no_field
from .render import BRIEF, DEFAULT_LIMITS, Limits, render

#: Of more points those are shown that are near a step.
_LONG_ORDER: Final = 30
_AROUND: Final = 2


def fields_text(
    expected: Mapping[str, Any], actual: Any, *, subject: str, root: str = "state", limits: Limits = DEFAULT_LIMITS
) -> str:
    """Why some fields of an object are not as expected; empty if they are.

    Args:
        expected: field → value or matcher; the other fields may be anything.
        actual: the object; None if there is none.
        subject: whose fields they are, read as "the state of Order(o-1)".
        root: first part of the paths: `state`, `view`, ….
        limits: how much of each value is shown.
    """
    if actual is None:
        return f"{subject}: {several(len(expected), 'field')} expected, but there is no {root}"
    found: list[Difference] = []
    wrong: list[str] = []
    advice: list[str] = []
    for name, value in expected.items():
        held = read(actual, name)
        if held is MISSING:
            wrong.append(name)
            found.append(Difference(name, value, MISSING))
            advice.append(no_field(type(actual), name))
            continue
        here = below(name, differences(value, held))
        if here:
            wrong.append(name)
            found += here
            advice += [f"{name} holds the same elements in another order"] if is_reordered(value, held) else []
    if not found:
        return ""
    advice += _of_functions(found, root)
    lines = paths_of(found, root, 0, limits)
    legend = legend_of(lines)
    lines.append(f"    {root}: {render(actual, limits)}")
    return report(f"{subject}: {_of(wrong, expected)}", lines, advice, legend)


def value_text(
    expected: Any,
    actual: Any,
    *,
    subject: str,
    root: str,
    limits: Limits = DEFAULT_LIMITS,
    sides: tuple[str, str] = ("expected", "actual"),
) -> str:
    """Why a value is not wholly the expected one; empty if it is.

    Args:
        expected: the value, or a matcher for it.
        actual: what there is.
        subject: what it is, read as "the replayed state of Order(o-1)".
        root: first part of the paths.
        limits: how much of each value is shown.
        sides: what the two values are called.
    """
    found = differences(expected, actual)
    if not found:
        return ""
    number = f"at least {len(found)} places" if len(found) == MOST_DIFFERENCES else several(len(found), "place")
    width = max(map(len, sides))
    # Of what has no parts, the reason says all.
    lines = paths_of(found, root, 0, limits) if found[0].path else []
    lines.append(f"  - {sides[0]:<{width}}  {render(expected, limits)}")
    lines.append(f"  + {sides[1]:<{width}}  {render(actual, limits)}")
    return report(f"{subject} differs in {number}: {line_of(found[0], root, BRIEF)}", lines)


def mapping_text(
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    *,
    subject: str,
    root: str = "header",
    exact: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> str:
    """Why the entries of a header, or of a command's result, are not as expected; empty if they are.

    Args:
        expected: key → value or matcher.
        actual: what there is.
        subject: whose entries they are, read as "the header of OrderPaid".
        root: first part of the paths.
        exact: whether every other entry is too much.
        limits: how much of each value is shown.
    """
    found: list[Difference] = []
    wrong: list[str] = []
    advice: list[str] = []
    for key, value in expected.items():
        held = actual.get(key, MISSING)
        here = [Difference("", value, MISSING)] if held is MISSING else differences(value, held)
        if here:
            wrong.append(key)
            found += below(f"[{key!r}]", here)
            advice += [f"{key!r} holds the same elements in another order"] if is_reordered(value, held) else []
        if held is MISSING:
            close = difflib.get_close_matches(key, [other for other in actual if other not in expected], n=2)
            advice += [f"there is no {key!r}, but there is {' and '.join(map(repr, close))}"] if close else []
    excess = [key for key in actual if key not in expected] if exact else []
    found += [Difference(f"[{key!r}]", MISSING, actual[key]) for key in excess]
    if not found:
        return ""
    said = [_of(wrong, expected, "entries")] if wrong else []
    said += [f"{', '.join(map(repr, excess))} unexpected"] if excess else []
    advice += _of_functions(found, root)
    lines = paths_of(found, root, 0, limits)
    legend = legend_of(lines)
    lines.append(f"    {root}: {render(dict(actual), limits)}")
    return report(f"{subject}: {', and '.join(said)}", lines, advice, legend)


def _of_functions(found: Sequence[Difference], root: str) -> list[str]:
    """What to write where a function stands for a value."""
    verb = {"state": "expect_state(lambda state: ...)", "view": "expect_view(id, lambda row: ...)"}.get(root)
    at = next((each.path for each in found if is_function(each.expected)), None)
    if at is None:
        return []
    instead = f": write {verb}" if verb else ""
    return [f"{at}: a function is compared here, not called{instead}"]


def order_gap(expected: Sequence[str], actual: Sequence[str]) -> int | None:
    """Index of the first step that the actual points do not have after those before it; None if they have all."""
    return next((step for step, place in enumerate(_places(expected, actual)) if place is None), None)


def order_text(expected: Sequence[str], actual: Sequence[str], *, subject: str = "points") -> str:
    """Which step of an expected order is missing, and what came instead; empty if all came in this order.

    Args:
        expected: points that must be passed in this order, others between them or not.
        actual: the points that were passed, in their order.
        subject: what they are.
    """
    places = _places(expected, actual)
    gap = order_gap(expected, actual)
    if gap is None:
        return ""
    step = expected[gap]
    before = [place for place in places[:gap] if place is not None]
    start = before[-1] + 1 if before else 0
    earlier = [place for place in range(start) if actual[place] == step]
    advice: list[str] = []
    if earlier:
        after = f" after {expected[gap - 1]}, only before it" if gap else ""
        if gap == len(expected) - 1 and len(expected) == 2:
            advice.append(f"they came the other way round: expect_order({expected[1]!r}, {expected[0]!r})")
        why = f"{step} was not passed{after} (at {', '.join(f'[{place}]' for place in earlier)})"
    else:
        why = f"{step} was never passed"
        close = difflib.get_close_matches(step, dict.fromkeys(actual), n=2)
        if close:
            advice.append(f"did you mean {' or '.join(close)}?")
    instead = f"; instead came {actual[start]}" if start < len(actual) else f"; the {subject} end there"
    lines: list[str] = []
    step_at = {place: number for number, place in enumerate(places[:gap]) if place is not None}
    near = [*step_at, *earlier, start]
    cut = 0
    for place, point in enumerate(actual):
        if len(actual) > _LONG_ORDER and not any(abs(place - other) <= _AROUND for other in near):
            cut += 1
            continue
        if cut:
            lines.append(f"            … {cut:,} more …")
            cut = 0
        if place == start:
            lines.append(f"  - step {gap + 1}  {step}")
        mark = f"step {step_at[place] + 1}" if place in step_at else ""
        lines.append(f"    {mark:<6}  [{place}] {point}")
    if cut:
        lines.append(f"            … {cut:,} more …")
    if start >= len(actual):
        lines.append(f"  - step {gap + 1}  {step}")
    lines += [f"    step {gap + 2 + n}  {later} (not looked for)" for n, later in enumerate(expected[gap + 1 :])]
    return report(f"step {gap + 1} of {len(expected)} is missing: {why}{instead}", lines, advice)


def _places(expected: Sequence[str], actual: Sequence[str]) -> list[int | None]:
    """Where each step was passed after the one before it; None from the first on that was not."""
    places: list[int | None] = []
    start = 0
    for step in expected:
        place = next((n for n in range(start, len(actual)) if equals(step, actual[n])), None)
        places.append(place)
        if place is None:
            break
        start = place + 1
    return places + [None] * (len(expected) - len(places))


def _of(wrong: Sequence[str], expected: Mapping[str, Any], many: str = "fields") -> str:
    names = ", ".join(wrong)
    if len(expected) == 1:
        return f"{names} is not as expected"
    verb = "is" if len(wrong) == 1 else "are"
    return f"{len(wrong)} of {len(expected)} {many} {verb} not as expected: {names}"
