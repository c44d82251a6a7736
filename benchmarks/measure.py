"""Interleaved repetitions and their medians."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter

#: Runs one repetition and returns the seconds that one operation took.
Subject = Callable[[], float]


def timed(operation: Callable[[], object], times: int) -> float:
    """Seconds of one operation, over `times` in a row."""
    started = perf_counter()
    for _ in range(times):
        operation()
    return (perf_counter() - started) / times


def interleave(subjects: Mapping[str, Subject], rounds: int) -> dict[str, float]:
    """The median seconds of each subject; every round runs each subject once, so that a slow spell hits all alike.

    One round before the first is not counted: it pays for imports and caches.
    """
    seconds: dict[str, list[float]] = {name: [] for name in subjects}
    for number in range(rounds + 1):
        for name, subject in subjects.items():
            gc.collect()
            measured = subject()
            if number:
                seconds[name].append(measured)
    return {name: median(values) for name, values in seconds.items()}
