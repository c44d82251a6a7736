"""`@failure_orderings`: plans are drawn; what breaks is shrunk to the fewest faults, and told to be kept."""

from __future__ import annotations

import re

import hypothesis
import pytest
from hypothesis import Phase, example, seed, settings, strategies as st
from hypothesis.statistics import collector
from pydantic import BaseModel

from wowspec import (
    InjectedFault,
    PlanNotReached,
    SpecError,
    SpecFailure,
    aggregate_root,
    allow_create,
    failure_orderings,
    on_command,
    on_sourcing,
    spec,
)
from wowspec.exploration.collected import Demands, demand, demand_no_more
from wowspec.faults.plans import Plan
from wowspec.modeling.decorators import on_event
from wowspec.modeling.processors import projection

from .shop import Backup, Bank, Careful, Careless, Paid, Pay, PayOnce, Ship

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

QUIET = settings(database=None, max_examples=150, deadline=None, derandomize=True)
_PLAN = re.compile(r"^  plan +(.*)$", re.MULTILINE)


def text_of(error):
    """An error's text with its notes."""
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


def plan_of(error):
    """The plan that a failure tells of."""
    return Plan.parse(_PLAN.search(text_of(error))[1])


def pays(spec, command=None):
    """A payment, with both banks at hand."""
    return spec.inject(bank=Bank(), backup=Backup()).when(command or Pay(id="o-1", amount=3))


def taken(run):
    """What the banks took, together."""
    services = run.session.world.services
    return sum(sum(services.by_name(name).taken.values()) for name in ("bank", "backup"))


def careless(**options):
    """The property that two faults break."""

    @failure_orderings(Careless, **{"points": ["service", "event_store"], "kinds": ["fail", "timeout"], **options})
    def paid_means_taken(ordering):
        run = pays(ordering).run()
        assert not run.stored.count(Paid) or taken(run)

    return paid_means_taken


@pytest.mark.parametrize("number", range(40))
def test_two_faults_shrink_to_exactly_two(number):
    """A defect that needs two faults is found, and shrunk to these two, whatever the seed."""
    with pytest.raises(AssertionError) as caught:
        seed(number)(settings(QUIET, max_examples=400)(careless(kinds=["fail"])))()

    points = [fault.address.point for fault in plan_of(caught.value)]
    assert points == ["service:bank.charge", "service:backup.charge"]


def test_one_fault_shrinks_to_one():
    """A defect that one fault brings about is told of with that one, the first in order, of the simplest kind."""

    @QUIET
    @failure_orderings(Careless)
    def always_succeeds(ordering):
        assert pays(ordering).run().succeeded

    with pytest.raises(AssertionError) as caught:
        always_succeeds()
    assert str(plan_of(caught.value)) == "Pay/request_id.check@1=fail"


def test_a_correct_aggregate_passes():
    """Where nothing is wrong, nothing is found, under any law, with two commands and every point."""

    @settings(QUIET, max_examples=300)
    @failure_orderings(Careful)
    def holds(ordering):
        command = PayOnce(id="o-1", amount=3)
        run = pays(ordering, command).when(command).run()
        assert run.state.paid in (0, 3)
        assert taken(run) or not run.state.paid

    holds()


class OrderCreated(BaseModel):
    id: str


class OrderPaid(BaseModel):
    amount: int = 1


class PayOrder(BaseModel):
    id: str
    amount: int = 1


class Order0State(BaseModel):
    id: str
    paid: int = 0

    @on_sourcing
    def created(self, event: OrderCreated) -> None:
        pass

    @on_sourcing
    def was_paid(self, event: OrderPaid) -> None:
        self.paid += event.amount


@aggregate_root(context="shop")
class Order:
    def __init__(self, state: Order0State) -> None:
        self.state = state

    @on_command
    def pay(self, command: PayOrder) -> OrderPaid | None:
        return None if self.state.paid else OrderPaid(amount=command.amount)


@failure_orderings(Order)
def test_no_ordering_loses_a_payment(ordering):
    """The example of the interface, as it is written there."""
    run = ordering.given(OrderCreated(id="o-1")).when(PayOrder(id="o-1")).run()
    assert run.stored.count(OrderPaid) <= 1
    assert run.stored.count(OrderPaid) == 1 or not run.succeeded


@failure_orderings(Order, amount=st.integers(1, 9))
def test_other_values_are_drawn_too(ordering, amount):
    """A strategy for another parameter is a keyword of the decorator."""
    run = ordering.given(OrderCreated(id="o-1")).when(PayOrder(id="o-1", amount=amount)).run()
    assert run.state.paid in (0, amount)


@settings(max_examples=20)
@failure_orderings(Order)
def test_fixtures_come_along(ordering, wowspec, tmp_path_factory):
    """Fixtures are asked for as ever, without a complaint of a health check."""
    assert wowspec is not None
    assert tmp_path_factory is not None
    ordering.given(OrderCreated(id="o-1")).when(PayOrder(id="o-1")).run()


class TestMethods:
    """A property may be a method."""

    @failure_orderings(Order)
    @settings(max_examples=20)
    def test_of_a_class(self, ordering):
        """Below `@settings` as well as above it."""
        assert isinstance(self, TestMethods)
        ordering.given(OrderCreated(id="o-1")).when(PayOrder(id="o-1")).run()


@pytest.mark.parametrize("amount", [1, 2])
@settings(max_examples=10)
@failure_orderings(Order)
def test_it_may_be_parametrized(ordering, amount):
    """Each parameter set learns its own faults."""
    run = ordering.given(OrderCreated(id="o-1")).when(PayOrder(id="o-1", amount=amount)).run()
    assert run.state.paid in (0, amount)


def test_the_values_shrink_with_the_faults():
    """Where a value and a fault are needed, both are as simple as they can be."""

    @QUIET
    @failure_orderings(Order, points=["request_id", "command_bus"], kinds=["fail"], amount=st.integers(1, 9))
    def small_amounts_alone(ordering, amount):
        run = ordering.given(OrderCreated(id="o-1")).when(PayOrder(id="o-1", amount=amount)).run()
        assert run.succeeded or amount < 5

    with pytest.raises(AssertionError) as caught:
        small_amounts_alone()
    text = text_of(caught.value)
    assert "@hypothesis.example(ordering='PayOrder/request_id.check@1=fail', amount=5)" in text
    assert "    ordering='PayOrder/request_id.check@1=fail'," in text
    assert "    amount=5," in text


def test_an_explicit_example_pins_a_plan():
    """The line that a failure prints fails again, alone."""
    pinned = "Pay/service:bank.charge@1=fail; Pay/service:backup.charge@1=fail"
    prop = settings(QUIET, phases=[Phase.explicit])(example(ordering=pinned)(careless()))

    with pytest.raises(AssertionError) as caught:
        prop()
    assert str(plan_of(caught.value)) == pinned


def test_an_explicit_example_loses_what_it_does_not_need():
    """A pinned plan with faults too many is told of without them."""
    said = "Pay/state_event_bus.send@1=fail; Pay/service:bank.charge@1=fail; Pay/service:backup.charge@1=fail"
    prop = settings(QUIET, phases=[Phase.explicit])(example(ordering=Plan.parse(said))(careless()))

    with pytest.raises(AssertionError) as caught:
        prop()
    assert len(plan_of(caught.value)) == 2


def test_an_explicit_example_must_strike():
    """A pinned plan that is not reached whole proves nothing."""
    prop = settings(QUIET, phases=[Phase.explicit])(example(ordering="Pay/event_store.append@7=fail")(careless()))

    with pytest.raises(PlanNotReached, match=r"near it: Pay/event_store\.append@1"):
        prop()


def test_a_plan_of_the_command_line_is_replayed_alone():
    """`--wowspec-plan` runs the one plan, without Hypothesis."""
    calls = []

    @failure_orderings(Order)
    def prop(ordering):
        calls.append(ordering)
        run = ordering.given(OrderCreated(id="o-1")).when(PayOrder(id="o-1")).run()
        assert run.succeeded

    demand(Demands(Plan.parse("PayOrder/event_store.append@1=fail")))
    try:
        with pytest.raises(AssertionError):
            prop()
    finally:
        demand_no_more()
    assert len(calls) < 200


class Totals(dict):
    """What a projection keeps, as a service."""


@projection
class Total:
    """Defect: it adds up, and so counts an event twice that comes twice."""

    @on_event
    def paid(self, event: OrderPaid, totals: Totals) -> None:
        totals["all"] = totals.get("all", 0) + event.amount


def adds_up(**options):
    """A property without an assertion: a law breaks."""

    @failure_orderings(spec(Order).using(Total), profile="kafka", **options)
    def adds(ordering):
        ordering.inject_factory(totals=Totals).given(OrderCreated(id="o-1")).when(PayOrder(id="o-1")).run()

    return adds


def test_a_law_that_breaks_fails_the_test():
    """A projection that counts twice breaks convergence under one doubled message; no assertion is needed."""
    with pytest.raises(SpecFailure) as caught:
        QUIET(adds_up(kinds=["duplicate", "timeout"]))()
    text = text_of(caught.value)
    assert "violates: convergence" in text
    assert len(plan_of(caught.value)) == 1
    assert "@explore_faults.example(" in text


def test_laws_can_be_switched_off():
    """Without the laws nothing of it is found; nor where others are named."""
    QUIET(adds_up(kinds=["duplicate"], laws=False))()
    QUIET(adds_up(kinds=["duplicate"], laws=["exactly_once"]))()


def test_expectations_are_judged_without_faults():
    """Verbs describe the run without faults: a wrong one fails the test."""

    @QUIET
    @failure_orderings(Order)
    def expects(ordering):
        ordering.given(OrderCreated(id="o-1")).when(PayOrder(id="o-1")).expect_no_events()

    with pytest.raises(SpecFailure, match="expect"):
        expects()


def test_events_and_targets_are_told():
    """Each fault that struck is an event for the statistics, and their number a target."""
    seen = []

    @settings(QUIET, max_examples=40)
    @failure_orderings(Order)
    def prop(ordering):
        ordering.given(OrderCreated(id="o-1")).when(PayOrder(id="o-1")).run()

    with collector.with_value(seen.append):
        prop()
    events = [event for stats in seen for case in stats["generate-phase"]["test-cases"] for event in case["events"]]
    assert any(event.startswith("PayOrder/") for event in events)
    assert "no fault" in events
    assert "faults that struck" in seen[0]["targets"]


def test_a_wrong_use_is_told():
    """What makes no sense is refused where it is written."""
    with pytest.raises(SpecError, match="takes no amount"):

        @failure_orderings(Order, amount=st.integers())
        def without(ordering): ...

    with pytest.raises(SpecError, match="is a strategy"):
        failure_orderings(Order, amount=3)
    with pytest.raises(SpecError, match="begins with an aggregate root"):
        failure_orderings(3)
    with pytest.raises(SpecError, match="is a @given itself"):

        @failure_orderings(Order)
        @hypothesis.given(amount=st.integers())
        def twice(ordering, amount): ...

    with pytest.raises(SpecError, match="coroutine"):

        @failure_orderings(Order)
        async def later(ordering): ...

        later()
    with pytest.raises(SpecError, match="runs nothing"):

        @failure_orderings(Order)
        def idle(ordering): ...

        idle()


@allow_create
class Note(BaseModel):
    id: str


class Noted(BaseModel):
    pass


class NoteState(BaseModel):
    id: str


@aggregate_root(context="shop")
class Notes:
    def __init__(self, state: NoteState) -> None:
        self.state = state

    @on_command
    async def note(self, command: Note) -> Noted:
        return Noted()


@settings(max_examples=30)
@failure_orderings(Notes)
def test_handlers_may_be_coroutines(ordering):
    """The world steps them itself."""
    ordering.when(Note(id="n")).run()


def test_an_injected_fault_is_an_outcome():
    """Under a plan the error that it raised is what a sender is told."""
    errors = set()

    @QUIET
    @failure_orderings(Order, points=["event_store.append"], kinds=["fail"])
    def prop(ordering):
        errors.add(type(ordering.given(OrderCreated(id="o-1")).when(PayOrder(id="o-1")).run().error))

    prop()
    assert errors == {type(None), InjectedFault}


def test_a_function_may_go_another_way_under_faults():
    """A sender that tries again goes on where another one ends; what it comes to is judged, too."""

    @settings(QUIET, max_examples=60)
    @failure_orderings(Order)
    def tries_again(ordering):
        ordering = ordering.given(OrderCreated(id="o-1")).when(PayOrder(id="o-1"))
        if not ordering.run().succeeded:
            ordering.when(PayOrder(id="o-1")).run()

    tries_again()


def test_shipping_is_no_paying():
    """The planted defect is where it is said to be: another command holds."""

    @QUIET
    @failure_orderings(Careless)
    def ships(ordering):
        ordering.when(Ship(id="o-1")).run()

    ships()
