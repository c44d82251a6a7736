"""Built-in commands and events: values, bases, wire names, tags."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from wowspec import (
    AggregateDeleted,
    AggregateRecovered,
    ApplyResourceTags,
    DeleteAggregate,
    OwnerTransferred,
    RecoverAggregate,
    ResourceTagsApplied,
    SpaceTransferred,
)
from wowspec.errors import IllegalArgumentError
from wowspec.modeling.builtin import BUILT_IN_COMMANDS, merge_tags, wire_type

PLAIN = (DeleteAggregate, RecoverAggregate, AggregateDeleted, AggregateRecovered)


@pytest.mark.clause("EVT-060")
@pytest.mark.parametrize("cls", PLAIN)
def test_built_in_classes_are_values(cls):
    """Two of a class are equal, hash alike, show as they are written and take no attributes."""
    assert cls() == cls()
    assert hash(cls()) == hash(cls())
    assert repr(cls()) == f"{cls.__name__}()"
    assert all(cls() != other() for other in PLAIN if other is not cls)
    with pytest.raises(AttributeError):
        cls().extra = 1


@pytest.mark.parametrize("cls", [ApplyResourceTags, ResourceTagsApplied])
def test_tagged_classes_are_values(cls):
    """They are equal by their tags, and unhashable like the tags."""
    assert cls({"a": ["1"]}) == cls({"a": ["1"]})
    assert cls({"a": ["1"]}) != cls({"a": ["2"]})
    assert repr(cls({"a": ["1"]})) == f"{cls.__name__}(tags={{'a': ['1']}})"
    with pytest.raises(TypeError):
        hash(cls({}))


@pytest.mark.clause("EVT-060")
def test_a_subclass_brings_its_own_equality():
    """Pydantic models, dataclasses and plain subclasses compare by their own fields."""

    class Model(BaseModel, AggregateDeleted):
        reason: str

    class Reversed(AggregateDeleted, BaseModel):
        reason: str

    @dataclass(frozen=True, slots=True)
    class Data(AggregateDeleted):
        reason: str

    class Plain(AggregateDeleted):
        def __init__(self, reason: str) -> None:
            self.reason = reason

    for cls in (Model, Reversed, Data, Plain):
        assert cls(reason="a") == cls(reason="a")
        assert cls(reason="a") != cls(reason="b")
        assert cls(reason="a") != AggregateDeleted()
        assert "reason='a'" in repr(cls(reason="a"))
    assert hash(Data("a")) == hash(Data("a"))


def test_several_built_in_bases_go_together():
    """One event may transfer owner and space and delete, as a model or a dataclass."""

    class Model(BaseModel, OwnerTransferred, SpaceTransferred, AggregateDeleted):
        pass

    @dataclass
    class Data(OwnerTransferred, SpaceTransferred, AggregateDeleted):
        to_owner_id: str
        to_space_id: str

    for cls in (Model, Data):
        made = cls(to_owner_id="o", to_space_id="s")
        assert (made.to_owner_id, made.to_space_id) == ("o", "s")
        assert isinstance(made, AggregateDeleted)


def test_a_model_inherits_the_tags():
    """The field of a tagged base is a field of the model, and is validated."""

    class Tag(BaseModel, ApplyResourceTags):
        pass

    assert Tag(tags={"a": ["1"]}).tags == {"a": ["1"]}
    with pytest.raises(ValueError, match="tags"):
        Tag(tags=1)


@pytest.mark.clause("CMD-256")
def test_each_built_in_command_is_answered_by_its_event():
    """One event each; tags go over."""
    answers = {row.wire_name: row.answer for row in BUILT_IN_COMMANDS}

    assert answers["DefaultDeleteAggregate"](DeleteAggregate()) == AggregateDeleted()
    assert answers["DefaultRecoverAggregate"](RecoverAggregate()) == AggregateRecovered()
    tags = {"a": ["1"]}
    assert answers["DefaultApplyResourceTags"](ApplyResourceTags(tags)) == ResourceTagsApplied(tags)
    assert all(isinstance(row.answer(row.command(*([tags] * (row.command is ApplyResourceTags)))), row.event)
               for row in BUILT_IN_COMMANDS)  # fmt: skip


@pytest.mark.clause("CMD-260")
def test_tags_need_keys():
    """A blank key is refused by the command itself."""
    ApplyResourceTags({"a": []}).validate_command()
    with pytest.raises(IllegalArgumentError, match="blank key ' '"):
        ApplyResourceTags({"a": [], " ": ["x"]}).validate_command()


@pytest.mark.clause("STA-016")
def test_merging_tags():
    """Keys and values of the left come first, each value once; an empty side changes nothing in the other."""
    assert merge_tags({"a": ["1", "2"]}, {"b": ["3", "3"], "a": ["2", "0"]}) == {"a": ["1", "2", "0"], "b": ["3"]}
    assert merge_tags({}, {"a": ["1", "1"]}) == {"a": ["1", "1"]}
    assert merge_tags({"a": ["1", "1"]}, {}) == {"a": ["1", "1"]}
    assert merge_tags({}, {}) == {}


@pytest.mark.clause("CMD-256")
def test_wire_types():
    """Built-in classes have the runtime's type names; a subclass has its own."""

    class Close(DeleteAggregate):
        pass

    assert wire_type(DeleteAggregate) == "me.ahoo.wow.api.command.DefaultDeleteAggregate"
    assert wire_type(AggregateRecovered) == "me.ahoo.wow.api.event.DefaultAggregateRecovered"
    assert wire_type(ResourceTagsApplied) == "me.ahoo.wow.api.abac.DefaultResourceTagsApplied"
    assert wire_type(Close) == f"{__name__}.{Close.__qualname__}"
