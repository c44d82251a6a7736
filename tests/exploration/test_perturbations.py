"""Each row of the table of perturbations: a weak spec misses it, a strong one notices, and so does the line told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, field_validator

import wowspec
from tests.exploration import parcels
from tests.exploration.parcels import (
    REGISTERED,
    Board,
    Halt,
    Halted,
    Letter,
    LetterSaga,
    Look,
    Looked,
    Parcel,
    Register,
    Registered,
    Send,
    Sent,
    Size,
    Stop,
    Weighed,
    Write,
)
from wowspec import DomainError, IllegalAccessOwnerAggregateError, IllegalStateError, Spec, given, on
from wowspec.exploration.alterations import alterations
from wowspec.exploration.perturbations import PERTURBATIONS, Deed, Target, perturbations_of
from wowspec.exploration.strength import Tried, strength_of

STOPS = [Stop(town="Rome", hours=24)]


def registering() -> Spec[Any]:
    return given().when(Register(id="p-1", grams=500, stops=STOPS))


def sending() -> Spec[Any]:
    return given(on(Parcel, "p-1", REGISTERED)).using(LetterSaga, Letter, Board).when(Send(id="p-1"))


def halting() -> Spec[Any]:
    return given(on(Parcel, "p-1", REGISTERED)).when(Halt(id="p-1"))


def halted_twice() -> Spec[Any]:
    return given(on(Parcel, "p-1", REGISTERED, Sent(by="van"), Halted())).when(Send(id="p-1"))


def strangers() -> Spec[Any]:
    return given(on(Parcel, "p-1", REGISTERED, Sent(by="van"), owner_id="u-1")).when(Halt(id="p-1"), owner_id="u-2")


def too_heavy() -> Spec[Any]:
    return given().when(Register(id="p-1", grams=9_500))


def tried(spec: Spec[Any]) -> dict[str, Tried]:
    """What was perturbed, by name."""
    strength = strength_of(spec._node.path())
    assert strength.left_out == ""
    return {each.name: each for each in strength.tried}


REGISTER = "Parcel.register → Registered"
WHOLE = Registered(grams=500, label="to p-1", stops=STOPS)

#: Row, name, spec in the making, what a weak one expects, what a strong one does.
ROWS: list[tuple[tuple[Target, str], str, Any, Any, Any]] = [
    (
        (Target.EVENT, "dropped"),
        "Parcel.send → Weighed dropped",
        sending,
        lambda spec: spec.expect_event(Sent),
        lambda spec: spec.expect_event_count(2),
    ),
    (
        (Target.EVENT, "doubled"),
        f"{REGISTER} doubled",
        registering,
        lambda spec: spec.expect_event(Registered),
        lambda spec: spec.expect_event_types(Registered),
    ),
    (
        (Target.EVENT, "exchanged"),
        "Parcel.send → Sent exchanged with Weighed",
        sending,
        lambda spec: spec.expect_event(Sent).expect_event(Weighed).expect_event_count(2),
        lambda spec: spec.expect_event_types(Sent, Weighed),
    ),
    (
        (Target.EVENT, "replaced"),
        "Parcel.send → Weighed replaced by Sent",
        sending,
        lambda spec: spec.expect_event(Sent).expect_event_count(2),
        lambda spec: spec.expect_event(Weighed),
    ),
    (
        (Target.EVENT, "altered"),
        f"{REGISTER}.grams altered",
        registering,
        lambda spec: spec.expect_event(Registered),
        lambda spec: spec.expect_event(Registered, grams=500),
    ),
    (
        (Target.ERROR, "dropped"),
        "Parcel.halt → DomainError[NotSent] dropped",
        halting,
        lambda spec: spec.expect_any_outcome().expect_no_events(),
        lambda spec: spec.expect_error(code="NotSent"),
    ),
    (
        (Target.ERROR, "passed over"),
        "Parcel.halt → DomainError[NotSent] passed over, Halted follows",
        halting,
        lambda spec: spec.expect_any_outcome(),
        lambda spec: spec.expect_any_outcome().expect_no_events(),
    ),
    (
        (Target.ERROR, "replaced"),
        "Parcel.halt → DomainError[NotSent] replaced by one of another class",
        halting,
        lambda spec: spec.expect_error(code="NotSent"),
        lambda spec: spec.expect_error(DomainError),
    ),
    (
        (Target.ERROR, "code altered"),
        "Parcel.halt → DomainError[NotSent].code altered",
        halting,
        lambda spec: spec.expect_error(DomainError),
        lambda spec: spec.expect_error(code="NotSent"),
    ),
    (
        (Target.ERROR, "text altered"),
        "Parcel.send → IllegalStateError.text altered",
        halted_twice,
        lambda spec: spec.expect_error(IllegalStateError),
        lambda spec: spec.expect_error(match="halted"),
    ),
    (
        (Target.CHECK, "skipped"),
        "Halt: check 'owner' skipped",
        strangers,
        lambda spec: spec.expect_any_outcome(),
        lambda spec: spec.expect_error(IllegalAccessOwnerAggregateError),
    ),
    (
        (Target.CHECK, "skipped"),
        "Register: check 'its own validation' skipped",
        too_heavy,
        lambda spec: spec.expect_any_outcome(),
        lambda spec: spec.expect_error(match="too heavy"),
    ),
    (
        (Target.SOURCING, "skipped"),
        "ParcelState.was_sent: Sent not sourced",
        sending,
        lambda spec: spec.expect_events(Sent(by="van"), Weighed(by="scales")),
        lambda spec: spec.expect_state(sent=True),
    ),
    (
        (Target.COMMAND, "dropped"),
        "LetterSaga.on_sent → Write dropped",
        sending,
        lambda spec: spec.expect_events(Sent(by="van"), Weighed(by="scales")),
        lambda spec: spec.expect_commands(Write(id="l-1", text="sent by van")),
    ),
    (
        (Target.COMMAND, "altered"),
        "LetterSaga.on_sent → Write.text altered",
        sending,
        lambda spec: spec.expect_causation("Send > Sent > LetterSaga > Write"),
        lambda spec: spec.expect_state(on(Letter, "l-1"), text="sent by van"),
    ),
    (
        (Target.FUNCTION, "skipped"),
        "Board.on_sent: Sent skipped",
        sending,
        lambda spec: spec.expect_events(Sent(by="van"), Weighed(by="scales")),
        lambda spec: spec.expect_view("p-1", "van"),
    ),
]


@pytest.mark.parametrize(("row", "name", "begin", "weak", "strong"), ROWS, ids=[name for _, name, *_ in ROWS])
def test_a_weak_spec_misses_what_a_strong_one_notices(row, name, begin, weak, strong):
    """The weak one is told an expectation; with it the very same spec notices."""
    missed = tried(weak(begin()))[name]
    noticed = tried(strong(begin()))[name]

    assert (missed.noticed, missed.kind) == ((), f"{row[0]} {row[1]}")
    assert noticed.noticed
    assert noticed.instead == ""
    names = {**vars(wowspec), **vars(parcels), "Decimal": Decimal, "datetime": datetime, "UTC": UTC}
    assert missed.instead.startswith(".expect_")
    mended = eval(f"made{missed.instead}", names, {"made": weak(begin())})
    assert tried(mended)[name].noticed


def test_every_row_of_the_table_has_its_test():
    """A row that nobody tries would be a promise."""
    assert {(row.target, row.name) for row in PERTURBATIONS} == {row for row, *_ in ROWS}


def test_addresses_say_what_caused_what():
    """As those of plans do, down to a field of a command that a saga's command led to."""
    addresses = {each.address for each in tried(sending().expect_succeeded()).values()}

    assert {
        "Send/event[0] dropped",
        "Send/event[1].by altered",
        "Send>Sent>LetterSaga/command[0].text altered",
        "Send>Sent>LetterSaga>Write/event[0].text altered",
        "Send>Sent>Board/on_sent skipped",
        "ParcelState.was_sent: Sent not sourced",
    } <= addresses
    assert "Halt/check[owner] skipped" in {each.address for each in tried(strangers().expect_any_outcome()).values()}
    assert "Halt/error.code altered" in {each.address for each in tried(halting().expect_any_outcome()).values()}


def test_each_field_of_an_event_is_altered_within_its_type():
    """Every sort of field, nested ones too; what its constraints refuse is not tried."""
    found = {
        each.name.removeprefix(REGISTER): each.detail
        for each in tried(registering().expect_succeeded()).values()
        if each.kind == "event altered"
    }

    assert found == {
        ".grams altered": "500 → 501",
        ".label altered": '"to p-1" → "to p-2"',
        ".fragile altered": "False → True",
        ".size altered": "Size.SMALL → Size.LARGE",
        ".price altered": 'Decimal("1.50") → Decimal("2.50")',
        ".due altered": "datetime(2024, 5, 1, 0, 0, tzinfo=UTC) → datetime(2024, 5, 1, 0, 0, 1, tzinfo=UTC)",
        ".note given a value": 'None → "x"',
        ".track altered": '"slow" → "fast"',
        ".stops emptied": '[Stop(town="Rome", hours=24)] → []',
        ".stops last element doubled": (
            '[Stop(town="Rome", hours=24)] → [Stop(town="Rome", hours=24), Stop(town="Rome", hours=24)]'
        ),
        ".stops[0].town altered": '"Rome" → "Romf"',
        ".stops[0].hours altered": "24 → 23",
    }


def test_a_perturbation_that_changes_nothing_is_not_counted():
    """A sourcing function that does nothing may as well be skipped."""
    spec = given(on(Parcel, "p-1", REGISTERED)).when(Look(id="p-1")).expect_event(Looked)

    names = set(tried(spec))

    assert "Parcel.look → Looked dropped" in names
    assert "ParcelState.registered: Registered not sourced" in names
    assert "ParcelState.looked_at: Looked not sourced" not in names


def test_an_asynchronous_function_is_perturbed_like_any_other():
    """Its events and its error come when it was awaited."""
    assert "Parcel.send → Sent dropped" in tried(sending().expect_succeeded())
    assert "Parcel.send → IllegalStateError dropped" in tried(halted_twice().expect_error(IllegalStateError))


def test_a_spec_of_a_saga_or_of_a_projection_is_perturbed_alone():
    """No command is needed; what an aggregate would make of its events is nobody's question there."""
    saga = wowspec.spec(LetterSaga).when_event(Sent(by="van")).expect_commands(wowspec.some(Write))
    view = given(Board, on(Parcel, "p-1", REGISTERED, Sent(by="van"))).expect_view("p-1", "van")

    assert [(name, bool(each.noticed)) for name, each in tried(saga).items()] == [
        ("LetterSaga.on_sent → Write dropped", True),
        ("LetterSaga.on_sent → Write.id altered", False),
        ("LetterSaga.on_sent → Write.text altered", False),
    ]
    [skipped] = strength_of(view._node.settled.path()).tried
    assert (skipped.name, len(skipped.noticed)) == ("Board.on_sent: Sent skipped", 1)


@dataclass(frozen=True)
class Count:
    id: str
    by: int


@dataclass(frozen=True)
class Counted:
    by: int


def count(command: Count, state: int) -> list[Counted]:
    return [Counted(command.by)]


def counted(state: int, event: Counted) -> int:
    return state + event.by


counter = wowspec.decider(count, counted, 0, name="counter", context="post")


def test_plain_functions_are_perturbed_too():
    """A decider over dataclasses; a state without fields is looked at as a whole."""
    found = tried(given(on(counter, "c-1", Counted(1))).when(Count("c-1", 2)).expect_event(Counted))

    assert {name: each.instead for name, each in found.items()} == {
        "counter.count → Counted dropped": "",
        "counter.count → Counted doubled": ".expect_events(Counted(by=2))",
        "counter.count → Counted.by altered": ".expect_event(Counted, by=2)",
        "counter.counted: Counted not sourced": ".expect_state(lambda state: state == 3)",
    }


def test_a_run_without_perturbation_leaves_no_trace():
    """The metadata that all worlds share is as it was."""
    strength_of(sending().expect_state(sent=True)._node.path())

    sending().expect_state(sent=True).expect_commands(Write(id="l-1", text="sent by van"))


# --- alterations ------------------------------------------------------------------------------------------------------


class Mood(StrEnum):
    CALM = "calm"
    WILD = "wild"


class Only(StrEnum):
    ONE = "one"


class Pair(NamedTuple):
    left: int
    right: str


@dataclass(frozen=True)
class Plain:
    count: int
    side: Literal["left", "right"]
    pair: Pair


class Odd:
    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Odd) and other.number == self.number

    __hash__ = None


class Names(RootModel[list[str]]):
    pass


class Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    fixed: Literal["this"] = "this"
    only: Only = Only.ONE
    at_most: int = Field(3, le=3)
    even: Annotated[int, Field(multiple_of=2)] = 4
    code: str = Field("AB-12", pattern=r"^[A-Z]{2}-\d{2}$")
    loud: str = "HI"
    named: int = Field(1, validation_alias=AliasChoices("named", "called"))
    called: int = Field(1, validation_alias="calledIt")

    @field_validator("loud")
    @classmethod
    def shout(cls, value: str) -> str:
        return value.upper()


class Kinds(BaseModel):
    mood: Mood = Mood.CALM
    ratio: float = 0.5
    raw: bytes = b"a"
    day: date = date(2024, 2, 29)
    hour: time = time(23, 59)
    span: timedelta = timedelta(hours=1)
    key: UUID = UUID(int=2)
    left: int | None = 4
    tags: set[str] = {"a"}
    pair: tuple[int, str] = (1, "a")
    rows: dict[str, int] = {"a": 1, "b": 2}
    nobody: list[int] = []
    names: Names = Names(["n"])


def told(message: Any) -> Iterator[tuple[str, str, Any]]:
    return ((each.path, each.how, each.now) for each in alterations(message))


def test_constraints_are_respected():
    """A value that its class refuses is no perturbation; a field with one value is left alone."""
    assert list(told(Strict.model_validate({"calledIt": 1}))) == [
        (".at_most", "altered", 2),
        (".even", "altered", 8),
        (".code", "altered", "AB-13"),
        (".loud", "altered", "HJ"),
        (".named", "altered", 2),
        (".called", "altered", 2),
    ]


def test_every_sort_of_value_has_another_one():
    """Scalars, containers, what may be None."""
    assert list(told(Kinds())) == [
        (".mood", "altered", Mood.WILD),
        (".ratio", "altered", 1.5),
        (".raw", "altered", b"ax"),
        (".day", "altered", date(2024, 3, 1)),
        (".hour", "altered", time(23, 0)),
        (".span", "altered", timedelta(hours=1, seconds=1)),
        (".key", "altered", UUID(int=3)),
        (".left", "altered", 5),
        (".left", "set to None", None),
        (".tags", "emptied", set()),
        (".pair[0]", "altered", 2),
        (".rows", "emptied", {}),
        (".rows", "last element dropped", {"a": 1}),
        (".rows['a']", "altered", 2),
        (".nobody", "given an element", [1]),
        (".names", "emptied", []),
        (".names", "last element doubled", ["n", "n"]),
        (".names[0]", "altered", "o"),
    ]


def test_records_that_pydantic_did_not_make_are_altered_too():
    """Dataclasses, named tuples, plain classes."""
    assert list(told(Plain(1, "left", Pair(1, "a")))) == [
        (".count", "altered", 2),
        (".side", "altered", "right"),
        (".pair.left", "altered", 2),
        (".pair.right", "altered", "b"),
    ]
    assert list(told(Odd(1))) == [(".number", "altered", 2)]


def test_alterations_leave_the_message_as_it_was():
    """Each changes one place of a copy."""
    message = Registered(grams=1, label="a", stops=[Stop(town="Rome", hours=1)], size=Size.LARGE)
    before = message.model_copy(deep=True)

    changed = [each.message for each in alterations(message)]

    assert message == before
    assert all(each != message for each in changed)


class TooEarlyError(DomainError):
    """Takes nothing, and hands on a code and a text."""

    def __init__(self) -> None:
        super().__init__("TooEarly", "come later")


def test_an_error_is_altered_whatever_its_constructor_takes():
    """The code alone, or the text alone; the error that was raised stays as it is."""
    error = TooEarlyError()
    deed = Deed(Target.ERROR, "Halt", "Parcel.halt", value=error, beside=(Halt(id="p-1"),))

    made = {each.row: each.change.instead[0] for each in perturbations_of([deed]) if each.change.instead}

    assert isinstance(made["code altered"], TooEarlyError)
    assert (made["code altered"].error_code, str(made["code altered"])) == ("NotTooEarly", str(error))
    assert isinstance(made["text altered"], TooEarlyError)
    assert (made["text altered"].error_code, str(made["text altered"])) == ("TooEarly", "another text")
    assert (error.error_code, error.error_msg) == ("TooEarly", "come later")
