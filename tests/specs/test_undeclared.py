"""A forgotten `@aggregate_root`: the class that takes the command is found, and named."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from wowspec import SpecError, given, on_command

from .shop_domain import Order


class Ring(BaseModel):
    """Nobody takes it."""

    id: str = "b-1"


class Toll(BaseModel):
    """A class of this module has a function for it."""

    id: str = "b-1"


class Tolled(BaseModel):
    """What it would lead to."""


class Bell:
    """Is no aggregate root, for want of a line."""

    def __init__(self, id: str) -> None: ...

    @on_command
    def toll(self, command: Toll) -> Tolled:
        return Tolled()

    def ring(self, command: Ring) -> Tolled:
        return Tolled()


def refused(command: BaseModel) -> SpecError:
    """What is said of a command that no aggregate takes."""
    with pytest.raises(SpecError) as caught:
        given().using(Order).when(command).expect_no_events()
    assert caught.value.what == f"no aggregate handles the command {type(command).__name__}"
    return caught.value


def test_a_class_of_the_module():
    """It is named with its function, and that function's place."""
    error = refused(Toll())

    assert error.why.startswith("Bell.toll (")
    assert error.why.endswith(
        f"test_undeclared.py:{Bell.toll.__code__.co_firstlineno + 1}) takes it,"
        " but nothing says that Bell is an aggregate root"
    )
    assert error.instead == '@aggregate_root(context="...") above class Bell'


def test_a_class_within_a_test():
    """Both are seen in the function that runs."""

    class Swing(BaseModel):
        id: str = "b-1"

    class Clapper:
        @on_command
        def swing(self, command: Swing) -> Tolled:
            return Tolled()

    assert refused(Swing()).instead == '@aggregate_root(context="...") above class Clapper'


def test_a_plain_method():
    """A method that nothing marks may be of anything: nothing is said of its class."""
    assert "Bell" not in str(refused(Ring()))
