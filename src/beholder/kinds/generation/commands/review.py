"""``beholder review``: have a judge that sees write reviews of pictures, to be ranked."""

from __future__ import annotations

from pathlib import Path

from beholder.kinds.generation.commands.shared import close_made
from beholder.terminal.groups import Data, RunGroup, RunOut
from beholder.terminal.printing import say, tell, tell_plan


def review(
    pictures: Data,
    /,
    *,
    judge: str,
    out: RunOut = None,
    language: tuple[str, ...] = ("en",),
    words: int = 80,
    images: Path | None = None,
    run: RunGroup = RunGroup(),
) -> int:
    """Write five kinds of reviews per picture, and the page that tells people how to rank them.

    Example: `beholder review photos/ --judge openai:gpt-4.1 --language en`

    Args:
        pictures: Folder, or file with a row per picture.
        judge: Judge that sees, such as openai:MODEL.
        out: Run directory; runs/review-NAME if none is named.
        language: Language to write in; repeatable.
        words: Words per review, about.
        images: Folder that image paths are relative to, where it is another than that of the data.
    """
    from beholder.files import write_text
    from beholder.kinds.generation.instructions import INSTRUCTIONS, annotation_instructions
    from beholder.kinds.generation.kind import REVIEWS
    from beholder.kinds.generation.reviews import KINDS, ReviewsConfig
    from beholder.run import kind
    from beholder.run.session import default_out
    from beholder.terminal.progress import TerminalProgress

    config = ReviewsConfig(
        pictures,
        out or default_out(pictures, "review-"),
        judge,
        language,
        words,
        images,
        rows=run.rows,
        judging=run.judging,
        work=run.work.found(),
    )
    if run.finish.dry_run:
        return tell_plan(kind.plan(REVIEWS, config), config.out)
    with TerminalProgress() as progress:
        written = kind.run(REVIEWS, config, progress)
    for code in INSTRUCTIONS:
        page = annotation_instructions(len(KINDS), code)
        write_text(config.out / f"instructions-{code}.html", page)
    announce = say if run.finish.as_json else tell
    announce(f"{written.n_written} sets of {len(KINDS)} reviews: {written.path}")
    say(f"instructions for annotators: {config.out}/instructions-en.html, -ja.html")
    say(f"rank them: beholder rank {written.path} --images {config.folder}")
    return close_made(written, config.out, progress, run.finish)
