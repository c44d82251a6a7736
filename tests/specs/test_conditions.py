"""`always` and `eventually`: when they are asked, what a failure says, what a condition may see."""

from __future__ import annotations

import datetime as dt

import pytest

from wowspec import SpecError, SpecFailure, WorldView, faults, on, spec
from wowspec.specs import injecting
from wowspec.specs.again import again
from wowspec.specs.conditions import Watch, condition_text, first_breach, require_condition, run_steps
from wowspec.specs.recorded import ConditionKind

from .ending import a_test
from .language_domain import CreateOrder
from .shop_domain import (
    Mailer,
    Order,
    OrderPlaced,
    OrderRow,
    OrderView,
    Outbox,
    PayOrder,
    PlaceOrder,
    Stock,
    shop,
)


def placed():
    """A spec whose saga reserves stock; nothing ran yet."""
    return spec().using(shop).when(PlaceOrder(id="o-1", sku="s-1", quantity=2))


def paid():
    """A second command after it."""
    return placed().when(PayOrder(id="o-1"))


def head(error):
    """The lines of a failure before its timeline."""
    return str(error.value).partition("\n  pipeline")[0]


#: Made outside of tests, so that none needs to judge them.
PLACED, PAID = placed(), paid()


def one_version(world: WorldView) -> bool:
    return world.aggregate(Order, "o-1").version <= 1


def test_both_hold():
    """The sentence of the manual: one version at most at each moment, the stock reserved in the end."""
    (
        placed()
        .always(lambda world: world.aggregate(Order, "o-1").version <= 1)
        .eventually(lambda world: world.state(Stock, "s-1").reserved == 2)
    )


def test_they_count_as_expectations():
    """A command with nothing but a condition is judged."""
    with a_test():
        placed().always(one_version)
    with a_test():
        placed().eventually(one_version)


def test_eventually_looks_at_the_end():
    """It need not hold on the way, and says what the world held where it does not hold in the end."""
    with pytest.raises(SpecFailure) as caught:
        placed().eventually(lambda world: world.state(Stock, "s-1").reserved == 3)

    assert head(caught) == (
        'what should hold in the end did not: world.state(Stock, "s-1").reserved == 3\n'
        "  moment: when(PlaceOrder), at rest\n"
        '  world.state(Stock, "s-1"): StockState(id="s-1", reserved=2)'
    )


def test_always_looks_at_each_moment():
    """What holds in the end does not hold before the saga's command is stored."""
    with pytest.raises(SpecFailure) as caught:
        placed().always(lambda world: bool(world.stored(Stock, "s-1")) or not world.stored(Order, "o-1"))

    assert head(caught) == (
        'what should always hold did not: bool(world.stored(Stock, "s-1")) or not world.stored(Order, "o-1")\n'
        "  moment: when(PlaceOrder), after o-1 event_store.append v1 OrderPlaced, before command.acknowledge\n"
        '  world.stored(Stock, "s-1"): Facts([])\n'
        '  world.stored(Order, "o-1"): Facts([OrderPlaced(sku="s-1", quantity=2)])'
    )


@pytest.mark.parametrize("looked_at", [False, True], ids=["the very run", "a second run"])
def test_both_ways_of_looking_find_the_same(looked_at):
    """It is no matter whether the spec ran before."""
    spec_ = paid().expect_succeeded() if looked_at else paid()

    with pytest.raises(SpecFailure) as caught:
        spec_.always(one_version, name="one version")

    assert head(caught) == (
        "what should always hold did not: one version [one_version(world)]\n"
        "  moment: when(PayOrder), after o-1 event_store.append v2 OrderPaid, before command.acknowledge\n"
        '  world.aggregate(Order, "o-1"): version 2, OrderState(id="o-1", sku="s-1", status="PAID")'
    )


def test_an_earlier_command_counts():
    """It begins with the first command, and the timeline is that of the command at fault."""
    with pytest.raises(SpecFailure) as caught:
        paid().always(lambda world: world.state(Stock, "s-1").reserved == 0)

    assert "  moment: when(PlaceOrder), after s-1 event_store.append v1 StockReserved" in str(caught.value)
    assert "OrderPaid" not in str(caught.value).partition("pipeline")[2]


def test_a_later_command_does_not():
    """It speaks of what comes before it."""
    placed().always(one_version).when(PayOrder(id="o-1")).expect_succeeded()


def test_what_is_given_is_not_looked_at():
    """It begins when the first command is sent, with all that is given."""
    given_ = spec().given(on(Order, "o-1", OrderPlaced(sku="s-1", quantity=1)))

    given_.when(PayOrder(id="o-1")).always(lambda world: world.aggregate(Order, "o-1").version >= 1)
    with pytest.raises(SpecFailure, match=r"moment: when\(PayOrder\), at the beginning, before request_id.check"):
        given_.when(PayOrder(id="o-1")).always(lambda world: world.aggregate(Order, "o-1").version > 1)


def test_history_between_commands_is_looked_at():
    """What is given after the first command is a part of the way."""
    with pytest.raises(SpecFailure, match="should always hold"):
        (
            placed()
            .given(on(Order, "o-2", OrderPlaced(sku="s-2", quantity=1)))
            .when(PayOrder(id="o-1"))
            .always(lambda world: not world.stored(Order, "o-2"))
        )


def test_a_view_is_looked_at_after_it_is_written():
    """A row that is right in the end and wrong at first is found."""
    with pytest.raises(SpecFailure) as caught:
        paid().always(lambda world: world.view(OrderView, "o-1") in (None, OrderRow(status="PAID", changes=2)))

    assert (
        "  moment: when(PlaceOrder), after OrderView.on_event@o-1 event.deliver:OrderView.on_event OrderPlaced v1#1, "
        "before event.deliver:OrderSaga.on_event\n"
        '  world.view(OrderView, "o-1"): OrderRow(status="PLACED", changes=1)'
    ) in str(caught.value)


def test_armed_faults_strike_while_it_looks():
    """A spec under faults goes its way: a retry, an error; also one whose faults are armed later."""
    times_out = faults.event_store.append.times_out()

    spec(Order).with_faults(times_out).when(PlaceOrder(id="o-1", sku="s-1")).always(one_version).expect_attempts(2)
    for looked_at in (False, True):
        later = placed().with_faults(faults.event_store.append.times_out(aggregate="o-1")).when(PayOrder(id="o-1"))
        if looked_at:
            later.expect_attempts(2)
        with pytest.raises(SpecFailure, match=r"moment: when\(PayOrder\), after o-1 event_store.append v2"):
            later.always(one_version)
        later.expect_attempts(2)


def test_the_run_is_the_same():
    """Looking on changes nothing of what happens."""
    watched, plain = paid().always(lambda world: True), paid()

    assert [str(row) for row in watched.run().trace] == [str(row) for row in plain.run().trace]


def test_asserts_may_stand_for_an_answer():
    """What an assertion says is told; a function that comes back says yes."""

    def reserved(world: WorldView) -> None:
        if world.stored(Stock, "s-1"):
            stock = world.state(Stock, "s-1")
            assert stock.reserved < 2, f"{stock.reserved} are too many"

    with pytest.raises(SpecFailure, match=r"always hold did not: reserved\(world\)\n.*\n  it says: 2 are too many"):
        placed().always(reserved)


@pytest.mark.parametrize("verb", ["always", "eventually"])
def test_an_error_of_the_condition_is_its_author_s(verb):
    """Any other error is raised as it is, with a note on when."""
    with pytest.raises(KeyError) as caught:
        getattr(placed(), verb)(lambda world: world.views(OrderView)["o-9"])

    assert caught.value.__notes__[0].startswith(f'in {verb}(world.views(OrderView)["o-9"]), when(PlaceOrder), at ')


def test_undecided_stays_undecided():
    """A condition says nothing of a command's failure."""
    with pytest.raises(SpecFailure, match="which nobody expected"), a_test():
        placed().expect_succeeded().when(CreateOrder(id="o-1")).when(PayOrder(id="o-9")).always(lambda world: True)


def test_soft_collects():
    """As other expectations, a condition that does not hold is told when the spec asks."""
    soft = placed().soft().always(lambda world: not world.stored(Order, "o-1")).eventually(one_version)

    with pytest.raises(SpecFailure, match="1 soft expectation failed"):
        soft.verify()


def test_a_projection_needs_no_when():
    """What is given reaches it, and is looked at."""
    view = spec(OrderView).given(on(Order, "o-1", OrderPlaced(sku="s-1", quantity=1)))

    view.always(lambda world: len(world.views(OrderView)) <= 1)
    view.eventually(lambda world: world.view(OrderView, "o-1").status == "PLACED")


def test_a_second_run_needs_unused_services(monkeypatch):
    """Services of a run that is over cannot be looked at from its beginning; one run, or a factory, will do."""
    monkeypatch.setattr(injecting, "_wanted", 0)
    mails = spec().using(shop, Mailer).inject(Outbox()).when(PlaceOrder(id="o-1", sku="s-1"))

    mails.always(lambda world: world.service(Outbox).mails == [])
    with pytest.raises(SpecError, match=r"its services have been used(.|\n)*inject_factory"):
        mails.always(lambda world: True)

    fresh = spec().using(shop, Mailer).inject_factory(Outbox).when(PlaceOrder(id="o-1", sku="s-1"))
    fresh.expect_succeeded().always(lambda world: world.service("outbox").mails == [])


def test_a_second_run_that_goes_another_way_is_told():
    """What something outside of the world decides cannot be looked at a second time."""
    tries = []

    def next_command(run):
        tries.append(run)
        return PayOrder(id="o-1" if len(tries) == 1 else "o-2")

    with pytest.raises(SpecError, match=r"when\(.*\) took another way when it ran a second time: first .*, then "):
        placed().when(next_command).expect_succeeded().always(lambda world: True)


def test_in_flight_only_the_end_is_looked_at():
    """After `when_concurrently`, each outcome must hold in the end; nothing is said of moments."""
    flight = (
        spec()
        .using(shop)
        .when_concurrently(PlaceOrder(id="o-1", sku="s-1"), PlaceOrder(id="o-2", sku="s-1"), max_schedules=20)
    )

    flight.expect_succeeded().eventually(lambda world: world.state(Stock, "s-1").reserved == 2)
    with pytest.raises(SpecFailure, match=r"in the end did not(.|\n)*outcome 1 of "):
        flight.eventually(lambda world: world.state(Stock, "s-1").reserved == 1)
    with pytest.raises(SpecError, match="has no 'always'"):
        flight.always(lambda world: True)


# --- what a condition sees --------------------------------------------------------------------------------------------


@pytest.fixture
def world():
    """A world after one order."""
    return WorldView(placed().run().session)


def test_it_sees_copies(world):
    """What a condition does to what it is given changes nothing."""
    world.state(Stock, "s-1").reserved = 9
    world.view(OrderView, "o-1").status = "GONE"
    world.views(OrderView).clear()

    assert world.state(Stock, "s-1").reserved == 2
    assert world.view(OrderView, "o-1").status == "PLACED"
    assert world.snapshot(Stock, "s-1").state.reserved == 2


def test_it_sees_what_is_not_there(world):
    """Without history there is a version of 0, a fresh state, no event, no row and no snapshot."""
    assert world.aggregate(Order, "o-9").version == 0
    assert world.state(Order, "o-9").status == "NEW"
    assert not world.stored(Order, "o-9")
    assert world.view(OrderView, "o-9") is None
    assert world.snapshot(Order, "o-9") is None


def test_it_sees_what_is_known_beside_the_state(world):
    """Owner, space, tenant, deletion; time; without an id, the instance last spoken of."""
    order = world.aggregate(Order)

    assert (order.owner_id, order.space_id, order.tenant_id, order.deleted) == ("", "", "(0)", False)
    assert world.now().tzinfo is dt.UTC


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (
            lambda world: world.agregate(Order, "o-1"),
            "a condition has no 'agregate'\n  instead: .aggregate",
        ),
        (
            lambda world: world.service(Outbox),
            r"world.service\(Outbox\): (.|\n)*there are: none",
        ),
        (lambda world: world.service("till"), r"instead: .inject\(till=...\)"),
        (lambda world: world.views(Mailer), r"world.views\(Mailer\): the world holds no such projection"),
        (lambda world: world.view(Mailer, "x"), r"world.view\(Mailer\)(.|\n)*\.using\(Mailer\)"),
    ],
    ids=["verb", "service", "named service", "views", "view"],
)
def test_what_is_not_there_is_told(world, ask, text):
    """A misspelt verb, a missing service or projection: what to write instead."""
    with pytest.raises(SpecError, match=text):
        ask(world)


def test_an_id_that_nobody_spoke_of():
    """Without an id there must be an instance that was last spoken of."""
    world = WorldView(spec(Order).when(PlaceOrder(id="o-1", sku="s-1")).run().session)

    with pytest.raises(SpecError, match="Stock without an id: no instance of it was spoken of"):
        world.state(Stock)


@pytest.mark.parametrize("verb", ["always", "eventually"])
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((True,), "is given no function"),
        ((Order,), "is given no function"),
        ((one_version, ""), "a condition is told by its name"),
        ((lambda world: None,), "gave None"),
    ],
    ids=["value", "class", "empty name", "no answer"],
)
def test_what_is_no_condition_is_refused(verb, arguments, text):
    """A condition is a function that answers."""
    with pytest.raises(SpecError, match=text):
        getattr(PLACED, verb)(*arguments)


def test_the_source_of_a_condition():
    """A lambda is told by its body, over several lines too; what has no source by its name."""
    texts = [
        condition_text(require_condition(ConditionKind.ALWAYS, function, None))
        for function in (
            lambda world: world.aggregate(Order).version in (1, 2) and not world.stored(Stock, "ä"),
            lambda world: (
                world.state(Order).status
                == "NEW"
            ),
            eval("lambda world: True"),
            one_version,
        )
    ]  # fmt: skip

    assert texts == [
        'world.aggregate(Order).version in (1, 2) and not world.stored(Stock, "ä")',
        'world.state(Order).status == "NEW"',
        "<lambda>(world)",
        "one_version(world)",
    ]


def test_other_runs_can_be_watched():
    """Whoever runs steps itself asks the conditions at rest, or lets a watch ask them on the way."""
    steps = PAID._node
    always = require_condition(ConditionKind.ALWAYS, one_version, None)
    late = require_condition(ConditionKind.EVENTUALLY, one_version, None)
    watch = Watch([always])

    ran = list(run_steps(again(steps.path()), watch))

    sessions = [node.run.session for node in ran]
    assert [first_breach(session, [always, late], ConditionKind.EVENTUALLY) is None for session in sessions] == [
        True,
        False,
    ]
    assert first_breach(sessions[1], [late], ConditionKind.ALWAYS) is None
    assert watch.breaches[0].session is sessions[1]
    assert all(session.world.injector is None for session in sessions)
