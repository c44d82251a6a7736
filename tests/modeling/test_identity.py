"""Named aggregates, aggregate ids and functions as values."""

from __future__ import annotations

import pytest

from wowspec import AggregateRef
from wowspec.errors import IllegalArgumentError
from wowspec.modeling.identity import (
    DEFAULT_OWNER_ID,
    DEFAULT_SPACE_ID,
    DEFAULT_TENANT_ID,
    FunctionInfo,
    FunctionKind,
    NamedAggregate,
    java_string_hash,
    unknown_function,
)

ID = AggregateRef("shop", "cart", "c-1", "north")


@pytest.mark.clause("NAM-001")
def test_named_aggregates_are_equal_by_both_names():
    """Context and aggregate name."""
    assert NamedAggregate("shop", "cart") == NamedAggregate("shop", "cart")
    assert NamedAggregate("shop", "cart") != NamedAggregate("toys", "cart")
    assert NamedAggregate("shop", "cart") != NamedAggregate("shop", "order")
    assert ID.named_aggregate == NamedAggregate("shop", "cart")


@pytest.mark.clause("NAM-004", "CMD-044")
@pytest.mark.parametrize(
    "other",
    [
        AggregateRef("toys", "cart", "c-1", "north"),
        AggregateRef("shop", "order", "c-1", "north"),
        AggregateRef("shop", "cart", "c-2", "north"),
        AggregateRef("shop", "cart", "c-1", "south"),
    ],
    ids=["context", "aggregate", "id", "tenant"],
)
def test_aggregate_ids_are_equal_by_all_four_texts(other):
    """One that differs is enough."""
    same = AggregateRef("shop", "cart", "c-1", "north")

    assert same == ID
    assert hash(same) == hash(ID)
    assert other != ID


@pytest.mark.clause("NAM-005", "CMD-044")
def test_ids_of_one_aggregate_are_ordered_by_id_text_alone():
    """The tenant takes no part; other aggregates have no order among them."""
    one, two = AggregateRef("shop", "cart", "9", "z"), AggregateRef("shop", "cart", "B", "a")

    assert one < two
    assert not two < one
    with pytest.raises(IllegalArgumentError, match="different aggregates"):
        assert one < AggregateRef("shop", "order", "B")
    with pytest.raises(IllegalArgumentError, match="different aggregates"):
        assert one < AggregateRef("toys", "cart", "B")


@pytest.mark.clause("NAM-006", "CMD-162")
def test_the_group_depends_on_the_id_text_alone():
    """The floor modulo of the runtime's own text hash, never negative; surrogate pairs count as two units."""
    assert java_string_hash("") == 0
    assert java_string_hash("abc") == 96354
    assert java_string_hash("polygenelubricants") == -(2**31)
    assert java_string_hash("😀") == 0xD83D * 31 + 0xDE00
    assert AggregateRef("a", "b", "polygenelubricants").mod(7) == (-(2**31)) % 7
    assert ID.mod(64) == AggregateRef("x", "y", ID.id).mod(64)


@pytest.mark.clause("NAM-007")
def test_text_forms():
    """Short for people: the tenant shows only where it is not the default one."""
    assert str(ID) == "cart(c-1@north)"
    assert str(AggregateRef("shop", "cart", "c-1")) == "cart(c-1)"


@pytest.mark.clause("NAM-008")
def test_defaults():
    """The default tenant has a name, owner and space are empty."""
    assert (DEFAULT_TENANT_ID, DEFAULT_OWNER_ID, DEFAULT_SPACE_ID) == ("(0)", "", "")
    assert AggregateRef("shop", "cart", "c-1").tenant_id == "(0)"


@pytest.mark.clause("EVT-107", "EVT-108")
def test_functions_are_the_same_by_all_four_parts():
    """Kind, context, processor and name; one with blank names is empty."""
    function = FunctionInfo(FunctionKind.EVENT, "shop", "View", "on_event")

    assert function.is_same_function(FunctionInfo(FunctionKind.EVENT, "shop", "View", "on_event"))
    for other in (
        FunctionInfo(FunctionKind.COMMAND, "shop", "View", "on_event"),
        FunctionInfo(FunctionKind.EVENT, "toys", "View", "on_event"),
        FunctionInfo(FunctionKind.EVENT, "shop", "Other", "on_event"),
        FunctionInfo(FunctionKind.EVENT, "shop", "View", "other"),
    ):
        assert not function.is_same_function(other)
    assert FunctionInfo(FunctionKind.EVENT, "", " ", "").is_empty
    assert not function.is_empty


@pytest.mark.clause("CMD-338")
def test_the_placeholder_function():
    """A message that met no function names an unknown one of its context."""
    assert unknown_function("shop") == FunctionInfo(FunctionKind.ERROR, "shop", "Unknown", "Unknown")
