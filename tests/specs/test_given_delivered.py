"""What goes wrong while history is delivered: it is told of by the run that follows, and must be named there."""

from __future__ import annotations

from typing import Any

import pytest

from wowspec import DomainEvent, SpecFailure, Views, given, on, on_event, projection, stateless_saga

from .ending import a_test
from .shop_domain import Order, OrderPaid, OrderPlaced, PayOrder

PLACED = on(Order, "o-1", OrderPlaced(sku="s", quantity=1))


@projection(context="shop")
class HalfView:
    """Writes its row, and fails then."""

    @on_event
    def placed(self, event: DomainEvent[OrderPlaced], views: Views[str]) -> None:
        views[event.aggregate_id.id] = "half"
        raise ZeroDivisionError("no good")


@stateless_saga(context="shop")
class FailingSaga:
    """Fails for what is given, and takes nothing else."""

    @on_event
    def placed(self, event: OrderPlaced) -> PayOrder:
        raise LookupError(event.sku)


@pytest.mark.parametrize(
    "expectation",
    [
        lambda spec: spec.expect_view("o-1", lambda row: row == "half"),
        lambda spec: spec.expect_idempotent(),
        lambda spec: spec.expect_no_view("o-2"),
        lambda spec: spec.run(),
    ],
    ids=["expect_view", "expect_idempotent", "expect_no_view", "run"],
)
def test_a_projection_that_fails_on_what_is_given_fails_its_spec(expectation: Any):
    """No expectation of its rows covers the error; it is told with the place of the spec and what was delivered."""
    with pytest.raises(SpecFailure) as failure, a_test():
        expectation(given(HalfView, PLACED))

    text = str(failure.value)
    assert text.partition(": the runtime")[0].rpartition(":")[0].endswith("test_given_delivered.py")
    assert (
        "the runtime logged and swallowed an error at event.handler:HalfView.placed: ZeroDivisionError\n"
        '  while handling OrderPlaced(sku="s", quantity=1), as what is given was delivered'
    ) in text
    assert "event.deliver:HalfView.placed" in text
    assert text.endswith("if it should: .expect_downstream_error(HalfView, ZeroDivisionError)")


def test_the_error_of_a_projection_on_what_is_given_can_be_named():
    """Named as any downstream error, it lets the half-written row be looked at."""
    with a_test():
        spec = given(HalfView, PLACED).expect_downstream_error(HalfView, ZeroDivisionError, match="no good")
        spec.expect_view("o-1", lambda row: row == "half")

        assert [entry.point for entry in spec.run().logged] == ["event.handler:HalfView.placed"]


@pytest.mark.parametrize("processor", [HalfView, FailingSaga])
def test_history_that_is_delivered_before_a_command_hides_no_error(processor: type):
    """`given(..., deliver=True)` before `when`: the command's own success is not enough."""
    with pytest.raises(SpecFailure, match=f"{processor.__name__}.placed.*\n.*as what is given was delivered"), a_test():
        given(PLACED, deliver=True).using(processor).when(PayOrder(id="o-1")).expect_events(OrderPaid())


def test_such_an_error_is_the_first_runs_alone():
    """Once it is named there, the runs after it know nothing of it."""
    with a_test():
        spec = given(PLACED, deliver=True).using(FailingSaga).when(PayOrder(id="o-1"))
        spec = spec.expect_downstream_error(FailingSaga, LookupError)
        spec = spec.when(PayOrder(id="o-1")).expect_error(code="IllegalState")

        assert [entry.point for entry in spec.run().logged] == ["command.handler"]


def test_commands_in_flight_hide_no_error_of_what_is_given():
    """In every order of commands that are in flight, too."""
    with pytest.raises(SpecFailure, match=r"FailingSaga\.placed"), a_test():
        spec = given(PLACED, deliver=True).using(FailingSaga)
        spec.when_concurrently(PayOrder(id="o-1"), PayOrder(id="o-1")).expect_any_outcome()
