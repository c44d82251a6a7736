"""Makes `docs/failures-beside-others.md`: the same ten mistakes with this kit, plain pytest and Protean, run for real.

What Axon and Emmett say was read in their sources; nothing of them is run.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from .gallery import ROOT, run_pytest, steady

HERE: Final = Path(__file__).parent / "beside"
PAGE: Final = ROOT / "docs" / "failures-beside-others.md"
KITS: Final = {"kit": "wowspec", "plain": "plain pytest", "protean_kit": "Protean"}
HAS_PROTEAN: Final = importlib.util.find_spec("protean") is not None

#: Of each mistake what the texts tell, kit by kit: cause, place, remedy; `passes`: nothing is noticed; `?`: not found
#: out; `-`: it has no such thing.
TABLE: Final[Mapping[str, tuple[str, str, str, str, str, str]]] = {
    "a_wrong_field": ("A wrong field", "cpr", "c..", "c..", "c..", "..."),
    "a_missing_event": ("A missing event", "cpr", "c..", "c..", "c..", "c.."),
    "a_wrong_order": ("A wrong order", "cpr", "...", "...", "...", "passes"),
    "a_wrong_id": ("Another instance than the given one", "cpr", ".p.", "...", "cp.", "-"),
    "a_forgotten_sourcing_function": ("A forgotten sourcing function", "cpr", "...", "...", "?", "-"),
    "a_forgotten_return": ("A forgotten return", "cpr", "...", "...", "...", "..."),
    "a_bug_taken_for_a_refusal": ("A bug taken for a refusal", "cpr", "passes", "passes", "?", "passes"),
    "another_error": ("An error of another class", "cpr", "cp.", "c..", "cp.", "c.."),
    "an_error_that_nobody_expected": ("An error that nobody expected", "cpr", "cp.", "passes", "?", "cp."),
    "nothing_expected": ("Nothing is expected", "cpr", "passes", "passes", "?", "passes"),
}

_TEST: Final = re.compile(r"(?m)^def test_(\w+)\(\):\n(?:    .*\n|\n)+?(?=\n\ndef |\Z)")
#: What is said to linters alone.
_NOTE: Final = re.compile(r"  # noqa: \w+")
_SECTION: Final = re.compile(r"(?m)^_{3,} test_(\w+) _{3,}\n")
_PROTEAN: Final = re.compile(r"<!-- Protean: (\w+) -->\n\n```text\n(.*?)```", re.DOTALL)


def texts(kit: str) -> dict[str, str]:
    """What pytest says of each mistake; of one that passes, that it does."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        for helper in ("till.py", "protean_till.py"):
            shutil.copy(HERE / helper, folder)
        shutil.copy(HERE / f"{kit}.py", folder / f"test_{kit}.py")
        output = run_pytest(folder, "--show-capture=no", "-Wignore", "--disable-warnings")
    parts = _SECTION.split(re.sub(r"(?m)^=+ short test summary(.|\n)*", "", output))
    told = {name: steady(text) for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    return {name: told.get(name, "1 passed\n") for name in TABLE}


def all_texts() -> dict[str, dict[str, str]]:
    """Of each kit; where Protean is not installed, what the page says of it."""
    found = {kit: texts(kit) for kit in KITS if kit != "protean_kit" or HAS_PROTEAN}
    if not HAS_PROTEAN:
        found["protean_kit"] = dict(_PROTEAN.findall(PAGE.read_text(encoding="utf-8")))
    return found


def versions() -> str:
    """Of what was run."""
    if not HAS_PROTEAN:
        return re.findall(r"pytest [\d.]+ and Protean [\d.]+", PAGE.read_text(encoding="utf-8"))[0]
    return f"pytest {version('pytest')} and Protean {version('protean')}"


def page(told: Mapping[str, Mapping[str, str]], run_with: str) -> str:
    """The page."""
    lines: list[str] = []
    sources = {kit: dict(_tests(kit)) for kit in KITS}
    for name, (title, *_) in TABLE.items():
        lines.append(f"## {title}\n")
        for kit, shown in KITS.items():
            lines.append(f"**{shown}**\n\n```py\n{sources[kit][name]}```\n")
            lines.append(f"<!-- {shown}: {name} -->\n\n```text\n{told[kit][name]}```\n")
    frame = (HERE / "page.md").read_text(encoding="utf-8").replace("{versions}", run_with)
    return frame.replace("<!-- table -->\n", _table()).replace("<!-- mistakes -->\n", "\n".join(lines))


def _tests(kit: str) -> list[tuple[str, str]]:
    source = (HERE / f"{kit}.py").read_text(encoding="utf-8")
    return [(found[1], _NOTE.sub("", found[0]).rstrip("\n") + "\n") for found in _TEST.finditer(source)]


def _table() -> str:
    rows = ["| | wowspec | plain pytest | Protean | Axon¹ | Emmett¹ |", "|---|---|---|---|---|---|"]
    for title, *cells in TABLE.values():
        rows.append(f"| [{title}](#{title.lower().replace(' ', '-')}) | {' | '.join(map(_cell, cells))} |")
    return "\n".join(rows) + "\n"


def _cell(marks: str) -> str:
    if marks in ("passes", "?", "-"):
        return {"passes": "*passes*", "?": "?", "-": "–"}[marks]
    said = [word for mark, word in zip(marks, ("cause", "place", "remedy"), strict=True) if mark != "."]
    return ", ".join(said) or "that it fails"
