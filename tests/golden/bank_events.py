"""The event classes that the recorded parts speak of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from wowspec.modeling.annotations import event, name
from wowspec.modeling.builtin import (
    AggregateDeleted,
    AggregateRecovered,
    IgnoreSourcing,
    OwnerTransferred,
    ResourceTagsApplied,
    SpaceTransferred,
)
from wowspec.modeling.naming import to_snake


@dataclass(frozen=True)
class LedgerOpened:
    holder: str = ""
    balance: int = 0


@dataclass(frozen=True)
class Credited:
    amount: int = 0


@dataclass(frozen=True)
class BonusCredited(Credited):
    reason: str = ""


@dataclass(frozen=True)
class Debited:
    amount: int = 0


@dataclass(frozen=True)
class NoteAdded:
    text: str = ""


@dataclass(frozen=True)
class Doubled:
    text: str = ""


@dataclass(frozen=True)
class Pinged:
    text: str = ""


@name("holder_renamed")
@event(revision="1.2.0")
@dataclass(frozen=True)
class Renamed:
    holder: str = ""


@dataclass(frozen=True)
class Moved(OwnerTransferred):
    to_owner_id: str = ""


@dataclass(frozen=True)
class Relocated(SpaceTransferred):
    to_space_id: str = ""


@dataclass(frozen=True)
class Closed(AggregateDeleted):
    reason: str = ""


@dataclass(frozen=True)
class Reopened(AggregateRecovered):
    reason: str = ""


@dataclass(frozen=True)
class Handover(OwnerTransferred, SpaceTransferred, AggregateDeleted):
    to_owner_id: str = ""
    to_space_id: str = ""


@dataclass
class ResourceTagged(ResourceTagsApplied):
    tags: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class SubjectTagged:
    tags: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class OpeningRefused(IgnoreSourcing):
    error_code: str = ""
    error_msg: str = ""


@dataclass(frozen=True)
class OpeningSkipped(IgnoreSourcing):
    reason: str = ""


@dataclass(frozen=True)
class Flagged:
    error_code: str = ""
    error_msg: str = ""


@event(revision="")
class BlankRevision:
    pass


@name(" ")
@event(revision="0.2.0")
class BlankName:
    pass


@name("base_name")
@event(revision="2.0.0")
class NamedBase:
    pass


@name("face_name")
@event(revision="3.0.0")
class NamedFace(Protocol):
    pass


class RevisedBySuper(NamedBase):
    pass


class RevisedByInterface(NamedFace):
    pass


@event(revision="4.0.0")
class RevisedItself(NamedBase, NamedFace):
    pass


@event()
class DefaultRevisionOverBase(NamedBase):
    pass


EVENTS: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        LedgerOpened,
        Credited,
        BonusCredited,
        Debited,
        NoteAdded,
        Doubled,
        Pinged,
        Renamed,
        Moved,
        Relocated,
        Closed,
        Reopened,
        Handover,
        ResourceTagged,
        SubjectTagged,
        OpeningRefused,
        OpeningSkipped,
        Flagged,
        BlankRevision,
        BlankName,
        RevisedBySuper,
        RevisedByInterface,
        RevisedItself,
        DefaultRevisionOverBase,
    )
} | {
    "DefaultAggregateDeleted": AggregateDeleted,
    "DefaultAggregateRecovered": AggregateRecovered,
    "DefaultResourceTagsApplied": ResourceTagsApplied,
}


def event_body(type_name: str, values: dict[str, Any]) -> Any:
    """An event of a recorded type; recorded field names are in camel case."""
    return EVENTS[type_name](**{to_snake(key): value for key, value in values.items()})
