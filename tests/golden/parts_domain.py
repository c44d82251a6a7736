"""The bank that the cases of the passive parts speak of: events, state classes, and the commands of the JSON cases.

Fields have the names that the recorded JSON has; what the runtime asks for under a name of its own is a property.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Protocol

from pydantic import BaseModel, PrivateAttr, computed_field

from wowspec.errors import ErrorCode, IllegalStateError
from wowspec.modeling.annotations import (
    AggregateId,
    AggregateVersion,
    OwnerId,
    TenantId,
    allow_create,
    create_aggregate,
    event,
    name,
)
from wowspec.modeling.builtin import (
    AggregateDeleted,
    AggregateRecovered,
    IgnoreSourcing,
    OwnerTransferred,
    ResourceTagsApplied,
    SpaceTransferred,
)
from wowspec.modeling.decorators import on_sourcing as sourcing
from wowspec.modeling.identity import NamedAggregate

LEDGER: Final = NamedAggregate("bank-service", "ledger")
VAULT: Final = NamedAggregate("bank-service", "vault")

# --- events -----------------------------------------------------------------------------------------------------------


class LedgerOpened(BaseModel):
    holder: str
    balance: int


class Credited(BaseModel):
    amount: int


class BonusCredited(Credited):
    reason: str


class Debited(BaseModel):
    amount: int


class NoteAdded(BaseModel):
    text: str


class Doubled(BaseModel):
    text: str


class Pinged(BaseModel):
    text: str = ""


@name("holder_renamed")
@event(revision="1.2.0")
class Renamed(BaseModel):
    holder: str


@dataclass
class Moved(OwnerTransferred):
    toOwnerId: str

    @property
    def to_owner_id(self) -> str:  # type: ignore[override]
        return self.toOwnerId


@dataclass
class Relocated(SpaceTransferred):
    toSpaceId: str

    @property
    def to_space_id(self) -> str:  # type: ignore[override]
        return self.toSpaceId


class Closed(BaseModel, AggregateDeleted):
    reason: str = ""


class Reopened(BaseModel, AggregateRecovered):
    reason: str = ""


@dataclass
class Handover(OwnerTransferred, SpaceTransferred, AggregateDeleted):
    toOwnerId: str
    toSpaceId: str

    @property
    def to_owner_id(self) -> str:  # type: ignore[override]
        return self.toOwnerId

    @property
    def to_space_id(self) -> str:  # type: ignore[override]
        return self.toSpaceId


class _TagsApplied(BaseModel):
    tags: dict[str, list[str]]


class ResourceTagged(_TagsApplied, ResourceTagsApplied):  # type: ignore[misc]
    pass


class SubjectTagged(_TagsApplied):
    pass


class _ErrorInfo(BaseModel):
    errorCode: str
    errorMsg: str

    @property
    def error_code(self) -> str:
        return self.errorCode

    @property
    def error_msg(self) -> str:
        return self.errorMsg

    @computed_field  # type: ignore[prop-decorator]
    @property
    def succeeded(self) -> bool:
        return self.errorCode == ErrorCode.OK


class OpeningRefused(_ErrorInfo, IgnoreSourcing):
    pass


class OpeningSkipped(BaseModel, IgnoreSourcing):
    reason: str


class Flagged(_ErrorInfo):
    pass


@event(revision="")
class BlankRevision(BaseModel):
    pass


@name(" ")
@event(revision="0.2.0")
class BlankName(BaseModel):
    pass


@name("base_name")
@event(revision="2.0.0")
class RevisedBase:
    pass


@name("face_name")
@event(revision="3.0.0")
class RevisedFace(Protocol):
    pass


class RevisedBySuper(RevisedBase):
    pass


class RevisedByInterface(RevisedFace):
    pass


@event(revision="4.0.0")
class RevisedItself(RevisedBase, RevisedFace):
    pass


@event()
class DefaultRevisionOverBase(RevisedBase):
    pass


#: Every event class under its recorded simple name.
EVENTS: Final[dict[str, Any]] = {
    **{
        cls.__name__: cls
        for cls in (
            LedgerOpened, Credited, BonusCredited, Debited, NoteAdded, Doubled, Pinged, Renamed, Moved, Relocated,
            Closed, Reopened, Handover, ResourceTagged, SubjectTagged, OpeningRefused, OpeningSkipped, Flagged,
            BlankRevision, BlankName, RevisedBySuper, RevisedByInterface, RevisedItself, DefaultRevisionOverBase,
        )
    },
    "DefaultAggregateDeleted": AggregateDeleted,
    "DefaultAggregateRecovered": AggregateRecovered,
    "DefaultResourceTagsApplied": ResourceTagsApplied,
}  # fmt: skip

#: Events that the metadata registers for the ledger.
REGISTERED_EVENTS: Final = (LedgerOpened, Credited, Debited)


def event_body(type_name: str, body: dict[str, Any]) -> Any:
    """The event of a recorded simple name and its fields."""
    return EVENTS[type_name](**body)


# --- states -----------------------------------------------------------------------------------------------------------


class _NoteTaker(BaseModel):
    """Holds a function that counts only in the class that declares it."""

    holder: str = ""
    balance: int = 0
    log: list[str] = []

    def write(self, line: str) -> None:
        self.log.append(line)

    @sourcing
    def _note_added(self, event: NoteAdded) -> None:
        self.write(f"note:{event.text}")


class _Ledger(_NoteTaker):
    @sourcing
    def opened(self, event: LedgerOpened) -> None:
        self.holder = event.holder
        self.balance = event.balance
        self.write("opened")

    @sourcing
    def credited(self, event: Credited) -> None:
        self.balance += event.amount
        self.write(f"credited:{event.amount}")

    @sourcing
    def debited(self, event: Debited) -> None:
        if self.balance < event.amount:
            message = f"a balance of {self.balance} does not cover {event.amount}"
            raise IllegalStateError(message)
        self.balance -= event.amount
        self.write(f"debited:{event.amount}")

    @sourcing
    def zebra(self, event: Doubled) -> None:
        self.write(f"zebra:{event.text}")

    @sourcing
    def antelope(self, event: Doubled) -> None:
        self.write(f"antelope:{event.text}")

    def on_sourcing(self, event: Doubled) -> None:
        self.write(f"plain:{event.text}")

    @sourcing
    def renamed(self, event: Renamed) -> None:
        self.holder = event.holder
        self.write("renamed")

    @sourcing
    def moved(self, event: Moved) -> None:
        self.write(f"moved:{event.toOwnerId}")

    @sourcing
    def closed(self, event: Closed) -> None:
        self.write("closed")

    @sourcing
    def handover(self, event: Handover) -> None:
        self.write("handover")

    @sourcing
    def flagged(self, event: Flagged) -> None:
        self.write(f"flagged:{event.errorCode}")


class LedgerState(_Ledger):
    id: str


class TenantLedgerState(_Ledger):
    id: str
    tenant: Annotated[str, TenantId()]


class BareLedgerState(_Ledger):
    pass


class VersionedLedgerState(_Ledger):
    id: str
    version: int = -1

    def set_version(self, version: int) -> None:
        self.version = version

    def write(self, line: str) -> None:
        super().write(f"{line}@v{self.version}")


class TaggedLedgerState(_Ledger):
    id: str

    def extract_tags(self, aggregate: Any) -> dict[str, list[str]]:
        return {"balance": [str(self.balance)], "owner": [aggregate.owner_id], "version": [str(aggregate.version)]}


class AwareLedgerState(_Ledger):
    id: str
    _aggregate: Any = PrivateAttr(None)

    def set_state_aggregate(self, aggregate: Any) -> None:
        self._aggregate = aggregate

    def write(self, line: str) -> None:
        seen = self._aggregate
        deleted = "true" if seen.deleted else "false"
        super().write(
            f"{line}|v{seen.version}|owner={seen.owner_id}|space={seen.space_id}|event={seen.event_id}"
            f"|op={seen.operator}|deleted={deleted}"
        )


STATES: Final[dict[str, Any]] = {
    cls.__name__: cls
    for cls in (
        LedgerState, TenantLedgerState, BareLedgerState, VersionedLedgerState, TaggedLedgerState, AwareLedgerState,
    )
}  # fmt: skip


# --- commands of the JSON cases -----------------------------------------------------------------------------------


class WithId(BaseModel):
    id: str
    amount: int


class PrivateId(BaseModel):
    id: str
    amount: int


class PrivateAnnotatedId(BaseModel):
    ledgerId: Annotated[str, AggregateId()]


@create_aggregate
@allow_create
class EveryFlag(BaseModel):
    """Recorded as a void command too, which cannot be declared together with creation; messages carry their flags."""

    id: str


class Everything(BaseModel):
    ledgerId: Annotated[str | None, AggregateId()]
    tenant: Annotated[str | None, TenantId()]
    owner: Annotated[str | None, OwnerId()]
    expected: Annotated[int | None, AggregateVersion()]


COMMANDS: Final[dict[str, Any]] = {
    cls.__name__: cls for cls in (WithId, PrivateId, PrivateAnnotatedId, EveryFlag, Everything)
}
