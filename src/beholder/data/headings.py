"""Headings of tables and keys of rows, in the spellings that people give them.

A heading is folded before it is compared: case, accents, blanks, hyphens, underscores, asterisks,
colons, notes in brackets and the prefixes of programs (``XMP:``, ``field_media_image__``) do not
count. Every command finds its columns here.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|<[^<>]*>")
_PREFIX = re.compile(r"[A-Za-z][\w-]*:(?=[^\s/])|\w+?_{2}(?=[^\W_])")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

HEADINGS: Mapping[str, tuple[str, ...]] = {
    "id": ("id",),
    # The key of a picture or film: several rows may have it.
    "key": ("image id", "video id", "file id", "coco id", "img id"),
    "candidate": ("candidate",),
    "alt": (
        *("alt", "alt text", "alternative text", "alternate text"),
        *("image alt", "image alt text", "img alt", "alt tag"),
        *("alt attribute", "alt description", "alternative description"),
        *("text alternative", "image description", "media description"),
        *("picture description", "photo description", "assistive text"),
        *("accessibility text", "accessible text"),
        *("accessibility description", "alt text accessibility"),
        "wp attachment image alt",
        *("Alternativtext", "Bildbeschreibung", "Bildalternativtext"),
        *("texte alternatif", "texte de remplacement"),
        *("description de l'image", "description alternative"),
        *("texto alternativo", "texto alt", "descripción alternativa"),
        *("descripción de la imagen", "descripción de imagen"),
        *("testo alternativo", "testo alt", "descrizione alternativa"),
        *("descrizione dell'immagine", "descrizione immagine"),
        *("alternatieve tekst", "alt-tekst", "alternatieve beschrijving"),
        *("afbeeldingsbeschrijving", "beeldbeschrijving"),
        *("descrição da imagem", "descrição alternativa"),
        *("bildbeskrivning", "alternativ text", "alternativ tekst"),
        *("tekst alternatywny", "opis alternatywny", "opis obrazu"),
        "opis zdjęcia",
        *("代替テキスト", "替代文本", "替代文字", "대체 텍스트"),
        "альтернативный текст",
    ),
    "prediction": ("generation", "prediction", "hypothesis"),
    "caption": (
        *("caption", "Bildunterschrift", "légende", "leyenda"),
        *("pie de foto", "didascalia", "bijschrift", "onderschrift"),
        *("legenda", "bildtext", "podpis"),
    ),
    "description": (
        *("description", "Beschreibung", "descripción", "descrizione"),
        *("beschrijving", "descrição", "beskrivning", "opis"),
    ),
    "references": ("references", "reference", "ref", "refs", "ground truth"),
    "images": (
        *("images", "image", "img", "src", "file", "filename", "file name"),
        *("url", "image url", "picture", "image src", "img src", "img url"),
        *("image file", "image file name", "image filename"),
        *("image name", "image path", "img path", "image link"),
        *("source file", "source url", "file path", "path", "iiif url"),
        *("photo", "media url", "picture url", "photo url"),
        *("Datei", "Dateiname", "Bild", "Bilddatei", "fichier"),
        *("nom du fichier", "archivo", "fichero", "imagen"),
        *("nombre de archivo", "immagine", "nome file", "bestand"),
        *("bestandsnaam", "afbeelding", "arquivo", "ficheiro", "imagem"),
        *("fil", "filnamn", "plik", "nazwa pliku", "obraz", "zdjęcie"),
        *("画像", "图片", "ファイル名"),
    ),
    "video": ("video", "video path", "video file"),
    "language": (
        *("language", "lang", "language code", "locale", "Sprache"),
        *("langue", "idioma", "lingua", "taal", "språk", "język"),
    ),
    "date": (
        *("date", "dated", "object date", "date of object", "year"),
        *("date made", "production date", "date text", "dating"),
        *("display date", "Datum", "Datierung", "Jahr", "année", "fecha"),
        *("año", "anno", "jaar", "datering", "ano", "år", "rok"),
    ),
    # When a record or a file was made: of the picture's subject only if it is a photograph.
    "created": (
        *("taken", "date taken", "taken at", "date time original"),
        *("created", "date created", "creation date", "created at"),
        *("created on", "Aufnahmedatum", "Entstehungsdatum"),
    ),
    "place": (
        *("place", "location", "Ort", "lieu", "lugar", "luogo", "plaats"),
        *("plats", "miejsce"),
    ),
    "title": (
        *("title", "object title", "Titel", "titre", "título", "titolo"),
        "tytuł",
    ),
    "page": ("page", "page url", "page address", "Seite"),
    "page_text": ("page text",),
    "link": ("link", "link target"),
    "role": ("role",),
    "long_description": (
        *("long description", "long", "longdesc", "extended description"),
        "ext descr accessibility",
    ),
    "medium": ("medium", "type", "technique", "materials"),
    "self_described": ("self described",),
    "lint_ignore": ("lint ignore",),
    "labels": ("labels",),
    "category": ("category",),
    **{
        field: (field,)
        for field in ("group", "judgments", "meta", "texts", "ranks")
    },
    **{
        field: (field,)
        for field in ("context", "criteria", "objects", "questions")
    },
}
"""Headings by what a column holds, in order of preference."""

TEXTS = ("alt", "prediction", "caption")
"""Headings of texts, of which a row has one."""

ITEM_FIELDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "id": (("id",),),
    "candidate": (("candidate",), TEXTS, ("description",)),
    "references": (("references",),),
    "images": (("images",),),
    "video": (("video",),),
    "language": (("language",),),
    **{
        field: ((field,),)
        for field in (
            *("group", "judgments", "meta"),
            *("context", "criteria", "objects", "questions"),
        )
    },
}
"""Headings of the fields of an item: of the first group that has a column, the first column."""

FRAME_FIELDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "id": (("id",),),
    "image": (("images",),),
    "caption": (("caption", "description"), ("alt",)),
    "date": (("date",), ("created",)),
    "place": (("place",),),
    "labels": (("labels",),),
}
"""Headings of the fields of a picture of a collection."""

LINT_FIELDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "text": (("candidate", "alt", "prediction", "description", "caption"),),
    "picture": (("images",),),
    **{
        field: ((field,),)
        for field in (
            *("page", "page_text", "link", "role", "language", "date"),
            *("title", "caption", "long_description", "medium"),
            *("self_described", "lint_ignore"),
        )
    },
}
"""Headings of what ``lint`` reads of a picture."""

_NO_TEXT = frozenset(
    {"id", "title", "name", "url", "link", "length", "status", "date"}
    | {"language", "lang", "score", "rating", "quality", "count", "number"}
    | {"has", "missing", "needs", "is"}
)
"""Words of headings such as ``alt status``, which are about a text and do not hold it."""


@lru_cache(maxsize=4096)
def fold_heading(heading: str) -> str:
    """Return a heading as it is compared: letters and digits alone, in lower case."""
    plain = unicodedata.normalize("NFKD", heading).strip()
    plain = _BRACKETS.sub("", plain) or plain
    # Prefixes may stand before one another: a namespace before a field.
    while match := _PREFIX.match(plain):
        plain = plain[match.end() :]
    return "".join(
        character for character in plain.casefold() if character.isalnum()
    )


_PLACES: Mapping[str, Mapping[str, int]] = {
    group: {
        fold_heading(heading): place for place, heading in enumerate(headings)
    }
    for group, headings in HEADINGS.items()
}
_FIELDS_BY_HEADING: Mapping[str, str] = {
    folded: group
    for group, places in reversed(list(_PLACES.items()))
    for folded in places
}


def is_known(name: str) -> bool:
    """Return whether a name is the heading of any field."""
    return fold_heading(name) in _FIELDS_BY_HEADING


def is_heading(name: str) -> bool:
    """Return whether a name is the heading of any field, or speaks of alternative texts."""
    return is_known(name) or has_alt(name)


def find_columns(
    header: Iterable[str], groups: tuple[str, ...]
) -> Sequence[str]:
    """Return the columns with a heading of these groups, the preferred one first."""
    return _find_columns(tuple(header), groups)


@lru_cache(maxsize=1024)
def _find_columns(
    header: tuple[str, ...], groups: tuple[str, ...]
) -> Sequence[str]:
    ranked = []
    for number, group in enumerate(groups):
        for column in header:
            place = _PLACES[group].get(fold_heading(column))
            if place is not None:
                # The plain spelling first: ``alt`` before ``XMP:Alt``.
                is_plain = column == HEADINGS[group][place]
                ranked.append((number, place, not is_plain, column))
    return tuple(dict.fromkeys(column for *_, column in sorted(ranked)))


@lru_cache(maxsize=1024)
def choose_columns(
    header: tuple[str, ...], kind: str
) -> Mapping[str, Sequence[str]]:
    """Return the columns that a field may have, by field; the first of them is read.

    Args:
        header: Columns of a table, or keys of a row.
        kind: ``item``, ``frame`` or ``lint``.
    """
    chosen: dict[str, Sequence[str]] = {}
    for field, tiers in _KINDS[kind].items():
        candidates: Sequence[str] = ()
        for tier in tiers:
            candidates = candidates or find_columns(header, tier)
            # A caption beside an alternative text is what the page prints.
            if tier == TEXTS and find_columns(header, ("alt",)):
                candidates = find_columns(header, ("alt", "prediction"))
        if candidates:
            chosen[field] = candidates
    text = "text" if kind == "lint" else "candidate"
    if text in _KINDS[kind] and text not in chosen:
        used_columns = {
            column for columns in chosen.values() for column in columns
        }
        alts = [
            column
            for column in header
            if column not in used_columns and has_alt(column)
        ]
        if len(alts) == 1:
            chosen[text] = alts
    return MappingProxyType(chosen)


REVIEW_FIELDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "id": (("id",),),
    "image": (("images",),),
    "language": (("language",),),
    "references": (("references",),),
    **{field: ((field,),) for field in ("texts", "ranks", "category")},
}
"""Headings of the fields of texts that are ranked."""

_KINDS = {
    "item": ITEM_FIELDS,
    "frame": FRAME_FIELDS,
    "lint": LINT_FIELDS,
    "reviews": REVIEW_FIELDS,
}


def has_alt(column: str) -> bool:
    """Return whether the words of a heading name an alternative text, as ``Site alt (EN)``."""
    words = {
        word.lower()
        for word in re.split(r"[\W_]+", _CAPITAL.sub(" ", column))
        if word
    }
    is_named = "alt" in words or any(
        word.startswith(("alttext", "alttag")) for word in words
    )
    return is_named and not words & _NO_TEXT


@lru_cache(maxsize=1024)
def guess_columns(header: tuple[str, ...], kind: str) -> Mapping[str, str]:
    """Return the field of each column that is known by the word "alt" alone."""
    return {
        columns[0]: field
        for field, columns in choose_columns(header, kind).items()
        if has_alt(columns[0]) and not is_known(columns[0])
    }


def close_column(column: str, header: Collection[str]) -> str | None:
    """Return the column of a name; in another spelling if only one column has it, else None."""
    if column in header:
        return column
    alike = [
        name for name in header if fold_heading(name) == fold_heading(column)
    ]
    return alike[0] if len(alike) == 1 else None


def map_option(field: str, column: str) -> str:
    """Return the option that maps a column, in quotes where a shell needs them."""
    return f"--map {shlex.quote(f'{field}={column}')}"


def unused_columns(
    keys: tuple[str, ...], kind: str, used: Collection[str] = ()
) -> Sequence[str]:
    """Return the columns of rows that no field takes, in their order.

    Args:
        keys: Columns of the rows.
        kind: ``item``, ``frame`` or ``lint``.
        used: Columns that are used for another reason, such as those that the user named.
    """
    return _unused_columns(keys, kind, frozenset(used))


@lru_cache(maxsize=1024)
def _unused_columns(
    keys: tuple[str, ...], kind: str, used: frozenset[str]
) -> Sequence[str]:
    chosen = choose_columns(keys, kind)
    read_columns = {columns[0] for columns in chosen.values()} | used
    return [
        key
        for key in keys
        if key not in read_columns
        and not NUMBERED.match(key)
        and key.partition(".")[0] not in _OUTER
        and not find_columns((key,), _ALWAYS_READ)
    ]


_ALWAYS_READ = ("id", "key", "language")
_OUTER = ("group", "judgments", "meta", "labels", "context")
"""Fields that hold named values: ``group.system`` is one of them."""

NUMBERED = re.compile(r"(?:references?|refs?)[ _-]?(\d+)\Z", re.IGNORECASE)
"""Columns of one reference each."""
