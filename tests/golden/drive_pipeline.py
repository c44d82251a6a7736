"""Runs a recorded pipeline case on the model and compares what both did, lane by lane."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from wowspec.error_policy import DEFAULT_POLICY
from wowspec.errors import CommandResultError, WowError
from wowspec.faults.values import Fault
from wowspec.messages.codec import encode
from wowspec.messages.envelopes import CommandMessage
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_plans import WaitPlan, chain, saga_handled, wait_for_stage
from wowspec.modeling.builtin import DeleteAggregate, RecoverAggregate
from wowspec.modeling.identity import FunctionInfo, FunctionKind
from wowspec.runtime.catalog import catalog_of
from wowspec.runtime.repository import StateAggregateRepository
from wowspec.runtime.system import Runtime
from wowspec.world.choices import Choices
from wowspec.world.points import (
    COMMAND_BUS_SEND,
    COMMAND_VALIDATE,
    DOMAIN_EVENT_BUS_SEND,
    EVENT_STORE_LOAD,
    REQUEST_ID_CHECK,
    STATE_EVENT_BUS_SEND,
    FaultKind,
)
from wowspec.world.trace import TraceRow
from wowspec.world.world import World

from .compare import first_difference
from .domain import COMMANDS, Account, Noted, golden

Json = dict[str, Any]

#: Names of the modelled runtime for what is named otherwise here.
WIRE: Final = {
    "DeleteAggregate": "DefaultDeleteAggregate",
    "RecoverAggregate": "DefaultRecoverAggregate",
    "AggregateDeleted": "DefaultAggregateDeleted",
    "AggregateRecovered": "DefaultAggregateRecovered",
}
ERRORS: Final = {"WowError": "WowException", "ValueError": "IllegalArgumentException"}
BUILT_IN: Final[dict[str, Callable[[], Any]]] = {
    "DeleteAggregate": DeleteAggregate,
    "RecoverAggregate": RecoverAggregate,
}
APPLIED: Final = ("ok", "ack_lost", "ack_lost_permanent")


def check(case: Json) -> str | None:
    """None if the model does one of the recorded outcomes, else the first path at which it departs from the nearest."""
    actual = Run(case).result()
    differences = []
    for expected in case["expect_one_of"]:
        difference = first_difference(comparable(expected, case), comparable(actual, case))
        if difference is None:
            return None
        differences.append(difference)
    return differences[0] if len(differences) == 1 else " | ".join(differences)


def comparable(outcome: Json, case: Json) -> Json:
    """What the format says is compared: streams as multisets without the waited command's SENT, no messages."""
    outcomes = []
    for index, item in enumerate(outcome["outcomes"]):
        kept = {key: value for key, value in item.items() if key not in ("raised", "cause", "stream", "completed")}
        kept["failed"] = "raised" in item
        if "result" in kept and kept["result"] is not None:
            kept["result"] = without_message(kept["result"])
        if "raised" in item:
            kept["carries_result"] = item.get("result") is not None
        if "stream" in item:
            own = f"when[{index}]"
            kept["stream"] = sorted(
                json.dumps(without_message(result), sort_keys=True)
                for result in item["stream"]
                if not (result["stage"] == "SENT" and result["command"] == own)
            )
        outcomes.append(kept)
    # What travels between lanes is in no order; one gateway lane may interleave where a saga and a client share it.
    lanes = dict(outcome["lanes"])
    return {
        **{key: value for key, value in outcome.items() if key not in ("outcomes", "lanes", "given_errors")},
        "outcomes": outcomes,
        "lanes": {
            lane: (sorted(rows) if case["scenario"] == "transfer-to-self" and lane.startswith("gateway:") else rows)
            for lane, rows in sorted(lanes.items())
        },
        "given_errors": len(outcome["given_errors"]),
        "signals": sorted(json.dumps(signal, sort_keys=True) for signal in outcome["signals"]),
    }


def without_message(result: Json) -> Json:
    return {key: value for key, value in result.items() if key != "error_msg"}


class Run:
    """One case on a fresh world; with choices, they decide the order of tasks from the first `when` on."""

    def __init__(self, case: Json, choices: Choices | None = None) -> None:
        self.case = case
        self.choices = choices
        self.world = World()
        self.runtime = Runtime(
            self.world,
            catalog=catalog_of([golden]),
            request_id_existence=case["profile"]["request_id_existence"],
        )
        self.labels: dict[str, str] = {}
        self.outcomes: list[Json] = []
        self.given_errors: list[str] = []
        self.start = 0
        self.signals = 0

    def result(self) -> Json:
        """Run given, faults and when; gather what happened."""
        for index, item in enumerate(self.case["given"]):
            self.given(index, item)
        self.start = len(self.world.trace)
        self.signals = len(self.runtime.notifier.received)
        armory = self.runtime.arm()
        for fault in self.case["faults"]:
            armory.arm(fault_of(fault), fault["aggregate"])
        if self.choices is not None:
            self.choices.attach(self.world)
        for index, item in enumerate(self.case["when"]):
            self.outcomes.append(self.when(index, item))
        if self.choices is not None:
            self.choices.detach()
        self.label_saga_commands()
        rows = self.world.trace.rows[self.start :]
        return {
            "given_errors": self.given_errors,
            "outcomes": [self.named(outcome) for outcome in self.outcomes],
            "fired": sorted(wire_point(str(fired)) for fired in armory.fired),
            "lanes": lanes_of(rows),
            "aggregates": self.aggregates(),
            "published": sorted(
                [row.key, row.subject.version, [type_name(event.body) for event in row.subject.events]]
                for row in rows
                if row.point == DOMAIN_EVENT_BUS_SEND and row.outcome in APPLIED
            ),
            "state_events": sorted(
                [row.key, row.subject.version]
                for row in rows
                if row.point == STATE_EVENT_BUS_SEND and row.outcome in APPLIED
            ),
            "signals": self.received_signals(),
        }

    # --- running ------------------------------------------------------------------------------------------------------

    def message(self, item: Json) -> CommandMessage[Any]:
        body_class = COMMANDS.get(item["command"])
        options = dict(item.get("options", {}))
        if body_class is None:
            return self.runtime.message(BUILT_IN[item["command"]](), named_aggregate="golden.account", **options)
        return self.runtime.message(body_class.model_construct(**fields_of(body_class, item["body"])), **options)

    def given(self, index: int, item: Json) -> None:
        message = self.message(item)
        self.labels[message.id] = f"given[{index}]"
        plan = wait_for_stage(CommandStage.PROCESSED).plan(message.id)
        task = self.world.scheduler.spawn(self.runtime.gateway.send_and_wait(message, plan), "given")
        self.world.scheduler.run()
        if task.error is not None:
            self.given_errors.append(str(task.error))

    def when(self, index: int, item: Json) -> Json:
        message = self.message(item)
        self.labels[message.id] = f"when[{index}]"
        gateway, scheduler = self.runtime.gateway, self.world.scheduler
        api = item["api"]
        stream: list[Any] = []
        if api == "send":
            task = scheduler.spawn(gateway.send(message), api)
            timer = scheduler.call_at(self.world.clock.nanos + item["timeout_ms"] * 1_000_000, task.cancel)
            task.on_done(timer.cancel)
        elif api == "send_and_wait_for_sent":
            task = scheduler.spawn(gateway.send_and_wait_for_sent(message), api)
        elif api == "send_and_wait":
            task = scheduler.spawn(gateway.send_and_wait(message, plan_of(item["wait"], message.id)), api)
        else:
            plan = plan_of(item["wait"], message.id)

            async def consume() -> None:
                async for result in gateway.send_and_wait_stream(message, plan):
                    stream.append(result)

            task = scheduler.spawn(consume(), api)
        scheduler.run()
        outcome: Json = {}
        error = task.error if task.done else None
        if not task.done:
            message_text = f"{api} neither returned nor raised"
            raise AssertionError(message_text)
        if error is None:
            if api == "send":
                outcome["sent"] = True
            elif api == "send_and_wait_stream":
                outcome["completed"] = True
            else:
                outcome["result"] = task.result()
        elif type(error).__name__ == "Cancelled":
            outcome |= {"raised": "TimeoutException", "error_code": "RequestTimeout"}
        else:
            outcome |= {"raised": type(error).__name__, "error_code": DEFAULT_POLICY.info(error).error_code}
            if isinstance(error, CommandResultError):
                outcome["result"] = error.result
            elif isinstance(error, AssertionError):
                raise error
        if api == "send_and_wait_stream":
            outcome["stream"] = stream
        return outcome

    # --- gathering ----------------------------------------------------------------------------------------------------

    def label_saga_commands(self) -> None:
        for row in self.world.trace.rows:
            if row.point == COMMAND_BUS_SEND and row.subject.id not in self.labels:
                self.labels[row.subject.id] = f"saga:{row.key}/{type_name(row.subject.body)}"

    def named(self, outcome: Json) -> Json:
        found = dict(outcome)
        if found.get("result") is not None:
            found["result"] = self.result_of(found["result"])
        if "stream" in found:
            found["stream"] = [self.result_of(item) for item in found["stream"]]
        return found

    def label(self, command_id: str) -> str:
        return self.labels.get(command_id, "<id>")

    def result_of(self, result: Any) -> Json:
        return {
            "stage": result.stage.name,
            "succeeded": result.succeeded,
            "error_code": result.error_code,
            "aggregate_id": result.aggregate_id,
            "aggregate_version": result.aggregate_version,
            "command": self.label(result.command_id),
            "function": function_of(result.function),
            "binding_errors": [error.name for error in result.binding_errors],
            "result": dict(result.result),
        }

    def received_signals(self) -> list[Json]:
        return [
            {
                "stage": signal.stage.name,
                "command": self.label(signal.command_id),
                "wait_command": self.label(signal.wait_command_id),
                "aggregate_id": signal.aggregate_id.id,
                "aggregate_version": signal.aggregate_version,
                "function": function_of(signal.function),
                "is_last_projection": signal.is_last_projection,
                "error_code": signal.error_code,
                "result": dict(signal.result),
                "commands": [self.label(command) for command in signal.commands],
            }
            for _, signal in self.runtime.notifier.received[self.signals :]
        ]

    def aggregates(self) -> list[Json]:
        points = (REQUEST_ID_CHECK, COMMAND_BUS_SEND)
        ids = {row.subject.aggregate_id for row in self.world.trace.rows if row.point in points}
        return [self.aggregate(ref) for ref in sorted(ids, key=lambda ref: (ref.tenant_id, ref.id))]

    def aggregate(self, ref: Any) -> Json:
        store = self.runtime.event_store
        streams = [
            {
                "version": stream.version,
                "command": self.labels.get(stream.command_id, "rival"),
                "owner_id": stream.owner_id,
                "space_id": stream.space_id,
                "events": [[type_name(event.body), body_of(event.body)] for event in stream.events],
            }
            for stream in store.load_now(ref)
        ]
        repository = StateAggregateRepository(store, types=self.runtime.catalog.state_type)
        state: Json
        task = self.world.scheduler.spawn(repository.load(ref), "replay")
        self.world.scheduler.run()
        try:
            loaded = task.result()
        except WowError as error:
            state = {"error": error.error_code}
        else:
            state = {
                "version": loaded.version,
                "initialized": loaded.initialized,
                "owner_id": loaded.owner_id,
                "space_id": loaded.space_id,
                "deleted": loaded.deleted,
                "view": json.loads(encode(loaded.state)),
            }
        snapshot = self.runtime.snapshot_store.load_now(ref)
        return {
            "tenant_id": ref.tenant_id,
            "id": ref.id,
            "streams": streams,
            "state": state,
            "snapshot_version": snapshot.version if snapshot is not None else None,
        }


def fields_of(body_class: Any, body: Json) -> Json:
    """A body's fields, with the defaults of those that the case leaves out; nothing is validated yet."""
    defaults = {
        name: field.get_default(call_default_factory=True)
        for name, field in body_class.model_fields.items()
        if not field.is_required()
    }
    return {**defaults, **body}


def fault_of(fault: Json) -> Fault:
    kind = FaultKind(fault["kind"])
    payload = (Noted(text="rival"),) if kind is FaultKind.RIVAL else None
    point = fault["point"].replace(".onEvent", ".on_event")
    return Fault(point, kind, at=fault["nth"], times=fault["times"], aggregate=fault["aggregate"], payload=payload)


def plan_of(wait: Json, command_id: str) -> WaitPlan:
    if "chain" in wait:
        saga, tail = wait["chain"], wait["chain"]["tail"]
        wanted = chain(
            saga_handled(saga.get("context", ""), saga.get("processor", ""), function_name(saga.get("function", ""))),
            then=wait_for_stage(
                CommandStage[tail["stage"]],
                tail.get("context", ""),
                tail.get("processor", ""),
                function_name(tail.get("function", "")),
            ),
        )
    else:
        wanted = wait_for_stage(
            CommandStage[wait["stage"]],
            wait.get("context", ""),
            wait.get("processor", ""),
            function_name(wait.get("function", "")),
        )
    return wanted.with_timeout(milliseconds=wait["timeout_ms"]).plan(command_id)


def function_name(wire: str) -> str:
    return {"onEvent": "on_event", "onCommand": "on_command"}.get(wire, wire)


def function_of(function: FunctionInfo) -> list[str]:
    name = function.name
    if name == "on_event":
        name = "onEvent"
    elif (
        function.kind is FunctionKind.COMMAND
        and function.processor_name == Account.__name__
        and not name.startswith("Account.")
    ):
        name = "onCommand"
    return [function.context_name, function.processor_name, name]


def type_name(body: Any) -> str:
    name = type(body).__name__
    return WIRE.get(name, name)


def body_of(body: Any) -> Json:
    if type(body).__name__ in WIRE:
        return {}
    found: Json = json.loads(encode(body))
    if "error_message" in found:
        found = {"errorCode": found["error_code"], "errorMsg": found["error_message"], "succeeded": False}
    return found


def wire_point(text: str) -> str:
    return text.replace(".on_event", ".onEvent")


def wire_outcome(row: TraceRow) -> str:
    head, colon, tail = row.outcome.partition(":")
    if not colon or head == "violations" or tail == "ok":
        return row.outcome
    name = ERRORS.get(tail) or (tail.removesuffix("Error") + "Exception" if tail.endswith("Error") else tail)
    return f"{head}:{name}"


def wire_detail(detail: str) -> str:
    for own, wire in WIRE.items():
        detail = detail.replace(own, wire)
    return detail


def lanes_of(rows: list[TraceRow]) -> dict[str, list[list[str]]]:
    lanes: dict[str, list[list[str]]] = {}
    for row in rows:
        lane = wire_point(str(row.lane))
        if row.point == COMMAND_VALIDATE and type(row.subject.body).__name__ in BUILT_IN:
            lane = "gateway:?"  # the recorder of validation sees the body alone, which has no id
        step = [wire_point(row.point), wire_outcome(row)]
        # The recorder learns from the load itself where it starts, so a load that a fault stopped has no detail.
        if row.detail and not (row.point == EVENT_STORE_LOAD and row.outcome not in APPLIED):
            step.append(wire_detail(row.detail))
        lanes.setdefault(lane, []).append(step)
    return lanes


def summary(cases: list[Json]) -> Counter[str]:
    """Passed and failed, for a look by hand."""
    return Counter("passed" if check(case) is None else "failed" for case in cases)
