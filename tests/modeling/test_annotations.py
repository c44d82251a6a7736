"""Class decorators and field markers: what they leave, where they are found, what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Protocol

import pytest
from pydantic import BaseModel

from wowspec import (
    AggregateId,
    DefinitionError,
    OwnerId,
    TenantId,
    allow_create,
    create_aggregate,
    event,
    name,
    order,
    static_aggregate_id,
    static_tenant_id,
    void_command,
)
from wowspec.modeling.annotations import (
    Blocking,
    Carried,
    Create,
    Order,
    Retry,
    StaticAggregateId,
    StaticTenantId,
    Void,
    add_mark,
    blocking,
    carries,
    combine,
    function_mark,
    marks_field,
    merged_mark,
    own_marks,
    plain_mark,
    retry,
)
from wowspec.modeling.commands import command_metadata
from wowspec.modeling.events import event_metadata


def test_a_decorator_returns_the_class_itself():
    """Decorating changes neither the class nor its type for checkers."""

    class Open(BaseModel):
        id: str

    assert create_aggregate(Open) is Open
    assert allow_create()(Open) is Open
    assert static_tenant_id(Open) is Open


def test_a_decorator_may_stand_below_a_slotted_dataclass():
    """`dataclass(slots=True)` makes another class of the decorated one; the mark and correct metadata go along."""

    @dataclass(slots=True)
    @create_aggregate
    class Open:
        id: str

    assert command_metadata(Open).is_create
    assert command_metadata(Open).command_class is Open


@pytest.mark.clause("CMD-008")
def test_a_flag_on_an_interface_is_not_inherited():
    """Flags count on the class and its superclasses; a `Protocol` base hands none on."""

    @create_aggregate
    class Base:
        pass

    @create_aggregate
    class Face(Protocol):
        pass

    class OfBase(Base):
        pass

    class OfFace(Face):
        pass

    assert plain_mark(OfBase, Create) is not None
    assert plain_mark(OfFace, Create) is None
    assert plain_mark(Face, Create) is not None


@pytest.mark.clause("CMD-010", "CMD-015")
def test_static_values_are_found_on_interfaces_too():
    """Static ids come from any supertype, nearest first in the order of the bases."""

    @static_tenant_id("of-base")
    class Base:
        pass

    @static_tenant_id("of-face")
    class Face(Protocol):
        pass

    class OfFace(Face):
        pass

    class OfBoth(Base, Face):
        pass

    @static_tenant_id("own")
    class Own(Base, Face):
        pass

    assert merged_mark(OfFace, StaticTenantId) == StaticTenantId("of-face")
    assert merged_mark(OfBoth, StaticTenantId) == StaticTenantId("of-base")
    assert merged_mark(Own, StaticTenantId) == StaticTenantId("own")


@pytest.mark.clause("CMD-010", "CMD-015")
def test_what_a_superclass_has_itself_comes_before_what_an_annotation_carries():
    """Seen when the runtime ran: an inherited annotation counts as the class's own; one of an interface doesn't."""
    carrying = combine(static_aggregate_id("carried"))

    @static_aggregate_id("of-base")
    class Base:
        pass

    @static_aggregate_id("of-face")
    class Face(Protocol):
        pass

    @carrying
    class OfBase(Base):
        pass

    @carrying
    class OfFace(Face):
        pass

    @carrying
    @static_aggregate_id("own")
    class Own(Base):
        pass

    assert merged_mark(OfBase, StaticAggregateId) == StaticAggregateId("of-base")
    assert merged_mark(OfFace, StaticAggregateId) == StaticAggregateId("carried")
    assert merged_mark(Own, StaticAggregateId) == StaticAggregateId("own")


@pytest.mark.clause("CMD-015")
def test_a_static_tenant_has_a_default_bare_or_called():
    """Without a value the tenant is the default one."""

    @static_tenant_id
    class Bare:
        pass

    @static_tenant_id()
    class Called:
        pass

    assert own_marks(Bare) == own_marks(Called) == (StaticTenantId("(0)"),)


@pytest.mark.clause("CMD-008")
def test_a_flag_carried_by_another_annotation_has_no_effect():
    """The runtime does not look for flags inside annotations."""

    class Open:
        pass

    add_mark(Open, Carried((Create(),)))

    assert not command_metadata(Open).is_create


@pytest.mark.clause("CMD-003", "CMD-008")
@pytest.mark.parametrize(
    "annotation", [create_aggregate, allow_create, void_command, name("x")], ids=lambda it: it.text
)
def test_what_has_no_effect_inside_an_annotation_cannot_be_combined(annotation):
    """Flags and names are told to stand on the class."""
    with pytest.raises(DefinitionError, match=rf"combine\(\.\.\.\) carries @{annotation.text}") as caught:
        combine(annotation)

    assert f"instead: @{annotation.text} above the class" in str(caught.value)


@pytest.mark.clause("CMD-020")
def test_static_values_and_revisions_may_be_carried_by_a_custom_decorator():
    """What the runtime finds through annotations can be combined into one decorator, and those again."""
    ours = combine(combine(static_aggregate_id("one"), static_tenant_id("here")), event(revision="2.0.0"))

    @ours
    class Thing:
        pass

    metadata = command_metadata(Thing)
    assert (metadata.aggregate_id(Thing()), metadata.tenant_id(Thing())) == ("one", "here")
    assert event_metadata(Thing).revision == "2.0.0"


@pytest.mark.clause("CMD-020")
def test_custom_field_markers():
    """A subclass of a marker is one; a class may carry several; the class stands for an instance."""

    class LedgerRef(AggregateId):
        pass

    @carries(AggregateId(), OwnerId())
    class Account:
        pass

    @carries(Account())
    class Nested:
        pass

    assert marks_field(LedgerRef(), AggregateId)
    assert marks_field(AggregateId, AggregateId)
    assert marks_field(Account(), AggregateId)
    assert marks_field(Account(), OwnerId)
    assert marks_field(Nested(), OwnerId)
    assert not marks_field(Account(), TenantId)
    assert not marks_field("AggregateId", AggregateId)

    class Command(BaseModel):
        account: Annotated[str, Account()]

    metadata = command_metadata(Command)
    assert metadata.aggregate_id(Command(account="a")) == "a"
    assert metadata.owner_id(Command(account="a")) == "a"


def test_a_void_command_that_creates_is_refused():
    """A void command reaches no aggregate, so it cannot create one; inherited flags count."""
    with pytest.raises(DefinitionError, match="Peek is both @create_aggregate and @void_command") as caught:

        @void_command
        @create_aggregate
        class Peek:
            pass

    assert "instead: @create_aggregate alone" in str(caught.value)

    @void_command
    class Base:
        pass

    with pytest.raises(DefinitionError, match="Sub is both"):

        @create_aggregate
        class Sub(Base):
            pass


@pytest.mark.clause("CMD-005", "CMD-007")
def test_the_runtime_itself_takes_every_flag_at_once():
    """The refusal is the kit's: metadata reads whatever marks a class has."""

    class Peek:
        pass

    add_mark(Peek, Create())
    add_mark(Peek, Void())

    metadata = command_metadata(Peek)
    assert metadata.is_create
    assert metadata.is_void


@pytest.mark.parametrize("decorator", [create_aggregate, allow_create, void_command, static_tenant_id("t"), name("n")])
def test_a_class_decorator_stands_on_a_class(decorator):
    """A function, or forgotten parentheses, is told what to write."""

    def handler() -> None:
        """Stand in for a method."""

    with pytest.raises(DefinitionError, match="which is no class") as caught:
        decorator(handler)

    assert "directly above class" in str(caught.value)


def test_a_decorator_that_needs_a_value_says_so():
    """A bare `@static_aggregate_id`, and values that are no text, are refused."""

    class Thing:
        pass

    with pytest.raises(DefinitionError, match="@static_aggregate_id was given Thing instead of a text"):
        static_aggregate_id(Thing)
    with pytest.raises(DefinitionError, match="@static_tenant_id was given 7"):
        static_tenant_id(7)
    with pytest.raises(DefinitionError, match=r"@event was given 1\.2"):
        event(revision=1.2)


def test_the_same_decorator_twice_is_refused():
    """Only one name can count."""
    with pytest.raises(DefinitionError, match="@name stands twice on Thing"):

        @name("a")
        @name("b")
        class Thing:
            pass


@pytest.mark.clause("CMD-027")
def test_order_blocking_and_retry_are_data():
    """They change nothing of a command; whoever needs them reads them."""

    class Other:
        pass

    @order(3, before=Other)
    @retry(max_retries=2, recoverable=(OSError,))
    class Ship(BaseModel):
        id: str

    @blocking
    def rewrite() -> None:
        """Stand in for a rewriter."""

    assert merged_mark(Ship, Order) == Order(3, (Other,), ())
    assert merged_mark(Ship, Retry) == Retry(True, 2, 180, 120, (OSError,), ())
    assert function_mark(rewrite, Blocking) is not None
    assert command_metadata(Ship).name == "ship"


@pytest.mark.clause("NAM-022")
@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 1.5, True, "1"])
def test_an_order_is_a_32_bit_integer(value):
    """Another value is refused."""
    with pytest.raises(DefinitionError, match="32-bit"):
        order(value)


@pytest.mark.clause("NAM-022")
def test_an_order_names_classes():
    """Others are recognised by class, so a text is refused."""
    with pytest.raises(DefinitionError, match=r"@order\(after=\.\.\.\) names 'Other'"):
        order(after=("Other",))


@pytest.mark.clause("EVT-129")
def test_retry_defaults():
    """Enabled, ten retries, 180 seconds between, 120 seconds each."""
    assert Retry() == Retry(
        enabled=True, max_retries=10, min_backoff=180, execution_timeout=120, recoverable=(), unrecoverable=()
    )
