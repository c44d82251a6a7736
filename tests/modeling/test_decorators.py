"""Decorators of message functions: what they note, and where they cannot stand."""

from __future__ import annotations

import pytest

from wowspec import (
    DefinitionError,
    after_command,
    on_command,
    on_error,
    on_event,
    on_sourcing,
    on_state_event,
)
from wowspec.modeling.decorators import ROLES, Mark, Role, mark_of
from wowspec.modeling.identity import FunctionKind


class First:
    """A message class."""


class Second:
    """Another one."""


PLAIN = {
    on_command: Role.COMMAND,
    after_command: Role.AFTER_COMMAND,
    on_error: Role.ERROR,
    on_sourcing: Role.SOURCING,
    on_event: Role.EVENT,
    on_state_event: Role.STATE_EVENT,
}
EACH = pytest.mark.parametrize("decorator", PLAIN, ids=lambda decorator: decorator.__name__)


@pytest.mark.clause("CMD-242", "CMD-245", "CMD-246", "CMD-250", "EVT-102", "EVT-103", "STA-021")
@pytest.mark.parametrize(
    ("role", "kind", "wire_name"),
    [
        (Role.COMMAND, FunctionKind.COMMAND, "onCommand"),
        (Role.AFTER_COMMAND, FunctionKind.COMMAND, "afterCommand"),
        (Role.ERROR, FunctionKind.ERROR, "onError"),
        (Role.SOURCING, FunctionKind.SOURCING, "onSourcing"),
        (Role.EVENT, FunctionKind.EVENT, "onEvent"),
        (Role.STATE_EVENT, FunctionKind.STATE_EVENT, "onStateEvent"),
    ],
)
def test_roles(role, kind, wire_name):
    """Each role has its kind, its name here and in the modelled runtime."""
    row = ROLES[role]
    assert (row.role, row.kind, row.wire_name) == (role, kind, wire_name)
    assert row.role.value == "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in wire_name)


@EACH
def test_a_bare_decorator(decorator):
    """It leaves its role on the very function."""

    def function(self, message): ...

    assert decorator(function) is function
    assert mark_of(function) == Mark(PLAIN[decorator])


@pytest.mark.clause("CMD-276", "CMD-279")
def test_what_decorators_say():
    """One class needs no tuple."""

    def function(self, message): ...

    assert mark_of(after_command(order=3, include=First, exclude=(First, Second))(function)) == Mark(
        Role.AFTER_COMMAND, order=3, include=(First,), exclude=(First, Second)
    )

    def other(self, message): ...

    assert mark_of(on_command(returns=First)(other)).returns == (First,)


@EACH
def test_a_function_has_one_role(decorator):
    """A second decorator is refused, with both names."""
    second = on_error if decorator is not on_error else on_command

    with pytest.raises(DefinitionError, match=rf"marked twice: @{decorator.__name__} and @{second.__name__}"):

        @second
        @decorator
        def function(self, message): ...


@EACH
@pytest.mark.parametrize("wrapper", [staticmethod, classmethod])
def test_a_method_of_an_instance(decorator, wrapper):
    """Static and class methods are refused, with what to write."""
    with pytest.raises(
        DefinitionError, match=rf"@{decorator.__name__} stands on a {wrapper.__name__}(.|\n)*def handle"
    ):
        decorator(wrapper(lambda message: None))


@EACH
def test_something_that_can_be_called(decorator):
    """Anything else is refused."""
    with pytest.raises(DefinitionError, match="stands on a int"):
        decorator(3)


@pytest.mark.parametrize("argument", ["include", "exclude"])
def test_message_classes(argument):
    """Names of classes are no classes."""
    with pytest.raises(DefinitionError, match=r"'First' is no class(.|\n)*exact class"):
        after_command(**{argument: ("First",)})
