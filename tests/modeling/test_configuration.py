"""Metadata documents: merging, scopes, aliases."""

from __future__ import annotations

import pytest

from wowspec import IllegalStateError
from wowspec.modeling.configuration import (
    AggregateConfiguration,
    ConfiguredAggregate,
    ContextConfiguration,
    MetadataScopes,
    WowMetadata,
    alias_prefix,
    alias_text,
    context_alias,
    local_aggregates,
)
from wowspec.modeling.identity import NamedAggregate


def metadata(**contexts) -> WowMetadata:
    """A document of these contexts."""
    return WowMetadata.from_document({"contexts": contexts})


SHOP = MetadataScopes(
    metadata(
        shop={
            "scopes": ["org.shop"],
            "aggregates": {
                "order": {
                    "scopes": ["org.shop.order"],
                    "commands": ["org.shared.PlaceOrder"],
                    "events": ["org.shared.OrderPlaced"],
                },
                "refund": {"scopes": ["org.shop.order.refund"], "tenantId": "refunds"},
            },
        },
        stock={"aggregates": {"item": {"scopes": ["org.stock.item"]}}},
    )
)


@pytest.mark.clause("NAM-013")
def test_a_document_has_defaults_and_ignores_unknown_keys():
    """Missing texts are None, a missing description is empty, missing sets are empty."""
    read = metadata(shop={"alias": " ", "colour": "red", "aggregates": {"cart": {}}})

    assert read.to_document() == {
        "contexts": {
            "shop": {
                "alias": " ",
                "description": "",
                "scopes": [],
                "aggregates": {
                    "cart": {"scopes": [], "type": None, "tenantId": None, "id": None, "commands": [], "events": []}
                },
            }
        }
    }
    assert WowMetadata.from_document({}).contexts == {}


@pytest.mark.clause("NAM-014")
def test_merging_unites_sets_and_keeps_the_first_value_that_is_not_blank():
    """Sets keep their first appearance; a blank value is filled by the other document's."""
    left = metadata(
        shop={
            "alias": " ",
            "description": " ",
            "scopes": ["a", "b"],
            "aggregates": {"cart": {"id": "x", "tenantId": ""}},
        }
    )
    right = metadata(
        shop={
            "alias": "s",
            "description": "d",
            "scopes": ["b", "c"],
            "aggregates": {"cart": {"id": "y", "tenantId": "east", "type": "T"}, "order": {}},
        },
        stock={},
    )

    merged = left.merge(right)

    shop = merged.contexts["shop"]
    assert (shop.alias, shop.description, shop.scopes) == ("s", "d", ("a", "b", "c"))
    assert shop.aggregates["cart"] == AggregateConfiguration(type="T", tenant_id="east", id="x")
    assert list(shop.aggregates) == ["cart", "order"]
    assert list(merged.contexts) == ["shop", "stock"]


@pytest.mark.clause("NAM-014")
@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"alias": "a"}, {"alias": "b"}),
        ({"aggregates": {"cart": {"type": "A"}}}, {"aggregates": {"cart": {"type": "B"}}}),
    ],
    ids=["alias", "type"],
)
def test_two_different_values_of_one_context_are_refused(one, two):
    """Aliases and types must agree wherever both documents have one."""
    with pytest.raises(IllegalStateError, match="keep one of them"):
        metadata(shop=one).merge(metadata(shop=two))


@pytest.mark.clause("NAM-014")
def test_two_contexts_share_no_alias():
    """The same alias twice is refused when the document is made; blank aliases are none."""
    with pytest.raises(IllegalStateError, match="the same alias 's'"):
        metadata(shop={"alias": "s"}, stock={"alias": "s"})

    assert list(metadata(shop={"alias": ""}, stock={"alias": ""}).contexts) == ["shop", "stock"]


@pytest.mark.clause("NAM-015", "CMD-025")
@pytest.mark.parametrize(
    ("class_name", "aggregate"),
    [
        ("org.shop.order.PlaceOrder", "order"),
        ("org.shop.order.deep.down.Thing", "order"),
        ("org.shop.order.refund.RefundOrder", "refund"),
        ("org.shop.order", "order"),
        ("org.shared.PlaceOrder", "order"),
        ("org.shared.OrderPlaced", "order"),
        ("org.shared.PlaceOrder.Inner", "order"),
        ("org.shop.orders.Thing", None),
        ("org.shop.Order.Thing", None),
        ("org.shop.Thing", None),
        ("", None),
    ],
)
def test_the_longest_dotted_prefix_finds_the_aggregate(class_name, aggregate):
    """An exact key first, else the most specific one that is a prefix followed by a dot; commands and events count."""
    assert SHOP.search_aggregate(class_name) == (NamedAggregate("shop", aggregate) if aggregate else None)


@pytest.mark.clause("NAM-015")
def test_commands_and_events_are_no_scopes_of_the_context():
    """Scopes of a context and of its aggregates find the context; single commands and events do not."""
    assert SHOP.search_context("org.shop.Thing") == "shop"
    assert SHOP.search_context("org.stock.item.Thing") == "stock"
    assert SHOP.search_context("org.shared.PlaceOrder") is None


@pytest.mark.clause("NAM-015")
def test_of_two_equal_scopes_the_last_counts_and_a_blank_one_never():
    """A scope given twice belongs to the aggregate that comes last."""
    scopes = MetadataScopes(
        metadata(one={"aggregates": {"first": {"scopes": ["p.q", ""]}, "last": {"scopes": ["p.q", " "]}}})
    )

    assert scopes.search_aggregate("p.q.X") == NamedAggregate("one", "last")
    assert scopes.search_aggregate("r.X") is None


@pytest.mark.clause("NAM-015")
def test_a_required_look_up_without_hit_is_an_illegal_state():
    """The error names what there is."""
    with pytest.raises(IllegalStateError, match=r"covers net\.Thing; there are: org\.shop\.order"):
        SHOP.require_aggregate("net.Thing")
    with pytest.raises(IllegalStateError, match="no scope of any context"):
        SHOP.require_context("net.Thing")

    assert SHOP.require_context("org.shop.X") == "shop"
    assert SHOP.require_aggregate("org.shop.order.X") == NamedAggregate("shop", "order")


@pytest.mark.clause("CMD-025", "CMD-017")
def test_a_class_is_found_by_module_and_qualified_name():
    """The look-up of a class gives the configured tenant too."""
    cls = type("RefundOrder", (), {"__module__": "org.shop.order.refund"})

    assert SHOP.aggregate_of(cls) == ConfiguredAggregate(NamedAggregate("shop", "refund"), "refunds")
    assert SHOP.context_of(cls) == "shop"


@pytest.mark.clause("NAM-003")
def test_alias_forms():
    """The alias stands for the context where there is one that is not blank; an empty context gives no prefix."""
    configured = metadata(bank={"alias": "b"}, plain={}, blank={"alias": " "})

    assert str(NamedAggregate("bank", "account")) == "bank.account"
    assert alias_text(configured, NamedAggregate("bank", "account")) == "b.account"
    assert alias_text(configured, NamedAggregate("plain", "account")) == "plain.account"
    assert alias_text(configured, NamedAggregate("blank", "account")) == "blank.account"
    assert alias_text(configured, NamedAggregate("unknown", "account")) == "unknown.account"
    assert str(NamedAggregate("", "account")) == ".account"
    assert alias_text(configured, NamedAggregate("", "account")) == "account"
    assert (context_alias(configured, "bank"), alias_prefix(configured, "bank")) == ("b", "b.")
    assert (context_alias(configured, ""), alias_prefix(configured, "")) == ("", "")


class Shelf:
    """A class that can be loaded by its name."""

    class Board:
        """A class inside it."""


@pytest.mark.clause("NAM-016")
def test_only_classes_that_are_here_are_local(caplog):
    """A type that cannot be loaded is logged and left out; an aggregate without a type is not local either."""
    types = {
        "shelf": f"{__name__}.Shelf",
        "board": f"{__name__}.Shelf.Board",
        "gone": f"{__name__}.Gone",
        "elsewhere": "no_such_module.Order",
        "function": f"{__name__}.test_only_classes_that_are_here_are_local",
        "untyped": None,
    }
    metadata = WowMetadata(
        {"shop": ContextConfiguration(aggregates={name: AggregateConfiguration(type=of) for name, of in types.items()})}
    )
    with caplog.at_level("WARNING", "wowspec"):
        found = local_aggregates(metadata)
    assert found == {NamedAggregate("shop", "shelf"): Shelf, NamedAggregate("shop", "board"): Shelf.Board}
    assert [record.args[2] for record in caplog.records] == ["gone", "elsewhere", "function"]
