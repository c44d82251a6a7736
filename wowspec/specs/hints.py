"""What would mend the most usual mistakes, as far as the values alone show them.

Each rule looks at a failed match and says what to write, or nothing. The order of the table is that of the hints: first
mistakes in the spec's own text, then what the events have in common.
"""

from __future__ import annotations

import datetime as dt
import types
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..errors import SpecError
from ..messages.equality import Difference
from ..modeling.claims import aggregate_of_command, aggregate_of_event
from .alignment import Match, Row, Verdict
from .compare import differences, equals
from .matchers import AnyEvents, AnyOf, Some, Unordered, any_of, is_group, is_loose, some, unordered
from .render import BRIEF, quoted, render, render_call

Rule = Callable[[Match], str | None]

#: More hints than these are not read.
MOST_HINTS: Final = 2


def hints(match: Match, rules: Sequence[Rule] | None = None, verb: str = "expect_events") -> list[str]:
    """What to write instead, best first; empty where the values show no usual mistake.

    Args:
        match: what failed.
        rules: those that are asked; default: all.
        verb: of the expectation.
    """
    found: list[str] = []
    for rule in RULES if rules is None else rules:
        hint = rule(match)
        if hint is not None:
            found.append(
                hint.replace(_ANY_ORDER, f"{verb}(unordered(").replace(_ALONE, _ALONE if "event" in verb else "")
            )
            if len(found) == MOST_HINTS:
                break
    return found


def _class_expected(match: Match) -> str | None:
    for item in match.expected:
        if isinstance(item, type):
            name = item.__name__
            if item is AnyEvents:
                return "the matcher is ANY_EVENTS"
            return (
                f"write expect_event_types({name}) to compare classes alone,"
                f" or some({name}) for any {name} among exact events"
            )
    return None


def _class_of_command(match: Match) -> str | None:
    for item in match.expected:
        if isinstance(item, type):
            name = item.__name__
            return f"write some({name}) for any {name}, or {name}(...) with what it says"
    return None


def _object_for_class(match: Match) -> str | None:
    for item in match.expected:
        if not isinstance(item, type) and not is_group(item):
            return f"write its class, {type(item).__name__}, or expect_events(...) to compare events"
    return None


def _command_expected(match: Match) -> str | None:
    missing = [row.expected for row in match.failures if row.verdict is Verdict.MISSING]
    kinds = [kind for item in missing for kind in kinds_of(item)]
    return next((hint for kind in kinds if (hint := _of_command(kind)) is not None), None)


def _command_class_expected(match: Match) -> str | None:
    classes = [item for item in match.expected if isinstance(item, type) and item not in match.actual]
    return next((hint for kind in classes if (hint := _of_command(kind)) is not None), None)


def _of_command(kind: type) -> str | None:
    try:
        owner = None if aggregate_of_event(kind) is not None else aggregate_of_command(kind)
    except SpecError:
        return None
    return f"{kind.__name__} is a command of {owner.__name__}: expect an event that it leads to" if owner else None


def _list_expected(match: Match) -> str | None:
    return "unpack it: expect_events(*events)" if _has_list(match) else None


def _list_of_commands(match: Match) -> str | None:
    return "unpack it: expect_commands(*commands)" if _has_list(match) else None


def _has_list(match: Match) -> bool:
    return any(isinstance(item, list | tuple) and not hasattr(item, "_fields") for item in match.expected)


def _function_expected(match: Match) -> str | None:
    found = _matcher_expected(match)
    if found is None and any(is_function(item) for item in match.expected):
        return "write expect_events(that=function)"
    return found


def _matcher_expected(match: Match) -> str | None:
    for item in match.expected:
        if is_function(item) and item in _MATCHER_FUNCTIONS:
            return f"{render(item)} is a function: call it with what it should match"
    return None


def is_function(value: Any) -> bool:
    """Whether a value is a function, which equals nothing but itself."""
    return isinstance(value, types.FunctionType | types.MethodType)


def _function_for_field(match: Match) -> str | None:
    for _, each in differing(match):
        if each.path and is_function(each.expected):
            return f"{each.path}: a function is compared here, not called: write expect_events(that=function)"
    return None


def _envelope_expected(match: Match) -> str | None:
    for item in match.expected:
        if hasattr(type(item), "__wowspec_envelope__") and not isinstance(item, type):
            return f"{type(item).__name__} is the envelope, and bodies are compared here: write its .body"
    return None


def _two_classes_of_one_name(match: Match) -> str | None:
    for wanted, found in _unpaired(match):
        if wanted is not found and wanted.__name__ == found.__name__:
            wanted_from, found_from = (f"{kind.__module__}.{kind.__qualname__}" for kind in (wanted, found))
            return (
                f"these are two classes named {wanted.__name__}: {wanted_from} is expected, {found_from} came;"
                " is one module imported under two names?"
            )
    return None


def _subclass(match: Match) -> str | None:
    for wanted, found in _unpaired(match):
        related = wanted is not found and (issubclass(found, wanted) or issubclass(wanted, found))
        if related and object not in (wanted, found):
            return (
                f"{found.__name__} is no {wanted.__name__} here: classes are compared exactly, subclasses don't count;"
                f" write {found.__name__}(...), or any_of(...) where both will do"
            )
    return None


def _brief(item: Any) -> str:
    """An item in a few characters."""
    text = render(item)
    if len(text) <= BRIEF.text:
        return text
    return f"some({item.kind.__name__}, ...)" if isinstance(item, Some) else f"{type(item).__name__}(...)"


def _naive_time(match: Match) -> str | None:
    for _, each in differing(match):
        expected, actual = each.expected, each.actual
        if isinstance(expected, dt.datetime) and isinstance(actual, dt.datetime):
            naive = [side for side, time in (("expected", expected), ("actual", actual)) if time.tzinfo is None]
            if len(naive) == 1:
                return f"{each.path}: the {naive[0]} time has no time zone: write it with tzinfo=UTC"
    return None


def other_order(match: Match) -> bool:
    """Whether the actual events are the expected ones in another order."""
    if match.matched or any(is_group(item) for item in match.expected) or len(match.expected) != len(match.actual):
        return False
    if len(match.actual) > _MOST_COMPARED:
        return False
    left = list(match.actual)
    for item in match.expected:
        place = next((n for n, event in enumerate(left) if equals(item, event)), None)
        if place is None:
            return False
        del left[place]
    return True


def _other_order(match: Match) -> str | None:
    if not other_order(match):
        return None
    if any(isinstance(item, type) for item in match.expected):
        return "the classes are right, their order is not"
    short = [_brief(item) for item in match.expected[:_MOST_NAMED]]
    rest = ", ..." if len(match.expected) > _MOST_NAMED else ""
    return f"if the order does not matter, write {_ANY_ORDER}{', '.join(short)}{rest}))"


def _all_but_one_field(match: Match) -> str | None:
    rows = [row for row in match.failures if row.verdict is Verdict.DIFFERS]
    if len(rows) != 1 or len(match.failures) != 1 or is_loose(rows[0].expected):
        return None
    found = differences(rows[0].expected, rows[0].actual)
    if len(found) != 1 or any(mark in found[0].path for mark in ".[") or not found[0].path:
        return None
    name = found[0].path
    loose = without(rows[0], name)
    if name == "id" or name.endswith("_id"):
        return (
            f"equal but for {name}: is {render(found[0].expected, BRIEF)} the one that the spec speaks of?"
            f" If it is made on the way, write {loose}"
        )
    if type(found[0].expected) is not type(found[0].actual) or _naive_time(match):
        return None
    if isinstance(found[0].actual, dt.date | dt.time) or name.endswith(("_at", "_time")):
        return f"equal but for {name}: give the time with at(...), or write {loose}"
    return None


def without(row: Row, path: str) -> str:
    """An expected event with all of its fields but the one that a path is in."""
    name = path.partition(".")[0].partition("[")[0]
    expected = row.expected
    if isinstance(expected, Some):
        return render_call(
            "some", [("", expected.kind), *((n, v) for n, v in expected.fields.items() if n != name)], BRIEF
        )
    kind = type(expected)
    names = getattr(kind, "model_fields", None) or getattr(kind, "__dataclass_fields__", {})
    said = getattr(expected, "model_fields_set", names)
    kept = [(each, getattr(expected, each, None)) for each in names if each != name and each in said]
    return render_call("some", [("", kind), *kept], BRIEF)


def _only_surplus(match: Match) -> str | None:
    if not match.expected or any(isinstance(item, AnyEvents) for item in match.expected):
        return None
    if any(row.verdict is not Verdict.SURPLUS for row in match.failures) or _split_group(match):
        return None
    return f"all that is expected is there: write ANY_EVENTS where others may stand{_ALONE}"


def _split_group(match: Match) -> str | None:
    for place, row in enumerate(match.rows):
        if row.verdict is not Verdict.SURPLUS:
            continue
        before = {each.item for each in match.rows[:place] if each.grouped}
        after = {each.item for each in match.rows[place + 1 :] if each.grouped}
        if before & after:
            return (
                "unordered(...) takes events that follow each other,"
                f" and {type(row.actual).__name__} stands between them: name it in the group too"
            )
    return None


def _another_kind_of_number(match: Match) -> str | None:
    for _, each in differing(match):
        expected, actual = each.expected, each.actual
        if type(expected) is type(actual):
            continue
        if isinstance(expected, str) != isinstance(actual, str) and str(expected) == str(actual):
            return (
                f"{each.path}: {render(expected, BRIEF)} and {render(actual, BRIEF)} read the same, but one is text:"
                f" write {quoted(str(actual)) if isinstance(actual, str) else render(actual, BRIEF)}"
            )
        if isinstance(expected, bool) != isinstance(actual, bool) and _same(expected, actual):
            return f"{each.path}: True and False are not the numbers 1 and 0 here: write {render(actual, BRIEF)}"
    return None


def _same(left: Any, right: Any) -> bool:
    return isinstance(left, int) and isinstance(right, int) and int(left) == int(right)


def differing(match: Match) -> list[tuple[Row, Difference]]:
    """Each place at which an event differs from the expected one, with its row."""
    return [
        (row, each)
        for row in match.failures
        if row.verdict is Verdict.DIFFERS
        for each in differences(row.expected, row.actual)
    ]


def _unpaired(match: Match) -> list[tuple[type, type]]:
    """Class of each missing item beside the class of each surplus event."""
    wanted = [kind for row in match.failures if row.verdict is Verdict.MISSING for kind in kinds_of(row.expected)]
    found = [type(row.actual) for row in match.failures if row.verdict is Verdict.SURPLUS]
    return [(each, other) for each in wanted for other in found]


def kinds_of(item: Any) -> list[type]:
    """The classes that an expected item stands for."""
    if isinstance(item, Some):
        return [item.kind]
    if isinstance(item, AnyOf | Unordered):
        return [kind for each in item.items for kind in kinds_of(each)]
    return [type(item)]


_MOST_COMPARED: Final = 200
_MOST_NAMED: Final = 4
_ANY_ORDER: Final = "expect_events(unordered("
_ALONE: Final = ", or expect_event(...) for one alone"
_MATCHER_FUNCTIONS: Final = (some, any_of, unordered)

#: The rules in the order of their hints.
RULES: Final[tuple[Rule, ...]] = (
    _class_expected,
    _command_expected,
    _list_expected,
    _function_expected,
    _function_for_field,
    _envelope_expected,
    _two_classes_of_one_name,
    _subclass,
    _naive_time,
    _another_kind_of_number,
    _other_order,
    _all_but_one_field,
    _split_group,
    _only_surplus,
)
#: Speaks of a field of which a run may know more.
ALL_BUT_ONE_FIELD: Final = _all_but_one_field
#: The rules where commands are expected.
COMMAND_RULES: Final[tuple[Rule, ...]] = (
    _class_of_command,
    _list_of_commands,
    _matcher_expected,
    *RULES[RULES.index(_envelope_expected) :],
)
#: The rules where classes are compared with classes.
TYPE_RULES: Final[tuple[Rule, ...]] = (_object_for_class, _command_class_expected, _other_order)
#: The rules where classes of events are expected of what sends commands.
SENT_TYPE_RULES: Final[tuple[Rule, ...]] = (_object_for_class,)
#: The rules where one event was looked for, and the nearest differs.
FIELD_RULES: Final[tuple[Rule, ...]] = (_function_for_field,)
