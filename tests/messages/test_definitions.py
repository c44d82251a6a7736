"""The check that `aggregate_root` and `decider` are exported with: what cannot be JSON is refused at once."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import pytest

import wowspec
from wowspec import DefinitionError
from wowspec.messages.definitions import check_messages
from wowspec.modeling.aggregates import CHECKS, aggregate_metadata
from wowspec.modeling.functions import Namespace


@dataclass
class Send:
    """A command."""

    id: str


@dataclass
class Sent:
    """Its event."""

    n: int = 0


@wowspec.aggregate_root
class Sender:
    """An aggregate root."""

    def __init__(self, id: str) -> None:
        self.id = id

    def on_command(self, command: Send) -> Sent:
        return Sent()


def test_the_check_is_in_place():
    """It stands among the checks of definitions, once."""
    assert CHECKS.count(check_messages) == 1
    assert check_messages(aggregate_metadata(Sender), Namespace()) is None


def test_every_way_to_the_decorator_brings_the_check():
    """`from wowspec import aggregate_root` alone installs it."""
    code = "from wowspec import aggregate_root; from wowspec.modeling.aggregates import CHECKS; print(len(CHECKS))"

    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert finished.stdout.strip() == "1"


def test_a_class_that_cannot_be_looked_at_yet():
    """A field whose type comes later is no reason to refuse; the aggregate's own classes are found."""

    @dataclass
    class Start:
        id: str

    @dataclass
    class Early:
        later: Later

    @wowspec.aggregate_root
    class Root:
        def __init__(self, id: str) -> None:
            self.id = id

        def on_command(self, command: Start) -> Early: ...

    @dataclass
    class Later:
        n: int

    assert aggregate_metadata(Root).events == (Early,)


def test_nothing_is_claimed_by_a_refused_definition():
    """A mended definition of the same messages is accepted."""

    @dataclass
    class Start:
        id: str

    @dataclass
    class Started:
        pass

    @dataclass
    class Holds:
        kind: type

    def define(*events):
        @wowspec.aggregate_root
        class Root:
            def __init__(self, id: str) -> None:
                self.id = id

            @wowspec.on_command(returns=events)
            def handle(self, command: Start): ...

        return Root

    with pytest.raises(DefinitionError, match=r"Holds\.kind is a type, which has no JSON"):
        define(Started, Holds)
    assert aggregate_metadata(define(Started)).events == (Started,)
