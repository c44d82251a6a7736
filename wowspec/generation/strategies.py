"""`wowspec.strategies`: what property specs draw their values from.

    import wowspec as ws
    from hypothesis import given

    @given(ws.histories(Cart), ws.commands(Cart))
    def test_a_cart_is_never_too_full(history, command):
        run = ws.spec(Cart).given(*history).when(command).run()
        assert len(run.state.items) <= 100

Each strategy is made from what the domain declares; nothing is registered globally. Hypothesis is imported here, and so
only by those who ask for one of these names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from hypothesis import strategies as st

from ..errors import SpecError
from ..modeling.aggregates import aggregate_metadata
from ..specs.items import On
from .callers import Caller, name_of
from .commands import commands_of_instances, drawn_by_author
from .domain import command_classes
from .histories import Historian, base_of, histories_of
from .naming import named
from .overrides import overrides_of
from .plans import plans
from .resolver import resolve
from .schedules import schedules

T = TypeVar("T")
Classes = type | Iterable[type]


def from_model(model: type[T], /, **overrides: st.SearchStrategy[Any]) -> st.SearchStrategy[T]:
    """Values of a model, a dataclass, or a plain class with annotations: `from_model(PayOrder, amount=st.just(5))`.

    Constraints hold at every depth, and every value is made by its own constructor, so that its validators have their
    say; what they refuse is drawn anew. Fields with defaults are left out at times, and vary at others. Values have
    their JSON: floats are finite, bytes are UTF-8, datetimes are in UTC unless their type is naive.

    Args:
        model: the class.
        overrides: strategies for single fields, by name, or by path for nested ones, which goes through containers
            and unions: `from_model(PlaceOrder, **{"lines.quantity": st.just(1)})`.

    Raises:
        SpecError: where no strategy follows from the type of a field (with its path, and the override to write), for an
            override of no field or that is no strategy; while drawing, where validators refuse a hundred values in a
            row.
    """
    caller = Caller("from_model", name_of(model))
    said = overrides_of(caller, overrides)
    made = resolve(model, said, caller)
    said.require_used(caller)
    return named("from_model", (model,), overrides, made)


def commands(
    aggregate: type,
    /,
    *,
    only: Classes | None = None,
    exclude: Classes | None = None,
    ids: Iterable[str] | None = None,
    built_in: bool = False,
    **overrides: st.SearchStrategy[Any],
) -> st.SearchStrategy[Any]:
    """Commands that an aggregate handles or mounts, drawn from their models as `from_model` does.

    They have to do with each other. The field that says the instance (`AggregateId()`, else `id`) is the same in all of
    them: `"1"`, or, where a type refuses that, one id that is drawn once in each example. Other fields that are ids by
    their names (`product_id`, `productIds`, an `id` further inside) and hold texts, integers or UUIDs come from pools
    of three: `"product-1"`, `"product-2"`, `"product-3"`, or `1`, `2`, `3`.

    Args:
        aggregate: the aggregate root, or decider.
        only: these command classes alone; built-in and void ones may be among them.
        exclude: all but these.
        ids: the instances that commands speak of.
        built_in: whether `DeleteAggregate`, `RecoverAggregate` and `ApplyResourceTags` come, too.
        overrides: strategies for fields, as in `from_model`: `amount=` for each command that has the field,
            `**{"PayOrder.amount": ...}` for one, `PayOrder=` for a whole command.

    Raises:
        SpecError: as `from_model`; for a class that is no command of the aggregate.
    """
    caller = Caller("commands", name_of(aggregate))
    metadata = aggregate_metadata(aggregate)
    classes = command_classes(metadata, caller, only, exclude, built_in=built_in, void=True)
    drawn = commands_of_instances(metadata, classes, caller, ids, overrides)
    said = _said(only=only, exclude=exclude, ids=ids, built_in=built_in or None)
    return named("commands", (aggregate,), {**said, **overrides}, st.one_of([one.every for one in drawn]))


def histories(
    subject: Any,
    /,
    *,
    min_size: int = 0,
    max_size: int = 5,
    only: Classes | None = None,
    exclude: Classes | None = None,
    ids: Iterable[str] | None = None,
    built_in: bool = False,
    commands: st.SearchStrategy[Any] | None = None,
    using: Iterable[Any] = (),
    inject: Mapping[str, Any] | Iterable[Any] = (),
    **overrides: st.SearchStrategy[Any],
) -> st.SearchStrategy[tuple[On, ...]]:
    """Histories of an aggregate, to be given: `spec(Cart).given(*history).when(...)`.

    Each is made by real commands, which are sent through the whole pipeline of a world of its own; what they stored is
    the history, and those that were refused leave nothing. So every state that is given can be reached. A history is a
    tuple of `on(Cart, "1", ...)`, with an event for each version, or `stream(...)` where a command stored several
    events; owner, space and tenant are said where there are any. Where sagas take part (`using=`), it holds the streams
    of other aggregates as well, in the order in which they were stored.

    A programming error of a handler (`TypeError`, `KeyError`, …) is no refusal: it is raised.

    Args:
        subject: the aggregate root, or a spec of one: its processors, services, profile, and what it gives come first;
            give the history to that same spec.
        min_size: how many versions a history has at least; with 1 it is never empty.
        max_size: how many commands are sent at most.
        only: as in `commands`.
        exclude: as in `commands`.
        ids: as in `commands`.
        built_in: as in `commands`.
        commands: draws each command instead, also as `sent_as(command, owner_id=...)`.
        using: processors and aggregates that take part, as in `spec(...).using(...)`.
        inject: services by name, or services alone, as in `spec(...).inject(...)`; each example gets copies.
        overrides: as in `commands`.

    Raises:
        SpecError: as `commands`; while drawing, where forty histories in a row came to nothing.
    """
    caller = Caller("histories", name_of(subject))
    if not 0 <= min_size <= max_size or max_size < 1:
        raise SpecError(
            f"{caller} with min_size={min_size} and max_size={max_size}",
            why="at least min_size versions are stored by at most max_size commands",
            instead="histories(Cart, min_size=1, max_size=5)",
        )
    base, metadata = base_of(subject, caller, using, inject)
    if commands is None:
        classes = command_classes(metadata, caller, only, exclude, built_in=built_in, void=False)
        drawn = commands_of_instances(metadata, classes, caller, ids, overrides)
    else:
        drawn = drawn_by_author(metadata, caller, ids, commands, {"only": only, "exclude": exclude, **overrides})
    made = histories_of(Historian(base, metadata, caller), drawn, min_size, max_size)
    said = _said(
        min_size=min_size or None, only=only, exclude=exclude, ids=ids, built_in=built_in or None, commands=commands
    )
    return named("histories", (subject,), {**said, **overrides}, made)


def _said(**options: Any) -> dict[str, Any]:
    """The options that the author gave, for the strategy's text."""
    return {name: value for name, value in options.items() if value is not None}


__all__ = ["commands", "from_model", "histories", "plans", "schedules"]
