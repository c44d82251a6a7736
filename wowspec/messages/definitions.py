"""Aggregate roots and deciders as they are exported: what they say, store and remember is checked for JSON at once.

`modeling` knows no JSON. It runs the checks that stand in its `CHECKS`; importing this module puts one there.
"""

from __future__ import annotations

from typing import Final

from ..modeling.aggregates import CHECKS, AggregateMetadata, aggregate_root
from ..modeling.builtin import BUILT_IN_COMMANDS
from ..modeling.deciders import decider
from ..modeling.functions import Namespace
from .codec import check_serializable

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

_BUILT_IN: Final = frozenset(cls for row in BUILT_IN_COMMANDS for cls in (row.command, row.event))


def check_messages(metadata: AggregateMetadata, namespace: Namespace) -> None:
    """Refuse an aggregate root one of whose events or commands, or whose state, has no JSON.

    What cannot be looked at yet is refused where it is first written.

    Raises:
        DefinitionError: naming the class, and the field that has no JSON.
    """
    for cls in (*metadata.events, *metadata.commands, metadata.state_class):
        if cls not in _BUILT_IN:
            check_serializable(cls, namespace)


CHECKS.append(check_messages)

__all__ = ["aggregate_root", "check_messages", "decider"]
