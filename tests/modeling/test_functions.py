"""Discovery of message functions: by decorator, by name, by annotation; and what a definition may not be."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Optional, TypeVar, Union

import pytest
from pydantic import BaseModel
from typing_extensions import TypeAliasType

from wowspec import (
    CommandMessage,
    DefinitionError,
    DomainEvent,
    Name,
    ServerCommandExchange,
    after_command,
    aggregate_root,
    create_aggregate,
    given,
    on_command,
    on_error,
    on_sourcing,
)
from wowspec.modeling.aggregates import aggregate_metadata
from wowspec.modeling.decorators import Role
from wowspec.modeling.functions import First, Namespace, discover

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForCheckers


class Open(BaseModel):
    """A command."""

    id: str


class Close(BaseModel):
    """Another one."""

    id: str


class Opened(BaseModel):
    """An event."""


class Closed(BaseModel):
    """Another one."""


@dataclass
class Plain:
    """A command that is a dataclass."""

    id: str


T = TypeVar("T")


def found_in(cls, *roles):
    """The functions of a class in these roles (default: command functions)."""
    return discover(cls, roles or (Role.COMMAND,), Namespace.of_caller())


# --- which methods ---


@pytest.mark.clause("CMD-242")
def test_by_decorator_and_by_name():
    """A decorated method of any name and one with the conventional name are command functions; others are not."""

    class Root:
        @on_command
        def close_it(self, command: Close) -> Closed: ...

        def on_command(self, command: Open) -> Opened: ...

        def helper(self, command: Plain) -> Closed: ...

    assert [(item.name, item.supported) for item in found_in(Root)] == [("close_it", (Close,)), ("on_command", (Open,))]


@pytest.mark.clause("CMD-242")
def test_a_conventional_function_needs_a_parameter_and_a_result():
    """Found by name alone, a function without a command or without events is said to be none, not passed over."""

    class NoCommand:
        def on_command(self) -> Opened: ...

    class NoEvent:
        def on_command(self, command: Open) -> None: ...

    with pytest.raises(DefinitionError, match=r"NoCommand\.on_command takes no command"):
        found_in(NoCommand)
    with pytest.raises(DefinitionError, match=r"NoEvent\.on_command returns None"):
        found_in(NoEvent)


@pytest.mark.clause("CMD-243")
def test_a_decorated_function_may_return_nothing():
    """The rule about returning nothing is for discovery by name alone."""

    class Root:
        @on_command
        def touch(self, command: Open) -> None: ...

    assert [item.events for item in found_in(Root)] == [()]


@pytest.mark.clause("CMD-244")
def test_an_override_needs_its_own_decorator():
    """A decorator on the overridden method says nothing of the one that overrides it."""

    class Base:
        @on_command
        def opening(self, command: Open) -> Opened: ...

    class Silent(Base):
        def opening(self, command: Open) -> Opened: ...

    class Inheriting(Base):
        pass

    assert found_in(Silent) == []
    assert [item.name for item in found_in(Inheriting)] == ["opening"]


@pytest.mark.clause("CMD-245", "CMD-246")
def test_error_and_after_command_functions():
    """Both are found by decorator or by name, whatever they return."""

    class Root:
        @on_error
        def failed(self, command: Close) -> int: ...

        def on_error(self, command: Open) -> None: ...

        @after_command
        def later(self, command: CommandMessage[Open]) -> Closed: ...

        def after_command(self, command: Open) -> None: ...

    assert [item.name for item in found_in(Root, Role.ERROR)] == ["failed", "on_error"]
    assert [item.name for item in found_in(Root, Role.AFTER_COMMAND)] == ["after_command", "later"]


@pytest.mark.clause("CMD-245", "CMD-246")
@pytest.mark.parametrize("name", ["on_error", "after_command"])
def test_error_and_after_command_functions_need_a_parameter(name):
    """One that takes no command is refused."""
    cls = type("Root", (), {name: lambda self: None})

    with pytest.raises(DefinitionError, match=rf"Root\.{name} takes no command"):
        found_in(cls, Role.ERROR, Role.AFTER_COMMAND)


@pytest.mark.clause("CMD-250")
def test_a_decorator_beats_the_name():
    """What a function is for comes from its decorator, else from its name; with neither it is for nothing."""

    class Root:
        @on_error
        def on_command(self, command: Open) -> Opened: ...

        def neither(self, command: Open) -> Opened: ...

    assert found_in(Root) == []
    assert [item.name for item in found_in(Root, Role.ERROR)] == ["on_command"]


def test_a_private_function_counts_in_its_own_class():
    """A private decorated method is found on the class that declares it, not on a subclass."""

    class Root:
        @on_command
        def _open(self, command: Open) -> Opened: ...

    class Sub(Root):
        pass

    assert [item.name for item in found_in(Root)] == ["_open"]
    assert found_in(Sub) == []


# --- the first parameter ---


@pytest.mark.clause("CMD-248", "CMD-293")
@pytest.mark.parametrize(
    ("annotation", "supported", "first"),
    [
        (Open, (Open,), First.BODY),
        (Open | Close, (Open, Close), First.BODY),
        (Union[Open, Close], (Open, Close), First.BODY),  # noqa: UP007
        (Annotated[Open, "said"], (Open,), First.BODY),
        (CommandMessage[Open], (Open,), First.MESSAGE),
        (CommandMessage[Open | Close], (Open, Close), First.MESSAGE),
        (ServerCommandExchange[Open], (Open,), First.EXCHANGE),
        (Plain, (Plain,), First.BODY),
    ],
)
def test_what_the_first_parameter_says(annotation, supported, first):
    """The body class itself, several as a union, or an envelope of them."""

    class Root:
        @on_command
        def handle(self, command): ...

    Root.handle.__annotations__["command"] = annotation

    [item] = found_in(Root)
    assert (item.supported, item.first) == (supported, first)


@pytest.mark.clause("CMD-249")
@pytest.mark.parametrize("annotation", [CommandMessage, ServerCommandExchange])
@pytest.mark.parametrize("decorator", [on_command, after_command, on_error])
def test_an_envelope_needs_its_type(annotation, decorator):
    """A bare envelope says no command class, also where none is matched."""

    class Root:
        @decorator
        def handle(self, command): ...

    Root.handle.__annotations__["command"] = annotation

    with pytest.raises(DefinitionError, match=rf"Root\.handle is a bare {annotation.__name__}"):
        found_in(Root, Role.COMMAND, Role.AFTER_COMMAND, Role.ERROR)


@pytest.mark.clause("CMD-249")
@pytest.mark.parametrize(
    "annotation", [Any, object, CommandMessage[Any], ServerCommandExchange[T], Open | None, "int | 3"]
)
def test_a_message_class_is_concrete(annotation):
    """What is no class that a message can have is refused, with the place."""

    class Root:
        @on_command
        def handle(self, command): ...

    Root.handle.__annotations__["command"] = annotation

    with pytest.raises(DefinitionError, match=r"Root\.handle"):
        found_in(Root)


def test_a_missing_annotation_is_refused():
    """Both kinds of parameter need their type, and the error shows how."""

    class First_:
        @on_command
        def handle(self, command): ...

    class Further:
        @on_command
        def handle(self, command: Open, clock) -> Opened: ...

    with pytest.raises(DefinitionError, match=r"parameter 'command' of First_\.handle has no annotation(.|\n)*TheType"):
        found_in(First_)
    with pytest.raises(DefinitionError, match=r"parameter 'clock' of Further\.handle has no annotation"):
        found_in(Further)


def test_star_parameters_are_refused():
    """Nothing says what to pass in a star parameter."""

    class Args:
        @on_command
        def handle(self, command: Open, *rest: int) -> Opened: ...

    class Keywords:
        @on_command
        def handle(self, command: Open, **rest: int) -> Opened: ...

    for cls in (Args, Keywords):
        with pytest.raises(DefinitionError, match=rf"{cls.__name__}\.handle takes \*rest"):
            found_in(cls)


def test_a_command_only_by_keyword_is_refused():
    """The command is passed by position."""

    class Root:
        @on_command
        def handle(self, *, command: Open) -> Opened: ...

    with pytest.raises(DefinitionError, match=r"Root\.handle takes no command"):
        found_in(Root)


@pytest.mark.clause("CMD-294", "CMD-295")
def test_what_further_parameters_ask_for():
    """A class, a name, a default, None, or by keyword."""

    class Root:
        @on_command
        def handle(
            self,
            command: Open,
            typed: Plain,
            named: Annotated[Plain, Name("other")],
            blank: Annotated[Plain, Name(" ")],
            anything: Any,
            generic: list[int],
            *,
            maybe: Plain | None = None,
        ) -> Opened: ...

    [item] = found_in(Root)
    asked = {p.name: (p.wanted, p.service_name, p.nullable, p.keyword) for p in item.parameters}
    assert asked == {
        "typed": (Plain, None, False, False),
        "named": (Plain, "other", False, False),
        "blank": (Plain, None, False, False),
        "anything": (None, None, False, False),
        "generic": (list, None, False, False),
        "maybe": (Plain, None, True, True),
    }


# --- what it returns ---


@pytest.mark.parametrize(
    ("returned", "events"),
    [
        (Opened, (Opened,)),
        (Opened | Closed, (Opened, Closed)),
        (Optional[Opened], (Opened,)),  # noqa: UP045
        (list[Opened | Closed], (Opened, Closed)),
        (tuple[Opened, Closed], (Opened, Closed)),
        (tuple[Opened, ...], (Opened,)),
        (Iterator[Opened], (Opened,)),
        (AsyncIterator[Opened], (Opened,)),
        (None, ()),
        (object, ()),
        ("NotYet", ()),
    ],
)
def test_event_types_of_a_return_annotation(returned, events):
    """The return annotation says which events there are, as far as it can."""

    class Root:
        @on_command
        def handle(self, command: Open): ...

    Root.handle.__annotations__["return"] = returned

    assert found_in(Root)[0].events == events


def test_event_types_by_decorator():
    """`returns=` says them where the annotation cannot."""

    class Root:
        @on_command(returns=(Opened, Closed))
        def handle(self, command: Open) -> Any: ...

    assert found_in(Root)[0].events == (Opened, Closed)


# --- where names are looked up ---


def test_names_of_enclosing_scopes():
    """Classes of a test function, of a class in it, and of the aggregate's own body are all found."""

    class Local(BaseModel):
        id: str

    class Group:
        class Done(BaseModel):
            pass

        @aggregate_root
        class Root:
            @create_aggregate
            class Inner(BaseModel):
                id: str

            def __init__(self, id: str) -> None:
                self.id = id

            def on_command(self, command: Local) -> Done: ...  # noqa: F821

            def after_command(self, command: CommandMessage[Inner]) -> None: ...

            def on_error(self, command: Inner) -> None: ...

    metadata = aggregate_metadata(Group.Root)
    assert list(metadata.functions) == [Local]
    assert list(metadata.errors) == [Group.Root.Inner]
    assert metadata.events == (Group.Done,)


def test_a_class_that_comes_later():
    """An annotation may name a class that is defined below; the definition is completed at its first use."""

    @aggregate_root
    class Root:
        def __init__(self, state: State) -> None:
            self.state = state

        def on_command(self, command: Later) -> Happened:
            return Happened()

    class State(BaseModel):
        id: str

    @create_aggregate
    class Later(BaseModel):
        id: str

    class Happened(BaseModel):
        pass

    given().when(Later(id="r-1")).expect_events(Happened())


def nested():
    """An aggregate whose command's name nothing holds any more."""

    @create_aggregate
    class Hidden(BaseModel):
        id: str

    def inner():
        @aggregate_root
        class Root:
            def __init__(self, id: str) -> None:
                self.id = id

            def on_command(self, command: Hidden) -> Opened: ...

        return Root

    return inner(), Hidden


def test_a_class_of_an_outer_function_that_has_ended():
    """The command in hand is the class that the definition waits for."""
    root, hidden = nested()

    assert aggregate_of(hidden) is root


def aggregate_of(command_class):
    """Whose command it is."""
    from wowspec.modeling.claims import aggregate_of_command

    return aggregate_of_command(command_class)


def test_what_a_body_uses_is_found():
    """Names that a function's body uses outlive the function that defined them."""

    def define():
        class Wanted(BaseModel):
            id: str

        def inner():
            class Root:
                def on_command(self, command: Wanted) -> Opened:
                    assert isinstance(command, Wanted)

            return Root

        return inner(), Wanted

    root, wanted = define()
    assert discover(root, (Role.COMMAND,), Namespace())[0].supported == (wanted,)


def test_a_name_that_only_type_checkers_know():
    """It is refused at the first use, with class, method and name."""

    @aggregate_root
    class Root:
        def __init__(self, id: str) -> None:
            self.id = id

        def on_command(self, command: OnlyForCheckers) -> Opened: ...

    with pytest.raises(DefinitionError, match=r"'OnlyForCheckers'.*Root\.on_command(.|\n)*TYPE_CHECKING"):
        aggregate_metadata(Root)


def test_a_command_that_an_unfinished_definition_waits_for():
    """Asking for the command tells why its aggregate is not complete."""

    class Known(BaseModel):
        id: str

    @aggregate_root
    class Root:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def second(self, command: OnlyForCheckers) -> Opened: ...

        def on_command(self, command: Known) -> Opened: ...

    with pytest.raises(DefinitionError, match=r"'OnlyForCheckers'"):
        aggregate_of(Known)


# --- what only looks like a function ---


#: A decorator of another module.
ELSEWHERE: dict[str, Any] = {}
exec(
    """
import functools
def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper
""",
    ELSEWHERE,
)
traced = ELSEWHERE["traced"]


def test_a_decorated_method():
    """Its annotations are those of the method, wherever its decorator stands."""

    class Local(BaseModel):
        id: str

    class Root:
        @on_command
        @traced
        def handle(self, command: Local | Close) -> Opened: ...

    [item] = found_in(Root)
    assert (item.supported, item.events) == ((Local, Close), (Opened,))


def test_what_a_decorator_made_an_object_of():
    """It is refused instead of being passed over."""
    marked = functools.partial(lambda self, command: None)

    class Root:
        handle = on_command(marked)

    with pytest.raises(DefinitionError, match=r"Root\.handle is marked @on_command, but is a partial"):
        found_in(Root)


def test_a_named_alias():
    """A `type X = A | B` is its members."""
    either = TypeAliasType("either", Open | Close)

    class Root:
        @on_command
        def handle(self, command): ...

    Root.handle.__annotations__["command"] = either

    assert found_in(Root)[0].supported == (Open, Close)


@pytest.mark.clause("CMD-248")
def test_a_union_of_envelopes():
    """The union stands inside the envelope."""

    class Root:
        @on_command
        def handle(self, command: CommandMessage[Open] | CommandMessage[Close]) -> Opened: ...

    with pytest.raises(DefinitionError, match=r"Root\.handle handles a union with CommandMessage(.|\n)*\[A \| B\]"):
        found_in(Root)


@pytest.mark.clause("CMD-248")
def test_the_envelope_of_something_else():
    """A command function has no event, a sourcing function no command."""

    class Commanded:
        @on_command
        def handle(self, command: DomainEvent[Opened]) -> Opened: ...

    class Sourced:
        @on_sourcing
        def handle(self, event: CommandMessage[Open]) -> None: ...

    with pytest.raises(DefinitionError, match=r"Commanded\.handle takes a DomainEvent(.|\n)*CommandMessage\[C\]"):
        found_in(Commanded)
    with pytest.raises(DefinitionError, match=r"Sourced\.handle takes a CommandMessage(.|\n)*DomainEvent\[E\]"):
        found_in(Sourced, Role.SOURCING)


@pytest.mark.parametrize("wrapper", [staticmethod, classmethod])
def test_a_conventional_name_on_a_static_method(wrapper):
    """It would be passed over, so it is refused; another name is free."""
    root = type("Root", (), {"on_command": wrapper(lambda command: None), "create": wrapper(lambda: None)})

    with pytest.raises(DefinitionError, match=rf"Root\.on_command is a {wrapper.__name__}"):
        found_in(root)
    assert found_in(root, Role.ERROR) == []
