"""Headers: the latch, copies, conversions, operator, local-first."""

from __future__ import annotations

import copy
import pickle

import pytest

from wowspec import Header, IllegalStateError
from wowspec.errors import UnsupportedOperationError
from wowspec.messages.header import is_local_first, require_operator, to_header, write_local_first

WRITES = {
    "set": lambda header: header.__setitem__("b", "1"),
    "delete": lambda header: header.__delitem__("a"),
    "pop": lambda header: header.pop("none", None),
    "popitem": lambda header: header.popitem(),
    "clear": lambda header: header.clear(),
    "update": lambda header: header.update({}),
    "setdefault": lambda header: header.setdefault("a", "2"),
    "with": lambda header: header.with_("b", "1"),
    "with_all": lambda header: header.with_all({}),
    "or": lambda header: header.__ior__({"b": "1"}),
    "local_first": write_local_first,
}


@pytest.mark.clause("CMD-063", "EVT-072")
def test_writing_returns_the_header():
    """`with_`, `with_all` and `freeze` can be chained."""
    header = Header()

    assert header.with_("a", "1") is header
    assert header.with_all({"b": "2"}) is header
    assert header.freeze() is header
    assert header == {"a": "1", "b": "2"}


@pytest.mark.clause("CMD-063", "CMD-049", "EVT-072")
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_frozen_header_refuses_every_write(write):
    """Even one that would change nothing; the entries stay."""
    header = Header({"a": "1"}).freeze()

    with pytest.raises(UnsupportedOperationError, match="read-only"):
        write(header)

    assert header == {"a": "1"}
    assert header.is_read_only


@pytest.mark.clause("CMD-064", "EVT-072")
def test_a_copy_is_writable():
    """Also the copy of a frozen header; equality does not look at the latch."""
    header = Header({"a": "1"}).freeze()
    copied = header.copy()

    assert copied == header
    copied["b"] = "2"

    assert "b" not in header
    assert isinstance(copied, Header)


@pytest.mark.clause("CMD-064")
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda header: pickle.loads(pickle.dumps(header))])
def test_copies_of_pythons_own_are_writable(duplicate):
    """As those of `copy()`, so that whoever holds a message may copy it in either way."""
    copied = duplicate(Header({"a": "1"}).freeze())
    copied["b"] = "2"

    assert type(copied) is Header
    assert copied == {"a": "1", "b": "2"}


@pytest.mark.clause("CMD-065", "EVT-073")
def test_conversions():
    """Nothing gives a new header, a header with entries stays itself, another map is copied."""
    full, empty, entries = Header({"a": "1"}).freeze(), Header(), {"a": "1"}

    assert to_header(full) is full
    assert to_header(empty) is not empty
    assert to_header(None) == to_header({}) == {}
    converted = to_header(entries)
    converted["b"] = "2"
    assert entries == {"a": "1"}


@pytest.mark.clause("CMD-066")
def test_the_operator_may_be_required():
    """A blank operator is one; a missing one is an illegal state."""
    assert require_operator(Header({"command_operator": ""})) == ""
    with pytest.raises(IllegalStateError, match="command_operator is missing"):
        require_operator(Header())


@pytest.mark.clause("CMD-055")
@pytest.mark.parametrize(("text", "expected"), [("true", True), ("TRUE", True), ("false", False), ("yes", False)])
def test_only_true_asks_for_local_first(text, expected):
    """In any case; a missing entry does not ask."""
    assert is_local_first(Header({"local_first": text})) is expected
    assert not is_local_first(Header())


@pytest.mark.clause("CMD-055")
def test_local_first_is_written_as_text():
    """`true` unless said otherwise."""
    header = Header()

    write_local_first(header)
    assert header == {"local_first": "true"}

    write_local_first(header, value=False)
    assert header == {"local_first": "false"}
