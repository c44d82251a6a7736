from till import CloseTill, CountTill, OpenTill, PaidIn, PaidOut, PayIn, PayOut, Till, TillClosed, TillOpened

from wowspec import given, on

OPENED = (TillOpened(clerk="Ann"), PaidIn(amount=100))


def test_a_wrong_field():
    given(*OPENED).when(PayOut(id="t-1", amount=30)).expect_events(PaidOut(amount=20))


def test_a_missing_event():
    given(*OPENED).when(PayOut(id="t-1", amount=30)).expect_events(PaidOut(amount=30), TillClosed())


def test_a_wrong_order():
    given().when(OpenTill(id="t-1", clerk="Ann")).expect_events(PaidIn(amount=100), TillOpened(clerk="Ann"))


def test_a_wrong_id():
    given(on(Till, "t-1", *OPENED)).when(PayOut(id="t1", amount=30)).expect_events(PaidOut(amount=30))


def test_a_forgotten_sourcing_function():
    given(*OPENED).when(CountTill(id="t-1", coins=7)).expect_state(coins=7)


def test_a_forgotten_return():
    given(*OPENED).when(CloseTill(id="t-1")).expect_events(TillClosed())


def test_a_bug_taken_for_a_refusal():
    given(*OPENED).when(PayIn(id="t-1", amount=1_000)).expect_error(Exception)


def test_another_error():
    given(*OPENED).when(PayOut(id="t-1", amount=300)).expect_error(ValueError)


def test_an_error_that_nobody_expected():
    given(*OPENED).when(PayOut(id="t-1", amount=300)).expect_no_events()


def test_nothing_expected():
    given(*OPENED).when(PayOut(id="t-1", amount=300))
