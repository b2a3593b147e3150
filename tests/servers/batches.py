"""A server that keeps batches like the hosted one, in a thread (see ``faults.serving``)."""

from __future__ import annotations

import json
import re
from typing import Any

from servers.faults import body_of, completion

QUICK: dict[str, Any] = {
    "batch": True,
    "batch_quiet": 0.05,
    "batch_poll": 0.02,
}


class BatchServer:
    """Takes files and batches; a batch is done after it was looked at a few times."""

    def __init__(self, looks: int = 2, final: str = "completed") -> None:
        self.looks = looks
        self.final = final
        self.url = ""
        self.hanging: set[str] = set()
        self.files: dict[str, str] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.n_probes = 0
        self.after = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw = await body_of(receive)
        self.after = scope["query_string"].decode().partition("after=")[2]
        answer = self.route(
            scope["method"], scope["path"].removeprefix("/v1"), raw
        )
        body = (
            answer.encode()
            if isinstance(answer, str)
            else json.dumps(answer).encode()
        )
        kind = (
            b"text/plain" if isinstance(answer, str) else b"application/json"
        )
        headers = [
            (b"content-type", kind),
            (b"content-length", str(len(body)).encode()),
        ]
        await send(
            {"type": "http.response.start", "status": 200, "headers": headers}
        )
        await send({"type": "http.response.body", "body": body})

    def route(self, method: str, path: str, raw: bytes) -> Any:
        if path == "/chat/completions":
            self.n_probes += 1
            return completion("ready")
        if path == "/files":
            name = f"file-{len(self.files)}"
            self.files[name] = "\n".join(
                re.findall(r'^\{"custom_id".*$', raw.decode(), re.M)
            )
            return {"id": name, "object": "file"}
        if path == "/batches" and method == "GET":  # one batch a page
            rows = [
                {"id": name, "metadata": b["metadata"]}
                for name, b in self.batches.items()
            ]
            start = next(
                (
                    i + 1
                    for i, row in enumerate(rows)
                    if row["id"] == self.after
                ),
                0,
            )
            more = start + 1 < len(rows)
            return {
                "object": "list",
                "data": rows[start : start + 1],
                "has_more": more,
            }
        if path == "/batches":
            name = f"batch-{len(self.batches)}"
            request = json.loads(raw)
            self.batches[name] = {
                "input": request["input_file_id"],
                "metadata": request["metadata"],
                "looks": 0,
            }
            return {"id": name, "object": "batch", "status": "validating"}
        if path.startswith("/batches/"):
            return self.look(path.removeprefix("/batches/"))
        return self.files[
            path.removeprefix("/files/").removesuffix("/content")
        ]

    def look(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        batch["looks"] += 1
        status: dict[str, Any] = {
            "id": name,
            "object": "batch",
            "status": "in_progress",
        }
        if batch["looks"] < self.looks:
            return status
        rows = []
        for line in self.files[batch["input"]].splitlines():
            request = json.loads(line)
            bad = "refuse me" in str(request["body"]["messages"])
            response: dict[str, Any] = {
                "status_code": 200,
                "body": completion("a phrase"),
            }
            if bad:
                response = {
                    "status_code": 400,
                    "body": {"error": {"message": "no"}},
                }
            rows.append(self.line(request, response))
        self.files[f"out-{name}"] = "\n".join(rows)
        output = f"out-{name}" if self.final == "completed" else None
        return {
            **status,
            "status": self.final,
            "output_file_id": output,
            "error_file_id": None,
        }

    def line(self, request: dict[str, Any], response: dict[str, Any]) -> str:
        """A line of the results."""
        return json.dumps(
            {"custom_id": request["custom_id"], "response": response}
        )

    def sent(self) -> list[str]:
        """Every request in every batch."""
        return [
            json.loads(line)["custom_id"]
            for batch in self.batches.values()
            for line in self.files[batch["input"]].splitlines()
        ]
