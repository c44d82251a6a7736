"""What the terminal summary says of explorations: how much was run, found, known, left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ..specs.layout import several
from .coverage import coverage_percent, matrix_lines
from .results import BrokenJson, FindingJson, ResultJson, in_order

#: Attribute of a report that carries results from one process to another.
CARRIED: Final = "wowspec_faults"
#: Likewise, what is told of how it was done.
TOLD: Final = "wowspec_faults_told"
#: How many tests that were not swept are listed by name, for each reason.
_MOST_TESTS: Final = 5
_NEVER: Final = "never heals"
_WOULD: Final = " would heal it"
_STRICT: Final = " (--wowspec-strict fails for them)"


def results_of(terminalreporter: Any) -> list[ResultJson]:
    """The results that the reports of a session carry, in the order of tests."""
    found = [
        result
        for reports in terminalreporter.stats.values()
        for report in reports
        for result in getattr(report, CARRIED, ())
    ]
    return in_order(found)


def summarise(terminalreporter: Any) -> None:
    """Write the section, if there is anything to tell."""
    results = results_of(terminalreporter)
    if results:
        terminalreporter.section("wowspec: failure orderings")
        for line in summary_lines(results, verbose=terminalreporter.config.get_verbosity() > 0):
            terminalreporter.line(line)
    told = [
        text for reports in terminalreporter.stats.values() for report in reports for text in getattr(report, TOLD, ())
    ]
    if told and results:
        terminalreporter.line("")
        terminalreporter.line("in other processes:")
    elif told:
        terminalreporter.section("wowspec: in other processes")
    if told:
        for text in told:
            terminalreporter.line(f"  {text}")


def summary_lines(results: Sequence[ResultJson], *, verbose: bool = False) -> list[str]:
    """The section's lines."""
    swept = [result for result in results if not result["not_swept"] and not result["same_as"]]
    same = sum(1 for result in results if result["same_as"])
    plans = sum(result["plans"] for result in swept)
    more = f" ({same} more with the same steps)" if same else ""
    came = f": {_outcomes(swept)}" if plans else ", run again without faults: the same traces" if swept else ""
    lines = [f"{several(len(swept), 'spec')}{more}, {several(plans, 'plan')}{came}"]
    lines += _declared_lines(results, verbose=verbose)
    lines += _known(swept, verbose=verbose)
    lines += _left(results)
    if plans > len(swept):
        lines += ["", *matrix_lines(swept), f"fault coverage: {coverage_percent(swept):.0f} % of the possible cells"]
    return lines


def _outcomes(results: Sequence[ResultJson]) -> str:
    totals: dict[str, int] = {}
    for result in results:
        for name, count in result["outcomes"].items():
            totals[name] = totals.get(name, 0) + count
    return ", ".join(f"{count} {name}" for name, count in sorted(totals.items(), key=lambda item: -item[1])) or "none"


def _declared_lines(results: Sequence[ResultJson], *, verbose: bool) -> list[str]:
    """Findings that their authors know of: of each sort in each file the first one, with the line that replays it."""
    groups: dict[tuple[str, ...], list[FindingJson]] = {}
    count = 0
    for result, finding, broken in _declared(results):
        count += 1
        place = finding["plan"] if verbose else result["test"].partition("::")[0]
        groups.setdefault((place, ", ".join(item["title"] for item in broken)), []).append(finding)
    if not groups:
        return []
    lines = ["", f"{several(count, 'declared finding')} (their tests fail when they are gone):"]
    for (place, laws), found in groups.items():
        more = f", and {several(len(found) - 1, 'plan')} more" if len(found) > 1 else ""
        lines += [f"  {place}: {laws}{more}", f"    {found[0]['plan']}", f"    {found[0]['replay']}"]
    return lines


def _declared(results: Sequence[ResultJson]) -> Iterator[tuple[ResultJson, FindingJson, list[BrokenJson]]]:
    for result in results:
        for finding in result["findings"]:
            broken = [item for item in finding["broken"] if item["declared"]]
            if broken:
                yield result, finding, broken


def _known(results: Sequence[ResultJson], *, verbose: bool) -> list[str]:
    """What the runtime is known for, once a run, with what would heal it."""
    rows: dict[tuple[str, str, str], int] = {}
    healing = 0
    for result in results:
        for finding in result["findings"]:
            known = [item for item in finding["broken"] if item["known"]]
            if known and len(known) == len(finding["broken"]):
                place = finding["plan"].rpartition("/")[2] if ";" not in finding["plan"] else finding["plan"]
                healed = f"healed by {finding['healed_by']}" if finding["healed_by"] else _NEVER
                healed = f"{finding['would_heal']}{_WOULD}" if finding["would_heal"] else healed
                key = (place.replace("@1", ""), ", ".join(item["title"] for item in known), healed)
                rows[key] = rows.get(key, 0) + 1
                healing += bool(finding["healed_by"])
    if not rows:
        return []
    # Those that heal are told as healed among the outcomes above.
    strict = f", {healing} of which healed (--wowspec-strict fails for the others)" if healing else _STRICT
    lines = ["", f"known to the runtime, due to nobody's domain: {several(sum(rows.values()), 'plan')}{strict}"]
    places: dict[tuple[str, str], list[str]] = {}
    for place, laws, healed in rows:
        places.setdefault((laws, healed), []).append(place)
    for (laws, healed), found in places.items():
        shown = found if verbose else found[:3]
        more = f", … {len(found) - len(shown)} more" if len(found) > len(shown) else ""
        lines.append(f"  {laws} ({healed}): {', '.join(shown)}{more}")
    healings = {healed for _, healed in places}
    # Where one was found that would, it was asked of all of them.
    if _NEVER in healings and not any(healed.endswith(_WOULD) for healed in healings):
        lines.append("  which recovery would heal those that never do: --wowspec-strict tells, finding by finding")
    return lines


def _left(results: Sequence[ResultJson]) -> list[str]:
    lines: list[str] = []
    for result in results:
        lines += [f"  {result['test']}: {count} plans, by {bound}" for bound, count in result["left"].items()]
    if lines:
        lines = ["", "left out by bounds:", *lines]
    reasons: dict[str, list[str]] = {}
    for result in results:
        if result["not_swept"]:
            reasons.setdefault(result["not_swept"], []).append(result["test"])
    if reasons:
        lines += ["", "not swept:"]
        for reason, tests in reasons.items():
            shown = ", ".join(tests[:_MOST_TESTS])
            more = f", … {len(tests) - _MOST_TESTS} more" if len(tests) > _MOST_TESTS else ""
            lines.append(f"  {shown}{more}: {reason}")
    return lines
