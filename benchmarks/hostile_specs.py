"""Spec strings at random: each is taken, or refused in words, at once.

    python -m benchmarks.hostile_specs --n 4000 --seed 7

Every spec goes through every door that reads one.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from beholder import embed, judges, text
from beholder.base import spec
from beholder.embed.images import image_embedder
from beholder.errors import BeholderError
from beholder.metrics import metric

DOORS: dict[str, Callable[[str], object]] = {
    "tool": spec.canonical_spec,
    "with_value": spec.parse_with_value,
    "with_label": spec.parse_with_label,
    "judge": judges.judge,
    "embedder": embed.embedder,
    "metric": metric,
    "splitter": text.splitter,
    "image_embedder": image_embedder,
}
NAMES = (
    "vcs", "posh", "accord", "dcscore", "cider", "bleu", "length", "fleur", "bertscore", "openai",
    "direct_assessment", "hf", "vllm", "st", "scripted", "replay", "panel", "builtin", "static",
    "minilm", "npz", "clip", "sat", "rules",
)  # fmt: skip
KEYS = (
    "base_url", "extra", "prices", "temperature", "prompts", "concurrency", "timeout", "samples",
    "attempts", "wait", "max_wait", "revision", "key_env", "model", "name", "seed", "members",
    "lct", "judge", "embedder", "encoder", "splitter", "rules", "n", "batch",
    "requests_per_minute", "dimensions", "device", "max_side", "trust_remote_code", "references",
    "weights", "parser",
)  # fmt: skip
VALUES = (
    "5", "-1", "'a'", "''", "None", "True", "[]", "{'a': {'b': [1, 2]}}", "(1,)", "1e999", "nan",
    "1" * 400, "'/nonexistent'", "'/'", "'/dev/null'", "'http://[::1'", "'http://h:99999'",
    "'\\x00'",
    "'\\ud83d'", "'\\x1b[2J'", "openai('m')", "vcs(judge=vcs(judge=vcs()))", "'" + "x" * 3000 + "'",
    "[[[[[[]]]]]]", "'openai:m'", "'scripted:/nonexistent'", "{[]: 1}", "0x10", "1_0",
)  # fmt: skip
BITS = (
    "(", ")", "[", "]", "{", "}", ",", "=", ":", "'", '"', "\\", "\n", "\0", "\x1b[2J", "\u202e",
    "\ud83d", "1" * 5000, "__import__('os').system('true')", "lambda: 0", "(" * 30, "[" * 30, "#",
    "**",
    "b'x'", "f'x'", "a.b.c", "..", "@", "漢", " ", "a" * 3000, "('" * 5000,
)  # fmt: skip


def hostile_spec(rng: random.Random) -> str:
    """One spec: well formed with odd options, or of odd pieces."""
    kind = rng.random()
    if kind < 0.5:
        parts = [
            f"{rng.choice(KEYS)}={rng.choice(VALUES)}"
            for _ in range(rng.choice((1, 1, 3)))
        ]
        parts[:0] = (
            [rng.choice(("'m'", *VALUES))] if rng.random() < 0.5 else []
        )
        spec = f"{rng.choice(NAMES)}({', '.join(parts)})"
        spec = f"posh(judge={spec})" if rng.random() < 0.2 else spec
    elif kind < 0.6:
        spec = f"{rng.choice(NAMES)}:{rng.choice((*BITS, *VALUES))}"
    else:
        spec = "".join(
            rng.choice((*BITS, *NAMES)) for _ in range(rng.randrange(1, 12))
        )
    for _ in range(rng.choice((0, 0, 1, 3))):
        place = rng.randrange(len(spec) + 1)
        spec = spec[:place] + rng.choice(BITS) + spec[place + 1 :]
    return spec


@dataclass
class Tried:
    """What came of some specs."""

    taken: int = 0
    refused: int = 0
    slowest: float = 0.0
    tracebacks: Counter[str] = field(default_factory=Counter)


def try_all(spec: str, tried: Tried) -> None:
    """Give a spec to every door."""
    for name, door in DOORS.items():
        start = time.process_time()
        try:
            door(spec)
            tried.taken += 1
        except BeholderError:
            tried.refused += 1
        except Exception:  # whatever it is, it is what is looked for
            lines = traceback.format_exc().splitlines()
            tried.tracebacks[
                f"{name}: {lines[-1][:90]} | {lines[-3].strip()[-70:]}"
            ] += 1
        tried.slowest = max(tried.slowest, time.process_time() - start)


def main() -> int:
    """Print the figures; 1 if there was a traceback."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    tried = Tried()
    for number in range(options.n):
        try_all(hostile_spec(random.Random(f"{options.seed} {number}")), tried)
    print(
        f"{options.n} specs, seed {options.seed}, {len(DOORS)} doors each: {tried.taken} taken,"
        f" {tried.refused} refused in words, {sum(tried.tracebacks.values())} tracebacks;"
        f" slowest {tried.slowest:.2f} s of processor time"
    )
    for error_text, count in tried.tracebacks.most_common():
        print(f"{count} x {error_text}")
    return int(bool(tried.tracebacks))


if __name__ == "__main__":
    sys.exit(main())
