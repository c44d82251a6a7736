"""Failures that people meet, each with the text that they get; `texts/` holds the texts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from wowspec.messages.header import Header
from wowspec.specs.alignment import match_events
from wowspec.specs.diff import count_text, event_text, events_text, ledgers_text, types_text
from wowspec.specs.matchers import ANY_EVENTS, any_of, some, unordered
from wowspec.specs.value_diff import fields_text, mapping_text, order_text, value_text

from . import shop
from .shop import (
    Hostile,
    Line,
    NoteWritten,
    OrderCreated,
    OrderPaid,
    OrderPaidTwice,
    OrderReceived,
    OrderShipped,
    OrderState,
    Plain,
    Positive,
    Stocked,
)

CREATED: Final = OrderCreated(id="o-1")
PAID: Final = OrderPaid(id="o-1", lines=[Line(sku="a", quantity=3)], total=30)
SHIPPED: Final = OrderShipped(id="o-1")
NOON: Final = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
POINTS: Final = (
    "gateway.send",
    "command_bus.send",
    "event_store.append",
    "domain_event_bus.send",
    "command.acknowledge",
    "state_event_bus.send",
    "wait.notify:PROCESSED",
)


def events(expected: Sequence[Any], actual: Sequence[Any], **how: Any) -> str:
    """The text of a match that fails."""
    match = match_events(expected, actual)
    assert not match.matched
    return events_text(match, **how)


def another_module() -> type:
    """A class of the same name from another place."""
    return type("OrderPaid", (), {"__module__": "shop.legacy", "__qualname__": "OrderPaid"})


@dataclass
class Sealed:
    """An event in an envelope."""

    __wowspec_envelope__ = "message"

    body: Any
    version: int


class Cents:
    """A number of the user's that reads like another class."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f'Decimal("{self.number}.0")'


def big_order() -> OrderPaid:
    """An event that fills a screen."""
    return OrderPaid(id="o-1", lines=[Line(sku=f"sku-{n}", quantity=n) for n in range(60)], total=1770)


def big_order_changed() -> OrderPaid:
    """The same with one quantity off."""
    order = big_order()
    order.lines[31].quantity = 99
    return order


ORDER_STATE: Final = OrderState(id="o-1", status="PAID", owner="u-1", lines=[Line(sku="a", quantity=3)])

SITUATIONS: Final[dict[str, Callable[[], str]]] = {
    "a_nested_field_differs": lambda: events(
        [CREATED, OrderPaid(id="o-1", lines=[Line(sku="a", quantity=4)], total=30)], [CREATED, PAID]
    ),
    "a_field_differs_and_one_event_is_too_many": lambda: events(
        [CREATED, OrderPaid(id="o-1", lines=[Line(sku="a", quantity=3)], total=40)], [CREATED, PAID, SHIPPED]
    ),
    "an_event_is_missing": lambda: events([CREATED, PAID, SHIPPED], [CREATED, SHIPPED]),
    "an_event_is_unexpected": lambda: events([CREATED, SHIPPED], [CREATED, PAID, SHIPPED]),
    "another_event_came": lambda: events([CREATED, SHIPPED], [CREATED, PAID]),
    "nothing_was_stored": lambda: events([CREATED, PAID], []),
    "nothing_should_be_stored": lambda: events([], [CREATED, PAID]),
    "the_same_event_twice": lambda: events([CREATED, PAID], [CREATED, PAID, PAID]),
    "another_order": lambda: events([PAID, CREATED, SHIPPED], [CREATED, SHIPPED, PAID]),
    "another_id": lambda: events([OrderReceived(id="o-2")], [OrderReceived(id="o-1")]),
    "another_time": lambda: events(
        [OrderShipped(id="o-1", shipped_at=NOON)], [OrderShipped(id="o-1", shipped_at=NOON + dt.timedelta(seconds=3))]
    ),
    "a_time_without_zone": lambda: events(
        [OrderShipped(id="o-1", shipped_at=NOON.replace(tzinfo=None))], [OrderShipped(id="o-1", shipped_at=NOON)]
    ),
    "a_class_instead_of_an_event": lambda: events([CREATED, OrderPaid], [CREATED, PAID]),
    "a_list_instead_of_events": lambda: events([[CREATED, PAID]], [CREATED, PAID]),
    "a_function_instead_of_events": lambda: events([lambda events: len(events) == 2], [CREATED, PAID]),
    "an_envelope_instead_of_a_body": lambda: events([Sealed(CREATED, 1)], [CREATED]),
    "a_subclass_came": lambda: events([OrderPaid(id="o-1")], [OrderPaidTwice(id="o-1")]),
    "two_classes_of_one_name": lambda: events([another_module()()], [PAID]),
    "a_number_instead_of_text": lambda: events([Stocked("a", "3")], [Stocked("a", 3)]),  # type: ignore[arg-type]
    "a_loose_event_is_not_met": lambda: events(
        [some(OrderCreated), some(OrderPaid, total=Positive(), lines=[some(Line, sku="b")])],
        [CREATED, OrderPaid(id="o-1", lines=[Line(sku="a")], total=-3)],
    ),
    "no_alternative_is_met": lambda: events([any_of(some(OrderPaid, total=3), SHIPPED)], [OrderReceived(id="o-1")]),
    "an_alternative_nearly_met": lambda: events([any_of(some(OrderPaid, total=3), SHIPPED)], [PAID]),
    "a_member_of_a_group_is_missing": lambda: events(
        [CREATED, unordered(PAID, SHIPPED), OrderReceived(id="o-1")], [CREATED, SHIPPED, OrderReceived(id="o-1")]
    ),
    "a_group_is_interrupted": lambda: events([unordered(CREATED, SHIPPED)], [CREATED, PAID, SHIPPED]),
    "any_events_but_not_these": lambda: events([ANY_EVENTS, SHIPPED, ANY_EVENTS], [CREATED, PAID, PAID]),
    "one_wrong_among_a_hundred": lambda: events(
        [Stocked("a", n) for n in range(100)], [Stocked("a", 500 if n == 70 else n) for n in range(100)]
    ),
    "everything_wrong_at_length": lambda: events(
        [OrderCreated(id=f"o-{n}") for n in range(60)], [OrderCreated(id=f"p-{n}") for n in range(90)]
    ),
    "one_field_of_a_huge_event": lambda: events([big_order()], [big_order_changed()]),
    "long_texts_differ_late": lambda: events(
        [NoteWritten(text="word " * 200 + "end")], [NoteWritten(text="word " * 200 + "end.")]
    ),
    "sets_differ": lambda: events(
        [OrderShipped(id="o-1", tags=frozenset({"fast", "fragile", "gift"}))],
        [OrderShipped(id="o-1", tags=frozenset({"fast", "heavy"}))],
    ),
    "an_element_was_inserted": lambda: events(
        [OrderPaid(id="o-1", lines=[Line(sku=sku) for sku in "bcde"])],
        [OrderPaid(id="o-1", lines=[Line(sku=sku) for sku in "abcde"])],
    ),
    "an_element_was_lost": lambda: fields_text(
        {"lines": [Line(sku=sku) for sku in "abcd"]},
        OrderState(id="o-1", lines=[Line(sku=sku) for sku in "abd"]),
        subject="the state of order(o-1)",
    ),
    "a_truth_value_and_a_number": lambda: events([Stocked("a", True)], [Stocked("a", 1)]),
    "two_values_read_the_same": lambda: events([Plain(a=Decimal("3.0"))], [Plain(a=Cents(3))]),
    "plain_objects_differ": lambda: events([Plain(a=1, b=[Plain(c=2)])], [Plain(a=1, b=[Plain(c=3)])]),
    "a_value_that_cannot_be_shown_or_compared": lambda: events([Plain(a=Hostile())], [Plain(a=1)]),
    "published_although_it_should_not": lambda: events([], [PAID], ledger="published"),
    "a_saga_sent_another_command": lambda: events(
        [shop.Stocked("a", 2)], [shop.Stocked("b", 2)], ledger="sent", noun="command"
    ),
    "other_types": lambda: types_text([OrderCreated, OrderPaid], [CREATED, SHIPPED]),
    "an_event_where_types_are_compared": lambda: types_text([OrderCreated, PAID], [CREATED, PAID]),  # type: ignore[list-item]
    "another_count": lambda: count_text(3, [CREATED, PAID]),
    "no_such_event": lambda: event_text(some(OrderPaid, total=31), [CREATED, PAID, OrderPaid(id="o-2", total=3)]),
    "no_event_of_the_class": lambda: event_text(some(OrderShipped), [CREATED, PAID]),
    "two_events_where_one_is_asked_for": lambda: event_text(some(OrderPaid), [CREATED, PAID, PAID], once=True),
    "stored_but_not_published": lambda: ledgers_text(
        {"stored": [PAID], "published": [PAID]},
        {"emitted": [PAID], "stored": [PAID], "published": [], "delivered": []},
    ),
    "two_ledgers_are_wrong": lambda: ledgers_text(
        {"stored": [], "published": []},
        {"emitted": [PAID], "stored": [PAID], "published": [PAID, PAID], "delivered": [PAID]},
    ),
    "a_field_of_the_state": lambda: fields_text(
        {"status": "SHIPPED", "owner": "u-1"}, ORDER_STATE, subject="the state of order(o-1)"
    ),
    "a_field_that_the_state_does_not_have": lambda: fields_text(
        {"stauts": "SHIPPED"}, ORDER_STATE, subject="the state of order(o-1)"
    ),
    "a_nested_field_of_the_state": lambda: fields_text(
        {"lines": [Line(sku="a", quantity=4)]}, ORDER_STATE, subject="the state of order(o-1)"
    ),
    "no_view": lambda: fields_text({"status": "PAID"}, None, subject="the view OrderView of o-1", root="view"),
    "replay_gives_another_state": lambda: value_text(
        ORDER_STATE,
        OrderState(id="o-1", status="PAID", owner="u-2"),
        subject="the replayed state of order(o-1)",
        root="state",
        sides=("the working state", "the replayed state"),
    ),
    "a_header_entry": lambda: mapping_text(
        {"trace_id": "t-1", "command_operator": "ann"},
        Header({"traceid": "t-1", "command_operator": "bob"}),
        subject="the header of OrderPaid",
    ),
    "an_entry_of_the_result": lambda: mapping_text(
        {"balance": 3}, {"balance": 4, "fee": 1}, subject="the result of PayOrder", root="result", exact=True
    ),
    "a_step_came_before": lambda: order_text(
        ["event_store.append", "command.acknowledge", "domain_event_bus.send", "state_event_bus.send"], POINTS
    ),
    "a_step_never_came": lambda: order_text(["event_store.append", "domain_event_bus.sent"], POINTS),
    "the_order_ends_early": lambda: order_text(["event_store.append", "wait.notify:PROCESSED"], POINTS[:3]),
}
