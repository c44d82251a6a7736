"""Why an armed fault never struck, and what to write instead, as far as its point and the world show it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from inspect import getattr_static

from ..faults.values import Fault
from ..runtime.system import Runtime
from ..world.points import EVENT_DELIVER, SERVICE_CALL
from .layout import several
from .run import Run


def unstruck_text(fault: Fault, visits: int | None, run: Run | None) -> str:
    """That a fault of a spec never struck: visits are None where nothing ran that it was armed for."""
    runtime = run.session.runtime if run is not None else None
    mend = mend_of_point(fault, runtime)
    if visits is None:
        why = "it is armed for the commands that follow with_faults(...), and none did"
        instead = ".with_faults(...) before the when(...) that it shall strike"
    elif run is not None and run.message is None and run.command is None:
        why = "faults strike what follows a when(...) or when_event(...); what is given is delivered before"
        instead = ".with_faults(...).when_event(SomeEvent(...)), or .when(SomeCommand(...)), in place of given(...)"
    else:
        why = f"the point {visits_text(fault, visits)}, so the spec says nothing of it"
        instead = "a point that this command passes (see `run().trace`)"
        if fault.at > 1:
            instead += ", or a smaller at="
        elif fault.aggregate is not None:
            instead += ", or another aggregate="
        if mend is not None:
            why, instead = mend
    return f"the fault {fault} never struck\n  why: {why}\n  instead: {instead}"


def visits_text(fault: Fault, visits: int) -> str:
    """How often its point was visited: `event_store.append was visited twice by o-1, and it waits for visit 3`."""
    whose = "" if fault.aggregate is None else f" by {_named(fault.aggregate)}"
    passed = f"was visited {several(visits, 'time')}" if visits else "was not visited"
    waits = f", and it waits for visit {fault.at}" if fault.at > 1 else ""
    return f"{fault.point} {passed}{whose}{waits}"


def mend_of_point(fault: Fault, runtime: Runtime | None, verbs: str = ".") -> tuple[str, str] | None:
    """Why, and what to write, where the world has no such place: a processor, a service or a part that is not there.

    Args:
        fault: a fault that never struck.
        runtime: the world that it was armed in, if there was one.
        verbs: stands before `using(...)` and `inject(...)` in the text.
    """
    name, _, part = fault.point.partition(":")
    owner, _, member = part.rpartition(".")
    if runtime is None or name not in (EVENT_DELIVER, SERVICE_CALL):
        return None
    if name == SERVICE_CALL:
        services = dict(runtime.world.services.named())
        if owner not in services:
            return _absent(
                "this world has no service",
                owner,
                list(services),
                "faults.service({!r})." + member,
                f"{verbs}inject({owner}=...)",
            )
        if callable(getattr(services[owner], member, None)):
            return None
        methods = [
            each for each in dir(services[owner]) if not each.startswith("_") and _is_call(services[owner], each)
        ]
        return _absent(f"{owner} has no method", member, methods, f"faults.service({owner!r}).{{}}")
    functions = {
        metadata.name: list(dict.fromkeys(each.info.name for each in metadata.functions))
        for metadata in runtime.catalog.processors.values()
    }
    if owner not in functions:
        using = f"{verbs}using({owner})"
        return _absent("this world has no processor", owner, list(functions), "faults.event.deliver({})", using)
    if member in functions[owner]:
        return None
    return _absent(f"{owner} has no function", member, functions[owner], f"faults.event.deliver({owner}, {{!r}})")


def _is_call(service: object, name: str) -> bool:
    """Whether a name is that of a method; no property is asked for its value."""
    found = getattr_static(service, name, None)
    return callable(found) or isinstance(found, classmethod)


def _absent(what: str, said: str, known: Sequence[str], form: str, bring: str = "") -> tuple[str, str]:
    close = difflib.get_close_matches(said, known, 2) or ([] if bring else known[:2])
    why = f"{what} {said!r}; it has: {', '.join(sorted(known)) or 'none'}"
    return why, " or ".join(map(form.format, close)) or bring


def _named(aggregate: object) -> str:
    return aggregate.__name__ if isinstance(aggregate, type) else str(aggregate)
