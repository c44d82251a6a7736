"""Names of classes, styles of names, and named aggregates from text."""

from __future__ import annotations

from typing import Generic, TypeVar

import pytest
from pydantic import BaseModel

from wowspec import DeleteAggregate, aggregate_root, name
from wowspec.errors import IllegalArgumentError
from wowspec.modeling.aggregates import aggregate_metadata
from wowspec.modeling.identity import NamedAggregate
from wowspec.modeling.naming import (
    CAMEL,
    KEBAB,
    LOWER_DOT,
    PASCAL,
    SNAKE,
    append_prefix,
    append_suffix,
    composite,
    convert,
    ignore_prefix,
    ignore_suffix,
    message_name,
    simple_name,
    to_named_aggregate,
    to_snake,
)
from wowspec.world.services import ServiceProvider

T = TypeVar("T")


@pytest.mark.clause("NAM-010", "CMD-004")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CreateCartItem", "create_cart_item"),
        ("HTTPPing", "h_t_t_p_ping"),
        ("Step2Go", "step2_go"),
        ("_Leading", "__leading"),
        ("With_Underscore", "with__underscore"),
        ("lowerFirst", "lower_first"),
        ("Über", "über"),
        ("", ""),
    ],
)
def test_pascal_case_is_split_before_every_capital(text, expected):
    """Every A-Z starts a word, so acronyms fall into letters; the start itself is no split."""
    assert to_snake(text) == expected


@pytest.mark.clause("NAM-012")
def test_delimited_names_keep_empty_words():
    """Snake, kebab and dotted names are split on their delimiter alone; the empty text is one empty word."""
    assert SNAKE.segment("_a__b_") == ["", "a", "", "b", ""]
    assert KEBAB.segment("one-two") == ["one", "two"]
    assert LOWER_DOT.segment("") == [""]
    assert PASCAL.segment("ABCde") == ["A", "B", "Cde"]
    assert CAMEL.segment("oneTwo") == ["one", "Two"]


@pytest.mark.clause("NAM-012")
def test_transforms_lower_the_rest_of_each_word():
    """Joining words puts them into lower case; Pascal and camel names capitalise only first letters."""
    words = ["One", "TWO", "three"]

    assert SNAKE.transform(words) == "one_two_three"
    assert KEBAB.transform(words) == "one-two-three"
    assert LOWER_DOT.transform(words) == "one.two.three"
    assert PASCAL.transform(words) == "OneTwoThree"
    assert CAMEL.transform(words) == "oneTwoThree"
    assert CAMEL.transform([]) == ""
    assert CAMEL.transform(["\ufb01x"]) == "fix"


@pytest.mark.clause("NAM-012")
@pytest.mark.parametrize("style", [PASCAL, CAMEL], ids=["pascal", "camel"])
@pytest.mark.parametrize("words", [[""], ["one", ""], ["", "two"]])
def test_an_empty_word_has_no_first_letter(style, words):
    """So it cannot be capitalised: the platform's own error, as where names are split at a doubled delimiter."""
    with pytest.raises(IndexError):
        style.transform(words)


@pytest.mark.clause("NAM-012")
def test_converters_compose():
    """A composite lets its first converter work, then changes the style."""
    event_name = composite(ignore_suffix("Event"), PASCAL, SNAKE)

    assert event_name("OrderPaidEvent") == "order_paid"
    assert ignore_prefix("Default")("OrderDefault") == "OrderDefault"
    assert append_prefix("wow_")("order") == "wow_order"
    assert append_suffix("_v2")("order") == "order_v2"
    assert convert(KEBAB, CAMEL)("one-two") == "oneTwo"


@pytest.mark.clause("NAM-002", "CMD-023")
def test_two_parts_beat_the_given_context():
    """Exactly one dot means context and aggregate, whatever context is supplied; parts may be empty."""
    assert to_named_aggregate("shop.cart", "other") == NamedAggregate("shop", "cart")
    assert to_named_aggregate(".cart", "other") == NamedAggregate("", "cart")
    assert to_named_aggregate("cart", "shop") == NamedAggregate("shop", "cart")
    assert to_named_aggregate("a.b.c", "shop") == NamedAggregate("shop", "a.b.c")
    assert to_named_aggregate("cart", " ") == NamedAggregate(" ", "cart")


@pytest.mark.clause("NAM-002", "CMD-024")
@pytest.mark.parametrize("context", [None, ""])
@pytest.mark.parametrize("text", ["cart", "", "a.b.c"])
def test_a_name_without_context_is_refused(text, context):
    """Without exactly one dot, a context that is not empty is needed."""
    with pytest.raises(IllegalArgumentError, match="names no context"):
        to_named_aggregate(text, context)


@pytest.mark.clause("NAM-011", "CMD-003")
def test_a_name_that_is_not_blank_replaces_the_class_name():
    """`@name` wins over the class's own name unless it is blank."""

    @name("renamed")
    class Renamed:
        pass

    @name("  ")
    class BlankNamed:
        pass

    assert message_name(Renamed) == "renamed"
    assert message_name(BlankNamed) == "blank_named"


@pytest.mark.clause("CMD-003")
def test_a_blank_own_name_hides_an_inherited_one():
    """The nearest name counts; if that one is blank, the class's own name is used."""

    @name("inherited")
    class Base:
        pass

    class Sub(Base):
        pass

    @name("")
    class Hiding(Base):
        pass

    assert message_name(Sub) == "inherited"
    assert message_name(Hiding) == "hiding"


@pytest.mark.clause("NAM-011")
def test_a_nested_class_uses_its_own_simple_name():
    """Enclosing classes and functions do not show in a name."""

    class Outer:
        class Inner:
            pass

    assert message_name(Outer.Inner) == "inner"


@pytest.mark.clause("NAM-011")
def test_type_arguments_do_not_show_in_a_name():
    """A parametrised Pydantic model is named after its generic class, as types are erased in the runtime."""

    class Envelope(BaseModel, Generic[T]):
        content: T

    assert simple_name(Envelope[int]) == "Envelope"
    assert message_name(Envelope[int]) == "envelope"


@pytest.mark.clause("CMD-003")
def test_a_built_in_command_has_the_runtime_s_name_and_hands_it_to_no_subclass():
    """`DeleteAggregate` is `DefaultDeleteAggregate` on the wire; a subclass is named after itself."""

    class CloseAccount(DeleteAggregate):
        pass

    assert message_name(DeleteAggregate) == "default_delete_aggregate"
    assert message_name(CloseAccount) == "close_account"


@pytest.mark.clause("NAM-011", "NAM-017")
def test_aggregates_and_services_are_named_by_the_same_rule():
    """`@name` below `@aggregate_root`, or on the class of a service, replaces the class's name."""

    @aggregate_root(context="shop")
    @name("basket")
    class Cart:
        def __init__(self, id: str) -> None:
            self.id = id

    @name("wall_clock")
    class Watch:
        pass

    services = ServiceProvider()
    services.register(Watch())
    services.register(Cart("a"))

    assert aggregate_metadata(Cart).named == NamedAggregate("shop", "basket")
    assert isinstance(services.by_name("wall_clock"), Watch)
    assert isinstance(services.by_name("basket"), Cart)
