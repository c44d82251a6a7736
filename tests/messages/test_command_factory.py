"""The command message factory and its rewriters."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from tests.messages.origins import CountingOrigin
from wowspec import CommandBuilder, command_builder
from wowspec.error_policy import DEFAULT_POLICY
from wowspec.errors import DomainError, IllegalArgumentError, RewriteNoCommandError
from wowspec.messages.command_factory import CommandMessageFactory, RewriterRegistry, is_blocking
from wowspec.modeling.annotations import blocking


class Ship(BaseModel):
    id: str


class Express(Ship):
    pass


class Replaced(BaseModel):
    id: str


class ByFunction:
    """A rewriter that calls a function."""

    def __init__(self, function):
        self.function = function

    def rewrite(self, builder: CommandBuilder):
        return self.function(builder)


def result_of(pending):
    """What an awaitable that waits for nothing gives."""
    with pytest.raises(StopIteration) as done:
        pending.__await__().send(None)
    return done.value.value


def builder_of(body, origin):
    """A builder with a target."""
    return command_builder(body, origin).named_aggregate("shop.cart")


@pytest.fixture
def origin():
    return CountingOrigin()


@pytest.mark.clause("CMD-057")
def test_without_a_rewriter_nothing_is_validated(origin):
    """The builder is converted at once."""
    seen = []
    factory = CommandMessageFactory(origin, validator=seen.append)

    message = result_of(factory.create(builder_of(Ship(id="a"), origin)))

    assert (message.id, message.aggregate_id.id) == ("id-1", "a")
    assert seen == []


@pytest.mark.clause("CMD-057")
def test_a_rewriter_is_found_by_the_exact_class(origin):
    """A superclass's rewriter is not used."""
    factory = CommandMessageFactory(origin)
    factory.rewriters.register(Ship, ByFunction(lambda builder: builder.owner_id("rewritten")))

    assert result_of(factory.create(builder_of(Express(id="a"), origin))).owner_id == ""
    assert result_of(factory.create(builder_of(Ship(id="a"), origin))).owner_id == "rewritten"


@pytest.mark.clause("CMD-058")
def test_a_failed_conversion_is_raised_by_the_call(origin):
    """Without a rewriter, nothing has to be awaited to see it."""
    with pytest.raises(IllegalArgumentError, match="belongs to no aggregate"):
        CommandMessageFactory(origin).create(command_builder(Ship(id="a"), origin))


@pytest.mark.clause("CMD-058", "CMD-059")
def test_with_a_rewriter_validation_comes_first_and_is_raised_by_the_call(origin):
    """The validator sees the body before the rewriter does; the body's own check is not called."""

    class Checked(Ship):
        def validate_command(self) -> None:
            raise AssertionError("not here")

    def refuse(body):
        raise DomainError("Refused", f"no {body.id}")

    seen = []
    factory = CommandMessageFactory(origin, validator=refuse)
    factory.rewriters.register(Checked, ByFunction(seen.append))

    with pytest.raises(DomainError, match="no a"):
        factory.create(builder_of(Checked(id="a"), origin))
    assert seen == []


@pytest.mark.clause("CMD-058", "CMD-059")
def test_what_fails_after_a_rewriter_is_delivered_with_the_result(origin):
    """The call itself succeeds; each wait for the result does the work anew."""
    factory = CommandMessageFactory(origin)
    calls = []
    factory.rewriters.register(Ship, ByFunction(lambda builder: calls.append(1) or builder))

    pending = factory.create(command_builder(Ship(id="a"), origin))

    assert calls == []
    for _ in range(2):
        with pytest.raises(IllegalArgumentError):
            pending.__await__().send(None)
    assert calls == [1, 1]


@pytest.mark.clause("CMD-059")
def test_a_rewriter_may_be_async_and_replace_the_body(origin):
    """Id and time stay those of the builder it was given."""

    class Replacing:
        async def rewrite(self, builder):
            return builder.body(Replaced(id="other")).tenant_id("t")

    factory = CommandMessageFactory(origin)
    factory.rewriters.register(Ship, Replacing())

    message = result_of(factory.create(builder_of(Ship(id="a"), origin)))

    assert (message.id, message.name, message.aggregate_id.id, message.aggregate_id.tenant_id) == (
        "id-1", "replaced", "other", "t",
    )  # fmt: skip


@pytest.mark.clause("CMD-060")
def test_a_rewriter_that_yields_nothing_refuses_the_command(origin):
    """The error holds both, and has a code of its own."""
    rewriter = ByFunction(lambda _builder: None)
    factory = CommandMessageFactory(origin)
    factory.rewriters.register(Ship, rewriter)
    builder = builder_of(Ship(id="a"), origin)

    with pytest.raises(RewriteNoCommandError) as caught:
        factory.create(builder).__await__().send(None)

    assert (caught.value.builder, caught.value.rewriter) == (builder, rewriter)
    assert DEFAULT_POLICY.info(caught.value).error_code == "RewriteNoCommand"


@pytest.mark.clause("CMD-061")
def test_one_rewriter_for_each_class():
    """Registering again replaces, unregistering removes, an unknown class has none; copies are independent."""
    registry = RewriterRegistry()
    first, second = ByFunction(None), ByFunction(None)

    assert registry.register(Ship, first) is first
    registry.register(Ship, second)
    copied = registry.copy()

    assert registry.rewriter_of(Ship) is second
    assert registry.rewriter_of(Express) is None
    assert registry.unregister(Ship) is second
    assert registry.unregister(Ship) is None
    assert registry.rewriter_of(Ship) is None
    assert copied.rewriter_of(Ship) is second


@pytest.mark.clause("CMD-062")
def test_a_blocking_rewriter_is_known_as_one():
    """The mark is on its function; a model without threads runs it in place."""

    class Slow:
        @blocking
        def rewrite(self, builder):
            return builder

    assert is_blocking(Slow())
    assert not is_blocking(ByFunction(None))
