"""The runtime's rule of order: by value, then next to named classes."""

from __future__ import annotations

import pytest

from wowspec.modeling.ordering import ORDER_DEFAULT, ORDER_FIRST, ORDER_LAST, Order, sorted_by_order


def placed(**orders):
    """Names of elements in their order."""
    return "".join(sorted_by_order(orders, lambda name: orders[name], lambda name: name))


@pytest.mark.clause("NAM-022", "CMD-174")
@pytest.mark.parametrize(
    ("orders", "result"),
    [
        ({"a": Order(), "b": Order(), "c": Order()}, "abc"),
        ({"a": Order(2), "b": Order(1), "c": Order(2)}, "bac"),
        ({"a": Order(ORDER_LAST), "b": Order(), "c": Order(ORDER_FIRST)}, "cba"),
        ({"a": Order(), "b": Order(), "c": Order(before=("a",))}, "cab"),
        ({"a": Order(), "b": Order(), "c": Order(before=("b",))}, "acb"),
        ({"a": Order(after=("c",)), "b": Order(), "c": Order()}, "bca"),
        ({"a": Order(after=("b",)), "b": Order(), "c": Order()}, "bac"),
        ({"a": Order(), "b": Order(), "c": Order(before=("b", "a"))}, "cab"),
        ({"a": Order(5), "b": Order(1, after=("a",))}, "ab"),
        ({"a": Order(), "b": Order(after=("a",)), "c": Order(after=("a",))}, "abc"),
        ({"a": Order(before=("b",)), "b": Order(), "c": Order()}, "abc"),
        ({"a": Order(after=("x",)), "b": Order(before=("y",))}, "ab"),
        ({"a": Order(ORDER_FIRST), "b": Order(ORDER_FIRST, before=("a",))}, "ba"),
        ({"a": Order(after=("b",)), "b": Order(after=("a",))}, "ab"),
    ],
)
def test_where_elements_come(orders, result):
    """Stable by value; relative rules beat values, and move an element only if it is on the wrong side."""
    assert placed(**orders) == result


@pytest.mark.clause("NAM-022")
def test_the_limits():
    """First and last are the least and the greatest 32-bit integer; without an order it is 0."""
    assert (ORDER_FIRST, ORDER_DEFAULT, ORDER_LAST) == (-(2**31), 0, 2**31 - 1)
    assert Order().value == ORDER_DEFAULT


@pytest.mark.clause("NAM-022")
def test_exact_classes():
    """A name stands for a class itself, not for what inherits from it."""

    class Base:
        order = Order()

    class Sub(Base):
        order = Order()

    class Before(Base):
        order = Order(before=(Base,))

    items = [Sub(), Before()]

    assert sorted_by_order(items, lambda item: item.order) == items


@pytest.mark.clause("NAM-022")
def test_the_first_of_a_class_is_the_one_that_counts():
    """Also for one that names its own class: the first of it stays, each later one has the first to look at."""
    names_itself = Order(after=("b",), before=("b",))
    items = [("b", 1, Order()), ("d", 2, Order(after=("b",))), ("d", 3, Order()), ("b", 4, names_itself)]

    def tags(*rows):
        return [tag for _, tag, _ in sorted_by_order(rows, lambda row: row[2], lambda row: row[0])]

    assert tags(*items) == [4, 1, 2, 3]
    assert tags(items[3], *items[:3]) == [4, 1, 2, 3]
