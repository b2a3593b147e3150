"""One spaCy training run."""

from __future__ import annotations

from pathlib import Path

from spacy import util
from spacy.training.initialize import init_nlp
from spacy.training.loop import train

CONFIG = Path(__file__).with_name("config.cfg")
NARROW: dict[str, object] = {
    "components.tok2vec.model.encode.width": 96,
    "components.tok2vec.model.embed.rows": [5000, 1000, 2500, 1000],
    "components.parser.model.hidden_width": 64,
}
"""Sizes of the teachers, which need not be as good as what is shipped."""


def fit(
    train_file: Path,
    dev_file: Path,
    out: Path,
    *,
    steps: int,
    seed: int,
    size: dict[str, object] | None = None,
) -> None:
    """Train from scratch; the best model on the development set is kept at ``out/model-best``."""
    overrides = {
        "paths.train": str(train_file),
        "paths.dev": str(dev_file),
        "system.seed": seed,
        "training.max_steps": steps,
        **(size or {}),
    }
    config = util.load_config(CONFIG, overrides=overrides, interpolate=True)
    out.mkdir(parents=True, exist_ok=True)
    train(init_nlp(config), out)
