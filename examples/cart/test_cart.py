"""What a cart does. Each spec sends real commands through the whole pipeline, in a world of its own."""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from wowspec import (
    AggregateDeleted,
    AggregateRecovered,
    DeleteAggregate,
    IllegalAccessDeletedAggregateError,
    IllegalStateError,
    NotFoundError,
    RecoverAggregate,
    Spec,
    given,
)

from .domain import (
    AddCartItem,
    Cart,
    CartItem,
    CartItemAdded,
    CartItemRemoved,
    CartQuantityChanged,
    ChangeQuantity,
    RemoveCartItem,
    ViewCart,
)


def added(product_id: str, quantity: int = 1) -> CartItemAdded:
    return CartItemAdded(added=CartItem(product_id=product_id, quantity=quantity))


# --- adding -----------------------------------------------------------------------------------------------------------


def test_the_first_item_creates_the_cart() -> None:
    """The command may create; a cart has the id of its owner."""
    (
        given()
        .when(AddCartItem(product_id="p-1"), aggregate_id="u-1", owner_id="u-1")
        .expect_events(added("p-1"))
        .expect_state(id="u-1", items=[CartItem(product_id="p-1")])
        .expect_state_aggregate(owner_id="u-1", version=1, deleted=False)
    )


def test_the_same_product_again_sums_the_quantity() -> None:
    """Not a second line, but a new quantity."""
    (
        given(added("p-1", 2), added("p-2"))
        .when(AddCartItem(product_id="p-1", quantity=3))
        .expect_events(CartQuantityChanged(changed=CartItem(product_id="p-1", quantity=5)))
        .expect_state(items=[CartItem(product_id="p-1", quantity=5), CartItem(product_id="p-2")])
    )


@pytest.mark.parametrize("product_id", ["p-101", "p-1"])
def test_a_full_cart_takes_nothing_more_not_even_what_it_holds(product_id: str) -> None:
    """The limit is checked before the cart looks whether it holds the product."""
    (
        given(*[added(f"p-{n}") for n in range(100)])
        .when(AddCartItem(product_id=product_id))
        .expect_error(ValueError, match="at most 100")
        .expect_no_events()
        .expect_state(lambda cart: len(cart.items) == 100)
    )


@pytest.mark.parametrize("fields", [{"product_id": ""}, {"product_id": "p-1", "quantity": 0}])
def test_a_command_with_senseless_fields_never_reaches_the_cart(fields: dict[str, Any]) -> None:
    """`when(Type, **fields)` lets the pipeline see fields that the class refuses."""
    given().when(AddCartItem, **fields).expect_error(code="CommandValidation")


@hypothesis.given(st.integers(1, 9), st.integers(1, 9))
def test_any_two_quantities_are_summed(wowspec: Any, first: int, second: int) -> None:
    """The fixture is session-scoped, and each example has a world of its own."""
    (
        wowspec(Cart)
        .given(added("p-1", first))
        .when(AddCartItem(product_id="p-1", quantity=second))
        .expect_state(lambda cart: cart.items[0].quantity == first + second)
    )


# --- removing and changing --------------------------------------------------------------------------------------------


def test_removing_leaves_the_others() -> None:
    """Several products at once."""
    (
        given(added("p-1"), added("p-2"), added("p-3"))
        .when(RemoveCartItem(product_ids=frozenset({"p-1", "p-3"})))
        .expect_events(CartItemRemoved(product_ids=frozenset({"p-1", "p-3"})))
        .expect_state(items=[CartItem(product_id="p-2")])
    )


def test_removing_what_is_not_there_is_recorded_all_the_same() -> None:
    """The event says what was asked for, not what was found."""
    (
        given(added("p-1"))
        .when(RemoveCartItem(product_ids=frozenset({"p-9"})))
        .expect_events(CartItemRemoved(product_ids=frozenset({"p-9"})))
        .expect_state(items=[CartItem(product_id="p-1")])
    )


def test_a_new_quantity_replaces_the_old() -> None:
    """It is not added to it."""
    (
        given(added("p-1", 2))
        .when(ChangeQuantity(product_id="p-1", quantity=7))
        .expect_events(CartQuantityChanged(changed=CartItem(product_id="p-1", quantity=7)))
        .expect_state(items=[CartItem(product_id="p-1", quantity=7)])
    )


def test_only_what_is_in_the_cart_can_change() -> None:
    """A refusal leaves nothing behind."""
    (
        given(added("p-1"))
        .when(ChangeQuantity(product_id="p-9", quantity=7))
        .expect_error(ValueError, match="p-9 is not in the cart")
        .expect_no_events()
    )


def test_a_cart_that_was_never_created_is_not_found() -> None:
    """Of the cart's commands only adding may create."""
    given().when(RemoveCartItem(product_ids=frozenset({"p-1"})), aggregate_id="u-1").expect_error(NotFoundError)


# --- viewing, deleting, recovering ------------------------------------------------------------------------------------


def test_viewing_leaves_no_trace_in_the_cart() -> None:
    """A void command is acknowledged, but no aggregate processes it."""
    given(added("p-1")).when(ViewCart(id="u-1")).expect_succeeded().expect_no_events().expect_attempts(0)


def test_the_life_of_a_cart() -> None:
    """Branches start from copies of one world: what happens in one is unknown in the others."""

    def deleted(spec: Spec[Any]) -> Spec[Any]:
        return (
            spec.when(DeleteAggregate())
            .expect_events(AggregateDeleted())
            .expect_state_aggregate(deleted=True)
            .fork(
                "again",
                lambda spec: spec.when(DeleteAggregate()).expect_error(IllegalAccessDeletedAggregateError),
            )
            .fork(
                "adding",
                lambda spec: spec.when(AddCartItem(product_id="p-2")).expect_error(IllegalAccessDeletedAggregateError),
            )
            .fork("recovered", recovered)
        )

    def recovered(spec: Spec[Any]) -> Spec[Any]:
        return (
            spec.when(RecoverAggregate())
            .expect_events(AggregateRecovered())
            .expect_state_aggregate(deleted=False, version=3)
            .expect_state(items=[CartItem(product_id="p-1")])
            .when(RecoverAggregate())
            .expect_error(IllegalStateError)
        )

    (
        given()
        .when(AddCartItem(product_id="p-1"), aggregate_id="u-1", owner_id="u-1")
        .expect_state(lambda cart: len(cart.items) == 1)
        .expect_state_aggregate(owner_id="u-1")
        .fork(
            "emptied",
            lambda spec: spec.when(RemoveCartItem(product_ids=frozenset({"p-1"}))).expect_state(items=[]),
        )
        .fork("deleted", deleted)
    )
