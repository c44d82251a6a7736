"""From what a command function returned to a domain event stream (section N of the contract, EVT-041 to EVT-049)."""

from __future__ import annotations

import array
import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from ..error_policy import as_error_info
from ..errors import IllegalArgumentError, SpecError
from ..modeling.builtin import IgnoreSourcing
from ..modeling.events import event_metadata
from ..texts import is_blank
from .envelopes import CommandMessage, DomainEvent, DomainEventStream
from .header import Header
from .ids import Origin
from .propagation import propagate

_MAX_VERSION: Final = 2_147_483_647
#: Iterable in Python, but one value: one event (CMD-270).
_ONE: Final = (str, bytes, bytearray, memoryview, array.array, Mapping, BaseModel, type)
_UNORDERED: Final = (set, frozenset)
#: Whether a returned object of this class is a collection of events.
_MANY: Final[dict[type, bool]] = {list: True, tuple: True}


def flatten(result: Any) -> list[Any]:
    """The events that a command function returned: an iterable's elements, else the object itself (EVT-041, CMD-270).

    One level only. An iterable is walked once (EVT-045, CMD-305). Text, mappings, pydantic models, dataclasses and
    named tuples are single events although Python can iterate over them.

    Raises:
        SpecError: for a set, whose events have no order.
    """
    cls = type(result)
    many = _MANY.get(cls)
    if many is None:
        many = _MANY[cls] = _is_many(cls)
    if not many:
        return [result]
    if isinstance(result, _UNORDERED):
        raise SpecError(
            f"a command function returned a {cls.__name__} of events",
            why="events are stored in their order, and a set has none: each run could store another stream",
            instead="a list or a tuple of events",
        )
    return list(result)


def _is_many(cls: type) -> bool:
    if issubclass(cls, _ONE) or dataclasses.is_dataclass(cls):
        return False
    if issubclass(cls, tuple):
        return not hasattr(cls, "_fields")
    return hasattr(cls, "__iter__") or (hasattr(cls, "__getitem__") and hasattr(cls, "__len__"))


def build_stream(
    result: Any,
    *,
    command: CommandMessage[Any],
    aggregate_version: int = 0,
    owner_id: str = "",
    space_id: str = "",
    origin: Origin,
    header: Header | None = None,
    create_time: int | None = None,
) -> DomainEventStream:
    """The stream of the events that a command function returned.

    Args:
        result: what it returned.
        command: the command's message: target, ids, and the header that is propagated (CMD-304).
        aggregate_version: version before the command; all events have the next one (EVT-042).
        owner_id: the state's owner, for a command without one (EVT-047).
        space_id: the state's space, likewise.
        origin: gives ids, the stream's first (EVT-046), and the time.
        header: becomes the stream's header itself; a new one by default.
        create_time: of all events, in epoch milliseconds; now by default (EVT-048).

    Raises:
        IllegalArgumentError: if there is no event, or one of them is None (EVT-044, CMD-306).
    """
    if header is None:
        header = Header()
    propagate(command, header)
    aggregate_id = command.aggregate_id
    command_id = command.id
    version = aggregate_version + 1 if aggregate_version != _MAX_VERSION else -_MAX_VERSION - 1
    commanded_owner, commanded_space = command.owner_id, command.space_id
    if commanded_owner and not is_blank(commanded_owner):
        owner_id = commanded_owner
    if commanded_space and not is_blank(commanded_space):
        space_id = commanded_space
    if create_time is None:
        create_time = origin.now_millis()
    next_id = origin.next_id
    stream_id = next_id()
    # Only now: what cannot be propagated fails before anybody walks the result.
    bodies = flatten(result)
    last = len(bodies)
    events: list[DomainEvent[Any]] = []
    for sequence, body in enumerate(bodies, 1):
        if body is None:
            message = f"event {sequence - 1} of {last} that {command.name} returned is None (counted from 0)"
            raise IllegalArgumentError(message)
        metadata = event_metadata(type(body))
        events.append(
            DomainEvent(
                next_id(), body, aggregate_id, version, metadata.name, command_id, Header(header),
                sequence, sequence == last, metadata.revision, owner_id, space_id, create_time,
            )
        )  # fmt: skip
    return DomainEventStream(stream_id, command.request_id, header, tuple(events))


def ignores_sourcing(stream: DomainEventStream) -> bool:
    """Whether state ignores the stream: it is the first, and each body is a marked error event (EVT-057, CMD-310)."""
    if stream.version != 1:
        return False
    for event in stream.events:
        body = event.body
        if not isinstance(body, IgnoreSourcing) or as_error_info(body) is None:
            return False
    return True
