"""`assert_type` says what an editor completes."""

from __future__ import annotations

from typing import Any, assert_type

import wowspec as ws
from wowspec import Fault, Run, Spec, faults, given, on, spec
from wowspec.specs.facts import Facts
from wowspec.specs.fixtures import Factory

from .domain import Account, AddItem, Board, Cart, CartState, ItemAdded, Purse, Task, Wallet


def of_a_state_of_its_own(wowspec: Factory) -> None:
    assert_type(spec(Cart), Spec[CartState])
    assert_type(ws.spec(Cart), Spec[CartState])
    assert_type(wowspec(Cart), Spec[CartState])
    assert_type(wowspec(), Spec[Any])
    assert_type(spec(), Spec[Any])
    assert_type(given(ItemAdded(name="a")), Spec[Any])


def of_one_class() -> None:
    assert_type(spec(Account), Spec[Account])
    assert_type(spec(Task), Spec[Task])
    assert_type(spec(Board), Spec[Board])


def of_a_decider() -> None:
    assert_type(spec(Wallet), Spec[Purse])


def through_each_verb() -> None:
    assert_type(
        spec(Cart)
        .given(ItemAdded(name="a"))
        .given_state(CartState(id="c-1"))
        .using(Cart)
        .inject(a=1)
        .inject_factory(list)
        .with_faults(faults.event_store.append.fails())
        .without_law("replay_equality")
        .advance(hours=1)
        .when(AddItem(name="b"))
        .expect_events(ItemAdded(name="b"))
        .expect_no_events()
        .soft()
        .expect_error(ValueError, match="x", code="y")
        .fork("a", lambda branch: assert_type(branch, Spec[CartState]))
        .expect_state(lambda cart: len(cart.items) == 1),
        Spec[CartState],
    )


def of_functions() -> None:
    cart = spec(Cart).when(AddItem(name="b"))
    cart.expect_state(lambda state: assert_type(state, CartState) is not None)
    cart.expect_state(on(Account, "a-1"), lambda state: True)
    cart.when(lambda run: assert_type(run, Any))
    # A slip in a state's field is found before any spec runs.
    cart.expect_state(lambda state: state.itms == [])  # type: ignore[attr-defined]
    cart.expect_error(ValueError("x"))  # type: ignore[arg-type]


def of_runs() -> None:
    run = spec(Cart).when(AddItem(name="b")).run()
    assert_type(run, Run)
    assert_type(run.stored, Facts[Any])
    assert_type(run.stored.of(ItemAdded), Facts[ItemAdded])
    assert_type(run.stored.of(ItemAdded)[0], ItemAdded)
    assert_type(run.succeeded, bool)
    assert_type(run.aggregate_id, str)


def of_faults() -> None:
    assert_type(faults.event_store.append.fails(times=2), Fault)
    assert_type(faults.event.deliver(Cart, "on_event").times_out(), Fault)
    assert_type(faults.service("payment").charge.fails(), Fault)
    # Slips in a group, a point, a verb or an option of a fault.
    faults.store.append.fails()  # type: ignore[attr-defined]
    faults.event_store.apend.fails()  # type: ignore[attr-defined]
    faults.event_store.append.fail()  # type: ignore[attr-defined]
    faults.event_store.append.fails(time=2)  # type: ignore[arg-type]
    faults.event_store.append()  # type: ignore[operator]


def of_options() -> None:
    cart = spec(Cart)
    add = AddItem(name="b")
    cart.when(add, owner_id="u-1", request_id="r-1", expected_version=2, header={"a": "b"}, wait_for=ws.snapshot())
    cart.when(AddItem, name="b")
    cart.when(ws.command_of(AddItem, name="b"), tenant_id="t-1")
    ws.sent_as(add, owner_id="u-1")
    # A slip in an option's name, or in its type.
    cart.when(add, owner="u-1")  # type: ignore[call-overload]
    cart.when(add, owner_id=5)  # type: ignore[call-overload]
    cart.when(lambda run: add, owner="u-1")  # type: ignore[call-overload]
    ws.sent_as(add, owner="u-1")  # type: ignore[call-arg]


def of_names() -> None:
    cart = spec(Cart).when(AddItem(name="b"))
    cart.expect_stage(ws.PROCESSED).expect_stage("PROCESSED").expect_command_state("EXPIRED")
    cart.expect_stage("PROCESED")  # type: ignore[arg-type]
    cart.expect_command_state("EXPIRE")  # type: ignore[arg-type]
    # A slip in a verb.
    cart.expect_event_s(AddItem)  # type: ignore[attr-defined]
