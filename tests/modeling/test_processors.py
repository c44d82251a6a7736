"""Classes of event functions: which methods count, what they take, of which aggregates, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from wowspec import (
    Context,
    DefinitionError,
    DomainEvent,
    DomainEventExchange,
    StateDomainEventExchange,
    StateEvent,
    aggregate_root,
    event_processor,
    on_command,
    on_event,
    on_state_event,
    projection,
    stateless_saga,
)
from wowspec.modeling.functions import First
from wowspec.modeling.identity import FunctionInfo, FunctionKind, NamedAggregate
from wowspec.modeling.processors import ProcessorKind, is_processor, processor_metadata


class Opened(BaseModel):
    who: str = ""


class Renamed(BaseModel):
    who: str = ""


class Open(BaseModel):
    id: str


class AccountState(BaseModel):
    id: str

    def on_sourcing(self, event: Renamed) -> None: ...


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: AccountState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()


@dataclass
class Foreign:
    """An event of nobody."""


class Base:
    """An inherited function counts as the subclass's own."""

    @on_event
    def inherited(self, event: Opened) -> None: ...


DECORATORS = pytest.mark.parametrize(
    ("decorator", "kind"),
    [
        (projection, ProcessorKind.PROJECTION),
        (event_processor, ProcessorKind.EVENT_PROCESSOR),
        (stateless_saga, ProcessorKind.STATELESS_SAGA),
    ],
)


def functions_of(cls: type) -> dict[str, Any]:
    """The event functions of a processor by name."""
    return {function.handler.name: function for function in processor_metadata(cls).functions}


@pytest.mark.clause("EVT-102", "EVT-103")
@DECORATORS
def test_which_methods_are_event_functions(decorator, kind):
    """Decorated ones, and those named on_event and on_state_event; nothing else, whatever the class is."""

    @decorator(context="shop")
    class Mixed(Base):
        @on_state_event
        def by_decorator(self, event: Opened) -> None: ...

        def on_event(self, event: Opened) -> None: ...

        def on_state_event(self, event: Renamed) -> None: ...

        def on_command(self, command: Open) -> None: ...

        def on_sourcing(self, event: Opened) -> None: ...

        def helper(self, event: Opened) -> None: ...

    kinds = {name: function.info.kind for name, function in functions_of(Mixed).items()}
    assert kinds == {
        "on_event": FunctionKind.EVENT,
        "on_state_event": FunctionKind.STATE_EVENT,
        "by_decorator": FunctionKind.STATE_EVENT,
        "inherited": FunctionKind.EVENT,
    }
    assert processor_metadata(Mixed).kind is kind


@pytest.mark.clause("EVT-103")
def test_the_decorator_beats_the_name():
    """A function named on_event that is decorated otherwise is what its decorator says."""

    @projection(context="shop")
    class Odd:
        @on_state_event
        def on_event(self, event: Opened) -> None: ...

    assert functions_of(Odd)["on_event"].info.kind is FunctionKind.STATE_EVENT


@pytest.mark.clause("EVT-103", "EVT-105")
def test_an_override_that_is_found_by_its_name_keeps_what_the_decorator_said():
    """Its kind and its aggregates are those of the function it overrides; other names need a decorator of their own."""

    class Marked:
        @on_event
        def opened(self, event: Opened) -> None: ...

    class Crosswise(Marked):
        @on_state_event
        def on_event(self, event: Opened) -> None: ...

    class Named(Crosswise):
        @on_event(aggregates=("depot.shelf",))
        def on_state_event(self, event: Opened) -> None: ...

    @projection(context="shop")
    class Overriding(Named):
        def on_event(self, event: Opened) -> None: ...

        def on_state_event(self, event: Opened) -> None: ...

        def opened(self, event: Opened) -> None: ...

    found = functions_of(Overriding)
    assert {name: function.info.kind for name, function in found.items()} == {
        "on_event": FunctionKind.STATE_EVENT,
        "on_state_event": FunctionKind.EVENT,
    }
    assert found["on_state_event"].topics() == {NamedAggregate("depot", "shelf")}


@pytest.mark.clause("EVT-104")
def test_what_the_first_parameter_may_be():
    """The body, a union of bodies, or a wrapper: the type that counts is the body's."""

    @projection(context="shop")
    class Shapes:
        @on_event
        def body(self, event: Opened) -> None: ...

        @on_event
        def union(self, event: Opened | Renamed) -> None: ...

        @on_event
        def message(self, event: DomainEvent[Opened]) -> None: ...

        @on_event
        def exchange(self, exchange: DomainEventExchange[Renamed]) -> None: ...

        @on_state_event
        def state_exchange(self, exchange: StateDomainEventExchange[AccountState, Opened]) -> None: ...

        @on_state_event
        def state(self, event: StateEvent[AccountState]) -> None: ...

    shapes = {
        name: (function.handler.supported, function.handler.first) for name, function in functions_of(Shapes).items()
    }
    assert shapes == {
        "body": ((Opened,), First.BODY),
        "union": ((Opened, Renamed), First.BODY),
        "message": ((Opened,), First.MESSAGE),
        "exchange": ((Renamed,), First.EXCHANGE),
        "state_exchange": ((Opened,), First.EXCHANGE),
        "state": ((AccountState,), First.MESSAGE),
    }


@pytest.mark.clause("EVT-104")
def test_a_function_takes_at_least_one_parameter():
    """Without one it is an error of the definition."""
    with pytest.raises(DefinitionError, match=r"Empty\.on_event takes no event"):

        @projection(context="shop")
        class Empty:
            def on_event(self) -> None: ...


@pytest.mark.clause("EVT-105", "DOC-001")
def test_topics():
    """Names are completed with the event's context, else the processor's; without names it is the event's aggregate."""

    @projection(context="shop")
    class Topics:
        @on_event
        def own(self, event: Opened) -> None: ...

        @on_event
        def nobody(self, event: Foreign) -> None: ...

        @on_event(aggregates=("stock.item",))
        def full(self, event: Opened) -> None: ...

        @on_event(aggregates=("item",))
        def of_the_event(self, event: Opened) -> None: ...

        @on_event(aggregates=("item",))
        def of_the_processor(self, event: Foreign) -> None: ...

        @on_event(aggregates=(Account, "stock.item"))
        def several(self, event: Foreign) -> None: ...

    topics = {name: function.topics() for name, function in functions_of(Topics).items()}
    account = NamedAggregate("bank", "account")
    assert topics == {
        "own": {account},
        "nobody": frozenset(),
        "full": {NamedAggregate("stock", "item")},
        "of_the_event": {NamedAggregate("bank", "item")},
        "of_the_processor": {NamedAggregate("shop", "item")},
        "several": {account, NamedAggregate("stock", "item")},
    }


@pytest.mark.clause("EVT-107", "EVT-108")
def test_function_identity():
    """Context and class of the processor, name and kind of the method; another kind or name is another function."""

    @stateless_saga(context="shop")
    class Saga:
        def on_event(self, event: Opened) -> None: ...

        def on_state_event(self, event: Opened) -> None: ...

    functions = functions_of(Saga)
    first, second = functions["on_event"].info, functions["on_state_event"].info

    assert first == FunctionInfo(FunctionKind.EVENT, "shop", "Saga", "on_event")
    assert first.is_same_function(FunctionInfo(FunctionKind.EVENT, "shop", "Saga", "on_event"))
    assert not first.is_same_function(second)


@DECORATORS
def test_a_processor_without_functions(decorator, kind):
    """A class that takes nothing is an error of its definition, told by what it was meant to be."""
    with pytest.raises(DefinitionError, match=f"Idle has no event function[\\s\\S]*a {kind}"):

        @decorator
        class Idle:
            def helper(self, event: Opened) -> None: ...


def test_what_is_no_processor():
    """A plain class, and a subclass of a processor that is not declared itself, are none."""

    @projection
    class View:
        def on_event(self, event: Opened) -> None: ...

    class Sub(View): ...

    assert is_processor(View)
    assert not is_processor(Sub)
    assert not is_processor(View())
    with pytest.raises(DefinitionError, match="Account is no projection, event processor or saga"):
        processor_metadata(Account)


def test_an_annotation_that_names_nothing():
    """What cannot be resolved when the class is made is told at the first use."""

    @projection(context="shop")
    class Early:
        def on_event(self, event: NoSuchEvent) -> None: ...  # noqa: F821

    with pytest.raises(DefinitionError, match="an annotation of Early cannot be resolved"):
        processor_metadata(Early)


def test_contexts_hold_parts():
    """A context shows its parts, and takes nothing else."""

    @projection(context="bank")
    class View:
        def on_event(self, event: Opened) -> None: ...

    assert repr(Context("bank", Account, View)) == "Context('bank', Account, View)"
    with pytest.raises(DefinitionError, match="neither an aggregate root nor a processor"):
        Context("bank", Opened)
