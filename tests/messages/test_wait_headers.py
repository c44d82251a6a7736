"""Wait plans in headers."""

from __future__ import annotations

import pytest

from wowspec.errors import IllegalArgumentError, UnsupportedOperationError
from wowspec.messages.header import Header
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_headers import (
    SimpleWaitingChain,
    propagate_wait_plan,
    read_wait_plan,
    require_wait_command_id,
    require_wait_endpoint,
    write_wait_plan,
)
from wowspec.messages.wait_plans import (
    DEFAULT_TIMEOUT_NANOS,
    EMPTY_SELECTOR,
    ChainTail,
    ChainTarget,
    FunctionSelector,
    StageTarget,
    WaitPlan,
    chain,
    processed,
    projected,
    saga_handled,
)

SENT, PROCESSED, SNAPSHOT, PROJECTED, EVENT_HANDLED, SAGA_HANDLED = CommandStage
HERE = {"command_wait_id": "w", "command_wait_endpoint": "e"}
SELECTOR = FunctionSelector("shop", "OrderSaga", "")
TAIL = FunctionSelector("stock", "StockView", "")
CHAIN = WaitPlan("w", ChainTarget(SELECTOR, ChainTail(PROJECTED, TAIL)))
CHAIN_HEADER = {
    **HERE,
    "command_wait_context": "shop",
    "command_wait_processor": "OrderSaga",
    "command_wait_chain": "simple",
    "command_wait_tail_stage": "PROJECTED",
    "command_wait_tail_context": "stock",
    "command_wait_tail_processor": "StockView",
}
TAIL_HEADER = {key: value for key, value in CHAIN_HEADER.items() if "tail" in key or key in HERE}


def read(**entries):
    """The plan in a header that has wait id and endpoint."""
    return read_wait_plan(HERE | {f"command_wait_{key}": value for key, value in entries.items()})


@pytest.mark.clause("CMD-348")
def test_a_stage_plan_writes_stage_and_names():
    """Blank parts are left out."""
    header = write_wait_plan(projected("shop", "OrderView").plan("w"), "e", Header())
    assert header == HERE | {
        "command_wait_stage": "PROJECTED",
        "command_wait_context": "shop",
        "command_wait_processor": "OrderView",
    }


@pytest.mark.clause("CMD-348")
def test_a_chain_plan_writes_marker_and_tail():
    """A chain has no stage key."""
    assert write_wait_plan(CHAIN, "e", Header()) == CHAIN_HEADER


@pytest.mark.clause("CMD-348")
def test_stale_keys_stay():
    """A left-over marker and tail make a stage plan read back as a chain."""
    header = Header({"command_wait_chain": "simple", "command_wait_tail_stage": "SNAPSHOT"})
    write_wait_plan(projected("shop").plan("w"), "e", header)
    extracted = read_wait_plan(header)
    assert extracted is not None
    assert extracted.plan.target == ChainTarget(FunctionSelector("shop"), ChainTail(SNAPSHOT, EMPTY_SELECTOR))


@pytest.mark.clause("CMD-075")
def test_writing_overwrites_and_needs_a_writable_header():
    """Existing values of the same keys are replaced; a read-only header refuses."""
    header = Header({"command_wait_id": "old", "command_wait_stage": "SENT"})
    assert write_wait_plan(processed().plan("w"), "e", header)["command_wait_id"] == "w"
    assert header["command_wait_stage"] == "PROCESSED"
    with pytest.raises(UnsupportedOperationError, match="read-only"):
        write_wait_plan(processed().plan("w"), "e", header.freeze())
    with pytest.raises(UnsupportedOperationError):
        propagate_wait_plan(CHAIN_HEADER, True, Header().freeze())


@pytest.mark.clause("CMD-347")
def test_the_timeout_is_not_written():
    """A plan read back has the default timeout."""
    header = write_wait_plan(processed().plan("w").with_timeout(seconds=1), "e", Header())
    extracted = read_wait_plan(header)
    assert extracted is not None
    assert extracted.plan.timeout_nanos == DEFAULT_TIMEOUT_NANOS


@pytest.mark.clause("CMD-349")
def test_a_plan_needs_id_endpoint_and_target():
    """Each may be empty text, none may be missing."""
    assert read() is None
    assert read_wait_plan({"command_wait_id": "w", "command_wait_stage": "SENT"}) is None
    assert read_wait_plan({"command_wait_endpoint": "e", "command_wait_stage": "SENT"}) is None
    extracted = read_wait_plan({"command_wait_id": "", "command_wait_endpoint": "", "command_wait_stage": "SENT"})
    assert extracted is not None
    assert (extracted.endpoint, extracted.wait_command_id) == ("", "")


@pytest.mark.clause("CMD-350")
def test_order_of_targets():
    """Marker and tail make a chain; else the stage key; else the tail as a stage."""
    stage_and_tail = {"stage": "PROCESSED", "tail_stage": "PROJECTED"}
    assert read(chain="simple", **stage_and_tail).plan.target == ChainTarget(EMPTY_SELECTOR, ChainTail(PROJECTED))
    assert read(chain="other", **stage_and_tail).plan.target == StageTarget(PROCESSED)
    assert read(chain="simple", stage="PROCESSED").plan.target == StageTarget(PROCESSED)
    assert read(tail_stage="PROJECTED").plan.target == StageTarget(PROJECTED, EMPTY_SELECTOR)


@pytest.mark.clause("CMD-350")
def test_an_extracted_tail_keeps_its_selector():
    """A chain's tail keeps its selector for every stage; read as a stage target it is dropped."""
    tail = {"tail_stage": "SNAPSHOT", "tail_context": "stock"}
    assert read(chain="simple", **tail).plan.target.tail == ChainTail(SNAPSHOT, FunctionSelector("stock"))
    assert read(**tail).plan.target == StageTarget(SNAPSHOT, None)


@pytest.mark.clause("CMD-351")
def test_an_extracted_stage_keeps_its_selector_where_it_matters():
    """A missing selector on a function stage matches everything."""
    assert read(stage="SENT", context="shop").plan.target == StageTarget(SENT, None)
    assert read(stage="EVENT_HANDLED").plan.target == StageTarget(EVENT_HANDLED, EMPTY_SELECTOR)
    assert read(stage="PROJECTED", function="f").plan.target == StageTarget(PROJECTED, FunctionSelector("", "", "f"))


@pytest.mark.clause("CMD-104", "CMD-352")
def test_an_extracted_plan_supports_void_for_sent():
    """Whether the stage key or a tail says SENT."""
    assert read(stage="SENT").plan.supports_void is True
    assert read(tail_stage="SENT").plan.supports_void is True
    assert read(stage="PROCESSED").plan.supports_void is False
    assert read(chain="simple", tail_stage="SENT").plan.supports_void is False


@pytest.mark.clause("CMD-353")
def test_unknown_stage_names():
    """The tail is read first, a chain makes the stage key harmless, and so does a missing wait id."""
    with pytest.raises(IllegalArgumentError, match="'NOPE' is no stage"):
        read(stage="NOPE")
    with pytest.raises(IllegalArgumentError):
        read(stage="SENT", tail_stage="NOPE")
    assert read(stage="NOPE", chain="simple", tail_stage="SENT").plan.stage is SAGA_HANDLED
    assert read_wait_plan({"command_wait_endpoint": "e", "command_wait_stage": "NOPE"}) is None


@pytest.mark.clause("CMD-354")
def test_required_values():
    """A missing wait id or endpoint is named by its key."""
    assert (require_wait_command_id(HERE), require_wait_endpoint(HERE)) == ("w", "e")
    with pytest.raises(IllegalArgumentError, match=r"^command_wait_id is required!$"):
        require_wait_command_id({})
    with pytest.raises(IllegalArgumentError, match=r"^command_wait_endpoint is required!$"):
        require_wait_endpoint({})


@pytest.mark.clause("CMD-071")
def test_from_a_command_the_whole_plan():
    """Id, endpoint and target are written again."""
    header = Header()
    propagate_wait_plan(CHAIN_HEADER | {"other": "x"}, True, header)
    assert header == CHAIN_HEADER


@pytest.mark.clause("CMD-072")
def test_from_an_event_no_stage_plan():
    """A stage plan ends with the command's own events."""
    header = Header()
    propagate_wait_plan(HERE | {"command_wait_stage": "PROJECTED"}, False, header)
    assert header == {}


@pytest.mark.clause("CMD-073")
def test_from_an_event_the_tail_of_a_chain():
    """No marker, no stage, no saga selector."""
    header = Header()
    propagate_wait_plan(CHAIN_HEADER, False, header)
    assert header == TAIL_HEADER


@pytest.mark.clause("CMD-074")
def test_a_chain_reaches_one_hop():
    """Command, event, the saga's command, its event: the next saga's command carries nothing."""
    event, tail_command, tail_event, next_command = Header(), Header(), Header(), Header()
    propagate_wait_plan(CHAIN_HEADER, True, event)
    propagate_wait_plan(event, False, tail_command)
    propagate_wait_plan(tail_command, True, tail_event)
    propagate_wait_plan(tail_event, False, next_command)
    assert tail_event["command_wait_stage"] == "PROJECTED"
    assert next_command == {}


@pytest.mark.clause("CMD-358")
def test_simple_waiting_chain():
    """The helper writes and reads the same keys without the wait id; from an event the tail alone."""
    helper = SimpleWaitingChain(SELECTOR, ChainTail(PROJECTED, TAIL))
    whole, from_event, from_command = Header(), Header(), Header()
    helper.write("e", whole)
    helper.write_from({"command_wait_endpoint": "e"}, False, from_event)
    helper.write_from({"command_wait_endpoint": "e"}, True, from_command)
    without_id = {key: value for key, value in CHAIN_HEADER.items() if key != "command_wait_id"}
    assert whole == from_command == without_id
    assert from_event == {key: value for key, value in TAIL_HEADER.items() if key != "command_wait_id"}
    assert SimpleWaitingChain.read(whole) == helper
    assert SimpleWaitingChain.read(from_event) is None
    with pytest.raises(IllegalArgumentError, match="command_wait_endpoint is required"):
        helper.write_from({}, False, Header())


@pytest.mark.clause("CMD-348", "CMD-350")
def test_round_trip_of_the_factory():
    """What the chain factory makes comes back as it was."""
    plan = chain(saga_handled("shop", "OrderSaga"), then=projected("stock", "StockView")).plan("w")
    extracted = read_wait_plan(write_wait_plan(plan, "e", Header()))
    assert extracted is not None
    assert extracted.plan == plan == CHAIN
