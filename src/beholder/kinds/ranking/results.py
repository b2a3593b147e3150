"""Results of a ranking run: ``ranking.json`` as typed records, and CSV tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from beholder.base import files
from beholder.stats.annotator_pairs import MODEL
from beholder.tables import heading

RANKING = "ranking.json"
FORMAT = 2

Ends: TypeAlias = tuple[float, float]
"""Lower and upper end of a 95 % bootstrap interval."""


class MeanCorrelation(Struct, frozen=True, kw_only=True):
    """Mean of a correlation over images; None without any image.

    Attributes:
        mean: The mean, in -1..1.
        interval: Its interval; None with too few pictures.
        n: Images with a value.
        reason: Why it has no interval; None if it has one.
    """

    mean: float | None
    interval: Ends | None
    n: int
    reason: str | None = None


class ValueMean(MeanCorrelation, frozen=True):
    """Mean correlation of a further value of a scorer."""

    value: str


class ScorerCorrelation(MeanCorrelation, frozen=True):
    """Mean correlation of a scorer, by the value that it ranks by."""

    scorer: str


class ScorerMean(ScorerCorrelation, frozen=True, kw_only=True):
    """Agreement of a scorer with people, over the images at the threshold.

    Attributes:
        n_failed: Images of the data on which it failed.
        n_level: Images whose texts it ranks all equal.
        values: Its further values.
    """

    n_failed: int
    n_level: int
    values: tuple[ValueMean, ...]


class JoinedMean(ScorerCorrelation, frozen=True, kw_only=True):
    """A scorer at one threshold, also as one more annotator.

    Attributes:
        with_model: Mean agreement of the best pair if the scorer may be in it.
        share_in_pair: Share of images in which it is in the best pair.
    """

    with_model: float | None
    share_in_pair: float | None


class AtThreshold(Struct, frozen=True):
    """The images whose best pair agrees at least this well; None for all images.

    ``language`` is that of the images; empty for all languages together.
    """

    threshold: float | None
    n: int
    human: MeanCorrelation
    prompt: MeanCorrelation
    scorers: tuple[JoinedMean, ...]
    language: str = ""


class GroupMeans(Struct, frozen=True):
    """The images of one language or category, with a mean per scorer in their order."""

    group: str
    n: int
    human: MeanCorrelation
    scorers: tuple[MeanCorrelation, ...]


class TokenCount(Struct, frozen=True):
    """Mean number of tokens of the texts that a model scored."""

    mean: float
    n_texts: int


class TextLengths(Struct, frozen=True):
    """Mean lengths of the texts of a language, in characters and in tokens of each model."""

    language: Annotated[str, heading("language", "text")]
    n_texts: Annotated[int, heading("texts", "count")]
    characters: Annotated[float, heading("characters")]
    tokens: dict[str, TokenCount]


class ScorerDifference(Struct, frozen=True, kw_only=True):
    """Scorer ``a`` minus scorer ``b``, image by image; without images there is no difference.

    Attributes:
        a: A scorer.
        b: Another one.
        image_gain: Whether they differ only in that ``b`` sees no image.
        difference: Mean difference.
        interval: Its interval.
        p: Sign-flip permutation p.
        n: Images with both correlations.
        reason: Why there is no interval; None if there is one.
    """

    a: Annotated[str, heading("scorer", "text")]
    b: Annotated[str, heading("minus", "text")]
    image_gain: Annotated[bool, heading("gain by the image", "mark")]
    difference: Annotated[
        float | UnsetType, heading("difference", "signed", interval=True)
    ] = UNSET
    interval: Ends | UnsetType | None = UNSET
    p: Annotated[float | UnsetType, heading("p (sign flips)", "p")] = UNSET
    n: Annotated[int, heading("images", "count")]
    reason: str | None = None


class PositionBias(Struct, frozen=True):
    """Correlation of the ranks that a judge gave with the places; above 0 favours the first."""

    scorer: Annotated[str, heading("scorer", "text")]
    value: Annotated[float | None, heading("rank and place", interval=True)]
    interval: Ends | None
    n_requests: Annotated[int, heading("requests", "count")]
    n_failed: Annotated[int, heading("failed", "failed")]
    reason: str | None = None


class RankingGroups(Struct, frozen=True):
    """Means per language and per category; empty if no image names one."""

    language: tuple[GroupMeans, ...]
    category: tuple[GroupMeans, ...]


class RankingTables(Struct, frozen=True):
    """All tables of a run.

    Attributes:
        threshold: Least agreement of the best pair of an image in the main tables; None for any.
        n_images: Images of the data.
        n_judged: Images with a best pair.
        n_kept: Images at the threshold.
        reasons: Images without a best pair, counted by reason.
        n_incomplete: Rankings of annotators with a missing rank.
        n_with_ties: Rankings of annotators with ties.
        n_texts: Images by their number of texts.
        human: Agreement of the best pairs.
        kendall_w: Kendall's W of all annotators.
        scorers: A row per scorer.
        thresholds: A row per threshold.
        groups: Rows per language and category.
        lengths: A row per language.
        differences: Each scorer against the first, and each against its twin without the image.
        bias: A row per judge that ranks.
        thresholds_by_language: A row per language and threshold; empty if there is one language.
    """

    threshold: float | None
    n_images: int
    n_judged: int
    n_kept: int
    reasons: dict[str, int]
    n_incomplete: int
    n_with_ties: int
    n_texts: dict[str, int]
    human: MeanCorrelation
    kendall_w: MeanCorrelation
    scorers: tuple[ScorerMean, ...]
    thresholds: tuple[AtThreshold, ...]
    groups: RankingGroups
    lengths: tuple[TextLengths, ...]
    differences: tuple[ScorerDifference, ...]
    bias: tuple[PositionBias, ...]
    thresholds_by_language: tuple[AtThreshold, ...] = ()


class ScorerRanking(Struct, frozen=True):
    """Ranks and values that a scorer gave to the texts of an image.

    Attributes:
        correlation: Mean correlation with the best pairs; None if it is not defined.
        ranks: Rank of each text.
        values: Values of each text, by name; the first is the one that ranks.
        orders: Per request of a judge, the texts in the order shown.
        answers: Per request, the rank of each text, or why it failed.
    """

    correlation: float | None
    ranks: tuple[float, ...]
    values: dict[str, tuple[int | float, ...]]
    orders: tuple[tuple[int, ...], ...]
    answers: tuple[tuple[int, ...] | str, ...]


class ImageRanking(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An image with its texts and all rankings of them.

    Attributes:
        id: Its id.
        image: File of the image.
        language: Group column of the language.
        category: Its category.
        texts: The texts.
        ranks: Rank of each text, by annotator.
        prompt_ranks: Order in which the kinds of text were asked for.
        references: Reference texts.
        complete: Annotators who ranked every text.
        pair: A best-agreeing pair of annotators.
        pairs: All pairs that agree equally well.
        human: Agreement of the best pair.
        reason: Why there is no best pair.
        prompt: Correlation of the prompt's order with the best pairs.
        scorers: Rankings by scorer.
        failures: Why a scorer failed on this image.
    """

    id: str
    image: str | None = None
    language: str = ""
    category: str = ""
    texts: tuple[str, ...]
    ranks: dict[str, tuple[int | float | None, ...]] = {}
    prompt_ranks: tuple[int | float | None, ...] | None = None
    references: tuple[str, ...] = ()
    complete: tuple[str, ...]
    pair: tuple[str, str] | None
    pairs: tuple[tuple[str, str], ...]
    human: float | None
    reason: str | None
    prompt: float | None
    scorers: dict[str, ScorerRanking]
    failures: dict[str, str]


class ScorerSignature(Struct, frozen=True):
    """A scorer and its signature.

    Attributes:
        name: Canonical name.
        signature: Its signature.
        undirected: Its values without a better end; empty in files of older versions.
    """

    name: str
    signature: str
    undirected: tuple[str, ...] = ()


class Ranking(Struct, frozen=True):
    """Results of a run: the content of ``ranking.json``."""

    format: int
    scorers: tuple[ScorerSignature, ...]
    tables: RankingTables
    images: tuple[ImageRanking, ...]

    @property
    def labels(self) -> dict[str, str]:
        """Return a short label of each scorer for heads of columns: ``vcs``, ``vcs 2``."""
        short_names = [
            scorer.name.partition("(")[0] for scorer in self.scorers
        ]
        labels: dict[str, str] = {}
        for place, scorer in enumerate(self.scorers):
            label = short_names[place]
            # Scorers that differ only in parameters are numbered.
            if short_names.count(label) > 1:
                label += f" {short_names[:place].count(label) + 1}"
            labels[scorer.name] = label
        return labels


def write(out: Path, ranking: Ranking) -> None:
    """Write the results of a run into its folder."""
    files.write_csv(out / "images.csv", _image_rows(ranking))
    files.write_csv(out / "ranks.csv", _rank_rows(ranking))
    files.write_csv(out / "thresholds.csv", _threshold_rows(ranking))
    # NaN is not JSON: a value that is not defined must be None by now.
    content = msgspec.to_builtins(ranking)
    files.write_text(
        out / RANKING, json.dumps(content, ensure_ascii=False, allow_nan=False)
    )


def read_ranking(folder: Path) -> Ranking:
    """Read the results of a run.

    Raises:
        RunError: The run is not finished, or the file is damaged; names the file and the field.
    """
    path = folder / RANKING
    missing = (
        f"{folder} is not a finished ranking run: {RANKING} is missing; run the same command"
        " again to finish it"
    )
    content = files.read_json(
        path, form=FORMAT, kind="ranking", missing_message=missing
    )
    return files.as_record(content, Ranking, path)


Cell: TypeAlias = str | float | None


def _image_rows(ranking: Ranking) -> Iterator[list[Cell]]:
    # A column per scorer: the first lines are the header.
    place = ["id", "language", "category", "n_texts"]
    names = [scorer.name for scorer in ranking.scorers]
    yield [*place, "first", "second", "n_pairs", "human", "prompt", *names]
    for image in ranking.images:
        correlations = [
            image.scorers[name].correlation if name in image.scorers else None
            for name in names
        ]
        yield [
            *(image.id, image.language, image.category, len(image.texts)),
            *(image.pair or ("", "")),
            *(len(image.pairs), image.human, image.prompt, *correlations),
        ]


def _rank_rows(ranking: Ranking) -> Iterator[list[Cell]]:
    yield ["id", "language", "text", "by", "kind", "rank", "value", "number"]
    for image in ranking.images:
        place = (image.id, image.language)
        for name, ranks in image.ranks.items():
            for text, rank in enumerate(ranks, start=1):
                yield [*place, text, name, "annotator", rank, "", ""]
        # A scorer has one rank for a text but several values: a row for each value.
        for name, scorer in image.scorers.items():
            for text, rank in enumerate(scorer.ranks):
                for value, numbers in scorer.values.items():
                    yield [
                        *place,
                        text + 1,
                        name,
                        MODEL,
                        rank,
                        value,
                        numbers[text],
                    ]


def _threshold_rows(ranking: Ranking) -> Iterator[list[Cell]]:
    numbers = ["images", "human", "prompt", "scorer", "correlation"]
    yield ["language", "threshold", *numbers, "with_model", "share"]
    tables = ranking.tables
    for row in (*tables.thresholds, *tables.thresholds_by_language):
        # The word that --threshold takes; an empty cell would read as a missing number.
        limit = "none" if row.threshold is None else row.threshold
        place = [row.language, limit, row.n, row.human.mean, row.prompt.mean]
        for scorer in row.scorers:
            pair_columns = [scorer.with_model, scorer.share_in_pair]
            yield [*place, scorer.scorer, scorer.mean, *pair_columns]
