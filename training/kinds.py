"""Make the built-in table of kinds of things and related words from the WordNet 3.0 database files.

    python training/kinds.py DICT_FOLDER

DICT_FOLDER as in ``training/synonyms.py``. Kept are the first senses of the single words that stand
in the table of word frequencies (or whose plain plural does), the more general senses above them
but not the most general ones ("object", "artifact"), pairs of words that derive from each other
("wood", "wooden") and look it, and nouns that mostly stand for nothing that can be touched: those
of whose uses in the texts that WordNet counted, half a use more for each sense, more than half are
of senses in its fields of abstract things.
"""

from __future__ import annotations

import lzma
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

TEXT = Path(__file__).parents[1] / "src" / "beholder" / "text"
PARTS = {"noun": "n", "verb": "v", "adj": "a"}
SENSES = {"n": 3, "v": 4, "a": 4}
"""How many senses of a word count, the most frequent first."""
ABOVE = {"n": frozenset("@"), "v": frozenset("@"), "a": frozenset("&")}
DERIVED = frozenset(("+", "\\"))
LEAST_DEPTH = 5
"""Steps below the top from which a noun's general sense says something."""
ABSTRACT = frozenset((4, 7, 9, 10, 11, 22, 24, 28))
"""Numbers of WordNet's fields ("lexicographer files") for acts, attributes, cognition,
communication, events, processes, relations and times. Groups are left out: people are one."""
SHARED_LETTERS = 4
"""Letters at the beginning that a derived word shares (3 for words of three letters)."""

Key = tuple[str, int]


class Synset:
    """One line of a data file."""

    def __init__(self, line: str, part: str) -> None:
        fields = line.split(" ")
        n_words = int(fields[3], 16)
        at = 4 + 2 * n_words
        self.words = [
            fields[4 + 2 * i].partition("(")[0].lower() for i in range(n_words)
        ]
        self.above: list[Key] = []
        self.derived: list[tuple[int, Key, int]] = []
        for place in range(int(fields[at])):
            mark, offset, part_of_speech, ends = fields[
                at + 1 + 4 * place : at + 5 + 4 * place
            ]
            if part_of_speech not in "nvas":
                continue
            target = (
                "a" if part_of_speech == "s" else part_of_speech,
                int(offset),
            )
            # Adjectives are akin both ways; only the head of a group stands above the others.
            if mark in ABOVE[part] and (part != "a" or fields[2] == "s"):
                self.above.append(target)
            elif mark in DERIVED and int(ends[:2], 16):
                self.derived.append(
                    (int(ends[:2], 16) - 1, target, int(ends[2:], 16) - 1)
                )


def read_synsets(
    folder: Path,
) -> tuple[dict[Key, Synset], dict[str, dict[str, list[Key]]]]:
    """Return all synsets by place, and the first senses of each word of each part of speech."""
    synsets: dict[Key, Synset] = {}
    senses: dict[str, dict[str, list[Key]]] = {
        letter: {} for letter in PARTS.values()
    }
    for name, letter in PARTS.items():
        for line in (
            (folder / f"data.{name}").read_text(encoding="utf-8").splitlines()
        ):
            if not line.startswith("  "):
                synsets[letter, int(line.split(" ", 1)[0])] = Synset(
                    line, letter
                )
        for line in (
            (folder / f"index.{name}").read_text(encoding="utf-8").splitlines()
        ):
            fields = line.split()
            if not line.startswith("  ") and "_" not in fields[0]:
                places = fields[-int(fields[2]) :]
                senses[letter][fields[0]] = [
                    (letter, int(p)) for p in places[: SENSES[letter]]
                ]
    return synsets, senses


def known_words() -> set[str]:
    """Return the words of the frequency table and their bases by dropping an s."""
    lines = (
        (TEXT / "word_frequencies.txt")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    nouns = {
        w
        for line in lines
        if not line.startswith("#")
        for w in line.split("\t")[1].split()
    }
    return nouns | {word[:-1] for word in nouns if word.endswith("s")}


def derivations(
    synsets: dict[Key, Synset], words_to_keep: set[str]
) -> dict[str, set[str]]:
    """Words that derive from each other and begin alike."""
    pairs: dict[str, set[str]] = defaultdict(set)
    for synset in synsets.values():
        for own_place, target, target_place in synset.derived:
            a, b = synset.words[own_place], synsets[target].words[target_place]
            n_shared = min(SHARED_LETTERS, len(a), len(b))
            if (
                a != b
                and {a, b} <= words_to_keep
                and a[:n_shared] == b[:n_shared]
            ):
                pairs[min(a, b)].add(max(a, b))
    return pairs


def abstract(folder: Path) -> set[str]:
    """Nouns that mostly stand for nothing that can be touched."""
    uses: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for line in (
        (folder / "index.sense").read_text(encoding="utf-8").splitlines()
    ):
        key, _, _, count = line.split()
        word, _, sense = key.partition("%")
        part, field = sense.split(":")[:2]
        if part == "1":
            uses[word][int(field) in ABSTRACT] += int(count) + 0.5
    return {
        word
        for word, (n_other_uses, of_these) in uses.items()
        if of_these > n_other_uses
    }


def main() -> None:
    """Write the table."""
    synsets, senses = read_synsets(Path(sys.argv[1]))

    @cache
    def depth(key: Key) -> int:
        return max(
            (depth(above) + 1 for above in synsets[key].above), default=0
        )

    def above(key: Key) -> list[Key]:
        least = LEAST_DEPTH if key[0] == "n" else 0
        return [k for k in synsets[key].above if depth(k) >= least]

    words = known_words()
    numbers: dict[Key, int] = {}
    lines = []
    for letter, table in senses.items():
        for word in sorted(words & set(table)):
            ids = [
                numbers.setdefault(key, len(numbers)) for key in table[word]
            ]
            lines.append(f"{letter}\t{word} {' '.join(map(str, ids))}")
    todo = list(numbers)
    while todo:
        key = todo.pop()
        general = above(key)
        if general:
            todo += [k for k in general if k not in numbers]
            ids = [numbers.setdefault(k, len(numbers)) for k in general]
            lines.append(f"<\t{numbers[key]} {' '.join(map(str, ids))}")
    words_with_senses = words & {
        word for table in senses.values() for word in table
    }
    for word, derived_words in sorted(
        derivations(synsets, words_with_senses).items()
    ):
        lines.append(f"+\t{word} {' '.join(sorted(derived_words))}")
    lines.append(f"=\t{' '.join(sorted(words & abstract(Path(sys.argv[1]))))}")
    text = ("\n".join(lines) + "\n").encode("utf-8")
    out = TEXT / "wordnet" / "kinds.txt.xz"
    out.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(lines)} lines, {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
