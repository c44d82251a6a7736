"""Plans that are run in other processes: to the same results, in the same order, and none is lost with a worker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from tests.exploration.spread import swept, write_suite
from tests.plugin.test_entry import run_pytest
from wowspec import SpecError
from wowspec.exploration.executors import shop_of

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

FACTORY = """
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path


def make():
    Path("made").write_text("made")
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


def threads():
    return ThreadPoolExecutor(1)


def none():
    raise OSError("the farm is closed")
"""
TALLY = "test_desk.py::test_a_tally"
DEEP = ("--wowspec-depth=2", "--wowspec-max-runs=120", "--wowspec-kinds=timeout", "--wowspec-kinds=ack_lost")
_ONCE = """import os, pathlib, time
    marker = pathlib.Path({marker!r})
    if seen and not marker.exists():
        marker.write_text(str(os.getpid()))"""
AT_HOME = """
import os

from desk import Note, Pad
from wowspec import spec

home = os.environ.setdefault("HOME_PID", str(os.getpid()))


def test_at_home():
    assert home == str(os.getpid())
    spec(Pad).when(Note()).expect_version(1)
"""
CLUSTER = """
import os, sys
from distributed import Client, LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            pids = client.run(os.getpid)
            print(cluster.scheduler_address, *pids.values(), flush=True)
            sys.stdin.read()
"""

_KILL = f"""
import os, pathlib, sys, time
marker = pathlib.Path(sys.argv[1])
while not marker.exists() or not marker.read_text():
    time.sleep(0.05)
os.kill(int(marker.read_text()), {int(signal.SIGKILL)})
"""


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    """The results of the serial run, by the options that it had: `serial` says what is so anyway."""
    folder = write_suite(tmp_path_factory.mktemp("serial"))
    return {(): swept(folder)[1], DEEP: swept(folder, "--wowspec-executor=serial", *DEEP)[1]}


def of_tally(found: bytes) -> list[dict[str, Any]]:
    """The results of the one test that is enough where workers die."""
    return [result for result in json.loads(found)["results"] if result["test"] == TALLY]


def test_the_suite_has_what_it_takes(serial):
    """The serial run explores each way of asking, finds something, and is cut off at depth 2."""
    results = json.loads(serial[()])["results"]

    assert sum(bool(result["plans"]) for result in results) >= 6
    assert any(result["findings"] for result in results)
    assert any(result["left"] for result in json.loads(serial[DEEP])["results"])


def test_a_pool_of_processes_comes_to_the_same(tmp_path, serial):
    """Byte for byte, whatever process ran which plan; fixtures and patches are those of the test."""
    finished, found = swept(write_suite(tmp_path), "--wowspec-executor=processes:2", *DEEP)

    assert found == serial[DEEP]
    assert "in other processes:" not in finished.stdout
    assert finished.returncode == 1


def test_tests_that_are_spread_have_pools_of_their_own(tmp_path):
    """`-n`, a shard and an executor go together."""
    pytest.importorskip("xdist", reason="tests are spread over processes by pytest-xdist")
    folder = write_suite(tmp_path)
    part = ("--wowspec-shard=2/3", TALLY, "test_desk.py::test_branches")

    _, found = swept(folder, *part, "-n", "2", "--wowspec-executor=processes:1")

    assert found == swept(folder, *part)[1]
    assert found


def test_a_factory_of_ones_own(tmp_path, serial):
    """Whatever makes a `concurrent.futures.Executor` of other processes will do."""
    folder = write_suite(tmp_path)
    (folder / "farm.py").write_text(FACTORY)

    finished, found = swept(folder, "--wowspec-executor=farm:make")

    assert found == serial[()]
    assert (folder / "made").exists()
    assert "in other processes:" not in finished.stdout


@pytest.mark.parametrize(
    ("factory", "told"),
    [
        ("threads", "the executor works in the process that asks"),
        ("none", "nobody works: OSError: the farm is closed"),
    ],
)
def test_executors_that_do_no_work_elsewhere(tmp_path, serial, factory, told):
    """Then this process does it all, to the same results, and the summary says why."""
    folder = write_suite(tmp_path)
    (folder / "farm.py").write_text(FACTORY)

    finished, found = swept(folder, f"--wowspec-executor=farm:{factory}")

    assert found == serial[()]
    assert told in finished.stdout


def test_a_worker_that_dies_loses_no_plan(tmp_path, serial):
    """What it had to do is done again, by another one; the results are those of the serial run."""
    marker = tmp_path / "died"
    ends = f"{_ONCE.format(marker=str(marker))}\n        os._exit(3)"

    finished, found = swept(write_suite(tmp_path, ends), "--wowspec-executor=processes:2")

    assert marker.exists()
    assert found == serial[()]
    assert "a worker was lost (BrokenProcessPool); what it did is done again" in finished.stdout


def test_a_plan_that_ends_each_process_is_reported(tmp_path):
    """It fails its test by name; every other plan comes to what it comes to without it."""
    ends = "import os; seen and os._exit(3)"

    few = (TALLY, "--wowspec-kinds=ack_lost")
    usual = json.loads(swept(write_suite(tmp_path), *few)[1])["results"]

    finished, found = swept(write_suite(tmp_path, ends), "--wowspec-executor=processes:2", *few)

    assert finished.returncode == 1
    results = json.loads(found)["results"]
    killers = {plan for result in results for plan in result["killed"]}
    assert "Note>Noted>Tally/projection.write:Tally@1=ack_lost" in killers
    assert [r["plans"] + len(r["killed"]) for r in results] == [r["plans"] for r in usual]
    assert "a plan ends the process in which it is run: Note>Noted>Tally/projection.write:Tally@1=ack_lost" in (
        finished.stdout
    )
    assert "a process ended each time that it did" in finished.stdout
    for result, other in zip(results, usual, strict=True):
        plans = [finding for finding in other["findings"] if finding["plan"] not in result["killed"]]
        assert result["findings"] == plans


def test_a_test_that_fails_elsewhere_is_explored_here(tmp_path):
    """A suite whose test knows the process that it runs in; the summary says so."""
    folder = write_suite(tmp_path)
    (folder / "test_desk.py").write_text(AT_HOME)

    finished, found = swept(folder, "--wowspec-executor=processes:1")

    assert "test_desk.py::test_at_home is explored in its own process: in another one, it failed there" in (
        finished.stdout
    )
    assert json.loads(found)["results"][0]["plans"] > 20


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("process", "there is no such executor"),
        ("processes:0", "it says how many processes there are"),
        ("processes:x", "it says how many processes there are"),
        ("dask:", "it says no address of a scheduler"),
        ("nowhere_at_all:make", "it cannot be imported"),
        ("wowspec:no_such_name", "it cannot be imported"),
    ],
)
def test_what_names_no_executor_is_refused(said, why):
    """With what may have been meant."""
    with pytest.raises(SpecError, match=why) as caught:
        shop_of(said)

    assert "processes:4" in str(caught.value)


def test_refused_on_the_command_line(tmp_path):
    """As a usage error, before any test runs."""
    finished = run_pytest(write_suite(tmp_path), "--wowspec-executor=process")

    assert finished.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--wowspec-executor=process" in finished.stderr


@pytest.fixture
def cluster(tmp_path):
    """A Dask cluster of two worker processes on this machine: its address, and their ids."""
    pytest.importorskip("distributed", reason="Dask comes with the extra wowspec[dask]")
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}  # noqa: PTH109
    process = subprocess.Popen(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address, *pids = process.stdout.readline().split()
    yield address, list(map(int, pids))
    process.communicate(timeout=60)


def test_a_dask_cluster_comes_to_the_same(tmp_path, serial, cluster):
    """Byte for byte, by two worker processes that know nothing of the suite but what they are told."""
    address, _ = cluster

    finished, found = swept(write_suite(tmp_path), f"--wowspec-executor=dask:{address}", *DEEP)

    assert found == serial[DEEP]
    assert "in other processes:" not in finished.stdout


def test_a_dask_worker_that_is_killed_loses_no_plan(tmp_path, serial, cluster):
    """The cluster, or another try, does again what it had to do."""
    address, pids = cluster
    marker = tmp_path / "begun"
    ends = f"{_ONCE.format(marker=str(marker))}\n        time.sleep(60)"
    folder = write_suite(tmp_path, ends)
    killer = subprocess.Popen([sys.executable, "-c", _KILL, str(marker)])

    _, found = swept(folder, f"--wowspec-executor=dask:{address}", TALLY)

    killer.wait(timeout=30)
    assert int(marker.read_text()) in pids
    assert json.loads(found)["results"] == of_tally(serial[()])
