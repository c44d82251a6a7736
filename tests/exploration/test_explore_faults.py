"""`@explore_faults`: what it calls, what it finds, what it says, and what it refuses."""

from __future__ import annotations

import re

import pytest

from tests.exploration.shop import (
    BoardInPlace,
    BoardRow,
    LedgerInPlace,
    Order,
    OrderPaid,
    PayOrder,
    PlaceOrder,
    ReserveStock,
    Stock,
    StockReserved,
    safe_shop,
    shop,
)
from wowspec import PlanNotReached, SpecError, SpecFailure, explore_faults
from wowspec.exploration import collected


def found(function, *args):
    """What a decorated function's failure says."""
    with pytest.raises(SpecFailure) as caught:
        function(*args)
    return str(caught.value)


def results(function, *args):
    """Call a decorated function; its results as JSON."""
    collected.take()
    function(*args)
    return collected.take()


def reserved_once(world):
    """What the shop promises."""
    return world.state(Stock, "s-1").reserved.get("o-1", 0) <= 1


def test_a_correct_shop_is_not_blamed():
    """Every single fault, with conditions besides the laws; what the runtime is known for fails nothing."""

    @explore_faults(depth=1)
    def checkout(spec):
        (
            spec.using(safe_shop)
            .when(PlaceOrder(id="o-1"))
            .always(reserved_once)
            .eventually(lambda world: world.state(Stock, "s-1").reserved == {"o-1": 1})
        )

    (result,) = results(checkout)
    assert result["plans"] > 60
    assert all(item["known"] for finding in result["findings"] for item in finding["broken"])
    assert result["outcomes"]["known to the runtime"] == len(result["findings"])
    assert result["left"] == {}


def test_a_projection_that_counts_twice_is_found():
    """A write whose reply is lost is tried again; the finding says plan, law, class, departure, replay and a pin."""

    @explore_faults
    def board(spec):
        spec.using(shop).when(PlaceOrder(id="o-1")).expect_view("placed", 1)

    text = found(board)
    plan = "PlaceOrder>OrderPlaced>OrderBoard/projection.write:OrderBoard@1=ack_lost"
    assert f"plan   {plan}" in text
    assert "(violates: convergence)" in text
    assert "class  never heals" in text
    assert "OrderBoard['placed'] is 2, and the stored facts make 1 of it" in text
    assert "first departure from the fault-free run: " in text
    assert f"--wowspec-plan '{plan}'" in text
    assert f"@explore_faults.example({plan!r})" in text


def test_a_projection_that_counts_in_its_row_is_found():
    """A row that is changed in place is written when its function ends."""

    @explore_faults
    def board(spec):
        spec.using(Order, BoardInPlace).when(PlaceOrder(id="o-1")).expect_view("placed", BoardRow(quantity=1))

    text = found(board)
    assert "plan   PlaceOrder>OrderPlaced>BoardInPlace/projection.write:BoardInPlace@1=ack_lost" in text
    assert "(violates: convergence)" in text
    assert "BoardInPlace['placed'] is BoardRow(quantity=2" in text
    assert "projection.write:BoardInPlace@2" not in text


def test_a_projection_that_is_idempotent_in_its_row_is_not_blamed():
    """Every fault strikes its writes, and nothing is found but what the runtime is known for."""

    @explore_faults
    def ledger(spec):
        spec.using(Order, LedgerInPlace).when(PlaceOrder(id="o-1")).expect_version(1)

    (result,) = results(ledger)
    struck = [cell["kind"] for cell in result["cells"] if cell["point"] == "projection.write:LedgerInPlace"]
    assert struck == ["fail", "timeout", "ack_lost", "ack_lost_permanent"]
    assert all(item["known"] for finding in result["findings"] for item in finding["broken"])


def test_what_verbs_expect_describes_the_run_without_faults():
    """They fail the test there, and say nothing under faults."""

    @explore_faults(points=["event_store.append"])
    def right(spec):
        spec.using(Order).when(PlaceOrder(id="o-1")).expect_version(1)

    @explore_faults(points=["event_store.append"])
    def wrong(spec):
        spec.using(Order).when(PlaceOrder(id="o-1")).expect_version(2)

    assert results(right)[0]["plans"] == 7 - 1
    assert "is at version 1, expected 2" in found(wrong)


def test_the_functions_own_assertions_hold_under_every_plan():
    """`run()` gives the run under the plan; an `assert` that fails there is a finding."""

    @explore_faults(Order, kinds=["timeout"], points=["event_store.append"])
    def stored_at_once(spec):
        run = spec.given(PlaceOrder(id="o-1")).when(PayOrder(id="o-1")).run()
        assert run.attempts == 1

    @explore_faults(Order, kinds=["timeout"], points=["event_store.append"])
    def stored_once(spec):
        run = spec.given(PlaceOrder(id="o-1")).when(PayOrder(id="o-1")).run()
        assert run.stored.count(OrderPaid) == 1

    assert "the test's own assertions: AssertionError" in found(stored_at_once)
    assert results(stored_once)[0]["findings"] == []


def test_a_command_made_of_the_run_before_ends_early_where_there_is_none():
    """A later command that cannot be made of what a fault left is not sent, and blames nobody."""

    @explore_faults(points=["event_store.append"], kinds=["fail"])
    def chained(spec):
        first = spec.using(Order).when(PlaceOrder(id="o-1"))
        first.when(lambda run: PayOrder(id=run.stored.envelopes[0].aggregate_id.id)).expect_version(2)

    (result,) = results(chained)
    assert result["plans"] == 2
    assert result["findings"] == []


def test_each_branch_is_explored():
    """A fork is a spec of its own."""

    @explore_faults(Order, points=["event_store.append"], kinds=["timeout"])
    def branches(spec):
        base = spec.given(PlaceOrder(id="o-1"))
        base.fork("paid", lambda branch: branch.when(PayOrder(id="o-1")).expect_version(2))
        base.when(PlaceOrder(id="o-2")).expect_version(1)

    assert [result["spec"] for result in results(branches)] == [0, 1]


def test_depth_two_runs_every_pair_once():
    """Pairs extend the plans under which nothing breaks, by what they reach; no pair comes twice."""

    @explore_faults(Order, depth=2, kinds=["timeout"])
    def pays(spec):
        spec.given(PlaceOrder(id="o-1")).when(PayOrder(id="o-1")).expect_version(2)

    collected.take()
    pays()
    (result,) = collected.take()
    assert result["plans"] > 60
    plans = [frozenset(finding["plan"].split("; ")) for finding in result["findings"]]
    assert len(set(plans)) == len(plans)
    single = {plan for plan in plans if len(plan) == 1}
    assert not any(one < plan for plan in plans for one in single)


def test_a_budget_is_told_exactly():
    """What `max_runs` cut off is counted."""

    @explore_faults(Order, max_runs=5)
    def bounded(spec):
        spec.when(PlaceOrder(id="o-1")).expect_version(1)

    @explore_faults(Order)
    def whole(spec):
        spec.when(PlaceOrder(id="o-1")).expect_version(1)

    (cut,), (all_of_it,) = results(bounded), results(whole)
    assert cut["plans"] == 5
    assert cut["left"] == {"max_runs=5": all_of_it["plans"] - 5}


def test_points_and_kinds_are_selected():
    """By the beginning of a point, and by kind."""

    @explore_faults(points=["event_store", "event.deliver:OrderSaga"], kinds=["fail", "timeout"])
    def selected(spec):
        spec.using(safe_shop).when(PlaceOrder(id="o-1")).expect_version(1)

    cells = {(cell["point"], cell["kind"]) for cell in results(selected)[0]["cells"]}
    assert {point for point, _ in cells} == {
        "event_store.append",
        "event_store.load",
        "event.deliver:OrderSaga.placed",
    }
    assert {kind for _, kind in cells} == {"fail", "timeout"}


def test_one_point_and_one_kind_may_stand_alone():
    """A text is one of them, not its letters."""

    @explore_faults(Order, points="event_store.append", kinds="fail")
    def selected(spec):
        spec.when(PlaceOrder(id="o-1")).expect_version(1)

    (result,) = results(selected)
    assert [(cell["point"], cell["kind"]) for cell in result["cells"]] == [("event_store.append", "fail")]


def test_a_declared_finding_fails_nothing_and_one_that_is_gone_does():
    """By the law's name or title; an excuse for nothing is told."""
    plan = "PlaceOrder>OrderPlaced>OrderBoard/projection.write:OrderBoard@1=ack_lost"

    @explore_faults(expected=[f"{plan} → convergence"])
    def declared(spec):
        spec.using(shop).when(PlaceOrder(id="o-1")).expect_view("placed", 1)

    @explore_faults(expected=[f"{plan} → convergence"])
    def gone(spec):
        spec.using(safe_shop).when(PlaceOrder(id="o-1")).expect_version(1)

    (result,) = results(declared)
    assert [item["declared"] for finding in result["findings"] for item in finding["broken"] if not item["known"]] == [
        True
    ]
    assert f"a declared finding no longer appears: {plan} → convergence" in found(gone)


def test_an_example_is_run_and_nothing_else():
    """`explore_faults.example` alone pins a plan; above `explore_faults` it comes first."""
    plan = "PlaceOrder>OrderPlaced>OrderBoard/projection.write:OrderBoard@1=ack_lost"

    @explore_faults.example(plan)
    def pinned(spec):
        spec.using(shop).when(PlaceOrder(id="o-1")).expect_view("placed", 1)

    @explore_faults.example("PlaceOrder/event_store.append@1=timeout; PlaceOrder/event_store.append@2=timeout")
    @explore_faults(Order, points=["event_store.append"], kinds=["timeout"])
    def both(spec):
        spec.when(PlaceOrder(id="o-1")).expect_version(1)

    assert plan in found(pinned)
    assert results(both)[0]["plans"] == 2


def test_an_example_that_is_not_reached_fails():
    """With the visits that may have been meant."""

    @explore_faults.example("PlaceOrders/event_store.append@1=timeout")
    def stale(spec):
        spec.using(Order).when(PlaceOrder(id="o-1")).expect_version(1)

    with pytest.raises(PlanNotReached) as caught:
        stale()
    assert "never reached: PlaceOrders/event_store.append@1" in str(caught.value)
    assert "near it: PlaceOrder/event_store.append@1" in str(caught.value)


def test_resending_heals_a_lost_publication():
    """The class names the recovery that the application has, and what it tried."""

    @explore_faults(Order, recovery=["client retry", "resend"], points=["domain_event_bus.send"], kinds=["fail"])
    def published(spec):
        spec.when(PlaceOrder(id="o-1")).expect_version(1)

    (finding,) = results(published)[0]["findings"]
    assert finding["healed_by"] == "resend"
    assert finding["tried"] == ["client retry", "resend"]


def test_ambiguous_errors_and_switched_off_laws():
    """What an application knows to be ambiguous is no lie; a law is off by its name."""

    @explore_faults(Order, ambiguous=[Exception], without_laws=["publication"], points=["domain_event_bus.send"])
    def lenient(spec):
        spec.when(PlaceOrder(id="o-1")).expect_version(1)

    assert results(lenient)[0]["findings"] == []


def test_a_saga_may_send_an_alternative():
    """Where a declared alternative was sent, what it stands for is not missed."""
    from tests.exploration.alternative import CancelOrder, Scoring, alternative_shop

    def checkout(spec):
        spec.using(alternative_shop).inject(Scoring()).when(PlaceOrder(id="o-1")).expect_version(1)

    where = {"points": ["service"], "kinds": ["timeout"]}
    assert "saga completeness" in found(explore_faults(**where)(checkout))
    assert results(explore_faults(**where, alternatives=[CancelOrder])(checkout))[0]["findings"] == []


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"depth": -1}, "depth=-1"),
        ({"depth": True}, "depth=True"),
        ({"max_runs": 0}, "max_runs=0"),
        ({"max_seconds": "3"}, "max_seconds='3'"),
        ({"max_seconds": -1}, "max_seconds=-1"),
        ({"max_seconds": float("nan")}, "max_seconds=nan"),
        ({"max_seconds": float("inf")}, "max_seconds=inf"),
        ({"kinds": ["fails"]}, "kinds=['fails']"),
        ({"points": ["event_stores"]}, "points=['event_stores']: no point begins so"),
        ({"recovery": "reboot"}, "recovery='reboot'"),
        ({"expected": ["A/event_store.append@1=fail"]}, "says no law"),
        ({"expected": ["A/event_store.append@1=fail → order!"]}, "there is no law"),
        ({"without_laws": ["publications"]}, "there is no law 'publications'"),
        ({"profile": "kafak"}, "unknown profile 'kafak'"),
    ],
)
def test_bad_options_are_refused_at_once(options, text):
    """When the test is defined, with what to write instead."""
    with pytest.raises(SpecError, match=re.escape(text)):
        explore_faults(**options)


def test_functions_that_cannot_be_explored():
    """One without a spec, one that runs nothing, a coroutine function."""
    with pytest.raises(SpecError, match="which takes no spec"):
        explore_faults(lambda: None)

    @explore_faults
    def idle(spec):
        spec.using(Order)

    @explore_faults
    async def later(spec):
        spec.using(Order).when(PlaceOrder(id="o-1")).expect_version(1)

    with pytest.raises(SpecFailure, match="without when"):
        idle()
    with pytest.raises(SpecError, match="above the coroutine function later"):
        later()


def test_a_spec_that_comes_to_something_else_each_time_is_found():
    """A handler that remembers, or takes chance from elsewhere, would make every replay a lie."""
    from tests.exploration.forgetful import Count, Counter

    @explore_faults(Counter)
    def counts(spec):
        spec.when(Count(id="c-1")).expect_version(1)

    assert "comes to something else when it is run again" in found(counts)


def test_services_are_fresh_for_each_run():
    """What one run did to a service, no other run sees; one that cannot be copied is told with the remedy."""
    from tests.exploration.charging import Charge, Till, Wallet

    @explore_faults(Wallet, points=["event_store.append"], kinds=["fail"])
    def charges(spec):
        spec.inject(till=Till()).when(Charge(id="w-1")).always(lambda world: world.service("till").taken <= 1)

    assert results(charges)[0]["plans"] == 1

    @explore_faults(Wallet)
    def stuck(spec):
        till = Till()
        till.lock = (n for n in ())  # a generator cannot be copied
        spec.inject(till=till).when(Charge(id="w-1")).expect_version(1)

    with pytest.raises(SpecError, match="inject_factory"):
        stuck()


def test_methods_and_parameters(request):
    """A test of a class keeps `self`; other parameters are fixtures' or parametrize's business."""

    class TestShop:
        @explore_faults(points=["event_store.append"], kinds=["timeout"])
        def test_it(self, spec, quantity):
            """Given both."""
            assert isinstance(self, TestShop)
            spec.using(safe_shop).when(PlaceOrder(id="o-1", quantity=quantity)).expect_version(1)

    collected.take()
    TestShop().test_it(3)
    (result,) = collected.take()
    assert result["plans"] == 2
    assert result["test"] == request.node.nodeid
    assert isinstance(ReserveStock(id="s", order_id="o", quantity=1), ReserveStock)
    assert StockReserved(order_id="o", quantity=1)
