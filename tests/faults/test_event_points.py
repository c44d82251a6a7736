"""Which function a fault at a delivery strikes."""

from __future__ import annotations

import pytest

from wowspec import SpecError, event_processor, faults, on_event


class Counted:
    """Something happened."""


@event_processor(context="along")
class Two:
    """Two functions, so that one has to be named."""

    @on_event
    def first(self, event: Counted) -> None: ...

    @on_event
    def second(self, event: Counted) -> None: ...


def test_which_function_an_event_reaches():
    """A fault at a delivery is of one function: the only one, or the one that is named."""
    assert str(faults.event.deliver(Two, "second").hangs()) == "event.deliver:Two.second@1=hang"
    with pytest.raises(SpecError, match=r"deliver\(Two\).*which function.*(?s:.)*first, second"):
        faults.event.deliver(Two)
    with pytest.raises(SpecError, match="'third'"):
        faults.event.deliver(Two, "third")


@pytest.mark.parametrize(
    ("target", "instead"),
    [(Two.first, "faults.event.deliver(Two, 'first')"), ("Two.first", "faults.event.deliver('Two', 'first')")],
    ids=["function", "text"],
)
def test_a_function_is_told_by_its_class_and_name(target, instead):
    """Neither the function itself nor one text for both makes a point."""
    with pytest.raises(SpecError) as caught:
        faults.event.deliver(target)
    assert caught.value.instead == instead


def test_a_fault_of_a_whole_service():
    """A verb after the service would be taken for its method; the method is missing."""
    with pytest.raises(SpecError) as caught:
        faults.service("fees").fails()
    assert caught.value.what == "faults.service('fees').fails(...): which method of the service?"
    assert caught.value.instead == "faults.service('fees').charge.fails(), for its method charge"


def test_a_point_is_no_function():
    """Without a verb nothing goes wrong there."""
    with pytest.raises(SpecError, match=r"the point event_store\.append was called\n(.|\n)*append\.fails\(\)"):
        faults.event_store.append()
