"""A test within a test: what its end would say of the specs that it made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wowspec.specs import tracking


@contextmanager
def a_test() -> Iterator[None]:
    """What is done within is judged when it ends, as the plugin judges a test that passed."""
    tracking.start()
    try:
        yield
    except BaseException:
        tracking.stop()
        raise
    tracker = tracking.stop()
    assert tracker is not None
    tracker.finish()
