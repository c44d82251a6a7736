"""`docs/reference/` says what the docstrings say, of every public name."""

from __future__ import annotations

import pytest

from tests.docs import reference


def test_every_public_name_has_its_place():
    """Each public name stands on one page of the reference, and nothing else does but parts of a module."""
    placed = [name for topic in reference.TOPICS for _, names in topic.groups for name in names]

    assert len(placed) == len(set(placed))
    assert {name for name in placed if "." not in name} == reference.public_names()


@pytest.mark.parametrize("name", sorted(reference.pages()))
def test_the_pages_are_up_to_date(name):
    """A stale page fails: `python -m tests.docs.reference --write` makes it anew."""
    assert (reference.FOLDER / name).read_text(encoding="utf-8") == reference.pages()[name]


def test_every_public_thing_has_a_docstring():
    """No public name, and no public member of a public class, goes without a word."""
    silent = [name for name in sorted(reference.public_names()) if not reference.first_sentence(name)]

    assert silent == []


def test_a_docstring_becomes_markdown():
    """Sections become lists, and what is continued stays one entry."""
    doc = (
        "What it is.\n\nMore of it.\n\nArgs:\n    a: the first,\n        and so on.\n    b: the second.\n\n"
        "Raises:\n    SpecError: if not."
    )

    assert reference.doc_text(doc) == (
        "What it is.\n\nMore of it.\n\n*Arguments:*\n\n* `a`: the first, and so on.\n* `b`: the second.\n\n"
        "*Raises:*\n\n* `SpecError`: if not.\n"
    )


def test_a_long_signature_is_broken():
    """A parameter a line, with what separates kinds of parameters."""

    def short(one: int, /, two: str = "2", *, three=3) -> None: ...

    def long(
        a_rather_long_name: dict[str, list[int]], *rest: tuple[int, ...], another_name: str | None = None
    ) -> int: ...

    assert reference.signature_text("short", short, bound=False) == (
        "short(one: int, /, two: str = '2', *, three=3) -> None"
    )
    assert reference.signature_text("long", long, bound=False).splitlines() == [
        "long(",
        "    a_rather_long_name: dict[str, list[int]],",
        "    *rest: tuple[int, ...],",
        "    another_name: str | None = None,",
        ") -> int",
    ]
