"""The shipped model, documents, and texts that are no captions."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from training.english import pipeline

from beholder.errors import ConfigError, ItemError
from beholder.language import Document, Word, parse, parsers, scene_graph
from beholder.language.parsers import MAX_DEPTH, bound_depth, join_hyphens

HARD = {
    "long": "A small dog sits on a red mat near the door. " * 800,
    "one sentence": "a dog and a cat that see "
    + "the old man who holds a cup and " * 300
    + "end",
    "emoji": "A dog 🐶 sits on a 🟥 mat 👨‍👩‍👧.",
    "control": "A dog\x00 sits\x07 on\x1b[31m a mat.",
    "html": "<p>A <b>red</b> cup &amp; a plate</p>",
    "punctuation": "... !!! ??? --- ,,, ((( )))",
    "one letter": "a",
    "pieces of a hyphen compound that hang apart": "It has two dog-like animals_2 in ferns. "
    "The third panel_3 has two dog-like animals_2 standing in ferns.",
    "unbroken": "x" * 20000,
    "lone surrogate": "A dog \ud83d sits.",
}


@pytest.mark.slow  # long texts
@pytest.mark.parametrize("name", HARD)
def test_hard_text_gives_a_graph(name: str) -> None:
    document = parse(HARD[name])
    for rules in ("fixed", "reference"):
        graph = scene_graph(document, rules=rules)
        for entity in graph.entities:
            for mention in entity.mentions:
                assert (
                    0 <= mention.span[0] < mention.span[1] <= len(HARD[name])
                )


def test_empty_text_gives_an_empty_graph() -> None:
    graph = scene_graph(parse(" \n "))
    assert (graph.entities, graph.attributes, graph.relations) == ((), (), ())


def test_another_script_is_refused_with_the_way_out() -> None:
    with pytest.raises(ItemError, match=r"reads English.*LLM judge"):
        parse("एक आदमी लाल टोपी पहने हुए है।")


def test_spans_are_those_of_the_original_text() -> None:
    text = "  A “red”  cup,\n\n\nand a  café\u0301-table\tstands  there. "
    for word in parse(text):
        original = " ".join(text[word.start : word.end].split())
        assert original.strip("“”")[:1] == word.text.strip('"')[:1]


def test_joined_hyphens_make_no_circle() -> None:
    # Both pieces lead out of the compound, one to a word that hangs on the other.
    words = list(
        parse("The display is inside glassed-in the auto dealership.")
    )
    assert "glassed-in" in [word.text for word in words]
    for word in words:
        visited: set[int] = set()
        while word.head != word.index:
            assert word.index not in visited
            visited.add(word.index)
            word = words[word.head]


def test_hyphen_compound_is_one_word() -> None:
    graph = scene_graph(
        parse("An open-mouthed boy stands by an off-white wall.")
    )
    assert {a.value for a in graph.attributes} >= {"open-mouthed", "off-white"}


def test_batch_and_single_parses_agree() -> None:
    texts = [
        "A dog sits.",
        "",
        "Two red cups stand on a table.\n\nA cat sleeps.",
    ]
    batch = parse(texts)
    assert [d.words for d in batch] == [parse(t).words for t in texts]


def test_documents_and_graphs_can_be_sent_to_other_processes() -> None:
    document = parse("A dog sits on a mat.")
    again = pickle.loads(pickle.dumps(document))
    assert isinstance(again, Document)
    assert again.words == document.words
    graph = scene_graph(again)
    assert pickle.loads(pickle.dumps(graph)) == graph == scene_graph(document)


def test_import_does_not_load_spacy() -> None:
    code = "import sys, beholder.language; print('spacy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"


def test_unknown_parser_is_refused_with_the_choices() -> None:
    with pytest.raises(ConfigError, match=r"'stanza'.*'spacy:NAME_OR_PATH'"):
        parse("A dog.", parser="stanza")
    with pytest.raises(ConfigError, match="no_such_model"):
        parse("A dog.", parser="spacy:no_such_model")


def test_pipeline_without_parser_is_refused() -> None:
    import spacy

    with pytest.raises(ConfigError, match="dependency parser"):
        parse("A dog.", parser=spacy.blank("en"))


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"'best'.*reference, fixed"):
        scene_graph(parse("A dog."), rules="best")  # type: ignore[arg-type]


@pytest.mark.slow  # long texts
@pytest.mark.parametrize(
    "text", ["dog " * 1_500, "the dog and " * 700, "of the dog " * 700]
)
def test_texts_that_are_no_prose_give_a_graph(text: str) -> None:
    assert scene_graph(parse(text)).text == text


def test_trees_are_cut_at_the_bound_and_left_alone_below_it() -> None:
    def chain(n: int) -> list[Word]:
        return [
            Word(
                i,
                "a",
                "a",
                "NOUN",
                "NN",
                "nmod",
                max(0, i - 1),
                2 * i,
                2 * i + 1,
                0,
            )
            for i in range(n)
        ]

    assert bound_depth(chain(MAX_DEPTH)) == chain(MAX_DEPTH)
    cut = bound_depth(chain(MAX_DEPTH + 3))
    # Word 60 lies 60 deep and stays; those below it hang on word 59 like it.
    assert [w.head for w in cut[MAX_DEPTH - 1 :]] == [
        MAX_DEPTH - 2,
        *[MAX_DEPTH - 1] * 3,
    ]
    assert [w.dep for w in cut[MAX_DEPTH - 1 :]] == [
        "nmod",
        "nmod",
        "dep",
        "dep",
    ]


def test_joining_a_compound_whose_piece_hangs_on_its_sibling_makes_no_circle() -> (
    None
):
    # AV <- Reef <- Coral: joined without care, "AV-Coral" hung on Reef and Reef on "AV-Coral".
    texts = ["named", "AV", "-", "Coral", "Reef"]
    heads = [0, 0, 3, 4, 1]
    words, start = [], 0
    for index, (text, head) in enumerate(zip(texts, heads, strict=True)):
        start += index in (1, 4)
        end = start + len(text)
        words.append(
            Word(index, text, text, "NOUN", "NN", "dep", head, start, end, 0)
        )
        start = end
    joined = join_hyphens(words)
    assert [(word.text, word.head) for word in joined] == [
        ("named", 0),
        ("AV-Coral", 0),
        ("Reef", 1),
    ]


def test_the_vocabulary_keeps_words_up_to_its_bound_and_gives_back_later_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    language = pipeline.load()
    vocabulary = language.vocab
    monkeypatch.setattr(parsers, "WORDS_KEPT", len(vocabulary) + 1)
    parse("Wugs zorp.", language)
    assert len(vocabulary) >= parsers.WORDS_KEPT
    parse("Blickets fep.", language)
    assert [word in vocabulary.strings for word in ("Wugs", "Blickets")] == [
        True,
        False,
    ]
