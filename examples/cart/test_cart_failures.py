"""What becomes of a cart when the pipeline around it fails.

Four ledgers are kept apart: what the cart *emitted*, what was *stored*, what was *published*, what was *delivered*.
"""

from __future__ import annotations

import pytest

from wowspec import PROCESSED, DuplicateRequestIdError, Fault, InjectedFault, faults, given

from .domain import AddCartItem, CartItem, CartItemAdded, CartItemRemoved, ChangeQuantity

FIRST = CartItemAdded(added=CartItem(product_id="p-1"))
SECOND = CartItemAdded(added=CartItem(product_id="p-2"))


def test_the_store_comes_first_then_the_acknowledgement_then_the_buses() -> None:
    """The order of the effects, as the pipeline's points tell it."""
    (
        given()
        .when(AddCartItem(product_id="p-1"))
        .expect_order(
            "event_store.append",
            "command.acknowledge",
            "domain_event_bus.send",
            "state_event_bus.send",
            "wait.notify:PROCESSED",
        )
    )


def test_a_failed_append_loses_the_item_and_says_so() -> None:
    """Nothing is stored or published, the aggregate in memory is thrown away, and the command is acknowledged: it won't
    be delivered again."""
    (
        given(FIRST)
        .with_faults(faults.event_store.append.fails())
        .when(AddCartItem(product_id="p-2"))
        .expect_error(InjectedFault)
        .expect_emitted(SECOND)
        .expect_not_stored()
        .expect_not_published()
        .expect_command_state("EXPIRED")
        .expect_acknowledged(times=1)
        .expect_stage(PROCESSED, succeeded=False)
        .expect_state(items=[CartItem(product_id="p-1")])
    )


def test_a_slow_store_is_asked_again() -> None:
    """Time-outs are retried three times, after half a second and more of virtual time; the spec itself doesn't wait."""
    (
        given(FIRST)
        .with_faults(faults.event_store.append.times_out(times=3))
        .when(AddCartItem(product_id="p-2"))
        .expect_events(SECOND)
        .expect_attempts(4)
        .expect_acknowledged(times=1)
    )


def test_a_store_that_stays_slow_is_given_up() -> None:
    """Three retries, then the time-out is the outcome."""
    (
        given(FIRST)
        .with_faults(faults.event_store.append.times_out(times=4))
        .when(AddCartItem(product_id="p-2"))
        .expect_error(TimeoutError)
        .expect_attempts(4)
        .expect_not_stored()
    )


def test_the_item_is_in_the_cart_although_its_sender_was_told_of_a_failure() -> None:
    """The store appended, its reply was lost; the retry finds its own request id and takes it for a duplicate."""
    (
        given(FIRST)
        .with_faults(faults.event_store.append.loses_reply())
        .when(AddCartItem(product_id="p-2"))
        .expect_error(DuplicateRequestIdError)
        .expect_attempts(2)
        .expect_stored(SECOND)
        .expect_not_published()
    )


def test_two_people_in_one_cart() -> None:
    """Another writer is first with version 2: the conflict is retried on what is then the cart, and nothing is lost."""
    (
        given(FIRST)
        .with_faults(faults.event_store.append.rival_appends(SECOND))
        .when(AddCartItem(product_id="p-3"))
        .expect_events(CartItemAdded(added=CartItem(product_id="p-3")))
        .expect_all_events(SECOND, CartItemAdded(added=CartItem(product_id="p-3")))
        .expect_version(3)
        .expect_attempts(2)
    )


def test_a_rival_may_change_the_decision() -> None:
    """The retry decides anew: what was in the cart at first is there no more."""
    (
        given(FIRST)
        .with_faults(faults.event_store.append.rival_appends(CartItemRemoved(product_ids=frozenset({"p-1"}))))
        .when(ChangeQuantity(product_id="p-1", quantity=2))
        .expect_error(ValueError, match="p-1 is not in the cart")
        .expect_attempts(2)
        .expect_no_events()
    )


def test_stored_but_never_published() -> None:
    """No one downstream hears of the item. The stage fails, although the cart holds it."""
    (
        given(FIRST)
        .with_faults(faults.domain_event_bus.send.fails())
        .when(AddCartItem(product_id="p-2"))
        .expect_error(InjectedFault)
        .expect_stored(SECOND)
        .expect_not_published()
        .expect_state_event_not_published()
        .expect_acknowledged(times=1)
    )


def test_a_lost_state_event_is_logged_and_nobody_is_told() -> None:
    """Its failure is swallowed by the runtime, so the command succeeds."""
    (
        given(FIRST)
        .with_faults(faults.state_event_bus.send.fails())
        .when(AddCartItem(product_id="p-2"))
        .expect_stage(PROCESSED, succeeded=True)
        .expect_published(CartItemAdded)
        .expect_state_event_not_published()
        .expect_logged("state_event_bus.send", InjectedFault)
    )


def test_no_answer_is_not_a_failure() -> None:
    """The bus hangs; the sender gives up after its own deadline and knows nothing. The item is in the cart."""
    (
        given(FIRST)
        .with_faults(faults.domain_event_bus.send.hangs())
        .when(AddCartItem(product_id="p-2"))
        .expect_unknown_outcome()
        .expect_stored(SECOND)
        .expect_not_published()
    )


# --- every failure ordering of one command ----------------------------------------------------------------------------

ADDING = AddCartItem(product_id="p-2")
ALL_SINGLE_FAULTS = faults.along(given(FIRST).when(ADDING).run().trace)


@pytest.mark.parametrize("fault", ALL_SINGLE_FAULTS, ids=str)
def test_whatever_fails_an_item_is_added_once_or_not_at_all(fault: Fault) -> None:
    """Each legal fault at each point that the command passes, one at a time."""
    run = given(FIRST).with_faults(fault).when(ADDING).expect_any_outcome().run()

    assert run.stored in ([], [SECOND])
    assert run.stored == [SECOND] or not run.succeeded, "success was told, and nothing was stored"
    assert run.published in ([], run.stored), "what was published is what was stored"
    assert run.state.items == [FIRST.added, *(event.added for event in run.stored)]
