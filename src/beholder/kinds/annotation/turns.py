"""Saves of many threads at once: those that wait for the disk together are written together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, TypeVar

from beholder.errors import ItemError

T = TypeVar("T")


@dataclass(eq=False)
class _Ticket(Generic[T]):
    """Work that waits for its turn, and what came of it."""

    work: Callable[[Any], T]
    found: T | None = None
    error: Exception | None = None
    done: bool = False


class SharedCommits(Generic[T]):
    """One writer at a time, as SQLite has it; who is next takes all that wait into one transaction.

    A disk may take long to say that something is written. However long, each waits for the write
    before and for their own.

    Args:
        begin: Opens a transaction, which is committed when it is left without an error.
        of_all: Error of a database that no work can be written to now.
    """

    def __init__(self, begin: Callable[[], Any], of_all: type[Exception]) -> None:
        self._begin = begin
        self._of_all = of_all
        self._waiting: list[_Ticket[T]] = []
        self._list, self._turn = Lock(), Lock()

    def do(self, work: Callable[[Any], T]) -> T:
        """The result of work, once it is on the disk.

        Args:
            work: Takes the connection. By an ItemError it refuses and must have written nothing.

        Raises:
            ItemError: The work refused.
            Exception: Nothing of its transaction was written.
        """
        ticket = _Ticket(work)
        with self._list:
            self._waiting.append(ticket)
        with self._turn:
            if not ticket.done:  # else it went with the one before
                with self._list:
                    batch, self._waiting = self._waiting, []
                self._write(batch)
        if ticket.error is not None:
            raise ticket.error
        return ticket.found  # type: ignore[return-value]

    def _write(self, batch: list[_Ticket[T]]) -> None:
        try:
            with self._begin() as db:
                for ticket in batch:
                    try:
                        ticket.found = ticket.work(db)
                    except ItemError as error:
                        ticket.error = error
        except Exception as error:
            if len(batch) > 1 and not isinstance(error, self._of_all):
                for ticket in batch:  # nothing was written, so the work that failed is found out
                    ticket.error = None
                    self._write([ticket])
            else:
                for ticket in batch:  # raised again to each whose work was lost by it
                    ticket.error = error
        finally:
            for ticket in batch:
                ticket.done = True
