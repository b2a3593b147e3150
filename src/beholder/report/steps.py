"""``beholder steps``: the steps of a VCS score, as one page or as a PDF."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.base import files
from beholder.base.spec import parse_spec
from beholder.errors import ConfigError
from beholder.metrics.vcs import VCS, VCSShort
from beholder.records import Item, ItemScore
from beholder.report.numbers import show_number
from beholder.report.pages import data_uri, render_page
from beholder.run import manifest
from beholder.run.store import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_steps(
    run_folder: Path,
    item_id: str,
    output: Path | None = None,
    metric: str | None = None,
) -> Path:
    """Draw the steps of one item's score.

    Args:
        run_folder: A run of ``beholder score``.
        item_id: The item.
        output: A file ending in ``.html`` or ``.pdf``; ``steps-ID.html`` in the run folder if None.
        metric: Name of the metric in the run; its first VCS or VCS-short if None.

    Returns:
        The file. Equal scores give equal files.

    Raises:
        ConfigError: The run has no such item or metric, the item has no score, or the file has
            another ending.
        RunError: The folder contains no run of scores.
    """
    # Checked before the run is opened: an ending that cannot be written is a
    # mistake in the command.
    target = output or run_folder / f"steps-{files.safe_name(item_id)}.html"
    if target.suffix not in (".html", ".pdf"):
        raise ConfigError(f"{target}: steps are written as .html or .pdf")
    manifest.check_kind(run_folder, manifest.SCORES)
    with Store.read(run_folder) as store:
        name, built = drawn_metric(store, metric)
        position, item = _item(store, item_id)
        score = store.score(name, position)
    if not isinstance(score, ItemScore):
        reason = "it is not scored yet" if score is None else score.message
        raise ConfigError(
            f"{name} has no score of the item {item_id!r}: {reason}"
        )
    figures = built.steps(score)
    if target.suffix == ".pdf":
        _write_pdf(target, figures)
    else:
        files.write_text(target, _page(name, item, score, figures))
    return target


def step_pictures(store: Store, position: int) -> Mapping[str, str]:
    """Return the steps of an item's score by VCS or VCS-short by name, as ``data:`` addresses.

    Empty if the run has no such metric, or the item no score by it.
    """
    try:
        name, built = drawn_metric(store)
    except ConfigError:
        return {}
    score = store.score(name, position)
    if not isinstance(score, ItemScore):
        return {}
    return {
        key: data_uri(figure) for key, figure in built.steps(score).items()
    }


def drawn_metric(
    store: Store, metric_name: str | None = None
) -> tuple[str, VCS | VCSShort]:
    """Return the name of a VCS or VCS-short of a run, and the metric with its parameters there.

    Raises:
        ConfigError: The run has none, or none of that name.
    """
    kinds: dict[str, type[VCS] | type[VCSShort]] = {
        "vcs": VCS,
        "vcs_short": VCSShort,
    }
    config_by_name = {
        asker.name: (kinds[parse_spec(asker.name).name], asker.config)
        for asker in store.askers()
        if parse_spec(asker.name).name in kinds
    }
    name = metric_name or next(iter(config_by_name), "vcs")
    if name not in config_by_name:
        names = ", ".join(config_by_name) or "none"
        raise ConfigError(
            f"the run has no {name} whose steps can be drawn; it has: {names}"
        )
    kind, config = config_by_name[name]
    return name, kind(**config)


def _item(store: Store, item_id: str) -> tuple[int, Item]:
    for position, item in store.items():
        if item.id == item_id:
            return position, item
    raise ConfigError(f"the run has no item {item_id!r}")


def _write_pdf(target: Path, figures: Mapping[str, Figure]) -> None:
    from matplotlib.backends.backend_pdf import PdfPages

    with (
        files.write_atomically(target) as unfinished,
        PdfPages(unfinished, metadata={"CreationDate": None}) as pages,
    ):
        for figure in figures.values():
            pages.savefig(figure)


def _page(
    name: str, item: Item, score: ItemScore, figures: Mapping[str, Figure]
) -> str:
    # Units of other references have no part in the steps.
    reference = int(score.detail["reference_index"])
    return render_page(
        "steps.html.j2",
        ("page.css", "steps.css"),
        metric=name,
        item=item,
        values={
            key: show_number(value) for key, value in score.values.items()
        },
        signature=score.signature,
        sides={
            side: [
                unit
                for unit in score.units
                if unit.side == side
                and unit.reference_index in (None, reference)
            ]
            for side in ("candidate", "reference")
        },
        figures={key: data_uri(figure) for key, figure in figures.items()},
    )
