"""The runtime of one world: every part of the pipeline, wired."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from weakref import proxy

from ..errors import CommandValidationError, SpecError
from ..faults.arming import ArmedFault, Armory, Target
from ..faults.legality import require_legal
from ..faults.values import Fault
from ..messages.command_factory import CommandMessageFactory
from ..messages.commands import CommandBuilder, to_command_message
from ..messages.envelopes import CommandMessage, DomainEventStream
from ..modeling.aggregates import AggregateMetadata
from ..modeling.configuration import ConfiguredAggregate
from ..modeling.functions import HandlerFunction
from ..modeling.identity import NamedAggregate
from ..modeling.ordering import sorted_by_order
from ..modeling.processors import ProcessorKind, ProcessorMetadata, is_processor
from ..world.profiles import IN_MEMORY, PortProfile
from ..world.world import World
from .audit import Audit
from .catalog import Catalog
from .chain import (
    COMMAND_DISPATCHER,
    EVENT_DISPATCHERS,
    SNAPSHOT_DISPATCHER,
    FilterRow,
    NamedFilter,
    Next,
    build_chain,
    link,
)
from .command_filters import COMMAND_FILTERS
from .construction import Made, make_processor
from .dispatcher import AggregateCommandDispatcher
from .downstream.compensation import CompensateSupporter
from .downstream.event_dispatcher import EventDispatcher
from .downstream.event_filters import EVENT_FILTERS
from .downstream.snapshot_dispatcher import SNAPSHOT_FILTERS, SnapshotDispatcher
from .downstream.views import Views, ViewStore
from .durable_buses import durable_buses
from .event_store import InMemoryEventStore
from .gateway import CommandGateway
from .injection import arguments
from .local_first import Buses, BusFactory, in_memory_buses
from .prepare import PrepareKeys
from .receivers import listen
from .repository import StateAggregateRepository
from .request_ids import DefaultRequestIdChecker, Prechecks, always_exists
from .restarting import logs_of, redeliver, resend, restart
from .serial import SerialGroups
from .snapshots import InMemorySnapshotStore, SimpleSnapshotStrategy, SnapshotStrategy, VersionOffsetSnapshotStrategy
from .sourcing import Supply
from .validation import PydanticValidator
from .waiting.coordinator import WaitCoordinator
from .waiting.notifier import LocalWaitNotifier

if TYPE_CHECKING:
    from .downstream.compensation_filter import Compensation

#: Dispatchers in their order of start (PRJ-014).
PROCESSOR_ORDER: Final = (ProcessorKind.EVENT_PROCESSOR, ProcessorKind.PROJECTION, ProcessorKind.STATELESS_SAGA)

#: Tables of filter rows, each by its identity, with its rows in their order, innermost first.
_INWARDS: Final[dict[int, tuple[tuple[FilterRow, ...], list[FilterRow]]]] = {}
_VALIDATOR: Final = PydanticValidator()


class Runtime:
    """The wired pipeline over one world. Parts that a spec never uses are made when they are first used.

    Filters and dispatchers hold their runtime weakly: without that circle a world goes at once when nobody holds its
    runtime any more, and a suite of many small worlds leaves the garbage collector little to do.
    """

    __slots__ = (
        "__weakref__",
        "_audit",
        "_bus_factory",
        "_command_chain",
        "_command_dispatchers",
        "_command_factory",
        "_event_dispatchers",
        "_extra_filters",
        "_instances",
        "_request_id_existence",
        "_snapshot_dispatcher",
        "_subscriptions",
        "_weak",
        "armory",
        "catalog",
        "command_bus",
        "compensation",
        "coordinator",
        "domain_event_bus",
        "event_store",
        "gateway",
        "notifier",
        "prepare_keys",
        "repository",
        "request_ids",
        "snapshot_offset",
        "snapshot_store",
        "snapshot_strategy",
        "state_event_bus",
        "supply",
        "views",
        "world",
    )

    def __init__(
        self,
        world: World,
        *,
        catalog: Catalog | None = None,
        request_id_existence: str = "store",
        event_store: InMemoryEventStore | None = None,
        snapshot_store: InMemorySnapshotStore | None = None,
        request_ids: Prechecks | None = None,
        buses: BusFactory | None = None,
        compensation: bool = False,
        snapshot_offset: int | None = None,
        profile: PortProfile = IN_MEMORY,
    ) -> None:
        self.world: World = world
        self._weak: Runtime = proxy(self)
        world.ports = profile
        world.restart = partial(Runtime.restart, self._weak)
        world.parts = partial(Runtime.part, self._weak)
        #: Gives a sourcing function what it asks for besides its event.
        self.supply: Supply = partial(_supply, world)
        self.catalog: Catalog = Catalog()
        self.views: ViewStore = ViewStore(world)
        self.prepare_keys: PrepareKeys = PrepareKeys(world.now_millis)
        self.armory: Armory | None = None
        self._audit: Audit | None = None
        self.event_store: InMemoryEventStore = event_store or InMemoryEventStore()
        self.snapshot_store: InMemorySnapshotStore = snapshot_store or InMemorySnapshotStore(
            self.catalog.state_type, self.supply
        )
        self.request_ids: Prechecks = request_ids or Prechecks.exact(world.clock)
        self.coordinator: WaitCoordinator = WaitCoordinator()
        self.notifier: LocalWaitNotifier = LocalWaitNotifier(self.coordinator, world)
        self._bus_factory = buses or (durable_buses if profile.redelivers else in_memory_buses)
        self._put_in(self._bus_factory(self))
        self.repository: StateAggregateRepository = StateAggregateRepository(
            self.event_store, self.snapshot_store, at=world.carry, types=self.catalog.state_type, supply=self.supply
        )
        self.snapshot_offset: int | None = snapshot_offset
        self.snapshot_strategy: SnapshotStrategy = (
            SimpleSnapshotStrategy(self.snapshot_store, world.now_millis)
            if snapshot_offset is None
            else VersionOffsetSnapshotStrategy(self.snapshot_store, world.now_millis, snapshot_offset)
        )
        exists = self.event_store.exists_request_id if request_id_existence == "store" else always_exists
        self.gateway: CommandGateway = CommandGateway(
            world,
            self.command_bus,
            self.coordinator,
            self.notifier,
            DefaultRequestIdChecker(self.request_ids, exists),
            _VALIDATOR,
        )
        self._command_factory: CommandMessageFactory | None = None
        self._request_id_existence = request_id_existence
        self._instances: dict[type, Made] = {}
        self._extra_filters: list[NamedFilter] = []
        self._command_chain: Next | None = None
        self._command_dispatchers: dict[NamedAggregate, AggregateCommandDispatcher] = {}
        self._subscriptions: dict[NamedAggregate, Callable[[], None]] = {}
        self._event_dispatchers: dict[ProcessorKind, EventDispatcher] = {}
        self._snapshot_dispatcher: SnapshotDispatcher | None = None
        self.compensation: Compensation | None = _compensation_of(self) if compensation else None
        if catalog is not None:
            self.use(catalog)

    def _put_in(self, buses: Buses) -> None:
        self.command_bus: Any = buses.command
        self.domain_event_bus: Any = buses.domain_event
        self.state_event_bus: Any = buses.state_event

    # --- what the world holds -----------------------------------------------------------------------------------------

    def use(self, catalog: Catalog) -> None:
        """Take in every part of a catalog, in the order in which dispatchers start."""
        for metadata in catalog.aggregates.values():
            self.add_aggregate(metadata)
        for kind in PROCESSOR_ORDER:
            for processor in catalog.processors.values():
                if processor.kind is kind:
                    self.add_processor(processor)

    def add_aggregate(self, metadata: AggregateMetadata) -> None:
        """Dispatch an aggregate type's commands and state events; again is a no-op."""
        named = metadata.named
        if named in self.catalog.aggregates:
            return
        self.catalog.aggregates[named] = metadata
        dispatcher = AggregateCommandDispatcher(self._weak, metadata, self._chain())
        self._command_dispatchers[named] = dispatcher
        self._subscriptions[named] = dispatcher.prepare()
        dispatcher.start()
        self.snapshot_dispatcher.register(named)
        if self.compensation is not None:
            self.compensation.join(self)

    def unsubscribe(self, named: NamedAggregate) -> None:
        """End the subscription to an aggregate type's commands."""
        self._subscriptions[named]()

    def add_processor(self, processor: ProcessorMetadata) -> None:
        """Register a processor's functions; again is a no-op."""
        if processor.cls in self.catalog.processors:
            return
        self.catalog.processors[processor.cls] = processor
        made = self._instances.get(processor.cls)
        if made is None:
            made = self._instances[processor.cls] = make_processor(processor.cls, self.world)
        self.event_dispatcher(processor.kind).register(processor, made.instance)

    def processor(self, cls: type) -> Any:
        """The object whose functions a processor's events reach; None if the world holds no such processor."""
        made = self._instances.get(cls)
        return None if made is None else made.instance

    def part(self, owner: type | None, wanted: type) -> Any:
        """What this world supplies to a function of a class besides services; None: nothing of the type."""
        if wanted is Views and is_processor(owner):
            return self.views.of(owner)  # type: ignore[arg-type]
        if self.compensation is not None and wanted is CompensateSupporter:
            return self.compensation.supporter
        return self.prepare_keys.of(wanted)

    @staticmethod
    def listen(
        bus: Any, named: NamedAggregate, receive: Callable[..., None], consumer: str = "consumer"
    ) -> Callable[[], None]:
        """Let a dispatcher hear an aggregate type's messages on a bus; returns what ends that."""
        return listen(bus, named, receive, consumer)

    def event_dispatcher(self, kind: ProcessorKind) -> EventDispatcher:
        """The dispatcher of a kind of processor."""
        dispatcher = self._event_dispatchers.get(kind)
        if dispatcher is None:
            dispatcher = EventDispatcher(self._weak, kind, self._build(EVENT_FILTERS[kind], EVENT_DISPATCHERS[kind]))
            self._event_dispatchers[kind] = dispatcher
        return dispatcher

    def event_dispatchers(self) -> Iterator[EventDispatcher]:
        """The dispatchers of events that there are, in the order in which they start."""
        for kind in PROCESSOR_ORDER:
            if kind in self._event_dispatchers:
                yield self._event_dispatchers[kind]

    @property
    def snapshot_dispatcher(self) -> SnapshotDispatcher:
        """The snapshot branch."""
        dispatcher = self._snapshot_dispatcher
        if dispatcher is None:
            dispatcher = SnapshotDispatcher(self._weak, self._build(SNAPSHOT_FILTERS, SNAPSHOT_DISPATCHER))
            self._snapshot_dispatcher = dispatcher
        return dispatcher

    # --- the chain of filters -----------------------------------------------------------------------------------------

    def _build(self, rows: tuple[FilterRow, ...], dispatcher: str) -> Next:
        if self.compensation is None and not self._extra_filters:
            return self._link(rows)
        added = () if self.compensation is None else self.compensation.rows(dispatcher)
        own = [NamedFilter(row.name, row.order, row.make(self._weak), None) for row in (*rows, *added)]
        return build_chain([*own, *self._extra_filters], dispatcher)

    def _link(self, rows: tuple[FilterRow, ...]) -> Next:
        """The chain of these rows alone; each table of rows is sorted once, and is its own key."""
        kept = _INWARDS.get(id(rows))
        if kept is None:
            inwards = sorted_by_order(rows, lambda row: row.order, lambda row: row.name)
            kept = _INWARDS[id(rows)] = (rows, inwards[::-1])
        return link([row.make(self._weak) for row in kept[1]])

    def _chain(self) -> Next:
        chain = self._command_chain
        if chain is None:
            chain = self._build(COMMAND_FILTERS, COMMAND_DISPATCHER)
            self._command_chain = chain
        return chain

    def add_filter(self, item: NamedFilter) -> None:
        """Put a filter of the user's into the chains that it takes part in, where its order says.

        Raises:
            SpecError: once the chain is in use.
        """
        if self._command_dispatchers:
            raise SpecError(
                f"the filter {item.name} came after the command chain was built",
                why="every command of a world passes the same chain",
                instead="add filters before the first aggregate is used: world.add_filter(...) first",
            )
        self._extra_filters.append(item)
        self._command_chain = None

    @property
    def has_filters(self) -> bool:
        """Whether the user put filters into its chains."""
        return bool(self._extra_filters)

    def groups(self) -> Iterator[SerialGroups]:
        """The groups of each dispatcher: of commands and what lets them in, of events, of snapshots."""
        for dispatcher in self._command_dispatchers.values():
            yield dispatcher.groups
            yield dispatcher.intake
        for events in self._event_dispatchers.values():
            yield events.groups
            yield events.state_groups
        if self._snapshot_dispatcher is not None:
            yield self._snapshot_dispatcher.groups

    # --- branching ----------------------------------------------------------------------------------------------------

    def rebuilt_in(self, world: World, copies: dict[int, Any] | None = None) -> Runtime:
        """The same parts over another world, with copies of all that is remembered; see `branch.branch`."""
        other = Runtime(
            world,
            request_id_existence=self._request_id_existence,
            event_store=self.event_store.copy(),
            request_ids=self.request_ids.copy(world.clock),
            buses=self._bus_factory,
            compensation=self.compensation is not None,
            snapshot_offset=self.snapshot_offset,
            profile=self.world.ports,
        )
        other.snapshot_store.take_over(self.snapshot_store)
        if self._command_factory is not None:
            other.command_factory.rewriters = self._command_factory.rewriters.copy()
        other.views.take_over(self.views)
        other.prepare_keys.take_over(self.prepare_keys)
        for cls, made in self._instances.items():
            other._instances[cls] = made.moved_to(world, copies)
        for item in self._extra_filters:
            other.add_filter(item)
        other.use(self.catalog)
        for named, dispatcher in self._command_dispatchers.items():
            other._command_dispatchers[named].take_over(dispatcher)
        for kind, events in self._event_dispatchers.items():
            copied = other.event_dispatcher(kind)
            copied.on_error, copied.ended = events.on_error, events.ended
            copied.groups.copy_blocked(events.groups)
            copied.state_groups.copy_blocked(events.state_groups)
        if self._snapshot_dispatcher is not None:
            other.snapshot_dispatcher.groups.copy_blocked(self._snapshot_dispatcher.groups)
        for log, copied_log in zip(logs_of(self), logs_of(other), strict=True):
            copied_log.take_over(log)
        if self.armory is not None:
            other.armory = other.world.injector = self.armory.copy()
        return other

    # --- audit --------------------------------------------------------------------------------------------------------

    @property
    def audit(self) -> Audit | None:
        """What is remembered for the laws; None: nothing is."""
        return self._audit

    @audit.setter
    def audit(self, audit: Audit | None) -> None:
        self._audit = audit
        self.event_store.on_stored = None if audit is None else audit.on_stored

    # --- building messages --------------------------------------------------------------------------------------------

    def aggregate_of(self, cls: type) -> ConfiguredAggregate | None:
        """The aggregate that a command class belongs to, whether or not the world holds it."""
        metadata = self.catalog.for_command(cls)
        if metadata is None:
            return None
        return metadata.configured

    def context_of(self, cls: type) -> str | None:
        """The context of that aggregate."""
        found = self.aggregate_of(cls)
        return found.named.context_name if found is not None else None

    @property
    def command_factory(self) -> CommandMessageFactory:
        """Makes the messages of the commands that sagas send."""
        factory = self._command_factory
        if factory is None:
            refuse = partial(Runtime._refuse_fields, self._weak)
            factory = self._command_factory = CommandMessageFactory(self.world, refuse, scopes=self._weak)
        return factory

    def command_builder(self, body: Any) -> CommandBuilder[Any]:
        """A builder around a command body."""
        return CommandBuilder(body, self.world)

    def message(self, body: Any, **options: Any) -> CommandMessage[Any]:
        """A command message of this world (section B)."""
        return to_command_message(body, origin=self.world, scopes=self, **options)

    def _refuse_fields(self, body: Any) -> None:
        violations = self.gateway.validator.validate(body)
        if violations:
            raise CommandValidationError(body, violations)

    # --- faults -------------------------------------------------------------------------------------------------------

    def arm(self) -> Armory:
        """The world's armory; visits are counted from the first call."""
        if self.armory is None:
            self.armory = Armory()
            self.world.injector = self.armory
        return self.armory

    def arm_fault(self, fault: Fault, target: Target = None) -> ArmedFault:
        """Arm a fault that can happen in this world.

        Raises:
            SpecError: if the profile does not allow it.
        """
        require_legal(fault, self.world.ports)
        return self.arm().arm(fault, target)

    def restart(self) -> None:
        """The process dies and starts again in place; see `restarting.py`."""
        restart(self)

    def redeliver(self) -> int:
        """Deliver again what no consumer has acknowledged; how many messages: none where the buses are in memory."""
        return redeliver(self)

    def resend(self, streams: Iterable[DomainEventStream]) -> None:
        """Publish stored streams again on both buses of events, once the world moves."""
        _ = self.world.scheduler.spawn(resend(self._weak, list(streams)), "resend")


def _supply(world: World, handler: HandlerFunction, exchange: Any) -> tuple[list[Any], dict[str, Any]]:
    return arguments(handler, exchange, world)


def _compensation_of(runtime: Runtime) -> Compensation:
    # Imported here: the record of failed executions is an aggregate, and few worlds have it.
    from .downstream.compensation_filter import Compensation

    return Compensation(runtime)
