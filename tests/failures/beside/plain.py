import pytest
from till import CloseTill, CountTill, OpenTill, PaidIn, PaidOut, PayIn, PayOut, Till, TillClosed, TillOpened, TillState

OPENED = (TillOpened(clerk="Ann"), PaidIn(amount=100))
STATE = {TillOpened: "till_opened", PaidIn: "paid_in", PaidOut: "paid_out"}
COMMANDS = {OpenTill: "open", PayIn: "pay_in", PayOut: "pay_out", CloseTill: "close", CountTill: "count"}


def replay(id, events):
    state = TillState(id=id)
    for event in events:
        if type(event) in STATE:
            getattr(state, STATE[type(event)])(event)
    return state


def decide(histories, command):
    state = replay(command.id, histories.get(command.id, ()))
    made = getattr(Till(state), COMMANDS[type(command)])(command)
    return made if isinstance(made, list) else [made] if made is not None else []


def test_a_wrong_field():
    assert decide({"t-1": OPENED}, PayOut(id="t-1", amount=30)) == [PaidOut(amount=20)]


def test_a_missing_event():
    assert decide({"t-1": OPENED}, PayOut(id="t-1", amount=30)) == [PaidOut(amount=30), TillClosed()]


def test_a_wrong_order():
    assert decide({}, OpenTill(id="t-1", clerk="Ann")) == [PaidIn(amount=100), TillOpened(clerk="Ann")]


def test_a_wrong_id():
    assert decide({"t-1": OPENED}, PayOut(id="t1", amount=30)) == [PaidOut(amount=30)]


def test_a_forgotten_sourcing_function():
    events = decide({"t-1": OPENED}, CountTill(id="t-1", coins=7))
    assert replay("t-1", [*OPENED, *events]).coins == 7


def test_a_forgotten_return():
    assert decide({"t-1": OPENED}, CloseTill(id="t-1")) == [TillClosed()]


def test_a_bug_taken_for_a_refusal():
    with pytest.raises(Exception):  # noqa: B017
        decide({"t-1": OPENED}, PayIn(id="t-1", amount=1_000))


def test_another_error():
    with pytest.raises(ValueError):
        decide({"t-1": OPENED}, PayOut(id="t-1", amount=300))


def test_an_error_that_nobody_expected():
    assert decide({"t-1": OPENED}, PayOut(id="t-1", amount=300)) == []


def test_nothing_expected():
    decide({"t-1": OPENED}, PayOut(id="t-1", amount=30))
