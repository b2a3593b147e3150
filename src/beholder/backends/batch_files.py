"""Batches whose requests are uploaded as a file and that carry a digest: OpenAI's and Google's."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from beholder.backends.batch_queue import GONE, BatchService
from beholder.backends.calls import CallFailed, Forbidden
from beholder.backends.openai_http import NotThere

_MOST_PAGES = 20
"""Pages of the server's list in which a batch of ours is looked for, the newest first."""


class FileBatches(BatchService):
    """The calls of batches; each step that differs between servers is one request."""

    # Google answers 403 when a file is gone.
    dropped: ClassVar = (NotThere, Forbidden)

    @abstractmethod
    async def upload(self, content: bytes) -> str:
        """Upload requests; return the id of the file."""

    @abstractmethod
    async def make(self, file: str, digest: str) -> str:
        """Start a batch that carries a digest; return its id."""

    @abstractmethod
    async def page(self, after: str) -> tuple[list[tuple[Any, object]], str]:
        """Return ids and digests of batches, and where the next page begins (empty at the end).

        Raises:
            NotThere: The server keeps no list.
        """

    @abstractmethod
    async def look(self, batch: str) -> tuple[str, list[object]]:
        """Return the status of a batch, and the ids of its result files.

        Raises:
            NotThere: The server does not know it any more.
        """

    async def start(self, lines: Sequence[bytes], digest: str) -> str:
        """Upload requests and start a batch that carries a digest; return its id."""
        file = await self.call(lambda: self.upload(b"".join(lines)))
        is_repeat = False

        async def make() -> str:
            nonlocal is_repeat
            # A try whose answer was lost may have made the batch: look before making a second one.
            batch_id = await self._find(digest) if is_repeat else None
            is_repeat = True
            return (
                await self.make(file, digest) if batch_id is None else batch_id
            )

        return str(await self.call(make))

    async def find(
        self, digest: str, ids: Collection[str], poll: float
    ) -> str | None:
        """Return the id of the batch that carries a digest, or None."""
        batch_id: str | None = await self.call(lambda: self._find(digest))
        return batch_id

    async def status(self, batch: str) -> tuple[str, list[str]]:
        """Return the status of a batch, and the ids of its result files."""
        try:
            status, files = await self.call(lambda: self.look(batch))
        except NotThere:
            return GONE, []
        return status, [
            file for file in files if isinstance(file, str) and file
        ]

    async def _find(self, digest: str) -> str | None:
        # The newest batches come first, and ours is recent: a few pages are enough.
        after = ""
        for _ in range(_MOST_PAGES):
            try:
                rows, after = await self.page(after)
            except NotThere:
                return None
            for name, mark in rows:
                if not isinstance(name, str):
                    raise CallFailed(
                        "the server's list of batches cannot be read"
                    )
                if mark == digest:
                    return name
            if not after:
                return None
        return None
