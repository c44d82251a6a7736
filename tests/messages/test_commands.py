"""Building command messages: precedence of every value, and the builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from tests.messages.origins import NOW, CountingOrigin
from wowspec import (
    AggregateId,
    AggregateName,
    AggregateRef,
    AggregateVersion,
    DeleteAggregate,
    Header,
    OwnerId,
    SpaceId,
    TenantId,
    aggregate_root,
    allow_create,
    command_builder,
    create_aggregate,
    on_command,
    static_aggregate_id,
    void_command,
)
from wowspec.errors import IllegalArgumentError, SpecError, UnsupportedOperationError
from wowspec.messages.commands import PRECEDENCE, plain_command_message, to_command_message
from wowspec.messages.envelopes import CommandMessage, DomainEvent
from wowspec.messages.header import COMMAND_OPERATOR
from wowspec.modeling.configuration import MetadataScopes, WowMetadata
from wowspec.modeling.identity import NamedAggregate

CART = NamedAggregate("shop", "cart")
SCOPES = MetadataScopes(
    WowMetadata.from_document({"contexts": {"shop": {"aggregates": {"cart": {"scopes": [__name__]}}}}})
)
NOWHERE = MetadataScopes(WowMetadata())


class Everything(BaseModel):
    ref: Annotated[str | None, AggregateId()] = None
    tenant: Annotated[str | None, TenantId()] = None
    owner: Annotated[str | None, OwnerId()] = None
    space: Annotated[str | None, SpaceId()] = None
    expected: Annotated[int | None, AggregateVersion()] = None


class Bare(BaseModel):
    amount: int = 0


@create_aggregate
class Create(BaseModel):
    id: str = "c"
    expected: Annotated[int | None, AggregateVersion()] = None


@create_aggregate
class CreateEverything(Everything):
    pass


@allow_create
class Put(BaseModel):
    id: str


class Named(BaseModel):
    kind: Annotated[str, AggregateName()]


def build(body: Any, **options: Any) -> CommandMessage[Any]:
    """The message of a body in the scopes of this module."""
    return to_command_message(body, **{"origin": CountingOrigin(), "scopes": SCOPES, **options})


def upstream_event(**header: str) -> DomainEvent[Bare]:
    """An event upstream."""
    return DomainEvent("ev-1", Bare(), AggregateRef("shop", "cart", "c-0", "north"), 3, "bare", "cmd-0", Header(header),
                       owner_id="u-0", space_id="s-0")  # fmt: skip


# What each source of a row needs, and what it then gives: the sources of a row are switched on from the last to the
# first, and each must win over all after it.
Source = tuple[dict[str, Any], dict[str, Any], Any]
SOURCES: dict[str, dict[str, Source]] = {
    "named_aggregate": {
        "body or its class": ({}, {}, ("shop", "cart")),
        "argument": ({}, {"named_aggregate": "toys.gizmo"}, ("toys", "gizmo")),
    },
    "aggregate_id": {
        "generated": ({}, {}, "id-2"),
        "argument": ({}, {"aggregate_id": "argument"}, "argument"),
        "body or its class": ({"ref": "body"}, {}, "body"),
        "owner that is not blank, if same": (
            {},
            {"owner_id": "owner", "owner_id_same_as_aggregate_id": True},
            "owner",
        ),
    },
    "tenant_id": {
        "default (0)": ({}, {}, "(0)"),
        "argument": ({}, {"tenant_id": "argument"}, "argument"),
        "body or its class": ({"tenant": "body"}, {}, "body"),
    },
    "owner_id": {
        "default empty": ({}, {}, ""),
        "argument": ({}, {"owner_id": "argument"}, "argument"),
        "body or its class": ({"owner": "body"}, {}, "body"),
        "aggregate id, if same and blank otherwise": (
            {"owner": " ", "ref": "ref"},
            {"owner_id_same_as_aggregate_id": True},
            "ref",
        ),
    },
    "space_id": {
        "default empty": ({}, {}, ""),
        "argument": ({}, {"space_id": "argument"}, "argument"),
        "body": ({"space": "body"}, {}, "body"),
    },
    "aggregate_version": {
        "none": ({}, {}, None),
        "argument": ({}, {"aggregate_version": 4}, 4),
        "body": ({"expected": 5}, {}, 5),
        "0 for a create command": ({}, {}, 0),
    },
    "id": {"generated": ({}, {}, "id-1"), "argument": ({}, {"id": "argument"}, "argument")},
    "request_id": {"message id": ({}, {}, "id-1"), "argument": ({}, {"request_id": "argument"}, "argument")},
    "create_time": {"now": ({}, {}, NOW), "argument": ({}, {"create_time": 7}, 7)},
}
READ: dict[str, Callable[[CommandMessage[Any]], Any]] = {
    "named_aggregate": lambda message: (message.aggregate_id.context_name, message.aggregate_id.aggregate_name),
    "aggregate_id": lambda message: message.aggregate_id.id,
    "tenant_id": lambda message: message.aggregate_id.tenant_id,
}


@pytest.mark.clause("CMD-028", "CMD-029", "CMD-031", "CMD-033", "CMD-036", "CMD-037", "CMD-038", "CMD-040")
@pytest.mark.parametrize("row", PRECEDENCE, ids=lambda row: row.value)
def test_each_source_of_a_value_wins_over_all_after_it(row):
    """The precedence table says what the code does."""
    fields: dict[str, Any] = {}
    options: dict[str, Any] = {}
    assert set(row.sources) == set(SOURCES[row.value])
    for source in reversed(row.sources):
        more_fields, more_options, expected = SOURCES[row.value][source]
        fields.update(more_fields)
        options.update(more_options)
        cls = CreateEverything if source == "0 for a create command" else Everything
        message = build(cls(**fields), **options)
        read = READ.get(row.value, lambda message, name=row.value: getattr(message, name))
        assert read(message) == expected, source


@pytest.mark.clause("CMD-028", "CMD-031", "CMD-033", "CMD-040")
def test_every_value_has_a_row():
    """The table leaves nothing out."""
    assert [row.value for row in PRECEDENCE] == list(SOURCES)


@pytest.mark.clause("CMD-030")
@pytest.mark.parametrize("blank", ["", " "])
def test_a_blank_text_is_a_value(blank):
    """Blank values of the body and blank arguments do not fall through."""
    body = Everything(ref=blank, tenant=blank, owner=blank)
    of_body = build(body, aggregate_id="a", tenant_id="t", owner_id="o")
    of_arguments = build(Everything(), aggregate_id=blank, tenant_id=blank, owner_id=blank, id=blank, request_id=blank)

    for message in (of_body, of_arguments):
        assert (message.aggregate_id.id, message.aggregate_id.tenant_id, message.owner_id) == (blank,) * 3
    assert (of_arguments.id, of_arguments.request_id) == (blank, blank)
    assert build(Bare(), request_id=blank).request_id == blank


@pytest.mark.clause("CMD-036")
def test_an_owner_becomes_the_aggregate_id_even_over_a_static_one():
    """With the flag, a resolved owner that is not blank overrides every other source of the id."""

    @static_aggregate_id("static")
    class Static(BaseModel):
        pass

    message = build(Static(), owner_id="u", owner_id_same_as_aggregate_id=True)

    assert (message.aggregate_id.id, message.owner_id) == ("u", "u")


@pytest.mark.clause("CMD-037")
def test_a_generated_aggregate_id_becomes_the_owner():
    """Without an owner the id is resolved as usual and copied."""
    message = build(Bare(), owner_id_same_as_aggregate_id=True)

    assert message.owner_id == message.aggregate_id.id == "id-2"


@pytest.mark.clause("CMD-037")
def test_a_blank_owner_of_the_body_still_hides_the_argument():
    """The owner is resolved first; only then is it asked whether it is blank."""
    message = build(Everything(owner="", ref="r"), owner_id="u", owner_id_same_as_aggregate_id=True)

    assert (message.aggregate_id.id, message.owner_id) == ("r", "r")


@pytest.mark.clause("CMD-032")
def test_a_command_of_no_aggregate_is_refused():
    """The error names the class and the ways out."""
    with pytest.raises(IllegalArgumentError, match=r"test_commands\.Bare belongs to no aggregate.*commands=\[Bare\]"):
        build(Bare(), scopes=NOWHERE)


@pytest.mark.clause("CMD-024", "CMD-031")
def test_an_argument_saves_a_name_that_cannot_be_read():
    """The body's own name is not even looked at."""
    assert build(Named(kind="gizmo"), scopes=NOWHERE, named_aggregate=CART).aggregate_id.named_aggregate == CART
    with pytest.raises(IllegalArgumentError, match="names no context"):
        build(Named(kind="gizmo"), scopes=NOWHERE)


@pytest.mark.clause("CMD-038")
def test_a_create_command_expects_version_0():
    """Neither argument nor field matters."""
    message = build(Create(expected=5), aggregate_version=4)

    assert (message.aggregate_version, message.is_create, message.allow_create) == (0, True, False)


@pytest.mark.clause("CMD-039")
@pytest.mark.parametrize(
    ("body", "options"), [(Put(id="a"), {"aggregate_version": 0}), (Everything(expected=0), {"aggregate_version": 4})]
)
def test_version_0_makes_any_command_a_create_command(body, options):
    """Wherever the 0 came from; the other flags stay."""
    message = build(body, **options)

    assert (message.aggregate_version, message.is_create) == (0, True)
    assert message.allow_create is isinstance(body, Put)


@pytest.mark.clause("CMD-039")
def test_a_negative_version_is_kept():
    """It is just a version that no aggregate has."""
    message = build(Bare(), aggregate_version=-1)

    assert (message.aggregate_version, message.is_create) == (-1, False)


@pytest.mark.clause("CMD-041", "CMD-043")
def test_the_header_is_used_itself():
    """The message's header is the one that was given, and the trace id is written into it."""
    header = Header({"custom": "1"})
    empty = Header()

    assert build(Bare(), header=header).header is header
    assert header == {"custom": "1", "trace_id": "id-1"}
    assert build(Bare(), header=empty).header is empty


@pytest.mark.clause("CMD-041")
def test_a_mapping_that_is_no_header_is_copied():
    """A plain dictionary stays as it was."""
    entries = {"custom": "1"}

    message = build(Bare(), header=entries)

    assert message.header == {"custom": "1", "trace_id": "id-1"}
    assert entries == {"custom": "1"}
    assert build(Bare()).header == {"trace_id": "id-1"}


@pytest.mark.clause("CMD-043", "EVT-151")
def test_a_trace_id_that_is_there_is_kept():
    """Even a blank one."""
    assert build(Bare(), header={"trace_id": "t"}).header["trace_id"] == "t"
    assert build(Bare(), header={"trace_id": ""}).header["trace_id"] == ""


@pytest.mark.clause("CMD-041", "CMD-043")
def test_a_read_only_header_needs_a_trace_id():
    """With one nothing has to be written, without one the write is refused."""
    assert build(Bare(), header=Header({"trace_id": "t"}).freeze()).is_read_only
    with pytest.raises(UnsupportedOperationError):
        build(Bare(), header=Header().freeze())


@pytest.mark.clause("CMD-042")
def test_upstream_headers_come_first():
    """They are copied before anything is resolved, so even a failed build leaves them in the header."""
    header = Header({"trace_id": "old"})

    with pytest.raises(IllegalArgumentError, match="belongs to no aggregate"):
        build(Bare(), scopes=NOWHERE, header=header, upstream=upstream_event(trace_id="t", command_operator="amy"))

    assert header == {"trace_id": "t", "command_operator": "amy", "upstream_id": "ev-1", "upstream_name": "bare"}


@pytest.mark.clause("CMD-042")
def test_upstream_hands_on_no_tenant_owner_or_space():
    """Headers are all that construction takes from an upstream event."""
    message = build(Bare(), upstream=upstream_event())

    assert (message.aggregate_id.tenant_id, message.owner_id, message.space_id) == ("(0)", "", "")


@pytest.mark.clause("CMD-045")
def test_construction_sets_no_operator():
    """It is there only if someone put it into the header."""
    assert COMMAND_OPERATOR not in build(Bare(), owner_id="amy").header
    assert build(Bare(), header={COMMAND_OPERATOR: "amy"}).header[COMMAND_OPERATOR] == "amy"


@pytest.mark.clause("CMD-044")
def test_the_target_is_one_value():
    """Context, aggregate, tenant and id together."""
    message = build(Everything(ref="r", tenant="t"))

    assert message.aggregate_id == AggregateRef("shop", "cart", "r", "t")


@pytest.mark.clause("CMD-046")
def test_the_command_id_is_the_message_id():
    """An alias."""
    assert build(Bare(), id="x").command_id == "x"


@pytest.mark.clause("CMD-047")
def test_a_plain_message_passes_the_rules_by():
    """No flags, no version, no trace id, whatever the class says."""
    target = AggregateRef("shop", "cart", "c-1")

    message = plain_command_message(Create(), target, origin=CountingOrigin())

    assert message == CommandMessage("id-1", Create(), target, "create", "id-1", Header(), create_time=NOW)
    assert plain_command_message(Create(), target, origin=CountingOrigin(), id="x").request_id == "x"


@pytest.mark.clause("CMD-048", "CMD-049")
def test_a_copy_has_a_writable_header_of_its_own():
    """Everything else stays, the body by reference."""
    message = build(Bare())
    message.header.freeze()

    copied = message.copy()
    copied.header["more"] = "1"

    assert message.is_read_only
    assert not copied.is_read_only
    assert "more" not in message.header
    assert (copied.id, copied.body) == (message.id, message.body)
    assert copied.body is message.body


@pytest.mark.clause("CMD-259")
def test_a_built_in_command_needs_its_target_named():
    """It carries no target; without an id a new one is generated."""
    with pytest.raises(IllegalArgumentError, match="DeleteAggregate belongs to no aggregate"):
        build(DeleteAggregate())

    message = build(DeleteAggregate(), named_aggregate=CART)
    assert (message.name, message.aggregate_id.id) == ("default_delete_aggregate", "id-2")


def test_void_commands_are_marked_on_the_message():
    """The flag goes over."""

    @void_command
    class View(BaseModel):
        id: str

    assert build(View(id="a")).is_void


def test_a_command_of_two_aggregates_can_be_sent_to_a_named_one():
    """The kit refuses to choose, not to obey."""

    class Poke(BaseModel):
        id: str

    @aggregate_root(context="shop")
    class One:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def poke(self, command: Poke):
            return None

    @aggregate_root(context="shop")
    class Two:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def poke(self, command: Poke):
            return None

    named = to_command_message(Poke(id="a"), origin=CountingOrigin(), named_aggregate="shop.two")
    assert named.aggregate_id == AggregateRef("shop", "two", "a")
    with pytest.raises(SpecError, match="several aggregates"):
        to_command_message(Poke(id="a"), origin=CountingOrigin())


# --- builder ----------------------------------------------------------------------------------------------------------


@pytest.mark.clause("CMD-051", "CMD-052")
def test_a_new_builder_fixes_id_and_time():
    """They are taken when the builder is made, not when the message is built; the rest is absent."""
    origin = CountingOrigin()
    builder = command_builder(Bare(), origin)
    values = builder.values
    origin.now += 5

    message = builder.to_command_message(origin, scopes=SCOPES)

    assert (values.id, values.create_time, values.header) == ("id-1", NOW, message.header)
    assert values.owner_id_same_as_aggregate_id is False
    absent = ("request_id", "named_aggregate", "aggregate_id", "tenant_id", "owner_id", "space_id",
              "aggregate_version", "upstream")  # fmt: skip
    assert [getattr(values, name) for name in absent] == [None] * 8
    assert (message.id, message.create_time) == ("id-1", NOW)


def test_a_builder_without_origin_takes_id_and_time_when_it_is_built():
    """A saga writes `command_builder(body)`; the world that sends it gives both."""
    origin = CountingOrigin()
    builder = command_builder(Bare())
    origin.now += 5

    message = builder.to_command_message(origin, scopes=SCOPES)

    assert (message.id, message.create_time) == ("id-1", NOW + 5)


@pytest.mark.clause("CMD-053")
def test_every_setter_returns_the_builder():
    """The body may be replaced too; None takes a value back."""
    builder = command_builder(Bare())
    cause = upstream_event()
    setters = [
        builder.body(Put(id="x")),
        builder.id("i"),
        builder.create_time(7),
        builder.request_id("r"),
        builder.named_aggregate("toys.gizmo"),
        builder.aggregate_id("ignored"),
        builder.tenant_id("t"),
        builder.owner_id("o"),
        builder.owner_id(None),
        builder.space_id("s"),
        builder.aggregate_version(4),
        builder.upstream(cause),
        builder.owner_id_same_as_aggregate_id(),
        builder.header({"k": "1"}),
        builder.add_header({"l": "2"}),
        builder.local_first(),
    ]

    message = builder.to_command_message(CountingOrigin())

    assert all(returned is builder for returned in setters)
    assert message == CommandMessage(
        "i", Put(id="x"), AggregateRef("toys", "gizmo", "x", "t"), "put", "r",
        Header({"k": "1", "l": "2", "local_first": "true", "upstream_id": "ev-1", "upstream_name": "bare",
                "trace_id": "i"}),
        "x", "s", 4, allow_create=True, create_time=7,
    )  # fmt: skip
    assert repr(builder) == "command_builder(Put(id='x'))"


@pytest.mark.clause("CMD-054")
def test_if_absent_writes_over_none_alone():
    """A blank value is there."""
    builder = command_builder(Bare()).tenant_id("")

    builder.request_id_if_absent("r").tenant_id_if_absent("t").space_id_if_absent("s")
    builder.request_id_if_absent("R").tenant_id_if_absent("T").space_id_if_absent("S")

    assert (builder.values.request_id, builder.values.tenant_id, builder.values.space_id) == ("r", "", "s")


@pytest.mark.clause("CMD-055")
def test_a_header_replaces_and_a_function_changes_in_place():
    """What was written before is lost with the old header."""
    header = Header({"one": "1"})
    builder = command_builder(Bare()).local_first()

    builder.header(header)
    builder.header(lambda current: current.with_("two", "2")).local_first(False)

    assert builder.values.header is header
    assert header == {"one": "1", "two": "2", "local_first": "false"}


@pytest.mark.clause("CMD-056")
def test_the_body_wins_over_the_builder():
    """Builder values are arguments, and no more."""
    builder = command_builder(Everything(ref="r", tenant="t", owner="o", expected=3))
    builder.aggregate_id("A").tenant_id("T").owner_id("O").aggregate_version(9)

    message = builder.to_command_message(CountingOrigin(), scopes=SCOPES)

    assert message.aggregate_id == AggregateRef("shop", "cart", "r", "t")
    assert (message.owner_id, message.aggregate_version) == ("o", 3)
