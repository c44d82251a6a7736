"""One table of the language's steps in words: what was given, what is done, and in what world."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from ..messages.wait_plans import DEFAULT_TIMEOUT_NANOS, ChainTarget, FunctionSelector, WaitFor
from ..modeling.claims import aggregate_of_command, aggregates_of_event
from ..specs.defaults import WorldPlan
from ..specs.items import CommandOf, CommandOptions, On, Options, SentCommand, Stream, TimeStep
from ..specs.nodes import (
    GivenState,
    History,
    Node,
    Setup,
    When,
    WhenConcurrently,
    WhenEvent,
    WithFaults,
    WithoutLaw,
)
from ..specs.session import Profile
from .points_in_words import fault_in_words, stage_in_words
from .said import Words, instance
from .wording import details, duration, fields_in_words, joined, message, own_phrase, value_in_words, words

_NANOS_PER_MICRO: Final = 1_000
_NANOS_PER_SECOND: Final = 1_000_000_000


# --- what was given ---------------------------------------------------------------------------------------------------


def _given(node: Node, _noun: str) -> Words:
    step = node.step
    assert isinstance(step, History)
    items = step.items
    told = ", and everybody was told" if step.deliver else ""
    if not items:
        return Words("nothing has happened yet")
    if len(items) == 1 and isinstance(items[0], TimeStep):
        return Words(_time(items[0]))
    target = items[0]
    if isinstance(target, On) and all(_is_same(target, item) for item in items):
        extra = _whose(target.options)
        lines = [line for same in items for item in same.items for line in _happened(item)]
        if not lines:
            return Words(f"{instance(target)} is spoken of{extra}")
        head = f"{instance(target)}{extra} has this history{told}:"
        return Words(f"{head} {lines[0]}") if len(lines) == 1 else Words(head, lines)
    lines = [line for place, item in enumerate(items) for line in _happened(item, is_first=place == 0)]
    if len(lines) == 1:
        alone = own_phrase(items[0])
        return Words(f"{alone}{told}" if alone is not None else f"this happened{told}: {lines[0]}")
    return Words(f"this happened{told}:", lines)


def _is_same(target: On, item: Any) -> bool:
    return isinstance(item, On) and (item.aggregate, item.id, item.options) == (
        target.aggregate,
        target.id,
        target.options,
    )


def _happened(item: Any, *, is_first: bool = False) -> list[str]:
    """A line for each thing of the past."""
    if isinstance(item, On):
        prefix = f"{instance(item)}{_whose(item.options)}: "
        return [f"{prefix}{line}" for each in item.items for line in _happened(each)] or [prefix.removesuffix(": ")]
    if isinstance(item, Stream):
        return [f"{joined(map(message, item.events))}{_whose(item.options)}"]
    if isinstance(item, TimeStep):
        return [_time_before(item, is_first=is_first)]
    if isinstance(item, SentCommand):
        return [f"{_command(item.command)}{_envelope(item.options)}: asked for, and done"]
    if isinstance(item, CommandOf) or (not isinstance(item, type) and aggregate_of_command(type(item)) is not None):
        return [f"{message(item)}: asked for, and done"]
    return [message(item)]


def _time(item: TimeStep) -> str:
    if item.to is not None:
        return f"the time is {_moment(item.to)}"
    span = dt.timedelta(microseconds=item.by // _NANOS_PER_MICRO)
    return f"{duration(span)} {'passes' if _is_one(span) else 'pass'}"


def _time_before(item: TimeStep, *, is_first: bool) -> str:
    """Time among things of the past."""
    if item.to is not None:
        return f"it {'was' if is_first else 'became'} {_moment(item.to)}"
    return f"{duration(dt.timedelta(microseconds=item.by // _NANOS_PER_MICRO))} passed"


def _moment(nanos_since_epoch: int) -> str:
    seconds, nanos = divmod(nanos_since_epoch, _NANOS_PER_SECOND)
    return value_in_words(dt.datetime.fromtimestamp(seconds, dt.UTC).replace(microsecond=nanos // _NANOS_PER_MICRO))


def _is_one(span: dt.timedelta) -> bool:
    return duration(span).startswith("1 ") and duration(span).count(" ") == 1


def _whose(options: Options) -> str:
    parts = [f"of owner {value_in_words(options.owner_id)}"] if options.owner_id else []
    parts += [f"in space {value_in_words(options.space_id)}"] if options.space_id else []
    parts += [f"of tenant {value_in_words(options.tenant_id)}"] if options.tenant_id else []
    return f" ({', '.join(parts)})" if parts else ""


def _given_state(node: Node, noun: str) -> Words:
    step = node.step
    assert isinstance(step, GivenState)
    whose = _whose(Options(step.owner_id or None, step.space_id or None, step.tenant_id))
    named = f" {value_in_words(step.aggregate_id)}" if step.aggregate_id else ""
    held = own_phrase(step.state) or details(step.state)
    return Words(f"the {noun}{named}{whose} is at version {step.version}{f', with {held}' if held else ''}")


# --- the world --------------------------------------------------------------------------------------------------------


def _setup(node: Node, noun: str) -> Words:
    step = node.step
    assert isinstance(step, Setup)
    return SETUPS[step.verb](step, noun) if step.verb in SETUPS else Words(words(step.verb))


def _planned(step: Setup) -> WorldPlan:
    plan = WorldPlan()
    plan.apply(step)
    return plan


def _nouns(parts: Iterable[Any]) -> str:
    return joined(f"the {words(getattr(part, '__name__', getattr(part, 'name', 'part')))}" for part in parts)


def _using(step: Setup, _noun: str) -> Words:
    parts = _planned(step).parts
    return Words(f"{_nouns(parts)} taking part")


def _without(step: Setup, _noun: str) -> Words:
    parts = _planned(step).excluded
    return Words(f"{_nouns(parts)} taking no part")


def _profile(step: Setup, _noun: str) -> Words:
    profile: Profile = _planned(step).profile
    return Words(f"the system running on {words(profile.name)}")


def _filter(step: Setup, _noun: str) -> Words:
    names = [words(named.name) for named in _planned(step).filters]
    return Words(f"each command passing the {joined(names)}")


def _factory(step: Setup, _noun: str) -> Words:
    names = [words(name) for name in step.names]
    verb = "as a stand-in" if len(names) == 1 else "as stand-ins"
    return Words(f"{joined(f'the {name}' for name in names) or 'what it asks of others'} {verb}")


def _fork(_step: Setup, _noun: str) -> Words:
    return Words("from here on there are several ways to go on")


SETUPS: Final[dict[str, Callable[[Setup, str], Words]]] = {
    "using": _using,
    "without": _without,
    "with_profile": _profile,
    "with_filter": _filter,
    "inject": _factory,
    "inject_factory": _factory,
    "fork": _fork,
}


def _with_faults(node: Node, _noun: str) -> Words:
    step = node.step
    assert isinstance(step, WithFaults)
    texts = [fault_in_words(fault) for fault in step.faults]
    return Words(texts[0]) if len(texts) == 1 else Words("this goes wrong:", texts)


def _without_law(node: Node, _noun: str) -> Words:
    step = node.step
    assert isinstance(step, WithoutLaw)
    return Words(f"nobody checking the law of {words(step.name)}")


# --- what is done -----------------------------------------------------------------------------------------------------


def _command(command: Any) -> str:
    return own_phrase(command) or message(command)


def _when(node: Node, noun: str) -> Words:
    step = node.step
    assert isinstance(step, When)
    command = step.command
    if _is_function(command):
        if node.run is None:
            return Words("a command is sent that is made of what happened before")
        command = node.run.command
    text = own_phrase(command) or f"the command is sent: {message(command)}"
    return Words(_of_before(node, f"{text}{_envelope(step.options, noun)}"))


def _of_before(node: Node, text: str) -> str:
    """A command that was made of an earlier run names the id that this one was given; nobody else knows that id."""
    earlier = node.parent.last_when() if node.parent is not None else None
    if not _is_function(getattr(node.step, "command", None)) or earlier is None or earlier.run is None:
        return text
    message_of_run = earlier.run.message
    if message_of_run is None or getattr(earlier.step, "options", None) is None:
        return text
    return re.sub(rf"(?<!\w){re.escape(message_of_run.aggregate_id.id)}(?!\w)", "the same one", text)


def _is_function(command: Any) -> bool:
    return callable(command) and not isinstance(command, type) and not hasattr(type(command), "model_fields")


def _envelope(options: CommandOptions, noun: str = "") -> str:
    """What stands beside a command, in words."""
    parts = [f"to {f'{noun} ' if noun else ''}{value_in_words(options.aggregate_id)}"] if options.aggregate_id else []
    parts += [f"by {value_in_words(options.owner_id)}"] if options.owner_id else []
    parts += [f"in space {value_in_words(options.space_id)}"] if options.space_id else []
    parts += [f"of tenant {value_in_words(options.tenant_id)}"] if options.tenant_id else []
    parts += [f"as request {value_in_words(options.request_id)}"] if options.request_id else []
    if options.expected_version is not None:
        parts.append(f"by somebody who saw version {options.expected_version}")
    if options.header:
        parts.append(f"with the note {fields_in_words(dict(options.header).items())}")
    if isinstance(options.wait_for, WaitFor):
        parts.append(wait_in_words(options.wait_for))
    return f", {', '.join(parts)}" if parts else ""


def wait_in_words(wait: WaitFor) -> str:
    """What a sender waits for: "by somebody who waits until it was shown in the views"."""
    target = wait.target
    until = f"until it was {stage_in_words(target.stage, _processor(target.selector))}"
    if isinstance(target, ChainTarget):
        until += f", and what follows was {stage_in_words(target.tail.stage, _processor(target.tail.selector))}"
    limit = ""
    if wait.timeout_nanos != DEFAULT_TIMEOUT_NANOS:
        limit = f", {duration(dt.timedelta(microseconds=wait.timeout_nanos // _NANOS_PER_MICRO))} at most"
    return f"by somebody who waits {until}{limit}"


def _processor(selector: FunctionSelector | None) -> str:
    return selector.processor_name if selector is not None else ""


def _when_event(node: Node, _noun: str) -> Words:
    step = node.step
    assert isinstance(step, WhenEvent)
    if step.event is None:
        return Words("what happened is told")
    to = f" to {_happens_to(step.event)}{value_in_words(step.aggregate_id)}" if step.aggregate_id else ""
    whose = _whose(Options(step.owner_id or None, step.space_id or None, step.tenant_id or None))
    state = f"; after it, it has {details(step.state)}" if step.state is not None else ""
    return Words(f"this happens{to}{whose}: {message(step.event)}{state}")


def _happens_to(event: Any) -> str:
    """What an event happens to, in words, where that is known: "order "."""
    claims = aggregates_of_event(type(event))
    return f"{words(claims[0].__name__)} " if len(claims) == 1 else ""


def _when_concurrently(node: Node, _noun: str) -> Words:
    step = node.step
    assert isinstance(step, WhenConcurrently)
    where = "" if step.processes == 1 else f", in {step.processes} processes"
    order = " in one given order" if step.schedule is not None else " in any order"
    lines = [f"{_command(sent.command)}{_envelope(sent.options)}" for sent in step.commands]
    return Words(f"these commands are sent at the same time{where}, and meet{order}:", lines)


#: Kind of step → keyword, and what it says in words.
STEPS: Final[dict[type, tuple[str, Callable[[Node, str], Words]]]] = {
    Setup: ("with", _setup),
    History: ("given", _given),
    GivenState: ("given", _given_state),
    WithFaults: ("with", _with_faults),
    WithoutLaw: ("with", _without_law),
    When: ("when", _when),
    WhenEvent: ("when", _when_event),
    WhenConcurrently: ("when", _when_concurrently),
}
