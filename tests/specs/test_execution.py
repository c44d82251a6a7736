"""Running the steps of a spec: what a run leaves behind."""

from __future__ import annotations

import gc
from weakref import ref

import pytest

from wowspec import SpecFailure, faults, given, processed
from wowspec.specs.execution import send
from wowspec.specs.history import nothing_more, write_history
from wowspec.specs.items import NO_OPTIONS, on
from wowspec.specs.session import Profile, new_session

from .gateway_domain import CreateOrder, PayOrder as Pay, ViewOrder
from .shop_domain import Order, OrderPlaced, OrderSaga, OrderView, PayOrder, Stock


@pytest.mark.parametrize(
    "parts", [[], [Order], [Order, Stock, OrderSaga, OrderView]], ids=["nothing", "aggregate", "processors"]
)
def test_a_world_goes_when_nobody_holds_it(parts):
    """No circle of references holds a world: it goes with its session and its run, not at some garbage collection."""
    gc.collect()
    gc.disable()
    try:
        session = new_session(parts, Profile())
        write_history(session, [on(Order, "o-1", OrderPlaced(sku="tea", quantity=1))], nothing_more, deliver=False)
        run = send(session, PayOrder(id="o-1"), NO_OPTIONS, None)
        assert run.succeeded
        runtime = ref(session.runtime)
        del session, run
        assert runtime() is None
    finally:
        gc.enable()


def test_a_long_chain_runs_without_a_stack_of_calls():
    """Steps that nobody looked at run one after the other when the last one is looked at, however many they are."""
    chain = given()
    for number in range(500):
        chain = chain.when(CreateOrder(id=f"o-{number}"))
    assert len([node for node in chain._node.path() if node.run is None]) > 500
    chain.expect_succeeded()
    assert chain.run().aggregate_id == "o-499"


def test_a_sender_that_waits_for_ever():
    """A void command is only sent, without a deadline: where its bus hangs, its outcome is unknown, not undecided."""
    hung = given().with_faults(faults.command_bus.send.hangs(times=3))

    (
        hung.when(ViewOrder(id="o-1"))
        .expect_unknown_outcome()
        .when(CreateOrder(id="o-2"), wait_for=processed().with_timeout(seconds=1))
        .expect_unknown_outcome()
    )
    one = given().with_faults(faults.command_bus.send.hangs()).when(ViewOrder(id="o-1"))
    with pytest.raises(SpecFailure, match="has no deadline, and waits for ever"):
        one.expect_succeeded()
    one.expect_unknown_outcome()
    together = hung.when_concurrently(ViewOrder(id="o-1"), ViewOrder(id="o-2"), schedule="").expect_any_outcome()
    [outcome] = together.run().outcomes
    assert [run.is_unknown for run in outcome.runs] == [True, True]


def test_a_given_command_whose_sender_waits_for_ever():
    """What is given must have happened, and nobody knows whether this did."""
    with pytest.raises(SpecFailure, match=r"1 of given\(\.\.\.\), ViewOrder\(.*, failed with(.|\n)*waits for ever"):
        (
            given()
            .with_faults(faults.command_bus.send.hangs(times=2))
            .when(CreateOrder(id="o-1"), wait_for=processed().with_timeout(seconds=1))
            .expect_unknown_outcome()
            .given(ViewOrder(id="o-1"))
            .when(Pay(id="o-1"))
            .expect_succeeded()
        )
