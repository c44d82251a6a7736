"""The always-on laws: each catches the defect that is planted for it, and none blames what is correct."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.golden.cases import load
from tests.golden.drive_pipeline import Run as GoldenRun
from wowspec.errors import SpecError
from wowspec.faults.values import point
from wowspec.modeling.builtin import DeleteAggregate, RecoverAggregate
from wowspec.runtime.audit import Audit
from wowspec.runtime.snapshots import NoOpSnapshotStrategy, Snapshot, VersionOffsetSnapshotStrategy
from wowspec.runtime.sourcing import new_state_aggregate
from wowspec.specs import shadows as shadows_module
from wowspec.specs.laws import LAW_NAMES, LAWS, Breach, Shadows, check_laws, require_law
from wowspec.specs.shadows import Shadow

from . import law_domain
from .law_bench import Bench
from .law_domain import (
    Add,
    Added,
    Aware,
    Box,
    BoxState,
    BreaksBounds,
    DeclaresTooLittle,
    FlatBox,
    Given,
    Hides,
    Impure,
    KeepsEvent,
    KeepsPrivately,
    Look,
    LosesInEvent,
    Marked,
    Nothing,
    Open,
    Opened,
    Paid,
    Pay,
    PlainBox,
    Purse,
    PurseBox,
    Refuse,
    SetsCommand,
    SetsState,
    SetsStateAfterwards,
    Shares,
    SkipsVersion,
    SortsEvent,
    StoresRefused,
)

TEXTS: Final = Path(__file__).parent / "texts" / "laws"
APPEND: Final = point("event_store.append")
Broken = tuple[str, str]


# ------------------------------------------------------------------------------------------- defects that are planted


def _after(root: type, given: list[Any], command: Any, **how: Any) -> Broken:
    bench = Bench(root)
    for body in given:
        bench.given(body)
    return bench.breaks(command, **how)


def _skips_a_version() -> Broken:
    bench = Bench(SkipsVersion)
    bench.runtime.snapshot_strategy = NoOpSnapshotStrategy()
    assert bench.when(Open(id="1")) == []
    return bench.breaks(Add(id="1"))


def _draws_a_number() -> Broken:
    law_domain.NUMBERS = itertools.count(1)
    return _after(Impure, [], Open(id="1"))


def _changed_after_the_snapshot() -> Broken:
    bench = Bench(Box)
    scheduler, clock = bench.runtime.world.scheduler, bench.runtime.world.clock
    bench.runtime.state_event_bus.receive(
        bench.metadata.named, lambda event: scheduler.call_at(clock.nanos + 1, lambda: event.state.sizes.append(9))
    )
    return bench.breaks(Open(id="1"))


def _changed_by_a_reader() -> Broken:
    bench = Bench(Box)
    bench.runtime.domain_event_bus.receive(bench.metadata.named, lambda stream: stream.events[0].body.sizes.append(9))
    return bench.breaks(Open(id="1", sizes=[1]), off=("replay_equality",))


def _shares_and_a_rival() -> Broken:
    bench = Bench(Shares)
    assert bench.when(Open(id="1")) == []
    bench.send(Add(id="1"), APPEND.rival_appends(Added(size=3), times=1), APPEND.fails(at=2))
    (breach,) = bench.laws()
    return breach.law, breach.text


def _snapshot_of_another_state() -> Broken:
    bench = Bench(Box)
    bench.given(Opened())
    blank = new_state_aggregate(bench.metadata.state, bench.ref())
    blank.version = 2
    bench.runtime.snapshot_strategy = _Saves(Snapshot(blank, 0), bench.runtime.snapshot_store)
    return bench.breaks(Add(id="1", size=4))


class _Saves:
    """A strategy that saves something else."""

    def __init__(self, snapshot: Snapshot, store: Any) -> None:
        self.snapshot, self.store = snapshot, store

    def should_save(self, state_event: Any) -> bool:
        return True

    def save_now(self, state_event: Any) -> None:
        self.store.save_now(self.snapshot)


#: The law that must catch it, and the situation.
DEFECTS: Final[dict[str, tuple[str, Callable[[], Broken]]]] = {
    "a_version_is_skipped": ("contiguous_versions", _skips_a_version),
    "a_command_function_sets_the_state": (
        "immutability",
        lambda: _after(SetsState, [Opened()], Add(id="1")),
    ),
    "an_after_function_sets_the_state": ("immutability", lambda: _after(SetsStateAfterwards, [], Open(id="1"))),
    "a_command_function_changes_a_list_of_the_command": (
        "immutability",
        lambda: _after(SetsCommand, [Opened()], Add(id="1", sizes=[1])),
    ),
    "a_command_function_sets_a_field_of_the_command": (
        "immutability",
        lambda: _after(SetsCommand, [], Open(id="1")),
    ),
    "an_error_function_changes_the_command": ("immutability", lambda: _after(SetsCommand, [Opened()], Refuse(id="1"))),
    "a_sourcing_function_changes_its_event": (
        "immutability",
        lambda: _after(SortsEvent, [], Open(id="1", sizes=[3, 1])),
    ),
    "the_state_keeps_a_list_of_the_event": ("immutability", lambda: _after(KeepsEvent, [], Open(id="1"))),
    "the_state_keeps_a_list_of_an_older_event": (
        "immutability",
        lambda: _after(KeepsEvent, [Opened()], Add(id="1")),
    ),
    "a_reader_changes_the_event": ("immutability", _changed_by_a_reader),
    "a_sourcing_function_draws_a_number": ("replay_equality", _draws_a_number),
    "an_event_loses_a_field": ("replay_equality", lambda: _after(LosesInEvent, [Added()], Add(id="1"))),
    "an_event_loses_a_field_that_sourcing_needs": ("replay_equality", lambda: _after(LosesInEvent, [], Open(id="1"))),
    "a_command_function_sets_the_state_unseen": (
        "replay_equality",
        lambda: _after(SetsState, [Opened()], Add(id="1"), off=("immutability",)),
    ),
    "a_command_function_sets_a_private_attribute": (
        "replay_equality",
        lambda: _after(KeepsPrivately, [], Open(id="1")),
    ),
    "the_state_is_changed_after_its_snapshot": ("replay_equality", _changed_after_the_snapshot),
    "a_state_keeps_a_private_attribute": ("json_equality", lambda: _after(KeepsPrivately, [Opened()], Add(id="1"))),
    "a_state_declares_too_little": ("json_equality", lambda: _after(DeclaresTooLittle, [], Open(id="1"))),
    "a_state_hides_a_field": ("json_equality", lambda: _after(Hides, [Opened()], Add(id="1"))),
    "a_state_breaks_its_own_bounds": ("json_equality", lambda: _after(BreaksBounds, [], Nothing(id="1"))),
    "two_fields_share_a_list": ("snapshot_equality", _shares_and_a_rival),
    "a_snapshot_of_another_state": ("snapshot_equality", _snapshot_of_another_state),
    "a_state_that_json_loses_without_that_law": (
        "snapshot_equality",
        lambda: _after(Hides, [Opened()], Add(id="1"), off=("json_equality",)),
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_defect(name):
    """The planted defect is caught by its law, with the text that was reviewed."""
    law, situation = DEFECTS[name]
    found, text = situation()
    path = TEXTS / f"{name}.txt"
    if os.environ.get("WOWSPEC_UPDATE_TEXTS"):
        TEXTS.mkdir(exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")

    assert found == law
    assert path.read_text(encoding="utf-8") == text + "\n"


def test_every_text_has_its_defect():
    """No text stays behind when its situation is gone."""
    assert {path.stem for path in TEXTS.glob("*.txt")} == set(DEFECTS)


def test_every_law_has_a_defect():
    """Each row of the table is needed: without it a planted defect would pass."""
    assert {law for law, _ in DEFECTS.values()} == set(LAW_NAMES)


@pytest.mark.parametrize("name", DEFECTS)
def test_text_says_everything(name):
    """A text names the place, both values, why it matters, what to write instead, and how to switch the law off."""
    text = (TEXTS / f"{name}.txt").read_text(encoding="utf-8")

    assert "box(1)" in text
    assert "  why: " in text
    assert "  instead: " in text
    assert f'.without_law("{DEFECTS[name][0]}")' in text
    assert all(line == line.rstrip() and len(line) < 400 for line in text.splitlines())


@pytest.mark.parametrize("name", DEFECTS)
def test_nothing_is_said_when_all_laws_are_off(name, monkeypatch):
    """A law that is switched off says nothing."""
    original = Bench.breaks
    monkeypatch.setattr(
        Bench, "breaks", lambda self, body, *faults, off=(): original(self, body, *faults, off=LAW_NAMES)
    )
    monkeypatch.setattr(
        Bench, "laws", lambda self, off=(): check_laws(self.runtime, frozenset(LAW_NAMES), Shadows(), {})
    )

    with pytest.raises(ValueError, match="not enough values to unpack"):
        DEFECTS[name][1]()


def test_a_later_replay_that_shares_a_list():
    """What the command loaded from a snapshot differs from what all events make: the text says that JSON lost it."""
    bench = Bench(Shares)
    assert bench.when(Open(id="1")) == []

    law, text = bench.breaks(Add(id="1"))

    assert law == "replay_equality"
    assert "one list that two fields share" in text


def test_an_event_that_cannot_be_read_back_is_the_authors_error():
    """No law, but an error of the author: the text has the event, its JSON and the reason."""
    bench = Bench(StoresRefused)

    with pytest.raises(SpecError, match=r"(?s)Positive of box\(1\) v1 cannot be read back.*greater than 0.*-1"):
        bench.when(Open(id="1"))


def test_an_event_without_json_is_the_authors_error():
    """What cannot be written at all is told as the codec tells it."""
    bench = Bench(Box)
    bench.given(Opened())

    with pytest.raises(SpecError, match="has no JSON"):
        bench.when(Add(id="1"), APPEND.rival_appends(Marked.model_construct(mark=object())))
        bench.when(Add(id="1"), APPEND.rival_appends(Opened.model_construct(sizes=[object()])))


# --------------------------------------------------------------------------------------------- nobody is blamed wrongly


def test_a_correct_aggregate_is_never_blamed():
    """Create, change, refusal, nothing, void, delete, recover, transfer: no law is broken."""
    bench = Bench(Box)
    steps = [
        Open(id="1", sizes=[3]),
        Add(id="1", size=2),
        Refuse(id="1"),
        Nothing(id="1"),
        Look(id="1"),
        Open(id="1"),
    ]

    assert [bench.when(step) for step in steps] == [[]] * len(steps)

    named = {"named_aggregate": bench.metadata.named, "aggregate_id": "1"}
    for command in (DeleteAggregate(), RecoverAggregate()):
        assert bench.when(command, **named) == []
        assert bench.error is None


@pytest.mark.parametrize("root", [Box, PlainBox, Aware])
def test_other_shapes_of_state(root):
    """Sets, dataclasses, computed properties and a state that holds its aggregate are no reason for blame."""
    bench = Bench(root)

    assert [bench.when(command) for command in (Open(id="1"), Add(id="1"), Add(id="1", size=4))] == [[], [], []]
    assert bench.error is None


def test_a_property_that_is_computed_once():
    """A cached property that a command function asked for is no part of the state."""
    bench = Bench(FlatBox)

    assert [bench.when(Nothing(id="1")) for _ in range(3)] == [[], [], []]
    assert bench.error is None


def test_a_decider():
    """The state of a decider is another object after each event; nothing else is different."""
    bench = Bench(PurseBox)
    bench.given(Paid(3))

    assert [bench.when(Pay("1", amount)) for amount in (1, 2)] == [[], []]
    assert bench.error is None
    assert bench.audit.working[0][1].state == Purse(6, (3, 1, 2))


@pytest.mark.parametrize(
    "faults",
    [
        (APPEND.rival_appends(Added(size=9)),),
        (APPEND.rival_appends(Added(size=9), times=2),),
        (APPEND.loses_reply(),),
        (APPEND.loses_reply(recoverable=False),),
        (APPEND.times_out(times=2),),
        (APPEND.conflicts(),),
        (APPEND.fails(),),
        (point("snapshot.load").times_out(),),
        (point("event_store.load").times_out(times=3),),
        (point("snapshot.save").fails(),),
        (point("state_event_bus.send").fails(),),
        (point("domain_event_bus.send").fails(),),
    ],
    ids=lambda faults: str(faults[0]),
)
@pytest.mark.parametrize("given", [0, 2])
def test_faults_blame_nobody(faults, given):
    """Retries, rivals, lost replies and lost snapshots break no law, in their step and afterwards."""
    bench = Bench(Box)
    bench.given(Opened(sizes=[1]))
    for size in range(given):
        bench.given(Added(size=size))
    assert bench.when(Add(id="1")) == []

    assert bench.when(Add(id="1", size=3), *faults) == []
    assert bench.when(Add(id="1", size=4)) == []


def test_a_rival_that_the_state_refuses():
    """A rival's event that cannot be sourced fails the command, and is not told as a broken law besides."""
    bench = Bench(LosesInEvent)
    bench.given(Opened())

    assert bench.when(Add(id="1"), APPEND.rival_appends(Marked())) == []
    assert bench.error is not None


def test_an_owner_that_a_snapshot_loses():
    """Owner and space are the runtime's own affair: a transfer, and a snapshot with a blank owner, blame nobody."""
    bench = Bench(Box)
    bench.given(Opened(), owner_id="ann")
    bench.given(Given(to_owner_id="bob"))

    assert bench.when(Add(id="1"), owner_id="bob") == []
    assert bench.when(Add(id="1")) == []
    assert bench.error is None


def test_a_given_state():
    """A replay begins with the given state, and versions go on from it."""
    bench = Bench(Box)
    bench.given_state(BoxState(id="1", total=40, sizes=[40]), 7)

    assert bench.when(Add(id="1")) == []
    assert bench.when(Add(id="1")) == []
    assert bench.runtime.event_store.head_version(bench.ref()) == 9


def test_history_with_a_gap_blames_the_spec_alone():
    """Versions that a spec wrote may have gaps; what follows a snapshot there is nobody's fault."""
    bench = Bench(Box)
    bench.given(Opened(), version=1)
    bench.given(Added(), version=5)
    bench.given_state(BoxState(id="1", total=1, sizes=[1]), 5)

    assert bench.when(Add(id="1")) == []
    assert bench.error is None


@pytest.mark.parametrize("offset", [2, 100])
def test_snapshots_that_lag_behind(offset):
    """Snapshot and tail are compared where a snapshot is not made at each version."""
    bench = Bench(Box)
    store = bench.runtime.snapshot_store
    bench.runtime.snapshot_strategy = VersionOffsetSnapshotStrategy(store, lambda: 0, offset)

    assert bench.when(Open(id="1")) == []
    assert [bench.when(Add(id="1", size=n)) for n in range(7)] == [[]] * 7


def test_a_snapshot_that_lags_behind_is_compared_with_its_tail():
    """The tail that a repository applies to a snapshot is part of what is compared, at each step."""
    bench = Bench(Box)
    store = bench.runtime.snapshot_store
    bench.runtime.snapshot_strategy = VersionOffsetSnapshotStrategy(store, lambda: 0, 3)
    bench.when(Open(id="1"))
    bench.when(Add(id="1"))
    bench.when(Add(id="1"))
    record = store.record(bench.ref())
    assert record is not None
    assert record.version == 3
    aggregate = store.restored(record)
    aggregate.state.total = 77
    store.save_now(Snapshot(aggregate, 0))

    bench.send(Add(id="1"))

    (breach,) = bench.laws(("replay_equality", "json_equality"))
    assert breach.law == "snapshot_equality"
    assert "state.total: 3 ≠ 78" in breach.text
    assert "loading the snapshot of v3 and the events up to v4 gives another state" in breach.text


def test_branches_replay_for_themselves():
    """Two branches go on from one world, each with its own replay, whichever goes first."""
    trunk = Bench(Box)
    assert trunk.when(Open(id="1")) == []
    left, right = trunk.fork(), trunk.fork()

    assert left.when(Add(id="1", size=1)) == []
    assert right.when(Add(id="1", size=2)) == []
    assert left.when(Add(id="1", size=3)) == []
    assert trunk.when(Add(id="1", size=4)) == []
    assert right.when(Add(id="1", size=5)) == []


def test_one_defect_needs_one_law_to_be_off():
    """Where a state is declared to be more than its events make, its snapshot is not blamed for the same."""
    bench = Bench(Impure)

    assert bench.when(Open(id="1"), off=("replay_equality",)) == []


def test_golden_cases_break_no_law():
    """What the real runtime was seen to do, with every fault, breaks no law: its domain is correct."""
    breaches: list[Breach] = []
    for case in load("pipeline"):
        run = _Audited(case.data)
        run.result()
        breaches += run.breaches

    assert breaches == []


class _Audited(GoldenRun):
    """A recorded case with the laws on."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(case)
        self.runtime.audit = Audit()
        self.shadows = Shadows()
        self.breaches: list[Breach] = []

    def when(self, index: int, item: dict[str, Any]) -> dict[str, Any]:
        assert self.runtime.audit is not None
        self.runtime.audit.begin_step()
        outcome = super().when(index, item)
        self.breaches += check_laws(self.runtime, frozenset(), self.shadows, {})
        return outcome


# ---------------------------------------------------------------------------------------------------------------- cost


def test_each_stream_is_replayed_once(monkeypatch):
    """N steps cost n replayed streams, not n², whatever the snapshots do."""
    counted: list[int] = []
    original = Shadow.advance
    monkeypatch.setattr(
        Shadow, "advance", lambda self, *args, **how: (counted.append(1), original(self, *args, **how))[1]
    )
    bench = Bench(Box)
    bench.runtime.snapshot_strategy = NoOpSnapshotStrategy()
    bench.when(Open(id="1"))
    for size in range(50):
        bench.when(Add(id="1", size=size))

    assert len(counted) == 51


def test_settled_history_is_not_looked_at_again(monkeypatch):
    """A long given history is read once; with snapshots, later steps look at what they stored alone."""
    bench = Bench(Box)
    bench.given(Opened())
    for _ in range(300):
        bench.given(Added())
    bench.when(Add(id="1"))
    encoded: list[Any] = []
    original = shadows_module.read_back
    monkeypatch.setattr(
        shadows_module, "read_back", lambda *args, **how: (encoded.append(1), original(*args, **how))[1]
    )
    texts = bench.audit.text_of
    looked: list[Any] = []
    monkeypatch.setattr(Audit, "text_of", lambda self, value: (looked.append(value), texts(value))[1])

    assert bench.when(Add(id="1")) == []
    assert len(encoded) == 1
    assert len(looked) < 10


# --------------------------------------------------------------------------------------------------------------- names


def test_known_law():
    """A law's name is given back."""
    assert [require_law(law.name) for law in LAWS] == list(LAW_NAMES)


def test_unknown_law():
    """Another name is refused, with the one that comes close."""
    with pytest.raises(SpecError) as caught:
        require_law("replay_equal")

    assert "there is no law 'replay_equal'" in str(caught.value)
    assert "contiguous_versions, immutability, replay_equality, json_equality, snapshot_equality" in str(caught.value)
    assert '.without_law("replay_equality")' in str(caught.value)


def test_without_an_audit_nothing_is_known():
    """A plain runtime has no audit, and no law is broken."""
    bench = Bench(SetsState)
    bench.runtime.audit = None
    bench.runtime.world.scheduler.spawn(bench.runtime.gateway.send(bench.runtime.message(Open(id="1"))), "when")
    bench.runtime.world.scheduler.run()

    assert check_laws(bench.runtime, frozenset(), Shadows(), {}) == []
