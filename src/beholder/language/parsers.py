"""Parsers: the built-in model, or any installed spaCy model."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from importlib.metadata import version
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias, overload

from beholder.base.optional import require
from beholder.base.threads import one_blas_thread
from beholder.errors import ConfigError, ItemError
from beholder.language import dialects, model, normalise
from beholder.language.document import (
    Document,
    ParsedParagraph,
    Word,
    tree_depths,
)
from beholder.language.lemmas import lemma
from beholder.language.numerals import is_numeral
from beholder.language.repairs import repair_words

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

Parser: TypeAlias = "str | Language"
"""``"builtin"``, ``"spacy:NAME_OR_PATH"``, or a loaded spaCy ``Language``."""

WINDOW = 64
"""The number of texts parsed before the first document is yielded."""
_BATCH = 16
"""Texts that pass through a spaCy pipeline at once."""
WORDS_KEPT = 10_000
"""Words that the vocabulary of a spaCy pipeline keeps, and a window's more; some 10 MB."""


@overload
def parse(text: str, parser: Parser = "builtin") -> Document: ...  # type: ignore[overload-overlap]
@overload
def parse(
    text: Iterable[str], parser: Parser = "builtin"
) -> list[Document]: ...
def parse(
    text: str | Iterable[str], parser: Parser = "builtin"
) -> Document | list[Document]:
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


def parse_many(
    texts: Iterable[str], parser: Parser = "builtin"
) -> Iterator[Document]:
    """Like ``parse`` for many texts, one by one as they are ready, in bounded memory."""
    if isinstance(parser, str):
        reader = _builtin() if parser == "builtin" else _spacy_parser(parser)
        name = parser
    else:
        name = f"spacy:{parser.meta.get('name', 'unnamed')}"
        reader = SpacyParser(parser, name)
    waiting = iter(texts)
    while window := list(islice(waiting, WINDOW)):
        yield from _parse_window(reader, name, window)


def _parse_window(
    reader: model.EnglishParser | SpacyParser, name: str, texts: Sequence[str]
) -> list[Document]:
    for text in texts:
        check_script(text)
    paragraphs = [normalise.paragraphs(text) for text in texts]
    flat = (
        paragraph.text
        for text_paragraphs in paragraphs
        for paragraph in text_paragraphs
    )
    with one_blas_thread():
        readings = reader.read_texts(flat)
        return [
            _document(text, [(p, next(readings)) for p in parts], name)
            for text, parts in zip(texts, paragraphs, strict=True)
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


def _document(
    text: str,
    parts: list[tuple[normalise.Paragraph, ParsedParagraph]],
    name: str,
) -> Document:
    words: list[Word] = []
    sentences: list[tuple[int, int]] = []
    for paragraph, reading in parts:
        offset = len(words)
        first_sentence = len(sentences)
        begins: list[int] = []
        starts = paragraph.starts
        ends = paragraph.ends
        for row in repair_words(join_hyphens(reading.words), reading.likely):
            if row.sentence == len(begins):
                begins.append(offset + row.index)
            words.append(
                row._replace(
                    index=offset + row.index,
                    lemma=lemma(row.text, row.pos, row.tag),
                    head=offset + row.head,
                    start=starts[row.start],
                    end=ends[row.end - 1],
                    sentence=first_sentence + row.sentence,
                )
            )
        sentences += pairwise([*begins, len(words)])
    # Only a long sentence can be too deep, so that most texts need no depths.
    if any(end - start > MAX_DEPTH for start, end in sentences):
        words = bound_depth(words)
    return Document(text, words, sentences, name)


@functools.lru_cache(maxsize=1)
def _builtin() -> model.EnglishParser:
    return model.EnglishParser()


@functools.lru_cache(maxsize=4)
def _spacy_parser(name: str) -> SpacyParser:
    kind, _, argument = name.partition(":")
    if kind != "spacy" or not argument:
        raise ConfigError(
            f"there is no parser {name!r}; use 'builtin' or 'spacy:NAME_OR_PATH' with the name of "
            "an installed spaCy package or the path of a model folder"
        )
    spacy = require("spacy", extra="spacy", purpose=f"the parser {name!r}")
    try:
        return SpacyParser(spacy.load(argument), name)
    except OSError as error:
        raise ConfigError(
            f"spaCy cannot load {argument!r} for parser {name!r}: {error}"
        ) from error


class NamedParser:
    """A parser as a tool of metrics.

    Args:
        name: Name as ``parse`` takes it.

    Raises:
        ConfigError: No parser has this name.
        MissingExtraError: It needs spaCy, which is not installed.
    """

    per_process: ClassVar[bool] = True

    def __init__(self, name: str) -> None:
        self._name = name
        # The built-in one is loaded where it parses; it needs no loading to be identified.
        self._version = (
            "" if name == "builtin" else f"@{_spacy_parser(name).version}"
        )

    @property
    def identity(self) -> str:
        """Its name; of a spaCy model with the versions of model and package."""
        return f"{self._name}{self._version}"


class SpacyParser:
    """A spaCy pipeline as a parser.

    Args:
        nlp: The pipeline; its labels may be those of Universal Dependencies or of ClearNLP.
        name: Its name, for messages.

    Raises:
        ConfigError: It has no tagger or no dependency parser.
    """

    def __init__(self, nlp: Language, name: str) -> None:
        names = set(nlp.pipe_names)
        if not ("parser" in names and names & {"tagger", "morphologizer"}):
            raise ConfigError(
                f"parser {name!r} has the components {nlp.pipe_names}; a tagger and a dependency "
                "parser are needed"
            )
        self._nlp = nlp

    @property
    def version(self) -> str:
        """Versions of the model and of spaCy; of a model in a folder a digest of its files."""
        model = self._nlp.meta.get("version", "")
        folder = self._nlp.path
        if (
            folder is not None
            and not Path(folder).parent.joinpath("__init__.py").is_file()
        ):
            digest = hashlib.sha256()
            for file in sorted(
                path for path in Path(folder).rglob("*") if path.is_file()
            ):
                digest.update(
                    file.relative_to(folder).as_posix().encode()
                    + file.read_bytes()
                )
            model = digest.hexdigest()[:12]
        return f"{model}-spacy{version('spacy')}"

    def read_texts(self, texts: Iterable[str]) -> Iterator[ParsedParagraph]:
        """See ``EnglishParser.read_texts``.

        While the vocabulary is small its words are kept; later ones are given back at the end.
        Words that are kept need no reading again, and the first ones are the most frequent.
        """
        small = len(self._nlp.vocab) < WORDS_KEPT
        with nullcontext() if small else self._nlp.memory_zone():
            yield from map(
                _parsed_paragraph, self._nlp.pipe(texts, batch_size=_BATCH)
            )


def _parsed_paragraph(doc: Doc) -> ParsedParagraph:
    # spaCy's own packages have ClearNLP trees; all later stages read Universal
    # Dependencies.
    deps = [token.dep_ for token in doc]
    heads = [token.head.i for token in doc]
    if dialects.is_clear(deps):
        labelled_tokens = zip(doc, deps, heads, strict=True)
        nodes = dialects.to_ud(
            [
                dialects.Node(t.text, t.pos_, dep, head)
                for t, dep, head in labelled_tokens
            ]
        )
        deps = [node.dep for node in nodes]
        heads = [node.head for node in nodes]
    sentence = -1
    rows = []
    for index, (token, dep, head) in enumerate(
        zip(doc, deps, heads, strict=True)
    ):
        text = token.text
        start = token.idx
        sentence += bool(token.is_sent_start) or index == 0
        rows.append(
            Word(
                index=index,
                text=text,
                lemma="",
                pos=token.pos_,
                tag=token.tag_,
                dep=dep,
                head=head,
                start=start,
                end=start + len(text),
                sentence=sentence,
            )
        )
    return ParsedParagraph(rows)


MAX_DEPTH = 60
"""Real sentences of the treebanks stay below 30."""


def bound_depth(words: Sequence[Word]) -> list[Word]:
    """Hang words that lie deeper than ``MAX_DEPTH`` on their ancestor there, as ``dep``.

    Args:
        words: All words of a text; ``head`` is the index of the head, its own for a root.
    """
    depths = tree_depths(words)
    if max(depths, default=0) <= MAX_DEPTH:
        return list(words)
    bounded = list(words)
    # The ancestor just above the bound.
    anchor: dict[int, int] = {}
    for index in sorted(range(len(words)), key=depths.__getitem__):
        if depths[index] == MAX_DEPTH - 1:
            anchor[index] = index
        elif depths[index] >= MAX_DEPTH:
            anchor[index] = anchor[words[index].head]
        if depths[index] > MAX_DEPTH:
            bounded[index] = words[index]._replace(
                head=anchor[index], dep="dep"
            )
    return bounded


_BEFORE_A_NOUN = frozenset(
    {
        "amod",
        "compound",
        "nmod",
        "nummod",
        "nmod:desc",
        "acl",
        "obl",
        "obl:npmod",
    }
)


def join_hyphens(words: Sequence[Word]) -> list[Word]:
    """The words with every hyphen compound joined; with new indexes and heads."""
    joints = [
        word.index
        for word in words
        if word.text == "-" and _is_joint(words, word.index)
    ]
    # Of the compound before them.
    pieces = [at for joint in joints for at in (joint, joint + 1)]
    within = {
        at for at in pieces if words[at].sentence == words[at - 1].sentence
    }
    if not within:
        return list(words)
    starts = [word.index for word in words if word.index not in within]
    place = [
        *accumulate([word.index not in within for word in words], initial=-1)
    ][1:]
    depths = tree_depths(words)
    joined = []
    for new, (start, end) in enumerate(pairwise([*starts, len(words)])):
        if end - start == 1:
            joined.append(words[start].moved(new, place[words[start].head]))
            continue
        group = words[start:end]
        # The piece nearest to the root; of several the last one, for it names the kind. As every
        # joined word then depends on a word nearer to the root, joining never makes a circle, also
        # where a word between two pieces depends on one and governs the other.
        word = min(
            group, key=lambda w: (depths[w.index], w.text == "-", -w.index)
        )
        text = "".join(piece.text for piece in group)
        head = place[word.head]
        pos = word.pos
        tag = word.tag
        dep = word.dep
        noun = words[word.head]
        # As in "twenty-one".
        if is_numeral(text):
            pos, tag = "NUM", "CD"
            dep = "nummod" if head > new and noun.is_noun else dep
        elif (
            head > new
            and dep in _BEFORE_A_NOUN
            and noun.is_noun
            and pos != "PROPN"
        ):
            pos, tag, dep = "ADJ", "JJ", "amod"
        word = word._replace(
            index=new, text=text, pos=pos, tag=tag, dep=dep, head=head
        )
        joined.append(word._replace(start=group[0].start, end=group[-1].end))
    return joined


def _is_joint(words: Sequence[Word], at: int) -> bool:
    """Return whether a hyphen joins the words around it, without spaces."""
    if not 0 < at < len(words) - 1:
        return False
    before, hyphen, after = words[at - 1 : at + 2]
    tight = before.end == hyphen.start and hyphen.end == after.start
    return tight and before.text[-1].isalnum() and after.text[0].isalnum()
