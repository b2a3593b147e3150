"""Tools a metric may use to gather evidence: embeddings, splitters, judges, pictures.

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
from beholder.base.optional import load_object
from beholder.base.registry import versioned_identity
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
    from beholder.media.reading import PictureReader


_TAKES: Mapping[str, Callable[[str, str], bool]] = {
    "judge": judges.takes,
    "embedder": embed.takes,
}


def check_taken(
    options: Mapping[str, Mapping[str, object]],
    specs: Iterable[tuple[str, str]],
) -> None:
    """Refuse an option that no tool of a run takes: it would be dropped in silence.

    Args:
        options: Options per kind of tool, as ``Tools`` takes them.
        specs: Kind and spec of each tool.

    Raises:
        ConfigError: Names the option and the tools there are.
    """
    tool_specs = sorted(
        {(kind, spec) for kind, spec in specs if kind in _TAKES}
    )
    # A name may be an option of several kinds of tools; one tool that takes it
    # is enough.
    for option in sorted(
        {name for kind_options in options.values() for name in kind_options}
    ):
        if not any(
            option in options.get(kind, ()) and _TAKES[kind](spec, option)
            for kind, spec in tool_specs
        ):
            tool_list = (
                ", ".join(f"{kind} {spec}" for kind, spec in tool_specs)
                or "it has neither"
            )
            raise ConfigError(
                f"{option} was given, and no judge or embedder of this run takes it ({tool_list});"
                " leave it out, or name one that does, such as openai:MODEL"
            )


class Tool(Protocol):
    """Members that all kinds of tools have."""

    @property
    def identity(self) -> str:
        """Name with version or revision, as signatures state it."""

    @property
    def per_process(self) -> bool:
        """True if every worker process may create its own."""


# Loaded on first use: each needs a large package, and most runs need none of
# them.
_IMAGE_TEXT = "beholder.embed.clip:ImageTextService"
_ENCODER = "beholder.embed.contextual:TokenService"
_PARSER = "beholder.language.parsers:NamedParser"
_PROCESS = "beholder.backends.child_process:ChildProcess"
_READER = "beholder.media.reading:picture_reader"
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
        vectors: Store for those vectors of embedders that are worth it; None keeps them in memory.
        options: Keyword options per kind of tool that are no part of a spec, such as
            ``{"embedder": {"base_url": "http://localhost:8000/v1"}}``.
        answers: Store for answers of judges; None keeps them in memory.
        budget: Limit on the spending of judges; None for no limit.
        tally: Counts what judges would be asked, and sends no requests.
        folder: Base folder of the items' pictures; None takes the current directory.
        texts: Changes made to texts before they are scored, for signatures; empty if they were
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
        options_by_kind: Mapping[str, Mapping[str, Any]] = options or {}
        judge_options: dict[str, Any] = {
            "answers": answers,
            "budget": budget,
            "tally": tally,
        }
        judge_options |= options_by_kind.get("judge", {})
        embedder_options = options_by_kind.get("embedder", {})
        self.pictures = Pictures(folder)
        # Modules that need large packages are loaded when a tool of theirs is.
        self._makers: Mapping[str, Callable[[str], Tool]] = {
            "judge": lambda spec: judges.judge(spec, **judge_options),
            "embedder": lambda spec: EmbeddingService(
                embed.embedder(spec, **embedder_options), vectors
            ),
            "splitter": text.splitter,
            "parser": lambda name: load_object(_PARSER)(name),
            "coreference": lambda name: load_object(_COREFERENCE)(name),
            "image_embedder": image_embedder,
            "image_text": lambda spec: load_object(_IMAGE_TEXT)(spec, vectors),
            "encoder": lambda spec: load_object(_ENCODER)(spec),
            "process": lambda file: load_object(_PROCESS)(file),
            "reader": lambda spec: load_object(_READER)(spec),
        }
        self._tools: dict[tuple[str, str], Tool] = {}

    def get(self, kind: str, spec: str) -> Tool:
        """Return the tool of a kind that a spec names; created once, shared from then on.

        Args:
            kind: ``judge``, ``embedder``, ``splitter``, ``image_embedder``, ``image_text``,
                ``encoder``, ``parser``, ``coreference`` or ``reader``, as an asker's
                ``param(tool=...)``, or ``process``.
            spec: Such as ``openai:MODEL``, ``static`` or ``rules``; of a process its TOML file.
        """
        if (kind, spec) not in self._tools:
            self._tools[kind, spec] = self._makers[kind](spec)
        return self._tools[kind, spec]

    def judge(self, spec: str) -> Judge:
        """Return the judge of a spec such as ``openai:MODEL``."""
        return cast(Judge, self.get("judge", spec))

    def splitter(self, spec: str) -> Splitter:
        """Return the sentence splitter of a spec such as ``rules`` or ``sat:NAME``."""
        return cast(Splitter, self.get("splitter", spec))

    def image_text(self, spec: str) -> ImageTextService:
        """Return the picture-and-text model of a spec such as ``clip:NAME`` (extra ``hf``)."""
        return cast("ImageTextService", self.get("image_text", spec))

    def image_embedder(self, spec: str) -> ImageEmbedder:
        """Return the embedder of pictures of a spec such as ``npz:FILE`` or ``clip:NAME``."""
        return cast(ImageEmbedder, self.get("image_embedder", spec))

    def encoder(self, spec: str) -> TokenService:
        """Return the encoder of tokens in context of a spec such as ``hf:NAME`` (extra ``hf``)."""
        return cast("TokenService", self.get("encoder", spec))

    async def read_words(
        self, spec: str, names: Sequence[str]
    ) -> tuple[str, ...]:
        """Return the words of pictures that a reader such as ``rapidocr`` is sure of.

        Raises:
            ItemError: A picture is not a file, is missing or cannot be read.
        """
        reader = cast("PictureReader", self.get("reader", spec))
        return await asyncio.to_thread(
            _read_words, reader, self.pictures.files(names)
        )

    async def embed(self, spec: str, texts: Sequence[str]) -> FloatArray:
        """Return vectors of texts, in order; equal texts are embedded once for all items.

        Raises:
            ConfigError: ``texts`` is one text.
        """
        check_list("texts", texts)
        return await cast(EmbeddingService, self.get("embedder", spec)).embed(
            texts
        )

    def check_language(
        self,
        specs: Iterable[tuple[str, str]],
        item: Item,
    ) -> None:
        """Refuse an item with a text that one of some tools, (kind, spec), cannot read.

        The language stated in the row counts; if it states none, each text is examined.

        Raises:
            ItemError: Names the tool, the evidence of the language, and a tool that reads it.
        """
        for kind, spec in specs:
            only_english = kind in _READERS and getattr(
                self.get(kind, spec),
                "english_only",
                False,
            )
            if (
                only_english
                and (why := _in_another_language(item)) is not None
            ):
                raise ItemError(
                    f"{kind} {spec} reads English, but {why}; name {_READERS[kind]}"
                )

    def identity(
        self,
        kind: str,
        spec: str,
        operations: Collection[str] | None = None,
    ) -> str:
        """Return the identity of a tool, as signatures state it.

        Args:
            kind: Kind of tool.
            spec: Its spec.
            operations: Operations that the judge must support; None for any.
        """
        tool = self.get(kind, spec)
        if isinstance(tool, Judge) and operations is not None:
            return versioned_identity(tool, tool.identity_for(operations))
        # These tools state digests of their own code; a second one would say the same twice.
        if kind in _SIGNED:
            return tool.identity
        return versioned_identity(tool, tool.identity)

    def are_per_process(self, specs: Iterable[tuple[str, str]]) -> bool:
        """Return whether every worker process may create all of these tools, (kind, spec)."""
        return all(self.get(kind, spec).per_process for kind, spec in specs)


def _read_words(
    reader: PictureReader, files: Iterable[Path]
) -> tuple[str, ...]:
    from beholder.media.reading import read_words

    return tuple(word for file in files for word in read_words(reader, file))


def _in_another_language(item: Item) -> str | None:
    """Return evidence that an item is not in English; None if it may be."""
    language = language_named(item.language)
    # The row's own statement wins: detection errs on short texts.
    if language == ENGLISH:
        return None
    if language is not None:
        return f"the row says that its texts are {language}"
    for item_text in (item.candidate, *item.references):
        why = not_english(item_text)
        if why is not None:
            return f"of the text that begins {item_text.strip()[:30]!r}, {why}"
    return None


SENT_SIDE = 1536
"""Pixels of the longer side at which pictures are shown to a judge, by default: a
camera's picture has ten times what models look at, and is paid for by size."""

KEPT_BYTES = 256 << 20
"""Bytes of encoded pictures that one data set keeps."""

_SENT_AS_IS = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}


def for_model(path: Path, max_side: int | None = None) -> Image:
    """Encode a picture for sending: the same pixels as ``media.load_image`` reads.

    A JPEG, PNG or WebP file that is small enough and of which every reader sees the same (RGB or
    grey, opaque, upright, one frame) is sent byte for byte. Anything else is sent as the JPEG of
    the upright RGB image. Of a film (``FILE#t=START,END``) the file is sent as it is.

    Args:
        path: The file.
        max_side: Pixels of the longer side at most; None keeps the size.

    Raises:
        ItemError: It is missing, damaged, not a picture, or too large; names file and reason.
    """
    from beholder import media  # Pillow

    file = media.check_image(path)
    film = media.section(path)
    if film is not None:
        return Image(*media.film_bytes(film), FilmPart(*film[1:]))
    # Also decoded when the bytes are sent as they are: only this shows a file that is cut off.
    image = media.load_image(path, max_side=max_side)
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
        folder: Base folder of the names of pictures; None takes the current directory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path()
        self._images: LRUCache[tuple[Path, int | None], Image] = LRUCache(
            KEPT_BYTES, getsizeof=lambda image: len(image.data)
        )

    def files(self, names: Sequence[str]) -> list[Path]:
        """Return the files of the pictures that an item names.

        Raises:
            ItemError: A picture is named by a web address, or a link leads out of the folder.
        """
        from beholder.media import inside

        for name in names:
            if "://" in name or name.startswith("data:"):
                raise ItemError(
                    f"the picture {name[:80]!r} is not a file; fetch it and name the file"
                )
        return [inside(self._folder, name) for name in names]

    async def read(
        self,
        names: Sequence[str],
        max_side: int | None = SENT_SIDE,
    ) -> list[Image]:
        """Return pictures as models get them, in order; see ``for_model``.

        Raises:
            ItemError: A picture is not a file, is missing or cannot be read.
        """
        return [
            await self._read_picture(file, max_side)
            for file in self.files(names)
        ]

    async def _read_picture(self, file: Path, max_side: int | None) -> Image:
        image = self._images.get((file, max_side))
        if image is None:
            image = await asyncio.to_thread(for_model, file, max_side)
            # One picture larger than the cache cannot be stored; cachetools
            # raises for it.
            if len(image.data) <= KEPT_BYTES:
                self._images[file, max_side] = image
        return image
