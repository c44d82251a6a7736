"""A spec without an expectation stands within pytest.raises."""

import pytest
from shop import Line, OrderPlaced, ShipOrder

from wowspec import IllegalStateError, given


def test_an_unpaid_order_is_not_shipped():
    with pytest.raises(IllegalStateError):
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")])).when(ShipOrder(id="o-1"))
