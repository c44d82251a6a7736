"""Runs commands on a plain runtime with an audit, and asks the laws after each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from wowspec.faults.values import Fault
from wowspec.messages.envelopes import DomainEvent, DomainEventStream
from wowspec.messages.header import Header
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_plans import wait_for_stage
from wowspec.modeling.aggregates import aggregate_metadata
from wowspec.modeling.events import event_metadata
from wowspec.modeling.identity import AggregateRef
from wowspec.runtime.audit import Audit
from wowspec.runtime.branch import branch
from wowspec.runtime.catalog import catalog_of
from wowspec.runtime.snapshots import Snapshot, SnapshotRecord
from wowspec.runtime.sourcing import aggregate_of_state
from wowspec.runtime.system import Runtime
from wowspec.specs.laws import Breach, Shadows, check_laws
from wowspec.world.world import World


class Bench:
    """One runtime and its laws.

    Attributes:
        runtime: with an audit.
        error: of the last command, or None.
        initial: what `given_state` put there.
    """

    def __init__(self, root: type, *others: type) -> None:
        self.metadata = aggregate_metadata(root)
        self.runtime = Runtime(World(), catalog=catalog_of([root, *others]))
        self.runtime.audit = Audit()
        self.shadows = Shadows()
        self.initial: dict[AggregateRef, SnapshotRecord] = {}
        self.error: BaseException | None = None

    @property
    def audit(self) -> Audit:
        """The runtime's audit."""
        audit = self.runtime.audit
        assert audit is not None
        return audit

    def fork(self) -> Bench:
        """A copy that goes its own way."""
        other = object.__new__(Bench)
        other.metadata = self.metadata
        other.runtime = branch(self.runtime)
        other.runtime.audit = Audit()
        other.shadows = self.shadows.copy()
        other.initial = dict(self.initial)
        other.error = None
        return other

    def ref(self, text: str = "1") -> AggregateRef:
        """An instance."""
        named = self.metadata.named
        return AggregateRef(named.context_name, named.aggregate_name, text)

    def given(self, *bodies: Any, version: int | None = None, aggregate_id: str = "1", owner_id: str = "") -> None:
        """Store one stream; nobody is told."""
        world, store, ref = self.runtime.world, self.runtime.event_store, self.ref(aggregate_id)
        number = version if version is not None else store.head_version(ref) + 1
        command_id, count = world.next_id(), len(bodies)
        events = [
            DomainEvent(
                world.next_id(), body, ref, number, event_metadata(type(body)).name, command_id, Header(),
                index, index == count, owner_id=owner_id,
            )
            for index, body in enumerate(bodies, 1)
        ]  # fmt: skip
        store.append_now(DomainEventStream(world.next_id(), command_id, Header(), tuple(events)))

    def given_state(self, state: Any, version: int) -> None:
        """Start from a snapshot."""
        aggregate = aggregate_of_state(self.metadata.state, self.metadata.named, state)
        aggregate.version = version
        store = self.runtime.snapshot_store
        store.save_now(Snapshot(aggregate, 0))
        record = store.record(aggregate.aggregate_id)
        assert record is not None
        self.initial[aggregate.aggregate_id] = record

    def send(self, body: Any, *faults: Fault, **options: Any) -> None:
        """One step: a command, and all that follows."""
        runtime = self.runtime
        self.audit.begin_step()
        for fault in faults:
            runtime.arm().arm(fault)
        message = runtime.message(body, **options)
        gateway, scheduler = runtime.gateway, runtime.world.scheduler
        if message.is_void:
            task: Any = scheduler.spawn(gateway.send(message), "when")
        else:
            plan = wait_for_stage(CommandStage.PROCESSED).plan(message.id)
            task = scheduler.spawn(gateway.send_and_wait(message, plan), "when")
        scheduler.run()
        self.error = task.error

    def laws(self, off: Iterable[str] = ()) -> list[Breach]:
        """What the step broke."""
        initial: Mapping[AggregateRef, SnapshotRecord] = self.initial
        return check_laws(self.runtime, frozenset(off), self.shadows, initial)

    def when(self, body: Any, *faults: Fault, off: Iterable[str] = (), **options: Any) -> list[Breach]:
        """One step, and what it broke."""
        self.send(body, *faults, **options)
        return self.laws(off)

    def breaks(self, body: Any, *faults: Fault, off: Iterable[str] = ()) -> tuple[str, str]:
        """Name and text of the one law that a step breaks."""
        (breach,) = self.when(body, *faults, off=off)
        return breach.law, breach.text
