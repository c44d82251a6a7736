"""`python -m tests.knockout [TEXT]` drops each row of each table (whose place holds TEXT); 1 if one goes unnoticed."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.knockout.mutate import VARIABLE, rows
from tests.knockout.tables import TABLES, Table

_PASSED = 0


def run_marked(table: Table, row: int | None) -> subprocess.CompletedProcess[str]:
    """Run the tests of a table, the marked ones if clauses speak of it, without one of its rows or whole."""
    # Other plugins would cost four times what the tests do.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop(VARIABLE, None)
    if row is not None:
        environment[VARIABLE] = f"{table.place}#{row}"
    options = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "wowspec.plugin"]
    options += ["-m", "clause" if table.has_clauses else "long or not long"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *table.tests],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def verdict(table: Table, row: int, text: str) -> tuple[bool, str]:
    """Whether the loss of a row is noticed, and a line that says so."""
    reason = dict(table.exempt).get(text)
    if reason is not None:
        return True, f"exempt    {table.place}#{row} {text}: {reason}"
    finished = run_marked(table, row)
    if finished.returncode == _PASSED:
        return False, f"UNNOTICED {table.place}#{row} {text}"
    failed = [line.split(" ")[1] for line in finished.stdout.splitlines() if line.startswith("FAILED ")]
    if not failed:
        # Without the row the package can't even be imported, or the tests can't be collected.
        return True, f"needed    {table.place}#{row} {text}"
    return True, f"noticed   {table.place}#{row} {text} by {failed[0]}"


def main() -> int:
    """Knock out every row; 1 if the loss of one goes unnoticed."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    chosen = [table for table in TABLES if wanted in table.place]
    if not chosen:
        print(f"no table's place holds {wanted!r}", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        whole = list(pool.map(lambda table: run_marked(table, None), chosen))
        for table, finished in zip(chosen, whole, strict=True):
            if finished.returncode != _PASSED:
                print(f"the marked tests of {table.place} must pass before rows are dropped:\n{finished.stdout}")
                return 1
        work = [(table, row, text) for table in chosen for row, text in enumerate(rows(table.place))]
        noticed = True
        for good, line in pool.map(lambda item: verdict(*item), work):
            print(line[:200], flush=True)
            noticed = noticed and good
    print(f"{len(work)} rows of {len(chosen)} tables: {'each is pinned' if noticed else 'not each is pinned'}")
    return 0 if noticed else 1


if __name__ == "__main__":
    raise SystemExit(main())
