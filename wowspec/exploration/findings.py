"""What exploration finds: a plan under which laws break, how it heals, whether the runtime is known for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..faults.plans import Plan
from .run_laws import RUN_LAW_BY_NAME, Broken


class RecoveryClass(StrEnum):
    """How a run under faults came out all right, or what would make it so."""

    MASKED = "masked"
    RETRIED = "retried"
    REDELIVERED = "redelivered"
    COMPENSATED = "compensated"
    #: A command failed, whoever waited for it was told, and no law broke.
    FAILED = "failed honestly"
    HEALED = "healed"
    #: A law broke, as it does for the witness: due to nobody's domain.
    KNOWN = "known to the runtime"
    NEVER = "never heals"


@dataclass(slots=True)
class Finding:
    """A plan under which laws break.

    Attributes:
        plan: the plan, minimal.
        broken: the laws, with what is wrong.
        known: names of those of them that break at the same point and kind for a witness domain.
        left_behind: whether all that broke is a condition that would hold had the commands that failed never been sent:
            they stored nothing, and left something behind all the same, which is nothing that the runtime does.
        healed_by: name of the first recovery after which they hold; empty: none of those tried.
        would_heal: name of the recovery that would make them hold for the witness, if anybody asked; empty: none.
        tried: names of the recoveries that were tried.
    """

    plan: Plan
    broken: list[Broken]
    known: frozenset[str] = frozenset()
    left_behind: bool = False
    healed_by: str = ""
    would_heal: str = ""
    tried: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def laws(self) -> list[str]:
        """Names of the broken laws."""
        return [broken.law for broken in self.broken]

    @property
    def due_to_domain(self) -> list[Broken]:
        """What the runtime is not known for."""
        return [broken for broken in self.broken if broken.law not in self.known]

    @property
    def is_known(self) -> bool:
        """Whether everything in it is known to the runtime."""
        return not self.due_to_domain

    @property
    def titles(self) -> str:
        """The broken laws by their titles."""
        return ", ".join(RUN_LAW_BY_NAME[law].title for law in self.laws)

    @property
    def class_text(self) -> str:
        """The recovery class, as reports say it."""
        if self.healed_by:
            return f"healed by {self.healed_by}"
        said = [f"tried: {', '.join(self.tried)}"] if self.tried else []
        said += [f"{self.would_heal} would heal it"] if self.would_heal else []
        return f"never heals ({'; '.join(said)})" if said else "never heals"
