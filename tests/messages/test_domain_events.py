"""One domain event from its body."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from tests.messages.origins import NOW, CountingOrigin
from wowspec import AggregateRef, DomainEvent, Header, IllegalStateError, event
from wowspec.messages.domain_events import to_domain_event
from wowspec.modeling.configuration import MetadataScopes, WowMetadata

SCOPES = MetadataScopes(
    WowMetadata.from_document({"contexts": {"shop": {"aggregates": {"cart": {"scopes": [__name__]}}}}})
)


@event(revision="1.1.0")
class Opened(BaseModel):
    pass


@pytest.mark.clause("EVT-053")
def test_defaults():
    """Sequence 1 and last, version 1, no owner, no space; name and revision are the class's."""
    target = AggregateRef("shop", "cart", "c-1")

    made = to_domain_event(Opened(), target, origin=CountingOrigin())

    assert made == DomainEvent("id-1", Opened(), target, 1, "opened", "", Header(), 1, True, "1.1.0", "", "", NOW)


@pytest.mark.clause("EVT-056")
def test_a_bare_id_needs_an_event_of_a_known_aggregate():
    """The event's class says which aggregate; otherwise the id says too little."""
    origin = CountingOrigin()

    made = to_domain_event(Opened(), "c-1", origin=origin, tenant_id="t", id="ev-1", scopes=SCOPES)

    assert (made.id, made.aggregate_id) == ("ev-1", AggregateRef("shop", "cart", "c-1", "t"))
    with pytest.raises(IllegalStateError, match="Opened belongs to no aggregate"):
        to_domain_event(Opened(), "c-1", origin=origin)
