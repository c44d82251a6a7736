"""How much of what a system does its specs hold fast: it is perturbed, deed by deed, and a spec must notice.

A spec notices if an expectation of it does not hold any more, or if it fails in any other way that the suite would
show. A perturbation that changes neither a ledger nor an outcome says nothing of a spec, and does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..errors import SpecError
from ..faults.planned import Livelock
from ..specs import tracking
from ..specs.again import Failure, Rerun, judged_again
from ..specs.nodes import ACTIONS, Node, WhenConcurrently, WithFaults
from ..specs.recorded import Expected
from .catching import catching
from .perturbations import Perturbation, perturbations_of
from .perturbing import Perturbing, sourced
from .pictures import Picture, picture_of, runs_of

#: Verbs that speak of the pipeline, which nothing here perturbs: that nothing makes them fail is no fault of theirs.
OF_THE_PIPELINE: Final = frozenset(
    f"expect_{what}"
    for what in (
        "acknowledged",
        "any_outcome",
        "attempts",
        "command_state",
        "fired",
        "header",
        "idempotent",
        "logged",
        "no_snapshot",
        "notified",
        "order",
        "snapshot",
        "stage",
        "state_event_not_published",
        "state_event_published",
        "unknown_outcome",
    )
)


#: A perturbed run may call functions so often, and so many times as often as the run as it is.
_CALLS, _MANIFOLD = 1_000, 10
#: Verbs that look at states and views, whoever made them what they are.
OF_THE_END: Final = frozenset(("always", "eventually", "expect_state", "expect_view", "expect_no_view"))


@dataclass(frozen=True, slots=True)
class Tried:
    """One perturbation of one way of steps that changed something.

    Attributes:
        name: the same in every spec that reaches the function.
        kind: such as `event altered`.
        address: where in this run.
        detail: from what to what, if that says anything.
        place: where the spec stands.
        noticed: how: the expectations that failed, or what else a suite would show; empty: not at all.
        instead: an expectation that would notice, where none did.
    """

    name: str
    kind: str
    address: str
    detail: str
    place: str
    noticed: tuple[str, ...]
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run to its end, or what stopped it.

    Attributes:
        rerun: what ran.
        failures: what did not hold.
        picture: what came of it.
        error: what stopped it.
    """

    rerun: Rerun | None = None
    failures: list[Failure] = field(default_factory=list)
    picture: Picture | None = None
    error: str = ""

    def changes(self, base: Outcome, action: int, *, in_the_end: bool) -> bool:
        """Whether an action came to something else than in the run as it is.

        Args:
            base: the run as it is.
            action: the action's place among all.
            in_the_end: whether states and views count, too, which are those after the last one.
        """
        mine, theirs = self.picture, base.picture
        if mine is None or theirs is None or len(mine.actions) != len(theirs.actions):
            return False
        if mine.actions[action] != theirs.actions[action]:
            return True
        is_last = action == len(theirs.actions) - 1
        return in_the_end and is_last and (mine.states, mine.views) != (theirs.states, theirs.views)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one perturbation.

    Attributes:
        tried: the perturbation; None if it changed nothing.
        expected: whether it made expectations fail, by place and verb: those that speak of what it changed.
    """

    tried: Tried | None = None
    expected: dict[str, bool] = field(default_factory=dict)


@dataclass(slots=True)
class Strength:
    """What came of perturbing one way of steps.

    Attributes:
        tried: the perturbations that changed something.
        expected: the expectations that speak of the system under test, by place and verb: whether one of the
            perturbations made it fail; None: none of them changed what it speaks of.
        left_out: why nothing was tried, where nothing was.
    """

    tried: list[Tried] = field(default_factory=list)
    expected: dict[str, bool | None] = field(default_factory=dict)
    left_out: str = ""

    def add(self, verdict: Verdict) -> None:
        """Take in what came of one more perturbation."""
        if verdict.tried is not None:
            self.tried.append(verdict.tried)
        for text, failed in verdict.expected.items():
            self.expected[text] = failed or bool(self.expected[text])


class Perturbable:
    """A way of steps that held, run again to see what can be perturbed in it.

    Attributes:
        place: where the spec stands.
        expectations: those that speak of the system under test: of which of its actions, and the verb.
        left_out: why nothing can be tried, if so.
        looking: what was seen of the run as it is.
        perturbations: by their addresses; the second of the same address ends with `#2`.
    """

    def __init__(self, path: Sequence[Node], counts: Callable[[Failure], bool] = lambda _: True) -> None:
        self.place: str = place_of(path)
        self.expectations: dict[str, tuple[int, str]] = expectations_of(path)
        self.left_out: str = ""
        self.looking: Perturbing = Perturbing()
        self.perturbations: dict[str, Perturbation] = {}
        self._path = path
        self._counts = counts
        self._base = Outcome()
        if any(isinstance(node.step, WhenConcurrently) for node in path):
            self.left_out = "when_concurrently(...) is run in all its orders, which are not perturbed"
            return
        base = self._base = run_again(path, self.looking, counts=counts)
        if base.rerun is None:
            self.left_out = f"it does not run a second time: {base.error}"
        elif base.failures:
            self.left_out = f"it does not hold a second time: {_first_line(base.failures[0].error)}"
        else:
            deeds = [*self.looking.deeds.values(), *sourced(self.looking)]
            self.perturbations = _by_address(perturbations_of(deeds))

    def perturb(self, address: str) -> Verdict:
        """Run the steps with one of the perturbations."""
        perturbation, base = self.perturbations[address], self._base
        perturbing = Perturbing(perturbation, _CALLS + _MANIFOLD * self.looking.calls)
        with perturbing.around():
            outcome = run_again(self._path, perturbing, counts=self._counts)
        if not perturbing.happened:
            return Verdict()
        noticed = _noticed(outcome)
        if not noticed and outcome.picture == base.picture:
            return Verdict()
        instead = ""
        if not noticed:
            assert base.rerun is not None
            assert outcome.rerun is not None
            with tracking.aside():
                instead = catching(perturbation, base.rerun.nodes, outcome.rerun.nodes, perturbing.around)
        return Verdict(self.tried(address, noticed, instead), self._weighed(outcome, noticed))

    def tried(self, address: str, noticed: tuple[str, ...], instead: str = "") -> Tried:
        """One of the perturbations, and what came of it."""
        one = self.perturbations[address]
        return Tried(one.name, one.kind, one.address, one.change.detail, self.place, noticed, instead)

    def _weighed(self, outcome: Outcome, noticed: Sequence[str]) -> dict[str, bool]:
        """What a perturbation says of the expectations: those of an action that it changed could have failed."""
        weighed = {}
        for text, (action, verb) in self.expectations.items():
            if text in noticed:
                weighed[text] = True
            elif outcome.changes(self._base, action, in_the_end=verb in OF_THE_END):
                weighed[text] = False
        return weighed


#: Tries some of the perturbations of a way of steps, by their addresses: gives a verdict for each, in order.
PerturbMany = Callable[[Perturbable, Sequence[str]], Iterable[Verdict]]


def strength_of(
    path: Sequence[Node],
    known: Container[str] = (),
    counts: Callable[[Failure], bool] = lambda _: True,
    perturb_many: PerturbMany | None = None,
) -> Strength:
    """Perturb what happens on a way of steps that held, one deed at a time.

    Args:
        path: the steps, from the root on, as `tracking.paths` gives them.
        known: names of perturbations that need not be tried again: a spec noticed them.
        counts: which failures count.
        perturb_many: has the perturbed runs made elsewhere; by default they are made here.
    """
    way = Perturbable(path, counts)
    strength = Strength(expected=dict.fromkeys(way.expectations), left_out=way.left_out)
    wanted = [address for address, one in way.perturbations.items() if one.name not in known]
    for verdict in map(way.perturb, wanted) if perturb_many is None else perturb_many(way, wanted):
        strength.add(verdict)
    return strength


def _by_address(perturbations: Iterable[Perturbation]) -> dict[str, Perturbation]:
    found: dict[str, Perturbation] = {}
    counts: dict[str, int] = {}
    for each in perturbations:
        counts[each.address] = count = counts.get(each.address, 0) + 1
        found[f"{each.address}#{count}" if count > 1 else each.address] = each
    return found


def expectations_of(path: Sequence[Node]) -> dict[str, tuple[int, str]]:
    """The expectations of a way that speak of the system under test: of which of its actions, and the verb.

    What is said once faults are armed speaks of them.
    """
    actions = -1
    found: dict[str, tuple[int, str]] = {}
    for node in path:
        if isinstance(node.step, WithFaults):
            break
        actions += isinstance(node.step, ACTIONS)
        for expected in node.expected:
            if expected.verb not in OF_THE_PIPELINE:
                found[_text(expected)] = max(actions, 0), expected.verb
    return found


def place_of(path: Sequence[Node]) -> str:
    """Where a way of steps stands: the line of its last step that has one."""
    return next((str(node.place) for node in reversed(path) if node.place), "")


def _text(expected: Expected) -> str:
    return f"{expected.place}: {expected.verb}(...)"


def _noticed(outcome: Outcome) -> tuple[str, ...]:
    if outcome.rerun is None:
        return (outcome.error,)
    return tuple(dict.fromkeys(_told(failure) for failure in outcome.failures))


def _told(failure: Failure) -> str:
    return _first_line(failure.error) if failure.expected is None else _text(failure.expected)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def run_again(
    path: Sequence[Node],
    perturbing: Perturbing,
    look: Callable[[Sequence[Node]], Picture] = picture_of,
    counts: Callable[[Failure], bool] = lambda _: True,
) -> Outcome:
    """Run a way of steps again, and judge it.

    Args:
        path: the steps.
        perturbing: stands in its worlds.
        look: what is seen of a run.
        counts: which failures count.
    """
    try:
        rerun = judged_again(path, opened=perturbing.attach)
        failures = [failure for failure in rerun.failures if counts(failure)]
        with tracking.aside():
            picture = look(rerun.nodes) if runs_of(rerun.nodes) else None
    except Livelock:
        return Outcome(error="the world never comes to rest")
    except SpecError as error:
        return Outcome(error=error.what)
    except Exception as error:  # noqa: BLE001 - of a function of the author's, which a suite would show
        return Outcome(error=f"{type(error).__name__}: {error}")
    unstruck = _unstruck(perturbing)
    return Outcome(error=unstruck) if unstruck else Outcome(rerun, failures, picture)


def _unstruck(perturbing: Perturbing) -> str:
    """A fault of the spec that had nothing to strike in any of the worlds."""
    struck: dict[tuple[int, int], bool] = {}
    for session in perturbing.sessions:
        armory = session.runtime.armory
        for origin, armed in zip(session.origins, armory.armed if armory is not None else (), strict=False):
            key = (id(origin.node), origin.index)
            struck[key] = struck.get(key, False) or bool(armed.struck)
    return "" if all(struck.values()) else "a fault of the spec does not strike any more"
