"""Metadata of command classes."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass
from typing import Annotated, Protocol

import pytest
from pydantic import BaseModel

from wowspec import (
    AggregateId,
    AggregateName,
    AggregateVersion,
    DeleteAggregate,
    OwnerId,
    RecoverAggregate,
    SpaceId,
    TenantId,
    aggregate_root,
    allow_create,
    create_aggregate,
    on_command,
    static_aggregate_id,
    static_tenant_id,
    void_command,
)
from wowspec.errors import IllegalArgumentError, SpecError
from wowspec.modeling.builtin import SelfNamed
from wowspec.modeling.commands import command_metadata, named_aggregate_of
from wowspec.modeling.configuration import MetadataScopes, WowMetadata
from wowspec.modeling.identity import NamedAggregate
from wowspec.modeling.scopes import DECLARED

SCOPES = MetadataScopes(
    WowMetadata.from_document(
        {"contexts": {"shop": {"aggregates": {"cart": {"scopes": [__name__], "tenantId": "shop-tenant"}}}}}
    )
)
NOWHERE = MetadataScopes(WowMetadata())


class Ship(BaseModel):
    id: str


@pytest.mark.clause("CMD-001")
def test_metadata_is_parsed_once_and_equal_by_class():
    """The first use parses; other fields play no role for equality."""

    class Other(BaseModel):
        id: str

    first = command_metadata(Ship)

    assert command_metadata(Ship) is first
    assert first.in_scopes(SCOPES) == first
    assert hash(first.in_scopes(SCOPES)) == hash(first)
    assert first != command_metadata(Other)


@pytest.mark.clause("CMD-001")
def test_metadata_keeps_no_class_alive():
    """Metadata lives on its class, and goes with it."""

    class Local(BaseModel):
        id: str

    command_metadata(Local).in_scopes(SCOPES)
    alive = weakref.ref(Local)
    del Local
    gc.collect()

    assert alive() is None


@pytest.mark.clause("CMD-001")
def test_a_subclass_has_metadata_of_its_own():
    """What is kept on a class is not taken for a subclass's."""

    class Express(Ship):
        pass

    command_metadata(Ship)

    assert command_metadata(Express).name == "express"


@pytest.mark.clause("CMD-001")
def test_a_class_made_of_another_has_metadata_of_its_own():
    """`dataclass(slots=True)` copies everything that the first class kept."""

    class First:
        id: str

    metadata = command_metadata(First)
    Second = dataclass(slots=True)(First)

    assert Second is not First
    assert command_metadata(Second).command_class is Second
    assert command_metadata(First) is metadata


@pytest.mark.clause("CMD-002")
def test_a_class_without_anything_has_no_getters():
    """Every getter may be absent."""

    class Bare(BaseModel):
        amount: int

    metadata = command_metadata(Bare).in_scopes(NOWHERE)

    assert metadata.command_class is Bare
    assert (metadata.is_create, metadata.allow_create, metadata.is_void, metadata.is_delete) == (False,) * 4
    getters = (
        metadata.named_aggregate,
        metadata.aggregate_id,
        metadata.tenant_id,
        metadata.owner_id,
        metadata.space_id,
        metadata.aggregate_version,
    )
    assert getters == (None,) * 6


@pytest.mark.clause("CMD-005", "CMD-006", "CMD-007")
def test_flags():
    """Each flag is its decorator's."""

    @create_aggregate
    class Open(BaseModel):
        id: str

    @allow_create
    class Put(BaseModel):
        id: str

    @void_command
    class View(BaseModel):
        id: str

    flags = [(m.is_create, m.allow_create, m.is_void) for m in map(command_metadata, (Open, Put, View))]
    assert flags == [(True, False, False), (False, True, False), (False, False, True)]


@pytest.mark.clause("CMD-006")
def test_allow_create_on_the_aggregate_is_not_looked_up():
    """The flag is read from the command class only."""

    class Put(BaseModel):
        id: str

    class Done(BaseModel):
        pass

    @allow_create
    @aggregate_root(context="shop")
    class Box:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def put(self, command: Put) -> Done:
            return Done()

    assert not command_metadata(Put).allow_create


@pytest.mark.clause("CMD-010")
def test_a_static_id_beats_a_marked_field():
    """Types are looked at before fields, so a blank static id and an unusable field do not matter either."""

    @static_aggregate_id("the-one")
    class Marked(BaseModel):
        ref: Annotated[str, AggregateId()]

    @static_aggregate_id("")
    class Blank(BaseModel):
        id: int

    assert command_metadata(Marked).aggregate_id(Marked(ref="x")) == "the-one"
    assert command_metadata(Blank).aggregate_id(Blank(id=1)) == ""


@pytest.mark.clause("CMD-011", "CMD-012", "CMD-013")
def test_the_aggregate_id_comes_from_the_marked_field_else_from_id():
    """Only a field named exactly `id` counts without a marker."""

    class Marked(BaseModel):
        id: str
        ref: Annotated[str, AggregateId()]

    class OtherCase(BaseModel):
        Id: str

    assert command_metadata(Marked).aggregate_id(Marked(id="a", ref="b")) == "b"
    assert command_metadata(Ship).aggregate_id(Ship(id="a")) == "a"
    assert command_metadata(OtherCase).aggregate_id is None


@pytest.mark.clause("CMD-014")
def test_an_id_that_is_no_text_is_refused():
    """Marked or merely named `id`, the field must be declared as text; the error says what to write."""

    class Numbered(BaseModel):
        id: int

    class Marked(BaseModel):
        number: Annotated[int, AggregateId()]

    class Tenanted(BaseModel):
        tenant: Annotated[bytes, TenantId()]

    with pytest.raises(IllegalArgumentError, match=r"Numbered\.id supplies the aggregate id.*but it is int") as caught:
        command_metadata(Numbered)
    assert "instead: id: str" in str(caught.value)
    with pytest.raises(IllegalArgumentError, match=r"Marked\.number"):
        command_metadata(Marked)
    with pytest.raises(IllegalArgumentError, match=r"Tenanted\.tenant supplies the tenant"):
        command_metadata(Tenanted)


@pytest.mark.clause("CMD-014")
def test_a_field_that_does_not_supply_the_id_may_have_any_type():
    """An `id` beside a marked field is never looked at."""

    class Both(BaseModel):
        id: int
        ref: Annotated[str | None, AggregateId()] = None

    assert command_metadata(Both).aggregate_id(Both(id=1)) is None


@pytest.mark.clause("CMD-015", "CMD-016")
def test_a_static_tenant_beats_a_marked_field():
    """Without a static tenant the marked field is read, with its None."""

    class Marked(BaseModel):
        tenant: Annotated[str | None, TenantId()] = None

    @static_tenant_id("fixed")
    class Fixed(Marked):
        pass

    assert command_metadata(Marked).tenant_id(Marked(tenant="t")) == "t"
    assert command_metadata(Marked).static_tenant_id is None
    assert command_metadata(Fixed).tenant_id(Fixed(tenant="t")) == "fixed"
    assert command_metadata(Fixed).static_tenant_id == "fixed"


@pytest.mark.clause("CMD-017")
def test_a_configured_tenant_needs_a_target_found_by_scope():
    """Self-naming and a marked name hide the configured tenant; a marked tenant field does too."""

    class Plain(BaseModel):
        id: str

    class Named(BaseModel):
        kind: Annotated[str, AggregateName()]

    class Own(SelfNamed):
        pass

    class Tenanted(BaseModel):
        tenant: Annotated[str | None, TenantId()] = None

    plain = command_metadata(Plain).in_scopes(SCOPES)
    assert plain.static_tenant_id == "shop-tenant"
    assert plain.tenant_id(Plain(id="a")) == "shop-tenant"
    assert command_metadata(Named).in_scopes(SCOPES).tenant_id is None
    assert command_metadata(Own).in_scopes(SCOPES).tenant_id is None
    assert command_metadata(Tenanted).in_scopes(SCOPES).tenant_id(Tenanted()) is None


@pytest.mark.clause("CMD-017", "NAM-009")
def test_a_declared_aggregate_configures_its_commands():
    """A command belongs to the aggregate that handles it, and has that one's tenant."""

    class Fill(BaseModel):
        id: str

    class Filled(BaseModel):
        pass

    @aggregate_root(context="shop", tenant_id="fixed")
    class Box:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def fill(self, command: Fill) -> Filled:
            return Filled()

    assert named_aggregate_of(Fill(id="a")) == NamedAggregate("shop", "box")
    assert command_metadata(Fill).in_scopes(DECLARED).static_tenant_id == "fixed"
    assert DECLARED.context_of(Fill) == DECLARED.context_of(Filled) == "shop"
    assert DECLARED.context_of(Ship) is None


@pytest.mark.clause("CMD-018")
def test_the_owner_has_neither_static_variant_nor_default_name():
    """Only a marked field gives the owner."""

    class Marked(BaseModel):
        owner: Annotated[str, OwnerId()]

    class ByName(BaseModel):
        owner_id: str

    assert command_metadata(Marked).owner_id(Marked(owner="u")) == "u"
    assert command_metadata(ByName).owner_id is None


@pytest.mark.clause("CMD-002")
def test_a_marked_space_is_a_convenience_of_the_kit():
    """The runtime has no getter for the space; a spec's author may mark a field all the same."""

    class Marked(BaseModel):
        space: Annotated[str, SpaceId()]

    assert command_metadata(Marked).space_id(Marked(space="s")) == "s"


@pytest.mark.clause("CMD-019")
@pytest.mark.parametrize("kind", [str, float, bool, int | str])
def test_a_version_that_is_no_integer_is_refused(kind):
    """The expected version must be `int` or `int | None`."""
    good = type("Good", (), {"__annotations__": {"version": Annotated[int | None, AggregateVersion()]}})
    bad = type("Bad", (), {"__annotations__": {"version": Annotated[kind, AggregateVersion()]}})

    assert command_metadata(good).aggregate_version is not None
    with pytest.raises(IllegalArgumentError, match=r"must be int or int \| None"):
        command_metadata(bad)


@pytest.mark.clause("CMD-009")
def test_of_several_marked_fields_the_first_by_name_wins():
    """Order of declaration plays no role, capitals come first, own fields before inherited ones."""

    class Base(BaseModel):
        aaa: Annotated[str, OwnerId()]

    class Four(BaseModel):
        zeta: Annotated[str, AggregateId()]
        Beta: Annotated[str, AggregateId()]
        alpha: Annotated[str, AggregateId()]

    class Own(Base):
        zzz: Annotated[str, OwnerId()]

    assert command_metadata(Four).aggregate_id(Four(zeta="z", Beta="B", alpha="a")) == "B"
    assert command_metadata(Own).owner_id(Own(aaa="inherited", zzz="own")) == "own"


@pytest.mark.clause("CMD-020")
def test_markers_are_inherited_by_a_field_that_is_declared_again():
    """Superclasses and interfaces mark fields of the same name."""

    class Face(Protocol):
        target: Annotated[str, AggregateId()]

    @dataclass
    class OfFace(Face):
        target: str

    class Base(BaseModel):
        target: Annotated[str, AggregateId()]

    class OfBase(Base):
        target: str
        id: str

    assert command_metadata(OfFace).aggregate_id(OfFace("t")) == "t"
    assert command_metadata(OfBase).aggregate_id(OfBase(target="t", id="x")) == "t"


@pytest.mark.clause("CMD-021")
def test_private_fields_count():
    """An underscore hides nothing."""

    @dataclass
    class Hidden:
        _ref: Annotated[str, AggregateId()]

    assert command_metadata(Hidden).aggregate_id(Hidden("a")) == "a"


@pytest.mark.clause("CMD-022")
def test_a_self_named_command_names_its_target_before_anything_else():
    """`SelfNamed` beats a marked name and scopes, instance by instance."""

    class Own(BaseModel, SelfNamed):
        kind: Annotated[str, AggregateName()]

    body = Own(context_name="toys", aggregate_name="gizmo", kind="games.widget")

    assert named_aggregate_of(body, SCOPES) == NamedAggregate("toys", "gizmo")


@pytest.mark.clause("CMD-023", "CMD-024")
def test_a_marked_name_is_read_from_the_instance():
    """One dot means context and aggregate, else the context found by scope is needed, when the name is read."""

    class Named(BaseModel):
        kind: Annotated[str, AggregateName()]

    assert named_aggregate_of(Named(kind="toys.gizmo"), NOWHERE) == NamedAggregate("toys", "gizmo")
    assert named_aggregate_of(Named(kind="gizmo"), SCOPES) == NamedAggregate("shop", "gizmo")
    assert command_metadata(Named).in_scopes(NOWHERE).named_aggregate is not None
    with pytest.raises(IllegalArgumentError, match="'gizmo' names no context"):
        named_aggregate_of(Named(kind="gizmo"), NOWHERE)


@pytest.mark.clause("CMD-023")
def test_a_full_name_needs_no_context():
    """The scopes are not even asked for one."""

    class Named(BaseModel):
        kind: Annotated[str, AggregateName()]

    class Refusing:
        def aggregate_of(self, cls):
            raise AssertionError("not asked")

        def context_of(self, cls):
            raise AssertionError("not asked")

    assert named_aggregate_of(Named(kind="toys.gizmo"), Refusing()) == NamedAggregate("toys", "gizmo")


@pytest.mark.clause("CMD-023")
def test_a_marked_name_that_is_none_is_refused():
    """There is nothing to fall back to; seen when the runtime ran: its code is `BadRequest`."""

    class Named(BaseModel):
        kind: Annotated[str | None, AggregateName()] = None

    with pytest.raises(TypeError, match="in a field that is None"):
        named_aggregate_of(Named(), SCOPES)


@pytest.mark.clause("CMD-025")
def test_scopes_complete_the_metadata_of_one_class_for_each_world():
    """The same class may belong to different aggregates in different scopes, one after the other."""
    other = MetadataScopes(
        WowMetadata.from_document({"contexts": {"depot": {"aggregates": {"box": {"commands": [f"{__name__}.Ship"]}}}}})
    )

    assert named_aggregate_of(Ship(id="a"), SCOPES) == NamedAggregate("shop", "cart")
    assert named_aggregate_of(Ship(id="a"), other) == NamedAggregate("depot", "box")
    assert named_aggregate_of(Ship(id="a"), SCOPES) == NamedAggregate("shop", "cart")
    assert named_aggregate_of(Ship(id="a"), NOWHERE) is None


@pytest.mark.clause("CMD-026")
def test_delete_and_recover_commands_are_known_by_their_base():
    """A subclass of a built-in command is one of its sort."""

    class Close(BaseModel, DeleteAggregate):
        reason: str = ""

    assert command_metadata(DeleteAggregate).is_delete
    assert command_metadata(Close).is_delete
    assert not command_metadata(RecoverAggregate).is_delete
    assert command_metadata(RecoverAggregate).is_recover
    assert not command_metadata(Close).is_recover


def test_a_command_of_two_aggregates_is_ambiguous_until_one_is_named():
    """The declared scopes refuse to choose."""

    class Poke(BaseModel):
        id: str

    @aggregate_root(context="shop")
    class One:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def poke(self, command: Poke):
            return None

    @aggregate_root(context="shop")
    class Two:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def poke(self, command: Poke):
            return None

    with pytest.raises(SpecError, match="several aggregates: One, Two"):
        named_aggregate_of(Poke(id="a"))
