"""ALT101: names that files, cameras and programs give, known by their form where they have one."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from beholder.lint.occurrence import RESIZED, Occurrence
from beholder.lint.rules import Hit, LintSetting, check
from beholder.lint.wording import fold, listed, names, shortened, words

_EXTENSION = (
    r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?|heic|heif|ico|psd|eps"
    r"|dng|cr2|nef|arw|pdf)"
)
_FILE = re.compile(rf"\S+{_EXTENSION}", re.IGNORECASE)
_CAMERA_MAKE = r"""
    (?:(?i:IMG|DSC[NF]?|_?MG|PXL|MVIMG|MVI|GOPR|DJI|VID|FB_IMG|Screen\ ?shot|WhatsApp\ Image|Scan
    |Bildschirmfoto|received|signal|snapchat|thumbnail_IMG)|P|SAM)"""
_CAMERA_NAME = re.compile(
    rf"""
    (?:copy\ of\ )?_?{_CAMERA_MAKE}[ _-]*\d{{2,}}
    (?:(?i:at|um|am|pm|edited|copy|kopie|WA\d+)\b|[\W\d_])*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PROGRAM = re.compile(
    r"""
    (?i:Screen\ ?shot|Bildschirmfoto|WhatsApp\ Image)
    (?:\b(?i:at|um|am|pm|edited|copy)\b|[\W\d_])+
    """,
    re.VERBOSE,
)
_DAY = r"(?:19|20)\d\d(?P<dash>[-_.]?)\d{1,2}(?P=dash)\d{1,2}"
_TIME = r"\d{1,2}(?:[._:\-h]?[0-5]\d){1,2}"
# A date and a time, and at most what a program writes around them in any language: the kind of
# picture before ("Capture d'écran"), "at" between, and the name of the other program behind.
_STAMP = re.compile(
    rf"""
    (?:[^\W\d]+(?:['’·.\ _-]+[^\W\d]+){{0,3}}[\ _-]*)?
    {_DAY}[\ _T-]{{0,2}}(?:[^\W\d]{{1,5}}\.?(?:\ [^\W\d]{{1,4}})?[\ _-])?{_TIME}(?:[._]\d{{1,6}})?
    (?:[\ _-]*(?:[AaPp]\.?[Mm]\.?|[\w.]{{1,30}}|\(\d{{1,3}}\)|-\ .*))?
    """,
    re.VERBOSE,
)
_LOCAL_STAMP = re.compile(
    r"""
    [^\W\d]+(?:\ [^\W\d]+){0,2}\ \d{1,2}[-.]\d{1,2}[-.]\d{2,4},?\ (?:[^\W\d]{1,5}\ )?
    \d{1,2}[\ ._][0-5]\d(?:[\ ._][0-5]\d)?(?:\ [AaPp][Mm])?
    """,
    re.VERBOSE,
)
_CLOCK = re.compile(r"(?<!\d)\d{1,2}_[0-5]\d_[0-5]\d(?!\d)")
_MOST_STAMP_WORDS = 12
_DIGEST = re.compile(
    r"[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I
)
_SIZE = re.compile(r"(?<!\d)\d{2,5}x\d{2,5}(?!\d)")
# Within a text only names that nothing else has: airplanes and number plates look like others.
_TOKEN = re.compile(
    rf"""
    (?<!\S)\S{{1,200}}?(?i:{_EXTENSION})\b
    |\b(?:IMG|DSC[NF]?|_MG|PXL|MVIMG|DJI|VID)_\d{{2,}}\w*|\b(?:IMG|DSC[NF]?|GOPR)\d{{4,}}\b
    """,
    re.VERBOSE,
)
_TOKEN_SIGN = re.compile(r"\.\w|_\d|[A-Z]\d{4}")
_ONE_TOKEN = re.compile(r"[\w.+~%-]{2,200}")
_LETTERS_AND_DIGITS = re.compile(r"[^\W\d_]+|\d+")
_VERSION = re.compile(
    r"[-_](?:\d{1,4}(?:x|px)|v\d{1,3}|final|edited|copy|kopie|copie|copia|scaled|thumb|min|hires"
    r"|\d{1,4}wi)\Z",
    re.I,
)
_COPY = re.compile(r"(?P<name>[^()]{1,40}?)\ ?\(\d{1,3}\)")
_STOCK = re.compile(
    r"(?:adobe ?stock|shutterstock|i ?stock(?:photo)?|getty ?images|depositphotos|dreamstime|pexels"
    r"|unsplash|pixabay|freepik|alamy|123rf)[ _-](?:photo[ _-])?[\w-]*\d[\w-]*",
    re.I,
)


@check("ALT101")
def file_name(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find names of files, cameras and programs, digests, and sizes such as 300x200."""
    text = occurrence.text.strip("\"'“”()[]")
    is_name = (
        _FILE.fullmatch(text)
        or _equals_file(occurrence, text)
        or _CAMERA_NAME.fullmatch(text)
        or _PROGRAM.fullmatch(text)
        or _is_stamp(text)
        or _DIGEST.fullmatch(text)
        or _STOCK.fullmatch(text)
        or _is_numbered_kind(occurrence)
        or (_ONE_TOKEN.fullmatch(text) and _is_technical(text))
        or (_SIZE.search(text) and len(occurrence.words) <= 3)
    )
    if is_name:
        return Hit(
            f'"{shortened(occurrence.text)}" is the name of a file, a camera or a program'
        )
    if (
        len(occurrence.words) >= 4
        and _TOKEN_SIGN.search(occurrence.judged)
        and (match := _TOKEN.search(occurrence.judged))
    ):
        # A link to a document may name its file.
        if (
            PurePosixPath(match[0]).suffix.lower() == ".pdf"
            and occurrence.functional
        ):
            return None
        return Hit(
            f'contains the name of a file, "{shortened(match[0])}"',
            match.span(),
            "warning",
        )
    return None


def _equals_file(occurrence: Occurrence, text: str) -> bool:
    """Return whether a text is the name of the picture's file, of whatever size."""
    bare = _bare(occurrence.fold)
    if not any(
        bare in (_bare(fold(file)), _bare(fold(PurePosixPath(whole).stem)))
        for file in occurrence.file_names
        for whole in (file, RESIZED.sub("", file))
    ):
        return False
    # "dog" is a text even if the file is dog.jpg; "dog_01" is not. Hyphens join
    # words of a language, too: "jack-o-lantern".
    return bool(
        re.search(r"\.\w{2,4}$|_|\d.*\d.*\d", text)
    ) or _is_joined_by_hyphens(text, occurrence.language)


def _bare(name: str) -> str:
    return re.sub(r"[_\-+]|%20", " ", name)


def _is_joined_by_hyphens(text: str, language: str) -> bool:
    parts = text.casefold().split("-")
    if " " in text or len(parts) < 3:
        return False
    little = listed("function", language)
    return len(parts) > 3 or not any(
        part in little or len(part) < 2 for part in parts
    )


def _is_stamp(text: str) -> bool:
    has_digits = any(map(str.isdigit, text))
    if not has_digits or len(words(text)) > _MOST_STAMP_WORDS:
        return False
    # Six digits at least beside the date: "at 1030" is an hour of a day.
    stamp = _STAMP.fullmatch(text)
    if stamp:
        n_digits = sum(map(str.isdigit, text))
        return n_digits >= 12 or "-" in text[stamp.end("dash") :]
    return bool(_CLOCK.search(text) or _LOCAL_STAMP.fullmatch(text))


def _is_numbered_kind(occurrence: Occurrence) -> bool:
    """Return whether a text is a kind of picture with a number: "Picture1", "image (12)"."""
    text = occurrence.fold
    kinds = listed("generic", occurrence.language) | set(names("numbered"))
    if copy := _COPY.fullmatch(occurrence.text.casefold().strip(" .")):
        kind = copy["name"].strip(" _-")
        return kind in kinds or kind in names("untitled")
    if match := re.fullmatch(
        r"(?:clip[ _]?)?(.*?[^\W\d])([-_]?)\d{1,4}", text
    ):
        kind = match[1].strip(" _-")
        return (kind in kinds and " " not in text) or (
            kind in names("untitled")
        )
    return text in names("program_files")


def _is_technical(text: str) -> bool:
    """Return whether a single word is one that only machines write."""
    if "_" in text.strip("_") and not text.startswith("_("):
        return True
    if re.search(_VERSION, text) and re.search(r"[^\W\d]", text):
        return True
    if text.isdigit():
        # Moments, and dates with a time; shorter ones are numbers of things.
        return bool(
            re.fullmatch(r"(?:19|20)\d{6}(?:\d{4}|\d{6})|1\d{12}", text)
        )
    pieces = _LETTERS_AND_DIGITS.findall(text)
    n_digits = sum(map(str.isdigit, text))
    has_letters = any(piece.isalpha() for piece in pieces)
    has_long_number = any(
        len(piece) >= 5 for piece in pieces if piece.isdigit()
    )
    if has_letters and has_long_number:
        return True
    # Keys: letters and digits in turn, as in "6a00d8341c".
    joined = re.findall(r"[^\W_]{8,}", text)
    return n_digits >= 4 and any(
        len(_LETTERS_AND_DIGITS.findall(piece)) >= 4 for piece in joined
    )
