"""What `--junitxml` says of a test's specs: as properties of its test case."""

from __future__ import annotations

from collections.abc import Sequence

from ..exploration.results import ResultJson, undeclared


def properties(specs: int, results: Sequence[ResultJson]) -> list[tuple[str, object]]:
    """Properties of a test, the same ones in the same order for all tests that were explored.

    Args:
        specs: how many specs it made.
        results: what came of their exploration; empty: they were not explored.
    """
    found: list[tuple[str, object]] = [("wowspec.specs", max(specs, len(results)))]
    if not results:
        return found
    fresh = [finding for result in results for finding, _ in undeclared(result)]
    findings = [finding for result in results for finding in result["findings"]]
    known = [finding for finding in findings if all(item["known"] for item in finding["broken"])]
    declared = [finding for finding in findings if any(item["declared"] for item in finding["broken"])]
    found += [
        ("wowspec.plans", sum(result["plans"] for result in results)),
        ("wowspec.findings", len(fresh)),
        ("wowspec.declared", len(declared)),
        ("wowspec.known", len(known)),
    ]
    if fresh:
        found.append(("wowspec.replay", fresh[0]["replay"]))
    return found
