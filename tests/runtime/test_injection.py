"""What a message function is given besides its message: from the exchange, then from the services."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Protocol, runtime_checkable

import pytest
from pydantic import BaseModel

from tests.runtime.pipeline import Pipeline
from wowspec import (
    Clock,
    CommandMessage,
    DomainEvent,
    Name,
    ServerCommandExchange,
    after_command,
    aggregate_root,
    create_aggregate,
    on_command,
    on_error,
    on_sourcing,
)
from wowspec.messages.envelopes import DomainEventStream
from wowspec.messages.exchange import CommandResultAccessor, DomainEventExchange
from wowspec.messages.header import Header
from wowspec.modeling.identity import AggregateRef, NamedAggregate
from wowspec.runtime.aggregate import CommandAggregate
from wowspec.runtime.injection import MissingServiceError
from wowspec.runtime.sourcing import StateAggregate
from wowspec.world.services import ServiceProvider


class Prices:
    """A service."""

    def __init__(self, price: int = 1) -> None:
        self.price = price


class SpecialPrices(Prices):
    """A service of a subclass."""


@runtime_checkable
class Pricing(Protocol):
    """What a price service looks like."""

    price: int


def given(annotation: Any, name: str = "it", *, services: Callable[[ServiceProvider], object] = lambda _: None, **kind):
    """What a command function's further parameter is given, and the outcome."""
    got: list[Any] = []

    class State(BaseModel):
        id: str

    @create_aggregate
    class Go(BaseModel):
        id: str = "a-1"

    class Gone(BaseModel):
        pass

    class Root:
        def __init__(self, state: State) -> None:
            self.state = state

    def on_command(self, command, it):
        got.append(it)
        return Gone()

    on_command.__annotations__.update({"command": Go, "it": annotation, "return": Gone})
    if name != "it":
        code = on_command.__code__
        on_command.__code__ = code.replace(co_varnames=(*code.co_varnames[:2], name, *code.co_varnames[3:]))
        on_command.__annotations__[name] = on_command.__annotations__.pop("it")
    if kind:
        on_command.__defaults__ = (kind["default"],)
    Root.on_command = on_command
    pipeline = Pipeline(aggregate_root(Root))
    services(pipeline.world.services)
    outcome = pipeline.send(Go())
    return (got[0] if got else None), outcome, pipeline


# --- from the exchange ---


@pytest.mark.clause("CMD-293", "CMD-295", "CMD-296")
@pytest.mark.parametrize(
    ("annotation", "held"),
    [
        (ServerCommandExchange, lambda exchange: exchange),
        (CommandResultAccessor, lambda exchange: exchange),
        (CommandMessage, lambda exchange: exchange.message),
        (Header, lambda exchange: exchange.header),
        (AggregateRef, lambda exchange: exchange.aggregate_id),
        (ServiceProvider, lambda exchange: exchange.services),
        (CommandAggregate, lambda exchange: exchange.command_aggregate),
        (StateAggregate, lambda exchange: exchange.command_aggregate.state),
    ],
)
def test_what_the_exchange_holds(annotation, held):
    """Each thing by its type, the very object."""
    got, outcome, _ = given(annotation)

    assert got is held(outcome.exchange)
    assert got is not None


@pytest.mark.clause("CMD-297")
def test_a_general_type_is_the_exchange():
    """What everything is an instance of, the exchange is first; a named aggregate is the message's."""
    got, outcome, _ = given(object)
    assert got is outcome.exchange

    got, outcome, _ = given(NamedAggregate)
    assert got == outcome.message.aggregate_id.named_aggregate


@pytest.mark.clause("CMD-296")
def test_the_event_stream_and_the_error():
    """After-command functions of a later attempt see the stream before; an error function sees the error."""
    seen: dict[str, Any] = {}

    @create_aggregate
    class Try(BaseModel):
        id: str = "a-1"

    class Tried(BaseModel):
        pass

    @aggregate_root
    class Trial:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def attempt(self, command: Try, stream: DomainEventStream | None) -> Tried:
            seen["stream"] = stream
            return Tried()

        @after_command
        def later(self, command: CommandMessage[Try]) -> None:
            raise KeyError("late")

        @on_error
        def failed(self, command: Try, error: KeyError, other: ZeroDivisionError | None) -> None:
            seen.update(error=error, other=other)

    outcome = Pipeline(Trial).send(Try())

    assert seen == {"stream": None, "error": outcome.error, "other": None}


@pytest.mark.clause("CMD-298")
def test_neither_the_raw_state_nor_the_root():
    """Both have what they need of each other already; asking for them is an error of the spec's."""

    class State(BaseModel):
        id: str

    @create_aggregate
    class Peek(BaseModel):
        id: str = "a-1"

    class Peeked(BaseModel):
        pass

    for wanted in (State, "Root"):

        class Root:
            def __init__(self, state: State) -> None:
                self.state = state

            def on_command(self, command: Peek, it: Any) -> Peeked:
                return Peeked()

        Root.on_command.__annotations__["it"] = wanted if wanted is State else Root
        pipeline = Pipeline(aggregate_root(Root))
        assert type(pipeline.send(Peek()).error) is MissingServiceError


# --- from the services ---


@pytest.mark.clause("CMD-295", "CMD-300")
@pytest.mark.parametrize("wanted", [SpecialPrices, Prices, Pricing])
def test_a_service_by_type(wanted):
    """Its own class, a superclass, or a protocol that it fits."""
    service = SpecialPrices()
    got, _, _ = given(wanted, services=lambda services: services.register(service))

    assert got is service


@pytest.mark.clause("CMD-295")
def test_the_exchange_comes_before_the_services():
    """A service of a type that the exchange holds is never asked for by type."""
    other = Header()
    got, outcome, _ = given(Header, services=lambda services: services.register(other))

    assert got is outcome.exchange.header


@pytest.mark.clause("CMD-294")
def test_a_service_by_its_name_only():
    """`Name` finds the service of that name, and nothing by type instead."""
    named, typed = Prices(2), Prices(1)

    def services(provider):
        provider.register(typed)
        provider.register(named, name="special")

    assert given(Annotated[Prices, Name("special")], services=services)[0] is named
    assert given(Annotated[Prices, Name("  ")], services=services)[0] is not None
    _, outcome, _ = given(Annotated[Prices, Name("unknown")], services=services)
    assert type(outcome.error) is MissingServiceError
    assert "by the name 'unknown'" in str(outcome.error)
    assert outcome.error.instead == ".inject(unknown=...)"


def test_by_name_where_the_type_says_nothing():
    """An untyped or plain parameter is looked up by its own name: on the exchange, then among the services."""
    assert isinstance(given(Any, "header")[0], Header)
    assert given(Any, "message")[0].__class__ is CommandMessage
    assert given(int, "price", services=lambda services: services.register(7, name="price"))[0] == 7


@pytest.mark.clause("CMD-299")
def test_what_nothing_supplies():
    """A default, or None where it may be; else the runtime would pass nothing, and the kit says what is missing."""
    default = Prices()
    assert given(Prices, default=default)[0] is default
    assert given(Prices | None)[1].code == "Ok"

    _, outcome, pipeline = given(Prices, services=lambda services: services.register(3, name="three"))
    assert type(outcome.error) is MissingServiceError
    text = str(outcome.error)
    assert "nothing supplies parameter 'it' of Root.on_command (asked for by Prices)" in text
    assert "three: int" in text
    assert ".inject(Prices(...))" in text
    assert pipeline.world.spec_errors == [outcome.error]


@pytest.mark.clause("CMD-295")
def test_no_services_at_all():
    """A function that asks for nothing needs none."""
    got, outcome, _ = given(int | None)

    assert got is None
    assert outcome.code == "Ok"


def test_each_function_its_own():
    """After-command and error functions are supplied as command functions are, by keyword too."""
    seen = {}

    @create_aggregate
    class Run(BaseModel):
        id: str = "a-1"

    @aggregate_root
    class Track:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def run(self, command: Run, *, prices: Prices) -> None:
            seen["run"] = prices

        @after_command
        def later(self, command: CommandMessage[Run], clock: Clock, *, prices: Prices) -> None:
            seen["later"] = (clock.now_millis() if hasattr(clock, "now_millis") else True, prices)

        @on_error
        def failed(self, command: Run, prices: Prices) -> None:
            seen["failed"] = prices

    pipeline = Pipeline(Track)
    service = Prices()
    pipeline.world.services.register(service)
    pipeline.send(Run())

    assert (seen["run"], seen["later"][1], seen["failed"]) == (service, service, service)


# --- sourcing functions ---


class Rate:
    """What events are worth."""

    def __init__(self, factor: int) -> None:
        self.factor = factor


@create_aggregate
class Earn(BaseModel):
    """Creates an account."""

    id: str = "a-1"
    amount: int = 2


class EarnMore(BaseModel):
    """Changes it."""

    id: str = "a-1"
    amount: int = 3


class Earned(BaseModel):
    """Its event."""

    amount: int


class EarnedMore(BaseModel):
    """Its other event."""

    amount: int


class Account(BaseModel):
    """A state whose sourcing functions ask for more than the event."""

    id: str
    worth: int = 0
    versions: list[int] = []

    @on_sourcing
    def earned(self, event: Earned, rate: Rate, stream: DomainEventStream, header: Header) -> None:
        self.worth += event.amount * rate.factor
        self.versions.append(stream.version)

    @on_sourcing
    def more(self, exchange: DomainEventExchange[EarnedMore], message: DomainEvent, *, rate: Rate) -> None:
        assert exchange.message is message
        self.worth += message.body.amount * rate.factor


@aggregate_root(context="bank")
class Bank:
    """Earns."""

    def __init__(self, state: Account) -> None:
        self.state = state

    @on_command
    def earn(self, command: Earn) -> Earned:
        return Earned(amount=command.amount)

    @on_command
    def earn_more(self, command: EarnMore) -> EarnedMore:
        return EarnedMore(amount=command.amount)


@pytest.mark.clause("STA-021", "EVT-095")
def test_services_reach_sourcing_functions():
    """Of a new state, of one that is replayed, and of one that a snapshot gave back."""
    pipeline = Pipeline(Bank)
    pipeline.world.services.register(Rate(10))

    created = pipeline.send(Earn())
    assert created.exchange.command_aggregate.state.state.worth == 20
    from_snapshot = pipeline.send(EarnMore())
    assert from_snapshot.exchange.command_aggregate.state.state.worth == 50

    task = pipeline.world.scheduler.spawn(
        pipeline.runtime.repository.load_version(created.message.aggregate_id, tail_version=2), "replay"
    )
    pipeline.world.scheduler.run()
    assert (task.result().state.worth, task.result().state.versions) == (50, [1])


def test_a_service_that_a_sourcing_function_misses():
    """It is an error of the spec's, as for any function."""
    pipeline = Pipeline(Bank)

    outcome = pipeline.send(Earn())

    assert type(outcome.error) is MissingServiceError
    assert "parameter 'rate' of Account.earned" in str(outcome.error)
