"""Plans that say the same of another aggregate are left out, where that is provably the same."""

from __future__ import annotations

import pytest

from tests.exploration.shop import Order, OrderBoard, PayOrder, PlaceOrder
from wowspec import advance, given, spec
from wowspec.exploration.explorer import Explorer
from wowspec.exploration.playing import Way


def explorer(said):
    """An explorer of a spec's steps."""
    said.run()
    return Explorer(Way(tuple(said._node.path())))


def chains(said):
    """The chains of the plans of one fault, and how many plans were left out."""
    found = explorer(said)
    return {plan.faults[0].address.chain for plan in found.singles()}, found.symmetric


def two(said, first="o-1", second="o-2", **more):
    """Two orders, placed alike."""
    return said.when(PlaceOrder(id=first)).when(PlaceOrder(id=second, **more))


def test_commands_of_aggregates_that_are_alike_are_explored_once():
    """Two orders, given and sent the same but for their ids."""
    plans = explorer(spec(Order).when(PlaceOrder(id="o-1"))).singles()
    assert chains(two(spec(Order))) == ({"PlaceOrder"}, len(plans))
    history = given(PlaceOrder(id="o-1"), PlaceOrder(id="o-2")).when(PayOrder(id="o-1")).when(PayOrder(id="o-2"))
    assert chains(history)[0] == {"PlaceOrder", "PayOrder"}


@pytest.mark.parametrize(
    "said",
    [
        two(spec(Order), quantity=2),
        two(spec(Order).using(OrderBoard)),
        two(spec(Order).inject(note="a service")),
        two(spec(Order)).always(lambda world: world.aggregate(Order, "o-1").version <= 1),
        two(spec(Order)).when(PayOrder(id="o-1")),
        spec(Order).when(PlaceOrder(id="o-1")).given(advance(hours=1)).when(PlaceOrder(id="o-2")),
        spec(Order).when(PlaceOrder(id="o-1"), owner_id="u-1").when(PlaceOrder(id="o-2"), owner_id="u-2"),
        spec(Order).when(PlaceOrder(id="o-1"), request_id="r-1").when(PlaceOrder(id="o-2")),
    ],
    ids=["fields", "projection", "service", "condition", "later", "time", "owner", "request"],
)
def test_whatever_tells_them_apart_keeps_both(said):
    """Fields, somebody who listens, a service, a condition, a later command, a time, an owner, a request id."""
    found, left_out = chains(said)
    assert {"PlaceOrder", "PlaceOrder#2"} <= found
    assert left_out == 0


def test_what_is_left_out_finds_the_same():
    """The plans at the second order break the laws that those at the first one break."""
    found = explorer(two(spec(Order)))
    first = {}
    for plan in found.singles():
        result, _ = found.run(plan)
        first[str(plan)] = result.finding.laws if result.finding else []
    for text, laws in first.items():
        plan = type(found.singles()[0]).parse(text.replace("PlaceOrder/", "PlaceOrder#2/"))
        result, _ = found.run(plan)
        assert (result.finding.laws if result.finding else []) == laws
        assert result.unreached == []
