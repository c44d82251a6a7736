"""Strength of specs: what counts, what is left out, and what the options tell, in one process and in several."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tests.exploration.parcels import REGISTERED, Halt, Parcel, Register, Registered, Send, Sent, Weighed
from tests.exploration.suites import HEAD
from tests.plugin.test_entry import run_pytest
from wowspec import (
    Spec,
    SpecError,
    aggregate_root,
    allow_create,
    faults,
    given,
    on,
    on_command,
    on_event,
    spec,
    stateless_saga,
)
from wowspec.exploration.perturbations import Change, Deed, Perturbation, Target
from wowspec.exploration.perturbing import Perturbing
from wowspec.exploration.strength import expectations_of, run_again, strength_of
from wowspec.exploration.strength_report import document, strength_lines, totals
from wowspec.specs import injecting

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

WEAK = """
def test_weak():
    given().when(Register(id="p-1", grams=500)).expect_event(Registered)
"""
STRONG = """
def test_strong():
    (
        given()
        .when(Register(id="p-1", grams=500))
        .expect_events(Registered(grams=500, label="to p-1"))
        .expect_state(grams=500)
    )
"""


@pytest.fixture
def suite(tmp_path):
    """Writes a suite, runs it, and gives what pytest printed and its exit status."""

    def run(*arguments: str, **files: str) -> tuple[str, int]:
        for name, text in files.items():
            (tmp_path / f"test_{name}.py").write_text(HEAD + textwrap.dedent(text))
        finished = run_pytest(tmp_path, *arguments)
        return finished.stdout, finished.returncode

    return run


@allow_create
class Turn(BaseModel):
    id: str
    times: int


class Turned(BaseModel):
    times: int


class RingState(BaseModel):
    id: str


@aggregate_root(context="fair")
class Ring:
    def __init__(self, state: RingState) -> None:
        self.state = state

    @on_command
    def turn(self, command: Turn) -> Turned:
        return Turned(times=command.times)


@stateless_saga(context="fair")
class RingSaga:
    @on_event
    def on_turned(self, event: Turned) -> Turn | None:
        """Once turned, it never stops."""
        return Turn(id="r-1", times=event.times + 1) if event.times else None


def strength(made: Spec[Any]) -> Any:
    return strength_of(made._node.path())


# --- one spec ---------------------------------------------------------------------------------------------------------


def test_a_fault_that_strikes_no_more_is_noticed():
    """The suite would show that the spec's fault never struck."""
    made = (
        given(on(Parcel, "p-1", REGISTERED))
        .with_faults(faults.event_store.append.fails())
        .when(Send(id="p-1"))
        .expect_any_outcome()
    )

    found = {each.name: each for each in strength(made).tried}

    # Without its events nothing is appended.
    assert found["Parcel.send → Sent dropped"].noticed == ()
    made = given(on(Parcel, "p-1", REGISTERED, Sent(by="van"))).with_faults(faults.event_store.append.fails())
    found = {each.name: each for each in strength(made.when(Halt(id="p-1")).expect_any_outcome()).tried}
    assert found["Parcel.halt → Halted dropped"].noticed == ("a fault of the spec does not strike any more",)


def test_an_error_of_a_later_step_s_function_is_noticed():
    """A command that cannot be made of the run before it would fail the test."""
    made = (
        given()
        .when(Register(id="p-1", grams=500))
        .expect_succeeded()
        .when(lambda run: Send(id=run.stored[0].label.removeprefix("to ")))
        .expect_succeeded()
    )

    found = {each.name: each for each in strength(made).tried}

    assert found["Parcel.register → Registered dropped"].noticed[0].startswith("IndexError: there is no [0]")


def test_an_undecided_error_is_noticed():
    """An altered event may lead to an error that nobody expects."""
    made = given(on(Parcel, "p-1", REGISTERED)).when(Halt(id="p-1")).expect_error(code="NotSent")
    path = made.when(Send(id="p-1")).expect_event_count(2)._node.path()

    strength = strength_of(path)
    assert strength.left_out == ""
    found = {each.name: each for each in strength.tried}

    assert any("it was halted" in text or "IllegalState" in text for text in found[
        "Parcel.halt → DomainError[NotSent] passed over, Halted follows"
    ].noticed)  # fmt: skip


def test_commands_in_flight_are_left_out():
    """Each perturbation would be run in all their orders."""
    made = given(on(Parcel, "p-1", REGISTERED)).when_concurrently(Send(id="p-1"), Send(id="p-1")).expect_version(3)

    found = strength_of(made._node.path())

    assert (found.tried, found.left_out) == (
        [],
        "when_concurrently(...) is run in all its orders, which are not perturbed",
    )


def test_a_spec_that_does_not_hold_a_second_time_is_left_out():
    """What decides outside of its world says nothing of the system."""
    count = [500]

    def grown(run):
        count[0] += 1
        return Register(id="p-2", grams=count[0])

    made = given().when(Register(id="p-1", grams=1)).expect_succeeded().when(grown).expect_event(Registered, grams=501)

    assert strength_of(made._node.path()).left_out.startswith("it does not hold a second time: ")


def test_services_that_were_used_leave_a_spec_out(monkeypatch):
    """They cannot be given again unless copies were kept."""
    monkeypatch.setattr(injecting, "_wanted", 0)
    made = spec().inject(box=[]).when(Register(id="p-1", grams=1)).expect_succeeded()

    assert strength_of(made._node.path()).left_out.startswith("it does not run a second time: a spec with inject(...)")


def test_a_world_that_never_rests_is_noticed():
    """A run has a bounded number of calls."""
    made = given(on(Parcel, "p-1", REGISTERED)).when(Send(id="p-1")).expect_event_count(2)
    deed = Deed(Target.EVENT, "Send", "Parcel.send", 0, Sent(by="van"))

    outcome = run_again(made._node.path(), Perturbing(Perturbation(deed, "dropped", Change("", "dropped")), 0))

    assert outcome.error == "the world never comes to rest"


def test_each_branch_is_a_way_of_its_own():
    """What is expected in another branch is not asked."""
    base = given(on(Parcel, "p-1", REGISTERED))
    weak = base.fork("weak", lambda branch: branch.when(Send(id="p-1")).expect_event(Sent))
    strong = base.when(Send(id="p-1")).expect_events(Sent(by="van"), Weighed(by="scales"))

    assert weak is not strong
    assert all(each.noticed for each in strength(strong).tried if each.kind.startswith("event"))


def test_known_perturbations_are_not_tried_again():
    """One spec of the suite that notices is enough."""
    made = registered = given().when(Register(id="p-1", grams=500)).expect_events(REGISTERED)

    again = strength_of(registered._node.path(), {each.name for each in strength(made).tried if each.noticed})

    assert [each.name for each in again.tried] == ["ParcelState.registered: Registered not sourced"]


def test_an_author_s_error_in_a_perturbed_run_is_noticed():
    """The suite would show it."""

    def strict(run):
        if not run.stored:
            raise SpecError("nothing was stored")
        return Send(id="p-1")

    made = given().when(Register(id="p-1", grams=1)).expect_succeeded().when(strict).expect_succeeded()

    found = {each.name: each for each in strength(made).tried}

    assert found["Parcel.register → Registered dropped"].noticed == ("nothing was stored",)


def test_what_is_said_under_faults_or_of_the_pipeline_is_no_expectation_of_the_system():
    """It could fail by no perturbation, and is not to blame for it."""
    made = (
        given(on(Parcel, "p-1", REGISTERED))
        .when(Send(id="p-1"))
        .expect_event_count(2)
        .expect_attempts(1)
        .with_faults(faults.event_store.append.fails())
        .when(Halt(id="p-1"))
        .expect_any_outcome()
        .expect_not_stored()
    )

    assert [verb for _, verb in expectations_of(made._node.path()).values()] == ["expect_event_count"]


# --- a suite ----------------------------------------------------------------------------------------------------------


def test_one_spec_that_notices_is_enough(suite):
    """The weak one alone is told what would notice; beside the strong one nothing is left."""
    alone, status = suite("--wowspec-strength", weak=WEAK)
    assert status == 0
    assert "Parcel.register → Registered.grams altered (500 → 501)" in alone
    assert "reached by test_weak.py::test_weak (test_weak.py:7)" in alone
    assert "noticed by: .expect_event(Registered, grams=500)" in alone
    assert "strength of specs: 17 % (2 of 12 perturbations were noticed)" in alone

    both, status = suite("--wowspec-strength", weak=WEAK, strong=STRONG)

    assert status == 0
    assert "strength of specs: 100 % (12 of 12 perturbations were noticed)" in both
    assert "no spec notices" not in both


def test_a_least_strength_can_be_demanded(suite):
    """The exit status says whether it was reached."""
    output, status = suite("--wowspec-strength-fail-under=50", weak=WEAK)
    assert status == 1
    assert "below --wowspec-strength-fail-under=50" in output

    assert suite("--wowspec-strength-fail-under=100", weak=WEAK, strong=STRONG)[1] == 0


def test_nothing_perturbed_is_no_strength(suite):
    """A gate that measured nothing must not open."""
    output, status = suite("--wowspec-strength-fail-under=1", other="def test_it():\n    pass\n")

    assert status == 1
    assert "no spec did anything that could be perturbed" in output


def test_without_an_option_nothing_is_loaded_or_run(suite):
    """Whoever does not ask pays nothing."""
    output, status = suite(
        weak=WEAK + "\ndef test_it():\n    import sys\n    assert 'wowspec.exploration.strength' not in sys.modules\n"
    )

    assert (status, "strength" in output) == (0, False)


def test_the_file_has_every_perturbation_and_who_reaches_it(suite, tmp_path):
    """Version 1 of the schema."""
    suite("--wowspec-strength-json=strength.json", weak=WEAK, strong=STRONG)
    found = json.loads((tmp_path / "strength.json").read_text(encoding="utf-8"))

    assert {name: found[name] for name in ("schema", "tool", "strength", "counted", "noticed", "left_out")} == {
        "schema": 1,
        "tool": "wowspec",
        "strength": 100.0,
        "counted": 12,
        "noticed": 12,
        "left_out": [],
    }
    assert {"kind": "event altered", "noticed": 8, "counted": 8} in found["kinds"]
    [grams] = [each for each in found["perturbations"] if each["name"] == "Parcel.register → Registered.grams altered"]
    assert grams["kind"] == "event altered"
    assert grams["noticed"] is True
    [strong] = [each for each in grams["specs"] if each["noticed"]]
    assert strong == {
        "test": "test_strong.py::test_strong",
        "name": "Parcel.register → Registered.grams altered",
        "kind": "event altered",
        "address": "Register/event[0].grams altered",
        "detail": "500 → 501",
        "place": "test_strong.py:9",
        "noticed": ["test_strong.py:10: expect_events(...)", "test_strong.py:11: expect_state(...)"],
        "instead": "",
    }


def test_several_processes_come_to_the_same(suite, tmp_path):
    """Results travel with the reports; which process ran which test is of no concern."""
    pytest.importorskip("xdist", reason="pytest-xdist spreads the suite over processes")
    arguments = ("--wowspec-strength", "--wowspec-lint", "--wowspec-strength-json=strength.json")
    files = {"weak": WEAK, "strong": STRONG, "other": WEAK.replace("test_weak", "test_other")}

    alone, _ = suite(*arguments, **files)
    document_alone = json.loads((tmp_path / "strength.json").read_text(encoding="utf-8"))
    together, status = suite(*arguments, "-n", "2", **files)
    document_together = json.loads((tmp_path / "strength.json").read_text(encoding="utf-8"))

    assert status == 0
    assert document_together == document_alone
    section = "wowspec: strength of specs"
    assert together.partition(section)[2].splitlines()[:-1] == alone.partition(section)[2].splitlines()[:-1]
    (tmp_path / "test_strong.py").unlink()
    assert suite("--wowspec-strength-fail-under=100", "-n", "2")[1] == 1


def test_failed_tests_and_marked_ones_are_left_out(suite):
    """What does not hold says nothing; `wowspec_no_sweep` means every rerun."""
    output, status = suite(
        "--wowspec-strength",
        failed=WEAK.replace("expect_event(Registered)", "expect_no_events()"),
        marked=WEAK.replace("def test", "@pytest.mark.wowspec_no_sweep\ndef test"),
    )

    assert status == 1
    assert "test_marked.py::test_weak: it is marked wowspec_no_sweep" in output
    assert "no spec did anything that could be perturbed" in output


def test_services_are_given_as_they_were(suite):
    """What `inject(...)` gives is copied when it is given, so that reruns find it unused."""
    text = """
    class Box:
        def __init__(self):
            self.used = 0

    @create_aggregate
    class Use(BaseModel):
        id: str

    class Used(BaseModel):
        times: int

    class ShedState(BaseModel):
        id: str

    @aggregate_root(context="shed")
    class Shed:
        def __init__(self, state: ShedState) -> None:
            self.state = state

        @on_command
        def use(self, command: Use, box: Box) -> Used:
            box.used += 1
            return Used(times=box.used)

    def test_once():
        spec(Shed).inject(Box()).when(Use(id="s-1")).expect_events(Used(times=1))
    """

    output, status = suite("--wowspec-strength", box=text)

    assert status == 0
    assert "left out" not in output
    assert "strength of specs: 100 %" in output


def test_no_result_is_a_document_of_its_own():
    """Where nothing was perturbed, the strength is unknown."""
    assert document([])["strength"] is None
    assert totals([]) == []
    assert strength_lines([]) == ["no spec did anything that could be perturbed"]


def test_the_page_shows_what_is_told(tmp_path):
    """The output in `docs/strength.md` is that of the code above it."""
    page = (Path(__file__).parents[2] / "docs" / "strength.md").read_text(encoding="utf-8")
    code = re.search(r"<!-- test: (\S+) -->\n```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert code is not None
    (tmp_path / code[1]).write_text(code[2], encoding="utf-8")

    output = run_pytest(tmp_path, "--wowspec-strength", "--wowspec-lint").stdout

    shown = re.findall(r"^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(shown) == 2
    for text in shown:
        assert text in output


def test_a_perturbation_that_sets_off_an_endless_chain_is_noticed():
    """A saga's command that comes to another sort of letter, and answers itself for ever."""
    ring = (
        given().using(Ring, RingSaga).when(Turn(id="r-1", times=0)).expect_events(Turned(times=0)).expect_no_commands()
    )

    found = {each.name: each for each in strength(ring).tried}

    assert found["Ring.turn → Turned.times altered"].noticed == ("the world never comes to rest",)
