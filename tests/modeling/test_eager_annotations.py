# No `from __future__ import annotations` here: annotations are objects, and what does not exist yet stands in quotes.
"""Definitions whose annotations are objects, not texts."""

from typing import TYPE_CHECKING, Optional

import pytest
from pydantic import BaseModel

from wowspec import (
    CommandMessage,
    DefinitionError,
    ServerCommandExchange,
    after_command,
    aggregate_root,
    create_aggregate,
    given,
    on_command,
)
from wowspec.modeling.aggregates import aggregate_metadata

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForCheckers


@create_aggregate
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


class Service:
    """Something to be given."""


class State(BaseModel):
    """A state."""

    id: str
    is_open: bool = False

    def on_sourcing(self, event: Opened) -> None:
        self.is_open = True


@aggregate_root
class Shutter:
    """Every sort of annotation."""

    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def open(self, command: CommandMessage[Open], service: Optional[Service] = None) -> Opened:  # noqa: UP045
        return Opened()

    @on_command
    def close(self, exchange: "ServerCommandExchange[Close]", service: "Service | None" = None) -> "list[Closed]":
        return [Closed()]

    @after_command(include=Close)
    def later(self, command: CommandMessage["Close"]) -> None: ...


def test_objects_and_texts():
    """Both are understood, also a text inside an object."""
    metadata = aggregate_metadata(Shutter)

    assert list(metadata.functions) == [Close, Open]
    assert metadata.events == (Closed, Opened)
    assert [function.handler.parameters[0].wanted for function in metadata.functions.values()] == [Service, Service]
    assert metadata.after[0].supported == (Close,)
    given().when(Open(id="s-1")).expect_events(Opened()).expect_state(is_open=True)


def test_a_class_that_comes_later():
    """A quoted name is looked up at the first use."""

    @aggregate_root
    class Early:
        def __init__(self, state: "Later") -> None:
            self.state = state

        @on_command
        def go(self, command: "Go") -> "Gone":
            return Gone()

    class Later(BaseModel):
        id: str

    @create_aggregate
    class Go(BaseModel):
        id: str

    class Gone(BaseModel):
        pass

    given().when(Go(id="g-1")).expect_events(Gone())


def test_a_name_that_only_type_checkers_know():
    """It is refused at the first use."""

    @aggregate_root
    class Root:
        def __init__(self, id: str) -> None: ...

        @on_command
        def go(self, command: "OnlyForCheckers") -> Opened: ...

    with pytest.raises(DefinitionError, match=r"'OnlyForCheckers' is not defined \(in Root\.go\)"):
        aggregate_metadata(Root)
