"""Each of these fails; `test_language_reports.py` pins what pytest shows."""

import hypothesis
from domain import BreakOrder, Order, OrderCreated, OrderPaid, OrderRemarked, PayOrder
from hypothesis import strategies as st

import wowspec as ws
from wowspec import faults, given, on, some


def test_an_event_differs():
    (
        given(OrderCreated())
        .when(PayOrder(id="o-1", amount=2))
        .expect_version(2)
        .expect_events(OrderPaid(amount=3))
        .expect_state(paid=3)
    )


def test_a_loose_event():
    given(OrderCreated()).when(PayOrder(id="o-1")).expect_events(some(OrderPaid, amount=2), OrderPaid())


def test_an_undecided_error():
    (given(OrderCreated(), OrderPaid()).when(PayOrder(id="o-1")).expect_no_events().expect_version(2))


def test_an_undecided_error_before_the_next_step():
    (
        given(OrderCreated(), OrderPaid())
        .when(PayOrder(id="o-1"))
        .expect_no_events()
        .when(BreakOrder(id="o-1"))
        .expect_error(AttributeError)
    )


def test_a_bug_of_the_handler():
    given(OrderCreated()).when(BreakOrder(id="o-1")).expect_error(Exception)


def test_another_error():
    given(OrderCreated(), OrderPaid()).when(PayOrder(id="o-1")).expect_error(ValueError, match="paid")


def test_a_fault_that_never_struck():
    given(OrderCreated()).with_faults(faults.event_store.append.fails(at=2)).when(PayOrder(id="o-1")).expect_version(2)


def test_a_deadline():
    (
        given(OrderCreated())
        .with_faults(faults.domain_event_bus.send.hangs())
        .when(PayOrder(id="o-1"))
        .expect_error(TimeoutError)
    )


def test_no_when():
    given(OrderCreated())


def test_no_expectation():
    given(OrderCreated()).when(PayOrder(id="o-1"))


def test_a_branch():
    (
        given(OrderCreated())
        .when(PayOrder(id="o-1"))
        .expect_events(OrderPaid())
        .fork(
            "again",
            lambda spec: spec.when(PayOrder(id="o-1")).expect_error(code="IllegalState").expect_version(3),
        )
    )


def test_a_function_of_the_author():
    def check(order):
        assert order.paid == 2

    given(OrderCreated()).when(PayOrder(id="o-1")).expect_state(check)


def test_a_function_of_the_run():
    given(OrderCreated()).when(PayOrder(id="o-1")).expect_version(2).when(lambda run: run.nothing).expect_no_events()


def test_an_unknown_option():
    given(OrderCreated()).when(PayOrder(id="o-1"), ownr="u-1").expect_events(OrderPaid())


def test_an_item_of_given():
    (given(OrderCreated(), PayOrder(id="o-1"), PayOrder(id="o-1")).when(PayOrder(id="o-1")).expect_error(Exception))


def test_soft_expectations():
    (
        given(OrderCreated())
        .when(PayOrder(id="o-1"))
        .soft()
        .expect_version(7)
        .expect_state(paid=2)
        .expect_events(OrderPaid())
    )


@hypothesis.given(st.integers(1, 9))
@hypothesis.settings(derandomize=True, database=None, max_examples=5, print_blob=False)
def test_an_example(amount):
    ws.given(OrderCreated()).when(PayOrder(id="o-1", amount=amount)).expect_state(paid=1)


def test_that_passes():
    given(on(Order, "o-1", OrderCreated(), OrderRemarked())).when(PayOrder(id="o-1")).expect_version(3)
