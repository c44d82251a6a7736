"""Properties of orderings and machines live with databases, blobs, profiles, and several processes."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Final

import pytest

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

ROOT: Final = Path(__file__).parent.parent.parent
SHOP: Final = Path(__file__).parent / "shop.py"
#: A property that one fault breaks, one that holds, and a machine.
SUITE: Final = """
    from hypothesis import settings

    from shop import Account, Careful, Backup, Bank, Deposit, PayOnce
    from wowspec import failure_orderings, state_machine

    {before}

    {decorated}
    @failure_orderings(Account)
    def test_breaks(ordering):
        run = ordering.when(Deposit(id="a-1")).run()
        open("plans.txt", "a").write(f"{{run.succeeded}}\\n")
        assert run.succeeded

    @failure_orderings(Careful)
    @settings(max_examples=20)
    def test_holds(ordering):
        ordering.inject(bank=Bank(), backup=Backup()).when(PayOnce(id="o-1")).run()

    TestMachine = state_machine(Account, commands=[Deposit], max_steps=3).TestCase
    TestMachine.settings = settings(TestMachine.settings, max_examples=5)
"""


def suite(folder, before="", decorated=""):
    """A suite in a folder of its own."""
    shutil.copy(SHOP, folder / "shop.py")
    text = textwrap.dedent(SUITE).format(before=textwrap.dedent(before), decorated=decorated)
    (folder / "test_suite.py").write_text(text, encoding="utf-8")
    return folder


def run(folder, *arguments, seed="0"):
    """Run it in a process of its own; what it prints."""
    # Nothing that says CI: there Hypothesis keeps no examples.
    kept = ("HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TMPDIR")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "--rootdir", str(folder),
         *arguments, str(folder)],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    return finished.stdout + finished.stderr


def calls(folder):
    """How often the broken property was called since the last time."""
    path = folder / "plans.txt"
    found = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return found


def plan_in(text):
    """The plan that a failure tells of."""
    return re.search(r"plan +(\S.*)", text)[1]


def test_a_directory_keeps_the_failing_example(tmp_path):
    """The next run, with another hash seed, begins with what the last one found: keys are stable across runs."""
    folder = suite(tmp_path)
    first = run(folder, "-k", "breaks")
    keys = sorted(path.name for path in (folder / ".hypothesis" / "examples").iterdir())
    long = len(calls(folder))

    second = run(folder, "-k", "breaks", seed="7")

    assert plan_in(first) == plan_in(second) == "Deposit/request_id.check@1=fail"
    assert set(keys) <= {path.name for path in (folder / ".hypothesis" / "examples").iterdir()}
    assert long > 0


def test_a_reproducible_blob_reproduces(tmp_path):
    """`@reproduce_failure` runs the one example that it names, alone, and fails as it did."""
    folder = suite(tmp_path)
    printed = run(folder, "-k", "breaks", "-o", "addopts=", "--hypothesis-profile=ci")
    blob = re.search(r"@reproduce_failure\('[^']+', b'[^']+'\)", printed)
    assert blob is not None, printed

    again = run(suite(tmp_path, "from hypothesis import reproduce_failure", blob[0]), "-k", "breaks")

    assert plan_in(again) == plan_in(printed)


def test_a_profile_holds_for_orderings(tmp_path):
    """What a profile says, such as the number of examples, holds for them as for any test."""
    before = """
    settings.register_profile("few", max_examples=3, database=None)
    settings.load_profile("few")
    """
    printed = run(suite(tmp_path, before), "-k", "breaks or machine", "--hypothesis-show-statistics")

    assert "settings.max_examples=3" in printed or "stopped because" in printed.lower(), printed


def test_statistics_name_the_faults(tmp_path):
    """`--hypothesis-show-statistics` shows which faults struck."""
    printed = run(suite(tmp_path), "-k", "holds", "--hypothesis-show-statistics")

    assert re.search(r"\d+\.\d+%, PayOnce/\S+@1=", printed), printed


def test_two_processes_share_a_suite(tmp_path):
    """Under `-n 2` the same is found."""
    pytest.importorskip("xdist", reason="pytest-xdist runs suites in several processes; the extra `test` brings it")

    printed = run(suite(tmp_path), "-n", "2")

    assert plan_in(printed) == "Deposit/request_id.check@1=fail"
    assert "1 failed, 2 passed" in printed, printed


def test_a_plan_is_replayed_by_its_line(tmp_path):
    """The replay line of a failure runs the plan alone."""
    folder = suite(tmp_path)
    printed = run(folder, "-k", "breaks")
    calls(folder)
    line = re.search(r"replay pytest (\S+) --wowspec-plan '([^']+)'", printed)
    assert line is not None, printed

    again = run(folder, "-k", "breaks", "--wowspec-plan", line[2])

    assert line[1] == "test_suite.py::test_breaks"
    assert plan_in(again) == line[2]
    assert "1 failed" in again, again


@pytest.fixture
def redis_url(tmp_path):
    """A real Redis, started for this test."""
    pytest.importorskip("redis", reason="the Python client `redis` speaks to it; the extra `test` brings it")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("there is no redis-server on this machine")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [program, "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        for line in server.stdout:
            if "Ready to accept connections" in line:
                break
        yield f"redis://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(10)
        server.stdout.close()


def test_redis_keeps_the_failing_example(tmp_path, redis_url):
    """Two checkouts that share a Redis share what was found: the second one finds it at once."""
    conftest = f"""
    from redis import Redis
    from hypothesis import Phase, settings
    from hypothesis.extra.redis import RedisExampleDatabase

    kept = RedisExampleDatabase(Redis.from_url("{redis_url}"))
    settings.register_profile("shared", database=kept)
    settings.register_profile("kept", database=kept, phases=[Phase.reuse])
    """
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        suite(folder)
        (folder / "conftest.py").write_text(textwrap.dedent(conftest), encoding="utf-8")
    first = run(one, "-k", "breaks", "--hypothesis-profile=shared")

    second = run(other, "-k", "breaks", "--hypothesis-profile=kept")

    assert plan_in(first) == plan_in(second)
