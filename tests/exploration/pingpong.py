"""A line that stays broken once it broke, and a saga that never gives up on it."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import Context, aggregate_root, allow_create, fault_point, on_command, on_event, stateless_saga


class Line:
    """A telephone line.

    Attributes:
        broken: whether it ever failed.
    """

    def __init__(self) -> None:
        self.broken = False

    def call(self) -> bool:
        """Whether somebody answered."""
        try:
            with fault_point("line.call"):
                return not self.broken
        except Exception:
            self.broken = True
            return False


@allow_create
class Dial(BaseModel):
    id: str


class Answered(BaseModel):
    pass


class Engaged(BaseModel):
    id: str


class CallState(BaseModel):
    id: str


@aggregate_root(context="pingpong")
class Call:
    def __init__(self, state: CallState) -> None:
        self.state = state

    @on_command
    def dial(self, command: Dial, line: Line) -> Answered | Engaged:
        return Answered() if line.call() else Engaged(id=command.id)


@stateless_saga(context="pingpong")
class Redialling:
    @on_event
    def engaged(self, event: Engaged) -> Dial:
        return Dial(id=event.id)


calls = Context("pingpong", Call, Redialling)
