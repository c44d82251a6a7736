"""Specs of the sagas."""

from wowspec import (
    PROCESSED,
    SAGA_HANDLED,
    IllegalStateError,
    chain,
    command_builder,
    given,
    on,
    processed,
    saga_handled,
)

from .domain import (
    BookParcel,
    CancelParcel,
    Dispatch,
    LoadParcel,
    LoadRefused,
    Parcel,
    ParcelBooked,
    ParcelCancelled,
    ParcelLoaded,
    ParcelSealed,
    Refusals,
    Routing,
    SealParcel,
    Statuses,
    Twice,
    Van,
    VanCommissioned,
    fleet,
    parcels,
)

VAN = on(Van, "v-1", VanCommissioned(capacity=100))
BOOKED = ParcelBooked(van="v-1", kilos=3)
LOAD = LoadParcel(id="v-1", parcel="p-1", kilos=3)
SEAL = SealParcel(id="v-1", parcel="p-1")


class FixedRoute:
    def van_for(self, kilos: int) -> str:
        return "v-9"


class Inbox:
    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, text: str) -> None:
        self.sent.append(text)


def test_one_command():
    """What is booked is loaded."""
    given(Dispatch).when_event(BOOKED, aggregate_id="p-1").expect_commands(LOAD)


def test_several_commands():
    """What is insured is sealed, too."""
    booked = ParcelBooked(van="v-1", kilos=3, insured=True)
    given(Dispatch).when_event(booked, aggregate_id="p-1").expect_commands(LOAD, SEAL)


def test_no_command():
    """Without a van nothing is sent."""
    given(Dispatch).when_event(ParcelBooked(van="", kilos=3), aggregate_id="p-1").expect_no_commands()


def test_both_functions():
    """Both functions of one event run."""
    given(Twice).when_event(BOOKED, aggregate_id="p-1").expect_commands(LOAD, SEAL)


def test_only_one_function():
    """The function filter leaves one of the two."""
    given(Twice).when_event(BOOKED, aggregate_id="p-1", function="seal").expect_commands(SEAL)


def test_an_injected_service():
    """The service says which van; the envelope says whose."""
    (
        given(Routing)
        .inject(routes=FixedRoute())
        .when_event(BOOKED, aggregate_id="p-1")
        .expect_commands(command_builder(LoadParcel(id="v-9", parcel="p-1", kilos=3)).owner_id("dispatcher"))
    )


def test_an_event_of_the_other_context():
    """A saga of `parcels` hears of a refusal in `fleet`."""
    given(Refusals).when_event(LoadRefused(parcel="p-1", why="full")).expect_commands(
        CancelParcel(id="p-1", why="full")
    )


def test_the_sent_command_fails():
    """The sender is told of success; the van refused downstream."""
    (
        given(VAN)
        .using(Dispatch)
        .when(BookParcel(parcel_no="p-1", van="v-1", kilos=2000))
        .expect_succeeded()
        .expect_downstream_error(LoadParcel, IllegalStateError, match="ton")
        .expect_state(on(Van, "v-1"), load={})
    )


def test_compensation_end_to_end():
    """A full van refuses, the parcel is cancelled, the customer hears of it."""
    inbox = Inbox()
    (
        given(VAN)
        .using(parcels, fleet)
        .inject(sms=inbox)
        .when(BookParcel(parcel_no="p-1", van="v-1", kilos=101))
        .expect_causation(
            "BookParcel > ParcelBooked > Dispatch > LoadParcel > LoadRefused > Refusals > CancelParcel"
            " > ParcelCancelled > Notices"
        )
        .expect_state(status="cancelled")
        .expect_stored(on(Parcel, "p-1"), ParcelBooked(van="v-1", kilos=101), ParcelCancelled(why="full"))
        .expect_view("p-1", lambda status: status == "cancelled", projection=Statuses)
    )
    assert inbox.sent == ["p-1: full"]


def test_a_chain_wait():
    """The saga ran, and both of its commands were processed."""
    (
        given(VAN)
        .using(Dispatch)
        .when(
            BookParcel(parcel_no="p-1", van="v-1", kilos=10, insured=True),
            wait_for=chain(saga_handled("fleet", processor="Dispatch", function="booked"), then=processed()),
        )
        .expect_succeeded()
        .expect_stage(SAGA_HANDLED)
        .expect_stage(PROCESSED)
        .expect_stored(
            on(Van, "v-1"),
            VanCommissioned(capacity=100),
            ParcelLoaded(parcel="p-1", kilos=10),
            ParcelSealed(parcel="p-1"),
        )
    )


def test_a_chain_wait_hears_of_the_failure():
    """With a chain the sender does hear of what failed downstream."""
    (
        given(VAN)
        .using(Dispatch)
        .when(
            BookParcel(parcel_no="p-1", van="v-1", kilos=2000),
            wait_for=chain(saga_handled("fleet", processor="Dispatch"), then=processed()),
        )
        .expect_error(code="IllegalState", match="ton")
        .expect_downstream_error(LoadParcel, IllegalStateError)
    )
