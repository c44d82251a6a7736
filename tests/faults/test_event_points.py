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
