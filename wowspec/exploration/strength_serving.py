"""Has specs perturbed, and items left out, by other processes: what a worker answers, and how it is read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, Protocol

from ..specs.nodes import Node
from .crew import Undone
from .determinism import trace_lines
from .idle import GivenItem, Givens
from .jobs import JobJson, ReplyJson
from .perturbing import Perturbing
from .strength import Perturbable, Tried, Verdict

#: The tasks: run a spec with a perturbation, or without a given item.
PERTURBATIONS: Final = "perturbations"
GIVENS: Final = "givens"
#: What is said of a perturbation that no process outlives; the suite would not end well.
_ENDS: Final = "it ends the process in which it is run"


class MapJson(Protocol):
    """Has items of a task done elsewhere, as `Crew.map_json`."""

    def __call__(
        self, task: str, items: Sequence[Any], *, test: str, spec: int = 0, said: dict[str, Any] | None = None
    ) -> Iterator[Any]:
        """A result for each item, in order, or why there is none."""
        ...


class Served:
    """Answers jobs about the specs of a test.

    Args:
        paths: the steps of each spec.
    """

    def __init__(self, paths: Sequence[Sequence[Node]]) -> None:
        self._paths = paths
        self._ways: dict[int, Perturbable] = {}
        self._givens: dict[int, Givens] = {}

    def tasks(self) -> Mapping[str, Callable[[JobJson], ReplyJson]]:
        """Who does what."""
        return {PERTURBATIONS: self._perturb, GIVENS: self._judge}

    def _perturb(self, job: JobJson) -> ReplyJson:
        spec = job["spec"]
        if spec >= len(self._paths):
            return self._too_few()
        if spec not in self._ways:
            self._ways[spec] = Perturbable(self._paths[spec])
        way = self._ways[spec]
        if _base(way.looking, way.perturbations) != job["said"]["base"]:
            return _OTHERWISE
        return {"results": [_plain(way.perturb(address)) for address in job["items"]], "refused": ""}

    def _judge(self, job: JobJson) -> ReplyJson:
        spec = job["spec"]
        if spec >= len(self._paths):
            return self._too_few()
        if spec not in self._givens:
            self._givens[spec] = Givens(self._paths[spec])
        givens = self._givens[spec]
        if _base(givens.looking, givens.items) != job["said"]["base"]:
            return _OTHERWISE
        seen = set(job["said"]["seen"])
        return {"results": [givens.judge(place, seen).idle for place in job["items"]], "refused": ""}

    def _too_few(self) -> ReplyJson:
        return {"results": [], "refused": f"it makes {len(self._paths)} specs there"}


class Elsewhere:
    """Has one spec of a test run again by others, to the same results in the same order.

    Args:
        map_json: who does it.
        test: node id of the test.
        spec: which of its specs.
    """

    def __init__(self, map_json: MapJson, test: str, spec: int) -> None:
        self._map_json = map_json
        self._test = test
        self._spec = spec

    def perturb(self, way: Perturbable, addresses: Sequence[str]) -> Iterator[Verdict]:
        """As `PerturbMany`."""
        said = {"base": _base(way.looking, way.perturbations)}
        answers = self._map_json(PERTURBATIONS, addresses, test=self._test, spec=self._spec, said=said)
        for address, answer in zip(addresses, answers, strict=True):
            if answer is Undone.KILLED:
                yield Verdict(way.tried(address, (_ENDS,)))
            elif answer is Undone.HERE:
                yield way.perturb(address)
            else:
                yield _read(answer)

    def judge(self, givens: Givens, seen: set[str]) -> Iterator[GivenItem]:
        """As `JudgeMany`."""
        said = {"base": _base(givens.looking, givens.items), "seen": sorted(seen)}
        answers = self._map_json(GIVENS, givens.items, test=self._test, spec=self._spec, said=said)
        for place, answer in zip(givens.items, answers, strict=True):
            if answer is Undone.HERE:
                yield givens.judge(place, seen)
            else:
                # A process that ends for want of an item shows that the item does something.
                yield replace(givens.item(place), idle=answer is not Undone.KILLED and answer)


def _base(looking: Perturbing, items: Iterable[str]) -> str:
    """The same text in processes in which the spec comes to the same."""
    rows = [line for session in looking.sessions for line in trace_lines(session.world.trace.rows)]
    return hashlib.blake2b("\n".join([*items, *rows]).encode(errors="replace"), digest_size=16).hexdigest()


def _plain(verdict: Verdict) -> dict[str, Any]:
    tried = None if verdict.tried is None else {**asdict(verdict.tried), "noticed": list(verdict.tried.noticed)}
    return {"tried": tried, "expected": verdict.expected}


def _read(said: dict[str, Any]) -> Verdict:
    tried = said["tried"]
    return Verdict(None if tried is None else Tried(**{**tried, "noticed": tuple(tried["noticed"])}), said["expected"])


_OTHERWISE: Final[ReplyJson] = {"results": [], "refused": "it comes to something else there"}
