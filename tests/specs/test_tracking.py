"""Whom the end of a test judges."""

from __future__ import annotations

from wowspec.specs import tracking


class Judged:
    """Remembers what it was asked."""

    def __init__(self):
        self.said = []

    def settle(self):
        self.said.append("settle")

    def abandon(self):
        self.said.append("abandon")


def test_what_a_fixture_made_belongs_to_its_test_alone():
    """A test that runs inside another one, as where a plugin is tested, does not judge what is the outer one's."""
    other = Judged()
    tracking.expect(other)
    tracking.start()
    tracking.start()
    inner, outer = tracking.stop(), tracking.stop()

    assert (inner.others, outer.others) == ([], [other])
    tracking.forget(other)


def test_the_end_of_a_test_abandons_before_it_judges():
    """What could still move when a test has ended is given up, whoever made it."""
    tracking.start()
    other = Judged()
    tracking.watch(other)

    tracker = tracking.stop()

    assert other.said == ["abandon"]
    tracker.finish()
    assert other.said == ["abandon", "settle"]
