"""Scripts of the family `wait`: the life of handles, subscriber by subscriber."""

from __future__ import annotations

from typing import Any

from tests.golden.wait_shapes import Json, read_error, read_plan, read_signal, write_error, write_plan, write_signal
from wowspec.messages.header import Header
from wowspec.messages.wait_headers import read_wait_plan, write_wait_plan
from wowspec.messages.wait_signals import WaitSignal
from wowspec.runtime.waiting.coordinator import WaitCoordinator
from wowspec.runtime.waiting.handles import UNLIMITED
from wowspec.runtime.waiting.notifier import LocalWaitNotifier, notify_if_wanted
from wowspec.world.points import Room
from wowspec.world.trace import Lane
from wowspec.world.world import World


def script(data: Json) -> Json:
    """Run the operations one after another."""
    run = Script(data)
    return {"ops": [run.run(op) for op in data["ops"]]}


class Watcher:
    """A subscriber that writes down what it sees, and may react inside its callbacks."""

    def __init__(self, name: str, handle: Any, react: Json | None, events: list[Json]) -> None:
        self.name = name
        self.handle = handle
        self.react = react
        self.events = events
        self.subscription: Any = None

    def on_subscribe(self, subscription: Any) -> None:
        """What it can cancel, from the first signal on."""
        self.subscription = subscription

    def on_next(self, signal: WaitSignal) -> None:
        """A signal."""
        self.events.append({"subscriber": self.name, "type": "next", "signal": write_signal(signal)})
        self._react("next")

    def on_complete(self) -> None:
        """The end."""
        self.events.append({"subscriber": self.name, "type": "complete"})
        self._react("complete")

    def on_error(self, error: BaseException) -> None:
        """The error."""
        self.events.append({"subscriber": self.name, "type": "error", "error": write_error(error)})
        self._react("error")

    def _react(self, when: str) -> None:
        if self.react is None or self.react["when"] != when:
            return
        what = self.react["do"]
        if what == "cancel":
            self.handle.cancel()
        elif what == "error":
            self.handle.error(read_error(self.react["error"]))
        elif what == "next":
            returned = self.handle.next(read_signal(self.react["signal"]))
            self.events.append({"subscriber": self.name, "type": "reacted", "returned": returned})
        else:
            self.subscription.cancel()


class Script:
    """One coordinator, a local notifier on top of it, and the operations."""

    def __init__(self, data: Json) -> None:
        self.world = World(machine_id=7)
        self.coordinator = WaitCoordinator(data.get("stream_queue_link_size", 16))
        self.notifier = LocalWaitNotifier(self.coordinator, self.world)
        self.handles: dict[str, Any] = {}
        self.watchers: dict[str, Watcher] = {}
        self.events: list[Json] = []
        mentioned = [op["plan"]["wait_command_id"] for op in data["ops"] if op["op"] == "open"]
        self.wait_ids = list(dict.fromkeys(mentioned))

    def run(self, op: Json) -> Json:
        """One operation, and what was seen during it."""
        self.events.clear()
        answer: Json = {}
        try:
            returned = getattr(self, f"do_{op['op']}")(op)
        except Exception as error:
            answer.update(write_error(error))
        else:
            if returned is not None:
                answer["returned"] = returned
        answer["events"] = list(self.events)
        answer["open"] = [wait_id for wait_id in self.wait_ids if wait_id in self.coordinator]
        return answer

    def do_open(self, op: Json) -> None:
        """Register a handle."""
        make = self.coordinator.open_last if op["handle"] == "last" else self.coordinator.open_stream
        self.handles[op["as"]] = make(read_plan(op["plan"]))

    def do_signal(self, op: Json) -> bool:
        """The coordinator's signal."""
        return self.coordinator.signal(read_signal(op["signal"]))

    def do_next(self, op: Json) -> bool:
        """The handle's own signal."""
        accepted: bool = self.handles[op["on"]].next(read_signal(op["signal"]))
        return accepted

    def do_cancel(self, op: Json) -> None:
        """Cancel a handle."""
        self.handles[op["on"]].cancel()

    def do_error(self, op: Json) -> None:
        """Fail a handle."""
        self.handles[op["on"]].error(read_error(op["error"]))

    def do_plan_of(self, op: Json) -> Json:
        """What a handle says of itself."""
        handle = self.handles[op["on"]]
        return {"wait_command_id": handle.wait_command_id, "plan": write_plan(handle.plan)}

    def do_contains(self, op: Json) -> bool:
        """Whether a wait is registered."""
        return op["wait_command_id"] in self.coordinator

    def do_subscribe(self, op: Json) -> None:
        """Subscribe, with or without demand."""
        handle = self.handles[op["on"]]
        watcher = Watcher(op["as"], handle, op.get("react"), self.events)
        self.watchers[op["as"]] = watcher
        handle.subscribe(watcher, op.get("demand", UNLIMITED), watcher.on_subscribe)

    def do_request(self, op: Json) -> None:
        """Want more."""
        self.watchers[op["subscriber"]].subscription.request(op["n"])

    def do_unsubscribe(self, op: Json) -> None:
        """Want no more."""
        self.watchers[op["subscriber"]].subscription.cancel()

    def do_notify(self, op: Json) -> str:
        """The local notifier, in the mode that the case names."""
        mode, endpoint, signal = op["mode"], op["endpoint"], read_signal(op["signal"])
        if mode == "forget":
            self.notifier.notify_and_forget(endpoint, signal)
        elif mode == "forget_if_wanted":
            extracted = read_wait_plan(write_wait_plan(read_plan(op["plan"]), endpoint, Header()))
            assert extracted is not None
            lane = Lane(Room.COMMAND, signal.aggregate_id.id)
            notify_if_wanted(self.world, self.notifier, extracted, signal, lane, signal)
        elif mode == "never_subscribed":
            self.notifier.notify(endpoint, signal).close()
        elif mode == "cancelled_at_subscription":
            self.world.scheduler.spawn(self.notifier.notify(endpoint, signal), "notify").cancel()
            self.world.scheduler.run()
        else:
            task = self.world.scheduler.spawn(self.notifier.notify(endpoint, signal), "notify")
            self.world.scheduler.run()
            task.result()
            return "completed"
        return "returned"
