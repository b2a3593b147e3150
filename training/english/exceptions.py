"""Writes the exceptions of spaCy's English tokenizer: ``python -m training.english.exceptions``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from spacy.lang.en import English
from spacy.symbols import ORTH  # type: ignore[import-not-found]

import beholder.language

OUTPUT = Path(beholder.language.__file__).with_name("tokens.json")


def main() -> None:
    """Write what is cut in its own way, a line each, in order."""
    tokenizer: Any = English().tokenizer
    rules = tokenizer.rules
    rows = [
        f" {json.dumps(text, ensure_ascii=False)}:"
        f" {json.dumps([part[ORTH] for part in rules[text]], ensure_ascii=False)}"
        for text in sorted(rules)
    ]
    OUTPUT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
