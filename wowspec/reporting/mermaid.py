"""Stories as Mermaid text: a sequence diagram for each spec and each finding that is told, and an index of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ..specs.run_json import RowJson, RunJson
from .document import DocumentJson

#: Mermaid refuses more than 50,000 characters; what is left out then is said in the diagram.
MOST_TEXT: Final = 45_000
#: The first line of each diagram, and of the index: files without it are somebody's own, and are never touched.
_WRITTEN: Final = "Written by wowspec from the specs of this project. Changes here are lost."
MARKER: Final = f"%% {_WRITTEN}"
INDEX_MARKER: Final = f"<!-- {_WRITTEN} -->"
#: Characters of a file's name, before the part that tells it from all others.
_MOST_NAME: Final = 80
_MOST_LABEL: Final = 160
#: What is behind rows that a fault struck.
_STRUCK: Final = "rect rgba(214, 60, 60, 0.2)"
_OTHERS: Final = re.compile(r"[^a-z0-9]+")
_LINES: Final = re.compile(r"\s*[\r\n\u2028\u2029\x0b\x0c\x1c-\x1e\x85]+\s*")
#: What no terminal and no browser shows; halves of characters, which no file can hold.
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
#: Signs that mean something to Mermaid, as the numbers that it takes instead.
_SIGNS: Final = {sign: f"#{ord(sign)};" for sign in '#;:%<>&"`{}\\'}


class Diagram(NamedTuple):
    """One diagram.

    Attributes:
        test: node id of the test.
        title: what it shows.
        name: of its file.
        runs: the runs that it draws, one below the other.
    """

    test: str
    title: str
    name: str
    runs: Sequence[RunJson]


def write_mermaid(document: DocumentJson, directory: Path) -> None:
    """Write a file for each diagram, and `index.md`; diagrams of an earlier time that nothing belongs to are removed.

    Args:
        document: the document.
        directory: where; it is made if it is not there.

    Raises:
        FileExistsError: if somebody's own index stands there; then nothing is written.
    """
    drawn = list(diagrams(document))
    directory.mkdir(exist_ok=True)
    if not is_ours(directory / "index.md", INDEX_MARKER):
        raise FileExistsError(f"{directory / 'index.md'} is there, and was not written by wowspec")
    written = {diagram.name for diagram in drawn}
    for path in sorted(directory.glob("*.mmd")):
        if path.name not in written and is_ours(path, MARKER):
            path.unlink()
    for diagram in drawn:
        (directory / diagram.name).write_text(text_of(diagram), encoding="utf-8", newline="\n")
    (directory / "index.md").write_text(_index(document, drawn), encoding="utf-8", newline="\n")


def is_ours(path: Path, marker: str) -> bool:
    """Whether a file is not there, or was written here."""
    if not path.exists():
        return True
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline().rstrip() == marker


def diagrams(document: DocumentJson) -> Iterator[Diagram]:
    """All diagrams of a document: of each spec that ran; then of each finding that has a story."""
    for test in document["tests"]:
        for place, spec in enumerate(test["specs"]):
            if any(run["rows"] for run in spec["runs"]):
                name = file_name(test["id"], f"spec {place}")
                yield Diagram(test["id"], spec["scenario"] or test["title"], name, spec["runs"])
    for result in document["exploration"]:
        for finding in result["findings"]:
            if finding["story"] is not None:
                name = file_name(result["test"], f"spec {result['spec']} {finding['plan']}", "finding")
                laws = ", ".join(item["title"] for item in finding["broken"])
                yield Diagram(result["test"], f"{laws}: {finding['plan']}", name, [finding["story"]])


def file_name(test: str, what: str, mark: str = "") -> str:
    """The name of a file, the same one in each session, and of no other diagram.

    Args:
        test: node id of the test.
        what: tells the diagrams of a test apart.
        mark: what a reader should see of that.
    """
    slug = _OTHERS.sub("-", test.lower()).strip("-")
    parts = [
        slug[-_MOST_NAME:].strip("-"),
        mark,
        hashlib.blake2b(f"{test}\n{what}".encode(), digest_size=4).hexdigest(),
    ]
    return "-".join(part for part in parts if part) + ".mmd"


def escaped(text: str) -> str:
    """A text that says nothing to Mermaid, on one line."""
    text = _CONTROLS.sub("\ufffd", _LINES.sub(" ⏎ ", text))
    if len(text) > _MOST_LABEL:
        text = f"{text[: _MOST_LABEL - 1]}…"
    return "".join(_SIGNS.get(sign, sign) for sign in text)


def text_of(diagram: Diagram) -> str:
    """A diagram as text."""
    lanes = list(dict.fromkeys(row["lane"] for run in diagram.runs for row in run["rows"]))
    ids = {lane: f"p{place}" for place, lane in enumerate(lanes)}
    everybody = ",".join(dict.fromkeys([ids[lanes[0]], ids[lanes[-1]]]))
    lines = [MARKER, "sequenceDiagram", f"    title {escaped(diagram.title)}"]
    lines += [f"    participant {ids[lane]} as {escaped(lane)}" for lane in lanes]
    room = MOST_TEXT - _size(lines)
    for place, run in enumerate(diagram.runs):
        told = [f"    {line}" for line in _run(run, ids, everybody)]
        if place and _size(told) > room:
            lines.append(f"    {_note(everybody, f'… {len(diagram.runs) - place} more runs are left out …')}")
            break
        told = _fitting(told, room)
        lines += told
        room -= _size(told)
    return "\n".join(lines) + "\n"


def _size(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _fitting(lines: list[str], room: int) -> list[str]:
    """The lines that there is room for, from the first one on; no block is left open."""
    fits = 0
    for place, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return lines[:fits]
        if not line.startswith(("        ", "    rect")):
            fits = place + 1
    return lines


def _run(run: RunJson, ids: dict[str, str], everybody: str) -> Iterator[str]:
    """The lines of one run."""
    head = run["command"] or ("" if run["step"] < 0 else "what was given is told")
    order = f" in the order {run['schedule']}" if run["schedule"] else ""
    if head:
        yield _note(everybody, f"{head}{order}", wrap=True)
    millis = 0
    for place, row in enumerate(run["rows"]):
        if row["millis"] != millis:
            millis = row["millis"]
            yield _note(everybody, f"{millis} ms")
        if place == run["departure"]:
            yield _note(ids[row["lane"]], "from here on it is not as it is without faults")
        yield from _row(row, ids)
    if run["left_out"]:
        yield _note(everybody, f"… {run['left_out']} rows are left out above …")
    yield _note(everybody, f"{run['outcome']}: {run['error']}" if run["error"] else run["outcome"], wrap=True)


def _note(over: str, text: str, *, wrap: bool = False) -> str:
    return f"Note over {over}: {'wrap: ' if wrap else ''}{escaped(text)}"


def _row(row: RowJson, ids: dict[str, str]) -> Iterator[str]:
    source, target = _way(row, ids)
    failed = row["outcome"] != "ok"
    label = " ".join(part for part in (row["point"], row["detail"], f"✗ {row['outcome']}" if failed else "") if part)
    message = f"{source}{'-x' if failed else '->>'}{target}: {escaped(label)}"
    if row["struck"]:
        yield _STRUCK
        yield f"    {message}"
        yield "end"
    else:
        yield message
    if row["note"]:
        yield f"Note right of {ids[row['lane']]}: {escaped(row['note'])}"


def _way(row: RowJson, ids: dict[str, str]) -> tuple[str, str]:
    """From which lane to which one a point leads; most are work of one lane."""
    lane, point = row["lane"], row["point"].partition(":")[0]
    own = ids[lane]
    if point == "command_bus.send":
        return own, ids.get(lane.removeprefix("gateway:"), own)
    if point in ("event.deliver", "snapshot.save"):
        return ids.get(lane.partition("@")[2], own), own
    if point == "wait.notify":
        return own, ids.get(f"gateway:{lane.rpartition('@')[2]}", own)
    return own, own


def _index(document: DocumentJson, drawn: Sequence[Diagram]) -> str:
    lines = [INDEX_MARKER, "", f"# Stories of {_plain(document['title'])}", ""]
    test = ""
    for diagram in drawn:
        if diagram.test != test:
            test = diagram.test
            lines += ["", f"## `{_CONTROLS.sub(' ', test).replace('`', ' ')}`", ""]
        lines.append(f"* [{_plain(diagram.title)}]({diagram.name})")
    if not drawn:
        lines.append("No spec ran.")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """A text that says nothing to Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>()#!|])", r"\\\1", _CONTROLS.sub("\ufffd", _LINES.sub(" ", text)))
