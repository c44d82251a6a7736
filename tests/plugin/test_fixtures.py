"""The plugin in small suites of their own: what fails when a test's call ends, and what the fixtures give."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from .test_entry import run_pytest

DOMAIN = """
from typing import Annotated
from pydantic import BaseModel, Field
from wowspec import AggregateId, Context, aggregate_root, allow_create, on_sourcing, projection

@allow_create
class AddItem(BaseModel):
    id: Annotated[str, AggregateId()] = "c-1"
    quantity: Annotated[int, Field(gt=0)] = 1

class ItemAdded(BaseModel):
    quantity: int = 1

class CartState(BaseModel):
    id: str
    count: int = 0

    @on_sourcing
    def added(self, event: ItemAdded) -> None:
        self.count += event.quantity

@aggregate_root(context="shop")
class Cart:
    def __init__(self, state: CartState):
        self.state = state

    def on_command(self, command: AddItem) -> ItemAdded:
        if command.quantity > 9:
            raise ValueError("at most nine")
        return ItemAdded(quantity=command.quantity)

@projection(context="shop")
class CartView:
    def on_event(self, event: ItemAdded) -> None:
        if event.quantity == 7:
            raise KeyError("seven")

shop = Context("shop", Cart, CartView)
"""

SUITE = """
import hypothesis
import hypothesis.strategies as st
import pytest
import wowspec as ws
from wowspec import faults
from domain import AddItem, Cart, CartView, ItemAdded, shop

KEPT = []
AT_MODULE_LEVEL = ws.given().when(AddItem())

@pytest.mark.parametrize("spec", [ws.given().when(AddItem())])
def test_passes_with_specs_made_outside(spec):
    KEPT.append(spec)

def test_passes(wowspec):
    spec = wowspec(Cart).given(ItemAdded())
    spec.when(AddItem()).expect_events(ItemAdded())
    wowspec.given().when(AddItem(quantity=10)).expect_error(ValueError)
    wowspec().given().when(AddItem()).expect_state(count=1)

def test_forgotten_when():
    ws.given(ItemAdded())

def test_forgotten_when_of_the_fixture(wowspec):
    wowspec(Cart)

def test_forgotten_expectation():
    ws.given().when(AddItem())

def test_forgotten_branch():
    base = ws.given()
    base.when(AddItem()).expect_events(ItemAdded())
    base.fork("late", lambda spec: spec.when(AddItem(quantity=2)))

def test_undecided_error():
    ws.given().when(AddItem(quantity=10)).expect_no_events()

def test_unreached_fault():
    ws.given().with_faults(faults.event_store.append.fails(at=2)).when(AddItem()).expect_events(ItemAdded())

def test_own_failure_comes_first():
    ws.given()
    raise RuntimeError("my own")

def test_gateway_passes(gateway):
    gateway.world.using(shop)
    gateway.world.arm(faults.event_store.append.fails())
    with pytest.raises(ws.CommandResultError):
        gateway.send_and_wait(AddItem())
    assert gateway.send_and_wait(AddItem()).succeeded
    KEPT.append(gateway)

def test_gateway_of_another_test():
    KEPT[-1].send_and_wait(AddItem())

def test_gateway_with_unreached_fault(gateway):
    gateway.world.arm(faults.event_store.append.fails())

def test_gateway_made_by_hand_with_unreached_fault():
    ws.Gateway().world.arm(faults.event_store.append.fails())

@pytest.fixture
def armed(gateway):
    gateway.world.arm(faults.event_store.append.fails())
    yield gateway
    gateway.world.stored(Cart, "c-1")

def test_gateway_armed_by_a_fixture(armed):
    pass

def test_gateway_armed_by_a_fixture_passes(armed):
    with pytest.raises(ws.CommandResultError):
        armed.send_and_wait(AddItem())

@pytest.fixture
def broken(gateway):
    gateway.world.arm(faults.event_store.append.fails())
    raise RuntimeError("this fixture")

def test_broken_fixture(broken):
    pass

def test_passes_after_a_broken_fixture():
    pass

def test_gateway_with_unseen_error_of_a_move(gateway):
    gateway.world.using(shop)
    gateway.send_and_wait(AddItem())
    gateway.start(AddItem(quantity=7))
    gateway.world.run()

def test_gateway_with_unseen_error(gateway):
    gateway.world.using(shop)
    gateway.send_and_wait(AddItem())
    gateway.send_and_wait(AddItem(quantity=7))

def test_gateway_with_unseen_error_of_a_loop(gateway):
    gateway.world.using(shop)
    with pytest.raises(StopIteration):
        gateway.aio.send_and_wait(AddItem(quantity=7)).send(None)

def test_gateway_never_moved(gateway):
    gateway.start(AddItem())

def test_gateway_with_unseen_failure(gateway):
    gateway.start(AddItem(quantity=10))
    gateway.world.run()

def test_gateway_stepped_passes(gateway):
    failing, call = gateway.start(AddItem(quantity=10)), gateway.start(AddItem(id="c-2"))
    gateway.world.run_until("event_store.append")
    assert not call.done
    gateway.world.run()
    assert failing.error.error_code == "IllegalArgument"

def test_gateway_left_in_the_middle_passes(gateway):
    stream = gateway.aio.send_and_wait_stream(AddItem())
    with pytest.raises(StopIteration):
        anext(stream).send(None)

@hypothesis.given(st.integers(1, 9))
def test_example_passes(wowspec, quantity):
    wowspec(Cart).given().when(AddItem(quantity=quantity)).expect_event_types(ItemAdded)

@hypothesis.given(st.integers(1, 9))
def test_example_forgets(wowspec, quantity):
    when = wowspec(Cart).given().when(AddItem(quantity=quantity))
    if quantity < 6:
        when.expect_event_types(ItemAdded)

@hypothesis.given(st.integers(1, 9))
def test_example_with_unreached_fault(quantity):
    gateway = ws.Gateway()
    gateway.world.arm(faults.event_store.append.fails(at=9))
    gateway.send(AddItem(quantity=quantity))

@hypothesis.given(st.integers(1, 9))
def test_example_that_assumes_passes(wowspec, quantity):
    when = wowspec(Cart).given().when(AddItem(quantity=quantity))
    hypothesis.assume(quantity > 3)
    when.expect_event_types(ItemAdded)
"""

#: What each test that does not pass says.
TEXTS = {
    "forgotten_when": "given(...) without when(...)",
    "forgotten_when_of_the_fixture": "a spec without when(...)",
    "forgotten_expectation": "when(AddItem()) was never looked at",
    "forgotten_branch": "in branch late: when(AddItem(quantity=2)) was never looked at",
    "undecided_error": "failed with ValueError, which nobody expected",
    "unreached_fault": "the fault event_store.append@2=fail never struck",
    "own_failure_comes_first": "RuntimeError: my own",
    "gateway_of_another_test": "test_gateway_passes was used after its test ended",
    "gateway_with_unreached_fault": "the fault event_store.append@1=fail, armed at test_suite.py:",
    "gateway_made_by_hand_with_unreached_fault": "the fault event_store.append@1=fail, armed at test_suite.py:",
    "gateway_armed_by_a_fixture": "the fault event_store.append@1=fail, armed at test_suite.py:",
    "gateway_with_unseen_error": "KeyError: 'seven'",
    "gateway_with_unseen_error_of_a_loop": "KeyError: 'seven'",
    "gateway_with_unseen_error_of_a_move": "KeyError: 'seven'",
    "gateway_never_moved": "gateway.start(AddItem()) at test_suite.py:",
    "gateway_with_unseen_failure": "at most nine",
    "example_forgets": "quantity=6",
    "example_with_unreached_fault": "the fault event_store.append@9=fail, armed at test_suite.py:",
}


def suite(folder, **files):
    """Write a suite into a folder, whose directory can be imported from."""
    # Other people's plugins have warnings of their own, before any test.
    head = "[pytest]\npythonpath = .\nfilterwarnings = error\naddopts = -p no:asyncio\n"
    (folder / "pytest.ini").write_text(head + files.pop("ini", ""))
    (folder / "domain.py").write_text(DOMAIN)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


def results(folder, *arguments):
    """Test → (outcome, text) of a run, and all that it printed."""
    finished = run_pytest(folder, "--junitxml=results.xml", "-o", "junit_family=xunit2", *arguments)
    printed = finished.stdout + finished.stderr
    path = folder / "results.xml"
    assert path.exists(), printed
    found = {}
    for case in ET.parse(path).iter("testcase"):
        outcome = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        name = re.sub(r"^test_|\[.*\]$", "", case.get("name"))
        found[name] = ("passed", "") if outcome is None else (outcome.tag, f"{outcome.get('message')}\n{outcome.text}")
    return found, printed


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """One run of the suite."""
    folder = tmp_path_factory.mktemp("suite")
    suite(folder, test_suite=SUITE)
    return results(folder)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_what_fails_when_the_call_ends(ran, name):
    """What was forgotten fails the test itself, not its teardown, and says what was."""
    found, printed = ran

    assert found[name][0] == "failure", printed
    assert TEXTS[name] in found[name][1]


def test_what_passes(ran):
    """Everything else passes, with warnings as errors, and no health check complains of the fixture."""
    found, printed = ran
    passed = {name for name, (outcome, _) in found.items() if outcome == "passed"}
    errors = {name for name, (outcome, _) in found.items() if outcome == "error"}

    assert errors == {"broken_fixture"}, printed
    assert passed == {name for name in found if "passes" in name}
    assert len(found) == len(TEXTS) + len(errors) + len(passed)
    assert "warning" not in printed.lower()


#: The line that each finding about a gateway is raised at.
LINES = {
    "gateway_with_unreached_fault": "    gateway.world.arm(faults.event_store.append.fails())",
    "gateway_made_by_hand_with_unreached_fault": "    ws.Gateway().world.arm(faults.event_store.append.fails())",
    "gateway_armed_by_a_fixture": "    gateway.world.arm(faults.event_store.append.fails())",
    "gateway_with_unseen_error": "    gateway.send_and_wait(AddItem(quantity=7))",
    "gateway_with_unseen_error_of_a_loop": "def test_gateway_with_unseen_error_of_a_loop(gateway):",
    "gateway_with_unseen_error_of_a_move": "    gateway.world.run()",
    "gateway_never_moved": "    gateway.start(AddItem())",
    "gateway_with_unseen_failure": "    gateway.start(AddItem(quantity=10))",
    "forgotten_expectation": "    ws.given().when(AddItem())",
}


@pytest.mark.parametrize("name", sorted(LINES))
def test_last_frame_is_the_authors(ran, name):
    """What is found when the call ends is shown at the author's line, and without a frame of anybody else's."""
    _, text = ran[0][name]
    marked = [line[1:] for line in text.splitlines() if line.startswith(">")]

    assert marked == [f"   {LINES[name]}"]
    assert re.findall(r"^(\S+\.py):\d+: ", text, flags=re.MULTILINE) == ["test_suite.py"]


@pytest.mark.long
def test_forgotten_specs_over_processes(tmp_path):
    """With tests spread over two processes the same tests fail, and reports travel."""
    pytest.importorskip("xdist", reason="tests are spread over processes by pytest-xdist, an extra of the test suite")
    suite(tmp_path, test_one=SUITE, test_two=SUITE)

    finished = run_pytest(tmp_path, "-n", "2", "--dist", "loadfile")

    passed = 2 * SUITE.count("passes")
    assert f"{2 * len(TEXTS)} failed" in finished.stdout, finished.stdout + finished.stderr
    assert re.search(rf"\b{passed} passed, 2 errors?\b", finished.stdout), finished.stdout


def test_parts_of_a_suite(tmp_path):
    """`wowspec_using` gives its parts to every spec and gateway of the suite, and `without` takes one out again."""
    suite(
        tmp_path,
        ini="wowspec_using = domain:shop\n",
        test_it="""
import wowspec as ws
from domain import AddItem, Cart, CartView, ItemAdded

def test_spec_passes():
    ws.given().when(AddItem(quantity=7)).expect_downstream_error(CartView, KeyError)
    ws.given().without(CartView).when(AddItem(quantity=7)).expect_events(ItemAdded(quantity=7))

def test_gateway_passes(gateway):
    result = gateway.send_and_wait(AddItem(), wait_for=ws.projected("shop", processor="CartView"))
    assert result.succeeded

def test_gateway_without_passes(gateway):
    gateway.world.without(CartView)
    gateway.send_and_wait(AddItem(quantity=7))
    assert gateway.world.logged == []
""",
    )

    found, printed = results(tmp_path)

    assert {outcome for outcome, _ in found.values()} == {"passed"}, printed
    assert len(found) == 3


@pytest.mark.parametrize(
    ("using", "text"),
    [
        ("domain", "wowspec_using = domain"),
        ("domain:nothing", "module 'domain' has no attribute 'nothing'"),
        ("nowhere:shop", "No module named 'nowhere'"),
        ("domain:DOMAIN_DRIVEN", "no attribute 'DOMAIN_DRIVEN'"),
        ("domain:AddItem", "neither an aggregate root, nor a processor, nor a context"),
    ],
)
def test_wrong_parts_of_a_suite(using, text):
    """What cannot be found, or is no part, is said by the spec that would use it."""
    import wowspec
    from wowspec.specs.defaults import leave_suite, use_in_suite

    sys.modules["domain"] = type(sys)("domain")
    exec(compile(DOMAIN, "domain.py", "exec"), vars(sys.modules["domain"]))
    use_in_suite([using])
    try:
        with pytest.raises(wowspec.SpecError, match=text) as raised:
            wowspec.Gateway().world.stored(sys.modules["domain"].Cart, "c-1")
        assert raised.value.instead
    finally:
        leave_suite()
        del sys.modules["domain"]


def test_suites_inside_suites():
    """A suite that runs inside another one's test uses its own parts alone, and gives the outer's back."""
    from wowspec.specs.defaults import leave_suite, suite_parts, use_in_suite

    outer = suite_parts()
    use_in_suite(["pathlib:Path"])
    use_in_suite([])
    assert suite_parts() == []
    leave_suite()
    assert suite_parts() == [Path]
    leave_suite()
    assert suite_parts() == outer


def test_nothing_is_loaded_where_nothing_is_used(tmp_path):
    """A suite that names no parts loads nothing of the spec layer when it is configured."""
    (tmp_path / "test_it.py").write_text(
        "import sys\ndef test_it(): assert not [name for name in sys.modules if name.startswith('wowspec.specs')]\n"
    )

    finished = run_pytest(tmp_path)

    assert finished.returncode == 0, finished.stdout
