"""What specs of sagas, projections and event processors say where they are wrong, and what their values may be."""

from __future__ import annotations

import pytest

from wowspec import (
    SNAPSHOT,
    DomainEvent,
    IllegalStateError,
    SpecError,
    SpecFailure,
    StateEvent,
    Views,
    chain,
    event_processor,
    given,
    on,
    on_event,
    on_state_event,
    projection,
    saga_handled,
    snapshot,
    some,
    stateless_saga,
)
from wowspec.errors import RetriesExhaustedError

from .ending import a_test
from .shop_domain import (
    Mailer,
    Order,
    OrderPaid,
    OrderPlaced,
    OrderRow,
    OrderSaga,
    OrderState,
    OrderView,
    Outbox,
    PayOrder,
    PlaceOrder,
    ReserveStock,
    StatusView,
    Stock,
)

PLACED = on(Order, "o-1", OrderPlaced(sku="s", quantity=1))


@projection(context="shop")
class SkuView:
    """Keeps what the state says."""

    @on_state_event
    def moved(self, event: StateEvent[OrderState], views: Views[str]) -> None:
        views[event.aggregate_id.id] = event.state.sku


# -- rows as values


def test_a_row_is_compared_with_a_value():
    """A whole row, a matcher of it, or the text that it is."""
    given(StatusView, PLACED).expect_view("o-1", "PLACED")
    row = given(OrderView, PLACED).run().views(OrderView)["o-1"]
    given(OrderView, PLACED).expect_view("o-1", row).expect_view("o-1", some(OrderRow, status="PLACED"))


def test_a_row_that_is_another_value_is_told_as_values_are():
    """Expected and actual side by side, and the place of the row."""
    with pytest.raises(SpecFailure, match=r"row 'o-1' of StatusView differs in 1 place: view: \"PAID\" ≠ \"PLACED\""):
        given(StatusView, PLACED).expect_view("o-1", "PAID")


def test_a_class_is_no_row():
    """Called with a row it would say yes to nearly every one."""
    with pytest.raises(SpecError, match=r"instead: expect_view\('o-1', OrderRow\(\.\.\.\)\), or some\(OrderRow, "):
        given(OrderView, PLACED).expect_view("o-1", OrderRow)


def test_rows_of_a_projection_that_is_not_idempotent_are_shown_by_their_fields():
    """Not as quoted texts; and where there is no `when`, what was given is what passed."""
    with pytest.raises(SpecFailure) as failure:
        given(OrderView, PLACED).expect_idempotent()

    assert "views['o-1'].changes: 1 ≠ 2" in str(failure.value)
    assert "pipeline (virtual time):" in str(failure.value)


def test_a_saga_keeps_no_rows():
    """`expect_idempotent()` says so by its own name."""
    spec = given(OrderSaga).when_event(OrderPlaced(sku="s-1", quantity=2))
    with pytest.raises(SpecError, match=r"expect_idempotent\(\.\.\.\): OrderSaga is a stateless saga, which keeps no"):
        spec.expect_idempotent()


def test_an_event_processor_keeps_no_rows():
    """Its services tell what it did."""
    spec = given(Mailer).inject(Outbox()).when_event(OrderPaid(), aggregate_id="o-1")
    with pytest.raises(SpecError, match=r"Mailer is an event processor.*\n.*\n.*the services that it calls"):
        spec.expect_view("o-1", "PAID")


# -- errors downstream


class Slow:
    """A service that never answers."""

    def send(self) -> None:
        """Time out."""
        raise TimeoutError("slow")


@event_processor(context="shop")
class Texter:
    """Is tried again until its retries are exhausted."""

    @on_event
    def paid(self, event: OrderPaid, slow: Slow) -> None:
        slow.send()


@stateless_saga(context="shop")
class WrongSaga:
    """Returns an event where a command belongs."""

    @on_event
    def placed(self, event: OrderPlaced) -> OrderPaid:
        return OrderPaid()


@stateless_saga(context="shop")
class FailingSaga:
    """Raises."""

    @on_event
    def placed(self, event: OrderPlaced) -> PayOrder:
        raise ValueError(event.sku)


@stateless_saga(context="shop")
class PayTwiceSaga:
    """Sends a command that its aggregate refuses."""

    @on_event
    def paid(self, event: DomainEvent[OrderPaid]) -> PayOrder:
        return PayOrder(id=event.aggregate_id.id)


@pytest.mark.parametrize("kind", [TimeoutError, RetriesExhaustedError])
def test_exhausted_retries_are_named_by_the_error_that_was_raised(kind: type[Exception]):
    """By the runtime's own, too, which wraps the last one."""
    spec = given(PLACED).using(Texter).inject(slow=Slow()).when(PayOrder(id="o-1"))
    spec.expect_downstream_error(Texter, kind)


def test_exhausted_retries_that_nobody_named_are_told_with_the_users_line():
    """The error that is suggested is the one that the user's code raised."""
    with pytest.raises(SpecFailure) as failure, a_test():
        given(PLACED).using(Texter).inject(slow=Slow()).when(PayOrder(id="o-1")).expect_succeeded()

    text = str(failure.value)
    assert "event.handler:Texter.paid: TimeoutError, the last when its retries were exhausted" in text
    assert "in Slow.send" in text
    assert text.endswith(".expect_downstream_error(Texter, TimeoutError)")


def test_another_error_downstream_says_whose_it_is():
    """Not "the command": that succeeded."""
    with (
        pytest.raises(SpecFailure, match=r"downstream Texter\.paid failed with TimeoutError .*: slow, expected Value"),
        a_test(),
    ):
        (
            given(PLACED)
            .using(Texter)
            .inject(slow=Slow())
            .when(PayOrder(id="o-1"))
            .expect_downstream_error(Texter, ValueError)
        )


def test_an_error_of_a_command_that_followed_is_not_its_sagas():
    """The text names the command, and what to write."""
    with pytest.raises(SpecFailure) as failure, a_test():
        (
            given(PLACED)
            .using(PayTwiceSaga)
            .when(PayOrder(id="o-1"))
            .expect_downstream_error(PayTwiceSaga, IllegalStateError)
        )

    assert "logged were: command.handler: IllegalStateError of PayOrder\n" in str(failure.value)
    assert "instead: .expect_downstream_error(PayOrder, IllegalStateError)" in str(failure.value)


def test_a_saga_that_returns_an_event_is_refused():
    """The text says which function, and whose event."""
    with pytest.raises(SpecError) as failure:
        given(WrongSaga).when_event(OrderPlaced(sku="s", quantity=1)).expect_no_commands()

    assert str(failure.value) == (
        "WrongSaga.placed returned OrderPaid, which is an event of Order\n"
        "  why: what a saga returns is sent as commands; only an aggregate's command function makes events\n"
        "  instead: the command of Order that leads to OrderPaid"
    )


def test_an_event_function_that_failed_is_no_command():
    """Below a failed expectation the error is told as the function's."""
    with pytest.raises(SpecFailure, match=r"the function failed:\n.*FailingSaga\.placed"), a_test():
        given(FailingSaga).when_event(OrderPlaced(sku="s", quantity=1)).expect_commands(PayOrder(id="o-1"))


def test_events_that_are_expected_of_a_saga_point_to_its_commands():
    """What it sent is named, and the verb that sees it."""
    with pytest.raises(
        SpecFailure, match=r"hint: a saga stores no events, it sent ReserveStock: write expect_commands"
    ):
        given(OrderSaga).when_event(OrderPlaced(sku="s", quantity=1)).expect_events(OrderPaid())


def test_a_stage_of_the_tail_of_a_chain_is_no_stage_of_the_command():
    """The text says for which command it was signalled, and which verb sees it."""
    plan = chain(saga_handled("shop"), then=snapshot())
    with pytest.raises(SpecFailure) as failure:
        (
            given(OrderSaga)
            .using(Order, Stock)
            .when(PlaceOrder(id="o-1", sku="s-1", quantity=1), wait_for=plan)
            .expect_stage(SNAPSHOT)
        )

    assert str(failure.value).startswith(
        "SNAPSHOT was not signalled for PlaceOrder\n"
        "  why: it was for ReserveStock; expect_stage(...) looks at the stages of the command itself\n"
        "  instead: .expect_notified(SNAPSHOT)"
    )


# -- when_event


def test_the_state_of_an_event_says_its_id():
    """Without `aggregate_id=` the event is one of the instance whose state it is."""
    (
        given(SkuView)
        .when_event(OrderPlaced(sku="s", quantity=1), state=OrderState(id="o-7", sku="s-7"))
        .expect_view("o-7", "s-7")
    )


# -- classes, lists and functions where commands belong


@pytest.mark.parametrize(
    ("wanted", "reason", "hint"),
    [
        (
            ReserveStock,
            "the class ReserveStock stands where a command belongs",
            "write some(ReserveStock) for any ReserveStock, or ReserveStock(...) with what it says",
        ),
        ([], "a list stands where a command belongs", "unpack it: expect_commands(*commands)"),
        (some, "a function stands where a command belongs", "some is a function: call it with what it should match"),
        (lambda command: True, "a function stands where a command belongs", ""),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_stands_where_a_command_belongs(wanted, reason, hint):
    """It is told as such, and the hint leads to what works, and to no verb of events."""
    with pytest.raises(SpecFailure) as caught, a_test():
        given(OrderSaga).when_event(OrderPlaced(sku="s", quantity=1)).expect_commands(wanted)

    text = str(caught.value).partition("\n  pipeline")[0]
    assert reason in text.splitlines()[0]
    assert ([line for line in text.splitlines() if "hint: " in line]) == ([f"  hint: {hint}"] if hint else [])
    assert "expect_event" not in text


def test_the_hint_of_a_class_holds():
    """What it says to write is met."""
    given(OrderSaga).when_event(OrderPlaced(sku="s", quantity=1)).expect_commands(some(ReserveStock))


def test_classes_of_events_expected_of_a_saga():
    """One hint, which says what to write for the classes that it sent."""
    with pytest.raises(SpecFailure) as caught, a_test():
        given(OrderSaga).when_event(OrderPlaced(sku="s", quantity=1)).expect_event_types(ReserveStock)

    text = str(caught.value)
    assert text.splitlines()[0] == "1 event expected, none stored: ReserveStock missing"
    assert [line for line in text.splitlines() if "hint: " in line] == [
        "  hint: a saga stores no events, it sent ReserveStock: write expect_commands(some(ReserveStock))"
    ]
