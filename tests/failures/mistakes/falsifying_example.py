"""A property does not hold under every fault; the example that shows it has a plan."""

from hypothesis import settings, strategies as st
from shop import Line, Order, OrderPaid, OrderPlaced, PayOrder

from wowspec import failure_orderings


@settings(derandomize=True, database=None, max_examples=50, print_blob=False)
@failure_orderings(Order, max_faults=1, laws=False, amount=st.integers(1, 99))
def test_whatever_is_stored_is_published(ordering, amount):
    run = (
        ordering.given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .when(PayOrder(id="o-1", amount=amount))
        .run()
    )
    assert run.published.count(OrderPaid) == run.stored.count(OrderPaid)
