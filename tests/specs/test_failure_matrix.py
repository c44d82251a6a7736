"""What a failed expectation says, kind by kind: the reason with its path, and the two sides that an editor compares."""

from __future__ import annotations

import difflib

import pytest

from tests.failures.shop import (
    Board,
    Line,
    Order,
    OrderPaid,
    OrderPlaced,
    PayOrder,
    PlaceOrder,
    Reservations,
    ReserveStock,
    ShipOrder,
    Stock,
    StockReserved,
    shop,
)
from wowspec import SpecFailure, command_builder, faults, given, on, some
from wowspec.specs.sides import sides_of_values
from wowspec.specs.tracking import aside

TEA, CUP, POT = Line(product="tea", quantity=4), Line(product="cup"), Line(product="pot")
LONG = "x" * 300
PLACED = 'OrderPlaced(customer="Ann", lines=[Line(product="tea", quantity=4), Line(product="cup")])'


def placed(customer="Ann", lines=(TEA, CUP)):
    """What placing an order stores."""
    return OrderPlaced(customer=customer, lines=list(lines))


def place(customer="Ann", **header):
    """A spec that places an order."""
    return given().when(PlaceOrder(id="o-1", customer=customer, lines=[TEA, CUP]), header=header)


def pay():
    """A spec that pays one."""
    return given(placed()).when(PayOrder(id="o-1", amount=9))


def reject():
    """A spec whose command is refused."""
    return given(placed()).when(ShipOrder(id="o-1"))


def whole():
    """A spec of the whole shop."""
    return given().using(shop).when(PlaceOrder(id="o-1", customer="Ann", lines=[TEA, CUP]))


def saga():
    """A spec of what a saga sends."""
    return given(Reservations).when_event(placed())


def board():
    """A spec of a projection."""
    return given(Board, on(Order, "o-1", placed()))


def timed_out():
    """A spec with a fault."""
    return given(placed()).with_faults(faults.event_store.append.times_out()).when(PayOrder(id="o-1", amount=9))


def reserve(quantity, product):
    """A command and its envelope."""
    return command_builder(ReserveStock(quantity=quantity)).aggregate_id(product)


#: What fails, what its text has, and the lines of one side alone: `-` expected, `+` there.
CASES = {
    "events: a wrong value": (
        lambda: place().expect_events(placed(customer="Bob")),
        'events[0].customer: "Bob" ≠ "Ann"',
        ['-     customer="Bob",', '+     customer="Ann",'],
    ),
    "events: a nested one": (
        lambda: place().expect_events(placed(lines=[Line(product="tea", quantity=3), CUP])),
        "events[0].lines[0].quantity: 3 ≠ 4",
        [
            '-     lines=[Line(product="tea", quantity=3), Line(product="cup")],',
            '+     lines=[Line(product="tea", quantity=4), Line(product="cup")],',
        ],
    ),
    "events: what is not said is alike": (
        lambda: place().expect_events(some(OrderPlaced, customer="Bob")),
        'events[0].customer: "Bob" ≠ "Ann"',
        ['-     customer="Bob",', '+     customer="Ann",'],
    ),
    "events: a missing one": (
        lambda: place().expect_events(placed(), OrderPaid(amount=1)),
        "\n  -            OrderPaid(amount=1)",
        ["- OrderPaid(amount=1)"],
    ),
    "events: an additional one": (
        lambda: place().expect_no_events(),
        f"\n  + events[0]  {PLACED}",
        [f"+ {PLACED}"],
    ),
    "events: another order": (
        lambda: whole().expect_all_events(StockReserved(quantity=4), placed(), StockReserved(quantity=1)),
        "write expect_all_events(unordered(StockReserved(quantity=4), ",
        [f"+ {PLACED}", f"- {PLACED}"],
    ),
    "events: a long value": (
        lambda: place(customer=f"{LONG}y").expect_events(placed(customer=f"{LONG}z")),
        'xxz" ≠ …"xxxxxxxxxxy" (from character 300 on)',
        [f'-     customer="{LONG}z",', f'+     customer="{LONG}y",'],
    ),
    "one event": (
        lambda: whole().expect_event(OrderPlaced, customer="Bob"),
        'events[0].customer: "Bob" ≠ "Ann"',
        ['-     customer="Bob",', '+     customer="Ann",'],
    ),
    "types": (
        lambda: place().expect_event_types(OrderPaid),
        "OrderPlaced came instead",
        ["- OrderPaid", "+ OrderPlaced"],
    ),
    "a count": (lambda: place().expect_event_count(2), "2 events expected, 1 stored", ["- 2", "+ 1"]),
    "a history": (
        lambda: pay().expect_stored(on(Order, "o-1"), placed(), OrderPaid(amount=8)),
        "history of order(o-1): 2 events expected and stored: events[1].amount: 8 ≠ 9",
        ["- OrderPaid(amount=8)", "+ OrderPaid(amount=9)"],
    ),
    "what must not be stored": (
        lambda: pay().expect_not_stored(OrderPaid),
        "\n  + events[0]  OrderPaid(amount=9)\n  made by Order.pay",
        ["+ OrderPaid(amount=9)"],
    ),
    "deliveries": (
        lambda: whole().expect_delivered(OrderPlaced),
        "1 event expected, 2 delivered: events[1] OrderPlaced not expected",
        [f"+ {PLACED}"],
    ),
    "a header: the command's own entry": (
        lambda: place(a="1").expect_header(a="2"),
        "'a' of the command's header is not among the entries that events take over",
        ['-     "a": "2",'],
    ),
    "a header: a wrong entry": (
        lambda: place(trace_id="t-1").expect_header(trace_id="t-2"),
        'header[\'trace_id\']: "t-2" ≠ "t-1"',
        ['-     "trace_id": "t-2",', '+     "trace_id": "t-1",'],
    ),
    "a state: a wrong value": (
        lambda: pay().expect_state(paid=8),
        "state.paid: 8 ≠ 9",
        ["-     paid=8,", "+     paid=9,"],
    ),
    "a state: a nested value": (
        lambda: pay().expect_state(lines=[Line(product="tea", quantity=3), CUP]),
        "state.lines[0].quantity: 3 ≠ 4",
        [
            '-     lines=[Line(product="tea", quantity=3), Line(product="cup")],',
            '+     lines=[Line(product="tea", quantity=4), Line(product="cup")],',
        ],
    ),
    "a state: an element too many": (
        lambda: pay().expect_state(lines=[TEA]),
        'state.lines[1]: unexpected Line(product="cup")',
        [
            '-     lines=[Line(product="tea", quantity=4)],',
            '+     lines=[Line(product="tea", quantity=4), Line(product="cup")],',
        ],
    ),
    "a state: an element too few": (
        lambda: pay().expect_state(lines=[TEA, CUP, POT]),
        'state.lines[2]: expected Line(product="pot"), but there is none',
        [
            '-     lines=[Line(product="tea", quantity=4), Line(product="cup"), Line(product="pot")],',
            '+     lines=[Line(product="tea", quantity=4), Line(product="cup")],',
        ],
    ),
    "a state: another order": (
        lambda: pay().expect_state(lines=[CUP, TEA]),
        "lines holds the same elements in another order",
        [
            '-     lines=[Line(product="cup", quantity=1), Line(product="tea", quantity=4)],',
            '+     lines=[Line(product="tea", quantity=4), Line(product="cup", quantity=1)],',
        ],
    ),
    "a state: no such field": (lambda: pay().expect_state(payed=8), "did you mean paid", ["-     payed=8,"]),
    "a state: a long value": (
        lambda: place(customer=f"{LONG}y").expect_state(customer=f"{LONG}z"),
        'xxz" ≠ …"xxxxxxxxxx',
        [f'-     customer="{LONG}z",', f'+     customer="{LONG}y",'],
    ),
    "a state: of another instance": (
        lambda: whole().expect_state(on(Stock, "tea"), reserved=3),
        '.expect_state(on(Stock, "tea"), reserved=4)',
        ['- StockState(id="tea", reserved=3)', '+ StockState(id="tea", reserved=4)'],
    ),
    "beside the state": (
        lambda: pay().expect_state_aggregate(version=3, deleted=True),
        "aggregate['version']: 3 ≠ 2",
        ['-     "deleted": True,', '+     "deleted": False,', '-     "version": 3,', '+     "version": 2,'],
    ),
    "a version": (
        lambda: pay().expect_version(3),
        "at version 2, expected 3\n    v1  OrderPlaced  (before the command)\n    v2  OrderPaid\n  made by Order.pay",
        ["- 3", "+ 2"],
    ),
    "an error: another class": (
        lambda: reject().expect_error(ValueError),
        "failed with IllegalStateError (code 'IllegalState'): the order is not paid, expected ValueError",
        ["- class: ValueError", "+ class: IllegalStateError"],
    ),
    "an error: another code": (
        lambda: reject().expect_error(code="NotFound"),
        "expected code 'NotFound'",
        ["- code: NotFound", "+ code: IllegalState"],
    ),
    "an error: another text": (
        lambda: reject().expect_error(match="must"),
        "expected its text to match 'must'",
        ["- text: matches 'must'", "+ text: the order is not paid"],
    ),
    "an error: none": (
        lambda: pay().expect_error(ValueError),
        "succeeded, but was expected to fail with ValueError",
        ["- failed with ValueError", "+ succeeded"],
    ),
    "success": (
        lambda: reject().expect_succeeded(),
        "was expected to succeed, but failed with IllegalStateError: the order is not paid",
        ["- succeeded", "+ failed with IllegalStateError: the order is not paid"],
    ),
    "an unknown outcome": (
        lambda: pay().expect_unknown_outcome(),
        "its outcome is known",
        ["- outcome unknown", "+ succeeded"],
    ),
    "a result": (lambda: pay().expect_result(a=1), "result['a']: expected 1", ['- {"a": 1}', "+ {}"]),
    "a stage that failed": (
        lambda: reject().expect_stage("PROCESSED"),
        "PROCESSED was signalled (IllegalState), expected success",
        ["- PROCESSED: succeeded", "+ PROCESSED: IllegalState"],
    ),
    "a stage that never came": (
        lambda: pay().expect_stage("SNAPSHOT"),
        "SNAPSHOT was not signalled",
        ["- SNAPSHOT: succeeded", "+ SNAPSHOT: not signalled"],
    ),
    "a stage's field": (
        lambda: pay().expect_stage("PROCESSED", aggregate_version=7),
        "signal['aggregate_version']: 7 ≠ 2",
        ['- {"aggregate_version": 7}', '+ {"aggregate_version": 2}'],
    ),
    "an order of points": (
        lambda: pay().expect_order("command.acknowledge", "event_store.append"),
        "they came the other way round",
        ["- event_store.append"],
    ),
    "what is logged": (
        lambda: pay().expect_logged("snapshot.save"),
        "nothing was logged at snapshot.save",
        ["- snapshot.save: an error", "+ nothing"],
    ),
    "an error downstream": (
        lambda: whole().expect_downstream_error(Board, ValueError),
        "nothing of Board failed downstream",
        ["- Board: ValueError", "+ nothing"],
    ),
    "acknowledgements": (lambda: pay().expect_acknowledged(times=2), "1 time, expected 2", ["- 2", "+ 1"]),
    "a command's state": (
        lambda: pay().expect_command_state("EXPIRED"),
        "is STORED, expected EXPIRED",
        ["- EXPIRED", "+ STORED"],
    ),
    "attempts": (lambda: pay().expect_attempts(3), "in 1 attempt, expected 3", ["- 3", "+ 1"]),
    "faults that struck": (
        lambda: timed_out().expect_fired(2),
        "1 fault struck, expected 2\n    event_store.append@1=timeout struck o-1",
        ["- 2", "+ 1"],
    ),
    "commands: a wrong value": (
        lambda: saga().expect_commands(ReserveStock(quantity=3), ReserveStock(quantity=1)),
        "commands[0].quantity: 3 ≠ 4",
        ["- ReserveStock(quantity=3)", "+ ReserveStock(quantity=4)"],
    ),
    "commands: one too many": (
        lambda: saga().expect_commands(ReserveStock(quantity=4)),
        "write ANY_EVENTS where others may stand\n",
        ["+ ReserveStock(quantity=1)"],
    ),
    "commands: a missing one": (
        lambda: saga().expect_commands(*(ReserveStock(quantity=each) for each in (4, 1, 9))),
        "\n  -              ReserveStock(quantity=9)",
        ["- ReserveStock(quantity=9)"],
    ),
    "commands: another order": (
        lambda: saga().expect_commands(ReserveStock(quantity=1), ReserveStock(quantity=4)),
        "write expect_commands(unordered(",
        ["+ ReserveStock(quantity=4)", "- ReserveStock(quantity=4)"],
    ),
    "commands: the envelope": (
        lambda: saga().expect_commands(reserve(4, "tee"), reserve(1, "cup")),
        'command[\'aggregate_id\']: "tee" ≠ "tea"',
        [
            '- ReserveStock(quantity=4) {"aggregate_id": "tee", "tenant_id": "(0)"}',
            '+ ReserveStock(quantity=4) {"aggregate_id": "tea", "tenant_id": "(0)"}',
        ],
    ),
    "no commands": (
        lambda: saga().expect_no_commands(),
        "\n  + commands[0]  ReserveStock(quantity=4)",
        ["+ ReserveStock(quantity=4)", "+ ReserveStock(quantity=1)"],
    ),
    "a row": (
        lambda: board().expect_view("o-1", "Ann: 3 lines"),
        'view: "Ann: 3 lines" ≠ "Ann: 2 lines"\n\n  - expected  "Ann: 3 lines"\n  + actual ',
        ['- "Ann: 3 lines"', '+ "Ann: 2 lines"'],
    ),
    "a row that is missing": (
        lambda: board().expect_view("o-2", "Ann: 2 lines"),
        "keeps no row 'o-2'; there are: 'o-1'",
        ['- {"o-1": "Ann: 2 lines", "o-2": "Ann: 2 lines"}', '+ {"o-1": "Ann: 2 lines"}'],
    ),
    "a row too many": (
        lambda: board().expect_no_view("o-1"),
        "keeps a row 'o-1': \"Ann: 2 lines\"\n  made by Board.on_event",
        ["- {}", '+ {"o-1": "Ann: 2 lines"}'],
    ),
    "a snapshot's version": (
        lambda: pay().expect_snapshot(version=7),
        "has version 2, expected 7",
        ["- version: 7", "+ version: 2"],
    ),
    "a snapshot's field": (
        lambda: pay().expect_snapshot(paid=7),
        "snapshot.paid: 7 ≠ 9",
        ["-     paid=7,", "+     paid=9,"],
    ),
    "a snapshot that is missing": (
        lambda: pay().expect_snapshot(on(Order, "o-7"), paid=7),
        "no snapshot of order(o-7); there are: order(o-1)",
        ['- {"paid": 7}', "+ no snapshot"],
    ),
    "notifications": (lambda: pay().expect_notified("PROCESSED", times=2), "1 signal of PROCESSED", ["- 2", "+ 1"]),
    "causation": (
        lambda: whole().expect_causation("PlaceOrder > OrderPlaced > Board > ReserveStock"),
        "Board did not cause ReserveStock; it caused nothing\n  ReserveStock was caused by Reservations",
        ["- PlaceOrder > OrderPlaced > Board > ReserveStock", "+ PlaceOrder > OrderPlaced > Board > nothing"],
    ),
    "causation that never began": (
        lambda: whole().expect_causation("PayOrder > OrderPlaced"),
        "there was no PayOrder",
        [
            "- PayOrder > OrderPlaced",
            "+ PlaceOrder, ReserveStock, OrderPlaced, Board, Reservations, StockReserved",
        ],
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_the_reason_and_both_sides(kind):
    """The text names the place, and the sides differ in what is not as expected and in nothing else."""
    fails, told, lines = CASES[kind]
    # A refused command that nothing decides would fail the test once more at its end.
    with aside(), pytest.raises(SpecFailure) as caught:
        fails()
    error = caught.value

    assert told in str(error)
    assert error.expected is not None
    assert error.actual is not None
    found = difflib.ndiff(error.expected.splitlines(), error.actual.splitlines())
    assert [line for line in found if line.startswith(("- ", "+ "))] == lines


@pytest.mark.parametrize(
    "fails",
    [
        lambda: pay().expect_state(lambda state: state.paid == 8),
        lambda: pay().expect_events(that=lambda events: not events),
        lambda: board().expect_view("o-1", lambda row: not row),
    ],
    ids=["a state", "events", "a row"],
)
def test_nothing_is_compared_where_a_function_says_no(fails):
    """Then there are no sides, and an editor shows the text alone."""
    with pytest.raises(SpecFailure, match="said no") as caught:
        fails()

    assert getattr(caught.value, "expected", None) is None


def test_a_comparison_that_raises():
    """Sides that cannot be made hide no failure."""

    class Odd:
        def __eq__(self, other):
            raise RuntimeError("no")

        __hash__ = None

        def __repr__(self):
            raise RuntimeError("no")

    with pytest.raises(SpecFailure, match="the state of order"):
        pay().expect_state(paid=Odd())


def test_a_huge_value():
    """Of ten thousand entries those near the difference are shown, on both sides alike."""
    held = {f"f{number}": number for number in range(10_000)}
    sides = sides_of_values(held, held | {"f77": 1})

    assert '    "f77": 77,' in sides.expected.splitlines()
    assert '    "f77": 1,' in sides.actual.splitlines()
    assert "    … 9,914 more …," in sides.actual.splitlines()
    assert len(sides.actual.splitlines()) < 30


def test_texts_of_several_lines():
    """They are compared line by line; an element that is gained or lost leaves the rest alike."""
    sides = sides_of_values({"a": [1, 2, 3], "t": "one\ntwo\nthree"}, {"a": [2, 3], "t": "one\n2\nthree"})
    found = difflib.ndiff(sides.expected.splitlines(), sides.actual.splitlines())

    assert [line for line in found if line.startswith(("- ", "+ "))] == [
        '-     "a": [1, 2, 3],',
        '+     "a": [2, 3],',
        '-         "two\\n"',
        '+         "2\\n"',
    ]
