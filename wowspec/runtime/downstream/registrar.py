"""Which event functions there are, and which of them take an event (EVT-106, EVT-109)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ...messages.envelopes import DomainEvent, StateEvent
from ...modeling.functions import HandlerFunction
from ...modeling.identity import FunctionInfo, FunctionKind, NamedAggregate
from ...modeling.processors import ProcessorKind
from .compensation import is_aimed_at


@dataclass(frozen=True, slots=True, eq=False)
class RegisteredFunction:
    """An event function on its processor's instance.

    `kind` is what becomes of its result: only that of a stateless saga's function is sent as commands (EVT-111).
    """

    handler: HandlerFunction
    info: FunctionInfo
    topics: frozenset[NamedAggregate]
    instance: Any
    kind: ProcessorKind

    @property
    def qualified_name(self) -> str:
        """`Processor.method(SupportedType)` (EVT-107)."""
        supported = "|".join(cls.__name__ for cls in self.handler.supported)
        return f"{self.info.processor_name}.{self.info.name}({supported})"

    def supports(self, body: Any, state: Any, named: NamedAggregate) -> bool:
        """The body is an instance of a supported type, and the aggregate one of the topics (EVT-106)."""
        if named not in self.topics:
            return False
        return isinstance(state if self.handler.wraps_state else body, self.handler.supported)

    def is_same(self, other: RegisteredFunction) -> bool:
        """The same method of the same object; overloads of one name are different functions."""
        return self.instance is other.instance and self.handler.function is other.handler.function


class FunctionRegistrar:
    """Event functions in order of registration."""

    __slots__ = ("_functions",)

    def __init__(self) -> None:
        self._functions: list[RegisteredFunction] = []

    def register(self, function: RegisteredFunction) -> bool:
        """Take a function in; False (and nothing happens) if it is there already (EVT-109)."""
        if any(function.is_same(other) for other in self._functions):
            return False
        self._functions.append(function)
        return True

    def unregister(self, function: RegisteredFunction) -> bool:
        """Let a function take no further events; False if it was not there (EVT-109, EVT-110)."""
        kept = [other for other in self._functions if not function.is_same(other)]
        found = len(kept) < len(self._functions)
        self._functions = kept
        return found

    def filter(self, wanted: Callable[[RegisteredFunction], bool]) -> FunctionRegistrar:
        """An independent registrar of some of the functions (EVT-109)."""
        other = FunctionRegistrar()
        other._functions.extend(function for function in self._functions if wanted(function))
        return other

    def taking(self, event: DomainEvent[Any], state_event: StateEvent[Any] | None) -> Iterator[RegisteredFunction]:
        """Functions for one event: of its kind, supporting it, and not passed over by a compensation mark (EVT-133).

        The event's own header is looked at, whatever the stream's says (EVT-137).
        """
        named, body = event.aggregate_id.named_aggregate, event.body
        kind = FunctionKind.EVENT if state_event is None else FunctionKind.STATE_EVENT
        state = None if state_event is None else state_event.state
        header = event.header
        for function in self._functions:
            info = function.info
            if info.kind is kind and function.supports(body, state, named) and is_aimed_at(header, info):
                yield function

    def __iter__(self) -> Iterator[RegisteredFunction]:
        return iter(tuple(self._functions))

    def __len__(self) -> int:
        return len(self._functions)
