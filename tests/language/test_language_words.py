"""Words one by one: depth of trees, hyphen compounds, word lists, printing."""

from __future__ import annotations

from beholder.language import parse, scene_graph, statements
from beholder.language.document import Word, tree_depths
from beholder.language.parsers import MAX_DEPTH, bound_depth, join_hyphens
from beholder.report import graph_text
from beholder.text.word_lists import parse as parse_lists


def word(index: int, text: str, head: int, start: int, **more: str) -> Word:
    fields = {"pos": "NOUN", "tag": "NN", "dep": "dep"} | more
    return Word(
        index, text, text.lower(), fields["pos"], fields["tag"], fields["dep"],
        head, start, start + len(text), 0,
    )  # fmt: skip


def chain(length: int) -> list[Word]:
    return [
        word(i, "w", max(0, i - 1), 2 * i, dep="conj" if i else "ROOT")
        for i in range(length)
    ]


def test_depth_is_the_number_of_steps_to_the_root() -> None:
    # 1 is the root; 0 and 3 hang on it, 2 on 3
    words = [
        word(0, "a", 1, 0),
        word(1, "b", 1, 2),
        word(2, "c", 3, 4),
        word(3, "d", 1, 6),
    ]
    assert tree_depths(words) == [1, 0, 2, 1]
    assert tree_depths([]) == []


def test_a_chain_of_the_greatest_depth_stays_and_one_deeper_is_bounded() -> (
    None
):
    fitting = chain(MAX_DEPTH + 1)
    assert bound_depth(fitting) == fitting
    bounded = bound_depth(chain(MAX_DEPTH + 4))
    assert max(tree_depths(bounded)) == MAX_DEPTH
    assert [w.head for w in bounded[: MAX_DEPTH + 1]] == [
        w.head for w in fitting
    ]
    for deep in bounded[
        MAX_DEPTH + 1 :
    ]:  # all hang on the ancestor just above the bound
        assert (deep.head, deep.dep) == (MAX_DEPTH - 1, "dep")


def test_pieces_without_a_space_are_one_word_that_hangs_where_they_led_out() -> (
    None
):
    words = [
        word(0, "off", 2, 0, pos="ADV", tag="RB", dep="advmod"),
        word(1, "-", 2, 3, pos="PUNCT", tag="HYPH", dep="punct"),
        word(2, "white", 3, 4, pos="ADJ", tag="JJ", dep="amod"),
        word(3, "walls", 3, 10, tag="NNS", dep="ROOT"),
    ]
    joined = join_hyphens(words)
    assert [(w.index, w.text, w.head, w.start, w.end) for w in joined] == [
        (0, "off-white", 1, 0, 9),
        (1, "walls", 1, 10, 15),
    ]
    assert joined[0].dep == "amod"


def test_a_compound_before_a_noun_is_an_adjective_and_a_name_is_not() -> None:
    def compound(pos: str) -> Word:
        return join_hyphens(
            [
                word(0, "eye", 2, 0),
                word(1, "-", 2, 3, pos="PUNCT"),
                word(2, "level", 3, 4, pos=pos, dep="compound"),
                word(3, "shot", 3, 10, dep="ROOT"),
            ]
        )[0]

    assert (compound("NOUN").pos, compound("NOUN").tag, compound("NOUN").dep) == (
        "ADJ", "JJ", "amod",
    )  # fmt: skip
    assert compound("PROPN").pos == "PROPN"


def test_a_dash_between_spaces_or_at_an_end_joins_nothing() -> None:
    pieces = [word(0, "a", 0, 0), word(1, "-", 0, 2), word(2, "b", 0, 4)]
    assert [w.text for w in join_hyphens(pieces)] == ["a", "-", "b"]
    hanging = [word(0, "a", 0, 0), word(1, "-", 0, 1), word(2, "b", 0, 3)]
    assert [w.text for w in join_hyphens(hanging)] == ["a", "-", "b"]
    leading = [word(0, "-", 1, 0), word(1, "b", 1, 1)]
    assert [w.text for w in join_hyphens(leading)] == ["-", "b"]
    mark = [word(0, ",", 2, 0), word(1, "-", 2, 1), word(2, "b", 2, 2)]
    assert [w.text for w in join_hyphens(mark)] == [",", "-", "b"]


def test_of_pieces_as_near_to_the_root_the_last_names_the_kind() -> None:
    words = [
        word(0, "red", 3, 0, pos="ADJ"),
        word(1, "-", 0, 3, pos="PUNCT"),
        word(2, "brown", 3, 4, pos="VERB", dep="xcomp"),
        word(3, "is", 3, 10, pos="AUX", dep="ROOT"),
    ]
    joined = join_hyphens(words)[0]
    assert (joined.text, joined.pos, joined.dep) == (
        "red-brown",
        "VERB",
        "xcomp",
    )


def test_sections_of_a_word_list() -> None:
    assert parse_lists("# note\n[a]\none two\n\nthree\n[b]\n# no\nx=y\n") == {
        "a": ["one two", "three"],
        "b": ["x=y"],
    }


def test_a_graph_as_lines() -> None:
    graph = scene_graph(
        parse(
            "Two men sit. One holds a red cup. There are no dogs on the rug."
        )
    )
    lines = graph_text(graph).splitlines()
    assert lines[0] == "man [0] (two): sit"
    assert "    holds -> cup [2]" in lines
    assert "cup [2]: red" in lines
    assert any(line.startswith("man [1] (one, one of [0])") for line in lines)
    assert any(line.startswith("dog [3] (not there)") for line in lines)
    assert "    not on -> rug [4]" in lines


def test_statements_say_amount_article_and_number() -> None:
    def sentences_of(text: str) -> list[str]:
        return [s.text for s in statements(parse(text))]

    assert sentences_of("An apple is red.") == [
        "There is an apple.",
        "The apple is red.",
    ]
    assert "There are a pair of shoes." in sentences_of(
        "A pair of shoes lies on the floor."
    )
    assert "There are two pairs of shoes." in sentences_of(
        "Two pairs of shoes lie on the floor."
    )
    assert "The house has the chimney." in sentences_of(
        "The house has a chimney."
    )
    assert "The dogs have the collars." in sentences_of(
        "The dogs have collars."
    )
    assert "The man is a doctor." in sentences_of("The man is a doctor.")
    assert "The men are doctors." in sentences_of("The men are doctors.")
    assert "The cat is not on the mat." in sentences_of(
        "The cat is not on the mat."
    )
    assert "The dogs do not chase the cat." in sentences_of(
        "The dogs do not chase the cat."
    )
    assert "The dogs are running." in sentences_of("The dogs are running.")
    assert "The boat is pulled by the horse." in sentences_of(
        "The boat is pulled by a horse."
    )
    assert "She is tall." in sentences_of("She is tall.")
    assert "One man smokes." not in sentences_of("Two men sit.")
    assert (
        sentences_of("Two women stand. One wears a hat.")[-1]
        == "One woman wears the hat."
    )
