"""The runtime's own words for people: its points, its faults, its stages, as tables."""

from __future__ import annotations

from typing import Any, Final

from ..faults.plans import PlannedFault
from ..faults.values import Fault
from ..messages.stages import CommandStage
from ..specs.items import On
from ..world.points import FaultKind
from .said import instance
from .wording import joined, message, ordinal, value_in_words, words

#: What happens at a point, as a noun. A test requires a row for each point of the table.
POINT_WORDS: Final[dict[str, str]] = {
    "request_id.check": "the check whether the request was made before",
    "command.validate": "the check of the fields",
    "command_bus.send": "sending the command",
    "snapshot.load": "loading the snapshot",
    "event_store.load": "loading the history",
    "service": "the call of {part}",
    "event_store.append": "storing what happened",
    "command.acknowledge": "confirming receipt of the command",
    "domain_event_bus.send": "publishing what happened",
    "state_event_bus.send": "publishing the new state",
    "snapshot.save": "saving the snapshot",
    "event.deliver": "telling {part} what happened",
    "projection.write": "writing {part}",
    "wait.notify": "telling the sender that it was {part}",
}

#: What goes wrong, after the point's noun: "storing what happened times out".
KIND_WORDS: Final[dict[FaultKind, str]] = {
    FaultKind.FAIL: "fails",
    FaultKind.TIMEOUT: "times out",
    FaultKind.HANG: "never ends",
    FaultKind.ACK_LOST: "is done, but its answer is lost",
    FaultKind.ACK_LOST_PERMANENT: "is done, but is answered with an error",
    FaultKind.CONFLICT: "meets a conflict",
    FaultKind.RIVAL: "comes second, after somebody else stored {rival},",
    FaultKind.DUPLICATE: "is done twice",
    FaultKind.REORDER: "is overtaken by the next one",
    FaultKind.DELAY: "takes effect late",
    FaultKind.DROP: "seems to be done, but nothing arrives",
    FaultKind.CRASH_BEFORE: "is not done, since the process dies right before it and starts again,",
    FaultKind.CRASH_AFTER: "is done, and right after it the process dies and starts again,",
    FaultKind.CORRUPT: "gives something that cannot be read",
}

#: What a stage means to the sender, and the same where a processor is named.
STAGE_WORDS: Final[dict[CommandStage, tuple[str, str]]] = {
    CommandStage.SENT: ("sent", "sent"),
    CommandStage.PROCESSED: ("processed", "processed"),
    CommandStage.SNAPSHOT: ("kept as a snapshot", "kept as a snapshot"),
    CommandStage.PROJECTED: ("shown in the views", "shown in the {}"),
    CommandStage.EVENT_HANDLED: ("handled by those who follow it", "handled by the {}"),
    CommandStage.SAGA_HANDLED: ("taken up by the saga", "taken up by the {}"),
}


def stage_in_words(stage: Any, processor: str = "") -> str:
    """A stage as a participle: "processed", "shown in the order board"."""
    try:
        alone, named = STAGE_WORDS[CommandStage(str(stage).upper())]
    except ValueError:
        return words(str(stage))
    return named.format(words(processor)) if processor else alone


def point_in_words(point: str) -> str:
    """A point as a noun: "storing what happened", "the call of charge of the payment"."""
    name, _, part = point.partition(":")
    text = POINT_WORDS.get(name)
    if text is None:
        return f"the step {words(name.replace('.', ' '))}"
    if name == "wait.notify":
        return text.format(part=stage_in_words(part))
    owner, _, function = part.partition(".")
    held = f"the {words(owner)}"
    return text.format(part=f"“{words(function)}” of {held}" if name == "service" else held)


def fault_in_words(fault: Fault) -> str:
    """A fault in words: "storing what happened times out the second time"."""
    events = fault.payload if isinstance(fault.payload, tuple) else ()
    kind = KIND_WORDS[fault.kind].format(rival=joined(map(message, events)) or "the same")
    text = f"{_for_whom(fault.aggregate)}{point_in_words(fault.point)} {kind}{_visits(fault.at, fault.times)}"
    return text.removesuffix(",")


def planned_fault_in_words(fault: PlannedFault) -> str:
    """A fault of a plan in words."""
    kind = KIND_WORDS[fault.kind].format(rival="the same")
    text = f"{point_in_words(fault.address.point)} {kind}{_visits(fault.address.visit, fault.times)}"
    return text.removesuffix(",")


def _for_whom(aggregate: Any) -> str:
    if aggregate is None:
        return ""
    if isinstance(aggregate, On):
        return f"for {instance(aggregate)}, "
    return (
        f"for each {words(aggregate.__name__)}, "
        if isinstance(aggregate, type)
        else f"for {value_in_words(aggregate)}, "
    )


def _visits(at: int, times: int) -> str:
    if times == 1:
        return "" if at == 1 else f" the {ordinal(at)} time"
    if at == 1:
        return f" the first {times} times"
    return f" from the {ordinal(at)} to the {ordinal(at + times - 1)} time"
