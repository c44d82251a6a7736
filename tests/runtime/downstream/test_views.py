"""Read models: one mapping for each projection, kept by the world, copied with it."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import BaseModel

from tests.runtime.downstream.shop import ORDER, Bench, Place, Placed, Ship, Shipped
from wowspec import Clock, DomainEvent, Name, SpecError, Views, event_processor, projection
from wowspec.runtime.branch import branch


class Row(BaseModel):
    items: list[str] = []
    shipped: bool = False


@projection(context="shop")
class OrderView:
    """Writes through a parameter of its functions."""

    @staticmethod
    def row(views: Views[Row], view_id: str) -> Row:
        return views.setdefault(view_id, Row())

    def on_event(self, event: DomainEvent[Placed], views: Views[Row]) -> None:
        self.row(views, event.aggregate_id.id).items.append(event.body.item)

    def on_state_event(self, event: DomainEvent[Shipped], views: Views[Row]) -> None:
        self.row(views, event.aggregate_id.id).shipped = True


class Repository:
    def __init__(self, views: Views[Row]) -> None:
        self.views = views


@projection(context="shop")
class BuiltView:
    """Took its views, and more, when it was made."""

    def __init__(self, views: Views[Row], clock: Clock, ledger: list) -> None:
        self.repository = Repository(views)
        self.clock = clock
        self.ledger = ledger
        self.seen = []

    def on_event(self, event: DomainEvent[Placed]) -> None:
        self.repository.views[event.aggregate_id.id] = Row(items=[event.body.item])
        self.seen.append(self.clock.now_millis())
        self.ledger.append(event.body.item)


def test_functions_of_one_projection_share_its_views():
    """What one function writes, another finds, and the world shows by the class."""
    bench = Bench(OrderView)
    bench.send(Place(items=("pen", "ink")))
    bench.send(Ship())

    assert dict(bench.runtime.views.of(OrderView)) == {"o-1": Row(items=["pen", "ink"], shipped=True)}


def test_each_projection_has_its_own():
    """Two projections write under one id without meeting."""

    @projection(context="shop")
    class Other:
        def on_event(self, event: DomainEvent[Placed], views: Views[int]) -> None:
            views[event.aggregate_id.id] = views.get(event.aggregate_id.id, 0) + 1

    bench = Bench(OrderView, Other)
    bench.send(Place(items=("pen", "ink")))

    assert bench.runtime.views.of(Other) == {"o-1": 2}
    assert bench.runtime.views.of(OrderView)["o-1"].items == ["pen", "ink"]


def test_a_view_id_is_a_text():
    """A row under an aggregate id object would be found by nobody: the author hears of it."""
    views = Views[int]("OrderView")

    with pytest.raises(SpecError, match=r"OrderView keeps a view under [\s\S]*which is no text"):
        views[ORDER] = 1


def test_a_branch_has_rows_of_its_own():
    """After a branch neither side sees what the other writes, nor what it changes in a row."""
    bench = Bench(OrderView)
    bench.send(Place())
    other = branch(bench.runtime)

    bench.runtime.views.of(OrderView)["o-1"].items.append("ink")
    other.views.of(OrderView)["o-2"] = Row()

    assert list(bench.runtime.views.of(OrderView)) == ["o-1"]
    assert other.views.of(OrderView) == {"o-1": Row(items=["pen"]), "o-2": Row()}


def test_a_projection_that_took_views_when_it_was_made_goes_on_with_those_of_its_branch():
    """Each side of a branch has its own object, clock and rows, and remembers what was; services stay shared."""
    ledger = []
    bench = Bench(BuiltView, services={"ledger": ledger})
    bench.send(Place())
    start = bench.world.now_millis()
    other = branch(bench.runtime)
    other.world.clock.move_to(other.world.clock.nanos + 5_000_000_000)
    first, second = bench.runtime.processor(BuiltView), other.processor(BuiltView)

    other.domain_event_bus.send_now(bench.runtime.event_store.load_now(ORDER)[0])
    other.world.scheduler.run()
    other.views.of(BuiltView)["o-1"].items.append("ink")

    assert first is not second
    assert first.seen == [start]
    assert second.seen == [start, start + 5_000]
    assert bench.runtime.views.of(BuiltView) == {"o-1": Row(items=["pen"])}
    assert other.views.of(BuiltView) == {"o-1": Row(items=["pen", "ink"])}
    assert first.ledger is second.ledger is ledger
    assert ledger == ["pen", "pen"]


def test_a_projection_that_took_nothing_of_the_world_is_shared():
    """Without views, clock or prepare keys in its constructor, both sides of a branch have one object."""
    bench = Bench(OrderView)
    other = branch(bench.runtime)

    assert bench.runtime.processor(OrderView) is other.processor(OrderView)


def test_a_projection_that_took_services_alone_is_shared():
    """Services are the same in every copy of a world, found by type, by a name of their own, or by the parameter's."""

    class Ledger(list):
        pass

    @projection(context="shop")
    class Served:
        def __init__(self, ledger: Ledger, named: Annotated[Clock, Name("second")], third) -> None:
            self.given = (ledger, named, third)

        def on_event(self, event: Placed) -> None: ...

    ledgers = Ledger("1"), Ledger("2"), object()
    bench = Bench(Served, services={"first": ledgers[0], "second": ledgers[1], "third": ledgers[2]})
    other = branch(bench.runtime)

    served = bench.runtime.processor(Served)
    assert served is other.processor(Served)
    assert served.given[1:] == ledgers[1:]
    assert served.given[0] in ledgers


def test_an_object_that_cannot_be_copied_is_named():
    """A branch needs a copy of a projection that took views; one that cannot be copied says what to write instead."""

    @projection(context="shop")
    class Stubborn:
        def __init__(self, views: Views[Row]) -> None:
            self.views = views
            self.generator = (item for item in ())

        def on_event(self, event: Placed) -> None: ...

    bench = Bench(Stubborn)

    with pytest.raises(SpecError, match=r"Stubborn of this world cannot be copied[\s\S]*views: Views\[Row\]"):
        branch(bench.runtime)


def test_a_row_that_cannot_be_copied_is_named():
    """Rows are plain values; anything else is told at the branch."""
    bench = Bench(OrderView)
    bench.runtime.views.of(OrderView)["o-1"] = (item for item in ())

    with pytest.raises(SpecError, match="a row of OrderView cannot be copied"):
        branch(bench.runtime)


def test_any_processor_may_keep_views():
    """An event processor asks for views as a projection does."""

    @event_processor(context="shop")
    class Counter:
        def on_event(self, event: Placed, views: Views[int]) -> None:
            views["all"] = views.get("all", 0) + 1

    bench = Bench(Counter)
    bench.send(Place(items=("a", "b", "c")))

    assert bench.runtime.views.of(Counter)["all"] == 3
