"""What an audit remembers of a step, and that it changes nothing of what a runtime does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.cases import load
from tests.golden.drive_pipeline import Run as GoldenRun, comparable
from tests.specs.law_bench import Bench
from tests.specs.law_domain import (
    Add,
    Added,
    Box,
    FlatBox,
    Look,
    Nothing,
    Open,
    Opened,
    Refuse,
    SetsCommand,
    SetsState,
)
from wowspec.errors import NotSerializableError
from wowspec.faults.values import point
from wowspec.messages.equality import Difference
from wowspec.runtime.audit import Audit, Mutation, Subject
from wowspec.runtime.catalog import catalog_of
from wowspec.runtime.system import Runtime
from wowspec.world.world import World

APPEND = point("event_store.append")


def opened() -> Bench:
    """A box with one given event."""
    bench = Bench(Box)
    bench.given(Opened(sizes=[1]))
    return bench


def exchange_of(bench: Bench) -> Any:
    """The one exchange of the step."""
    (exchange,) = bench.audit.exchanges.values()
    return exchange


def test_exchange_by_command_id():
    """A command that was taken from the bus is found by its id."""
    bench = Bench(Box)
    bench.send(Open(id="1"))

    ((command_id, exchange),) = bench.audit.exchanges.items()
    assert exchange.message.id == command_id
    assert exchange.message.body == Open(id="1")
    assert exchange.event_stream.version == 1


def test_void_commands_count():
    """A void command is dropped by the dispatcher, and its exchange is kept all the same."""
    bench = opened()
    bench.send(Look(id="1"))

    assert exchange_of(bench).message.body == Look(id="1")
    assert exchange_of(bench).attempts == 0


def test_a_step_forgets_the_one_before():
    """Each step begins with nothing."""
    bench = Bench(SetsState)
    bench.given(Opened())
    bench.send(Add(id="1"))
    audit = bench.audit
    assert audit.exchanges
    assert audit.mutations
    assert audit.stored
    assert audit.working
    assert audit.decided

    audit.begin_step()

    assert not audit.exchanges
    assert not audit.mutations
    assert not audit.stored
    assert not audit.working
    assert not audit.decided
    assert not audit.errors


@pytest.mark.clause("CMD-194", "CMD-205")
@pytest.mark.parametrize(
    ("faults", "attempts"),
    [((), 1), ((APPEND.times_out(),), 2), ((APPEND.times_out(times=9),), 4), ((APPEND.fails(),), 1)],
)
def test_attempts(faults, attempts):
    """Each attempt counts: one, and up to three retries of what is recoverable."""
    bench = opened()
    bench.send(Add(id="1"), *faults)

    assert exchange_of(bench).attempts == attempts


def test_failed_load_counts_as_an_attempt():
    """An attempt begins with the load."""
    bench = opened()
    bench.send(Add(id="1"), point("snapshot.load").times_out(times=2))

    assert exchange_of(bench).attempts == 3


def test_an_audit_may_come_late():
    """An audit that is set after the aggregates were added sees what follows."""
    runtime = Runtime(World(), catalog=catalog_of([Box]))
    assert runtime.audit is None
    audit = Audit()
    runtime.audit = audit
    runtime.world.scheduler.spawn(runtime.gateway.send(runtime.message(Open(id="1"))), "when")
    runtime.world.scheduler.run()

    assert len(audit.exchanges) == len(audit.stored) == len(audit.working) == 1

    runtime.audit = None
    runtime.world.scheduler.spawn(runtime.gateway.send(runtime.message(Add(id="1"))), "when")
    runtime.world.scheduler.run()

    assert len(audit.exchanges) == len(audit.stored) == 1


def test_whose_streams_were_stored():
    """A rival's stream is stored, but no command of this world decided it."""
    bench = opened()
    bench.send(Add(id="1", size=2), APPEND.rival_appends(Added(size=9)))

    rival, own = bench.audit.stored
    assert [rival.version, own.version] == [2, 3]
    assert bench.audit.decided == {own.id}
    assert [stream for stream, _ in bench.audit.working] == [own]


def test_a_lost_reply_leaves_no_working_state():
    """The stream is stored and decided, but nobody got the reply, so there is no working state to trust."""
    bench = opened()
    bench.send(Add(id="1"), APPEND.loses_reply(recoverable=False))

    (own,) = bench.audit.stored
    assert bench.audit.decided == {own.id}
    assert bench.audit.working == []


def test_texts_are_kept_beside_the_stream():
    """The store has the JSON of each event as of when it was stored, and a branch has it too."""
    bench = opened()
    bench.send(Add(id="1", size=2))

    for store in (bench.runtime.event_store, bench.fork().runtime.event_store):
        assert [(stream.version, texts) for stream, texts in store.noted(bench.ref())] == [
            (1, (b'{"sizes":[1]}',)),
            (2, (b'{"size":2}',)),
        ]
        assert [texts for _, texts in store.noted(bench.ref(), 1)] == [(b'{"size":2}',)]


def test_without_an_audit_no_texts():
    """A plain store keeps no texts."""
    bench = Bench(Box)
    bench.runtime.audit = None
    bench.given(Opened())

    assert [texts for _, texts in bench.runtime.event_store.noted(bench.ref())] == [None]
    assert bench.runtime.event_store.noted(bench.ref("2")) == []


def test_what_has_no_json_is_kept():
    """An event that cannot be written raises nothing within the pipeline."""
    bench = opened()
    bench.send(Add(id="1"), APPEND.rival_appends(Opened.model_construct(sizes=[object()])))

    error = bench.audit.errors[0]
    assert isinstance(error, NotSerializableError)
    assert bench.audit.stored[0].version == 2


def test_a_mutated_state():
    """Place, subject, class and the first field that changed."""
    bench = Bench(SetsState)
    bench.given(Opened())
    bench.send(Add(id="1", size=3))

    (mutation,) = bench.audit.mutations
    assert mutation == Mutation("SetsState.add", Subject.STATE, bench.ref(), mutation.value, Difference("total", 0, 3))
    assert mutation.value.__name__ == "BoxState"


def test_a_mutated_command():
    """A function that succeeds must leave the command as it is."""
    bench = Bench(SetsCommand)
    bench.given(Opened())
    bench.send(Add(id="1", sizes=[1]))

    (mutation,) = bench.audit.mutations
    assert (mutation.place, mutation.subject, mutation.value) == ("SetsCommand.add", Subject.COMMAND, Add)
    assert mutation.difference.path == "sizes[1]"


def test_an_error_function_must_not_change_the_command():
    """A failing command's functions are looked at too."""
    bench = Bench(SetsCommand)
    bench.given(Opened())
    bench.send(Refuse(id="1"))

    (mutation,) = bench.audit.mutations
    assert (mutation.place, mutation.subject, mutation.value) == ("SetsCommand.refused", Subject.COMMAND, Refuse)


def test_the_state_of_a_failed_attempt_is_thrown_away():
    """A function that raises may have changed the state: nobody sees it."""
    bench = Bench(SetsState)
    bench.given(Opened())
    bench.send(Refuse(id="1"))

    assert bench.error is not None
    assert bench.audit.mutations == []


def test_a_retry_does_not_repeat_the_finding():
    """What each attempt does again is told once."""
    bench = Bench(SetsState)
    bench.given(Opened())
    bench.send(Add(id="1"), APPEND.times_out(times=2))

    assert exchange_of(bench).attempts == 3
    assert len(bench.audit.mutations) == 1


def test_correct_functions_are_not_blamed():
    """Neither plain values nor collections nor cached properties are taken for a mutation."""
    for root, commands in ((Box, [Open(id="1"), Add(id="1"), Add(id="1")]), (FlatBox, [Nothing(id="1")] * 3)):
        bench = Bench(root)
        for command in commands:
            bench.send(command)
            assert bench.error is None
            assert bench.audit.mutations == []


def test_an_audit_changes_nothing():
    """With an audit a runtime does what it does without, whatever strikes."""
    differing = [case.id for case in load("pipeline")[::7] if _outcome(case.data, None) != _outcome(case.data, Audit())]

    assert differing == []


def _outcome(case: dict[str, Any], audit: Audit | None) -> Any:
    run = GoldenRun(case)
    run.runtime.audit = audit
    return comparable(run.result(), case)
