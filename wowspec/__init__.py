"""Given/when/expect specs for event-sourced aggregates, over a faithful in-memory model of the Wow command pipeline.

Public names are loaded at first use (PEP 562), so that `import wowspec` costs nothing to those who don't use it. A new
public name is added twice, to `_MODULES` and to the imports for type checkers; a test compares the two.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
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
        SourcingVersionConflictError as SourcingVersionConflictError,
        SpecError as SpecError,
        SpecFailure as SpecFailure,
    )
    from .modeling.identity import AggregateRef as AggregateRef

_MODULES: Final[dict[str, tuple[str, ...]]] = {
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
        "SourcingVersionConflictError",
        "SpecError",
        "SpecFailure",
    ),
    ".modeling.identity": ("AggregateRef",),
}

#: Public name → the module that defines it.
_EXPORTS: Final[dict[str, str]] = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(module, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})
