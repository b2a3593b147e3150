"""Hard cases of sentence splitting; every expected split is written by hand."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import ConfigError
from beholder.text import RuleSplitter, Segment, splitter
from toy.cases import each_case

RULES = RuleSplitter()


def pieces(text: str) -> list[str]:
    return [segment.text_in(text) for segment in RULES.split(text)]


# One row a case: a bar stands where the text has a space and is to be cut.
SPACED = """
A man sits.|A dog runs.
No stop at all
One sentence.
Mr. Smith met Mrs. Jones and Dr. Who.|He smiled.
St. Peter's church stands on Main St.|The street is empty.
Gen. Lee and Prof. Tan talk to Capt. Hook.|They laugh.
It shows fruit, e.g. Apples and pears, i.e. The usual.|It is bright.
Apples, pears, etc. are on the table.|A cup, too.
Apples, pears, etc.|Nobody eats.
The shop (est. 1950) sells cups vs. Plates.|Next.
The U.S. Army marches.|The flag waves.
She lives in the U.S.|The house is white.
He left at 5 p.m. and slept.|All was dark.
He left at 5 p.m.|Nobody saw him.
He left at 5 p.m. Monday.|Nobody saw him.
It opens at 9 a.m. EST.|People wait.
George W. Bush and J. R. R. Tolkien sit.|They talk.
J.R.R. Tolkien wrote it.|It sold.
See No. 5 on the door.|No. 6 is open.
No.|He did not.
See Fig. 3 and Eq. 2.|She ate a fig.|Then a date.
pp. 3-4 and p. 7 are torn.|The rest is fine.
It costs $3.50 or 2.75 euros.|Cheap!
The cup is 3 in. tall.|He came in.|John left.
The rope is 5 ft.|The hook is iron.
It weighs 10 lbs. and is red.|Heavy.
Version 2.0.1 is out.|Try it.
There are 3.|Two are red.
Born in 1990.|Died in 2020.
The score was 3.|5 players left.
Visit https://example.com/a.b?c=1!d.|Then read.
Mail me at a.b@example.org.|Thanks.
Open README.md and setup.py.|Run it.
Use Node.js or www.Example.Com today.|Good.
The sign says Yahoo!Mail.|It is blue.
"Stop!" he said.|She did.
"Stop!"|He turned around.
“Is it red?” asked Ann.|“No.”|“Then what?”
He said “It is red.”|Then he left.
He said "It is red."|"It is blue," she said.
(It is red.)|The dog sleeps.
It is red (see Fig. 2.) and big.|Yes.
The cat (approx. 4 kg) sleeps.|Quiet.
Wait... what is it?|A bird.
Wait...|The bird is gone.
It was… strange.|He slept…|Then he woke.
What?!|No way!!!|Really...?|Yes.
Is it red?|Is it blue?
a dog runs.|it is brown.|the sky is blue
what is this?|it is a dog!|nice
mr. bean and dr. who walk in st. louis.|they laugh.
1. Open the door.|2. Sit down.
A. Cats are here.|B. Dogs are there.
It was red.[12]|Then it was blue. [3]|Now it is [4] green.
P.S. I like it.|Bye.
The **red cup.**|A *blue cup.*|Both are big.
Acme Inc. makes cups.|Acme Ltd.|The firm is old.
Sgt. Pepper, Jr. and Smith & Co. play.|We clap.
On Jan. 5 it snowed.|It was Fri.|The sun rose.
He has a Ph.D. in art.|She has a Ph.D.|He envies her.
It is plan B.|The first failed.
Washington D.C. is big.|He met M. Dupont there.
Quoi ?|Rien !|« Bonjour ! » dit-il.|« Oui. »|Il part.
Am 3. Oktober fiel z.B. Schnee.|Danach Regen.
¿Qué es?|¡Un perro!|Vale.
Это дом.|Он большой.|Ул. Ленина, т.е. центр.
यह लाल है।|वह नीला है।|कप बड़ा है
राम आया॥ १ ॥|सीता आई॥
यह डॉ. शर्मा हैं।|वे बैठे हैं।
هل هو أحمر؟|نعم۔|لا
ቤት ነው።|ትልቅ ነው
Hi.|Then he left. :)
Nice! 🔥🔥
He left.|— She stayed.
‘I know.’|‘Do you?’
그는 갔다.|그녀는 울었다!|끝.
"""

# The same, where the text has nothing at the bar. \uff01 \uff1f \uff0e are full-width ! ? .
UNSPACED = [
    "他走了。|她哭了。",
    "他走了\uff01|她哭了\uff1f|真的",
    "她说\uff1a「你好。」|然后哭了。",
    "“你好。”|他笑了。",
    "价格是3\uff0e5元。|不贵。",
    "他走了……然后回来了。|好\uff01\uff1f|行。",
    "「行く。」と言った。|彼は去った。",
    "犬がいる。|猫もいる\uff61|鳥",
    "你好!|我是小明?|是的",
    "使用Node.js和Python3.11。|完成。",
    "\uff08他走了。\uff09|她哭了。",
    "It is red.|The dog sleeps!|A cat, too.",
    "लाल है।|नीला है",
]

LAYOUT = [
    ("A red cup\n\na blue cup", ["A red cup", "a blue cup"]),
    (
        "A man walks with\na dog. It\nis brown.",
        ["A man walks with\na dog.", "It\nis brown."],
    ),
    (
        "He met John\r\nSmith. Then\r\nhe left.",
        ["He met John\r\nSmith.", "Then\r\nhe left."],
    ),
    ("It is red.\nthe sky is blue", ["It is red.", "the sky is blue"]),
    ("He met Mr.\nSmith.", ["He met Mr.\nSmith."]),
    ("Overall Scene\nThe cup is red.", ["Overall Scene", "The cup is red."]),
    ("# the scene\nthe cup is red.", ["# the scene", "the cup is red."]),
    ("**Overall scene**\nthe cup", ["**Overall scene**", "the cup"]),
    ("The picture shows:\na dog", ["The picture shows:", "a dog"]),
    ("- a red cup\n- a dog\n* a cat", ["- a red cup", "- a dog", "* a cat"]),
    (
        "- a red cup\n  on a table\n- a dog",
        ["- a red cup\n  on a table", "- a dog"],
    ),
    ("1. a cup\n2) a dog\n(3) a cat", ["1. a cup", "2) a dog", "(3) a cat"]),
    ("- a dog\nThe end is near", ["- a dog", "The end is near"]),
    ("  A cup. \t A dog.  ", ["A cup.", "A dog."]),
    ("One.\n\n---\n\nTwo.", ["One.\n\n---", "Two."]),
    ("*** Hi.", ["*** Hi."]),
    ("***\n\nHi.", ["***\n\nHi."]),
    ("?!", ["?!"]),
    ("", []),
    (" \n\t\u3000 ", []),
]

CASES = [
    (row.replace("|", " "), row.split("|"))
    for row in SPACED.strip().splitlines()
]
CASES += [(row.replace("|", ""), row.split("|")) for row in UNSPACED]
CASES += LAYOUT


@each_case(("text", "expected"), CASES)
def test_hard_case_is_split_as_a_person_would(
    text: str, expected: list[str]
) -> None:
    assert pieces(text) == expected


def test_spans_point_into_the_original_text() -> None:
    assert RULES.split(" A cup.  A dog. ") == [Segment(1, 7), Segment(9, 15)]


@given(
    st.text(
        alphabet=st.sampled_from(
            'aB1.!?…。।"”()[]「」*-:# \n\r\u2028é犬\u0301'
        ),
        max_size=60,
    )
)
def test_every_visible_character_stands_in_exactly_one_segment(
    text: str,
) -> None:
    segments = RULES.split(text)
    covered = [
        i for segment in segments for i in range(segment.start, segment.end)
    ]
    assert len(covered) == len(set(covered))
    assert covered == sorted(covered)
    visible = {i for i, c in enumerate(text) if not c.isspace()}
    assert visible <= set(covered)
    for segment in segments:
        assert segment.text_in(text).strip() == segment.text_in(text) != ""


@pytest.mark.slow  # counts the lines run for long texts
@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        "a. ",
        "a.\n",
        "J. ",
        ". ",
        '!"',
        "\n",
        "[1]",
        ".[1]",
        "1. ",
        "A.",
        "(",
        "e.g. ",
        "- a\n",
    ],
)
def test_work_grows_linearly_with_the_length(unit: str) -> None:
    def n_steps(n: int) -> int:
        """Lines of our own code that are run for a text of so many characters."""
        steps = 0

        def count(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal steps
            steps += event == "line"
            return count

        before = sys.gettrace()
        sys.settrace(count)
        try:
            RULES.split(unit * (n // len(unit)))
        finally:
            sys.settrace(before)
        return steps

    # Eight times the text takes 64 times as many steps when quadratic.
    assert n_steps(16_000) <= 8.5 * n_steps(2_000)
    # What a pattern does inside is not counted: a quadratic one would not come back from this.
    RULES.split(unit * (160_000 // len(unit)))


def test_five_thousand_words_without_a_stop_are_one_segment() -> None:
    text = "word " * 5_000
    assert RULES.split(text) == [Segment(0, len(text) - 1)]


def test_spec_builds_the_splitter_and_refuses_an_argument() -> None:
    assert (
        splitter("rules").identity == "rules"
    )  # signatures add a digest of its code
    with pytest.raises(ConfigError, match=r"splitter 'rules:x'"):
        splitter("rules:x")
    with pytest.raises(ConfigError, match=r"did you mean 'rules'"):
        splitter("rule")
