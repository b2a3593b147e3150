"""DCScore with the built-in judge: its facts, its verdicts and its agreement with people.

    python -m benchmarks.dcscore [facts verify match people speed] [--limit 181] [--resamples 1000]

facts   Built-in facts of captions against human-written ones, matched one to one by content words
        (``benchmarks/oracle_statements.py``), with examples of what is missed.
verify  Human facts against their own caption (should hold), the same with one word replaced by
        another of its kind, built-in relations with another thing of the caption at their end, and
        facts of another caption (should not).
match   Built-in facts against human facts of one caption: how far the judge's matches are those by
        content words.
people  IIW-400 and DOCCI side by side: Spearman of precision with hallucination and of recall with
        comprehensiveness + specificity, raw and with the ratio of lengths out, beside PoSh.
speed   Matching and verifying 300 facts against 300.

The data is shared/data beside the checkout, for measuring only.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from beholder import DCScore, PoSh, stats
from beholder.aio import run_sync
from beholder.judges import judge
from beholder.judges.operations import MatchStatements, Verify
from beholder.language import graph_statements, parse, scene_graph
from beholder.metrics import Metric, Tools
from beholder.records import ItemFailure
from beholder.text import words
from benchmarks import judged, oracle_statements
from benchmarks.granular import SWAPS

ORACLE = Path(__file__).parents[1] / "../shared/data/oracle_facts.jsonl"
JUDGED = ORACLE.with_name("human_judgments")
PARTS = ("facts", "verify", "match", "people", "speed")
N_SHOWN = 12


def facts(limit: int, rng: random.Random) -> Iterator[str]:
    """Recall and precision of built-in facts, and facts that were missed."""
    yield from oracle_statements.report(ORACLE)
    missed = []
    for match in oracle_statements.evaluate(ORACLE, limit):
        matched_facts = {fact for _, fact, _ in match.pairs}
        missed += [
            text
            for i, text in enumerate(match.facts)
            if i not in matched_facts
        ]
    yield "missed, for example:"
    yield from (
        f"    {text}" for text in rng.sample(missed, min(N_SHOWN, len(missed)))
    )


def replaced(fact: str, rng: random.Random) -> str | None:
    """The fact with one colour, number, side, size or material replaced, or None if it has none."""
    places = [
        (m.span(), kind) for m in re.finditer(r"[A-Za-z]+", fact) for kind in SWAPS
        if m.group() in kind
    ]  # fmt: skip
    if not places:
        return None
    (start, end), kind = rng.choice(places)
    other_word = rng.choice([word for word in kind if word != fact[start:end]])
    return fact[:start] + other_word + fact[end:]


def bent_relations(text: str, rng: random.Random) -> Iterator[str]:
    """Relations of a text with another of its things at their end; few are true by chance."""
    graph = scene_graph(parse(text))
    names = sorted(
        {entity.name for entity in graph.entities if entity.kind == "thing"}
    )
    for statement in graph_statements(graph):
        if statement.kind == "relation":
            end = graph.entities[statement.entities[1]].name
            other_names = [name for name in names if name != end]
            if other_names and end in statement.text:
                yield rng.choice(other_names).join(
                    statement.text.rsplit(end, 1)
                )


def verify(limit: int, rng: random.Random) -> Iterator[str]:
    """Shares of facts that the judge takes for true, with examples of errors."""
    rows = oracle_statements.read_facts(ORACLE)[:limit]
    cleaned = [
        [oracle_statements.cleaned(fact) for fact in facts_of_text]
        for _, facts_of_text in rows
    ]
    shifted = cleaned[1:] + cleaned[:1]
    wrong = []
    for facts_of_text in cleaned:
        changed = [replaced(fact, rng) for fact in facts_of_text]
        wrong.append([fact for fact in changed if fact])
    bent = [list(bent_relations(text, rng)) for text, _ in rows]
    groups_of_statements = (
        ("own facts", cleaned, True),
        ("replaced", wrong, False),
        ("other end", bent, False),
        ("other caption", shifted, False),
    )
    builtin = judge("builtin")
    for name, claims, should in groups_of_statements:
        errors, n = [], 0
        for (text, _), each in zip(rows, claims, strict=True):
            verdicts = run_sync(builtin.ask(Verify(each, reference=text)))
            n += len(each)
            errors += [
                c for c, v in zip(each, verdicts, strict=True) if v != should
            ]
        yield f"{name}: {len(errors) / n:.3f} wrong verdicts (n={n}); for example:"
        yield from (
            f"    {text}"
            for text in rng.sample(errors, min(N_SHOWN, len(errors)))
        )


def match(limit: int, rng: random.Random) -> Iterator[str]:
    """Compare the matches with those by content words, one to one."""
    builtin = judge("builtin")
    n_same = n_matched = gold = 0
    missed, odd = [], []
    for pairs in oracle_statements.evaluate(ORACLE, limit):
        targets = [oracle_statements.cleaned(fact) for fact in pairs.facts]
        own_matches = run_sync(
            builtin.ask(MatchStatements(pairs.statements, targets))
        )
        by_words = {i: j for i, j, _ in pairs.pairs}
        gold += len(by_words)
        n_matched += sum(j is not None for j in own_matches)
        n_same += sum(own_matches[i] == j for i, j in by_words.items())
        missed += [
            f"{pairs.statements[i]}  ~  {targets[j]}"
            for i, j in by_words.items()
            if own_matches[i] is None
        ]
        odd += [
            f"{pairs.statements[i]}  ~  {targets[j]}"
            for i, j in enumerate(own_matches) if j is not None and by_words.get(i) != j
        ]  # fmt: skip
    yield f"matches: {n_matched}, by words {gold}, the same {n_same}"
    for name, lines in (
        ("only by words", missed),
        ("only or other by the judge", odd),
    ):
        yield f"{name} ({len(lines)}), for example:"
        yield from (
            f"    {line}"
            for line in rng.sample(lines, min(N_SHOWN, len(lines)))
        )


def people(resamples: int) -> Iterator[str]:
    """Agreement on long descriptions, DCScore and PoSh side by side."""
    for name in ("iiw400_sxs", "docci_test_sxs"):
        rows = judged.load(JUDGED, name, 1.0)
        items = judged.items_of(name, rows)
        labels = {
            k: np.array([r["judgments"][k] for r in rows])
            for k in rows[0]["judgments"]
        }
        ratio = np.array(
            [
                len(words(item.candidate)) / len(words(item.references[0]))
                for item in items
            ]
        )
        overall_labels = labels["comprehensiveness"] + labels["specificity"]
        metrics: Sequence[Metric[Any]] = (
            DCScore(),
            DCScore(rules="eq2_distinct"),
            PoSh(),
        )
        for metric in metrics:
            scores = metric.score(items, tools=Tools())
            failed = [s.message for s in scores if isinstance(s, ItemFailure)]
            if failed:
                yield f"{metric.name}: {len(failed)} failed, counted as 0: {failed[0]}"
            for value, people_say, label in (
                ("precision", labels["hallucination"], "hallucination"),
                ("recall", overall_labels, "C+S"),
            ):
                x = np.array(
                    [
                        0.0 if isinstance(s, ItemFailure) else s.values[value]
                        for s in scores
                    ]
                )
                raw = stats.spearman(x, people_say, n_resamples=resamples)
                beyond = stats.partial(
                    x, people_say, ratio, "spearman", n_resamples=resamples
                )
                yield (
                    f"{name:15} {metric.name:30} {value:9} with {label:13}"
                    f" {judged.show(raw)}   length out {judged.show(beyond)}"
                )


def speed(n: int = 300) -> Iterator[str]:
    """Seconds of CPU for n facts against n, first and again."""
    things = [
        "man",
        "dog",
        "cup",
        "plate",
        "hat",
        "shoe",
        "car",
        "tree",
        "house",
        "chair",
        "lamp",
    ]
    colours = [
        "red",
        "blue",
        "green",
        "yellow",
        "black",
        "white",
        "brown",
        "gray",
        "orange",
    ]
    kinds = [
        "The {t} is {c}.",
        "There are {n} {c} {t}s.",
        "The {t} stands on the {c} mat.",
    ]
    texts_made = [
        kinds[i % 3].format(t=things[i % 11], c=colours[i % 9], n=i + 2)
        for i in range(2 * n)
    ]
    builtin = judge("builtin")
    for again in ("first", "again"):
        start = time.process_time()
        run_sync(builtin.ask(MatchStatements(texts_made[:n], texts_made[n:])))
        matched = time.process_time() - start
        start = time.process_time()
        run_sync(
            builtin.ask(
                Verify(texts_made[:n], reference=" ".join(texts_made[n:]))
            )
        )
        verified = time.process_time() - start
        yield f"{again}: {n} x {n} matched in {matched:.2f} s, {n} verified in {verified:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "parts", nargs="*", choices=[*PARTS, []], metavar="PART"
    )
    parser.add_argument("--limit", type=int, default=181)
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    tables: dict[str, Callable[[], Iterator[str]]] = {
        "facts": lambda: facts(options.limit, random.Random(12345)),
        "verify": lambda: verify(options.limit, random.Random(12345)),
        "match": lambda: match(options.limit, random.Random(12345)),
        "people": lambda: people(options.resamples),
        "speed": speed,
    }
    for part in options.parts or PARTS:
        for line in tables[part]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
