"""What a metric may use while it gathers evidence: embeddings, splitters, judges, pictures.

One ``Tools`` serves a whole run. All metrics share it, so each distinct text is embedded once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from cachetools import LRUCache

from beholder import embed, judges, text
from beholder.backends.base import FilmPart, Image
from beholder.base.optional import load
from beholder.base.registry import versioned
from beholder.embed.base import FloatArray
from beholder.embed.images import ImageEmbedder, image_embedder
from beholder.embed.service import EmbeddingService, VectorStore
from beholder.errors import ConfigError, ItemError
from beholder.judges import AnswerStore, Budget, Judge, Tally
from beholder.options import check_list
from beholder.records import Item
from beholder.text.languages import ENGLISH, language_named, not_english
from beholder.text.rules import Splitter

if TYPE_CHECKING:
    from beholder.embed.clip import ImageTextService
    from beholder.embed.contextual import TokenService


_TAKES: Mapping[str, Callable[[str, str], bool]] = {
    "judge": judges.takes,
    "embedder": embed.takes,
}


def check_taken(
    options: Mapping[str, Mapping[str, object]],
    specs: Iterable[tuple[str, str]],
) -> None:
    """Refuse an option that none of some tools has a use for: it would be dropped in silence.

    Args:
        options: Options per kind of tool, as ``Tools`` takes them.
        specs: Kind and spec of each tool.

    Raises:
        ConfigError: Names the option and the tools there are.
    """
    named = sorted({(kind, spec) for kind, spec in specs if kind in _TAKES})
    for option in sorted(
        {name for given in options.values() for name in given}
    ):
        if not any(
            option in options.get(kind, ()) and _TAKES[kind](spec, option)
            for kind, spec in named
        ):
            there = (
                ", ".join(f"{kind} {spec}" for kind, spec in named)
                or "it has neither"
            )
            raise ConfigError(
                f"{option} was given, and no judge or embedder of this run takes it ({there});"
                " leave it out, or name one that does, such as openai:MODEL"
            )


class Tool(Protocol):
    """What all kinds of tools say of themselves."""

    @property
    def identity(self) -> str:
        """Its name with version or revision, as signatures state it."""

    @property
    def per_process(self) -> bool:
        """Whether it may be created in every worker process."""


_IMAGE_TEXT = "beholder.embed.clip:ImageTextService"
_ENCODER = "beholder.embed.contextual:TokenService"
_PARSER = "beholder.language.parsers:NamedParser"
_COREFERENCE = "beholder.language.coreference:NamedCoreference"

_SIGNED = frozenset({"coreference", "embedder", "encoder", "image_text"})
"""Kinds whose tools state the identity of what they pass questions on to, digest included."""

_READERS: Mapping[str, str] = {
    "judge": "a judge that reads it, such as judge='openai:MODEL'",
    "embedder": "an embedder that reads it, such as embedder='openai:MODEL' or 'st:NAME' of a"
    " multilingual model",
    "encoder": "an encoder that reads it, such as 'hf:NAME' of a multilingual model",
}
"""Kinds of tools that read texts, and what to name for another language."""


class Tools:
    """The tools of one run, made on first use from their specs.

    Args:
        vectors: Where vectors of embedders worth storing are kept; None keeps them in memory.
        options: Keyword options per kind of tool that are no part of a spec, such as
            ``{"embedder": {"base_url": "http://localhost:8000/v1"}}``.
        answers: Where answers of judges are kept; None keeps them in memory.
        budget: What judges may spend; None for no limit.
        tally: Counts what judges would be asked, and sends no requests.
        folder: What the items' pictures are relative to; None takes the current directory.
        texts: How texts were changed before they are scored, for signatures; empty if they were
            not.

    Attributes:
        pictures: The pictures that items name.
    """

    def __init__(
        self,
        vectors: VectorStore | None = None,
        options: Mapping[str, Mapping[str, object]] | None = None,
        answers: AnswerStore | None = None,
        budget: Budget | None = None,
        tally: Tally | None = None,
        folder: Path | None = None,
        texts: str = "",
    ) -> None:
        self.texts = texts
        given: Mapping[str, Mapping[str, Any]] = options or {}
        asking: dict[str, Any] = {
            "answers": answers,
            "budget": budget,
            "tally": tally,
        }
        asking |= given.get("judge", {})
        embedding = given.get("embedder", {})
        self.pictures = Pictures(folder)
        self._makers: Mapping[str, Callable[[str], Tool]] = {
            "judge": lambda spec: judges.judge(spec, **asking),
            "embedder": lambda spec: EmbeddingService(
                embed.embedder(spec, **embedding), vectors
            ),
            "splitter": text.splitter,
            "parser": lambda name: load(_PARSER)(name),
            "coreference": lambda name: load(_COREFERENCE)(name),
            "image_embedder": image_embedder,
            "image_text": lambda spec: load(_IMAGE_TEXT)(spec, vectors),
            "encoder": lambda spec: load(_ENCODER)(spec),
        }
        self._made: dict[tuple[str, str], Tool] = {}

    def get(self, kind: str, spec: str) -> Tool:
        """The tool of a kind that a spec names; made once, shared from then on.

        Args:
            kind: ``judge``, ``embedder``, ``splitter``, ``image_embedder``, ``image_text``,
                ``encoder``, ``parser`` or ``coreference``, as an asker's ``param(tool=...)`` says.
            spec: Such as ``openai:MODEL``, ``static`` or ``rules``.
        """
        if (kind, spec) not in self._made:
            self._made[kind, spec] = self._makers[kind](spec)
        return self._made[kind, spec]

    def judge(self, spec: str) -> Judge:
        """The judge of a spec such as ``openai:MODEL``."""
        return cast(Judge, self.get("judge", spec))

    def splitter(self, spec: str) -> Splitter:
        """The sentence splitter of a spec such as ``rules`` or ``sat:NAME``."""
        return cast(Splitter, self.get("splitter", spec))

    def image_text(self, spec: str) -> ImageTextService:
        """The model of pictures and texts of a spec such as ``clip:NAME`` (extra ``hf``)."""
        return cast("ImageTextService", self.get("image_text", spec))

    def image_embedder(self, spec: str) -> ImageEmbedder:
        """The embedder of pictures of a spec such as ``npz:FILE`` or ``clip:NAME``."""
        return cast(ImageEmbedder, self.get("image_embedder", spec))

    def encoder(self, spec: str) -> TokenService:
        """The encoder of tokens in their context of a spec such as ``hf:NAME`` (extra ``hf``)."""
        return cast("TokenService", self.get("encoder", spec))

    async def embed(self, spec: str, texts: Sequence[str]) -> FloatArray:
        """Vectors of texts, in order; equal texts are embedded once and shared between items.

        Raises:
            ConfigError: ``texts`` is one text.
        """
        check_list("texts", texts)
        return await cast(EmbeddingService, self.get("embedder", spec)).embed(
            texts
        )

    def check_language(
        self, specs: Iterable[tuple[str, str]], item: Item
    ) -> None:
        """Refuse an item with a text that one of some tools, (kind, spec), cannot read.

        What the row says of its language counts; where it says nothing, each text is looked at.

        Raises:
            ItemError: Names the tool, the evidence of the language, and a tool that reads it.
        """
        for kind, spec in specs:
            only_english = kind in _READERS and getattr(
                self.get(kind, spec), "english_only", False
            )
            if (
                only_english
                and (why := _in_another_language(item)) is not None
            ):
                raise ItemError(
                    f"{kind} {spec} reads English, but {why}; name {_READERS[kind]}"
                )

    def identity(
        self, kind: str, spec: str, operations: Collection[str] | None = None
    ) -> str:
        """The identity of a tool, as signatures state it.

        Args:
            kind: Kind of tool.
            spec: Its spec.
            operations: What a judge is asked; None for anything.
        """
        made = self.get(kind, spec)
        if isinstance(made, Judge) and operations is not None:
            return versioned(made, made.identity_for(operations))
        return (
            made.identity
            if kind in _SIGNED
            else versioned(made, made.identity)
        )

    def are_per_process(self, specs: Iterable[tuple[str, str]]) -> bool:
        """Whether all of these tools, (kind, spec), may be created in every worker process."""
        return all(self.get(kind, spec).per_process for kind, spec in specs)


def _in_another_language(item: Item) -> str | None:
    """Evidence that an item is not in English; None if it may be."""
    said = language_named(item.language)
    if said is not None:
        return (
            None
            if said == ENGLISH
            else f"the row says that its texts are {said}"
        )
    for one in (item.candidate, *item.references):
        why = not_english(one)
        if why is not None:
            return f"of the text that begins {one.strip()[:30]!r}, {why}"
    return None


SENT_SIDE = 1536
"""Pixels of the longer side at which pictures are shown to a judge, by default: a
camera's picture has ten times what models look at, and is paid for by size."""

KEPT_BYTES = 256 << 20
"""Bytes of encoded pictures that one data set keeps."""

_SENT_AS_IS = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}


def for_model(path: Path, max_side: int | None = None) -> Image:
    """A picture as it is sent: what ``media.load_image`` sees in the file, and nothing else.

    A JPEG, PNG or WebP file that is small enough and of which every reader sees the same (RGB or
    grey, opaque, upright, one frame) is sent byte for byte. Anything else is sent as the JPEG of
    the upright RGB image. Of a film (``FILE#t=START,END``) the file is sent as it is.

    Args:
        path: The file.
        max_side: Pixels of the longer side at most; None keeps the size.

    Raises:
        ItemError: It is missing, damaged, no picture, or too large; names file and reason.
    """
    from beholder import media  # Pillow

    file = media.check_image(path)
    film = media.section(path)
    if film is not None:
        return Image(*media.film_bytes(film), FilmPart(*film[1:]))
    image = media.load_image(
        path, max_side=max_side
    )  # a file that is cut off shows only here
    kind = _SENT_AS_IS.get(file.format)
    plain = file.mode in ("RGB", "L") and not file.notes
    if (
        kind
        and plain
        and (max_side is None or max(file.width, file.height) <= max_side)
    ):
        return Image(media.file_bytes(path), kind)
    return Image(media.encode_jpeg(image), "image/jpeg")


class Pictures:
    """The pictures of a data set; the last ones read are kept, as several questions show one.

    Args:
        folder: What the names of pictures are relative to; None takes the current directory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path()
        self._kept: LRUCache[tuple[Path, int | None], Image] = LRUCache(
            KEPT_BYTES, getsizeof=lambda image: len(image.data)
        )

    def files(self, names: Sequence[str]) -> list[Path]:
        """The files of pictures as an item names them.

        Raises:
            ItemError: A picture is named by a web address, or a link leads out of the folder.
        """
        from beholder.media import inside

        for name in names:
            if "://" in name or name.startswith("data:"):
                raise ItemError(
                    f"the picture {name[:80]!r} is no file; fetch it and name the file"
                )
        return [inside(self._folder, name) for name in names]

    async def read(
        self, names: Sequence[str], max_side: int | None = SENT_SIDE
    ) -> list[Image]:
        """Pictures as models get them, in order; see ``for_model``.

        Raises:
            ItemError: A picture is no file, missing or cannot be read.
        """
        return [await self._one(file, max_side) for file in self.files(names)]

    async def _one(self, file: Path, max_side: int | None) -> Image:
        known = self._kept.get((file, max_side))
        if known is None:
            known = await asyncio.to_thread(for_model, file, max_side)
            if len(known.data) <= KEPT_BYTES:
                self._kept[file, max_side] = known
        return known
