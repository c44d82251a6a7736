"""A file that is kept by two replicas, of which one is enough."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import aggregate_root, create_aggregate, fault_point, on_command, on_sourcing


class Replicas:
    """Two disks. The defect: each stands in for the other, and nobody sees that neither has it.

    Attributes:
        left: contents by file id.
        right: the same, where nothing went wrong.
    """

    def __init__(self) -> None:
        self.left: dict[str, str] = {}
        self.right: dict[str, str] = {}

    def holds(self, file_id: str) -> bool:
        """Whether anybody has it."""
        return file_id in self.left or file_id in self.right

    def write(self, file_id: str, content: str) -> None:
        """Give it to both."""
        self.write_left(file_id, content)
        self.write_right(file_id, content)

    def write_left(self, file_id: str, content: str) -> None:
        """Give it to one, if it is there."""
        try:
            with fault_point("left.write"):
                self.left[file_id] = content
        except Exception:
            return

    def write_right(self, file_id: str, content: str) -> None:
        """Give it to the other one, if it is there."""
        try:
            with fault_point("right.write"):
                self.right[file_id] = content
        except Exception:
            return


class CheckedReplicas(Replicas):
    """Corrected: what nobody has was not written."""

    def write(self, file_id: str, content: str) -> None:
        """Give it to both; one must have it."""
        super().write(file_id, content)
        if not self.holds(file_id):
            raise OSError(f"no replica has {file_id}")


@create_aggregate
class Save(BaseModel):
    id: str
    content: str


class Saved(BaseModel):
    pass


class FileState(BaseModel):
    id: str
    saved: bool = False

    @on_sourcing
    def was_saved(self, event: Saved) -> None:
        self.saved = True


@aggregate_root(context="replicas")
class File:
    def __init__(self, state: FileState) -> None:
        self.state = state

    @on_command
    def save(self, command: Save, replicas: Replicas) -> Saved:
        replicas.write(command.id, command.content)
        return Saved()
