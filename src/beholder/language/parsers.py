"""From texts to documents: the shipped model, or any spaCy model the user has."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

from beholder.errors import ConfigError, ItemError
from beholder.language import dialects, model, normalise
from beholder.language.depth import bound_depth
from beholder.language.document import Document, Word
from beholder.language.hyphens import join_hyphens
from beholder.language.lemmas import lemma
from beholder.language.repairs import verbs_read_as_nouns

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

Parser: TypeAlias = "str | Language"
"""``"builtin"``, ``"spacy:NAME_OR_PATH"``, or a loaded spaCy ``Language``."""

WINDOW = 64
"""How many texts are parsed before the first document is given out."""


@overload
def parse(text: str, parser: Parser = "builtin") -> Document: ...  # type: ignore[overload-overlap]
@overload
def parse(text: Iterable[str], parser: Parser = "builtin") -> list[Document]: ...
def parse(text: str | Iterable[str], parser: Parser = "builtin") -> Document | list[Document]:
    """Parse English text.

    Args:
        text: One text, or several, which is faster than one at a time.
        parser: ``"builtin"`` (shipped, no download), ``"spacy:NAME_OR_PATH"`` (an installed spaCy
            package or a folder; its labels may be UD or ClearNLP), or a loaded ``Language``.

    Returns:
        A document, or as many documents as there are texts, in order. An empty text gives an empty
        document.

    Raises:
        ItemError: A text has letters, but most are not Latin: these parsers read English.
        ConfigError: The parser is unknown, or has no tagger or dependency parser.
    """
    if isinstance(text, str):
        return next(iter(parse_many([text], parser)))
    return list(parse_many(text, parser))


def parse_many(texts: Iterable[str], parser: Parser = "builtin") -> Iterator[Document]:
    """Like ``parse`` for many texts, one by one as they are ready, in bounded memory."""
    nlp, name = _language(parser)
    window: list[str] = []
    for text in texts:
        window.append(text)
        if len(window) == WINDOW:
            yield from _parse_window(nlp, name, window)
            window = []
    yield from _parse_window(nlp, name, window)


def _parse_window(nlp: Language, name: str, texts: Sequence[str]) -> list[Document]:
    for text in texts:
        check_script(text)
    paragraphs = [normalise.paragraphs(text) for text in texts]
    flat = (paragraph.text for some in paragraphs for paragraph in some)
    with nlp.memory_zone():  # gives back the strings of the window, so that memory stays flat
        docs = nlp.pipe(flat, batch_size=32)
        return [
            _document(text, [(p, next(docs)) for p in some], name)
            for text, some in zip(texts, paragraphs, strict=True)
        ]


def check_script(text: str) -> None:
    """Refuse a text whose letters are mostly not Latin.

    Raises:
        ItemError: Names the share and the way out.
    """
    if text.isascii():
        return
    letters = [c for c in text if c.isalpha()]
    latin = sum(1 for c in letters if c < "\u0250" or "\u1e00" <= c < "\u1f00")
    if letters and latin < len(letters) / 2:
        raise ItemError(
            f"the language analysis reads English, but only {latin} of {len(letters)} letters of "
            f"the text that begins {text.strip()[:30]!r} are Latin; use an LLM judge or the metric "
            "vcs for other languages"
        )


def _document(text: str, parts: list[tuple[normalise.Paragraph, Doc]], name: str) -> Document:
    words: list[Word] = []
    sentences: list[tuple[int, int]] = []
    for paragraph, doc in parts:
        rows = _rows(list(doc))
        offset, first_sentence = len(words), len(sentences)
        for row in rows:
            start, end = paragraph.original(row.start, row.end)
            words.append(
                Word(
                    index=offset + row.index,
                    text=row.text,
                    lemma=lemma(row.text, row.pos, row.tag),
                    pos=row.pos,
                    tag=row.tag,
                    dep=row.dep,
                    head=offset + row.head,
                    start=start,
                    end=end,
                    sentence=first_sentence + row.sentence,
                )
            )
        begin = offset
        for place in range(offset, len(words)):
            if place + 1 == len(words) or words[place + 1].sentence != words[place].sentence:
                sentences.append((begin, place + 1))
                begin = place + 1
    return Document(text, bound_depth(words), sentences, name)


def _rows(tokens: Sequence[Token]) -> list[Word]:
    """The tokens of a spaCy document as words with offsets in the paragraph, compounds joined."""
    nodes = [dialects.Node(t.text, t.pos_, t.dep_, t.head.i) for t in tokens]
    if dialects.is_clear([node.dep for node in nodes]):
        nodes = dialects.to_ud(nodes)
    sentence = -1
    rows = []
    for token, node in zip(tokens, nodes, strict=True):
        sentence += bool(token.is_sent_start) or token.i == 0
        rows.append(
            Word(
                index=token.i,
                text=token.text,
                lemma="",
                pos=token.pos_,
                tag=token.tag_,
                dep=node.dep,
                head=node.head,
                start=token.idx,
                end=token.idx + len(token.text),
                sentence=sentence,
            )
        )
    return verbs_read_as_nouns(join_hyphens(rows))


@functools.lru_cache(maxsize=4)
def _named(name: str) -> Language:
    if name == "builtin":
        return model.load()
    kind, _, argument = name.partition(":")
    if kind != "spacy" or not argument:
        raise ConfigError(
            f"there is no parser {name!r}; use 'builtin' or 'spacy:NAME_OR_PATH' with the name of "
            "an installed spaCy package or the path of a model folder"
        )
    import spacy

    try:
        return spacy.load(argument)
    except OSError as error:
        raise ConfigError(f"spaCy cannot load {argument!r} for parser {name!r}: {error}") from error


def _language(parser: Parser) -> tuple[Language, str]:
    if isinstance(parser, str):
        nlp, name = _named(parser), parser
    else:
        nlp, name = parser, f"spacy:{parser.meta.get('name', 'unnamed')}"
    if "parser" not in nlp.pipe_names or not {"tagger", "morphologizer"} & set(nlp.pipe_names):
        raise ConfigError(
            f"parser {name!r} has the components {nlp.pipe_names}; a tagger and a dependency "
            "parser are needed"
        )
    return nlp, name
