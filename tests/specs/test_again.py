"""Expectations as data, and specs that are run and judged once more from their steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wowspec import ANY_EVENTS, SpecError, SpecFailure, faults, given, on, spec
from wowspec.specs import injecting, tracking
from wowspec.specs.again import again, judge_again, rebuild
from wowspec.specs.concurrent_spec import ConcurrentSpec
from wowspec.specs.injecting import no_longer_want_kept, want_kept
from wowspec.specs.nodes import History, Node, WithFaults
from wowspec.specs.recorded import ConditionKind

from .shop_domain import (
    Mailer,
    Order,
    OrderPaid,
    OrderPlaced,
    OrderView,
    Outbox,
    PayOrder,
    PlaceOrder,
    ReserveStock,
    Stock,
    shop,
)


def placed():
    """An order that is placed and paid, with something said of each."""
    return (
        spec()
        .using(shop)
        .when(PlaceOrder(id="o-1", sku="s-1", quantity=2))
        .expect_events(OrderPlaced(sku="s-1", quantity=2))
        .expect_state(lambda order: order.status == "PLACED")
        .when(PayOrder(id="o-1"))
        .expect_succeeded()
        .always(lambda world: world.aggregate(Order, "o-1").version <= 2)
        .eventually(lambda world: world.state(Stock, "s-1").reserved == 2)
    )


def with_fault(*armed):
    """Begins as the spec does, but for faults."""

    def make_root(root):
        return Node(Node(None, root.step), WithFaults(armed))

    return make_root


def told(failures):
    """Which verbs failed."""
    return [failure.expected.verb if failure.expected is not None else None for failure in failures]


# --- recording --------------------------------------------------------------------------------------------------------


def test_each_expectation_is_kept():
    """By its step, in its order, with its arguments and its place."""
    path = placed()._node.path()

    kept = [(node.step, each) for node in path for each in node.expected]

    assert [each.verb for _, each in kept] == [
        "expect_events",
        "expect_state",
        "expect_succeeded",
        "always",
        "eventually",
    ]
    assert kept[0][1].args == (OrderPlaced(sku="s-1", quantity=2),)
    assert [step.command.id for step, _ in kept] == ["o-1"] * 5
    assert [str(each.place) for _, each in kept] == [
        f"tests/specs/test_again.py:{placed.__code__.co_firstlineno + line}" for line in (6, 7, 9, 10, 11)
    ]


def test_conditions_are_kept_with_their_kind():
    """Whoever runs the spec again reads what must hold, and when."""
    path = spec(Order).when(PlaceOrder(id="o-1", sku="s-1")).always(lambda world: True, name="all well")._node.path()

    (found,) = [condition for node in path for condition in node.conditions]

    assert (found.kind, found.name) == (ConditionKind.ALWAYS, "all well")
    assert str(found.place).startswith("tests/specs/test_again.py:")


def test_what_failed_is_not_kept():
    """What a test catches, be it a failure or its own mistake, is not what it expects."""
    spec_ = spec(Order).when(PlaceOrder(id="o-1", sku="s-1")).expect_version(1)
    with pytest.raises(SpecFailure):
        spec_.expect_version(2)
    with pytest.raises(SpecError):
        spec_.expect_version(-1)

    assert [each.args for each in spec_._node.expected] == [(1,)]


def test_a_verb_that_is_made_of_another_is_kept_once():
    """What the author wrote is kept, not how it is done."""
    flight = given().when_concurrently(PlaceOrder(id="o-1", sku="a"), PlaceOrder(id="o-2", sku="b"))
    flight.expect_event_count(2).expect_one_of([ANY_EVENTS]).expect_events(ANY_EVENTS).expect_succeeded()

    assert [each.verb for each in flight._node.expected] == [
        "expect_event_count",
        "expect_one_of",
        "expect_events",
        "expect_succeeded",
    ]


def test_verbs_keep_their_names_and_documentation():
    """A verb looks as it is written, for editors and for people who ask."""
    verb = type(placed()).expect_error

    assert verb.__qualname__ == "Expecting.expect_error"
    assert verb.__doc__.startswith("The command failed")


# --- running again ----------------------------------------------------------------------------------------------------


def test_all_holds_again():
    """Without any change every expectation holds again, and so it does a third time."""
    path = placed()._node.path()

    assert judge_again(path) == []
    assert judge_again(path) == []


def test_steps_are_fresh():
    """The steps of the test are not touched: neither their runs, nor what was expected of them."""
    path = placed()._node.path()
    before = [(node.run, node.judged, node.has_child, list(node.expected)) for node in path]

    judge_again(path, with_fault(faults.event_store.append.fails(times=9)))

    assert [(node.run, node.judged, node.has_child, list(node.expected)) for node in path] == before


def test_a_fault_makes_expectations_fail():
    """Each that does not hold any more is told, with the reason; what comes after it is judged too."""
    failures = judge_again(placed()._node.path(), with_fault(faults.event_store.append.fails()))

    assert told(failures) == ["expect_events", "expect_state", None, "expect_succeeded", "eventually", None]
    assert "expected 1 event" in str(failures[0].error) or "OrderPlaced" in str(failures[0].error)
    assert "InjectedFault, which nobody expected" in str(failures[2].error)
    assert failures[0].node.step.command == PlaceOrder(id="o-1", sku="s-1", quantity=2)


def test_always_is_asked_in_the_other_run():
    """The moments are those of the run that is judged."""
    path = (
        spec(Order)
        .when(PlaceOrder(id="o-1", sku="s-1"))
        .always(lambda world: world.aggregate(Order, "o-1").version == len(world.stored(Order, "o-1")) <= 1)
        .expect_any_outcome()
        ._node.path()
    )

    assert judge_again(path) == []
    (failure,) = judge_again(path, with_fault(faults.event_store.append.rival_appends(*[OrderPaid()] * 2)))
    assert failure.expected.verb == "always"
    assert "moment: when(PlaceOrder), after o-1 event_store.append" in str(failure.error)


def test_callables_are_called_again():
    """Functions of the spec and of its expectations see the run that is judged."""
    seen = []
    path = (
        spec()
        .using(shop)
        .when(PlaceOrder(id="o-1", sku="s-1"))
        .when(lambda run: seen.append(run) or PayOrder(id=run.aggregate_id))
        .expect_state(lambda order: seen.append(order) or order.status == "PAID")
        ._node.path()
    )
    first = list(seen)

    assert judge_again(path) == []
    assert len(seen) == 2 * len(first)
    assert seen[2] is not first[0]


def test_an_error_of_an_author_s_function_is_kept():
    """A function that cannot cope with the other run does not stop the judging."""
    path = (
        spec(Order)
        .when(PlaceOrder(id="o-1", sku="s-1"))
        .expect_events(that=lambda events: events[0].sku == "s-1")
        .expect_any_outcome()
        ._node.path()
    )

    failures = judge_again(path, with_fault(faults.event_store.append.fails()))

    assert [type(failure.error) for failure in failures] == [IndexError]


def test_each_world_is_shown_before_anything_happens():
    """Who judges may prepare each world, such as arm a plan."""
    opened = []

    judge_again(placed()._node.path(), opened=lambda session: opened.append(len(session.world.trace)))

    assert len(opened) == 2
    assert opened[0] == 0


def test_the_running_test_does_not_hear_of_it():
    """Nothing is registered, whatever fails; its end would fail otherwise."""
    path = placed()._node.path()
    tracking.start()
    try:
        judge_again(path, with_fault(faults.event_store.append.fails()))
        flight = spec(Order).when_concurrently(PlaceOrder(id="o-1", sku="a"), PlaceOrder(id="o-1", sku="b"))
        nodes = flight.expect_any_outcome()._node.path()
        made = list(tracking.current().nodes), list(tracking.current().others)
        judge_again(nodes)
        assert (list(tracking.current().nodes), list(tracking.current().others)) == made
    finally:
        tracking.stop()


def test_commands_in_flight_are_judged_again():
    """All their orders are run once more, and the verbs speak of each outcome."""
    path = (
        spec(Order)
        .given(on(Order, "o-1", OrderPlaced(sku="s-1", quantity=1)))
        .when_concurrently(PayOrder(id="o-1"), PayOrder(id="o-1"))
        .expect_succeeded(times=1)
        .expect_error(code="IllegalState", times=1)
        .eventually(lambda world: world.aggregate(Order, "o-1").version == 2)
        ._node.path()
    )

    assert judge_again(path) == []
    failures = judge_again(path, with_fault(faults.event_store.append.fails(times=9)))
    assert told(failures) == ["expect_succeeded", "expect_error", "eventually"]


def test_a_branch_decides_for_those_who_go_on():
    """What a branch said of a command holds where the way goes on without it."""
    spec_ = (
        spec(Order)
        .when(PayOrder(id="o-1"))
        .fork("told", lambda branch: branch.expect_error(code="NotFound"))
        .when(PlaceOrder(id="o-1", sku="s-1"))
        .expect_succeeded()
    )

    assert judge_again(spec_._node.path()) == []


def test_a_projection_s_spec_is_judged_again():
    """What is given reaches it once more, without a `when`."""
    view = given(OrderView, on(Order, "o-1", OrderPlaced(sku="s-1", quantity=1))).expect_view("o-1", status="PLACED")
    path = view._node.settled.path()

    assert judge_again(path) == []
    failures = judge_again([*path[:-2], replace(path[-2], step=History(())), path[-1]])
    assert [failure.expected.verb for failure in failures] == ["expect_view"]


def test_services_must_be_unused(monkeypatch):
    """Services that were used cannot be given again; copies that were kept in time, or a factory, can."""
    monkeypatch.setattr(injecting, "_wanted", 0)

    def mailed(begin):
        return (
            begin.using(shop, Mailer).when(PlaceOrder(id="o-1", sku="s-1")).when(PayOrder(id="o-1")).expect_succeeded()
        )

    used = mailed(spec().inject(Outbox()))._node.path()
    made = mailed(spec().inject_factory(Outbox))._node.path()
    outbox = Outbox()
    want_kept()
    try:
        kept = mailed(spec().inject(outbox))._node.path()
    finally:
        no_longer_want_kept()

    with pytest.raises(SpecError, match="its services have been used"):
        judge_again(used)
    assert judge_again(made) == judge_again(kept) == []
    assert outbox.mails == ["o-1"]


def test_a_spec_for_each_step():
    """The same verbs are there for whoever wants to call them."""
    path = (
        spec(Stock)
        .when_concurrently(ReserveStock(id="s-1", quantity=1), ReserveStock(id="s-1", quantity=2))
        .expect_succeeded()
        ._node.path()
    )

    built = rebuild(path)

    assert [type(spec_) is ConcurrentSpec for spec_, _ in built] == [False, True]
    assert [expected.verb for expected in built[1][1]] == ["expect_succeeded"]
    assert [node.step for node in again(path)] == [node.step for node in path]
