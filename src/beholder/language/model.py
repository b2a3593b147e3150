"""The shipped model: weights as float16 in one compressed file, and the way to and from spaCy."""

from __future__ import annotations

import gzip
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from spacy.language import Language

FILE = "english.model.gz"
"""Name of the model file beside this module; ``english.md`` is its card."""


def load() -> Language:
    """The shipped pipeline: tok2vec, tagger, morphologizer, parser."""
    return unpack(resources.files(__package__).joinpath(FILE).read_bytes())


def pack(nlp: Language) -> bytes:
    """A trained pipeline as one file; weights lose their lower half, which costs no accuracy."""
    import srsly  # type: ignore[import-untyped]

    parts = srsly.msgpack_loads(nlp.to_bytes(exclude=["vocab", "tokenizer"]))
    for name in nlp.pipe_names:
        component = srsly.msgpack_loads(parts[name])
        component.pop("vocab", None)
        component["model"] = _converted(srsly.msgpack_loads(component["model"]), np.float16)
        parts[name] = component
    parts["strings"] = sorted(_label_strings(nlp))
    return gzip.compress(srsly.msgpack_dumps(parts), compresslevel=9, mtime=0)


def unpack(data: bytes) -> Language:
    """The pipeline of a packed file."""
    import srsly
    from spacy.util import load_model_from_config
    from thinc.api import Config

    parts = srsly.msgpack_loads(gzip.decompress(data))
    config = Config().from_bytes(parts["config.cfg"], interpolate=False)
    nlp = load_model_from_config(config, auto_fill=False, validate=False)
    for string in parts.pop("strings"):
        nlp.vocab.strings.add(string)
    for name in nlp.pipe_names:
        component = parts[name]
        component["model"] = srsly.msgpack_dumps(_converted(component["model"], np.float32))
        parts[name] = srsly.msgpack_dumps(component)
    nlp.from_bytes(srsly.msgpack_dumps(parts), exclude=["vocab", "tokenizer"])
    return nlp


def _label_strings(nlp: Language) -> set[str]:
    """Labels and the parts of morphological ones, which the components look up by hash."""
    return {label for name in nlp.pipe_names for label in getattr(nlp.get_pipe(name), "labels", ())}


def _converted(value: Any, dtype: type[np.floating[Any]]) -> Any:
    """The same nest of dicts and lists with every float array in another precision."""
    if isinstance(value, dict):
        return {key: _converted(inner, dtype) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_converted(inner, dtype) for inner in value]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value.astype(dtype)
    return value
