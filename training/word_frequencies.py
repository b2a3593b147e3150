"""Counts in how many sentences each word stands; writes the table behind ``beholder.text.weight``.

    python training/word_frequencies.py SHARED_DATA

SHARED_DATA holds ``descriptions/iiw_descriptions.jsonl.xz`` (ImageInWords, CC BY 4.0) and
``ud_english/*-train.conllu.xz`` (UD English EWT and the open genres of GUM). Only counts of words
are kept, no text. The judged sets are not read.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from beholder.text import RuleSplitter, words

TREEBANKS = ("en_ewt-ud-train.conllu.xz", "en_gum_open-ud-train.conllu.xz")
TABLE = Path(__file__).parents[1] / "src/beholder/text/word_frequencies.txt"
MARK = "# text = "


def sentences(data: Path) -> Iterator[str]:
    splitter = RuleSplitter()
    with lzma.open(
        data / "descriptions/iiw_descriptions.jsonl.xz", "rt", encoding="utf-8"
    ) as file:
        for line in file:
            text = json.loads(line)["text"]
            yield from (
                segment.text_in(text) for segment in splitter.split(text)
            )
    for name in TREEBANKS:
        with lzma.open(
            data / "ud_english" / name, "rt", encoding="utf-8"
        ) as file:
            yield from (
                line[len(MARK) :].strip()
                for line in file
                if line.startswith(MARK)
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "data", type=Path, help="folder with descriptions/ and ud_english/"
    )
    data: Path = parser.parse_args().data

    counts: Counter[str] = Counter()
    n = 0
    for text in sentences(data):
        counts.update({text[start:end].lower() for start, end in words(text)})
        n += 1
    by_count: dict[int, list[str]] = defaultdict(list)
    for word, count in counts.items():
        if count > 1 and any(character.isalpha() for character in word):
            by_count[count].append(word)
    rows = [
        f"{count}\t{' '.join(sorted(by_count[count]))}"
        for count in sorted(by_count, reverse=True)
    ]
    header = (
        "# Sentences with each word, in ImageInWords (CC BY 4.0), "
        "UD English EWT and GUM (open)."
    )
    TABLE.write_text(
        "\n".join([header, f"{n}\tSENTENCES", *rows]) + "\n", encoding="utf-8"
    )
    print(f"{TABLE}: {n} sentences, {sum(map(len, by_count.values()))} words")


if __name__ == "__main__":
    main()
