"""What a user says of an exploration: how deep, where, with which recoveries, and what is declared to be right."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import SpecError
from ..faults.plans import Plan
from ..specs.parts import profile_of
from ..specs.session import Profile
from ..world.points import FaultKind
from ..world.profiles import PortProfile, legal_kinds
from .addresses import Selection
from .budget import until
from .enumeration import Bounds
from .recoveries import RECOVERY_BY_NAME, Recovery, recoveries_of
from .run_laws import RUN_LAW_BY_NAME, require_run_law
from .trial import Allowances
from .witness import ports_of


@dataclass(frozen=True, slots=True)
class Declared:
    """A finding that its author knows of: `plan → law`.

    Attributes:
        plan: the plan, canonically written.
        law: name of the law.
    """

    plan: str
    law: str

    def __str__(self) -> str:
        return f"{self.plan} → {self.law}"

    @staticmethod
    def parse(text: str) -> tuple[Declared, ...]:
        """Read a plan and the laws that break under it, by their names or titles: `plan → law, law`.

        Raises:
            SpecError: if it cannot be read.
        """
        said: Any = text
        plan, arrow, law = said.rpartition("→") if isinstance(said, str) else ("", "", "")
        if not arrow:
            plan, arrow, law = said.rpartition("->") if isinstance(said, str) else ("", "", "")
        if not arrow:
            raise SpecError(
                f"the declared finding {text!r} says no law",
                why="a finding is a plan and the law that breaks under it",
                instead=f"{str(text).strip() or 'plan'} → publication",
            )
        titles = {row.title: row.name for row in RUN_LAW_BY_NAME.values()}
        names = [name.strip() for name in law.split(",")]
        laws = [require_run_law(titles.get(name, name.replace(" ", "_"))) for name in names]
        return tuple(Declared(str(Plan.parse(plan)), one) for one in laws)


@dataclass(frozen=True, slots=True)
class Settings:
    """All of it.

    Attributes:
        depth: how many faults a plan has at most; 0: only the plans of `examples`.
        selection: which points and kinds.
        max_runs: how many runs each spec gets at most.
        max_seconds: how long each spec is explored at most, in real seconds.
        profile: in place of the spec's own.
        recovery: names of the recoveries that the application has; None: what the profile's runtime does.
        allowed: what is declared to be right.
        expected: declared findings.
        examples: plans that are run in any case, and first.
        tells_known: whether reports are made of what the runtime is known for, too.
        shard: which of the plans are run: (i, n) for the i-th of n parts.
        draws: whether findings keep the stories of their runs, since a report will draw them.
    """

    depth: int = 1
    selection: Selection = field(default_factory=Selection)
    max_runs: int | None = None
    max_seconds: float | None = None
    profile: Profile | None = None
    recovery: tuple[str, ...] | None = None
    allowed: Allowances = field(default_factory=Allowances)
    expected: tuple[Declared, ...] = ()
    examples: tuple[Plan, ...] = ()
    shard: tuple[int, int] = (1, 1)
    tells_known: bool = False
    draws: bool = False

    def would_find(self, declared: Declared, ports: PortProfile) -> bool:
        """Whether a declared finding's plan is among those that are run: by its depth, points, kinds and profile."""
        plan = Plan.parse(declared.plan)
        return len(plan) <= self.depth and all(
            self.selection.takes_point(fault.address.point)
            and self.selection.takes_kind(fault.kind)
            and fault.kind in legal_kinds(fault.address.point, ports)
            for fault in plan
        )

    def bounds(self) -> Bounds:
        """How far to go, from now on."""
        return Bounds(self.depth, self.max_runs, None if self.max_seconds is None else until(self.max_seconds))

    def recoveries(self, profile: Profile) -> tuple[Recovery, ...]:
        """What is tried after something broke."""
        return recoveries_of(self.recovery, ports_of(profile))

    def keeps(self, place: int) -> bool:
        """Whether a plan is in this shard, by its place among those of its depth."""
        part, parts = self.shard
        return place % parts == part - 1

    def with_example(self, plan: Plan) -> Settings:
        """The same, and one plan more that is run in any case."""
        return replace(self, examples=(plan, *self.examples))


def settings(
    *,
    depth: int = 1,
    points: Iterable[str] | None = None,
    kinds: Iterable[FaultKind | str] | None = None,
    max_runs: int | None = None,
    max_seconds: float | None = None,
    profile: Profile | str | None = None,
    recovery: str | Iterable[str] | None = None,
    expected: Iterable[str] = (),
    ambiguous: Iterable[type[BaseException]] = (),
    alternatives: Iterable[type] = (),
    without_laws: Iterable[str] = (),
    shard: tuple[int, int] = (1, 1),
) -> Settings:
    """Settings as a user says them.

    Raises:
        SpecError: for what makes no sense.
    """
    if type(depth) is not int or depth < 0:
        raise SpecError(
            f"depth={depth!r}",
            why="it says how many faults strike in one run at most",
            instead="depth=1, or depth=2 for every pair",
        )
    for name, value in (("max_runs", max_runs), ("max_seconds", max_seconds)):
        said_value: Any = value
        # What is no number is not larger than anything either.
        if said_value is not None and (type(said_value) not in (int, float) or not 0 < said_value < math.inf):
            raise SpecError(f"{name}={value!r}", why="it bounds how much is explored", instead=f"{name}=1000, or None")
    said = None if recovery is None else (recovery,) if isinstance(recovery, str) else tuple(recovery)
    for name in said or ():
        recoveries_of(name, ports_of(Profile()))
    return Settings(
        depth,
        Selection.of(points, kinds),
        max_runs,
        max_seconds,
        None if profile is None else profile_of(profile),
        said,
        Allowances(tuple(ambiguous), tuple(alternatives), frozenset(map(require_run_law, _texts(without_laws)))),
        tuple(one for text in _texts(expected) for one in Declared.parse(text)),
        (),
        shard,
    )


def _texts(said: Iterable[str]) -> Iterable[str]:
    return (said,) if isinstance(said, str) else said


def shard_of(text: str | None) -> tuple[int, int]:
    """Read `--wowspec-shard`; the whole is the first of one part.

    Raises:
        SpecError: if it cannot be read.
    """
    if text is None:
        return 1, 1
    part, slash, parts = text.partition("/")
    if not slash or not part.isdecimal() or not parts.isdecimal() or not 1 <= int(part) <= int(parts):
        raise SpecError(
            f"--wowspec-shard={text}",
            why="it says which part is run here, of how many",
            instead="--wowspec-shard=1/4",
        )
    return int(part), int(parts)


def percentage(flag: str, value: float | None) -> float | None:
    """A bound in percent, as an option says it.

    Raises:
        SpecError: for one that nothing, or everything, would be below.
    """
    if value is not None and not 0 <= value <= 100:
        raise SpecError(
            f"{flag}={value:g}",
            why="it is a percentage, and what is measured lies between 0 and 100",
            instead=f"{flag}=80",
        )
    return value


def in_shard(name: str, shard: tuple[int, int]) -> bool:
    """Whether a name is in a part, wherever it comes up: each name is in exactly one of them."""
    part, parts = shard
    digest = hashlib.blake2b(name.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest) % parts == part - 1


def recovery_names() -> list[str]:
    """Every recovery, by its name."""
    return list(RECOVERY_BY_NAME)
