"""Fields of message classes: Pydantic models, dataclasses, plain classes; resolved, local and missing names."""

from __future__ import annotations

import functools
from dataclasses import KW_ONLY, InitVar, dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Generic, Literal, NewType, TypeVar
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, PrivateAttr, StringConstraints

from wowspec import AggregateId, DefinitionError, OwnerId
from wowspec.errors import IllegalArgumentError
from wowspec.modeling.commands import command_metadata
from wowspec.modeling.fields import fields_of

if TYPE_CHECKING:
    from collections.abc import Sequence as Missing

T = TypeVar("T")
OrderId = NewType("OrderId", str)
MarkedId = Annotated[str, AggregateId()]


class Typed(BaseModel):
    id: OrderId


class Constrained(BaseModel):
    id: Annotated[str, StringConstraints(min_length=1), Field(description="d")]


class Literals(BaseModel):
    id: Literal["a", "b"] | None


class Aliased(BaseModel):
    order: MarkedId | None


class Wire(BaseModel):
    order: Annotated[str, AggregateId()] = Field(alias="orderId")


@pytest.mark.clause("CMD-014")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (Typed(id=OrderId("o")), "o"),
        (Constrained(id="c"), "c"),
        (Literals(id="a"), "a"),
        (Literals(id=None), None),
        (Aliased(order="m"), "m"),
        (Wire(orderId="w"), "w"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_ways_of_saying_text(body, expected):
    """New types, constraints, literals, aliases and Pydantic's own names are text all the same."""
    assert command_metadata(type(body)).aggregate_id(body) == expected


@pytest.mark.clause("CMD-014")
@pytest.mark.parametrize("annotation", [UUID, str | int, "list[str]", Literal["a", 1], None, object])
def test_ways_of_not_saying_text(annotation):
    """Nothing else is."""
    cls = type("Bad", (), {"__annotations__": {"id": annotation}, "__module__": __name__})

    with pytest.raises(IllegalArgumentError, match="supplies the aggregate id"):
        command_metadata(cls)


@pytest.mark.clause("CMD-014")
def test_a_property_named_id_without_annotation_is_refused():
    """Its type must be said."""

    class Bad:
        @property
        def id(self):
            return "x"

    with pytest.raises(IllegalArgumentError, match="it is not annotated"):
        command_metadata(Bad)


@pytest.mark.clause("CMD-020")
def test_properties_count_as_fields():
    """A marked return annotation supplies the value; so does a property named `id`."""

    class Computed:
        @property
        def ref(self) -> Annotated[str, OwnerId()]:
            return "owner"

        @functools.cached_property
        def id(self) -> str:
            return "computed"

    metadata = command_metadata(Computed)
    assert metadata.aggregate_id(Computed()) == "computed"
    assert metadata.owner_id(Computed()) == "owner"


@pytest.mark.clause("CMD-021")
def test_private_attributes_of_a_model_count():
    """Pydantic keeps them apart; the runtime does not."""

    class Hidden(BaseModel):
        _ref: Annotated[str, AggregateId()] = PrivateAttr("private")

    assert command_metadata(Hidden).aggregate_id(Hidden()) == "private"


@pytest.mark.clause("CMD-009")
def test_class_level_names_are_no_fields():
    """Class variables, init-only values and the keyword mark are none."""

    @dataclass
    class Mixed:
        id: ClassVar[str] = "class"
        _: KW_ONLY
        seed: InitVar[int] = 0
        amount: int = 0

    assert [item.name for item in fields_of(Mixed)] == ["_", "amount"]
    assert command_metadata(Mixed).aggregate_id is None


@pytest.mark.clause("CMD-009")
def test_fields_come_by_name_own_ones_first():
    """Capitals before small letters; a field that is declared again is an own one."""

    class Base:
        aa: int
        cc: int

    class Sub(Base):
        zz: int
        Bb: int
        cc: int

    assert [item.name for item in fields_of(Sub)] == ["Bb", "cc", "zz", "aa"]


def test_classes_defined_in_a_running_function_are_resolved():
    """Names local to the test that defines a command are found, at its first use."""
    Ref = Annotated[str, AggregateId()]

    @dataclass
    class Local:
        ref: Ref

    assert command_metadata(Local).aggregate_id(Local("r")) == "r"


def test_a_model_resolves_local_names_itself():
    """What Pydantic resolved when the class was made is used where its function no longer runs."""

    def make():
        Ref = Annotated[str, AggregateId()]

        class Local(BaseModel):
            ref: Ref

        return Local

    cls = make()

    assert command_metadata(cls).aggregate_id(cls(ref="r")) == "r"


def test_a_name_for_type_checkers_alone_hurts_only_where_it_matters():
    """A field of an unknown type is left alone, unless it supplies a value or may hold a marker."""

    @dataclass
    class Fine:
        id: str
        rest: Missing[int]

    @dataclass
    class NoId:
        id: Missing[int]

    @dataclass
    class NoMarker:
        ref: Annotated[Missing[int], AggregateId()]

    assert command_metadata(Fine).aggregate_id(Fine("a", [])) == "a"
    with pytest.raises(IllegalArgumentError, match=r"NoId\.id .* but it is Missing\[int\]"):
        command_metadata(NoId)
    with pytest.raises(DefinitionError, match=r"annotation of NoMarker\.ref cannot be resolved") as caught:
        command_metadata(NoMarker)
    assert "not under TYPE_CHECKING" in str(caught.value)


def test_a_generic_model_is_read_through_its_arguments():
    """A parametrised model has the fields of its generic class."""

    class Envelope(BaseModel, Generic[T]):
        ref: Annotated[str, AggregateId()]
        content: T

    cls = Envelope[int]

    assert command_metadata(cls).aggregate_id(cls(ref="r", content=1)) == "r"
