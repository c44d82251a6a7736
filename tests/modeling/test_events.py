"""Metadata of event classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Protocol

import pytest
from pydantic import BaseModel

from wowspec import AggregateId, AggregateName, event, name
from wowspec.errors import IllegalArgumentError
from wowspec.modeling.configuration import MetadataScopes, WowMetadata
from wowspec.modeling.events import EventTypeId, aggregate_of_event, event_metadata
from wowspec.modeling.identity import NamedAggregate

SCOPES = MetadataScopes(
    WowMetadata.from_document({"contexts": {"shop": {"aggregates": {"cart": {"scopes": [__name__]}}}}})
)
NOWHERE = MetadataScopes(WowMetadata())


class CartOpened(BaseModel):
    pass


@name("base_name")
@event(revision="2.0.0")
class Base:
    pass


@name("face_name")
@event(revision="3.0.0")
class Face(Protocol):
    pass


@pytest.mark.clause("EVT-054")
def test_name_and_revision_have_defaults():
    """The class's name in snake case, revision 0.0.1."""
    metadata = event_metadata(CartOpened)

    assert (metadata.name, metadata.revision) == ("cart_opened", "0.0.1")


@pytest.mark.clause("EVT-054")
def test_the_name_comes_from_a_superclass_and_the_revision_from_an_interface_too():
    """A name on an interface does not count; the nearest revision does."""

    class OfBase(Base):
        pass

    class OfFace(Face):
        pass

    @event(revision="4.0.0")
    class Own(Base, Face):
        pass

    shown = [(m.name, m.revision) for m in map(event_metadata, (OfBase, OfFace, Own))]
    assert shown == [("base_name", "2.0.0"), ("of_face", "3.0.0"), ("base_name", "4.0.0")]


@pytest.mark.clause("EVT-054")
def test_an_own_annotation_hides_the_inherited_revision():
    """Its default revision counts as well; an empty one is the default, a blank one is a value."""

    @event()
    class Default(Base):
        pass

    @event(revision="")
    class Empty:
        pass

    @event(revision=" ")
    class Blank:
        pass

    assert [event_metadata(cls).revision for cls in (Default, Empty, Blank)] == ["0.0.1", "0.0.1", " "]


@pytest.mark.clause("EVT-055")
def test_marked_fields_give_aggregate_and_id():
    """Only markers count here: a field named `id` is an event's own business."""

    @dataclass
    class Moved:
        id: int
        kind: Annotated[str, AggregateName()]
        ref: Annotated[str, AggregateId()]

    body = Moved(1, "toys.gizmo", "g-1")

    assert event_metadata(Moved).aggregate_id(body) == "g-1"
    assert event_metadata(Moved).aggregate_name(body) == "toys.gizmo"
    assert aggregate_of_event(body, NOWHERE) == NamedAggregate("toys", "gizmo")
    assert event_metadata(CartOpened).aggregate_id is None


@pytest.mark.clause("EVT-055")
def test_a_marked_field_must_be_text():
    """The same rule as for commands."""

    @dataclass
    class Moved:
        ref: Annotated[int, AggregateId()]

    with pytest.raises(IllegalArgumentError, match=r"Moved\.ref supplies the aggregate id"):
        event_metadata(Moved)


@pytest.mark.clause("EVT-055")
def test_metadata_is_equal_by_class():
    """It is parsed once, and a subclass has its own."""

    class Reopened(CartOpened):
        pass

    assert event_metadata(CartOpened) is event_metadata(CartOpened)
    assert event_metadata(CartOpened) != event_metadata(Reopened)
    assert event_metadata(Reopened).name == "reopened"
    assert len({event_metadata(CartOpened), event_metadata(CartOpened)}) == 1


@pytest.mark.clause("EVT-055")
def test_an_event_without_marks_belongs_to_the_aggregate_of_its_class():
    """Scopes say; without a hit there is none."""
    assert aggregate_of_event(CartOpened(), SCOPES) == NamedAggregate("shop", "cart")
    assert aggregate_of_event(CartOpened(), NOWHERE) is None


def test_a_class_of_python_s_own_can_be_an_event():
    """Nothing can be kept on it, but it has a name."""
    assert event_metadata(str).name == "str"


@pytest.mark.clause("EVT-069")
def test_a_type_id_has_a_text_form_and_no_blank_part():
    """The revision is part of the key, not of the text."""
    assert str(EventTypeId("shop", "cart", "opened", "2.0.0")) == "event://shop/cart/opened"
    for parts in ((" ", "a", "n", "1"), ("c", "", "n", "1"), ("c", "a", "", "1"), ("c", "a", "n", " ")):
        with pytest.raises(IllegalArgumentError, match="must not be blank"):
            EventTypeId(*parts)
