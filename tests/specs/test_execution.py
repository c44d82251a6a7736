"""Running the steps of a spec: what a run leaves behind."""

from __future__ import annotations

import gc
from weakref import ref

import pytest

from wowspec.specs.execution import send
from wowspec.specs.history import nothing_more, write_history
from wowspec.specs.items import NO_OPTIONS, on
from wowspec.specs.session import Profile, new_session

from .shop_domain import Order, OrderPlaced, OrderSaga, OrderView, PayOrder, Stock


@pytest.mark.parametrize(
    "parts", [[], [Order], [Order, Stock, OrderSaga, OrderView]], ids=["nothing", "aggregate", "processors"]
)
def test_a_world_goes_when_nobody_holds_it(parts):
    """No circle of references holds a world: it goes with its session and its run, not at some garbage collection."""
    gc.collect()
    gc.disable()
    try:
        session = new_session(parts, Profile())
        write_history(session, [on(Order, "o-1", OrderPlaced(sku="tea", quantity=1))], nothing_more, deliver=False)
        run = send(session, PayOrder(id="o-1"), NO_OPTIONS, None)
        assert run.succeeded
        runtime = ref(session.runtime)
        del session, run
        assert runtime() is None
    finally:
        gc.enable()
