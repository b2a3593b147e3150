"""Answers as JSON lines: to look at them, to keep them with a paper, to replay them."""

from __future__ import annotations

import json
from pathlib import Path

from beholder.files import replacing
from beholder.judges.answers import AnswerCache


def export_answers(file: AnswerCache, path: Path) -> int:
    """Write all complete answers of a store or cache, oldest first; gives how many.

    Each row has ``request`` (digest), ``operation``, ``template``, ``backend``, ``model``,
    ``replicate``, ``cost`` and ``answer``. ``replay:PATH`` reads the file.
    """
    n_rows = 0
    with (
        replacing(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="\n") as lines,
    ):
        for record in file.records():
            if record.is_draw:  # nobody asks for it by its request
                continue
            row = {
                "request": record.request.partition("/")[0],
                "operation": record.operation,
                "template": record.template,
                "backend": record.backend,
                "model": record.model,
                "replicate": record.replicate,
                "cost": record.cost,
                "answer": json.loads(record.answer.to_json()),
            }
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
            n_rows += 1
    return n_rows
