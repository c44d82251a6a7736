"""A plan survives what does not concern it: added fields, renumbered ids, handlers in another order."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from tests.exploration import shop_later
from tests.exploration.shop import Order, OrderSaga, PayOrder, PlaceOrder, Stock, safe_shop, shop
from wowspec import Context, DomainEvent, given, on_event, projection, spec
from wowspec.exploration.playing import Way, play
from wowspec.faults.plans import Address, Plan
from wowspec.specs.builder import Spec

PLANS = [
    "PlaceOrder/event_store.append@1=ack_lost",
    "PlaceOrder>OrderPlaced>OrderSaga>ReserveStock/event_store.append@1=timeout x2",
    (
        "PlaceOrder>OrderPlaced/event.deliver:OrderSaga.placed@1=timeout; "
        "PlaceOrder>OrderPlaced>OrderSaga>ReserveStock/command_bus.send@1=fail"
    ),
    "PayOrder/domain_event_bus.send@1=fail",
]


def way_of(said: Spec[Any]) -> Way:
    """The steps of a spec."""
    return Way(tuple(said.run() and said._node.path()))


def steps(said: Spec[Any]) -> Spec[Any]:
    """An order is placed, and paid."""
    return said.when(PlaceOrder(id="o-1")).when(PayOrder(id="o-1"))


class Other(BaseModel):
    pass


@projection(context="shop")
class ElsewhereBoard:
    @on_event
    def other(self, event: DomainEvent[Other]) -> None: ...


def struck(way: Way, text: str) -> list[str]:
    """Which faults of a plan struck."""
    armory = play(way, Plan.parse(text)).armory
    return [str(strike.fault) for strike in armory.strikes if strike.struck]


@pytest.mark.parametrize("text", PLANS)
def test_the_plan_strikes(text):
    """Each fault of each plan strikes in the domain that it was made for."""
    assert struck(way_of(steps(spec().using(safe_shop))), text) == text.split("; ")


@pytest.mark.parametrize("text", PLANS)
def test_ids_and_history_are_others(text):
    """More history before it renumbers every id, and an order of another name is another aggregate."""
    said = given(PlaceOrder(id="o-0"), PayOrder(id="o-0")).using(shop)
    renamed = said.when(PlaceOrder(id="o-77", sku="s-9")).when(PayOrder(id="o-77"))
    second = text.replace("PlaceOrder", "PlaceOrder#2").replace("PayOrder", "PayOrder#2")
    assert struck(way_of(renamed), second) == second.split("; ")


@pytest.mark.parametrize("text", PLANS)
def test_parts_in_another_order_and_more_of_them(text):
    """Who else listens, and who joined the world first, changes no address."""
    for parts in ((OrderSaga, Stock, ElsewhereBoard, Order), (ElsewhereBoard, Order, OrderSaga, Stock)):
        assert struck(way_of(steps(spec().using(Context("shop", *parts)))), text) == text.split("; ")


@pytest.mark.parametrize("text", PLANS)
def test_fields_are_added(text):
    """A command, an event and a saga of the same names, with more in them, are met under the same addresses."""
    said = spec().using(shop_later.shop).when(shop_later.PlaceOrder(id="o-1", note="n"))
    assert struck(way_of(said.when(shop_later.PayOrder(id="o-1", tip=3))), text) == text.split("; ")


def test_a_second_command_of_the_same_type():
    """`PayOrder#2` is the second one in the spec, whoever it is for."""
    said = spec(Order).given(PlaceOrder(id="o-1")).when(PayOrder(id="o-1")).when(PayOrder(id="o-1"))
    armory = play(way_of(said), Plan.parse("PayOrder#2/event_store.append@1=timeout"), record=True).armory
    reached = [address for address, _ in armory.reached or ()]
    assert Address("PayOrder", "event_store.append", 1) in reached
    assert Address("PayOrder", "event_store.append", 2) not in reached
    assert Address("PayOrder#2", "event_store.append", 2) in reached


def test_retries_are_later_visits_of_one_chain():
    """Each attempt at a saga's function makes its command anew, and it is the same link."""
    way = way_of(spec().using(safe_shop).when(PlaceOrder(id="o-1")))
    plan = Plan.parse("PlaceOrder>OrderPlaced>OrderSaga>ReserveStock/command_bus.send@1=timeout x2")
    armory = play(way, plan, record=True).armory
    chain = "PlaceOrder>OrderPlaced>OrderSaga>ReserveStock"
    sent = [address for address, _ in armory.reached or () if address.point == "command_bus.send"]
    assert [address.visit for address in sent if address.chain == chain] == [1, 2, 3]


def test_a_plan_does_not_strike_where_its_chain_is_another():
    """The same point of another command is another address."""
    assert struck(way_of(steps(spec().using(safe_shop))), "ShipOrder/event_store.append@1=fail") == []
