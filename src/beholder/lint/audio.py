"""ALT501 to ALT504: the cues of an audio description, in WebVTT or SRT.

Each cue is spoken in a gap of the film's sound, from its start to its end. The rules compare cues
with their times and with each other; the film is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from beholder.data.subtitles import Cue, cues
from beholder.errors import DataError
from beholder.lint.decoding import decode_text
from beholder.lint.occurrence import Occurrence, Structural
from beholder.lint.sources import MOST_BYTES, ReadFile
from beholder.lint.wording import fold, words

FORMS = (".vtt", ".srt")
"""Endings of files with cues."""
WORDS_PER_MINUTE = 160
"""Words of a description that can be spoken in a minute; docs/lint.md has the source."""
_LEAST_REPEATED = 3
"""Words of a text that is not repeated by chance."""
_NAME = r"([A-Z][a-z]+(?:[ -][A-Z][a-z]+)?)"
_INTRODUCTION = re.compile(
    r"\b(?:named|called|introduced as|introduces (?:him|her)self as) "
    + _NAME
    + r"|\b(?:man|woman|boy|girl|child|teenager|person|guard|doctor|teacher|stranger), "
    + _NAME
    + "[,.]"
)
"""Words that introduce a name: "a man named Tom", "a tall woman, Ann,"."""


def read_cue_files(paths: Sequence[str | Path]) -> Iterator[ReadFile]:
    """Yield the cues of files and folders as occurrences with their findings.

    Raises:
        DataError: A path does not exist, or is not WebVTT or SRT.
    """
    for path in map(Path, paths):
        if path.is_dir():
            files = sorted(
                file
                for file in path.rglob("*")
                if file.suffix.lower() in FORMS and not file.is_symlink()
            )
        else:
            files = [path]
        if not files:
            raise DataError(str(path), f"has no file of {', '.join(FORMS)}")
        for file in files:
            if not file.is_file():
                raise DataError(
                    str(file), "is not a file or folder; check the path"
                )
            if file.suffix.lower() not in FORMS:
                raise DataError(
                    str(file),
                    f"the profile audio-description reads {', '.join(FORMS)}",
                )
            inside = path.is_dir()
            name = (file.relative_to(path) if inside else file).as_posix()
            root = path if inside else file.parent
            pictures = _read_cues(file, name)
            yield ReadFile(name, file.parent, root, pictures, (), ())


def _read_cues(file: Path, name: str) -> list[Occurrence | DataError]:
    if file.stat().st_size > MOST_BYTES:
        return [DataError(name, f"has over {MOST_BYTES:,} bytes")]
    text = decode_text(file.read_bytes(), name)
    try:
        parsed_cues = cues(text.split("\n"), name)
    except DataError as error:
        return [error]
    good_cues = [cue for cue in parsed_cues if isinstance(cue, Cue)]
    findings = find_in_cues(good_cues)
    occurrences: list[Occurrence | DataError] = [
        Occurrence(
            file=name,
            line=cue.line,
            element="cue",
            raw=cue.text,
            text_from="cue",
            declared=True,
            structural=tuple(findings[at]),
        )
        for at, cue in enumerate(good_cues)
    ]
    return occurrences + [c for c in parsed_cues if isinstance(c, DataError)]


def find_in_cues(parsed_cues: Sequence[Cue]) -> list[list[Structural]]:
    """Return the findings about each cue: id of the rule, what was found, no own severity."""
    introduced_names = _introductions(parsed_cues)
    line_by_text: dict[str, int] = {}
    findings: list[list[Structural]] = []
    for at, cue in enumerate(parsed_cues):
        found_here: list[tuple[str, str]] = []
        n_words = len(words(cue.text))
        seconds = cue.end - cue.start
        n_fitting = int(seconds * WORDS_PER_MINUTE / 60)
        if n_words > n_fitting:
            found_here.append(
                (
                    "ALT501",
                    f"has {n_words} words in {seconds:g} s; {n_fitting} fit at"
                    f" {WORDS_PER_MINUTE} words a minute",
                )
            )
        if at + 1 < len(parsed_cues) and cue.end > parsed_cues[at + 1].start:
            late = cue.end - parsed_cues[at + 1].start
            found_here.append(
                ("ALT502", f"ends {late:.3g} s after the next cue begins")
            )
        for name, introduced_at in introduced_names.items():
            is_used = re.search(rf"\b{re.escape(name)}\b", cue.text)
            if at < introduced_at and is_used:
                line = parsed_cues[introduced_at].line
                found_here.append(
                    (
                        "ALT503",
                        f'names "{name}", who is introduced in line {line}',
                    )
                )
        key = fold(cue.text)
        if n_words >= _LEAST_REPEATED and key in line_by_text:
            found_here.append(
                ("ALT504", f"repeats the cue in line {line_by_text[key]}")
            )
        line_by_text.setdefault(key, cue.line)
        findings.append([(rule, what, "") for rule, what in found_here])
    return findings


def _introductions(parsed_cues: Sequence[Cue]) -> dict[str, int]:
    """Return the place of the first cue that introduces a name, by name."""
    place_by_name: dict[str, int] = {}
    for at, cue in enumerate(parsed_cues):
        for match in _INTRODUCTION.finditer(cue.text):
            name = next(group for group in match.groups() if group)
            place_by_name.setdefault(name, at)
    return place_by_name
