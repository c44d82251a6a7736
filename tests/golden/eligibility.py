"""Which recorded cases speak of a part of the runtime that isn't modelled yet: one rule, one function."""

from __future__ import annotations

import json
from typing import Any, Final

#: Scenarios in which a saga sends a command; those that begin with `transfer` too.
SAGA_SCENARIOS: Final = frozenset({"broadcast-one", "broadcast-two", "broadcast-creates", "three-in-a-row"})
#: Fault points of downstream work.
DOWNSTREAM_POINT: Final = "event.deliver"
DOWNSTREAM_NOTIFICATIONS: Final = frozenset(
    {"wait.notify:PROJECTED", "wait.notify:EVENT_HANDLED", "wait.notify:SAGA_HANDLED"}
)
#: Stages that can be waited for without downstream functions.
STAGES: Final = frozenset({"SENT", "PROCESSED", "SNAPSHOT"})


def is_not_yet(family: str, case: dict[str, Any]) -> bool:
    """Whether a case waits for chains, sagas or event functions.

    * `parts`: every case must pass.
    * `wait`: not yet where the JSON of the input holds the word `chain`.
    * `pipeline`: not yet where the scenario sends a saga's command, a fault strikes the delivery of an event or a
      notification of PROJECTED, EVENT_HANDLED or SAGA_HANDLED, or a call waits for anything but SENT, PROCESSED,
      SNAPSHOT or nothing.
    """
    if family == "parts":
        return False
    if family == "wait":
        return "chain" in json.dumps(case["input"], ensure_ascii=False)
    return (
        _sends_saga_command(case["scenario"])
        or any(_strikes_downstream(fault["point"]) for fault in case.get("faults", ()))
        or any(_waits_downstream(sent.get("wait")) for sent in case["when"])
    )


def _sends_saga_command(scenario: str) -> bool:
    return scenario.startswith("transfer") or scenario in SAGA_SCENARIOS


def _strikes_downstream(point: str) -> bool:
    return point.partition(":")[0] == DOWNSTREAM_POINT or point in DOWNSTREAM_NOTIFICATIONS


def _waits_downstream(wait: dict[str, Any] | None) -> bool:
    return wait is not None and wait.get("stage") not in STAGES
