"""The interface of sentence splitters, and our own rules: any script, in linear time.

A text is first cut into blocks at line breaks that end something (a blank line, a heading, a list
entry); each block is then cut after its sentence stops.
"""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from beholder.base.optional import require
from beholder.errors import ItemError


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence-like piece of a text, as a half-open character range of the *original* text.

    Attributes:
        start: Index of the first character.
        end: Index after the last character.
    """

    start: int
    end: int

    def text_in(self, text: str) -> str:
        """The words of the segment."""
        return text[self.start : self.end]


class Splitter(ABC):
    """Cuts a text into sentence-like segments.

    Attributes:
        cheap: Whether every worker process may make its own.
    """

    per_process: ClassVar[bool] = True

    @property
    @abstractmethod
    def identity(self) -> str:
        """Name, with the version or revision of what its class loads from elsewhere."""

    @abstractmethod
    def split(self, text: str) -> list[Segment]:
        """Segments of a text.

        Args:
            text: Any text in any script; it may be empty.

        Returns:
            Segments in order, none empty, none overlapping. Each starts and ends with a visible
            character, and every visible character is in exactly one of them. An empty or blank
            text has none.
        """


class SatSplitter(Splitter):
    """Sentence splitting by a neural model (spec ``sat:NAME``, extra ``sat``).

    Args:
        name: Name or path of the model, as ``wtpsplit.SaT`` takes it: ``sat-3l-sm``.

    Raises:
        MissingExtraError: The package wtpsplit is not installed.
    """

    per_process = False

    def __init__(self, name: str) -> None:
        self.name = name
        self._package = require(
            "wtpsplit", extra="sat", purpose=f"the splitter 'sat:{name}'"
        )
        self._model: Any = None
        self._lock = threading.Lock()

    @property
    def identity(self) -> str:
        """Model name and version of wtpsplit: ``sat:sat-3l-sm@wtpsplit-2.1.6``."""
        return f"sat:{self.name}@wtpsplit-{self._package.__version__}"

    def split(self, text: str) -> list[Segment]:
        """See ``Splitter.split``.

        Raises:
            ItemError: The model changed the text, so that its sentences have no place in it.
        """
        # Loads on first use; the model is not known to be safe in threads.
        with self._lock:
            if self._model is None:
                self._model = self._package.SaT(self.name)
            sentences = [
                str(sentence).strip() for sentence in self._model.split(text)
            ]
        segments: list[Segment] = []
        cursor = 0
        for sentence in filter(None, sentences):
            start = text.find(sentence, cursor)
            if start < 0:
                raise ItemError(
                    f"{self.identity} gave a sentence that is not in the text: {sentence!r}"
                )
            cursor = start + len(sentence)
            segments.append(Segment(start, cursor))
        return segments


def _cased(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _any_case(words: str) -> frozenset[str]:
    return frozenset(
        form
        for word in words.split()
        for form in (word, word.lower(), word.upper())
    )


NEVER_FINAL = _any_case(
    "Mr Mrs Ms Mx Dr Drs Prof Ste Mt Messrs Mme Mlle Hr Frl Sra Srta Dra vs approx viz cf"
    " e.g i.e eg ie P.S z.B d.h bzw incl excl resp esp Ул Ст Им"
) | _cased(
    "Gen Sen Rep Rev Hon Capt Cpt Lt Col Sgt Maj Cmdr Adm Gov Pres Supt Fr Sr Atty Amb Insp"
    " ca c al г пр т д डॉ प्रो श्री पं"
)
"""A name, number or example follows: the stop never ends a sentence."""

BEFORE_NUMBER = _any_case(
    "No Nos Nr Fig Figs Eq Eqs Sec Ch Chap Vol Vols Art Pt Pp P Pl Ex Tab Ref Refs Op Ver Ed Pos"
)
"""The stop does not end a sentence when a number follows: "No. 5", but "No. He did not."."""

MAY_BE_FINAL = _any_case(
    "Jr Inc Ltd Bros Corp Ave Blvd Rd Hwy Dept Univ Assn St Ph.D Esq"
) | _cased(
    "Co Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri"
    " dept est misc temp max tel Tel Str usw"
)
"""The stop ends a sentence only when a word follows that usually begins one."""

ENDS_BEFORE_CAPITAL = _any_case("etc a.m p.m A.D B.C B.C.E C.E")
"""The stop ends a sentence when a capital follows, except that of a date or a time zone."""

UNITS = _cased(
    "in ft yd mi lb lbs oz pt qt gal sq cu mm cm km kg hr hrs min mins sec secs mph"
)
"""After a number these are units, and ``MAY_BE_FINAL``; elsewhere they are words."""

DATE_WORDS = _cased(
    "January February March April May June July August September October November December"
    " Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
    " Januar Februar März Mai Juni Juli Oktober Dezember"
)
"""After "5 p.m." or an ordinal such as the German "3. Oktober" these continue the sentence."""

SMALL_WORDS = _cased("a an and at by for from in of on or the to vs with")
"""Words that stay in lower case in a heading."""

STARTERS = _cased(
    "The A An This That These Those It Its He She They We You I His Her Their Our My Your There"
    " Here In On At To From With By For As If When While Where What Who How Why But And Or So Then"
    " Also However After Before Behind Above Below Beside Next Two Three One Some Many Most All"
    " Both Each Every Another Other No Not Now Near Over Under Inside Outside Meanwhile Later"
    " Finally Overall Once Only Because Although Though Yet Did Does Do Is Are Was Were Will Can"
    " Please Let Such Several"
)
"""Words that, capitalised, usually begin a sentence."""


_PARAGRAPH = "\u2029"
_NEWLINE = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
# Escapes stand for the full-width and half-width forms, which look like the ASCII ones.
_CLOSERS = r"\"'”’»›)\]}*_`〉》」』】〕〗〙〛\uff09\uff3d\uff5d\uff63"
_OPENERS = r"\"'“‘«‹„‚(\[{*_`〈《「『【〔〖〘〚\uff08\uff3b\uff5b\uff62¿¡—–-"
# Stops that need a space after them; then stops that end a sentence wherever they stand, with the
# verse number between two double dandas.
_STOP = re.compile(
    r"(?P<spaced>[.!?…‼⁇⁈⁉]+)"
    r"|(?P<bare>॥\s?\d{1,4}\s?॥"
    r"|[。\uff61\uff0e\uff01\uff1f।॥؟۔።။។։][。\uff61\uff0e\uff01\uff1f।॥؟۔…!?]*)"
)
# Closing marks, with the thin space that French sets before », and note marks: [12].
_AFTER_STOP = re.compile(
    rf"(?P<closing>(?:[ \u00a0\u202f]?[»›]|[{_CLOSERS}]|[ ]?\[\d{{1,3}}\])*)"
    rf"(?P<space>\s*)(?P<opening>[\s{_OPENERS}]*)"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_TOKEN_START = re.compile(r"[^\s\"“”‘’«»()\[\]{}—–*_`「」()]*\Z")
_ACRONYM = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_CJK = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_MARKER = re.compile(
    r"\s*(?:[-*+•‣◦▪●·–—]\s|#{1,6}\s|>\s|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4})\)\s|\d{1,3}\.\s|[①-⑳])"
)
_LONGEST_ABBREVIATION = 12
_LONGEST_HEADING = 80


class RuleSplitter(Splitter):
    """Sentence splitting by rules (spec ``rules``).

    Full stops, question and exclamation marks end a sentence before white space, unless they belong
    to an abbreviation, an initial, a number, a list marker or a quotation that continues in lower
    case; CJK stops, dandas and the stops of other scripts end it anywhere. Closing quotes and
    brackets stay with the sentence they close. A blank line, a paragraph separator, a heading and
    a list entry end a sentence without a stop; any other line break is white space. A piece
    without letter or digit joins its neighbour.
    """

    @property
    def identity(self) -> str:
        """Its name; see ``registry.versioned_identity``."""
        return "rules"

    def split(self, text: str) -> list[Segment]:
        """See ``Splitter.split``."""
        pieces = [
            piece
            for start, end in _blocks(text)
            for piece in _sentences(text, start, end)
        ]
        return _join_wordless(text, pieces)


def _blocks(text: str) -> list[tuple[int, int]]:
    """Ranges between the line breaks that end a sentence by themselves."""
    breaks = [newline.span() for newline in _NEWLINE.finditer(text)]
    starts = [0, *(end for _, end in breaks)]
    lines = list(
        zip(starts, [*(start for start, _ in breaks), len(text)], strict=True)
    )
    blocks = lines[:1]
    for (start, end), (after, stop) in pairwise(lines):
        if text[end] == _PARAGRAPH or _ends_block(
            text[start:end], text[after:stop]
        ):
            blocks.append((after, stop))
        else:
            blocks[-1] = (blocks[-1][0], stop)
    return blocks


def _ends_block(before: str, after: str) -> bool:
    following = after.lstrip()
    if not following or not before.strip() or _MARKER.match(after):
        return True
    goes_on = following[0].islower()
    if len(before) <= _LONGEST_HEADING and _is_heading(before, goes_on):
        return True
    return _MARKER.match(before) is not None and not goes_on


def _is_heading(line: str, goes_on: bool) -> bool:
    line = line.strip()
    is_bold = line.startswith("**") and line.endswith("**")
    if is_bold or line.startswith("#") or line.endswith((":", "\uff1a")):
        return True
    words = _WORD.findall(line)
    titled = bool(words) and all(
        word[0].isupper() or word in SMALL_WORDS for word in words
    )
    return (
        titled and not goes_on and len(words) <= 8 and line[-1] not in ",;-–—"
    )


def _sentences(text: str, start: int, end: int) -> list[Segment]:
    """Segments of one block."""
    block = text[start:end].rstrip()
    end = start + len(block)
    start = end - len(block.lstrip())
    segments: list[Segment] = []
    for stop in _STOP.finditer(text, start, end):
        after = _AFTER_STOP.match(text, stop.end(), end)
        # Every part of the pattern may be empty.
        assert after is not None
        if after.end() < end and _ends_sentence(text, start, stop, after):
            segments.append(Segment(start, after.start("space")))
            start = after.end("space")
    if start < end:
        segments.append(Segment(start, end))
    return segments


def _ends_sentence(
    text: str, start: int, stop: re.Match[str], after: re.Match[str]
) -> bool:
    """Return whether a stop that is not the last thing of its block ends a sentence."""
    following = text[after.end()]
    if stop["bare"]:
        return _bare_ends(text, stop, after, following)
    marks = stop["spaced"]
    if not after["space"]:
        return _ends_without_space(text, stop, after, following)
    # As in: "Stop!" he said.
    if after["closing"] and following.islower():
        return False
    if "!" in marks or "?" in marks or marks[0] in "‼⁇⁈⁉":
        return True
    # An ellipsis ends a sentence only before a capital.
    if marks != ".":
        return not following.islower()
    return after["closing"] != "" or _full_stop_ends(
        text, start, stop.start(), after
    )


def _bare_ends(
    text: str, stop: re.Match[str], after: re.Match[str], following: str
) -> bool:
    before = text[stop.start() - 1] if stop.start() else ""
    if (
        stop["bare"] == "\uff0e"
        and before.isdigit()
        and following.isdigit()
        and not after["space"]
    ):
        return False
    # Japanese quotations continue with a particle: 「行く。」と言った。
    return not (
        after["closing"] and not after["space"] and following in "とっ"
    )


def _ends_without_space(
    text: str, stop: re.Match[str], after: re.Match[str], following: str
) -> bool:
    """Stops that are followed by no space: CJK text with Latin stops, and a forgotten space."""
    before = text[max(stop.start() - 2, 0) : stop.start()]
    if _CJK.match(following) and not after["opening"]:
        latin = stop["spaced"]
        return (
            "!" in latin
            or "?" in latin
            or (latin == "." and before[-1:].isalpha())
        )
    if after["closing"] or after["opening"] or len(stop["spaced"]) > 1:
        return False
    word = _WORD.match(text, after.end())
    if word is None or not (
        before.islower() and before.isalpha() and len(before) == 2
    ):
        return False
    # "red.The dog": a capital and a small letter, or a starter; but no name such as www.Site.org
    word_before = _token_before(text, stop.start())
    reads_as_word = word_before.isalpha() and following.isupper()
    ends_plainly = text[word.end() : word.end() + 1] in ("", " ", ",", "\n")
    return (
        reads_as_word
        and ends_plainly
        and (word[0] in STARTERS or stop["spaced"] != ".")
    )


def _token_before(text: str, end: int) -> str:
    match = _TOKEN_START.search(
        text[max(end - _LONGEST_ABBREVIATION - 8, 0) : end]
    )
    return match[0] if match else ""


def _full_stop_ends(
    text: str, start: int, stop: int, after: re.Match[str]
) -> bool:
    """Return whether a single full stop before white space ends a sentence."""
    token = _token_before(text, stop)
    following = text[after.end()]
    match = _WORD.match(text, after.end())
    word = match[0] if match else ""
    at_start = stop - len(token) == start
    if token.isdecimal():
        is_marker = at_start and len(token) <= 3
        is_ordinal = word in DATE_WORDS and len(token) <= 2
        return not is_marker and not is_ordinal
    if token in NEVER_FINAL:
        return False
    if token in BEFORE_NUMBER:
        return not following.isdigit()
    if token in ENDS_BEFORE_CAPITAL:
        zone = word.isupper() and 2 < len(word) < 5
        return following.isupper() and word not in DATE_WORDS and not zone
    # An initial, or the letter of a list.
    if len(token) == 1 and token.isupper():
        return not at_start and word in STARTERS
    if (
        token in MAY_BE_FINAL
        or _ACRONYM.fullmatch(token)
        or _is_unit(text, stop, token)
    ):
        return word in STARTERS
    return True


def _is_unit(text: str, stop: int, token: str) -> bool:
    if token not in UNITS:
        return False
    before = text[max(stop - len(token) - 2, 0) : stop - len(token)].rstrip()
    return before[-1:].isdigit()


def _join_wordless(text: str, pieces: list[Segment]) -> list[Segment]:
    """Join pieces without letter or digit to the piece before them, or else to the one after."""
    joined: list[Segment] = []
    # True while no piece so far has a letter or digit.
    wordless = True
    for piece in pieces:
        has_word = any(c.isalnum() for c in piece.text_in(text))
        if joined and (wordless or not has_word):
            joined[-1] = Segment(joined[-1].start, piece.end)
        else:
            joined.append(piece)
        wordless &= not has_word
    return joined
