"""Bodies and states as JSON, and back."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import math
import os
import re
import socket
import subprocess
import sys
import threading
import typing
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import pytest
from hypothesis import given, strategies as st
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    Json,
    PlainSerializer,
    PrivateAttr,
    RootModel,
    computed_field,
    field_serializer,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass

from wowspec.errors import DecodeError, DefinitionError, NotSerializableError, SpecError
from wowspec.messages.codec import check_serializable, decode, encode
from wowspec.messages.equality import deep_difference
from wowspec.modeling.builtin import AggregateDeleted, ResourceTagsApplied
from wowspec.modeling.functions import Namespace

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Tag(BaseModel):
    model_config = ConfigDict(frozen=True)
    name: str
    parts: frozenset[int] = frozenset()


@dataclasses.dataclass
class Money:
    amount: Decimal
    currency: str = "EUR"


class Page(BaseModel, Generic[T]):
    items: list[T]


class Leaf(RootModel[dict[str, set[str]]]):
    pass


class Rich(BaseModel):
    text: str
    number: int
    ratio: float
    amount: Decimal
    at: dt.datetime
    day: dt.date
    span: dt.timedelta
    key: uuid.UUID
    colour: Colour
    raw: bytes
    pair: tuple[int, str]
    many: tuple[Colour, ...]
    tags: set[Tag]
    by_key: dict[int, list[Money]]
    choice: Tag | Money | int | None
    page: Page[Tag]
    leaf: Leaf


_TAGS = st.builds(Tag, name=st.text(max_size=4), parts=st.frozensets(st.integers(), max_size=3))
_AMOUNTS = st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**9), max_value=10**9)
_MONEY = st.builds(Money, amount=_AMOUNTS, currency=st.sampled_from(["EUR", "USD"]))
_RICH = st.builds(
    Rich,
    text=st.text(),
    number=st.integers(),
    ratio=st.floats(),
    amount=_AMOUNTS,
    at=st.datetimes(timezones=st.just(dt.UTC)),
    day=st.dates(),
    span=st.timedeltas(min_value=dt.timedelta(days=-1000), max_value=dt.timedelta(days=1000)),
    key=st.uuids(),
    colour=st.sampled_from(Colour),
    raw=st.text(max_size=5).map(str.encode),
    pair=st.tuples(st.integers(), st.text()),
    many=st.lists(st.sampled_from(Colour), max_size=3).map(tuple),
    tags=st.sets(_TAGS, max_size=3),
    by_key=st.dictionaries(st.integers(), st.lists(_MONEY, max_size=2), max_size=2),
    choice=st.one_of(st.none(), st.integers(), _TAGS, _MONEY),
    page=st.builds(Page[Tag], items=st.lists(_TAGS, max_size=2)),
    leaf=st.builds(Leaf, st.dictionaries(st.text(max_size=2), st.sets(st.text(max_size=2)), max_size=2)),
)


@given(_RICH)
def test_reading_what_was_written_gives_an_equal_object(value):
    """Writing and reading is the identity for models of every sort of field."""
    assert deep_difference(value, decode(Rich, encode(value))) is None


def test_a_small_model_is_written_compactly_in_the_order_of_its_fields():
    """The text is compact JSON in UTF-8, fields in their order."""
    assert encode(Tag(name="ä", parts=frozenset({1}))) == '{"name":"ä","parts":[1]}'.encode()


# --- sets -------------------------------------------------------------------------------------------------------------


class Sets(BaseModel):
    texts: set[str]
    numbers: frozenset[float]
    nested: set[frozenset[str]]
    models: frozenset[Tag]
    anything: Any = None


def test_the_members_of_every_set_are_in_order():
    """Texts and numbers are sorted by value, other members by their own text; also deep inside, and under Any."""
    value = Sets(
        texts={"b", "a", "c"},
        numbers=frozenset({10.0, 9.5, -1.0}),
        nested={frozenset({"z", "y"}), frozenset({"x"})},
        models=frozenset({Tag(name="b", parts=frozenset({10, 9})), Tag(name="a")}),
        anything={"deep": [{3, 1, 2}]},
    )
    assert encode(value) == (
        b'{"texts":["a","b","c"],"numbers":[-1.0,9.5,10.0],"nested":[["x"],["y","z"]],'
        b'"models":[{"name":"a","parts":[]},{"name":"b","parts":[9,10]}],"anything":{"deep":[[1,2,3]]}}'
    )


class Listed(BaseModel):
    names: list[str] = []


def test_a_set_where_a_list_is_declared_is_in_order_too():
    """A field that was given a set against its type is still written the same way in every run."""
    value = Listed()
    value.names = {"b", "a", "c"}  # type: ignore[assignment]
    assert encode(value) == b'{"names":["a","b","c"]}'


_SEEDED = """
from tests.messages.test_codec import Sets, Tag, encode
letters = "abcdefghij"
print(encode(Sets(
    texts=set(letters), numbers=frozenset({1.5, 2.5}), nested={frozenset(letters), frozenset("xyz")},
    models=frozenset(Tag(name=c, parts=frozenset(range(5))) for c in letters),
    anything=[set(letters), {"k": {"v", "w"}}],
)).decode())
"""


def test_the_hash_seed_does_not_change_the_text():
    """Processes with different hash seeds write one and the same text."""
    root = Path(__file__).parents[2]
    texts = {
        subprocess.run(
            [sys.executable, "-c", _SEEDED],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            cwd=root,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1
    assert '"texts":["a","b"' in texts.pop()


# --- pydantic ---------------------------------------------------------------------------------------------------------


class Aliased(BaseModel):
    product_id: str = Field(alias="productId")
    nick: str = Field("", validation_alias="in", serialization_alias="out")


class Hidden(BaseModel):
    shown: int
    secret: str = Field("", exclude=True)
    _cache: int = PrivateAttr(0)


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int

    @computed_field
    @property
    def twice(self) -> int:
        return 2 * self.a


class Parsed(BaseModel):
    data: Json[list[int]]


def test_fields_are_written_by_name_whatever_their_aliases():
    """Aliases play no part, so that what was written can be read."""
    value = Aliased.model_validate({"productId": "p", "in": "n"})
    assert encode(value) == b'{"product_id":"p","nick":"n"}'
    assert decode(Aliased, encode(value)) == value


def test_an_excluded_field_is_lost_without_an_error():
    """A field that the model excludes is gone after reading; finding that out is the comparison's task."""
    value = Hidden(shown=1, secret="s")
    value._cache = 7
    back = decode(Hidden, encode(value))
    assert str(deep_difference(value, back)) == "secret: expected 's', got ''"


def test_extra_fields_survive():
    """What a model allows besides its fields is written and read."""
    value = Open.model_validate({"a": [1], "b": {"c": None}})
    assert decode(Open, encode(value)) == value


def test_computed_fields_are_written_unless_reading_would_refuse_them():
    """A computed field is part of the JSON, but not of a model that forbids unknown fields."""
    assert encode(Strict(a=1)) == b'{"a":1}'
    assert decode(Strict, encode(Strict(a=1))) == Strict(a=1)


def test_a_json_field_is_written_as_the_text_that_it_reads():
    """A field that parses JSON text is written as such text."""
    value = Parsed(data="[1,2]")
    assert decode(Parsed, encode(value)) == value


@pytest.mark.parametrize(("value", "text"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_a_float_that_is_no_number_is_written_as_text(value, text):
    """NaN and the infinities are texts, as the modelled runtime writes them, and are read back as what they are."""

    class Ratio(BaseModel):
        r: float | None
        other: str | None = None

    data = encode(Ratio(r=value))
    assert data.decode() == f'{{"r":"{text}","other":null}}'
    assert deep_difference(Ratio(r=value), decode(Ratio, data)) is None


@pytest.mark.clause("SER-014")
def test_unknown_fields_are_ignored_and_missing_ones_refused():
    """A text may hold more than the class knows, but not less."""
    assert decode(Tag, b'{"name":"a","later":[1]}') == Tag(name="a")
    with pytest.raises(DecodeError, match="cannot read Tag from JSON: name: Field required"):
        decode(Tag, b"{}")


@pytest.mark.clause("SER-014")
def test_text_that_is_no_object_is_refused():
    """An array, a number, broken or empty text is a decode error, whose code is that of any bad request."""
    for text in (b"[]", b"3", b'{"name":', b""):
        with pytest.raises(DecodeError):
            decode(Tag, text)


@pytest.mark.clause("SER-014")
def test_decimals_keep_every_digit():
    """A decimal is written as text, so that no digit of it is lost."""
    amount = Decimal("1.10000000000000000001")
    assert decode(Money, encode(Money(amount))).amount == amount


def test_a_serializer_of_the_users_own_keeps_its_shape():
    """What a field serializer made of a set is written as it made it."""

    class Joined(BaseModel):
        names: set[str]

        @field_serializer("names")
        def join(self, names: set[str]) -> str:
            return ",".join(sorted(names, reverse=True))

    assert encode(Joined(names={"a", "b"})) == b'{"names":"b,a"}'


# --- records ----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    value: int
    children: list[Node] = dataclasses.field(default_factory=list)
    raw: bytes = b""
    link: int | Money | None = None
    by_name: dict[str, Money] = dataclasses.field(default_factory=dict)


class Cart:
    limit: typing.ClassVar[int] = 3

    def __init__(self, id: str, owner: str = "nobody") -> None:
        self.id = id
        self.owner = owner
        self.lines: list[Money] = []
        self.tags: set[str] = set()
        self.note = None

    @cached_property
    def count(self) -> int:
        return len(self.lines)


class Private:
    def __init__(self, number: int) -> None:
        self._number: int = number


class Slotted:
    __slots__ = ("__hidden", "shown")

    def __init__(self, shown: int) -> None:
        self.shown = shown
        self.__hidden = shown + 1


class Derived(Cart):
    def __init__(self, id: str) -> None:
        super().__init__(id)
        self.extra: Money | None = None


@dataclasses.dataclass
class Box(Generic[T]):
    content: T


@dataclasses.dataclass
class Boxes:
    box: Box[Money]


def _cart() -> Cart:
    cart = Cart("c-1")
    cart.lines.append(Money(Decimal("1.10")))
    cart.tags |= {"b", "a"}
    cart.note = {"k": [1, None]}
    return cart


def test_dataclasses_nest_with_every_digit_and_every_byte():
    """Nested, recursive and frozen dataclasses, unions of them, and bytes that are no text survive."""
    value = Node(1, [Node(2, raw=b"\xff\x00")], link=Money(Decimal("1.10")), by_name={"k": Money(Decimal(0))})
    assert decode(Node, encode(value)) == value


@pytest.mark.clause("SER-014")
def test_a_plain_class_is_written_by_its_attributes():
    """Attributes, private ones too, make the object; class variables and computed caches do not."""
    cart = _cart()
    assert cart.count == 1
    assert encode(cart) == (
        b'{"id":"c-1","owner":"nobody","lines":[{"amount":"1.10","currency":"EUR"}],"tags":["a","b"],"note":{"k":[1,null]}}'
    )
    assert encode(Private(3)) == b'{"_number":3}'


def test_a_plain_class_is_read_with_the_types_that_its_constructor_declares():
    """`self.x: T = …` and `self.x = parameter` say what the text is read as; inherited constructors count."""
    back = decode(Cart, encode(_cart()))
    assert back.lines == [Money(Decimal("1.10"))]
    assert back.tags == {"a", "b"}
    value = Derived("d")
    value.extra = Money(Decimal(2))
    assert deep_difference(value, decode(Derived, encode(value))) is None


def test_what_a_text_does_not_say_is_what_the_constructor_makes():
    """Missing fields have their defaults, but a required parameter must be there."""
    back = decode(Cart, b'{"id":"x"}')
    assert (back.owner, back.lines) == ("nobody", [])
    with pytest.raises(DecodeError, match="cannot read Cart from JSON: id is missing"):
        decode(Cart, b"{}")


def test_a_constructor_with_other_parameters_is_not_called():
    """Where the constructor's parameter is no attribute, the attributes alone are set."""
    assert deep_difference(Private(3), decode(Private, encode(Private(3)))) is None


def test_slots_are_attributes():
    """An object with slots is written with them, private ones too."""
    value = Slotted(1)
    assert encode(value) == b'{"_Slotted__hidden":2,"shown":1}'
    assert deep_difference(value, decode(Slotted, encode(value))) is None


def test_generic_dataclasses_are_read_with_their_arguments():
    """The arguments of a generic dataclass reach its fields."""
    value = Boxes(Box(Money(Decimal(3))))
    assert decode(Boxes, encode(value)) == value


@dataclasses.dataclass
class Cash:
    amount: int
    note: str = ""


@dataclasses.dataclass
class Card:
    amount: int
    number: str = ""
    owner: str = ""


@dataclasses.dataclass
class Payment:
    by: Cash | Card | int | None


@pytest.mark.parametrize("by", [Cash(1), Card(1), 3, None], ids=lambda by: type(by).__name__)
def test_of_several_dataclasses_the_one_that_fits_best_is_read(by):
    """In a union the class that knows most of the keys is chosen, whatever the order."""
    assert decode(Payment, encode(Payment(by))) == Payment(by)


def test_named_tuples_dictionaries_and_lists_have_json():
    """Values that are no objects of their own class are written as what they are."""

    class Point(typing.NamedTuple):
        x: int
        y: int

    assert encode(Point(1, 2)) == b"[1,2]"
    assert decode(Point, b"[1,2]") == Point(1, 2)
    assert encode({"k": {2, 1}}) == b'{"k":[1,2]}'
    assert decode(list[Money], b'[{"amount":"1"}]') == [Money(Decimal(1))]


@pytest.mark.clause("EVT-060")
def test_built_in_events_have_json():
    """The runtime's own events are written and read as everything else."""
    assert encode(AggregateDeleted()) == b"{}"
    assert decode(AggregateDeleted, b"{}") == AggregateDeleted()
    tagged = ResourceTagsApplied({"k": ["v"]})
    assert decode(ResourceTagsApplied, encode(tagged)).tags == {"k": ["v"]}


@pydantic_dataclass
class Checked:
    names: set[str]


def test_pydantic_dataclasses_have_json():
    """A dataclass of pydantic's is read with its checks, and its sets are in order."""
    assert encode(Checked({"b", "a"})) == b'{"names":["a","b"]}'
    assert decode(Checked, b'{"names":["a"]}') == Checked({"a"})


# --- refusals ---------------------------------------------------------------------------------------------------------


class Holder(BaseModel):
    parts: dict[str, list[Any]] = {}


def test_what_has_no_json_is_refused_with_its_place():
    """The error names the field, down to the element, and is one of the spec's author."""
    with pytest.raises(NotSerializableError, match=re.escape("Holder.parts['k'][1] is a lock")) as caught:
        encode(Holder(parts={"k": [1, threading.Lock()]}))
    assert isinstance(caught.value, SpecError)
    assert "stored and sent as JSON" in caught.value.why
    assert caught.value.instead


def test_a_cycle_is_refused():
    """An object that holds itself has no JSON."""
    value = Holder()
    value.parts["me"] = [value]
    with pytest.raises(NotSerializableError, match="Holder"):
        encode(value)


def test_an_attribute_without_type_must_be_plain_json():
    """An attribute that no declaration types could not be read back; the error says what to write."""
    cart = _cart()
    cart.note = Money(Decimal(1))
    with pytest.raises(NotSerializableError, match=r"Cart\.note holds a Money.*\n.*\n.*`note: Money`"):
        encode(cart)


def test_bytes_that_are_no_text_need_a_declaration():
    """Pydantic writes bytes as text; where they are none, the error says which setting helps."""

    class Blob(BaseModel):
        data: bytes

    with pytest.raises(NotSerializableError, match="base64"):
        encode(Blob(data=b"\xff"))


class WithSocket(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    links: list[socket.socket]


class WithPlain(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    cart: Cart


@dataclasses.dataclass
class WithCallable:
    node: Node
    then: Callable[[int], int] | None = None


@dataclasses.dataclass
class WithIterator:
    rows: Iterator[int]


class WithType(BaseModel):
    kind: type[int] | None = None


class Refused(Exception):
    pass


@pytest.mark.parametrize(
    ("cls", "place"),
    [
        (WithSocket, "WithSocket.links[] is a socket.socket"),
        (WithPlain, "WithPlain.cart is a"),
        (WithCallable, "WithCallable.then is a"),
        (WithIterator, "WithIterator.rows is a"),
        (WithType, "WithType.kind is a type[int]"),
        (Refused, "Refused is a"),
    ],
)
def test_a_type_that_no_json_can_carry_is_refused_at_its_definition(cls, place):
    """The definition error names the first field, without any object of the class."""
    with pytest.raises(DefinitionError, match=re.escape(place)):
        check_serializable(cls)


class Written(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    link: Annotated[Any, PlainSerializer(str)]
    hidden: threading.Thread | None = Field(None, exclude=True)
    own: Any = None
    more: socket.socket | None = None

    @field_serializer("more")
    def as_text(self, more: Any) -> str:
        return str(more)


@pytest.mark.parametrize(
    "cls", [Rich, Sets, Node, Cart, Boxes, Written, AggregateDeleted, Colour, dict[str, list[int]]]
)
def test_a_type_that_json_can_carry_passes(cls):
    """Everything that can be written passes, also by means of the user's own serializers."""
    assert check_serializable(cls)


def test_a_check_waits_for_names_that_are_not_there_yet():
    """An annotation that does not resolve yet puts the check off."""

    class Early(BaseModel):
        later: NotDefinedYet  # type: ignore[name-defined] # noqa: F821

    assert check_serializable(Early) is False
    with pytest.raises(NotSerializableError, match="NotDefinedYet"):
        codec_text = encode(Early.model_construct(later=1))
        pytest.fail(codec_text.decode())


def test_local_names_of_a_definition_are_remembered():
    """Dataclasses that were defined inside a function resolve with the names of that function."""

    @dataclasses.dataclass
    class Inner:
        value: int

    @dataclasses.dataclass
    class Middle:
        items: list[Inner]

    @dataclasses.dataclass
    class Outer:
        middle: Middle

    assert check_serializable(Outer, Namespace.of_caller(0))
    value = Outer(Middle([Inner(1)]))
    assert decode(Outer, encode(value)) == value


class Dated(BaseModel):
    """Two fields of plain values, and one that may be absent."""

    day: dt.date
    note: str = ""
    count: int | None = None


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"note": {"b", "a"}}, b'{"day":"2024-05-01","note":["a","b"],"count":1}'),
        ({"count": math.nan}, b'{"day":"2024-05-01","note":"x","count":"NaN"}'),
        ({"day": "someday"}, b'{"day":"someday","note":"x","count":1}'),
    ],
)
def test_what_a_field_does_not_take_is_written_the_same_way_after_right_values(wrong, text):
    """That a class was written with right values says nothing of later values of other classes."""
    right = Dated(day=dt.date(2024, 5, 1), note="x", count=1)
    before = encode(right.model_copy(update=wrong))
    for _ in range(2):
        assert encode(right) == b'{"day":"2024-05-01","note":"x","count":1}'
        assert encode(right.model_copy(update=wrong)) == before == text


def test_what_has_no_json_is_refused_after_right_values():
    """An object in a text field is told by its path, however often the class was written before."""
    right = Dated(day=dt.date(2024, 5, 1))
    encode(right)
    with pytest.raises(NotSerializableError, match=r"Dated\.note is a object"):
        encode(right.model_copy(update={"note": object()}))
