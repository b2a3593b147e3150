"""Files of published sets are read line by line, whatever stands within a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import DataError
from beholder.kinds.agreement.published_files import read_columns, read_lines

SEPARATORS = "a\u2028b\u2029c\u0085d\x1ce"


def test_separators_in_a_text_end_no_line(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(
        f'{{"text": "{SEPARATORS[:-2]}"}}\r\n\n[1]'.encode()
    )
    assert read_lines(tmp_path, "rows.jsonl") == [
        {"text": SEPARATORS[:-2]},
        [1],
    ]
    (tmp_path / "table.txt").write_bytes(
        f"1\t{SEPARATORS}\r\n\n2\tf\n".encode()
    )
    assert read_columns(tmp_path, "table.txt") == [
        ["1", SEPARATORS],
        ["2", "f"],
    ]


def test_a_file_that_is_missing_or_holds_anything_else_is_named(
    tmp_path: Path,
) -> None:
    with pytest.raises(DataError, match="is missing"):
        read_lines(tmp_path, "rows.jsonl")
    (tmp_path / "rows.jsonl").write_text("{")
    with pytest.raises(
        DataError, match="cannot be read as the published form"
    ):
        read_lines(tmp_path, "rows.jsonl")
