"""What may stand beside bodies: options of envelopes, as type checkers and as the kit itself know them."""

from __future__ import annotations

import pytest

from wowspec import SpecError, given, on, sent_as, stream
from wowspec.specs.items import CommandOptions, WaitingEnvelope

from .ending import a_test
from .language_domain import CreateOrder, Order, OrderCreated, OrderState

CREATE = CreateOrder(id="o-1")
UNTRACKED = given()


def test_type_checkers_know_the_options_of_a_command():
    """Those that they know are those that there are."""
    assert set(WaitingEnvelope.__optional_keys__) == set(CommandOptions.__dataclass_fields__)
    assert WaitingEnvelope.__required_keys__ == frozenset()


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: UNTRACKED.when(CREATE, owner_id=5), "the option owner_id=5"),
        (lambda: sent_as(CREATE, space_id=5), "the option space_id=5"),
        (lambda: on(Order, "o-1", owner_id=5), "on(..., owner_id=5)"),
        (lambda: stream(OrderCreated(), tenant_id=5), "stream(..., tenant_id=5)"),
        (lambda: UNTRACKED.given_state(OrderState(id="o-1"), owner_id=5), "given_state(..., owner_id=5)"),
        (lambda: UNTRACKED.given_state(OrderState(id="o-1"), aggregate_id=5), "given_state(..., aggregate_id=5)"),
        (lambda: UNTRACKED.when_event(OrderCreated(), owner_id=5), "when_event(..., owner_id=5)"),
        (lambda: UNTRACKED.when_event(OrderCreated(), aggregate_id=5), "when_event(..., aggregate_id=5)"),
    ],
    ids=["when", "sent_as", "on", "stream", "given_state", "given_state id", "when_event", "when_event id"],
)
def test_an_id_is_a_text(call, what):
    """A number in an id's place is refused where it is written, not where something fails to work with it."""
    with pytest.raises(SpecError) as caught:
        call()

    name = what.rpartition("=")[0].replace("(..., ", " ").rpartition(" ")[2]
    assert str(caught.value) == f"{what}\n  why: ids are texts\n  instead: {name}='5'"


@pytest.mark.parametrize(
    "make",
    [
        lambda: given([OrderCreated()]),
        lambda: given(on(Order, "o-1", [OrderCreated()])),
        lambda: given(stream([OrderCreated()])),
    ],
    ids=["given", "on", "stream"],
)
def test_a_list_is_to_be_unpacked(make):
    """A list of events is no event; wherever it stands, the text says what to write there."""
    with pytest.raises(SpecError) as caught, a_test():
        make().when(CREATE).run()

    assert str(caught.value) == (
        "item 1 of given(...) is [OrderCreated()]\n"
        "  why: given(...) takes its items, not a collection of them\n"
        "  instead: unpack it: given(*events), on(T, id, *events), or stream(*events) for several in one version"
    )
