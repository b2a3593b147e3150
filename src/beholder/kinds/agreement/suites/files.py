"""Suites carried out: texts are made, scored in a run, and tabled.

Two are of the VCS paper. The third has minimal pairs: each row has a description and two versions
of it, ``altered``, nearly the same words with one fact made wrong, and ``paraphrase``, other words
that say the same. A metric that rewards equal words puts the wrong version above. The pairs that
come with the package cover twenty kinds of wrong facts; they were written without knowledge of the
metrics and the judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from beholder.base.files import make_folder, write_jsonl
from beholder.data import read_items, to_row
from beholder.data.lines import read_records
from beholder.data.notes import RowNotes
from beholder.data.read import good_rows
from beholder.errors import DataError
from beholder.judges.operations import MANNERS
from beholder.kinds.agreement.agree import MetricValue
from beholder.kinds.agreement.suites import authors, comparison
from beholder.kinds.agreement.suites.comparison import version
from beholder.kinds.generation.askers import VaryRow
from beholder.kinds.generation.engine import RowsConfig
from beholder.kinds.scores.engine import ScoreConfig
from beholder.records import Item
from beholder.run import ROWS, SCORES
from beholder.run.kind import run
from beholder.run.session import Progress


@dataclass(frozen=True)
class SuiteConfig:
    """Data and metrics of a suite.

    Attributes:
        scores: Data, run directory and work; its metrics are those of ``metrics``.
        metrics: The metrics, each with the value to compare.
        seed: Random seed.
        resamples: Bootstrap resamples over what is described.
    """

    scores: ScoreConfig
    metrics: tuple[MetricValue, ...]
    seed: int = 0
    resamples: int = 1000

    def read_good_items(
        self, notes: RowNotes
    ) -> tuple[list[Item], list[DataError]]:
        """Read the good rows of the data, and the errors of those that are left out.

        Args:
            notes: Receives the notes on the rows, such as numbers of references.
        """
        rows = self.scores.rows
        wrong_rows: list[DataError] = []
        items = read_items(self.scores.data, rows, notes=notes)
        return list(
            good_rows(items, rows, wrong_rows, name=self.scores.data)
        ), wrong_rows

    def score(
        self,
        items: Sequence[Item],
        progress: Progress,
        notes: RowNotes | None = None,
    ) -> None:
        """Score the texts to compare, in the run directory."""
        # Several values of a metric need its scores only once.
        metrics = dict.fromkeys(
            metric_value.metric for metric_value in self.metrics
        )
        all_rows = replace(self.scores.rows, limit=None)
        config = replace(self.scores, metrics=tuple(metrics), rows=all_rows)
        run(SCORES, config, progress, given=items, notes=notes)


def run_comparison(
    config: SuiteConfig, progress: Progress, writer: str | None = None
) -> tuple[list[comparison.ComparisonResult], list[DataError]]:
    """Score valid and invalid versions of the texts of a data set.

    Args:
        config: Data, metrics and run directory.
        progress: Receives the progress.
        writer: Judge that writes further valid versions, into ``versions.jsonl`` of the run
            directory; None leaves those that rules make.

    Returns:
        The table of each metric, and the rows that were left out.

    Raises:
        ConfigError: A metric, judge or option is wrong.
        DataError: Rows are wrong and may not be skipped, or there are none.
        RunError: The run directory is busy or contains another run.
    """
    notes = RowNotes("none")
    items, wrong_rows = config.read_good_items(notes)
    texts = comparison.texts_of(items)
    versions = comparison.by_rule(texts, config.seed)
    if writer is not None:
        versions += _write_versions(config, texts, writer, progress)
    config.score(versions, progress, notes)
    return comparison.results(
        config.scores.out, config.metrics, config.resamples
    ), wrong_rows


def run_minimal_pairs(
    config: SuiteConfig, progress: Progress
) -> list[comparison.ComparisonResult]:
    """Score one wrong fact and a true paraphrase of each description of a file of pairs.

    Args:
        config: The file of pairs as data, metrics and run directory.
        progress: Receives the progress.

    Returns:
        The table of each metric.

    Raises:
        ConfigError: A metric or option is wrong.
        DataError: The file cannot be read, or a line is not a pair.
        RunError: The run directory is busy or contains another run.
    """
    pairs = read_pairs(Path(config.scores.data))
    config.score(versions(pairs[: config.scores.rows.limit]), progress)
    return comparison.results(
        config.scores.out, config.metrics, config.resamples
    )


def run_authors(
    config: SuiteConfig,
    progress: Progress,
    author: str = "system",
    n_others: int = 3,
) -> tuple[list[authors.AuthorsResult], list[DataError]]:
    """Score texts of several authors against each other's.

    Args:
        config: Data, metrics and run directory.
        progress: Receives the progress.
        author: The group column that names who wrote a text.
        n_others: Other sources that each text is compared with, at most.

    Returns:
        The table of each metric, and the rows that were left out.

    Raises:
        ConfigError: A metric or option is wrong, or the rows are not such a set.
        DataError: Rows are wrong and may not be skipped, or there are none.
        RunError: The run directory is busy or contains another run.
    """
    notes = RowNotes("none")
    items, wrong_rows = config.read_good_items(notes)
    pairs = list(authors.comparisons(items, author, n_others, config.seed))
    config.score(pairs, progress, notes)
    return authors.results(
        config.scores.out, config.metrics, config.resamples
    ), wrong_rows


def _write_versions(
    config: SuiteConfig, texts: Sequence[Item], writer: str, progress: Progress
) -> list[Item]:
    """Write valid versions by a judge; its texts are a data set beside the run."""
    # Beside the run, because a run directory has one kind of rows.
    folder = config.scores.out.with_name(f"{config.scores.out.name}.versions")
    make_folder(folder)
    write_jsonl(folder / "texts.jsonl", (to_row(item) for item in texts))
    all_rows = replace(config.scores.rows, limit=None)
    rows = RowsConfig(
        str(folder / "texts.jsonl"),
        folder / "versions.jsonl",
        {manner: VaryRow(writer, manner) for manner in MANNERS},
        rows=all_rows,
        judging=config.scores.judging,
        work=config.scores.work,
    )
    # A run of its own, so that an interrupted suite does not pay for a version
    # twice.
    run(ROWS, rows, progress)
    by_id = {item.id: item for item in texts}
    versions = []
    for row in read_items(str(rows.out)):
        if isinstance(row, DataError):
            raise row
        # The engine of rows joins the id of the text and the name of the
        # asker.
        original, _, kind = row.id.rpartition("/")
        versions.append(version(by_id[original], kind, "valid", row.candidate))
    return versions


class Pair(msgspec.Struct, frozen=True):
    """A description and two versions of it.

    Attributes:
        id: Its name.
        kind: Kind of the mistake: ``colour``, ``roles``, ``negation`` ...
        reference: The description.
        altered: The same with one wrong fact.
        paraphrase: The same in other words.
        changed: The words of ``altered`` that are wrong.
    """

    id: str
    kind: str
    reference: str
    altered: str
    paraphrase: str
    changed: str = ""


def read_pairs(path: Path) -> list[Pair]:
    """Read the pairs of a JSON Lines file.

    Raises:
        DataError: The file cannot be read, or a line is not such a pair.
    """
    return list(
        read_records(path, Pair, "id, kind, reference, altered and paraphrase")
    )


def versions(pairs: Sequence[Pair]) -> list[Item]:
    """Return both versions of each description as items with the description as reference."""
    items = []
    for pair in pairs:
        description = Item(id=pair.id, candidate=pair.reference)
        items += [
            version(description, "paraphrase", "valid", pair.paraphrase),
            version(description, pair.kind, "invalid", pair.altered),
        ]
    return items
