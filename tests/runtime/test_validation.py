"""Field validation and self-validation of command bodies (section E)."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Annotated

import pydantic.dataclasses
import pytest
from pydantic import BaseModel, ConfigDict, Field, Json, RootModel, model_validator

from wowspec.errors import BindingError, SpecError, UnsupportedOperationError
from wowspec.runtime.validation import CommandValidator, NoOpValidator, PydanticValidator, path_text, validate_itself

Positive = Annotated[int, Field(gt=0)]


class Colour(Enum):
    """A value that pydantic may keep as its text."""

    RED = "red"


class Item(BaseModel):
    """A nested model."""

    product: str
    quantity: Positive = 1


class Order(BaseModel):
    """A body with nested models, an alias, and an enum that is kept as text."""

    model_config = ConfigDict(use_enum_values=True)

    id: str
    note: str = Field("", alias="remark", max_length=5)
    items: list[Item] = []
    by_name: dict[str, Item] = {}
    colour: Colour = Colour.RED


def names(body):
    """The fields that are refused."""
    return [error.name for error in PydanticValidator().validate(body)]


@pytest.mark.clause("CMD-085")
def test_a_valid_body_has_no_violations():
    """Whatever pydantic stored of what it was given is valid again."""
    assert names(Order(id="o", remark="hi", items=[Item(product="p")], colour="red")) == []


@pytest.mark.clause("CMD-085")
def test_one_binding_error_for_each_violation():
    """With the path of the field and the message."""
    items = [Item(product="p"), Item.model_construct(product="p", quantity=0)]
    body = Order.model_construct(id="o", note="too long", items=items, by_name={"k": items[1]})
    assert PydanticValidator().validate(body) == (
        BindingError("note", "String should have at most 5 characters"),
        BindingError("items[1].quantity", "Input should be greater than 0"),
        BindingError("by_name.k.quantity", "Input should be greater than 0"),
    )


@pytest.mark.clause("CMD-085")
def test_nothing_hides_behind_model_construct():
    """A missing field, a value of another type that would have to be converted, a later assignment."""
    assert names(Order.model_construct()) == ["id"]
    assert names(Item.model_construct(product="p", quantity="3")) == ["quantity"]
    assert names(Item.model_construct(product="p", quantity=True)) == ["quantity"]
    item = Item(product="p")
    item.quantity = -1
    assert names(item) == ["quantity"]


def test_the_command_is_not_changed():
    """Validation works on copies of the values."""
    body = Item.model_construct(product="p", quantity="3")
    PydanticValidator().validate(body)
    assert body.quantity == "3"


def test_what_cannot_be_validated_twice_passes():
    """A `Json` field holds the parsed value."""

    class WithJson(BaseModel):
        data: Json[dict[str, int]]

    assert names(WithJson(data='{"a": 1}')) == []


def test_validators_of_the_whole_model_run():
    """Their violations have no path."""

    class Range(BaseModel):
        low: int
        high: int

        @model_validator(mode="after")
        def ordered(self):
            if self.low > self.high:
                raise ValueError("low is above high")
            return self

    assert names(Range(low=1, high=2)) == []
    assert names(Range.model_construct(low=2, high=1)) == [""]


def test_root_models():
    """The root's own constraints, and models inside it."""

    class Items(RootModel[Annotated[list[Item], Field(min_length=1)]]):
        pass

    assert names(Items([Item(product="p")])) == []
    assert names(Items.model_construct([])) == [""]
    assert names(Items.model_construct([Item.model_construct(product="p", quantity=0)])) == ["[0].quantity"]


@pytest.mark.parametrize("decorate", [dataclasses.dataclass, pydantic.dataclasses.dataclass], ids=["plain", "pydantic"])
def test_dataclasses(decorate):
    """Constraints in annotations count, also under names that models reserve."""

    @decorate
    class Copy:
        copy: Positive
        item: Item | None = None

    body = Copy(1, Item(product="p"))
    assert names(body) == []
    body.copy, body.item = 0, Item.model_construct(product="p", quantity=0)
    assert names(body) == ["copy", "item.quantity"]


def test_a_model_with_its_own_init():
    """Its parameters are not its fields."""

    class Named(BaseModel):
        name: Annotated[str, Field(min_length=1)]

        def __init__(self, first, second):
            super().__init__(name=first + second)

    assert names(Named("a", "b")) == []
    assert names(Named.model_construct(name="")) == ["name"]


def test_other_bodies_have_no_fields():
    """A plain object passes."""
    assert names(object()) == []


@pytest.mark.parametrize(("path", "text"), [((), ""), (("a",), "a"), (("a", "b", 0), "a.b[0]"), ((1, "a"), "[1].a")])
def test_path_text(path, text):
    """Dots between names, brackets around positions."""
    assert path_text(path) == text


@pytest.mark.clause("CMD-087")
def test_no_op_validator():
    """No violations whatever the body; what constraints there are it cannot say."""
    validator = NoOpValidator()
    assert validator.validate(Order.model_construct()) == ()
    with pytest.raises(UnsupportedOperationError, match="Order"):
        validator.constraints_of(Order)


@pytest.mark.clause("CMD-084")
def test_self_validation_passes_its_error_unchanged():
    """Whatever `validate_command` raises."""
    error = KeyError("mine")

    class Picky(BaseModel):
        def validate_command(self):
            raise error

    with pytest.raises(KeyError) as raised:
        validate_itself(Picky())
    assert raised.value is error
    assert isinstance(Picky(), CommandValidator)
    validate_itself(Item(product="p"))


def test_self_validation_is_no_async_function():
    """Nobody would await it."""

    class Late(BaseModel):
        async def validate_command(self):
            raise AssertionError

    with pytest.raises(SpecError, match=r"Late\.validate_command is an async function"):
        validate_itself(Late())
