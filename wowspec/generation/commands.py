"""Commands of one aggregate, drawn so that they have to do with each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final
from weakref import WeakKeyDictionary

from hypothesis import strategies as st

from ..errors import SpecError
from ..modeling.aggregates import AggregateMetadata
from ..modeling.builtin import ApplyResourceTags, DeleteAggregate, RecoverAggregate
from .callers import Caller
from .domain import creates, id_field, may_follow
from .leaves import LEAVES, Schema, Strategy, accepts
from .overrides import Overrides, overrides_of, unknown_field
from .pools import shared_values
from .resolver import resolve

#: The id that commands speak of where their types accept it.
DEFAULT_IDS: Final = ("1",)
_WORDS: Final = st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=8)
#: Commands that the runtime answers itself.
_BUILT_IN: Final[dict[type, Strategy]] = {
    DeleteAggregate: st.builds(DeleteAggregate),
    RecoverAggregate: st.builds(RecoverAggregate),
    ApplyResourceTags: st.builds(ApplyResourceTags, st.dictionaries(_WORDS, st.lists(_WORDS, max_size=2), max_size=2)),
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """The commands of one instance.

    Attributes:
        ids: its id: one, in each example.
        creating: commands that may be its first ones.
        following: commands that may come later.
        every: all of them.
        is_default: whether the author said nothing of ids.
    """

    ids: st.SearchStrategy[str]
    creating: Strategy
    following: Strategy
    every: Strategy
    is_default: bool = False


def commands_of_instances(
    metadata: AggregateMetadata,
    classes: Sequence[type],
    caller: Caller,
    ids: Iterable[str] | None,
    overrides: Mapping[str, Any],
) -> list[Drawn]:
    """The commands of each instance that they speak of.

    Raises:
        SpecError: where no strategy follows from a field's type, or an override or an id cannot be meant.
    """
    chosen = _chosen_ids(metadata, caller, ids)
    return [replace(_of_instance(metadata, classes, caller, one, overrides), is_default=ids is None) for one in chosen]


def _of_instance(
    metadata: AggregateMetadata,
    classes: Sequence[type],
    caller: Caller,
    ids: st.SearchStrategy[str],
    overrides: Mapping[str, Any],
) -> Drawn:
    said = _Said(caller, overrides, classes)
    strategies = {}
    for cls in classes:
        strategy = _BUILT_IN[cls] if cls in metadata.built_in else said.whole(cls)
        if strategy is None:
            tree = said.of(cls)
            name = id_field(cls)
            if name is not None and name not in tree.inner:
                tree.inner[name] = Overrides(ids, used=True)
            strategy = resolve(cls, tree, caller.of_command(cls.__name__), shared_values)
        strategies[cls] = strategy
    said.require_used()
    every = [strategies[cls] for cls in classes]
    creating = [strategies[cls] for cls in classes if creates(cls)]
    following = [strategies[cls] for cls in classes if may_follow(cls)]
    return Drawn(ids, st.one_of(creating or every), st.one_of(following or every), st.one_of(every))


# --- ids --------------------------------------------------------------------------------------------------------------


def _chosen_ids(metadata: AggregateMetadata, caller: Caller, ids: Iterable[str] | None) -> list[st.SearchStrategy[str]]:
    if ids is None:
        return [_default_id(metadata)]
    said: Any = ids
    wanted = list(said) if not isinstance(said, str) else [said]
    if not wanted or not all(isinstance(one, str) and one.strip() for one in wanted):
        raise SpecError(
            f"{caller} is given ids={said!r}",
            why="ids are texts that are not blank, of the instances that commands speak of",
            instead="ids=('1', '2')",
        )
    for schema in _id_schemas(metadata):
        for one in wanted:
            if not accepts(schema)(one):
                raise SpecError(
                    f"{caller} is given ids={said!r}, and {one!r} is no id that every command's type accepts",
                    why="commands that speak of one instance carry the same id",
                    instead="ids that the constraints of the commands' id fields accept",
                )
    return [st.just(one) for one in wanted]


_DEFAULTS: Final[WeakKeyDictionary[type, st.SearchStrategy[str]]] = WeakKeyDictionary()


def _default_id(metadata: AggregateMetadata) -> st.SearchStrategy[str]:
    """One id in each example, the same for all strategies of the aggregate: `1`, or else what its types accept."""
    found = _DEFAULTS.get(metadata.command_class)
    if found is None:
        schemas = list(_id_schemas(metadata))
        refusing = [schema for schema in schemas if not accepts(schema)(DEFAULT_IDS[0])]
        if refusing:
            name = metadata.command_class.__name__
            drawn = LEAVES[refusing[0]["type"]](refusing[0]).filter(
                lambda one: all(accepts(schema)(one) for schema in schemas)
            )
            found = st.shared(drawn, key=f"wowspec id of {metadata.command_class.__module__}.{name}")
        else:
            found = st.just(DEFAULT_IDS[0])
        _DEFAULTS[metadata.command_class] = found
    return found


def _id_schemas(metadata: AggregateMetadata) -> Iterator[Schema]:
    """What the types of the commands' id fields ask for."""
    for cls in metadata.commands:
        name = id_field(cls)
        found: list[Schema] = []

        def note(path: Sequence[str], schema: Schema, name: str | None = name, found: list[Schema] = found) -> None:
            if list(path) == [name]:
                found.append(schema)

        # A command that cannot be resolved is told of where it is asked for.
        with suppress(SpecError):
            resolve(cls, Overrides(), Caller("commands", cls.__name__), note)
        yield from found


# --- overrides --------------------------------------------------------------------------------------------------------


class _Said:
    """Overrides of fields of several commands: `amount`, or `PayOrder.amount`, or a strategy for all of `PayOrder`."""

    def __init__(self, caller: Caller, overrides: Mapping[str, Any], classes: Sequence[type]) -> None:
        self._caller = caller
        overrides_of(caller, overrides)
        names = {cls.__name__ for cls in classes}
        self._whole = {path: strategy for path, strategy in overrides.items() if path in names}
        self._of_one = {path: one for path, one in overrides.items() if path.partition(".")[0] in names - {path}}
        self._of_all = {
            path: one for path, one in overrides.items() if path not in self._whole and path not in self._of_one
        }
        self._trees: list[tuple[Overrides, set[str]]] = []

    def whole(self, cls: type) -> Strategy | None:
        """What is said of all of a command."""
        return self._whole.get(cls.__name__)

    def of(self, cls: type) -> Overrides:
        """What is said of a command's fields."""
        prefix = f"{cls.__name__}."
        own = {path.removeprefix(prefix): one for path, one in self._of_one.items() if path.startswith(prefix)}
        tree = overrides_of(self._caller, {**self._of_all, **own})
        self._trees.append((tree, set(own)))
        return tree

    def require_used(self) -> None:
        """Refuse what is said of a field that no command has, or not the one that it is said of."""
        missing: dict[str, int] = {}
        known: dict[str, None] = {}
        for tree, own in self._trees:
            for path, name, names in tree.unused():
                if path in own:
                    raise unknown_field(self._caller, path, name, names)
                missing[path] = missing.get(path, 0) + 1
                known.update(dict.fromkeys(names))
        for path, times in missing.items():
            if times == len(self._trees):
                raise unknown_field(self._caller, path, path.rpartition(".")[2], list(known))


def drawn_by_author(
    metadata: AggregateMetadata,
    caller: Caller,
    ids: Iterable[str] | None,
    commands: Any,
    beside: Mapping[str, Any],
) -> list[Drawn]:
    """Commands of a strategy of the author's, for the instances that they may leave unsaid.

    Raises:
        SpecError: if it is no strategy, or something is said beside it that it would have to heed.
    """
    said = [name for name, value in beside.items() if value is not None]
    if not isinstance(commands, st.SearchStrategy) or said:
        shown = f"commands={commands!r}" if not said else f"commands=... and {said[0]}=..."
        raise SpecError(
            f"{caller} is given {shown}",
            why="commands=... is a strategy that says all of the commands that are sent",
            instead=f"commands=commands({metadata.command_class.__name__}, ...), with everything said there",
        )
    return [Drawn(one, commands, commands, commands, ids is None) for one in _chosen_ids(metadata, caller, ids)]
