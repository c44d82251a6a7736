"""State machines: one rule, laws as invariants, a model beside; a failure prints a test that fails when it is run."""

from __future__ import annotations

import re
import textwrap

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import run_state_machine_as_test
from pydantic import BaseModel, Field

from wowspec import (
    SpecError,
    SpecFailure,
    aggregate_root,
    allow_create,
    explore_faults,
    on_command,
    on_event,
    on_sourcing,
    projection,
    spec,
    state_machine,
)

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

QUIET = settings(database=None, max_examples=60, stateful_step_count=8, deadline=None, derandomize=True)


@allow_create
class Deposit(BaseModel):
    id: str
    amount: int = Field(ge=1, le=9)


@allow_create
class Withdraw(BaseModel):
    id: str
    amount: int = Field(ge=1, le=9)


class Deposited(BaseModel):
    amount: int


class Withdrawn(BaseModel):
    amount: int


class AccountState(BaseModel):
    id: str
    balance: int = 0

    @on_sourcing
    def deposited(self, event: Deposited) -> None:
        self.balance += event.amount

    @on_sourcing
    def withdrawn(self, event: Withdrawn) -> None:
        self.balance -= event.amount


@aggregate_root(context="bank")
class Account:
    """Defect: it lets one unit too many go."""

    def __init__(self, state: AccountState) -> None:
        self.state = state

    @on_command
    async def deposit(self, command: Deposit) -> Deposited:
        return Deposited(amount=command.amount)

    @on_command
    async def withdraw(self, command: Withdraw) -> Withdrawn:
        if command.amount > self.state.balance + 1:
            raise ValueError("not so much")
        return Withdrawn(amount=command.amount)


class NeverBelowZero:
    """The model of an account."""

    def deposit(self, command, run):
        assert run.state.balance >= 0

    withdraw = deposit


class Total(dict):
    """What a projection keeps, as a service."""


@projection
class Sums:
    """Defect: it counts twice what comes twice."""

    @on_event
    def deposited(self, event: Deposited, total: Total) -> None:
        total["all"] = total.get("all", 0) + event.amount


def failure_of(machine, said=QUIET):
    """What a machine fails with, and the test that it prints."""
    with pytest.raises(Exception) as caught:
        run_state_machine_as_test(machine, settings=said)
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    found = re.search(r"paste it as a test:\n((?:    .*\n?)+)", text)
    assert found is not None, text
    return caught.value, textwrap.dedent(found[1])


def pasted(code):
    """The test that a failure printed, as if it had been pasted into a file of its own."""
    names = {}
    exec(code, names)
    return next(value for name, value in names.items() if name.startswith("test_"))


def test_a_defect_is_found_and_its_test_fails():
    """A model that disagrees fails the machine; the printed test, run as it is, fails likewise."""
    machine = state_machine(Account, commands=[Deposit, Withdraw], faults=False, model=NeverBelowZero)

    error, code = failure_of(machine)

    assert isinstance(error, AssertionError)
    assert code.count(".when(") == 1
    assert "model.withdraw(Withdraw(" in code
    with pytest.raises(AssertionError):
        pasted(code)()


def test_faults_are_arguments_of_the_rule():
    """A projection that counts twice is found by a doubled delivery; the printed test names just that fault."""
    machine = state_machine(
        spec(Account).using(Sums).inject_factory(total=Total), commands=[Deposit], profile="kafka", kinds=["duplicate"]
    )

    error, code = failure_of(machine)

    assert isinstance(error, SpecFailure)
    assert "convergence" in str(error)
    assert code.split("\n\n")[1].startswith("@explore_faults.example('Deposit/domain_event_bus.send@1=duplicate')")


def test_a_correct_aggregate_passes():
    """Nothing is found where nothing is wrong, under every fault, with coroutines as handlers."""
    run_state_machine_as_test(state_machine(Account, commands=[Deposit, Withdraw], max_faults=2), settings=QUIET)


TestAccount = state_machine(Account, commands=[Deposit, Withdraw], faults=True, max_steps=4).TestCase
TestAccount.settings = settings(TestAccount.settings, max_examples=10)


def test_a_model_must_take_every_command():
    """A model without a method for a command is refused at once."""
    with pytest.raises(SpecError, match="no method for Deposit"):
        state_machine(Account, commands=[Deposit], model=object)


def test_a_model_may_have_one_method_for_all():
    """`apply` takes what has no method of its own."""
    seen = []

    class Any:
        def apply(self, command, run):
            seen.append(type(command))

    run_state_machine_as_test(
        state_machine(Account, commands=[Deposit], model=Any), settings=settings(QUIET, max_examples=3)
    )
    assert set(seen) == {Deposit}


def test_it_has_one_rule():
    """Faults are arguments of one rule, since each further rule costs every step."""
    machine = state_machine(Account)

    assert [each.function.__name__ for each in machine.setup_state().rules] == ["send"]


def test_values_can_be_said():
    """A strategy of a field goes to the commands; a strategy may draw whole commands."""
    amounts = set()

    class Keeps:
        def apply(self, command, run):
            amounts.add(command.amount)

    few = settings(QUIET, max_examples=5)
    run_state_machine_as_test(state_machine(Account, model=Keeps, amount=st.just(7)), settings=few)
    assert amounts == {7}
    drawn = st.builds(Deposit, id=st.just("1"), amount=st.just(3))
    run_state_machine_as_test(state_machine(Account, model=Keeps, commands=drawn), settings=few)
    assert amounts == {3, 7}


def test_what_is_no_aggregate_is_refused():
    """A machine is of an aggregate."""
    with pytest.raises(SpecError, match="state_machine"):
        state_machine(Sums)
    with pytest.raises(SpecError, match="draws whole commands"):
        state_machine(Account, commands=st.nothing(), amount=st.just(1))


assert explore_faults  # what is printed names it
