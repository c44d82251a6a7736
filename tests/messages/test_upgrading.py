"""Old events under new code: event types, upgraders, dropped events, raw JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from wowspec.errors import DecodeError, IllegalArgumentError, IllegalStateError
from wowspec.messages.json_reading import JsonTypes, read_domain_event, read_event_stream
from wowspec.messages.json_shapes import write_domain_event, write_event_stream
from wowspec.messages.type_names import PYTHON_NAMES, DroppedEvent, PythonTypeNames, find_class
from wowspec.messages.upgrading import EventRecord, EventTypes, RawJson, drop
from wowspec.modeling.annotations import event, order
from wowspec.modeling.configuration import WowMetadata
from wowspec.modeling.events import EventTypeId

CONTEXT, AGGREGATE = "bank", "ledger"


class Credited(BaseModel):
    amount: int


@event(revision="2.0.0")
class Paid(BaseModel):
    amount: Decimal
    currency: str


class Debited(BaseModel):
    amount: int


def _name_of(cls: type) -> str:
    return PYTHON_NAMES.name_of(cls)


def _stream(*events: dict[str, Any]) -> str:
    defaults = {"id": "ev", "name": "credited", "revision": "0.0.1", "bodyType": _name_of(Credited)}
    return json.dumps(
        {
            "id": "st-1", "contextName": CONTEXT, "aggregateName": AGGREGATE, "header": {"trace_id": "t"},
            "aggregateId": "acc-1", "tenantId": "(0)", "ownerId": "own", "spaceId": "sp", "commandId": "cmd-1",
            "requestId": "rq-1", "version": 3, "createTime": 1_700_000_000_000,
            "body": [{**defaults, "body": {"amount": 1}, **each} for each in events],
        }
    )  # fmt: skip


class Rewriter:
    """Notes what it is given and lets a function change it."""

    def __init__(self, change: Any = None) -> None:
        self.change = change
        self.seen: list[tuple[str, str, Any]] = []

    def upgrade(self, record: EventRecord) -> EventRecord:
        self.seen.append((record.name, record.revision, json.loads(record.body_text)))
        return (self.change(record) or record) if self.change else record


@order(1)
class Late(Rewriter):
    pass


@order(-1)
class Early(Rewriter):
    pass


def _upgrade(types: JsonTypes, text: str, *upgraders: Rewriter, name: str = "credited") -> Any:
    for upgrader in upgraders:
        types.upgraders.register(CONTEXT, AGGREGATE, name, upgrader)
    return read_event_stream(text, types).events


# --- event types ------------------------------------------------------------------------------------------------------


@pytest.mark.clause("EVT-067", "EVT-068")
def test_the_registry_comes_before_the_body_type():
    """A class registered for exactly the stored revision wins; else the body type decides; else JSON stays as it is."""
    types = JsonTypes()
    types.events.register(EventTypeId(CONTEXT, AGGREGATE, "credited", "0.0.1"), Debited)
    first, second, third = read_event_stream(
        _stream({}, {"revision": "0.0.2"}, {"revision": "0.0.2", "bodyType": "gone.Vanished"}), types
    ).events
    assert (first.body, second.body) == (Debited(amount=1), Credited(amount=1))
    assert third.body == RawJson('{"amount": 1}', "gone.Vanished")


@pytest.mark.clause("EVT-067")
def test_a_registered_event_needs_no_body_type():
    """Without body type, the registry must know the event; otherwise the text cannot be read."""
    text = json.loads(_stream({}))
    del text["body"][0]["bodyType"]
    types = JsonTypes()
    with pytest.raises(DecodeError, match="bodyType is missing"):
        read_event_stream(json.dumps(text), types)
    types.events.register_class(CONTEXT, AGGREGATE, Credited)
    assert read_event_stream(json.dumps(text), types).events[0].body == Credited(amount=1)


@pytest.mark.clause("EVT-067", "EVT-071", "SER-014")
def test_raw_json_is_kept_digit_by_digit_and_written_with_its_own_type():
    """An event of unknown class is written again as it was read, and can be made an object later."""
    text = (
        _stream({}).replace('{"amount": 1}', '{"amount": 1.10, "currency": "EUR"}').replace(_name_of(Credited), "a.B")
    )
    stream = read_event_stream(text)
    body = stream.events[0].body
    assert body.text == '{"amount": 1.10, "currency": "EUR"}'
    assert body.to(Paid) == Paid(amount=Decimal("1.10"), currency="EUR")
    written = write_event_stream(stream).decode()
    assert '"bodyType":"a.B","body":{"amount": 1.10, "currency": "EUR"}' in written
    assert '"bodyType":"a.B"' in write_domain_event(stream.events[0]).decode()
    assert read_event_stream(written) == stream


@pytest.mark.clause("EVT-069")
def test_an_event_type_id_has_a_text_and_no_blank_part():
    """The id renders as a URI; blank parts are invalid arguments."""
    assert str(EventTypeId("a", "b", "c", "1.0.0")) == "event://a/b/c"
    for parts in (("", "b", "c", "1"), ("a", " ", "c", "1"), ("a", "b", "", "1"), ("a", "b", "c", " ")):
        with pytest.raises(IllegalArgumentError):
            EventTypeId(*parts)


@pytest.mark.clause("EVT-069")
def test_a_key_has_one_class_and_revisions_coexist():
    """The same key with another class is an illegal state; with another revision it is another key."""
    types = EventTypes()
    first = EventTypeId(CONTEXT, AGGREGATE, "credited", "0.0.1")
    types.register(first, Credited)
    types.register(first, Credited)
    with pytest.raises(IllegalStateError, match="Credited and Debited"):
        types.register(first, Debited)
    second = EventTypeId(CONTEXT, AGGREGATE, "credited", "0.0.2")
    types.register(second, Debited)
    assert (types.get(first), types.get(second)) == (Credited, Debited)


@pytest.mark.clause("EVT-070")
def test_metadata_registers_the_classes_that_are_there():
    """Package scopes, missing classes and modules that fail are skipped."""
    document = {
        "contexts": {
            CONTEXT: {
                "aggregates": {
                    AGGREGATE: {
                        "events": [_name_of(Credited), _name_of(Paid), "bank.events", "gone.Missing", "os.Gone"]
                    }
                }
            }
        }
    }
    types = EventTypes()
    types.load(WowMetadata.from_document(document))
    assert types.get(EventTypeId(CONTEXT, AGGREGATE, "credited")) is Credited
    assert types.get(EventTypeId(CONTEXT, AGGREGATE, "paid", "2.0.0")) is Paid
    asked: list[str] = []
    EventTypes().load(WowMetadata.from_document(document), asked.append)
    assert "bank.events" not in asked


@pytest.mark.clause("SER-004")
@pytest.mark.parametrize("part", ["name", "revision"])
def test_a_blank_event_name_or_revision_is_an_invalid_argument(part):
    """Blank is refused as an argument, missing as a text that cannot be read."""
    with pytest.raises(IllegalArgumentError):
        read_event_stream(_stream({part: " "}))
    text = json.loads(_stream({}))
    del text["body"][0][part]
    with pytest.raises(DecodeError):
        read_event_stream(json.dumps(text))


# --- upgraders --------------------------------------------------------------------------------------------------------


@pytest.mark.clause("EVT-061")
def test_upgraders_are_chosen_by_context_aggregate_and_stored_name():
    """An upgrader of another key is not asked, and without any the record is read as it is."""
    types = JsonTypes()
    other = Rewriter()
    types.upgraders.register("other", AGGREGATE, "credited", other)
    types.upgraders.register(CONTEXT, "other", "credited", other)
    mine = Rewriter()
    assert _upgrade(types, _stream({}, {"name": "kept"}), mine)[1].body == Credited(amount=1)
    assert other.seen == []
    assert mine.seen == [("credited", "0.0.1", {"amount": 1})]


@pytest.mark.clause("EVT-062")
def test_upgraders_run_in_order_each_on_the_result_of_the_one_before():
    """The order is that of the classes, and a rename on the way does not switch to other upgraders."""

    def rename(record: EventRecord) -> None:
        record.name = "paid"

    def revise(record: EventRecord) -> None:
        record.revision = "2.0.0"

    late, early, of_new_name = Late(revise), Early(rename), Rewriter()
    types = JsonTypes()
    types.upgraders.register(CONTEXT, AGGREGATE, "paid", of_new_name)
    (read,) = _upgrade(types, _stream({}), late, early)
    assert (read.name, read.revision) == ("paid", "2.0.0")
    assert [name for name, _, _ in early.seen + late.seen] == ["credited", "paid"]
    assert of_new_name.seen == []


@pytest.mark.clause("EVT-063")
def test_revisions_are_the_upgraders_own_business():
    """An upgrader is asked for every revision, the current one too."""
    mine = Rewriter()
    _upgrade(JsonTypes(), _stream({}, {"revision": "9.9.9"}), mine)
    assert [revision for _, revision, _ in mine.seen] == ["0.0.1", "9.9.9"]


@pytest.mark.clause("EVT-064", "EVT-067")
def test_an_upgrader_changes_name_revision_type_and_body_alone():
    """The four parts are free; identity, version, owner, header and the rest cannot be set."""

    def to_paid(record: EventRecord) -> None:
        record.name, record.revision, record.body_type = "paid", "2.0.0", _name_of(Paid)
        record.body["currency"] = "EUR"
        with pytest.raises(AttributeError):
            record.facts = None  # type: ignore[misc,assignment]
        with pytest.raises(AttributeError):
            record.facts.version = 9  # type: ignore[misc]
        with pytest.raises(AttributeError):
            record.sequence = 9  # type: ignore[attr-defined]

    (read,) = _upgrade(JsonTypes(), _stream({}), Rewriter(to_paid))
    assert read.body == Paid(amount=Decimal(1), currency="EUR")
    assert (read.name, read.revision, read.version, read.owner_id) == ("paid", "2.0.0", 3, "own")


@pytest.mark.clause("EVT-065")
def test_a_dropped_event_keeps_its_place():
    """Name, type and body are replaced; revision, sequence and version stay, and it is still counted."""
    events = _upgrade(JsonTypes(), _stream({"revision": "0.5.0"}, {"name": "kept"}), Rewriter(drop))
    assert events[0].body == DroppedEvent()
    assert (events[0].name, events[0].revision, events[0].sequence) == ("dropped_event", "0.5.0", 1)
    assert [each.version for each in events] == [3, 3]
    written = write_domain_event(events[0]).decode()
    assert '"bodyType":"me.ahoo.wow.event.upgrader.DroppedEvent","body":{}' in written


@pytest.mark.clause("EVT-066")
def test_single_events_are_upgraded_too():
    """Upgrading belongs to reading an event record, wherever one is read."""
    text = write_domain_event(read_event_stream(_stream({})).events[0])
    types = JsonTypes()
    types.upgraders.register(CONTEXT, AGGREGATE, "credited", Rewriter(drop))
    assert read_domain_event(text, types).body == DroppedEvent()


# --- type names -------------------------------------------------------------------------------------------------------


@pytest.mark.clause("SER-013")
def test_type_names_are_found_again():
    """Module and qualified name lead back to the class; one defined inside a function is remembered."""

    class Local(BaseModel):
        pass

    names = PythonTypeNames()
    assert names.name_of(Credited) == f"{__name__}.Credited"
    assert PythonTypeNames().class_of(f"{__name__}.Credited") is Credited
    assert names.class_of(names.name_of(Local)) is Local
    assert PythonTypeNames().class_of(names.name_of(Local)) is None


def test_a_name_without_class_finds_none():
    """Unknown modules, unknown members and members that are no classes give nothing."""
    for name in ("nowhere.Gone", "json.Gone", "json.dumps", "json", "", "a b.C", f"{__name__}.Credited.Inner"):
        assert find_class(name) is None, name
