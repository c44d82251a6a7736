"""A saga sends a command that fails."""

from pydantic import BaseModel
from shop import Line, Order, OrderPlaced, PlaceOrder

from wowspec import aggregate_root, given, on_command, stateless_saga


class Greet(BaseModel):
    id: str


class Greeted(BaseModel):
    pass


class State(BaseModel):
    id: str


@aggregate_root(context="shop")
class Customer:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def greet(self, command: Greet) -> Greeted:
        return Greeted()


@stateless_saga(context="shop")
class Greetings:
    def on_event(self, event: OrderPlaced) -> Greet:
        return Greet(id=event.customer)


def test_a_customer_is_greeted():
    tea = [Line(product="tea")]
    (
        given()
        .using(Order, Customer, Greetings)
        .when(PlaceOrder(id="o-1", customer="Ann", lines=tea))
        .expect_events(OrderPlaced(customer="Ann", lines=tea))
    )
