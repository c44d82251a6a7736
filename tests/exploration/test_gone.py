"""Lines of a baseline whose tests are no more are told, and fail the session; what was merely narrowed away is not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from wowspec.exploration.gone import GoneTests

TESTS = ["test_a.py::test_one", "test_a.py::test_gone", "test_deleted.py::test_one", "test_b.py::test_other"]


def session_of(tmp_path: Any, *arguments: str, **more: Any) -> tuple[GoneTests, Any]:
    """A session that collects `test_a.py`; `test_b.py` is there, and is not collected."""
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text("")
    config: Any = SimpleNamespace(
        rootpath=tmp_path,
        args=list(arguments),
        invocation_params=SimpleNamespace(dir=tmp_path),
        getoption=lambda name, default=None: more.get(name, default),
        **{name: value for name, value in more.items() if name.startswith("worker")},
    )
    tests = GoneTests(config, TESTS, "known.txt")
    tests.pytest_collectreport(SimpleNamespace(passed=True, nodeid="test_a.py"))  # type: ignore[arg-type]
    tests.pytest_collectreport(SimpleNamespace(passed=False, nodeid="test_b.py"))  # type: ignore[arg-type]
    tests.pytest_itemcollected(SimpleNamespace(nodeid="test_a.py::test_one"))  # type: ignore[arg-type]
    return tests, SimpleNamespace(exitstatus=pytest.ExitCode.OK)


def told_by(tests: GoneTests) -> list[str]:
    """The lines below a session's tests."""
    lines: list[str] = []
    tests.pytest_terminal_summary(SimpleNamespace(line=lambda text, red: lines.append(text)))
    return lines


@pytest.mark.parametrize(
    ("arguments", "more", "gone"),
    [
        ((), {}, TESTS[1:3]),
        (("test_a.py",), {}, TESTS[1:3]),
        (("test_a.py::test_one",), {}, TESTS[2:3]),
        (("./test_a.py::test_one",), {}, TESTS[2:3]),
        ((), {"lf": True}, TESTS[2:3]),
    ],
)
def test_what_is_gone(tmp_path, arguments, more, gone):
    """A file that is no more, and what a whole file no longer has; a file that could not be collected may have it."""
    tests, session = session_of(tmp_path, *arguments, **more)

    tests.pytest_sessionfinish(session)

    assert tests.gone() == gone
    assert session.exitstatus == pytest.ExitCode.TESTS_FAILED
    assert [line.strip() for line in told_by(tests)][1:-2] == gone


def test_nothing_is_gone(tmp_path):
    """Then nothing is told, and nothing fails."""
    tests, session = session_of(tmp_path)
    tests._tests = TESTS[:1]

    tests.pytest_sessionfinish(session)

    assert session.exitstatus == pytest.ExitCode.OK
    assert told_by(tests) == []


def test_a_process_of_another_session_hands_over_what_it_missed(tmp_path):
    """Those of pytest-xdist collect; the session that started them collects nothing, and tells."""
    output: dict[str, Any] = {}
    worker, session = session_of(tmp_path, workerinput={}, workeroutput=output)
    worker.pytest_sessionfinish(session)
    assert session.exitstatus == pytest.ExitCode.OK

    teller, _ = session_of(tmp_path)
    teller._files.clear()
    assert teller.gone() == []
    teller.pytest_testnodedown(SimpleNamespace(workeroutput=output))
    teller.pytest_testnodedown(SimpleNamespace())

    assert teller.gone() == TESTS[1:3]
    assert "known.txt names 2 tests that the suite no longer has:" in told_by(teller)
