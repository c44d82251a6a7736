"""What a spec's world holds: aggregates that it mentions, parts that it names, services, filters, profiles, time."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

import wowspec as ws
from wowspec import (
    CommandMessage,
    Context,
    Order as FilterOrder,
    ServerCommandExchange,
    SpecError,
    SpecFailure,
    aggregate_root,
    decider,
    event_processor,
    given,
    on,
    on_command,
    on_event,
    on_sourcing,
    profile,
    projection,
    spec,
)

from .ending import a_test
from .language_domain import (
    Account,
    AddCartItem,
    AskRate,
    Bank,
    CancelOrder,
    Cart,
    CreateOrder,
    LegacyNote,
    LookAtOrder,
    Open,
    Opened,
    Order,
    OrderCreated,
    OrderPaid,
    OrderState,
    OrderViewed,
    PayOrder,
    RateAsked,
    WaitForReal,
    item,
)

OPENED = spec(Account).given(on(Account, "a-1", Opened()))


@event_processor(context="shop")
class Counter:
    def __init__(self, heard: list) -> None:
        self.heard = heard

    @on_event
    def paid(self, event: OrderPaid) -> None:
        self.heard.append(event.amount)


shop = Context("shop", Order, Cart, Counter)


# --- parts ------------------------------------------------------------------------------------------------------------


def test_a_world_holds_what_its_spec_mentions():
    """No other aggregate, and no processor."""
    run = given().when(CreateOrder(id="o-1")).expect_succeeded().run()
    catalog = run.session.runtime.catalog

    assert [str(named.aggregate_name) for named in catalog.aggregates] == ["order"]
    assert catalog.processors == {}


def test_nothing_depends_on_what_is_imported():
    """The processor of this module hears of nothing that no spec brings it to."""
    heard: list = []
    given(OrderCreated()).inject(heard=heard).when(PayOrder(id="o-1")).expect_delivered()
    given(OrderCreated()).using(Counter).inject(heard=heard).when(PayOrder(id="o-1")).expect_delivered(OrderPaid())

    assert heard == [1]


def test_a_whole_context_but_one():
    """`.using(shop)` for all its parts, `.without(...)` for one of them; in any order."""
    base = given(OrderCreated()).inject(heard=[])
    pay = PayOrder(id="o-1")
    base.using(shop).when(pay).expect_delivered(OrderPaid())
    base.using(shop).without(Counter).when(pay).expect_delivered()
    base.without(Counter).using(shop).when(pay).expect_delivered()


def test_given_takes_the_subject_first():
    """`given(Order, ...)` is `spec(Order).given(...)`."""
    given(Order).given_state(OrderState(id="o-1")).when(CancelOrder()).expect_version(2)


def test_a_spec_of_a_subject_takes_events_that_nobody_claims():
    """They belong to the aggregate that the spec is about; versions count them."""
    spec(Order).given(OrderCreated(), LegacyNote(text="x")).when(CancelOrder()).expect_version(3)
    given(on(Order, "o-1", OrderCreated(), LegacyNote())).when(CancelOrder()).expect_version(3)


def test_bare_events_of_a_function_without_sourcing():
    """An event that a command function returns is the aggregate's, whether or not its state takes it."""
    given(OrderCreated(), OrderViewed()).when(LookAtOrder(id="o-1")).expect_events(OrderViewed()).expect_version(3)
    with pytest.raises(SpecError, match=r"LegacyNote\(\), belongs to no aggregate"):
        given(LegacyNote()).when(CancelOrder()).run()


# --- services ---------------------------------------------------------------------------------------------------------


class Rates:
    def rate(self) -> int:
        return 70


class BetterRates(Rates):
    def rate(self) -> int:
        return 71


class Quote(BaseModel):
    id: str


class Quoted(BaseModel):
    by: list[int]


class BankState(BaseModel):
    id: str

    @on_sourcing
    def quoted(self, event: Quoted) -> None:
        """Nothing to keep."""


@aggregate_root(context="bank")
class Broker:
    def __init__(self, state: BankState) -> None:
        self.state = state

    @on_command
    def quote(self, command: Quote, typed: Rates, untyped: Any, exchange: ServerCommandExchange[Quote]) -> Quoted:
        assert isinstance(exchange.message, CommandMessage)
        return Quoted(by=[typed.rate(), untyped.rate()])


def test_by_type_first_then_by_name():
    """A parameter's type finds an instance of it; where there is no type, its name does."""
    quote = given(Quoted(by=[]))
    (
        quote.inject(BetterRates(), untyped=Bank(5), typed=Bank(9))
        .when(Quote(id="b-1"))
        .expect_events(Quoted(by=[71, 5]))
    )


def test_the_name_where_nothing_has_the_type():
    """A stand-in need not be of the class."""
    given(Quoted(by=[])).inject(typed=Bank(1), untyped=Bank(2)).when(Quote(id="b-1")).expect_events(Quoted(by=[1, 2]))


def test_what_nothing_supplies_is_named():
    """The parameter, the handler, what it asked for, and what is on offer."""
    with pytest.raises(SpecError) as caught:
        given(Quoted(by=[])).inject(Rates(), other=Bank()).when(Quote(id="b-1")).run()
    text = str(caught.value)
    assert "nothing supplies parameter 'untyped' of Broker.quote" in text
    assert "other: Bank" in text
    assert ".inject(untyped=...)" in text


def test_services_may_come_after_the_history():
    """And before the command that needs them; a later one replaces an earlier one of its name."""
    base = OPENED.inject(rates=Bank(1))
    base.inject(rates=Bank(8)).when(AskRate(id="a-1")).expect_events(RateAsked(rate=8))
    base.when(AskRate(id="a-1")).expect_events(RateAsked(rate=1)).inject(rates=Bank(4)).when(
        AskRate(id="a-1")
    ).expect_events(RateAsked(rate=4))


def test_services_that_are_none():
    """`None` supplies nothing; a factory is called."""
    with pytest.raises(SpecError, match=r"inject\(rates=None\)"):
        OPENED.inject(rates=None)
    with pytest.raises(SpecError, match=r"inject\(None\)"):
        OPENED.inject(None)
    with pytest.raises(SpecError, match="is given no factory") as caught:
        OPENED.inject_factory(rates=Bank())
    assert "inject_factory(rates=Bank), or inject(...)" in str(caught.value)


def test_a_factory_makes_one_for_each_copy_of_the_world():
    """One for the first command, one for each that follows: none is shared."""
    asked = OPENED.inject_factory(rates=Bank).when(AskRate(id="a-1")).expect_events(RateAsked(rate=1))
    asked.when(AskRate(id="a-1")).expect_events(RateAsked(rate=1))


def test_a_handler_that_awaits_a_real_event_loop():
    """It gets a clear error: which function, why, and the two ways out."""
    with pytest.raises(SpecError) as caught:
        OPENED.when(WaitForReal(id="a-1")).run()
    text = str(caught.value)
    assert text.startswith("Account.wait_for_real: ")
    assert "await clock.sleep(...)" in text
    assert "gateway.aio" in text


# --- filters and profiles ---------------------------------------------------------------------------------------------


class Tap:
    """A filter that notes who passes, and on which way."""

    def __init__(self, name: str, notes: list) -> None:
        self.name = name
        self.notes = notes

    async def filter(self, exchange: Any, next: Any) -> None:
        self.notes.append(f"{self.name} in")
        await next(exchange)
        self.notes.append(f"{self.name} out")


def test_filters_of_the_user_are_in_the_real_chain():
    """Where their order says, around what comes after them."""
    notes: list = []
    (
        given(OrderCreated())
        .with_filter(Tap("late", notes), order=FilterOrder(-10))
        .with_filter(Tap("first", notes), order=FilterOrder(-20))
        .when(CancelOrder())
        .expect_succeeded()
    )
    assert notes == ["first in", "late in", "late out", "first out"]


def test_a_filter_may_refuse():
    """What it raises is the command's outcome."""

    class Closed:
        async def filter(self, exchange: Any, next: Any) -> None:
            raise ws.DomainError("Closed", "we are closed")

    given(OrderCreated()).with_filter(Closed(), order=FilterOrder(-10)).when(CancelOrder()).expect_error(
        ws.DomainError, code="Closed"
    ).expect_no_events()


@pytest.mark.parametrize(
    "wrong", [Tap, object(), None, lambda exchange, next: None], ids=["class", "object", "none", "function"]
)
def test_what_is_no_filter(wrong):
    """It is refused where it is written."""
    with pytest.raises(SpecError, match=r"is given no filter(.|\n)*async def filter"):
        OPENED.with_filter(wrong)


def test_an_unknown_profile():
    """The known ones are named."""
    with pytest.raises(SpecError, match="with_profile"):
        OPENED.with_profile("oracle")
    with pytest.raises(SpecError, match="'store' or 'noop'"):
        profile(request_id_existence="always")


def test_laws_are_switched_off_by_name():
    """An unknown name is refused, with those that there are."""
    with pytest.raises(SpecError, match=r"the laws are .*replay_equality"):
        OPENED.without_law("replay_equalty")
    OPENED.without_law("replay_equality", "json_equality").inject(rates=Bank()).when(
        AskRate(id="a-1")
    ).expect_succeeded()


# --- deciders ---------------------------------------------------------------------------------------------------------


class PayIn(BaseModel):
    id: str
    amount: int


class PaidIn(BaseModel):
    amount: int


def decide(command: PayIn, state: int) -> list[PaidIn]:
    return [PaidIn(amount=command.amount)] if command.amount else []


def evolve(state: int, event: PaidIn) -> int:
    return state + event.amount


Wallet = decider(decide, evolve, 0, name="wallet")


def test_a_decider_is_an_aggregate():
    """Plain functions get the same specs; an empty list means that nothing happened."""
    base = given(PaidIn(amount=3))
    base.when(PayIn(id="w-1", amount=4)).expect_events(PaidIn(amount=4)).expect_state(lambda total: total == 7)
    base.when(PayIn(id="w-1", amount=0)).expect_succeeded().expect_no_events()


# --- the two ways to begin --------------------------------------------------------------------------------------------


def test_the_fixture_makes_specs(wowspec):
    """`wowspec(Cart)` is `spec(Cart)`, and `wowspec.given` is `given`."""
    wowspec(Cart).given().when(AddCartItem(product_id="p-1")).expect_events(item("p-1"))
    wowspec.given(item("p-0")).when(AddCartItem(product_id="p-1")).expect_version(2)


def test_under_its_short_name():
    """`import wowspec as ws` leaves `given` to Hypothesis."""
    ws.given().when(AddCartItem(product_id="p-1")).expect_events(item("p-1"))


def test_a_spec_of_no_aggregate():
    """A definition error, with the decorator."""
    with pytest.raises(SpecError, match=r"@aggregate_root\(context=\"...\"\) above class OrderState"):
        spec(OrderState)
    with pytest.raises(SpecError, match="with an aggregate root's class"):
        spec(5)


def test_parts_that_are_none():
    """A world holds aggregates, processors and contexts."""
    for wrong in (OrderState, "shop", Order(OrderState(id="o-1"))):
        with pytest.raises(SpecError, match="neither an aggregate root, nor a processor, nor a context"):
            OPENED.using(wrong)


@projection(context="shop")
class Late:
    @on_event
    def paid(self, event: OrderPaid) -> None:
        """Hears of it."""


def test_parts_may_join_between_steps():
    """They hear of what follows."""
    (
        given(OrderCreated())
        .when(PayOrder(id="o-1"))
        .expect_delivered()
        .using(Late)
        .given(OrderCreated())
        .when(CancelOrder())
        .expect_delivered()
    )
    given().when(CreateOrder(id="o-1")).expect_delivered().using(Late).when(PayOrder(id="o-1")).expect_delivered(
        OrderPaid()
    )


def test_verbs_after_the_last_command_change_nothing():
    """So they are told, each by its name."""
    done = given(OrderCreated()).when(CancelOrder()).expect_succeeded()
    for verb, late in {
        "given": lambda: done.given(OrderPaid()),
        "using": lambda: done.using(Late),
        "inject": lambda: done.inject(rates=Bank()),
        "advance": lambda: done.advance(hours=1),
        "without_law": lambda: done.without_law("replay_equality"),
    }.items():
        with pytest.raises(SpecFailure, match=rf"{verb}\(\.\.\.\) after the last when"), a_test():
            late()


def test_a_spec_without_when():
    """It tests nothing; each beginning is told."""
    for begin in (lambda: spec(Order), lambda: given(OrderCreated()), lambda: spec(Order).using(Late)):
        with pytest.raises(SpecFailure, match=r"without when\(\.\.\.\)"), a_test():
            begin()
    with a_test():
        base = given(OrderCreated())
        base.when(CancelOrder()).expect_succeeded()


def test_a_when_without_an_expectation():
    """Whether or not it ran."""
    with pytest.raises(SpecFailure, match="was never looked at"), a_test():
        given(OrderCreated()).when(CancelOrder())
    with a_test():
        given(OrderCreated()).when(CancelOrder()).run()


def test_open_makes_a_state_with_its_tenant():
    """`tenant_id=` where the state takes it."""
    given().when(Open(id="a-1", tenant="t-8")).expect_state(tenant_id="t-8")
