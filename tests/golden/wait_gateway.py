"""The cases of the family `wait` that need a world: the gateway's waiting calls, and the notifier filters."""

from __future__ import annotations

from typing import Any

from tests.golden.wait_shapes import (
    Json,
    read_aggregate,
    read_command,
    read_error,
    read_function,
    read_plan,
    read_signal,
    write_error,
    write_result,
    write_signal,
)
from wowspec.errors import ErrorInfo, RetriesExhaustedError
from wowspec.messages.envelopes import CommandMessage, DomainEvent, DomainEventStream, StateEvent
from wowspec.messages.exchange import DomainEventExchange, ServerCommandExchange, StateEventExchange
from wowspec.messages.header import Header
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_headers import write_wait_plan
from wowspec.messages.wait_signals import WaitSignal
from wowspec.runtime.gateway import CommandGateway
from wowspec.runtime.validation import NoOpValidator
from wowspec.runtime.waiting.coordinator import WaitCoordinator
from wowspec.runtime.waiting.notifier_filters import NotifierFilter
from wowspec.world.points import Room
from wowspec.world.scheduler import Cancelled
from wowspec.world.trace import Lane
from wowspec.world.world import World


def gateway(data: Json) -> Json:
    """A gateway over a bus that does nothing but what the case says."""
    return GatewayRun(data).run()


class GatewayRun:
    """One call of the gateway; it is its own bus, request-id checker and notifier."""

    def __init__(self, data: Json) -> None:
        self.data = data
        self.world = World()
        self.coordinator = WaitCoordinator()
        self.gateway = CommandGateway(
            self.world, self, self.coordinator, self, self, NoOpValidator(), endpoint=data["endpoint"]
        )
        self.command = read_command(data["command"], Header(data.get("header", {})))
        self.plan = read_plan(data["plan"]) if "plan" in data else None
        self.sent_header: Json | None = None
        self.accepted_during_send: list[bool] = []
        self.notifications: list[Json] = []
        self.outcome = "open"
        self.values: list[Json] = []
        self.error: Json | None = None

    async def send(self, message: CommandMessage[Any]) -> None:
        """The bus."""
        self.sent_header = dict(message.header)
        for signal in self.data.get("signals_during_send", ()):
            self.accepted_during_send.append(self.coordinator.signal(read_signal(signal)))
        bus = self.data.get("bus", "ok")
        if bus == "error":
            raise read_error(self.data["bus_error"])
        if bus == "never":
            await self.world.scheduler.future()

    async def check(self, command: CommandMessage[Any]) -> bool:
        """The request-id checker."""
        fresh: bool = self.data.get("request_id_fresh", True)
        return fresh

    async def notify(self, endpoint: str, signal: WaitSignal) -> None:
        """The notifier."""
        self.notifications.append({"endpoint": endpoint, "signal": write_signal(signal)})

    async def call(self) -> None:
        """The caller."""
        try:
            await self.call_as_told()
        except Cancelled:
            raise
        except Exception as error:
            self.outcome = "failed"
            self.error = write_error(error)
        else:
            self.outcome = "completed"

    async def call_as_told(self) -> None:
        """The call that the case names."""
        mode = self.data["mode"]
        if mode == "send":
            await self.gateway.send(self.command)
        elif mode == "sent":
            self.values.append(write_result(await self.gateway.send_and_wait_for_sent(self.command)))
        elif mode == "last":
            assert self.plan is not None
            result = await self.gateway.send_and_wait(self.command, self.plan)
            if result is not None:
                self.values.append(write_result(result))
        else:
            assert self.plan is not None
            async for item in self.gateway.send_and_wait_stream(self.command, self.plan):
                self.values.append(write_result(item))

    def settle(self, millis: int = 0) -> None:
        """Let time pass, and everything happen that is due."""
        self.world.scheduler.run(until=self.world.clock.nanos + millis * 1_000_000)

    def is_open(self) -> bool | None:
        """Whether the plan's wait is registered."""
        return None if self.plan is None else self.plan.wait_command_id in self.coordinator

    def run(self) -> Json:
        """The whole case."""
        if self.data.get("occupied", False):
            assert self.plan is not None
            self.coordinator.open_last(self.plan)
        task = self.world.scheduler.spawn(self.call(), "caller")
        self.settle()
        open_after_send = self.is_open()
        accepted_after = []
        for signal in self.data.get("signals_after", ()):
            accepted_after.append(self.coordinator.signal(read_signal(signal)))
            self.settle()
        timeline = []
        for millis in self.data.get("advance_ms", ()):
            self.settle(millis)
            timeline.append({"outcome": self.outcome, "values": len(self.values)})
        if self.data.get("unsubscribe", False):
            task.cancel()
            self.settle()
        answer = {
            "sent_header": self.sent_header,
            "accepted_during_send": self.accepted_during_send,
            "open_after_send": open_after_send,
            "accepted_after": accepted_after,
            "timeline": timeline,
            "outcome": self.outcome,
            "values": self.values,
            "open_at_end": self.is_open(),
            "notifications": self.notifications,
        }
        if self.error is not None:
            answer["error"] = self.error
        return answer


def notifier(data: Json) -> Json:
    """A notifier filter at the end of a handler chain."""
    return NotifierRun(data).run()


class NotifierRun:
    """One chain; it is its own notifier."""

    def __init__(self, data: Json) -> None:
        self.data = data
        self.world = World()
        self.log: list[Json] = []
        self.header = Header(data.get("header", {}))
        if data["plan"] is not None:
            write_wait_plan(read_plan(data["plan"]), data["endpoint"], self.header)
        self.exchange = self.make_exchange()

    def make_exchange(self) -> Any:
        """The exchange of the stage's chain."""
        data, message = self.data, self.data["message"]
        function = data.get("function")
        common: Json = {
            "function": None if function is None else read_function(function),
            "command_result": data.get("result", {}),
            "error": read_error(data["exchange_error"]) if data.get("exchange_error") else None,
            "lane": Lane(Room.COMMAND, message["aggregate"]["id"]),
        }
        if data["stage"] == "PROCESSED":
            exchange = ServerCommandExchange(read_command(message, self.header), **common)
            exchange.aggregate_version = message.get("processed_version")
            event = data.get("error_event")
            if event is not None:
                info = ErrorInfo(event["error_code"], event["message"])
                exchange.event_stream = self.stream(info, message["id"], message["id"], 1)
            return exchange
        if data["stage"] == "SNAPSHOT":
            stream = self.stream(object(), message["id"], message["command_id"], message["version"])
            return StateEventExchange(StateEvent(stream, object()), **common)
        stream = self.stream(object(), message["id"], message["command_id"], message["version"])
        event_exchange = DomainEventExchange(stream.events[0], **common)
        event_exchange.message.is_last = message.get("is_last", False)
        if data.get("commands") is not None:
            event_exchange.command_stream = [
                read_command({"id": command_id, "request_id": "", "aggregate": message["aggregate"]})
                for command_id in data["commands"]
            ]
        return event_exchange

    def stream(self, body: Any, id_: str, command_id: str, version: int) -> DomainEventStream:
        """A stream of one event; both have the header of the case."""
        aggregate = read_aggregate(self.data["message"]["aggregate"])
        event = DomainEvent(id_, body, aggregate, version, "event", command_id, self.header)
        return DomainEventStream(id_, "", self.header, (event,))

    async def inner(self, exchange: Any) -> None:
        """The chain inside the filter."""
        self.log.append({"event": "started"})
        source = self.data["source"]
        if source == "never":
            await self.world.scheduler.future()
        error = self.data.get("source_error")
        if source == "error":
            raise read_error(error)
        if source == "retry_exhausted":
            raise RetriesExhaustedError("retries exhausted") from (None if error is None else read_error(error))

    async def notify(self, endpoint: str, signal: WaitSignal) -> None:
        """The transport."""
        if self.data.get("transport_fails", False):
            self.log.append({"event": "transport_failed", "endpoint": endpoint})
            raise RuntimeError("transport failed")
        self.log.append({"event": "notified", "endpoint": endpoint, "signal": write_signal(signal)})

    async def outer(self, chain: Any) -> None:
        """Who subscribes to the chain."""
        try:
            await chain
        except Cancelled:
            self.log.append({"event": "cancelled"})
            raise
        except Exception as error:
            started = any(entry["event"] == "started" for entry in self.log)
            self.log.append({"event": "failed" if started else "raised", "error": write_error(error)})
        else:
            self.log.append({"event": "completed"})

    def run(self) -> Json:
        """The whole case."""
        link = NotifierFilter(CommandStage(self.data["stage"]), self, self.world)
        chain = link.filter(self.exchange, self.inner)
        if self.data.get("clear_header_before_subscription", False):
            self.header.clear()
        task = self.world.scheduler.spawn(self.outer(chain), "chain")
        self.world.scheduler.run()
        if self.data.get("cancel", False):
            task.cancel()
            self.world.scheduler.run()
        return {"log": self.log}
