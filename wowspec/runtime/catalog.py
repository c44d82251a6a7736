"""What a world holds: the aggregates and processors that a spec named, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import SpecError
from ..modeling.aggregates import AggregateMetadata, aggregate_metadata, is_aggregate
from ..modeling.claims import aggregate_of_command, aggregate_of_event
from ..modeling.identity import NamedAggregate
from ..modeling.processors import Context, ProcessorMetadata, is_processor, processor_metadata
from ..modeling.states import StateMetadata


class Catalog:
    """Aggregates by name, processors in the order in which they were named."""

    __slots__ = ("aggregates", "processors")

    def __init__(self) -> None:
        self.aggregates: dict[NamedAggregate, AggregateMetadata] = {}
        self.processors: dict[type, ProcessorMetadata] = {}

    def copy(self) -> Catalog:
        """An independent catalog of the same parts."""
        other = Catalog()
        other.aggregates.update(self.aggregates)
        other.processors.update(self.processors)
        return other

    def add(self, part: Any) -> None:
        """Take in an aggregate root, a processor, or a context as a whole.

        Raises:
            SpecError: if it is none of these.
            DefinitionError: if its definition is not legal.
        """
        if isinstance(part, Context):
            for member in part.members:
                self.add(member)
        elif is_aggregate(part):
            metadata = aggregate_metadata(part)
            self.aggregates[metadata.named] = metadata
        elif is_processor(part):
            self.processors[part] = processor_metadata(part)
        else:
            shown = getattr(part, "__name__", repr(part))
            raise SpecError(
                f"{shown} is neither an aggregate root, nor a processor, nor a context",
                why="a world holds just the parts that its spec names",
                instead='.using(OrderSaga, OrderView), or .using(shop) with shop = Context("shop", Order, OrderSaga)',
            )

    def state_type(self, named: NamedAggregate) -> StateMetadata | None:
        """The state type of a named aggregate that the world holds."""
        metadata = self.aggregates.get(named)
        return metadata.state if metadata is not None else None

    def for_command(self, command_class: type) -> AggregateMetadata | None:
        """The aggregate that a command class belongs to: one that the world holds, else the class's own claim."""
        for metadata in self.aggregates.values():
            if command_class in metadata.functions or command_class in metadata.mounted:
                return metadata
        owner = aggregate_of_command(command_class)
        return aggregate_metadata(owner) if owner is not None else None

    def for_event(self, event_class: type) -> AggregateMetadata | None:
        """The aggregate that an event class belongs to: one that the world holds, else the class's own claim."""
        for metadata in self.aggregates.values():
            if event_class in metadata.events:
                return metadata
        owner = aggregate_of_event(event_class)
        return aggregate_metadata(owner) if owner is not None else None


def catalog_of(parts: Iterable[Any]) -> Catalog:
    """A catalog of these parts."""
    catalog = Catalog()
    for part in parts:
        catalog.add(part)
    return catalog
