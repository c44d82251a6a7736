"""Specs of the projections."""

import pytest

from wowspec import (
    CommandResultError,
    CommandStage,
    InjectedFault,
    SpecError,
    SpecFailure,
    faults,
    given,
    on,
    projected,
)

from .domain import (
    LoadParcel,
    Loads,
    Parcel,
    ParcelBooked,
    ParcelCancelled,
    ParcelLoaded,
    ParcelState,
    Statuses,
    Van,
    VanCommissioned,
)

VAN = on(Van, "v-1", VanCommissioned(capacity=100))
LOADED = ParcelLoaded(parcel="p-1", kilos=3)
LOAD = LoadParcel(id="v-1", parcel="p-1", kilos=3)
to_loads = projected("fleet", processor="Loads", function="loaded")


def test_rows():
    """A row for each van."""
    (
        given(Loads, on(Van, "v-1", VanCommissioned(capacity=9), LOADED, ParcelLoaded(parcel="p-2", kilos=4)))
        .expect_view("v-1", parcels=2, kilos=7)
        .expect_no_view("v-2")
    )


def test_an_event_it_does_not_know():
    """In a history an unknown event changes nothing."""
    given(Loads, VAN).expect_no_view("v-1")


def test_an_event_it_does_not_know_alone():
    """An unknown event alone is the author's mistake."""
    with pytest.raises(SpecError, match="no event function of Loads takes VanCommissioned"):
        given(Loads).when_event(VanCommissioned(capacity=1), aggregate_id="v-1").run()


def test_idempotent():
    """A state projection may hear twice."""
    given(Statuses, on(Parcel, "p-1", ParcelBooked(van="v-1", kilos=1))).expect_idempotent()


def test_a_sum_is_not_idempotent():
    """A sum may not, and the kit says so."""
    with pytest.raises(SpecFailure, match="not idempotent"):
        given(Loads, on(Van, "v-1", VanCommissioned(capacity=9), LOADED)).expect_idempotent()


def test_a_state_event_function():
    """The row follows the state after the history."""
    (
        given(Statuses, on(Parcel, "p-1", ParcelBooked(van="v-1", kilos=1), ParcelCancelled(why="x"))).expect_view(
            "p-1", lambda status: status == "cancelled"
        )
    )


def test_a_state_event_function_alone():
    """The state is given with the event."""
    (
        given(Statuses)
        .when_event(ParcelCancelled(why="x"), state=ParcelState(id="p-1", status="cancelled"), aggregate_id="p-1")
        .expect_view("p-1", lambda status: status == "cancelled")
    )


def test_a_delivery_that_times_out_is_retried():
    """One time-out costs time, no row."""
    (
        given(VAN)
        .using(Loads)
        .with_faults(faults.event.deliver(Loads).times_out())
        .when(LOAD)
        .expect_fired(1)
        .expect_view("v-1", parcels=1, kilos=3)
    )


def test_a_delivery_that_fails_is_not_retried():
    """An error of no known kind costs the row; the sender hears nothing."""
    (
        given(VAN)
        .using(Loads)
        .with_faults(faults.event.deliver(Loads).fails())
        .when(LOAD)
        .expect_succeeded()
        .expect_fired(1)
        .expect_downstream_error(Loads, InjectedFault)
        .expect_no_view("v-1")
    )


def test_projected_through_the_gateway(gateway):
    """The answer comes once the projection has handled the event."""
    gateway.world.given(VAN)
    gateway.world.using(Loads)
    result = gateway.send_and_wait(LOAD, wait_for=to_loads)
    assert result.stage is CommandStage.PROJECTED
    assert gateway.world.stored(Van, "v-1") == [VanCommissioned(capacity=100), LOADED]


def test_projected_fails_through_the_gateway(gateway):
    """A projection that fails is told to a sender that waits for it."""
    gateway.world.given(VAN)
    gateway.world.using(Loads)
    gateway.world.arm(faults.event.deliver(Loads).fails())
    with pytest.raises(CommandResultError, match="injected"):
        gateway.send_and_wait(LOAD, wait_for=to_loads)
