"""Marks become proposals, and accepted proposals are written; expected texts are written by hand."""

from __future__ import annotations

import asyncio
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.backends import Scripted
from beholder.errors import ConfigError, DataError
from beholder.judges import LLMJudge
from beholder.judges.operations import TextMark
from beholder.kinds.annotation.tasks import task_named
from beholder.kinds.annotation.tasks.revisions import RevisionTask
from beholder.kinds.generation.generators import parts_of
from beholder.kinds.revise.certain import find_certain_edits
from beholder.kinds.revise.door import revise
from beholder.kinds.revise.edits import apply
from beholder.kinds.revise.engine import ReviseRow, edits_between
from beholder.kinds.revise.export import write_accepted
from beholder.metrics import Tools
from beholder.records import Item
from toy.cases import each_case
from toy.command import runner
from toy.tools import OneJudge

pytestmark = pytest.mark.usefixtures("few_resamples")


def mark(
    text: str, wrong: str, instead: str = "", kind: str = "mistake"
) -> TextMark:
    at = text.index(wrong)
    return TextMark(kind, wrong, (at, at + len(wrong)), instead)


@pytest.mark.parametrize(
    ("text", "wrong", "instead", "proposal"),
    [
        (
            "A woman holds a blue cup.",
            "blue",
            "red",
            "A woman holds a red cup.",
        ),
        (
            "A woman holds an orange cup.",
            "orange",
            "red",
            "A woman holds a red cup.",
        ),
        (
            "A red cup. She smiles.",
            "red",
            "orange",
            "An orange cup. She smiles.",
        ),
        (
            "Three dogs run by the sea.",
            "Three",
            "two",
            "Two dogs run by the sea.",
        ),
        ("The door is red.", "red", "blue", "The door is blue."),
        ("An old man sits on a chair.", "old", "", "A man sits on a chair."),
        ("A man in a tall hat.", "tall", "", "A man in a hat."),
        (
            "A tall man sits. A dog barks at it.",
            "A tall man sits.",
            "",
            "A dog barks at it.",
        ),
        (
            "A dog barks at it. A tall man sits.",
            "A tall man sits.",
            "",
            "A dog barks at it.",
        ),
        (
            "She wears a hat, gloves, and a scarf.",
            "gloves",
            "",
            "She wears a hat and a scarf.",
        ),
        (
            "She wears a hat, gloves and a scarf.",
            "scarf",
            "",
            "She wears a hat and gloves.",
        ),
        (
            "A man, a doctor and a nurse sit.",
            "doctor",
            "",
            "A man and a nurse sit.",
        ),
        (
            "Cups, plates and forks on a shelf.",
            "Cups",
            "",
            "Plates and forks on a shelf.",
        ),
        (
            "It has a bed, a lamp, a rug and a chair.",
            "a lamp",
            "",
            "It has a bed, a rug and a chair.",
        ),
        (
            "A dog sleeps on a sofa under a window.",
            "window",
            "",
            "A dog sleeps on a sofa.",
        ),
        (
            "A man walks with his dog near an old wall.",
            "old wall",
            "",
            "A man walks with his dog.",
        ),
    ],
)
def test_certain_edits_are_made_without_a_judge(
    text: str, wrong: str, instead: str, proposal: str
) -> None:
    edits, refused = find_certain_edits(text, [mark(text, wrong, instead)])
    assert apply(text, edits) == proposal
    assert refused == []


@each_case(
    ("rule", "text", "wrong", "why"),
    [
        (
            "ALT104",
            "Bild von einem Hund im Garten",
            "Bild von",
            "only English",
        ),
        (
            "ALT110",
            "Ein Hund l\u00e4uft durch den Garten hinter dem Haus \U0001f436",
            "\U0001f436",
            "only English",
        ),
        (
            "ALT104",
            "Photograph of c. 1890 with a tram",
            "Photograph of",
            "no text",
        ),
        (
            "ALT104",
            "Image showing how it was built",
            "Image showing",
            "no text",
        ),
        ("ALT104", "Photo of him at a table", "Photo of", "no text"),
        (
            "ALT104",
            "Black and white photograph of a car race",
            "Black and white photograph of",
            "says more",
        ),
        ("ALT104", "Photo depuis la tour", "Photo de", "only English|cut"),
        ("ALT109", "A boat, see https://x.org/a", "https://x.org/a", "lead"),
        (
            "ALT109",
            "A boat at https://x.org/a on sand",
            "https://x.org/a",
            "part",
        ),
        ("ALT110", "A dog with a \U0001f436", "\U0001f436", "needs"),
        (
            "ALT110",
            "A \U0001f436 and a cat on sand \U0001f431",
            "\U0001f431",
            "report",
        ),
    ],
)
def test_what_does_not_stand_on_its_own_is_not_proposed(
    rule: str, text: str, wrong: str, why: str
) -> None:
    edits, refused = find_certain_edits(text, [mark(text, wrong, kind=rule)])
    assert edits == []
    (left_mark,) = refused
    assert re.search(why, left_mark.why)


@each_case(
    ("rule", "text", "wrong", "proposal"),
    [
        ("ALT104", "Image of: a dog on a sofa", "Image of", "A dog on a sofa"),
        (
            "ALT112",
            "Tom &amp; Ann on a bench",
            "&amp;",
            "Tom & Ann on a bench",
        ),
        ("ALT112", "Tom <b>and Ann", "<b>", "Tom and Ann"),
        (
            "ALT109",
            "A bench by the sea https://x.org",
            "https://x.org",
            "A bench by the sea",
        ),
        (
            "ALT109",
            "A boat (https://x.example/a) on sand",
            "https://x.example/a)",
            "A boat on sand",
        ),
        (
            "ALT109",
            "A boat on sand. https://x.example/a",
            "https://x.example/a",
            "A boat on sand.",
        ),
        ("ALT110", "\U0001f436 a dog runs", "\U0001f436", "A dog runs"),
        ("ALT112", "A boat<br>on sand", "<br>", "A boat on sand"),
        (
            "ALT114",
            "May be an image of 2 people on a bench",
            "May be an image of",
            "2 people on a bench",
        ),
    ],
)
def test_edits_of_lint_rules_need_no_grammar(
    rule: str, text: str, wrong: str, proposal: str
) -> None:
    edits, refused = find_certain_edits(text, [mark(text, wrong, kind=rule)])
    assert apply(text, edits) == proposal
    assert refused == []


@pytest.mark.parametrize(
    ("text", "wrong", "instead", "why"),
    [
        ("A dog runs over one hill.", "one", "two", "between one and several"),
        (
            "A man buys lemons.",
            "buys",
            "sells",
            "only adjectives, numbers, list",
        ),
        ("A boy runs.", "boy", "man", "only adjectives, numbers, list"),
        ("There is no red cup.", "red", "blue", "has no, not or only"),
        ('A sign says "red door" here.', "red", "blue", "quoted"),
        ("A cup stands tall.", "tall", "big", "before its noun"),
        ("A small, red dog runs.", "red", "", "part of a longer phrase"),
        (
            "A dog barks loudly. It is big.",
            "A dog barks loudly.",
            "",
            "more than one word",
        ),
        (
            "Ein Mann hält eine rote Tasse in der Hand.",
            "rote",
            "blaue",
            "only English",
        ),
        ("A red cup.", "red cup", "", "more than one word"),
        (
            "She has a hat and gloves.",
            "gloves",
            "",
            "only adjectives, numbers, list",
        ),
        (
            "He has a bed, a lamp and a rug. The lamp is on.",
            "lamp",
            "",
            "only adjectives, numbers",
        ),
        (
            "Cups, plates and forks of tin.",
            "forks",
            "",
            "only adjectives, numbers, list",
        ),
        (
            "A man, a dog and a cat sit here.",
            "dog",
            "",
            "only adjectives, numbers, list",
        ),
        (
            "A boy runs in a hat. It is red.",
            "hat",
            "",
            "only adjectives, numbers, list",
        ),
        (
            "A woman puts cups on a table.",
            "table",
            "",
            "only adjectives, numbers, list",
        ),
        (
            "The old dog is on a sofa.",
            "sofa",
            "",
            "only adjectives, numbers, list",
        ),
        (
            "A dog stands in front of a house.",
            "house",
            "",
            "only adjectives, numbers, list",
        ),
        (
            "There are no hats, gloves and scarves.",
            "gloves",
            "",
            "has no, not or only",
        ),
        ("A sign reads “bread, milk and eggs”.", "milk", "", "quoted"),
    ],
)
def test_uncertain_edits_are_refused_with_their_reason(
    text: str, wrong: str, instead: str, why: str
) -> None:
    edits, refused = find_certain_edits(text, [mark(text, wrong, instead)])
    assert edits == []
    assert why in refused[0].why


def test_omissions_need_wording_and_overlaps_leave_the_larger_edit() -> None:
    text = "A tall man sits. A dog barks at it."
    marks = [
        mark(text, "tall"),
        mark(text, "A tall man sits."),
        TextMark("omission", "hat"),
    ]
    edits, refused = find_certain_edits(text, marks)
    assert apply(text, edits) == "A dog barks at it."
    assert [
        (reason.mark, "needs wording" in reason.why) for reason in refused
    ] == [(2, True)]
    assert edits[0].marks == (0, 1)


def test_a_text_keeps_half_of_its_words() -> None:
    text = "Image of a cup https://a.org/b"
    marks = [
        mark(text, "Image of", kind="ALT104"),
        mark(text, "https://a.org/b", kind="ALT109"),
    ]
    edits, refused = find_certain_edits(text, marks)
    assert edits == []
    assert {reason.why for reason in refused} == {"over half of the words would go"}  # fmt: skip


def test_edits_give_the_new_text_and_back() -> None:
    rng = random.Random(3)
    for _ in range(200):
        a, b = (
            " ".join(
                rng.choices(["a", "bc", "def,", "x.", "ü"], k=rng.randrange(9))
            )
            for _ in "ab"
        )
        text, back = a, b
        shift, last = 0, 0
        for edit in edits_between(a, b):
            assert last <= edit["start"] <= edit["end"]
            assert a[edit["start"] : edit["end"]] == edit["old"]
            start = edit["start"] + shift
            text = (
                text[:start] + edit["new"] + text[start + len(edit["old"]) :]
            )
            shift += len(edit["new"]) - len(edit["old"])
            last = edit["end"]
        assert text == b == back


def propose(
    answer: str, text: str, marks: list[dict[str, Any]]
) -> tuple[str, list[str]]:
    tools: Tools = OneJudge(LLMJudge(Scripted(lambda _: answer)))
    item = Item("a", text, meta={"marks": marks})
    parts = parts_of(
        asyncio.run(ReviseRow("scripted:x").evaluate(item, tools)).detail
    )
    return parts[0].text, [part.text for part in parts[1:]]


OMISSION = {
    "kind": "omission",
    "text": "hat",
    "instead": "The man wears a hat.",
}


def test_a_model_words_what_is_not_certain() -> None:
    text = "A man sits. A dog barks."
    assert propose("A man in a hat sits. A dog barks.", text, [OMISSION]) == (
        "A man in a hat sits. A dog barks.",
        [],
    )


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            "A man in a hat sits. A cat purrs.",
            "only marked sentences may change",
        ),
        (
            "A man in a golden hat sits. A dog barks.",
            "new word that begins with 'gold'",
        ),
        ("A man sits. " * 60, "in at most"),
    ],
)
def test_an_answer_that_changes_more_leaves_the_certain_edits(
    answer: str, why: str
) -> None:
    text = "A man sits. A dog barks."
    proposal, refused = propose(answer, text, [OMISSION])
    assert proposal == text
    assert len(refused) == 1
    assert "needs wording" in refused[0]
    assert why in refused[0]


def write_decisions(
    rows: list[dict[str, Any]], path: Path, decision: str
) -> Path:
    path.write_text(
        "".join(
            json.dumps({**row, "decision": decision}) + "\n" for row in rows
        )
    )
    return path


PAGE = (
    '<html lang="en"><p>é <img src=a.jpg alt="Image of a dog on a sofa, &quot;Rex&quot;">\r\n'
    " <img alt='Photo of Tom &amp; Ann&#39;s boat' src=b.jpg> <img src=c.jpg alt=Boats></html>"
)
BODY = {
    "type": "Annotation",
    "body": {"id": "https://x/a.jpg", "type": "Image"},
}
CANVAS = {
    "type": "Canvas",
    "id": "https://x/c",
    "label": {"en": ["Image of a dog on a sofa"]},
    "metadata": [
        {
            "label": {"en": ["Alt text"]},
            "value": {"en": ['Image of a "dog" é on a sofa']},
        }
    ],
    "items": [{"type": "AnnotationPage", "items": [BODY]}],
}
MANIFEST = {
    "type": "Manifest",
    "id": "https://x/m",
    "label": {"en": ["M"]},
    "items": [CANVAS],
}
FORMS = {
    "page.html": (PAGE, [('"Image of a dog on a sofa, &quot;', '"A dog on a sofa, &#34;'), ("Rex&quot;", "Rex&#34;"), ("Photo of ", "")]),
    "n.md": (
        "---\ntitle: T\n---\n# é ![Image of a cat](a.jpg) ![Image of a cat](b.jpg)\n\n"
        "> `![Image of a cat](x)` ![Photo of a big dog\\_1](c.jpg)\n\n"
        '- <img src=d.png alt="Photo of Tom &amp; Ann">\n\n![Image of a hat \\[red\\]][r]\n\n[r]: r.png\n',
        [("![Image of a cat](a", "![A cat](a"), ("![Image of a cat](b", "![A cat](b"),
         ("![Photo of a big dog", "![A big dog"),
         ('"Photo of Tom', '"Tom'), ("![Image of a hat", "![A hat")],
    ),
    "p.mdx": (
        'Text\n\n<Image src={hero} alt="Image of a cat" /> ![Image of a dog](a.png)\n\n<p>\n <Photo alt="Image of Tom &amp; Ann" src="b"/></p>\n',
        [('"Image of a cat"', '"A cat"'), ("![Image of a dog", "![A dog"), ('"Image of Tom', '"Tom')],
    ),
    "c.vue": (
        '<template>\n <img :src="a" alt="Image of a cat"><img :alt="b"/>\n</template>\n',
        [('"Image of a cat"', '"A cat"')],
    ),
    "m.json": (json.dumps(MANIFEST), [('"Image of a \\"dog\\" \\u00e9 on a sofa"', '"A \\"dog\\" é on a sofa"')]),
    "t.csv": (
        'image;alt;note\r\na.jpg;"Image of a dog; on a sofa";x\r\nb.jpg;Photo of a cat on a mat;'
        '"two\r\nlines"\r\nc.jpg;Photo of a cat on a mat;Photo of a cat on a mat\r\n',
        [('"Image of a dog', '"A dog'), (";Photo of a cat on a mat;", ";A cat on a mat;"), (";Photo of a cat on a mat;", ";A cat on a mat;")],
    ),
    "t.jsonl": (
        '{"image": "a.jpg", "alt": "Image of a dog \\u00e9 on a sofa"}\n{"alt":"A cat here"}\n',
        [('"Image of a dog \\u00e9 on a sofa"', '"A dog é on a sofa"')],
    ),
    "t.json": (
        '[{"id": 7, "alt": "Image of a dog on a sofa", "caption": "Image of a dog on a sofa"}]',
        [('"alt": "Image of a dog', '"alt": "A dog')],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_only_accepted_texts_change_in_the_form_that_was_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, changes = FORMS[name]
    Path(name).write_bytes(source.encode())
    revise(name, "p.jsonl")
    rows = [
        json.loads(line)
        for line in Path("p.jsonl").read_text("utf-8").splitlines()
    ]
    out = Path(f"new-{name}")
    assert (
        write_accepted(write_decisions(rows, Path("d.jsonl"), "refuse"), out)
        == 0
    )
    assert out.read_bytes() == source.encode()
    assert write_accepted(
        write_decisions(rows, Path("d.jsonl"), "accept"), out
    ) == len(rows)
    expected = source
    for old, new in changes:
        assert old in expected
        expected = expected.replace(old, new, 1)
    assert out.read_bytes() == expected.encode()
    with pytest.raises(ConfigError, match="has no mark to correct"):
        revise(out, "again.jsonl")
    assert Path(name).read_bytes() == source.encode()


@pytest.mark.parametrize(
    ("name", "source", "why"),
    [
        ("n.md", "![Photo of a *big* dog](c.jpg)\n", "occurs 0 times"),
        (
            "p.html",
            "<p id=a>Image of a dog</p><img src=a.jpg aria-labelledby=a>",
            "occurs 0 times",
        ),
        ("t.parquet", "", "cannot be written into .parquet files"),
    ],
)
def test_forms_that_cannot_be_written_are_refused_and_nothing_is_written(
    name: str,
    source: str,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(source)
    if source:
        revise(name, "p.jsonl")
        rows = [
            json.loads(line)
            for line in Path("p.jsonl").read_text("utf-8").splitlines()
        ]
    else:
        rows = [
            {"id": "a", "candidate": "x", "meta": {"source": {"file": name}}}
        ]
    with pytest.raises(DataError, match=why):
        write_accepted(
            write_decisions(rows, Path("d.jsonl"), "accept"),
            Path(f"new-{name}"),
        )
    assert not Path(f"new-{name}").exists()


def test_the_source_is_never_written_and_a_changed_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.jsonl").write_text(FORMS["t.jsonl"][0])
    revise("t.jsonl", "p.jsonl")
    rows = [
        json.loads(line)
        for line in Path("p.jsonl").read_text("utf-8").splitlines()
    ]
    accepted = write_decisions(rows, Path("d.jsonl"), "accept")
    Path("link.jsonl").symlink_to("t.jsonl")
    for out in ("t.jsonl", "./t.jsonl", "link.jsonl"):
        with pytest.raises(ConfigError, match="would write over the source"):
            write_accepted(accepted, Path(out))
    Path("t.jsonl").write_text("{}\n")
    with pytest.raises(DataError, match="changed since its texts were read"):
        write_accepted(accepted, Path("new.jsonl"))
    assert not Path("new.jsonl").exists()


def test_from_a_run_to_a_new_table(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BEHOLDER_CACHE", "off")
    cli = runner(monkeypatch, capsys)
    table = (
        'id,candidate,references\na,"A woman in a blue coat, by a door",'
        '"A woman in a red coat, by a door"\nb,A cat sleeps.,A cat sleeps.\n'
    )
    Path("d.csv").write_text(table)
    assert (
        cli("score", "d.csv", "-m", "posh", "-o", "run", "--no-report").code
        == 0
    )
    planned = cli("revise", "run", "-o", "p.jsonl", "--dry-run")
    assert planned.code == 0
    assert not Path("p.jsonl").exists()
    done = cli("revise", "run", "-o", "p.jsonl", "--json")
    assert done.code == 0, done.err
    means = {
        difference["value"]: (difference["mean_a"], difference["mean_b"])
        for difference in json.loads(done.out)["comparison"]["differences"]
    }
    assert means["contradicted_rate"][1] == 0.0 < means["contradicted_rate"][0]
    first = Path("p.jsonl").read_bytes()
    assert (
        cli("revise", "run", "-o", "p.jsonl").code == 0
    )  # resumes to the same bytes
    assert Path("p.jsonl").read_bytes() == first
    (row,) = map(json.loads, first.splitlines())
    assert row["candidate"] == "A woman in a red coat, by a door"
    assert row["meta"]["revision"]["edits"] == [
        {"op": "replace", "start": 13, "end": 17, "old": "blue", "new": "red"}
    ]
    assert (
        row["meta"]["revision"]["refused"] == []
    )  # the missing "red" is the same mark
    assert row["meta"]["scores"]["posh.precision"]["difference"] > 0
    assert row["meta"]["not_better"] is False
    accepted = write_decisions([row], Path("d.jsonl"), "accept")
    assert cli("revise", str(accepted), "--write", "new.csv").code == 0
    assert Path("new.csv").read_text() == table.replace("blue", "red")
    bare = cli("revise", "run")
    assert (bare.code, "-o proposals.jsonl" in bare.err) == (2, True)


@pytest.mark.parametrize(
    ("metrics", "chosen", "proposal", "marks"),
    [
        # chair marks the missing dog, posh the dog and the colour; the dog counts once.
        (("chair", "posh"), None, "A woman by a blue door", ["dog", "red"]),
        (("posh", "chair"), None, "A woman by a blue door", ["dog", "red"]),
        (("chair", "posh"), "chair", "A woman by a red door", ["dog"]),
        (("chair", "posh"), "posh", "A woman by a blue door", ["dog", "red"]),
    ],
)
def test_marks_of_all_metrics_are_used_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    metrics: tuple[str, ...],
    chosen: str | None,
    proposal: str,
    marks: list[str],
) -> None:
    monkeypatch.setenv("BEHOLDER_CACHE", "off")
    item = Item(
        "a", "A woman by a red door", ("A woman and a dog by a blue door",)
    )
    run = beholder.score([item], list(metrics), out=tmp_path / "run")
    out = tmp_path / "p.jsonl"
    revise(run.path, out, metric=chosen, score=False)
    (row,) = map(json.loads, out.read_text().splitlines())
    assert row["candidate"] == proposal
    assert sorted(mark["text"] for mark in row["meta"]["marks"]) == marks


def test_a_metric_that_the_run_lacks_is_refused(tmp_path: Path) -> None:
    item = Item("a", "A woman by a red door", ("A woman by a blue door",))
    run = beholder.score([item], ["posh"], out=tmp_path / "run")
    with pytest.raises(
        ConfigError, match="no metric 'chair'; expected one of posh"
    ):
        revise(run.path, tmp_path / "p.jsonl", metric="chair")


PEOPLE = {
    "id": "a",
    "candidate": "A blue boat by an old pier. It rains.",
    "references": ["A boat. A gull."],
}


def judge_text(who: str, *marks: tuple[str, int, int]) -> dict[str, Any]:
    marks_of_person = [
        {"side": side, "start": a, "end": b, "text": "", "kind": "other"}
        for side, a, b in marks
    ]
    more = {
        "annotator": who,
        "dataset": "docent_granular",
        "judgments": {"mistakes": []},
    }
    return {**PEOPLE, **more, "id": f"a/{who}", "marks": marks_of_person}


def test_words_that_most_annotators_marked_are_corrected(
    tmp_path: Path,
) -> None:
    rows = [
        judge_text("anna", ("candidate", 2, 11), ("reference", 8, 14)),
        judge_text("ben", ("candidate", 2, 6), ("reference", 10, 14)),
        judge_text("cleo", ("candidate", 18, 21)),
    ]
    source = tmp_path / "marked.jsonl"
    for some, proposal, marks in (
        (
            rows,
            "A boat by an old pier. It rains.",
            [("blue", [2, 6]), ("gull", None)],
        ),
        (rows[2:], "A blue boat by a pier. It rains.", [("old", [18, 21])]),
    ):
        source.write_text("".join(json.dumps(row) + "\n" for row in some))
        out = tmp_path / f"p{len(some)}.jsonl"
        revise(source, out)
        (row,) = [json.loads(line) for line in out.read_text().splitlines()]
        assert (row["id"], row["candidate"]) == ("a", proposal)
        marks_of_row = row["meta"]["marks"]
        assert [(mark["text"], mark["span"]) for mark in marks_of_row] == marks
        assert all(
            mark["instead"] == "A gull."
            for mark in marks_of_row
            if mark["kind"] == "omission"
        )


def test_facts_that_most_annotators_call_false_are_corrected(
    tmp_path: Path,
) -> None:
    verdicts = {
        "It rains": {"anna": "false", "ben": "false"},
        "The boat is red": {"anna": "false"},
        "A blue boat": {"anna": "false", "ben": "true"},
        "an old pier": {"anna": "true"},
    }
    facts = [
        {"text": text, "verdicts": verdicts_of_fact}
        for text, verdicts_of_fact in verdicts.items()
    ]
    source, out = tmp_path / "facts.jsonl", tmp_path / "p.jsonl"
    source.write_text(json.dumps({**PEOPLE, "facts": facts}))
    revise(source, out)
    row = json.loads(out.read_text())
    assert row["candidate"] == "A blue boat by an old pier."
    assert [(mark["text"], mark["span"]) for mark in row["meta"]["marks"]] == [
        ("It rains", [28, 36]),
        ("The boat is red", None),
    ]
    assert [
        reason["why"] for reason in row["meta"]["revision"]["refused"]
    ] == ["a mistake without a place needs wording; name a judge"]
    source.write_text(json.dumps({**PEOPLE, "facts": facts, "audit": []}))
    with pytest.raises(ConfigError, match="facts of references"):
        revise(source, tmp_path / "q.jsonl")
    source.write_text(json.dumps({**PEOPLE, "facts": [{"verdicts": 1}]}))
    with pytest.raises(DataError, match="row a: "):
        revise(source, tmp_path / "r.jsonl")


def test_decisions_become_final_texts() -> None:
    task = task_named("revisions")
    assert isinstance(task, RevisionTask)
    revision = {"text": "A blue cup.", "edits": [], "refused": []}
    same = Item(
        "b", "A cup.", meta={"revision": {**revision, "text": "A cup."}}
    )
    (unit,) = task.units(
        [Item("a", "A red cup.", meta={"revision": revision}), same]
    )
    from beholder.kinds.annotation.records import Judgments

    accept = {"decision": "accept"}
    edit = {"decision": "edit", "final": "A crimson cup."}
    refuse = {"decision": "refuse", "reason": "wrong mark"}
    results = list(
        task.results(
            [
                Judgments(unit, by)
                for by in ({"anna": accept, "ben": accept}, {"anna": edit}, {"anna": refuse},
                           {"anna": accept, "ben": refuse})
            ]
        )
    )  # fmt: skip
    assert [
        (row["decision"], row["candidate"], row["reason"]) for row in results
    ] == [
        ("accept", "A red cup.", ""),
        ("edit", "A crimson cup.", ""),
        ("refuse", "A blue cup.", "wrong mark"),
        ("contested", "A blue cup.", ""),
    ]
    with pytest.raises(
        ConfigError, match="make the rows with beholder revise"
    ):
        task.units([Item("a", "A cup.")])


def test_all_places_of_a_finding_are_corrected_at_once(tmp_path: Path) -> None:
    source = tmp_path / "alts.csv"
    source.write_text(
        "image,alt\n"
        "a.jpg,image of a dog \U0001f436\U0001f431 and a cat \U0001f431\n"
        "b.jpg,A <b>big</b> boat &amp; a <i>small</i> one\n"
        "c.jpg,A closet photo wall\n",
        encoding="utf-8",
    )
    out = tmp_path / "proposals.jsonl"
    beholder.revise(source, out)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["candidate"] for row in rows] == [
        "A dog and a cat",
        "A big boat & a small one",
    ]


def test_findings_that_are_not_corrected_are_said_to_exist(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("alts.csv").write_text("image,alt\na.jpg,Image of a dog\nb.jpg,\n")
    done = runner(monkeypatch, capsys)("revise", "alts.csv", "-o", "p.jsonl")
    assert done.code == 0
    assert "1 proposal: p.jsonl" in done.err
    assert "ALT104, ALT109" in done.err
    assert "beholder lint alts.csv lists all" in done.err
