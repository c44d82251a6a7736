"""How exceptions become error info, and which of them the runtime may retry."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from wowspec import errors
from wowspec.error_policy import CODE_TABLE, ErrorPolicy, as_error_info, recoverable
from wowspec.errors import BindingError, DomainError, ErrorCode, ErrorInfo, Recoverability


@dataclass
class FakeStream:
    """As much of an event stream as an error's text needs."""

    version: int = 3
    aggregate_id: str = "o-1"


@dataclass
class FakeResult:
    """As much of a command result as its error needs."""

    error_code: str = "CartFull"
    error_msg: str = "a cart holds at most 100 items"
    binding_errors: list[BindingError] = field(default_factory=lambda: [BindingError("quantity", "too many")])


@pytest.mark.clause("CMD-325")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("x"), "IllegalArgument"),
        (errors.IllegalArgumentError("x"), "IllegalArgument"),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "x"), "IllegalArgument"),
        (errors.IllegalStateError("x"), "IllegalState"),
        (RuntimeError("x"), "BadRequest"),
        (TimeoutError("x"), "RequestTimeout"),
        (errors.InjectedTimeout("x"), "RequestTimeout"),
        (FileNotFoundError("x"), "NotFound"),
        (OSError("x"), "BadRequest"),
        (errors.InjectedFault("x"), "BadRequest"),
        (errors.UnsupportedOperationError("x"), "BadRequest"),
        (KeyError("x"), "BadRequest"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else value,
)
def test_code_by_type(error, code):
    """An exception that is no error info has the code of the first row that it is an instance of, else BadRequest."""
    assert ErrorPolicy().info(error).error_code == code


@pytest.mark.clause("CMD-325")
@pytest.mark.parametrize(("error", "message"), [(ValueError("why"), "why"), (ValueError(), "")], ids=["text", "none"])
def test_message_is_the_exceptions(error, message):
    """The message is the exception's, and empty where it has none."""
    assert ErrorPolicy().info(error).error_msg == message


@pytest.mark.clause("CMD-321", "CMD-325")
def test_error_info_is_itself():
    """An exception that carries a code is converted to what it carries, before any rule by type."""
    assert ErrorPolicy().info(DomainError("CartFull", "100 items")) == ErrorInfo("CartFull", "100 items")


@pytest.mark.clause("CMD-321", "CMD-322", "CMD-323")
@pytest.mark.parametrize(
    ("value", "info"),
    [
        (
            FakeResult(),
            ErrorInfo("CartFull", "a cart holds at most 100 items", (BindingError("quantity", "too many"),)),
        ),
        (ErrorInfo("Ok"), ErrorInfo("Ok")),
        (None, None),
        ("Ok", None),
    ],
    ids=["has both", "succeeded", "none", "text"],
)
def test_what_is_error_info(value, info):
    """An object with a code and a message is error info; nothing else is."""
    assert as_error_info(value) == info


@pytest.mark.clause("CMD-321", "CMD-322")
def test_succeeded_is_the_code_ok():
    """Error info succeeded if its code is `Ok`, and failed otherwise."""
    assert ErrorInfo("Ok").succeeded
    assert not ErrorInfo("ok").succeeded


@pytest.mark.clause("CMD-326")
def test_registered_converter_comes_first():
    """A converter for the class or its nearest registered superclass is asked before anything else."""
    policy = ErrorPolicy()
    assert policy.register_converter(Exception, lambda _: ErrorInfo("Any")) is None
    assert policy.register_converter(DomainError, lambda _: ErrorInfo("Domain")) is None

    class OwnError(DomainError):
        """A subclass without a converter of its own."""

    assert policy.info(OwnError("Own")).error_code == "Domain"
    assert policy.info(TimeoutError()).error_code == "Any"


@pytest.mark.clause("CMD-326")
def test_registering_returns_the_previous_converter():
    """Registering again returns what was there; after unregistering the built-in rule holds again."""
    policy = ErrorPolicy()

    def first(_error):
        return ErrorInfo("First")

    policy.register_converter(ValueError, first)

    assert policy.register_converter(ValueError, lambda _: ErrorInfo("Second")) is first
    policy.unregister_converter(ValueError)
    assert policy.info(ValueError()).error_code == "IllegalArgument"


@pytest.mark.clause("CMD-327")
def test_blank_message_is_the_first_binding_errors():
    """An error of the runtime with a blank message shows its first binding error's."""
    error = errors.WowError(" ", binding_errors=[BindingError("a", "must be positive"), BindingError("b", "other")])

    assert error.error_msg == "must be positive"
    assert str(error) == "must be positive"
    assert ErrorPolicy().info(error).error_msg == "must be positive"


@pytest.mark.clause("CMD-328")
def test_command_result_error_shows_its_result():
    """The error of a waiting call has the result, and its code, message and binding errors."""
    result = FakeResult()

    error = errors.CommandResultError(result)

    assert error.result is result
    assert (error.error_code, error.error_msg) == (result.error_code, result.error_msg)
    assert error.binding_errors == tuple(result.binding_errors)
    assert ErrorPolicy().info(error) == as_error_info(result)


@pytest.mark.clause("CMD-330")
def test_codes_of_the_runtimes_errors():
    """Each error of the runtime has its code of the table, and the table has no other code."""
    stream = FakeStream()
    raised = {
        "NotFound": errors.NotFoundError(),
        "DuplicateRequestId": errors.DuplicateRequestIdError("o-1", "r-1"),
        "CommandValidation": errors.CommandValidationError(object(), [BindingError("a", "b")]),
        "RewriteNoCommand": errors.RewriteNoCommandError("builder", "rewriter"),
        "EventVersionConflict": errors.EventVersionConflictError(stream),
        "DuplicateAggregateId": errors.DuplicateAggregateIdError(stream),
        "CommandExpectVersionConflict": errors.CommandExpectVersionConflictError(
            type("Message", (), {"name": "pay_order", "aggregate_id": "o-1"})(), 2, 3
        ),
        "SourcingVersionConflict": errors.SourcingVersionConflictError(stream, 2),
        "IllegalAccessDeletedAggregate": errors.IllegalAccessDeletedAggregateError("o-1"),
        "IllegalAccessOwnerAggregate": errors.IllegalAccessOwnerAggregateError("o-1"),
        "IllegalAccessSpaceAggregate": errors.IllegalAccessSpaceAggregateError("o-1"),
        "NotInitializedGlobalIdGenerator": errors.NotInitializedGlobalIdGeneratorError(),
    }
    by_type = {str(code) for _, code in CODE_TABLE}
    never_raised = {"Ok", "BadRequest", "TooManyRequests", "InternalServerError"}
    listed = {value for name, value in vars(ErrorCode).items() if not name.startswith("_")}

    assert {code: ErrorPolicy().info(error).error_code for code, error in raised.items()} == {
        code: code for code in raised
    }
    assert listed == {*raised, *by_type, *never_raised}


@pytest.mark.clause("CMD-205", "CMD-206")
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (errors.EventVersionConflictError(FakeStream()), Recoverability.RECOVERABLE),
        (TimeoutError(), Recoverability.RECOVERABLE),
        (errors.InjectedTimeout(), Recoverability.RECOVERABLE),
        (errors.DuplicateAggregateIdError(FakeStream()), Recoverability.UNKNOWN),
        (errors.DuplicateRequestIdError("o-1", "r-1"), Recoverability.UNKNOWN),
        (errors.SourcingVersionConflictError(FakeStream(), 2), Recoverability.UNKNOWN),
        (errors.InjectedFault(), Recoverability.UNKNOWN),
        (ValueError(), Recoverability.UNKNOWN),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_recoverability_by_type(error, expected):
    """Of the built-in errors a version conflict and a time-out are recoverable, and no other."""
    assert ErrorPolicy().recoverability(error) is expected


@pytest.mark.clause("CMD-205", "EVT-033")
def test_registered_recoverability_comes_first():
    """A registration for the class or its nearest registered superclass wins over the built-in rule."""
    policy = ErrorPolicy()
    policy.register_recoverability(Exception, Recoverability.RECOVERABLE)
    policy.register_recoverability(OSError, Recoverability.UNRECOVERABLE)

    assert policy.recoverability(TimeoutError()) is Recoverability.UNRECOVERABLE
    assert policy.recoverability(ValueError()) is Recoverability.RECOVERABLE
    policy.unregister_recoverability(OSError)
    policy.unregister_recoverability(Exception)
    assert policy.recoverability(TimeoutError()) is Recoverability.RECOVERABLE


@pytest.mark.clause("CMD-205")
def test_marked_class_is_recoverable():
    """A class marked `@recoverable` is retried, and so are its subclasses."""

    @recoverable
    class BusyError(RuntimeError):
        """An error that passes."""

    class VeryBusyError(BusyError):
        """A subclass."""

    assert ErrorPolicy().recoverability(VeryBusyError()) is Recoverability.RECOVERABLE


def test_a_copy_is_independent():
    """What is registered in a copy is unknown to the original."""
    policy = ErrorPolicy()
    policy.register_converter(ValueError, lambda _: ErrorInfo("Shared"))
    copied = policy.copy()
    copied.register_converter(KeyError, lambda _: ErrorInfo("Copied"))
    copied.register_recoverability(KeyError, Recoverability.RECOVERABLE)

    assert copied.info(ValueError()).error_code == "Shared"
    assert policy.info(KeyError()).error_code == "BadRequest"
    assert policy.recoverability(KeyError()) is Recoverability.UNKNOWN


class Silent(BaseModel):
    """A model without an error code."""

    name: str = "n"


class Open(BaseModel, extra="allow"):
    """A model that takes any field."""


class Field(BaseModel):
    """A model whose error code has no default."""

    error_code: str
    error_msg: str = "m"


class Asked:
    """Answers whatever it is asked."""

    def __getattr__(self, name):
        return name


@pytest.mark.clause("CMD-321")
@pytest.mark.parametrize(
    ("value", "code"),
    [
        (Silent(), None),
        (Open(error_code="E", error_msg="m"), "E"),
        (Field(error_code="E"), "E"),
        (Field.model_construct(), None),
        (Asked(), "error_code"),
        (SimpleNamespace(error_code="E", error_msg="m"), "E"),
        (SimpleNamespace(), None),
        (3, None),
    ],
)
def test_a_code_is_found_wherever_an_object_keeps_it(value, code):
    """On the class, in the object, among extra fields, or given when it is asked; at the second time, too."""
    for _ in range(2):
        info = as_error_info(value)
        assert (info and info.error_code) == code
