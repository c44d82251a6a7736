"""The two texts of a comparison for a diff viewer: alike in all but what is not as expected.

The expected side is made of what there is, with what was expected in place of each difference: so a field that nothing
was said of, an id or a time that a matcher let pass, is the same on both sides, and the viewer marks the cause alone.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from ..errors import SpecFailure, printable
from ..messages.equality import MISSING, Difference
from ..messages.records import attributes_of
from .alignment import Verdict, match_events
from .compare import below, differences, join, texts_of_both
from .matchers import read
from .render import DEFAULT_LIMITS, Limits, render

#: More differences than these are shown as two values that have nothing in common.
_MOST: Final = 100
#: What is not as expected is shown whole, unless it is longer than anybody reads.
_WHOLE: Final = Limits(text=4_000, items=400, depth=30, line=20_000)
#: A container that fits is one line.
_WIDTH: Final = 88
#: Of a longer run of alike parts the ends are shown.
_LONGEST_RUN: Final = 12


class Sides(NamedTuple):
    """What a diff viewer shows on its left and on its right."""

    expected: str
    actual: str


#: Lines of the expected side and of the actual one; empty where a side has nothing.
_Pair = tuple[list[str], list[str]]


def sides_of_events(expected: Sequence[Any], actual: Sequence[Any]) -> Sides:
    """Events, commands or classes, one after another, matched as the verbs match them."""
    pairs: list[_Pair] = []
    for row in match_events(expected, actual).rows:
        if row.verdict is Verdict.MISSING:
            pairs.append(([render(row.expected, _WHOLE)], []))
        elif row.verdict is Verdict.SURPLUS:
            pairs.append(([], [render(row.actual, _WHOLE)]))
        elif row.verdict is Verdict.DIFFERS:
            pairs.append(_outline(row.actual, differences(row.expected, row.actual, limit=_MOST), row.expected))
        else:
            pairs.append(_same(render(row.actual, DEFAULT_LIMITS)))
    return _joined(pairs)


def sides_of_types(expected: Sequence[type], actual: Sequence[Any]) -> Sides:
    """Classes."""
    return sides_of_events(expected, [type(body) for body in actual])


def sides_of_values(expected: Any, actual: Any) -> Sides:
    """Two values, or a matcher and a value."""
    return _joined([_outline(actual, differences(expected, actual, limit=_MOST), expected)])


def sides_of_fields(expected: Mapping[str, Any], actual: Any) -> Sides:
    """Some fields of an object, which is shown whole."""
    found: list[Difference] = []
    for name, value in expected.items():
        held = read(actual, name)
        gone = held is MISSING
        found += [Difference(name, value, MISSING)] if gone else below(name, differences(value, held, limit=_MOST))
    return _joined([_outline(actual, found[:_MOST])])


def sides_of_entries(expected: Mapping[Any, Any], actual: Mapping[Any, Any], *, exact: bool = False) -> Sides:
    """Some entries of a mapping, which is shown whole; all of them, if every other entry is too much."""
    found: list[Difference] = []
    for key, value in expected.items():
        path = f"[{key!r}]"
        held = actual.get(key, MISSING)
        gone = held is MISSING
        found += [Difference(path, value, MISSING)] if gone else below(path, differences(value, held, limit=_MOST))
    if exact:
        found += [Difference(f"[{key!r}]", MISSING, value) for key, value in actual.items() if key not in expected]
    return _joined([_outline(dict(actual), found[:_MOST])])


def sides_of_order(expected: Sequence[str], actual: Sequence[str]) -> Sides:
    """Points in an order: each step that was not passed where it should be is added to those that were."""
    left: list[str] = []
    place = 0
    for step in expected:
        found = next((n for n in range(place, len(actual)) if actual[n] == step), None)
        if found is None:
            left.append(step)
            continue
        left += actual[place : found + 1]
        place = found + 1
    return Sides("\n".join([*left, *actual[place:]]), "\n".join(actual))


def sides_of_parts(parts: Iterable[tuple[str, str, str | None]]) -> Sides:
    """Labelled texts: label, what there is, and what is expected instead (None: it is as expected)."""
    rows = [(label, is_there, is_there if wanted is None else wanted) for label, is_there, wanted in parts]
    return Sides(
        "\n".join(f"{label}: {wanted}" for label, _, wanted in rows),
        "\n".join(f"{label}: {is_there}" for label, is_there, _ in rows),
    )


def failure(text: str, make: Callable[[], Sides | None] | None = None) -> SpecFailure:
    """A failure that tools can read: `expected` and `actual` are attributes (None where nothing is compared)."""
    error = SpecFailure(text)
    sides = quietly(make)
    if sides is not None:
        error.expected, error.actual = map(printable, sides)
    return error


def quietly(make: Callable[[], Sides | None] | None) -> Sides | None:
    """What makes two texts of values of the author's, whose comparison or `repr` may raise: then there are none."""
    if make is None:
        return None
    try:
        return make()
    except Exception:  # noqa: BLE001 - the failure itself is to be told, with or without them
        return None


# -- the outline of a value


def _joined(pairs: Sequence[_Pair]) -> Sides:
    shown = _cut(pairs)
    return Sides(
        "\n".join(line for left, _ in shown for line in left), "\n".join(line for _, right in shown for line in right)
    )


def _same(text: str) -> _Pair:
    return [text], [text]


def _outline(actual: Any, found: Sequence[Difference], expected: Any = None) -> _Pair:
    if len(found) >= _MOST:
        return [render(expected, _WHOLE)], [render(actual, _WHOLE)]
    return _Outline(found).of(actual, "")


class _Outline:
    """The lines of a value, where it is known at which paths it is not as expected."""

    __slots__ = ("_found",)

    def __init__(self, found: Sequence[Difference]) -> None:
        self._found = {each.path: each for each in found}

    def of(self, value: Any, path: str) -> _Pair:
        """Of what stands at a path."""
        here = self._found.get(path)
        if here is not None:
            return _leaf(here)
        if not self._below(path):
            return _same(render(value, DEFAULT_LIMITS))
        if isinstance(value, Mapping):
            named = [(f"{path}[{key!r}]", f"{render(key)}: ", held) for key, held in value.items()]
            return _container("{", "}", self._children(path, named))
        if isinstance(value, Sequence) and not hasattr(value, "_fields"):
            return _container("[", "]", self._elements(path, value))
        held = {**value.__dict__, **(value.__pydantic_extra__ or {})} if isinstance(value, BaseModel) else None
        if held is None:
            names = getattr(value, "_fields", None)
            held = attributes_of(value) if names is None else dict(zip(names, value, strict=False))
        named = [(join(path, name), f"{name}=", each) for name, each in held.items()]
        return _container(f"{type(value).__name__}(", ")", self._children(path, named))

    def _below(self, path: str) -> list[str]:
        """The differences further down, by their paths."""
        return [each for each in self._found if _is_within(each, path) and each != path]

    def _children(self, path: str, named: Sequence[tuple[str, str, Any]]) -> list[_Pair]:
        """Of a record or a mapping, with what is expected and not there at its end."""
        rest = self._below(path)
        pairs: list[_Pair] = []
        for child, label, held in named:
            pairs.append(_labelled(label, self.of(held, child)))
            rest = [each for each in rest if not _is_within(each, child)]
        labels = (_label_of(other[len(path) :].removeprefix(".")) for other in rest)
        return pairs + [_labelled(label, _leaf(self._found[other])) for label, other in zip(labels, rest, strict=True)]

    def _elements(self, path: str, held: Sequence[Any]) -> list[_Pair]:
        """Of a list; what it lacks stands where it should."""
        pairs: list[_Pair] = []
        lacking = {n for n in range(len(held) + _MOST) if self._is_lacking(f"{path}[{n}]")}
        for n in range(len(held)):
            at = n
            while at in lacking:
                lacking.remove(at)
                pairs.append(_leaf(self._found[f"{path}[{at}]"]))
                at += 1
            child = f"{path}[{n}]"
            pairs.append(_same(render(held[n], DEFAULT_LIMITS)) if self._is_lacking(child) else self.of(held[n], child))
        return pairs + [_leaf(self._found[f"{path}[{n}]"]) for n in sorted(lacking)]

    def _is_lacking(self, path: str) -> bool:
        found = self._found.get(path)
        return found is not None and found.actual is MISSING


def _label_of(rest: str) -> str:
    """What stands before a value that only its path names."""
    if not (rest.startswith("[") and rest.endswith("]")):
        return f"{rest}="
    try:
        return f"{render(literal_eval(rest[1:-1]))}: "
    except (SyntaxError, ValueError):
        return f"{rest[1:-1]}: "


def _is_within(path: str, above: str) -> bool:
    return not above or path == above or path.startswith((f"{above}.", f"{above}["))


def _leaf(found: Difference) -> _Pair:
    """One difference: of two texts of several lines the lines."""
    expected, actual = found.expected, found.actual
    if expected is MISSING or actual is MISSING:
        return (
            [] if expected is MISSING else _lines(expected, render(expected, _WHOLE)),
            [] if actual is MISSING else _lines(actual, render(actual, _WHOLE)),
        )
    left, right = texts_of_both(expected, actual, _WHOLE)
    return _lines(expected, left), _lines(actual, right)


def _lines(value: Any, shown: str) -> list[str]:
    if isinstance(value, str) and "\n" in value and len(value) <= _WHOLE.text:
        return ["(", *(f"    {render(line)}" for line in value.splitlines(keepends=True)), ")"]
    return [shown]


def _labelled(label: str, pair: _Pair) -> _Pair:
    left, right = ([f"{label}{lines[0]}", *lines[1:]] if lines else [] for lines in pair)
    return left, right


def _container(begin: str, end: str, children: Sequence[_Pair]) -> _Pair:
    """One line, if both sides fit into one; else a line for each part."""
    if len(children) <= _LONGEST_RUN and all(len(lines) <= 1 for pair in children for lines in pair):
        flat = [f"{begin}{', '.join(lines[0] for lines in side if lines)}{end}" for side in zip(*children, strict=True)]
        if max(map(len, flat)) <= _WIDTH:
            return [flat[0]], [flat[1]]
    shown = _cut(children)
    left, right = (
        [begin, *(f"    {line}" for lines in side if lines for line in [*lines[:-1], f"{lines[-1]},"]), end]
        for side in zip(*shown, strict=True)
    )
    return left, right


def _cut(pairs: Sequence[_Pair]) -> list[_Pair]:
    """Long runs of what is alike on both sides, by their ends."""
    shown: list[_Pair] = []
    run: list[_Pair] = []
    for pair in [*pairs, None]:
        if pair is not None and pair[0] == pair[1]:
            run.append(pair)
            continue
        if len(run) > _LONGEST_RUN:
            half = _LONGEST_RUN // 3
            run = [*run[:half], _same(f"… {len(run) - 2 * half:,} more …"), *run[-half:]]
        shown += run
        run = []
        if pair is not None:
            shown.append(pair)
    return shown
