"""Defects of domains: a sweep finds each one by a minimal plan, and finds nothing in its corrected twin."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.exploration.defects import archives, deliveries, notes, payments, replicas, reservations, sales, snapshots
from tests.exploration.defects.sweeping import assert_due_to_domain, assert_nothing_found, sweep
from wowspec import Context, Spec, SpecFailure, explore_faults
from wowspec.faults.plans import Plan

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

Test = Callable[[Spec[Any]], Any]


def sent(context: Context, *commands: object) -> Test:
    """A test that sends commands, and says nothing more."""

    def test(spec: Spec[Any]) -> None:
        steps = spec.using(context)
        for command in commands:
            steps = steps.when(command)
        steps.run()

    return test


def pay(provider: type[payments.Provider], spec: Spec[Any]) -> None:
    """A bill is issued, and paid through a provider."""
    bill = spec.using(payments.Bill).inject_factory(provider=provider)
    bill.given(payments.Issue(id="b-1")).when(payments.Pay(id="b-1")).run()


def write(context: Context, spec: Spec[Any]) -> None:
    """A document is written, kept in one store and listed in another."""
    stores = spec.using(context).inject_factory(shelf=archives.Shelf, register=archives.Register)
    stores.when(archives.Write(id="d-1", text="text")).run()


def save(disks: type[replicas.Replicas], spec: Spec[Any]) -> None:
    """A file is saved; whoever is told so can rely on it."""
    (
        spec.using(replicas.File)
        .inject_factory(replicas=disks)
        .when(replicas.Save(id="f-1", content="text"))
        .always(lambda world: world.service("replicas").holds("f-1") or not world.state(replicas.File, "f-1").saved)
    )


def read(store: type[snapshots.Snapshots], spec: Spec[Any]) -> None:
    """A meter is read; no snapshot is of a version that is not stored."""
    (
        spec.using(snapshots.meters)
        .inject_factory(snapshots=store)
        .when(snapshots.Read(id="m-1", reading=3))
        .eventually(
            lambda world: world.service("snapshots").version("m-1") <= world.aggregate(snapshots.Meter, "m-1").version
        )
    )


RESERVED = [reservations.PlaceOrder(id="o-1")]
SOLD = [sales.Sell(id="shop", amount=3), sales.Sell(id="shop", amount=4)]
DELIVERED = [deliveries.PlaceOrder(id="o-1")]
TAKEN = [notes.Take(id="n-1", text="text")]

#: What the defect is, its test, the twin's test, profile, plan, law.
SINGLES = [
    pytest.param(
        sent(reservations.defective, *RESERVED),
        sent(reservations.corrected, *RESERVED),
        "kafka",
        "PlaceOrder>OrderPlaced>TwoAtOnce>PrintLabel/command_bus.send@1=timeout",
        "saga_completeness",
        id="a saga of two commands that runs again",
    ),
    pytest.param(
        sent(reservations.defective, *RESERVED),
        sent(reservations.corrected, *RESERVED),
        "in_memory",
        "PlaceOrder>OrderPlaced>TwoAtOnce>Reserve/command_bus.send@1=ack_lost",
        "saga_completeness",
        id="a saga of two commands whose first one was sent",
    ),
    pytest.param(
        sent(sales.defective, *SOLD),
        sent(sales.corrected, *SOLD),
        "kafka",
        "Sell>Sold/event.deliver:AddsUp.sold@1=duplicate",
        "convergence",
        id="a projection that is not idempotent",
    ),
    pytest.param(
        partial(read, snapshots.Snapshots),
        partial(read, snapshots.PatientSnapshots),
        "in_memory",
        "Read/event_store.append@1=fail",
        "eventually",
        id="a snapshot store that runs ahead of the head",
    ),
    pytest.param(
        sent(deliveries.defective, *DELIVERED),
        sent(deliveries.corrected, *DELIVERED),
        "kafka",
        "PlaceOrder>OrderPlaced>ShelfSaga>Pick/domain_event_bus.send@1=delay",
        "no_swallowed_error",
        id="a saga that needs an order between aggregates",
    ),
    pytest.param(
        sent(notes.defective, *TAKEN),
        sent(notes.corrected, *TAKEN),
        "in_memory",
        "Take>Taken>Swallows/projection.write:Swallows@1=timeout",
        "convergence",
        id="an event function that swallows errors",
    ),
    pytest.param(
        partial(pay, payments.Provider),
        partial(pay, payments.KeyedProvider),
        "in_memory",
        "Pay/payment.charge@1=ack_lost",
        "exactly_once",
        id="a retry that charges twice, since the reply was lost",
    ),
    pytest.param(
        partial(pay, payments.Provider),
        partial(pay, payments.KeyedProvider),
        "in_memory",
        "Pay/event_store.append@1=timeout",
        "exactly_once",
        id="a retry that charges twice, since the store was slow",
    ),
    pytest.param(
        partial(write, archives.defective),
        partial(write, archives.corrected),
        "kafka",
        "Write>Written>KeepsThenLists/shelf.put@1=crash_after",
        "convergence",
        id="a crash between two stores",
    ),
]


@pytest.mark.parametrize(("test", "twin", "profile", "plan", "law"), SINGLES)
def test_one_fault_shows_a_defect_of_the_domain(test, twin, profile, plan, law):
    """One fault breaks a law, for good and due to the domain: the test fails, and so it does under this plan alone."""
    found = sweep(test, profile=profile)

    assert_due_to_domain(found, plan, law)
    assert len(Plan.parse(plan)) == 1
    with pytest.raises(SpecFailure, match=re.escape(f"plan   {plan}")):
        explore_faults.example(plan)(explore_faults(depth=0, profile=profile)(test))()


@pytest.mark.parametrize(("test", "twin", "profile", "plan", "law"), SINGLES)
def test_nothing_is_found_once_the_defect_is_mended(test, twin, profile, plan, law):
    """The twin passes the same sweep."""
    assert_nothing_found(sweep(twin, profile=profile))


def test_two_faults_are_harmless_alone():
    """One disk or the other: nothing is found. Both: what was told to be saved is nowhere."""
    alone = sweep(partial(save, replicas.Replicas))
    together = sweep(partial(save, replicas.Replicas), depth=2, points=["left.write", "right.write"], kinds=["fail"])

    assert_nothing_found(alone)
    assert together.plans == ["Save/left.write@1=fail; Save/right.write@1=fail"]
    assert_due_to_domain(together, together.plans[0], "always")


def test_the_pair_is_found_among_all_pairs():
    """Nobody has to say where to look: of all pairs, those are found in which both disks fail."""
    found = sweep(partial(save, replicas.Replicas), depth=2)

    plans = [plan.partition("; ") for plan in found.due_to_domain()]
    assert plans
    assert {(first.partition("@")[0], second.partition("@")[0]) for first, _, second in plans} == {
        ("Save/left.write", "Save/right.write")
    }


def test_the_twin_of_the_pair_passes():
    """Where neither disk has it, the command fails, and nothing is found at the same depth."""
    assert_nothing_found(sweep(partial(save, replicas.CheckedReplicas), depth=2))
