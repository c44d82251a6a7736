"""What specs of sagas, projections and event processors say where they are wrong, and what their values may be."""

from __future__ import annotations

import pytest

from wowspec import SpecError, SpecFailure, StateEvent, Views, given, on, on_state_event, projection, some

from .shop_domain import (
    Mailer,
    Order,
    OrderPaid,
    OrderPlaced,
    OrderRow,
    OrderSaga,
    OrderState,
    OrderView,
    Outbox,
    StatusView,
)

PLACED = on(Order, "o-1", OrderPlaced(sku="s", quantity=1))


@projection(context="shop")
class SkuView:
    """Keeps what the state says."""

    @on_state_event
    def moved(self, event: StateEvent[OrderState], views: Views[str]) -> None:
        views[event.aggregate_id.id] = event.state.sku


# -- rows as values


def test_a_row_is_compared_with_a_value():
    """A whole row, a matcher of it, or the text that it is."""
    given(StatusView, PLACED).expect_view("o-1", "PLACED")
    row = given(OrderView, PLACED).run().views(OrderView)["o-1"]
    given(OrderView, PLACED).expect_view("o-1", row).expect_view("o-1", some(OrderRow, status="PLACED"))


def test_a_row_that_is_another_value_is_told_as_values_are():
    """Expected and actual side by side, and the place of the row."""
    with pytest.raises(SpecFailure, match=r"row 'o-1' of StatusView differs in 1 place: view: \"PAID\" ≠ \"PLACED\""):
        given(StatusView, PLACED).expect_view("o-1", "PAID")


def test_a_class_is_no_row():
    """Called with a row it would say yes to nearly every one."""
    with pytest.raises(SpecError, match=r"instead: expect_view\('o-1', OrderRow\(\.\.\.\)\), or some\(OrderRow, "):
        given(OrderView, PLACED).expect_view("o-1", OrderRow)


def test_rows_of_a_projection_that_is_not_idempotent_are_shown_by_their_fields():
    """Not as quoted texts; and where there is no `when`, what was given is what passed."""
    with pytest.raises(SpecFailure) as failure:
        given(OrderView, PLACED).expect_idempotent()

    assert "views['o-1'].changes: 1 ≠ 2" in str(failure.value)
    assert "pipeline (virtual time):" in str(failure.value)


def test_a_saga_keeps_no_rows():
    """`expect_idempotent()` says so by its own name."""
    spec = given(OrderSaga).when_event(OrderPlaced(sku="s-1", quantity=2))
    with pytest.raises(SpecError, match=r"expect_idempotent\(\.\.\.\): OrderSaga is a stateless saga, which keeps no"):
        spec.expect_idempotent()


def test_an_event_processor_keeps_no_rows():
    """Its services tell what it did."""
    spec = given(Mailer).inject(Outbox()).when_event(OrderPaid(), aggregate_id="o-1")
    with pytest.raises(SpecError, match=r"Mailer is an event processor.*\n.*\n.*the services that it calls"):
        spec.expect_view("o-1", "PAID")


# -- when_event


def test_the_state_of_an_event_says_its_id():
    """Without `aggregate_id=` the event is one of the instance whose state it is."""
    (
        given(SkuView)
        .when_event(OrderPlaced(sku="s", quantity=1), state=OrderState(id="o-7", sku="s-7"))
        .expect_view("o-7", "s-7")
    )
