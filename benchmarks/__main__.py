"""`python -m benchmarks` prints what wowspec costs beside its neighbours, and whether it may."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from . import downstream, exploration, frames, ours, reports
from .measure import Subject, interleave
from .rows import Row, at_least, at_most, beside, table

_MICRO: Final = 1e6


def peer(module: str, make: Callable[[str], Subject]) -> Subject | str:
    """The subject of an optional peer, or why it is skipped."""
    try:
        return make(module)
    except ImportError as error:
        return f"skipped: {error}; pip install 'wowspec[peers]'"


def measure(*, quick: bool) -> list[Row]:
    """Every row, from interleaved repetitions in this process."""
    rounds = 5 if quick else 15
    times = 100 if quick else 300
    subjects: dict[str, Subject] = {
        "create": ours.create_command(times),
        "create spec": ours.create_spec(times),
        "arithmetic": ours.arithmetic(times),
        "spec": ours.spec(times),
        "cycle": ours.save_load_save(times),
        "two commands": ours.two_commands(times),
        "hypothesis": frames.hypothesis_step(10 if quick else 30),
        "pytest": frames.pytest_test,
    }
    peers = {
        "eventsourcing": peer("peer_eventsourcing", lambda name: _module(name).cycle(times)),
        "protean": peer("peer_protean", lambda name: _module(name).spec(3 if quick else 10)),
    }
    subjects |= {name: subject for name, subject in peers.items() if not isinstance(subject, str)}
    seconds = interleave(subjects, rounds)
    lengths = interleave({"100": ours.history(100), "10000": ours.history(10_000)}, 3 if quick else 7)

    rows = [
        at_most("create command / Hypothesis step", seconds["create"] / seconds["hypothesis"], "×", 0.3),
        beside("create command", seconds["create"] * _MICRO, "µs"),
        beside("create command in a world of its own: given, when, run", seconds["create spec"] * _MICRO, "µs"),
        beside("create command / bare arithmetic", seconds["create"] / seconds["arithmetic"], "×"),
        beside("Hypothesis state machine step", seconds["hypothesis"] * _MICRO, "µs"),
        at_most("spec / trivial pytest test", seconds["spec"] / seconds["pytest"], "×", 0.3),
        beside("spec: given, when, expect_events", seconds["spec"] * _MICRO, "µs"),
        beside("trivial pytest test", seconds["pytest"] * _MICRO, "µs"),
    ]
    for name, what, mine, limit in (
        ("eventsourcing", "save, load, command, save: eventsourcing / wowspec", "cycle", 2.5),
        ("protean", "given, process: protean.testing / wowspec", "spec", 100),
    ):
        subject = peers[name]
        if isinstance(subject, str):
            rows.append(Row(what, None, subject, f">= {limit:g}", None))
        else:
            rows.append(at_least(what, seconds[name] / seconds[mine], "× faster", limit))
            rows.append(beside(f"{name}", seconds[name] * _MICRO, "µs"))
    rows += [
        beside("save, load, command, save: wowspec", seconds["cycle"] * _MICRO, "µs"),
        beside("the same two commands as a spec", seconds["two commands"] * _MICRO, "µs"),
        at_most("cost of a given event, 10,000 / 100 events", lengths["10000"] / lengths["100"], "×", 1),
        beside("cost of a given event among 10,000", lengths["10000"] * _MICRO, "µs"),
        at_most("memory of 10,000 stored streams", ours.megabytes(10_000), "MB", 40),
        *downstream.rows(quick=quick),
        *exploration.rows(quick=quick),
        *reports.rows(quick=quick),
    ]
    return rows


def _module(name: str) -> Any:
    return import_module(f"{__package__}.{name}")


def main() -> int:
    """Print the table, write the JSON; with `--check`, 1 if a limit does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, for continuous integration")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the rows there as a JSON list")
    parser.add_argument("--check", action="store_true", help="end with 1 if a limit does not hold")
    arguments = parser.parse_args()
    rows = measure(quick=arguments.quick)
    print(f"Python {platform.python_version()}, {platform.machine()}\n\n{table(rows)}")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
    missed = [row.name for row in rows if row.holds is False]
    if missed:
        print(f"\nnot held: {'; '.join(missed)}", file=sys.stderr)
    return 1 if missed and arguments.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
