"""An entry of the header is not there."""

from shop import Line, PlaceOrder

from wowspec import given


def test_the_trace_is_handed_on():
    (
        given()
        .when(PlaceOrder(id="o-1", customer="Ann", lines=[Line(product="tea")]), header={"trace_id": "t-1"})
        .expect_header(traceid="t-1")
    )
