"""The stages that a caller can wait for, as one ordered table (section P of the contract)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..errors import IllegalArgumentError


class CommandStage(StrEnum):
    """How far a command has come."""

    SENT = "SENT"
    PROCESSED = "PROCESSED"
    SNAPSHOT = "SNAPSHOT"
    PROJECTED = "PROJECTED"
    EVENT_HANDLED = "EVENT_HANDLED"
    SAGA_HANDLED = "SAGA_HANDLED"


@dataclass(frozen=True, slots=True)
class StageRow:
    """One stage.

    Attributes:
        stage: the stage.
        prerequisites: the stages that come before it; later stages do not depend on each other (CMD-332).
        function_aware: whether a wait for it may name a function (CMD-334).
        signalled_by: the part of the runtime that tells of it.
        clauses: the contract's clauses.
    """

    stage: CommandStage
    prerequisites: tuple[CommandStage, ...]
    function_aware: bool
    signalled_by: str
    clauses: tuple[str, ...]


_BEFORE_LATER: Final = (CommandStage.SENT, CommandStage.PROCESSED)

#: In the order of the pipeline.
STAGES: Final[tuple[StageRow, ...]] = (
    StageRow(CommandStage.SENT, (), False, "the command gateway", ("CMD-332", "CMD-337")),
    StageRow(CommandStage.PROCESSED, (CommandStage.SENT,), False, "the command handler chain", ("CMD-332", "CMD-419")),
    StageRow(CommandStage.SNAPSHOT, _BEFORE_LATER, False, "the snapshot chain", ("CMD-332", "CMD-437")),
    StageRow(CommandStage.PROJECTED, _BEFORE_LATER, True, "the projection chain", ("CMD-332", "CMD-334", "CMD-340")),
    StageRow(CommandStage.EVENT_HANDLED, _BEFORE_LATER, True, "the event processor chain", ("CMD-332", "CMD-334")),
    StageRow(CommandStage.SAGA_HANDLED, _BEFORE_LATER, True, "the stateless saga chain", ("CMD-332", "CMD-339")),
)

STAGE_BY_NAME: Final[dict[str, CommandStage]] = {row.stage.value: row.stage for row in STAGES}
PREREQUISITES: Final[dict[CommandStage, frozenset[CommandStage]]] = {
    row.stage: frozenset(row.prerequisites) for row in STAGES
}
#: What a target stage wants to hear of: itself and its prerequisites (CMD-333).
WANTED: Final[dict[CommandStage, frozenset[CommandStage]]] = {
    row.stage: frozenset((*row.prerequisites, row.stage)) for row in STAGES
}
FUNCTION_STAGES: Final[frozenset[CommandStage]] = frozenset(row.stage for row in STAGES if row.function_aware)


def parse_stage(name: str) -> CommandStage:
    """The stage of an exact upper-case name, as headers hold it (CMD-344).

    Raises:
        IllegalArgumentError: if there is no such stage.
    """
    stage = STAGE_BY_NAME.get(name)
    if stage is None:
        message = f"{name!r} is no stage; stages are {', '.join(STAGE_BY_NAME)}"
        raise IllegalArgumentError(message)
    return stage


def stage_of_text(text: str) -> CommandStage:
    """The stage of a name in any letter case; nothing is trimmed (CMD-344).

    Raises:
        IllegalArgumentError: if there is no such stage.
    """
    return parse_stage(text.upper())


SENT: Final = CommandStage.SENT
PROCESSED: Final = CommandStage.PROCESSED
SNAPSHOT: Final = CommandStage.SNAPSHOT
PROJECTED: Final = CommandStage.PROJECTED
EVENT_HANDLED: Final = CommandStage.EVENT_HANDLED
SAGA_HANDLED: Final = CommandStage.SAGA_HANDLED
