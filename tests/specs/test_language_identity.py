"""Whose history and whose command it is: identity of bare events and commands, `on`, `stream`, tenants, owners."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from wowspec import (
    AggregateDeleted,
    DeleteAggregate,
    IllegalAccessDeletedAggregateError,
    IllegalAccessOwnerAggregateError,
    NotFoundError,
    SpecError,
    aggregate_root,
    allow_create,
    command_of,
    given,
    on,
    on_command,
    sent_as,
    spec,
    static_tenant_id,
    stream,
)

from .language_domain import (
    Account,
    AddCartItem,
    CancelOrder,
    Cart,
    CartState,
    CreateOrder,
    Open,
    Opened,
    Order,
    OrderCancelled,
    OrderCreated,
    OrderPaid,
    OrderShipped,
    PayOrder,
    RateAsked,
    ShipOrder,
    Wait,
    item,
)


def test_each_bare_event_is_a_version_of_its_own():
    """Three events, three versions; the command's is the fourth."""
    given(OrderCreated(), OrderPaid(), OrderPaid()).when(ShipOrder(id="o-1")).expect_version(4)


def test_a_stream_is_one_version():
    """Several events in one version, as one command that returned them all would store them."""
    (
        given(stream(OrderCreated(), OrderPaid()))
        .when(ShipOrder(id="o-1"))
        .expect_version(2)
        .expect_events(OrderShipped())
    )


def test_a_bare_event_belongs_to_the_next_command_of_its_type():
    """Nobody was spoken of, so the id is the one that the next command of that type names."""
    run = given(OrderCreated(), item("p-1"), OrderPaid()).when(ShipOrder(id="o-7")).expect_succeeded().run()

    run.session.runtime.event_store.peek(run.reference)
    assert [type(body) for body in _history(run, on(Order, "o-7"))] == [OrderCreated, OrderPaid, OrderShipped]


def _history(run, target):
    streams = run.session.runtime.event_store.peek(run.session.reference(target))
    return [event.body for stream_ in streams for event in stream_.events]


@pytest.mark.parametrize(
    "command",
    [
        (CancelOrder(), {"aggregate_id": "o-7"}),
        (command_of(ShipOrder, id="o-7"), {}),
        (ShipOrder(id="o-7"), {}),
    ],
    ids=["option", "command_of", "field"],
)
def test_the_next_command_says_its_id_in_any_way(command):
    """By its field, by an option, or by the fields of `command_of`."""
    body, options = command

    assert given(OrderCreated(), OrderPaid()).when(body, **options).expect_succeeded().run().aggregate_id == "o-7"


def test_a_command_in_given_says_whose_a_bare_event_is():
    """The next command may stand in `given`, too; a bare event after it belongs to what it made."""
    given(CreateOrder(id="o-3"), OrderPaid()).when(ShipOrder(id="o-3")).expect_version(3)
    given(OrderCreated(), PayOrder(id="o-4")).when(ShipOrder(id="o-4")).expect_version(3)


def test_a_bare_event_belongs_to_the_instance_last_spoken_of():
    """What was spoken of comes before what comes next."""
    (
        given(on(Order, "o-1", OrderCreated()), on(Order, "o-2", OrderCreated()), OrderPaid())
        .when(ShipOrder(id="o-2"))
        .expect_succeeded()
        .expect_stored(on(Order, "o-1"), OrderCreated())
    )


def test_each_type_remembers_its_own_instance():
    """A cart that was spoken of in between does not make the order forgotten."""
    (
        given(on(Order, "o-1", OrderCreated()), on(Cart, "c-9", item("p-1")))
        .when(CancelOrder())
        .expect_stored(on(Order, "o-1"), OrderCreated(), OrderCancelled())
        .when(AddCartItem(product_id="p-2"))
        .expect_stored(on(Cart, "c-9"), item("p-1"), item("p-2"))
    )


def test_a_command_without_id_goes_to_the_instance_of_the_command_before():
    """A command speaks of its aggregate, too."""
    run = given().when(CreateOrder()).expect_succeeded().when(CancelOrder()).expect_events(OrderCancelled()).run()

    assert run.parent is not None
    assert run.aggregate_id == run.parent.aggregate_id


def test_where_nobody_is_known_an_id_is_made():
    """A new id, and the same one in each run."""
    ids = {given().when(AddCartItem(product_id="p-1")).expect_succeeded().run().aggregate_id for _ in range(2)}

    assert len(ids) == 1
    assert ids != {""}


def test_a_bare_event_before_a_command_without_id():
    """The event makes the instance, and the command finds it."""
    given(OrderCreated()).when(CancelOrder()).expect_events(OrderCancelled()).expect_version(2)


def test_a_bare_event_before_a_function_of_the_run():
    """A function's command is not known before it is called; the event's instance is new, and the run tells its id."""
    (
        given(OrderCreated())
        .when(CancelOrder())
        .expect_succeeded()
        .when(lambda run: PayOrder(id=run.aggregate_id))
        .expect_events(OrderPaid())
    )


def test_on_says_owner_and_space():
    """Of the streams that it holds; a command of somebody else is refused."""
    base = given(on(Order, "o-1", OrderCreated(), owner_id="u-1", space_id="s-1"))

    base.when(PayOrder(id="o-1"), owner_id="u-1").expect_state_aggregate(owner_id="u-1", space_id="s-1", version=2)
    base.when(PayOrder(id="o-1"), owner_id="u-2").expect_error(IllegalAccessOwnerAggregateError).expect_no_events()


def test_a_stream_within_on_may_say_another_owner():
    """What is said nearer counts."""
    given(on(Order, "o-1", stream(OrderCreated(), owner_id="u-2"), owner_id="u-1")).when(
        PayOrder(id="o-1")
    ).expect_state_aggregate(owner_id="u-2")


def test_commands_and_streams_within_on():
    """A command within `on` is one of that instance; owners apply to it as well."""
    (
        given(
            on(
                Order,
                "o-1",
                CreateOrder(customer="u-3"),
                stream(OrderPaid(amount=2), OrderPaid(amount=3)),
                owner_id="u-3",
            )
        )
        .when(ShipOrder(id="o-1"))
        .expect_version(3)
        .expect_state(customer="u-3", paid=5)
        .expect_state_aggregate(owner_id="u-3")
    )


def test_on_within_on():
    """An inner `on` speaks for itself."""
    (
        given(on(Order, "o-1", OrderCreated(), on(Cart, "c-1", item("p-1")), OrderPaid()))
        .when(ShipOrder(id="o-1"))
        .expect_version(3)
        .expect_stored(on(Cart, "c-1"), item("p-1"))
    )


def test_on_without_items_speaks_of_an_instance():
    """No history, but whatever follows is about it."""
    given(on(Order, "o-5")).when(CreateOrder()).expect_state_aggregate(on(Order, "o-5"), version=1)


def test_a_tenant_is_part_of_the_instance():
    """The same id in two tenants is two instances; a command in one of them is not one in the other."""
    two = given(
        on(Account, "a-1", Opened(), RateAsked(rate=1), tenant_id="t-1"),
        on(Account, "a-1", Opened(), tenant_id="t-2"),
    )

    two.when(Wait(id="a-1"), tenant_id="t-1").expect_version(3).expect_state(tenant_id="t-1")
    two.when(Wait(id="a-1"), tenant_id="t-2").expect_version(2)
    two.when(Wait(id="a-1"), tenant_id="t-3").expect_error(NotFoundError)
    # Last spoken of under that id.
    two.when(Wait(id="a-1")).expect_version(2)


def test_an_instance_of_a_type_with_one_tenant_is_in_it():
    """Where the type says its tenant, `on(...)` means the instance that commands find."""

    @allow_create
    class Ring(BaseModel):
        id: str

    class Rung(BaseModel):
        pass

    @aggregate_root(context="shop")
    @static_tenant_id("north")
    class Bell:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def ring(self, command: Ring) -> Rung:
            return Rung()

    given(on(Bell, "b-1", Rung())).when(Ring(id="b-1")).expect_version(2).expect_state(on(Bell, "b-1"), id="b-1")


def test_a_command_names_its_tenant_for_the_events_before_it():
    """A bare event takes the next command's tenant with its id."""
    given(Opened()).when(Open(id="a-1", tenant="t-9")).expect_version(2).expect_state(tenant_id="t-9")


def test_given_between_steps_adds_history():
    """It is written after the step before it, and the next command loads it."""
    (
        given(OrderCreated())
        .when(PayOrder(id="o-1", amount=4))
        .expect_version(2)
        .given(OrderShipped())
        .when(CancelOrder())
        .expect_version(4)
        .expect_stored(on(Order, "o-1"), OrderCreated(), OrderPaid(amount=4), OrderShipped(), OrderCancelled())
    )


def test_built_in_events_belong_to_any():
    """`on(T, id, AggregateDeleted())`, or the instance last spoken of."""
    given(on(Cart, "c-1", item("p-1"), AggregateDeleted())).when(
        AddCartItem(product_id="p-2"), aggregate_id="c-1"
    ).expect_error(IllegalAccessDeletedAggregateError)
    given(on(Cart, "c-1", item("p-1")), AggregateDeleted()).when(AddCartItem(product_id="p-2")).expect_error(
        IllegalAccessDeletedAggregateError
    )


def test_built_in_commands_belong_to_what_was_spoken_of():
    """The aggregate last spoken of, or the subject of the spec."""
    given(on(Order, "o-1", OrderCreated())).when(DeleteAggregate()).expect_events(
        AggregateDeleted()
    ).expect_state_aggregate(deleted=True)
    spec(Order).given(OrderCreated()).when(DeleteAggregate()).expect_events(AggregateDeleted())
    with pytest.raises(SpecError, match="has no target aggregate"):
        given().when(DeleteAggregate()).run()


def test_sent_as_puts_an_envelope_around_a_command_in_given():
    """Its options win over those of `on`."""
    (
        given(sent_as(CreateOrder(id="o-1"), owner_id="u-1", request_id="r-1"))
        .when(PayOrder(id="o-1"), owner_id="u-2")
        .expect_error(IllegalAccessOwnerAggregateError)
    )
    given(on(Order, "o-1", sent_as(CreateOrder(), owner_id="u-7"), owner_id="u-1")).when(
        PayOrder(id="o-1")
    ).expect_state_aggregate(owner_id="u-7")


def test_history_of_another_aggregate_is_refused():
    """An event or a command that belongs elsewhere is the author's slip."""
    with pytest.raises(SpecError, match=r"item 1 of given\(\.\.\.\), CartItemAdded.*belongs to Cart, not to Order"):
        given(on(Order, "o-1", item("p-1"))).when(PayOrder(id="o-1")).run()
    with pytest.raises(SpecError, match=r"stream|belongs to Cart, not to Order"):
        given(stream(OrderCreated(), item("p-1"))).when(PayOrder(id="o-1")).run()
    with pytest.raises(SpecError, match="is a command for cart"):
        given(on(Order, "o-1", AddCartItem(product_id="p-1"))).when(PayOrder(id="o-1")).run()
    with pytest.raises(SpecError, match=r"is a command for order\(o-2\)"):
        given(on(Order, "o-1", OrderCreated(), PayOrder(id="o-2"))).when(PayOrder(id="o-1")).run()


def test_a_state_is_made_with_id_and_tenant():
    """`State(id=..., tenant_id=...)` where it takes both, `State(id=...)` where it does not."""
    given().when(Open(id="a-1", tenant="t-4")).expect_state(id="a-1", tenant_id="t-4")
    given().when(AddCartItem(product_id="p"), aggregate_id="c-1", tenant_id="t-4").expect_state(
        lambda cart: cart == CartState(id="c-1", items=[item("p").added])
    ).expect_state_aggregate(tenant_id="t-4")
