"""Contents of pages besides texts: the owner's instructions, pictures, films, IIIF pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from beholder.errors import ConfigError
from beholder.kinds.annotation.records import AnnotationUnit
from beholder.lint.occurrence import IIIF_IMAGE
from beholder.media.limits import regular
from beholder.media.video import ENDINGS

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_MAX_BYTES = 1_000_000
INSTRUCTION_PICTURES = "/instructions/pictures"
"""Address of the pictures of the owner's instructions, by their number."""


def read_instructions(path: Path) -> str:
    """Read the Markdown of a file.

    Raises:
        ConfigError: It is not UTF-8.
        ItemError: It cannot be read, or has more than a million bytes.
    """
    with regular(path, _MAX_BYTES) as file:
        try:
            return file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigError(
                f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8"
            ) from error


@dataclass(frozen=True, slots=True)
class Instructions:
    """The owner's instructions as a page shows them.

    Attributes:
        html: HTML in which HTML of the source is plain text and no link runs a script.
        pictures: The files of its pictures, in order; the HTML names them by their number.
    """

    html: str
    pictures: tuple[str, ...]

    @classmethod
    def from_markdown(cls, markdown: str) -> Instructions:
        """Render Markdown; headings become two levels lower, because pages have a title.

        Pictures get addresses of this server, and their files are collected: pages load nothing
        from elsewhere, and only files that the instructions name are served.
        """
        tokens = _MARKDOWN.parse(markdown)
        pictures: list[str] = []
        for token in tokens:
            if token.type.startswith("heading"):
                token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
            for part in token.children or ():
                if part.type == "image":
                    name = str(part.attrs["src"])
                    part.attrs["src"] = (
                        f"{INSTRUCTION_PICTURES}/{len(pictures)}"
                    )
                    pictures.append(name)
        html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
        return cls(html, tuple(pictures))


def is_film(name: str | None) -> bool:
    """Return whether a file is a film; a frame of it, such as ``a.mp4#t=3``, is not."""
    return name is not None and Path(name).suffix.lower() in ENDINGS


def iiif_service(name: str | None, server: str | None) -> str | None:
    """Return the address of an image service; None if it is not on the study's server.

    Args:
        name: The address of a picture in any size, or of its ``info.json``.
        server: The address of the server.
    """
    if (
        name is None
        or server is None
        or not name.startswith(f"{server.rstrip('/')}/")
    ):
        return None
    # The server's address must end at a slash, or `https://iiif.org.evil.org` would pass. A query
    # or fragment could hide the end of the address, so that it names something else.
    base = IIIF_IMAGE.sub("", name.removesuffix("/info.json"))
    return None if base == name or not set(base).isdisjoint("?#") else base


def list_hidden_pictures(
    units: Sequence[AnnotationUnit], server: str | None
) -> list[str]:
    """Return the addresses of pictures that pages do not load, each once."""
    images = (picture.image for unit in units for picture in unit.pictures)
    return list(
        dict.fromkeys(
            image
            for image in images
            if image and "://" in image and not iiif_service(image, server)
        )
    )
