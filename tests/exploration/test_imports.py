"""The import lines of a test to paste: what it names, from where it is found, and what cannot be imported."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import BaseModel

from tests.exploration.shop import OrderPlaced, PlaceOrder
from wowspec import at, spec
from wowspec.exploration.imports import with_imports
from wowspec.exploration.pasting import paste
from wowspec.faults.plans import Plan
from wowspec.specs.render import EVERYTHING, render


class Size(Enum):
    """Sizes."""

    SMALL = 1


class Outer:
    """Holds a class."""

    class Inner(BaseModel):
        """Held by another one."""

        size: Size
        price: Decimal
        when: dt.datetime


@dataclass
class Knot:
    """Holds itself."""

    inner: Any = None


def test_classes_come_from_their_modules():
    """Classes of a domain by module, verbs from the kit, what a value holds from the library; nothing else."""
    value = Outer.Inner(size=Size.SMALL, price=Decimal("1.5"), when=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    code = f"def test_it(spec):\n    spec.given(on(PlaceOrder, 'o-1', {render(value, EVERYTHING)})).when(PlaceOrder())"

    text = with_imports(code, [PlaceOrder, OrderPlaced], value)

    head, below = text.split("\n\ndef test_it", 1)
    assert head.splitlines() == [
        "from datetime import UTC, datetime",
        "from decimal import Decimal",
        f"from {PlaceOrder.__module__} import PlaceOrder",
        f"from {__name__} import Outer, Size",
        "from wowspec import on",
        "Inner = Outer.Inner",
    ]
    names: dict[str, Any] = {}
    exec(head, names)
    assert eval(render(value, EVERYTHING), names) == value
    assert code.endswith(below)


def test_what_has_no_name_to_import_is_said():
    """A class that a function makes is named in a comment; the others are imported all the same."""

    class Local(BaseModel):
        pass

    text = with_imports("it.when(Local(), PlaceOrder())", Local(), PlaceOrder)

    assert text.splitlines()[:2] == [
        f"from {PlaceOrder.__module__} import PlaceOrder",
        f"# Local: as {__name__} makes it, which has no name for it to import",
    ]


def test_code_that_is_none_has_imports_too():
    """A value whose repr is no code leaves the names around it; words within texts are no names."""
    text = with_imports("it.when(<Size object>, 'OrderPlaced', PlaceOrder())", Size.SMALL, OrderPlaced, PlaceOrder)

    assert text.splitlines()[:2] == [
        f"from {PlaceOrder.__module__} import PlaceOrder",
        f"from {__name__} import Size",
    ]


def test_many_names_stand_below_each_other():
    """No line is endless, and nothing that is named from nowhere is made up."""
    kinds = [type(f"Part{number:02}WithALongName", (), {"__module__": __name__}) for number in range(5)]
    globals().update({kind.__name__: kind for kind in kinds})

    lines = with_imports(", ".join(kind.__name__ for kind in kinds), *kinds).splitlines()

    assert lines[0] == f"from {__name__} import ("
    assert lines[1:6] == [f"    {kind.__name__}," for kind in kinds]
    assert with_imports("it.when(Unknown())", 1) == "it.when(Unknown())"


def test_values_that_hold_themselves_end():
    """A knot is looked at once."""
    knot = Knot()
    knot.inner = [knot]

    assert with_imports("Knot()", knot).startswith(f"from {__name__} import Knot\n")


def test_a_time_that_is_set_is_written_as_every_other_one():
    """One form for all times, so that one import line will do for them."""
    noon = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
    made = spec().given(at(noon)).when(PlaceOrder(id="o-1")).expect_any_outcome()

    text = paste(made._node.path(), Plan())

    assert "from datetime import UTC, datetime" in text.splitlines()
    assert ".given(at(datetime(2026, 5, 1, 12, 0, tzinfo=UTC)))" in text
    names: dict[str, Any] = {}
    exec(text, names)
    names["test_pinned"]()
