"""Givens that no sequence of commands was found to produce: what is reached, what is not, and what is told of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from tests.generation.domain import (
    Booked,
    Booking,
    Count,
    Counted,
    Counter,
    LineAdded,
    Numbers,
    Order,
    OrderLine,
    Paid,
    PaidIn,
    PaidOut,
    Pay,
    Place,
    Placed,
    Purse,
    Settled,
    Ship,
    Shipped,
    Tab,
    TabOpened,
)
from tests.plugin.test_entry import run_pytest
from wowspec import (
    AggregateDeleted,
    AggregateId,
    AggregateRecovered,
    Clock,
    OwnerId,
    SpecError,
    advance,
    aggregate_root,
    allow_create,
    at,
    create_aggregate,
    on,
    on_command,
    on_sourcing,
    spec,
    stream,
)
from wowspec.generation.seeding import Envelope, Seeds, commands_for
from wowspec.generation.unreachable import Judged, Searcher
from wowspec.specs import injecting, tracking

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long


def judged(base, limit=200):
    """What is found of the histories of a spec; a command follows, which is not sent."""
    return list(Searcher(limit).judge(base.when(Count(by=1))._node.path()))


def unreached(base, limit=200):
    """The one history that is not reached."""
    [found] = [one.unreached for one in judged(base, limit) if one.unreached is not None]
    return found


@pytest.fixture(autouse=True)
def aside():
    """What these tests make is no spec of theirs."""
    injecting.want_kept()
    with tracking.aside():
        yield
    injecting.no_longer_want_kept()


LINES = [OrderLine(product_id="p-1", quantity=3)]


# --- a domain that asks for the right values --------------------------------------------------------------------------


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Where(BaseModel):
    street: Annotated[str, Field(min_length=1)]
    floor: int = 0


@create_aggregate
class Rent(BaseModel):
    room: Annotated[str, AggregateId()]
    tenant: Annotated[str, OwnerId()]
    where: Where
    size: Size
    days: Annotated[int, Field(gt=0)]


class Extend(BaseModel):
    room: Annotated[str, AggregateId()]
    by: Annotated[int, Field(gt=0)]
    until: int


class Move(BaseModel):
    room: Annotated[str, AggregateId()]
    to: Where


class Sign(BaseModel):
    room: Annotated[str, AggregateId()]
    secret: str
    kind: Literal["paper", "wax"]


class Forbid(BaseModel):
    room: Annotated[str, AggregateId()]


class Rented(BaseModel):
    street: str
    floor: int
    size: Size
    days: int


class Extended(BaseModel):
    by: int


class Moved(BaseModel):
    street: str


class Signed(BaseModel):
    pass


class Torn(BaseModel):
    pass


class RoomState(BaseModel):
    id: str
    days: int = 0

    @on_sourcing
    def rented(self, event: Rented) -> None:
        self.days = event.days

    @on_sourcing
    def extended(self, event: Extended) -> None:
        self.days += event.by

    @on_sourcing
    def moved(self, event: Moved) -> None:
        return None

    @on_sourcing
    def torn(self, event: Torn) -> None:
        return None

    @property
    def due(self) -> int:
        return self.days * 7


@aggregate_root(context="searched")
class Room:
    def __init__(self, state: RoomState) -> None:
        self.state = state

    @on_command
    def rent(self, command: Rent) -> Rented:
        return Rented(street=command.where.street, floor=command.where.floor, size=command.size, days=command.days)

    @on_command
    def extend(self, command: Extend) -> Extended:
        if command.until != self.state.due:
            raise ValueError("until is what is due")
        return Extended(by=command.by)

    @on_command
    def move(self, command: Move):
        return Moved(street=command.to.street)

    @on_command
    def sign(self, command: Sign) -> Signed:
        if command.secret != "mellon" or command.kind != "wax":
            raise ValueError("not so")
        return Signed()

    @on_command
    def forbid(self, command: Forbid) -> Torn:
        raise ValueError("never")


RENTED = Rented(street="Main St", floor=2, size=Size.LARGE, days=5)


# --- what is reached --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "history"),
    [
        pytest.param(Order, [on(Order, "o-1", Placed(lines=LINES))], id="one event"),
        pytest.param(
            Order,
            [on(Order, "o-1", Placed(lines=LINES), Paid(amount=1), stream(Paid(amount=2), Settled()), Shipped())],
            id="several events in one version",
        ),
        pytest.param(
            Order,
            [on(Order, "o-1", Placed(lines=LINES), LineAdded(line=OrderLine(product_id="p-1")))],
            id="an event whose own values are refused",
        ),
        pytest.param(
            Order, [on(Order, "o-1", Placed(lines=LINES)), advance(days=1), on(Order, "o-1", Paid(amount=1))], id="time"
        ),
        pytest.param(Counter, [on(Counter, "c-1", Counted(2), Counted(3))], id="dataclasses without ids, and a tenant"),
        pytest.param(Tab, [on(Tab, "tab-07", TabOpened())], id="an id with a pattern"),
        pytest.param(Purse, [on(Purse, "p-1", PaidIn(amount=5), PaidOut(amount=7))], id="a decider"),
        pytest.param(
            Counter, [on(Counter, "c-1", Counted(1), AggregateDeleted(), AggregateRecovered())], id="built-in commands"
        ),
        pytest.param(Room, [on(Room, "r-1", RENTED, owner_id="u-1")], id="values from within, and an owner"),
        pytest.param(Room, [on(Room, "r-1", RENTED, Extended(by=2))], id="a value that the state computes"),
        pytest.param(Room, [on(Room, "r-1", RENTED, Moved(street="Low St"))], id="a function that says nothing"),
        pytest.param(Room, [on(Room, "r-1", RENTED, Signed())], id="a value from the function's code"),
    ],
)
def test_what_commands_can_make_is_not_listed(subject, history):
    """Field values come from the events, from the state, from the code; ids, owners and tenants from the instance."""
    [found] = judged(spec(subject).given(*history))

    assert found.unreached is None
    assert found.assumed == ()


def test_each_instance_is_judged_alone():
    """What is given of others stays as it is."""
    base = spec(Order).given(
        on(Order, "o-1", Placed(lines=LINES)), on(Order, "o-2", Shipped()), on(Counter, "c-1", Counted(1))
    )

    found = judged(base)

    assert [one.unreached["aggregate_id"] for one in found if one.unreached] == ["o-2"]
    assert len(found) == 3


# --- what is not ------------------------------------------------------------------------------------------------------


def test_the_first_event_that_was_not_reached_is_told():
    """With how far it came, the place of its `given`, and what became of the commands."""
    base = spec(Order).given(on(Order, "o-1", Placed(lines=LINES), Paid(amount=1))).given(on(Order, "o-1", Shipped()))

    found = unreached(base)

    assert found["place"].endswith(f"test_unreachable.py:{base._node.place.line}")
    assert found["given"] == ["Placed", "Paid", "Shipped"]
    assert (found["aggregate"], found["aggregate_id"], found["version"], found["events"]) == (
        "Order",
        "o-1",
        3,
        "Shipped",
    )
    assert found["tried"][0] == "Ship → ValueError: not paid, or gone"
    assert found["sent"] <= found["limit"] == 200
    assert found["assumed"] == []


def test_versions_count():
    """What one command stores together stands in one version."""
    found = unreached(spec(Order).given(on(Order, "o-1", Placed(lines=LINES), Paid(amount=3), Settled())))

    assert (found["version"], found["events"]) == (3, "Settled")
    assert unreached(spec(Order).given(on(Order, "o-1", Placed(lines=LINES), stream(Settled(), Paid(amount=3)))))


def test_a_command_that_stores_more_is_told_so():
    """It was near."""
    found = unreached(spec(Order).given(on(Order, "o-1", Placed(lines=[OrderLine(product_id="p-1")]), Paid(amount=1))))

    assert "Pay → stored Paid, Settled in one version" in found["tried"]


def test_the_first_event_needs_a_command_that_creates():
    """Others are refused, and tried once."""
    found = unreached(spec(Room).given(on(Room, "r-1", Extended(by=1))))

    assert found["version"] == 1
    assert found["tried"][0].startswith("Extend → NotFoundError: room(r-1) does not exist")


def test_the_number_of_commands_is_bounded():
    """And said."""
    base = spec(Room).given(on(Room, "r-1", RENTED, Extended(by=1), Torn()))

    found = unreached(base, limit=7)

    assert found["limit"] == found["sent"] == 7
    assert unreached(base)["tried"][0] == "Forbid → ValueError: never"


def test_nothing_depends_on_the_run():
    """The same search, the same words."""
    base = spec(Room).given(on(Room, "r-1", RENTED, Torn()))

    assert unreached(base) == unreached(base)


def test_an_event_that_nobody_claims_is_tried_with_every_command():
    """It may come from a function that says something else."""
    found = unreached(spec(Order).given(on(Order, "o-1", Placed(lines=LINES), Signal())))

    assert {text.partition(" ")[0] for text in found["tried"]} >= {"AddLine", "Pay", "Ship", "Close"}


class Signal(BaseModel):
    """Claimed by nobody."""


# --- what stands around it --------------------------------------------------------------------------------------------


def test_services_are_there_and_stay_as_they_are():
    """Commands of the search get copies."""
    numbers = Numbers()

    [found] = judged(spec(Booking).inject(numbers).given(on(Booking, "b-1", Booked(number=4), Booked(number=9))))

    assert found.unreached is None
    assert numbers.last == 0


def test_where_a_service_is_missing_the_event_is_believed():
    """What comes after it is judged all the same."""
    [found] = judged(spec(Booking).given(on(Booking, "b-1", Booked(number=4))))

    assert found.unreached is None
    assert found.assumed == (
        "version 1, Booked: nothing supplies parameter 'numbers' of Booking.book (asked for by Numbers)",
    )


def test_what_was_believed_is_told_with_what_was_not_reached():
    """Since other values of it might have led on."""
    found = unreached(spec(Booking).given(on(Booking, "b-1", Booked(number=4), Signal())))

    assert found["version"] == 2
    assert found["assumed"][0].startswith("version 1, Booked: nothing supplies")


@pytest.mark.parametrize("loose", [False, True], ids=["no other function", "a function that says nothing"])
def test_a_missing_service_in_the_midst_is_no_reason_to_list(loose):
    """Whatever else might store the event: what was likely could not be tried."""

    @allow_create
    class PutIn(BaseModel):
        id: str
        amount: int

    class ChargeIt(BaseModel):
        id: str
        amount: int

    class Shake(BaseModel):
        id: str

    class Put(BaseModel):
        amount: int

    class Charged(BaseModel):
        amount: int

    class Till:
        def __init__(self, id: str) -> None:
            self.id = id
            self.held = 0

        @on_command
        def put(self, command: PutIn) -> Put:
            return Put(amount=command.amount)

        @on_command
        def charge(self, command: ChargeIt, numbers: Numbers) -> Charged:
            return Charged(amount=command.amount)

        @on_sourcing
        def was_put(self, event: Put) -> None:
            self.held += event.amount

    class LooseTill(Till):
        @on_command
        def shake(self, command: Shake):
            raise ValueError("nothing falls out")

    root = aggregate_root(context="searched")(LooseTill if loose else Till)
    puts = [Put(amount=amount) for amount in (1, 2, 3)]

    [found] = judged(spec(root).given(on(root, "t-1", *puts, Charged(amount=1), Put(amount=4))), limit=40)

    assert found.unreached is None
    assert found.assumed[0].startswith("version 4, Charged: nothing supplies parameter 'numbers' of")


def test_commands_among_the_items_are_sent():
    """They are no bare events, and what they store is there."""
    base = spec(Order).given(on(Order, "o-1", Placed(lines=LINES), Pay(order="o-1", amount=3), Shipped()))

    [found] = judged(base)

    assert found.unreached is None
    assert judged(spec(Order).given(Place(order="o-1", lines=LINES, customer_id="u-1"))) == []


def test_what_is_given_after_a_command_is_judged_from_there():
    """In the world that the command left behind."""
    base = (
        spec(Order)
        .given(on(Order, "o-1", Placed(lines=LINES)))
        .when(Pay(order="o-1", amount=3))
        .expect_event_count(2)
        .given(on(Order, "o-1", Shipped()))
        .when(Ship(order="o-1"))
        .expect_error(ValueError)
        .given(on(Order, "o-1", Shipped()))
    )

    found = judged(base)

    assert [one.unreached and one.unreached["version"] for one in found] == [None, None, 4]


def test_time_passes_as_given():
    """A command finds the clock where the spec put it."""
    moment = datetime(2024, 5, 1, tzinfo=UTC)
    base = spec(Hour).given(at(moment), on(Hour, "h-1", Opened()), advance(hours=2), on(Hour, "h-1", Shut()))
    early = spec(Hour).given(at(moment), on(Hour, "h-1", Opened()), advance(minutes=2), on(Hour, "h-1", Shut()))

    assert judged(base)[0].unreached is None
    assert unreached(early)["tried"][0] == "ShutHour → ValueError: too early"


@allow_create
class OpenHour(BaseModel):
    id: str


class ShutHour(BaseModel):
    id: str


class Opened(BaseModel):
    pass


class Shut(BaseModel):
    pass


@aggregate_root(context="searched")
@dataclass
class Hour:
    id: str
    opened: datetime | None = None

    @on_command
    def open(self, command: OpenHour) -> Opened:
        return Opened()

    @on_command
    def shut(self, command: ShutHour, clock: Clock) -> Shut:
        if clock.now().hour < 2:
            raise ValueError("too early")
        return Shut()


def test_equal_histories_are_searched_once(monkeypatch):
    """Of the same instance, given at the same place."""
    searched = []
    monkeypatch.setattr(
        "wowspec.generation.unreachable._Search.judge", lambda self: searched.append(self) or Judged(None)
    )
    searcher = Searcher()
    for day in (1, 1, 2):
        base = spec(Room).given(on(Room, "r-1", RENTED.model_copy(update={"days": day})))
        list(searcher.judge(base.when(Count(by=1))._node.path()))

    assert len(searched) == 2


def test_services_that_were_used_are_refused():
    """They would not be as the history found them."""
    injecting.no_longer_want_kept()
    base = spec(Booking).inject(Numbers()).given(on(Booking, "b-1", Booked(number=4)))
    injecting.want_kept()

    with pytest.raises(SpecError, match="is to run again"):
        judged(base)


# --- values -----------------------------------------------------------------------------------------------------------


def commands(cls, *groups):
    """The first commands of a class for one instance."""
    return list(islice(commands_for(cls, Seeds(groups), Envelope("r-1", "(0)", "", "")), 40))


class Tell(BaseModel):
    id: str
    amounts: list[int]
    note: str = "none"
    by: Annotated[str | None, OwnerId()] = None


def test_values_of_the_event_come_first_then_the_state_then_samples():
    """By name, then by type; what may be left out is left out before values of other names are tried."""
    made = commands(Extend, [Extended(by=3), Counted(8)], [RENTED])

    assert (made[0].room, made[0].by, made[0].until) == ("r-1", 3, 3)
    assert {8, 5, 2, 11} <= {one.until for one in made}


def test_several_events_fill_one_list():
    """Each gives an element."""
    made = commands(Tell, [Counted(3), Counted(4)])

    assert made[0] == Tell(id="r-1", amounts=[3, 4])
    assert Tell(id="r-1", amounts=[3]) in made


def test_an_owner_is_a_field_s_first_value():
    """Where the given stream names one."""
    [first, *_] = commands_for(Rent, Seeds([[RENTED]]), Envelope("r-1", "(0)", "u-7", ""))

    assert (first.tenant, first.where, first.size, first.days) == (
        "u-7",
        Where(street="Main St", floor=2),
        Size.LARGE,
        5,
    )


# --- the option -------------------------------------------------------------------------------------------------------

SUITE = """
import pytest
from wowspec import given, on, spec
from tests.generation.domain import Counted, Count, Counter, OrderLine, Order, Paid, Pay, Placed, Shipped

LINES = [OrderLine(product_id="p-1", quantity=3)]


@pytest.mark.parametrize("amount", [1, 2])
def test_shipped_unpaid(amount):
    given(on(Order, "o-1", Placed(lines=LINES), Shipped())).when(Pay(order="o-1", amount=amount)).expect_event(Paid)


def test_fine():
    spec(Counter).given(Counted(2)).when(Count(by=1), aggregate_id="c-1").expect_events(Counted(1))


@pytest.mark.wowspec_no_sweep
def test_left_out():
    given(on(Order, "o-1", Shipped())).when(Pay(order="o-1", amount=1)).expect_any_outcome()
"""


@pytest.mark.parametrize("how", [[], ["-n", "2"]], ids=["alone", "spread"])
def test_the_option_lists_what_was_not_reached(tmp_path, how):
    """With place, aggregate, first event, commands and tests; a file has the same."""
    (tmp_path / "test_it.py").write_text(SUITE)

    done = run_pytest(tmp_path, "--wowspec-unreachable", "--wowspec-unreachable-json=found.json", *how)

    assert done.returncode == 0
    listed = done.stdout.partition("wowspec: givens that commands were not found to produce")[2].splitlines()[1:9]
    assert listed[0].startswith("test_it.py:11: given(Placed, Shipped) of Order: not reached within 200 commands (")
    assert listed[1].startswith(
        "  no command was found that stores Shipped as version 2; commands tried: Ship → ValueError"
    )
    assert listed[2:] == [
        "  in test_it.py::test_shipped_unpaid[1], test_it.py::test_shipped_unpaid[2]",
        "",
        "3 histories judged, 1 not reached within 200 commands; what is not found may exist all the same",
        "",
        "not looked at:",
        "  it is marked wowspec_no_sweep, in test_it.py::test_left_out",
    ]
    document = json.loads((tmp_path / "found.json").read_text())
    assert (document["schema"], document["limit"]) == (1, 200)
    assert [len(test["unreached"]) for test in document["tests"]] == [0, 0, 1, 1]


def test_the_option_takes_a_number(tmp_path):
    """And says what it takes for one."""
    (tmp_path / "test_it.py").write_text(SUITE)

    assert "not reached within 3 commands (3 sent)" in run_pytest(tmp_path, "--wowspec-unreachable=3").stdout
    refused = run_pytest(tmp_path, "--wowspec-unreachable", "test_it.py")
    assert refused.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--wowspec-unreachable after the paths" in refused.stderr
