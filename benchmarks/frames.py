"""What the frameworks around a spec cost: one step of a Hypothesis state machine, one trivial pytest test."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

STEPS = 50
TESTS = 300


class Counter(RuleBasedStateMachine):
    """Two rules with an argument each, and an invariant: about the least that anyone writes."""

    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    @rule(amount=st.integers(1, 100))
    def deposit(self, amount: int) -> None:
        """Pay in."""
        Counter.steps += 1
        self.total += amount

    @rule(holder=st.text(max_size=8))
    def rename(self, holder: str) -> None:
        """Set the holder."""
        Counter.steps += 1
        self.holder = holder

    @invariant()
    def never_negative(self) -> None:
        """The total never falls."""
        assert self.total >= 0


def hypothesis_step(examples: int) -> Callable[[], float]:
    """Seconds of one step of the state machine above, generation alone, without a database."""
    chosen = settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )

    def measure() -> float:
        Counter.steps = 0
        started = perf_counter()
        run_state_machine_as_test(Counter, settings=chosen)
        return (perf_counter() - started) / Counter.steps

    return measure


class _RunPhase:
    """Times the run phase of a pytest session, without start-up and collection."""

    seconds = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, Any, Any]:
        started = perf_counter()
        result = yield
        self.seconds = perf_counter() - started
        return result


def pytest_test() -> float:
    """Seconds of one trivial test under pytest alone, no other plugin loaded."""
    name = "test_trivial_of_benchmark"
    phase = _RunPhase()
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / f"{name}.py"
        module.write_text("".join(f"def test_{number}():\n    assert True\n" for number in range(TESTS)))
        options = ["-q", "-c", os.devnull, "--rootdir", folder, "-p", "no:cacheprovider", "--import-mode=importlib"]
        kept = os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                code = pytest.main([*options, str(module)], plugins=[phase])
        finally:
            sys.modules.pop(name, None)
            if kept is None:
                del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
            else:
                os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = kept
    if code:
        raise RuntimeError(f"the trivial tests ended with {code!r}")
    return phase.seconds / TESTS
