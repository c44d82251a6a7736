"""What a spec's world is made of: parts, services, filters, profiles; and in which order they come together."""

from __future__ import annotations

import pytest

import wowspec as ws
from wowspec import SpecError, spec

from .gateway_domain import CreateOrder, Hits, Order, OrderCreated, OrderView, PayOrder, shop

#: Made outside a test, so that no test is told that it forgot it.
BASE = spec()


def test_services_come_before_processors():
    """A processor's constructor is given a service that the spec injects, wherever the two verbs stand."""
    for order in (
        lambda base, hits: base.inject(hits=hits).using(Hits),
        lambda base, hits: base.using(Hits).inject(hits=hits),
    ):
        hits = []
        order(spec(Order), hits).when(CreateOrder(id="o-1")).expect_event_types(OrderCreated)
        assert hits == ["o-1"]


def test_a_factory_makes_one_service_for_a_fresh_world():
    """What a factory makes for a processor's constructor is what handlers of that world are given, too."""
    made = []

    def factory():
        made.append([])
        return made[-1]

    spec(Order).inject_factory(hits=factory).using(Hits).when(CreateOrder(id="o-1")).expect_event_types(OrderCreated)

    assert made == [["o-1"]]


def test_a_filter_of_ones_own():
    """A filter that a spec brings stands in the chain of its world, and may fail the command."""

    class Closed:
        async def filter(self, exchange, next):
            raise ws.DomainError("Closed", "the shop is closed")

    spec(Order).with_filter(Closed(), order=ws.Order(-1)).when(CreateOrder(id="o-1")).expect_error(
        code="Closed"
    ).expect_no_events()


def test_parts_of_a_context_but_one():
    """A context stands for all its parts; one may be taken out again."""
    with pytest.raises(SpecError, match=r"using\(CreateOrder\): neither"):
        BASE.using(CreateOrder)
    run = BASE.using(shop).without(OrderView).when(CreateOrder(id="o-1")).run()
    assert run.session.runtime.processor(OrderView) is None
    run = BASE.using(shop).when(CreateOrder(id="o-1")).run()
    assert run.session.runtime.processor(OrderView) is not None


def test_what_shapes_a_world_comes_before_its_first_command():
    """Once a command ran, neither a part can be taken out, nor profile or chain be changed."""

    class Tap:
        async def filter(self, exchange, next):
            await next(exchange)

    base = spec().using(shop).when(CreateOrder(id="o-1"))
    for late in (base.without(OrderView), base.with_filter(Tap()), base.with_profile("in_memory")):
        with pytest.raises(SpecError, match="after the world was made"):
            late.when(PayOrder(id="o-1")).run()
    assert base.inject(hits=[]).using(Hits).when(PayOrder(id="o-1")).run().succeeded


def test_profiles():
    """A profile is known by its name or made; nothing else is one."""
    assert BASE.with_profile("in_memory").when(CreateOrder(id="o-1")).run().succeeded
    with pytest.raises(SpecError, match="unknown profile 'oracle'"):
        BASE.with_profile("oracle")
    with pytest.raises(SpecError, match="unknown profile 'oracle'"):
        ws.profile("oracle")


def test_no_fault():
    """`with_faults` refuses what is no fault, with the way to write one."""
    with pytest.raises(SpecError, match=r"with_faults\('event_store\.append'\)"):
        BASE.with_faults("event_store.append")
