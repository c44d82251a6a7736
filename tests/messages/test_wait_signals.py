"""Signals and command results."""

from __future__ import annotations

import pytest

from wowspec.errors import BindingError, IllegalStateError, WowError
from wowspec.messages.envelopes import CommandMessage
from wowspec.messages.header import Header
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_signals import CommandResult, WaitSignal, result_of_error, result_of_signal, sent_signal
from wowspec.modeling.identity import GATEWAY_FUNCTION, AggregateRef
from wowspec.world.world import World

ORDER = AggregateRef("shop", "order", "o-1", "t-1")
STOCK = AggregateRef("stock", "item", "i-1")


def command(**more):
    """A command message."""
    return CommandMessage("c-1", object(), ORDER, "pay_order", "r-1", Header(), **more)


@pytest.mark.clause("CMD-335")
def test_defaults():
    """No version, no last projection, success, nothing else."""
    signal = WaitSignal("s", "w", "c", ORDER, CommandStage.SENT, GATEWAY_FUNCTION, 5)
    assert (signal.aggregate_version, signal.is_last_projection, signal.error_code) == (None, False, "Ok")
    assert (signal.error_msg, signal.binding_errors, signal.result, signal.commands) == ("", (), {}, ())
    assert signal.succeeded is True


@pytest.mark.clause("CMD-336")
def test_with_result_changes_the_result_alone():
    """Everything else stays, and the first signal is not touched."""
    signal = WaitSignal("s", "w", "c", ORDER, CommandStage.SENT, GATEWAY_FUNCTION, 5, result={"a": 1})
    other = signal.with_result({"b": 2})
    assert (signal.result, other.result) == ({"a": 1}, {"b": 2})
    assert other.with_result({"a": 1}) == signal


@pytest.mark.clause("CMD-337", "CMD-129")
def test_sent_signal():
    """The version is the one that the command expects; the function is the gateway's."""
    world = World()
    signal = sent_signal(command(aggregate_version=3), "w", None, world.errors, world)
    assert (signal.stage, signal.function) == (CommandStage.SENT, GATEWAY_FUNCTION)
    assert (signal.wait_command_id, signal.command_id, signal.aggregate_id) == ("w", "c-1", ORDER)
    assert (signal.aggregate_version, signal.is_last_projection, signal.succeeded) == (3, True, True)
    assert signal.signal_time == world.now_millis()
    assert sent_signal(command(), "w", None, world.errors, world).id > signal.id
    function = (signal.function.kind, signal.function.context_name, signal.function.processor_name)
    assert (*function, signal.function.name) == ("COMMAND", "wow", "CommandGateway", "send")


@pytest.mark.clause("CMD-337")
def test_failed_sent_signal():
    """The error is converted, and stays at hand in this process."""
    world, error = World(), IllegalStateError("refused")
    signal = sent_signal(command(), "w", error, world.errors, world)
    assert (signal.error_code, signal.error_msg, signal.succeeded) == ("IllegalState", "refused", False)
    assert signal.original_error is error


@pytest.mark.clause("CMD-130")
def test_result_of_an_exception():
    """Stage SENT, no version even where the command expects one, ids of the command, a new id."""
    world = World()
    error = WowError(error_code="X", binding_errors=[BindingError("a", "bad")])
    result = result_of_error(error, command(aggregate_version=3), "w", world.errors, world)
    assert result == CommandResult(
        result.id, "w", CommandStage.SENT, "shop", "order", "t-1", "o-1", None, "r-1", "c-1", GATEWAY_FUNCTION,
        "X", "bad", (BindingError("a", "bad"),), {}, world.now_millis(),
    )  # fmt: skip
    assert result.id
    assert result.succeeded is False


@pytest.mark.clause("CMD-131", "CMD-341")
def test_result_of_a_signal():
    """The aggregate is the signal's, the request id the first command's."""
    bindings = (BindingError("a", "bad"),)
    signal = WaitSignal(
        "s", "w", "c-2", STOCK, CommandStage.PROCESSED, GATEWAY_FUNCTION, 9, 4, False, "X", "no", bindings, {"k": 1}
    )
    assert result_of_signal(signal, command()) == CommandResult(
        "s", "w", CommandStage.PROCESSED, "stock", "item", "(0)", "i-1", 4, "r-1", "c-2", GATEWAY_FUNCTION,
        "X", "no", bindings, {"k": 1}, 9,
    )  # fmt: skip
