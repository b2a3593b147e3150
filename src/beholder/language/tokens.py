"""English text cut into tokens as spaCy's tokenizer does, which the network was trained on.

spaCy itself takes half a second and 60 MB to import. A test compares the two. What stands between
blanks is one token if the table of exceptions has it ("Mr.", "don't" is two); otherwise signs come
off both ends, one after the other, and what is left is cut at signs within it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_SIGNS = frozenset("…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪")
_QUOTES = frozenset("'\"”“`‘´’‚„»«「」『』（）〔〕【】《》〈〉⟦⟧")
_FIRST = _SIGNS | _QUOTES | frozenset("§%=—–")
_LAST = _SIGNS | _QUOTES | frozenset("—–")
_OWNED = ("'s", "'S", "’s", "’S")
_MONEY = ("US$", "C$", "A$")
_NO_MONEY = frozenset("¢¤֏؋߾߿৻૱௹៛꠸﷼﹩＄￠￡￥￦")
"""Signs of currencies that stay where they are; but for the rial, which goes."""
_UNITS = re.compile(
    r"(?<=[0-9])(?:[kdcm]?m[²³]?|ha|µm|nm|yd|in|ft|kg|g|mg|µg|t|lb|oz|m/s|km/h|kmh|mph|hPa|Pa|mbar"
    r"|[mkgt]b|[MKGT]B|[TGMK]|%)$"
)
_RUNS = re.compile(r"(?:(?<=\S) )?(\S+|\s+|\Z)")
_WITHIN = re.compile(r"\.\.+|[-—]+|[^\w\s]")
_JOINTS = frozenset(("-", "–", "—", "--", "---", "——", "~"))
_ADDRESS = re.compile(
    r"(?:[\w+.-]{2,}://)?(?:\S+(?::\S*)?@)?"
    r"(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[^\W_](?:[\w-]{0,62}[^\W_])?\.)+[a-zß-öø-ÿ]{2,63})"
    r"(?::\d{2,5})?(?:[/?#]\S*)?"
)
_LONGEST = 2_000
"""Characters of an address at most."""
_CACHE_SIZE = 1 << 14
_RUN = 128
"""Signs in a row, without a space, from which they are cut: one after the other comes off a run,
and each time all the rest is looked at. No text in a language has so many."""
_SIGNS_IN_A_ROW = re.compile(rf"[^\w\s]{{{_RUN + 1},}}")
# A rule of dots or hyphens: one token, however long.
_ONE_TOKEN = re.compile(r"(\.+|-+)")


def tokens(text: str) -> list[tuple[str, int]]:
    """The tokens of a text and where they begin; blanks beyond one between words are some, too."""
    pieces = []
    for start, run in _runs(text):
        for part in _cut(run) if len(run) <= _RUN else _cut.__wrapped__(run):
            pieces.append((part, start))
            start += len(part)
    return pieces


def _runs(text: str) -> Iterator[tuple[int, str]]:
    """Runs of blanks and of other characters; the space after a run is in none."""
    for run in _RUNS.finditer(text):
        start, stop = run.span(1)
        for signs in (
            _SIGNS_IN_A_ROW.finditer(text, start, stop)
            if stop - start > _RUN
            else ()
        ):
            if not _ONE_TOKEN.fullmatch(signs[0]):
                for end in range(signs.start() + _RUN, signs.end(), _RUN):
                    yield start, text[start:end]
                    start = end
        if start < stop:
            yield start, text[start:stop]


@lru_cache(maxsize=_CACHE_SIZE)
def _cut(run: str) -> tuple[str, ...]:
    exceptions = _exceptions()
    first: list[str] = []
    last: list[str] = []
    size = 0
    while (
        run
        and run not in exceptions
        and not run.isalpha()
        and len(run) != size
    ):
        # A sign comes off each end per round; an exception ("don't") stops the cutting.
        size = len(run)
        before = _prefix(run)
        after = (
            0
            if before and run[before:] in exceptions
            else _suffix(run[before:])
        )
        if after and run[:-after] in exceptions:
            before = 0
        first.append(run[:before])
        last.append(run[len(run) - after :])
        run = run[before : len(run) - after]
    is_address = (
        len(run) <= _LONGEST and "." in run and _ADDRESS.fullmatch(run)
    )
    middle = exceptions.get(run) or (
        [run] if is_address or run.isalpha() else _within(run)
    )
    return tuple(filter(None, (*first, *middle, *reversed(last))))


def _prefix(run: str) -> int:
    """Return the number of characters that are cut off the beginning as a token."""
    if run.startswith(".."):
        return len(run) - len(run.lstrip("."))
    plus = run[0] == "+" and not run[1:2].isdigit()
    if run[0] in _FIRST or plus or _is_icon(run[0]) or _is_money(run[0]):
        return 1
    return next((len(money) for money in _MONEY if run.startswith(money)), 0)


def _suffix(run: str) -> int:
    """Return the number of characters that are cut off the end as a token."""
    if not run:
        return 0
    if run.endswith(".."):
        return len(run) - len(run.rstrip("."))
    if run.endswith(_OWNED):
        return 2
    end = run[-1]
    before = run[-2:-1]
    if end in _LAST or _is_icon(end):
        return 1
    if before and before in "0123456789" and (end == "+" or _is_money(end)):
        return 1
    if unit := _UNITS.search(run):
        return len(unit[0])
    if end == "." and before:
        lower = (
            before.islower()
            or before in "0123456789%²-+|"
            or before in _SIGNS | _QUOTES
        )
        upper = len(run) > 2 and before.isupper() and run[-3].isupper()
        degrees = before in "FfCcKk" and run[-3:-2] == "°"
        return int(
            lower or upper or degrees or _is_letter_without_case(before)
        )
    return 0


def _is_letter_without_case(sign: str) -> bool:
    return sign.isalpha() and sign.lower() == sign.upper()


def _is_icon(sign: str) -> bool:
    return not sign.isascii() and unicodedata.category(sign) == "So"


def _is_money(sign: str) -> bool:
    return (
        unicodedata.category(sign) == "Sc" and sign not in _NO_MONEY
    ) or sign == "﷼"


def _within(run: str) -> list[str]:
    parts, start = [], 0
    for sign in _WITHIN.finditer(run):
        if sign.start() > start and _cuts(
            sign[0], run[sign.start() - 1], run[sign.end() :][:1]
        ):
            parts += [run[start : sign.start()], sign[0]]
            start = sign.end()
    return [*parts, run[start:]]


def _cuts(sign: str, before: str, after: str) -> bool:
    """Return whether a sign between two characters is a token."""
    if sign == "…" or sign.startswith("..") or _is_icon(sign[0]):
        return True
    if (
        sign in "+-*^"
        and before in "0123456789"
        and after
        and after in "0123456789-"
    ):
        return True
    if sign == ".":
        lower = (
            before.islower()
            or before in _QUOTES
            or _is_letter_without_case(before)
        )
        return lower and (after.isupper() or after in _QUOTES)
    if sign == ",":
        return before.isalpha() and after.isalpha()
    joins = sign in _JOINTS or sign in ":<>=/"
    return (
        joins
        and (before.isalpha() or before in "0123456789")
        and after.isalpha()
    )


@lru_cache(maxsize=1)
def _exceptions() -> dict[str, list[str]]:
    return dict(
        json.loads(
            Path(__file__).with_name("tokens.json").read_text(encoding="utf-8")
        )
    )
