"""The scopes of a domain that is declared with decorators: a class belongs to the aggregate that handles it."""

from __future__ import annotations

from typing import Final

from . import claims
from .configuration import ConfiguredAggregate

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

_CONFIGURED: Final = "__wowspec_configured__"


class DeclaredScopes:
    """A command belongs to the aggregate that handles or mounts it, an event to the one that returns or sources it."""

    __slots__ = ()

    def aggregate_of(self, cls: type) -> ConfiguredAggregate | None:
        """The declared aggregate, or None.

        Raises:
            SpecError: if several aggregates handle the command.
        """
        root = claims.aggregate_of_command(cls) or claims.aggregate_of_event(cls)
        if root is None:
            return None
        configured: ConfiguredAggregate | None = root.__dict__.get(_CONFIGURED)
        return configured or _configured(root)

    def context_of(self, cls: type) -> str | None:
        """The context of the declared aggregate, or None."""
        found = self.aggregate_of(cls)
        return found.named.context_name if found else None


def _configured(root: type) -> ConfiguredAggregate:
    from .aggregates import aggregate_metadata

    metadata = aggregate_metadata(root)
    configured = metadata.configured
    type.__setattr__(root, _CONFIGURED, configured)
    return configured


DECLARED: Final = DeclaredScopes()
