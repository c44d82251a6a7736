"""The JSON Schema of the document, made of its typed dictionaries; and the tables of docs/reports.md.

`python -m tests.reporting.schema --write` writes both anew.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, Final, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from tests.exploration.pages import DOCS, table, with_tables
from wowspec.plugin import _REPORT_OPTIONS, REPORT_KINDS
from wowspec.reporting import document
from wowspec.reporting.document import SCHEMA_VERSION, DocumentJson
from wowspec.specs.run_json import RowJson, RunJson

SCHEMA: Final = DOCS / "report.schema.json"
PAGE: Final = DOCS / "reports.md"

_PLAIN: Final[dict[Any, dict[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
}
_ITEM: Final = re.compile(r"^(\w+): (.*)$")
_CODE: Final = re.compile(r"`([^`]*)`")


def schema() -> dict[str, Any]:
    """The schema: each typed dictionary is a definition. Keys that it does not know are allowed: some may be added."""
    found: dict[str, dict[str, Any]] = {}
    root = _of(DocumentJson, found)
    found["DocumentJson"]["properties"]["schema"]["const"] = SCHEMA_VERSION
    found["DocumentJson"]["properties"]["tool"]["const"] = "wowspec"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"wowspec report, version {SCHEMA_VERSION}",
        **root,
        "$defs": dict(sorted(found.items())),
    }


def _of(hint: Any, found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if is_typeddict(hint):
        if hint.__name__ not in found:
            found[hint.__name__] = {}
            found[hint.__name__] = _object(hint, found)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    origin, args = get_origin(hint), get_args(hint)
    if origin is list:
        return {"type": "array", "items": _of(args[0], found)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(args[1], found)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of(arg, found) for arg in args]}
    raise TypeError(hint)


def _object(cls: Any, found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    told = attributes(cls)
    optional = [name for name, hint in hints.items() if get_origin(hint) is NotRequired]
    properties = {}
    for name, hint in hints.items():
        made = _of(get_args(hint)[0] if name in optional else hint, found)
        properties[name] = {**made, "description": told[name]} if name in told else made
    return {
        "type": "object",
        "description": _CODE.sub(r"\1", (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ")),
        "properties": properties,
        "required": [name for name in hints if name not in optional],
    }


def attributes(cls: Any) -> dict[str, str]:
    """What a typed dictionary's docstring says of each key."""
    told: dict[str, str] = {}
    name = ""
    section = (inspect.getdoc(cls) or "").partition("Attributes:\n")[2]
    for line in inspect.cleandoc(section).splitlines():
        found = _ITEM.match(line)
        if found is not None:
            name = found[1]
            told[name] = found[2]
        elif name:
            told[name] += f" {line.strip()}"
    return told


def text() -> str:
    """The schema's file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


# --- validating -------------------------------------------------------------------------------------------------------


def problems(value: Any, rule: dict[str, Any], whole: dict[str, Any], path: str = "$") -> Iterator[str]:
    """Where a value is not what its schema says: as much of JSON Schema as ours uses."""
    if "$ref" in rule:
        yield from problems(value, whole["$defs"][rule["$ref"].rpartition("/")[2]], whole, path)
        return
    if "anyOf" in rule:
        each = [list(problems(value, one, whole, path)) for one in rule["anyOf"]]
        if all(each):
            yield from min(each, key=len)
        return
    if "const" in rule and value != rule["const"]:
        yield f"{path}: {value!r} is not {rule['const']!r}"
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
    kinds |= {"array": list, "object": dict}
    kind = rule.get("type")
    if kind is not None and (not isinstance(value, kinds[kind]) or (isinstance(value, bool) and kind != "boolean")):
        yield f"{path}: {type(value).__name__} is no {kind}"
    elif kind == "array":
        for place, item in enumerate(value):
            yield from problems(item, rule["items"], whole, f"{path}[{place}]")
    elif kind == "object":
        yield from (f"{path}: no {name}" for name in rule.get("required", ()) if name not in value)
        for name, item in value.items():
            known = rule.get("properties", {}).get(name, rule.get("additionalProperties"))
            if known is not None:
                yield from problems(item, known, whole, f"{path}.{name}")


# --- tables -----------------------------------------------------------------------------------------------------------


def options() -> str:
    """One row an option, then one a kind of report."""
    rows = [[f"`{flag}={takes['metavar']}`", what] for flag, takes, what in _REPORT_OPTIONS]
    return table(["option", "what it does"], rows)


def kinds() -> str:
    """One row a kind of report."""
    rows = [[f"`{kind}:{'DIR' if many else 'PATH'}`", what] for kind, many, what in REPORT_KINDS]
    return table(["`--wowspec-report=`", "what is written"], rows)


def _keys(cls: Any) -> Callable[[], str]:
    def make() -> str:
        told = attributes(cls)
        return table(["key", "what it is"], ([f"`{name}`", told[name].replace("|", "\\|")] for name in told))

    return make


TABLES: Final[dict[str, Callable[[], str]]] = {
    "options": options,
    "kinds": kinds,
    **{
        cls.__name__: _keys(cls)
        for cls in (DocumentJson, document.TestJson, document.SpecJson, document.StepJson, RunJson, RowJson)
    },
}


def main(arguments: typing.Sequence[str]) -> int:
    """Write schema and tables, or say whether they are up to date."""
    page = with_tables(PAGE.read_text(encoding="utf-8"), TABLES)
    if "--write" in arguments:
        SCHEMA.write_text(text(), encoding="utf-8")
        PAGE.write_text(page, encoding="utf-8")
        return 0
    return int(SCHEMA.read_text(encoding="utf-8") != text() or PAGE.read_text(encoding="utf-8") != page)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
