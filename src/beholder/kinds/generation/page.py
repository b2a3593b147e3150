"""The page of a run that made texts, and instructions for people who rank them; no script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from beholder import files
from beholder.errors import ConfigError
from beholder.kinds.generation.kind import REVIEWS, ROWS
from beholder.records import Item, ItemFailure, MetricResult
from beholder.report.pages import jpeg_uri, render_page
from beholder.report.study_tables import html
from beholder.run import manifest
from beholder.run.rows.askers import category_of
from beholder.run.rows.engine import MAX_SHOWN
from beholder.run.rows.generators import GeneratedText, parts_of
from beholder.run.store import Store
from beholder.run.subjects import KINDS, SubjectKind
from beholder.run.thumbs import thumb
from beholder.tables import Column, Table, estimate_cells

if TYPE_CHECKING:
    from beholder.web.subject_pages import Drawn, SeenSubject

S = TypeVar("S")

_MAX_FAILURES = 100


@dataclass(frozen=True, slots=True)
class Block:
    """What one system made of one subject.

    Attributes:
        system: Name of the system.
        parts: The texts; empty if nothing fits or it failed.
        failure: Why nothing came out, or None.
    """

    system: str
    parts: tuple[GeneratedText, ...]
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class MadeSubject:
    """One subject of the page.

    Attributes:
        position: Place in the run.
        id: Its id.
        group: Its group columns.
        text: The text that it had, or empty.
        thumb: Whether there is a thumbnail.
        blocks: What the systems made of it; none of those that are not finished.
    """

    position: int
    id: str
    group: Mapping[str, str]
    text: str
    thumb: bool
    blocks: tuple[Block, ...]


def write_made(run_folder: Path, output: Path | None = None) -> Path:
    """Draw a run of captions, categories, translations or reviews as one HTML file.

    Args:
        run_folder: The run directory.
        output: The file to write; ``report.html`` in the run directory if None.

    Returns:
        The file.

    Raises:
        RunError: The folder holds no such run.
    """
    target = output or run_folder / "report.html"
    log = manifest.read(run_folder)
    manifest.check_kind(run_folder, ROWS.name, REVIEWS.name)
    with Store.read(run_folder) as store:
        page = _render(store, log)
    files.write_text(target, page)
    return target


def _render(store: Store, log: manifest.RunLog) -> str:
    systems: Mapping[str, str] = log.settings["systems"]
    n = log.data.n_items
    kind = KINDS[next(iter(log.askers.values())).subject]
    shown = [
        subject_of(store, systems, kind, position, subject)
        for position, subject in islice(store.subjects(kind), min(n, MAX_SHOWN))
    ]
    failures = [
        {"id": subject, "system": system, "reason": failure.message}
        for system, name in systems.items()
        for subject, failure in _failures(store, name, n)
    ]
    found = manifest.results(log)
    results = {system: found[name] for system, name in systems.items() if name in found}
    tables = (
        _values(log, results),
        _categories(store, systems, log.askers, n),
        _failed(log, failures),
    )
    pictures = "".join(
        f".i{one.position} {{ background-image:"
        f' url("{jpeg_uri(thumb(store.folder, one.position).read_bytes())}"); }}\n'
        for one in shown
        if one.thumb
    )
    return render_page(
        "made.html.j2",
        ("page.css", "plain_page.css", "made.css"),
        pictures,
        log=log,
        name=log.data.source,
        asked=dict.fromkeys(entry.name.partition("(")[0] for entry in log.metrics),
        signatures=[entry.signature for entry in log.metrics],
        systems=systems,
        tables=[(table, html(table)) for table in tables if table.rows],
        cautions=[(system, said) for system, one in results.items() for said in one.cautions],
        n_failures=len(failures),
        subjects=shown,
        n_more=n - len(shown),
    )


def subject_of(
    store: Store, systems: Mapping[str, str], kind: SubjectKind[S], position: int, subject: S
) -> MadeSubject:
    """One subject with what systems made of it.

    Args:
        store: The run's store.
        systems: Name of the asker of each system.
        kind: What the subject is.
        position: Its place in the run.
        subject: The subject.
    """
    return MadeSubject(
        position=position,
        id=kind.id(subject),
        group=kind.group(subject),
        text=subject.candidate if isinstance(subject, Item) else "",
        thumb=thumb(store.folder, position).is_file(),
        blocks=tuple(_blocks(store, systems, position)),
    )


def _blocks(store: Store, systems: Mapping[str, str], position: int) -> Iterator[Block]:
    for system, name in systems.items():
        outcome = store.score(name, position)
        if isinstance(outcome, ItemFailure):
            yield Block(system, (), outcome.message)
        elif outcome is not None:
            yield Block(system, parts_of(outcome.detail))


def _failures(store: Store, name: str, n: int) -> Iterator[tuple[str, ItemFailure]]:
    kind = store.kind_of(name)
    found = {position: failure for position, failure in store.failures(name) if position < n}
    for position, subject in store.subjects(kind, list(found)):
        yield kind.id(subject), found[position]


def _values(log: manifest.RunLog, results: Mapping[str, MetricResult]) -> Table:
    """Mean of each value of each system, and what it measures."""
    rows = [
        {
            "system": system,
            "value": value.name,
            **estimate_cells("mean", result.values[value.name]),
            "n": result.values[value.name].n,
            "help": value.help,
        }
        for system, result in results.items()
        for value in log.askers[log.settings["systems"][system]].values
        if value.name in result.values
    ]
    columns = (
        Column("system", _one(log, "Language", "System"), "text"),
        Column("value", "Value", "text"),
        Column("mean", "Mean", interval=True),
        Column("n", _one(log, "Pictures", "Rows"), "count"),
        Column("help", "What it measures", "text"),
    )
    return Table("values", "Values", columns, tuple(rows), by="system")


def _one(log: manifest.RunLog, of_reviews: str, of_rows: str) -> str:
    return of_reviews if log.kind == REVIEWS.name else of_rows


def _categories(
    store: Store, systems: Mapping[str, str], askers: Mapping[str, manifest.AskerLog], n: int
) -> Table:
    """Per system that sorts: how many subjects fell into each category."""
    rows = []
    for system, name in systems.items():
        if "categories" in askers[name].config:
            counts = Counter(category_of(parts_of(detail)) for _, detail in store.details(name, n))
            rows += [
                {"system": system, "category": category, "n": count}
                for category, count in counts.most_common()
            ]
    columns = (
        Column("system", "System", "text"),
        Column("category", "Category", "text"),
        Column("n", "Rows", "count"),
    )
    return Table("categories", "Categories", columns, tuple(rows), by="system")


def _failed(log: manifest.RunLog, failures: Sequence[Mapping[str, str]]) -> Table:
    """What could not be made, and why; so many as a page holds."""
    columns = (
        Column("id", _one(log, "Picture", "Row"), "text"),
        Column("system", _one(log, "Language", "System"), "text"),
        Column("reason", "Reason", "text"),
    )
    more = len(failures) - _MAX_FAILURES
    notes = (f"and {more:,} more",) if more > 0 else ()
    return Table("failures", "Failures", columns, tuple(failures[:_MAX_FAILURES]), notes)


def draw_made(seen: SeenSubject) -> Drawn:
    """The subject with what each system wrote."""
    snapshot = seen.view.snapshot
    systems = snapshot.log.settings["systems"]
    kind = snapshot.subjects[seen.kind].kind
    made = subject_of(seen.store, systems, kind, seen.position, seen.subject)
    return "made_item.html.j2", {"subject": made, "pictures": seen.pictures}


@dataclass(frozen=True)
class PageWords:
    """The instructions in one language; ``{n}`` stands for the number of texts."""

    title: str
    task: tuple[str, ...]
    order: str
    criteria: tuple[tuple[str, str], ...]
    rules_title: str
    rules: tuple[str, ...]
    example_title: str
    example: str


INSTRUCTIONS = {
    "en": PageWords(
        title="Ranking reviews of an image",
        task=(
            "You see an image and {n} short reviews of it. Put the reviews in order: rank 1 for"
            " the one that suits the image best, rank {n} for the one that suits it least.",
            "The numbers are places in an order, not marks. Use every place from 1 to {n} exactly"
            " once; no two reviews share a place.",
        ),
        order="Compare two reviews by the first question. Only if they are equal in it, continue"
        " with the next one.",
        criteria=(
            ("Truth", "Is everything it says correct?"),
            ("Fit", "Does it speak of this image, of what can be seen in it?"),
            ("Detail", "Does it name particular features of the image?"),
            ("Objectivity", "Does it describe and give reasons, rather than state a taste?"),
            ("Language", "Is it well-formed and easy to read?"),
        ),
        rules_title="While you rank",
        rules=(
            "Look at the whole image before you read, and again before you decide.",
            "Read all reviews before you give the first rank. Their order on the page is random.",
            "Look up facts and words you do not know in a dictionary or a search engine.",
            "Do not use a chat assistant or any other model that writes or judges texts, and do"
            " not search by the image.",
            "Do not talk about an image with other annotators before all of you are done.",
        ),
        example_title="An example",
        example="Review A is right and detailed. Review B is right and says little. Review C is"
        " well written and names a bridge that is not there. C comes last, because truth counts"
        " before everything else; A comes before B, because both are true and fit the image, and"
        " A says more.",
    ),
    "ja": PageWords(
        title="画像レビューの順位づけ",
        task=(
            "1枚の画像と、それについての短いレビューが{n}つ表示されます。画像に最もふさわしい"
            "レビューを1位、最もふさわしくないレビューを{n}位として、順位をつけてください。",
            "数字は点数ではなく順位です。1から{n}までの順位をそれぞれ1回だけ使い、同じ順位を"
            "つけないでください。",
        ),
        order="2つのレビューは、まず最初の観点で比べます。その観点で差がないときだけ、次の観点に"
        "進んでください。",
        criteria=(
            ("正しさ", "書かれていることに誤りはありませんか。"),
            ("画像との一致", "この画像に写っているものについて述べていますか。"),
            ("情報の豊かさ", "画像の具体的な特徴を挙げていますか。"),
            ("客観性", "好みではなく、根拠のある記述になっていますか。"),
            ("文章", "文法が正しく、読みやすいですか。"),
        ),
        rules_title="作業中の注意",
        rules=(
            "読む前に画像全体を見て、決める前にもう一度見てください。",
            "すべてのレビューを読んでから順位をつけてください。並び順は無作為です。",
            "知らない事柄や言葉は、辞書や検索エンジンで調べてかまいません。",
            "文章を書いたり評価したりするAIや、画像による検索は使わないでください。",
            "全員の作業が終わるまで、ほかの作業者と画像について話さないでください。",
        ),
        example_title="例",
        example="レビューAは正しく詳しい。レビューBは正しいが内容が少ない。レビューCは文章は"
        "良いが、写っていない橋について述べている。正しさが最優先なのでCが最下位になり、AとBは"
        "どちらも正しく画像に合っているので、より詳しいAが上位になります。",
    ),
}
"""By language code."""


def annotation_instructions(n_texts: int = 5, language: str = "en") -> str:
    """The instructions as an HTML page that loads nothing.

    Args:
        n_texts: Texts per image.
        language: ``en`` or ``ja``.

    Raises:
        ConfigError: There are no instructions in that language, or fewer than two texts.
    """
    if language not in INSTRUCTIONS:
        raise ConfigError(
            f"language={language!r}: there are instructions in {', '.join(INSTRUCTIONS)}"
        )
    if n_texts < 2:
        raise ConfigError(f"n_texts={n_texts}: expected at least 2")
    words = INSTRUCTIONS[language]
    task = [sentence.format(n=n_texts) for sentence in words.task]
    return render_page(
        "instructions.html.j2",
        ("page.css", "plain_page.css"),
        language=language,
        words=words,
        task=task,
    )
