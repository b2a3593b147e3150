"""Texts per second of perplexity in batches against one text at a time, and pictures encoded.

The model is a tiny LLaVA with random weights. One at a time means what a plain loop does: for each
text the whole prompt with its picture in one forward pass. Both must give the same perplexities.
Printed: the ratio of the two rates (median of rounds) with and without pictures, and how many
pictures the image encoder was given for how many images. Needs torch and transformers (extra hf).
Run: ``python benchmarks/perplexity.py``.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import torch
from PIL import Image as PILImage

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from beholder import judges
from beholder.backends import Image, Surprisal
from beholder.backends.hf_model import HFModel
from beholder.judges import Judge
from beholder.judges.operations import MeasureSurprisal
from toy.tiny_models import picture, save_llava

PROMPT = "Write a review of this picture: what is good about it, and what could be better."
SENTENCE = "the light of the picture is good and a tall man holds the red cup near the river"


def make_texts(image: int, n: int, n_words: int) -> list[str]:
    """Texts of unlike lengths, as reviews have; other ones for each image."""
    words = SENTENCE.split()
    return [
        f"Picture {image}: "
        + " ".join(
            words[(n + k) % len(words)] for k in range(n_words - 5 * (n % 5))
        )
        for n in range(n)
    ]


async def batched(
    judge: Judge,
    texts: Sequence[Sequence[str]],
    images: Sequence[Image | None],
) -> list[list[Surprisal]]:
    """As a ranking run asks: one call per image, several at a time."""
    calls = (
        judge.ask(
            MeasureSurprisal(
                row, prompt=PROMPT, images=[image] if image else []
            )
        )
        for row, image in zip(texts, images, strict=True)
    )
    return list(await asyncio.gather(*calls))


def one_by_one(
    model: HFModel, texts: Sequence[str], image: Image | None
) -> list[float]:
    """Score texts by a plain loop: prompt, picture and text in one pass each."""
    likelihoods = []
    for text in texts:
        marks = "<image>" if image else ""
        rendered = f"<|user|>{marks}{PROMPT}<end><|assistant|>"
        picture_options: dict[str, Any] = {}
        if image:
            with PILImage.open(io.BytesIO(image.data)) as opened:
                picture_options = {"images": [opened.convert("RGB")]}
        encoded = dict(
            model.processor(
                text=[rendered], return_tensors="pt", **picture_options
            )
        )
        prompt = encoded.pop("input_ids")[0].tolist()
        encoded.pop("attention_mask")
        ids = model.tokenizer(text, add_special_tokens=False)["input_ids"]
        with torch.inference_mode():
            logits = model.model(
                input_ids=torch.tensor([prompt + ids]), **encoded
            ).logits[0]
            log_probabilities = torch.log_softmax(
                logits[len(prompt) - 1 : -1].float(), dim=-1
            )
            likelihoods.append(
                -float(
                    log_probabilities.gather(1, torch.tensor([ids]).T)
                    .double()
                    .sum()
                )
            )
    return likelihoods


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=20)
    parser.add_argument("--texts", type=int, default=5, help="texts per image")
    parser.add_argument(
        "--words", type=int, default=60, help="words of the longest text"
    )
    parser.add_argument(
        "--batch-size",
        type=int,
        default=8,
        help="as hf: judges have by default",
    )
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    from transformers.models.clip.modeling_clip import CLIPVisionModel

    n_encoded = 0
    forward = CLIPVisionModel.forward

    def counting(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal n_encoded
        n_encoded += len(
            kwargs["pixel_values"] if "pixel_values" in kwargs else args[0]
        )
        return forward(self, *args, **kwargs)

    CLIPVisionModel.forward = counting
    with tempfile.TemporaryDirectory() as folder:
        name = save_llava(Path(folder))
        plain = HFModel(name)
        texts = [
            make_texts(n, options.texts, options.words)
            for n in range(options.images)
        ]
        for kind in ("with pictures", "without"):
            ratios, encoded = [], []
            for turn in range(options.rounds + 1):
                images = [
                    picture((n, turn, 90)) if kind == "with pictures" else None
                    for n in range(options.images)
                ]
                judge = judges.judge(
                    f"hf:{name}", batch_size=options.batch_size
                )  # a new one: answers are kept
                asyncio.run(judge.ask(MeasureSurprisal(["warm"], prompt="up")))
                n_encoded = 0
                start = time.perf_counter()
                together = asyncio.run(batched(judge, texts, images))
                middle = time.perf_counter()
                encoded.append(n_encoded)
                alone = [
                    one_by_one(plain, row, image)
                    for row, image in zip(texts, images, strict=True)
                ]
                end = time.perf_counter()
                for row, row_alone in zip(together, alone, strict=True):
                    for a, b in zip(row, row_alone, strict=True):
                        assert abs(a.nll - b) < 1e-5 * abs(b), (a, b)
                if turn:  # the first warms up
                    ratios.append((end - middle) / (middle - start))
            print(
                f"{kind}: {median(ratios):.2f} times the rate of one text at a time"
                f" ({min(ratios):.2f} to {max(ratios):.2f}); {encoded[-1]} pictures went through"
                f" the image encoder for {options.images} images of {options.texts} texts"
            )


if __name__ == "__main__":
    main()
