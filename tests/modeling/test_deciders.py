"""Deciders: plain functions as an aggregate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from wowspec import DefinitionError, SpecError, create_aggregate, decider, given
from wowspec.modeling.aggregates import aggregate_metadata, is_aggregate
from wowspec.modeling.claims import aggregate_of_command, aggregate_of_event
from wowspec.modeling.identity import AggregateRef, FunctionInfo, FunctionKind, NamedAggregate


@dataclass(frozen=True)
class Deposit:
    """A command."""

    id: str
    amount: int


@create_aggregate
@dataclass(frozen=True)
class Start:
    """A command that creates."""

    id: str


@dataclass(frozen=True)
class Started:
    """An event."""


@dataclass(frozen=True)
class Deposited:
    """An event."""

    amount: int


@dataclass(frozen=True)
class Balance:
    """The state."""

    total: int = 0
    history: tuple[int, ...] = ()


class Limits:
    """A service."""

    most = 100


def decide(command: Start | Deposit, state: Balance, limits: Limits | None = None) -> list[Started | Deposited]:
    """What a command means."""
    if isinstance(command, Start):
        return [Started()]
    if command.amount == 0:
        return []
    if limits is not None and command.amount > limits.most:
        raise ValueError("too much")
    return [Deposited(command.amount)]


def evolve(state: Balance, event: Started | Deposited) -> Balance:
    """What an event changes."""
    if isinstance(event, Started):
        return state
    return replace(state, total=state.total + event.amount, history=(*state.history, event.amount))


wallet = decider(decide, evolve, Balance(), name="wallet", context="bank")


def test_metadata():
    """Commands, events and the state are read from the annotations."""
    metadata = aggregate_metadata(wallet)

    assert is_aggregate(wallet)
    assert metadata.named == NamedAggregate("bank", "wallet")
    assert list(metadata.functions) == [Start, Deposit]
    assert metadata.functions[Start].info == FunctionInfo(FunctionKind.COMMAND, "bank", "wallet", "decide")
    assert metadata.events == (Started, Deposited)
    assert metadata.state_class is Balance
    assert aggregate_of_command(Deposit) is wallet
    assert aggregate_of_event(Deposited) is wallet


def test_a_decider_in_a_spec():
    """It is specified as any aggregate is; what it decides is stored, what evolves is its state."""
    (
        given(Started(), Deposited(2))
        .when(Deposit("w-1", 3))
        .expect_events(Deposited(3))
        .expect_state(total=5, history=(2, 3))
    )


def test_an_empty_decision_is_nothing():
    """Where a command function's empty list is refused, a decider's means that nothing happened."""
    given(Started()).when(Deposit("w-1", 0)).expect_no_events()


def test_services_for_a_decider():
    """Further parameters are injected."""
    given(Started()).inject(Limits()).when(Deposit("w-1", 101)).expect_error(ValueError, match="too much")
    given(Started()).when(Deposit("w-1", 101)).expect_events(Deposited(101))


def test_each_instance_has_its_own_initial_state():
    """A mutable initial state is copied."""

    @create_aggregate
    @dataclass
    class Add:
        id: str

    @dataclass
    class Added:
        n: int = 1

    def add(command: Add, state: Any) -> Iterator[Added]:
        yield Added()

    def remember(state: dict[str, int], event: Added) -> dict[str, int]:
        state["n"] = state.get("n", 0) + event.n
        return state

    initial: dict[str, int] = {}
    root = decider(add, remember, initial, name="sums")
    given().when(Add("s-1")).expect_events(Added())

    create = aggregate_metadata(root).state.create
    first, second = (create(AggregateRef("default", "sums", id_)) for id_ in ("s-1", "s-2"))
    assert first == second == initial
    assert first is not second
    assert initial == {}


def test_evolving_to_nothing():
    """A forgotten `return state` is told."""

    @create_aggregate
    @dataclass
    class Go:
        id: str

    @dataclass
    class Gone:
        pass

    def go(command: Go, state: Balance) -> Gone:
        return Gone()

    def forget(state: Balance, event: Gone) -> Balance:
        return None  # type: ignore[return-value]

    decider(go, forget, Balance(), name="forgetful")
    with pytest.raises(SpecError, match=r"forget of the decider forgetful gave None for Gone(.|\n)*return state"):
        given().when(Go("g-1")).expect_events(Gone())


def test_a_name_that_comes_later():
    """The definition is completed at its first use."""

    def later(command: Later, state: int) -> Happened:
        return Happened()

    def step(state: int, event: Happened) -> int:
        return state + 1

    root = decider(later, step, 0, name="later")

    @create_aggregate
    @dataclass
    class Later:
        id: str

    @dataclass
    class Happened:
        pass

    assert aggregate_of_command(Later) is root
    given().when(Later("l-1")).expect_events(Happened())


def test_a_name_that_never_comes():
    """It is refused at the first use, with the name."""

    def never(command: Never, state: int) -> None: ...  # noqa: F821

    def step(state: int, event: Never) -> int: ...  # noqa: F821

    root = decider(never, step, 0, name="never")
    with pytest.raises(DefinitionError, match=r"decider cannot be resolved: name 'Never'(.|\n)*before the decider"):
        aggregate_metadata(root)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda command: None, r"takes 1 parameters(.|\n)*decide\(command, state\)"),
        (lambda command, state: None, r"parameter 'command' of <lambda> has no annotation(.|\n)*Deposit \| Withdraw"),
    ],
)
def test_what_is_no_decider(function, text):
    """Both functions need their parameters, and these their types."""
    with pytest.raises(DefinitionError, match=text):
        decider(function, evolve, Balance(), name="wrong")


def test_an_event_without_a_type():
    """The events are read from `evolve`."""

    @dataclass
    class Command:
        id: str

    def choose(command: Command, state: int) -> None: ...

    with pytest.raises(DefinitionError, match=r"parameter 'event' of <lambda> has no annotation"):
        decider(choose, lambda state, event: state, 0, name="wrong")


def test_an_event_without_json():
    """It is refused when the decider is made."""

    @dataclass
    class Command:
        id: str

    @dataclass
    class Held:
        lines: Iterator[str]

    def choose(command: Command, state: int) -> Held: ...

    def step(state: int, event: Held) -> int: ...

    with pytest.raises(DefinitionError, match=r"Held\.lines is a .*Iterator.*, which has no JSON"):
        decider(choose, step, 0, name="wrong")


@pytest.mark.parametrize("name", ["", " ", None])
def test_the_name_of_a_decider(name):
    """It is a text."""
    with pytest.raises(DefinitionError, match=r"a decider was given the name"):
        decider(decide, evolve, Balance(), name=name)


def swapped_decide(balance: Balance, command: Deposit) -> list[Deposited]:
    """Takes its parameters the wrong way round."""
    return [Deposited(command.amount)]


def swapped_evolve(event: Deposited, balance: Balance) -> Balance:
    """Takes its parameters the wrong way round."""
    return balance


def straight_decide(command: Deposit, balance: Balance) -> list[Deposited]:
    """Takes its parameters in order."""
    return [Deposited(command.amount)]


def straight_evolve(balance: Balance, event: Deposited) -> Balance:
    """Takes its parameters in order."""
    return balance


def counting_evolve(event: Deposited, count: int) -> int:
    """Takes its parameters the wrong way round, of which one is of Python's own."""
    return count + 1


@pytest.mark.parametrize(
    ("decide", "evolve", "initial", "what", "why", "instead"),
    [
        (
            swapped_decide,
            straight_evolve,
            Balance(),
            "swapped_decide of the decider purse takes (balance, command)",
            "a decider calls it as decide(command, state), and its state is of class Balance",
            "def swapped_decide(command: Deposit, balance: Balance): ...",
        ),
        (
            straight_decide,
            swapped_evolve,
            Balance(),
            "swapped_evolve of the decider purse takes (event, balance)",
            "a decider calls it as evolve(state, event), and its state is of class Balance",
            "def swapped_evolve(balance: Balance, event: Deposited): ...",
        ),
        (
            lambda command, count: [],
            counting_evolve,
            0,
            "counting_evolve of the decider purse takes (event, count)",
            "a decider calls it as evolve(state, event), and its state is of class int",
            "def counting_evolve(count: int, event: Deposited): ...",
        ),
    ],
    ids=["decide", "evolve", "builtin"],
)
def test_swapped_parameters(decide, evolve, initial, what, why, instead):
    """A state where a message belongs is told to stand on the other side."""
    with pytest.raises(DefinitionError) as caught:
        decider(decide, evolve, initial, name="purse")

    assert str(caught.value) == f"{what}\n  why: {why}\n  instead: {instead}"
