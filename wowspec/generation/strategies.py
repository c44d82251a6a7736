"""`wowspec.strategies`: what property specs draw their values from.

    from wowspec import strategies as ws_st

    @hypothesis.given(ws_st.from_model(PayOrder, amount=st.integers(1, 5)))

Each strategy is made from what the domain declares; nothing is registered globally. Hypothesis is imported here, and so
only by those who ask for one of these names.
"""

from __future__ import annotations

from typing import Any, TypeVar

from hypothesis import strategies as st

from .naming import named, overrides_of_call
from .resolver import resolve

T = TypeVar("T")


def from_model(model: type[T], /, **overrides: st.SearchStrategy[Any]) -> st.SearchStrategy[T]:
    """Values of a model, a dataclass, or a plain class with annotations: `from_model(PayOrder, amount=st.just(5))`.

    Constraints hold at every depth, and every value is made by its own constructor, so that its validators have their
    say; what they refuse is drawn anew. Fields with defaults are left out at times, and vary at others. Values have
    their JSON: floats are finite, bytes are UTF-8, datetimes are in UTC unless their type is naive.

    Args:
        model: the class.
        overrides: strategies for single fields, by name, or by path for nested ones, which goes through containers
            and unions: `from_model(PlaceOrder, **{"lines.quantity": st.just(1)})`.

    Raises:
        SpecError: where no strategy follows from the type of a field (with its path, and the override to write), for an
            override of no field or that is no strategy; while drawing, where validators refuse a hundred values in a
            row.
    """
    call, said = overrides_of_call("from_model", model, overrides)
    made = resolve(model, said)
    said.require_used(call)
    return named("from_model", (model,), overrides, made)
