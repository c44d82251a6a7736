"""Names and identities: named aggregates, aggregate ids, functions (NAM-001 to NAM-008, CMD-044)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, partial
from operator import mul
from typing import Any, Final, NamedTuple, cast

from ..errors import IllegalArgumentError
from ..texts import is_blank

DEFAULT_TENANT_ID: Final = "(0)"
DEFAULT_OWNER_ID: Final = ""
DEFAULT_SPACE_ID: Final = ""


#: Makes a named tuple without the call of its own that takes longer than the work; each command needs several.
_new: Final[Any] = tuple.__new__


class NamedAggregate(NamedTuple):
    """A type of aggregate: bounded context and aggregate name (NAM-001)."""

    context_name: str
    aggregate_name: str

    def __str__(self) -> str:
        return f"{self.context_name}.{self.aggregate_name}"


#: What the last units of a text count in its hash: most ids are no longer, and each is hashed once at least.
_POWERS: Final = tuple(31**exponent & 0xFFFFFFFF for exponent in range(40, -1, -1))


@lru_cache(maxsize=4096)
def java_string_hash(text: str) -> int:
    """The JVM's hash of a text, as a signed 32-bit integer: it decides scheduling groups (NAM-006)."""
    units = memoryview(text.encode("utf-16-le")).cast("H")
    if len(units) <= len(_POWERS):
        value: int = sum(map(mul, units, _POWERS[-len(units) :])) & 0xFFFFFFFF
    else:
        value = 0
        for unit in units:
            value = (31 * value + unit) & 0xFFFFFFFF
    return value - 0x100000000 if value & 0x80000000 else value


class AggregateRef(NamedTuple):
    """The id of one aggregate instance: context, aggregate name, tenant and id (CMD-044).

    Ordered by id text alone, and only among instances of one named aggregate (NAM-005).
    """

    context_name: str
    aggregate_name: str
    id: str
    tenant_id: str = DEFAULT_TENANT_ID

    @property
    def named_aggregate(self) -> NamedAggregate:
        """The type of aggregate that this instance belongs to."""
        return _new(NamedAggregate, (self.context_name, self.aggregate_name))  # type: ignore[no-any-return]

    def mod(self, divisor: int) -> int:
        """Floor modulo of the JVM hash of the id text: the scheduling group (NAM-006, CMD-162)."""
        return java_string_hash(self.id) % divisor

    def _check_comparable(self, other: AggregateRef) -> None:
        if (self.context_name, self.aggregate_name) != (other.context_name, other.aggregate_name):
            message = f"{self} and {other} are of different aggregates: only ids of one aggregate have an order"
            raise IllegalArgumentError(message)

    def __lt__(self, other: AggregateRef) -> bool:  # type: ignore[override]
        self._check_comparable(other)
        return self.id < other.id

    def __gt__(self, other: AggregateRef) -> bool:  # type: ignore[override]
        self._check_comparable(other)
        return self.id > other.id

    def __str__(self) -> str:
        tenant = "" if self.tenant_id == DEFAULT_TENANT_ID else f"@{self.tenant_id}"
        return f"{self.aggregate_name}({self.id}{tenant})"


#: An id of its parts, `(context_name, aggregate_name, id, tenant_id)`: as `AggregateRef(...)`, at a third of the cost.
make_ref: Final = cast("Callable[[tuple[str, str, str, str]], AggregateRef]", partial(tuple.__new__, AggregateRef))


class FunctionKind(StrEnum):
    """What a message function handles (EVT-075)."""

    COMMAND = "COMMAND"
    SOURCING = "SOURCING"
    EVENT = "EVENT"
    STATE_EVENT = "STATE_EVENT"
    ERROR = "ERROR"


class TopicKind(StrEnum):
    """What a bus carries (EVT-075)."""

    COMMAND = "COMMAND"
    EVENT_STREAM = "EVENT_STREAM"
    STATE_EVENT = "STATE_EVENT"
    UNDEFINED = "UNDEFINED"


TOPIC_OF_KIND: Final[dict[FunctionKind, TopicKind]] = {
    FunctionKind.COMMAND: TopicKind.COMMAND,
    FunctionKind.SOURCING: TopicKind.EVENT_STREAM,
    FunctionKind.EVENT: TopicKind.EVENT_STREAM,
    FunctionKind.STATE_EVENT: TopicKind.STATE_EVENT,
    FunctionKind.ERROR: TopicKind.UNDEFINED,
}


@dataclass(frozen=True, slots=True)
class FunctionInfo:
    """Identity of a message function: kind, context, processor, name (EVT-107, CMD-251)."""

    kind: FunctionKind
    context_name: str
    processor_name: str
    name: str

    @property
    def is_empty(self) -> bool:
        """Whether all three names are blank."""
        return is_blank(self.context_name) and is_blank(self.processor_name) and is_blank(self.name)

    def is_same_function(self, other: FunctionInfo) -> bool:
        """Two functions are the same when all four parts are equal (EVT-108)."""
        return self == other


def unknown_function(context_name: str, kind: FunctionKind = FunctionKind.ERROR) -> FunctionInfo:
    """The placeholder for a message that met no function (CMD-338)."""
    return FunctionInfo(kind, context_name, "Unknown", "Unknown")


GATEWAY_FUNCTION: Final = FunctionInfo(FunctionKind.COMMAND, "wow", "CommandGateway", "send")
PROCESS_FUNCTION: Final = FunctionInfo(FunctionKind.COMMAND, "wow", "SimpleCommandAggregate", "process")
SNAPSHOT_FUNCTION: Final = FunctionInfo(FunctionKind.STATE_EVENT, "wow", "SnapshotDispatcher", "save")
