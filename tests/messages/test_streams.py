"""From what a command function returned to a domain event stream."""

from __future__ import annotations

import array
import dataclasses
import typing
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from wowspec.errors import IllegalArgumentError, SpecError, UnsupportedOperationError
from wowspec.messages.envelopes import CommandMessage, DomainEventStream
from wowspec.messages.header import Header
from wowspec.messages.ids import IdGenerator
from wowspec.messages.streams import build_stream, flatten, ignores_sourcing
from wowspec.modeling.annotations import event, name
from wowspec.modeling.builtin import IgnoreSourcing
from wowspec.modeling.identity import AggregateRef

NOW = 1_700_000_000_000


class Opened(BaseModel):
    holder: str = "Ada"


class Credited(BaseModel):
    amount: int = 1


@name("holder_renamed")
@event(revision="1.2.0")
class Renamed(BaseModel):
    pass


class Refused(BaseModel, IgnoreSourcing):
    error_code: str = "No"
    error_msg: str = "refused"


class Skipped(BaseModel, IgnoreSourcing):
    pass


class Flagged(BaseModel):
    error_code: str = "No"
    error_msg: str = "flagged"


class Origin:
    """Growing ids, and a time that moves with each look at it."""

    def __init__(self) -> None:
        self.ids = IdGenerator()
        self.now = NOW

    def next_id(self) -> str:
        return self.ids.next_id(NOW)

    def now_millis(self) -> int:
        self.now += 1
        return self.now


def _command(**changes: Any) -> CommandMessage[Any]:
    values: dict[str, Any] = {
        "id": "cmd-1",
        "body": None,
        "aggregate_id": AggregateRef("bank", "ledger", "acc-1", "west"),
        "name": "credit",
        "request_id": "rq-1",
        "header": Header(),
    }
    return CommandMessage(**{**values, **changes})


def _built(result: Any, command: CommandMessage[Any] | None = None, **options: Any) -> DomainEventStream:
    return build_stream(result, command=command or _command(), origin=Origin(), **options)


@dataclasses.dataclass
class IterableEvent:
    """One event, although Python can iterate over it."""

    amount: int = 1

    def __iter__(self) -> Iterator[int]:
        return iter((self.amount,))


class PairEvent(typing.NamedTuple):
    left: int = 1
    right: int = 2


class OneShot:
    def __init__(self, *events: Any) -> None:
        self.events = events
        self.walks = 0

    def __iter__(self) -> Iterator[Any]:
        self.walks += 1
        return iter(self.events)


class ArrayLike:
    """Elements by index, no iterator of its own."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Credited:
        if index >= 2:
            raise IndexError(index)
        return Credited(amount=index)


@pytest.mark.clause("CMD-270", "EVT-041")
@pytest.mark.parametrize(
    "result",
    [
        Credited(),
        IterableEvent(),
        PairEvent(),
        {"k": 1},
        "text",
        b"bytes",
        array.array("i", [1, 2]),
    ],
    ids=lambda result: type(result).__name__,
)
def test_what_is_one_value_is_one_event(result):
    """Models, dataclasses, named tuples, mappings, texts and primitive arrays are single events."""
    assert flatten(result) == [result]


@pytest.mark.clause("CMD-270", "EVT-041")
def test_an_iterable_gives_its_elements():
    """Lists, tuples, generators, iterables and array-likes contribute their elements."""
    one, two = Credited(amount=0), Credited(amount=1)
    for result in ([one, two], (one, two), (each for each in (one, two)), OneShot(one, two), ArrayLike()):
        assert flatten(result) == [one, two]


@pytest.mark.clause("CMD-270", "EVT-041")
def test_an_inner_list_is_one_event():
    """Flattening goes one level deep."""
    inner = [Credited(), Credited()]
    stream = _built([inner])
    assert stream.size == 1
    assert stream.events[0].body is inner


@pytest.mark.clause("CMD-305", "EVT-045")
def test_a_result_is_walked_once():
    """An iterable that can be walked once only gives all its events."""
    result = OneShot(Opened(), Credited())
    assert _built(result).size == 2
    assert result.walks == 1


@pytest.mark.clause("CMD-353", "EVT-045")
def test_what_cannot_be_propagated_leaves_the_result_alone():
    """A wait plan for an unknown stage fails before the result is walked."""
    result = OneShot(Opened())
    plan = Header({"command_wait_id": "w", "command_wait_endpoint": "e", "command_wait_stage": "LATER"})
    with pytest.raises(IllegalArgumentError):
        _built(result, _command(header=plan))
    assert result.walks == 0


@pytest.mark.parametrize("result", [{1}, frozenset({1})], ids=["set", "frozenset"])
def test_a_set_of_events_is_refused(result):
    """Events have an order, which a set has not: the author of the domain is told."""
    with pytest.raises(SpecError, match="has none"):
        flatten(result)


@pytest.mark.clause("CMD-272", "CMD-306", "EVT-044")
@pytest.mark.parametrize("result", [[], (), iter(())], ids=["list", "tuple", "iterator"])
def test_a_stream_needs_an_event(result):
    """An empty result is an invalid argument."""
    with pytest.raises(IllegalArgumentError, match="at least one event"):
        _built(result)


@pytest.mark.clause("CMD-273", "EVT-044")
def test_nothing_is_no_event():
    """None among the events is an invalid argument that names its index."""
    with pytest.raises(IllegalArgumentError, match="event 1 of 3 that credit returned is None"):
        _built([Opened(), None, Credited()])


@pytest.mark.clause("CMD-301", "EVT-042", "EVT-043")
def test_all_events_have_the_next_version_and_count_from_one():
    """One version for all; sequence 1, 2, 3; the last one alone says so."""
    stream = _built([Opened(), Credited(), Credited()], aggregate_version=4)
    assert [each.version for each in stream] == [5, 5, 5]
    assert [each.sequence for each in stream] == [1, 2, 3]
    assert [each.is_last for each in stream] == [False, False, True]
    assert _built(Opened()).version == 1
    assert [each.is_last for each in _built(Opened())] == [True]


def test_versions_wrap():
    """Versions are 32-bit."""
    assert _built(Opened(), aggregate_version=2**31 - 1).version == -(2**31)


@pytest.mark.clause("EVT-046")
def test_the_stream_and_each_event_have_ids_of_their_own():
    """The stream's id comes first; command and request ids are the command's."""
    stream = _built([Opened(), Credited()])
    ids = [stream.id, *(each.id for each in stream)]
    expected = IdGenerator()
    assert ids == [expected.next_id(NOW) for _ in range(3)]
    assert stream.request_id == "rq-1"
    assert {each.command_id for each in stream} == {"cmd-1"}
    assert stream.aggregate_id == AggregateRef("bank", "ledger", "acc-1", "west")


@pytest.mark.clause("CMD-302", "EVT-047")
@pytest.mark.parametrize(
    ("commanded", "held", "expected"),
    [("mine", "state", "mine"), ("", "state", "state"), (" \t", "state", "state"), ("\x85", "state", "\x85")],
)
def test_a_blank_owner_or_space_is_the_states(commanded, held, expected):
    """Events carry the command's owner and space, or the state's where the command's is blank."""
    by_owner = _built(Opened(), _command(owner_id=commanded), owner_id=held)
    by_space = _built(Opened(), _command(space_id=commanded), space_id=held)
    assert (by_owner.owner_id, by_owner.space_id) == (expected, "")
    assert (by_space.owner_id, by_space.space_id) == ("", expected)


@pytest.mark.clause("EVT-048")
def test_the_stream_has_one_time():
    """One look at the clock serves all events; a given time is used as it is."""
    assert {each.create_time for each in _built([Opened(), Credited()])} == {NOW + 1}
    assert _built(Opened(), create_time=5).create_time == 5


@pytest.mark.clause("CMD-309", "EVT-054")
def test_name_and_revision_are_those_of_the_event_class():
    """Annotations give name and revision; without them, the class name in snake case and 0.0.1."""
    stream = _built([Renamed(), Credited()])
    assert [(each.name, each.revision) for each in stream] == [("holder_renamed", "1.2.0"), ("credited", "0.0.1")]


@pytest.mark.clause("CMD-304", "EVT-049", "EVT-150")
def test_the_header_holds_what_is_propagated_and_nothing_else():
    """Trace, operator, request facts and the upstream command; no custom entry."""
    header = Header({"trace_id": "t", "command_operator": "op", "user_agent": "ua", "remote_ip": "ip", "custom": "no"})
    stream = _built(Opened(), _command(header=header))
    assert stream.header == {
        "trace_id": "t",
        "command_operator": "op",
        "user_agent": "ua",
        "remote_ip": "ip",
        "upstream_id": "cmd-1",
        "upstream_name": "credit",
    }
    assert stream.operator == "op"


@pytest.mark.clause("CMD-304", "EVT-049")
def test_a_given_header_becomes_the_streams():
    """The header passed in is used itself and written over; a read-only one cannot be."""
    header = Header({"mine": "1", "trace_id": "old"})
    stream = _built(Opened(), _command(header=Header({"trace_id": "new"})), header=header)
    assert stream.header is header
    assert (header["mine"], header["trace_id"]) == ("1", "new")
    with pytest.raises(UnsupportedOperationError):
        _built(Opened(), header=Header().freeze())


@pytest.mark.clause("CMD-303", "EVT-049")
def test_headers_of_stream_and_events_are_independent():
    """A change in one header shows nowhere else."""
    stream = _built([Opened(), Credited()])
    stream.events[0].header["seen"] = "1"
    assert "seen" not in stream.header
    assert "seen" not in stream.events[1].header
    stream.header["stream"] = "1"
    assert all("stream" not in each.header for each in stream)


@pytest.mark.clause("CMD-310", "EVT-057")
@pytest.mark.parametrize(
    ("bodies", "version", "expected"),
    [
        ([Refused()], 0, True),
        ([Refused(), Refused()], 0, True),
        ([Refused(error_code="Ok")], 0, True),
        ([Refused()], 1, False),
        ([Refused(), Opened()], 0, False),
        ([Skipped()], 0, False),
        ([Flagged()], 0, False),
    ],
)
def test_a_first_stream_of_marked_errors_alone_is_ignored(bodies, version, expected):
    """Version 1, and each body both marker and error info, whatever its code."""
    assert ignores_sourcing(_built(bodies, aggregate_version=version)) is expected
