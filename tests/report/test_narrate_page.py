"""The page of a run over narratives: whole, script-free, and unmoved by hostile data."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from beholder.backends import BACKENDS, Answer, Request
from beholder.errors import RunError
from beholder.narratives.judging import Voting
from beholder.report import write_study, write_study_figures
from beholder.run.narrate.config import CoherenceOptions, CollectionOptions, NarrateConfig, Part
from beholder.run.narrate.engine import run_narratives
from beholder.run.session import Quiet
from toy.judge import Storyteller
from toy.photos import make_collection, write_narratives

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{7*7}}$x^2$\u202e</style>"


class Hostile(Storyteller):
    """A judge whose reasons are an attack."""

    async def chat(self, request: Request) -> Answer:
        answer = await super().chat(request)
        if request.schema is None:
            return answer
        row = json.loads(answer.text) | {"reason": EVIL}
        sample = answer.samples[0]
        return Answer(
            (type(sample)(json.dumps(row), "stop"),),
            answer.model,
            None,
            answer.usage,
            answer.seconds,
        )


for _name, _backend in (("story", Storyteller), ("hostile", Hostile)):
    if _name not in BACKENDS.names():
        BACKENDS.register(_name)(_backend)


ALL: tuple[Part, ...] = ("captions", "sight", "hybrid", "transitions", "coherence")


def _run(
    folder: Path, sequences: Path, parts: tuple[Part, ...] = ALL, embedder: str | None = None
) -> Path:
    config = NarrateConfig(
        sequences=str(sequences),
        out=folder / "run",
        parts=parts,
        judge="hostile:steady",
        collection=CollectionOptions(str(folder / "data" / "index.csv")),
        voting=Voting(judges=2, context=EVIL),
        coherence=CoherenceOptions(embedder or f"npz:{folder / 'data' / 'vectors.npz'}"),
    )
    run_narratives(config, Quiet())
    return config.out


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def with_class(self, name: str) -> list[dict[str, str | None]]:
        return [a for _, a in self.tags if name in (a.get("class") or "").split()]


def test_the_page_shows_every_narrative_with_steps_and_weakest_links(tmp_path: Path) -> None:
    make_collection(tmp_path / "data")
    sequences = write_narratives(tmp_path / "s.jsonl", 3)
    page = Page(write_study(_run(tmp_path, sequences)).read_text("utf-8"))
    rows = [json.loads(line) for line in sequences.read_text("utf-8").splitlines()]
    n_frames = sum(len(row["frames"]) for row in rows)
    assert len([1 for _, a in page.tags if (a.get("id") or "").startswith("narrative-")]) == 12
    assert len(page.with_class("shot")) == n_frames
    legend = 4
    assert len(page.with_class("step")) == n_frames - len(rows) + legend
    reel_weakest = [a for a in page.with_class("step") if "weakest" in str(a["class"])]
    assert len(reel_weakest) == len(rows) + 1
    figures = [a["alt"] for tag, a in page.tags if tag == "img"]
    assert len(figures) == 3
    assert str(figures[0]).startswith("Eight panels")
    text = " ".join(page.words)
    for words in ("ICC(2,1)", "Hedges' g", "only 6 narratives", "captions pay from", "Film strips"):
        assert words in text


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    make_collection(tmp_path / "data")
    index = tmp_path / "data" / "index.csv"
    quoted = '"' + EVIL.replace('"', '""') + '"'
    index.write_text(index.read_text("utf-8").replace("Arica", quoted), encoding="utf-8")
    sequences = tmp_path / "s.jsonl"
    rows = [
        {
            "id": f"{EVIL}{i}",
            "source": EVIL if i % 2 else "human",
            "group": {EVIL: EVIL},
            "frames": [f"p{j:03d}" for j in range(i, i + 4)],
        }
        for i in range(8)
    ]
    sequences.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = Page(write_study(_run(tmp_path, sequences)).read_text("utf-8"))
    assert not [
        tag for tag, _ in page.tags if tag in ("script", "iframe", "object", "base", "form")
    ]
    assert not [a for _, a in page.tags for name in a if name.startswith("on") or name == "style"]
    sources = [a.get(k) for _, a in page.tags for k in ("src", "href", "xlink:href") if a.get(k)]
    assert all(str(source).startswith(("data:image/", "#")) for source in sources)
    policy = next(
        a["content"]
        for t, a in page.tags
        if t == "meta" and "content" in a and "default-src" in str(a["content"])
    )
    assert "default-src 'none'" in str(policy)
    assert "script-src" not in str(policy)  # default-src 'none' holds: nothing may run
    # shown as what it is: words, no markup and no template
    assert "<script>alert(1)</script>" in "".join(page.words)
    assert "{{7*7}}$x^2$" in "".join(page.words)


def test_handcrafted_vectors_are_named_as_such(tmp_path: Path) -> None:
    pytest.importorskip("skimage")
    make_collection(tmp_path / "data")
    sequences = write_narratives(tmp_path / "s.jsonl", 1)
    run = _run(tmp_path, sequences, parts=("coherence",), embedder="handcrafted")
    text = " ".join(Page(write_study(run).read_text("utf-8")).words)
    assert "handcrafted@1" in text
    assert "knows nothing of what they show" in text
    assert "No judge was asked in this run." in text


def test_missing_pictures_are_shown_as_missing(tmp_path: Path) -> None:
    make_collection(tmp_path / "data")
    sequences = write_narratives(tmp_path / "s.jsonl", 1)
    (tmp_path / "data" / "img" / "000.jpg").unlink()
    page = Page(write_study(_run(tmp_path, sequences)).read_text("utf-8"))
    text = " ".join(page.words)
    assert "no picture" in text
    assert "frame 'p000':" in text
    assert "8 narratives with failures" in re.sub(r"\s+", " ", text)


def test_the_same_run_gives_the_same_page(tmp_path: Path) -> None:
    make_collection(tmp_path / "data")
    run = _run(tmp_path, write_narratives(tmp_path / "s.jsonl", 2))
    first = write_study(run).read_bytes()
    assert write_study(run, tmp_path / "again.html").read_bytes() == first


def test_figures_are_written_as_files(tmp_path: Path) -> None:
    make_collection(tmp_path / "data")
    run = _run(tmp_path, write_narratives(tmp_path / "s.jsonl", 2))
    files = write_study_figures(run, tmp_path / "figures")
    assert [file.name for file in files] == [
        f"narratives-{name}.{ending}"
        for name in ("panels", "theta", "timeline")
        for ending in ("png", "svg")
    ]
    assert all(file.stat().st_size > 5000 for file in files)


def test_an_unfinished_run_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(RunError, match="run the same command again to finish it"):
        write_study(tmp_path / "run")
