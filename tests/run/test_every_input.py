"""A run notices every input that changed: each field of each configuration is changed in turn.

A changed input is refused, or what depends on it is found anew. What must not matter is reused, for a
reason that stands in the table. A field without a row fails.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from beholder.backends import BACKENDS
from beholder.errors import RunError
from beholder.judges.templates import Templates
from beholder.kinds.generation.askers import CaptionRow, RowColumns
from beholder.kinds.generation.engine import RowsConfig, run_rows
from beholder.kinds.generation.reviews import ReviewsConfig, run_reviews
from beholder.kinds.narratives.config import (
    CoherenceOptions,
    CollectionOptions,
    HybridOptions,
    NarrateConfig,
    Voting,
)
from beholder.kinds.narratives.engine import run_narratives
from beholder.kinds.ranking.engine import run_ranking
from beholder.kinds.ranking.rankers import ByMetric, RankConfig, Response
from beholder.kinds.scores.engine import ScoreConfig, Until, run_scores
from beholder.metrics import metric
from beholder.options import DataOptions, JudgeOptions, WorkOptions
from beholder.run.session import Quiet
from toy.films import write_film
from toy.judge import Storyteller
from toy.photos import make_collection, write_narratives
from toy.recorded import Oracle, items
from toy.reviewer import Reviewer, write_reviews

pytestmark = pytest.mark.usefixtures("few_resamples")

GROUPS = (DataOptions, JudgeOptions, WorkOptions)
"""Shared by all kinds of runs; changed in runs of scores."""


class Endpoint(Oracle):
    """``endpoint:MODEL``: an oracle with the options of a backend that is reached over a network."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "",
        batch: bool = False,
        timeout: float = 1.0,
        prices: str | None = None,
        key_env: str | None = None,
    ) -> None:
        super().__init__(model)
        self.name = f"endpoint:{model}@{base_url}"


for _name, _backend in (
    ("story", Storyteller),
    ("reviewer", Reviewer),
    ("endpoint", Endpoint),
):
    if _name not in BACKENDS.names():
        BACKENDS.register(_name)(_backend)


class Counted(Quiet):
    """Progress that counts what is reused and what is done."""

    def __init__(self) -> None:
        self.total = self.reused = self.n_done = 0

    def start(self, total: int, reused: int) -> None:
        self.total, self.reused = total, reused

    def advance(self, n_scored: int, n_failed: int) -> None:
        self.n_done += n_scored + n_failed


@dataclass(frozen=True)
class Change:
    """An input that changes.

    Attributes:
        expects: ``refused``; ``anew`` (what depends on it is found again); ``reused``.
        to: Gives the configuration of the second start, and may change files.
        why: Why outcomes do not depend on it, where they are reused.
        first: Gives the configuration of the first start, where it is not the usual one.
    """

    expects: str
    to: Callable[[Any], Any]
    why: str = ""
    first: Callable[[Any], Any] = lambda config: config


def same(config: Any) -> Any:
    return config


def into(**new_fields: Any) -> Callable[[Any], Any]:
    """The configuration with other fields; dots lead into groups: ``rows__limit``."""

    def changed(config: Any) -> Any:
        for path, value in new_fields.items():
            group, _, name = path.rpartition("__")
            if group:
                value = replace(getattr(config, group), **{name: value})
            config = replace(config, **{group or name: value})
        return config

    return changed


def edited(file: str, old: str, new: str) -> Callable[[Any], Any]:
    """The same configuration, one of its files being another."""

    def changed(config: Any) -> Any:
        text = Path(file).read_text("utf-8")
        assert old in text
        Path(file).write_text(text.replace(old, new, 1), "utf-8")
        return config

    return changed


# Runs of scores, which have the groups of options that all share


def _write_scores() -> None:
    rows = []
    for item in items(Path()):
        rows.append(
            {
                "id": item.id,
                "candidate": item.candidate,
                "other": "A dog.",
                "images": item.images,
            }
            | {"references": item.references}
        )
    Path("d.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    Path("r.jsonl").write_text(
        "".join(
            json.dumps({"id": row["id"], "references": ["A dog runs."]}) + "\n"
            for row in rows
        )
    )
    shutil.copytree(
        Path(), "elsewhere", ignore=shutil.ignore_patterns("elsewhere")
    )
    film = {
        "id": "f",
        "candidate": "A film.",
        "references": ["A film."],
        "video": "film.mp4",
    }
    Path("films.jsonl").write_text(json.dumps(film) + "\n")
    write_film(Path("film.mp4"), n=8)
    prompt_folder = Path("prompts")
    prompt_folder.mkdir()
    sections = Templates()["assess"].sections
    texts = "".join(f"[{name}]\n{text}\n" for name, text in sections.items())
    (prompt_folder / "assess.v9.txt").write_text(f"{texts}Be fair.\n", "utf-8")
    Path("prices.toml").write_text("")


def _scores() -> Any:
    specs = ("rouge", "direct_assessment(judge='endpoint:m', setting='both')")
    return ScoreConfig("d.jsonl", tuple(map(metric, specs)), Path("run"))


_OTHER_REFERENCES = into(rows__references_from=Path("r.jsonl"))
_FILMS = into(data="films.jsonl", metrics=(metric("rouge"),), rows__frames=2)
_PROMPTS = into(judging__prompts=Path("prompts"))


def _longer(config: Any) -> Any:
    write_film(Path("film.mp4"), n=16)
    return config


SCORES: Mapping[str, Change] = {
    "data": Change("refused", edited("d.jsonl", "lemons", "oranges")),
    "data: another file, the same rows": Change(
        "reused",
        into(data="elsewhere/d.jsonl"),
        "rows count, and not where they lie",
    ),
    "metrics": Change("anew", into(metrics=(metric("rouge(beta=2.0)"),))),
    "metrics: judge": Change(
        "anew",
        into(
            metrics=(
                metric(
                    "direct_assessment(judge='endpoint:n', setting='both')"
                ),
            )
        ),
    ),
    "out": Change("anew", into(out=Path("other"))),
    "until": Change(
        "reused",
        into(until=Until("rouge", "rouge", 0.5, 0, 1)),
        "a run may stop early, and what it has scored stays",
    ),
    "clean": Change("refused", into(clean="residue")),
    "clean: otherwise": Change(
        "refused", into(clean="speech"), first=into(clean="residue")
    ),
    "rows.limit": Change(
        "reused", into(rows__limit=2), "a run may be asked for its first rows"
    ),
    "rows.skip_bad_rows": Change(
        "reused", into(rows__skip_bad_rows=True), "wrong rows are in no run"
    ),
    "rows.media_root": Change(
        "reused",
        into(rows__media_root=Path("elsewhere")),
        "pictures are compared by their bytes",
    ),
    "rows.map": Change("refused", into(rows__map={"candidate": "other"})),
    "rows.references_from": Change(
        "refused", into(rows__references_from=Path("r.jsonl"))
    ),
    "rows.references_from: its bytes": Change(
        "refused",
        edited("r.jsonl", "A dog runs.", "A cat sleeps."),
        first=_OTHER_REFERENCES,
    ),
    "rows.references_from: another file, the same bytes": Change(
        "reused",
        into(rows__references_from=Path("elsewhere/r.jsonl")),
        "rows count, and not where they lie",
        first=_OTHER_REFERENCES,
    ),
    "rows.require_all": Change(
        "reused",
        into(rows__references_from=Path("r.jsonl"), rows__require_all=True),
        "each id of the references has a text",
        first=_OTHER_REFERENCES,
    ),
    "rows.group_references": Change(
        "reused",
        into(rows__group_references=True),
        "no two rows are parts of one item",
    ),
    "rows.frames": Change("refused", into(rows__frames=3), first=_FILMS),
    "rows.frames: length of the film": Change(
        "refused", _longer, first=_FILMS
    ),
    "judging.base_url": Change(
        "reused",
        into(judging__base_url="http://elsewhere"),
        "a model is known by what its server calls it",
    ),
    "judging.temperature": Change("refused", into(judging__temperature=0.5)),
    "judging.replicates": Change("refused", into(judging__replicates=3)),
    "judging.prompts": Change("refused", _PROMPTS),
    "judging.prompts: their bytes": Change(
        "refused",
        edited("prompts/assess.v9.txt", "[user]", "[user]\nBe strict."),
        first=_PROMPTS,
    ),
    "judging.batch": Change(
        "reused", into(judging__batch=True), "a price, and no other answer"
    ),
    "judging.extra: samples": Change(
        "refused", into(judging__extra={"samples": 3})
    ),
    "judging.extra: timeout": Change(
        "reused",
        into(judging__extra={"timeout": 9.0}),
        "how long an answer may take",
    ),
    "judging.extra: prices": Change(
        "reused",
        into(judging__extra={"prices": "prices.toml"}),
        "what an answer costs",
    ),
    "judging.key_env": Change(
        "reused", into(judging__key_env="OTHER_KEY"), "who pays"
    ),
    "work.workers": Change(
        "reused", into(work__workers=2), "results do not depend on it"
    ),
    "work.concurrency": Change(
        "reused", into(work__concurrency=1), "results do not depend on it"
    ),
    "work.cache": Change(
        "reused",
        into(work__cache=Path("cache")),
        "answers are found by their questions",
    ),
    "work.max_cost": Change(
        "reused", into(work__max_cost=0.0), "nothing is left to be paid for"
    ),
}


# The other kinds


def _write_ranking() -> None:
    rows = write_reviews(Path("r.jsonl"), 4)
    for row in rows:
        del row["language"]
    Path("r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shutil.copytree(
        Path(), "elsewhere", ignore=shutil.ignore_patterns("elsewhere")
    )


def _ranking() -> Any:
    rankers = (Response("reviewer:m", orders=2), ByMetric(metric("length")))
    return RankConfig("r.jsonl", Path("run"), rankers, resamples=20)


RANKING: Mapping[str, Change] = {
    "data": Change("refused", edited("r.jsonl", "Text 0 of 0", "Text 9 of 0")),
    "data: people's ranks": Change(
        "reused",
        edited("r.jsonl", '"anna": [', '"dora": ['),
        "people may rank later",
    ),
    "out": Change("anew", into(out=Path("other"))),
    "rankers": Change(
        "anew", into(rankers=(Response("reviewer:m", orders=2, seed=7),))
    ),
    "language": Change("refused", into(language="de")),
    "data:pictures": Change(
        "reused",
        into(rows__media_root=Path("elsewhere")),
        "pictures are compared by their bytes",
    ),
    "threshold": Change(
        "reused", into(threshold=0.1), "tables are made of what is kept"
    ),
    "resamples": Change(
        "reused", into(resamples=30), "tables are made of what is kept"
    ),
}


def _rows() -> Any:
    return RowsConfig(
        "data/index.jsonl", Path("o.jsonl"), {"a": CaptionRow("story:m")}
    )


def _write_rows() -> None:
    make_collection(Path("data"), 3)
    rows = ({"id": str(n), "images": [f"img/{n:03d}.jpg"]} for n in range(3))
    Path("data/index.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )


ROWS: Mapping[str, Change] = {
    "data": Change(
        "refused", edited("data/index.jsonl", "000.jpg", "001.jpg")
    ),
    "out": Change("anew", into(out=Path("p.jsonl"))),
    "systems": Change(
        "anew", into(systems={"a": CaptionRow("story:m", language="German")})
    ),
    "systems: their names": Change(
        "reused",
        into(systems={"b": CaptionRow("story:m")}),
        "the judge is not told",
    ),
    "columns": Change(
        "reused", into(columns=RowColumns("who")), "the judge is not told"
    ),
}


def _reviews() -> Any:
    return ReviewsConfig("data/index.csv", Path("run"), "reviewer:m")


def _write_reviews() -> None:
    make_collection(Path("data"), 3)
    shutil.copytree("data", "elsewhere")


REVIEWS: Mapping[str, Change] = {
    "data": Change("refused", edited("data/index.csv", "Arica", "Iquique")),
    "out": Change("anew", into(out=Path("other"))),
    "judge": Change("anew", into(judge="reviewer:n")),
    "languages": Change("anew", into(languages=("en", "de"))),
    "words": Change("anew", into(words=40)),
    "data:pictures": Change(
        "reused",
        into(rows__media_root=Path("elsewhere")),
        "pictures are compared by their bytes",
    ),
    "max_side": Change("anew", into(max_side=32)),
    "seed": Change(
        "reused", into(seed=1), "it orders texts that are written already"
    ),
}


def _write_study() -> None:
    make_collection(Path("data"), 8)
    write_narratives(Path("s.jsonl"), 1, 8)


def _study() -> Any:
    return NarrateConfig(
        "s.jsonl",
        Path("run"),
        ("captions", "transitions", "coherence"),
        "story:m",
        collection=CollectionOptions("data/index.csv"),
        voting=Voting(judges=2),
        coherence=CoherenceOptions("handcrafted"),
    )


_HYBRID = into(parts=("hybrid",), hybrid=HybridOptions(0.3))

STUDY: Mapping[str, Change] = {
    "sequences": Change("refused", edited("s.jsonl", '"p000", ', "")),
    "out": Change("anew", into(out=Path("other"))),
    "parts": Change("anew", into(parts=("sight",))),
    "judge": Change("anew", into(judge="story:n")),
    "steps_by": Change("anew", into(steps_by="captions")),
    "max_side": Change("anew", into(max_side=32)),
    "human": Change("anew", into(human="maps")),
    "collection": Change(
        "refused", edited("data/index.csv", "1928-03", "1927-03")
    ),
    "voting": Change("anew", into(voting__judges=3)),
    "voting: context": Change(
        "anew", into(voting__context="Photographs of Bolivia")
    ),
    "captions": Change("refused", into(captions__min_words=20)),
    "hybrid": Change("anew", into(hybrid__share=0.6), first=_HYBRID),
    "hybrid: weight": Change(
        "reused",
        into(hybrid__weight=0.5),
        "tables are made of what is kept",
        first=_HYBRID,
    ),
    "coherence": Change("anew", into(coherence__scale="minmax")),
}


@dataclass(frozen=True)
class Kind:
    """A kind of run, and what changes."""

    write: Callable[[], None]
    config: Callable[[], Any]
    run: Callable[[Any, Quiet], object]
    changes: Mapping[str, Change]


KINDS: Mapping[str, Kind] = {
    "scores": Kind(_write_scores, _scores, run_scores, SCORES),
    "ranking": Kind(_write_ranking, _ranking, run_ranking, RANKING),
    "rows": Kind(_write_rows, _rows, run_rows, ROWS),
    "reviews": Kind(_write_reviews, _reviews, run_reviews, REVIEWS),
    "narratives": Kind(_write_study, _study, run_narratives, STUDY),
}
CASES = [
    (kind, name)
    for kind, input_kind in KINDS.items()
    for name in input_kind.changes
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_has_a_row(kind: str) -> None:
    names = set()
    for field in fields(KINDS[kind].config()):
        value = getattr(KINDS[kind].config(), field.name)
        if is_dataclass(value) and type(value) in GROUPS:
            if kind == "scores":
                names |= {
                    f"{field.name}.{option.name}" for option in fields(value)
                }
        else:
            names.add(field.name)
    assert {name.partition(":")[0] for name in KINDS[kind].changes} == names


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(
            kind,
            name,
            id=f"{kind}, {name}",
            marks=[pytest.mark.slow]
            if kind == "narratives"
            else [],  # whole studies
        )
        for kind, name in CASES
    ],
)
def test_a_change_is_noticed_where_outcomes_depend_on_it(
    kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    input_kind, change = KINDS[kind], KINDS[kind].changes[name]
    input_kind.write()
    config = change.first(input_kind.config())
    input_kind.run(config, first := Counted())
    assert first.n_done == first.total > 0
    config = change.to(config)
    second = Counted()
    if change.expects == "refused":
        with pytest.raises(
            RunError, match="choose another run directory with -o"
        ):
            input_kind.run(config, second)
        assert second.n_done == 0
        return
    input_kind.run(config, second)
    if change.expects == "anew":
        assert second.n_done > 0
    else:
        assert change.why
        assert (second.n_done, second.reused) == (0, second.total)
