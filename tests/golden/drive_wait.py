"""Runs the cases of the family `wait` through the model's own stages, plans, headers, states, handles and gateway."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.golden.wait_gateway import gateway, notifier
from tests.golden.wait_script import script
from tests.golden.wait_shapes import (
    Json,
    difference,
    extract,
    read_command,
    read_error,
    read_function,
    read_plan,
    read_selector,
    read_signal,
    write_chain,
    write_error,
    write_plan,
    write_result,
    write_signal,
)
from wowspec.messages.header import Header
from wowspec.messages.stages import FUNCTION_STAGES, PREREQUISITES, STAGES, WANTED, CommandStage
from wowspec.messages.wait_headers import (
    SimpleWaitingChain,
    propagate_wait_plan,
    require_wait_command_id,
    require_wait_endpoint,
    write_wait_plan,
)
from wowspec.messages.wait_plans import ChainTail, FunctionSelector, selector_matches
from wowspec.messages.wait_signals import WaitSignal, result_of_signal, sent_signal
from wowspec.runtime.waiting.coordinator import WaitCoordinator
from wowspec.runtime.waiting.notifier import is_local_wait_id
from wowspec.runtime.waiting.states import wait_state_of
from wowspec.world.world import World

MACHINE_ID = 7


def check(case: Json) -> str | None:
    """None if the model does what was recorded, else the first difference."""
    data = case["input"]
    try:
        actual = KINDS[data["kind"]](data)
    except Exception as error:
        if "raised" not in case["expect"]:
            raise
        actual = write_error(error)
    return difference(data, case["expect"], actual)


@dataclass(slots=True)
class Recorder:
    """A subscriber that wants everything and remembers it."""

    values: list[WaitSignal]
    outcome: str = "open"

    def on_next(self, signal: WaitSignal) -> None:
        """Remember a signal."""
        self.values.append(signal)

    def on_complete(self) -> None:
        """Remember the end."""
        self.outcome = "completed"

    def on_error(self, error: BaseException) -> None:
        """Remember the error."""
        self.outcome = f"failed: {error!r}"


def signals(data: Json) -> Json:
    """The same signals to a last-result handle, a stream handle and the bare state."""
    plan = read_plan(data["plan"])
    last_coordinator, stream_coordinator = WaitCoordinator(), WaitCoordinator()
    last, stream = Recorder([]), Recorder([])
    last_coordinator.open_last(plan).subscribe(last)
    stream_coordinator.open_stream(plan).subscribe(stream)
    state = wait_state_of(plan)
    command = _command(data["request_id"])
    steps = []
    for signal in map(read_signal, data["signals"]):
        accepted = last_coordinator.signal(signal)
        if stream_coordinator.signal(signal) is not accepted:
            accepted = "the two handles disagree"
        step = state.next(signal)
        steps.append(
            {
                "accepted": accepted,
                "open": plan.wait_command_id in last_coordinator,
                "answer": "completed" if step.completed else "ignored" if step.accepted is None else "accepted",
                "state_accepted_id": None if step.accepted is None else step.accepted.id,
                "state_final_id": None if step.final is None else step.final.id,
            }
        )
    return {
        "steps": steps,
        "completed": plan.wait_command_id not in stream_coordinator,
        "state_completed": state.completed,
        "state_retained": None if state.retained is None else write_signal(state.retained),
        "last": {"outcome": last.outcome, "values": [write_signal(signal) for signal in last.values]},
        "last_command_result": write_result(result_of_signal(last.values[0], command)) if last.values else None,
        "stream": {
            "outcome": stream.outcome,
            "values": [write_result(result_of_signal(signal, command)) for signal in stream.values],
        },
    }


def _command(request_id: str) -> Any:
    aggregate = {"context": "", "aggregate": "", "id": "", "tenant": ""}
    return read_command({"id": "", "request_id": request_id, "aggregate": aggregate})


def plan(data: Json) -> Json:
    """A factory."""
    return {"plan": write_plan(read_plan(data["plan"]))}


def propagate(data: Json) -> Json:
    """A plan writes itself to a header."""
    header = Header(data["header"])
    if data.get("read_only", False):
        header.freeze()
    write_wait_plan(read_plan(data["plan"]), data["endpoint"], header)
    return {"header": dict(header), "extracted": extract(header)}


def extracted(data: Json) -> Json:
    """A plan is read from a header."""
    return extract(Header(data["header"]))


def require(data: Json) -> Json:
    """The extractors that insist."""
    header = Header(data["header"])
    return {
        "wait_command_id": _value(lambda: require_wait_command_id(header)),
        "endpoint": _value(lambda: require_wait_endpoint(header)),
    }


def _value(read: Callable[[], str]) -> Json:
    try:
        return {"value": read()}
    except Exception as error:
        return write_error(error)


def downstream(data: Json) -> Json:
    """The plan's way to the next message."""
    header = Header()
    propagate_wait_plan(Header(data["upstream_header"]), data["upstream"] == "command", header)
    return {"header": dict(header), "extracted": extract(header)}


def simple_chain(data: Json) -> Json:
    """The stand-alone helper."""
    if "extract" in data:
        read = SimpleWaitingChain.read(Header(data["extract"]))
        return {"chain": None if read is None else write_chain(read.selector, read.tail)}
    tail = data["tail"]
    made = SimpleWaitingChain(
        read_selector(data["selector"]) or FunctionSelector(),
        ChainTail(CommandStage(tail["stage"]), read_selector(tail) or FunctionSelector()),
    )
    header = Header(data["header"])
    if "endpoint" in data:
        made.write(data["endpoint"], header)
    else:
        made.write_from(Header(data["upstream_header"]), data["upstream"] == "command", header)
    return {"header": dict(header)}


def should_notify(data: Json) -> Json:
    """What a target wants to hear of."""
    target = read_plan(data["plan"]).target
    return {
        "by_stage": {stage.value: target.wants(stage) for stage in CommandStage},
        "by_signal": [target.accepts(read_signal(signal)) for signal in data["signals"]],
    }


def match(data: Json) -> Json:
    """A selector meets a function."""
    return {"matches": selector_matches(read_selector(data["selector"]), read_function(data["function"]))}


def stages(_: Json) -> Json:
    """The table of stages."""
    return {
        "stages": [
            {
                "stage": row.stage.value,
                "previous": [stage.value for stage in row.prerequisites],
                "should_wait_function": row.stage in FUNCTION_STAGES,
                "is_previous": [stage.value for stage in CommandStage if stage in PREREQUISITES[row.stage]],
                "should_notify": [stage.value for stage in CommandStage if stage in WANTED[row.stage]],
            }
            for row in STAGES
        ]
    }


def local_id(data: Json) -> Json:
    """Whose wait id it is."""
    return {"local": is_local_wait_id(data["wait_command_id"], MACHINE_ID)}


def sent(data: Json) -> Json:
    """The gateway's own signal."""
    world = World()
    error = None if data["error"] is None else read_error(data["error"])
    command = read_command(data["command"])
    return {"signal": write_signal(sent_signal(command, data["wait_command_id"], error, world.errors, world))}


KINDS: dict[str, Callable[[Json], Any]] = {
    "signals": signals,
    "script": script,
    "plan": plan,
    "propagate": propagate,
    "extract": extracted,
    "require": require,
    "downstream": downstream,
    "simple_chain": simple_chain,
    "should_notify": should_notify,
    "match": match,
    "stages": stages,
    "local_id": local_id,
    "sent_signal": sent,
    "notifier": notifier,
    "gateway": gateway,
}
