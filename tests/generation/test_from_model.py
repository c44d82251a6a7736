"""Values from models: every kind of field gives valid values, and nothing but them."""

from __future__ import annotations

import collections
import collections.abc as cabc
import dataclasses
import datetime as dt
import enum
import ipaddress
import pathlib
import re
import typing
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, TypeVar
from uuid import UUID

import annotated_types as at
import hypothesis
import pydantic
import pytest
from hypothesis import HealthCheck, find, settings, strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Json,
    RootModel,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    field_validator,
    model_validator,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypedDict

from wowspec import SpecError
from wowspec.generation import building
from wowspec.generation.strategies import from_model
from wowspec.messages.codec import decode, encode

QUICK = settings(max_examples=60, database=None, derandomize=True, suppress_health_check=list(HealthCheck))


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Line(BaseModel):
    product_id: str
    quantity: Annotated[int, Field(ge=1, le=99)] = 1


class Card(BaseModel):
    kind: Literal["card"] = "card"
    number: Annotated[str, Field(pattern=r"^\d{4}$")]


class Cash(BaseModel):
    kind: Literal["cash"] = "cash"
    amount: Annotated[Decimal, Field(gt=0, max_digits=6, decimal_places=2)]


T = TypeVar("T")
Bound = TypeVar("Bound", bound=Line)


class Box(BaseModel, Generic[T]):
    content: T


class BoundBox(BaseModel, Generic[Bound]):
    content: Bound


class Tags(RootModel[dict[str, Annotated[int, Field(ge=0)]]]):
    pass


class Tree(BaseModel):
    name: Annotated[str, Field(max_length=3)]
    children: list[Tree] = Field(default_factory=list)
    parent: Tree | None = None


@dataclasses.dataclass
class Point:
    x: int
    y: Annotated[int, Field(ge=3)] = 4


@pydantic_dataclass
class Checked:
    x: int = Field(ge=5)
    y: list[Annotated[int, Field(ge=7)]] = Field(default_factory=list)


class Pair(NamedTuple):
    a: int
    b: Annotated[str, Field(min_length=2)] = "xx"


class Shape(TypedDict):
    side: Annotated[int, Field(gt=0)]
    name: typing.NotRequired[str]


class Twisted(BaseModel):
    a: bool
    b: Turned | None = None


class Turned(BaseModel):
    c: list[Twisted] = Field(min_length=1)


Twisted.model_rebuild()
ProductId = NewType("ProductId", str)
AGO = dt.datetime(2021, 5, 1, tzinfo=dt.UTC)

KINDS: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "int_bounds": Annotated[int, Field(ge=1, le=10)],
    "int_open_bounds": Annotated[int, Field(gt=1, lt=4)],
    "int_annotated_types": Annotated[int, at.Interval(gt=1, le=7)],
    "int_multiple": Annotated[int, Field(multiple_of=7, ge=10)],
    "int_multiple_negative": Annotated[int, Field(multiple_of=5, lt=-10)],
    "int_strict": Annotated[int, Field(strict=True, ge=2)],
    "positive": pydantic.PositiveInt,
    "float": float,
    "float_open_bounds": Annotated[float, Field(gt=0, lt=1)],
    "float_bounds": Annotated[float, Field(ge=-2.5, le=2.5)],
    "float_one_point": Annotated[float, Field(ge=2.5, le=2.5)],
    "float_multiple": Annotated[float, Field(multiple_of=0.25, gt=0)],
    "finite": pydantic.FiniteFloat,
    "decimal": Decimal,
    "decimal_bounds": Annotated[Decimal, at.Gt(Decimal(0)), at.Lt(Decimal("0.01"))],
    "decimal_digits": Annotated[Decimal, Field(max_digits=5, decimal_places=2, ge=0)],
    "decimal_only_digits": Annotated[Decimal, Field(max_digits=3)],
    "decimal_only_places": Annotated[Decimal, Field(decimal_places=3, gt=Decimal("1.5"))],
    "decimal_multiple": Annotated[Decimal, Field(multiple_of=Decimal("0.05"), gt=0, le=3)],
    "decimal_more_places_than_digits": Annotated[Decimal, Field(max_digits=3, decimal_places=5, gt=0)],
    "decimal_places_all": Annotated[Decimal, Field(max_digits=2, decimal_places=2)],
    "fraction": Fraction,
    "str": str,
    "str_length": Annotated[str, Field(min_length=2, max_length=5)],
    "str_pattern": Annotated[str, Field(pattern=r"^[A-Z]{2}-\d+$")],
    "str_pattern_length": Annotated[str, Field(pattern=r"^[a-z]+$", min_length=9, max_length=12)],
    "str_pattern_digits": Annotated[str, Field(pattern=r"^\d{3,5}$")],
    "str_pattern_unanchored": Annotated[str, Field(pattern=r"ab+c")],
    "str_pattern_compiled": Annotated[str, Field(pattern=re.compile("^[xy]*z$"))],
    "str_stripped": Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4)],
    "str_lower": Annotated[str, StringConstraints(to_lower=True, min_length=1)],
    "constr": pydantic.constr(min_length=1, max_length=3, pattern="^[ab]+$"),
    "new_type": ProductId,
    "bytes": bytes,
    "bytes_length": Annotated[bytes, Field(min_length=3, max_length=4)],
    "none": None,
    "any": Any,
    "object": pydantic.JsonValue,
    "date": dt.date,
    "date_bounds": Annotated[dt.date, Field(gt=dt.date(2020, 1, 1), le=dt.date(2020, 1, 3))],
    "past_date": pydantic.PastDate,
    "future_date": pydantic.FutureDate,
    "datetime": dt.datetime,
    "datetime_bounds": Annotated[dt.datetime, Field(gt=AGO, lt=AGO + dt.timedelta(days=1))],
    "aware": pydantic.AwareDatetime,
    "naive": pydantic.NaiveDatetime,
    "naive_bounds": Annotated[dt.datetime, Field(ge=AGO.replace(tzinfo=None))],
    "past_datetime": pydantic.PastDatetime,
    "future_datetime": pydantic.FutureDatetime,
    "time": dt.time,
    "time_bounds": Annotated[dt.time, Field(ge=dt.time(9), lt=dt.time(17))],
    "timedelta": dt.timedelta,
    "timedelta_bounds": Annotated[dt.timedelta, Field(gt=dt.timedelta(0), le=dt.timedelta(hours=1))],
    "uuid": UUID,
    "uuid1": pydantic.UUID1,
    "uuid3": pydantic.UUID3,
    "uuid4": pydantic.UUID4,
    "uuid5": pydantic.UUID5,
    "uuid7": pydantic.UUID7,
    "enum": Colour,
    "literal": Literal["a", 1],
    "literal_enum": Literal[Colour.RED],
    "optional": int | None,
    "optional_inner": Annotated[int, Field(ge=5)] | None,
    "optional_outer": Annotated[int | None, Field(ge=3)],
    "union": int | str | None,
    "union_outer": Annotated[int | float, Field(ge=3)],
    "list_inner": list[Annotated[int, Field(ge=1)]],
    "list_length": Annotated[list[int], Field(min_length=2, max_length=3)],
    "list_optional": Annotated[list[int] | None, Field(min_length=1)],
    "list_bare": list,
    "list_patterns": list[Annotated[str, Field(pattern="^[ab]{3}$")]],
    "set": Annotated[set[Annotated[int, Field(multiple_of=3)]], Field(min_length=2)],
    "set_bare": set,
    "frozenset": frozenset[Annotated[str, Field(min_length=1)]],
    "dict": dict[Annotated[str, Field(min_length=2)], Annotated[int, Field(ge=9)]],
    "dict_length": Annotated[dict[str, int], Field(min_length=1, max_length=2)],
    "dict_bare": dict,
    "dict_of_enum": dict[Colour, list[Line]],
    "tuple": tuple[int, Annotated[str, Field(max_length=2)]],
    "tuple_many": tuple[Annotated[int, Field(ge=0)], ...],
    "tuple_many_length": Annotated[tuple[int, ...], Field(min_length=2, max_length=3)],
    "tuple_empty": tuple[()],
    "sequence": cabc.Sequence[Annotated[int, Field(ge=1)]],
    "mapping": cabc.Mapping[str, Annotated[int, Field(ge=1)]],
    "abstract_set": cabc.Set[int],
    "deque": collections.deque[Annotated[int, Field(ge=1)]],
    "ordered_dict": collections.OrderedDict[str, int],
    "counter": collections.Counter[str],
    "default_dict": collections.defaultdict[str, int],
    "nested": Line,
    "nested_deep": list[dict[str, Line | None]],
    "discriminated": Annotated[Card | Cash, Field(discriminator="kind")],
    "undiscriminated": Card | Cash,
    "generic": Box[Annotated[int, Field(ge=4)]],
    "generic_model": Box[Line],
    "generic_bare": Box,
    "generic_bound": BoundBox,
    "root_model": Tags,
    "recursive": Tree,
    "mutually_recursive": Twisted,
    "dataclass": Point,
    "pydantic_dataclass": Checked,
    "named_tuple": Pair,
    "typed_dict": Shape,
    "secret": SecretStr,
    "secret_length": Annotated[SecretStr, Field(min_length=3)],
    "secret_of": pydantic.Secret[Annotated[int, Field(ge=2)]],
    "json": Json[list[Annotated[int, Field(ge=1)]]],
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Network,
    "path": pathlib.Path,
    "pattern": re.Pattern,
    "url": pydantic.HttpUrl,
    "any_url": pydantic.AnyUrl,
    "dsn": pydantic.PostgresDsn,
    "byte_size": pydantic.ByteSize,
    "base64": pydantic.Base64Bytes,
    "base64_str": pydantic.Base64Str,
    "before_validator": Annotated[int, BeforeValidator(lambda value: value)],
    "after_validator": Annotated[str, Field(max_length=3), AfterValidator(lambda value: value.upper())],
    "plain_validator": Annotated[int, pydantic.PlainValidator(int)],
    "wrap_validator": Annotated[int, Field(ge=2), pydantic.WrapValidator(lambda value, handler: handler(value))],
}
#: Kinds whose values pydantic cannot write as they were read, or that compare by identity.
ONE_WAY = {"json", "literal_enum", "secret", "secret_length", "secret_of", "base64", "base64_str", "pattern"}


def drawn_from(strategy: st.SearchStrategy[Any], examples: int = 60) -> tuple[list[Any], int]:
    """What so many examples drew, and how many more were thrown away because a value did not fit."""
    drawn: list[Any] = []
    misfits = 0

    @settings(QUICK, max_examples=examples)
    @hypothesis.given(st.data())
    def run(data):
        nonlocal misfits
        try:
            drawn.append(data.draw(strategy))
        except hypothesis.errors.StopTest:
            misfits += data.conjecture_data.status.name == "INVALID"
            raise

    run()
    return drawn, misfits


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("maker", ["model", "dataclass", "strict"])
def test_each_kind_of_field(kind, maker, monkeypatch):
    """Each value is valid, none is refused by its class, and the message that holds it has its JSON."""
    monkeypatch.setattr(building, "MOST_REFUSALS", 1)
    tp = KINDS[kind]
    if maker == "dataclass":
        model = dataclasses.make_dataclass("Message", [("value", tp)])
        model.__module__ = __name__
    else:
        config = ConfigDict(strict=True) if maker == "strict" else ConfigDict()
        model = pydantic.create_model("Message", __config__=config, value=(tp, ...))
    adapter = TypeAdapter(tp)

    drawn, misfits = drawn_from(from_model(model))

    assert misfits <= 3
    assert drawn
    for message in drawn:
        if kind not in ONE_WAY and kind != "plain_validator":
            adapter.validate_python(message.value)
        if kind not in ONE_WAY:
            assert decode(model, encode(message)) == message


# --- how values are made ----------------------------------------------------------------------------------------------


def values_of(strategy: st.SearchStrategy[Any], examples: int = 100) -> list[Any]:
    """What a run of so many examples draws."""
    return drawn_from(strategy, examples)[0]


def test_every_default_varies_and_is_kept_at_times():
    """A field with a default is left to it in some values, and drawn in others."""
    quantities = {line.quantity for line in values_of(from_model(Line))}

    assert 1 in quantities
    assert len(quantities) > 5


@pytest.mark.parametrize(
    ("model", "simplest"),
    [
        (Line, Line(product_id="")),
        (Cash, Cash(amount=Decimal("0.01"))),
        (Card, Card(number="0000")),
        (Point, Point(0)),
        (Tree, Tree(name="")),
        (Tags, Tags({})),
        (Checked, Checked(x=5)),
    ],
)
def test_values_shrink_to_the_simplest(model, simplest):
    """The simplest value is empty, zero, or the least that the type allows; defaults stay."""
    assert find(from_model(model), lambda _: True, settings=QUICK) == simplest


def test_one_member_shrinks_to_the_simplest_beside_what_is_asked_for():
    """What a failure does not need becomes simple, inside containers too."""

    class Cart(BaseModel):
        lines: list[Line] = Field(min_length=1)
        note: str | None = None

    found = find(from_model(Cart), lambda cart: any(line.quantity > 7 for line in cart.lines), settings=QUICK)

    assert found == Cart(lines=[Line(product_id="", quantity=8)])


def test_aliases_of_every_sort():
    """Fields are given by their aliases, as a caller writes them; where an alias is a path, by name."""

    class Aliased(BaseModel):
        model_config = ConfigDict(extra="forbid")
        a: int = Field(alias="orderId", ge=1)
        b: int = Field(validation_alias="b-b", serialization_alias="other", ge=2)
        c: int = Field(validation_alias=pydantic.AliasChoices(pydantic.AliasPath("x", 0), "see"), ge=3)

    class ByPath(BaseModel):
        a: int = Field(validation_alias=pydantic.AliasPath("x", 0), ge=1)

    assert all(value.a >= 1 and value.b >= 2 and value.c >= 3 for value in values_of(from_model(Aliased)))
    assert all(value.a >= 1 for value in values_of(from_model(ByPath)))


def test_both_members_of_a_discriminated_union_come():
    """Each alternative is drawn."""

    class Payment(BaseModel):
        by: Annotated[Card | Cash, Field(discriminator="kind")]

    assert {type(payment.by) for payment in values_of(from_model(Payment))} == {Card, Cash}


def test_plain_classes_are_records():
    """A class with annotations and a constructor needs neither pydantic nor dataclasses."""

    class Address:
        def __init__(self, street: Annotated[str, Field(min_length=1)], number: int = 1) -> None:
            self.street = street
            self.number = number

    @dataclasses.dataclass
    class Move:
        to: list[Address]
        hint: dataclasses.InitVar[bool]
        seen: int = dataclasses.field(init=False, default=0)

        def __post_init__(self, hint: bool) -> None:
            self.seen = int(hint)

    moves = values_of(from_model(Move))

    assert {move.seen for move in moves} == {0, 1}
    assert all(address.street for move in moves for address in move.to)
    assert any(address.number != 1 for move in moves for address in move.to)


@pytest.mark.long
def test_a_deep_tree_has_several_levels_and_ends():
    """Recursive values hold themselves some levels deep, and no deeper."""

    def depth(tree: Tree) -> int:
        return 1 + max([depth(child) for child in tree.children], default=0)

    found = find(from_model(Tree), lambda tree: depth(tree) == 3, settings=settings(QUICK, max_examples=2000))

    assert found == Tree(name="", children=[Tree(name="", children=[Tree(name="")])])
    assert max(depth(tree) for tree in values_of(from_model(Tree))) <= 4


def test_the_text_of_a_strategy_is_its_call():
    """A strategy shows what it was made from."""
    assert repr(from_model(Line)) == "from_model(Line)"
    assert repr(from_model(Line, quantity=st.just(3))) == "from_model(Line, quantity=just(3))"


def test_nothing_is_registered():
    """Hypothesis' own way from types to strategies is left alone."""
    before = repr(st.from_type(Line))
    values_of(from_model(Line))

    assert repr(st.from_type(Line)) == before


# --- overrides --------------------------------------------------------------------------------------------------------


class Wish(BaseModel):
    id: str
    lines: list[Line] = Field(min_length=1)
    gift: Line | None = None
    paid: Annotated[Card | Cash, Field(discriminator="kind")]


def test_overrides_by_path():
    """A path goes through lists, optional fields and unions; other fields are drawn from their types."""
    wishes = values_of(
        from_model(
            Wish,
            **{
                "id": st.just("w-1"),
                "lines.quantity": st.just(7),
                "gift.product_id": st.just("g"),
                "paid.amount": st.just(Decimal(5)),
            },
        )
    )

    assert {wish.id for wish in wishes} == {"w-1"}
    assert {line.quantity for wish in wishes for line in wish.lines} == {7}
    assert {wish.gift.product_id for wish in wishes if wish.gift} == {"g"}
    assert {wish.paid.amount for wish in wishes if isinstance(wish.paid, Cash)} == {5}
    assert len({wish.gift.quantity for wish in wishes if wish.gift}) > 1


def test_an_override_takes_the_place_of_a_type_that_has_none():
    """A field whose type says nothing is drawn from what the author gives."""

    class Handle:
        __slots__ = ("_x",)

    class Odd(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        call: typing.Callable[[], int]

    call = lambda: 1

    assert {odd.call for odd in values_of(from_model(Odd, call=st.just(call)))} == {call}


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        ({"ident": st.just("")}, "from_model(Wish, ...) has no field 'ident'"),
        ({"lines.quantty": st.just(1)}, "from_model(Wish, ...) has no field 'lines.quantty'"),
        ({"lines.quantty": st.just(1)}, "instead: 'lines.quantity'"),
        ({"id": "w-1"}, "from_model(Wish, ...) is given id = 'w-1', which is no strategy"),
        ({"id": "w-1"}, "instead: id=st.just('w-1')"),
        ({"lines.quantity": 3}, 'instead: **{"lines.quantity": st.just(3)}'),
    ],
)
def test_overrides_that_cannot_be_meant(overrides, text):
    """A misspelt path, or a value in the place of a strategy, is told at once."""
    with pytest.raises(SpecError) as refused:
        from_model(Wish, **overrides)

    assert text in str(refused.value)


# --- what cannot be -------------------------------------------------------------------------------------------------


class Opaque:
    """No annotation says what is in it."""

    def __init__(self, handle) -> None:
        self.handle = handle


@dataclasses.dataclass
class Holder:
    opaque: Opaque


class Calls(BaseModel):
    steps: list[dict[str, typing.Callable[[], int]]]


class Narrow(BaseModel):
    x: Annotated[int, Field(gt=3, lt=4)]


class Endless(BaseModel):
    inner: Endless


class RustOnly(BaseModel):
    text: Annotated[str, Field(pattern=r"^\p{L}+$")]


class Lines(BaseModel):
    lines: set[Line]


class Plain(BaseModel):
    x: Annotated[Any, pydantic.PlainValidator(lambda value: value)]


@pytest.mark.parametrize(
    ("model", "lines"),
    [
        (
            Holder,
            [
                "no strategy follows for Holder.opaque.handle: it has no annotation",
                'instead: from_model(Holder, **{"opaque.handle": ...}), with a strategy for it',
            ],
        ),
        (
            Calls,
            [
                "no strategy follows for Calls.steps[][]: its values have no JSON (callable)",
                "instead: from_model(Calls, steps=...), with a strategy for it",
            ],
        ),
        (Narrow, ["no strategy follows for Narrow.x: its bounds leave no value"]),
        (Endless, ["Endless has no finite value"]),
        (RustOnly, [r"no strategy follows for RustOnly.text: its pattern '^\\p{L}+$' cannot be read"]),
        (Lines, ["no strategy follows for Lines.lines: it is a set, and a Line cannot be hashed"]),
        (Plain, ["no strategy follows for Plain.x: ", "alone decides what it may be"]),
        (type("Bare", (), {}), []),
    ],
)
def test_what_no_strategy_follows_for(model, lines):
    """The error names the path of the field, why, and the override to write; a class without fields has one value."""
    if not lines:
        assert len({type(value) for value in values_of(from_model(model))}) == 1
        return
    with pytest.raises(SpecError) as refused:
        from_model(model)

    for line in lines:
        assert line in str(refused.value)


def test_values_that_a_validator_refuses_are_drawn_anew():
    """A validator of the author's throws values away; what is left satisfies it."""

    class Even(BaseModel):
        x: Annotated[int, Field(ge=0, le=1000)]
        y: int

        @field_validator("x")
        @classmethod
        def is_even(cls, value: int) -> int:
            assert value % 2 == 0
            return value

        @model_validator(mode="after")
        def is_ordered(self) -> Even:
            if self.y < self.x:
                raise ValueError("y is less than x")
            return self

    values = values_of(from_model(Even))

    assert values
    assert all(value.x % 2 == 0 and value.y >= value.x for value in values)


def test_a_validator_that_refuses_everything_is_named():
    """After a hundred refusals in a row the validator's message and the override are told, and told again at replay."""

    class Upper(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def is_known(cls, value: str) -> str:
            if value != "ANNE-MARIE":
                raise ValueError("nobody of that name")
            return value

    @QUICK
    @hypothesis.given(from_model(Upper))
    def never(value):
        raise AssertionError(value)

    with pytest.raises(SpecError) as refused:
        never()

    assert "100 values of Upper.name in a row were refused: Value error, nobody of that name" in str(refused.value)
    assert "instead: from_model(Upper, name=...)" in str(refused.value)
    assert values_of(from_model(Upper, name=st.just("ANNE-MARIE")))


def test_a_dataclass_refuses_by_itself():
    """What `__post_init__` refuses is drawn anew, too."""

    @dataclasses.dataclass
    class Span:
        low: int
        high: int

        def __post_init__(self) -> None:
            if self.low > self.high:
                raise ValueError("low is above high")

    spans = values_of(from_model(Span))

    assert spans
    assert all(span.low <= span.high for span in spans)
