"""What a message hands on to the messages it causes: four propagators and nothing else (CMD-067, EVT-149)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .envelopes import CommandMessage, DomainEvent, DomainEventStream, StateEvent
from .header import COMMAND_OPERATOR, REMOTE_IP, TRACE_ID, UPSTREAM_ID, UPSTREAM_NAME, USER_AGENT, Header
from .wait_headers import WAIT_ID, propagate_wait_plan

#: What can be upstream of another message.
Upstream = CommandMessage[object] | DomainEvent[object] | DomainEventStream | StateEvent[object]


def _wait_plan(upstream: Upstream, header: Header) -> None:
    # Most messages are waited for by nobody; reading a plan is the dear part.
    given = upstream.header
    if WAIT_ID in given:
        propagate_wait_plan(given, isinstance(upstream, CommandMessage), header)


def _operator(upstream: Upstream, header: Header) -> None:
    given = upstream.header
    if COMMAND_OPERATOR in given:
        header[COMMAND_OPERATOR] = given[COMMAND_OPERATOR]


def _trace(upstream: Upstream, header: Header) -> None:
    given = upstream.header
    if TRACE_ID in given:
        header[TRACE_ID] = given[TRACE_ID]
    header[UPSTREAM_ID] = upstream.id
    name = getattr(upstream, "name", None)  # streams have none
    if name is not None:
        header[UPSTREAM_NAME] = name


def _request_facts(upstream: Upstream, header: Header) -> None:
    given = upstream.header
    if USER_AGENT in given:
        header[USER_AGENT] = given[USER_AGENT]
    if REMOTE_IP in given:
        header[REMOTE_IP] = given[REMOTE_IP]


@dataclass(frozen=True, slots=True)
class Propagator:
    """One row of the table: what is handed on, by which clauses."""

    name: str
    clauses: tuple[str, ...]
    run: Callable[[Upstream, Header], None]


PROPAGATORS: Final[tuple[Propagator, ...]] = (
    Propagator("wait_plan", ("CMD-071", "CMD-072", "CMD-073"), _wait_plan),
    Propagator("operator", ("CMD-068",), _operator),
    Propagator("trace", ("CMD-069",), _trace),
    Propagator("request_facts", ("CMD-070",), _request_facts),
)

#: The table of a process where handing on request facts is switched off (CMD-070, EVT-152).
WITHOUT_REQUEST_FACTS: Final = tuple(row for row in PROPAGATORS if row.name != "request_facts")


def propagate(upstream: Upstream, header: Header, propagators: tuple[Propagator, ...] = PROPAGATORS) -> Header:
    """Hand on from an upstream message, over what the header holds under the same keys; returns the header.

    Raises:
        UnsupportedOperationError: if the header is read-only (CMD-075).
        IllegalArgumentError: if the upstream has a wait plan for an unknown stage (CMD-353).
    """
    for row in propagators:
        row.run(upstream, header)
    return header


def ensure_trace_id(header: Header, message_id: str) -> None:
    """A message without trace id starts a trace of its own (CMD-043, EVT-151)."""
    if TRACE_ID not in header:
        header[TRACE_ID] = message_id
