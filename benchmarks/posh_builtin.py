"""Speed and memory of PoSh and of the headline metric with the built-in judge, one core.

    python benchmarks/posh_builtin.py [--pairs 40] [--words 115] [--long 10000]
    python benchmarks/posh_builtin.py --data SHARED_DATA/human_judgments

Prints pairs a second, with the entailment model and without it, on texts cut or joined to so many
words, the milliseconds of each stage, how much faster a repeated reference is, and memory after a
tenth and after all of many pairs. The texts are those that ship as a sample, which share their
sentences; with ``--data``, descriptions of IIW-400 and DOCCI, of which more is undecided, and only
the speed is printed. Times are processor time with one BLAS thread, as in runs.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from functools import partial
from importlib import resources
from pathlib import Path

from threadpoolctl import threadpool_limits

from beholder import PoSh, metric
from beholder.embed import entailment
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.findings import find
from beholder.judges.builtin.reading import analysed
from beholder.language import Document, SceneGraph, parse, scene_graph
from beholder.language.reading import english_graphs
from beholder.metrics import Tools
from beholder.records import Item
from beholder.text import words


def texts(n: int, n_words: int) -> list[str]:
    """Texts of so many words, each different: sentences of the sample in rotating order."""
    sample = resources.files("beholder.samples").joinpath("descriptions.jsonl")
    rows = [
        json.loads(line)
        for line in sample.read_text(encoding="utf-8").splitlines()
    ]
    parts = [
        part for row in rows for part in (row["candidate"], *row["references"])
    ]
    texts_made = []
    for start in range(n):
        rotated = parts[start % len(parts) :] + parts[: start % len(parts)]
        text = f"There are {start + 2} cups. " + " ".join(rotated)
        spans = words(text)
        texts_made.append(text[: spans[min(n_words, len(spans)) - 1][1]] + ".")
    return texts_made


def described(data: Path, n_words: int, step: int = 3) -> list[str]:
    """Candidates and references in turn, cut to so many words; one row of ``step``."""
    cut_texts = []
    for name in ("iiw400_sxs", "docci_test_sxs"):
        for line in (
            (data / f"{name}.jsonl")
            .read_text(encoding="utf-8")
            .splitlines()[::step]
        ):
            row = json.loads(line)
            for text in (row["candidate"], row["references"][0]):
                spans = words(text)
                cut_texts.append(
                    text[: spans[min(n_words, len(spans)) - 1][1]] + "."
                )
    return cut_texts


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def forget() -> None:
    english_graphs.clear()
    analysed.clear()
    entailment._cache.clear()


def stages(pair_texts: list[str]) -> dict[str, float]:
    """Seconds of each stage of PoSh on pairs of texts."""
    documents: list[Document] = []
    stage_seconds = {
        "parsing": seconds(lambda: documents.extend(parse(pair_texts)))
    }
    graphs: list[SceneGraph] = []
    stage_seconds["graphs"] = seconds(
        lambda: graphs.extend(map(scene_graph, documents))
    )
    analysed_texts = [AnalysedText(graph) for graph in graphs]
    pairs = list(zip(analysed_texts[::2], analysed_texts[1::2], strict=True))
    stage_seconds["judging"] = seconds(
        lambda: [(find(a, b), find(b, a)) for a, b in pairs]
    )
    return stage_seconds


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument(
        "--words", type=int, default=115, help="words of a text"
    )
    parser.add_argument(
        "--long", type=int, default=0, help="pairs for the memory run"
    )
    parser.add_argument(
        "--data", type=Path, help="folder with iiw400_sxs and docci_test_sxs"
    )
    options = parser.parse_args()
    posh, tools = PoSh(), Tools()
    rules = "judge='builtin(entail=False)'"
    scorers = (
        posh,
        *map(
            metric,
            ("headline", f"posh({rules})", f"accord({rules}, caution=0)"),
        ),
    )
    if options.data:
        pair_texts = described(options.data, options.words)
        n = len(pair_texts) // 2 - 5
    else:
        n, pair_texts = (
            options.pairs,
            texts(2 * options.pairs + 10, options.words),
        )
    warm, pair_texts = pair_texts[2 * n :], pair_texts[: 2 * n]
    for scored in scorers:
        scored.score(
            [Item(text, text, (warm[0],)) for text in warm], tools=tools
        )
    pairs = [
        Item(str(i), pair_texts[2 * i], (pair_texts[2 * i + 1],))
        for i in range(n)
    ]
    for scored in scorers:
        forget()
        cpu_seconds = seconds(partial(scored.score, pairs, tools=Tools()))
        size = f"{n} pairs of {2 * options.words} words"
        print(
            f"{scored.name}: {size}, {n / cpu_seconds:.2f} pairs/s on one core"
        )
    if options.data:
        return
    with threadpool_limits(1):
        parts = stages(pair_texts)
    print(
        ", ".join(
            f"{name} {1e3 * part / n:.1f} ms a pair"
            for name, part in parts.items()
        )
    )
    forget()
    items_of_one_reference = [
        Item(str(i), pair_texts[i], (pair_texts[-1],)) for i in range(n)
    ]
    repeated = seconds(
        partial(posh.score, items_of_one_reference, tools=tools)
    )
    print(f"one reference for all: {n / repeated:.1f} pairs/s")
    print(f"texts read: {analysed.n_read} for {n} candidates and 1 reference")
    if options.long:
        for done in range(0, options.long, 500):
            block = texts(20, options.words)
            posh.score(
                [
                    Item(
                        str(i),
                        block[i % 10],
                        (f"{done + i} dogs run. A cat sleeps.",),
                    )
                    for i in range(500)
                ],
                tools=tools,
            )
            if done in (options.long // 1000 * 500, options.long - 500):
                print(f"after {done + 500} pairs: {megabytes():.0f} MB")


if __name__ == "__main__":
    main()
