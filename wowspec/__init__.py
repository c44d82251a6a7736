"""Given/when/expect specs for event-sourced aggregates, over a faithful in-memory model of the Wow command pipeline.

Public names are loaded at first use (PEP 562), so that `import wowspec` costs nothing to those who don't use it. A new
public name is added twice, to `_MODULES` and to the imports for type checkers; a test compares the two.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from . import faults as faults
    from .error_policy import recoverable as recoverable
    from .errors import (
        CommandExpectVersionConflictError as CommandExpectVersionConflictError,
        CommandResultError as CommandResultError,
        CommandValidationError as CommandValidationError,
        DeadlineExceeded as DeadlineExceeded,
        DefinitionError as DefinitionError,
        DomainError as DomainError,
        DuplicateAggregateIdError as DuplicateAggregateIdError,
        DuplicateRequestIdError as DuplicateRequestIdError,
        EventVersionConflictError as EventVersionConflictError,
        IllegalAccessDeletedAggregateError as IllegalAccessDeletedAggregateError,
        IllegalAccessOwnerAggregateError as IllegalAccessOwnerAggregateError,
        IllegalAccessSpaceAggregateError as IllegalAccessSpaceAggregateError,
        IllegalStateError as IllegalStateError,
        InjectedFault as InjectedFault,
        ModelError as ModelError,
        NotFoundError as NotFoundError,
        PlanNotReached as PlanNotReached,
        ProcessCrash as ProcessCrash,
        SourcingVersionConflictError as SourcingVersionConflictError,
        SpecError as SpecError,
        SpecFailure as SpecFailure,
    )
    from .exploration.decorator import explore_faults as explore_faults
    from .faults.values import (
        Fault as Fault,
    )
    from .generation import strategies as strategies
    from .generation.machines import state_machine as state_machine
    from .generation.orderings import failure_orderings as failure_orderings
    from .generation.strategies import commands as commands, histories as histories
    from .messages.commands import (
        CommandBuilder as CommandBuilder,
        command_builder as command_builder,
    )
    from .messages.definitions import aggregate_root as aggregate_root, decider as decider
    from .messages.envelopes import (
        CommandMessage as CommandMessage,
        DomainEvent as DomainEvent,
        DomainEventStream as DomainEventStream,
        StateEvent as StateEvent,
    )
    from .messages.exchange import (
        CommandResultAccessor as CommandResultAccessor,
        DomainEventExchange as DomainEventExchange,
        ServerCommandExchange as ServerCommandExchange,
        StateDomainEventExchange as StateDomainEventExchange,
        StateEventExchange as StateEventExchange,
    )
    from .messages.header import (
        Header as Header,
    )
    from .messages.stages import (
        EVENT_HANDLED as EVENT_HANDLED,
        PROCESSED as PROCESSED,
        PROJECTED as PROJECTED,
        SAGA_HANDLED as SAGA_HANDLED,
        SENT as SENT,
        SNAPSHOT as SNAPSHOT,
        CommandStage as CommandStage,
    )
    from .messages.wait_plans import (
        chain as chain,
        event_handled as event_handled,
        processed as processed,
        projected as projected,
        saga_handled as saga_handled,
        sent as sent,
        snapshot as snapshot,
    )
    from .messages.wait_signals import (
        CommandResult as CommandResult,
    )
    from .modeling.annotations import (
        AggregateId as AggregateId,
        AggregateName as AggregateName,
        AggregateVersion as AggregateVersion,
        Name as Name,
        OwnerId as OwnerId,
        SpaceId as SpaceId,
        TenantId as TenantId,
        allow_create as allow_create,
        blocking as blocking,
        carries as carries,
        combine as combine,
        create_aggregate as create_aggregate,
        event as event,
        name as name,
        order as order,
        retry as retry,
        static_aggregate_id as static_aggregate_id,
        static_tenant_id as static_tenant_id,
        void_command as void_command,
    )
    from .modeling.builtin import (
        AggregateDeleted as AggregateDeleted,
        AggregateRecovered as AggregateRecovered,
        ApplyResourceTags as ApplyResourceTags,
        DeleteAggregate as DeleteAggregate,
        IgnoreSourcing as IgnoreSourcing,
        OwnerTransferred as OwnerTransferred,
        RecoverAggregate as RecoverAggregate,
        ResourceTagsApplied as ResourceTagsApplied,
        SelfNamed as SelfNamed,
        SpaceTransferred as SpaceTransferred,
    )
    from .modeling.decorators import (
        after_command as after_command,
        on_command as on_command,
        on_error as on_error,
        on_event as on_event,
        on_sourcing as on_sourcing,
        on_state_event as on_state_event,
    )
    from .modeling.identity import (
        AggregateRef as AggregateRef,
        NamedAggregate as NamedAggregate,
    )
    from .modeling.ordering import Order as Order
    from .modeling.phrasing import phrase as phrase
    from .modeling.processors import (
        Context as Context,
        event_processor as event_processor,
        projection as projection,
        stateless_saga as stateless_saga,
    )
    from .modeling.states import (
        StateAggregateAware as StateAggregateAware,
        TagsExtractor as TagsExtractor,
        VersionAware as VersionAware,
    )
    from .preconditions import check as check, require_found as require_found
    from .runtime.chain import Filter as Filter
    from .runtime.downstream.execution_failed import (
        ExecutionFailed as ExecutionFailed,
        PrepareCompensation as PrepareCompensation,
    )
    from .runtime.downstream.views import Views as Views
    from .runtime.facts import ReadOnlyStateAggregate as ReadOnlyStateAggregate
    from .runtime.fault_points import FaultPoints as FaultPoints, fault_point as fault_point
    from .runtime.prepare import (
        PreparedValue as PreparedValue,
        PrepareKey as PrepareKey,
        preparable_key as preparable_key,
    )
    from .runtime.validation import (
        CommandValidator as CommandValidator,
    )
    from .specs.builder import Spec as Spec, given as given, spec as spec
    from .specs.facts import Facts as Facts
    from .specs.gateway import Gateway as Gateway
    from .specs.items import (
        advance as advance,
        at as at,
        command_of as command_of,
        on as on,
        sent_as as sent_as,
        stream as stream,
    )
    from .specs.matchers import ANY_EVENTS as ANY_EVENTS, any_of as any_of, some as some, unordered as unordered
    from .specs.profiles import profile as profile
    from .specs.run import Run as Run
    from .specs.world_view import WorldView as WorldView
    from .world.user_clock import (
        Clock as Clock,
    )

_MODULES: Final[dict[str, tuple[str, ...]]] = {
    ".messages.definitions": ("aggregate_root", "decider"),
    ".exploration.decorator": ("explore_faults",),
    ".runtime.chain": ("Filter",),
    ".runtime.downstream.views": ("Views",),
    ".runtime.fault_points": ("FaultPoints", "fault_point"),
    ".runtime.facts": ("ReadOnlyStateAggregate",),
    ".runtime.prepare": ("PrepareKey", "PreparedValue", "preparable_key"),
    ".modeling.ordering": ("Order",),
    ".modeling.phrasing": ("phrase",),
    ".messages.wait_plans": ("chain", "event_handled", "processed", "projected", "saga_handled", "sent", "snapshot"),
    ".specs.run": ("Run",),
    ".specs.world_view": ("WorldView",),
    ".specs.facts": ("Facts",),
    ".specs.gateway": ("Gateway",),
    ".specs.matchers": ("ANY_EVENTS", "any_of", "some", "unordered"),
    ".specs.items": ("advance", "at", "command_of", "on", "sent_as", "stream"),
    ".specs.builder": ("Spec", "given", "spec"),
    ".specs.profiles": ("profile",),
    ".error_policy": ("recoverable",),
    ".errors": (
        "CommandExpectVersionConflictError",
        "CommandResultError",
        "CommandValidationError",
        "DeadlineExceeded",
        "DefinitionError",
        "DomainError",
        "DuplicateAggregateIdError",
        "DuplicateRequestIdError",
        "EventVersionConflictError",
        "IllegalAccessDeletedAggregateError",
        "IllegalAccessOwnerAggregateError",
        "IllegalAccessSpaceAggregateError",
        "IllegalStateError",
        "InjectedFault",
        "ModelError",
        "NotFoundError",
        "PlanNotReached",
        "ProcessCrash",
        "SourcingVersionConflictError",
        "SpecError",
        "SpecFailure",
    ),
    ".faults.values": ("Fault",),
    ".generation": ("strategies",),
    ".generation.machines": ("state_machine",),
    ".generation.orderings": ("failure_orderings",),
    ".generation.strategies": ("commands", "histories"),
    ".messages.commands": (
        "CommandBuilder",
        "command_builder",
    ),
    ".messages.envelopes": (
        "CommandMessage",
        "DomainEvent",
        "DomainEventStream",
        "StateEvent",
    ),
    ".messages.exchange": (
        "CommandResultAccessor",
        "DomainEventExchange",
        "ServerCommandExchange",
        "StateDomainEventExchange",
        "StateEventExchange",
    ),
    ".messages.header": ("Header",),
    ".messages.stages": ("CommandStage", "EVENT_HANDLED", "PROCESSED", "PROJECTED", "SAGA_HANDLED", "SENT", "SNAPSHOT"),
    ".messages.wait_signals": ("CommandResult",),
    ".modeling.annotations": (
        "AggregateId",
        "AggregateName",
        "AggregateVersion",
        "Name",
        "OwnerId",
        "SpaceId",
        "TenantId",
        "allow_create",
        "blocking",
        "carries",
        "combine",
        "create_aggregate",
        "event",
        "name",
        "order",
        "retry",
        "static_aggregate_id",
        "static_tenant_id",
        "void_command",
    ),
    ".modeling.builtin": (
        "AggregateDeleted",
        "AggregateRecovered",
        "ApplyResourceTags",
        "DeleteAggregate",
        "IgnoreSourcing",
        "OwnerTransferred",
        "RecoverAggregate",
        "ResourceTagsApplied",
        "SelfNamed",
        "SpaceTransferred",
    ),
    ".modeling.decorators": (
        "after_command",
        "on_command",
        "on_error",
        "on_event",
        "on_sourcing",
        "on_state_event",
    ),
    ".modeling.identity": (
        "AggregateRef",
        "NamedAggregate",
    ),
    ".modeling.processors": (
        "Context",
        "event_processor",
        "projection",
        "stateless_saga",
    ),
    ".modeling.states": (
        "StateAggregateAware",
        "TagsExtractor",
        "VersionAware",
    ),
    ".preconditions": ("check", "require_found"),
    ".runtime.downstream.execution_failed": ("ExecutionFailed", "PrepareCompensation"),
    ".runtime.validation": ("CommandValidator",),
    ".world.user_clock": ("Clock",),
}

#: Public name → the module that defines it.
_EXPORTS: Final[dict[str, str]] = {name: module for module, names in _MODULES.items() for name in names}

#: A type checker finds the names in the imports above.
if not TYPE_CHECKING:
    __all__ = ["faults", *_EXPORTS]  # noqa: PLE0604 - the names of the table


def __getattr__(name: str) -> Any:
    if name == "faults":
        return import_module(".faults", __name__)
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(module, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), "faults", *_EXPORTS})
