"""`--wowspec-faults=sweep` and its like, as a user runs them: what fails, what is told, what is declared."""

from __future__ import annotations

import json
import re

import pytest

from tests.plugin.test_entry import run_pytest

DOMAIN = """
from pydantic import BaseModel
from wowspec import Context, DomainEvent, Views, aggregate_root, allow_create, on_command, on_event, projection


@allow_create
class Note(BaseModel):
    id: str = "n-1"
    text: str = "x"


class Noted(BaseModel):
    text: str


class PadState(BaseModel):
    id: str


@aggregate_root(context="desk")
class Pad:
    def __init__(self, state: PadState) -> None:
        self.state = state

    @on_command
    def note(self, command: Note) -> Noted:
        return Noted(text=command.text)


@projection(context="desk")
class Tally:
    @on_event
    def noted(self, event: DomainEvent[Noted], views: Views[int]) -> None:
        views["notes"] = views.get("notes", 0) + 1


desk = Context("desk", Pad, Tally)
"""
SOUND = """
from desk import Note, Noted, Pad
from wowspec import spec


def test_a_note():
    spec(Pad).when(Note()).expect_events(Noted(text="x"))


def test_the_same_steps():
    spec(Pad).when(Note()).expect_version(1)


def test_nothing_of_ours():
    assert True
"""
COUNTING = """
import pytest
from desk import Note, desk
from wowspec import spec


def test_a_tally():
    spec().using(desk).when(Note()).expect_view("notes", 1)
"""
PLAN = "Note>Noted>Tally/projection.write:Tally@1=ack_lost"


@pytest.fixture
def suite(tmp_path):
    """A folder with the domain, and a way to add a test module."""
    (tmp_path / "desk.py").write_text(DOMAIN)

    def write(name: str, text: str):
        (tmp_path / name).write_text(text)
        return tmp_path

    return write


def test_a_sound_suite_passes_and_is_told_of(suite):
    """Counts by outcome, what the runtime is known for, the matrix, the coverage."""
    finished = run_pytest(suite("test_sound.py", SOUND), "--wowspec-faults=sweep")

    assert finished.returncode == 0, finished.stdout + finished.stderr
    out = finished.stdout
    assert "wowspec: failure orderings" in out
    assert re.search(r"1 spec \(1 more with the same steps\), \d+ plans: ", out)
    assert "known to the runtime, due to nobody's domain: " in out
    assert "publication completeness (never heals)" in out
    assert "which recovery would heal those that never do: --wowspec-strict tells" in out
    assert re.search(r"event_store\.append +1f +1r +1f +1k +1k +1r +1", out)
    assert re.search(r"fault coverage: \d+ % of the possible cells", out)


def test_without_the_option_nothing_is_swept(suite):
    """Nothing is told, and nothing of exploration is loaded."""
    finished = run_pytest(suite("test_counting.py", COUNTING))

    assert finished.returncode == 0
    assert "wowspec" not in finished.stdout


def test_a_finding_fails_its_test(suite):
    """At the test, with the whole report."""
    finished = run_pytest(suite("test_counting.py", COUNTING), "--wowspec-faults=sweep")

    assert finished.returncode == 1
    out = finished.stdout
    assert ">   def test_a_tally():" in out
    assert "SpecFailure: wowspec: 1 fault breaks test_a_tally  (violates: convergence)" in out
    assert f"replay pytest test_counting.py::test_a_tally --wowspec-plan '{PLAN}'" in out
    assert "pluggy" not in out


@pytest.mark.long
def test_the_replay_line_names_a_profile_of_the_command_line(suite):
    """Without it the plan would be one that cannot happen; the test to paste names it, too."""
    folder = suite("test_counting.py", COUNTING)
    where = ["--wowspec-profile=kafka", "--wowspec-kinds=duplicate"]
    out = run_pytest(folder, "--wowspec-faults=sweep", *where).stdout
    plan = "Note/domain_event_bus.send@1=duplicate"
    assert f"replay pytest test_counting.py::test_a_tally --wowspec-plan '{plan}' --wowspec-profile=kafka\n" in out
    assert '.with_profile("kafka")' in out.replace("'", '"')

    again = run_pytest(folder, "--wowspec-plan", plan, "--wowspec-profile=kafka")
    assert f"plan   {plan}" in again.stdout
    refused = run_pytest(folder, "--wowspec-plan", plan)
    assert "duplicates() cannot happen at domain_event_bus.send under the profile 'in_memory'" in refused.stdout
    assert ">   def test_a_tally():" in refused.stdout


@pytest.mark.long
def test_a_profile_of_ones_own(suite):
    """What it is like decides what is explored; the summary counts what was struck."""
    ours = COUNTING.replace("using(desk)", "using(desk).with_profile(profile('ours', like='kafka'))")
    finished = run_pytest(
        suite("test_counting.py", ours.replace("import spec", "import profile, spec")), "--wowspec-faults=sweep"
    )
    assert finished.returncode == 1
    assert "domain_event_bus.send@1=duplicate" in finished.stdout
    assert "the profile 'ours' of this suite" in finished.stdout
    assert "fault coverage: " in finished.stdout
    assert "Traceback" not in finished.stderr


@pytest.mark.long
def test_specs_that_differ_in_their_profile_share_no_result(suite):
    """Two ways of steps, though all else is the same."""
    text = SOUND.replace("import spec", "import profile, spec").replace(
        "spec(Pad).when(Note()).expect_version(1)",
        "spec(Pad).with_profile(profile(snapshot_offset=2)).when(Note()).expect_version(1)",
    )
    finished = run_pytest(suite("test_sound.py", text), "--wowspec-faults=sweep")
    assert "2 specs, " in finished.stdout


@pytest.mark.parametrize("seed", ["0", pytest.param("77", marks=pytest.mark.long)])
def test_the_replay_line_reproduces_the_finding(suite, monkeypatch, seed):
    """Under another hash seed, too; and on several processes."""
    monkeypatch.setenv("PYTHONHASHSEED", seed)
    folder = suite("test_counting.py", COUNTING)
    for more in ([], ["-n", "2"])[: 1 if seed == "0" else 2]:
        finished = run_pytest(folder, "test_counting.py::test_a_tally", "--wowspec-plan", PLAN, *more)
        assert finished.returncode == 1, finished.stdout
        assert f"plan   {PLAN}" in finished.stdout


def test_a_plan_that_is_not_reached_fails(suite):
    """With those visits that may have been meant."""
    finished = run_pytest(suite("test_counting.py", COUNTING), "--wowspec-plan", "Notes/event_store.append@1=fail")

    assert finished.returncode == 1
    assert "PlanNotReached: the plan was not reached whole" in finished.stdout
    assert "near it: Note/event_store.append@1" in finished.stdout
    assert ">   def test_a_tally():" in finished.stdout
    assert "pluggy" not in finished.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--wowspec-plan", "Note/event_store.append@1"], "it says no kind"),
        (["--wowspec-faults=sweep", "--wowspec-shard=3/2"], "--wowspec-shard=3/2"),
        (["--wowspec-faults=sweep", "--wowspec-kinds=fails"], "kinds=['fails']"),
        (["--wowspec-faults=sweep", "--wowspec-profile=kafak"], "unknown profile 'kafak'"),
        (["--wowspec-faults=sweep", "--wowspec-fault-cov-fail-under=nan"], "it is a percentage"),
        (["--wowspec-faults=sweep", "--wowspec-max-seconds=nan"], "max_seconds=nan"),
        (["--wowspec-faults=sweep", "--wowspec-baseline=none.txt"], "none.txt\n  why: it holds"),
        (["--wowspec-faults=sweep", "--wowspec-fault-json=none/f.json"], "there is no folder "),
        (["--wowspec-faults=sweeps"], "invalid choice"),
    ],
)
def test_bad_options_end_the_session(suite, arguments, text):
    """With what to write instead, and no traceback."""
    finished = run_pytest(suite("test_sound.py", SOUND), *arguments)

    assert finished.returncode == 4
    assert text in finished.stderr
    assert "Traceback" not in finished.stderr


@pytest.mark.long
def test_a_baseline_declares_findings_and_tells_those_that_are_gone(suite):
    """Written once; then the suite passes, shows the replay line, and fails when the finding vanishes."""
    folder = suite("test_counting.py", COUNTING)
    written = run_pytest(folder, "--wowspec-faults=sweep", "--wowspec-write-baseline=known.txt")
    assert written.returncode == 0, written.stdout
    assert f"test_counting.py::test_a_tally | {PLAN} → convergence" in (folder / "known.txt").read_text()

    passed = run_pytest(folder, "--wowspec-faults=sweep", "--wowspec-baseline=known.txt")
    assert passed.returncode == 0, passed.stdout
    assert "1 declared finding (their tests fail when they are gone):" in passed.stdout
    assert f"pytest test_counting.py::test_a_tally --wowspec-plan '{PLAN}'" in passed.stdout

    for narrowed in ("--wowspec-kinds=fail", "--wowspec-points=event_store"):
        fewer = run_pytest(folder, "--wowspec-faults=sweep", "--wowspec-baseline=known.txt", narrowed)
        assert fewer.returncode == 0, fewer.stdout

    (folder / "desk.py").write_text(DOMAIN.replace('views.get("notes", 0) + 1', "1"))
    gone = run_pytest(folder, "--wowspec-faults=sweep", "--wowspec-baseline=known.txt")
    assert gone.returncode == 1
    assert f"a declared finding no longer appears: {PLAN} → convergence" in gone.stdout


def test_a_baseline_of_the_ini_file(suite):
    """`wowspec_baseline` names it for every run."""
    folder = suite("test_counting.py", COUNTING)
    (folder / "known.txt").write_text(f"# known\n\ntest_counting.py::test_a_tally | {PLAN} → convergence\n")
    (folder / "pytest.ini").write_text("[pytest]\nwowspec_baseline = known.txt\n")
    assert run_pytest(folder, "--wowspec-faults=sweep").returncode == 0

    (folder / "known.txt").write_text(f"test_counting.py::test_gone | {PLAN} → convergence\n")
    gone = run_pytest(folder)
    assert gone.returncode == 1
    assert "known.txt names 1 test that the suite no longer has:\n  test_counting.py::test_gone\n" in gone.stdout

    (folder / "known.txt").write_text(f"{PLAN} → convergence\n")
    assert "line 1 of known.txt says no test" in run_pytest(folder).stderr


PROJECTION = """
from desk import Note, Noted, Pad, Tally, desk
from wowspec import given, on, spec


def test_a_tally_alone():
    given(Tally, on(Pad, "n-1", Noted(text="x"))).expect_view("notes", 1)


def test_a_refused_note():
    spec(Pad).using(Tally).when(Note()).expect_view("notes", 1).when(Note(id="n-2")).expect_view("notes", 2)
"""


@pytest.mark.long
def test_the_pinned_test_reproduces_the_finding(suite):
    """Pasted as it stands into a file of its own: of a projection alone, of several commands."""
    folder = suite("test_two.py", PROJECTION)
    run_pytest(folder, "--wowspec-faults=sweep", "--wowspec-fault-json=faults.json", "--wowspec-kinds=ack_lost")
    results = json.loads((folder / "faults.json").read_text())["results"]
    pins = [finding for result in results for finding in result["findings"] if finding["paste"]]
    assert len(pins) == 3
    for number, finding in enumerate(pins):
        (folder / f"test_pin_{number}.py").write_text(f"{finding['paste']}\n")
        finished = run_pytest(folder, f"test_pin_{number}.py")
        assert f"plan   {finding['plan']}" in finished.stdout, finished.stdout
        assert "(violates: convergence)" in finished.stdout


@pytest.mark.long
def test_strict_fails_for_what_the_runtime_is_known_for(suite):
    """The same suite that passes otherwise."""
    finished = run_pytest(suite("test_sound.py", SOUND), "--wowspec-faults=sweep", "--wowspec-strict")

    assert finished.returncode == 1
    assert "(violates: no lying failure" in finished.stdout
    assert "class  never heals (client retry would heal it)" in finished.stdout
    assert "no lying failure (client retry would heal it): command_bus.send=ack_lost" in finished.stdout


def test_a_finding_of_explore_faults_is_shown_at_the_test(suite):
    """Of a function and of a method; nothing of pytest's inside is shown."""
    text = """
from desk import Note, desk
from wowspec import explore_faults


@explore_faults
def test_explored(spec):
    spec.using(desk).when(Note()).expect_view("notes", 1)


class TestPad:
    @explore_faults.example("Notes/event_store.append=fail")
    def test_stale(self, spec):
        spec.using(desk).when(Note()).expect_view("notes", 1)
"""
    finished = run_pytest(suite("test_explored.py", text))
    assert finished.returncode == 1
    assert ">   @explore_faults\n" in finished.stdout
    assert f"plan   {PLAN}" in finished.stdout
    assert '>   @explore_faults.example("Notes/event_store.append=fail")\n' in finished.stdout
    assert "pluggy" not in finished.stdout


def test_a_marked_test_is_left_out(suite):
    """`wowspec_no_sweep`."""
    marked = COUNTING.replace("def test_a_tally", "@pytest.mark.wowspec_no_sweep\ndef test_a_tally")
    finished = run_pytest(suite("test_counting.py", marked), "--wowspec-faults=sweep")

    assert finished.returncode == 0
    assert "failure orderings" not in finished.stdout


@pytest.mark.long
def test_what_is_not_swept_is_listed_with_the_reason(suite):
    """A gateway's test, a Hypothesis test, a service that cannot be copied."""
    text = """
import hypothesis
from hypothesis import strategies as st
from desk import Note, Pad
from wowspec import failure_orderings, spec, state_machine


@hypothesis.settings(max_examples=2, database=None)
@failure_orderings(Pad, max_faults=1)
def test_ordering(ordering):
    ordering.when(Note()).run()


TestPad = state_machine(spec(Pad), commands=[Note], max_steps=2).TestCase
TestPad.settings = hypothesis.settings(TestPad.settings, max_examples=2, database=None)


def test_by_hand(gateway):
    gateway.world.using(Pad)
    gateway.send_and_wait(Note())


@hypothesis.settings(max_examples=2, database=None)
@hypothesis.given(st.text(max_size=3))
def test_drawn(text):
    spec(Pad).when(Note(text=text)).expect_version(1)


def test_stuck():
    spec(Pad).inject(lock=(n for n in ())).when(Note()).expect_version(1)
"""
    finished = run_pytest(suite("test_others.py", text), "--wowspec-faults=sweep")

    assert finished.returncode == 0, finished.stdout
    out = finished.stdout
    assert "not swept:" in out
    assert "test_others.py::test_by_hand: it drives the gateway by hand" in out
    assert "test_others.py::test_drawn: Hypothesis draws its specs" in out
    assert "test_others.py::test_ordering: @failure_orderings draws its plans itself" in out
    assert "test_others.py::TestPad::runTest: a state machine draws its steps" in out
    assert "test_others.py::test_stuck: the service lock=generator cannot be copied" in out
    assert ".inject_factory(lock=generator)" in out


def test_a_handler_that_takes_chance_from_elsewhere_is_found(suite):
    """The first rerun is without faults, and comes to something else."""
    domain = DOMAIN.replace("return Noted(text=command.text)", "return Noted(text=str(__import__('uuid').uuid4()))")
    folder = suite("test_sound.py", SOUND.replace('expect_events(Noted(text="x"))', "expect_version(1)"))
    (folder / "desk.py").write_text(domain)
    finished = run_pytest(folder, "--wowspec-faults=sweep")

    assert finished.returncode == 1
    assert "comes to something else when it is run again without any fault" in finished.stdout
    assert "uuid4()" in finished.stdout


@pytest.mark.long
def test_determinism_alone_can_be_checked(suite):
    """`--wowspec-check-determinism` runs every spec again, and no plan."""
    finished = run_pytest(suite("test_counting.py", COUNTING), "--wowspec-check-determinism")
    assert finished.returncode == 0, finished.stdout
    assert "1 spec, no plans, run again without faults: the same traces" in finished.stdout

    (suite("test_counting.py", COUNTING) / "desk.py").write_text(
        DOMAIN.replace("return Noted(text=command.text)", "return Noted(text=str(__import__('uuid').uuid4()))")
    )
    found = run_pytest(suite("test_counting.py", COUNTING), "--wowspec-check-determinism")
    assert found.returncode == 1
    assert "comes to something else" in found.stdout


def test_results_as_json(suite):
    """A file with a version, and an entry for each spec."""
    folder = suite("test_counting.py", COUNTING)
    run_pytest(folder, "--wowspec-faults=sweep", "--wowspec-fault-json=faults.json")
    document = json.loads((folder / "faults.json").read_text())

    assert document["schema"] == 1
    (result,) = document["results"]
    assert result["test"] == "test_counting.py::test_a_tally"
    assert result["plans"] == sum(result["outcomes"].values())
    (finding,) = [one for one in result["findings"] if not all(item["known"] for item in one["broken"])]
    assert finding["plan"] == PLAN
    assert [item["law"] for item in finding["broken"]] == ["convergence"]


@pytest.mark.long
def test_too_little_coverage_fails(suite):
    """`--wowspec-fault-cov-fail-under`: an exit status that is not 0, though every test passed."""
    folder = suite("test_sound.py", SOUND)
    few = ["--wowspec-faults=sweep", "--wowspec-points=event_store"]
    assert run_pytest(folder, *few, "--wowspec-fault-cov-fail-under=5").returncode == 0
    low = run_pytest(folder, *few, "--wowspec-fault-cov-fail-under=60")
    assert low.returncode == 1
    section = low.stdout.partition("wowspec: failure orderings")[2]
    assert re.search(r"fault coverage \d+ % is below --wowspec-fault-cov-fail-under=60", section)


@pytest.mark.long
def test_bounds_are_told(suite):
    """What `--wowspec-max-runs` left out, for each spec."""
    finished = run_pytest(suite("test_sound.py", SOUND), "--wowspec-faults=sweep", "--wowspec-max-runs=3")

    assert "left out by bounds:" in finished.stdout
    assert re.search(r"test_sound\.py::test_a_note: \d+ plans, by max_runs=3", finished.stdout)


@pytest.mark.long
def test_another_profile_and_more_depth(suite):
    """Kinds that only a bus with redelivery has; pairs."""
    folder = suite("test_sound.py", SOUND)
    finished = run_pytest(folder, "--wowspec-faults=sweep", "--wowspec-profile=kafka")
    assert finished.returncode == 0, finished.stdout
    assert "crash<" in finished.stdout
    pairs = run_pytest(folder, "--wowspec-faults=sweep", "--wowspec-depth=2", "--wowspec-kinds=timeout")
    assert pairs.returncode == 0, pairs.stdout
