"""How much of what a system does its specs hold fast: it is perturbed, deed by deed, and a spec must notice.

A spec notices if an expectation of it does not hold any more, or if it fails in any other way that the suite would
show. A perturbation that changes neither a ledger nor an outcome says nothing of a spec, and does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..errors import SpecError
from ..faults.planned import Livelock
from ..specs import tracking
from ..specs.again import Failure, Rerun, judged_again
from ..specs.nodes import Node, WhenConcurrently
from .catching import catching
from .perturbations import Perturbation, perturbations_of
from .perturbing import Perturbing, sourced
from .pictures import Picture, picture_of

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


@dataclass(slots=True)
class Strength:
    """What came of perturbing one way of steps.

    Attributes:
        tried: the perturbations that changed something.
        expected: the expectations that speak of the system under test, by place and verb; whether one of the
            perturbations made it fail.
        left_out: why nothing was tried, where nothing was.
    """

    tried: list[Tried] = field(default_factory=list)
    expected: dict[str, bool] = field(default_factory=dict)
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run to its end, or what stopped it.

    Attributes:
        rerun: what ran.
        failures: what did not hold.
        picture: what came of it, if everything held.
        error: what stopped it.
    """

    rerun: Rerun | None = None
    failures: list[Failure] = field(default_factory=list)
    picture: Picture | None = None
    error: str = ""


def strength_of(path: Sequence[Node], known: Container[str] = ()) -> Strength:
    """Perturb what happens on a way of steps that held, one deed at a time.

    Args:
        path: the steps, from the root on, as `tracking.paths` gives them.
        known: names of perturbations that need not be tried again: a spec noticed them.
    """
    strength = Strength(expected=dict.fromkeys(expectations_of(path), False))
    if any(isinstance(node.step, WhenConcurrently) for node in path):
        strength.left_out = "when_concurrently(...) is run in all its orders, which are not perturbed"
        return strength
    looking = Perturbing()
    base = run_again(path, looking)
    if base.rerun is None:
        strength.left_out = f"it does not run a second time: {base.error}"
        return strength
    if base.failures:
        strength.left_out = f"it does not hold a second time: {_first_line(base.failures[0].error)}"
        return strength
    deeds = [*looking.deeds.values(), *sourced(looking.sessions)]
    for perturbation in perturbations_of(deeds):
        if perturbation.name not in known:
            _try(path, base, perturbation, strength)
    return strength


def expectations_of(path: Sequence[Node]) -> list[str]:
    """The expectations of a way that speak of the system under test, as place and verb."""
    return [
        f"{expected.place}: {expected.verb}(...)"
        for node in path
        for expected in node.expected
        if expected.verb not in OF_THE_PIPELINE
    ]


def place_of(path: Sequence[Node]) -> str:
    """Where a way of steps stands: the line of its last step that has one."""
    return next((str(node.place) for node in reversed(path) if node.place), "")


def _try(path: Sequence[Node], base: Outcome, perturbation: Perturbation, strength: Strength) -> None:
    perturbing = Perturbing(perturbation)
    with perturbing.around():
        outcome = run_again(path, perturbing)
        if not perturbing.happened:
            return
        noticed = _noticed(outcome, strength)
        if not noticed and outcome.picture == base.picture:
            return
        instead = ""
        if not noticed:
            assert base.rerun is not None
            assert outcome.rerun is not None
            with tracking.aside():
                instead = catching(perturbation, base.rerun.nodes, outcome.rerun.nodes)
    strength.tried.append(
        Tried(
            perturbation.name,
            perturbation.kind,
            perturbation.address,
            perturbation.change.detail,
            place_of(path),
            noticed,
            instead,
        )
    )


def _noticed(outcome: Outcome, strength: Strength) -> tuple[str, ...]:
    if outcome.rerun is None:
        return (outcome.error,)
    how = []
    for failure in outcome.failures:
        if failure.expected is None:
            how.append(_first_line(failure.error))
            continue
        text = f"{failure.expected.place}: {failure.expected.verb}(...)"
        if text in strength.expected:
            strength.expected[text] = True
        how.append(text)
    return tuple(dict.fromkeys(how))


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
        look: what is seen of a run that holds.
        counts: which failures count.
    """
    try:
        rerun = judged_again(path, opened=perturbing.attach)
        failures = [failure for failure in rerun.failures if counts(failure)]
        with tracking.aside():
            picture = None if failures else look(rerun.nodes)
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
