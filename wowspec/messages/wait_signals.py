"""What a waiting caller hears: signals, and the command results made from them (section P of the contract).

Both are values: nobody changes one after it was made. They are not frozen because each command makes several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..error_policy import ErrorPolicy
from ..errors import SUCCESS, BindingError, ErrorCode
from ..modeling.identity import GATEWAY_FUNCTION, AggregateRef, FunctionInfo
from .envelopes import CommandMessage
from .ids import Origin
from .stages import CommandStage


@dataclass(slots=True)
class WaitSignal:
    """One stage reached by one command, on its way to whoever waits (CMD-335).

    `signal_time` is in epoch milliseconds. `original_error` is the very exception behind a failed signal; it stays in
    the process (it is no part of equality or JSON) and lets a spec look at the error that a handler really raised.
    """

    id: str
    wait_command_id: str
    command_id: str
    aggregate_id: AggregateRef
    stage: CommandStage
    function: FunctionInfo
    signal_time: int
    aggregate_version: int | None = None
    is_last_projection: bool = False
    error_code: str = ErrorCode.OK
    error_msg: str = ""
    binding_errors: tuple[BindingError, ...] = ()
    result: Mapping[str, Any] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    original_error: BaseException | None = field(default=None, compare=False, repr=False)

    @property
    def succeeded(self) -> bool:
        """Whether the error code is exactly `Ok`."""
        return self.error_code == ErrorCode.OK

    def with_result(self, result: Mapping[str, Any]) -> WaitSignal:
        """The same signal with another result map (CMD-336)."""
        return replace(self, result=result)


@dataclass(slots=True)
class CommandResult:
    """One signal, converted for the caller (CMD-341).

    `signal_time` is in epoch milliseconds; `original_error` as in `WaitSignal`.
    """

    id: str
    wait_command_id: str
    stage: CommandStage
    context_name: str
    aggregate_name: str
    tenant_id: str
    aggregate_id: str
    aggregate_version: int | None
    request_id: str
    command_id: str
    function: FunctionInfo
    error_code: str = ErrorCode.OK
    error_msg: str = ""
    binding_errors: tuple[BindingError, ...] = ()
    result: Mapping[str, Any] = field(default_factory=dict)
    signal_time: int = 0
    original_error: BaseException | None = field(default=None, compare=False, repr=False)

    @property
    def succeeded(self) -> bool:
        """Whether the error code is exactly `Ok`."""
        return self.error_code == ErrorCode.OK


def sent_signal(
    message: CommandMessage[Any],
    wait_command_id: str,
    error: BaseException | None,
    errors: ErrorPolicy,
    origin: Origin,
) -> WaitSignal:
    """The gateway's own signal: the version is what the command expects (CMD-129, CMD-337)."""
    info = SUCCESS if error is None else errors.info(error)
    return WaitSignal(
        origin.next_id(),
        wait_command_id,
        message.id,
        message.aggregate_id,
        CommandStage.SENT,
        GATEWAY_FUNCTION,
        origin.now_millis(),
        message.aggregate_version,
        True,
        info.error_code,
        info.error_msg,
        info.binding_errors,
        {},
        (),
        error,
    )


def result_of_signal(signal: WaitSignal, message: CommandMessage[Any]) -> CommandResult:
    """The caller's view of a signal: the aggregate is the signal's, the request id the first command's (CMD-131)."""
    aggregate = signal.aggregate_id
    return CommandResult(
        signal.id,
        signal.wait_command_id,
        signal.stage,
        aggregate.context_name,
        aggregate.aggregate_name,
        aggregate.tenant_id,
        aggregate.id,
        signal.aggregate_version,
        message.request_id,
        signal.command_id,
        signal.function,
        signal.error_code,
        signal.error_msg,
        signal.binding_errors,
        signal.result,
        signal.signal_time,
        signal.original_error,
    )


def result_of_error(
    error: BaseException, message: CommandMessage[Any], wait_command_id: str, errors: ErrorPolicy, origin: Origin
) -> CommandResult:
    """The result of a command that did not get as far as the bus: stage SENT, no version (CMD-130)."""
    aggregate = message.aggregate_id
    info = errors.info(error)
    return CommandResult(
        origin.next_id(),
        wait_command_id,
        CommandStage.SENT,
        aggregate.context_name,
        aggregate.aggregate_name,
        aggregate.tenant_id,
        aggregate.id,
        None,
        message.request_id,
        message.id,
        GATEWAY_FUNCTION,
        info.error_code,
        info.error_msg,
        info.binding_errors,
        {},
        origin.now_millis(),
        error,
    )
