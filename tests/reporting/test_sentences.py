"""Steps and expectations in words."""

from __future__ import annotations

import datetime as dt

import pytest

from wowspec import (
    ANY_EVENTS,
    AggregateDeleted,
    DeleteAggregate,
    DomainError,
    InjectedFault,
    NotFoundError,
    SpecFailure,
    advance,
    any_of,
    at,
    chain,
    faults,
    given,
    on,
    processed,
    projected,
    saga_handled,
    sent_as,
    some,
    spec,
    stream,
    unordered,
)
from wowspec.messages.stages import CommandStage
from wowspec.reporting.outcome_phrases import ERROR_WORDS
from wowspec.reporting.phrases import PHRASES, in_words
from wowspec.reporting.points_in_words import KIND_WORDS, POINT_WORDS, STAGE_WORDS, fault_in_words, point_in_words
from wowspec.reporting.said import Said
from wowspec.reporting.sentences import _expectation, step_places, steps_in_words, verb_of
from wowspec.reporting.steps_in_words import SETUPS, STEPS
from wowspec.reporting.subjects import context_of, subject_of_way, title_of_spec, title_of_test
from wowspec.specs.builder import Spec
from wowspec.specs.concurrent_spec import ConcurrentSpec
from wowspec.specs.nodes import Setup, Step, Subject
from wowspec.specs.recorded import CONDITION_VERBS, Expected
from wowspec.specs.tracking import aside
from wowspec.world.points import KINDS, POINTS

from .scenes import (
    AlreadyCollectedError,
    CollectParcel,
    Courier,
    Desk,
    Line,
    Parcel,
    ParcelCollected,
    ParcelPlaced,
    ParcelState,
    ParcelTooHeavyError,
    PlaceParcel,
    post,
    steps,
    told,
)

PLACED = on(Parcel, "p-1", ParcelPlaced(express=True))
ANN = CollectParcel(id="p-1", by="Ann")

#: Each expectation verb with arguments, and what it says.
SAID = [
    (Said("expect_events", (ParcelPlaced(express=True),)), "this happens: Parcel placed (express: yes)"),
    (Said("expect_events", (ParcelCollected(by="Ann"),)), "Ann has the parcel"),
    (
        Said("expect_events", kwargs={"that": lambda events: len(events) > 2}),
        "of what happens it holds that the number of it is more than 2",
    ),
    (Said("expect_no_events"), "nothing happens"),
    (Said("expect_event", (ParcelPlaced,), {"express": True}), "what happens includes: Parcel placed (express: yes)"),
    (Said("expect_event", (ParcelCollected(by="Ann"),)), "what happens includes: Ann has the parcel"),
    (
        Said("expect_event_types", (ParcelPlaced, ParcelCollected)),
        "this happens, whatever the details: Parcel placed then Parcel collected",
    ),
    (Said("expect_event_types"), "nothing happens"),
    (Said("expect_event_count", (2,)), "2 things happen"),
    (Said("expect_event_count", kwargs={"count": 1}), "1 thing happens"),
    (Said("expect_event_count", (0,)), "nothing happens"),
    (Said("expect_all_events", (ParcelPlaced(),)), "in all, whoever is behind it, this happens: Parcel placed"),
    (Said("expect_all_events"), "nothing happens anywhere"),
    (
        Said("expect_emitted", (ParcelPlaced,)),
        "this is decided, whether or not it could be stored: Parcel placed (whatever the details)",
    ),
    (Said("expect_emitted"), "this is decided, whether or not it could be stored: nothing"),
    (Said("expect_stored", (ParcelPlaced(),)), "this is stored: Parcel placed"),
    (
        Said("expect_stored", (on(Parcel, "p-1"), ParcelPlaced())),
        "all that ever happened to parcel p-1 is: Parcel placed",
    ),
    (Said("expect_stored", (on(Parcel, "p-1"),)), "nothing ever happened to parcel p-1"),
    (Said("expect_not_stored"), "nothing is stored"),
    (Said("expect_not_stored", (ParcelPlaced,)), "no Parcel placed is stored"),
    (Said("expect_published", (ParcelPlaced,)), "this is published: Parcel placed (whatever the details)"),
    (Said("expect_not_published"), "nothing is published"),
    (Said("expect_delivered", (ParcelPlaced(),)), "this reaches those who follow it: Parcel placed"),
    (Said("expect_delivered"), "this reaches those who follow it: nothing"),
    (Said("expect_state_event_published"), "the new state is published"),
    (Said("expect_state_event_not_published"), "the new state is not published"),
    (Said("expect_header", kwargs={"trace_id": "t"}), "beside what happens it is noted: trace id: t"),
    (Said("expect_state", kwargs={"holder": None}, noun="parcel"), "the parcel has holder: none"),
    (
        Said("expect_state", (lambda parcel: parcel.weight <= 3,), noun="parcel"),
        "for the parcel it holds that weight is at most 3",
    ),
    (Said("expect_state", (on(Parcel, "p-1"),), {"holder": "Ann"}), "parcel p-1 has holder: Ann"),
    (
        Said("expect_state", (on(Parcel, "p-1"), lambda parcel: not parcel.sent)),
        "for parcel p-1 it holds that not sent",
    ),
    (
        Said("expect_state_aggregate", kwargs={"owner_id": "u-1", "version": 2, "deleted": False}, noun="parcel"),
        "the parcel belongs to u-1, is at version 2 and is not deleted",
    ),
    (
        Said("expect_state_aggregate", (on(Parcel, "p-1"),), {"tags": {}, "deleted": True}),
        "parcel p-1 has no tags and is deleted",
    ),
    (Said("expect_version", (2,), noun="parcel"), "the parcel is at version 2"),
    (Said("expect_error"), "it is refused"),
    (Said("expect_error", (ParcelTooHeavyError,)), "it is refused: parcel too heavy"),
    (Said("expect_error", (ValueError,), {"match": "too heavy"}), "it is refused: “too heavy”"),
    (
        Said("expect_error", (ValueError,), {"match": "heavy"}, error=ValueError("much too heavy\nreally")),
        "it is refused: “much too heavy”",
    ),
    (Said("expect_error", kwargs={"match": r"3\.5 \w+"}), "it is refused: a reason like “3\\.5 \\w+”"),
    (Said("expect_error", kwargs={"match": r"3\.5 kg"}), "it is refused: “3.5 kg”"),
    (Said("expect_error", (NotFoundError,), noun="parcel"), "it is refused: there is no such parcel"),
    (Said("expect_error", (InjectedFault,)), "it fails because of that"),
    (Said("expect_error", kwargs={"match": "injected"}, error=InjectedFault("injected")), "it fails because of that"),
    (
        Said("expect_error", (TimeoutError,), {"match": "slow"}, error=TimeoutError("too slow")),
        "it fails with a time-out: “too slow”",
    ),
    (
        Said("expect_error", (DomainError,), {"code": "OutOfStock", "match": "left"}),
        "it is refused: out of stock (“left”)",
    ),
    (Said("expect_error", kwargs={"code": "OutOfStock"}), "it is refused: out of stock"),
    (Said("expect_error", kwargs={"code": "CommandValidation"}), "it is refused: what was filled in is not acceptable"),
    (
        Said("expect_error", (AlreadyCollectedError,), error=AlreadyCollectedError("Bob")),
        "it is refused: the parcel is with Bob already",
    ),
    (Said("expect_error", (AlreadyCollectedError,)), "it is refused: the parcel is with … already"),
    (
        Said("expect_error", (AlreadyCollectedError,), {"times": 1}, together=True),
        "whatever the order, exactly one of them is refused: the parcel is with … already",
    ),
    (
        Said("expect_error", (TimeoutError,), {"times": 2}, together=True),
        "whatever the order, exactly 2 of them fail with a time-out",
    ),
    (
        Said("expect_error", (TimeoutError,), {"times": 0}, together=True),
        "whatever the order, none of them fails with a time-out",
    ),
    (Said("expect_error", (ValueError,), together=True), "in some order one of them is refused"),
    (Said("expect_succeeded"), "it succeeds"),
    (Said("expect_succeeded", together=True), "whatever the order, all of them succeed"),
    (Said("expect_succeeded", kwargs={"times": 1}, together=True), "whatever the order, exactly one of them succeeds"),
    (Said("expect_unknown_outcome"), "its sender gets no answer in time, and does not know how it ended"),
    (Said("expect_any_outcome"), "it may succeed, fail, or leave its sender without an answer"),
    (Said("expect_result", kwargs={"total": 100}), "the sender is told total: 100"),
    (Said("expect_result"), "the sender is told nothing more"),
    (Said("expect_stage", (CommandStage.SNAPSHOT,)), "the sender is told that it was kept as a snapshot"),
    (
        Said("expect_stage", ("PROCESSED",), {"succeeded": False, "error_code": "X"}),
        "whoever waits until it was processed is told that it failed (error code: X)",
    ),
    (Said("expect_order", ("event_store.append", "wait.notify:SENT")), "this comes one after another:"),
    (
        Said("expect_logged", ("state_event_bus.send",)),
        "publishing the new state fails, which is noted, and changes nothing else",
    ),
    (
        Said("expect_downstream_error", (CollectParcel, ParcelTooHeavyError)),
        "of what follows, Collect parcel is refused: parcel too heavy",
    ),
    (
        Said("expect_downstream_error", (Courier,), {"kind": TimeoutError}, together=True),
        "in some order, of what follows, Courier fails with a time-out",
    ),
    (Said("expect_acknowledged"), "its receipt is confirmed once"),
    (Said("expect_acknowledged", kwargs={"times": 0}), "its receipt is not confirmed"),
    (Said("expect_command_state", ("EXPIRED",)), "its last attempt was given up"),
    (Said("expect_attempts", (4,)), "it is tried 4 times"),
    (Said("expect_attempts", (0,), noun="parcel"), "it never reaches the parcel"),
    (Said("expect_fired", (1,)), "1 thing goes wrong on the way"),
    (Said("expect_commands", (ANN,)), "this is asked for next: Ann collects the parcel p-1"),
    (Said("expect_no_commands"), "nothing is asked for next"),
    (Said("expect_view", ("desk",), {"holder": "Ann"}, view="desk"), "the desk shows for desk: holder: Ann"),
    (Said("expect_view", ("d-1", Line(sku="a")), {"projection": Desk}), "the desk shows for d-1: Line (sku: a)"),
    (
        Said("expect_view", ("d-1", lambda row: row["holder"] == "Ann")),
        "the view shows for d-1 a row; of it, it holds that holder is Ann",
    ),
    (Said("expect_no_view", ("d-1",)), "the view shows nothing for d-1"),
    (Said("expect_idempotent", (Desk,)), "the desk stays as it is when it is told everything a second time"),
    (
        Said("expect_snapshot", kwargs={"version": 2}, noun="parcel"),
        "a snapshot of the parcel is kept, with version: 2",
    ),
    (Said("expect_no_snapshot", (on(Parcel, "p-1"),)), "no snapshot of parcel p-1 is kept"),
    (Said("expect_notified", ("PROCESSED",), {"times": 2}), "it is told twice that it was processed"),
    (Said("expect_notified", ("PROCESSED",), {"times": 0}), "it is told to nobody that it was processed"),
    (Said("expect_causation", ("PlaceParcel > ParcelPlaced",)), "one thing leads to the next:"),
    (Said("always", (lambda world: world.x <= 1,)), "at every moment: x is at most 1"),
    (Said("eventually", (lambda world: world.ask(1),), {"name": "all is well"}), "in the end: all is well"),
    (Said("expect_serializable"), "whatever the order, it ends as if they had come one after another"),
    (
        Said("expect_one_of", ([ParcelCollected(by="Ann")], []), together=True),
        "whatever the order, it ends in one of these ways:",
    ),
    (Said("expect_complete"), "every order of them was tried"),
    (Said("expect_version", (2,), noun="parcel", together=True), "whatever the order, the parcel is at version 2"),
    (Said("expect_miracles"), "expect miracles"),
]


def expectations() -> set[str]:
    """Every expectation verb of the language."""
    names = {name for cls in (Spec, ConcurrentSpec) for name in dir(cls) if name.startswith("expect_")}
    return names | set(CONDITION_VERBS)


# --- the tables -------------------------------------------------------------------------------------------------------


def test_each_expectation_has_a_phrase():
    """A verb of the language has its row, and a row its verb; each is pinned below."""
    assert set(PHRASES) == expectations()
    assert {said.verb for said, _ in SAID} - {"expect_miracles"} == expectations()


def test_each_step_has_a_phrase():
    """So has what may stand before an expectation."""
    assert set(STEPS) | {Subject} == set(Step.__args__)
    made = {"using", "without", "with_profile", "with_filter", "inject", "inject_factory", "fork"}
    assert set(SETUPS) == made


def test_each_point_kind_and_stage_has_words():
    """What the runtime's tables hold can be told."""
    assert set(POINT_WORDS) == {row.name for row in POINTS}
    assert set(KIND_WORDS) == {row.kind for row in KINDS}
    assert set(STAGE_WORDS) == set(CommandStage)


def test_each_error_of_the_runtime_has_words():
    """No code of the runtime's own is told by its name."""
    from wowspec.errors import ErrorCode

    codes = {value for name, value in vars(ErrorCode).items() if not name.startswith("_")}
    assert codes - {"Ok", "RewriteNoCommand", "NotInitializedGlobalIdGenerator"} <= set(ERROR_WORDS)


@pytest.mark.parametrize(("said", "sentence"), SAID, ids=[f"{each.verb}-{n}" for n, (each, _) in enumerate(SAID)])
def test_an_expectation_is_told(said, sentence):
    """Each verb, as a person would say it."""
    assert in_words(said).sentence == sentence


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (faults.event_store.append.times_out(), "storing what happened times out"),
        (faults.event_store.append.times_out(at=2), "storing what happened times out the second time"),
        (faults.event_store.append.fails(times=3), "storing what happened fails the first 3 times"),
        (
            faults.event_store.append.fails(at=2, times=2),
            "storing what happened fails from the second to the third time",
        ),
        (faults.event_store.append.fails(aggregate="p-1"), "for p-1, storing what happened fails"),
        (faults.event_store.append.fails(aggregate=Parcel), "for each parcel, storing what happened fails"),
        (faults.event_store.append.fails(aggregate=on(Parcel, "p-1")), "for parcel p-1, storing what happened fails"),
        (
            faults.event_store.append.rival_appends(ParcelCollected(by="Bob")),
            "storing what happened comes second, after somebody else stored Bob has the parcel",
        ),
        (
            faults.command_bus.send.crashes_before(),
            "sending the command is not done, since the process dies right before it and starts again",
        ),
        (faults.point("service:payment.charge").fails(), "the call of “charge” of the payment fails"),
        (faults.event.deliver(Desk).times_out(), "telling the desk what happened times out"),
        (
            faults.point("wait.notify:PROCESSED").drops(),
            "telling the sender that it was processed seems to be done, but nothing arrives",
        ),
    ],
    ids=str,
)
def test_a_fault_is_told(fault, sentence):
    """Where, what, whose and when."""
    assert fault_in_words(fault) == sentence


def test_a_point_of_the_user_s_own_is_told_by_its_name():
    """Nobody else knows words for it."""
    assert point_in_words("printer.print_label") == "the step printer print label"


# --- whole specs ------------------------------------------------------------------------------------------------------


def test_a_spec_is_told_step_by_step():
    """Keyword, sentence, and a line for each further item."""
    made = (
        given(on(Parcel, "p-1", ParcelPlaced(express=True), ParcelCollected(by="Bob"), owner_id="u-1"))
        .when(ANN)
        .expect_error(AlreadyCollectedError)
        .expect_no_events()
    )

    assert told(made) == [
        "given parcel p-1 (of owner u-1) has this history:",
        "- Parcel placed (express: yes)",
        "- Bob has the parcel",
        "when Ann collects the parcel p-1",
        "then it is refused: the parcel is with Bob already",
        "then nothing happens",
    ]


def test_keywords_verbs_and_code():
    """What a report needs to draw a step."""
    made = given(PLACED).with_faults(faults.event_store.append.times_out(at=1)).when(ANN).expect_attempts(2)

    assert [(step["keyword"], step["verb"], step["code"]) for step in steps(made)] == [
        ("given", "given", "given(on(Parcel, 'p-1', ParcelPlaced(express=True)))"),
        ("with", "with_faults", "with_faults(faults.event_store.append.times_out())"),
        ("when", "when", 'when(CollectParcel(id="p-1", by="Ann"))'),
        ("then", "expect_attempts", "expect_attempts(2)"),
    ]


def test_what_is_given_is_told():
    """Events, streams, commands, time, whole instances; each in its line."""
    with aside():
        made = given(
            at(dt.datetime(2024, 5, 1, 10, 30, tzinfo=dt.UTC)),
            PLACED,
            stream(ParcelPlaced(), ParcelCollected(by="Ann")),
            sent_as(PlaceParcel(id="p-2"), owner_id="u-1"),
            PlaceParcel(id="p-3"),
            advance(hours=1),
        )

    assert told(made) == [
        "given this happened:",
        "- it was 1 May 2024, 10:30 UTC",
        "- parcel p-1: Parcel placed (express: yes)",
        "- Parcel placed and Ann has the parcel",
        "- Place parcel (id: p-2), by u-1: asked for, and done",
        "- Place parcel (id: p-3): asked for, and done",
        "- 1 hour passed",
    ]


@pytest.mark.parametrize(
    ("made", "lines"),
    [
        (given(), ["given nothing has happened yet"]),
        (given().given(PLACED), ["given parcel p-1 has this history: Parcel placed (express: yes)"]),
        (given(ParcelPlaced()), ["given this happened: Parcel placed"]),
        (given(ParcelCollected(by="Ann")), ["given Ann has the parcel"]),
        (given(ParcelPlaced(), deliver=True), ["given this happened, and everybody was told: Parcel placed"]),
        (given(on(Parcel, "p-1")), ["given parcel p-1 is spoken of"]),
        (
            given(PLACED, on(Parcel, "p-1", ParcelCollected(by="Ann"))),
            ["given parcel p-1 has this history:", "- Parcel placed (express: yes)", "- Ann has the parcel"],
        ),
        (spec(Parcel).advance(days=2), ["given 2 days pass"]),
        (spec(Parcel).given_state(ParcelState(id="p-1"), 3), ["given the parcel is at version 3, with id: p-1"]),
        (spec(Parcel).using(post), ["with the parcel, the courier and the desk taking part"]),
        (spec(Parcel).using(Desk).without(Desk), ["with the desk taking part", "with the desk taking no part"]),
        (spec(Parcel).with_profile("kafka"), ["with the system running on kafka"]),
        (spec(Parcel).inject(Line(sku="a"), clock=3), ["with the line and the clock as stand-ins"]),
        (spec(Parcel).inject_factory(printer=dict), ["with the printer as a stand-in"]),
        (spec(Parcel).without_law("replay_equality"), ["with nobody checking the law of replay equality"]),
        (
            spec(Parcel).with_faults(faults.event_store.append.fails(), faults.command_bus.send.drops()),
            [
                "with this goes wrong:",
                "- storing what happened fails",
                "- sending the command seems to be done, but nothing arrives",
            ],
        ),
        (spec(Parcel).when(PlaceParcel(id="p-1")), ["when the command is sent: Place parcel (id: p-1)"]),
        (
            spec(Parcel).when(DeleteAggregate(), aggregate_id="p-1"),
            ["when the command is sent: Delete it, to parcel p-1"],
        ),
        (
            spec(Parcel).when(PlaceParcel, id="p-1", lines=[]),
            ["when the command is sent: Place parcel (id: p-1, no lines)"],
        ),
        (spec(Parcel).when(lambda run: ANN), ["when a command is sent that is made of what happened before"]),
        (
            spec(Parcel).when(
                ANN, owner_id="u-1", tenant_id="t", request_id="r", expected_version=2, header={"a": "b"}
            ),
            [
                (
                    "when Ann collects the parcel p-1, by u-1, of tenant t, as request r, "
                    "by somebody who saw version 2, with the note a: b"
                )
            ],
        ),
        (
            spec(Parcel).when(ANN, wait_for=projected("post", processor="Desk").with_timeout(seconds=5)),
            [
                (
                    "when Ann collects the parcel p-1, by somebody who waits until it was shown in the desk, "
                    "5 seconds at most"
                )
            ],
        ),
        (
            spec(Parcel).when(ANN, wait_for=chain(saga_handled("post", processor="Courier"), then=processed())),
            [
                (
                    "when Ann collects the parcel p-1, by somebody who waits until it was taken up by the courier, "
                    "and what follows was processed"
                )
            ],
        ),
        (
            given(Courier).when_event(ParcelPlaced(), aggregate_id="p-1", owner_id="u-1"),
            ["when this happens to parcel p-1 (of owner u-1): Parcel placed"],
        ),
        (
            given(Courier).when_event(ParcelCollected(by="Ann"), aggregate_id="p-1"),
            ["when this happens to parcel p-1: Ann has the parcel"],
        ),
        (given(Courier).when_event(ParcelPlaced()), ["when this happens: Parcel placed"]),
        (
            given(PLACED, at(dt.datetime(2024, 5, 1, tzinfo=dt.UTC)), advance(days=2)),
            [
                "given this happened:",
                "- parcel p-1: Parcel placed (express: yes)",
                "- it became 1 May 2024, 00:00 UTC",
                "- 2 days passed",
            ],
        ),
        (
            given(PLACED).when_concurrently(ANN, sent_as(CollectParcel(id="p-1"), owner_id="u-1"), processes=2),
            [
                "given parcel p-1 has this history: Parcel placed (express: yes)",
                "when these commands are sent at the same time, in 2 processes, and meet in any order:",
                "- Ann collects the parcel p-1",
                "- somebody collects the parcel p-1, by u-1",
            ],
        ),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_a_step_is_told(made, lines):
    """Each step, as a person would say it."""
    assert told(made) == lines


def test_looser_events_are_told_as_such():
    """What may be otherwise is said."""
    made = (
        given()
        .when(PlaceParcel(id="p-1", express=True))
        .expect_events(unordered(any_of(some(ParcelPlaced), ParcelCollected(by="x"))), ANY_EVENTS)
    )

    assert told(made)[2:] == [
        "then this happens:",
        "- in any order: either Parcel placed (whatever the details) or x has the parcel",
        "- anything else, or nothing",
    ]


def test_an_id_that_a_run_made_is_not_shown():
    """Nobody knows it but the run; the next command means the same one."""

    def collect(run):
        return CollectParcel(id=run.aggregate_id, by="Ann")

    made = given().when(PlaceParcel(id="p-77")).expect_event_count(1).when(collect).expect_event_count(1)

    assert told(made)[3] == "when Ann collects the parcel the same one"


def test_what_is_refused_by_its_fields_names_them():
    """Whoever filled them in knows what to change."""
    made = given().when(PlaceParcel, id=3, express="?").expect_error(code="CommandValidation")

    assert told(made)[2] == "then it is refused: “id” and “express” are not acceptable"


def test_what_did_not_hold_is_told_where_the_test_failed():
    """Only there: what a test catches is nothing that it expects."""
    made = given(PLACED).when(ANN)
    made.expect_events(ParcelCollected(by="Ann"))
    with pytest.raises(SpecFailure):
        made.expect_state(holder="Bob")

    assert told(made)[-1] == "then Ann has the parcel"
    assert told(made, failed=True)[-1] == "then the parcel has holder: Bob"
    assert [step.get("failed", False) for step in steps(made, failed=True)] == [False, False, False, True]


def test_a_view_is_named_where_there_is_one():
    """Also where the spec is about the aggregate."""
    made = given(PLACED).using(post).when(ANN).expect_view("desk", lambda row: row["holder"] == "Ann")

    assert told(made)[-1].startswith("then the desk shows for desk a row; of it")
    assert told(given(Desk, on(Parcel, "p-1", ParcelCollected(by="Ann"))).expect_view("desk", {"holder": "Ann"})) == [
        "given parcel p-1 has this history: Ann has the parcel",
        "then the desk shows for desk: (holder: Ann)",
    ]


def test_rows_of_the_same_thing_show_their_ends():
    """A hundred items are told by three."""
    with aside():
        made = given(*[ParcelPlaced(label=str(n)) for n in range(100)])

    assert told(made)[1:] == [
        "- Parcel placed (name on the label: 0)",
        "- Parcel placed (name on the label: 1)",
        "- … 97 more of the kind …",
        "- Parcel placed (name on the label: 99)",
    ]


def test_many_lines_are_counted():
    """Also where they differ."""
    with aside():
        made = given(*[event for n in range(30) for event in (ParcelPlaced(label=str(n)), ParcelCollected(by=str(n)))])

    assert told(made)[-1] == "- … and 37 more lines"


def test_places_of_steps():
    """Runs are told beside the step that they belong to; what says nothing to people has no place."""
    made = (
        given()
        .inject_factory(printer=dict)
        .given(PLACED)
        .when(ANN)
        .expect_version(2)
        .when(ANN)
        .expect_error(DomainError)
    )
    nodes = made._node.path()

    places = step_places(nodes)

    said = steps_in_words(nodes)
    assert [said[places[place]]["verb"] for place in sorted(places)] == [
        verb_of(node) for place, node in enumerate(nodes) if place in places
    ]
    assert [verb_of(nodes[place]) for place in range(len(nodes)) if place not in places] == ["spec", "given"]


def test_places_of_steps_where_something_did_not_hold():
    """What is told besides moves what comes after it."""
    made = given(PLACED).when(ANN)
    with pytest.raises(SpecFailure):
        made.expect_version(9)
    nodes = made.when(ANN).expect_error(DomainError)._node.path()

    for failed in (False, True):
        said = steps_in_words(nodes, failed=failed)
        verbs = [said[place]["verb"] for place in step_places(nodes, failed=failed).values()]
        assert verbs == ["given", "when", "when"]


def test_branches_are_titles_and_no_steps():
    """A fork says nothing of the system."""
    found = []
    given(PLACED).fork("at once", lambda base: found.append(base.when(ANN).expect_version(2)))

    assert [step["verb"] for step in steps(found[0])] == ["given", "when", "expect_version"]
    assert title_of_spec(found[0]._node.path(), "Collecting") == "Collecting: at once"
    assert title_of_spec([], "Collecting") == "Collecting"


# --- subjects and titles ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "subject", "context"),
    [
        (spec(Parcel), Parcel, "post"),
        (given(Courier).when_event(ParcelPlaced()), Courier, "post"),
        (given(Desk, PLACED), Desk, "post"),
        (given(PLACED), Parcel, "post"),
        (given(ParcelPlaced()), Parcel, "post"),
        (given(stream(ParcelPlaced())), Parcel, "post"),
        (given().when(ANN), Parcel, "post"),
        (given().when(PlaceParcel, id="p-1"), Parcel, "post"),
        (given(PLACED).when_concurrently(ANN, ANN), Parcel, "post"),
        (given().when(DeleteAggregate()), None, ""),
        (given(AggregateDeleted()), None, ""),
        (given(), None, ""),
    ],
)
def test_what_a_spec_is_about(made, subject, context):
    """Its first word says it, else the first command or event."""
    found = subject_of_way(made._node.path())

    assert (found, context_of(found)) == (subject, context)


@pytest.mark.parametrize(
    ("name", "doc", "title"),
    [
        ("test_it", "What it does.\n\nMore.", "What it does"),
        ("test_it", None, "It"),
        ("test_pay_twice[a-1]", "", "Pay twice [a-1]"),
    ],
)
def test_titles_of_tests(name, doc, title):
    """The first line of the docstring, else the name in words."""
    assert title_of_test(name, doc) == title


def test_a_setup_without_words_is_told_by_its_verb():
    """Whoever adds one is told by the test above; a report is written all the same."""
    with aside():
        made = spec(Parcel)._add(Setup("with_magic", lambda session: None))

    assert told(made) == ["with with magic"]


def test_no_line_is_endless():
    """Values within values within values are cut."""
    deep: object = ["x" * 100] * 12
    for _ in range(2):
        deep = [deep] * 12
    with aside():
        node = given().when(ANN)._node
    found = _expectation(
        node, Expected("expect_state", (), {"by": deep}, test_no_line_is_endless.__code__, 0), "parcel", "view"
    )

    assert len(found["sentence"]) <= 4_000
    assert " more characters …" in found["sentence"]
