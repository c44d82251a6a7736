"""Which commands of a spec are, to every single fault, the same as earlier ones: those of another aggregate alike.

Plans of one fault at the later ones are left out. That is done only where it is provably the same: nothing listens to
events, no service or filter is shared, no condition of the author's names an aggregate, and the two aggregates were
given and sent the same at the same times, but for their ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..messages.codec import encode
from ..messages.envelopes import CommandMessage
from ..modeling.identity import AggregateRef
from .playing import Played, Way


def symmetric_chains(way: Way, base: Played) -> frozenset[str]:
    """Chains of the commands whose plans say nothing new.

    Args:
        way: the steps.
        base: their fault-free run.
    """
    runtime = base.session.runtime
    shared = runtime.catalog.processors or runtime.world.services.named() or runtime.has_filters
    if shared or way.conditions:
        return frozenset()
    sent: dict[AggregateRef, list[CommandMessage[Any]]] = {}
    for answer in base.answers:
        if answer.message is not None:
            sent.setdefault(answer.message.aggregate_id, []).append(answer.message)
    known: set[object] = set()
    found: list[str] = []
    for reference, messages in sent.items():
        signature = _signature(reference, messages, base)
        if signature in known:
            found += [base.armory.chains.see(message) for message in messages]
        known.add(signature)
    return frozenset(found)


def _signature(reference: AggregateRef, messages: Iterable[CommandMessage[Any]], base: Played) -> object:
    """All that happened to an aggregate, without its id."""

    def masked(body: Any) -> bytes:
        return encode(body).replace(reference.id.encode(), b"*")

    commands = tuple(
        (
            type(message.body),
            masked(message.body),
            message.owner_id,
            message.space_id,
            message.aggregate_version,
            message.request_id == message.id,
            message.create_time,
        )
        for message in messages
    )
    streams = tuple(
        (
            stream.version,
            stream.owner_id,
            stream.space_id,
            stream.create_time,
            *((type(event.body), masked(event.body)) for event in stream.events),
        )
        for stream in base.audit.whole
        if stream.aggregate_id == reference
    )
    return reference.named_aggregate, reference.tenant_id, commands, streams
