"""``beholder rank``: rank texts about images by models or metrics, and compare with people.

``beholder review`` writes texts to be ranked.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from beholder.errors import ConfigError
from beholder.terminal.groups import Data, RunGroup, RunOut, ToolGroup
from beholder.terminal.printing import (
    excess_failures,
    print_notes,
    print_plan,
    print_result,
    report_end,
    report_left_out,
)

if TYPE_CHECKING:
    from beholder.kinds.ranking.rankers import Ranker


@Parameter(name="*")
@dataclass(frozen=True)
class SetGroup:
    """The sets of texts and the people who ranked them.

    Attributes:
        language: Language of rows that name none, such as en.
        threshold: Lowest agreement of an image's two most similar annotators, or none.
        resamples: Bootstrap resamples of images.
    """

    language: str = ""
    threshold: float | None = 0.6
    resamples: int = 1000


def rank(
    data: Data,
    /,
    *,
    scorer: Annotated[tuple[str, ...], Parameter(alias="-s")] = (),
    ablate: bool = False,
    out: RunOut = None,
    tools: ToolGroup = ToolGroup(),
    sets: SetGroup = SetGroup(),
    run: RunGroup = RunGroup(),
) -> int:
    """Rank texts about images and compare the rankings with people's; run it again to resume.

    Example: `beholder rank reviews.jsonl -s "perplexity(judge='hf:NAME')" --ablate`

    Args:
        data: A .jsonl, .csv or .parquet file, or a folder of .parquet files.
        scorer: Scorer: perplexity(judge='hf:NAME'), response(judge='openai:NAME') or a metric;
            repeatable.
        ablate: Also rank without the image, and print the gain from the image.
        out: Run directory; by default runs/rank-NAME.
    """
    import msgspec

    from beholder.kinds.ranking.kind import KIND
    from beholder.kinds.ranking.page import write_ranking
    from beholder.kinds.ranking.rankers import RankConfig
    from beholder.kinds.ranking.tables import ranking_tables
    from beholder.run import kind, manifest
    from beholder.run.session import default_out
    from beholder.terminal.progress import TerminalProgress

    config = RankConfig(
        data,
        out or default_out(data, "rank-"),
        _rankers(scorer, ablate, tools.specs()),
        sets.language,
        sets.threshold,
        sets.resamples,
        run.rows,
        run.judging,
        run.work.to_options(),
    )
    if run.finish.dry_run:
        return print_plan(kind.plan(KIND, config), config.out)
    # Results go to standard output; all that workers print goes to standard error.
    engine = run.where.to_engine()
    with redirect_stdout(sys.stderr), TerminalProgress() as progress:
        ranking, bad_rows = kind.run(KIND, config, progress, engine=engine)
    report_left_out(bad_rows)
    print_notes(manifest.read_log(config.out).data.notes)
    report = write_ranking(config.out)
    json_tables = msgspec.to_builtins(ranking.tables)
    print_result(json_tables, ranking_tables(ranking), run.finish.as_json)
    failures = [
        f"{image.id}, {scorer}: {reason}"
        for image in ranking.images
        for scorer, reason in image.failures.items()
    ]
    return report_end(
        config.out,
        progress,
        report,
        excess_failures(failures, run.finish.allow_failed),
    )


def _rankers(
    texts: Sequence[str], ablate: bool, defaults: Mapping[str, str]
) -> tuple[Ranker, ...]:
    from beholder.kinds.ranking.rankers import blinded, can_be_blinded, ranker

    rankers = [ranker(text, **defaults) for text in texts]
    if not ablate:
        return tuple(rankers)
    if not any(map(can_be_blinded, rankers)):
        raise ConfigError(
            "--ablate needs a scorer that can rank without the image: perplexity or response"
        )
    # Each scorer is followed by its twin without the image, so that tables show them together.
    pairs = (
        (scorer, blinded(scorer)) if can_be_blinded(scorer) else (scorer,)
        for scorer in rankers
    )
    # A scorer that is named with image=False is its own twin: each runs once.
    return tuple(dict.fromkeys(chain.from_iterable(pairs)))
