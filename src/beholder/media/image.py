"""One picture file becomes an upright RGB image, or an error that names the file and the reason.

So does a moment of a video, ``film.mp4#t=3.5``, wherever a picture may stand.
"""

from __future__ import annotations

import hashlib
import io
import mimetypes
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from PIL import ExifTags, Image, UnidentifiedImageError

from beholder.errors import ItemError
from beholder.media import video
from beholder.media.limits import regular, room_for
from beholder.media.pixels import fit, upright_rgb

MAX_PIXELS = 100_000_000
"""Largest picture that is decoded: 400 MB as Pillow holds it. Small files can claim more."""

MAX_BYTES = 200_000_000
"""Largest picture file that is read."""

MAX_FILM_BYTES = 14_000_000
"""Largest film that fits into a request of 20 MB as text."""

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP")
"""Formats that are read. Pillow knows some forty formats more, which it recognises by the content
of a file; some of them start other programs (Ghostscript)."""

JPEG_QUALITY = 85
"""Of every picture that we encode, on Pillow's scale from 1 to 95."""

_FILTERS = threading.Lock()


@dataclass(frozen=True, slots=True)
class Picture:
    """The properties of a picture file.

    Attributes:
        path: The file.
        width: Pixels, upright.
        height: Pixels, upright.
        format: ``JPEG``, ``PNG``, ...
        mode: Pillow's name of the pixels in the file: ``L``, ``RGB``, ``CMYK``, ...
        notes: Changes that made it an upright RGB image; empty if there were none.
        date: EXIF date of taking as written, or None.
    """

    path: Path
    width: int
    height: int
    format: str
    mode: str
    notes: tuple[str, ...] = ()
    date: str | None = None


def check_image(path: Path, *, max_pixels: int = MAX_PIXELS) -> Picture:
    """Return the properties of a picture from its header, without decoding it.

    Raises:
        ItemError: It is missing, no picture, or has more than ``max_pixels``.
    """
    moment = video.moment(path)
    if moment is not None:
        width, height = video.frame_size(moment.file, max_pixels=max_pixels)
        return Picture(
            path=path,
            width=width,
            height=height,
            format="video",
            mode="RGB",
            notes=(f"at {float(moment.seconds):g} s",),
        )
    with _opened(path, max_pixels) as image:
        return _describe(path, image)


def load_image(
    path: Path, *, max_side: int | None = None, max_pixels: int = MAX_PIXELS
) -> Image.Image:
    """Decode a picture: turned upright by its EXIF tag, RGB, first frame of an animation.

    Transparent parts become white. 16-bit grey is scaled to 8 bits.

    Args:
        path: The file.
        max_side: Scale down so that the longer side has at most so many pixels; None leaves it.
        max_pixels: Refuse larger pictures before decoding them.

    Raises:
        ItemError: It is missing, damaged, no picture, or too large; names file and reason.
    """
    moment = video.moment(path)
    if moment is not None:
        frame = video.load_frame(moment, max_pixels=max_pixels)
        return frame if max_side is None else fit(frame, max_side)
    with _opened(path, max_pixels) as image:
        if max_side is not None:
            # JPEG: at a smaller scale.
            image.draft("RGB", (2 * max_side, 2 * max_side))
        image.load()
        return upright_rgb(image, max_side)


def encode_jpeg(image: Image.Image) -> bytes:
    """The image as JPEG bytes, without metadata."""
    buffer = io.BytesIO()
    image.save(buffer, format="JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, as hex.

    Raises:
        ItemError: The file cannot be read.
    """
    with regular(path, MAX_BYTES) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_bytes(path: Path) -> bytes:
    """The bytes of a picture file.

    Raises:
        ItemError: It is not a regular file, is too large, or cannot be read.
    """
    with regular(path, MAX_BYTES) as file:
        return file.read()


def film_bytes(film: video.Section) -> tuple[bytes, str]:
    """The bytes of a film and its media type; errors as ``file_bytes``."""
    kind = mimetypes.guess_type(film.file.name)[0] or ""
    with regular(film.file, MAX_FILM_BYTES) as file:
        return file.read(), kind if kind.startswith("video/") else "video/mp4"


def file_of(path: Path) -> Path:
    """Return the file that contains a picture: the picture itself, or the video of a moment."""
    moment = video.moment(path)
    return path if moment is None else moment.file


def _in_form_of_disk(folder: Path, name: str) -> Path:
    """Return the path of a name whose accents may be composed, while the disk has them decomposed.

    Each part is taken as it is written if it exists, else in the form that exists, else as written.
    """
    path = folder
    for part in Path(name).parts:
        forms = (part, normalize("NFC", part), normalize("NFD", part))
        paths = [path / form for form in forms]
        path = next((p for p in paths if file_of(p).exists()), paths[0])
    return path


def inside(folder: Path, name: str) -> Path:
    """The file of a name that is relative to a folder.

    Args:
        folder: Base folder of a data set's names.
        name: A relative path; an absolute one is taken as it is: whoever let it in has checked it.

    Raises:
        ItemError: A link leads out of the folder.
    """
    path = folder / name
    try:
        if not name.isascii():
            path = _in_form_of_disk(folder, name)
        leads_out = not Path(name).is_absolute() and not file_of(
            path
        ).resolve().is_relative_to(folder.resolve())
    except (
        OSError,
        RuntimeError,
        ValueError,
    ) as error:
        # A ring of links, or a NUL in the name.
        raise ItemError(f"{path}: cannot be read ({error})") from error
    if leads_out:
        raise ItemError(
            f"{path}: leads out of {folder} by a link; copy the picture there, or take the folder"
            " in which it lies"
        )
    return path


def file_below(folder: Path, name: str) -> Path:
    """Return the file of a name for others, who may read nothing outside a folder.

    Args:
        folder: The folder.
        name: A path relative to it, or an absolute one; a moment of a video names the video.

    Raises:
        ItemError: The file itself, behind all links, is outside the folder.
    """
    file = file_of(inside(folder, name))
    if not file.resolve().is_relative_to(folder.resolve()):
        raise ItemError(f"{name}: lies outside {folder}")
    return file


@contextmanager
def _opened(path: Path, max_pixels: int) -> Iterator[Image.Image]:
    with regular(path, MAX_BYTES) as file, _image(path, file) as image:
        if image.width * image.height > max_pixels:
            raise ItemError(
                f"{path}: {image.width} x {image.height} pixels are more than the {max_pixels}"
                " that are read; scale the picture down first"
            )
        try:
            # Held while the caller reads: a PNG may have metadata after its pixels.
            with room_for(image.width * image.height):
                yield image
        except MemoryError as error:
            raise ItemError(
                f"{path}: too large for the memory of this machine"
            ) from error
        except Exception as error:
            # Decoders of damaged files raise nearly anything.
            raise ItemError(
                f"{path}: the picture is damaged ({error})"
            ) from error


def _image(path: Path, file: io.BufferedReader) -> Image.Image:
    try:
        with _FILTERS, warnings.catch_warnings():
            # Pillow warns of large pictures before we can; ours is the error that names the file.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            return Image.open(file, formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise ItemError(f"{path}: too many pixels ({error})") from error
    except UnidentifiedImageError:
        hint = ""
        if path.suffix.lower() in video.ENDINGS:
            hint = f"; a picture of a video is named by its time: {path.name}#t=3.5"
        raise ItemError(
            f"{path}: not a picture in a format that can be read ({', '.join(FORMATS)}){hint}"
        ) from None
    except Exception as error:
        # Header parsers of damaged files raise nearly anything.
        raise ItemError(f"{path}: the picture is damaged ({error})") from error


def _describe(path: Path, image: Image.Image) -> Picture:
    notes = []
    # To count the frames of some formats takes minutes.
    if getattr(image, "is_animated", False):
        notes.append("holds several frames: the first is used")
    exif = image.getexif()
    orientation = exif.get(ExifTags.Base.Orientation, 1)
    if orientation in range(2, 9):
        notes.append("turned upright by its EXIF tag")
    if image.mode == "CMYK":
        notes.append("CMYK, converted to RGB without its colour profile")
    elif image.mode.startswith("I"):
        notes.append("16-bit grey, scaled to 8 bits")
    elif image.has_transparency_data:
        notes.append("transparent parts made white")
    date = exif.get_ifd(ExifTags.IFD.Exif).get(ExifTags.Base.DateTimeOriginal)
    width, height = image.size
    if orientation in (5, 6, 7, 8):
        width, height = height, width
    return Picture(
        path=path,
        width=width,
        height=height,
        format=image.format or "unknown",
        mode=image.mode,
        notes=tuple(notes),
        date=date.strip("\x00 ") or None if isinstance(date, str) else None,
    )
