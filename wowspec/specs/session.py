"""Runs the steps of a spec on a runtime of its own: history, faults, commands.

A session belongs to one way through the tree of steps. It is branched (copied) before each command that follows
another, so that every run keeps the world that it left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..errors import IllegalArgumentError, SpecError
from ..faults.values import Fault
from ..messages.commands import to_command_message
from ..messages.envelopes import CommandMessage
from ..modeling.aggregates import AggregateMetadata, aggregate_metadata, is_aggregate
from ..modeling.commands import command_metadata
from ..modeling.identity import DEFAULT_TENANT_ID, AggregateRef, NamedAggregate
from ..runtime.audit import Audit
from ..runtime.branch import branch
from ..runtime.catalog import Catalog
from ..runtime.chain import NamedFilter
from ..runtime.snapshots import SnapshotRecord
from ..runtime.sourcing import StateAggregate, new_state_aggregate
from ..runtime.system import Runtime
from ..world.clock import VirtualClock
from ..world.profiles import IN_MEMORY, PortProfile
from ..world.world import LoggedFailure, World
from .items import CommandOptions, On
from .nodes import Node
from .refusals import unmarked_taker
from .shadows import Shadows
from .undeclared import undeclared_taker


@dataclass(frozen=True, slots=True)
class Profile:
    """What a world's ports can do.

    Attributes:
        name: name of the bus and store profile.
        request_id_existence: `store`: request ids that the filter has seen are looked up in the event store; `noop`:
            they count as existing (CMD-091, CMD-092).
        snapshot_offset: a snapshot is saved when the version is so far above the stored one's (SNP-016); None: at each
            state event (SNP-014).
        compensation: whether failed event functions are recorded, to be tried again (EVT-139).
        ports: what its bus and its stores are like, and so which faults can happen.
    """

    name: str = "in_memory"
    request_id_existence: str = "store"
    snapshot_offset: int | None = None
    compensation: bool = False
    ports: PortProfile = IN_MEMORY


@dataclass(slots=True)
class Armed:
    """Where an armed fault came from: the step of the spec, and its place there."""

    node: Node
    index: int


@dataclass(slots=True)
class Session:
    """A runtime, and what the spec's words mean in it.

    Attributes:
        runtime: the wired pipeline.
        spoken: the instance of each aggregate type that was last spoken of.
        last_named: the aggregate type that was last spoken of.
        laws_off: laws that are not checked.
        initial: snapshots that `given_state` put there, by instance.
        waiting_faults: faults to be armed when the next command is sent.
        origins: where the armory's faults came from, in its order.
        factories: make a fresh service for each copy of the world.
        looked_at: aggregate types that expectations mentioned; they need not be in the world.
        unsourced: event classes in the history that no sourcing function takes, with their aggregate root's name.
        untold: errors that were logged while history was delivered: they are told of by the next run.
        answers: if there is a list, what becomes of commands in `given` is kept there, and a failed one stops nothing.
    """

    runtime: Runtime
    spoken: dict[NamedAggregate, AggregateRef] = field(default_factory=dict)
    last_named: NamedAggregate | None = None
    laws_off: frozenset[str] = frozenset()
    initial: dict[AggregateRef, SnapshotRecord] = field(default_factory=dict)
    waiting_faults: list[tuple[Fault, Armed]] = field(default_factory=list)
    origins: list[Armed] = field(default_factory=list)
    factories: list[tuple[Callable[[], Any], str | None]] = field(default_factory=list)
    shadows: Shadows = field(default_factory=Shadows)
    unsourced: dict[type, str] = field(default_factory=dict)
    untold: list[LoggedFailure] = field(default_factory=list)
    looked_at: dict[NamedAggregate, AggregateMetadata] = field(default_factory=dict)
    answers: list[tuple[CommandMessage[Any], BaseException | None]] | None = None

    def branch(self, *, isolated: bool = False) -> Session:
        """An independent copy, with fresh services from the factories.

        Args:
            isolated: whether it gets copies of the other services and of the processors too, which branches share.

        Raises:
            SpecError: for a service that cannot be copied.
        """
        fresh = [(factory(), name) for factory, name in self.factories]
        copies = self._replaced(fresh) if isolated else None
        other = Session(
            branch(self.runtime, copies),
            dict(self.spoken),
            self.last_named,
            self.laws_off,
            dict(self.initial),
            list(self.waiting_faults),
            list(self.origins),
            list(self.factories),
            self.shadows.copy(),
            dict(self.unsourced),
            list(self.untold),
        )
        other.runtime.audit = Audit()
        for service, name in fresh:
            other.provide(service, name)
        return other

    def _replaced(self, fresh: list[tuple[Any, str | None]]) -> dict[int, Any]:
        """What takes the place of the services that factories made, by identity."""
        services = self.world.services
        copies: dict[int, Any] = {}
        for service, name in fresh:
            old = services.by_name(name) if name is not None else services.by_type(type(service))
            if old is not None:
                copies[id(old)] = service
        return copies

    @property
    def world(self) -> World:
        """The runtime's world."""
        return self.runtime.world

    def take_untold(self) -> list[LoggedFailure]:
        """The errors that were logged while history was delivered; a run that tells of them takes them."""
        untold, self.untold = self.untold, []
        return untold

    # --- what the world holds -----------------------------------------------------------------------------------------

    def provide(self, service: Any, name: str | None = None) -> None:
        """Register a service, by its type and by a name."""
        self.world.services.register(service, name=name)

    def speak_of(self, reference: AggregateRef) -> None:
        """Remember an instance as the one last spoken of."""
        named = self.last_named
        if named is not None and self.spoken.get(named) is reference:
            return
        named = reference.named_aggregate
        self.spoken[named] = reference
        if named in self.runtime.catalog.aggregates:
            self.last_named = named

    def metadata_of(self, named: NamedAggregate) -> AggregateMetadata:
        """The metadata of an aggregate type that the world holds, or that was looked at."""
        return self.runtime.catalog.aggregates.get(named) or self.looked_at[named]

    def use_aggregate(self, cls: type) -> AggregateMetadata:
        """Let an aggregate type join the world."""
        metadata = aggregate_metadata(cls)
        self.runtime.add_aggregate(metadata)
        return metadata

    def reference(self, target: On) -> AggregateRef:
        """The instance that `on(T, id)` means; without a tenant, the type's own, or the one last spoken of."""
        return self._instance_of(self.use_aggregate(target.aggregate), target)

    def look_at(self, target: On) -> AggregateRef:
        """As `reference`, for an expectation: what has happened is not changed by it, so the type does not join."""
        metadata = aggregate_metadata(target.aggregate)
        self.looked_at[metadata.named] = metadata
        return self._instance_of(metadata, target)

    def _instance_of(self, metadata: AggregateMetadata, target: On) -> AggregateRef:
        tenant = target.options.tenant_id
        return self.reference_in(metadata.named, target.id, metadata.static_tenant_id if tenant is None else tenant)

    def reference_in(self, named: NamedAggregate, text: str, tenant_id: str | None) -> AggregateRef:
        """An instance of an aggregate type."""
        if tenant_id is None:
            spoken = self.spoken.get(named)
            tenant_id = spoken.tenant_id if spoken is not None and spoken.id == text else DEFAULT_TENANT_ID
        return AggregateRef(named.context_name, named.aggregate_name, text, tenant_id)

    # --- commands -----------------------------------------------------------------------------------------------------

    def aggregate_of_command(self, command_class: type) -> AggregateMetadata:
        """The aggregate type that a command goes to.

        Raises:
            SpecError: if nothing says so.
        """
        found = self.runtime.catalog.for_command(command_class)
        if found is not None:
            self.runtime.add_aggregate(found)
            return found
        if is_aggregate(command_class):
            raise SpecError(
                f"{command_class.__name__} is an aggregate root, not a command",
                why="when(...) sends a command",
                instead=f"spec({command_class.__name__}).given(...).when(SomeCommand(...))",
            )
        if self.last_named is not None and _is_built_in(command_class):
            return self.metadata_of(self.last_named)
        name = command_class.__name__
        if _is_built_in(command_class):
            raise SpecError(
                f"{name} has no target aggregate",
                why="a built-in command belongs to every aggregate, and none was spoken of before it",
                instead=f"given(on(Order, 'o-1', ...)).when({name}()), or spec(Order).given(...).when({name}())",
            )
        base = next((cls for cls in command_class.__mro__[1:] if self.runtime.catalog.for_command(cls)), None)
        why = "a command goes to the aggregate whose command function takes it, or that mounts it"
        if base is not None:
            why = f"functions are found by the exact class: one that takes its base {base.__name__} does not take it"
        unmarked = unmarked_taker(command_class, self.runtime.catalog.aggregates.values())
        if unmarked is not None:
            raise SpecError(
                f"no aggregate handles the command {name}",
                why=f"{unmarked} takes one, but nothing says that it is a command function",
                instead=f"@on_command above {unmarked}",
            )
        undeclared = undeclared_taker(command_class)
        if undeclared is not None:
            cls, function = undeclared
            raise SpecError(
                f"no aggregate handles the command {name}",
                why=f"{function} takes it, but nothing says that {cls} is an aggregate root",
                instead=f'@aggregate_root(context="...") above class {cls}',
            )
        raise SpecError(
            f"no aggregate handles the command {name}",
            why=why,
            instead=f"@on_command def handle(self, command: {name}) -> ... in an aggregate root, or "
            f"@aggregate_root(commands=[{name}])",
        )

    def target_of(self, body: Any, options: CommandOptions, metadata: AggregateMetadata) -> str | None:
        """The id that a command will have: the body's own, the option's, else the instance last spoken of."""
        command_class = type(body)
        getter = command_metadata(command_class).aggregate_id
        own = getter(body) if getter is not None else None
        if own is not None:
            return own  # type: ignore[no-any-return]
        if options.aggregate_id is not None:
            return options.aggregate_id
        spoken = self.spoken.get(metadata.named)
        return spoken.id if spoken is not None else None

    def message(self, body: Any, options: CommandOptions) -> CommandMessage[Any]:
        """The command message of a body, with what the spec says beside it."""
        metadata = self.aggregate_of_command(type(body))
        target = self.target_of(body, options, metadata)
        tenant_id = options.tenant_id
        if tenant_id is None and target is not None:
            spoken = self.spoken.get(metadata.named)
            if spoken is not None and spoken.id == target and spoken.tenant_id != DEFAULT_TENANT_ID:
                tenant_id = spoken.tenant_id
        try:
            message = to_command_message(
                body,
                origin=self.runtime.world,
                scopes=self.runtime,
                named_aggregate=metadata.named,
                aggregate_id=target,
                tenant_id=tenant_id if tenant_id is not None else metadata.static_tenant_id,
                owner_id=options.owner_id,
                space_id=options.space_id,
                request_id=options.request_id,
                aggregate_version=options.expected_version,
                header=options.header,
            )
        except IllegalArgumentError as error:
            raise SpecError(
                f"{type(body).__name__} makes no command message: {error}",
                why="the gateway sends an envelope, which says which aggregate the command is for",
                instead="mend the command class, or pass the option, such as when(..., aggregate_id='o-1')",
            ) from error
        self.speak_of(message.aggregate_id)
        return message

    # --- state --------------------------------------------------------------------------------------------------------

    def replay(self, reference: AggregateRef, before: str = "") -> StateAggregate:
        """The state aggregate as its stored streams say, from the snapshot of `given_state` where there is one.

        Args:
            reference: the instance.
            before: id of a command: its stream, and those that follow, are left out.

        Raises:
            Exception: what a sourcing function raises.
        """
        return self._sourced(reference, self.initial.get(reference), before)

    def loaded(self, reference: AggregateRef) -> StateAggregate:
        """The state aggregate as a command would find it: its latest snapshot, then the streams that follow.

        Raises:
            Exception: what a sourcing function raises.
        """
        return self._sourced(reference, self.runtime.snapshot_store.record(reference))

    def _sourced(self, reference: AggregateRef, start: SnapshotRecord | None, before: str = "") -> StateAggregate:
        if start is None:
            aggregate = new_state_aggregate(self.metadata_of(reference.named_aggregate).state, reference)
        else:
            aggregate = self.runtime.snapshot_store.restored(start)
        for stream in self.runtime.event_store.load_now(reference, aggregate.expected_next_version):
            if before and stream.command_id == before:
                break
            aggregate.on_sourcing(stream)
        return aggregate


def _is_built_in(cls: type) -> bool:
    return any(base.__module__ == "wowspec.modeling.builtin" for base in cls.__mro__)


def new_session(
    parts: Iterable[Any],
    profile: Profile,
    start_nanos: int | None = None,
    *,
    filters: Iterable[NamedFilter] = (),
    prepare: Iterable[Callable[[Session], None]] = (),
) -> Session:
    """A session over a fresh world that holds these parts.

    Args:
        parts: aggregates and processors.
        profile: what its ports can do.
        start_nanos: when its time begins.
        filters: filters of the user's; the chain is built when the first aggregate joins.
        prepare: done before any part joins: a processor's constructor may ask for services.
    """
    clock = VirtualClock() if start_nanos is None else VirtualClock(start_nanos)
    runtime = Runtime(
        World(clock=clock),
        request_id_existence=profile.request_id_existence,
        snapshot_offset=profile.snapshot_offset,
        compensation=profile.compensation,
        profile=profile.ports,
    )
    runtime.audit = Audit()
    session = Session(runtime)
    for item in filters:
        runtime.add_filter(item)
    for step in prepare:
        step(session)
    catalog = Catalog()
    for part in parts:
        catalog.add(part)
    runtime.use(catalog)
    return session
