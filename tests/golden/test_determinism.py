"""Two runs of the same case give the same trace, byte for byte, under any hash seed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

from tests.golden import cases
from tests.golden.drive_pipeline import Run

EVERY = 17


def text_of_runs():
    """Everything that a sample of the recorded runs leaves behind: rows with times and ids, headers, results."""
    lines = []
    for case in cases.read(cases.OWN_DATA, "pipeline")[::EVERY]:
        run = Run(case.data)
        result = run.result()
        lines.append(case.id)
        for row in run.world.trace:
            header = getattr(row.subject, "header", None)
            lines.append(f"{row.nanos} {row} {getattr(row.subject, 'id', '')} {json.dumps(header)} {row.error!r}")
        lines.append(json.dumps(result))
    return "\n".join(lines)


def test_runs_do_not_depend_on_the_hash_seed():
    """Under three hash seeds, in processes of their own, the sampled runs leave the same text."""
    code = (
        "import hashlib; from tests.golden.test_determinism import text_of_runs;"
        "text = text_of_runs(); print(len(text), hashlib.sha256(text.encode()).hexdigest())"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "1", "4294967295")
    ]

    printed = {process.communicate()[0] for process in started}

    assert [process.returncode for process in started] == [0, 0, 0]
    assert len(printed) == 1
    assert int(printed.pop().split()[0]) > 10_000


def test_a_second_run_in_one_process_is_the_same():
    """Nothing of a run stays behind in the process."""
    first, second = (hashlib.sha256(text_of_runs().encode()).hexdigest() for _ in range(2))

    assert first == second
