"""What is said of an event that reaches no function by `when_event`: which functions there are, and what they want."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from ..errors import SpecError
from ..modeling.aggregates import aggregate_metadata
from ..modeling.claims import aggregate_of_command, aggregates_of_event, aggregates_of_state
from ..modeling.identity import FunctionKind, NamedAggregate
from ..runtime.downstream.registrar import RegisteredFunction
from .render import BRIEF, render

_NOTHING = "nothing would run, so nothing would be tested"


def require_event(event: Any) -> None:
    """Refuse what is no event at the line of `when_event`.

    Raises:
        SpecError: for nothing, and for a class.
    """
    if event is None or isinstance(event, type):
        name = event.__name__ if isinstance(event, type) else "SomeEvent"
        raise SpecError(
            f"when_event({event.__name__}) is given a class" if event is not None else "when_event(None) has no event",
            why="a function is given what happened: an instance of an event",
            instead=f"when_event({name}(...))",
        )


def refuse_command(event: Any) -> None:
    """Refuse a command where an event belongs.

    Raises:
        SpecError: which says so.
    """
    kind = type(event)
    owner = None if aggregates_of_event(kind) else aggregate_of_command(kind)
    if owner is not None:
        raise SpecError(
            f"when_event({render(event, BRIEF)}) is given a command",
            why=f"{kind.__name__} is a command of {owner.__name__}, and functions are given events",
            instead=f".when({render(event, BRIEF)})",
        )


def require_own_state(event: Any, state: Any, named: NamedAggregate) -> None:
    """Refuse the state of another aggregate than the event's.

    Raises:
        SpecError: which says whose it is.
    """
    kind = type(getattr(state, "state", state))
    owners = [aggregate_metadata(owner) for owner in aggregates_of_state(kind)]
    if not owners or any(owner.named == named for owner in owners):
        return
    about = next((aggregate_metadata(owner) for owner in aggregates_of_event(type(event))), None)
    raise SpecError(
        f"when_event({render(event, BRIEF)}, state={kind.__name__}(...)): {kind.__name__} is the state of "
        f"{owners[0].named.aggregate_name}, and the event is one of {named.aggregate_name}",
        why="a state-event function is given the state of the event's own aggregate",
        instead=f"state={about.state_class.__name__}(...)" if about is not None else "the state of that aggregate",
    )


def no_taker(
    event: Any, state: Any, function: str | None, subject: type | None, held: Iterable[RegisteredFunction]
) -> SpecError:
    """That no function takes an event: of which processors, which functions they have, and what these want."""
    name, functions = type(event).__name__, list(held)
    wanted = FunctionKind.EVENT if state is None else FunctionKind.STATE_EVENT
    sort = "event" if state is None else "state-event"
    if not functions:
        return SpecError(
            f"when_event({render(event, BRIEF)}): the world holds no processor",
            why=_NOTHING,
            instead="given(OrderSaga).when_event(...), or .using(OrderSaga) before it",
        )
    names = list(dict.fromkeys(each.info.name for each in functions))
    who = (
        subject.__name__
        if subject is not None
        else _listed(dict.fromkeys(each.info.processor_name for each in functions))
    )
    if function is not None and function not in names:
        close = difflib.get_close_matches(function, names, 1) or names
        return SpecError(
            f"no {sort} function named {function!r} of {who} takes {name}",
            why=f"{_NOTHING}; there are: {_listed(names)}",
            instead=" or ".join(f"function={each!r}" for each in close),
        )
    others = [each for each in functions if each.info.kind is not wanted and function in (None, each.info.name)]
    if any(isinstance(event, each.handler.supported) for each in others if state is not None):
        instead = f"when_event({name}(...)) without state=, for an event function"
    elif state is None and others:
        instead = f"when_event({name}(...), state=...) for {others[0].qualified_name}, a state-event function"
    else:
        prefix = "state_" if state is not None else ""
        instead = f"def on_{prefix}event(self, event: {name}) -> ...: ... on {who}"
    named = f" named {function!r}" if function is not None else ""
    return SpecError(
        f"no {sort} function{named} of {who} takes {name}",
        why=f"{_NOTHING}; there are: {_listed(each.qualified_name for each in functions)}",
        instead=instead,
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
