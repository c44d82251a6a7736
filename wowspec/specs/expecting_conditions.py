"""The verbs that say what must hold of a world: at each moment, and in the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from ..errors import SpecError, SpecFailure
from .conditions import Breach, Watch, first_breach, require_condition, run_in, run_steps, same_way
from .expecting_downstream import ExpectingDownstream
from .nodes import Node
from .recorded import Condition, ConditionKind, recording
from .showing import step_text
from .world_view import WorldView

S = TypeVar("S")


@recording
class ExpectingConditions(ExpectingDownstream[S]):
    """What can be expected of a world."""

    __slots__ = ()

    def always(self, condition: Callable[[WorldView], Any], name: str | None = None) -> Self:
        """At each moment, from the first `when` of the spec up to here, a function of the world says yes.

        It is asked before the effect of each point of the pipeline, which is after whatever happened before, and when
        the world is at rest. What comes later in the spec is not spoken of: write it last. A spec that ran already is
        run a second time for it, with fresh services.

        Args:
            condition: says yes or no, or raises `AssertionError`.
            name: what a failure calls it, beside its source.
        """
        __tracebackhide__ = True
        wanted = require_condition(ConditionKind.ALWAYS, condition, name)
        when = self._action()
        if when is None or any(node.run is not None for node in when.path()):
            run = self.run()
            looked_at = [] if when is None else when.path()
            breach, looked_at = _second_look(looked_at, wanted)
        else:
            looked_at = when.path()
            breach = self._first_look(when, wanted)
            run = self.run()
        if breach is None:
            return self
        if breach.error is not None:
            raise breach.error
        return self._judge(breach.text, run_in(looked_at, breach.session) or run)

    def eventually(self, condition: Callable[[WorldView], Any], name: str | None = None) -> Self:
        """When the world is at rest after the last `when`, a function of it says yes.

        Args:
            condition: says yes or no, or raises `AssertionError`.
            name: what a failure calls it, beside its source.
        """
        __tracebackhide__ = True
        wanted = require_condition(ConditionKind.EVENTUALLY, condition, name)
        run = self.run()
        when = self._action()
        moment = None if when is None else f"{step_text(when)}, at rest"
        return self._judge(first_breach(run.session, [wanted], wanted.kind, moment), run)

    def _first_look(self, when: Node, condition: Condition) -> Breach | None:
        """Nothing ran yet: watch the very run."""
        __tracebackhide__ = True
        watch = Watch([condition])
        try:
            for _ in run_steps(when.path(), watch):
                pass
        except (SpecError, SpecFailure) as error:
            raise self._not_run(when, error) from error.__cause__
        return watch.breaches.get(0)


def _second_look(path: Sequence[Node], condition: Condition) -> tuple[Breach | None, list[Node]]:
    """It ran already: run the same steps once more, and watch; gives those that ran now, too."""
    from .again import accept, again

    __tracebackhide__ = True
    watch = Watch([condition])
    fresh = again(path)
    for node in run_steps(fresh, watch):
        original = path[fresh.index(node)]
        assert node.run is not None
        assert original.run is not None
        parted = same_way(original.run, node.run)
        if parted is not None:
            raise SpecError(
                f"always(...): {step_text(original)} took another way when it ran a second time: {parted}",
                why="a spec that ran already is run again to be looked at, and something outside of its world decided: "
                "the real clock, chance, or an object that outlives the run",
                instead=".always(...) right after when(...), before the other expectations; then one run is enough",
            )
        accept(node.run)
    return watch.breaches.get(0), fresh
