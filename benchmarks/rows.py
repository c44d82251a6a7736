"""A measured value beside its limit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One measured value.

    Attributes:
        name: what was measured.
        measured: the value, or None where it was skipped.
        unit: of the value; `skipped: …` where it was.
        wanted: the limit, or None for a value that stands beside another.
        holds: whether the limit holds; None without a limit or a value.
    """

    name: str
    measured: float | None
    unit: str
    wanted: str | None
    holds: bool | None


def at_most(name: str, measured: float, unit: str, limit: float) -> Row:
    """A value that must not be over its limit."""
    return Row(name, round(measured, 3), unit, f"<= {limit:g}", measured <= limit)


def at_least(name: str, measured: float, unit: str, limit: float) -> Row:
    """A value that must not be under its limit."""
    return Row(name, round(measured, 3), unit, f">= {limit:g}", measured >= limit)


def beside(name: str, measured: float, unit: str) -> Row:
    """A value that is printed to read another by."""
    return Row(name, round(measured, 3), unit, None, None)


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| measured | value | wanted | holds |", "|---|---:|---:|---|"]
    for row in rows:
        value = row.unit if row.measured is None else f"{row.measured:.3g} {row.unit}"
        holds = "" if row.holds is None else "yes" if row.holds else "**no**"
        lines.append(f"| {row.name} | {value} | {row.wanted or ''} | {holds} |")
    return "\n".join(lines)
