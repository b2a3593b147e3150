"""ALT206: pairs that were labelled by hand when they were written; no model takes part."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from beholder.lint import lint
from toy.cases import each_case

EXCLUDED = """\
A red boat moored at the quay | The blue boat | red
The door of the shop is green | Shop with a red door | green
Her hair is blonde | A woman with black hair | blonde
A man plays the violin on a stage | A woman plays violin on stage | man
An old fisherman repairs a net | The young fisherman repairs his net | old
A copper kettle on a stove | Glass kettle on the stove | copper
A chair made of wood | Plastic chair | wood
A bust of an emperor, bronze | Marble bust of an emperor | bronze
A silver spoon with a dragon | Wooden spoon with a dragon | silver
A plate with five biscuits | Plate of four biscuits | five
Twenty-one swans on a pond | Six swans on the pond | Twenty-one
The house on the left is on fire | House on the right burning | left
The mayor, on the left, smiles | The mayor, on the right, after the final | left
A standing Buddha in stone | Seated Buddha | standing
A ten-year-old girl with a kite | A six-year-old girl with a kite | ten-year-old
A woman reading a letter at a window | Man Reading a Letter at a Window | woman
A man in a blue t-shirt | Man wearing a red shirt | blue
A boy in a hat flies a kite on a hill | Man in a hat flying a kite on a hill | boy
A blue sky over a yellow field | Yellow sky at dusk | blue"""

COMPATIBLE = """\
A house with a red roof and white walls | The white house on the hill
A red-roofed farmhouse | White farmhouse with a garden
A red and blue boat | The blue boat
Two of the five sailors wave | Five sailors on deck
A couple and their baby on a bench | Three people on a bench
A pair of red shoes | Two red shoes
About 12 people in a room | Ten people in a room
A turquoise vase | Green vase
A gold ring | A metal ring
A five-storey house | Two houses in a row
Two adults and three children | Five people in a park
Ten children and a teacher | Class 3 children with their teacher
A red bus | Blue Line bus depot
A grey stone house | White House staff at a stone house
A young woman with a pearl earring | Girl with a Pearl Earring
A young man at a desk | Boy at a desk
A black cat next to another cat | The white cat
A green tractor | The tractor was red before repainting
A house, not white but grey | A white house
A red fire engine | A black fire door
A girl with her brother | A boy with his sister
A dog in a red collar | The brown dog with a blue leash
A wooden bowl on a bronze stand | Seated figure with a bowl
A vase with a sign “red vase” | A blue vase
Two birds on a wire | Plate 3, birds"""


def find_contradictions(tmp_path: Path, text: str, caption: str) -> list[str]:
    path = tmp_path / "a.jsonl"
    path.write_text(
        json.dumps({"image": "a.jpg", "alt": text, "caption": caption})
    )
    hits = [
        finding
        for finding in lint([path]).findings
        if finding.rule == "ALT206"
    ]
    return [text[slice(*finding.span)] for finding in hits if finding.span]


@each_case("pair", EXCLUDED.splitlines())
def test_values_of_one_thing_exclude_each_other(
    tmp_path: Path, pair: str
) -> None:
    text, caption, word = pair.split(" | ")
    assert find_contradictions(tmp_path, text, caption) == [word]


@each_case("pair", COMPATIBLE.splitlines())
def test_values_of_other_things_and_other_times_do_not(
    tmp_path: Path, pair: str
) -> None:
    text, caption = pair.split(" | ")
    assert find_contradictions(tmp_path, text, caption) == []


def test_no_parser_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"image": "a.jpg", "alt": "A red boat", "caption": "The blue boat"}'
    )
    code = (
        "from beholder.language import parsers; from beholder.lint import lint; "
        f"print([one.rule for one in lint([{str(path)!r}]).findings], "
        "parsers._builtin.cache_info().misses, parsers._spacy_parser.cache_info().misses)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "['ALT206'] 0 0"
