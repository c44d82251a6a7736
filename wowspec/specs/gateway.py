"""The command gateway as a test uses it, over a world of its own: synchronous, or (`.aio`) in the test's event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from pydantic import ValidationError

from ..errors import DeadlineExceeded, Sleepless, SpecError
from ..messages.envelopes import CommandMessage
from ..messages.wait_plans import WaitFor
from ..messages.wait_signals import CommandResult
from ..runtime.gateway import CommandGateway
from ..world.driving import Drive, cancel
from ..world.scheduler import Task
from .gateway_calls import StartedCall
from .gateway_session import GatewaySession
from .gateway_stream import AsyncResults
from .gateway_world import GatewayWorld
from .items import CommandOf, CommandOptions, Envelope, SentCommand, command_options, wanted
from .misspelt import no_verb
from .placing import place_of_caller
from .restless import restless, run_to_rest
from .unheard import note_unheard

T = TypeVar("T")
#: One call of the runtime's gateway, for a message.
Work = Callable[[CommandGateway, CommandMessage[Any]], Coroutine[Any, Any, Any]]


class _Calls:
    """What both forms share: the message of a command, and the runtime's call for it."""

    __slots__ = ("_held",)

    def __init__(self, held: GatewaySession) -> None:
        self._held = held

    def _start(self, name: str, command: Any, options: Mapping[str, Any], work: Work) -> Task[Any]:
        """Begin a call: its task, not stepped yet. What is wrong with the command is raised here."""
        __tracebackhide__ = True
        said = _said(name, options)
        session = self._held.begin()
        message = self._message(command, said, waits=name != "send")
        return session.world.scheduler.spawn(work(session.runtime.gateway, message), f"gateway.{name}")

    def _message(self, command: Any, said: CommandOptions, *, waits: bool) -> CommandMessage[Any]:
        __tracebackhide__ = True
        failure: Exception
        try:
            return self._held.message(command, said)
        except ValidationError as error:
            inner = command.command if isinstance(command, SentCommand) else command
            if not isinstance(inner, CommandOf):
                raise
            failure = self._held.refused(inner, said, error, waits=waits)
        self._held.end(failure)
        raise failure


class Gateway(_Calls):
    """A command gateway over a fresh world: `gateway.send_and_wait(CreateOrder(...))`.

    Every call takes a command, `command_of(...)`, a `CommandMessage` or a command builder, and sends it through the
    whole pipeline; after it the world has come to rest. It raises what the runtime's gateway raises. The always-on laws
    are checked after each call. `world` is the world behind it; `aio` has the same calls for `async` tests.

    A command without an id goes to the aggregate of its type last spoken of; a create command makes a new one.
    """

    __slots__ = ("aio", "world")

    def __init__(self) -> None:
        super().__init__(GatewaySession())
        self.world: GatewayWorld = GatewayWorld(self._held)
        self.aio: AsyncCalls = AsyncCalls(self._held)

    if not TYPE_CHECKING:
        __getattr__ = no_verb("a gateway")

    def send(self, command: Any, /, **envelope: Unpack[Envelope]) -> None:
        """Send a command; who sends does not wait for what becomes of it.

        Raises:
            DuplicateRequestIdError, CommandValidationError, …: what a check or the bus raised, as it is.
            SpecError: if the author of the test or the domain erred.
            SpecFailure: if a law was broken.
        """
        __tracebackhide__ = True
        self._run("send", command, envelope, _send)

    def send_and_wait(
        self, command: Any, /, *, wait_for: WaitFor | None = None, **envelope: Unpack[Envelope]
    ) -> CommandResult:
        """Send a command and wait for its result: until PROCESSED, unless `wait_for` says something else.

        Raises:
            CommandResultError: the command failed; it has the `result`, and the `original` error as its cause.
            DeadlineExceeded: the deadline passed on virtual time; the command may still be processed.
            IllegalArgumentError: a void command cannot be waited for but until SENT.
            SpecError: if the author of the test or the domain erred.
            SpecFailure: if a law was broken.
        """
        __tracebackhide__ = True
        result: CommandResult = self._run("send_and_wait", command, envelope, _wait(self._held, wait_for))
        return result

    def send_and_wait_stream(
        self, command: Any, /, *, wait_for: WaitFor | None = None, **envelope: Unpack[Envelope]
    ) -> list[CommandResult]:
        """Send a command and wait for all of its results, in their order; a failed one is an ordinary last item.

        Raises:
            CommandResultError: the command did not get as far as its bus.
            DeadlineExceeded, IllegalArgumentError, SpecError, SpecFailure: as `send_and_wait`.
        """
        __tracebackhide__ = True
        results: list[CommandResult] = self._run("send_and_wait_stream", command, envelope, _stream(wait_for))
        return results

    def send_and_wait_for_sent(self, command: Any, /, **envelope: Unpack[Envelope]) -> CommandResult:
        """Send a command, and take the bus's acceptance as its result; what it raises is as for `send_and_wait`."""
        __tracebackhide__ = True
        result: CommandResult = self._run("send_and_wait_for_sent", command, envelope, _for_sent)
        return result

    def send_and_wait_for_processed(self, command: Any, /, **envelope: Unpack[Envelope]) -> CommandResult:
        """`send_and_wait` until PROCESSED."""
        __tracebackhide__ = True
        result: CommandResult = self._run("send_and_wait_for_processed", command, envelope, _for_processed)
        return result

    def send_and_wait_for_snapshot(self, command: Any, /, **envelope: Unpack[Envelope]) -> CommandResult:
        """`send_and_wait` until SNAPSHOT."""
        __tracebackhide__ = True
        result: CommandResult = self._run("send_and_wait_for_snapshot", command, envelope, _for_snapshot)
        return result

    def start(self, command: Any, /, *, wait_for: WaitFor | None = None, **envelope: Unpack[Envelope]) -> StartedCall:
        """Start what `send_and_wait` does, and leave the world standing: it goes on when it is moved.

        `world.step()`, `world.run_until(...)`, `world.advance(...)` and `world.run()` move it, each as far as it says,
        and so does any other call, to rest. Several calls may be started; they begin in their order. (It is the call
        that does not run, not the world that is paused: what moves a world says so, and no block has to be left.)

        Returns:
            The call: `done`, `result()`, `error`. One that fails and is not looked at fails the test.

        Raises:
            SpecError: if the author of the test erred.
            CommandResultError: if the class of a `command_of(...)` refused its fields.
        """
        __tracebackhide__ = True
        held = self._held
        held.enter()
        held.require_rest()
        call = StartedCall(held, command, place_of_caller())
        wanted(wait_for)
        task = self._start("start", command, envelope, lambda gateway, message: call.work(gateway, message, wait_for))
        call.started(task)
        held.calls.append(call)
        return call

    def _run(self, name: str, command: Any, envelope: Mapping[str, Any], work: Work) -> Any:
        __tracebackhide__ = True
        self._held.enter()
        self._held.require_rest()
        self._held.moved_by(place_of_caller())
        task = self._start(name, command, envelope, work)
        run_to_rest(self._held.session.world)
        return self._held.end_of(task, name)

    def __repr__(self) -> str:
        return "<wowspec gateway>"


class AsyncCalls(_Calls):
    """The gateway's calls as coroutines: `await gateway.aio.send_and_wait(...)`, under asyncio, trio and anyio alike.

    Handlers run in the caller's event loop, so they may await real input and output; virtual time stands still
    meanwhile. If the caller's task is cancelled, its wait ends, and a handler that was awaiting is cancelled with it;
    what else was sent goes on at the next use of the gateway.
    """

    __slots__ = ()

    if not TYPE_CHECKING:
        __getattr__ = no_verb("gateway.aio")

    async def send(self, command: Any, /, **envelope: Unpack[Envelope]) -> None:
        """As `Gateway.send`."""
        __tracebackhide__ = True
        await self._await("send", command, envelope, _send)

    async def send_and_wait(
        self, command: Any, /, *, wait_for: WaitFor | None = None, **envelope: Unpack[Envelope]
    ) -> CommandResult:
        """As `Gateway.send_and_wait`."""
        __tracebackhide__ = True
        result: CommandResult = await self._await("send_and_wait", command, envelope, _wait(self._held, wait_for))
        return result

    def send_and_wait_stream(
        self, command: Any, /, *, wait_for: WaitFor | None = None, **envelope: Unpack[Envelope]
    ) -> AsyncResults:
        """An asynchronous iterator of results, each as soon as it is there; nothing is sent before the first step.

        While it is iterated it raises what `Gateway.send_and_wait_stream` raises. Leave it early with `aclose()`.
        """
        plan = wanted(wait_for)
        said = _said("send_and_wait_stream", envelope)

        def open_stream(each: Callable[[CommandResult], None]) -> Task[Any]:
            async def collect(gateway: CommandGateway, message: CommandMessage[Any]) -> None:
                async for result in gateway.send_and_wait_stream(message, plan.plan(message.id)):
                    each(result)

            session = self._held.begin()
            message = self._message(command, said, waits=True)
            return session.world.scheduler.spawn(collect(session.runtime.gateway, message), "gateway.stream")

        return AsyncResults(self._held, open_stream)

    async def send_and_wait_for_sent(self, command: Any, /, **envelope: Unpack[Envelope]) -> CommandResult:
        """As `Gateway.send_and_wait_for_sent`."""
        __tracebackhide__ = True
        result: CommandResult = await self._await("send_and_wait_for_sent", command, envelope, _for_sent)
        return result

    async def send_and_wait_for_processed(self, command: Any, /, **envelope: Unpack[Envelope]) -> CommandResult:
        """As `Gateway.send_and_wait_for_processed`."""
        __tracebackhide__ = True
        result: CommandResult = await self._await("send_and_wait_for_processed", command, envelope, _for_processed)
        return result

    async def send_and_wait_for_snapshot(self, command: Any, /, **envelope: Unpack[Envelope]) -> CommandResult:
        """As `Gateway.send_and_wait_for_snapshot`."""
        __tracebackhide__ = True
        result: CommandResult = await self._await("send_and_wait_for_snapshot", command, envelope, _for_snapshot)
        return result

    async def _await(self, name: str, command: Any, envelope: Mapping[str, Any], work: Work) -> Any:
        __tracebackhide__ = True
        task = self._start(name, command, envelope, work)
        try:
            await Drive(task._scheduler, task)
        except Sleepless as error:
            raise restless(self._held.session.world, error) from None
        except BaseException:
            cancel(task)
            raise
        return self._held.end_of(task, name)

    def __repr__(self) -> str:
        return "<wowspec gateway.aio>"


# --- what the runtime's gateway is asked to do ------------------------------------------------------------------------


async def _send(gateway: CommandGateway, message: CommandMessage[Any]) -> None:
    await gateway.send(message)


def _wait(held: GatewaySession, wait_for: WaitFor | None) -> Work:
    plan = wanted(wait_for)

    async def wait(gateway: CommandGateway, message: CommandMessage[Any]) -> CommandResult | None:
        try:
            return await gateway.send_and_wait(message, plan.plan(message.id))
        except DeadlineExceeded as error:
            note_unheard(error, plan.target, held.session.runtime)
            raise

    return wait


def _stream(wait_for: WaitFor | None) -> Work:
    plan = wanted(wait_for)

    async def collect(gateway: CommandGateway, message: CommandMessage[Any]) -> list[CommandResult]:
        return [result async for result in gateway.send_and_wait_stream(message, plan.plan(message.id))]

    return collect


async def _for_sent(gateway: CommandGateway, message: CommandMessage[Any]) -> CommandResult:
    return await gateway.send_and_wait_for_sent(message)


async def _for_processed(gateway: CommandGateway, message: CommandMessage[Any]) -> CommandResult | None:
    return await gateway.send_and_wait_for_processed(message)


async def _for_snapshot(gateway: CommandGateway, message: CommandMessage[Any]) -> CommandResult | None:
    return await gateway.send_and_wait_for_snapshot(message)


def _said(name: str, options: Mapping[str, Any]) -> CommandOptions:
    if options.get("wait_for") is not None:
        raise SpecError(
            f"gateway.{name}(..., wait_for=...)",
            why="this call says itself how long it waits",
            instead="gateway.send_and_wait(..., wait_for=...)",
        )
    return command_options(dict(options))
