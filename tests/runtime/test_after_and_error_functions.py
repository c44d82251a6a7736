"""After-command functions add events; error functions see failures, and cannot undo them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from tests.runtime.pipeline import Pipeline
from wowspec import (
    Clock,
    CommandMessage,
    DeleteAggregate,
    DomainError,
    ServerCommandExchange,
    after_command,
    aggregate_root,
    create_aggregate,
    faults,
    on_command,
    on_error,
)
from wowspec.errors import (
    CommandExpectVersionConflictError,
    DomainEventError,
    IllegalArgumentError,
    InjectedFault,
    InjectedTimeout,
    NotFoundError,
)
from wowspec.modeling.decorators import Mark, Role
from wowspec.runtime.aggregate import applies

# --- after-command functions ---


@create_aggregate
class Open(BaseModel):
    """Creates a shop."""

    id: str = "a-1"
    main: str = "one"


@create_aggregate
class Rent(BaseModel):
    """Creates it too, and nothing comes after it."""

    id: str = "a-1"


class Opened(BaseModel):
    """The main event."""


class Cleaned(BaseModel):
    """What comes after it."""

    n: int = 0


class Shop(BaseModel):
    """Remembers what happened to it."""

    id: str
    seen: list[str] = []

    def on_sourcing(self, event: Opened | Cleaned) -> None:
        self.seen.append(type(event).__name__)


#: What happened in the running test, and what its functions are to do.
log: list[Any] = []
plan: dict[str, Any] = {}


@pytest.fixture(autouse=True)
def _fresh():
    log.clear()
    plan.clear()


@aggregate_root(context="town")
class Market:
    """Does after its commands what the test plans."""

    def __init__(self, state: Shop) -> None:
        self.state = state

    @on_command
    def open(self, command: Open | Rent) -> list[Opened] | None:
        return {"one": [Opened()], "none": None, "empty": [], "two": [Opened(), Opened()]}[
            getattr(command, "main", "one")
        ]

    @after_command(order=2, exclude=Rent)
    def second(self, command: CommandMessage[Open], exchange: ServerCommandExchange[Open]) -> Any:
        log.append(("second", list(self.state.seen), exchange.invoke_result))
        return plan.get("second")

    @after_command(order=1, exclude=Rent)
    async def first(self, command: CommandMessage[Open], clock: Clock) -> Any:
        log.append("first begins")
        await clock.sleep(milliseconds=50)
        log.append("first ends")
        answer = plan.get("first")
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.clause("CMD-279", "CMD-280", "CMD-282")
def test_after_functions_run_in_order_behind_the_main_one():
    """One after another, the slow one included; they see the old state and the main result, and their events follow."""
    plan.update(first=Cleaned(n=1), second=[Cleaned(n=2), Cleaned(n=3)])
    pipeline = Pipeline(Market)

    outcome = pipeline.send(Open())

    assert log == ["first begins", "first ends", ("second", [], [Opened()])]
    [stream] = pipeline.stored(outcome)
    assert [event.body for event in stream.events] == [Opened(), Cleaned(n=1), Cleaned(n=2), Cleaned(n=3)]
    assert [event.sequence for event in stream.events] == [1, 2, 3, 4]


@pytest.mark.clause("CMD-271", "CMD-272", "CMD-280", "CMD-281")
@pytest.mark.parametrize(
    ("main", "after", "expected"),
    [
        ("one", None, [Opened()]),
        ("one", [], [Opened()]),
        ("none", Cleaned(), [Cleaned()]),
        ("empty", Cleaned(), [Cleaned()]),
        ("none", None, IllegalArgumentError),
        ("empty", [], IllegalArgumentError),
        ("two", Cleaned(), [Opened(), Opened(), Cleaned()]),
    ],
)
def test_what_main_and_after_functions_yield(main, after, expected):
    """Where after-functions apply, only what all of them yield together counts, and nothing at all is refused."""
    plan.update(first=after)
    pipeline = Pipeline(Market)

    outcome = pipeline.send(Open(main=main))

    if expected is IllegalArgumentError:
        assert type(outcome.error) is IllegalArgumentError
        assert pipeline.stored(outcome) == []
    else:
        assert pipeline.bodies(outcome) == expected


@pytest.mark.clause("CMD-276")
def test_an_excluded_command_has_no_after_function():
    """For it nothing changes: the main events are all."""
    pipeline = Pipeline(Market)

    assert pipeline.bodies(pipeline.send(Rent())) == [Opened()]
    assert log == []


@pytest.mark.clause("CMD-276", "CMD-277")
@pytest.mark.parametrize(
    ("include", "exclude", "runs"),
    [
        ((), (), True),
        ((Open,), (), True),
        ((Rent,), (), False),
        ((), (Open,), False),
        ((Open,), (Open,), False),
        ((BaseModel,), (), False),
        ((), (BaseModel,), True),
    ],
)
def test_which_commands_an_after_function_is_for(include, exclude, runs):
    """The exact class counts; exclude wins; no include means all."""

    class Handler:
        mark = Mark(Role.AFTER_COMMAND, include=include, exclude=exclude)

    assert applies(Handler, Open) is runs


@pytest.mark.clause("CMD-283")
def test_a_failing_after_function_fails_the_command():
    """Nothing is sourced or stored."""
    plan.update(first=KeyError("dust"))
    pipeline = Pipeline(Market)

    outcome = pipeline.send(Open())

    assert type(outcome.error) is KeyError
    assert pipeline.stored(outcome) == []
    assert outcome.exchange.command_aggregate.state.version == 0


@pytest.mark.clause("CMD-282")
def test_after_functions_run_only_after_a_success():
    """A main function that fails is the end."""
    ran = []

    @create_aggregate
    class Slip(BaseModel):
        id: str = "a-1"

    @aggregate_root
    class Stairs:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def slip(self, command: Slip) -> None:
            raise KeyError("slipped")

        def after_command(self, command: CommandMessage[Slip]) -> None:
            ran.append(command)

    assert type(Pipeline(Stairs).send(Slip()).error) is KeyError
    assert ran == []


@pytest.mark.clause("CMD-277", "CMD-278")
def test_the_parameter_of_an_after_function_does_not_match():
    """Found by name it is for all commands; one that takes another body fails where it is called."""

    class Done(BaseModel):
        pass

    @create_aggregate
    class Take(BaseModel):
        id: str = "a-1"

    @create_aggregate
    class Leave(BaseModel):
        id: str = "a-1"

    @aggregate_root
    class Counter:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def either(self, command: Take | Leave) -> Done:
            return Done()

        def after_command(self, command: Take) -> None: ...

    assert Pipeline(Counter).send(Take()).code == "Ok"
    outcome = Pipeline(Counter).send(Leave())
    assert isinstance(outcome.error, TypeError)
    assert "Counter.after_command takes Take, but was called after Leave" in str(outcome.error)
    assert outcome.code == "IllegalArgument"


@pytest.mark.clause("CMD-261")
def test_after_functions_of_built_in_commands():
    """They run for the runtime's own commands too."""

    class Wept(BaseModel):
        pass

    class Born(BaseModel):
        pass

    @create_aggregate
    class Bear(BaseModel):
        id: str = "a-1"

    @aggregate_root(context="town")
    class Person:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def bear(self, command: Bear) -> Born:
            return Born()

        @after_command(include=DeleteAggregate)
        def weep(self, command: CommandMessage[DeleteAggregate]) -> Wept:
            return Wept()

    pipeline = Pipeline(Person)
    pipeline.send(Bear())
    outcome = pipeline.send(DeleteAggregate(), named_aggregate="town.person", aggregate_id="a-1")

    assert [type(body).__name__ for body in pipeline.bodies(outcome)] == ["Born", "AggregateDeleted", "Wept"]


# --- error functions ---


@create_aggregate
class Begin(BaseModel):
    """Creates a patient."""

    id: str = "a-1"


class Risk(BaseModel):
    """A command with an error function."""

    id: str = "a-1"
    fails: str = ""


class Bare(BaseModel):
    """A command without one."""

    id: str = "a-1"


class Begun(BaseModel):
    """The patient is there."""


class Risked(BaseModel):
    """It went well."""


class Unsourced(BaseModel):
    """Its sourcing function fails."""


class Rejected(BaseModel):
    """An error event."""

    error_code: str = "Rejected"
    error_msg: str = "by an event"


class PatientState(BaseModel):
    """Its state."""

    id: str

    def on_sourcing(self, event: Unsourced) -> None:
        raise LookupError("unsourced")


ORIGINAL = KeyError("original")


@aggregate_root(context="clinic")
class Patient:
    """Has an error function that does what the test plans."""

    def __init__(self, state: PatientState) -> None:
        self.state = state

    @on_command
    def begin(self, command: Begin) -> Begun:
        return Begun()

    @on_command
    def risk(self, command: Risk) -> Risked | Unsourced | Rejected:
        if command.fails == "function":
            raise ORIGINAL
        return {"sourcing": Unsourced, "event": Rejected}.get(command.fails, Risked)()

    @on_command
    def bare(self, command: Bare) -> None:
        raise ORIGINAL

    @on_error
    async def failed(self, command: Risk, error: Exception, exchange: ServerCommandExchange[Risk], clock: Clock) -> Any:
        await clock.sleep(milliseconds=1)
        log.append((error, exchange.error is error, exchange.aggregate_version))
        what = plan.get("then")
        if what == "clear":
            exchange.clear_error()
        elif isinstance(what, Exception) and plan.get("raise"):
            raise what
        elif isinstance(what, Exception):
            exchange.set_error(what)
        return Risked()


@pytest.fixture
def clinic():
    """A pipeline with a patient."""
    pipeline = Pipeline(Patient)
    pipeline.send(Begin(), owner_id="u-1")
    return pipeline


@pytest.mark.clause("CMD-284", "CMD-285", "CMD-286", "CMD-287", "CMD-288")
@pytest.mark.parametrize(
    ("fails", "options", "error"),
    [
        ("function", {}, KeyError),
        ("sourcing", {}, LookupError),
        ("", {"aggregate_version": 7}, CommandExpectVersionConflictError),
        ("", {"aggregate_id": "a-9"}, NotFoundError),
        ("append", {}, InjectedFault),
    ],
)
def test_every_failure_in_processing_reaches_the_error_function(clinic, fails, options, error):
    """Checks, function, sourcing, append: it sees the error on the exchange, and the error goes on all the same."""
    if fails == "append":
        clinic.arm(faults.event_store.append.fails())
    body = Risk(fails=fails, id=options.pop("aggregate_id", "a-1"))

    outcome = clinic.send(body, **options)

    [(seen, on_exchange, _)] = log
    assert type(seen) is error
    assert on_exchange
    assert outcome.error is seen
    assert Risked() not in clinic.bodies(outcome)


@pytest.mark.clause("CMD-284")
def test_a_failure_to_load_does_not(clinic):
    """There is no aggregate yet that it could be called on."""
    clinic.arm(faults.event_store.load.fails())

    outcome = clinic.send(Risk())

    assert type(outcome.error) is InjectedFault
    assert log == []


@pytest.mark.clause("CMD-284", "CMD-286")
def test_an_error_function_is_for_its_command(clinic):
    """Another command's failure goes on without it."""
    assert clinic.send(Bare()).error is ORIGINAL
    assert log == []


@pytest.mark.clause("CMD-288", "CMD-289")
def test_clearing_the_error_does_not_help(clinic):
    """The original goes on."""
    plan.update(then="clear")

    assert clinic.send(Risk(fails="function")).error is ORIGINAL


@pytest.mark.clause("CMD-288", "CMD-290")
def test_another_error_replaces_it(clinic):
    """What is set on the exchange goes on, with the original as its cause."""
    other = DomainError("Other", "another one")
    plan.update(then=other)

    outcome = clinic.send(Risk(fails="function"))

    assert outcome.error is other
    assert outcome.code == "Other"
    assert other.__cause__ is ORIGINAL


@pytest.mark.clause("CMD-291")
def test_an_error_function_that_fails(clinic):
    """Its own error goes on instead."""
    other = DomainError("Other", "another one")
    plan.update({"then": other, "raise": True})

    outcome = clinic.send(Risk(fails="function"))

    assert outcome.error is other
    assert outcome.code == "Other"


@pytest.mark.clause("CMD-292")
def test_an_error_event_speaks_once_the_error_is_cleared(clinic):
    """With the error gone, a failed event that was left on the exchange counts."""
    plan.update(then="clear")
    clinic.arm(faults.event_store.append.fails())

    outcome = clinic.send(Risk(fails="event"))

    assert type(outcome.error) is DomainEventError
    assert outcome.code == "Rejected"


@pytest.mark.clause("CMD-204", "CMD-193")
def test_the_error_function_sees_each_failed_attempt(clinic):
    """Those that are retried too; the error is gone before the next attempt."""
    clinic.arm(faults.event_store.append.times_out(times=2))

    outcome = clinic.send(Risk())

    assert [type(error) for error, _, _ in log] == [InjectedTimeout, InjectedTimeout]
    assert [version for _, _, version in log] == [2, 2]
    assert outcome.code == "Ok"
    assert outcome.exchange.error is None
