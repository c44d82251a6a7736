"""Recoveries: what an application may do, or its runtime does, after something went wrong. One table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from ..errors import SpecError
from ..specs.items import wanted
from ..specs.run import failure_of
from ..world.profiles import PortProfile
from .ledgers import Ledgers
from .playing import Answer, Played


@dataclass(frozen=True, slots=True)
class Recovery:
    """One recovery.

    Attributes:
        name: what `recovery=` calls it.
        doc: what is done.
        run: does it to a world at rest, and lets it come to rest again.
        native: whether a profile's own runtime does it.
        asks: whether whoever does it looks at what is stored, and so learns what became of the command.
    """

    name: str
    doc: str
    run: Callable[[Played], None]
    native: Callable[[PortProfile], bool]
    asks: bool = False


def _redeliver(played: Played) -> None:
    played.session.runtime.redeliver()
    played.session.world.scheduler.run()


def _retry(played: Played) -> None:
    """Each command whose sender was told of a failure, or of nothing, is sent again with the same request id."""
    session = played.session
    world = session.world
    for answer in [answer for answer in played.answers if answer.failure is not None]:
        message = answer.message
        if message is None:
            continue
        again = session.runtime.message(
            message.body,
            named_aggregate=message.aggregate_id.named_aggregate,
            aggregate_id=message.aggregate_id.id,
            tenant_id=message.aggregate_id.tenant_id,
            owner_id=message.owner_id,
            space_id=message.space_id,
            request_id=message.request_id,
            aggregate_version=message.aggregate_version,
        )
        sending: Any = (
            session.runtime.gateway.send(again)
            if again.is_void
            else session.runtime.gateway.send_and_wait(again, wanted(None).plan(again.id))
        )
        task = world.scheduler.spawn(sending, "retry")
        world.scheduler.run()
        failure = failure_of(task, again)
        if failure is None:
            answer.failure = None
            answer.message = again
            answer.earlier.append(message)
        else:
            played.answers.append(Answer(again, answer.command, failure))
    played.audit.keep()


def _resend(played: Played) -> None:
    """Each stored stream that was never published is published now, as from an outbox."""
    played.audit.keep()
    ledgers = Ledgers(played)
    missing = [stream for stream in ledgers.own if stream.id not in ledgers.published]
    played.session.runtime.resend(missing)
    played.session.world.scheduler.run()


def _restart(played: Played) -> None:
    played.session.runtime.restart()
    played.session.world.scheduler.run()


RECOVERIES: Final[tuple[Recovery, ...]] = (
    Recovery(
        "redelivery",
        "messages that were not acknowledged are delivered again",
        _redeliver,
        lambda profile: profile.redelivers,
    ),
    Recovery(
        "client retry",
        "a sender who was told of a failure, or of nothing, sends its command again with the same request id",
        _retry,
        lambda _: False,
        asks=True,
    ),
    Recovery("resend", "stored streams that were never published are published", _resend, lambda _: False, asks=True),
    Recovery(
        "restart",
        "the process dies and starts again: memory is lost, stores stay, unacknowledged messages come again",
        _restart,
        lambda profile: profile.crashes,
    ),
)
RECOVERY_BY_NAME: Final = {row.name: row for row in RECOVERIES}


def recoveries_of(names: str | Iterable[str] | None, profile: PortProfile) -> tuple[Recovery, ...]:
    """The recoveries that an application has: those named, or what the profile's runtime does by itself.

    Raises:
        SpecError: for a name that none has.
    """
    if names is None:
        return tuple(row for row in RECOVERIES if row.native(profile))
    said = (names,) if isinstance(names, str) else tuple(names)
    found = []
    for name in said:
        row = RECOVERY_BY_NAME.get(str(name).replace("_", " "))
        if row is None:
            raise SpecError(
                f"recovery={name!r}",
                why="a recovery is what the application does after something went wrong",
                instead=" or ".join(f"recovery={known!r}" for known in RECOVERY_BY_NAME),
            )
        found.append(row)
    return tuple(found)
