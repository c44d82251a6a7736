"""The first line of a failure, which is all that a summary shows, and the hints that run and values give together."""

from __future__ import annotations

import re
from uuid import UUID, uuid4

import pytest
from pydantic import BaseModel

from tests.failures.shop import Line, OrderPaid, OrderPlaced, PayOrder, Reservations, ReserveStock
from wowspec import SpecFailure, aggregate_root, allow_create, faults, given, on, on_command, on_sourcing
from wowspec.exploration.determinism import _field
from wowspec.specs.tracking import aside

PAY = 'PayOrder(id="o-1", amount=9)'
PLACED = OrderPlaced(customer="Ann", lines=[Line(product="tea")])


@allow_create
class Put(BaseModel):
    """Begins an account, or goes on with one."""

    id: str
    amount: int


class Added(BaseModel):
    """It has more."""

    amount: int
    receipt: UUID


class State(BaseModel):
    """What it has."""

    id: str
    balance: int = 0

    @on_sourcing
    def put(self, event: Added) -> None:
        """More."""
        self.balance += event.amount


@aggregate_root(context="reasons")
class Account:
    """Something that is begun by its first command."""

    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def put(self, command: Put) -> Added:
        """Add some."""
        return Added(amount=command.amount, receipt=uuid4())


def told(fails):
    """The text of a failure."""
    with aside(), pytest.raises(SpecFailure) as caught:
        fails()
    return str(caught.value)


@pytest.mark.parametrize(
    ("fails", "reason"),
    [
        (
            lambda: given().when(PayOrder(id="o-1", amount=9)).expect_events(OrderPaid(amount=9)),
            "1 event expected, none stored: OrderPaid missing; the command failed with NotFoundError",
        ),
        (
            lambda: given(PLACED, OrderPaid(amount=1)).when(PayOrder(id="o-1", amount=9)).expect_succeeded(),
            f"{PAY} was expected to succeed, but failed with IllegalStateError: the order is paid already",
        ),
        (
            lambda: (
                given(PLACED)
                .with_faults(faults.domain_event_bus.send.hangs())
                .when(PayOrder(id="o-1", amount=9))
                .expect_events(OrderPaid(amount=8))
            ),
            "1 event expected and stored: events[0].amount: 8 ≠ 9; its sender's call ended with DeadlineExceeded",
        ),
        (
            lambda: (
                given(PLACED)
                .with_faults(faults.domain_event_bus.send.hangs())
                .when(PayOrder(id="o-1", amount=9))
                .expect_succeeded()
            ),
            f"{PAY} was expected to succeed, but the deadline of its sender passed: its outcome is unknown",
        ),
        (
            lambda: (
                given(Reservations)
                .with_faults(faults.command_bus.send.fails())
                .when_event(PLACED)
                .expect_commands(ReserveStock(quantity=1))
            ),
            "1 command expected, none sent: ReserveStock missing; the function failed with InjectedFault",
        ),
    ],
    ids=["missing", "success", "unknown", "unknown success", "a saga"],
)
def test_the_reason_names_the_error(fails, reason):
    """Where a command failed, and nothing of the spec says that it should, its first line does."""
    assert told(fails).partition("\n")[0] == reason


def test_a_command_that_begins_another_instance():
    """What is given is of an instance whose id is nearly the command's."""
    given_before = Added(amount=20, receipt=UUID(int=1))
    text = told(lambda: given(on(Account, "a-1", given_before)).when(Put(id="a1", amount=10)).expect_state(balance=30))

    assert "hint: Put began account(a1), of which nothing is given: what is given is of account(a-1)" in text
    right = told(lambda: given(on(Account, "a-1", given_before)).when(Put(id="a-1", amount=10)).expect_state(balance=3))
    assert "began" not in right


def test_one_hint_for_an_id_that_is_made_anew():
    """It says which field, why, and what to write, with the other fields as they are expected."""
    wanted = Added(amount=10, receipt=UUID(int=1))
    text = told(lambda: given().when(Put(id="a-1", amount=10)).expect_events(wanted))

    assert re.findall(r"hint: (.*)", text) == [
        "receipt: a new id in each run: let an injected service make it, or write some(Added, amount=10)"
    ]


@pytest.mark.parametrize(
    ("one", "other", "field"),
    [
        (
            'v1 Put {"amount":20,"receipt":"a1"}',
            'v1 Put {"amount":20,"receipt":"b1"}',
            ": receipt is another each time",
        ),
        ('v1 Put {"amount":20}', 'v1 Put {"amount":21}', ": amount is another each time"),
        ('v1 {"lines":[{"n":1}]}', 'v1 {"lines":[{"n":2}]}', ": n is another each time"),
        ("a-1 snapshot.load ok", "nothing more", ""),
    ],
)
def test_the_field_that_is_another_each_time(one, other, field):
    """Of two lines with JSON the first field that differs."""
    assert _field(one, other) == field
