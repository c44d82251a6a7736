"""Wait plans in message headers: written, read back, and carried to the next message (sections D and Q)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..errors import IllegalArgumentError
from ..texts import is_blank
from .header import Header
from .stages import STAGE_BY_NAME, CommandStage, parse_stage
from .wait_plans import (
    SENT_STAGE,
    ChainTail,
    ChainTarget,
    FunctionSelector,
    StageTarget,
    WaitPlan,
    WaitTarget,
    stage_target,
)

WAIT_ID: Final = "command_wait_id"
WAIT_ENDPOINT: Final = "command_wait_endpoint"
WAIT_STAGE: Final = "command_wait_stage"
WAIT_CONTEXT: Final = "command_wait_context"
WAIT_PROCESSOR: Final = "command_wait_processor"
WAIT_FUNCTION: Final = "command_wait_function"
WAIT_CHAIN: Final = "command_wait_chain"
WAIT_TAIL_STAGE: Final = "command_wait_tail_stage"
WAIT_TAIL_CONTEXT: Final = "command_wait_tail_context"
WAIT_TAIL_PROCESSOR: Final = "command_wait_tail_processor"
WAIT_TAIL_FUNCTION: Final = "command_wait_tail_function"

CHAIN_MARKER: Final = "simple"
_SELECTOR_KEYS: Final = (WAIT_CONTEXT, WAIT_PROCESSOR, WAIT_FUNCTION)
_TAIL_SELECTOR_KEYS: Final = (WAIT_TAIL_CONTEXT, WAIT_TAIL_PROCESSOR, WAIT_TAIL_FUNCTION)


def _write_selector(selector: FunctionSelector, keys: tuple[str, str, str], entries: dict[str, str]) -> None:
    parts = (selector.context_name, selector.processor_name, selector.function_name)
    entries.update({key: part for key, part in zip(keys, parts, strict=True) if not is_blank(part)})


def _read_selector(header: Mapping[str, str], keys: tuple[str, str, str]) -> FunctionSelector:
    context, processor, function = keys
    return FunctionSelector(header.get(context, ""), header.get(processor, ""), header.get(function, ""))


def _write_tail(tail: ChainTail, entries: dict[str, str]) -> None:
    entries[WAIT_TAIL_STAGE] = tail.stage.value
    _write_selector(tail.selector, _TAIL_SELECTOR_KEYS, entries)


def _read_tail(header: Mapping[str, str]) -> ChainTail | None:
    stage = header.get(WAIT_TAIL_STAGE)
    return None if stage is None else ChainTail(parse_stage(stage), _read_selector(header, _TAIL_SELECTOR_KEYS))


def _write_target(target: WaitTarget, entries: dict[str, str]) -> None:
    if isinstance(target, StageTarget):
        entries[WAIT_STAGE] = target.stage.value
        if target.selector is not None:
            _write_selector(target.selector, _SELECTOR_KEYS, entries)
        return
    _write_selector(target.selector, _SELECTOR_KEYS, entries)
    entries[WAIT_CHAIN] = CHAIN_MARKER
    _write_tail(target.tail, entries)


#: What a plan for a mere stage never writes.
_RICH_KEYS: Final = frozenset(
    (*_SELECTOR_KEYS, WAIT_CHAIN, WAIT_TAIL_STAGE, *_TAIL_SELECTOR_KEYS),
)
#: Targets that are a mere stage, by its text.
_MERE_STAGES: Final[dict[str, StageTarget]] = {name: stage_target(stage) for name, stage in STAGE_BY_NAME.items()}


def _read_target(header: Mapping[str, str]) -> WaitTarget | None:
    # The tail is read first: an unknown tail stage fails even beside a valid stage key (CMD-350, CMD-353).
    tail = _read_tail(header) if WAIT_TAIL_STAGE in header else None
    if tail is not None and header.get(WAIT_CHAIN) == CHAIN_MARKER:
        return ChainTarget(_read_selector(header, _SELECTOR_KEYS), tail)
    stage_name = header.get(WAIT_STAGE)
    if stage_name is not None:
        return stage_target(parse_stage(stage_name), _read_selector(header, _SELECTOR_KEYS))
    return None if tail is None else tail.as_target()


def write_wait_plan(plan: WaitPlan, endpoint: str, header: Header) -> Header:
    """Write wait id, endpoint and target; stale keys stay, the timeout is never written (CMD-347, CMD-348).

    Raises:
        UnsupportedOperationError: if the header is read-only (CMD-075).
    """
    header.update(_entries(plan.wait_command_id, endpoint, plan.target))
    return header


def _entries(wait_command_id: str, endpoint: str, target: WaitTarget) -> dict[str, str]:
    if type(target) is StageTarget and target.selector is None:
        # `_value_` is the bare text, without the descriptor of `value`.
        return {WAIT_ID: wait_command_id, WAIT_ENDPOINT: endpoint, WAIT_STAGE: target.stage._value_}
    entries = {WAIT_ID: wait_command_id, WAIT_ENDPOINT: endpoint}
    _write_target(target, entries)
    return entries


def _read(header: Mapping[str, str]) -> tuple[str, str, WaitTarget] | None:
    """Wait id, endpoint and target, if all three are there (CMD-349)."""
    wait_command_id = header.get(WAIT_ID)
    if wait_command_id is None:
        return None
    endpoint = header.get(WAIT_ENDPOINT)
    if endpoint is None:
        return None
    target: WaitTarget | None = None
    if _RICH_KEYS.isdisjoint(header):
        # Most targets are like this, and several parts of the runtime read the header of each message.
        target = _MERE_STAGES.get(header.get(WAIT_STAGE, ""))
    if target is None:
        target = _read_target(header)
    return None if target is None else (wait_command_id, endpoint, target)


@dataclass(slots=True)
class ExtractedWaitPlan:
    """A plan that a header holds, and the endpoint that waits for its signals."""

    endpoint: str
    plan: WaitPlan

    @property
    def wait_command_id(self) -> str:
        """The plan's wait id."""
        return self.plan.wait_command_id

    def wants(self, stage: CommandStage) -> bool:
        """Whether the plan's target wants notifications of a stage (CMD-420)."""
        return self.plan.target.wants(stage)


def read_wait_plan(header: Mapping[str, str]) -> ExtractedWaitPlan | None:
    """The plan that a header holds: needs wait id, endpoint and a target, each of which may be empty text (CMD-349).

    It has the default timeout (CMD-347) and supports void commands exactly for a SENT target (CMD-352).

    Raises:
        IllegalArgumentError: if a stage's name is unknown (CMD-353).
    """
    return read_wanted_plan(header, None)


def read_wanted_plan(header: Mapping[str, str], stage: CommandStage | None) -> ExtractedWaitPlan | None:
    """As `read_wait_plan`; None too if the plan's target wants no notifications of a stage (CMD-420)."""
    found = _read(header)
    if found is None:
        return None
    wait_command_id, endpoint, target = found
    if stage is not None and not target.wants(stage):
        return None
    return ExtractedWaitPlan(endpoint, WaitPlan(wait_command_id, target, target.stage is SENT_STAGE))


def require_wait_command_id(header: Mapping[str, str]) -> str:
    """The wait id; a missing one is an `IllegalArgumentError` (CMD-354)."""
    return _require(header, WAIT_ID)


def require_wait_endpoint(header: Mapping[str, str]) -> str:
    """The endpoint; a missing one is an `IllegalArgumentError` (CMD-354)."""
    return _require(header, WAIT_ENDPOINT)


def _require(header: Mapping[str, str], key: str) -> str:
    value = header.get(key)
    if value is None:
        message = f"{key} is required!"
        raise IllegalArgumentError(message)
    return value


def propagate_wait_plan(upstream_header: Mapping[str, str], upstream_is_command: bool, target_header: Header) -> None:
    """Carry the wait plan of an upstream message over to the header of the message that it caused.

    From a command the whole plan (CMD-071); from an event nothing of a stage plan (CMD-072) and the tail alone of a
    chain (CMD-073), so that a chain reaches exactly one hop (CMD-074).

    Raises:
        IllegalArgumentError: if a stage's name is unknown (CMD-353).
        UnsupportedOperationError: if the target header is read-only and there is something to write (CMD-075).
    """
    found = _read(upstream_header)
    if found is None:
        return
    wait_command_id, endpoint, target = found
    if upstream_is_command:
        target_header.update(_entries(wait_command_id, endpoint, target))
        return
    if isinstance(target, ChainTarget):
        entries = {WAIT_ID: wait_command_id, WAIT_ENDPOINT: endpoint}
        _write_tail(target.tail, entries)
        target_header.update(entries)


@dataclass(frozen=True, slots=True)
class SimpleWaitingChain:
    """A stand-alone header helper for chains, without the wait id; the gateway does not use it (CMD-358)."""

    selector: FunctionSelector
    tail: ChainTail

    @property
    def stage(self) -> CommandStage:
        """SAGA_HANDLED."""
        return CommandStage.SAGA_HANDLED

    def write(self, endpoint: str, header: Header) -> None:
        """Write the endpoint and the whole chain."""
        entries = {WAIT_ENDPOINT: endpoint}
        _write_target(ChainTarget(self.selector, self.tail), entries)
        header.update(entries)

    def write_from(self, upstream_header: Mapping[str, str], upstream_is_command: bool, header: Header) -> None:
        """Write with the upstream's endpoint: the whole chain from a command, the tail alone from an event.

        Raises:
            IllegalArgumentError: if the upstream's header has no endpoint.
        """
        endpoint = require_wait_endpoint(upstream_header)
        if upstream_is_command:
            self.write(endpoint, header)
            return
        entries = {WAIT_ENDPOINT: endpoint}
        _write_tail(self.tail, entries)
        header.update(entries)

    @staticmethod
    def read(header: Mapping[str, str]) -> SimpleWaitingChain | None:
        """The chain that a header holds: needs the marker and a tail stage; None otherwise.

        Raises:
            IllegalArgumentError: if the tail stage's name is unknown.
        """
        if header.get(WAIT_CHAIN) != CHAIN_MARKER:
            return None
        tail = _read_tail(header)
        return None if tail is None else SimpleWaitingChain(_read_selector(header, _SELECTOR_KEYS), tail)
