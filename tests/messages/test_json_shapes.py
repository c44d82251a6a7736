"""Messages as the runtime's JSON, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from wowspec.errors import BindingError, DecodeError, ErrorInfo, IllegalArgumentError, NotSerializableError
from wowspec.messages.envelopes import CommandMessage, DomainEvent, DomainEventStream, StateEvent
from wowspec.messages.header import Header
from wowspec.messages.json_reading import (
    JsonTypes,
    read_aggregate_id,
    read_command,
    read_domain_event,
    read_error_info,
    read_event_stream,
    read_function_info,
    read_function_selector,
    read_named_aggregate,
    read_state_event,
)
from wowspec.messages.json_shapes import (
    write_aggregate_id,
    write_command,
    write_domain_event,
    write_error_info,
    write_event_stream,
    write_function_info,
    write_function_selector,
    write_header,
    write_named_aggregate,
    write_state_event,
)
from wowspec.messages.upgrading import RawJson
from wowspec.messages.wait_plans import FunctionSelector
from wowspec.modeling.builtin import DeleteAggregate
from wowspec.modeling.identity import AggregateRef, FunctionInfo, FunctionKind, NamedAggregate

REF = AggregateRef("bank", "ledger", "acc-1", "west")
FUNCTION = FunctionInfo(FunctionKind.EVENT, "bank", "View", "onEvent")


class Credit(BaseModel):
    amount: int


class Credited(BaseModel):
    amount: int


class Ledger(BaseModel):
    id: str
    balance: int = 0


TYPES = JsonTypes(state_of=lambda named: Ledger if named == REF.named_aggregate else None)


def _command(**changes: Any) -> CommandMessage[Any]:
    values: dict[str, Any] = {
        "id": "cmd-1",
        "body": Credit(amount=3),
        "aggregate_id": REF,
        "name": "credit",
        "request_id": "rq-1",
        "header": Header({"trace_id": "t"}),
        "owner_id": "own",
        "space_id": "sp",
        "aggregate_version": 4,
        "is_create": True,
        "allow_create": True,
        "is_void": True,
        "create_time": 1_700_000_000_000,
    }
    return CommandMessage(**{**values, **changes})


def _event(sequence: int, last: bool, header: Header) -> DomainEvent[Any]:
    return DomainEvent(
        id=f"ev-{sequence}",
        body=Credited(amount=sequence),
        aggregate_id=REF,
        version=5,
        name="credited",
        command_id="cmd-1",
        header=header,
        sequence=sequence,
        is_last=last,
        owner_id="own",
        space_id="sp",
        create_time=1_700_000_000_000,
    )


def _stream() -> DomainEventStream:
    header = Header({"command_operator": "op"})
    return DomainEventStream("st-1", "rq-1", header, (_event(1, False, header), _event(2, True, header)))


def _state_event() -> StateEvent[Any]:
    return StateEvent(_stream(), Ledger(id="acc-1", balance=3), "op-1", 1_600_000_000_000, {"k": ["v"]}, deleted=True)


def _keys(data: bytes) -> str:
    return " ".join(json.loads(data))


def _without(data: bytes, *keys: str) -> str:
    values = json.loads(data)
    for key in keys:
        del values[key]
    return json.dumps(values)


def _with(data: bytes, **values: Any) -> str:
    return json.dumps({**json.loads(data), **values})


# --- shapes -----------------------------------------------------------------------------------------------------------


@pytest.mark.clause("SER-001")
def test_a_command_has_its_fields_in_order():
    """The version is left out where there is none; everything else is there."""
    keys = (
        "id contextName aggregateName name header tenantId aggregateId ownerId spaceId requestId aggregateVersion "
        "isCreate isVoid allowCreate bodyType body createTime"
    )
    assert _keys(write_command(_command())) == keys
    assert _keys(write_command(_command(aggregate_version=None))) == keys.replace(" aggregateVersion", "")


@pytest.mark.clause("SER-003", "SER-004", "SER-006")
def test_a_stream_has_its_fields_in_order():
    """No name and type at stream level; an element has just what the stream does not say, and no type id."""
    data = write_event_stream(_stream())
    assert _keys(data) == (
        "id contextName aggregateName header aggregateId tenantId ownerId spaceId commandId requestId version body "
        "createTime"
    )
    assert list(json.loads(data)["body"][0]) == ["id", "name", "revision", "bodyType", "body"]


@pytest.mark.clause("SER-007")
def test_an_event_has_its_fields_in_order():
    """A single event says everything itself."""
    assert _keys(write_domain_event(_stream().events[0])) == (
        "id contextName aggregateName name header tenantId aggregateId ownerId spaceId commandId version sequence "
        "revision isLast bodyType body createTime"
    )


@pytest.mark.clause("SER-008")
def test_a_state_event_has_the_state_between_version_and_body():
    """The stream's fields, with five more inside."""
    assert _keys(write_state_event(_state_event())) == (
        "id contextName aggregateName header aggregateId tenantId ownerId spaceId commandId requestId version "
        "firstOperator firstEventTime state tags deleted body createTime"
    )


@pytest.mark.clause("SER-013")
def test_header_type_and_times_are_plain():
    """A header is a flat object of texts, a body type the class's full name, a time a number."""
    data = json.loads(write_command(_command()))
    assert data["header"] == {"trace_id": "t"}
    assert data["bodyType"] == f"{__name__}.Credit"
    assert data["createTime"] == 1_700_000_000_000
    assert write_header(Header({"a": "ä"})) == '{"a":"ä"}'.encode()
    deleting = json.loads(write_command(_command(body=DeleteAggregate())))
    assert deleting["bodyType"] == "me.ahoo.wow.api.command.DefaultDeleteAggregate"


@pytest.mark.clause("SER-012")
def test_ids_names_and_functions_are_objects_of_texts():
    """Aggregate id, named aggregate, function and function names are written and read with their own keys."""
    assert write_aggregate_id(REF) == (
        b'{"contextName":"bank","aggregateName":"ledger","aggregateId":"acc-1","tenantId":"west"}'
    )
    assert read_aggregate_id(write_aggregate_id(REF)) == REF
    named = NamedAggregate("bank", "ledger")
    assert write_named_aggregate(named) == b'{"contextName":"bank","aggregateName":"ledger"}'
    assert read_named_aggregate(write_named_aggregate(named)) == named
    assert write_function_info(FUNCTION) == (
        b'{"functionKind":"EVENT","contextName":"bank","processorName":"View","name":"onEvent"}'
    )
    assert read_function_info(write_function_info(FUNCTION)) == FUNCTION
    selector = FunctionSelector("bank", "View", "onEvent")
    assert write_function_selector(selector) == b'{"contextName":"bank","processorName":"View","name":"onEvent"}'
    assert read_function_selector(write_function_selector(selector)) == selector


@pytest.mark.clause("CMD-321", "CMD-324")
def test_error_info_leaves_empty_binding_errors_out():
    """Binding errors are written where there are any; `succeeded` is derived and written, but not read."""
    plain = ErrorInfo("No", "text")
    assert write_error_info(plain) == b'{"errorCode":"No","errorMsg":"text","succeeded":false}'
    bound = ErrorInfo("Ok", "", (BindingError("f", "m"),))
    assert write_error_info(bound) == (
        b'{"errorCode":"Ok","errorMsg":"","bindingErrors":[{"name":"f","msg":"m"}],"succeeded":true}'
    )
    for info in (plain, bound):
        assert read_error_info(write_error_info(info)) == info
    assert read_error_info('{"errorCode":"No","succeeded":true}').succeeded is False


def test_a_body_without_json_is_refused():
    """What cannot be sent in production cannot be written here."""
    with pytest.raises(NotSerializableError):
        write_command(_command(body={"call": print}))


# --- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.clause("CMD-050", "SER-002")
@pytest.mark.parametrize("version", [4, 0, None])
def test_a_command_survives_its_json(version):
    """The message read is equal to the one written, and its header can be written to."""
    message = _command(aggregate_version=version)
    message.header.freeze()
    back = read_command(write_command(message))
    assert back == message
    assert not back.is_read_only


@pytest.mark.clause("SER-001", "SER-002", "CMD-050")
def test_a_command_needs_every_key_but_five():
    """Owner and space default to empty, the two flags to false, the version to none; all else must be there."""
    data = write_command(_command())
    back = read_command(_without(data, "ownerId", "spaceId", "allowCreate", "isVoid", "aggregateVersion"))
    assert (back.owner_id, back.space_id, back.allow_create, back.is_void) == ("", "", False, False)
    assert back.aggregate_version is None
    optional = {"ownerId", "spaceId", "allowCreate", "isVoid", "aggregateVersion"}
    for key in set(json.loads(data)) - optional:
        with pytest.raises(DecodeError, match=f"{key} is missing"):
            read_command(_without(data, key))


@pytest.mark.clause("CMD-050", "SER-002")
def test_a_version_that_is_null_reads_as_zero():
    """Null is not the same as missing."""
    back = read_command(_with(write_command(_command(is_create=False)), aggregateVersion=None))
    assert (back.aggregate_version, back.is_create) == (0, False)


@pytest.mark.clause("SER-002")
def test_a_command_of_unknown_class_cannot_be_read():
    """A command, other than an event, needs its class."""
    with pytest.raises(DecodeError, match=r"no class gone\.Command"):
        read_command(_with(write_command(_command()), bodyType="gone.Command"))


@pytest.mark.clause("SER-001", "SER-005")
def test_events_of_a_stream_are_numbered_by_position_and_share_one_header():
    """What the stream says holds for each event, whatever the events said when they were written."""
    odd = DomainEventStream(
        "st-1", "rq-1", Header({"a": "1"}), (_event(7, True, Header({"b": "2"})), _event(9, True, Header()))
    )
    back = read_event_stream(write_event_stream(odd))
    assert [(each.sequence, each.is_last) for each in back] == [(1, False), (2, True)]
    assert all(each.header is back.header for each in back)
    assert back.header == {"a": "1"}
    assert read_event_stream(write_event_stream(_stream())) == _stream()


@pytest.mark.clause("SER-001")
def test_a_stream_needs_every_key_but_owner_and_space():
    """Owner and space default to empty; an empty list of events is an invalid argument."""
    data = write_event_stream(_stream())
    assert read_event_stream(_without(data, "ownerId", "spaceId")).owner_id == ""
    for key in set(json.loads(data)) - {"ownerId", "spaceId"}:
        with pytest.raises(DecodeError, match=f"{key} is missing"):
            read_event_stream(_without(data, key))
    with pytest.raises(IllegalArgumentError):
        read_event_stream(_with(data, body=[]))
    with pytest.raises(DecodeError):
        read_event_stream(_with(data, body={}))


@pytest.mark.clause("SER-001", "SER-007")
def test_an_event_survives_its_json():
    """The event read is equal to the one written; every key but owner and space must be there."""
    event = _stream().events[0]
    data = write_domain_event(event)
    assert read_domain_event(data) == event
    assert read_domain_event(_without(data, "ownerId", "spaceId")).space_id == ""
    for key in set(json.loads(data)) - {"ownerId", "spaceId"}:
        with pytest.raises(DecodeError, match=f"{key} is missing"):
            read_domain_event(_without(data, key))


@pytest.mark.clause("SER-009")
def test_a_state_event_survives_its_json():
    """First operator, first time and tags have defaults; state and `deleted` must be there."""
    data = write_state_event(_state_event())
    assert read_state_event(data, TYPES) == _state_event()
    back = read_state_event(_without(data, "firstOperator", "firstEventTime", "tags"), TYPES)
    assert (back.first_operator, back.first_event_time, back.tags) == ("", 0, {})
    for key in ("state", "deleted", "version"):
        with pytest.raises(DecodeError, match=f"{key} is missing"):
            read_state_event(_without(data, key), TYPES)


@pytest.mark.clause("SER-009")
def test_a_state_of_unknown_aggregate_stays_json():
    """It can be made a state of any class later, and is written again as it was."""
    text = write_state_event(_state_event())
    back = read_state_event(text)
    assert isinstance(back.state, RawJson)
    assert back.state.to(Ledger) == Ledger(id="acc-1", balance=3)
    assert write_state_event(back) == text


@pytest.mark.clause("SER-014")
@pytest.mark.parametrize("text", ["", " \n", "{", "nonsense", "[]", "3", '"text"', "null", "{}", b"\xff"])
@pytest.mark.parametrize(
    "read", [read_command, read_event_stream, read_domain_event, read_state_event, read_aggregate_id, read_error_info]
)
def test_a_text_that_is_no_such_object_cannot_be_read(read, text):
    """Broken JSON, JSON of another kind and an empty object are all refused in the same way."""
    with pytest.raises(DecodeError):
        read(text)


@pytest.mark.clause("SER-014")
def test_unknown_keys_and_spaces_are_ignored():
    """Keys that mean nothing may be anywhere, and the text may be indented."""
    values = json.loads(_with(write_event_stream(_stream()), extra={"body": [1, None]}))
    values["body"][0]["extra"] = "]}"
    assert read_event_stream(json.dumps(values, indent=3)) == _stream()


@pytest.mark.clause("SER-011")
@pytest.mark.parametrize(
    ("value", "expected"), [(None, 0), ("4", 4), ("+5", 5), ("-0", 0), (9.5, 9), (-8.5, -8), (2**31 - 1, 2**31 - 1)]
)
def test_integers_are_read_leniently(value, expected):
    """Null is 0, a text of digits is parsed, the fraction of a number is cut off."""
    assert read_event_stream(_with(write_event_stream(_stream()), version=value)).version == expected


@pytest.mark.clause("SER-011")
@pytest.mark.parametrize(
    "value",
    ["four", "", " 12 ", "8.5", "1e0", "1_0", "\u0663", True, False, {}, [], 2**31, "2147483649", "1e999", 1e20],
)
def test_what_is_no_integer_is_refused(value):
    """A text of other characters than ASCII digits, a boolean, a structure, and what does not fit into 32 bits."""
    with pytest.raises(DecodeError, match="version"):
        read_event_stream(_with(write_event_stream(_stream()), version=value))


@pytest.mark.parametrize(
    ("value", "expected"), [(None, False), ("true", True), ("false", False), (0, False), (3, True), (True, True)]
)
@pytest.mark.clause("SER-011")
def test_booleans_are_read_leniently(value, expected):
    """Null is false, a number false where it is 0, text is parsed."""
    assert read_state_event(_with(write_state_event(_state_event()), deleted=value), TYPES).deleted is expected


@pytest.mark.clause("SER-011")
@pytest.mark.parametrize("value", ["yes", "", 2.0, 1.5, {}, []])
def test_what_is_no_boolean_is_refused(value):
    """A text that is no boolean, a number with a point, and a structure."""
    with pytest.raises(DecodeError, match="deleted"):
        read_state_event(_with(write_state_event(_state_event()), deleted=value), TYPES)


def test_texts_are_read_leniently():
    """Null is an empty text, a number or boolean its text; a structure is refused."""
    data = write_aggregate_id(REF)
    values = [(None, ""), (3, "3"), (1.5, "1.5"), (True, "true")]
    assert [read_aggregate_id(_with(data, tenantId=value)).tenant_id for value, _ in values] == [
        text for _, text in values
    ]
    with pytest.raises(DecodeError, match="tenantId"):
        read_aggregate_id(_with(data, tenantId=[]))


def test_a_function_needs_a_kind_that_exists():
    """An unknown kind, a missing or null name is refused."""
    data = write_function_info(FUNCTION)
    for changed in (_with(data, functionKind="NONE"), _with(data, name=None), _without(data, "processorName")):
        with pytest.raises(DecodeError):
            read_function_info(changed)
