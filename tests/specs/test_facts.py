"""Facts: a sequence of bodies that knows their classes."""

from __future__ import annotations

import copy
import operator
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from wowspec.messages.envelopes import DomainEvent
from wowspec.messages.header import Header
from wowspec.modeling.identity import AggregateRef
from wowspec.specs.facts import Facts
from wowspec.specs.matchers import ANY_EVENTS, some, unordered

from .shop import OrderCreated, OrderPaid, OrderPaidTwice, OrderShipped

CREATED = OrderCreated(id="o-1")
PAID = OrderPaid(id="o-1", total=3)
TWICE = OrderPaidTwice(id="o-1")


def facts() -> Facts:
    """Three bodies with envelopes."""
    ref = AggregateRef("shop", "order", "o-1")
    return Facts.of_envelopes(
        DomainEvent(f"e-{n}", body, ref, n, "event", "c-1", Header()) for n, body in enumerate((CREATED, PAID, TWICE))
    )


def test_asks_by_type():
    """`types` are exact, `of` and `count` take instances of a class."""
    assert facts().types == (OrderCreated, OrderPaid, OrderPaidTwice)
    assert facts().of(OrderPaid) == [PAID, TWICE]
    assert facts().count(OrderPaid) == 2
    assert facts().count(OrderShipped) == 0
    assert facts().count(PAID) == 1
    assert facts().count(some(OrderPaid)) == 1


def test_envelopes_stay_beside_their_bodies():
    """A part of the facts has the envelopes of that part."""
    assert [envelope.id for envelope in facts().envelopes] == ["e-0", "e-1", "e-2"]
    assert [envelope.id for envelope in facts().of(OrderPaid).envelopes] == ["e-1", "e-2"]
    assert [envelope.id for envelope in facts()[::2].envelopes] == ["e-0", "e-2"]
    assert Facts([CREATED]).envelopes == ()
    assert Facts([CREATED])[:1].envelopes == ()


def test_envelopes_must_be_as_many():
    """Envelopes that belong to nobody are refused."""
    with pytest.raises(ValueError, match="1 bodies, but 2 envelopes"):
        Facts([CREATED], [1, 2])


def test_is_a_sequence():
    """Length, index, slice, iteration, membership and truth are those of a sequence."""
    held = facts()

    assert isinstance(held, Sequence)
    assert (len(held), held[0], held[-1]) == (3, CREATED, TWICE)
    assert list(held) == [CREATED, PAID, TWICE]
    assert list(reversed(held)) == [TWICE, PAID, CREATED]
    assert PAID in held
    assert held.index(PAID) == 1
    assert not Facts()


def test_index_beyond_the_end_tells_what_there_is():
    """An index error names the facts."""
    with pytest.raises(IndexError, match=r"there is no \[3\]: 3 in all, Facts\("):
        facts()[3]


def test_equals_lists_and_tuples():
    """Equal to a list or tuple of equal bodies, matchers among them, from either side."""
    assert facts() == [CREATED, PAID, TWICE]
    assert operator.eq((CREATED, PAID, TWICE), facts())
    assert facts() != [CREATED, PAID]
    assert facts() == Facts([CREATED, PAID, TWICE])
    assert facts() == [CREATED, some(OrderPaid, total=3), TWICE]
    assert operator.eq([ANY_EVENTS, TWICE], facts())
    assert facts() == [unordered(TWICE, CREATED, PAID)]
    assert facts() != [unordered(TWICE, CREATED)]
    assert facts() != "abc"


def test_is_immutable():
    """Bodies can neither be set nor added, and facts have no hash, since bodies need not."""
    with pytest.raises(TypeError):
        facts()[0] = PAID
    with pytest.raises(AttributeError):
        facts().extra = 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(facts())


def test_shows_its_bodies():
    """The repr is code."""
    assert repr(facts()[:2]) == 'Facts([OrderCreated(id="o-1"), OrderPaid(id="o-1", total=3)])'
    assert copy.deepcopy(facts()) == facts()


@given(st.lists(st.integers(0, 3)), st.slices(6))
def test_behaves_like_a_tuple(bodies, part):
    """Whatever a tuple of the bodies answers, the facts answer."""
    held = Facts(bodies)

    assert list(held[part]) == bodies[part]
    assert [held.count(n) for n in range(4)] == [bodies.count(n) for n in range(4)]
    assert (held == bodies, bodies == held) == (True, True)
    assert held.count(int) == len(bodies)
