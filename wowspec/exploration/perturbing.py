"""Stands in a world between the pipeline and the functions of a domain: records their deeds, perturbs one of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import CoroutineType
from typing import Any, Final

from ..errors import InjectedFault, InjectedTimeout, SpecError
from ..faults.chains import Chains
from ..faults.planned import Livelock
from ..messages.commands import CommandBuilder
from ..messages.envelopes import CommandMessage
from ..messages.exchange import DomainEventExchange, StateDomainEventExchange
from ..messages.streams import flatten
from ..modeling.decorators import Role
from ..modeling.functions import HandlerFunction
from ..modeling.identity import AggregateRef
from ..modeling.processors import ProcessorKind
from ..runtime.invocation import call
from ..runtime.sourcing import unsourced
from ..specs.session import Session
from ..world.world import World
from .perturbations import Deed, Perturbation, Target

#: How many calls of functions a run may have, by default: one that has more will not come to rest.
MOST_CALLS: Final = 1_000_000
_DECIDING: Final = (Role.COMMAND, Role.AFTER_COMMAND)

Changing = Callable[[HandlerFunction, Any, Any], Any]


class Perturbing:
    """Looks at one run of steps; with a perturbation, lets it happen.

    Attributes:
        perturbation: what to change, if anything.
        deeds: what was done, each once, in order.
        sessions: the worlds that it stands in, one for each action.
        happened: whether the perturbation happened.
        calls: how many functions were called.
        asked: the aggregates whose state a function was given with an event.
    """

    def __init__(self, perturbation: Perturbation | None = None, most_calls: int = MOST_CALLS) -> None:
        self.perturbation = perturbation
        self.deeds: dict[Any, Deed] = {}
        self.sessions: list[Session] = []
        self.happened: bool = False
        self.calls: int = 0
        self.asked: set[AggregateRef] = set()
        self._most_calls = most_calls
        self._chains = Chains()

    def attach(self, session: Session) -> None:
        """Stand in a world."""
        session.world.perturber = self
        self.sessions.append(session)

    @contextmanager
    def around(self) -> Iterator[None]:
        """Within, a sourcing function is skipped, if that is the perturbation: by whoever replays a history."""
        wanted = self.perturbation
        state = wanted.deed.state if wanted is not None else None
        with nullcontext() if wanted is None or state is None else unsourced(state, wanted.deed.value):
            self.happened = self.happened or state is not None
            yield

    # --- what a world asks --------------------------------------------------------------------------------------------

    def call(self, handler: HandlerFunction, instance: Any, exchange: Any, world: World) -> Any:
        """Call a function; what it returns or raises is a deed.

        Raises:
            Livelock: if there were too many calls.
        """
        self.calls += 1
        if self.calls > self._most_calls:
            raise Livelock
        changing: Changing | None = None
        decides = handler.row.role in _DECIDING
        if decides:
            self._chains.see(exchange.message)
            changing = self._events
        elif isinstance(exchange, DomainEventExchange) and exchange.event_function is not None:
            if isinstance(exchange, StateDomainEventExchange):
                self.asked.add(exchange.aggregate_id)
            chain = f"{self._chains.event(exchange.message)}>{handler.owner.__name__}"
            if exchange.event_function.kind is ProcessorKind.STATELESS_SAGA:
                changing = self._commands
            elif self._is_wanted(self._did(Deed(Target.FUNCTION, chain, handler.place, value=exchange.message.body))):
                return None
        world.perturber = None
        try:
            result = call(handler, instance, exchange, world)
        except Exception as error:
            if decides:
                return self._raised(handler, exchange, error)
            raise
        finally:
            world.perturber = self
        if changing is None:
            return result
        if type(result) is CoroutineType:
            return self._rest(result, handler, exchange, changing)
        return changing(handler, exchange, result)

    def skips(self, check: str, command: Any) -> bool:
        """A check refuses a command."""
        deed = Deed(Target.CHECK, self._chains.see(command), type(command.body).__name__, value=check)
        return self._is_wanted(self._did(deed, f"check {check}"))

    def caused(self, command: Any, event: Any, processor: str, index: int) -> None:
        """A saga's function made a command of an event."""
        self._chains.caused(command, event, processor, index)

    # --- deeds --------------------------------------------------------------------------------------------------------

    async def _rest(self, running: Any, handler: HandlerFunction, exchange: Any, changing: Changing) -> Any:
        try:
            result = await running
        except Exception as error:
            if changing == self._events:
                return self._raised(handler, exchange, error)
            raise
        return changing(handler, exchange, result)

    def _events(self, handler: HandlerFunction, exchange: Any, result: Any) -> Any:
        chain = self._chains.see(exchange.message)
        if handler.row.role is Role.AFTER_COMMAND:
            chain = f"{chain}/{handler.name}"
        return self._returned(Target.EVENT, chain, handler.place, result, exchange.command_aggregate.metadata.events)

    def _commands(self, handler: HandlerFunction, exchange: Any, result: Any) -> Any:
        chain = f"{self._chains.event(exchange.message)}>{handler.owner.__name__}"
        return self._returned(Target.COMMAND, chain, handler.place, result)

    def _returned(self, target: Target, chain: str, place: str, result: Any, events: tuple[type, ...] = ()) -> Any:
        try:
            values = [] if result is None else flatten(result)
        except SpecError:
            return result
        if not values or any(value is None for value in values):
            return values or result
        for index, value in enumerate(values):
            deed = self._did(Deed(target, chain, place, index, _kept(value), tuple(values), events))
            if self._is_wanted(deed):
                assert self.perturbation is not None
                change = self.perturbation.change
                changed = [*values[:index], *change.instead, *values[index + change.width :]]
                return changed or None
        # An iterator was walked.
        return result if isinstance(result, list | tuple) else values

    def _raised(self, handler: HandlerFunction, exchange: Any, error: Exception) -> Any:
        if isinstance(error, SpecError | InjectedFault | InjectedTimeout):
            raise error
        chain = self._chains.see(exchange.message)
        deed = Deed(
            Target.ERROR, chain, handler.place, value=error, beside=(exchange.message.body,), events=handler.events
        )
        if not self._is_wanted(self._did(deed)):
            raise error
        assert self.perturbation is not None
        instead = self.perturbation.change.instead
        if instead and isinstance(instead[0], BaseException):
            raise instead[0].with_traceback(None) from None
        return list(instead) or None

    def _did(self, deed: Deed, further: str = "") -> Deed:
        self.deeds.setdefault((deed.key, further), deed)
        return deed

    def _is_wanted(self, deed: Deed) -> bool:
        wanted = self.perturbation
        if wanted is None or deed.key != wanted.deed.key:
            return False
        if deed.target is Target.CHECK and deed.value != wanted.deed.value:
            return False
        self.happened = True
        return True


def _kept(value: Any) -> Any:
    """A builder as it was returned: what it lacks is put into it when it is sent."""
    if not isinstance(value, CommandBuilder):
        return value
    kept: CommandBuilder[Any] = CommandBuilder(value.values.body)
    kept.values = copy.copy(value.values)
    return kept


def sourced(looking: Perturbing) -> Iterator[Deed]:
    """The sourcing functions that took an event of an aggregate whose state somebody asked for, each once."""
    seen = set()
    for session in looking.sessions:
        store = session.runtime.event_store
        subjects = [row.subject for row in session.world.trace.rows]
        asked = looking.asked | {each.aggregate_id for each in subjects if isinstance(each, CommandMessage)}
        for reference in store.aggregate_ids():
            if reference not in asked:
                continue
            metadata = session.metadata_of(reference.named_aggregate)
            for event in (event for stream in store.peek(reference) for event in stream.events):
                kind = type(event.body)
                handler = metadata.state.functions.get(kind)
                if handler is not None and (id(metadata.state), kind) not in seen:
                    seen.add((id(metadata.state), kind))
                    yield Deed(Target.SOURCING, "", handler.place, value=kind, state=metadata.state)
