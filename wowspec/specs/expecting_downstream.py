"""The expectation verbs for sagas, event processors, projections and snapshots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

from ..messages.stages import CommandStage
from . import compared, downstream_expectations as on_downstream
from .events import is_projection
from .execution import run_of, subject_of
from .expecting import Expecting
from .items import On
from .nodes import Node, WhenEvent
from .recorded import recording
from .remarks import downstream
from .requirements import StageName
from .run import Run
from .sides import sides_of_events
from .tracking import look_at

S = TypeVar("S")


@recording
class ExpectingDownstream(Expecting[S]):
    """What can be expected of what follows publication."""

    __slots__ = ()

    def run(self) -> Run:
        """The run, as `Expecting.run`; a spec of a projection needs no `when`: what is given is delivered to it."""
        __tracebackhide__ = True
        node, action = self._node, self._action()
        if action is not None and action is node.settled:
            node.judged = action.judged = True
            look_at(action)
            return run_of(action)
        return super().run()

    def _action(self) -> Node | None:
        node = self._node
        found = node.last_when()
        if found is None and is_projection(subject_of(node)):
            found = node.settled
            if found is None:
                found = node.settled = node.add(WhenEvent())
                found.place = node.place
        return found

    def expect_commands(self, *commands: Any) -> Self:
        """Sagas sent exactly these commands, in this order.

        Args:
            commands: command bodies or matchers; `command_builder(body).aggregate_id(id)` says the envelope, too.
        """
        __tracebackhide__ = True
        run = self.run()
        return self._judge(on_downstream.commands(run, commands), run, lambda: compared.commands(run, commands))

    def expect_no_commands(self) -> Self:
        """Sagas sent nothing."""
        __tracebackhide__ = True
        run = self.run()
        return self._judge(on_downstream.no_commands(run), run, lambda: sides_of_events((), run.commands))

    def expect_view(
        self,
        view_id: str,
        that: Callable[[Any], Any] | object = None,
        /,
        *,
        projection: type | None = None,
        **fields: Any,
    ) -> Self:
        """A projection's row has these fields, and a function says yes to it; or it is a value.

        Args:
            view_id: the row's id.
            that: a function of the row; or the whole row, as a value or matcher.
            projection: whose row, where the spec is not about one and the world holds several.
            fields: field → value or matcher.
        """
        __tracebackhide__ = True
        run = self.run()
        cls = on_downstream.projection_of(run, self._node, projection)
        text = downstream(on_downstream.view(run, cls, view_id, that, fields), run)
        return self._judge(text, run, lambda: compared.view(run, cls, view_id, that, fields))

    def expect_no_view(self, view_id: str, /, *, projection: type | None = None) -> Self:
        """A projection keeps no such row."""
        __tracebackhide__ = True
        run = self.run()
        cls = on_downstream.projection_of(run, self._node, projection, "expect_no_view")
        text = on_downstream.no_view(run, cls, view_id)
        return self._judge(text, run, lambda: compared.no_view(run, cls, view_id))

    def expect_idempotent(self, projection: type | None = None) -> Self:
        """A projection's rows stay as they are when each event that reached it reaches it once more."""
        __tracebackhide__ = True
        run = self.run()
        cls = on_downstream.projection_of(run, self._node, projection, "expect_idempotent")
        return self._judge(on_downstream.idempotent(run, cls), run)

    def expect_snapshot(self, target: On | None = None, /, **fields: Any) -> Self:
        """A snapshot is stored: `version=`, and fields of its state."""
        __tracebackhide__ = True
        run = self.run()
        text = on_downstream.snapshot(run, target, fields)
        return self._judge(text, run, lambda: compared.snapshot(run, target, fields))

    def expect_no_snapshot(self, target: On | None = None, /) -> Self:
        """No snapshot is stored."""
        __tracebackhide__ = True
        run = self.run()
        return self._judge(on_downstream.no_snapshot(run, target), run)

    def expect_notified(self, stage: CommandStage | StageName, *, times: int = 1) -> Self:
        """So many signals of a stage reached the notifier."""
        __tracebackhide__ = True
        run = self.run()
        text = on_downstream.notified(run, stage, times)
        return self._judge(text, run, lambda: compared.notified(run, stage, times))

    def expect_causation(self, text: str) -> Self:
        """What caused what, by the names of classes: `"PlaceOrder > OrderPlaced > OrderSaga > ReserveStock"`."""
        __tracebackhide__ = True
        run = self.run()
        told = downstream(on_downstream.causation(run, text), run)
        return self._judge(told, run, lambda: compared.causation(run, text))
