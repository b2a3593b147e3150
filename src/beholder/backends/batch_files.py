"""Batches whose requests are uploaded as a file and that carry a digest: OpenAI's and Google's."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

from beholder.backends.batch_queue import (
    GONE,
    MOST_RESULT_BYTES,
    BatchService,
    read_lines,
)
from beholder.backends.calls import CallFailed, Forbidden
from beholder.backends.openai_http import NotThere

_MOST_PAGES = 20
"""Pages of the server's list in which a batch of ours is looked for, the newest first."""


class FileBatches(BatchService):
    """The batch calls; what the servers do in their own ways is one request each."""

    @abstractmethod
    async def upload(self, content: bytes) -> str:
        """Upload requests; the id of the file."""

    @abstractmethod
    async def make(self, file: str, digest: str) -> str:
        """Start a batch that carries a digest; its id."""

    @abstractmethod
    async def page(self, after: str) -> tuple[list[tuple[Any, object]], str]:
        """Ids and digests of batches, and where the next page begins, if there is one.

        Raises:
            NotThere: The server keeps no list.
        """

    @abstractmethod
    async def look(self, batch: str) -> tuple[str, list[object]]:
        """Status of a batch, and the ids of its result files.

        Raises:
            NotThere: The server does not know it any more.
        """

    @abstractmethod
    def place(self, file: str) -> str:
        """Where a result file is read."""

    def row(self, row: Any) -> Any:
        """A row of a result file in OpenAI's form."""
        return row

    async def start(self, lines: Sequence[bytes], digest: str) -> str:
        """Upload requests and start a batch that carries a digest; gives its id."""
        file = await self.call(lambda: self.upload(b"".join(lines)))
        tried = False

        async def make() -> str:
            nonlocal tried
            # A try whose answer was lost may have made the batch: look before making a second one.
            made = await self._find(digest) if tried else None
            tried = True
            return await self.make(file, digest) if made is None else made

        return str(await self.call(make))

    async def find(
        self, digest: str, ids: Collection[str], poll: float
    ) -> str | None:
        """Id of the batch that carries a digest, or None."""
        found: str | None = await self.call(lambda: self._find(digest))
        return found

    async def status(self, batch: str) -> tuple[str, list[str]]:
        """Status of a batch, and the ids of its result files."""
        try:
            status, files = await self.call(lambda: self.look(batch))
        except NotThere:
            return GONE, []
        return status, [
            file for file in files if isinstance(file, str) and file
        ]

    async def rows(self, file: str) -> tuple[list[Any], int]:
        """The values of a result file's lines, and how many lines could not be read."""
        place = self.place(file)
        try:
            body: bytes = await self.call(
                lambda: self.http.request("GET", place, most=MOST_RESULT_BYTES)
            )
        except (
            NotThere,
            Forbidden,
        ):  # kept for some time; Google answers 403 afterwards
            return [], 0
        rows, n_unread = read_lines(self.http, body)
        return [self.row(row) for row in rows], n_unread

    async def _find(self, digest: str) -> str | None:
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

    async def read(
        self,
        field: str,
        method: str,
        path: str,
        *,
        kind: type = str,
        **parts: Any,
    ) -> dict[str, Any]:
        """A JSON object in which a field is what it must be."""
        found = await self.http.read(method, path, **parts)
        if not isinstance(found, dict) or not isinstance(
            found.get(field), kind
        ):
            raise CallFailed(f"the server's answer to {path} has no {field}")
        return found
