"""The till of `till.py`, with the same three defects, in Protean."""

from protean import Domain, handle
from protean.core.aggregate import apply
from protean.fields import Identifier, Integer, String
from protean.utils.globals import current_domain

domain = Domain(name="Shop")
domain.config["command_processing"] = "sync"
domain.config["event_processing"] = "sync"


@domain.command(part_of="Till")
class OpenTill:
    till_id: Identifier(identifier=True)
    clerk: String(required=True)


@domain.command(part_of="Till")
class PayIn:
    till_id: Identifier(identifier=True)
    amount: Integer(required=True)


@domain.command(part_of="Till")
class PayOut:
    till_id: Identifier(identifier=True)
    amount: Integer(required=True)


@domain.command(part_of="Till")
class CloseTill:
    till_id: Identifier(identifier=True)


@domain.command(part_of="Till")
class CountTill:
    till_id: Identifier(identifier=True)
    coins: Integer(required=True)


@domain.event(part_of="Till")
class TillOpened:
    till_id: Identifier(required=True)
    clerk: String(required=True)


@domain.event(part_of="Till")
class PaidIn:
    till_id: Identifier(required=True)
    amount: Integer(required=True)


@domain.event(part_of="Till")
class PaidOut:
    till_id: Identifier(required=True)
    amount: Integer(required=True)


@domain.event(part_of="Till")
class TillClosed:
    till_id: Identifier(required=True)


@domain.event(part_of="Till")
class TillCounted:
    till_id: Identifier(required=True)
    coins: Integer(required=True)


@domain.aggregate(event_sourced=True)
class Till:
    till_id: Identifier(identifier=True)
    clerk: String()
    money: Integer(default=0)
    limit: Integer()
    coins: Integer(default=0)

    @classmethod
    def open(cls, till_id, clerk):
        till = cls._create_new(till_id=till_id)
        till.raise_(TillOpened(till_id=till_id, clerk=clerk))
        till.raise_(PaidIn(till_id=till_id, amount=100))
        return till

    def pay_in(self, amount):
        if self.limit < amount < 0:
            raise RuntimeError("too much")
        self.raise_(PaidIn(till_id=self.till_id, amount=amount))

    def pay_out(self, amount):
        if amount > self.money:
            raise RuntimeError(f"{self.money} is too little")
        self.raise_(PaidOut(till_id=self.till_id, amount=amount))

    def close(self):
        TillClosed(till_id=self.till_id)

    def count(self, coins):
        self.raise_(TillCounted(till_id=self.till_id, coins=coins))

    @apply
    def till_opened(self, event: TillOpened):
        self.till_id = event.till_id
        self.clerk = event.clerk
        self.money = self.coins = 0

    @apply
    def paid_in(self, event: PaidIn):
        self.money += event.amount

    @apply
    def paid_out(self, event: PaidOut):
        self.money -= event.amount


@domain.command_handler(part_of=Till)
class TillCommands:
    @handle(OpenTill)
    def open(self, command: OpenTill):
        current_domain.repository_for(Till).add(Till.open(command.till_id, command.clerk))
        return command.till_id

    @handle(PayIn)
    def pay_in(self, command: PayIn):
        self._do(command, lambda till: till.pay_in(command.amount))

    @handle(PayOut)
    def pay_out(self, command: PayOut):
        self._do(command, lambda till: till.pay_out(command.amount))

    @handle(CloseTill)
    def close(self, command: CloseTill):
        self._do(command, lambda till: till.close())

    @handle(CountTill)
    def count(self, command: CountTill):
        self._do(command, lambda till: till.count(command.coins))

    def _do(self, command, decide):
        repository = current_domain.repository_for(Till)
        till = repository.get(command.till_id)
        decide(till)
        repository.add(till)
