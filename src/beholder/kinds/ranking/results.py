"""What a ranking run leaves: ``ranking.json`` for its report, CSV tables, thumbnails."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from beholder import files
from beholder.data import reviews_row
from beholder.kinds.ranking.config import RankConfig
from beholder.kinds.ranking.scored import Scored
from beholder.kinds.ranking.study import RankedImage, study_tables
from beholder.records import ItemFailure, Reviews
from beholder.run.thumbs import write_thumbs
from beholder.stats.annotator_pairs import MODEL

RANKING = "ranking.json"
FORMAT = 2
THUMB_SIDE = 240


def build(
    config: RankConfig,
    reviews: Sequence[Reviews],
    scored: Mapping[str, Mapping[int, Scored | ItemFailure]],
    signatures: Mapping[str, str],
    pairs: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    """Everything a run found, as JSON values.

    Args:
        config: The run.
        reviews: The sets of texts.
        scored: Per ranker and position of a set: what it found, or why nothing.
        signatures: Per ranker how it was made.
        pairs: Rankers of which the second is the first without the image.
    """
    names = list(scored)
    images = [
        RankedImage.of(
            one,
            {name: found for name in names if isinstance(found := scored[name][position], Scored)},
            {
                name: len(found.detail["answers"])
                for name in names
                if isinstance(found := scored[name][position], ItemFailure)
                and "answers" in found.detail
            },
        )
        for position, one in enumerate(reviews)
    ]
    failures = [
        {
            name: found.message
            for name in names
            if isinstance(found := scored[name][position], ItemFailure)
        }
        for position in range(len(reviews))
    ]
    return {
        "format": FORMAT,
        "scorers": [{"name": name, "signature": signatures[name]} for name in names],
        "tables": study_tables(
            images,
            names,
            threshold=config.threshold,
            twins=pairs,
            n_resamples=config.resamples,
        ),
        "images": [
            _image(image, names, failed) for image, failed in zip(images, failures, strict=True)
        ],
    }


def write(out: Path, images: Path, ranking: Mapping[str, Any], reviews: Sequence[Reviews]) -> None:
    """Write a run's results into its folder; pictures that cannot be read have no thumbnail."""
    pictures = ((r.id, r.image) for r in reviews)
    write_thumbs(out, images, pictures, THUMB_SIDE)  # a scorer that looked has told what failed
    files.write_csv(out / "images.csv", _image_rows(ranking))
    files.write_csv(out / "ranks.csv", _rank_rows(ranking))
    files.write_csv(out / "thresholds.csv", _threshold_rows(ranking))
    files.write_text(out / RANKING, json.dumps(ranking, ensure_ascii=False, allow_nan=False))


def read(folder: Path) -> dict[str, Any]:
    """The ``ranking.json`` of a run.

    Raises:
        RunError: There is none, or it is damaged.
    """
    missing = (
        f"{folder} is no finished ranking run: it has no {RANKING}; run the same command again to"
        " finish it"
    )
    found = files.read_json(folder / RANKING, form=FORMAT, kind="ranking", missing=missing)
    for image in found["images"]:  # until 0.1 a run kept one of the pairs that agree equally well
        image.setdefault("pairs", [image["pair"]] if image["pair"] else [])
    return found


def _image(
    image: RankedImage, scorers: Sequence[str], failures: Mapping[str, str]
) -> dict[str, Any]:
    pair = image.pair
    return {
        **reviews_row(image.reviews),
        "complete": list(image.people),
        "pair": None if pair is None else [pair.first, pair.second],
        "pairs": [[one.first, one.second] for one in image.pairs],
        "human": None if pair is None else pair.agreement,
        "reason": image.reason(),
        "prompt": image.prompt_correlation(),
        "scorers": {
            name: {
                "correlation": image.correlation(name),
                "ranks": image.scored[name].ranks(),
                "values": dict(image.scored[name].values),
                "orders": image.scored[name].orders,
                "answers": image.scored[name].answers,
            }
            for name in scorers
            if name in image.scored
        },
        "failures": dict(failures),
    }


def _image_rows(ranking: Mapping[str, Any]) -> Iterable[list[Any]]:
    names = [scorer["name"] for scorer in ranking["scorers"]]
    yield [
        "id",
        "language",
        "category",
        "n_texts",
        "first",
        "second",
        "n_pairs",
        "human",
        "prompt",
        *names,
    ]
    for image in ranking["images"]:
        pair = image["pair"] or ["", ""]
        found = [image["scorers"].get(name, {}).get("correlation") for name in names]
        place = [image.get("id"), image.get("language"), image.get("category")]
        people = [*pair, len(image["pairs"]), image["human"]]
        yield [*place, len(image["texts"]), *people, image["prompt"], *found]


def _rank_rows(ranking: Mapping[str, Any]) -> Iterable[list[Any]]:
    yield ["id", "language", "text", "by", "kind", "rank", "value", "number"]
    for image in ranking["images"]:
        place = [image.get("id"), image.get("language")]
        for name, ranks in image.get("ranks", {}).items():
            for text, rank in enumerate(ranks, start=1):
                yield [*place, text, name, "annotator", rank, "", ""]
        for name, found in image["scorers"].items():
            for text, rank in enumerate(found["ranks"]):
                for value, numbers in found["values"].items():
                    yield [*place, text + 1, name, MODEL, rank, value, numbers[text]]


def _threshold_rows(ranking: Mapping[str, Any]) -> Iterable[list[Any]]:
    yield ["threshold", "images", "human", "prompt", "scorer", "correlation", "with_model", "share"]
    for row in ranking["tables"]["thresholds"]:
        limit = "none" if row["threshold"] is None else row["threshold"]
        for found in row["scorers"]:
            yield [
                *(limit, row["n"], row["human"]["mean"], row["prompt"]["mean"], found["scorer"]),
                *(found["mean"], found["with_model"], found["share_in_pair"]),
            ]
