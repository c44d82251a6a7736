"""The state of a chain wait: a saga function, then every command that it sent (section S of the contract).

The main command is the one whose id is the wait id. Each command that the saga lists becomes a *tail* with a stage
state of its own; signals of commands that nobody has confirmed yet are kept *pending* and replayed as they arrived.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages.stages import PREREQUISITES, CommandStage
from ...messages.wait_plans import ChainTarget
from ...messages.wait_signals import WaitSignal
from .stage_state import IGNORED, StageWaitState, WaitStep


class MergedResult:
    """Result maps merged by arrival: of equal keys the one that *arrived* last wins, whenever it counts (CMD-387)."""

    __slots__ = ("_values", "_writers")

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._writers: dict[str, int] = {}

    def merge(self, arrival: int, result: Mapping[str, Any]) -> None:
        """Let the result of the signal with this number of arrival count."""
        for key, value in result.items():
            if arrival >= self._writers.get(key, -1):
                self._values[key] = value
                self._writers[key] = arrival

    def on(self, signal: WaitSignal) -> WaitSignal:
        """The signal with the merged result."""
        return signal.with_result(dict(self._values))


class ChainWaitState:
    """A chain wait; works only where the wait id is the main command's id (CMD-372)."""

    __slots__ = (
        "_arrivals",
        "_main",
        "_pending",
        "_processed",
        "_result",
        "_tail_finals",
        "_tail_target",
        "_tails",
        "_target",
        "_wait_command_id",
        "retained",
    )

    def __init__(self, wait_command_id: str, target: ChainTarget) -> None:
        self._wait_command_id = wait_command_id
        self._target = target
        self._tail_target = target.tail.as_target()
        self._main: WaitSignal | None = None
        self._processed = False
        self._tails: dict[str, StageWaitState] = {}
        #: By command id, in order of first appearance: a refreshed one keeps its place (CMD-386).
        self._tail_finals: dict[str, WaitSignal] = {}
        self._pending: list[tuple[int, WaitSignal]] = []
        self._result = MergedResult()
        self._arrivals = 0
        self.retained: WaitSignal | None = None

    @property
    def completed(self) -> bool:
        """Whether the wait has completed."""
        return self.retained is not None

    def next(self, signal: WaitSignal) -> WaitStep:
        """Take one signal; the numbers are those of the steps in section S."""
        if self.retained is not None:  # 1 (CMD-392)
            return WaitStep(None, self.retained)
        arrival = self._arrivals
        self._arrivals += 1
        tail = self._tails.get(signal.command_id)
        if tail is not None:  # 2
            step = self._feed(tail, arrival, signal)
            return IGNORED if step is None else self._test(signal, step.final)
        if signal.command_id != self._wait_command_id:  # 3
            return self._keep_pending(arrival, signal)
        if not self._target.accepts(signal):  # 4 (CMD-391)
            return IGNORED
        if signal.stage is CommandStage.PROCESSED:  # 5
            self._processed = True
        if signal.stage in PREREQUISITES[CommandStage.SAGA_HANDLED]:
            self._result.merge(arrival, signal.result)
            if not signal.succeeded:  # 6 (CMD-376)
                return self._complete(signal, signal)
            return self._test(signal)  # 7
        self._confirm(signal)  # 8
        self._result.merge(arrival, signal.result)
        self._main = signal
        return self._test(signal)

    def _keep_pending(self, arrival: int, signal: WaitSignal) -> WaitStep:
        """Unknown commands of this wait are accepted before the saga confirms them (CMD-381, CMD-382)."""
        if signal.wait_command_id != self._wait_command_id or not self._tail_target.accepts(signal):
            return IGNORED
        self._pending.append((arrival, signal))
        return WaitStep(signal)

    def _feed(self, tail: StageWaitState, arrival: int, signal: WaitSignal) -> WaitStep | None:
        """Give a tail its signal; None if the tail ignores it or has completed (CMD-390)."""
        step = tail.next(signal)
        if step.accepted is None:
            return None
        self._result.merge(arrival, signal.result)
        if tail.retained is not None:
            self._tail_finals[signal.command_id] = tail.retained
        return step

    def _confirm(self, signal: WaitSignal) -> None:
        """Make a tail of each command that the saga lists, and replay what came early (CMD-384, CMD-388)."""
        confirmed = dict.fromkeys(signal.commands)
        for command_id in confirmed:
            if command_id not in self._tails:
                self._tails[command_id] = StageWaitState(self._tail_target)
        replayed = [item for item in self._pending if item[1].command_id in confirmed]
        self._pending = [item for item in self._pending if item[1].command_id not in confirmed]
        for arrival, early in replayed:
            self._feed(self._tails[early.command_id], arrival, early)

    def _failed_tail(self) -> WaitSignal | None:
        """The first failed completed tail by first appearance (CMD-378, CMD-379, CMD-385)."""
        for command_id, final in self._tail_finals.items():
            if not final.succeeded and self._tails[command_id].completed:
                return final
        return None

    def _test(self, accepted: WaitSignal, trigger: WaitSignal | None = None) -> WaitStep:
        """The completion test and the choice of the final signal; `trigger` is the final of a tail that just ended."""
        main = self._main
        if main is None or not self._processed:  # CMD-375
            return WaitStep(accepted)
        failed = self._failed_tail()
        if failed is None and main.succeeded and not all(tail.completed for tail in self._tails.values()):
            return WaitStep(accepted)
        if failed is not None:
            final = failed
        elif not main.succeeded:  # CMD-377
            final = main
        elif trigger is not None:
            final = trigger
        else:
            ended = [final for command_id, final in self._tail_finals.items() if self._tails[command_id].completed]
            final = ended[-1] if ended else main
        return self._complete(accepted, final)

    def _complete(self, accepted: WaitSignal, final: WaitSignal) -> WaitStep:
        self.retained = self._result.on(final)
        self._pending.clear()
        return WaitStep(accepted, self.retained)
