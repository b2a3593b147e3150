"""One spaCy training run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spacy import util
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train

CONFIG = Path(__file__).with_name("config.cfg")


def fit(
    train_file: Path,
    dev_file: Path,
    out: Path,
    *,
    steps: int,
    rate: float = 0.002,
    seed: int = 0,
    start: Path | None = None,
    every: int = 500,
) -> Language:
    """Train from scratch, or go on from the model at ``start``; keep the best model at ``out``."""
    overrides: dict[str, Any] = {
        "paths.train": str(train_file),
        "paths.dev": str(dev_file),
        "system.seed": seed,
        "training.max_steps": steps,
        "training.eval_frequency": every,
        "training.optimizer.learn_rate.initial_rate": rate,
    }
    config = util.load_config(CONFIG, overrides=overrides, interpolate=True)
    if start is not None:
        for name in config["nlp"]["pipeline"]:
            config["components"][name] = {"source": str(start)}
        # A source must not be initialised anew; labels stay those of the first model.
        config["training"]["batcher"]["size"] = 1000
    out.mkdir(parents=True, exist_ok=True)
    nlp = init_nlp(config)
    train(nlp, out)
    return util.load_model(out / "model-best")
