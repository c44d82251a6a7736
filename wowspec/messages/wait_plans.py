"""Wait plans: which signal ends a caller's wait for a command (section Q of the contract).

A `WaitFor` says what to wait for, whatever the command: it is what callers write. Bound to a command's wait id it is a
`WaitPlan`, which is what the gateway takes and headers carry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ..errors import IllegalArgumentError, SpecError
from ..modeling.identity import FunctionInfo
from ..texts import is_blank
from .stages import FUNCTION_STAGES, PREREQUISITES, WANTED, CommandStage, stage_of_text

if TYPE_CHECKING:
    from .wait_signals import WaitSignal

#: The one stage that a void command reaches; each plan asks, and a member of an enum takes longer to find than a name.
SENT_STAGE: Final = CommandStage.SENT
_NANOS_PER_MILLI: Final = 1_000_000
#: 30 seconds, in nanoseconds (CMD-346).
DEFAULT_TIMEOUT_NANOS: Final = 30_000 * _NANOS_PER_MILLI


def timeout_nanos(*, seconds: float = 0, milliseconds: int = 0) -> int:
    """A wait timeout in nanoseconds, exact to the millisecond (CMD-346).

    Raises:
        IllegalArgumentError: if it is zero or negative.
    """
    nanos = (round(seconds * 1000) + milliseconds) * _NANOS_PER_MILLI
    if nanos <= 0:
        message = f"a wait timeout must be greater than zero, got {nanos} ns"
        raise IllegalArgumentError(message)
    return nanos


@dataclass(frozen=True, slots=True)
class FunctionSelector:
    """Which function's signal counts; a blank part matches everything (CMD-355)."""

    context_name: str = ""
    processor_name: str = ""
    function_name: str = ""

    def matches(self, function: FunctionInfo) -> bool:
        """Whether each non-blank part equals the *handling* function's; its kind is not compared (CMD-355, CMD-356)."""
        context, processor, name = self.context_name, self.processor_name, self.function_name
        return (
            (context == function.context_name or is_blank(context))
            and (processor == function.processor_name or is_blank(processor))
            and (name == function.name or is_blank(name))
        )


EMPTY_SELECTOR: Final = FunctionSelector()


def selector_matches(selector: FunctionSelector | None, function: FunctionInfo) -> bool:
    """Like `FunctionSelector.matches`; a missing selector matches everything (CMD-355)."""
    return selector is None or selector.matches(function)


@dataclass(frozen=True, slots=True)
class StageTarget:
    """Wait for one stage; the selector matters for function stages only (CMD-342)."""

    stage: CommandStage
    selector: FunctionSelector | None = None

    def wants(self, stage: CommandStage) -> bool:
        """Whether it wants notifications of a stage: its own and its prerequisites' (CMD-333)."""
        return stage in WANTED[self.stage]

    def accepts(self, signal: WaitSignal) -> bool:
        """Whether a signal matters: a prerequisite, or the stage itself from a matching function (CMD-357)."""
        stage = self.stage
        if signal.stage is stage:
            return self.selector is None or stage not in FUNCTION_STAGES or self.selector.matches(signal.function)
        return signal.stage in PREREQUISITES[stage]


@dataclass(frozen=True, slots=True)
class ChainTail:
    """What each command that a saga sends must reach (CMD-345)."""

    stage: CommandStage
    selector: FunctionSelector = EMPTY_SELECTOR

    @staticmethod
    def of(stage: CommandStage, selector: FunctionSelector) -> ChainTail:
        """A tail that keeps the selector only for a function stage; a dropped one becomes the empty one (CMD-345)."""
        return ChainTail(stage, selector if stage in FUNCTION_STAGES else EMPTY_SELECTOR)

    def as_target(self) -> StageTarget:
        """The tail read as a stage target: the selector is dropped where the stage ignores it (CMD-350)."""
        return stage_target(self.stage, self.selector)


@dataclass(frozen=True, slots=True)
class ChainTarget:
    """Wait for a saga function and for every command that it sent; its stage is always SAGA_HANDLED (CMD-342)."""

    selector: FunctionSelector
    tail: ChainTail

    @property
    def stage(self) -> CommandStage:
        """SAGA_HANDLED."""
        return CommandStage.SAGA_HANDLED

    def wants(self, stage: CommandStage) -> bool:
        """Whether it wants notifications of a stage (CMD-333)."""
        return stage in WANTED[CommandStage.SAGA_HANDLED]

    def accepts(self, signal: WaitSignal) -> bool:
        """Whether a signal of the main command matters (CMD-357)."""
        if signal.stage is CommandStage.SAGA_HANDLED:
            return self.selector.matches(signal.function)
        return signal.stage in PREREQUISITES[CommandStage.SAGA_HANDLED]


WaitTarget = StageTarget | ChainTarget


def stage_target(stage: CommandStage, selector: FunctionSelector = EMPTY_SELECTOR) -> StageTarget:
    """A stage target that keeps the selector only for a function stage; a dropped one becomes None (CMD-344)."""
    return StageTarget(stage, selector if stage in FUNCTION_STAGES else None)


@dataclass(slots=True)
class WaitPlan:
    """A wait for one command (CMD-342). A value that nobody changes; not frozen because each command makes several.

    Attributes:
        wait_command_id: whose signals end the wait.
        target: what ends it.
        supports_void: whether a void command may be sent with it (CMD-104).
        timeout_nanos: the caller's deadline, in nanoseconds; never written to headers (CMD-347).
    """

    wait_command_id: str
    target: WaitTarget
    supports_void: bool = False
    timeout_nanos: int = DEFAULT_TIMEOUT_NANOS

    @property
    def stage(self) -> CommandStage:
        """The target's stage."""
        return self.target.stage

    def with_timeout(self, *, seconds: float = 0, milliseconds: int = 0) -> WaitPlan:
        """The same plan with another deadline; zero or negative is an `IllegalArgumentError` (CMD-346)."""
        return replace(self, timeout_nanos=timeout_nanos(seconds=seconds, milliseconds=milliseconds))


@dataclass(frozen=True, slots=True)
class WaitFor:
    """What a caller waits for, whatever the command: `processed()`, `projected("shop", processor="OrderView")`."""

    target: WaitTarget
    timeout_nanos: int = DEFAULT_TIMEOUT_NANOS

    @property
    def stage(self) -> CommandStage:
        """The target's stage."""
        return self.target.stage

    @property
    def supports_void(self) -> bool:
        """Only a wait for SENT suits a void command (CMD-104, CMD-343)."""
        return self.target.stage is CommandStage.SENT

    def with_timeout(self, *, seconds: float = 0, milliseconds: int = 0) -> WaitFor:
        """The same wait with another deadline; zero or negative is an `IllegalArgumentError` (CMD-346)."""
        return replace(self, timeout_nanos=timeout_nanos(seconds=seconds, milliseconds=milliseconds))

    def plan(self, wait_command_id: str) -> WaitPlan:
        """The plan for one command: its id is the wait id (CMD-126, CMD-372)."""
        target = self.target
        return WaitPlan(wait_command_id, target, target.stage is SENT_STAGE, self.timeout_nanos)


def wait_for_stage(stage: CommandStage, context: str = "", processor: str = "", function: str = "") -> WaitFor:
    """Wait for any stage; the function's names are dropped for SENT, PROCESSED and SNAPSHOT (CMD-344)."""
    return WaitFor(stage_target(stage, FunctionSelector(context, processor, function)))


def wait_for_stage_text(stage: str, context: str = "", processor: str = "", function: str = "") -> WaitFor:
    """Like `wait_for_stage`, the stage as text in any letter case; an unknown one is an `IllegalArgumentError`."""
    return wait_for_stage(stage_of_text(stage), context, processor, function)


_SENT: Final = WaitFor(StageTarget(CommandStage.SENT))
_PROCESSED: Final = WaitFor(StageTarget(CommandStage.PROCESSED))
_SNAPSHOT: Final = WaitFor(StageTarget(CommandStage.SNAPSHOT))


def sent() -> WaitFor:
    """Wait until the command bus has accepted the command; the only wait that suits a void command (CMD-343)."""
    return _SENT


def processed() -> WaitFor:
    """Wait until the command handler chain has ended (CMD-343)."""
    return _PROCESSED


def snapshot() -> WaitFor:
    """Wait until the snapshot strategy has handled the state event (CMD-343)."""
    return _SNAPSHOT


def projected(context: str, processor: str = "", function: str = "") -> WaitFor:
    """Wait until a projection function has handled the stream's last event (CMD-343, CMD-367)."""
    return wait_for_stage(CommandStage.PROJECTED, context, processor, function)


def event_handled(context: str, processor: str = "", function: str = "") -> WaitFor:
    """Wait until an event processor's function has handled an event (CMD-343, CMD-366)."""
    return wait_for_stage(CommandStage.EVENT_HANDLED, context, processor, function)


def saga_handled(context: str, processor: str = "", function: str = "") -> WaitFor:
    """Wait until a saga's function has handled an event and sent its commands (CMD-343, CMD-366)."""
    return wait_for_stage(CommandStage.SAGA_HANDLED, context, processor, function)


def chain(saga: WaitFor, *, then: WaitFor) -> WaitFor:
    """Wait for a saga function, then for every command that it sent (section S of the contract).

    Args:
        saga: `saga_handled(...)`.
        then: what each of the saga's commands must reach; a wait for one stage.

    Raises:
        SpecError: if the parts are something else, or have a deadline of their own.
    """
    first, last = saga.target, then.target
    if not isinstance(first, StageTarget) or first.stage is not CommandStage.SAGA_HANDLED:
        raise SpecError(
            f"a chain cannot start with a wait for {first.stage}",
            why="a chain follows the commands that a saga function sent",
            instead='chain(saga_handled("shop", processor="OrderSaga"), then=processed())',
        )
    if not isinstance(last, StageTarget):
        raise SpecError(
            "a chain cannot end in another chain",
            why="wait headers reach exactly one hop: the commands of the first saga (CMD-074)",
            instead='chain(saga_handled("shop", processor="OrderSaga"), then=processed())',
        )
    if (saga.timeout_nanos, then.timeout_nanos) != (DEFAULT_TIMEOUT_NANOS, DEFAULT_TIMEOUT_NANOS):
        raise SpecError(
            "a part of a chain has a deadline of its own",
            why="a caller has one deadline, from subscription to the last tail",
            instead="chain(saga_handled(...), then=processed()).with_timeout(seconds=5)",
        )
    selector = first.selector or EMPTY_SELECTOR
    return WaitFor(ChainTarget(selector, ChainTail.of(last.stage, last.selector or EMPTY_SELECTOR)))
