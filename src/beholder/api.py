"""Parts that the Python functions of the package share: ``Run``, printed results, ``judge``."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder import judges
from beholder.asking.tools import check_taken
from beholder.base.optional import require
from beholder.base.postgres import Address
from beholder.base.spec import Spec, canonical_spec
from beholder.errors import DataError, RunError
from beholder.judges import Answers, Budget, Judge
from beholder.options import cache_place, check_list
from beholder.records import Item, ItemFailure, ItemScore, MetricResult
from beholder.run import manifest
from beholder.run.answers import open_cache
from beholder.run.store import Store

if TYPE_CHECKING:
    from rich.console import RenderableType

    from beholder.tables import Table


class Printed(ABC):
    """An object that prints as the tables of the corresponding command."""

    @abstractmethod
    def _tables(self) -> Sequence[RenderableType | Table]:
        """Return the tables that the command line prints."""

    def __str__(self) -> str:
        from beholder.report.study_tables import as_text

        return as_text(self._tables())

    def _repr_html_(self) -> str:
        from beholder.report.study_tables import as_html

        return as_html(self._tables())


class Summary(Printed, dict[str, MetricResult]):
    """Result per metric; a table in a terminal (``print``) and in a notebook.

    Args:
        log: The run log.
    """

    def __init__(self, log: manifest.RunLog) -> None:
        super().__init__(manifest.results(log))
        self._log = log

    def _tables(self) -> list[Any]:
        from beholder.report import summary_table

        return [summary_table(self._log)]


@dataclass(frozen=True)
class Corrected(Printed):
    """Means of a run corrected by human labels; prints as the tables of ``score --labels``.

    Attributes:
        tables: ``corrected`` and ``bias``, what else the grades follow.
        problems: Why a value is not corrected.
    """

    tables: Sequence[Table]
    problems: Sequence[str]

    def _tables(self) -> Sequence[Table]:
        return self.tables


@dataclass(frozen=True)
class Run:
    """A run on disk, of any kind.

    Attributes:
        path: Its directory.
        bad_rows: Rows that were left out when it was made here; empty for a run that was opened.
    """

    path: Path
    bad_rows: tuple[DataError, ...] = field(
        default=(), compare=False, repr=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        self.manifest  # noqa: B018  # raises RunError when there is no run

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The content of ``run.json``."""
        return manifest.content(self.path)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the rows that matter for the means, such as pictures without a text."""
        return manifest.read_log(self.path).data.notes

    def __str__(self) -> str:
        """The summary as a table, as ``beholder score`` prints it."""
        return str(self.summary)

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()

    @property
    def summary(self) -> Summary:
        """Result per metric, by canonical name; prints as a table."""
        return Summary(manifest.read_log(self.path))

    @property
    def kind(self) -> str:
        """Kind of the run: ``scores``, ``ranking``, ``narratives``, ``rows`` or ``reviews``."""
        return manifest.kind_of(self.path)

    def outcomes(
        self, name: str
    ) -> Iterator[tuple[Any, ItemScore | ItemFailure]]:
        """Every subject with what was found for it, in order; unfinished ones are left out.

        Args:
            name: Canonical name of the metric (or ranker, rater ...), as ``summary`` has it.

        Raises:
            RunError: The run asked nothing of that name; says what it asked.
        """
        with Store.read(self.path) as store:
            names = [asker.name for asker in store.askers()]
            if name not in names:
                raise RunError(
                    f"{self.path} has nothing called {name!r}; it has: {names}"
                )
            for position, subject in store.subjects(store.kind_of(name)):
                outcome = store.score(name, position)
                if isinstance(outcome, ItemScore) and isinstance(
                    subject, Item
                ):
                    outcome = replace(outcome, item=subject)
                if outcome is not None:
                    yield subject, outcome

    def corrected(
        self, *labels: str | Path, label: Sequence[str] = ()
    ) -> Corrected:
        """Correct the means of a run over items by human labels of some of its texts.

        Args:
            labels: Files with ``judgments``, such as ``beholder annotate export`` writes.
            label: Judgments to use, as ``NAME`` or ``METRIC.VALUE=NAME``; the only one there is if
                none is named.

        Raises:
            ConfigError: There is no such label, too few of them, or on another scale.
            DataError: A row of a file is wrong.
        """
        from beholder.run.corrected import labelled_tables
        from beholder.run.labels import targets

        check_list("label", label)
        scored = {
            name: asker.values
            for name, asker in manifest.read_log(self.path).askers.items()
        }
        return Corrected(
            *labelled_tables(
                self.path, targets([*map(Path, labels)], label, scored)
            )
        )

    def to_arrow(self) -> Any:
        """The scores as a pyarrow Table, long: item, metric, name, value, status, groups."""
        import pyarrow.parquet

        return pyarrow.parquet.read_table(self.path / "scores.parquet")

    def to_pandas(self) -> Any:
        """One row per item, one column per value (``vcs.las``); needs pandas.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        require("pandas", extra="pandas", purpose="Run.to_pandas")
        # Items without a score must keep their row, so the wide table is joined to all items.
        frame = self.to_arrow().to_pandas()
        groups = [
            column for column in frame.columns if column.startswith("group.")
        ]
        scored = frame[frame["status"] == "scored"]
        wide = scored.assign(
            column=scored["metric"] + "." + scored["name"]
        ).pivot(index="item", columns="column", values="value")
        order = list(dict.fromkeys(frame["item"]))
        labels = frame.drop_duplicates("item").set_index("item")[groups]
        return labels.join(wide).reindex(order)

    def to_dataset(self) -> Any:
        """``to_arrow`` as a ``datasets.Dataset``, to publish or process; needs datasets.

        Raises:
            MissingExtraError: datasets is not installed.
        """
        datasets = require(
            "datasets", extra="datasets", purpose="Run.to_dataset"
        )
        return datasets.Dataset(self.to_arrow())

    def report(self, output: str | Path | None = None) -> Path:
        """Draw the HTML report and return its path (``report.html`` in the run by default)."""
        from beholder.report import draw

        return draw(self.path, Path(output) if output is not None else None)


def judge(
    given: str | Spec = "builtin",
    *,
    cache: str | Path | Address | None = None,
    max_cost: float | None = None,
    **options: object,
) -> Judge:
    """Make a judge from its spec.

    ``await judge.ask(Verify(...))`` asks it; ``judge=`` of metrics and doors takes it as it takes
    the text ``str(judge.spec)``, in which the options stand, too.

    Args:
        given: ``"builtin"``, ``"openai:gpt-4.1-mini"``, ``"hf:NAME"``, ``"panel(openai:a,
            openai:b)"``.
        cache: File or database of the answers that it is asked for in Python; None keeps them in
            memory. A run with this judge uses its own answers, cache and budget.
        max_cost: Stop before these questions have cost more US dollars; None for no limit.
        options: Of the judge (``temperature``, ``samples``, ``prompts``, ``replicates``) and of
            how its model is reached (``base_url``, ``timeout``...); those in the spec go first,
            and those beside a panel go to all its members.

    Raises:
        ConfigError: An unknown judge, model or option.
        RunError: The cache cannot be used.
    """
    # An option beside the spec goes to the judge only if its kind takes it; one that none takes is
    # an error here, before anything is loaded.
    spec = canonical_spec(given)
    keywords = {
        name: str(option) if isinstance(option, Path) else option
        for name, option in options.items()
    }
    keywords = {
        name: value for name, value in keywords.items() if value is not None
    }
    check_taken({"judge": keywords}, [("judge", str(spec))])
    full_spec = _with_options(spec, keywords)
    place = cache_place(cache) if isinstance(cache, str) else cache
    shared_cache = None if place is None else open_cache(place)
    new_judge = judges.judge(
        full_spec, answers=Answers(None, shared_cache), budget=Budget(max_cost)
    )
    # The caller never sees the cache, so it is closed with the judge.
    if shared_cache is not None:
        weakref.finalize(new_judge, shared_cache.close)
    return new_judge


def _with_options(spec: Spec, options: dict[str, object]) -> Spec:
    """A spec with the options that were given beside it."""
    if spec.name == judges.PANEL:
        members = [
            _with_options(member, options)
            for member in spec.options["members"]
        ]
        return replace(spec, options={"members": members})
    fitting, for_writer = judges.divide_options(spec, options)
    own = dict(spec.options)
    if for_writer:
        own["writer"] = _with_options(own["writer"], for_writer)
    return canonical_spec(replace(spec, options={**fitting, **own}))
