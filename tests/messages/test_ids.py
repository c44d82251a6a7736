"""Global ids: deterministic, growing as texts, telling their machine."""

from __future__ import annotations

from itertools import pairwise

import pytest

from wowspec.errors import IllegalArgumentError
from wowspec.messages.ids import (
    DEFAULT_MACHINE_ID,
    ID_CHARS,
    SEQUENCE_CHARS,
    IdGenerator,
    from_radix62,
    machine_id_of,
    to_radix62,
)

MILLIS = 1_700_000_000_000


@pytest.mark.clause("CMD-035", "NAM-020")
def test_ids_grow_as_texts():
    """Also over a full sequence within one millisecond, and when the clock stands still or goes back."""
    generator = IdGenerator()
    count = 62**SEQUENCE_CHARS + 10

    ids = [generator.next_id(MILLIS) for _ in range(count)]
    ids += [generator.next_id(MILLIS - 5), generator.next_id(MILLIS + 1), generator.next_id(MILLIS + 10_000)]

    assert all(one < two for one, two in pairwise(ids))
    assert {len(one) for one in ids} == {ID_CHARS}


@pytest.mark.clause("NAM-020", "CMD-432")
def test_an_id_tells_its_machine():
    """A waiting process recognises the ids that it made."""
    assert machine_id_of(IdGenerator().next_id(MILLIS)) == DEFAULT_MACHINE_ID
    assert machine_id_of(IdGenerator(1_048_575).next_id(MILLIS)) == 1_048_575


@pytest.mark.clause("CMD-433")
@pytest.mark.parametrize("text", ["", "too-short", "0" * (ID_CHARS + 1), "0" * (ID_CHARS - 1) + "-"])
def test_a_text_of_another_layout_has_no_machine(text):
    """Length and alphabet must fit."""
    with pytest.raises(IllegalArgumentError):
        machine_id_of(text)


def test_the_same_calls_give_the_same_ids():
    """A copy goes on from where its original stands, on its own."""
    one, two = IdGenerator(), IdGenerator()
    assert [one.next_id(MILLIS) for _ in range(3)] == [two.next_id(MILLIS) for _ in range(3)]

    copied = one.copy()

    assert copied.next_id(MILLIS) == one.next_id(MILLIS)
    one.next_id(MILLIS)
    assert copied.next_id(MILLIS) < one.next_id(MILLIS)


@pytest.mark.parametrize("value", [0, 61, 62, 3843, 62**4 - 1])
def test_radix_62_reads_what_it_wrote(value):
    """Text of a fixed width, digits before capitals before small letters."""
    text = to_radix62(value, 4)

    assert len(text) == 4
    assert from_radix62(text) == value
