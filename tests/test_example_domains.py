"""The rules of Wow's own example domains, as the examples here keep them."""

from __future__ import annotations

from typing import Any

import pytest

from examples.cart.domain import (
    AddCartItem,
    Cart,
    CartItem,
    CartItemAdded,
    CartItemRemoved,
    CartQuantityChanged,
    ChangeQuantity,
    RemoveCartItem,
    ViewCart,
)
from examples.order.domain import (
    Address,
    AddressChanged,
    ChangeAddress,
    CreateOrder,
    Order,
    OrderCreated,
    OrderItem,
    OrderOverPaid,
    OrderPaid,
    OrderShipped,
    OrderState,
    PaymentDuplicated,
    PayOrder,
    ReceiveOrder,
    ShipOrder,
    Status,
)
from examples.order.fulfilment import CartSaga, OrderSaga, shop_context
from examples.order.test_order import FakeWarehouse, Refusals
from examples.transfer.domain import (
    Account,
    AccountCreated,
    AccountFrozen,
    AmountEntered,
    AmountLocked,
    AmountUnlocked,
    Confirm,
    Confirmed,
    CreateAccount,
    Entry,
    EntryFailed,
    FreezeAccount,
    LockAmount,
    Prepare,
    Prepared,
    TransferSaga,
    UnfreezeAccount,
    UnlockAmount,
    transfer,
)
from wowspec import (
    DeleteAggregate,
    IllegalAccessDeletedAggregateError,
    IllegalStateError,
    NamedAggregate,
    RecoverAggregate,
    command_builder,
    given,
    on,
)
from wowspec.modeling.aggregates import aggregate_metadata
from wowspec.modeling.annotations import Retry, function_mark
from wowspec.modeling.commands import command_metadata
from wowspec.modeling.identity import FunctionKind
from wowspec.modeling.processors import processor_metadata

CHINA = Address(country="China", province="Hebei", street="1")
ITEMS = [OrderItem(product_id="p-1", price=40, quantity=2), OrderItem(product_id="p-2", price=20)]
CREATED = OrderCreated(items=ITEMS, address=CHINA)
PAID = OrderPaid(payment_id="x", amount=100, paid=True)


def added(product_id: str, quantity: int = 1) -> CartItemAdded:
    """An item in a cart."""
    return CartItemAdded(added=CartItem(product_id=product_id, quantity=quantity))


@pytest.mark.clause("EXM-001")
def test_contexts_and_their_aggregates():
    """A shop has orders and carts, and transfers are a context of their own; carts and accounts have one tenant."""
    assert aggregate_metadata(Order).named == NamedAggregate("shop", "order")
    assert aggregate_metadata(Cart).named == NamedAggregate("shop", "cart")
    assert aggregate_metadata(Account).named == NamedAggregate("transfer", "account")
    assert [aggregate_metadata(cls).static_tenant_id for cls in (Cart, Account, Order)] == ["(0)", "(0)", None]
    account = given(on(Account, "ann", AccountCreated(name="Ann", balance=1)))
    account.when(Confirm(id="ann", amount=1)).expect_state_aggregate(tenant_id="(0)")


@pytest.mark.clause("EXM-002")
@pytest.mark.parametrize(
    ("command", "fields"),
    [
        (AddCartItem, {"product_id": ""}),
        (AddCartItem, {"product_id": "p-1", "quantity": 0}),
        (RemoveCartItem, {"product_ids": frozenset()}),
        (ChangeQuantity, {"product_id": "", "quantity": 1}),
        (ChangeQuantity, {"product_id": "p-1", "quantity": -1}),
    ],
)
def test_what_a_cart_is_never_asked(command: Any, fields: dict[str, Any]):
    """Fields that make no sense are refused by the gateway."""
    given(added("p-1")).when(command, **fields).expect_error(code="CommandValidation").expect_attempts(0)


@pytest.mark.clause("EXM-002")
def test_what_a_cart_may_be_asked():
    """The quantity is one unless it is said; only adding creates; viewing is mounted, and void."""
    assert AddCartItem(product_id="p-1").quantity == 1
    assert command_metadata(AddCartItem).allow_create
    assert not command_metadata(AddCartItem).is_create
    assert not command_metadata(RemoveCartItem).allow_create
    assert not command_metadata(ChangeQuantity).allow_create
    assert command_metadata(ViewCart).is_void
    assert aggregate_metadata(Cart).mounted == (ViewCart,)


@pytest.mark.clause("EXM-003")
def test_the_rules_of_a_cart():
    """A hundred products, whatever they are; sums, not second lines; a removal of nothing is an event."""
    full = given(*[added(f"p-{number}") for number in range(100)])
    full.when(AddCartItem(product_id="p-1")).expect_error(ValueError).expect_no_events()
    one = given(added("p-1", 2))
    one.when(AddCartItem(product_id="p-1", quantity=3)).expect_events(
        CartQuantityChanged(changed=CartItem(product_id="p-1", quantity=5))
    )
    one.when(RemoveCartItem(product_ids=frozenset({"p-9"}))).expect_events(
        CartItemRemoved(product_ids=frozenset({"p-9"}))
    )
    one.when(ChangeQuantity(product_id="p-9", quantity=1)).expect_error(ValueError).expect_no_events()
    one.when(ChangeQuantity(product_id="p-1", quantity=9)).expect_state(items=[CartItem(product_id="p-1", quantity=9)])


@pytest.mark.clause("EXM-004")
def test_the_state_of_a_cart():
    """An id and a list of items; each event does one thing to it. The cart belongs to the person whose id it has."""
    (
        given()
        .when(AddCartItem(product_id="p-1"), aggregate_id="u-1", owner_id="u-1")
        .expect_state(id="u-1", items=[CartItem(product_id="p-1")])
        .expect_state_aggregate(owner_id="u-1")
        .when(AddCartItem(product_id="p-2"))
        .expect_state(items=[CartItem(product_id="p-1"), CartItem(product_id="p-2")])
        .when(ChangeQuantity(product_id="p-2", quantity=4))
        .when(RemoveCartItem(product_ids=frozenset({"p-1"})))
        .expect_state(items=[CartItem(product_id="p-2", quantity=4)])
    )


@pytest.mark.clause("EXM-005")
def test_the_life_of_a_cart():
    """Added, and from there two branches: emptied; deleted, and from there again two."""
    (
        given()
        .when(AddCartItem(product_id="p-1"), aggregate_id="u-1", owner_id="u-1")
        .expect_state(lambda cart: len(cart.items) == 1)
        .expect_state_aggregate(owner_id="u-1")
        .fork("emptied", lambda cart: cart.when(RemoveCartItem(product_ids=frozenset({"p-1"}))).expect_state(items=[]))
        .fork(
            "deleted",
            lambda cart: (
                cart.when(DeleteAggregate())
                .expect_state_aggregate(deleted=True)
                .fork("again", lambda it: it.when(DeleteAggregate()).expect_error(IllegalAccessDeletedAggregateError))
                .fork(
                    "recovered",
                    lambda it: (
                        it.when(RecoverAggregate())
                        .expect_state_aggregate(deleted=False)
                        .when(RecoverAggregate())
                        .expect_error(IllegalStateError)
                    ),
                )
            ),
        )
    )


@pytest.mark.clause("EXM-006")
def test_the_saga_of_a_cart():
    """An order that came from a cart empties the cart of its owner; it says how often a failure is tried again."""
    saga = given(CartSaga)
    from_cart = CREATED.model_copy(update={"from_cart": True})
    saga.when_event(from_cart, owner_id="u-1").expect_commands(
        command_builder(RemoveCartItem(product_ids=frozenset({"p-1", "p-2"}))).aggregate_id("u-1")
    )
    saga.when_event(CREATED, owner_id="u-1").expect_no_commands()
    mark = function_mark(CartSaga.created, Retry)
    assert mark is not None
    assert (mark.max_retries, mark.min_backoff, mark.execution_timeout) == (5, 60, 10)


@pytest.mark.clause("EXM-007")
@pytest.mark.parametrize(
    ("command", "fields"),
    [
        (CreateOrder, {"items": [], "address": CHINA}),
        (CreateOrder, {"items": ITEMS, "address": {"country": "China", "province": "", "street": "1"}}),
        (PayOrder, {"id": "o-1", "payment_id": "", "amount": 1}),
        (PayOrder, {"id": "o-1", "payment_id": "x", "amount": 0}),
    ],
)
def test_what_an_order_is_never_asked(command: Any, fields: dict[str, Any]):
    """Fields that make no sense are refused by the gateway."""
    given(on(Order, "o-1", CREATED)).when(command, **fields).expect_error(code="CommandValidation").expect_attempts(0)


@pytest.mark.clause("EXM-007")
def test_where_orders_go():
    """A command's own validation knows the countries."""
    mars = CHINA.model_copy(update={"country": "Mars"})
    given().when(CreateOrder(items=ITEMS, address=mars)).expect_error(ValueError).expect_attempts(0)
    assert command_metadata(CreateOrder).is_create


@pytest.mark.clause("EXM-008")
def test_a_service_is_asked_when_an_order_is_created():
    """The price must be today's, the quantity must be there; the total is the command's result."""
    shop = given().inject(warehouse=FakeWarehouse(), log=Refusals())
    shop.when(CreateOrder(items=ITEMS, address=CHINA)).expect_result(total=100).expect_events(CREATED)
    dear = [OrderItem(product_id="p-1", price=41)]
    shop.when(CreateOrder(items=dear, address=CHINA)).expect_error(code="PriceChanged").expect_no_events()
    many = [OrderItem(product_id="p-1", price=40, quantity=11)]
    shop.when(CreateOrder(items=many, address=CHINA)).expect_error(code="OutOfStock").expect_no_events()


@pytest.mark.clause("EXM-009")
@pytest.mark.parametrize(
    ("command", "status"),
    [
        (ChangeAddress(id="o-1", address=CHINA), Status.CREATED),
        (ShipOrder(id="o-1"), Status.PAID),
        (ReceiveOrder(id="o-1"), Status.SHIPPED),
    ],
)
def test_each_step_in_its_status(command: Any, status: Status):
    """What comes at another time is refused, and changes nothing."""
    histories = {
        Status.CREATED: [CREATED],
        Status.PAID: [CREATED, PAID],
        Status.SHIPPED: [CREATED, PAID, OrderShipped()],
    }
    for held, history in histories.items():
        sent = given(on(Order, "o-1", *history)).when(command)
        if held is status:
            sent.expect_succeeded().expect_version(len(history) + 1)
        else:
            sent.expect_error(IllegalStateError).expect_no_events().expect_state(status=held)


@pytest.mark.clause("EXM-010")
def test_payments():
    """In part, in full, too much, once more: and the last is an event, a version and an error, but no change."""
    created = given(on(Order, "o-1", CREATED)).inject(log=Refusals())

    def pay(amount: int) -> PayOrder:
        return PayOrder(id="o-1", payment_id="x", amount=amount)

    created.when(pay(60)).expect_events(OrderPaid(payment_id="x", amount=60, paid=False))
    created.when(pay(100)).expect_events(PAID)
    created.when(pay(130)).expect_events(PAID, OrderOverPaid(payment_id="x", over=30))
    (
        given(on(Order, "o-1", CREATED, PAID))
        .inject(log=Refusals())
        .when(pay(1))
        .expect_events(PaymentDuplicated(payment_id="x"))
        .expect_version(3)
        .expect_error(code="PaymentDuplicated")
        .expect_state(paid=100, status=Status.PAID)
    )


@pytest.mark.clause("EXM-011")
def test_what_an_order_is_found_by():
    """The tags keep what they had: after an address change both provinces are among them."""
    moved = CHINA.model_copy(update={"province": "Hainan"})
    run = given(on(Order, "o-1", CREATED)).when(ChangeAddress(id="o-1", address=moved)).run()
    assert run.aggregate.tags == {"country": ["China"], "province": ["Hainan", "Hebei"]}
    assert run.stored == [AddressChanged(address=moved)]


@pytest.mark.clause("EXM-011")
def test_the_state_of_an_order():
    """The total is the sum over the items; what is still to be paid is the difference."""
    partly = OrderPaid(payment_id="x", amount=60, paid=False)
    given(on(Order, "o-1", CREATED)).when(PayOrder(id="o-1", payment_id="x", amount=60)).expect_events(
        partly
    ).expect_state(items=ITEMS, address=CHINA, total=100, paid=60, payable=40, status=Status.CREATED)


@pytest.mark.clause("EXM-012")
def test_an_error_function_and_a_saga_that_only_look_on():
    """A refused payment is told of and stays refused; the saga has a function of either kind and sends nothing."""
    refusals = Refusals()
    (
        given(on(Order, "o-1", CREATED))
        .inject(log=refusals)
        .when(PayOrder(id="o-1", payment_id="x", amount=1), expected_version=9)
        .expect_error(code="CommandExpectVersionConflict")
    )
    assert len(refusals.told) == 1
    kinds = [function.info.kind for function in processor_metadata(OrderSaga).functions]
    assert kinds == [FunctionKind.EVENT, FunctionKind.STATE_EVENT]
    given(OrderSaga).when_event(PAID, aggregate_id="o-1").expect_no_commands()
    given(OrderSaga).when_event(OrderShipped(), aggregate_id="o-1", state=OrderState(id="o-1")).expect_no_commands()
    assert OrderSaga in shop_context.members


@pytest.mark.clause("EXM-013")
def test_what_an_account_may_be_asked():
    """A command creates, the others need an account; amounts are positive, a balance is not negative."""
    assert command_metadata(CreateAccount).is_create
    for command in (Prepare, Entry, Confirm, LockAmount, UnlockAmount, FreezeAccount, UnfreezeAccount):
        assert not command_metadata(command).is_create
        assert command in aggregate_metadata(Account).functions
    account = given(on(Account, "ann", AccountCreated(name="Ann", balance=1)))
    for command, fields in (
        (CreateAccount, {"id": "bob", "name": "Bob", "balance": -1}),
        (Prepare, {"id": "ann", "to": "", "amount": 1}),
        (Prepare, {"id": "ann", "to": "bob", "amount": 0}),
    ):
        account.when(command, **fields).expect_error(code="CommandValidation").expect_attempts(0)


@pytest.mark.clause("EXM-014")
def test_the_rules_of_an_account():
    """A transfer needs money and a free account; a frozen one refuses entries by an event; the rest is not checked."""
    ann = given(on(Account, "ann", AccountCreated(name="Ann", balance=10)))
    frozen = given(on(Account, "ann", AccountCreated(name="Ann", balance=10), AccountFrozen(reason="?")))
    ann.when(Prepare(id="ann", to="bob", amount=10)).expect_events(
        AmountLocked(amount=10), Prepared(to="bob", amount=10)
    )
    ann.when(Prepare(id="ann", to="bob", amount=11)).expect_error(IllegalStateError).expect_no_events()
    frozen.when(Prepare(id="ann", to="bob", amount=1)).expect_error(IllegalStateError).expect_no_events()
    ann.when(Entry(id="ann", source_id="bob", amount=1)).expect_events(AmountEntered(source_id="bob", amount=1))
    frozen.when(Entry(id="ann", source_id="bob", amount=1)).expect_events(
        EntryFailed(source_id="bob", amount=1)
    ).expect_error(code="EntryFailed")
    frozen.when(FreezeAccount(id="ann", reason="!")).expect_error(IllegalStateError)
    ann.when(UnfreezeAccount(id="ann", reason="!")).expect_error(IllegalStateError)
    for command, event in (
        (Confirm(id="ann", amount=99), Confirmed(amount=99)),
        (LockAmount(id="ann", amount=99), AmountLocked(amount=99)),
        (UnlockAmount(id="ann", amount=99), AmountUnlocked(amount=99)),
    ):
        frozen.when(command).expect_events(event)


@pytest.mark.clause("EXM-015")
@pytest.mark.parametrize(
    ("events", "available", "locked"),
    [
        ([], 100, 0),
        ([AmountLocked(amount=30)], 70, 30),
        ([AmountLocked(amount=30), Confirmed(amount=30)], 70, 0),
        ([AmountLocked(amount=30), AmountUnlocked(amount=30)], 100, 0),
        ([AmountEntered(source_id="bob", amount=5)], 105, 0),
        ([Prepared(to="bob", amount=30)], 100, 0),
        ([EntryFailed(source_id="bob", amount=30)], 100, 0),
    ],
)
def test_the_state_of_an_account(events: list[Any], available: int, locked: int):
    """Each event moves what it says, and two of them move nothing."""
    (
        given(on(Account, "ann", AccountCreated(name="Ann", balance=100), *events))
        .when(FreezeAccount(id="ann", reason="?"))
        .expect_state(available=available, locked=locked, frozen=True)
    )


@pytest.mark.clause("EXM-016")
def test_the_saga_of_a_transfer():
    """Forward through both accounts; back again where the second one refuses."""
    ann = on(Account, "ann", AccountCreated(name="Ann", balance=100))
    bob = (Account, "bob", AccountCreated(name="Bob", balance=0))
    sent = Prepare(id="ann", to="bob", amount=30)
    (
        given(ann, on(*bob))
        .using(transfer)
        .when(sent)
        .expect_commands(Entry(id="bob", source_id="ann", amount=30), Confirm(id="ann", amount=30))
        .expect_state(on(Account, "ann"), available=70, locked=0)
        .expect_state(on(Account, "bob"), available=30)
    )
    (
        given(ann, on(*bob, AccountFrozen(reason="?")))
        .using(transfer)
        .when(sent)
        .expect_commands(Entry(id="bob", source_id="ann", amount=30), UnlockAmount(id="ann", amount=30))
        .expect_state(on(Account, "ann"), available=100, locked=0)
    )
    assert TransferSaga in transfer.members
