"""The gateway as tests use it: its calls, its world, and what is judged when the test ends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import wowspec as ws
from wowspec import (
    CommandResultError,
    CommandStage,
    CommandValidationError,
    DeadlineExceeded,
    DuplicateAggregateIdError,
    DuplicateRequestIdError,
    Gateway,
    InjectedFault,
    SpecError,
    SpecFailure,
    command_builder,
    command_of,
    faults,
    on,
    processed,
    projected,
    sent,
    sent_as,
    snapshot,
    stream,
)
from wowspec.errors import IllegalArgumentError
from wowspec.world.foreign import ForeignAwaitError

from .gateway_domain import (
    CreateOrder,
    Fetch,
    Fetched,
    Hits,
    Note,
    Noted,
    Order,
    OrderCreated,
    OrderPaid,
    OrderView,
    PayOrder,
    Raise,
    Source,
    ViewOrder,
    shop,
)


@pytest.fixture
def gateway():
    """A gateway over a fresh world, as the plugin's fixture gives one, but judged by nobody."""
    made = Gateway()
    made.world.using(Order)
    return made


# --- calls ------------------------------------------------------------------------------------------------------------


def test_results(gateway):
    """A call gives the result of the stage that it waits for; afterwards the world has come to rest."""
    gateway.world.using(OrderView)

    result = gateway.send_and_wait(CreateOrder(id="o-1"), wait_for=projected("shop", processor="OrderView"))

    assert result.succeeded
    assert result.stage is CommandStage.PROJECTED
    assert (result.aggregate_id, result.aggregate_version) == ("o-1", 1)
    assert gateway.send_and_wait(PayOrder(id="o-1")).stage is CommandStage.PROCESSED
    assert gateway.send_and_wait_for_sent(PayOrder(id="o-1")).stage is CommandStage.SENT
    assert gateway.send_and_wait_for_processed(PayOrder(id="o-1")).stage is CommandStage.PROCESSED
    assert gateway.send_and_wait_for_snapshot(PayOrder(id="o-1")).stage is CommandStage.SNAPSHOT
    assert gateway.send(PayOrder(id="o-1")) is None
    assert gateway.world.aggregate(Order, "o-1").version == 6
    assert gateway._held.session.world.scheduler.is_idle


def test_stream_of_results_is_a_list(gateway):
    """The synchronous form gives all results at once, a failed one as an ordinary last item."""
    stages = [result.stage.name for result in gateway.send_and_wait_stream(CreateOrder(id="o-1"), wait_for=snapshot())]
    failed = gateway.send_and_wait_stream(PayOrder(id="o-1", amount=11))

    assert stages == ["SENT", "PROCESSED", "SNAPSHOT"]
    assert [(result.stage.name, result.succeeded) for result in failed] == [("SENT", True), ("PROCESSED", False)]


def test_no_virtual_time_passes_without_need(gateway):
    """Deadlines of calls that were answered are taken back, so time stands where the commands left it."""
    started = gateway.world.now()

    gateway.send_and_wait(CreateOrder(id="o-1"))
    gateway.send_and_wait_stream(PayOrder(id="o-1"), wait_for=snapshot())

    assert gateway.world.now() == started


@pytest.mark.parametrize(
    "command",
    [
        PayOrder(id="o-1", amount=2),
        command_of(PayOrder, id="o-1", amount=2),
        command_builder(PayOrder(amount=2)).aggregate_id("o-1"),
        sent_as(PayOrder(amount=2), aggregate_id="o-1"),
    ],
    ids=["command", "command_of", "builder", "sent_as"],
)
def test_forms_of_a_command(gateway, command):
    """A command may come bare, from its fields, as a builder, or in an envelope."""
    gateway.world.given(on(Order, "o-1", OrderCreated()))

    assert gateway.send_and_wait(command).aggregate_id == "o-1"
    assert gateway.world.state(Order, "o-1").paid == 2


def test_a_ready_message_is_sent_as_it_is(gateway):
    """A message that was built before keeps its ids; options beside it are refused."""
    message = gateway._held.session.runtime.message(CreateOrder(id="o-1"), request_id="r-1")

    result = gateway.send_and_wait(message)

    assert (result.command_id, result.request_id) == (message.id, "r-1")
    for command in (message, command_builder(PayOrder(id="o-1"))):
        with pytest.raises(SpecError, match="owner_id= beside a Command"):
            gateway.send(command, owner_id="u-1")


def test_envelope(gateway):
    """What a call says beside the command reaches the message."""
    gateway.send_and_wait(
        CreateOrder(), aggregate_id="o-9", owner_id="u-1", tenant_id="t-1", space_id="s-1", request_id="r-1",
        header={"colour": "red"},
    )  # fmt: skip

    aggregate = gateway.world.aggregate(Order, "o-9", tenant_id="t-1")
    assert (aggregate.owner_id, aggregate.space_id, aggregate.aggregate_id.tenant_id) == ("u-1", "s-1", "t-1")
    [sent_stream] = gateway._held.session.runtime.event_store.peek(aggregate.aggregate_id)
    assert sent_stream.request_id == "r-1"
    assert gateway.world.trace[0].subject.header["colour"] == "red"
    with pytest.raises(CommandResultError, match="expects version 5"):
        gateway.send_and_wait(PayOrder(id="o-9"), tenant_id="t-1", expected_version=5, owner_id="u-1", space_id="s-1")


def test_a_command_without_an_id(gateway):
    """It goes to the aggregate of its type last spoken of; a create command makes a new one at each call."""
    first = gateway.send_and_wait(CreateOrder()).aggregate_id
    second = gateway.send_and_wait(CreateOrder()).aggregate_id

    assert first != second
    assert gateway.send_and_wait(PayOrder()).aggregate_id == second
    gateway.world.given(on(Order, first, OrderPaid()))
    assert gateway.send_and_wait(PayOrder()).aggregate_id == first


def test_an_instance_without_an_id(gateway):
    """History without an id begins an instance that is the one spoken of; `world` finds it without one, too."""
    gateway.world.given(OrderCreated(), OrderPaid(amount=2))
    begun = gateway.send_and_wait(PayOrder(amount=3)).aggregate_id

    assert gateway.world.state(Order).paid == 5
    assert gateway.world.aggregate(Order).aggregate_id.id == begun
    assert gateway.world.stored(Order).types == (OrderCreated, OrderPaid, OrderPaid)
    assert gateway.world.published(Order).types == (OrderPaid,)
    gateway.send_and_wait(CreateOrder(id="o-1"), tenant_id="t-1")
    assert gateway.world.aggregate(Order).aggregate_id.id == "o-1"
    assert gateway.world.aggregate(Order, tenant_id="t-1").version == 1
    assert gateway.world.state(Order, begun).paid == 5


# --- what calls raise -------------------------------------------------------------------------------------------------


def test_a_failed_command(gateway):
    """Who waits gets a `CommandResultError` with the result; its cause is the handler's own error."""
    gateway.world.given(on(Order, "o-1", OrderCreated()))

    with pytest.raises(CommandResultError, match="at most 10") as raised:
        gateway.send_and_wait(PayOrder(id="o-1", amount=11))

    error = raised.value
    assert (error.result.error_code, error.result.stage) == ("IllegalArgument", CommandStage.PROCESSED)
    assert type(error.original) is ValueError
    assert error.__cause__ is error.original
    gateway.send(PayOrder(id="o-1", amount=11))


def test_checks(gateway):
    """What refuses a command before it is sent is raised as it is by `send`, and as a result by calls that wait."""
    gateway.world.given(sent_as(CreateOrder(id="o-1"), request_id="r-1"))

    with pytest.raises(DuplicateRequestIdError):
        gateway.send(PayOrder(id="o-1"), request_id="r-1")
    with pytest.raises(CommandResultError) as refused:
        gateway.send_and_wait(PayOrder(id="o-1"), request_id="r-1")
    assert type(refused.value.original) is DuplicateRequestIdError
    with pytest.raises(CommandResultError) as exists:
        gateway.send_and_wait(CreateOrder(id="o-1"))
    assert type(exists.value.original) is DuplicateAggregateIdError


@pytest.mark.parametrize("call", ["send_and_wait", "send_and_wait_for_sent", "send_and_wait_stream"])
def test_fields_that_the_class_refuses(gateway, call):
    """`command_of` with wrong fields is what field validation says of them, and leaves its row in the trace."""
    with pytest.raises(CommandResultError) as raised:
        getattr(gateway, call)(command_of(PayOrder, id="o-1", amount=0), request_id="r-1")

    result = raised.value.result
    assert (result.error_code, result.stage, result.succeeded) == ("CommandValidation", CommandStage.SENT, False)
    assert (result.context_name, result.aggregate_name, result.aggregate_id) == ("shop", "order", "o-1")
    assert [item.name for item in result.binding_errors] == ["amount"]
    assert result.request_id == "r-1"
    assert type(raised.value.original) is CommandValidationError
    assert [(row.point, row.outcome) for row in gateway.world.trace] == [("command.validate", "violations:1")]


def test_fields_that_the_class_refuses_when_sent(gateway):
    """`send` raises the validation error itself, as for an instance that was never valid."""
    for command in (command_of(PayOrder, id="o-1", amount=0), PayOrder.model_construct(id="o-1", amount=0)):
        with pytest.raises(CommandValidationError) as raised:
            gateway.send(command)
        assert [item.name for item in raised.value.binding_errors] == ["amount"]


def test_void_command(gateway):
    """A void command can be sent, and waited for until SENT; any other wait is an illegal argument, raised as it is."""
    assert gateway.send(ViewOrder(id="o-1")) is None
    assert gateway.send_and_wait(ViewOrder(id="o-1"), wait_for=sent()).stage is CommandStage.SENT
    for call in (gateway.send_and_wait, gateway.send_and_wait_for_snapshot, gateway.send_and_wait_stream):
        with pytest.raises(IllegalArgumentError, match="void command"):
            call(ViewOrder(id="o-1"))


def test_deadline_is_an_unknown_outcome(gateway):
    """A deadline passes on virtual time, is a `TimeoutError`, and undoes nothing."""
    started = gateway.world.now()
    gateway.world.arm(faults.domain_event_bus.send.hangs())

    with pytest.raises(TimeoutError) as raised:
        gateway.send_and_wait(CreateOrder(id="o-1"), wait_for=processed().with_timeout(seconds=5))

    assert type(raised.value) is DeadlineExceeded
    assert gateway.world.stored(Order, "o-1")
    assert not gateway.world.published(Order, "o-1")
    assert gateway.world.now() - started == timedelta(seconds=5)


def test_a_call_that_never_returns(gateway):
    """A plain `send` has no deadline: where it hangs, the error says so instead of hanging the test."""
    gateway.world.arm(faults.command_bus.send.hangs())

    with pytest.raises(SpecError, match=r"gateway\.send\(\.\.\.\) never returns"):
        gateway.send(CreateOrder(id="o-1"))


def test_processor_that_is_not_there(gateway):
    """A wait for a processor that the world does not hold ends at its deadline, as in the runtime."""
    with pytest.raises(DeadlineExceeded):
        gateway.send_and_wait(CreateOrder(id="o-1"), wait_for=projected("shop", processor="OrderView"))


def test_real_waiting_needs_the_asynchronous_form(gateway):
    """A handler that awaits an event loop gets a clear error that names it; the next call is not blamed for it."""

    class Real(Source):
        async def get(self, id):
            import asyncio

            await asyncio.sleep(0.001)

    gateway.world.provide(Real())

    with pytest.raises(ForeignAwaitError, match=r"Order\.fetch") as raised:
        gateway.send_and_wait(Fetch(id="f-1"))

    assert "gateway.aio" in str(raised.value)
    assert gateway.send_and_wait(CreateOrder(id="o-1")).succeeded


def test_missing_service(gateway):
    """A service that nothing supplies is an author's error that names parameter and handler."""
    with pytest.raises(SpecError, match=r"'source' of .*Order\.fetch"):
        gateway.send_and_wait(Fetch(id="f-1"))


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda gateway: gateway.send(CreateOrder), "CreateOrder, which is no command"),
        (lambda gateway: gateway.send(None), "None, which is no command"),
        (lambda gateway: gateway.send(Order), "Order, which is no command"),
        (lambda gateway: gateway.send(OrderCreated()), "no aggregate handles the command OrderCreated"),
        (lambda gateway: gateway.send(command_builder(OrderCreated()).named_aggregate("shop.cart")), "no aggregate"),
        (lambda gateway: gateway.send(CreateOrder(), colour="red"), "unknown option 'colour'"),
        (lambda gateway: gateway.send(CreateOrder(), wait_for=sent()), r"send\(\.\.\., wait_for="),
        (lambda gateway: gateway.send_and_wait(CreateOrder(), wait_for="PROCESSED"), "wait_for='PROCESSED'"),
        (lambda gateway: gateway.send_and_wait_stream(CreateOrder(), wait_for=5), "wait_for=5"),
        (lambda gateway: gateway.world.using(CreateOrder), r"using\(CreateOrder\)"),
        (lambda gateway: gateway.world.arm("event_store.append"), r"gateway\.world\.arm\('event_store\.append'\)"),
        (lambda gateway: gateway.world.arm(faults.event_store.append.fails(aggregate=7)), "aggregate=7"),
        (lambda gateway: gateway.world.with_profile("oracle"), "unknown profile 'oracle'"),
        (lambda gateway: gateway.world.without_law("replay"), "there is no law 'replay'"),
        (lambda gateway: gateway.world.state(Order, ""), "has no id"),
        (lambda gateway: gateway.world.state(Order), "Order without an id: no instance of it was spoken of\n"),
        (
            lambda gateway: (gateway.send(CreateOrder(id="o-1")), gateway.world.state(Order, tenant_id="t-1")),
            "in the tenant 't-1' last",
        ),
        (lambda gateway: gateway.world.at(datetime(2030, 1, 1)), "has no time zone"),  # noqa: DTZ001
        (lambda gateway: gateway.world.advance(seconds=-1), "negative"),
    ],
)
def test_bad_input(gateway, use, text):
    """What the author got wrong is said at once, with what to write instead."""
    with pytest.raises(SpecError, match=text) as raised:
        use(gateway)
        gateway.world.stored(Order, "o-1")
    gateway.world.disarm()

    assert raised.value.instead


# --- the world --------------------------------------------------------------------------------------------------------


def test_shape_before_the_first_use():
    """Parts, profile and filters are said first; later they are refused, each with the reason."""
    passed = []

    class Tap:
        async def filter(self, exchange, next):
            passed.append(exchange.message.name)
            await next(exchange)

    gateway = Gateway()
    gateway.world.using(shop)
    gateway.world.without(OrderView)
    gateway.world.with_profile(ws.profile(request_id_existence="noop"))
    gateway.world.add_filter(Tap(), name="tap")

    gateway.send_and_wait(CreateOrder(id="o-1"))

    assert passed == ["create_order"]
    assert gateway._held.session.runtime.processor(OrderView) is None
    for use in (
        lambda world: world.without(OrderView),
        lambda world: world.with_profile("in_memory"),
        lambda world: world.add_filter(Tap()),
    ):
        with pytest.raises(SpecError, match="after the world was made"):
            use(gateway.world)
    gateway.world.using(OrderView)
    assert gateway.send_and_wait(PayOrder(id="o-1"), wait_for=projected("shop")).stage is CommandStage.PROJECTED


def test_worlds_are_apart():
    """Two gateways share nothing."""
    one, other = Gateway(), Gateway()
    one.send_and_wait(CreateOrder(id="o-1"))

    assert len(one.world.stored(Order, "o-1")) == 1
    assert not other.world.stored(Order, "o-1")


def test_services(gateway):
    """Services are given before the first use (a processor's constructor may ask for them) or later, by name too."""
    hits = []
    gateway.world.provide(hits=hits)
    gateway.world.using(Hits)

    class Answer(Source):
        async def get(self, id):
            return 42

    gateway.send_and_wait(CreateOrder(id="o-1"))
    gateway.world.provide(Answer())
    gateway.send_and_wait(Fetch(id="o-1"))

    assert hits == ["o-1"]
    assert gateway.world.state(Order, "o-1").fetched == [42]


def test_history(gateway):
    """`given` writes history as in a spec: several aggregates, streams of events, commands that must succeed."""
    gateway.world.given(
        on(Order, "o-1", OrderCreated(), OrderPaid(amount=3), owner_id="u-1"),
        on(Order, "o-2", stream(OrderCreated(), OrderPaid())),
    )
    gateway.world.given(PayOrder(id="o-2", amount=2))

    assert gateway.world.aggregate(Order, "o-1").owner_id == "u-1"
    assert gateway.world.state(Order, "o-1").paid == 3
    assert gateway.world.aggregate(Order, "o-2").version == 2
    assert gateway.world.stored(Order, "o-2") == [OrderCreated(), OrderPaid(), OrderPaid(amount=2)]
    with pytest.raises(SpecFailure, match=r"item 1 of given\(\.\.\.\), PayOrder\(.*, failed with ValueError"):
        gateway.world.given(PayOrder(id="o-2", amount=20))


def test_time():
    """Time is set and passes before and after the first use; what is due on the way happens."""
    gateway = Gateway()
    gateway.world.at(datetime(2030, 5, 1, tzinfo=UTC))
    gateway.world.advance(hours=1)
    assert gateway.world.now() == datetime(2030, 5, 1, 1, tzinfo=UTC)

    gateway.send_and_wait(CreateOrder(id="o-1"))
    gateway.world.advance(days=1, milliseconds=5)
    gateway.world.at(datetime(2030, 5, 3, tzinfo=UTC))
    gateway.send_and_wait(PayOrder(id="o-1"))

    assert gateway.world.now() == datetime(2030, 5, 3, tzinfo=UTC)
    aggregate = gateway.world.aggregate(Order, "o-1")
    assert aggregate.event_time - aggregate.first_event_time == 47 * 3600 * 1000
    with pytest.raises(SpecError, match="has passed"):
        gateway.world.at(datetime(2029, 1, 1, tzinfo=UTC))


def test_what_is_not_there(gateway):
    """An instance without history has version 0, no events, and the state that it would begin with."""
    assert gateway.world.aggregate(Order, "o-1").version == 0
    assert gateway.world.state(Order, "o-1").paid == 0
    assert not gateway.world.stored(Order, "o-1")
    assert not gateway.world.published(Order, "o-1")
    assert gateway.world.trace == []
    assert gateway.world.logged == []


def test_what_is_looked_at_is_a_copy(gateway):
    """A test that changes what it was given changes nothing in the world."""
    gateway.world.given(on(Order, "o-1", Fetched(value=1)))

    gateway.world.state(Order, "o-1").fetched.append(2)
    gateway.world.trace.clear()

    assert gateway.world.state(Order, "o-1").fetched == [1]


def test_faults_for_one_aggregate(gateway):
    """A fault's `aggregate=` is a type, an id or an instance, as in a spec; its visits count from when it was armed."""
    gateway.send_and_wait(CreateOrder(id="o-1"))
    gateway.world.arm(
        faults.event_store.append.fails(aggregate=on(Order, "o-1")), faults.event_store.append.fails(aggregate="o-3")
    )

    assert gateway.send_and_wait(CreateOrder(id="o-2")).succeeded
    for command in (PayOrder(id="o-1"), CreateOrder(id="o-3")):
        with pytest.raises(CommandResultError) as raised:
            gateway.send_and_wait(command)
        assert type(raised.value.original) is InjectedFault
    assert gateway.send_and_wait(PayOrder(id="o-1")).succeeded


def test_disarm(gateway):
    """A fault that is taken out strikes no more; all of them, if none is named."""
    fault = faults.event_store.append.fails(times=9)
    for disarm in (lambda: gateway.world.disarm(fault), gateway.world.disarm):
        gateway.world.arm(fault)
        with pytest.raises(CommandResultError):
            gateway.send_and_wait(CreateOrder(id="o-1"))
        disarm()
    assert gateway.send_and_wait(CreateOrder(id="o-1")).succeeded


def test_laws_are_checked_after_each_call(gateway):
    """A broken law fails the call, with the pipeline; a law that is switched off does not."""
    gateway.world.using(Note)

    with pytest.raises(SpecFailure, match=r"(?s)seen.*gateway\.world\.without_law.*event_store\.append"):
        gateway.send_and_wait(Noted(id="n-1", text="a"))
    gateway.world.without_law("replay_equality", "immutability", "json_equality", "snapshot_equality")
    assert gateway.send_and_wait(Noted(id="n-2", text="a")).succeeded


# --- when the test ends -----------------------------------------------------------------------------------------------


def test_fault_that_never_struck(gateway):
    """It is told once, with the line that armed it and the line that opts out."""
    gateway.send_and_wait(CreateOrder(id="o-1"))
    gateway.world.arm(faults.event_store.append.fails(at=2))
    gateway.send_and_wait(PayOrder(id="o-1"))

    with pytest.raises(
        SpecFailure, match=r"event_store\.append@2=fail, armed at .*test_gateway\.py:\d+, never"
    ) as raised:
        gateway._held.settle()

    assert "gateway.world.disarm()" in str(raised.value)
    gateway._held.settle()


def test_fault_in_a_world_that_was_never_used(gateway):
    """A fault counts although the test never used the gateway; one that was taken out does not."""
    gateway.world.arm(faults.event_store.append.fails())

    with pytest.raises(SpecFailure, match="never struck"):
        gateway._held.settle()
    gateway.world.arm(faults.event_store.append.fails())
    gateway.world.disarm()
    gateway._held.settle()


def test_downstream_error_that_nobody_looked_at(gateway):
    """An error that the runtime swallowed fails the test, with the handler's lines, unless it was looked at."""
    gateway.world.using(OrderView)
    gateway.world.given(on(Order, "o-1", OrderCreated()))
    assert gateway.send_and_wait(Raise(id="o-1")).succeeded

    with pytest.raises(SpecFailure, match=r"(?s)swallowed an error.*KeyError.*Alarm.*in OrderView\.on_alarm") as raised:
        gateway._held.settle()
    assert "gateway.world.logged" in str(raised.value)
    gateway._held.settle()

    gateway.send_and_wait(Raise(id="o-1"))
    assert [type(entry.error) for entry in gateway.world.logged] == [KeyError, KeyError]
    gateway._held.settle()


def test_errors_that_somebody_knows_of(gateway):
    """A command's own failure, an injected fault, and an error that the caller was told of are not unseen."""
    gateway.world.using(OrderView)
    gateway.world.given(on(Order, "o-1", OrderCreated()))
    gateway.send(PayOrder(id="o-1", amount=11))
    gateway.world.arm(faults.state_event_bus.send.fails())
    gateway.send_and_wait(PayOrder(id="o-1"))
    with pytest.raises(CommandResultError, match="no row"):
        gateway.send_and_wait(Raise(id="o-1"), wait_for=projected("shop", processor="OrderView"))

    gateway._held.settle()

    assert len(gateway._held.session.world.log) >= 2


def test_use_after_the_end():
    """A closed gateway refuses every use and says whose it was."""
    gateway = Gateway()
    gateway.send_and_wait(CreateOrder(id="o-1"))
    gateway._held.close("tests/test_it.py::test_it")

    for use in (
        lambda: gateway.send(PayOrder(id="o-1")),
        lambda: gateway.send_and_wait(PayOrder(id="o-1")),
        lambda: gateway.world.stored(Order, "o-1"),
        lambda: gateway.world.trace,
        lambda: gateway.world.arm(faults.event_store.append.fails()),
        gateway.world.now,
        lambda: gateway.aio.send(PayOrder(id="o-1")).send(None),
    ):
        with pytest.raises(SpecError, match=r"test_it\.py::test_it was used after its test ended"):
            use()
    assert repr(gateway) == "<wowspec gateway>"
