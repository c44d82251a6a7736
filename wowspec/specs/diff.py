"""Failure texts of events: what was expected beside what there is. Reason first, then the lines, then the hint.

Every function returns a string and raises nothing; the spec layer raises. Plain text of any width, one event a line:
`-` marks what is expected and is not there, `+` what is there and is not expected, and below such a pair the paths at
which the two differ, expected left and actual right of the `≠`.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from ..messages.equality import MISSING
from .alignment import Match, Row, Verdict, match_events
from .compare import differences, equals, line_of
from .hints import FIELD_RULES, RULES, TYPE_RULES, Rule, hints, other_order
from .layout import legend_of, paths_of, report, rows_of, several
from .matchers import AnyEvents, Some, Unordered, is_loose
from .render import BRIEF, DEFAULT_LIMITS, Limits, render

#: Candidates shown where one event was looked for.
_MOST_CANDIDATES: Final = 5
#: Classes named in the reason.
_MOST_NAMED: Final = 4


def events_text(
    match: Match,
    *,
    ledger: str = "stored",
    noun: str = "event",
    limits: Limits = DEFAULT_LIMITS,
    rules: Sequence[Rule] = RULES,
    verb: str = "",
    classes: bool = False,
) -> str:
    """Why a match failed: the reason, the aligned events, a hint.

    Args:
        match: what `match_events` found.
        ledger: what the actual events are: `stored`, `published`, …; read as "3 stored".
        noun: what they are: `event` or `command`; its plural is the root of the paths.
        limits: how much of each value is shown.
        rules: those that may give hints.
        verb: of the expectation, as hints name it; default: `expect_events`, or `expect_commands`.
        classes: whether classes are compared with classes.
    """
    root = f"{noun}s"
    lines = rows_of(match.rows, root, limits)
    reason = f"{_numbers(match, ledger, noun)}: {_cause(match, noun, classes=classes)}"
    legend = f"- expected, + {ledger}" if any(line.startswith(("  -", "  +")) for line in lines) else ""
    return report(reason, lines, hints(match, rules, verb or f"expect_{root}"), legend)


def types_text(
    expected: Sequence[type], actual: Sequence[Any], *, ledger: str = "stored", rules: Sequence[Rule] = TYPE_RULES
) -> str:
    """Why the classes of the actual events are not the expected ones."""
    match = match_events(expected, [type(body) for body in actual])
    return events_text(match, ledger=ledger, rules=rules, classes=True)


def count_text(expected: int, actual: Sequence[Any], *, ledger: str = "stored", noun: str = "event") -> str:
    """Why the number of events is not the expected one, with the events."""
    root = f"{noun}s"
    surplus = Verdict.MET if expected else Verdict.SURPLUS
    rows = [Row(surplus, body, body, None, place) for place, body in enumerate(actual)]
    reason = f"{several(expected, noun)} expected, {len(actual) or 'none'} {ledger}"
    return report(reason, rows_of(rows, root, BRIEF), legend="" if expected else f"+ {ledger}")


def event_text(
    wanted: Any,
    actual: Sequence[Any],
    *,
    ledger: str = "stored",
    noun: str = "event",
    once: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    rules: Sequence[Rule] = FIELD_RULES,
) -> str:
    """Why none of the actual events is the wanted one, with the nearest; empty if one is.

    Args:
        wanted: an event or a matcher for one, such as `some(OrderPaid, total=3)`.
        actual: the events that were looked through.
        ledger: what they are, as in `events_text`.
        noun: what they are, as in `events_text`.
        once: whether just one of them may be the wanted one.
        limits: how much of each value is shown.
        rules: those that may give hints on the nearest one.
    """
    root = f"{noun}s"
    shown = render(wanted, limits)
    met = [place for place, body in enumerate(actual) if equals(wanted, body)]
    if len(met) == 1 or (met and not once):
        return ""
    if met:
        rows = [Row(Verdict.SURPLUS, MISSING, actual[place], None, place) for place in met]
        reason = f"one {noun} expected that is {shown}, {len(met)} {ledger}"
        advice = f"to count them, write expect_event_count(...), or expect_{root}(...) to list them all"
        return report(reason, rows_of(rows, root, limits), [advice])
    if not actual:
        return report(f"no {noun} is {shown}: none {ledger}", [], hints(match_events([wanted], [])))
    kind = wanted.kind if isinstance(wanted, Some) else type(wanted)
    near = [place for place, body in enumerate(actual) if type(body) is kind]
    reason = f"no {noun} is {shown}: {len(actual)} {ledger}, {len(near) or 'none'} of class {kind.__name__}"
    if not near:
        rows = [Row(Verdict.MET, body, body, None, place) for place, body in enumerate(actual)]
        return report(reason, rows_of(rows, root, BRIEF), hints(match_events([wanted], actual)))
    lines: list[str] = []
    for place in near[:_MOST_CANDIDATES]:
        label = f"{root}[{place}]"
        lines.append(f"    {label}  {render(actual[place], limits)}")
        lines += paths_of(differences(wanted, actual[place]), label, len(label), limits)
    if len(near) > _MOST_CANDIDATES:
        lines.append(f"    … {len(near) - _MOST_CANDIDATES:,} more of class {kind.__name__} …")
    found = hints(match_events([wanted], [actual[near[0]]]), rules)
    return report(reason, lines, found, legend_of(lines))


def ledgers_text(
    expected: Mapping[str, Sequence[Any]],
    actual: Mapping[str, Sequence[Any]],
    *,
    noun: str = "event",
    limits: Limits = DEFAULT_LIMITS,
) -> str:
    """Why some ledgers do not hold what they should, and which event is in which; empty if they do.

    Args:
        expected: ledger → expected items; ledgers that are not named may hold anything.
        actual: every ledger of the run, in the order of its columns.
        noun: what the ledgers hold.
        limits: how much of each value is shown.
    """
    failed = [
        (ledger, match)
        for ledger, items in expected.items()
        if not (match := match_events(items, actual.get(ledger, ()))).matched
    ]
    if not failed:
        return ""
    reasons = [f"{ledger}: {_numbers(match, ledger, noun)}: {_cause(match, noun)}" for ledger, match in failed]
    lines: list[str] = []
    if len(failed) > 1:
        lines += [f"    {reason}" for reason in reasons] + [""]
    lines += ledger_table(actual, limits)
    reason = reasons[0] if len(failed) == 1 else f"{len(failed)} ledgers are not as expected"
    return report(reason, lines, hints(failed[0][1]))


def ledger_table(ledgers: Mapping[str, Sequence[Any]], limits: Limits = BRIEF) -> list[str]:
    """One line an event, one column a ledger: how often each ledger holds it."""
    bodies: list[Any] = []
    for held in ledgers.values():
        bodies += [body for body in held if not any(equals(body, known) for known in bodies)]
    shown = [render(body, limits) for body in bodies]
    if not shown:
        return [f"    {', '.join(ledgers)}: nothing in any of them"]
    width = max(map(len, shown))
    lines = ["    " + " " * width + "".join(f"  {ledger}" for ledger in ledgers)]
    for body, text in zip(bodies, shown, strict=True):
        cells = []
        for ledger, held in ledgers.items():
            times = sum(equals(body, other) for other in held)
            cells.append(f"  {('yes' if times == 1 else f'{times}x' if times else '-'):^{len(ledger)}}")
        lines.append(f"    {text:<{width}}{''.join(cells)}".rstrip())
    return lines


# -- the reason


def _numbers(match: Match, ledger: str, noun: str) -> str:
    """How many were expected, and how many there are."""
    wanted = sum(len(item.items) if isinstance(item, Unordered) else 1 for item in match.expected if item is not None)
    open_ended = sum(isinstance(item, AnyEvents) for item in match.expected)
    least = f"at least {several(wanted - open_ended, noun)}" if open_ended else several(wanted, noun)
    if not open_ended and wanted == len(match.actual):
        return f"{least} expected and {ledger}"
    return f"{least} expected, {len(match.actual) or 'none'} {ledger}"


def _cause(match: Match, noun: str, *, classes: bool = False) -> str:
    """The first thing that is wrong, and how many more there are."""
    rows, root = match.failures, f"{noun}s"
    if not rows:
        return f"all {root} are as expected"
    misplaced = _misplaced(match, noun, classes)
    if misplaced:
        return misplaced
    if other_order(match):
        return f"the same {root} in another order"
    first, rest = rows[0], len(rows) - 1
    if all(row.verdict is Verdict.SURPLUS for row in rows) and rest:
        return f"{_names(row.actual for row in rows)} not expected"
    if all(row.verdict is Verdict.MISSING for row in rows) and rest:
        return f"{_names(row.expected for row in rows)} missing"
    if first.verdict is Verdict.DIFFERS:
        found = differences(first.expected, first.actual)
        told = line_of(found[0], f"{root}[{first.place}]", BRIEF)
        rest += len(found) - 1
    elif first.verdict is Verdict.MISSING:
        told = f"{_name(first.expected)} missing"
        below = next((row for above, row in pairwise(match.rows) if above is first), None)
        if below is not None and below.verdict is Verdict.SURPLUS:
            told = _instead(first.expected, below.actual)
            rest -= 1
    else:
        told = f"{root}[{first.place}] {_name(first.actual)} not expected"
    return f"{told} (and {several(rest, 'more difference')})" if rest else told


def _instead(expected: Any, actual: Any) -> str:
    wanted, found = _name(expected), _name(actual)
    if wanted == found:
        wanted, found = (f"{kind.__module__}.{kind.__qualname__}" for kind in (type(expected), type(actual)))
    return f"{wanted} missing, {found} came instead"


def _misplaced(match: Match, noun: str, classes: bool) -> str:
    """What in the spec's own text can't be met by any event; empty if nothing is."""
    for row in match.failures:
        if row.verdict is Verdict.MISSING:
            told = _no_class(row.expected) if classes else _no_body(row.expected)
            if told:
                return told if classes else f"{told} stands where {'an' if noun[0] in 'aeiou' else 'a'} {noun} belongs"
    return ""


def _no_class(item: Any) -> str:
    return "" if isinstance(item, type) else f"an object of {_name(item)} stands where a class belongs"


def _no_body(item: Any) -> str:
    if isinstance(item, type):
        return f"the class {item.__name__}"
    if isinstance(item, types.FunctionType | types.MethodType):
        return "a function"
    if isinstance(item, list | tuple) and not hasattr(item, "_fields"):
        return f"a {_name(item)}"
    return ""


def _names(bodies: Iterable[Any]) -> str:
    """Class names, with the number of each, and the verb."""
    counts: dict[str, int] = {}
    for body in bodies:
        counts[_name(body)] = counts.get(_name(body), 0) + 1
    shown = [name if count == 1 else f"{count} {name}" for name, count in counts.items()]
    if len(shown) > _MOST_NAMED:
        return f"{', '.join(shown[:_MOST_NAMED])} and {len(shown) - _MOST_NAMED} more classes are"
    return f"{', '.join(shown)} {'is' if sum(counts.values()) == 1 else 'are'}"


def _name(body: Any) -> str:
    if is_loose(body):
        return render(body, BRIEF)
    return render(body, BRIEF) if isinstance(body, type) else type(body).__name__
