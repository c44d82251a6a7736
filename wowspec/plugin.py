"""The pytest entry point: imports pytest alone, since every pytest run of every project that has wowspec pays for it.

Each hook first asks whether the spec layer was ever imported, and does nothing where it was not. There is no autouse
fixture and no option without the prefix `wowspec`. Switch it off with `-p no:wowspec`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from typing import Any, Final

import pytest

#: Where the spec layer remembers the specs that a test makes, and what a suite uses.
_TRACKING: Final = "wowspec.specs.tracking"
_DEFAULTS: Final = "wowspec.specs.defaults"
_ERRORS: Final = "wowspec.errors"
_FIXTURES: Final = "wowspec.specs.fixtures"
_FACTS: Final = "wowspec.specs.facts"
_COMPARING: Final = "wowspec.specs.comparing"
#: By which PyCharm and TeamCity show a test run.
_TEAMCITY: Final = "teamcity.diff_tools"
#: With `-vv` the listing of events that nothing sources.
_LISTING_VERBOSITY: Final = 2
_TRACKER: Final = pytest.StashKey[Any]()
_STORY: Final = "wowspec story"
_UNSOURCED: Final = pytest.StashKey[Any]()
_CUT_OFF: Final = pytest.StashKey[list[str]]()
#: Called with each passed test and the specs that it made; whoever runs specs again adds itself.
AFTER_TEST: Final = pytest.StashKey[list[Callable[[pytest.Item, Any], None]]]()
#: Likewise with each test, however it came out, before anything is asked of its specs.
SEEN_TEST: Final = pytest.StashKey[list[Callable[[pytest.Item, Any], None]]]()
#: Where explorations keep their results until a report takes them along, and the attribute that carries them.
_COLLECTED: Final = "wowspec.exploration.collected"
_CARRIED: Final = "wowspec_faults"
_TOLD: Final = "wowspec_faults_told"
#: The attribute of a test that explores by itself.
_EXPLORES: Final = "wowspec_exploration"
#: How many specs a test made, where JUnit XML is written.
_SPECS: Final = pytest.StashKey[int]()
#: Registered in a process that runs plans for another one, which alone reports.
_WORKER: Final = "wowspec-worker"

#: Options of explorations: flag, what it takes, help.
_OPTIONS: Final[tuple[tuple[str, dict[str, Any], str], ...]] = (
    (
        "--wowspec-faults",
        {"choices": ("sweep", "off"), "default": "off"},
        "sweep: run every spec of the suite again under every legal fault, and judge each run by the laws",
    ),
    ("--wowspec-plan", {"metavar": "PLAN"}, "run this plan of faults alone, as a finding's replay line says"),
    (
        "--wowspec-check-determinism",
        {"action": "store_true"},
        "run every spec of the suite again without faults, twice, and compare the traces",
    ),
    ("--wowspec-depth", {"type": int, "default": 1, "metavar": "N"}, "how many faults a plan has at most (1)"),
    ("--wowspec-points", {"action": "append", "metavar": "POINT"}, "explore these points alone, by their beginnings"),
    ("--wowspec-kinds", {"action": "append", "metavar": "KIND"}, "explore these kinds of faults alone"),
    ("--wowspec-max-runs", {"type": int, "metavar": "N"}, "how many runs each spec gets at most"),
    ("--wowspec-max-seconds", {"type": float, "metavar": "S"}, "how long each spec is explored at most"),
    ("--wowspec-profile", {"metavar": "NAME"}, "explore under this bus and store profile instead of the specs' own"),
    ("--wowspec-recovery", {"action": "append", "metavar": "NAME"}, "a recovery that the application has"),
    ("--wowspec-strict", {"action": "store_true"}, "what the runtime is known for fails a test, too"),
    ("--wowspec-baseline", {"metavar": "PATH"}, "a file of findings that are known"),
    ("--wowspec-write-baseline", {"metavar": "PATH"}, "declare all that is found in such a file"),
    ("--wowspec-shard", {"metavar": "I/N"}, "run the I-th of N parts of the plans, or of the perturbations"),
    (
        "--wowspec-executor",
        {"metavar": "EXECUTOR"},
        "where specs are run again: serial, processes[:N], dask:ADDRESS, or module:name of what makes an executor",
    ),
    ("--wowspec-fault-json", {"metavar": "PATH"}, "write all results as JSON"),
    (
        "--wowspec-fault-cov-fail-under",
        {"type": float, "metavar": "PERCENT"},
        "fail if fewer of the possible cells (point and kind) were explored",
    ),
)

#: Options that perturb what specs reach.
_STRENGTH_OPTIONS: Final[tuple[tuple[str, dict[str, Any], str], ...]] = (
    (
        "--wowspec-strength",
        {"action": "store_true"},
        "perturb what the system under test does, deed by deed, and tell what no spec of the suite notices",
    ),
    (
        "--wowspec-strength-fail-under",
        {"type": float, "metavar": "PERCENT"},
        "fail if fewer of the perturbations are noticed",
    ),
    ("--wowspec-strength-json", {"metavar": "PATH"}, "write the perturbations, and who noticed them, as JSON"),
    (
        "--wowspec-lint",
        {"action": "store_true"},
        "tell what is given and changes nothing, and which expectations no perturbation makes fail",
    ),
)

#: Options that look for the commands behind what specs give.
_UNREACHABLE_OPTIONS: Final[tuple[tuple[str, dict[str, Any], str], ...]] = (
    (
        "--wowspec-unreachable",
        {"nargs": "?", "const": "200", "metavar": "N"},
        "list the givens that no sequence of at most N (200) commands of the aggregate was found to produce",
    ),
    ("--wowspec-unreachable-json", {"metavar": "PATH"}, "write what was found of the givens as JSON"),
)

#: Kinds of reports: name, whether it is a folder of files, what it is.
REPORT_KINDS: Final[tuple[tuple[str, bool, str], ...]] = (
    ("html", False, "one page that needs nothing else: specs, their stories, the fault matrix, findings"),
    ("json", False, "the document that all reports are made of; its schema is `docs/report.schema.json`"),
    ("mermaid", True, "a sequence diagram for each run of each spec, as Mermaid text"),
    ("docs", True, "the specs as scenarios in words, by aggregate, as Markdown"),
)
_REPORT_OPTIONS: Final[tuple[tuple[str, dict[str, Any], str], ...]] = (
    (
        "--wowspec-report",
        {"action": "append", "metavar": "KIND:PATH"},
        f"write a report of the suite of the kind {', '.join(kind for kind, _, _ in REPORT_KINDS)}; may be repeated",
    ),
)
#: As `pytest --help` shows them: name of the group, its head, its options.
_GROUPS: Final = (
    ("wowspec", "wowspec: failure orderings", _OPTIONS),
    ("wowspec-strength", "wowspec: strength of specs", _STRENGTH_OPTIONS),
    ("wowspec-unreachable", "wowspec: givens that no command leads to", _UNREACHABLE_OPTIONS),
    ("wowspec-report", "wowspec: reports", _REPORT_OPTIONS),
)
_ALL_OPTIONS: Final = tuple(option for _, _, options in _GROUPS for option in options)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options and the ini keys."""
    for name, head, options in _GROUPS:
        group = parser.getgroup(name, head)
        for flag, takes, text in options:
            group.addoption(flag, help=text, dest=flag[2:].replace("-", "_"), **takes)
    parser.addini("wowspec_baseline", "A file of findings that are known, from the root directory", default="")
    parser.addini(
        "wowspec_github",
        "Annotate failing specs and write a job summary where GitHub Actions runs the suite: auto or off",
        default="auto",
    )
    parser.addini(
        "wowspec_using",
        "Processors or a whole context that every spec of the suite uses, as `module:name`",
        type="args",
        default=[],
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(args: list[str]) -> None:
    """Name the nearest option where one of ours is misspelt: pytest itself says only that it does not know it."""
    known = [flag for flag, _, _ in _ALL_OPTIONS]
    for arg in args:
        said = arg.partition("=")[0]
        if said.startswith("--wowspec-") and said not in known:
            from difflib import get_close_matches

            close = get_close_matches(said, known, 1, 0.0)
            raise pytest.UsageError(
                f"there is no option {said}\n  why: nothing would be done of what it asks for\n  instead: {close[0]}"
            )


def pytest_assertrepr_compare(config: pytest.Config, op: str, left: object, right: object) -> list[str] | None:
    """Show what differs in `assert run.events == [...]` as the verbs do, cut to what pytest shows anywhere."""
    facts = sys.modules.get(_FACTS)
    if facts is None or op != "==" or (not isinstance(left, facts.Facts) and not isinstance(right, facts.Facts)):
        return None
    from .specs.comparing import comparison

    return comparison(left, right, whole=config.get_verbosity() >= _LISTING_VERBOSITY)


def pytest_configure(config: pytest.Config) -> None:
    """Tell the spec layer what the suite uses, if it uses anything, or if a session around this one does."""
    if config.get_verbosity() >= _LISTING_VERBOSITY:
        config.pluginmanager.register(_UnsourcedListing(), "wowspec-listing")
    config.addinivalue_line("markers", "wowspec_no_sweep: the specs of this test are not run again under faults")
    if any(_asked(config, flag) for flag, _, _ in _OPTIONS) or config.getini("wowspec_baseline"):
        _explore(config)
    if any(_asked(config, flag) for flag, _, _ in _STRENGTH_OPTIONS):
        _perturb(config)
    if any(_asked(config, flag) for flag, _, _ in _UNREACHABLE_OPTIONS):
        _search(config)
    if any(_asked(config, flag) for flag, _, _ in _REPORT_OPTIONS) and not config.pluginmanager.has_plugin(_WORKER):
        _report(config)
    if os.environ.get("GITHUB_ACTIONS") == "true" and config.getini("wowspec_github") != "off":
        from .reporting.github import GithubPlugin

        config.pluginmanager.register(GithubPlugin(config), "wowspec-github")
    if _TEAMCITY in sys.modules:
        from .reporting.editors import EditorsPlugin

        config.pluginmanager.register(EditorsPlugin(), "wowspec-editors")
    names = config.getini("wowspec_using")
    if names or _DEFAULTS in sys.modules:
        from .specs.defaults import use_in_suite

        use_in_suite(names)
        config.add_cleanup(leave_suite)


def _asked(config: pytest.Config, flag: str) -> bool:
    value = config.getoption(flag[2:].replace("-", "_"))
    return value not in (None, False, "off") and flag != "--wowspec-depth"


def _explore(config: pytest.Config) -> None:
    from .exploration.plugin import FaultsPlugin

    plugin = FaultsPlugin(config)
    config.pluginmanager.register(plugin, "wowspec-faults")
    config.stash.setdefault(AFTER_TEST, []).append(plugin.after_test)
    plugin.open()
    config.add_cleanup(plugin.close)


def _perturb(config: pytest.Config) -> None:
    from .exploration.plugin_strength import StrengthPlugin

    plugin = StrengthPlugin(config, config.pluginmanager.get_plugin("wowspec-faults"))
    config.pluginmanager.register(plugin, "wowspec-strength")
    config.stash.setdefault(AFTER_TEST, []).append(plugin.after_test)
    plugin.open()
    config.add_cleanup(plugin.close)


def _search(config: pytest.Config) -> None:
    from .generation.plugin_unreachable import UnreachablePlugin

    plugin = UnreachablePlugin(config)
    config.pluginmanager.register(plugin, "wowspec-unreachable")
    config.stash.setdefault(AFTER_TEST, []).append(plugin.after_test)
    plugin.open()
    config.add_cleanup(plugin.close)


def _report(config: pytest.Config) -> None:
    from .reporting.plugin import ReportPlugin

    plugin = ReportPlugin(config, {kind: many for kind, many, _ in REPORT_KINDS})
    config.pluginmanager.register(plugin, "wowspec-report")
    config.stash.setdefault(SEEN_TEST, []).append(plugin.seen)
    plugin.open()
    config.add_cleanup(plugin.close)


def leave_suite() -> None:
    """The suite is over."""
    sys.modules[_DEFAULTS].leave_suite()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Report the specs that a passing test made and left unjudged.

    The spec layer may be imported while the first test runs (`import wowspec as ws`, then `ws.given`): it starts
    tracking by itself then, and is stopped here.
    """
    __tracebackhide__ = True
    tracking = sys.modules.get(_TRACKING)
    if tracking is not None:
        tracking.start()
    if hasattr(getattr(item, "obj", None), _EXPLORES):
        from .exploration.progress import watch

        watch(item)
    tracker = None
    try:
        result = yield
    except pytest.fail.Exception as error:
        if _TRACKING in sys.modules:
            sys.modules[_TRACKING].explain_no_raise(error)
        raise
    finally:
        tracking = sys.modules.get(_TRACKING)
        if tracking is not None:
            tracker = tracking.stop()
            if tracker is not None and tracker.cut_off:
                item.stash[_CUT_OFF] = tracker.cut_off
            if tracker is not None and item.config.get_verbosity() >= _LISTING_VERBOSITY:
                item.stash[_UNSOURCED] = tracker.unsourced()
                item.stash[_TRACKER] = tracker
            if tracker is not None and tracker.nodes and _writes_junit(item.config):
                item.stash[_SPECS] = len(tracking.paths(tracker))
            for seen in item.config.stash.get(SEEN_TEST, ()):
                seen(item, tracker)
    if tracker is not None:
        tracker.finish(getattr(item, "obj", None))
    for after in item.config.stash.get(AFTER_TEST, ()):
        after(item, tracker)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Leave our own frames out of a failed test's traceback, but for `--full-trace`; tell a gateway's story."""
    failed = call.excinfo
    if failed is not None and _ERRORS in sys.modules and not item.config.getoption("fulltrace", False):
        from .specs.tracebacks import shorten

        shorten(failed.value)
        failed.traceback = pytest.ExceptionInfo.from_exception(failed.value).traceback
    report = yield
    if report.failed and failed is not None:
        _carry_sides(failed.value, report)
    if report.failed and _FIXTURES in sys.modules:
        told = sys.modules[_FIXTURES].stories(getattr(item, "funcargs", {}))
        report.sections += [("wowspec gateway", text) for text in told]
    if report.when == "call" and _CUT_OFF in item.stash:
        # An attribute travels from one process to another.
        carrier: Any = report
        carrier.wowspec_cut_off = item.stash[_CUT_OFF]
    if report.when == "call" and _COLLECTED in sys.modules:
        results = sys.modules[_COLLECTED].take()
        told = sys.modules[_COLLECTED].take_told()
        if results:
            setattr(report, _CARRIED, results)
        if told:
            setattr(report, _TOLD, told)
    if report.when == "call" and _writes_junit(item.config) and (_SPECS in item.stash or hasattr(report, _CARRIED)):
        from .reporting.junit import properties

        # The report of the tear-down takes them along.
        item.user_properties += properties(item.stash.get(_SPECS, 0), getattr(report, _CARRIED, ()))
    return report


def _writes_junit(config: pytest.Config) -> bool:
    return bool(config.getoption("xmlpath", None))


def _carry_sides(error: BaseException, report: Any) -> None:
    """Let a report say what was compared, for diff viewers: text, expected side, actual side."""
    expected, actual = getattr(error, "expected", None), getattr(error, "actual", None)
    if _ERRORS in sys.modules and isinstance(error, sys.modules[_ERRORS].SpecFailure):
        if expected is not None:
            report.wowspec_compared = (str(error), expected, actual)
    elif _COMPARING in sys.modules and isinstance(error, AssertionError):
        sides = sys.modules[_COMPARING].last_sides(error)
        if sides is not None:
            report.wowspec_compared = (str(error), *sides)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List what the bounds of searches left out: a test that passes says nothing of that itself."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    if any(hasattr(report, _CARRIED) or hasattr(report, _TOLD) for report in reports):
        from .exploration.summary import summarise

        summarise(terminalreporter)
    told = [
        text
        for reports in terminalreporter.stats.values()
        for report in reports
        for text in getattr(report, "wowspec_cut_off", ())
    ]
    if told:
        terminalreporter.section("wowspec: orders of commands that bounds left out")
        for text in told:
            terminalreporter.line(text)
        terminalreporter.line(
            "Larger bounds: when_concurrently(..., max_schedules=...); .expect_complete() requires all."
        )


class _UnsourcedListing:
    """With `-vv`: which event types the specs gave that no aggregate sources. They are legal, and often a slip."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Generator[None, Any, Any]:  # noqa: ARG002
        """Let the report carry them, from one process to another, too; and the stories of a test that failed."""
        report = yield
        tracker = item.stash.get(_TRACKER, None)
        if report.when == "call" and tracker is not None:
            del item.stash[_TRACKER]
            if report.failed:
                from .specs.telling import stories

                report.sections += [(_STORY, text) for text in stories(tracker)]
        if report.when == "call" and item.stash.get(_UNSOURCED, None):
            report.wowspec_unsourced = dict(item.stash[_UNSOURCED])
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, Any, Any]:
        """Colour stories while a terminal that has colours prints them; files and other plugins get plain text."""
        failed = terminalreporter.stats.get("failed", []) if terminalreporter.hasmarkup else []
        told = [(report, report.sections) for report in failed if any(name == _STORY for name, _ in report.sections)]
        if told:
            from .specs.telling import coloured

            for report, sections in told:
                report.sections = [(name, coloured(text) if name == _STORY else text) for name, text in sections]
        try:
            return (yield)
        finally:
            for report, sections in told:
                report.sections = sections
            self._list_unsourced(terminalreporter)

    def _list_unsourced(self, terminalreporter: Any) -> None:
        """List each once, with the first test that gave it and how many others did."""
        tests: dict[tuple[str, str], list[str]] = {}
        for reports in terminalreporter.stats.values():
            for report in reports:
                for kind, root in getattr(report, "wowspec_unsourced", {}).items():
                    tests.setdefault((root, kind), []).append(report.nodeid)
        if not tests:
            return
        terminalreporter.section("wowspec: events that no aggregate sources")
        for (root, kind), nodes in sorted(tests.items()):
            others = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
            terminalreporter.line(f"{kind}, given to {root}, in {min(nodes)}{others}")
        terminalreporter.line("Such an event counts in the version and changes no state; @on_sourcing takes one in.")


@pytest.fixture(scope="session")
def wowspec() -> Any:
    """`wowspec(Cart)` makes a spec of an aggregate; session-scoped, so that `@hypothesis.given` accepts it.

    The factory holds no state: each spec that it makes has a world of its own.
    """
    from .specs.fixtures import make_factory

    return make_factory()


@pytest.fixture
def gateway(request: pytest.FixtureRequest) -> Any:
    """A command gateway over a fresh world; refuses to be used after the test has ended."""
    from .specs.fixtures import open_gateway

    return open_gateway(request)
