"""Commands and events that the runtime itself knows (section M.2, EVT-060, STA-013).

They are plain classes: use them as they are, or as a base. A subclass counts as "implements": `class Close(BaseModel,
DeleteAggregate)` is a delete command, `class Moved(BaseModel, OwnerTransferred)` an owner transfer. In a Pydantic model
the model's own base comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ..errors import IllegalArgumentError
from ..texts import is_blank
from .naming import WIRE_NAME, simple_name

#: Own attribute of a built-in class: its package in the modelled runtime.
WIRE_PACKAGE: Final = "__wowspec_wire_package__"

Tags = Mapping[str, list[str]]


class _Value:
    """Equality, hash and text by value; where a subclass is a dataclass or a Pydantic model, its own ones go first."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        inherited = super().__eq__(other)
        if inherited is NotImplemented:
            return type(self) is type(other) and _state(self) == _state(other)
        return inherited

    def __hash__(self) -> int:
        return super().__hash__() if _state(self) else hash(type(self))

    def __repr__(self) -> str:
        inherited = super().__repr__
        if getattr(inherited, "__objclass__", None) is not object:
            return inherited()
        fields = ", ".join(f"{name}={value!r}" for name, value in _state(self).items())
        return f"{type(self).__name__}({fields})"


def _state(value: object) -> dict[str, Any]:
    state: dict[str, Any] = getattr(value, "__dict__", {})
    return state


# --- commands ---------------------------------------------------------------------------------------------------------


class DeleteAggregate(_Value):
    """Delete the aggregate; needs the aggregate named and its id given from outside (CMD-259)."""

    __slots__ = ()
    __wowspec_wire_name__: ClassVar[str] = "DefaultDeleteAggregate"
    __wowspec_wire_package__: ClassVar[str] = "me.ahoo.wow.api.command"


class RecoverAggregate(_Value):
    """Bring a deleted aggregate back; needs the aggregate named and its id given from outside (CMD-259)."""

    __slots__ = ()
    __wowspec_wire_name__: ClassVar[str] = "DefaultRecoverAggregate"
    __wowspec_wire_package__: ClassVar[str] = "me.ahoo.wow.api.command"


class ApplyResourceTags(_Value):
    """Replace the aggregate's tags.

    Args:
        tags: lists of values by key.
    """

    __wowspec_wire_name__: ClassVar[str] = "DefaultApplyResourceTags"
    __wowspec_wire_package__: ClassVar[str] = "me.ahoo.wow.api.abac"
    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    tags: Tags

    def __init__(self, tags: Tags) -> None:
        self.tags = tags

    def validate_command(self) -> None:
        """Refuse a blank key with an `IllegalArgumentError` (CMD-260)."""
        for key in self.tags:
            if is_blank(key):
                message = f"a tag of {type(self).__name__} has the blank key {key!r}: every tag needs a key"
                raise IllegalArgumentError(message)


# --- events -----------------------------------------------------------------------------------------------------------


class AggregateDeleted(_Value):
    """The aggregate is deleted; any subclass has the same effect (EVT-060)."""

    __slots__ = ()
    __wowspec_wire_name__: ClassVar[str] = "DefaultAggregateDeleted"
    __wowspec_wire_package__: ClassVar[str] = "me.ahoo.wow.api.event"


class AggregateRecovered(_Value):
    """The aggregate is no longer deleted; any subclass has the same effect (EVT-060)."""

    __slots__ = ()
    __wowspec_wire_name__: ClassVar[str] = "DefaultAggregateRecovered"
    __wowspec_wire_package__: ClassVar[str] = "me.ahoo.wow.api.event"


class ResourceTagsApplied(_Value):
    """The aggregate's tags are replaced, not merged (STA-014).

    Args:
        tags: lists of values by key.
    """

    __wowspec_wire_name__: ClassVar[str] = "DefaultResourceTagsApplied"
    __wowspec_wire_package__: ClassVar[str] = "me.ahoo.wow.api.abac"
    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    tags: Tags

    def __init__(self, tags: Tags) -> None:
        self.tags = tags


class OwnerTransferred:
    """Base of an event that gives the aggregate another owner: a subclass has the field `to_owner_id` (STA-013)."""

    __slots__ = ()
    to_owner_id: str


class SpaceTransferred:
    """Base of an event that moves the aggregate to another space: a subclass has the field `to_space_id` (STA-013)."""

    __slots__ = ()
    to_space_id: str


class IgnoreSourcing:
    """Marker of an event that is no history: a first stream of nothing but marked error events is skipped (EVT-057)."""

    __slots__ = ()


class SelfNamed:
    """Base of a command that names its own aggregate, with the fields `context_name` and `aggregate_name` (CMD-022)."""

    __slots__ = ()
    context_name: str
    aggregate_name: str


# --- what the runtime does with them ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BuiltInCommand:
    """A command that every aggregate answers with one event, unless it registers one of that sort (CMD-256, CMD-257).

    Attributes:
        command: the class; a registered subclass of it switches the built-in off.
        event: class of the one event.
        wire_name: simple name in the modelled runtime.
        answer: makes the event from the command's body.
    """

    command: type
    event: type
    wire_name: str
    answer: Callable[[Any], Any]


BUILT_IN_COMMANDS: Final[tuple[BuiltInCommand, ...]] = (
    BuiltInCommand(DeleteAggregate, AggregateDeleted, "DefaultDeleteAggregate", lambda _: AggregateDeleted()),
    BuiltInCommand(RecoverAggregate, AggregateRecovered, "DefaultRecoverAggregate", lambda _: AggregateRecovered()),
    BuiltInCommand(
        ApplyResourceTags,
        ResourceTagsApplied,
        "DefaultApplyResourceTags",
        lambda command: ResourceTagsApplied(command.tags),
    ),
)

BUILT_IN_EVENTS: Final[tuple[type, ...]] = (AggregateDeleted, AggregateRecovered, ResourceTagsApplied)


def wire_type(cls: type) -> str:
    """Type name of a body class in JSON: a built-in one's in the modelled runtime, else module and qualified name."""
    package = cls.__dict__.get(WIRE_PACKAGE)
    if package is not None and WIRE_NAME in cls.__dict__:
        return f"{package}.{simple_name(cls)}"
    return f"{cls.__module__}.{cls.__qualname__}"


def merge_tags(left: Tags, right: Tags) -> dict[str, list[str]]:
    """The union of two sets of tags: keys and values of `left` first, each value once; an empty side changes nothing
    in the other (STA-016).
    """
    if not left or not right:
        return {key: list(values) for key, values in (left or right).items()}
    keys = dict.fromkeys((*left, *right))
    return {key: list(dict.fromkeys((*left.get(key, ()), *right.get(key, ())))) for key in keys}
