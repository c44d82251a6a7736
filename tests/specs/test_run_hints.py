"""Hints from the run, its world and its steps: each rule speaks where its mistake shows, and is silent elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from wowspec import (
    Clock,
    InjectedFault,
    NotFoundError,
    SpecError,
    SpecFailure,
    advance,
    aggregate_root,
    allow_create,
    create_aggregate,
    decider,
    faults,
    given,
    on,
    on_command,
    on_sourcing,
    some,
    spec,
)

from .ending import a_test

#: What `uuid4()` and `datetime.now()` would give in a handler.
DRAWN = UUID("8841cf81-c6cf-458a-9cf5-647aac9d2666")
NOW = datetime(2026, 11, 30, 15, 21, 20, 79395, tzinfo=UTC)


@create_aggregate
class Begin(BaseModel):
    id: str = "walk-1"


class Go(BaseModel):
    id: str = "walk-1"
    stamp: str = ""


class Turn(Go):
    pass


class Rest(Go):
    pass


class Forget(Go):
    pass


class Draw(Go):
    pass


class Look(Go):
    pass


class Ask(Go):
    pass


class Meddle(Go):
    pass


class Climb(Go):
    pass


class Steep(Exception):
    """Too few steps were gone."""


class Begun(BaseModel):
    pass


class Went(BaseModel):
    stamp: str = ""
    at: datetime | None = None


class Turned(BaseModel):
    pass


class WalkState(BaseModel):
    id: str
    steps: int = 0

    @on_sourcing
    def begun(self, event: Begun) -> None:
        pass

    @on_sourcing
    def went(self, event: Went) -> None:
        self.steps += 1


class Guide:
    def way(self, steps: int) -> str:
        return "north"


class Lost(Guide):
    def way(self, steps: int) -> str:
        raise NotFoundError("no way")


@aggregate_root(context="outdoors")
class Walk:
    def __init__(self, state: WalkState) -> None:
        self.state = state

    @on_command
    def begin(self, command: Begin) -> Begun:
        return Begun()

    @on_command
    def go(self, command: Go) -> Went:
        return Went(stamp=command.stamp)

    @on_command
    def turn(self, command: Turn) -> Turned:
        return Turned()

    @on_command
    def rest(self, command: Rest) -> Went | None:
        return None

    @on_command
    def forget(self, command: Forget) -> Went:
        Went()  # type: ignore[return-value]

    @on_command
    def draw(self, command: Draw) -> Went:
        return Went(stamp=str(DRAWN))

    @on_command
    def look(self, command: Look, clock: Clock) -> Went:
        return Went(at=NOW if command.stamp == "real" else clock.now() + timedelta(days=28))

    @on_command
    def meddle(self, command: Meddle) -> Went:
        self.state.steps = 9
        return Went()

    @on_command
    def climb(self, command: Climb) -> Went:
        if self.state.steps < 1:
            raise Steep
        return Went()

    @on_command
    def ask(self, command: Ask, guide: Guide) -> Went:
        return Went(stamp=guide.way(self.state.steps))


@allow_create
class Add(BaseModel):
    id: str = "sum-1"
    number: int


class Added(BaseModel):
    number: int


class Forgotten(BaseModel):
    pass


def decide(command: Add, total: int) -> list[Added | Forgotten]:
    if command.number == 0:
        return []
    return [Forgotten()] if command.number < 0 else [Added(number=command.number)]


def evolve(total: int, event: Added) -> int:
    return total + event.number if isinstance(event, Added) else total


Sum = decider(decide, evolve, 0, name="sum", context="outdoors")

MISTAKES: dict[str, tuple[Any, list[str]]] = {
    "another id was given": (
        lambda: given(on(Walk, "walk-2", Begun())).when(Go()).expect_event(Went),
        ["what is given is of walk(walk-2): mend the id, or @create_aggregate above Go if it begins a history"],
    ),
    "many others were given": (
        lambda: given(*(on(Walk, f"walk-{n}", Begun()) for n in range(2, 7))).when(Go()).expect_event(Went),
        [
            (
                "what is given is of walk(walk-2), walk(walk-3), walk(walk-4), …: mend the id, "
                "or @create_aggregate above Go if it begins a history"
            )
        ],
    ),
    "a state of another id was given": (
        lambda: spec(Walk).given_state(WalkState(id="walk-2")).when(Go()).expect_event(Went),
        ["what is given is of walk(walk-2): mend the id, or @create_aggregate above Go if it begins a history"],
    ),
    "nothing was given": (
        lambda: given().when(Go()).expect_event(Went),
        ["nothing is given of walk(walk-1): given(...) its events, or @create_aggregate above Go"],
    ),
    "another id, in given": (
        lambda: given(on(Walk, "walk-2", Begun()), Go()).when(Go()).expect_event(Went),
        ["what is given is of walk(walk-2): mend the id, or @create_aggregate above Go if it begins a history"],
    ),
    "what it creates is there": (
        lambda: given(Begun()).when(Begin()).expect_events(Begun()),
        [
            (
                "Begin creates its instance, and walk(walk-1) has Begun already: leave that out, mend the id,"
                " or @allow_create above Begin instead"
            )
        ],
    ),
    "what it creates is there, by a fault": (
        lambda: (
            given().with_faults(faults.event_store.append.rival_appends(Begun())).when(Begin()).expect_events(Begun())
        ),
        [],
    ),
    "what a command before it stored": (
        lambda: given().when(Begin()).when(Go()).expect_events(Begun(), Went()),
        [
            (
                "Begun is of an earlier when(...), and what this command stored is expected here: leave it out,"
                ' or write expect_stored(on(Walk, "walk-1"), ...) for the whole history'
            )
        ],
    ),
    "what was given": (
        lambda: given(Begun()).when(Go()).expect_succeeded().when(Go()).expect_events(Begun(), Went()),
        [
            (
                "Begun is given, and what this command stored is expected here: leave it out,"
                ' or write expect_stored(on(Walk, "walk-1"), ...) for the whole history'
            )
        ],
    ),
    "a handler's own NotFound": (lambda: given(Begun()).inject(Lost()).when(Ask()).expect_event(Went), []),
    "a sourcing function is missing": (
        lambda: given(Begun()).when(Turn()).expect_state(steps=1),
        ["Turned was stored, but WalkState has no @on_sourcing for it"],
    ),
    "a sourcing function of what was given is missing": (
        lambda: given(Begun(), Turned()).when(Go()).expect_state(lambda walk: walk.steps == 2),
        ["Turned was given, but WalkState has no @on_sourcing for it"],
    ),
    "evolve does not take an event": (
        lambda: spec(Sum).given(Added(number=1)).when(Add(number=-1)).expect_state(lambda total: total == 0),
        ["Forgotten was stored, but the evolve function of sum takes no Forgotten"],
    ),
    "the state is only wrong": (lambda: given(Begun()).when(Go()).expect_state(steps=2), []),
    "a return is missing": (
        lambda: given(Begun()).when(Forget()).expect_events(Went()),
        ["Walk.forget returned None: a `return` may be missing"],
    ),
    "a return is missing, one event is looked for": (
        lambda: given(Begun()).when(Forget()).expect_event(Went),
        ["Walk.forget returned None: a `return` may be missing"],
    ),
    "None was returned as it may be": (
        lambda: given(Begun()).when(Rest()).expect_event_types(Went),
        ["Walk.rest returned None"],
    ),
    "decide gave an empty list": (
        lambda: spec(Sum).when(Add(number=0)).expect_event_count(1),
        ["decide gave no event"],
    ),
    "an id was drawn": (
        lambda: given(Begun()).when(Draw()).expect_events(Went(stamp="x")),
        ["stamp: a new id in each run: let an injected service make it, or write some(Went)"],
    ),
    "an id was drawn, one event is looked for": (
        lambda: given(Begun()).when(Draw()).expect_event(Went, stamp="x"),
        ["stamp: a new id in each run: let an injected service make it, or write some(Went)"],
    ),
    "an id of the command": (
        lambda: given(Begun()).when(Go(stamp=str(DRAWN))).expect_event(Went, stamp="x"),
        [],
    ),
    "an id of the history": (
        lambda: given(Begun(), Went(stamp=str(DRAWN))).when(Draw()).expect_event(Went, stamp="x"),
        [],
    ),
    "the real time": (
        lambda: given(Begun()).when(Look(stamp="real")).expect_event(Went, at=None),
        ["at: this is not the world's time: let the handler ask for `clock: Clock`, or write some(Went)"],
    ),
    "a time that follows from the world's": (lambda: given(Begun()).when(Look()).expect_event(Went, at=None), []),
    "a time that may follow from a given one": (
        lambda: given(Begun(), Went(at=NOW)).when(Look(stamp="real")).expect_event(Went, at=None),
        [],
    ),
    "faults after when": (
        lambda: given(Begun()).when(Go()).with_faults(faults.event_store.append.fails()).expect_error(InjectedFault),
        ["with_faults(...) stands after when(...), and counts for the next one"],
    ),
    "a history after when": (
        lambda: given(Begun()).when(Go()).given(Went()).expect_state(steps=2),
        ["what is given stands after when(...), and counts for the next one"],
    ),
    "a law after when": (
        lambda: given(Begun()).when(Meddle()).without_law("immutability").expect_events(Went()),
        ["without_law('immutability') stands after when(...), and counts for the next one"],
    ),
    "a broken law": (lambda: given(Begun()).when(Meddle()).expect_events(Went()), []),
    "nothing after when": (lambda: given(Begun()).inject(Guide()).when(Go()).expect_error(InjectedFault), []),
    "a given event is expected, and a class": (
        lambda: given(Begun()).when(Go()).expect_events(Begun(), Went),
        [
            (
                "Begun is given, and what this command stored is expected here: leave it out, "
                'or write expect_stored(on(Walk, "walk-1"), ...) for the whole history'
            ),
            ("write expect_event_types(Went) to compare classes alone, or some(Went) for any Went among exact events"),
        ],
    ),
    "a given event is expected, and another one": (
        lambda: given(Begun()).when(Go()).expect_events(Begun(), Turned()),
        [],
    ),
    "a class as a service": (
        lambda: given(Begun()).inject(guide=Guide).when(Ask()).expect_events(Went(stamp="north")),
        ["a handler was given the class Guide, not an object of it: inject(guide=Guide())"],
    ),
    "a fault that waits for another visit": (
        lambda: (
            given(Begun()).with_faults(faults.event_store.append.fails(at=2)).when(Go()).expect_error(InjectedFault)
        ),
        [
            (
                "the fault event_store.append@2=fail did not strike: event_store.append was visited 1 time,"
                " and it waits for visit 2"
            )
        ],
    ),
    "a fault at a point that was not passed": (
        lambda: given(Begun()).with_faults(faults.event_store.append.fails()).when(Rest()).expect_event(Went),
        [
            "Walk.rest returned None",
            "the fault event_store.append@1=fail did not strike: event_store.append was not visited",
        ],
    ),
    "a fault of a later command": (
        lambda: (
            given(Begun())
            .with_faults(faults.event_store.append.fails(at=2))
            .when(Go())
            .expect_succeeded()
            .when(Go())
            .expect_events(Went())
        ),
        [],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_hint(name):
    """Below the reason, and above the pipeline, stands what would mend the mistake, or nothing."""
    make, says = MISTAKES[name]
    with pytest.raises(SpecFailure) as caught, a_test():
        make()

    text = str(caught.value).partition("  pipeline")[0]
    assert [line.removeprefix("  hint: ") for line in text.splitlines() if "hint:" in line] == says


def test_service_that_comes_too_late():
    """A missing service that stands after its command is told so where it is missed."""
    with pytest.raises(SpecError) as caught, a_test():
        given(Begun()).when(Ask()).inject(guide=Guide()).expect_event(Went)

    assert str(caught.value).splitlines()[-1] == (
        "  hint: inject(...) stands after when(...), and counts for the next one"
    )


def test_class_of_a_service():
    """What looked for an object is told that a class is on offer, which is of no class but `type`."""
    with pytest.raises(SpecError) as caught, a_test():
        given(Begun()).inject(Guide).when(Ask()).expect_event(Went)

    assert str(caught.value) == (
        "nothing supplies parameter 'guide' of Walk.ask (asked for by Guide)\n"
        "  why: the runtime would pass nothing there; on offer are: type: the class Guide\n"
        "  instead: .inject(Guide(...)) or .inject(guide=...);"
        " an object of Guide where the class was given: .inject(Guide())"
    )


def test_undecided_error_has_hints():
    """An error that nobody expected is answered as one that a verb met."""
    with pytest.raises(SpecFailure) as caught, a_test():
        given().when(Go()).run()

    assert "\n  hint: nothing is given of walk(walk-1): given(...) its events" in str(caught.value)


def test_hints_are_not_sought_where_all_is_well(monkeypatch):
    """A spec that holds never asks for a hint."""
    asked: list[object] = []
    monkeypatch.setattr("wowspec.specs.expecting.run_hints", lambda *args: asked.append(args) or [])
    monkeypatch.setattr("wowspec.specs.event_expectations.made_anew", asked.append)
    monkeypatch.setattr("wowspec.specs.event_expectations.unsourced", lambda *args: asked.append(args))

    given(Begun(), advance(days=1)).when(Go(stamp="a")).expect_events(some(Went, stamp="a")).expect_event(
        Went
    ).expect_state(steps=1)
    assert asked == []


def test_a_command_for_an_event():
    """A command where events are expected is told to be one, by class too; not where commands are expected."""
    ran = given(Begun()).when(Go()).expect_events(Went())
    hint = "hint: Go is a command of Walk: expect an event that it leads to"
    for expect in (
        lambda: ran.expect_events(Go()),
        lambda: ran.expect_events(some(Go)),
        lambda: ran.expect_event(Go),
        lambda: ran.expect_event_types(Go),
        lambda: ran.expect_published(Go),
    ):
        with pytest.raises(SpecFailure) as caught:
            expect()
        assert hint in str(caught.value)

    with pytest.raises(SpecFailure) as caught:
        ran.expect_commands(Go())
    assert "is a command of" not in str(caught.value)


def test_a_function_for_a_value():
    """A function as a field's value is told not to be called, and where a function may stand."""
    ran = given(Begun()).when(Go()).expect_events(Went())
    for expect, hint in (
        (lambda: ran.expect_event(Went, stamp=len), None),
        (
            lambda: ran.expect_event(Went, stamp=lambda text: text),
            "stamp: a function is compared here, not called: write expect_events(that=function)",
        ),
        (
            lambda: ran.expect_events(some(Went, stamp=lambda text: text)),
            "stamp: a function is compared here, not called: write expect_events(that=function)",
        ),
        (
            lambda: ran.expect_state(steps=lambda steps: steps > 0),
            "steps: a function is compared here, not called: write expect_state(lambda state: ...)",
        ),
    ):
        with pytest.raises(SpecFailure) as caught:
            expect()
        hints = [line for line in str(caught.value).splitlines() if "hint: " in line]
        assert hints == ([f"  hint: {hint}"] if hint else [])


def refused(make) -> str:
    """What a failure says between its reason and the pipeline."""
    with pytest.raises(SpecFailure) as caught, a_test():
        make()
    return str(caught.value).partition("\n  pipeline")[0]


OTHER = "  hint: walk(walk-2) had Went, walk(walk-1) had not: Climb went to walk(walk-1)"
SHOULD = "  if it should: .expect_error(Steep)"


@pytest.mark.parametrize(
    "expect",
    [
        lambda ran: ran.expect_events(Went()),
        lambda ran: ran.expect_state(steps=2),
        lambda ran: ran.expect_version(2),
        lambda ran: ran.expect_commands(Go()),
        lambda ran: ran.expect_published(Went()),
    ],
    ids=["events", "state", "version", "commands", "published"],
)
def test_a_refusal(expect):
    """Whatever else is expected: what came before of another instance is told, and how to expect the refusal."""
    text = refused(
        lambda: expect(given(on(Walk, "walk-1", Begun()), on(Walk, "walk-2", Begun(), Went())).when(Climb()))
    )
    assert text.splitlines()[-2:] == [OTHER, SHOULD]


def test_a_refusal_of_the_only_instance():
    """Nothing came before of another one, so the refusal alone is told of."""
    text = refused(lambda: given(Begun()).when(Climb()).expect_events(Went()))
    assert text.splitlines()[-1] == SHOULD
    assert "hint: " not in text
    text = refused(
        lambda: given(on(Walk, "walk-1", Begun()), on(Walk, "walk-2", Begun())).when(Climb()).expect_events(Went())
    )
    assert "hint: " not in text


def test_a_refusal_that_was_expected():
    """It is not told to be expected once more."""
    ran = given(on(Walk, "walk-1", Begun()), on(Walk, "walk-2", Begun(), Went())).when(Climb()).expect_error(Steep)
    text = refused(lambda: ran.expect_events(Went()))
    assert "if it should" not in text
    assert "hint: " not in text


def test_a_refusal_of_another_kind():
    """What already says how to expect it says it once; a bug of a handler is not to be expected."""
    text = refused(lambda: given(Begun()).when(Climb()).expect_error(ValueError))
    assert text.count("expect_error(") == 1
    text = refused(lambda: given(Begun()).inject(guide=Guide).when(Ask()).expect_events(Went()))
    assert "if it should" not in text
