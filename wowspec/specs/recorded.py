"""What was expected of a step, as data: each verb with its arguments, so that another run can be judged alike."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..errors import SpecFailure

if TYPE_CHECKING:
    from .placing import Place

C = TypeVar("C", bound=type)

_frame: Final = sys._getframe

#: A call as it is kept: verb, arguments, and where it stands.
Call = tuple[str, tuple[Any, ...], dict[str, Any], CodeType, int]


class ConditionKind(StrEnum):
    """When a condition must hold; the value is its verb."""

    ALWAYS = "always"
    EVENTUALLY = "eventually"


CONDITION_VERBS: Final = frozenset(ConditionKind)


@dataclass(frozen=True, slots=True)
class Expected:
    """One expectation that held.

    Attributes:
        verb: the verb, such as `expect_events`.
        args: what it was given.
        kwargs: likewise, by name.
        code: the author's code that called it.
        instruction: offset of the call in it.
    """

    verb: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    code: CodeType
    instruction: int

    @property
    def place(self) -> Place:
        """Where the author wrote it."""
        from .placing import place_in

        return place_in(self.code, self.instruction)

    @property
    def condition(self) -> Condition | None:
        """The condition, if it is one."""
        if self.verb not in CONDITION_VERBS:
            return None
        named = {**dict(zip(("condition", "name"), self.args, strict=False)), **self.kwargs}
        return Condition(ConditionKind(self.verb), named["condition"], named.get("name"), self.place)


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of a world.

    Attributes:
        kind: when.
        function: gets a `WorldView`; says yes or no, or raises `AssertionError`.
        name: what the author calls it, if anything.
        place: where the author wrote it.
    """

    kind: ConditionKind
    function: Callable[[Any], Any]
    name: str | None = None
    place: object = ""


def recording(cls: C) -> C:
    """Let the expectation verbs of a class keep each call that held, on the step of the spec.

    A verb that raised is not kept: what a test catches is nothing that it expects. It is noted as broken.
    """
    for name, verb in list(vars(cls).items()):
        if name.startswith("expect_") or name in CONDITION_VERBS:
            setattr(cls, name, _recording(name, verb))
    return cls


def _recording(name: str, verb: Callable[..., Any]) -> Callable[..., Any]:
    def record(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        driver = self._node.driver
        try:
            given = self if driver is not None and driver.judges else verb(self, *args, **kwargs)
        except SpecFailure:
            frame = _frame(1)
            self._node.broken = (name, args, kwargs, frame.f_code, frame.f_lasti)
            raise
        frame = _frame(1)
        call = (name, args, kwargs, frame.f_code, frame.f_lasti)
        calls = self._node.calls
        if calls is None:
            self._node.calls = [call]
        else:
            calls.append(call)
        return given

    FORWARDING.add(record.__code__)
    return wraps(verb)(record)


#: Code that does nothing but call a verb: an error that begins there is one of the call.
FORWARDING: Final[set[CodeType]] = set()
