"""The runtime's rule of order: by value, then moved before and after named classes (NAM-022, CMD-174)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

T = TypeVar("T")

ORDER_FIRST: Final = -(2**31)
ORDER_DEFAULT: Final = 0
ORDER_LAST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Order:
    """Where an element wants to stand: a value (lower is earlier), and exact names it must precede or follow."""

    value: int = ORDER_DEFAULT
    before: tuple[Any, ...] = ()
    after: tuple[Any, ...] = ()


def sorted_by_order(items: Iterable[T], order_of: Callable[[T], Order], name_of: Callable[[T], Any] = type) -> list[T]:
    """Stable by value; then each, in that order, is moved directly before and after what it names, where it is not yet.

    Args:
        items: in order of registration.
        order_of: an element's order.
        name_of: what others call it in `before` and `after` (default: its class).
    """
    by_value = sorted(items, key=lambda item: order_of(item).value)
    result = list(by_value)
    for item in by_value:
        order = order_of(item)
        for name in order.before:
            _move(result, item, name, name_of, before=True)
        for name in order.after:
            _move(result, item, name, name_of, before=False)
    return result


def _move(result: list[T], item: T, name: Any, name_of: Callable[[T], Any], *, before: bool) -> None:
    target = next((index for index, other in enumerate(result) if name_of(other) == name), None)
    if target is None:
        return
    at = next(index for index, other in enumerate(result) if other is item)
    if (at > target) if before else (at < target):
        result.insert(target, result.pop(at))
