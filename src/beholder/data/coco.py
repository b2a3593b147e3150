"""COCO captions: a file of annotations, and the results that captioners write.

Annotations are one object with the lists ``images`` (``id``, ``file_name``) and ``annotations``
(``image_id``, ``caption``); a picture's captions become references. Results are a list of
``image_id`` and ``caption``; give the annotations beside them with ``--references-from``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from beholder.errors import DataError


def is_annotations(found: object) -> bool:
    """Whether a JSON value is a file of annotations."""
    return isinstance(found, Mapping) and {"images", "annotations"} <= set(found)


def annotation_rows(found: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """A row per picture that has captions, in the order of pictures.

    Raises:
        DataError: It has another form, or a caption of a picture that is not listed.
    """
    try:
        files = {picture["id"]: picture.get("file_name") for picture in found["images"]}
        captions: dict[Any, list[str]] = {number: [] for number in files}
        for annotation in found["annotations"]:
            captions[annotation["image_id"]].append(annotation["caption"])
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            name,
            f"is no file of COCO captions ({type(error).__name__}: {error}): expected images with"
            " id and annotations with image_id and caption",
        ) from error
    for number, texts in captions.items():
        if texts:
            row = {"id": number, "references": texts}
            yield row if files[number] is None else {**row, "images": [files[number]]}
