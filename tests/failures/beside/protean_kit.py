import pytest
from protean.testing import given
from protean_till import (
    CloseTill,
    CountTill,
    OpenTill,
    PaidIn,
    PaidOut,
    PayIn,
    PayOut,
    Till,
    TillClosed,
    TillOpened,
    domain,
)


@pytest.fixture(autouse=True)
def shop():
    domain.init(traverse=False)
    with domain.domain_context():
        domain.event_store.store._data_reset()
        yield


def opened():
    return given(Till, TillOpened(till_id="t-1", clerk="Ann"), PaidIn(till_id="t-1", amount=100))


def test_a_wrong_field():
    assert opened().process(PayOut(till_id="t-1", amount=30)).events[PaidOut].amount == 20


def test_a_missing_event():
    assert opened().process(PayOut(till_id="t-1", amount=30)).events.types == [PaidOut, TillClosed]


def test_a_wrong_order():
    assert given(Till).process(OpenTill(till_id="t-1", clerk="Ann")).events.types == [PaidIn, TillOpened]


def test_a_wrong_id():
    assert PaidOut in opened().process(PayOut(till_id="t1", amount=30)).events


def test_a_forgotten_sourcing_function():
    assert opened().process(CountTill(till_id="t-1", coins=7)).coins == 7


def test_a_forgotten_return():
    assert TillClosed in opened().process(CloseTill(till_id="t-1")).events


def test_a_bug_taken_for_a_refusal():
    assert opened().process(PayIn(till_id="t-1", amount=1_000)).rejected


def test_another_error():
    assert isinstance(opened().process(PayOut(till_id="t-1", amount=300)).rejection, ValueError)


def test_an_error_that_nobody_expected():
    assert len(opened().process(PayOut(till_id="t-1", amount=300)).events) == 0


def test_nothing_expected():
    opened().process(PayOut(till_id="t-1", amount=300))
