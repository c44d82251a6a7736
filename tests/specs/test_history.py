"""Writing what is given."""

from __future__ import annotations

from wowspec.runtime.sourcing import StateAggregate
from wowspec.specs.history import nothing_more, write_history
from wowspec.specs.items import on
from wowspec.specs.session import Profile, new_session

from .shop_domain import Order, OrderPaid, OrderPlaced, OrderView


def test_a_delivered_history_sources_each_event_once(monkeypatch):
    """A state event is made as a command would make it, from the latest snapshot: the cost of a history is linear."""
    sourced = []
    original = StateAggregate.on_sourcing

    def counted(aggregate, stream):
        sourced.append(stream.version)
        return original(aggregate, stream)

    monkeypatch.setattr(StateAggregate, "on_sourcing", counted)
    session = new_session([Order, OrderView], Profile())
    events = [OrderPlaced(sku="tea", quantity=1), *(OrderPaid() for _ in range(9))]
    write_history(session, [on(Order, "o-1", *events)], nothing_more, deliver=True)

    assert sourced == list(range(1, 11))
    row = session.runtime.views.of(OrderView)["o-1"]
    assert (row.status, row.changes) == ("PAID", 10)


def test_what_follows_is_asked_for_once():
    """Where a bare event belongs is looked for in what follows; the events after it go where it went."""
    asked = []
    session = new_session([Order], Profile())

    def following():
        asked.append(len(asked))
        return ()

    write_history(session, [OrderPlaced(sku="tea", quantity=1), OrderPaid(), OrderPaid()], following, deliver=False)

    assert asked == [0]
    (reference,) = session.runtime.event_store.aggregate_ids()
    assert session.runtime.event_store.head_version(reference) == 3
