"""A field of another aggregate's state is expected."""

from shop import Line, PlaceOrder, shop

from wowspec import spec


def test_tea_is_reserved():
    (
        spec()
        .using(shop)
        .when(PlaceOrder(id="o-1", customer="Ann", lines=[Line(product="tea")]))
        .expect_state(reserved=1)
    )
