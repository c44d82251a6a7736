"""The ordered tables of the package, and the tests that pin their rows. To register a table, add a line here.

`place` is `module:NAME`, or `module:Class.NAME` for one in a class body. The table must be written out as a tuple,
list, set or dict where it is assigned (inside a call such as `frozenset({...})` too); each element is a row. `tests`
are the modules or folders to run, with no plugin but wowspec's own; only tests marked with `@pytest.mark.clause` count,
but for tables that no clause speaks of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Table:
    """One ordered table.

    Attributes:
        place: `module:NAME` below the package, such as `error_policy:CODE_TABLE`.
        tests: test modules or folders whose marked tests pin its rows.
        exempt: rows that no test can miss, by their text, with the reason.
        has_clauses: whether clauses speak of it, so that only tests that are marked with them count.
    """

    place: str
    tests: tuple[str, ...]
    exempt: tuple[tuple[str, str], ...] = ()
    has_clauses: bool = True


TABLES: Final[tuple[Table, ...]] = (
    Table("error_policy:CODE_TABLE", ("tests/test_error_policy.py",)),
    Table("error_policy:RECOVERABLE_TABLE", ("tests/test_error_policy.py",)),
    Table("modeling.builtin:BUILT_IN_COMMANDS", ("tests/modeling/test_builtin.py",)),
    Table("messages.stages:STAGES", ("tests/messages/test_stages.py",)),
    Table("runtime.gateway:PRE_CHECKS", ("tests/runtime/test_gateway.py", "tests/runtime/test_gateway_waiting.py")),
    Table("messages.propagation:PROPAGATORS", ("tests/messages/test_propagation.py",)),
    Table("modeling.decorators:ROLES", ("tests/modeling/test_decorators.py",)),
    Table("messages.commands:PRECEDENCE", ("tests/messages/test_commands.py",)),
    Table("runtime.aggregate:CHECKS", ("tests/runtime/test_order_of_checks.py", "tests/runtime/test_aggregate.py")),
    Table(
        "runtime.aggregate:TRANSITIONS", ("tests/runtime/test_order_of_checks.py", "tests/runtime/test_aggregate.py")
    ),
    Table("runtime.command_filters:COMMAND_FILTERS", ("tests/runtime/test_order_of_checks.py",)),
    Table("runtime.downstream.snapshot_dispatcher:SNAPSHOT_FILTERS", ("tests/runtime/test_order_of_checks.py",)),
    Table("runtime.sourcing:EFFECTS", ("tests/runtime/test_sourcing.py",)),
    Table("modeling.identity:TOPIC_OF_KIND", ("tests/runtime/test_event_buses.py",)),
    Table("runtime.system:PROCESSOR_ORDER", ("tests/runtime/downstream/test_event_dispatcher.py",)),
    Table("runtime.chain:EVENT_DISPATCHERS", ("tests/runtime/downstream/test_event_filters.py",)),
    Table("runtime.downstream.event_filters:STAGE_OF", ("tests/runtime/downstream/test_event_filters.py",)),
    Table("runtime.downstream.event_filters:EVENT_FILTERS", ("tests/runtime/downstream/test_event_filters.py",)),
    Table("runtime.downstream.execution_failed:STATUS_AFTER", ("tests/runtime/downstream/test_execution_failed.py",)),
    Table("runtime.prepare:OPERATIONS", ("tests/runtime/test_prepare.py",)),
    Table("exploration.run_laws:RUN_LAWS", ("tests/exploration/test_run_laws.py",), has_clauses=False),
    Table("exploration.recoveries:RECOVERIES", ("tests/exploration/test_run_laws.py",), has_clauses=False),
)
