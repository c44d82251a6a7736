"""A shopping cart: at most a hundred products, one line each, owned by the person whose id it carries."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from wowspec import (
    AggregateId,
    aggregate_root,
    allow_create,
    on_command,
    on_sourcing,
    static_tenant_id,
    void_command,
)

ProductId = Annotated[str, Field(min_length=1)]
Quantity = Annotated[int, Field(gt=0)]


class CartItem(BaseModel):
    product_id: str
    quantity: Quantity = 1


# --- commands: what a person may ask for. A refusal by a field's constraint never reaches the cart. -------------------


@allow_create
class AddCartItem(BaseModel):
    product_id: ProductId
    quantity: Quantity = 1


class RemoveCartItem(BaseModel):
    product_ids: Annotated[frozenset[str], Field(min_length=1)]


class ChangeQuantity(BaseModel):
    product_id: ProductId
    quantity: Quantity


@void_command
class ViewCart(BaseModel):
    id: Annotated[str, AggregateId()]


# --- events: what happened --------------------------------------------------------------------------------------------


class CartItemAdded(BaseModel):
    added: CartItem


class CartItemRemoved(BaseModel):
    product_ids: frozenset[str]


class CartQuantityChanged(BaseModel):
    changed: CartItem


# --- state: nothing but what the events say ---------------------------------------------------------------------------


class CartState(BaseModel):
    id: str
    items: list[CartItem] = []

    @on_sourcing
    def item_added(self, event: CartItemAdded) -> None:
        self.items.append(event.added)

    @on_sourcing
    def items_removed(self, event: CartItemRemoved) -> None:
        self.items = [item for item in self.items if item.product_id not in event.product_ids]

    @on_sourcing
    def quantity_changed(self, event: CartQuantityChanged) -> None:
        changed = event.changed
        self.items = [changed if item.product_id == changed.product_id else item for item in self.items]


# --- decisions --------------------------------------------------------------------------------------------------------


@aggregate_root(context="shop", commands=[ViewCart])
@static_tenant_id
class Cart:
    MAX_ITEMS = 100

    def __init__(self, state: CartState) -> None:
        self.state = state

    @on_command
    def add(self, command: AddCartItem) -> CartItemAdded | CartQuantityChanged:
        if len(self.state.items) >= self.MAX_ITEMS:
            raise ValueError(f"a cart holds at most {self.MAX_ITEMS} items")
        held = self._find(command.product_id)
        if held is not None:
            quantity = held.quantity + command.quantity
            return CartQuantityChanged(changed=CartItem(product_id=held.product_id, quantity=quantity))
        return CartItemAdded(added=CartItem(product_id=command.product_id, quantity=command.quantity))

    @on_command
    def remove(self, command: RemoveCartItem) -> CartItemRemoved:
        return CartItemRemoved(product_ids=command.product_ids)

    @on_command
    def change_quantity(self, command: ChangeQuantity) -> CartQuantityChanged:
        if self._find(command.product_id) is None:
            raise ValueError(f"product {command.product_id} is not in the cart")
        return CartQuantityChanged(changed=CartItem(product_id=command.product_id, quantity=command.quantity))

    def _find(self, product_id: str) -> CartItem | None:
        return next((item for item in self.state.items if item.product_id == product_id), None)
