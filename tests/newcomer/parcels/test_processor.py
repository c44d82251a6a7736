"""Specs of the event processor."""

from wowspec import EVENT_HANDLED, event_handled, faults, given, on

from .domain import CancelParcel, Notices, Parcel, ParcelBooked, ParcelCancelled

BOOKED = on(Parcel, "p-1", ParcelBooked(van="v-1", kilos=1))


class Sms:
    """Keeps what was sent; times out as often as it is told."""

    def __init__(self, time_outs: int = 0) -> None:
        self.time_outs = time_outs
        self.sent: list[str] = []

    def send(self, text: str) -> None:
        if self.time_outs:
            self.time_outs -= 1
            raise TimeoutError("no answer of the SMS service")
        self.sent.append(text)


def test_a_notice():
    """The customer is told."""
    sms = Sms()
    given(Notices).inject(sms=sms).when_event(ParcelCancelled(why="full"), aggregate_id="p-1").run()
    assert sms.sent == ["p-1: full"]


def test_a_service_that_times_out_once():
    """The function runs again, and the sender that waits hears of success."""
    sms = Sms(time_outs=1)
    (
        given(BOOKED)
        .using(Notices)
        .inject(sms=sms)
        .when(CancelParcel(id="p-1", why="full"), wait_for=event_handled("parcels", processor="Notices"))
        .expect_succeeded()
        .expect_stage(EVENT_HANDLED)
    )
    assert sms.sent == ["p-1: full"]


def test_a_service_fault_that_times_out_once():
    """The same by a fault of the service, armed by its name."""
    sms = Sms()
    (
        given(BOOKED)
        .using(Notices)
        .inject(sms=sms)
        .with_faults(faults.service("sms").send.times_out())
        .when(CancelParcel(id="p-1", why="full"))
        .expect_fired(1)
        .expect_succeeded()
    )
    assert sms.sent == ["p-1: full"]
