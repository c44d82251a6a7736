"""Each law of runs under faults catches the defect that is its own, and blames no correct system."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.exploration.defects import deliveries, orders, payments, replicas, reservations, sales, snapshots
from tests.exploration.pingpong import Dial, Line, calls
from tests.exploration.shop import PlaceOrder, safe_shop
from wowspec import DuplicateRequestIdError, Spec, SpecError, SpecFailure, explore_faults, spec
from wowspec.exploration.collected import take
from wowspec.exploration.explorer import Explorer
from wowspec.exploration.playing import Way
from wowspec.exploration.recoveries import RECOVERIES, recoveries_of
from wowspec.exploration.run_laws import RUN_LAWS, require_run_law
from wowspec.exploration.trial import Allowances
from wowspec.exploration.witness import ports_of
from wowspec.faults.plans import Plan
from wowspec.runtime.command_filters import AggregateProcessorFilter, SendDomainEventStreamFilter, version_text
from wowspec.runtime.event_store import InMemoryEventStore
from wowspec.runtime.snapshots import InMemorySnapshotStore
from wowspec.specs import tracking
from wowspec.specs.parts import profile_of
from wowspec.world.points import DOMAIN_EVENT_BUS_SEND
from wowspec.world.profiles import IN_MEMORY

Steps = Callable[[Spec[Any]], Spec[Any]]
ORDER = (orders.Order, "o-1")


def explorer_of(steps: Steps, profile: str = "in_memory", **options: Any) -> Explorer:
    """Explores the steps; its fault-free run is made here, while nothing is broken yet."""
    ports = profile_of(profile)
    with tracking.aside():
        node = steps(spec())._node
    return Explorer(Way(tuple(node.path()), ports), profile=ports_of(ports), **options)


def broken(explorer: Explorer, plan: str = "") -> dict[str, str]:
    """The laws that break under a plan, with what is wrong."""
    result, _ = explorer.run(Plan.parse(plan))
    assert not result.unreached
    return {} if result.finding is None else {item.law: item.text for item in result.finding.broken}


def place(spec: Spec[Any]) -> Spec[Any]:
    """An order."""
    return spec.using(orders.Order).when(orders.PlaceOrder(id="o-1"))


def sell(spec: Spec[Any]) -> Spec[Any]:
    """A sale, and who adds it up."""
    return spec.using(sales.defective).when(sales.Sell(id="s-1", amount=3))


def sell_kept(spec: Spec[Any]) -> Spec[Any]:
    """A sale, and who keeps it by its event."""
    return spec.using(sales.corrected).when(sales.Sell(id="s-1", amount=3))


def reserve(spec: Spec[Any]) -> Spec[Any]:
    """A saga that sends two commands at once."""
    return spec.using(reservations.defective).when(reservations.PlaceOrder(id="o-1"))


def pay(spec: Spec[Any]) -> Spec[Any]:
    """A provider that charges each time."""
    bill = spec.using(payments.Bill).inject_factory(provider=payments.Provider).given(payments.Issue(id="b-1"))
    return bill.when(payments.Pay(id="b-1"))


def deliver(spec: Spec[Any]) -> Spec[Any]:
    """Two sagas that race."""
    return spec.using(deliveries.defective).when(deliveries.PlaceOrder(id="o-1"))


def save(spec: Spec[Any]) -> Spec[Any]:
    """Two disks, either of which may fail."""
    return (
        spec.using(replicas.File)
        .inject_factory(replicas=replicas.Replicas)
        .when(replicas.Save(id="f-1", content="text"))
        .always(lambda world: world.service("replicas").holds("f-1") or not world.state(replicas.File, "f-1").saved)
    )


def read(spec: Spec[Any]) -> Spec[Any]:
    """Snapshots that are saved too early."""
    return (
        spec.using(snapshots.meters)
        .inject_factory(snapshots=snapshots.Snapshots)
        .when(snapshots.Read(id="m-1", reading=3))
        .eventually(
            lambda world: world.service("snapshots").version("m-1") <= world.aggregate(snapshots.Meter, "m-1").version
        )
    )


# --- each law, and what it catches ------------------------------------------------------------------------------------


def test_no_acknowledged_loss_catches_a_store_that_drops_streams(monkeypatch):
    """The sender was told of success, and the store has nothing."""
    explorer = explorer_of(place)
    monkeypatch.setattr(InMemoryEventStore, "append_now", lambda store, stream: None)

    assert "its events are not stored: o-1 v1 [OrderPlaced]" in broken(explorer)["no_acknowledged_loss"]


def forgets_request_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that looks at no request id."""
    monkeypatch.setattr("wowspec.runtime.event_store._History.has_request", lambda *_: False)


TWICE = "Sell/command_bus.send@1=duplicate"


def test_no_acknowledged_loss_catches_a_command_that_is_stored_twice(monkeypatch):
    """A command that arrived twice, over a store that looks at no request id."""
    explorer = explorer_of(sell_kept, "kafka")
    assert broken(explorer, TWICE) == {}
    forgets_request_ids(monkeypatch)

    assert "is stored 2 times" in broken(explorer, TWICE)["no_acknowledged_loss"]


def test_no_lying_failure_catches_a_failure_after_the_append(monkeypatch):
    """The sender is told that it failed, and it is stored."""
    explorer = explorer_of(place)
    append = AggregateProcessorFilter.append

    def append_and_fail(runtime_filter: AggregateProcessorFilter, stream: Any, exchange: Any) -> None:
        append(runtime_filter, stream, exchange)
        raise ValueError("what follows fails")

    monkeypatch.setattr(AggregateProcessorFilter, "append", append_and_fail)

    assert "PlaceOrder → ValueError, but o-1 v1 [OrderPlaced] IS stored" in broken(explorer)["no_lying_failure"]


def test_no_lying_failure_lets_ambiguous_errors_pass(monkeypatch):
    """An error that is declared to say nothing of the outcome lies about nothing."""
    explorer = explorer_of(place, allowed=Allowances(ambiguous=(ValueError,)))
    append = AggregateProcessorFilter.append

    def append_and_fail(runtime_filter: AggregateProcessorFilter, stream: Any, exchange: Any) -> None:
        append(runtime_filter, stream, exchange)
        raise ValueError("what follows fails")

    monkeypatch.setattr(AggregateProcessorFilter, "append", append_and_fail)

    assert "no_lying_failure" not in broken(explorer)


def test_exactly_once_catches_a_request_that_is_stored_twice(monkeypatch):
    """The same request id in two streams of one aggregate."""
    explorer = explorer_of(sell_kept, "kafka")
    forgets_request_ids(monkeypatch)

    assert "is stored twice: s-1 v2 [Sold]" in broken(explorer, TWICE)["exactly_once"]


def test_exactly_once_catches_an_effect_that_happens_twice():
    """A fault point with a key stands for something that must happen once."""
    found = broken(explorer_of(pay), "Pay/event_store.append@1=timeout")

    assert found == {"exactly_once": "payment.charge took effect twice for b-1"}


def test_publication_catches_a_stream_that_nobody_sends(monkeypatch):
    """The filter that publishes just goes on."""
    explorer = explorer_of(place)

    async def go_on(_: Any, exchange: Any, next: Any) -> None:
        await next(exchange)

    monkeypatch.setattr(SendDomainEventStreamFilter, "filter", go_on)

    assert broken(explorer)["publication"] == "o-1 v1 [OrderPlaced] is stored and was never published"


def test_convergence_catches_a_projection_that_counts_twice():
    """The row is not what the stored facts make of it."""
    found = broken(explorer_of(sell, "kafka"), "Sell>Sold/event.deliver:AddsUp.sold@1=duplicate")

    assert found == {"convergence": "AddsUp['s-1'] is 6, and the stored facts make 3 of it"}


def test_convergence_catches_a_row_that_is_missing():
    """What a projection never wrote is told as missing."""
    found = broken(explorer_of(sell_kept), "Sell/domain_event_bus.send@1=fail")

    assert found["convergence"] == "KeepsEach['s-1 v1'] is missing, and the stored facts make 3 of it"


def test_replay_equality_catches_a_snapshot_ahead_of_the_head(monkeypatch):
    """The snapshot store keeps a version that was never stored."""
    explorer = explorer_of(place)
    keep = InMemorySnapshotStore.keep

    def keep_ahead(store: InMemorySnapshotStore, view: Any, snapshot_time: int) -> None:
        keep(store, view, snapshot_time)
        store._records[view.aggregate_id].version += 1

    monkeypatch.setattr(InMemorySnapshotStore, "keep", keep_ahead)

    assert "has version 2, ahead of the stored head 1" in broken(explorer)["replay_equality"]


def test_replay_equality_catches_a_snapshot_with_another_state(monkeypatch):
    """What the snapshot says is not what the history says."""
    explorer = explorer_of(place)
    keep = InMemorySnapshotStore.keep

    def keep_blank(store: InMemorySnapshotStore, view: Any, snapshot_time: int) -> None:
        keep(store, view, snapshot_time)
        store._records[view.aggregate_id].state_json = b'{"id": "o-1"}'

    monkeypatch.setattr(InMemorySnapshotStore, "keep", keep_blank)

    assert "replay_equality" in broken(explorer)


def test_saga_completeness_catches_a_command_that_is_never_sent():
    """The first command was sent already, so the second one never is."""
    plan = "PlaceOrder>OrderPlaced>TwoAtOnce>PrintLabel/command_bus.send@1=timeout"

    found = broken(explorer_of(reserve), plan)

    assert found["saga_completeness"].startswith("TwoAtOnce never sent PrintLabel(stock)")


def test_saga_completeness_lets_declared_alternatives_pass():
    """A saga that sent what stands in for the missing command owes nothing."""
    plan = "PlaceOrder>OrderPlaced>TwoAtOnce>PrintLabel/command_bus.send@1=timeout"
    allowed = Allowances(alternatives=(reservations.Reserve,))

    assert "saga_completeness" not in broken(explorer_of(reserve, allowed=allowed), plan)


def test_quiescence_catches_a_world_that_never_comes_to_rest():
    """A saga that tries again for ever; the circle is printed."""

    def dial(spec: Spec[Any]) -> Spec[Any]:
        return spec.using(calls).inject_factory(line=Line).when(Dial(id="c-1"))

    found = broken(explorer_of(dial), "Dial/line.call@1=fail")

    assert "the world never comes to rest" in found["quiescence"]
    assert "command_bus.send" in found["quiescence"]


def test_no_swallowed_error_catches_what_nobody_was_told():
    """A saga's command failed, for a reason that no fault gave it."""
    plan = "PlaceOrder>OrderPlaced>ShelfSaga>Pick/domain_event_bus.send@1=delay"

    found = broken(explorer_of(deliver, "kafka"), plan)

    assert "IllegalStateError at command.handler" in found["no_swallowed_error"]
    assert "there is nothing to dispatch" in found["no_swallowed_error"]


def test_no_swallowed_error_catches_a_refusal_that_ended_a_saga_halfway():
    """The first command was refused as it is stored already, and the second one was never sent."""
    plan = "PlaceOrder>OrderPlaced>TwoAtOnce>PrintLabel/command_bus.send@1=timeout"

    found = broken(explorer_of(reserve), plan)

    assert found["no_swallowed_error"].startswith("DuplicateRequestIdError at event.handler:TwoAtOnce.placed")


def shop(spec: Spec[Any]) -> Spec[Any]:
    """A saga of one command, to an aggregate that does again what it is told again."""
    return spec.using(safe_shop).when(PlaceOrder(id="o-1"))


REPETITIONS = pytest.mark.parametrize(
    ("profile", "plan"),
    [
        ("in_memory", "PlaceOrder>OrderPlaced>OrderSaga>ReserveStock/command_bus.send@1=ack_lost"),
        ("kafka", "PlaceOrder>OrderPlaced>OrderSaga>ReserveStock/command_bus.send@1=duplicate"),
        ("kafka", "PlaceOrder>OrderPlaced/event.deliver:OrderSaga.placed@1=duplicate"),
        ("in_memory", "PlaceOrder>OrderPlaced>OrderSaga>ReserveStock/event_store.append@1=ack_lost"),
    ],
)


@REPETITIONS
def test_no_swallowed_error_lets_refused_repetitions_pass(profile, plan):
    """The store refused to do again what is done: whoever sent it has what it wanted."""
    explorer = explorer_of(shop, profile)
    played = explorer.run(Plan.parse(plan))[1]

    refused = [entry for entry in played.session.world.log if isinstance(entry.cause, DuplicateRequestIdError)]
    assert refused
    assert "no_swallowed_error" not in broken(explorer, plan)


def test_no_swallowed_error_catches_a_refusal_of_what_was_never_done(monkeypatch):
    """A store that refuses a request id which it does not know."""
    explorer = explorer_of(shop)
    append = InMemoryEventStore.append_now

    def refuse(store: InMemoryEventStore, stream: Any) -> None:
        if stream.aggregate_id.aggregate_name == "stock":
            raise DuplicateRequestIdError(stream.aggregate_id, stream.request_id)
        append(store, stream)

    monkeypatch.setattr(InMemoryEventStore, "append_now", refuse)

    assert broken(explorer)["no_swallowed_error"].startswith("DuplicateRequestIdError at command.handler")


def test_order_catches_what_is_published_before_it_is_stored(monkeypatch):
    """Subscribers hear of what is not there yet."""
    explorer = explorer_of(place)
    append = AggregateProcessorFilter.append

    def publish_and_append(runtime_filter: AggregateProcessorFilter, stream: Any, exchange: Any) -> Any:
        runtime = runtime_filter._runtime
        runtime.world.carry(
            DOMAIN_EVENT_BUS_SEND, exchange.lane, stream, version_text, runtime.domain_event_bus.send_now
        )
        return append(runtime_filter, stream, exchange)

    monkeypatch.setattr(AggregateProcessorFilter, "append", publish_and_append)

    assert "domain_event_bus.send came before event_store.append for" in broken(explorer)["order"]


def test_always_catches_a_moment():
    """For a moment a file counts as saved that nobody has."""
    found = broken(explorer_of(save), "Save/left.write@1=fail; Save/right.write@1=fail")

    assert list(found) == ["always"]
    assert "before command.acknowledge" in found["always"]


def test_eventually_catches_the_end():
    """In the end a snapshot is there of what was never stored."""
    found = broken(explorer_of(read), "Read/event_store.append@1=fail")

    assert list(found) == ["eventually"]
    assert "what should hold in the end did not" in found["eventually"]


def test_a_condition_that_raises_under_a_fault_breaks_the_law_of_the_end():
    """What it looks for is not there: the law tells the error, and the author's line."""
    steps: Steps = lambda spec: place(spec).eventually(lambda world: {1: "placed"}[world.aggregate(*ORDER).version])
    found = broken(explorer_of(steps), "PlaceOrder/event_store.append@1=fail")

    assert list(found) == ["eventually"]
    first, _, where, _, error, *_ = found["eventually"].splitlines()
    assert first == 'what should hold in the end did not: {1: "placed"}[world.aggregate(*ORDER).version]'
    assert re.fullmatch(r"    .*test_run_laws\.py:\d+ in .*<lambda>", where)
    assert error == "    KeyError: 0"


def test_a_condition_that_raises_at_a_moment_under_a_fault_breaks_the_law_of_always():
    """The law tells the error, the author's line, and the moment."""
    saved = explorer_of(
        lambda spec: save(spec).always(
            lambda world: 1 // (world.service("replicas").holds("f-1") or not world.state(replicas.File, "f-1").saved)
        )
    )
    found = broken(saved, "Save/left.write@1=fail; Save/right.write@1=fail")

    assert list(found) == ["always"]
    lines = found["always"].splitlines()
    raises = next(place for place, line in enumerate(lines) if line == "  it raises:")
    assert lines[raises - 1].startswith("  moment: when(Save), after ")
    assert re.fullmatch(r"    .*test_run_laws\.py:\d+ in .*<lambda>", lines[raises + 1])
    assert lines[raises + 2].startswith("      lambda world: 1 // (world.service(")
    assert lines[raises + 3] == "    ZeroDivisionError: integer division or modulo by zero"


@pytest.mark.parametrize("law", ["always", "eventually"])
def test_a_condition_that_raises_without_a_fault_is_its_author_s_error(law):
    """Nothing is judged then: the error itself is told, with the condition."""
    there = {"all": True}

    def judged(spec: Spec[Any]) -> Any:
        asked = getattr(place(spec), law)(lambda world: there["all"])
        there.clear()
        return asked

    with pytest.raises(KeyError) as raised:
        broken(explorer_of(judged))
    assert raised.value.__notes__[0].startswith(f'in {law}(there["all"])')


def test_assertion_catches_what_the_test_itself_says():
    """An `assert` of the function under test counts under faults."""

    def test(spec: Spec[Any]) -> None:
        run = place(spec).run()
        assert run.succeeded, "the order was not placed"

    with pytest.raises(SpecFailure, match="the order was not placed"):
        explore_faults(points=["event_store.append"], kinds=["fail"])(test)()
    [result] = take()

    assert [item["law"] for item in result["findings"][0]["broken"]] == ["assertion"]


# --- and nobody else is blamed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [law.name for law in RUN_LAWS])
def test_a_law_can_be_switched_off(law):
    """By its name, and by no other."""
    assert require_run_law(law) == law
    with pytest.raises(SpecError, match="instead"):
        require_run_law(f"{law}s")


def test_a_switched_off_law_finds_nothing():
    """Where its author says so, a law is not asked."""
    allowed = Allowances(laws_off=frozenset({"exactly_once"}))

    assert broken(explorer_of(pay, allowed=allowed), "Pay/event_store.append@1=timeout") == {}


def test_a_law_that_breaks_without_faults_is_not_judged(monkeypatch):
    """Of what is broken before anything goes wrong, faults are not the cause."""
    monkeypatch.setattr(InMemoryEventStore, "append_now", lambda store, stream: None)

    explorer = explorer_of(place)

    assert "no_acknowledged_loss" in explorer.unjudged
    assert broken(explorer) == {}


# --- recoveries -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "profile", "recovery", "plan"),
    [
        (place, "in_memory", "resend", "PlaceOrder/domain_event_bus.send@1=fail"),
        (place, "in_memory", "client retry", "PlaceOrder/command_bus.send@1=ack_lost"),
        (sell, "kafka", "restart", "Sell>Sold/event.deliver:AddsUp.sold@1=hang"),
    ],
    ids=["resend", "client retry", "restart"],
)
def test_a_recovery_heals_what_it_is_for(steps, profile, recovery, plan):
    """And nothing else was tried."""
    recoveries = recoveries_of(recovery, IN_MEMORY)

    result, _ = explorer_of(steps, profile, recoveries=recoveries).run(Plan.parse(plan))

    assert result.finding is not None
    assert (result.finding.healed_by, result.finding.tried) == (recovery, (recovery,))
    assert result.recovery == "healed"


@pytest.mark.parametrize("recovery", [row.name for row in RECOVERIES])
def test_a_lost_reply_of_the_store_is_healed_by_none(recovery):
    """The sender was told of a duplicate, and nothing makes that untrue."""
    recoveries = recoveries_of(recovery, IN_MEMORY)

    result, _ = explorer_of(place, recoveries=recoveries).run(Plan.parse("PlaceOrder/event_store.append@1=ack_lost"))

    assert result.recovery == "never heals"


@pytest.mark.parametrize(
    ("profile", "names"),
    [
        ("in_memory", []),
        ("mongo", ["restart"]),
        ("kafka", ["redelivery", "restart"]),
        ("redis", ["redelivery", "restart"]),
    ],
)
def test_a_profile_recovers_by_what_its_runtime_does(profile, names):
    """Without a word of the author's, only that is tried."""
    assert [row.name for row in recoveries_of(None, ports_of(profile_of(profile)))] == names


@pytest.mark.parametrize(
    ("steps", "profile", "plan", "recovery"),
    [
        (place, "in_memory", "PlaceOrder/event_store.append@1=timeout", "retried"),
        (place, "in_memory", "PlaceOrder/wait.notify:PROCESSED@1=ack_lost", "masked"),
        (place, "in_memory", "PlaceOrder/event_store.append@1=fail", "failed honestly"),
        (sell_kept, "kafka", "Sell>Sold/event.deliver:KeepsEach.sold@1=crash_before", "redelivered"),
        (place, "mongo", "PlaceOrder/snapshot.save@1=crash_after", "masked"),
    ],
)
def test_how_a_run_came_out_all_right(steps, profile, plan, recovery):
    """Masked, tried again, delivered again, or failed and told so."""
    result, _ = explorer_of(steps, profile).run(Plan.parse(plan))

    assert result.finding is None
    assert result.recovery == recovery
