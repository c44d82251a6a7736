"""`python -m tests.ledger --write` writes docs/fidelity.md and its numbers; `--check` says whether they are current."""

from __future__ import annotations

import argparse
import sys

from tests.ledger.ledger import COMMAND, LEDGER, NUMBERS, ROOT, collect, numbers, problems, render


def main() -> int:
    """Write or check; 1 if there is something to mend."""
    parser = argparse.ArgumentParser(prog="python -m tests.ledger", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write docs/fidelity.md and the numbers that reports show")
    what.add_argument("--check", action="store_true", help="fail if one of them is stale")
    arguments = parser.parse_args()
    clauses = collect()
    found = problems(clauses)
    for path, text in ((LEDGER, render(clauses)), (NUMBERS, numbers(clauses))):
        if arguments.write:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(f"{path.relative_to(ROOT)} is stale: run {COMMAND}")
    for problem in found:
        print(problem, file=sys.stderr)
    states = [clause.state for clause in clauses.values()]
    print(f"{len(states)} clauses: " + ", ".join(f"{states.count(s)} {s}" for s in ("pinned", "open", "left out")))
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
