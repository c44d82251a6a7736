"""A process dies and starts again: what is lost, what stays, what comes back."""

from __future__ import annotations

import pytest

from wowspec import (
    DeadlineExceeded,
    DuplicateAggregateIdError,
    DuplicateRequestIdError,
    InjectedFault,
    PrepareCompensation,
    SpecError,
    event_processor,
    faults,
    given,
    on,
    on_event,
    profile,
)
from wowspec.errors import ProcessCrash
from wowspec.world.profiles import PROFILES

from .crash_domain import (
    Dispatch,
    OpenParcel,
    Order,
    OrderPaid,
    OrderPlaced,
    Parcel,
    ParcelOpened,
    PayOrder,
    Row,
    Seen,
)

PLACED = on(Order, "o-1", OrderPlaced())
PAY = PayOrder(id="o-1")


def paying(name, *armed, parts=(Seen,)):
    """The run of a payment under a profile with faults."""
    return given(PLACED).with_profile(name).using(*parts).with_faults(*armed).when(PAY).expect_any_outcome().run()


def order_of(run):
    """The order's id."""
    return run.session.reference(on(Order, "o-1"))


def seen(run):
    """What the projection wrote down."""
    return run.session.runtime.views.of(Seen).get("o-1", Row()).seen


# --- the trace without faults ---------------------------------------------------------------------------------------


def test_the_trace_is_the_same_under_every_profile():
    """While nothing goes wrong, a durable bus delivers just as one in memory does: the same points, ids and times."""
    traces = {}
    for row in PROFILES:
        run = given(PLACED).with_profile(row.name).using(Seen, Dispatch, Parcel).when(PAY).expect_any_outcome().run()
        traces[row.name] = [(each.nanos, str(each), each.key) for each in run.session.world.trace.rows]
    assert len(traces["in_memory"]) > 20
    assert all(trace == traces["in_memory"] for trace in traces.values())


# --- commands -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "stored"), [("kafka", 1), ("redis", 1), ("mongo", 0)])
def test_a_command_that_was_not_acknowledged(name, stored):
    """A durable bus gives it to the process that starts again; a bus in memory has died with it."""
    run = paying(name, faults.event_store.append.crashes_before())

    assert isinstance(run.error, DeadlineExceeded)
    assert run.session.runtime.event_store.head_version(order_of(run)) == 1 + stored
    assert seen(run) == ["OrderPaid v2"] * stored


@pytest.mark.parametrize(("name", "published"), [("kafka", 0), ("mongo", 0)])
def test_stored_and_never_published(name, published):
    """After the append the redelivered command is a duplicate: its events stay unpublished for ever."""
    run = paying(name, faults.event_store.append.crashes_after())

    assert run.session.runtime.event_store.head_version(order_of(run)) == 2
    assert len(seen(run)) == published
    duplicates = [entry.cause for entry in run.logged if isinstance(entry.cause, DuplicateRequestIdError)]
    assert len(duplicates) == (1 if name == "kafka" else 0)


def test_an_acknowledged_command_does_not_come_again():
    """Acknowledgement is what ends redelivery; what comes after it is lost with the process."""
    before = paying("kafka", faults.command.acknowledge.crashes_before())
    after = paying("kafka", faults.command.acknowledge.crashes_after())

    for run, appends in ((before, 2), (after, 1)):
        assert sum(row.point == "event_store.append" for row in run.rows) == appends


def test_a_failed_acknowledgement_is_made_good_by_redelivery():
    """What was handled but not acknowledged stays on the bus, without a crash too, until it is delivered again."""
    run = paying("kafka", faults.command.acknowledge.fails())
    runtime = run.session.runtime
    appends = [row.outcome for row in runtime.world.trace.rows if row.point == "event_store.append"]

    assert runtime.redeliver() == 1
    runtime.world.scheduler.run()

    now = [row.outcome for row in runtime.world.trace.rows if row.point == "event_store.append"]
    assert now == [*appends, "error:DuplicateRequestIdError"]
    assert runtime.redeliver() == 0


def test_nothing_is_redelivered_in_memory():
    """Acknowledging has no effect there."""
    run = paying("in_memory", faults.command.acknowledge.fails())

    assert run.session.runtime.redeliver() == 0


# --- events ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "times"), [("kafka", 2), ("redis", 2), ("mongo", 1)])
def test_the_projection_gets_the_event_again(name, times):
    """It wrote, and the process died before the event was acknowledged: views stay, and the event comes again."""
    run = paying(name, faults.event.deliver(Seen, "on_paid").crashes_after())

    assert seen(run) == ["OrderPaid v2"] * times


@pytest.mark.parametrize(("name", "times"), [("kafka", 1), ("mongo", 0)])
def test_a_crash_before_the_projection(name, times):
    """It wrote nothing yet; where the bus is durable, it does now."""
    assert seen(paying(name, faults.event.deliver(Seen, "on_paid").crashes_before())) == ["OrderPaid v2"] * times


def test_each_kind_of_dispatcher_acknowledges_for_itself():
    """The projection was done with the event; only the saga, which was struck, gets it again."""
    run = paying("kafka", faults.command_bus.send.crashes_before(aggregate="p-o-1"), parts=(Seen, Dispatch, Parcel))

    delivered = [row.point.partition(":")[2] for row in run.rows if row.point.startswith("event.deliver")]
    assert delivered.count("Dispatch.on_paid") == 2
    assert delivered.count("Seen.on_paid") in (1, 2)
    assert run.session.runtime.event_store.head_version(on_parcel(run)) == 1


def on_parcel(run):
    """The parcel's id."""
    return run.session.reference(on(Parcel, "p-o-1"))


def test_a_saga_that_sent_its_command_is_not_doubled():
    """The command comes from the bus and from the saga: the second one finds the parcel there already."""
    run = (
        given(PLACED)
        .with_profile("kafka")
        .using(Dispatch, Parcel)
        .with_faults(faults.command_bus.send.crashes_after(aggregate="p-o-1"))
        .when(PAY)
        .expect_unknown_outcome()
        .expect_downstream_error(OpenParcel, DuplicateAggregateIdError)
        .run()
    )
    streams = run.session.runtime.event_store.peek(on_parcel(run))
    assert [type(event.body) for stream in streams for event in stream.events] == [ParcelOpened]


def test_snapshots_come_again():
    """The snapshot branch is a consumer like any other."""
    run = paying("kafka", faults.snapshot.save.crashes_before())

    assert run.session.runtime.snapshot_store.record(order_of(run)).version == 2


# --- what a process has in memory -----------------------------------------------------------------------------------


def test_the_filter_of_request_ids_is_forgotten():
    """An id that a lost command had spent is new to the process that starts again; without a crash it stays spent."""
    noop = {"request_id_existence": "noop"}

    def twice(armed):
        return (
            given(PLACED)
            .with_profile(profile("mongo", **noop))
            .with_faults(armed)
            .when(PAY, request_id="r-1")
            .expect_any_outcome()
            .when(PAY, request_id="r-1")
        )

    twice(faults.command_bus.send.crashes_before()).expect_event_types(OrderPaid)
    twice(faults.command_bus.send.fails()).expect_error(DuplicateRequestIdError)


def test_wait_handles_are_lost():
    """Who waited hears nothing any more, though the command is processed after all; no handle is left over."""
    run = paying("kafka", faults.event_store.append.crashes_before())

    assert isinstance(run.error, DeadlineExceeded)
    assert str(run.error) == "the process of the sender of pay_order for order(o-1) has died: its outcome is unknown"
    assert run.session.runtime.coordinator.waiting == ()
    assert any(row.point == "wait.notify:PROCESSED" for row in run.rows)


def test_hung_work_is_gone():
    """A group of aggregates that a hung command blocked is free in the process that starts again."""
    hung = paying("kafka", faults.event_store.append.hangs())
    runtime = hung.session.runtime
    assert any(groups.lines for groups in runtime.groups())

    runtime.restart()
    assert runtime.armory is not None
    runtime.world.scheduler.run()

    assert not any(groups.lines for groups in runtime.groups())
    assert runtime.event_store.head_version(order_of(hung)) == 2


class Counter:
    """A service that outlives the process."""

    def __init__(self):
        self.made = 0


@event_processor(context="crash")
class Remembering:
    """Remembers in its own object how often it was called."""

    def __init__(self, counter: Counter) -> None:
        counter.made += 1
        self.calls = 0

    @on_event
    def on_paid(self, event: OrderPaid) -> None:
        self.calls += 1


def test_processor_objects_are_made_anew_and_services_stay():
    """Fields of a processor are memory; what is injected lies outside of the process."""
    counter = Counter()
    run = (
        given(PLACED)
        .with_profile("kafka")
        .inject(counter)
        .using(Remembering)
        .with_faults(faults.event.deliver(Remembering).crashes_after())
        .when(PAY)
        .expect_any_outcome()
        .run()
    )
    assert counter.made == 2
    assert run.session.runtime.processor(Remembering).calls == 1


def test_timers_die_with_the_process():
    """A retry that was to come is not due any more; the redelivered command is not slowed down by it."""
    run = paying(
        "kafka",
        faults.event_store.append.times_out(),
        faults.snapshot.load.crashes_before(at=2),
    )
    assert run.session.runtime.event_store.head_version(order_of(run)) == 2
    assert run.session.world.scheduler.timers == []


# --- where a crash strikes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kafka", "mongo", "redis"])
def test_every_crash_on_the_way(name):
    """Wherever the process dies, the client is left without an answer or has had one, and no author is blamed."""
    base = given(PLACED).with_profile(name).using(Seen, Dispatch)
    crashes = [
        fault
        for fault in faults.along(base.when(PAY).expect_any_outcome().run().trace, profile=name)
        if fault.kind.value.startswith("crash")
    ]
    assert len(crashes) > 25
    for fault in crashes:
        run = base.with_faults(fault).when(PAY).expect_any_outcome().run()
        assert run.session.world.deaths == 1, str(fault)
        assert run.error is None or isinstance(run.error, DeadlineExceeded), str(fault)


def test_a_crash_at_a_notification():
    """It dies below plain code, which is stopped all the same: what comes after the notification does not happen."""
    run = paying("mongo", faults.wait.notify("PROCESSED").crashes_before())

    assert isinstance(run.error, DeadlineExceeded)
    assert run.session.world.spec_errors == []


def test_ids_and_time_go_on():
    """The process that starts again makes no id twice."""
    run = paying("kafka", faults.event_store.append.crashes_after(), parts=(Dispatch, Parcel))
    ids = [stream.id for ref in run.session.runtime.event_store.aggregate_ids()
           for stream in run.session.runtime.event_store.peek(ref)]  # fmt: skip

    assert len(ids) == len(set(ids))


def test_a_copy_of_the_world_keeps_what_is_not_acknowledged():
    """A branch of a spec has the same messages on its buses."""
    first = (
        given(PLACED)
        .with_profile("kafka")
        .with_faults(faults.command.acknowledge.fails())
        .when(PAY)
        .expect_error(InjectedFault)
    )
    runtime = first.when(PAY).expect_any_outcome().run().session.runtime

    assert runtime.redeliver() == 1
    runtime.world.scheduler.run()
    assert runtime.redeliver() == 0


def test_in_memory_there_is_nothing_to_come_back_to():
    """A crash is refused where the profile has none, with the profiles that have."""
    with pytest.raises(SpecError) as caught:
        paying("in_memory", faults.event_store.append.crashes_before())

    assert caught.value.what == "crashes_before() cannot happen at event_store.append under the profile 'in_memory'"
    assert caught.value.instead == "with_profile('kafka') or with_profile('mongo') or with_profile('redis')"


# --- plain code -----------------------------------------------------------------------------------------------------


class Payment:
    """A plain service."""

    def __init__(self):
        self.charged = 0

    def charge(self) -> None:
        self.charged += 1


@event_processor(context="crash")
class Careless:
    """Catches everything."""

    @on_event
    def on_paid(self, event: OrderPaid, payment: Payment) -> None:
        try:
            payment.charge()
        except:  # noqa: E722 - what this is about
            payment.charged = -1


@event_processor(context="crash")
class Careful:
    """Catches what can be handled."""

    @on_event
    def on_paid(self, event: OrderPaid, payment: Payment) -> None:
        try:
            payment.charge()
        except Exception:
            payment.charged = -1


def charging(processor, payment):
    """A payment with a processor whose plain call of a service is struck by a crash."""
    return (
        given(PLACED)
        .with_profile("kafka")
        .inject(payment=payment)
        .using(processor)
        .with_faults(faults.service("payment").charge.crashes_after())
        .when(PAY)
        .expect_any_outcome()
        .run()
    )


def test_a_crash_in_a_plain_call():
    """It is raised there as what no `except Exception` catches; then the event comes again, and is charged again."""
    payment = Payment()
    run = charging(Careful, payment)

    assert payment.charged == 2
    assert run.session.world.spec_errors == []


def test_code_that_swallows_a_crash_is_named():
    """A bare except goes on in a process that has died: the author is told whose it is."""
    with pytest.raises(SpecError) as caught:
        charging(Careless, Payment())

    assert caught.value.what == "Careless.on_paid swallowed the crash of its process, and went on"


def test_a_crash_is_no_exception():
    """So that user code that handles errors does not handle it."""
    assert not issubclass(ProcessCrash, Exception)


# --- other worlds ---------------------------------------------------------------------------------------------------


def test_a_gateways_caller_has_no_answer(gateway):
    """The call ends in an unknown outcome; the next one reaches the process that has started again."""
    gateway.world.with_profile("kafka")
    gateway.world.using(Order, Seen)
    gateway.world.given(PLACED)
    gateway.world.arm(faults.event_store.append.crashes_before())

    with pytest.raises(DeadlineExceeded):
        gateway.send_and_wait(PAY)
    assert gateway.world.views(Seen)["o-1"].seen == ["OrderPaid v2"]

    gateway.send_and_wait(PAY)
    assert gateway.world.views(Seen)["o-1"].seen == ["OrderPaid v2", "OrderPaid v3"]


def test_a_crash_while_the_world_is_walked_through(gateway):
    """Moving from point to point meets the crash as any other run does."""
    gateway.world.with_profile("kafka")
    gateway.world.using(Order, Seen)
    gateway.world.given(PLACED)
    gateway.world.arm(faults.event_store.append.crashes_before())
    call = gateway.start(PAY)

    gateway.world.run_until("event_store.append", times=2)
    gateway.world.run()

    assert gateway.world.views(Seen)["o-1"].seen == ["OrderPaid v2"]
    with pytest.raises(DeadlineExceeded):
        call.result()


def test_commands_in_flight():
    """In every order of two commands a crash loses none that the durable bus had accepted: one of them at least."""
    (
        given(PLACED)
        .with_profile("kafka")
        .using(Seen)
        .with_faults(faults.event_store.append.crashes_before())
        .when_concurrently(PAY, PAY, max_schedules=80)
        .expect_any_outcome()
        .expect_state(lambda state: state.paid >= 1)
    )


def test_two_processes():
    """One of two processes cannot die alone; the author is told."""
    with pytest.raises(SpecError, match=r"a crash at event_store\.append, in a world of two processes"):
        (
            given(PLACED)
            .with_profile("kafka")
            .with_faults(faults.event_store.append.crashes_before())
            .when_concurrently(PAY, PAY, processes=2, max_schedules=10)
            .expect_any_outcome()
        )


def test_compensation_after_a_restart():
    """What publishes again uses the buses that there are then, and records of failures are kept as before."""
    prepared = (
        given(PLACED)
        .with_profile(profile("mongo", compensation=True))
        .using(Seen)
        .with_faults(
            faults.event.deliver(Seen, "on_paid").fails(),
            faults.wait.notify("PROCESSED").crashes_after(aggregate="o-1"),
        )
    )
    run = prepared.when(PAY).expect_any_outcome().run()
    assert run.session.world.deaths == 1
    runtime = run.session.runtime
    assert runtime.compensation is not None
    runtime.resend(runtime.event_store.load_now(order_of(run), 2, 2))
    runtime.world.scheduler.run()
    record = next(ref for ref in runtime.event_store.aggregate_ids() if ref.aggregate_name == "execution_failed")
    task = runtime.world.scheduler.spawn(
        runtime.gateway.send(runtime.message(PrepareCompensation(id=record.id))), "prepare"
    )
    runtime.world.scheduler.run()

    assert task.done
    assert seen(run) == ["OrderPaid v2"]


def test_resending():
    """Stored streams are published again on both buses; nothing else is."""
    run = paying("mongo", faults.command.acknowledge.crashes_after())
    runtime = run.session.runtime
    assert seen(run) == []
    start = len(run.session.world.trace)

    runtime.resend(runtime.event_store.load_now(order_of(run), 2, 2))
    runtime.world.scheduler.run()

    assert seen(run) == ["OrderPaid v2"]
    assert [(row.point, row.detail) for row in run.session.world.trace.rows[start:]] == [
        ("domain_event_bus.send", "v2"),
        ("state_event_bus.send", "v2"),
        ("event.deliver:Seen.on_paid", "OrderPaid v2#1"),
        ("snapshot.save", "v2"),
    ]


def test_resending_meets_faults():
    """One stream that cannot be published does not keep the next one back."""
    run = paying("mongo", faults.command.acknowledge.crashes_after())
    runtime = run.session.runtime
    runtime.arm_fault(faults.domain_event_bus.send.fails())

    runtime.resend(runtime.event_store.load_now(order_of(run)))
    runtime.world.scheduler.run()

    assert seen(run) == ["OrderPaid v2"]
    assert [entry.point for entry in runtime.world.log] == ["domain_event_bus.send"]


@pytest.mark.asyncio
async def test_a_caller_in_an_event_loop(gateway):
    """An awaited call of a process that has died comes back just so."""
    gateway.world.with_profile("kafka")
    gateway.world.using(Order, Seen)
    gateway.world.given(PLACED)
    gateway.world.arm(faults.event_store.append.crashes_before())

    with pytest.raises(DeadlineExceeded):
        await gateway.aio.send_and_wait(PAY)
    assert gateway.world.views(Seen)["o-1"].seen == ["OrderPaid v2"]
