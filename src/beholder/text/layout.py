"""Texts without their layout: list marks, markup, emoji, quotes around the whole.

Layout says nothing about what is described, but a parser makes words of it, and an entailment model
takes "1." for a statement. ``without_layout`` puts blanks in its place, one for each character, so
that a place in the plain text is the same place in the original.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape

from beholder.text.rules import BEFORE_NUMBER, MAY_BE_FINAL, NEVER_FINAL

PARAGRAPH = "\u2029"
"""Takes the place of a line break where layout ends a paragraph: after a heading, before a list
entry. Without the mark of the list nothing else would show that the two lines are two sentences."""

_CACHE_SIZE = 1 << 12

_INLINE_TAGS = "a abbr b big cite code em font i mark s small span strike strong sub sup u"
_BLOCK_TAGS = (
    "article blockquote body br center dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6"
    " head header hr html img li main ol p pre section table tbody td th thead title tr ul"
)
_TAG = re.compile(
    rf"<!--[^<>]*-->|</?(?:{'|'.join(_INLINE_TAGS.split())}|"
    rf"(?P<block>{'|'.join(_BLOCK_TAGS.split())}))(?:\s[^<>]*)?/?>",
    re.IGNORECASE | re.DOTALL,
)
_ENTITY = re.compile(
    r"&(?:[a-z]{2,8}\d{0,2}|#\d{1,7}|#x[0-9a-f]{1,6});", re.IGNORECASE
)
_BBCODE = re.compile(
    r"\[/?(?:b|i|u|s|list|quote|code|img|url)\]", re.IGNORECASE
)
_ESCAPED_BREAK = re.compile(r"\\[nrt](?![a-z])")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*$", re.MULTILINE)
_LINK = re.compile(r"(!?\[)[^\[\]\n]+(\]\([^()\s]+\))")
# Runs of signs that are written around words. Between two letters or digits they belong to the
# word: f**k, 3*4, snake_case.
_EMPHASIS = re.compile(
    r"(?<![^\W_])(?<![*_~`=])(?:\*++|_++|~~++|`++|==++)(?=\S)"
    r"|(?<=[^\s*_~`=])(?:\*++|_++|~~++|`++|==++)(?![^\W_])"
)
_PICTOGRAM = (
    "\u2190-\u21ff\u2300-\u23ff\u2500-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001fbff"
)
_EMOJI = re.compile(
    rf"(?:[{_PICTOGRAM}][\ufe0e\ufe0f]?\u200d?)+[\U000e0020-\U000e007f]*"
    r"|[0-9#*]\ufe0f?\u20e3"  # keycaps
    r"|[\ufe0e\ufe0f]"
    r"|(?<![\w:]):[a-z][a-z0-9_+-]*[a-z0-9]:(?![\w:])"  # :beach_umbrella:
    r"|(?<=\s)[:;=]['-]?[()DP](?=\s|$)"
)
_DASH_AFTER_STOP = re.compile(r"(?<=[.!?…])[–—•·]+(?=\s)")
_NOTE = re.compile(r"(?<=[\w.!?…])\[\d{1,3}\]|(?<=[.!?])[¹²³⁰⁴-⁹]+")

# A piece without a letter: signs that are neither quotes, brackets nor parts of an amount.
_SIGNS = r"(?:[^\w\s\"'“”‘’«»„‚(){}\[\]$€£¥%@&°#]|_)+|\#{1,6}|\[[ xX]?\]"
_ROMAN = r"[ivx]{1,5}"
_COUNT = rf"(?:\d{{1,2}}|[a-z]|{_ROMAN})"
# A word that only numbers an entry: "Step 2:". "No. 5" without a colon names something.
_NUMBERED = r"(?:step|item|point|part|no\.|nr\.)[ \t]?\d{1,2}[ \t]?[:–—]"
_MARK = (
    rf"(?:{_SIGNS}|(?i:{_NUMBERED})|\(?{_COUNT}\)|\[\d{{1,2}}\]|(?:\d{{1,2}}\.)+"
    rf"|(?:[a-z]|{_ROMAN})\.|[①-⓿❶-➓])"
)
_FIRST_OF_LINE = rf"{_MARK}|\#?\d{{1,2}}\s?[:–-]|\#\d{{1,2}}\.?|\([A-Z]\)|(?:[A-Z]|[IVX]{{1,5}})\)"
# "-A dog", "1.A dog".
_BEFORE_LETTER = r"(?:[-–—•·▪◦‣]|\d{1,2}[.)])(?=[^\W\d_a-z])"
_OF_LINE = re.compile(
    rf"^[ \t]*((?:(?:{_FIRST_OF_LINE})(?:[ \t]+|$))+|{_BEFORE_LETTER})",
    re.MULTILINE,
)
_AFTER_STOP = re.compile(
    rf"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+\s++((?:{_MARK}(?:\s+|$))+)"
)
_CAPITAL = re.compile(
    r"(?:^|[.!?]\s)[ \t]*((?:[A-Z]|[IVX]{2,5})\.)(?=[ \t]+\S)", re.MULTILINE
)
# "1.2" numbers an entry where several lines begin so; a single one may be an amount.
_OUTLINE = re.compile(
    r"^[ \t]*(\d{1,2}(?:\.\d{1,2})+)(?=[ \t]+[^\W\d_a-z])", re.MULTILINE
)
_LAST_OF_LINE = re.compile(
    rf"[ \t]((?:(?!\.\.\.|…|[.!?,;:]){_SIGNS})\s*)$", re.MULTILINE
)
_HEADING = re.compile(r"^[ \t]*+#{1,6}[ \t]++[^\n]+$", re.MULTILINE)
# A heading that says no more than that a description follows.
_TITLE_WORD = (
    r"(?:the|this|an?|of|for|image|picture|photo|photograph|video|visual|detailed|brief|short|full"
    r"|final|descriptions?|captions?|summary|overview|alt|alternative|text)"
)
_TITLE_WORDS = rf"{_TITLE_WORD}(?:[ \t]+{_TITLE_WORD})*"
_TITLE = re.compile(
    rf"^[ \t]*(?:\#{{1,6}}[ \t]+|\*\*|__){_TITLE_WORDS}[:*_# \t]*$"
    rf"|^[ \t]*{_TITLE_WORDS}[ \t]*:[ \t]*$|^[ \t]*{_TITLE_WORDS}\s*\n(?:=+|-{{3,}})[ \t]*$"
    rf"|(?<=<h[1-6]>)\s*{_TITLE_WORDS}:?\s*(?=</h[1-6]>)",
    re.MULTILINE | re.IGNORECASE,
)
_CELL = re.compile(r"(?<!\S)\|+(?!\S)|^[ \t]*\||\|[ \t]*$", re.MULTILINE)
_BREAK = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")

_AROUND = {
    '"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»", "»": "«", "`": "`",
    "(": ")", "[": "]", "{": "}", "「": "」", "『": "』",
}  # fmt: skip
_STOP = "[.!?…]"
# Whole sentences in quotes; an apostrophe within a word is no quote.
_QUOTED = re.compile(
    rf"(?:^|(?<={_STOP}\s)|(?<={_STOP}[\"'”“’»]\s))[ \t]*([\"'“„‘«»])"
    rf"(?:[^\"'“”„‘’«»]|(?<=\w)['’](?=\w))*{_STOP}([\"'”“’»«])(?=\s|$)",
    re.MULTILINE,
)
# Full-width letters and digits, but not the marks, which end sentences without a space.
_FULL_WIDTH = [
    chr(code) for code in range(0xFF10, 0xFF5B) if chr(code).isalnum()
]
_LIKE_ASCII = str.maketrans(
    "’ʼ‘´\u2032‚‛“”„‟«»\u2033\u2010\u2011\u2212\u00a0\u202f\u2007"
    + "".join(_FULL_WIDTH),
    "'''''''\"\"\"\"\"\"\"---   "
    + "".join(chr(ord(character) - 0xFEE0) for character in _FULL_WIDTH),
)


@lru_cache(maxsize=_CACHE_SIZE)
def without_layout(text: str) -> str:
    """A text with a blank for each character of its layout; every other character stays in place.

    Layout is what a writer or a program puts around sentences: list marks (``1.``, ``(a)``, ``-``),
    headings, emphasis and tags of Markdown and HTML, emoji, pieces without a letter, quotes or
    brackets around the whole text. Numbers that count or name something stay: "3 dogs", "1920",
    "No. 5". A break that the layout makes is ``PARAGRAPH``; a line that continues in lower case is
    joined. Typographic apostrophes, quotes, hyphens, spaces and full-width letters become plain.
    """
    page = _TextLayout(text)
    page.blank_titles()
    for tag in _TAG.finditer(text):
        page.blank(*tag.span(), ends=tag["block"] is not None)
    for entity in _ENTITY.finditer(text):
        character = unescape(entity[0])
        # A longer one is the text itself: no entity has this name.
        if len(character) == 1:
            page.blank(*entity.span())
            page.characters[entity.start()] = (
                " " if character in "<>\n" else character
            )
    for pattern in (_BBCODE, _FENCE, _NOTE, _EMOJI, _DASH_AFTER_STOP):
        page.blank_all(pattern)
    page.blank_all(_ESCAPED_BREAK, ends=True)
    page.blank_groups(_LINK)
    page.end_headings()
    page.blank_marks()
    page.blank_all(_EMPHASIS)
    # Such as stand behind emphasis: **1.** A dog.
    page.blank_marks()
    page.blank_all(_CELL, ends=True)
    page.blank_around()
    page.blank_quotes()
    page.join_lines()
    return page.text.translate(_LIKE_ASCII)


class _TextLayout:
    """A text whose layout is being blanked; its length stays the same."""

    def __init__(self, text: str) -> None:
        self.characters = list(text)

    @property
    def text(self) -> str:
        return "".join(self.characters)

    def blank(self, start: int, end: int, *, ends: bool = False) -> None:
        """Blank characters but not line breaks; ``ends`` makes the first one end a paragraph."""
        for place in range(start, end):
            if not _BREAK.match(self.characters[place]):
                self.characters[place] = " "
        if ends:
            self.characters[start] = PARAGRAPH

    def blank_all(
        self, pattern: re.Pattern[str], *, ends: bool = False
    ) -> None:
        """Blank all that a pattern matches."""
        for match in pattern.finditer(self.text):
            self.blank(*match.span(), ends=ends)

    def blank_groups(self, pattern: re.Pattern[str]) -> None:
        """Blank the groups of a pattern and leave what is between them."""
        for match in pattern.finditer(self.text):
            for group in range(1, len(match.groups()) + 1):
                self.blank(*match.span(group))

    def blank_titles(self) -> None:
        """Blank headings such as "Image description", unless nothing would be left."""
        text = self.text
        if _HAS_WORD.search(_TITLE.sub("", text)):
            for title in _TITLE.finditer(text):
                self.blank(*title.span())

    def end_headings(self) -> None:
        """End a paragraph behind each heading, and blank the marks that close it."""
        for heading in _HEADING.finditer(self.text):
            closing = len(heading[0].rstrip(" \t").rstrip("#"))
            self.blank(heading.start() + closing, heading.end())
            if heading.end() < len(self.characters):
                self.characters[heading.end()] = PARAGRAPH

    def blank_marks(self) -> None:
        """Blank list marks and other pieces without letters before, between, behind sentences."""
        text = self.text
        for line in _OF_LINE.finditer(text):
            if line.start(1) and line.start(1) < line.end(1):
                self.characters[line.start(1)] = PARAGRAPH
                self.blank(line.start(1) + 1, line.end(1))
            else:
                self.blank(*line.span(1))
        for piece in _AFTER_STOP.finditer(text):
            before = text[
                max(0, piece.start() - _LONGEST_WORD) : piece.start()
            ].split()[-1:]
            is_counted = piece[1][
                0
            ].isdigit() and not _BEFORE_NUMBERS.isdisjoint(before)
            if not is_counted:
                self.blank(*piece.span(1))
        self.blank_groups(_LAST_OF_LINE)
        outline = list(_OUTLINE.finditer(text))
        if len(outline) > 1:
            for number in outline:
                self.blank(*number.span(1))
        # One capital with a stop is an initial ("A. Lincoln"); a list has several, from the first.
        capitals = list(_CAPITAL.finditer(text))
        if len(capitals) > 1 and capitals[0][1] in ("A.", "I."):
            for capital in capitals:
                self.blank(*capital.span(1))

    def blank_around(self) -> None:
        """Blank quotes or brackets around the whole text, and a lone quote at one of its ends."""
        text = self.text
        places = [
            place
            for place, character in enumerate(text)
            if not character.isspace()
        ]
        if len(places) < 2:
            return
        first = places[0]
        last = places[-1]
        opening = text[first]
        closing = text[last]
        inside = text[first + 1 : last]
        if (
            _AROUND.get(opening) == closing
            and opening not in inside
            and closing not in inside
        ):
            self.blank(first, first + 1)
            self.blank(last, last + 1)
        elif text.count('"') == 1 and '"' in (opening, closing):
            self.blank(text.index('"'), text.index('"') + 1)

    def blank_quotes(self) -> None:
        """Blank the quotes around whole sentences; those around words are of the sentence."""
        for quoted in _QUOTED.finditer(self.text):
            if _AROUND[quoted[1]] == quoted[2]:
                self.blank(*quoted.span(1))
                self.blank(*quoted.span(2))

    def join_lines(self) -> None:
        """Make a blank of each line break within a sentence, as wrapped lines have them."""
        text = self.text
        for line_break in _BREAK.finditer(text):
            before = text[: line_break.start()].rstrip(" \t")[-1:]
            after = text[line_break.end() :].lstrip(" \t")[:1]
            is_unfinished = before.isalnum() or before in (",", "-")
            if (
                is_unfinished
                and after.islower()
                and line_break[0] != PARAGRAPH
            ):
                for place in range(*line_break.span()):
                    self.characters[place] = " "


_HAS_WORD = re.compile(r"[^\W_]")
_LONGEST_WORD = 12
_BEFORE_NUMBERS = BEFORE_NUMBER | NEVER_FINAL | MAY_BE_FINAL
