"""Givens that no sequence of commands was found to produce: a bounded search by real commands, event by event.

What is found is a history; what is not found may exist all the same, so that nothing is called impossible. Only classes
of events count, and which of them stand in one version; their values are where the search begins.
"""

from __future__ import annotations

import heapq
import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict

from ..errors import SpecError
from ..messages.codec import encode
from ..modeling.aggregates import AggregateMetadata, aggregate_metadata
from ..modeling.commands import command_metadata
from ..modeling.functions import HandlerFunction
from ..modeling.identity import DEFAULT_TENANT_ID, AggregateRef
from ..runtime.injection import MissingServiceError
from ..specs.execution import send
from ..specs.items import CommandOptions
from ..specs.nodes import Node
from ..specs.session import Session
from ..specs.tracking import aside
from .domain import creates, may_follow
from .givens import Move, Segment, Version, segments
from .seeding import MOST_FILLINGS as _ALL, Envelope, Seeds, commands_for

#: How many commands are sent for one given at most, unless the author says otherwise.
LIMIT: Final = 200
#: From which round on commands are tried whose functions do not say that they return the event, and how often.
_LATE, _RARELY = 8, 2
_LONGEST: Final = 70


class UnreachedJson(TypedDict):
    """A history that was not reached.

    Attributes:
        place: file and line of the `given` with the first event that was not reached.
        given: the history, version by version.
        aggregate: the aggregate root's class.
        aggregate_id: the instance.
        version: the first version that was not reached.
        events: what stands in it.
        limit: how many commands were allowed.
        sent: how many were sent.
        tried: what became of each command class there, the most likely values first.
        assumed: why earlier versions were taken as given, if any were.
    """

    place: str
    given: list[str]
    aggregate: str
    aggregate_id: str
    version: int
    events: str
    limit: int
    sent: int
    tried: list[str]
    assumed: list[str]


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of one history.

    Attributes:
        unreached: what was not reached; None: all of it was.
        assumed: why versions were taken as given: what their commands ask for is not there.
    """

    unreached: UnreachedJson | None
    assumed: tuple[str, ...] = ()


class Searcher:
    """Judges givens; equal ones once.

    Args:
        limit: how many commands are sent for one given at most.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._known: dict[Any, Judged] = {}

    def judge(self, path: Sequence[Node]) -> Iterator[Judged]:
        """Judge each history that a way of steps gives as bare events.

        Args:
            path: the steps, from the root on, as `tracking.paths` gives them.

        Raises:
            SpecError: for services that are needed again and cannot be copied.
        """
        for segment in segments(path):
            for reference, root in segment.roots.items():
                key = _key(segment, reference, root)
                found = self._known.get(key) if key is not None else None
                if found is None:
                    found = _Search(segment, reference, aggregate_metadata(root), self._limit).judge()
                    if key is not None:
                        self._known[key] = found
                yield found


def _key(segment: Segment, reference: AggregateRef, root: type) -> Any:
    """Equal for histories of which the same is to be found; None where that cannot be told."""
    services = [(name, type(service), repr(service)) for name, service in segment.before.world.services.named()]
    if any(" at 0x" in text for _, _, text in services) or segment.before.runtime.event_store.aggregate_ids():
        return None
    moves = tuple((move.text, move.version.place if move.version else "") for move in segment.moves)
    profile = segment.before.world.ports.name
    return root, reference, moves, repr(services), profile


@dataclass(order=True, slots=True)
class _Reached:
    """A world in which the first versions came about.

    Attributes:
        cost: how far its commands are from the most likely ones.
        ahead: minus the number of versions, so that of equal costs the furthest comes first.
        number: its place in the order in which worlds were reached.
        session: the world.
        place: of the move that writes the next version.
        assumed: why versions were taken as given.
        begins: cost of its first command.
        commands: what to try next.
        missing: what the command functions ask for that is not there.
    """

    cost: int
    ahead: int
    number: int
    session: Session = field(compare=False)
    place: int = field(compare=False)
    assumed: tuple[str, ...] = field(compare=False, default=())
    commands: Iterator[Any] | None = field(compare=False, default=None)
    missing: dict[type, str] = field(compare=False, default_factory=dict)


class _Search:
    """Of one instance's history: the most likely commands first, then those a little less likely, and so on."""

    def __init__(self, segment: Segment, reference: AggregateRef, metadata: AggregateMetadata, limit: int) -> None:
        self._before = _speaking_of(segment.before, metadata)
        self._moves = segment.moves
        self._reference = reference
        self._metadata = metadata
        self._limit = limit
        self._wanted = [move.version for move in segment.moves if _is_of(move, reference)]
        self._versions = [version for version in self._wanted if version is not None]
        self._sent = 0
        self._number = 0
        self._queue: list[_Reached] = []
        self._seen: set[tuple[int, tuple[bytes, ...]]] = set()
        #: What became of commands in the first world that came so far, by number of versions and class.
        self._tried: dict[int, dict[str, str]] = {}
        self._first: dict[int, _Reached] = {}

    def judge(self) -> Judged:
        """Search until the whole history came about, or nothing is left to try."""
        reached = self._moved(self._before.branch(isolated=True), 0, 0, 0, ())
        while self._queue and reached is None and self._sent < self._limit:
            node = heapq.heappop(self._queue)
            reached = self._step(node)
        if reached is not None:
            return Judged(None, reached.assumed)
        furthest = self._first.get(self._depth)
        if furthest is not None and furthest.missing:
            # Other commands might do, but the likely one could not be tried: nothing is said of the rest.
            return Judged(None, (*furthest.assumed, self._why(furthest)))
        return Judged(self._unreached())

    def _step(self, node: _Reached) -> _Reached | None:
        """Send the next command to a world; the world of the whole history, if it was the last one."""
        depth = -node.ahead
        if node.commands is None:
            node.commands = self._commands(node)
        command = next(node.commands, None)
        if command is None:
            return self._take_as_given(node)
        cost = node.cost
        node.cost += 1
        heapq.heappush(self._queue, node)
        version = self._versions[depth]
        branch = node.session.branch(isolated=True)
        self._sent += 1
        became = self._send(branch, command, version, node)
        if self._first[depth] is node:
            self._tried.setdefault(depth, {}).setdefault(type(command).__name__, became or "")
        if not became:
            return self._moved(branch, node.place + 1, depth + 1, cost, node.assumed)
        if type(command) in node.missing and self._likely(node) <= node.missing.keys():
            self._queue.remove(node)
            heapq.heapify(self._queue)
            return self._take_as_given(node)
        return None

    def _moved(self, session: Session, place: int, depth: int, cost: int, assumed: tuple[str, ...]) -> _Reached | None:
        """Do what is given up to the next version; the world of the whole history, if there is none."""
        self._number += 1
        node = _Reached(cost, -depth, self._number, session, place, assumed)
        if depth == len(self._versions):
            return node
        try:
            while not _is_of(self._moves[node.place], self._reference):
                with aside():
                    self._moves[node.place].do(session)
                node.place += 1
            key = node.place, self._picture(session)
        except Exception as error:  # noqa: BLE001 - what is given does not fit what came before it
            self._tried.setdefault(depth, {}).setdefault("what is given next", _brief(error))
            return None
        if key not in self._seen or assumed:
            self._seen.add(key)
            self._first.setdefault(depth, node)
            heapq.heappush(self._queue, node)
        return None

    def _picture(self, session: Session) -> tuple[bytes, ...]:
        streams = session.runtime.event_store.load_now(self._reference)
        return tuple(encode(event.body) for stream in streams for event in stream.events)

    def _take_as_given(self, node: _Reached) -> _Reached | None:
        """Where commands could not even be tried, since the spec lacks what they ask for, the event is believed."""
        if not node.missing:
            return None
        branch = node.session.branch(isolated=True)
        with aside():
            self._moves[node.place].do(branch)
        return self._moved(branch, node.place + 1, 1 - node.ahead, node.cost, (*node.assumed, self._why(node)))

    def _why(self, node: _Reached) -> str:
        version = self._versions[-node.ahead]
        return f"version {self._next_version(node.session)}, {version}: {next(iter(node.missing.values()))}"

    def _likely(self, node: _Reached) -> set[type]:
        """The commands that a world takes and that say they can give its next version."""
        possible = may_follow if self._next_version(node.session) > 1 else creates
        ranked = _ranked(self._metadata, self._versions[-node.ahead].types)
        return {cls for cls, likely in ranked.items() if likely and possible(cls)}

    # --- commands -----------------------------------------------------------------------------------------------------

    def _send(self, session: Session, command: Any, version: Version, node: _Reached) -> str:
        """Send a command; empty if it stored just the version, else what became of it."""
        reference = self._reference
        session.speak_of(reference)
        try:
            with aside():
                run = send(session, command, _options(type(command), reference, version), None)
        except Exception as error:  # noqa: BLE001 - whatever comes of a command that nobody wrote
            if isinstance(error, MissingServiceError) and self._lacks(type(command), version, str(error)):
                node.missing[type(command)] = str(error).partition("\n")[0]
            return _brief(error)
        audit = session.runtime.audit
        assert audit is not None
        streams = [stream for stream in audit.stored if stream.aggregate_id == reference]
        stored = [tuple(type(event.body) for event in stream.events) for stream in streams]
        if stored == [version.types] and session.world.scheduler.is_idle:
            return ""
        if not stored:
            return _brief(run.error) if run.error is not None else "stored nothing"
        versions = [", ".join(kind.__name__ for kind in types) for types in stored]
        together = " in one version" if len(stored) == 1 and len(stored[0]) > 1 else ""
        return f"stored {'; then '.join(versions)}{together}"

    def _lacks(self, command_class: type, version: Version, text: str) -> bool:
        """Whether what is missing keeps a command's function, or one that comes after it, from giving the events."""
        functions = [after.place for after in self._metadata.after]
        if command_class in self._metadata.functions:
            functions.append(self._metadata.functions[command_class].handler.place)
        is_likely = _ranked(self._metadata, version.types)[command_class]
        return is_likely and any(f" of {place} " in text for place in functions)

    def _commands(self, node: _Reached) -> Iterator[Any]:
        """Commands for a world's next version, a round of each class after the other."""
        version, reference = self._versions[-node.ahead], self._reference
        seeds = Seeds(self._groups(node.session, version))
        envelope = Envelope(reference.id, reference.tenant_id, version.owner_id, version.space_id)
        exists = self._next_version(node.session) > 1
        ranked = _ranked(self._metadata, version.types)
        sources = {cls: commands_for(cls, seeds, envelope) for cls in ranked}
        most = {
            cls: (_ALL if likely else _RARELY) if (may_follow(cls) if exists else creates(cls)) else 1
            for cls, likely in ranked.items()
        }
        rounds = 0
        while sources:
            wait = rounds < _LATE and any(ranked[cls] for cls in sources)
            for cls in [cls for cls in sources if ranked[cls] or not wait]:
                command = next(sources[cls], None) if most[cls] and cls not in node.missing else None
                if command is None:
                    del sources[cls]
                    continue
                most[cls] -= 1
                yield command
            rounds += 1

    def _groups(self, session: Session, version: Version) -> Iterator[Iterable[Any]]:
        """Values to begin with: those of the events, of the state, of the other events, of the functions' code."""
        yield version.bodies
        try:
            yield (session.loaded(self._reference).state,)
        except Exception:  # noqa: BLE001 - what a sourcing function raises
            yield ()
        yield [body for other in self._versions if other is not version for body in other.bodies]
        yield [constant for function in self._metadata.functions.values() for constant in _constants(function.handler)]

    @property
    def _depth(self) -> int:
        """How many versions came about."""
        return max([0, *self._first, *self._tried])

    # --- telling ------------------------------------------------------------------------------------------------------

    def _unreached(self) -> UnreachedJson:
        depth = self._depth
        version = self._versions[depth]
        first = self._first.get(depth)
        tried = [f"{name} → {became}" for name, became in self._tried.get(depth, {}).items() if became]
        return UnreachedJson(
            place=version.place,
            given=[str(each) for each in self._versions],
            aggregate=self._metadata.command_class.__name__,
            aggregate_id=self._reference.id,
            version=self._next_version(first.session if first is not None else self._before),
            events=str(version),
            limit=self._limit,
            sent=self._sent,
            tried=tried,
            assumed=list(first.assumed) if first is not None else [],
        )

    def _next_version(self, session: Session) -> int:
        return session.runtime.event_store.head_version(self._reference) + 1


def _is_of(move: Move, reference: AggregateRef) -> bool:
    return move.version is not None and move.version.reference == reference


def _speaking_of(session: Session, metadata: AggregateMetadata) -> Session:
    """A copy of the world in which commands that several aggregates share go to this one."""
    base = session.branch(isolated=True)
    base.use_aggregate(metadata.command_class)
    aggregates = base.runtime.catalog.aggregates
    others = {named: other for named, other in aggregates.items() if named != metadata.named}
    aggregates.clear()
    aggregates.update({metadata.named: metadata, **others})
    return base


def _ranked(metadata: AggregateMetadata, types: Sequence[type]) -> dict[type, bool]:
    """Command classes, those first that say they can give most of these events; whether they can give any."""
    after = tuple(kind for function in metadata.after for kind in function.events)
    rows = []
    for cls, function in metadata.functions.items():
        declared = function.handler.events
        known = [kind for kind in types if _among(kind, (*declared, *after))]
        if not command_metadata(cls).is_void:
            rows.append((len(known), cls, bool(known) or not declared or Any in declared))
    for cls, (built_in, _) in metadata.built_in.items():
        known = [kind for kind in types if issubclass(kind, built_in.event)]
        rows.append((len(known), cls, bool(known)))
    return {cls: likely for _, cls, likely in sorted(rows, key=lambda row: -row[0])}


def _among(kind: type, declared: Iterable[Any]) -> bool:
    return any(isinstance(each, type) and each is not Any and issubclass(kind, each) for each in declared)


def _options(command_class: type, reference: AggregateRef, version: Version) -> CommandOptions:
    """What stands beside a command: whatever none of its own fields says."""
    own = command_metadata(command_class)
    tenant = reference.tenant_id if own.tenant_id is None and reference.tenant_id != DEFAULT_TENANT_ID else None
    return CommandOptions(
        aggregate_id=reference.id if own.aggregate_id is None else None,
        tenant_id=tenant,
        owner_id=version.owner_id or None if own.owner_id is None else None,
        space_id=version.space_id or None if own.space_id is None else None,
    )


def _constants(handler: HandlerFunction) -> Iterator[Any]:
    """Numbers and words in a function's code: it may compare with them."""
    code = getattr(inspect.unwrap(handler.function), "__code__", None)
    for constant in code.co_consts if code is not None else ():
        is_word = isinstance(constant, str) and not re.search(r"\s", constant)
        if is_word or (isinstance(constant, int | float) and not isinstance(constant, bool)):
            yield constant


def _brief(error: BaseException) -> str:
    text = str(error).strip().partition("\n")[0]
    whole = f"{type(error).__name__}: {text}" if text and not isinstance(error, SpecError) else text
    whole = whole or type(error).__name__
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]}…"
