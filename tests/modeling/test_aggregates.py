"""Aggregate roots: what their metadata holds, and what is refused when they are defined."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from pydantic import BaseModel, ConfigDict

from wowspec import (
    AggregateDeleted,
    ApplyResourceTags,
    CommandMessage,
    DefinitionError,
    DeleteAggregate,
    RecoverAggregate,
    SpecError,
    after_command,
    aggregate_root,
    create_aggregate,
    given,
    on_command,
    on_error,
    on_sourcing,
    order,
    void_command,
)
from wowspec.modeling.aggregates import aggregate_metadata, is_aggregate
from wowspec.modeling.claims import aggregate_of_command, aggregate_of_event
from wowspec.modeling.identity import AggregateRef, FunctionInfo, FunctionKind, NamedAggregate


class Open(BaseModel):
    """A command."""

    id: str


class Close(BaseModel):
    """Another one."""

    id: str


@void_command
class Look(BaseModel):
    """A command for other consumers."""

    id: str


class Opened(BaseModel):
    """An event."""


class Closed(BaseModel):
    """Another one."""


class DoorState(BaseModel):
    """A state of its own class."""

    id: str
    is_open: bool = False

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self.is_open = True


@aggregate_root(context="house", commands=[Look])
class Door:
    """The aggregate most tests look at."""

    def __init__(self, state: DoorState) -> None:
        self.state = state

    @on_command
    def close_it(self, command: Close) -> Closed:
        return Closed()

    def on_command(self, command: Open) -> Opened:
        return Opened()

    def on_error(self, command: Open | Close) -> None: ...


METADATA = aggregate_metadata(Door)


@pytest.mark.clause("CMD-251")
def test_identity_of_a_command_function():
    """Context of the class, its simple name, and the method's name."""
    assert METADATA.named == NamedAggregate("house", "door")
    assert {cls: function.info for cls, function in METADATA.functions.items()} == {
        Close: FunctionInfo(FunctionKind.COMMAND, "house", "Door", "close_it"),
        Open: FunctionInfo(FunctionKind.COMMAND, "house", "Door", "on_command"),
    }


@pytest.mark.clause("CMD-252")
def test_functions_stand_under_the_exact_class():
    """A function for a superclass is none for a subclass."""

    class Opener(Open):
        pass

    assert Opener not in METADATA.functions
    assert aggregate_of_command(Opener) is None


@pytest.mark.clause("CMD-227")
def test_the_root_around_its_state():
    """Each root is made anew around the state; a class that is its own state is its own root."""
    state = METADATA.state.create(AggregateRef("house", "door", "d-1"))

    first, second = METADATA.make_root(state), METADATA.make_root(state)

    assert not METADATA.is_single_class
    assert type(first) is Door
    assert first is not second
    assert first.state is second.state is state


@pytest.mark.parametrize("base", [BaseModel, object], ids=["pydantic", "dataclass"])
def test_a_single_class_is_state_and_root(base):
    """A pydantic model or a dataclass with command functions is its own state."""

    class Lit(BaseModel):
        pass

    class Light(BaseModel):
        id: str

    if base is BaseModel:

        @aggregate_root
        class Lamp(BaseModel):
            id: str
            lit: bool = False

            def on_command(self, command: Light) -> Lit:
                return Lit()

            def on_sourcing(self, event: Lit) -> None:
                self.lit = True

    else:

        @aggregate_root
        @dataclass
        class Lamp:
            id: str
            lit: bool = False
            seen: list[str] = field(default_factory=list)

            def on_command(self, command: Light) -> Lit:
                return Lit()

            def on_sourcing(self, event: Lit) -> None:
                self.lit = True

    create_aggregate(Light)
    assert aggregate_metadata(Lamp).is_single_class
    given().when(Light(id="l-1")).expect_events(Lit()).expect_state(lit=True)


def test_the_state_by_keyword():
    """A constructor that takes its state by keyword alone gets it so."""

    class GateState(BaseModel):
        id: str

    @aggregate_root
    class Gate:
        def __init__(self, *, state: GateState) -> None:
            self.state = state

    metadata = aggregate_metadata(Gate)
    state = metadata.state.create(AggregateRef("default", "gate", "g-1"))
    assert metadata.make_root(state).state is state


def test_a_state_class_inside_the_root():
    """The class in its own body is found; one that does not exist is named with its place."""

    @aggregate_root
    class Chest:
        class State(BaseModel):
            id: str

        def __init__(self, state: State) -> None:
            self.state = state

    @aggregate_root
    class Lost:
        def __init__(self, state: Nowhere) -> None: ...  # noqa: F821

    assert aggregate_metadata(Chest).state_class is Chest.State
    with pytest.raises(DefinitionError, match=r"name 'Nowhere' is not defined \(in Lost\.__init__\)"):
        aggregate_metadata(Lost)


@pytest.mark.clause("CMD-228")
def test_a_constructor_that_cannot_be_called():
    """A root takes its state, or what a state is made from."""
    with pytest.raises(DefinitionError, match=r"Two cannot be made: its constructor needs a, state(.|\n)*TwoState"):

        @aggregate_root
        class Two:
            def __init__(self, state: DoorState, a: int) -> None: ...

    with pytest.raises(DefinitionError, match=r"'state' of Bare\.__init__ has no annotation"):

        @aggregate_root
        class Bare:
            def __init__(self, state) -> None: ...


@pytest.mark.clause("CMD-229")
def test_a_class_that_is_no_aggregate_root():
    """It has no metadata, and neither has a subclass of one."""

    class Sub(Door):
        pass

    assert not is_aggregate(Sub)
    with pytest.raises(DefinitionError, match=r"Sub is no aggregate root(.|\n)*above class Sub"):
        aggregate_metadata(Sub)
    with pytest.raises(DefinitionError, match="is no aggregate root"):
        aggregate_metadata("Door")


@pytest.mark.parametrize("target", [test_the_root_around_its_state, "shop"], ids=["function", "text"])
def test_the_decorator_stands_on_a_class(target):
    """Anything else is refused, with how it is written."""
    with pytest.raises(DefinitionError, match=r"which is no class(.|\n)*context=\"shop\"\) above class"):
        aggregate_root(target)


@pytest.mark.parametrize("context", ["", " ", None, 3])
def test_the_context_is_a_text(context):
    """Everything is named by it."""
    with pytest.raises(DefinitionError, match=r"the context of Root is "):

        @aggregate_root(context=context)
        class Root:
            def __init__(self, id: str) -> None: ...


def test_mounted_commands_are_classes():
    """One class needs no list; a name is no class."""

    class Peek(BaseModel):
        id: str

    @aggregate_root(commands=Peek)
    class Hole:
        def __init__(self, id: str) -> None: ...

    assert aggregate_metadata(Hole).mounted == (Peek,)
    with pytest.raises(DefinitionError, match=r"of Root names 'Peek', which is no class"):

        @aggregate_root(commands=["Peek"])
        class Root:
            def __init__(self, id: str) -> None: ...


# --- commands ---


@pytest.mark.clause("CMD-247")
def test_two_functions_for_one_command():
    """The runtime would keep one silently; here both are named."""
    with pytest.raises(DefinitionError, match=r"two functions of Twice handle Open: first and second"):

        @aggregate_root
        class Twice:
            def __init__(self, id: str) -> None: ...

            @on_command
            def first(self, command: Open) -> Opened: ...

            @on_command
            def second(self, command: CommandMessage[Open]) -> Opened: ...


@pytest.mark.clause("CMD-247")
def test_two_error_functions_for_one_command():
    """The first in order of names is kept."""

    @aggregate_root
    class Twice:
        def __init__(self, id: str) -> None: ...

        @on_error
        def second(self, command: Open | Close) -> None: ...

        @on_error
        def first(self, command: Open) -> None: ...

    errors = aggregate_metadata(Twice).errors
    assert {cls: handler.name for cls, handler in errors.items()} == {Open: "first", Close: "second"}


@pytest.mark.clause("CMD-254")
def test_an_aggregate_without_command_functions():
    """It is accepted, and answers the built-in commands alone."""

    @aggregate_root
    class Mute:
        def __init__(self, id: str) -> None: ...

    metadata = aggregate_metadata(Mute)
    assert metadata.functions == {}
    assert set(metadata.built_in) == {DeleteAggregate, RecoverAggregate, ApplyResourceTags}


@pytest.mark.clause("CMD-255")
def test_mounted_commands():
    """They belong to the aggregate, which has no function for them."""
    assert METADATA.mounted == (Look,)
    assert METADATA.commands == (Close, Open, Look)
    assert Look not in METADATA.functions
    assert aggregate_of_command(Look) is Door


class Erase(BaseModel, DeleteAggregate):
    """A delete command of one's own."""

    id: str


class Erased(BaseModel, AggregateDeleted):
    """Its event."""


@pytest.mark.clause("CMD-257")
@pytest.mark.parametrize("mounted", [False, True], ids=["handled", "mounted"])
def test_a_compatible_command_switches_the_built_in_off(mounted):
    """A registered command of the sort is enough, whether it is handled or mounted; the others stay."""
    if mounted:

        @aggregate_root(commands=[Erase])
        class Root:
            def __init__(self, id: str) -> None: ...

    else:

        @aggregate_root
        class Root:
            def __init__(self, id: str) -> None: ...

            def on_command(self, command: Erase) -> Erased: ...

    assert set(aggregate_metadata(Root).built_in) == {RecoverAggregate, ApplyResourceTags}


@pytest.mark.clause("CMD-262")
def test_identity_of_a_built_in_function():
    """The processor is the command root, the name has the runtime's command after it."""
    assert [info for _, info in METADATA.built_in.values()] == [
        FunctionInfo(FunctionKind.COMMAND, "house", "Door", "Door.DefaultDeleteAggregate"),
        FunctionInfo(FunctionKind.COMMAND, "house", "Door", "Door.DefaultRecoverAggregate"),
        FunctionInfo(FunctionKind.COMMAND, "house", "Door", "Door.DefaultApplyResourceTags"),
    ]


@pytest.mark.clause("CMD-279")
def test_after_command_functions_in_their_order():
    """By order, and by name where that is equal."""

    @aggregate_root
    class Root:
        def __init__(self, id: str) -> None: ...

        @after_command(order=1)
        def a(self, command: CommandMessage[Open]) -> None: ...

        @after_command(order=-1)
        def b(self, command: CommandMessage[Open]) -> None: ...

        @after_command(order=1)
        def aa(self, command: CommandMessage[Open]) -> None: ...

        @after_command
        def z(self, command: CommandMessage[Open]) -> None: ...

        @order(-2)
        @after_command
        def zz(self, command: CommandMessage[Open]) -> None: ...

    assert [handler.name for handler in aggregate_metadata(Root).after] == ["zz", "b", "z", "a", "aa"]


def test_events_of_an_aggregate():
    """Events that functions return and that the state sources, each once."""
    assert METADATA.events == (Closed, Opened)
    assert aggregate_of_event(Closed) is Door


def test_an_event_of_two_aggregates():
    """A bare event in given(...) would have two homes."""
    with pytest.raises(DefinitionError, match=r"both Door and Other claim the event Opened(.|\n)*OtherOpened"):

        @aggregate_root
        class Other:
            def __init__(self, id: str) -> None: ...

            def on_sourcing(self, event: Opened) -> None: ...

    assert aggregate_of_event(Opened) is Door


def test_a_command_of_two_aggregates():
    """Both may handle it; a spec must say which one is meant."""

    class Shared(BaseModel):
        id: str

    @aggregate_root
    class One:
        def __init__(self, id: str) -> None: ...

        @on_command
        def handle(self, command: Shared) -> None: ...

    @aggregate_root
    class Other:
        def __init__(self, id: str) -> None: ...

        @on_command
        def handle(self, command: Shared) -> None: ...

    with pytest.raises(SpecError, match=r"Shared belongs to several aggregates: One, Other(.|\n)*spec\(One\)"):
        aggregate_of_command(Shared)


def test_a_class_defined_anew_takes_over():
    """The same test run twice defines the same names; the later class is the command's aggregate."""

    class Again(BaseModel):
        id: str

    def define():
        @aggregate_root
        class Root:
            def __init__(self, id: str) -> None: ...

            @on_command
            def handle(self, command: Again) -> None: ...

        return Root

    first, second = define(), define()
    assert first is not second
    assert aggregate_of_command(Again) is second


def test_a_class_of_python_is_no_message():
    """Nothing can be kept on it."""
    with pytest.raises(DefinitionError, match="Root uses str as a message") as caught:

        @aggregate_root
        class Root:
            def __init__(self, id: str) -> None: ...

            @on_command
            def handle(self, command: str) -> None: ...

    assert caught.value.__suppress_context__


# --- what has no JSON ---


class Handle:
    """Something of the operating system's."""

    __slots__ = ("__weakref__", "fd")

    def __init__(self, fd: int, *more: int) -> None:
        self.fd = fd


class Loose(BaseModel):
    """A model that holds one."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    handle: Handle


@dataclass
class Calling:
    """A dataclass that holds an iterator."""

    lines: list[Inner]


@dataclass
class Inner:
    """What it holds it in."""

    open_file: type


@pytest.mark.parametrize(
    ("event", "place"), [(Loose, r"Loose\.handle is a .*Handle"), (Calling, r"Calling\.lines\[\]\.open_file is a type")]
)
def test_an_event_without_json(event, place):
    """It is refused when its aggregate is defined, with the field."""
    with pytest.raises(DefinitionError, match=rf"{place}, which has no JSON(.|\n)*stored and sent as JSON"):

        @aggregate_root
        class Root:
            def __init__(self, id: str) -> None: ...

            @on_command(returns=event)
            def handle(self, command: Open): ...

    assert aggregate_of_event(event) is None


def test_a_command_or_state_without_json():
    """Commands are sent as JSON, states are kept as snapshots."""

    class State(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        id: str
        handle: Handle | None = None

    with pytest.raises(DefinitionError, match=r"Loose\.handle"):

        @aggregate_root
        class Commanded:
            def __init__(self, id: str) -> None: ...

            @on_command
            def handle(self, command: Loose) -> None: ...

    with pytest.raises(DefinitionError, match=r"State\.handle"):

        @aggregate_root
        class Stated:
            def __init__(self, state: State) -> None: ...


def test_a_void_command_that_creates():
    """It is refused where it is declared."""
    with pytest.raises(DefinitionError, match="Both is both @create_aggregate and @void_command"):

        @create_aggregate
        @void_command
        class Both(BaseModel):
            id: str


def test_an_unknown_command():
    """A command that no aggregate handles is refused where it is sent, with what to write."""

    class Nobody(BaseModel):
        id: str

    with pytest.raises(SpecError, match=r"no aggregate handles the command Nobody(.|\n)*commands=\[Nobody\]"):
        given().when(Nobody(id="n-1")).expect_no_events()
