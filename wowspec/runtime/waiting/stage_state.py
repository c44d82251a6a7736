"""The state of a wait for one stage: a table of rules, evaluated top to bottom for each signal (section R)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

from ...errors import ErrorCode
from ...messages.stages import PREREQUISITES, CommandStage
from ...messages.wait_plans import StageTarget
from ...messages.wait_signals import WaitSignal


class WaitStep(NamedTuple):
    """What a state answers to one signal.

    Attributes:
        accepted: the signal itself, unmerged, if it was accepted (CMD-361).
        final: the final signal, with the merged result, once the wait has completed (CMD-360).
    """

    accepted: WaitSignal | None = None
    final: WaitSignal | None = None

    @property
    def completed(self) -> bool:
        """Whether the wait has completed."""
        return self.final is not None


IGNORED: Final = WaitStep()
#: As names, since each signal asks for them.
_PROCESSED: Final = CommandStage.PROCESSED
_PROJECTED: Final = CommandStage.PROJECTED
_NEED_NO_PROCESSED: Final = frozenset({CommandStage.SENT, CommandStage.PROCESSED})


class WaitState(Protocol):
    """A wait as a state machine: signals in, answers out; knows nothing of callers."""

    @property
    def completed(self) -> bool:
        """Whether the wait has completed."""
        ...

    @property
    def retained(self) -> WaitSignal | None:
        """The final signal so far; a stage wait may retain one that does not complete it yet (CMD-364)."""
        ...

    def next(self, signal: WaitSignal) -> WaitStep:
        """Take one signal."""
        ...


class StageWaitState:
    """A wait for one stage. It compares neither wait ids nor command ids (CMD-370)."""

    __slots__ = ("_processed", "_result", "_target", "completed", "retained")

    def __init__(self, target: StageTarget) -> None:
        self._target = target
        self._result: dict[str, Any] | None = None
        self._processed = False
        self.retained: WaitSignal | None = None
        self.completed: bool = False

    def next(self, signal: WaitSignal) -> WaitStep:
        """Take one signal; the numbers are those of the table in section R."""
        if self.completed:  # 1 (CMD-371)
            return WaitStep(None, self.retained)
        target = self._target
        if not target.accepts(signal):  # 2
            return IGNORED
        stage = signal.stage
        if signal.result:  # 3
            self._result = {**signal.result} if self._result is None else {**self._result, **signal.result}
        if stage is _PROCESSED:
            self._processed = True
        if signal.error_code != ErrorCode.OK and stage in PREREQUISITES[target.stage]:  # 4 (CMD-362)
            return self._complete(signal, self._merged(signal))
        if stage is target.stage and (stage is not _PROJECTED or signal.is_last_projection):  # 5
            self.retained = signal if self._result is None else self._merged(signal)
        elif signal.result and self.retained is not None:  # 6
            self.retained = self._merged(self.retained)
        if self.retained is not None and (self._processed or target.stage in _NEED_NO_PROCESSED):  # 7
            return self._complete(signal, self.retained)
        return WaitStep(signal)  # 8

    def _merged(self, signal: WaitSignal) -> WaitSignal:
        if not self._result or self._result == signal.result:
            return signal
        return signal.with_result(dict(self._result))

    def _complete(self, signal: WaitSignal, final: WaitSignal) -> WaitStep:
        self.completed = True
        self.retained = final
        return WaitStep(signal, final)
