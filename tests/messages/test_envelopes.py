"""Envelopes: what a stream says of its events, and what a copy shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from wowspec.errors import DomainEventError, UnsupportedOperationError
from wowspec.messages.envelopes import CommandMessage, DomainEvent, DomainEventStream, StateEvent
from wowspec.messages.exchange import ServerCommandExchange
from wowspec.messages.header import Header
from wowspec.modeling.identity import AggregateRef

REF = AggregateRef("bank", "ledger", "acc-1", "west")


class Credited(BaseModel):
    amount: int


class Refused(BaseModel):
    error_code: str
    error_msg: str = "refused"


def _event(number: int = 1, body: Any = None, **changes: Any) -> DomainEvent[Any]:
    values: dict[str, Any] = {
        "id": f"ev-{number}",
        "body": body or Credited(amount=number),
        "aggregate_id": REF,
        "version": 5,
        "name": "credited",
        "command_id": "cmd-1",
        "header": Header({"own": str(number)}),
        "owner_id": "own",
        "space_id": "sp",
        "create_time": 7,
    }
    return DomainEvent(**{**values, **changes})


def _stream(*events: DomainEvent[Any]) -> DomainEventStream:
    return DomainEventStream("st-1", "rq-1", Header({"command_operator": "op"}), events or (_event(1), _event(2)))


def _command() -> CommandMessage[Any]:
    return CommandMessage("cmd-1", Credited(amount=1), REF, "credit", "rq-1", Header({"trace_id": "t"}))


@pytest.mark.clause("CMD-307", "EVT-050")
def test_a_stream_speaks_with_its_first_event():
    """Aggregate, owner, space, command, version and time are the first event's; size and iteration are of all."""
    other = _event(2, aggregate_id=AggregateRef("x", "y", "z"), version=9, command_id="c", owner_id="", create_time=1)
    stream = _stream(_event(1), other)
    assert (stream.aggregate_id, stream.version, stream.command_id) == (REF, 5, "cmd-1")
    assert (stream.owner_id, stream.space_id, stream.create_time) == ("own", "sp", 7)
    assert (stream.size, len(stream), list(stream)) == (2, 2, list(stream.events))


@pytest.mark.clause("CMD-308", "EVT-051")
def test_a_copied_stream_has_headers_of_its_own():
    """A copy has the stream's and the events' headers anew, and the same bodies."""
    stream = _stream()
    stream.header.freeze()
    copy = stream.copy()
    assert copy == stream
    copy.header["new"] = "1"
    copy.events[0].header["new"] = "1"
    assert "new" not in stream.header
    assert "new" not in stream.events[0].header
    assert [each.body is other.body for each, other in zip(copy, stream, strict=True)] == [True, True]


@pytest.mark.clause("EVT-052")
def test_streams_are_equal_by_value():
    """Id, request id, header and events decide; the same events under another id are another stream."""
    assert _stream() == _stream()
    for changes in ({"id": "st-2"}, {"request_id": "rq-2"}, {"header": Header()}, {"events": (_event(3),)}):
        assert _stream() != replace(_stream(), **changes)


@pytest.mark.clause("EVT-053")
def test_an_event_has_defaults():
    """Sequence 1, the last one, revision 0.0.1, no owner, no space."""
    event = DomainEvent("ev-1", Credited(amount=1), REF, 1, "credited", "cmd-1", Header())
    assert (event.sequence, event.is_last, event.revision) == (1, True, "0.0.1")
    assert (event.owner_id, event.space_id) == ("", "")


@pytest.mark.clause("EVT-154")
def test_the_operator_is_a_header_entry():
    """The operator of a stream and of a state event is the header's, or empty."""
    stream = _stream()
    assert (stream.operator, StateEvent(stream, None).operator) == ("op", "op")
    assert replace(stream, header=Header()).operator == ""


@pytest.mark.clause("CMD-046", "CMD-048", "CMD-049")
def test_a_copied_message_can_be_written_to():
    """A copy keeps every field and the body itself, and has a header of its own; read-only is what the header says."""
    message = _command()
    message.header.freeze()
    assert message.is_read_only
    assert message.command_id == message.id
    with pytest.raises(UnsupportedOperationError):
        message.header["a"] = "1"
    copy = message.copy()
    assert copy == message
    assert copy.body is message.body
    assert not copy.is_read_only
    copy.header["a"] = "1"
    assert "a" not in message.header


@pytest.mark.clause("CMD-319", "CMD-322", "EVT-059")
@pytest.mark.parametrize(("code", "failed"), [("No", True), ("Ok", False)])
def test_a_failed_error_event_is_the_failure_of_its_command(code, failed):
    """The first event that is failed error info makes the command's failure, with its code and message."""
    stream = _stream(_event(1), _event(2, Refused(error_code=code)), _event(3, Refused(error_code="Later")))
    exchange = ServerCommandExchange(_command(), event_stream=stream)
    found = exchange.failure()
    assert isinstance(found, DomainEventError)
    assert (found.error_code, found.error_msg) == (code if failed else "Later", "refused")
    exchange.error = ValueError("first")
    assert exchange.failure() is exchange.error
    assert ServerCommandExchange(_command(), event_stream=_stream()).failure() is None
