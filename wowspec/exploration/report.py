"""How a finding reads: the plan, what it breaks, who was told what, the ledgers, the departure, how to replay it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..faults.chains import Chains
from ..faults.plans import Plan
from ..messages.envelopes import CommandMessage
from ..modeling.places import place_of
from ..specs.departing import departure
from ..specs.layout import several
from ..world.clock import NANOS_PER_MILLI
from ..world.points import COMMAND_BUS_SEND, DOMAIN_EVENT_BUS_SEND, EVENT_DELIVER
from ..world.trace import TraceRow
from .findings import Finding
from .ledgers import had_effect
from .pasting import paste
from .playing import Played, Way
from .results import BrokenJson
from .run_laws import RUN_LAW_BY_NAME, Broken
from .trial import Trial

#: What a domain, or its spec, can do about a law that does not hold.
_MENDS: Final = {
    "no_acknowledged_loss": "a look at what the spec's own services and filters do at the point that was struck",
    "no_lying_failure": "a sender that takes this failure for an unknown outcome, and says so: ambiguous=[TheError]",
    "exactly_once": "an effect that its service does once for a key, such as the command's request id",
    "publication": "recovery=['resend'], if the application sends again what was stored and not published",
    "convergence": "a row that is set from the event, or that remembers the ids of events that it counted (a version "
    "will do only for a row of one aggregate); expect_idempotent() checks it",
    "saga_completeness": "one command for one event, the second one for what follows the first; or alternatives=[...]",
    "always": "a domain that keeps it at each moment, under this fault too; or a condition that says less",
    "eventually": "something of the application that brings it about after this fault, such as compensation, or a "
    "sender that tries again; or a condition that says no more than is promised",
    "no_swallowed_error": "a function that can be called again with the same event, since what is retried is",
}

#: How many commands the table of ledgers shows at most: the first ones, and those that differ.
_MOST_COMMANDS = 12


def finding_lines(finding: Finding, trial: Trial, base: Trial, test: str, broken: Sequence[Broken]) -> list[str]:
    """One finding, without the line that replays it.

    Args:
        finding: the finding.
        trial: the run under its plan.
        base: the fault-free run.
        test: the test's node id.
        broken: which of the broken laws are told.
    """
    laws = ", ".join(RUN_LAW_BY_NAME[item.law].title for item in broken)
    name = test.rpartition("::")[2] or "the spec"
    head = f"{several(len(finding.plan), 'fault')} {'breaks' if len(finding.plan) == 1 else 'break'} {name}"
    lines = [f"wowspec: {head}  (violates: {laws})", f"  plan   {finding.plan}", f"  class  {finding.class_text}"]
    for item in broken:
        first, *more = item.text.splitlines() or [""]
        lines += [f"  law    {RUN_LAW_BY_NAME[item.law].title}: {first}", *(f"         {line}" for line in more)]
    lines += client_lines(trial.played)
    lines += ledger_lines(trial, base)
    lines.append(f"  first departure from the fault-free run: {departure(trial.played.rows, base.played.rows)}")
    return lines


def mend_lines(broken: Sequence[BrokenJson]) -> list[str]:
    """What can be done about broken laws, and how one lives with them; of those that are known where no other broke."""
    laws = [item["law"] for item in broken if not item["known"]] or [item["law"] for item in broken]
    found = [f"  instead: {_MENDS[law]}" for law in laws if law in _MENDS]
    return [*found[:1], "  if it is to stay so: expected=['plan → law'], or a line of the baseline"]


def replay_line(test: str, plan: Plan | str, profile: str = "") -> str:
    """The line that runs a plan again, under a profile that is not the spec's own where one is named."""
    where = f" --wowspec-profile={profile}" if profile else ""
    return f"pytest {shlex.quote(test)} --wowspec-plan '{plan}'{where}"


def pinned(way: Way, plan: Plan, test: str) -> str:
    """A test that pins a plan, as code to paste."""
    name = test.rpartition("::")[2].partition("[")[0] or "test_spec"
    return paste(way.nodes, plan, name=f"{name}_pinned", profile=way.profile)


def concerned(played: Played, base: Played) -> list[str]:
    """The functions of processors in which a fault struck, or that were called another number of times than without.

    Args:
        played: the run under the plan.
        base: the fault-free run.

    Returns:
        Each as `OrderBoard.placed (shop.py:31)`; of a file outside the working directory its name.
    """
    calls, usual = (
        Counter(row.lane.function for row in each.rows if row.point.startswith(EVENT_DELIVER))
        for each in (played, base)
    )
    names = [row.lane.function for row in played.rows if row.was_struck]
    names += [name for name in [*calls, *usual] if calls[name] != usual[name]]
    places = {
        f"{metadata.name}.{function.info.name}": place_of(function.handler)
        for metadata in played.session.runtime.catalog.processors.values()
        for function in metadata.functions
    }
    return [_within(places[name]) for name in dict.fromkeys(names) if places.get(name)]


def _within(place: str) -> str:
    name, _, stands = place.rpartition(" (")
    return f"{name} ({Path(stands).name}" if Path(stands).is_absolute() else place


def client_lines(played: Played) -> list[str]:
    """What each sender was told, where that was no success."""
    lines = []
    for answer in played.answers:
        name = type(getattr(answer.message, "body", answer.command)).__name__
        if answer.is_unknown:
            lines.append(f"  client {name} → nothing: its outcome is unknown")
        elif answer.error is not None:
            text = str(answer.error).partition("\n")[0]
            lines.append(f"  client {name} → {type(answer.error).__name__}: {text}")
    if played.stopped:
        lines.append(f"  {played.stopped}")
    return lines


# --- ledgers ----------------------------------------------------------------------------------------------------------


class Counts:
    """The four ledgers of one command: how many events; and what struck on its way."""

    __slots__ = ("attempts", "delivered", "emitted", "notes", "published", "stored")

    def __init__(self) -> None:
        self.attempts: int = 0
        self.emitted: int = 0
        self.stored: int = 0
        self.published: int = 0
        self.delivered: int = 0
        self.notes: list[str] = []

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """Emitted, stored, published, delivered."""
        return self.emitted, self.stored, self.published, self.delivered


def counts_of(trial: Trial) -> dict[str, Counts]:
    """The ledgers of each command of a run, by its chain, in the order in which they were sent."""
    played, ledgers = trial.played, trial.ledgers
    chains = played.armory.chains
    found: dict[str, Counts] = {}
    by_id: dict[str, str] = {}
    started = played.rows[0].nanos if played.rows else 0
    for row in played.rows:
        chain = _command_chain(chains, row, by_id)
        if chain is None:
            continue
        counts = found.setdefault(chain, Counts())
        if row.was_struck:
            millis = (row.nanos - started) // NANOS_PER_MILLI
            counts.notes.append(f"{row.point}  ✗ {row.outcome}  at {millis} ms (virtual)")
        elif row.outcome.startswith("error:"):
            counts.notes.append(f"{row.point}  {row.outcome}")
        if row.point == DOMAIN_EVENT_BUS_SEND and had_effect(row):
            counts.published += len(row.subject.events)
        elif row.point.startswith(EVENT_DELIVER) and had_effect(row):
            counts.delivered += 1
    for command_id, chain in by_id.items():
        counts = found[chain]
        exchanges = played.audit.taken_by.get(command_id, [])
        streams = [each.event_stream for each in exchanges if each.event_stream is not None]
        counts.emitted += sum(len(stream.events) for stream in streams)
        counts.attempts += sum(each.attempts for each in exchanges)
    for stream in ledgers.own:
        chain = by_id.get(stream.command_id)
        if chain is not None:
            found[chain].stored += len(stream.events)
    return found


def _command_chain(chains: Chains, row: TraceRow, by_id: dict[str, str]) -> str | None:
    subject = row.subject
    if isinstance(subject, CommandMessage):
        chain = chains.see(subject)
        if row.point == COMMAND_BUS_SEND or subject.id not in by_id:
            by_id[subject.id] = chain
        return chain
    command_id = getattr(subject, "command_id", None)
    return by_id.get(command_id) if command_id is not None else chains.of(row) or None


def ledger_lines(trial: Trial, base: Trial) -> list[str]:
    """A table of the ledgers of each command that came to something else than in the fault-free run."""
    mine, usual = counts_of(trial), counts_of(base)
    told: list[tuple[str, Counts | None, Counts | None]] = []
    for chain in dict.fromkeys([*mine, *usual]):
        here, there = mine.get(chain), usual.get(chain)
        if here is None or there is None or here.numbers != there.numbers or here.notes != there.notes:
            told.append((chain, here, there))
    if not told:
        return []
    shown = told[:_MOST_COMMANDS]
    width = max(len("command"), *(len(_short(chain)) for chain, _, _ in shown))
    lines = [f"  {'command':<{width}}  emitted stored published delivered"]
    for chain, here, there in shown:
        lines.append(f"  {_short(chain):<{width}}  {_cells(here)}{_usually(here, there)}")
        lines += [f"    └ {note}" for note in (here.notes if here is not None else [])]
    if len(told) > len(shown):
        lines.append(f"  … and {len(told) - len(shown)} more")
    return lines


def _short(chain: str) -> str:
    return chain if len(chain) <= 60 else f"…{chain[-59:]}"


def _cells(counts: Counts | None) -> str:
    if counts is None:
        return f"{'–':>7} {'–':>6} {'–':>9} {'–':>9}"
    emitted, stored, published, delivered = counts.numbers
    return f"{emitted:>7} {stored:>6} {published:>9} {delivered:>9}"


def _usually(here: Counts | None, there: Counts | None) -> str:
    if there is None:
        return "   fault-free: never sent"
    if here is not None and here.numbers == there.numbers:
        return ""
    return f"   fault-free: {' '.join(map(str, there.numbers))}"
