"""One correct aggregate, and one for each defect that a law must catch."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, PrivateAttr

from wowspec import (
    after_command,
    aggregate_root,
    allow_create,
    create_aggregate,
    on_command,
    on_error,
    on_sourcing,
    void_command,
)
from wowspec.modeling.builtin import OwnerTransferred
from wowspec.modeling.deciders import decider

T = TypeVar("T")


def version_of_box(cls: type[T]) -> type[T]:
    """Call it a new version of the one `Box`, so that all of them may use the same commands and events."""
    cls.__qualname__ = "Box"
    return cls


@create_aggregate
class Open(BaseModel):
    id: str
    sizes: list[int] = []


class Add(BaseModel):
    id: str
    size: int = 1
    sizes: list[int] = []


class Refuse(BaseModel):
    id: str
    reasons: list[str] = []


@allow_create
class Nothing(BaseModel):
    id: str


@void_command
class Look(BaseModel):
    id: str


class Opened(BaseModel):
    sizes: list[int] = []


class Added(BaseModel):
    size: int = 1


@dataclass
class Given(OwnerTransferred):
    to_owner_id: str


class BoxState(BaseModel):
    id: str
    total: int = 0
    sizes: list[int] = []
    kinds: set[str] = set()

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self.sizes = list(event.sizes)

    @on_sourcing
    def added(self, event: Added) -> None:
        self.total += event.size
        self.sizes.append(event.size)
        self.kinds.add("odd" if event.size % 2 else "even")


@aggregate_root(context="laws", name="box", commands=[Look])
@version_of_box
class Box:
    """Correct."""

    def __init__(self, state: BoxState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened(sizes=command.sizes)

    @on_command
    def add(self, command: Add) -> Added:
        return Added(size=command.size)

    @on_command
    def refuse(self, command: Refuse) -> Added:
        raise ValueError("refused")

    @on_command
    def nothing(self, command: Nothing) -> None:
        return None


# ------------------------------------------------------------------------------------------------- command functions


@aggregate_root(context="laws", name="box")
@version_of_box
class SetsState:
    """Its command functions change the state."""

    def __init__(self, state: BoxState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()

    @on_command
    def add(self, command: Add) -> Added:
        self.state.total += command.size
        return Added(size=command.size)

    @on_command
    def refuse(self, command: Refuse) -> Added:
        self.state.total = 99
        raise ValueError("refused")


@aggregate_root(context="laws", name="box")
@version_of_box
class SetsStateAfterwards:
    """Its after-command function changes the state."""

    def __init__(self, state: BoxState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()

    @after_command
    def note(self, command: Open) -> None:
        self.state.kinds.add("noted")


@aggregate_root(context="laws", name="box")
@version_of_box
class SetsCommand:
    """Its functions change the command, one with and one without success."""

    def __init__(self, state: BoxState) -> None:
        self.state = state

    @on_command
    def add(self, command: Add) -> Added:
        command.sizes.append(7)
        return Added(size=command.size)

    @on_command
    def open(self, command: Open) -> Opened:
        command.id = "2"
        return Opened()

    @on_command
    def refuse(self, command: Refuse) -> Added:
        raise ValueError("refused")

    @on_error
    def refused(self, command: Refuse, error: BaseException) -> None:
        command.reasons.append(str(error))


# ------------------------------------------------------------------------------------------------ sourcing functions


class SortingState(BaseModel):
    id: str
    sizes: list[int] = []

    @on_sourcing
    def opened(self, event: Opened) -> None:
        event.sizes.sort()
        self.sizes = list(event.sizes)


@aggregate_root(context="laws", name="box")
@version_of_box
class SortsEvent:
    """Its sourcing function changes the event."""

    def __init__(self, state: SortingState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened(sizes=list(command.sizes))


class KeepingState(BaseModel):
    id: str
    sizes: list[int] = []

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self.sizes = event.sizes

    @on_sourcing
    def added(self, event: Added) -> None:
        self.sizes.append(event.size)


@aggregate_root(context="laws", name="box")
@version_of_box
class KeepsEvent:
    """Its state keeps a list of the event, and a later event changes it."""

    def __init__(self, state: KeepingState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> list[Opened | Added]:
        return [Opened(), Added(size=5)]

    @on_command
    def add(self, command: Add) -> Added:
        return Added(size=command.size)


NUMBERS = itertools.count(1)


class ImpureState(BaseModel):
    id: str
    ticket: int = 0

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self.ticket = next(NUMBERS)


@aggregate_root(context="laws", name="box")
@version_of_box
class Impure:
    """Its sourcing function draws a number."""

    def __init__(self, state: ImpureState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()


class Marked(BaseModel):
    mark: str | None = Field(default=None, exclude=True)


class MarkedState(BaseModel):
    id: str
    mark: str = ""
    strict: bool = False

    @on_sourcing
    def marked(self, event: Marked) -> None:
        if self.strict and event.mark is None:
            raise ValueError("no mark")
        self.mark = event.mark or ""

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self.strict = True


@aggregate_root(context="laws", name="box")
@version_of_box
class LosesInEvent:
    """A field of its event is not in the JSON."""

    def __init__(self, state: MarkedState) -> None:
        self.state = state

    @on_command
    def add(self, command: Add) -> Marked:
        return Marked(mark="red")

    @on_command
    def open(self, command: Open) -> list[Opened | Marked]:
        return [Opened(), Marked(mark="red")]


class Positive(BaseModel):
    size: Annotated[int, Field(gt=0)]


@aggregate_root(context="laws", name="box")
@version_of_box
class StoresRefused:
    """Its event is refused when it is read back."""

    def __init__(self, state: BoxState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Positive:
        return Positive.model_construct(size=-1)


# ------------------------------------------------------------------------------------------------------------ states


class PrivateState(BaseModel):
    id: str
    total: int = 0
    _last: int = PrivateAttr(default=0)

    @on_sourcing
    def added(self, event: Added) -> None:
        self.total += event.size
        self._last = event.size


@aggregate_root(context="laws", name="box")
@version_of_box
class KeepsPrivately:
    """Its sourcing function sets a private attribute."""

    def __init__(self, state: PrivateState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        self.state._last = 4
        return Opened()

    @on_command
    def add(self, command: Add) -> Added:
        return Added(size=command.size)


class LooseState(BaseModel):
    id: str
    since: Any = None

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self.since = dt.date(2026, 1, 1)


@aggregate_root(context="laws", name="box")
@version_of_box
class DeclaresTooLittle:
    """Its state does not say what type a field has."""

    def __init__(self, state: LooseState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()


class HidingState(BaseModel):
    id: str
    total: int = Field(default=0, exclude=True)

    @on_sourcing
    def added(self, event: Added) -> None:
        self.total += event.size


@aggregate_root(context="laws", name="box")
@version_of_box
class Hides:
    """A field of its state is not in the JSON."""

    def __init__(self, state: HidingState) -> None:
        self.state = state

    @on_command
    def add(self, command: Add) -> Added:
        return Added(size=command.size)

    @on_command
    def nothing(self, command: Nothing) -> Added:
        return Added(size=8)


class BoundedState(BaseModel):
    id: str
    total: Annotated[int, Field(ge=0)] = 0

    @on_sourcing
    def added(self, event: Added) -> None:
        self.total -= event.size


@aggregate_root(context="laws", name="box")
@version_of_box
class BreaksBounds:
    """Its state is refused when it is read back."""

    def __init__(self, state: BoundedState) -> None:
        self.state = state

    @on_command
    def nothing(self, command: Nothing) -> Added:
        return Added(size=8)


class SharingState(BaseModel):
    id: str
    sizes: list[int] = []
    same: list[int] = []

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self.sizes = self.same = []

    @on_sourcing
    def added(self, event: Added) -> None:
        self.sizes.append(event.size)


@aggregate_root(context="laws", name="box")
@version_of_box
class Shares:
    """Two fields of its state share a list."""

    def __init__(self, state: SharingState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()

    @on_command
    def add(self, command: Add) -> Added:
        return Added(size=command.size)


class SkippingState(BaseModel):
    id: str
    total: int = 0
    _aggregate: Any = PrivateAttr(default=None)

    def set_state_aggregate(self, aggregate: Any) -> None:
        self._aggregate = aggregate

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self._aggregate.version += 1


@aggregate_root(context="laws", name="box")
@version_of_box
class SkipsVersion:
    """Its sourcing function moves its own version."""

    def __init__(self, state: SkippingState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()

    @on_command
    def add(self, command: Add) -> Added:
        return Added(size=command.size)


class AwareState(BaseModel):
    id: str
    versions: list[int] = []
    _aggregate: Any = PrivateAttr(default=None)

    def set_state_aggregate(self, aggregate: Any) -> None:
        self._aggregate = aggregate

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self.versions.append(self._aggregate.version)

    @on_sourcing
    def added(self, event: Added) -> None:
        self.versions.append(self._aggregate.version)


@aggregate_root(context="laws", name="box")
@version_of_box
class Aware:
    """Correct, and its state holds its aggregate."""

    def __init__(self, state: AwareState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()

    @on_command
    def add(self, command: Add) -> Added:
        return Added(size=command.size)


@dataclass
class PlainState:
    id: str
    sizes: list[int] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)

    @functools.cached_property
    def count(self) -> int:
        return len(self.sizes)

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self.sizes = list(event.sizes)

    @on_sourcing
    def added(self, event: Added) -> None:
        self.sizes.append(event.size)
        self.kinds.add(str(event.size))
        self.__dict__.pop("count", None)


@aggregate_root(context="laws", name="box")
@version_of_box
class PlainBox:
    """Correct, and its state is a dataclass."""

    def __init__(self, state: PlainState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened(sizes=command.sizes)

    @on_command
    def add(self, command: Add) -> Added:
        return Added(size=command.size + self.state.count)


class FlatState(BaseModel):
    id: str
    total: int = 0

    @functools.cached_property
    def double(self) -> int:
        return 2 * self.total

    @on_sourcing
    def added(self, event: Added) -> None:
        self.__dict__.pop("double", None)
        self.total += event.size


@aggregate_root(context="laws", name="box")
@version_of_box
class FlatBox:
    """Correct, and its state computes something once, when a command asks for it."""

    def __init__(self, state: FlatState) -> None:
        self.state = state

    @on_command
    def nothing(self, command: Nothing) -> Added:
        return Added(size=self.state.double + 1)


@dataclass(frozen=True)
class Pay:
    id: str
    amount: int


@dataclass(frozen=True)
class Paid:
    amount: int


@dataclass(frozen=True)
class Purse:
    total: int = 0
    amounts: tuple[int, ...] = ()


def decide(command: Pay, purse: Purse) -> list[Paid]:
    return [Paid(command.amount)]


def evolve(purse: Purse, event: Paid) -> Purse:
    return Purse(purse.total + event.amount, (*purse.amounts, event.amount))


#: Correct, and its state is another object after each event.
PurseBox = decider(decide, evolve, Purse(), name="purse", context="laws")
