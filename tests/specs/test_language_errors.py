"""Errors as outcomes: their codes, what is retried, what is a bug of the handler, what must be decided."""

from __future__ import annotations

import pytest

from wowspec import (
    PROCESSED,
    CommandExpectVersionConflictError,
    CommandResultError,
    CommandValidationError,
    DeadlineExceeded,
    DeleteAggregate,
    DomainError,
    DuplicateAggregateIdError,
    DuplicateRequestIdError,
    EventVersionConflictError,
    IllegalAccessDeletedAggregateError,
    IllegalAccessOwnerAggregateError,
    IllegalAccessSpaceAggregateError,
    IllegalStateError,
    InjectedFault,
    NotFoundError,
    SpecError,
    SpecFailure,
    event_processor,
    faults,
    given,
    on,
    on_event,
    profile,
    sent_as,
)

from .ending import a_test
from .language_domain import (
    BreakOrder,
    CancelOrder,
    Coded,
    CreateOrder,
    Flaky,
    Order,
    OrderCancelled,
    OrderCreated,
    OrderPaid,
    PayOrder,
    ShipOrder,
)

BUGS = {
    "type": TypeError,
    "key": KeyError,
    "attribute": AttributeError,
    "name": NameError,
    "index": IndexError,
    "import": ImportError,
    "zero": ZeroDivisionError,
    "assertion": AssertionError,
    "module": ModuleNotFoundError,
}


def breaking(how):
    """An order whose handler raises so."""
    return given(OrderCreated()).when(BreakOrder(id="o-1", how=how))


@pytest.mark.clause("CMD-325", "CMD-205")
@pytest.mark.parametrize(
    ("how", "kind", "code", "attempts"),
    [
        ("value", ValueError, "IllegalArgument", 1),
        ("pydantic", ValueError, "IllegalArgument", 1),
        ("state", IllegalStateError, "IllegalState", 1),
        ("timeout", TimeoutError, "RequestTimeout", 4),
        ("file", FileNotFoundError, "NotFound", 1),
        ("domain", DomainError, "CartFull", 1),
        ("coded", Coded, "OutOfPaper", 1),
        ("other", RuntimeError, "BadRequest", 1),
        ("flaky", Flaky, "BadRequest", 4),
    ],
)
def test_errors_of_a_handler_and_their_codes(how, kind, code, attempts):
    """The original class and its code, whether or not the runtime retried; only recoverable ones are retried."""
    (
        breaking(how)
        .expect_error(kind, code=code)
        .expect_attempts(attempts)
        .expect_no_events()
        .expect_stage(PROCESSED, succeeded=False, error_code=code)
    )


def test_the_text_of_an_error():
    """Of a domain error, its message."""
    breaking("domain").expect_error(DomainError, match="at most 100")
    breaking("coded").expect_stage(PROCESSED, succeeded=False, error_msg="the printer has no paper")


RUNTIME = {
    CommandValidationError: lambda: given(OrderCreated()).when(PayOrder, id="o-1", amount=0),
    DuplicateRequestIdError: lambda: given(sent_as(CreateOrder(id="o-1"), request_id="r-1")).when(
        PayOrder(id="o-1"), request_id="r-1"
    ),
    DuplicateAggregateIdError: lambda: given(on(Order, "o-1", OrderCreated())).when(CreateOrder(id="o-1")),
    EventVersionConflictError: lambda: (
        given(OrderCreated()).with_faults(faults.event_store.append.conflicts(times=4)).when(CancelOrder())
    ),
    CommandExpectVersionConflictError: lambda: given(OrderCreated()).when(CancelOrder(), expected_version=7),
    NotFoundError: lambda: given().when(PayOrder(id="o-1")),
    IllegalAccessDeletedAggregateError: lambda: given(OrderCreated(), DeleteAggregate()).when(CancelOrder()),
    IllegalAccessOwnerAggregateError: lambda: given(on(Order, "o-1", OrderCreated(), owner_id="u-1")).when(
        CancelOrder(), owner_id="u-2"
    ),
    IllegalAccessSpaceAggregateError: lambda: given(on(Order, "o-1", OrderCreated(), space_id="s-1")).when(
        CancelOrder(), space_id="s-2"
    ),
}


@pytest.mark.clause("CMD-330")
@pytest.mark.parametrize("kind", RUNTIME, ids=lambda kind: kind.__name__)
def test_errors_of_the_runtime(kind):
    """By class and by code; the code is the class's name without its ending."""
    RUNTIME[kind]().expect_error(kind, code=kind.__name__.removesuffix("Error")).expect_no_events()


def test_the_sender_gets_a_result_with_the_original_as_its_cause():
    """What `gateway.send_and_wait` raises; `expect_error` looks at both."""
    run = breaking("state").expect_error(CommandResultError).expect_error(IllegalStateError).run()

    assert isinstance(run.failure, CommandResultError)
    assert run.failure.__cause__ is run.error
    assert run.failure.result.error_code == "IllegalState"


def test_request_ids_under_both_profiles():
    """An id that was seen is looked up in the store; under `noop` having been seen is enough."""
    lost = given().with_faults(faults.command_bus.send.fails()).when(CreateOrder(id="o-1"), request_id="r-1")
    lost.expect_error(InjectedFault).when(CreateOrder(id="o-1"), request_id="r-1").expect_succeeded()

    (
        given()
        .with_profile(profile(request_id_existence="noop"))
        .with_faults(faults.command_bus.send.fails())
        .when(CreateOrder(id="o-1"), request_id="r-1")
        .expect_error(InjectedFault)
        .when(CreateOrder(id="o-1"), request_id="r-1")
        .expect_error(DuplicateRequestIdError)
        .expect_no_events()
    )


# --- all given parts must hold ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parts",
    [
        {"kind": KeyError},
        {"kind": TimeoutError},
        {"match": "^value"},
        {"code": "BadRequest"},
        {"kind": ValueError, "match": "another"},
        {"kind": ValueError, "code": "BadRequest"},
        {"match": "not that value", "code": "BadRequest"},
    ],
    ids=str,
)
def test_all_parts_of_an_expected_error_must_hold(parts):
    """One that does not hold is told, with the error and its own traceback."""
    broken = breaking("value")
    kind = parts.pop("kind", None)
    with pytest.raises(SpecFailure) as caught:
        broken.expect_error(kind, **parts)
    text = str(caught.value)
    assert "the command failed with ValueError (code 'IllegalArgument'): not that value" in text
    assert "in Order.break_it" in text
    broken.expect_error(ValueError, match="that", code="IllegalArgument")


def test_match_searches():
    """Anywhere in the text, as a regular expression."""
    breaking("value").expect_error(match="that v").expect_error(ValueError, match=r"v\w+e$")


def test_a_code_of_another_spelling():
    """The one that was meant is named."""
    with pytest.raises(SpecFailure, match="did you mean 'IllegalState'"):
        breaking("state").expect_error(IllegalStateError).expect_error(code="ILLEGAL_STATE")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda spec: spec.expect_error(ValueError("x")),
        lambda spec: spec.expect_error("ValueError"),
        lambda spec: spec.expect_error((ValueError, KeyError)),
        lambda spec: spec.expect_error(int),
        lambda spec: spec.expect_error(match="("),
        lambda spec: spec.expect_error(match=7),
        lambda spec: spec.expect_error(code=404),
        lambda spec: spec.expect_error(),
    ],
    ids=["an object", "a text", "a tuple", "no error", "no expression", "no text", "no code", "nothing"],
)
def test_what_is_no_error_is_refused(wrong):
    """With what to write instead."""
    broken = breaking("value").expect_error(ValueError)
    with pytest.raises(SpecError) as caught:
        wrong(broken)
    assert caught.value.why
    assert caught.value.instead


@pytest.mark.parametrize(
    ("given", "instead"),
    [
        ("not paid", 'expect_error(match="not paid")'),
        ("a (b)", 'expect_error(match="a \\\\(b\\\\)")'),
        ("ValueError", "expect_error(ValueError)"),
        ("NotFound", "expect_error(code='NotFound')"),
        (ValueError("x"), "expect_error(ValueError, match='x')"),
    ],
)
def test_a_text_for_an_error(given, instead):
    """It is taken for the error's text, its class or its code, as it looks."""
    with pytest.raises(SpecError) as caught:
        breaking("value").expect_error(ValueError).expect_error(given)
    assert caught.value.instead == instead


# --- bugs of the handler ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", BUGS)
@pytest.mark.parametrize(
    "expect",
    [
        lambda spec: spec.expect_error(Exception),
        lambda spec: spec.expect_error(BaseException),
        lambda spec: spec.expect_error(code="BadRequest"),
        lambda spec: spec.expect_error(match="bug"),
        lambda spec: spec.expect_error(Exception, match="bug", code="BadRequest"),
        lambda spec: spec.expect_error(CommandResultError),
        lambda spec: spec.expect_any_outcome(),
    ],
    ids=["Exception", "BaseException", "code", "match", "all", "result", "any outcome"],
)
def test_a_bug_is_never_accepted_unless_named(how, expect):
    """A class above it, a code or a text alone would accept a slip of the handler."""
    broken = breaking(how)
    with pytest.raises(SpecFailure, match="looks like a bug of the handler") as caught:
        expect(broken)
    assert f".expect_error({BUGS[how].__name__})" in str(caught.value)
    assert "in Order.break_it" in str(caught.value)
    broken.expect_error(BUGS[how])


@pytest.mark.parametrize("how", BUGS)
@pytest.mark.parametrize(
    "expect",
    [
        lambda spec: spec.expect_no_events(),
        lambda spec: spec.expect_stage(PROCESSED, succeeded=False),
        lambda spec: spec.expect_command_state("STORED"),
        lambda spec: spec.expect_acknowledged(),
        lambda spec: spec.run(),
    ],
    ids=["no events", "stage", "command state", "acknowledged", "run"],
)
def test_no_other_verb_decides_a_bug(how, expect):
    """It is told when the test ends, with its own traceback."""
    with pytest.raises(SpecFailure, match=r"it looks like a bug of the handler\n.*in Order\.break_it"), a_test():
        expect(breaking(how))


def test_a_bug_that_is_named_is_an_outcome():
    """By its class, or by one above it that is a bug's class, too."""
    breaking("key").expect_error(KeyError, match="bug")
    breaking("module").expect_error(ImportError)


# --- decided or not ---------------------------------------------------------------------------------------------------


def undecided():
    """A failed command of which nothing said that it should."""
    return given(OrderCreated()).when(ShipOrder(id="o-1")).expect_no_events()


def test_an_undecided_error_fails_the_test():
    """With where it was raised, and the verb that would have expected it."""
    with pytest.raises(SpecFailure) as caught, a_test():
        undecided()
    text = str(caught.value)
    assert 'ShipOrder(id="o-1") failed with IllegalStateError, which nobody expected' in text
    assert "in Order.ship" in text
    assert "raise IllegalStateError" in text
    assert "if it should: .expect_error(IllegalStateError)" in text


def test_an_undecided_error_is_not_healed_by_a_later_success():
    """It is told at the next `when`, and where a branch goes on."""
    with pytest.raises(SpecFailure, match="which nobody expected"), a_test():
        undecided().when(CancelOrder()).expect_succeeded()
        pytest.fail("it was told too late")
    with pytest.raises(SpecFailure, match="which nobody expected"), a_test():
        undecided().fork("a", lambda spec: spec.when(CancelOrder()).expect_succeeded())


@pytest.mark.parametrize(
    "decide",
    [
        lambda spec: spec.expect_error(IllegalStateError),
        lambda spec: spec.expect_error(code="IllegalState"),
        lambda spec: spec.expect_error(match="not paid"),
        lambda spec: spec.expect_any_outcome(),
        lambda spec: spec.expect_stage(PROCESSED, succeeded=False),
    ],
    ids=["class", "code", "match", "any outcome", "stage"],
)
def test_what_decides_an_error(decide):
    """Each of these says that the command was meant to fail."""
    with a_test():
        decide(undecided()).when(CancelOrder()).expect_succeeded()


# --- deadlines --------------------------------------------------------------------------------------------------------


def hanging():
    """A command whose outcome its sender never learns."""
    return given(OrderCreated()).with_faults(faults.event_store.append.hangs()).when(CancelOrder())


def test_a_deadline_is_an_unknown_outcome():
    """It is a `DeadlineExceeded`, and no error of the command."""
    run = hanging().expect_unknown_outcome().expect_no_events().run()

    assert isinstance(run.error, DeadlineExceeded)
    assert isinstance(run.error, TimeoutError)
    assert run.is_unknown


@pytest.mark.parametrize("kind", [TimeoutError, DeadlineExceeded, Exception])
def test_a_deadline_is_not_a_command_that_failed(kind):
    """`expect_error(TimeoutError)` means a command that failed with a time-out, alone."""
    hung = hanging()
    with pytest.raises(
        SpecFailure, match=r"did not fail: its sender's deadline passed(.|\n)*\.expect_unknown_outcome\(\)"
    ):
        hung.expect_error(kind)
    hung.expect_unknown_outcome()


def test_a_time_out_is_a_known_outcome():
    """The command failed, after its retries."""
    timed_out = given(OrderCreated()).with_faults(faults.event_store.append.times_out(times=4)).when(CancelOrder())
    timed_out.expect_error(TimeoutError, code="RequestTimeout").expect_attempts(4).expect_fired(4)
    with pytest.raises(SpecFailure, match="its outcome is known, no deadline passed"):
        timed_out.expect_unknown_outcome()


def test_an_undecided_deadline():
    """It must be decided like any failure."""
    with (
        pytest.raises(SpecFailure, match=r"ended in a deadline(.|\n)*if it should: \.expect_unknown_outcome\(\)"),
        a_test(),
    ):
        hanging().expect_no_events()


def test_a_later_step_of_a_hung_aggregate():
    """A hang blocks that aggregate's lane for good; the next command's outcome is unknown, too."""
    (
        hanging()
        .expect_unknown_outcome()
        .when(lambda run: PayOrder(id=run.aggregate_id))
        .expect_unknown_outcome()
        .expect_no_events()
        .when(CreateOrder(id="o-2"))
        .expect_events(OrderCreated())
    )


def test_a_success_is_no_error():
    """And what was expected is told."""
    with pytest.raises(SpecFailure, match="succeeded, but was expected to fail with ValueError, code 'X', a text that"):
        given(OrderCreated()).when(PayOrder(id="o-1")).expect_events(OrderPaid()).expect_error(
            ValueError, code="X", match="y"
        )


# --- downstream -------------------------------------------------------------------------------------------------------


@event_processor(context="shop")
class Clumsy:
    """Fails as its service says."""

    def __init__(self, raises: BaseException) -> None:
        self.raises = raises

    @on_event
    def cancelled(self, event: OrderCancelled) -> None:
        raise self.raises


def downstream(error):
    """A command that succeeds, and whose event makes a processor fail."""
    return given(OrderCreated()).using(Clumsy).inject(raises=error).when(CancelOrder())


def test_a_downstream_error_must_be_named():
    """It fails the spec when the test ends, or at the next `when`; the command's own success does not heal it."""
    with pytest.raises(SpecFailure, match=r"(?s)ValueError.*\.expect_downstream_error\("), a_test():
        downstream(ValueError("out of paper")).expect_succeeded()
    with pytest.raises(SpecFailure, match="ValueError"), a_test():
        downstream(ValueError("out of paper")).expect_succeeded().when(CreateOrder(id="o-2")).expect_succeeded()
        pytest.fail("it was told too late")
    with a_test():
        downstream(ValueError("out of paper")).expect_downstream_error(
            Clumsy, ValueError, match="paper", code="IllegalArgument"
        )


@pytest.mark.parametrize(
    "parts", [{"kind": KeyError}, {"match": "ink"}, {"code": "BadRequest"}], ids=["class", "match", "code"]
)
def test_all_parts_of_a_downstream_error_must_hold(parts):
    """As those of the command's own."""
    failed = downstream(ValueError("out of paper"))
    with pytest.raises(SpecFailure, match="ValueError"):
        failed.expect_downstream_error(Clumsy, **parts)
    failed.expect_downstream_error(Clumsy)


def test_a_bug_downstream_is_never_accepted_unless_named():
    """Neither by the processor alone, nor by what is above its class, nor as something that was logged."""
    failed = downstream(KeyError("paper"))
    for expect in (
        lambda: failed.expect_downstream_error(Clumsy),
        lambda: failed.expect_downstream_error(Clumsy, Exception),
        lambda: failed.expect_downstream_error(Clumsy, match="paper"),
    ):
        with pytest.raises(SpecFailure, match="looks like a bug") as caught:
            expect()
        assert ".expect_downstream_error(Clumsy, KeyError)" in str(caught.value)
    failed.expect_downstream_error(Clumsy, KeyError)
