"""A runtime to send commands through, for the tests of the command path: what was told, and what the exchange held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wowspec import CommandResultError
from wowspec.faults.values import Fault
from wowspec.messages.envelopes import CommandMessage
from wowspec.messages.exchange import ServerCommandExchange
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_plans import wait_for_stage
from wowspec.modeling.aggregates import AggregateMetadata, aggregate_metadata
from wowspec.modeling.identity import AggregateRef
from wowspec.modeling.ordering import ORDER_FIRST, Order
from wowspec.runtime.aggregate import CommandAggregate
from wowspec.runtime.catalog import catalog_of
from wowspec.runtime.chain import NamedFilter
from wowspec.runtime.sourcing import new_state_aggregate
from wowspec.runtime.system import Runtime
from wowspec.world.world import World


@dataclass
class Outcome:
    """What became of one command.

    Attributes:
        message: its message.
        result: the command result, of a failure too.
        error: what the pipeline raised, or None.
        exchange: its exchange, if it came so far.
    """

    message: CommandMessage[Any]
    result: Any
    error: BaseException | None
    exchange: ServerCommandExchange[Any] | None

    @property
    def code(self) -> str:
        """The error code that the caller is told."""
        return self.result.error_code


class Pipeline:
    """The whole command path over one world; every command is waited for."""

    def __init__(self, *parts: Any, filters: tuple[NamedFilter, ...] = ()) -> None:
        self.world = World()
        self.runtime = Runtime(self.world)
        self.exchanges: dict[str, ServerCommandExchange[Any]] = {}
        self.runtime.add_filter(NamedFilter("Spy", Order(ORDER_FIRST), self))
        for item in filters:
            self.runtime.add_filter(item)
        self.runtime.use(catalog_of(parts))

    async def filter(self, exchange, next):
        """Remember the exchange."""
        self.exchanges[exchange.message.id] = exchange
        await next(exchange)

    def start(self, body, *, stage=CommandStage.PROCESSED, **options):
        """Send a command, and wait in a task."""
        message = self.runtime.message(body, **options)
        plan = wait_for_stage(stage).plan(message.id)
        return message, self.world.scheduler.spawn(self.runtime.gateway.send_and_wait(message, plan), "send")

    def send(self, body, **options) -> Outcome:
        """Send a command and let everything happen."""
        message, task = self.start(body, **options)
        self.world.scheduler.run()
        return self.outcome(message, task)

    def outcome(self, message, task) -> Outcome:
        """What became of a command that was started."""
        exchange = self.exchanges.get(message.id)
        error = task.error
        if error is None:
            return Outcome(message, task.result(), None, exchange)
        assert isinstance(error, CommandResultError), error
        return Outcome(message, error.result, error.original, exchange)

    def just_send(self, body, **options) -> CommandMessage[Any]:
        """Send a command that nobody waits for."""
        message = self.runtime.message(body, **options)
        self.world.scheduler.spawn(self.runtime.gateway.send(message), "send")
        self.world.scheduler.run()
        return message

    def arm(self, fault: Fault) -> None:
        """Arm one fault."""
        self.runtime.arm().arm(fault, fault.aggregate)

    def lane(self, aggregate_id="a-1"):
        """The points of one aggregate's command lane, in order."""
        return [row.point for row in self.world.trace if str(row.lane) == aggregate_id]

    def rows(self, point):
        """The trace rows of a point."""
        return [row for row in self.world.trace if row.point == point]

    def stored(self, outcome):
        """The streams of a command's aggregate."""
        return self.runtime.event_store.load_now(outcome.message.aggregate_id)

    def bodies(self, outcome):
        """The event bodies of a command's aggregate, all in one list."""
        return [event.body for stream in self.stored(outcome) for event in stream.events]

    def failures(self):
        """What was logged: point and error."""
        return [(entry.point, entry.error) for entry in self.world.log]


class Working:
    """A command aggregate of its own, around a state of its own; its append can be told to fail."""

    def __init__(self, root: type, *, aggregate_id: str = "a-1") -> None:
        self.world = World()
        self.metadata: AggregateMetadata = aggregate_metadata(root)
        self.runtime = Runtime(self.world, catalog=catalog_of([root]))
        self.appended: list[Any] = []
        self.append_error: Exception | None = None
        reference = AggregateRef(*self.metadata.named, aggregate_id)
        self.state = new_state_aggregate(self.metadata.state, reference, self.runtime.supply)
        self.aggregate = CommandAggregate(self.metadata, self.state, self.append, self.world)

    async def append(self, stream, exchange):
        """Store a stream, or fail."""
        if self.append_error is not None:
            raise self.append_error
        self.appended.append(stream)

    def exchange(self, body, **options) -> ServerCommandExchange[Any]:
        """An exchange for one command."""
        options = {"named_aggregate": self.metadata.named, "aggregate_id": self.state.aggregate_id.id, **options}
        return ServerCommandExchange(self.runtime.message(body, **options))

    def process(self, body, **options):
        """Process one command: its exchange, and the task."""
        exchange = self.exchange(body, **options)
        task = self.world.scheduler.spawn(self.aggregate.process(exchange), "process")
        self.world.scheduler.run()
        return exchange, task
