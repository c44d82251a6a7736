"""What is handed on from a message to those that it causes."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from wowspec import AggregateRef, CommandMessage, DomainEvent, DomainEventStream, Header, StateEvent
from wowspec.errors import IllegalArgumentError, UnsupportedOperationError
from wowspec.messages.propagation import PROPAGATORS, WITHOUT_REQUEST_FACTS, ensure_trace_id, propagate

TARGET = AggregateRef("shop", "cart", "c-1")
STAGE = {
    "command_wait_id": "w-1",
    "command_wait_endpoint": "here",
    "command_wait_stage": "PROJECTED",
    "command_wait_context": "shop",
}
TAIL = {
    "command_wait_id": "w-1",
    "command_wait_endpoint": "here",
    "command_wait_tail_stage": "PROJECTED",
    "command_wait_tail_processor": "View",
}
CHAIN = {**TAIL, "command_wait_chain": "simple", "command_wait_context": "shop", "command_wait_processor": "Saga"}


class Opened(BaseModel):
    pass


def command(**header: str) -> CommandMessage[Opened]:
    """A command upstream."""
    return CommandMessage("cmd-1", Opened(), TARGET, "open", "rq-1", Header(header))


def event(**header: str) -> DomainEvent[Opened]:
    """An event upstream."""
    return DomainEvent("ev-1", Opened(), TARGET, 1, "opened", "cmd-0", Header(header))


def stream(**header: str) -> DomainEventStream:
    """A stream upstream; its events have headers of their own."""
    return DomainEventStream("st-1", "rq-1", Header(header), (event(trace_id="not this"),))


def state_event(**header: str) -> StateEvent[Opened]:
    """A state event upstream."""
    return StateEvent(stream(**header), Opened())


@pytest.mark.clause("CMD-067", "EVT-149")
def test_the_table_has_four_rows():
    """In this order, and nothing else."""
    assert [row.name for row in PROPAGATORS] == ["wait_plan", "operator", "trace", "request_facts"]


@pytest.mark.clause("CMD-067", "EVT-149", "CMD-068", "CMD-069", "CMD-070")
@pytest.mark.parametrize("upstream", [command, event])
def test_a_fixed_set_is_handed_on(upstream):
    """Own entries of the upstream header are not."""
    cause = upstream(
        trace_id="t", command_operator="amy", user_agent="ua", remote_ip="ip",
        custom="no", local_first="true", upstream_id="old", upstream_name="old",
    )  # fmt: skip

    header = propagate(cause, Header({"mine": "1"}))

    assert header == {
        "mine": "1", "trace_id": "t", "command_operator": "amy", "user_agent": "ua", "remote_ip": "ip",
        "upstream_id": cause.id, "upstream_name": cause.name,
    }  # fmt: skip


@pytest.mark.clause("CMD-069", "EVT-149")
@pytest.mark.parametrize("upstream", [stream, state_event])
def test_streams_have_no_name(upstream):
    """The upstream id is always set, the name only from a message that has one; an old name stays."""
    assert propagate(upstream(), Header()) == {"upstream_id": "st-1"}
    assert propagate(upstream(), Header({"upstream_name": "older"})) == {
        "upstream_id": "st-1",
        "upstream_name": "older",
    }


@pytest.mark.clause("CMD-068", "CMD-069")
def test_what_the_upstream_lacks_is_left_alone():
    """Operator and trace id of the target stay."""
    header = Header({"command_operator": "ben", "trace_id": "mine", "user_agent": "ua"})

    propagate(event(), header)

    assert header == {
        "command_operator": "ben", "trace_id": "mine", "user_agent": "ua",
        "upstream_id": "ev-1", "upstream_name": "opened",
    }  # fmt: skip


@pytest.mark.clause("CMD-068")
def test_a_blank_operator_is_handed_on():
    """Blank is a value."""
    assert propagate(command(command_operator=""), Header({"command_operator": "ben"}))["command_operator"] == ""


@pytest.mark.clause("CMD-070", "EVT-152")
def test_request_facts_can_be_switched_off():
    """A process may decide not to hand on user agent and remote ip."""
    header = propagate(command(user_agent="ua", remote_ip="ip", trace_id="t"), Header(), WITHOUT_REQUEST_FACTS)

    assert header == {"trace_id": "t", "upstream_id": "cmd-1", "upstream_name": "open"}


@pytest.mark.clause("CMD-071", "EVT-153")
@pytest.mark.parametrize("plan", [STAGE, CHAIN], ids=["stage", "chain"])
def test_a_command_hands_on_the_whole_plan(plan):
    """Id, endpoint and target are written in full."""
    header = propagate(command(**plan), Header())

    assert {key: value for key, value in header.items() if key.startswith("command_wait")} == plan


@pytest.mark.clause("CMD-072", "EVT-153")
@pytest.mark.parametrize("upstream", [event, stream, state_event])
def test_an_event_hands_on_no_stage_plan(upstream):
    """Nobody waits for what an event causes, unless a chain says so."""
    header = propagate(upstream(**STAGE), Header())

    assert not [key for key in header if key.startswith("command_wait")]


@pytest.mark.clause("CMD-073", "CMD-074", "EVT-153")
@pytest.mark.parametrize("upstream", [event, stream])
def test_an_event_hands_on_the_tail_of_a_chain(upstream):
    """Without marker and selector; that is a stage plan for the next command, and its events hand nothing on."""
    first = propagate(upstream(**CHAIN), Header())
    tail = {key: value for key, value in first.items() if key.startswith("command_wait")}
    second = propagate(command(**tail), Header())
    third = propagate(event(**second), Header())

    assert tail == TAIL
    assert second["command_wait_stage"] == "PROJECTED"
    assert second["command_wait_processor"] == "View"
    assert "command_wait_tail_stage" not in second
    assert not [key for key in third if key.startswith("command_wait")]


@pytest.mark.clause("EVT-153")
@pytest.mark.parametrize("missing", ["command_wait_id", "command_wait_endpoint", "command_wait_stage"])
def test_an_incomplete_plan_is_not_handed_on(missing):
    """Id, endpoint and target are needed."""
    header = propagate(command(**{key: value for key, value in STAGE.items() if key != missing}), Header())

    assert header == {"upstream_id": "cmd-1", "upstream_name": "open"}


@pytest.mark.clause("CMD-075")
def test_handing_on_overwrites():
    """The same keys get the upstream's values."""
    header = Header({"trace_id": "old", "upstream_id": "old", "command_wait_id": "old"})

    propagate(command(trace_id="t", **STAGE), header)

    assert (header["trace_id"], header["upstream_id"], header["command_wait_id"]) == ("t", "cmd-1", "w-1")


@pytest.mark.clause("CMD-075")
def test_a_read_only_header_refuses():
    """There is always something to write."""
    header = Header({"a": "1"}).freeze()

    with pytest.raises(UnsupportedOperationError):
        propagate(command(), header)

    assert header == {"a": "1"}


@pytest.mark.clause("CMD-353")
def test_an_unknown_stage_fails_before_anything_is_written():
    """The wait plan is read first; without a wait id nobody reads it."""
    header = Header()
    broken = {**STAGE, "command_wait_stage": "projected"}

    with pytest.raises(IllegalArgumentError):
        propagate(command(trace_id="t", **broken), header)

    assert header == {}
    del broken["command_wait_id"]
    assert "upstream_id" in propagate(command(**broken), header)


@pytest.mark.clause("EVT-151", "CMD-043")
def test_a_message_without_trace_id_starts_a_trace():
    """Its own id is the trace's; a trace id that is there stays."""
    fresh, traced = Header(), Header({"trace_id": ""})

    ensure_trace_id(fresh, "cmd-1")
    ensure_trace_id(traced, "cmd-1")

    assert (fresh["trace_id"], traced["trace_id"]) == ("cmd-1", "")


@pytest.mark.clause("EVT-154")
def test_the_operator_of_a_stream_is_its_header_entry():
    """Empty where there is none; a state event has its stream's."""
    assert stream(command_operator="amy").operator == "amy"
    assert stream().operator == ""
    assert state_event(command_operator="amy").operator == "amy"
