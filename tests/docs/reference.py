"""Makes `docs/reference/`: every public name with its signature and docstring.

`python -m tests.docs.reference --write` writes the pages anew; a test compares them with what it makes. A new public
name is added to `TOPICS`.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any, Final

import wowspec
from wowspec.modeling.annotations import ClassAnnotation

from ..test_docs import DOCS

FOLDER: Final = DOCS / "reference"
_MADE: Final = "This page is made by `python -m tests.docs.reference --write` from the docstrings of the package.\n"
#: Sections of a docstring, and what stands above their entries.
_SECTIONS: Final = {
    "Args": "Arguments",
    "Attributes": "Attributes",
    "Returns": "Returns",
    "Yields": "Yields",
    "Raises": "Raises",
}
_WIDTH: Final = 100
#: How long a default may be to be shown.
_LONGEST: Final = 40


@dataclass(frozen=True, slots=True)
class Topic:
    """One page.

    Attributes:
        name: of the page, and of its file.
        title: its heading.
        about: what it begins with.
        groups: heading, and the names below it; a dotted name is looked up in the package.
    """

    name: str
    title: str
    about: str
    groups: tuple[tuple[str, tuple[str, ...]], ...]


TOPICS: Final[tuple[Topic, ...]] = (
    Topic(
        "specs",
        "Specs",
        "To begin a spec, to run it, to expect. Pages: [first spec](../first-spec.md), "
        "[concurrency](../concurrency.md), [verbs on one page](../../README.md#verbs).",
        (
            ("To begin with", ("given", "spec")),
            ("What is given", ("on", "stream", "at", "advance", "sent_as", "command_of")),
            ("Events that are looser", ("some", "any_of", "unordered", "ANY_EVENTS")),
            ("A spec", ("Spec",)),
            ("What a run came to", ("Run", "Facts", "WorldView")),
        ),
    ),
    Topic(
        "domain",
        "Domains",
        "What a domain declares, and what its functions may ask for. Page: [writing a domain](../writing-a-domain.md).",
        (
            ("Classes", ("aggregate_root", "decider", "stateless_saga", "projection", "event_processor", "Context")),
            (
                "Functions",
                (
                    "on_command", "after_command", "on_error", "on_sourcing", "on_event", "on_state_event", "retry",
                    "blocking", "order",
                ),
            ),
            (
                "Commands and events",
                (
                    "create_aggregate", "allow_create", "void_command", "static_aggregate_id", "static_tenant_id",
                    "name", "event", "phrase", "combine", "carries", "CommandValidator",
                ),
            ),
            (
                "Fields and parameters",
                (
                    "AggregateId", "TenantId", "OwnerId", "SpaceId", "AggregateVersion", "AggregateName", "Name",
                ),
            ),
            (
                "Commands and events that come with the kit",
                (
                    "DeleteAggregate", "AggregateDeleted", "RecoverAggregate", "AggregateRecovered", "OwnerTransferred",
                    "SpaceTransferred", "ApplyResourceTags", "ResourceTagsApplied", "IgnoreSourcing", "SelfNamed",
                ),
            ),
            (
                "What functions may ask for",
                (
                    "Clock", "Views", "CommandResultAccessor", "CommandMessage", "DomainEvent", "DomainEventStream",
                    "StateEvent", "ReadOnlyStateAggregate", "ServerCommandExchange", "DomainEventExchange",
                    "StateDomainEventExchange", "StateEventExchange", "PrepareKey", "PreparedValue", "preparable_key",
                ),
            ),
            ("What states may be", ("StateAggregateAware", "VersionAware", "TagsExtractor")),
            ("What functions may call", ("check", "require_found", "command_builder", "CommandBuilder")),
            ("Names of aggregates", ("AggregateRef", "NamedAggregate")),
        ),
    ),
    Topic(
        "waiting",
        "Waiting and the gateway",
        "Stages, wait plans, the fixture `gateway`. Page: [waiting](../waiting.md).",
        (
            (
                "Wait plans",
                ("sent", "processed", "snapshot", "projected", "event_handled", "saga_handled", "chain"),
            ),
            (
                "Stages",
                (
                    "CommandStage", "SENT", "PROCESSED", "SNAPSHOT", "PROJECTED", "EVENT_HANDLED", "SAGA_HANDLED",
                ),
            ),
            ("The gateway", ("Gateway", "CommandResult", "Header")),
        ),
    ),
    Topic(
        "faults",
        "Faults and orderings",
        "Pages: [faults](../faults.md), [every failure ordering](../failure-orderings.md), and "
        "[its reference](../failure-orderings-reference.md).",
        (
            ("Faults", ("faults", "faults.FaultPoint", "faults.along", "faults.point", "Fault")),
            ("Points of your own", ("FaultPoints", "fault_point")),
            ("Every fault", ("explore_faults",)),
            ("What buses and stores are like", ("profile",)),
            ("A filter of your own", ("Filter", "Order")),
            ("Compensation", ("ExecutionFailed", "PrepareCompensation")),
        ),
    ),
    Topic(
        "hypothesis",
        "Hypothesis",
        "Page: [properties with Hypothesis](../hypothesis.md).",
        (
            ("Strategies", ("commands", "histories", "strategies")),
            ("Tests", ("failure_orderings", "state_machine")),
        ),
    ),
    Topic(
        "errors",
        "Errors",
        "What the runtime raises, what a domain may raise, and what a spec that is wrong raises.",
        (
            ("For a domain to raise", ("IllegalStateError", "DomainError", "recoverable")),
            (
                "Of the runtime",
                (
                    "CommandResultError", "CommandValidationError", "DuplicateRequestIdError",
                    "DuplicateAggregateIdError", "EventVersionConflictError", "CommandExpectVersionConflictError",
                    "SourcingVersionConflictError", "NotFoundError", "IllegalAccessDeletedAggregateError",
                    "IllegalAccessOwnerAggregateError", "IllegalAccessSpaceAggregateError", "DeadlineExceeded",
                ),
            ),
            ("Of faults", ("InjectedFault", "ProcessCrash", "PlanNotReached")),
            ("Of specs", ("SpecFailure", "SpecError", "DefinitionError", "ModelError")),
        ),
    ),
)  # fmt: skip


# --- looking ----------------------------------------------------------------------------------------------------------


def public_names() -> set[str]:
    """Every public name of the package."""
    return set(wowspec.__all__)


def look_up(name: str) -> Any:
    """What a name stands for."""
    found: Any = wowspec
    for part in name.split("."):
        found = getattr(found, part)
    return found


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public members of a class that the package defines, bases last, each in the order of its definition."""
    seen = set()
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] != "wowspec":
            continue
        for name, value in vars(base).items():
            if name.startswith("_") or name in seen or not inspect.getdoc(value):
                continue
            if isinstance(value, (property, staticmethod, classmethod)) or inspect.isfunction(value):
                seen.add(name)
                yield name, value


# --- writing ----------------------------------------------------------------------------------------------------------


def text_of(annotation: Any) -> str:
    """A type as it is written."""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def parameter_text(parameter: inspect.Parameter) -> str:
    """One parameter with its type and default."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    said = stars + parameter.name
    if parameter.annotation is not parameter.empty:
        said += f": {text_of(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        default = parameter.default
        value = f"{type(default).__name__}.{default.name}" if isinstance(default, Enum) else repr(default)
        value = value if len(value) <= _LONGEST and " at 0x" not in value else "..."
        said += f" = {value}" if parameter.annotation is not parameter.empty else f"={value}"
    return said.replace("<factory>", "...")


def signature_text(name: str, function: Callable[..., Any], *, bound: bool) -> str:
    """A call as it is written, over several lines where it is long."""
    signature = inspect.signature(function)
    # What is annotated as `Never` is there to refuse it with a better text.
    parameters = [
        parameter
        for parameter in list(signature.parameters.values())[1 if bound else 0 :]
        if text_of(parameter.annotation) != "Never"
    ]
    said: list[str] = []
    for place, parameter in enumerate(parameters):
        before = parameters[place - 1].kind if place else None
        if parameter.kind is parameter.KEYWORD_ONLY and before not in {
            parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL,
        }:  # fmt: skip
            said.append("*")
        said.append(parameter_text(parameter))
        last = place + 1 == len(parameters)
        if parameter.kind is parameter.POSITIONAL_ONLY and (
            last or parameters[place + 1].kind is not parameter.POSITIONAL_ONLY
        ):
            said.append("/")
    returned = signature.return_annotation
    arrow = "" if returned is signature.empty else f" -> {text_of(returned)}"
    line = f"{name}({', '.join(said)}){arrow}"
    if len(line) <= _WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in said) + f"){arrow}"


def fenced(code: str) -> str:
    """A block of Python."""
    return f"```python\n{code}\n```\n"


def entries(lines: list[str]) -> str:
    """The entries of a section as a list: `name: text`, continued by deeper lines."""
    items: list[list[str]] = []
    for line in lines:
        if not line.strip():
            continue
        if line.startswith(" ") and items:
            items[-1].append(line.strip())
        else:
            items.append([line.strip()])
    made = []
    for words in items:
        head, colon, rest = " ".join(words).partition(": ")
        plain = re.fullmatch(r"[*\w., \[\]|]+", head) is not None and "`" not in head
        made.append(f"* `{head}`: {rest}\n" if colon and plain else f"* {' '.join(words)}\n")
    return "".join(made)


def doc_text(doc: str) -> str:
    """A docstring as Markdown."""
    made: list[str] = []
    plain: list[str] = []
    lines = doc.splitlines()
    place = 0
    while place < len(lines):
        title = lines[place].removesuffix(":")
        if lines[place].endswith(":") and title in _SECTIONS:
            place += 1
            block = []
            while place < len(lines) and (not lines[place].strip() or lines[place].startswith("    ")):
                block.append(lines[place][4:])
                place += 1
            made.append("\n".join(plain).strip())
            plain = []
            if title in {"Returns", "Yields"}:
                said = " ".join(line.strip() for line in block if line.strip())
                made.append(f"*{_SECTIONS[title]}:* {said}")
            else:
                made.append(f"*{_SECTIONS[title]}:*\n\n{entries(block)}".rstrip())
            continue
        plain.append(lines[place])
        place += 1
    made.append("\n".join(plain).strip())
    return "\n\n".join(part for part in made if part) + "\n"


def member_text(owner: str, name: str, value: Any) -> str:
    """One member of a class."""
    said = f"#### {owner}.{name}\n\n"
    if isinstance(value, property):
        getter = value.fget
        assert getter is not None
        returned = inspect.signature(getter).return_annotation
        said += fenced(f"{name}: {text_of(returned)}")
    elif isinstance(value, (staticmethod, classmethod)):
        said += fenced(signature_text(name, value.__func__, bound=isinstance(value, classmethod)))
    else:
        said += fenced(signature_text(name, value, bound=True))
    return said + "\n" + doc_text(inspect.getdoc(value) or "")


def anchor(heading: str) -> str:
    """The link to a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def class_text(name: str, kind: type) -> str:
    """A class with its members."""
    said = ""
    own = kind.__init__ if "__init__" in vars(kind) else None
    if inspect.isfunction(own) and not getattr(kind, "_is_protocol", False):
        said = fenced(signature_text(name, own, bound=True).removesuffix(" -> None")) + "\n"
    doc = vars(kind).get("__doc__") or ""
    said += doc_text(inspect.cleandoc(doc))
    all_members = list(members(kind))
    short = name.rpartition(".")[2]
    if len(all_members) > 3:
        links = " · ".join(f"[{each}](#{anchor(f'{short}.{each}')})" for each, _ in all_members)
        said += f"\n*Members:* {links}\n"
    return said + "".join("\n" + member_text(short, each, value) for each, value in all_members)


def object_text(name: str) -> str:
    """Everything that is told of a name, below its heading."""
    found = look_up(name)
    if isinstance(found, ClassAnnotation):
        return fenced(f"@{name}") + "\n" + doc_text(inspect.getdoc(type(found.mark)) or "")
    if isinstance(found, ModuleType):
        said = doc_text(inspect.getdoc(found) or "")
        here = [each for each in getattr(found, "__all__", ()) if each not in public_names()]
        for each in here if name == "strategies" else ():
            value = getattr(found, each)
            said += f"\n#### {name}.{each}\n\n{fenced(signature_text(each, value, bound=False))}\n"
            said += doc_text(inspect.getdoc(value) or "")
        return said
    if isinstance(found, Enum):
        return f"`{type(found).__name__}.{found.name}`\n"
    if inspect.isclass(found):
        if issubclass(found, Enum):
            return doc_text(inspect.getdoc(found) or "") + "\n" + entries([f"`{each.name}`" for each in found])
        return class_text(name, found)
    if inspect.isfunction(found):
        return fenced(signature_text(name, found, bound=False)) + "\n" + doc_text(inspect.getdoc(found) or "")
    kind = type(found)
    said = doc_text(inspect.getdoc(kind) or "")
    if callable(found):
        said = fenced(signature_text(f"@{name}", kind.__call__, bound=True)) + "\n" + said
    return said + "".join("\n" + member_text(name, each, value) for each, value in members(kind))


def first_sentence(name: str) -> str:
    """What a name is, in one line."""
    found = look_up(name)
    if isinstance(found, Enum):
        return f"a stage that can be waited for: `{type(found).__name__}.{found.name}`"
    subject = type(found.mark) if isinstance(found, ClassAnnotation) else found
    paragraph = (inspect.getdoc(subject) or "").partition("\n\n")[0].replace("\n", " ")
    sentence = re.split(r"(?<=\.)\s+(?=[A-Z`])", paragraph)[0].rstrip(".")
    return sentence.replace("|", "\\|")


def page(topic: Topic) -> str:
    """One page of the reference."""
    said = f"# {topic.title}\n\n{topic.about}\n\n{_MADE}"
    for title, names in topic.groups:
        said += f"\n## {title}\n"
        for name in names:
            said += f"\n### {name}\n\n{object_text(name)}"
    return said


def anchors(text: str) -> dict[str, str]:
    """Heading of the third level → the link to it, as GitHub makes it: of two that are alike the second is numbered."""
    counts: dict[str, int] = {}
    made = {}
    for level, heading in re.findall(r"(?m)^(#+) (.+)$", text):
        link = anchor(heading)
        counts[link] = counts.get(link, -1) + 1
        if level == "###":
            made[heading] = f"{link}-{counts[link]}" if counts[link] else link
    return made


def index() -> str:
    """The page that names everything."""
    said = (
        "# API reference\n\nEvery public name: `from wowspec import given`. "
        "The pytest options and their tables are in [the README](../../README.md). A number such as CMD-242 "
        "names the clause of the runtime's behaviour that a sentence rests on: [the ledger](../fidelity.md) has them "
        "all.\n\n"
        f"{_MADE}"
    )
    for topic in TOPICS:
        said += f"\n## [{topic.title}]({topic.name}.md)\n\n| | |\n|---|---|\n"
        links = anchors(page(topic))
        for _, names in topic.groups:
            for name in names:
                said += f"| [`{name}`]({topic.name}.md#{links[name]}) | {first_sentence(name)} |\n"
    return said


def pages() -> dict[str, str]:
    """File name → text, of the whole reference."""
    return {"index.md": index(), **{f"{topic.name}.md": page(topic) for topic in TOPICS}}


def main() -> int:
    """Write the pages, or say how."""
    if sys.argv[1:] != ["--write"]:
        print(__doc__)
        return 1
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
