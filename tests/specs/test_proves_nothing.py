"""What would pass and prove nothing is refused, and what explains a failure is said below it."""

from __future__ import annotations

import warnings

import pytest
from pydantic import BaseModel

from wowspec import (
    AggregateRef,
    SpecError,
    SpecFailure,
    aggregate_root,
    create_aggregate,
    faults,
    given,
    on,
    on_command,
    sent_as,
    spec,
)
from wowspec.specs import tracking

from .ending import a_test
from .library_domain import (
    BookPraised,
    ChargeFine,
    Copy,
    CopyLent,
    CopyRegistered,
    CopyStamped,
    CopyState,
    DeafPraise,
    FineCharged,
    FineCollection,
    FineIncurred,
    Joined,
    LendCopy,
    LoanBoard,
    Member,
    Notify,
    Praise,
    ReturnCopy,
    StampCopy,
)

NEW = CopyRegistered()
LEND = LendCopy(id="c-1")
UNTAKEN = "hint: ChargeFine was sent, but no aggregate of this world takes it: .using(Member)"
#: Made outside a test, so that nobody waits for their judgement.
OUTSIDE = given(NEW)


# --- instances that are not there -------------------------------------------------------------------------------------


def test_an_instance_that_does_not_exist():
    """Its state is nobody's, whatever is expected of it; those that are there are listed."""
    base = given(NEW).when(LEND).expect_events(CopyLent())
    with pytest.raises(SpecFailure) as caught:
        base.expect_state(on(Copy, "typo"), borrower=None)
    text = "copy(typo) has no history, so it has no state to look at; the world holds copy(c-1)"
    assert str(caught.value).splitlines()[0] == text


def test_many_instances_are_not_all_listed():
    """Five, and how many more."""
    base = given(*[on(Copy, f"c-{n}", NEW) for n in range(7)]).when(LendCopy(id="c-0")).expect_events(CopyLent())
    with pytest.raises(SpecFailure, match=r"the world holds copy\(c-0\), .*copy\(c-4\) and 2 more\n"):
        base.expect_state(on(Copy, "typo"), stamps=0)


# --- commands that nobody takes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "verb",
    [
        lambda run: run.expect_causation("FineCollection > ChargeFine > FineCharged"),
        lambda run: run.expect_state(on(Member, "m-1"), fines=1),
        lambda run: run.expect_state_aggregate(on(Member, "m-1"), version=1),
        lambda run: run.expect_stored(on(Member, "m-1"), FineCharged),
        lambda run: run.expect_all_events(FineIncurred(), FineCharged()),
        lambda run: run.expect_downstream_error(ChargeFine, ValueError),
    ],
    ids=["causation", "state", "state_aggregate", "stored", "all_events", "downstream_error"],
)
def test_a_command_that_nobody_takes(verb):
    """Whoever looks for what it should have done is told that no aggregate is there to do it."""
    run = given(NEW, CopyLent()).using(FineCollection).when(ReturnCopy(id="c-1")).expect_events(FineIncurred())
    with pytest.raises(SpecFailure) as caught:
        verb(run)
    assert f"  {UNTAKEN}\n" in str(caught.value)


def test_a_failure_of_its_own_events_says_nothing_of_it():
    """What the command itself did has nothing to do with what a saga sent."""
    run = given(NEW, CopyLent()).using(FineCollection).when(ReturnCopy(id="c-1")).expect_events(FineIncurred())
    with pytest.raises(SpecFailure) as caught:
        run.expect_version(7)
    assert "hint: ChargeFine" not in str(caught.value)


def test_a_sagas_spec_says_nothing_of_it():
    """It records what is sent; that nobody takes it is the way of such a spec."""
    run = given(FineCollection).when_event(FineIncurred(), aggregate_id="c-1").expect_commands(ChargeFine(id="m-1"))
    with pytest.raises(SpecFailure) as caught:
        run.expect_causation("FineIncurred > FineCollection > ChargeFine > FineCharged")
    assert "hint:" not in str(caught.value)


def test_looking_does_not_change_the_world():
    """A type that is first mentioned in an expectation does not join, so that nothing is begun after the fact."""
    run = given(NEW, CopyLent()).using(FineCollection).when(ReturnCopy(id="c-1")).expect_events(FineIncurred())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.expect_stored(on(Member, "m-1")).expect_state_aggregate(on(Member, "m-1"), version=0).expect_no_snapshot(
            on(Member, "m-1")
        )
    assert [cls.aggregate_name for cls in run.run().session.runtime.catalog.aggregates] == ["copy"]


# --- whereto a command goes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "own"), [("aggregate_id", "c-1"), ("owner_id", "u-1"), ("space_id", "s-1"), ("tenant_id", "t-1")]
)
def test_options_that_a_command_overrides(option, own):
    """An option beside a command that says it itself would be ignored; one that agrees is not."""
    from typing import Annotated

    from wowspec import AggregateId, OwnerId, SpaceId, TenantId

    @create_aggregate
    class Begin(BaseModel):
        aggregate_id: Annotated[str, AggregateId()] = "c-1"
        owner_id: Annotated[str, OwnerId()] = "u-1"
        space_id: Annotated[str, SpaceId()] = "s-1"
        tenant_id: Annotated[str, TenantId()] = "t-1"

    class Begun(BaseModel):
        pass

    @aggregate_root(context="library")
    class Stall:
        def __init__(self, id: str) -> None: ...

        @on_command
        def begin(self, command: Begin) -> Begun:
            return Begun()

    spec(Stall).given().when(Begin(), **{option: own}).expect_events(Begun())
    for verb, other in (
        ("when", spec(Stall).given().when(Begin(), **{option: "else"})),
        ("sent_as", spec(Stall).given(sent_as(Begin(), **{option: "else"})).when(Begin())),
    ):
        with pytest.raises(SpecError) as caught:
            other.expect_events(Begun())
        assert caught.value.what.startswith(f"{verb}(Begin(")
        assert caught.value.what.endswith(f", {option}='else'): the command itself says {own!r}")


# --- what belongs elsewhere -------------------------------------------------------------------------------------------


def test_a_rival_of_another_aggregate():
    """A rival stores in the same history, where another aggregate's events have no place."""
    rival = faults.event_store.append.rival_appends(Joined())
    with pytest.raises(SpecError) as caught:
        given(NEW).with_faults(rival).when(LEND).expect_events(CopyLent())
    assert caught.value.what == "rival_appends(...) gives copy(c-1) the event Joined, which belongs to Member"
    assert caught.value.instead == "an event of Copy, or aggregate=Member"


@pytest.mark.parametrize(("verb", "argument"), [("inject", "FakeService()"), ("inject_factory", "FakeService")])
def test_injecting_nothing(verb, argument):
    """It reads as if handlers were given something."""
    with pytest.raises(SpecError) as caught:
        getattr(OUTSIDE, verb)()
    assert caught.value.what == f"{verb}() gives no service"
    assert caught.value.instead == f"{verb}({argument}), or {verb}(name={argument})"


@pytest.mark.parametrize("verb", ["expect_not_stored", "expect_not_published"])
def test_what_could_never_be_stored(verb):
    """Another aggregate's event and a command: that they are not there proves nothing."""
    run = given(NEW).when(LEND).expect_events(CopyLent())
    getattr(run, verb)(CopyStamped)
    getattr(run, verb)(CopyStamped, type("Unknown", (), {}))
    with pytest.raises(SpecError) as caught:
        getattr(run, verb)(CopyStamped, FineCharged)
    assert (
        caught.value.what
        == f"{verb}(FineCharged): FineCharged is an event of Member, and this is about the events of Copy"
    )
    with pytest.raises(SpecError) as caught:
        getattr(run, verb)(LendCopy)
    assert caught.value.what == f"{verb}(LendCopy): LendCopy is a command, and this is about the events of Copy"
    with pytest.raises(SpecFailure):
        getattr(run, verb)(BaseModel)


def test_a_forgotten_decorator():
    """A method that takes the command, and is no command function for want of a mark."""

    class Go(BaseModel):
        id: str = "g-1"

    class Went(BaseModel):
        id: str = "g-1"

    @aggregate_root(context="library")
    class Forgetful:
        def __init__(self, id: str) -> None: ...

        def go(self, command: Go) -> Went:
            return Went()

    with pytest.raises(SpecError) as caught:
        spec(Forgetful).given().when(Go()).expect_no_events()
    assert caught.value.why == "Forgetful.go takes one, but nothing says that it is a command function"
    assert caught.value.instead == "@on_command above Forgetful.go"
    with pytest.raises(SpecError, match="a command goes to the aggregate whose command function takes it"):
        spec(Forgetful).given().when(Went()).expect_no_events()


@pytest.mark.parametrize("returned", ["went", 7, {}, "itself"], ids=str)
def test_what_is_no_event(returned):
    """A function that returns a text, a number or its command has lost its event, whatever its annotation says."""

    @create_aggregate
    class Go(BaseModel):
        id: str = "g-1"

    class Went(BaseModel):
        pass

    @aggregate_root(context="library")
    class Goer:
        def __init__(self, id: str) -> None: ...

        @on_command
        def go(self, command: Go) -> Went:
            return command if returned == "itself" else returned

    with pytest.raises(SpecError) as caught:
        spec(Goer).given().when(Go()).expect_event_count(1)
    what = {"itself": "the command Go itself"}.get(str(returned), repr(returned))
    assert caught.value.what.startswith("Goer.go (")
    assert caught.value.what.endswith(f" returned {what}, which is no event")


# --- events on their own ----------------------------------------------------------------------------------------------


def test_an_event_on_its_own_is_delivered():
    """`expect_delivered` sees what `when_event` published, and what a projection's spec was given."""
    given(Notify).when_event(CopyLent(), aggregate_id="c-1").expect_delivered(CopyLent())
    given(LoanBoard, on(Copy, "c-1", NEW, CopyLent())).expect_delivered(CopyLent())
    with pytest.raises(SpecFailure):
        given(LoanBoard, on(Copy, "c-1", NEW)).expect_delivered(CopyLent())


def test_a_processor_is_no_event():
    """To whom an event was delivered is told by causation."""
    run = given(Notify).when_event(CopyLent(), aggregate_id="c-1").expect_causation("CopyLent > Notify")
    with pytest.raises(SpecError) as caught:
        run.expect_delivered(Notify, CopyLent())
    assert caught.value.what == "expect_delivered(Notify) is given a processor"
    assert caught.value.instead == "expect_causation('OrderPaid > Notify')"


@pytest.mark.clause("EVT-105")
def test_an_event_of_another_context():
    """A function that names the aggregates whose events it takes needs none of them here; another one is deaf."""
    run = given(Praise).when_event(BookPraised(), aggregate_id="b-1").expect_commands(ChargeFine(id="m-1"))
    (event,) = run.run().delivered.envelopes
    assert event.aggregate_id == AggregateRef("reviews", "book", "b-1")
    with pytest.raises(SpecError) as caught:
        given(DeafPraise).when_event(BookPraised(), aggregate_id="b-1").expect_no_commands()
    assert caught.value.what == "when_event(BookPraised()): the event belongs to no aggregate"
    assert "@on_event(aggregates=('billing.invoice',))" in caught.value.instead


# --- a field that nothing marks ---------------------------------------------------------------------------------------


def test_a_field_that_looks_like_the_id():
    """Without a mark the command goes to the instance last spoken of, and a failure says so."""
    run = given(on(Copy, "c-1", NEW)).when(StampCopy(copy_id="c-7")).expect_events(CopyStamped())
    with pytest.raises(SpecFailure) as caught:
        run.expect_state(on(Copy, "c-7"), stamps=1)
    hint = (
        "  hint: StampCopy went to copy(c-1), for nothing marks its field copy_id: if it is the id, write "
        "copy_id: Annotated[str, AggregateId()]\n"
    )
    assert hint in str(caught.value)
    same = given(on(Copy, "c-1", NEW)).when(StampCopy(copy_id="c-1")).expect_events(CopyStamped())
    with pytest.raises(SpecFailure) as caught:
        same.expect_state(stamps=2)
    assert "hint: StampCopy" not in str(caught.value)


# --- what is given after the last command -----------------------------------------------------------------------------


LATE = {
    "given": lambda ran: ran.given(CopyLent()),
    "given_state": lambda ran: ran.given_state(CopyState(id="c-1")),
    "advance": lambda ran: ran.advance(hours=1),
    "using": lambda ran: ran.using(Member),
    "inject": lambda ran: ran.inject(3),
}


@pytest.mark.parametrize("verb", LATE)
def test_an_expectation_after_what_is_given_too_late(verb):
    """It is about the command before, which nothing of that reached: with another one after it, it is right."""
    with pytest.raises(SpecFailure) as caught, a_test():
        LATE[verb](given(NEW).when(LEND)).expect_events(CopyLent())
    assert caught.value.args[0].partition(": ")[2] == (
        f"{verb}(...) stands after the last when(...)\n"
        '  why: nothing runs after it, so it changes nothing; what is expected then is of when(LendCopy(id="c-1"))\n'
        f"  instead: .{verb}(...) before .when(...), or another .when(...) after it"
    )

    with a_test():
        LATE[verb](given(NEW).when(LEND).expect_succeeded()).when(LEND).expect_any_outcome()


def test_a_branch_of_what_is_given_too_late():
    """A branch that only expects something runs nothing either; one with a command of its own does."""
    with pytest.raises(SpecFailure, match=r"given\(\.\.\.\) stands after the last when\(\.\.\.\)"), a_test():
        given(NEW).when(LEND).given(CopyLent()).fork("lent", lambda lent: lent.expect_events(CopyLent()))
    with a_test():
        given(NEW).when(LEND).given(CopyLent()).fork("again", lambda lent: lent.when(LEND).expect_succeeded())
        given(NEW).when(LEND).fork("lent", lambda lent: lent.expect_events(CopyLent()))


def test_what_is_given_for_later_may_be_looked_at_before():
    """A base that another command goes on with is no dead end, whatever is expected of it first."""
    with a_test():
        base = given(NEW).when(LEND).advance(days=1)
        base.expect_events(CopyLent())
        base.when(ReturnCopy(id="c-1")).expect_succeeded()


def test_events_and_concurrent_commands_are_commands_too():
    """Their verbs are named as they are."""
    with pytest.raises(SpecFailure, match=r"advance\(\.\.\.\) stands after the last when_event\(\.\.\.\)"), a_test():
        given(LoanBoard).when_event(CopyLent()).advance(hours=1).expect_no_commands()
    with a_test():
        given(LoanBoard, on(Copy, "c-1", CopyLent())).advance(hours=1).expect_delivered(CopyLent())


# --- specs within pytest.raises ---------------------------------------------------------------------------------------


def fails_to_raise(make) -> str:
    """What pytest says where nothing is raised, after the end of a test would have explained it."""
    tracking.start()
    try:
        with pytest.raises(pytest.fail.Exception) as caught, pytest.raises(ValueError):
            make()
        tracking.explain_no_raise(caught.value)
    finally:
        tracking.stop()
    return str(caught.value)


def test_a_command_within_pytest_raises():
    """It is not run where nothing is expected of it, so it raises nothing, and this is said."""
    first, hint = fails_to_raise(lambda: given(NEW).when(LEND)).splitlines()
    assert first == "DID NOT RAISE ValueError"
    assert hint.startswith("  hint: tests/specs/test_proves_nothing.py:")
    assert hint.partition(": when(")[2] == (
        'LendCopy(id="c-1")) was not run, for nothing is expected of it: '
        ".expect_error(...) after it says which error came, without pytest.raises"
    )


def test_what_ran_within_pytest_raises():
    """A command that ran, and a block without any, are left as they are."""
    for make in (lambda: given(NEW).when(LEND).expect_succeeded(), lambda: given(NEW).when(LEND).run(), lambda: None):
        assert fails_to_raise(make) == "DID NOT RAISE ValueError"


def test_another_failure_is_left_as_it_is():
    """Only where nothing was raised is the command looked for."""
    error = pytest.fail.Exception("no")
    with a_test():
        spec = given(NEW).when(LEND)
        tracking.explain_no_raise(error)
        spec.expect_succeeded()
    assert str(error) == "no"
