"""Histories and commands: made by real commands, so that every state can be reached; they speak of one instance."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import find, settings, strategies as st
from pydantic import BaseModel

import wowspec as ws
from wowspec import SpecError, strategies
from wowspec.specs.items import On, Stream

from .domain import (
    AddLine,
    Booking,
    Close,
    Closed,
    Count,
    CountBookings,
    Counter,
    Fragile,
    Look,
    Numbers,
    Order,
    Paid,
    PaidIn,
    PaidOut,
    Pay,
    PayOut,
    Place,
    Placed,
    Purse,
    Settled,
    Ship,
    Shipped,
    Tab,
    Watcher,
)

RICH = ws.spec(Purse).given(PaidIn(amount=100))
NOBODYS = ws.given(Placed(lines=[]))
QUICK = settings(max_examples=60, database=None, derandomize=True, deadline=None)


def drawn(strategy, examples: int = 60):
    """What a run of so many examples draws; health checks are on."""
    found = []

    @settings(QUICK, max_examples=examples)
    @hypothesis.given(strategy)
    def run(value):
        found.append(value)

    run()
    return found


def events_of(history):
    """The events of a history, in order."""
    for item in history:
        for inner in item.items:
            yield from inner.events if isinstance(inner, Stream) else [inner]


# --- commands ---------------------------------------------------------------------------------------------------------


def test_every_command_comes():
    """Each class that the aggregate handles or mounts is drawn, void ones too, and built-in ones are not."""
    assert {type(command) for command in drawn(strategies.commands(Order))} == {Place, AddLine, Pay, Ship, Close, Look}


def test_commands_speak_of_one_instance():
    """The marked field is the same in all of them, and other ids come from small pools."""
    found = drawn(strategies.commands(Order), 150)

    assert {command.order for command in found} == {"1"}
    assert {command.customer_id for command in found if isinstance(command, Place)} == {
        "customer-1",
        "customer-2",
        "customer-3",
    }
    products = {line.product_id for command in found if isinstance(command, Place) for line in command.lines}
    assert products == {"product-1", "product-2", "product-3"}


def test_commands_of_some_instances():
    """With `ids` they speak of these."""
    assert {command.order for command in drawn(strategies.commands(Order, ids=("a", "b")))} == {"a", "b"}


def test_an_id_that_a_type_wants_otherwise():
    """Where a type refuses `"1"`, the commands of an example share one id that all of their types accept."""
    pairs = drawn(st.tuples(strategies.commands(Tab), strategies.commands(Tab), strategies.histories(Tab, min_size=1)))

    assert all(one.id == other.id == history[0].id for one, other, history in pairs)
    assert all(one.id.startswith("tab-") for one, _, _ in pairs)
    assert len({one.id for one, _, _ in pairs}) > 1


def test_only_and_exclude():
    """Some commands alone, or all but some."""
    assert {type(command) for command in drawn(strategies.commands(Order, only=Pay))} == {Pay}
    assert {type(command) for command in drawn(strategies.commands(Order, only=[Pay, Look]))} == {Pay, Look}
    assert {type(command) for command in drawn(strategies.commands(Order, exclude=[Pay, Look, Close]))} == {
        Place,
        AddLine,
        Ship,
    }


def test_built_in_commands():
    """They are off by default; an aggregate that registers one of a sort has no built-in one of it."""
    found = {type(command) for command in drawn(strategies.commands(Order, built_in=True), 150)}

    assert found == {Place, AddLine, Pay, Ship, Close, Look, ws.RecoverAggregate, ws.ApplyResourceTags}
    assert {type(one) for one in drawn(strategies.commands(Counter, only=ws.DeleteAggregate))} == {ws.DeleteAggregate}


def test_overrides_of_commands():
    """A field of every command that has it, of one command, or a whole command."""
    found = drawn(
        strategies.commands(
            Order,
            **{
                "order": st.just("o-1"),
                "Pay.amount": st.just(5),
                "lines.quantity": st.just(2),
                "Ship": st.just(Ship(order="other")),
            },
        ),
        150,
    )

    assert {command.order for command in found if not isinstance(command, Ship)} == {"o-1"}
    assert {command.order for command in found if isinstance(command, Ship)} == {"other"}
    assert {command.amount for command in found if isinstance(command, Pay)} == {5}
    assert {line.quantity for command in found if isinstance(command, Place) for line in command.lines} == {2}
    assert len({command.line.quantity for command in found if isinstance(command, AddLine)}) > 1


class Stranger(BaseModel):
    id: str


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (
            {"only": Stranger},
            ["only=Stranger, which is no command of Order", "instead: only=AddLine or Close or Pay or Place"],
        ),
        ({"exclude": [Place, "Pay"]}, ["exclude='Pay', which is no command of Order", "instead: exclude=Pay"]),
        ({"only": []}, ["commands(Order, ...) has no command to draw"]),
        ({"only": Pay, "exclude": Pay}, ["commands(Order, ...) has no command to draw"]),
        ({"ids": ()}, ["commands(Order, ...) is given ids=()", "instead: ids=('1', '2')"]),
        ({"ids": [""]}, ["commands(Order, ...) is given ids=['']"]),
        ({"amuont": st.just(1)}, ["commands(Order, ...) has no field 'amuont'", "instead: 'amount'"]),
        ({"Pay.amuont": st.just(1)}, ["commands(Order, ...) has no field 'amuont'", "instead: 'amount'"]),
        ({"amount": 1}, ["commands(Order, ...) is given amount = 1, which is no strategy"]),
    ],
)
def test_commands_that_cannot_be_meant(options, lines):
    """A class of another aggregate, no command at all, blank ids, a misspelt field are told at once."""
    with pytest.raises(SpecError) as refused:
        strategies.commands(Order, **options)

    for line in lines:
        assert line in str(refused.value)


def test_an_id_that_no_type_accepts():
    """Ids of the author's have to be ones that every command's type accepts."""
    with pytest.raises(SpecError, match="'1' is no id that every command's type accepts"):
        strategies.commands(Tab, ids=["tab-01", "1"])

    assert {command.id for command in drawn(strategies.commands(Tab, ids=["tab-01"]))} == {"tab-01"}


class Mute:
    def __init__(self, what) -> None:
        self.what = what


def test_a_command_that_no_strategy_follows_for():
    """The error names the command's field, and the override in terms of the call."""

    @ws.aggregate_root(context="drawn")
    class Holder:
        def __init__(self, id: str) -> None:
            self.id = id

        @ws.on_command
        def say(self, command: Mute) -> None: ...

    with pytest.raises(SpecError) as refused:
        strategies.commands(Holder)

    assert "no strategy follows for Mute.what: it has no annotation" in str(refused.value)
    assert 'instead: commands(Holder, **{"Mute.what": ...})' in str(refused.value)
    assert len(drawn(strategies.commands(Holder, Mute=st.just(Mute(1))))) == 1


# --- histories --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("root", [Order, Counter, Tab, Purse])
@QUICK
@hypothesis.given(data=st.data())
def test_a_history_leads_to_a_state_that_commands_can_go_on_from(root, data):
    """What is drawn is accepted by `given`, replays, and the next command finds its instance."""
    history = data.draw(strategies.histories(root, min_size=1))
    command = data.draw(strategies.commands(root, exclude=[Look] if root is Order else None))

    sent = ws.spec(root).given(*history).when(command)
    run = sent.run()

    assert run.aggregate_id == history[0].id
    if run.succeeded:
        sent.expect_version(sum(len(item.items) for item in history) + bool(run.stored))
    else:
        sent.expect_error(type(run.error)).expect_version(sum(len(item.items) for item in history))


@settings(QUICK, max_examples=300)
@hypothesis.given(strategies.histories(Order, min_size=1, max_size=8))
def test_no_state_that_cannot_be_reached(history):
    """What only the commands keep true holds of every history."""
    ws.spec(Order).given(*history).when(Look(order="1")).expect_state(
        ws.on(Order, "1"), lambda state: state.is_reachable()
    )


def test_every_sort_of_history_comes():
    """Histories with each event come, with several events in one version, none at all, and several versions."""
    found = drawn(strategies.histories(Order, max_size=8), 300)

    assert {type(event) for history in found for event in events_of(history)} >= {Placed, Paid, Settled, Shipped}
    assert () in found
    assert any(isinstance(item, Stream) for history in found for one in history for item in one.items)
    assert max(sum(len(item.items) for item in history) for history in found) >= 4


def test_owner_and_tenant_are_kept():
    """What a command's owner field says, and the tenant of the aggregate, are those of the history's instances."""
    owned = drawn(strategies.histories(Order, min_size=1))
    of_north = drawn(strategies.histories(Counter, min_size=1))

    assert {history[0].options.owner_id for history in owned} == {"customer-1", "customer-2", "customer-3"}
    assert {item.options.tenant_id for history in of_north for item in history} == {"north"}


def test_sizes():
    """There are at least so many versions, and at most as many as commands were sent."""
    sizes = {
        sum(len(item.items) for item in history)
        for history in drawn(strategies.histories(Counter, min_size=2, max_size=4))
    }

    assert sizes == {2, 3, 4}


def test_histories_of_several_instances():
    """The instances' streams stand in the order in which they were stored."""
    found = drawn(strategies.histories(Counter, ids=("a", "b"), max_size=6))

    assert {item.id for history in found for item in history} == {"a", "b"}
    assert any([item.id for item in history] == ["a", "b", "a"] for history in found)


@pytest.mark.long
def test_histories_shrink():
    """The shortest history with what is looked for, of the simplest commands."""
    found = find(
        strategies.histories(Order, max_size=6),
        lambda history: any(isinstance(event, Shipped) for event in events_of(history)),
        settings=settings(QUICK, max_examples=3000),
    )

    assert [type(event) for event in events_of(found)] == [Placed, Paid, Settled, Shipped]
    assert find(strategies.histories(Counter), lambda _: True, settings=QUICK) == ()
    (only,) = find(strategies.histories(Purse, min_size=1), lambda _: True, settings=QUICK)
    assert only.items == (PaidIn(amount=1),)


def test_each_example_gets_copies_of_services():
    """No example sees what another did to a service; the author's own object is left alone."""
    numbers = Numbers()
    found = drawn(strategies.histories(Booking, inject={"numbers": numbers}, min_size=1))
    again = drawn(strategies.histories(Booking, inject=[numbers], min_size=1))

    for history in found + again:
        assert [event.number for event in events_of(history)] == list(range(1, len(list(events_of(history))) + 1))
    assert numbers.last == 0


def test_a_spec_as_the_beginning():
    """A spec says services and profile, and what it gives comes before the history."""
    found = drawn(strategies.histories(RICH, only=PayOut, max_size=2))

    assert {type(event) for history in found for event in events_of(history)} == {PaidOut}
    assert max(event.amount for history in found for event in events_of(history)) > 20


def test_sagas_take_part():
    """The streams of other aggregates that a saga brought about stand in the history, too."""
    found = drawn(
        strategies.histories(Booking, using=[CountBookings, Counter, Watcher], inject=[Numbers()], min_size=1)
    )

    assert all({item.aggregate for item in history} == {Booking, Counter} for history in found)
    assert all([item.aggregate for item in history][:2] == [Booking, Counter] for history in found)


def test_commands_of_the_authors_own():
    """A strategy may say all, also what stands beside a command."""
    sent = st.builds(lambda by: ws.sent_as(Count(by), owner_id="u-1"), st.integers(1, 2))
    found = drawn(strategies.histories(Counter, commands=sent, min_size=1))

    assert {item.options.owner_id for history in found for item in history} == {"u-1"}


def test_a_deleted_instance():
    """A history may end in a deletion; later commands are refused and leave nothing."""
    found = drawn(strategies.histories(Counter, built_in=True, only=[Count, ws.DeleteAggregate], min_size=1), 100)
    ended = [list(events_of(history)) for history in found]

    assert any(isinstance(events[-1], ws.AggregateDeleted) for events in ended)
    assert all(not isinstance(event, ws.AggregateDeleted) for events in ended for event in events[:-1])


def test_a_bug_of_a_handler_is_raised():
    """A programming error is no refusal: it comes out, with the command that brought it."""

    @QUICK
    @hypothesis.given(strategies.histories(Fragile))
    def run(history): ...

    with pytest.raises(KeyError) as raised:
        run()

    assert raised.value.args == (3,)
    assert any("Raised for Break(id='1', how=3)" in note for note in raised.value.__notes__)


def test_nothing_is_accepted():
    """Histories that would all be empty are told of, with the refusals."""

    @QUICK
    @hypothesis.given(strategies.histories(Closed))
    def run(history): ...

    with pytest.raises(SpecError) as refused:
        run()

    assert "histories(Closed, ...): in 40 histories in a row no command stored anything" in str(refused.value)
    assert "Knock: ValueError: nobody is in" in str(refused.value)


def test_a_missing_service_is_told():
    """What the commands' handlers ask for has to be given, as in any spec."""

    @QUICK
    @hypothesis.given(strategies.histories(Booking))
    def run(history): ...

    with pytest.raises(SpecError, match="numbers"):
        run()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: strategies.histories(NOBODYS), "does not say whose histories are meant"),
        (lambda: strategies.histories(Order, max_size=0), "histories(Order, ...) with min_size=0 and max_size=0"),
        (lambda: strategies.histories(Order, min_size=6), "histories(Order, ...) with min_size=6 and max_size=5"),
        (lambda: strategies.histories(Order, commands=Pay), "is given commands=<class"),
        (lambda: strategies.histories(Order, commands=st.just(1), only=Pay), "commands=... and only=..."),
    ],
)
def test_histories_that_cannot_be_meant(make, text):
    """A spec of nothing in particular, impossible sizes, and contradictions are told at once."""
    with pytest.raises(SpecError) as refused:
        make()

    assert text in str(refused.value)


def test_the_texts_of_strategies():
    """A strategy shows the call that it was made by."""
    assert repr(strategies.commands(Order, only=Pay, amount=st.just(3))) == "commands(Order, amount=just(3), only=Pay)"
    assert repr(strategies.histories(Order)) == "histories(Order)"


def test_what_is_drawn_can_be_pasted():
    """Hypothesis prints a history as the calls that make it."""
    from hypothesis.vendor.pretty import pretty

    options = ws.on(Order, "1", owner_id="c").options
    item = On(Order, "1", (Placed(lines=[]), Stream((Paid(amount=1), Settled()))), options)

    assert " ".join(pretty((item,)).split()) == (
        "(on(Order, '1', Placed(lines=[]), stream(Paid(amount=1), Settled()), owner_id='c'),)"
    )


def test_strategies_are_no_specs_of_the_test():
    """What strategies run is not left unjudged by the test that draws."""

    @QUICK
    @hypothesis.given(st.data())
    def run(data):
        data.draw(strategies.histories(ws.spec(Booking).inject_factory(Numbers)))

    # The base was made within the test, and nothing was expected of it.
    with pytest.raises(ws.SpecFailure, match="without when"):
        run()

    @QUICK
    @hypothesis.given(st.data())
    def run_alone(data):
        data.draw(strategies.histories(Booking, inject=[Numbers()]))

    run_alone()


@pytest.mark.parametrize(
    "inject", [list, Numbers, Numbers(), 3, "numbers"], ids=["list", "class", "object", "number", "text"]
)
def test_services_stand_in_a_list(inject):
    """One service alone, its class, or anything else that holds none is refused, with what to write."""
    with pytest.raises(SpecError, match=r"(?s)histories\(inject=.* is given no services.*instead: inject=\["):
        strategies.histories(Booking, inject=inject)


def test_a_missing_service_is_given_to_histories():
    """Not by a verb of a spec: the error says so."""

    @QUICK
    @hypothesis.given(strategies.histories(Booking, min_size=1))
    def run(history):
        del history

    with pytest.raises(SpecError) as caught:
        run()

    assert "instead: inject=[Numbers(...)] or inject={'numbers': ...}" in str(caught.value)
