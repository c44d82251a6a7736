"""What would mend the most usual mistakes, as far as the run, its world and the steps of the spec show them.

`hints.py` looks at the values of a failed match alone; here more is known. Each rule says what to write, or nothing; it
is asked only when a failure text is being made, and speaks only where its mistake is the cause, or very probably is.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from ..errors import CommandExpectVersionConflictError, DuplicateAggregateIdError, NotFoundError
from ..messages.codec import encode
from ..messages.envelopes import CommandMessage
from ..modeling.builtin import BUILT_IN_EVENTS
from ..modeling.identity import AggregateRef
from ..modeling.naming import message_name
from ..runtime.injection import MissingServiceError
from ..world.clock import NANOS_PER_MILLI
from .alignment import Match, Verdict
from .beforehand import refused_elsewhere
from .compare import equals
from .handler_hints import class_sent, not_awaited, of_error
from .hints import MOST_HINTS, Rule, differing, without
from .nodes import ACTIONS, GivenState, History, Node, Setup, Step, WithFaults, WithoutLaw
from .remarks import addressed
from .render import quoted
from .run import Run
from .session import Session
from .unheard import unheard_text
from .unstruck import mend_of_point, visits_text

#: Looks at a run, and at the step whose expectation failed, where there is one.
RunRule = Callable[[Run, Node | None], str | None]


def with_hints(text: str, found: Iterable[str | None]) -> str:
    """A failure text with hints below it."""
    return "\n".join([text, *(f"  hint: {hint}" for hint in found if hint)])


def run_hints(run: Run, node: Node | None = None) -> list[str]:
    """What to write instead, best first; empty where the run shows no usual mistake."""
    return [hint for rule in RULES if (hint := rule(run, node)) is not None][:MOST_HINTS]


# -- the steps of the spec


def after_when(node: Node | None) -> str | None:
    """What stands between the command and its expectation, as if it counted for it."""
    verb = ""
    for step in _steps_after_when(node):
        if isinstance(step, WithFaults):
            verb = "with_faults(...)"
        elif isinstance(step, Setup) and step.verb != "fork":
            verb = f"{step.verb}(...)"
        elif isinstance(step, History | GivenState):
            verb = "what is given"
    return f"{verb}{_TOO_LATE}" if verb else None


def law_after_when(run: Run, node: Node | None) -> str | None:
    """Which broken law is switched off too late."""
    off = [step.name for step in _steps_after_when(node) if isinstance(step, WithoutLaw)]
    name = next((breach.law for breach in run.breaches if breach.law in off), None)
    return f"without_law({name!r}){_TOO_LATE}" if name is not None else None


def _steps_after_when(node: Node | None) -> list[Step]:
    """What stands between the command and its expectation, the last one first; nothing where there is no command."""
    steps: list[Step] = []
    for earlier in node.back() if node is not None else ():
        if isinstance(earlier.step, ACTIONS):
            return steps
        steps.append(earlier.step)
    return []


def explain_missing_service(error: BaseException, node: Node) -> None:
    """Let a missing service say where it was injected too late."""
    hint = after_when(node) if isinstance(error, MissingServiceError) else None
    if hint is not None:
        error.args = (with_hints(str(error), [hint]),)


def _after_when(run: Run, node: Node | None) -> str | None:  # noqa: ARG001
    return after_when(node)


def _fault_missed(run: Run, node: Node | None) -> str | None:
    armory = run.session.runtime.armory
    when = node.last_when() if node is not None else None
    if armory is None or when is None or when.parent is None:
        return None
    before = when.parent.last_when()
    for origin, armed in zip(run.session.origins, armory.armed, strict=False):
        if armed.struck or not any(step is origin.node for step in _since(when, before)):
            continue
        fault = armed.fault
        mend = mend_of_point(fault, run.session.runtime)
        return f"the fault {fault} did not strike: {mend[0] if mend else visits_text(fault, armed.visits)}"
    return None


def _since(node: Node, before: Node | None) -> Iterable[Node]:
    for earlier in node.back():
        if earlier is before:
            return
        yield earlier


# -- the outcome


def never_created(session: Session, message: CommandMessage[Any] | None, error: BaseException | None) -> str | None:
    """Which instances there are, where a command's own is not one of them."""
    if type(error) is not NotFoundError or message is None or message.is_create or message.allow_create:
        return None
    store, reference = session.runtime.event_store, message.aggregate_id
    if store.head_version(reference) or reference in session.initial:
        return None
    command = type(message.body).__name__
    others = [*store.aggregate_ids(), *session.initial]
    held = list(dict.fromkeys(str(each) for each in others if each.named_aggregate == reference.named_aggregate))
    if not held:
        return f"nothing is given of {reference}: given(...) its events, or @create_aggregate above {command}"
    shown = ", ".join(held[:_MOST_NAMED]) + (", …" if len(held) > _MOST_NAMED else "")
    return f"what is given is of {shown}: mend the id, or @create_aggregate above {command} if it begins a history"


def _never_created(run: Run, node: Node | None) -> str | None:  # noqa: ARG001
    return never_created(run.session, run.message, run.error)


def _began_another(run: Run, node: Node | None) -> str | None:  # noqa: ARG001
    """Which instance was given, where a command that may begin a history began another one's."""
    message = run.message
    if message is None or run.error is not None or message.is_create or not message.allow_create:
        return None
    store, own = run.session.runtime.event_store, message.aggregate_id
    if own in run.session.initial or any(stream.command_id != message.id for stream in store.peek(own)):
        return None
    since = {event.id for event in run.all_events.envelopes}
    given = (each for each in store.aggregate_ids() if store.peek(each)[0].events[0].id not in since)
    others = [
        each for each in dict.fromkeys((*given, *run.session.initial)) if each.named_aggregate == own.named_aggregate
    ]
    close = difflib.get_close_matches(own.id, [each.id for each in others], 1, _CLOSE)
    meant = next((each for each in others if each.id in close), others[0] if len(others) == 1 else None)
    if meant is None:
        return None
    return f"{type(message.body).__name__} began {own}, of which nothing is given: what is given is of {meant}"


def _went_elsewhere(run: Run, node: Node | None) -> str | None:  # noqa: ARG001
    return addressed(run)


def _unheard(run: Run, node: Node | None) -> str | None:  # noqa: ARG001
    if not run.is_unknown or run.wait_for is None:
        return None
    return unheard_text(run.wait_for.target, run.session.runtime)


def _already_there(run: Run, node: Node | None) -> str | None:  # noqa: ARG001
    """What is there already, where a command was to create it."""
    message = run.message
    if type(run.error) is not DuplicateAggregateIdError or message is None or not message.is_create or run.fired:
        return None
    own, command = message.aggregate_id, type(message.body).__name__
    streams = run.session.runtime.event_store.peek(own)
    names = list(dict.fromkeys(type(event.body).__name__ for stream in streams for event in stream.events))
    if not names or any(stream.command_id == message.id for stream in streams):
        return None
    held = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
    return (
        f"{command} creates its instance, and {own} has {held} already: leave that out, mend the id,"
        f" or @allow_create above {command} instead"
    )


def _another_version(run: Run, node: Node | None) -> str | None:  # noqa: ARG001
    error = run.error
    if type(error) is not CommandExpectVersionConflictError:
        return None
    return (
        f"what is given ends in version {error.actual_version}: expected_version={error.actual_version},"
        " or give what comes before the command, too"
    )


def _class_for_service(run: Run, node: Node | None) -> str | None:  # noqa: ARG001
    if not isinstance(run.error, TypeError):
        return None
    for name, service in run.session.world.services.named():
        if isinstance(service, type) and f"{service.__qualname__}." in str(run.error):
            made = f"{service.__name__}()"
            told = f"inject({name}={made})" if name != message_name(type) else f"inject({made})"
            return f"a handler was given the class {service.__name__}, not an object of it: {told}"
    return None


def nothing_emitted(run: Run) -> str | None:
    """Which command function came to its end and returned nothing, where events were expected."""
    message = run.message
    if message is None or not run.succeeded or not run.attempts or run.emitted:
        return None
    metadata = run.session.metadata_of(message.aggregate_id.named_aggregate)
    function = metadata.functions.get(type(message.body))
    if function is None:
        return None
    handler = function.handler
    if metadata.state.evolves:
        return f"{handler.name} gave no event"
    returned = str(getattr(handler.function, "__annotations__", {}).get("return", "None"))
    missing = "" if "None" in returned or "Optional" in returned else ": a `return` may be missing"
    return f"{handler.place} returned None{missing}"


# -- state and events


def unsourced(run: Run, reference: AggregateRef) -> str | None:
    """Which event of an instance's history changes nothing, since its state does not know it."""
    session = run.session
    metadata = session.metadata_of(reference.named_aggregate)
    own = {type(body) for body in run.stored}
    for stream in reversed(session.runtime.event_store.peek(reference)):
        for event in stream.events:
            kind = type(event.body)
            if kind in metadata.state.functions or kind in BUILT_IN_EVENTS:
                continue
            came = "was stored" if kind in own else "was given"
            name, state = kind.__name__, getattr(metadata.state.cls, "__name__", "the state")
            if metadata.state.evolves:
                return f"{name} {came}, but the evolve function of {metadata.named.aggregate_name} takes no {name}"
            return f"{name} {came}, but {state} has no @on_sourcing for it"
    return None


def given_before(run: Run) -> Rule:
    """Finds what is expected of a command and was given before it."""

    def rule(match: Match) -> str | None:
        lacking = [row.expected for row in match.failures if row.verdict is Verdict.MISSING]
        # A class that stands where an event belongs is told apart, with what came in its place.
        classes = [item for item in lacking if isinstance(item, type)]
        missing = [item for item in lacking if not isinstance(item, type)]
        others = [row for row in match.failures if row.verdict is not Verdict.MISSING]
        if any(row.verdict is Verdict.DIFFERS or type(row.actual) not in classes for row in others):
            return None
        if run.message is None or not match.actual or not missing:
            return None
        reference = run.message.aggregate_id
        own = {event.id for event in run.stored.envelopes}
        streams = run.session.runtime.event_store.peek(reference)
        given = [event for stream in streams for event in stream.events if event.id not in own]
        if not all(any(equals(item, event.body) for event in given) for item in missing):
            return None
        before = {each.command_id for each in _runs_before(run)}
        first = next(event for event in given if equals(missing[0], event.body))
        came = "is of an earlier when(...)" if first.command_id in before else "is given"
        root = run.session.metadata_of(reference.named_aggregate).command_class.__name__
        return (
            f"{type(missing[0]).__name__} {came}, and what this command stored is expected here: leave it out,"
            f" or write expect_stored(on({root}, {quoted(reference.id)}), ...) for the whole history"
        )

    return rule


def _runs_before(run: Run) -> Iterator[Run]:
    while run.parent is not None:
        run = run.parent
        yield run


def made_anew(run: Run) -> Rule:
    """Finds a field that the handler did not make from what it was given, and that no two runs have alike."""

    def rule(match: Match) -> str | None:
        for row, each in differing(match):
            loose = without(row, each.path)
            if _is_foreign_id(run, each.actual):
                return f"{each.path}: a new id in each run: let an injected service make it, or write {loose}"
            if _is_foreign_time(run, each.actual):
                return (
                    f"{each.path}: this is not the world's time: let the handler ask for `clock: Clock`,"
                    f" or write {loose}"
                )
        return None

    return rule


def _is_foreign_id(run: Run, value: Any) -> bool:
    text = str(value) if isinstance(value, UUID) else value
    return isinstance(text, str) and bool(_UUID.fullmatch(text)) and text not in _given(run)


def _is_foreign_time(run: Run, value: Any) -> bool:
    """Whether a time has a part of a millisecond that neither the world's clock nor anything given has."""
    moment = value
    if isinstance(value, str) and _INSTANT.match(value):
        with suppress(ValueError):
            moment = datetime.fromisoformat(value)
    if not isinstance(moment, datetime):
        return False
    rest = run.session.world.clock.nanos % NANOS_PER_MILLI // 1_000
    return moment.microsecond % 1_000 not in (0, rest) and not _FINE_TIME.search(_given(run))


def _given(run: Run) -> str:
    """What the handler could make its events from, as JSON: the command, and what was stored before it."""
    message = run.message
    bodies: list[Any] = [] if message is None else [message.body]
    store = run.session.runtime.event_store
    for reference in store.aggregate_ids():
        for stream in store.peek(reference):
            if message is None or stream.command_id != message.id:
                bodies += [event.body for event in stream.events]
    return " ".join(encode(body).decode() for body in bodies)


_MOST_NAMED: Final = 3
#: How alike two ids are of which one may be meant for the other.
_CLOSE: Final = 0.5
_TOO_LATE: Final = " stands after when(...), and counts for the next one"
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
#: A time in JSON with a part of a millisecond.
_FINE_TIME: Final = re.compile(r":\d\d\.\d{3}(?!000)\d{3}")

#: The rules in the order of their hints.
RULES: Final[Sequence[RunRule]] = (
    _after_when,
    class_sent,
    of_error,
    _class_for_service,
    _went_elsewhere,
    _never_created,
    _began_another,
    refused_elsewhere,
    _already_there,
    _another_version,
    _unheard,
    _fault_missed,
    not_awaited,
)
