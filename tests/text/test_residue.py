"""Residue of machines: found by form, removed without a trace, and no plain text has any."""

from __future__ import annotations

from beholder.text.residue import find_residue, without_residue
from toy.cases import each_case

TEXT = "A brown dog runs along the beach. Two children build a castle."


@each_case(
    ("form", "kinds"),
    [
        ("<think>A cat? No.</think>\n{}", {"reasoning"}),
        ("A cat? No.</think>{}", {"reasoning"}),
        ("[THINK]hm[/THINK] {}", {"reasoning"}),
        ("{}</s>", {"special tokens"}),
        ("[CLS] {} [SEP] [PAD] [PAD]", {"special tokens"}),
        ("{}<|im_end|>", {"special tokens"}),
        ("{} <end>", {"special tokens"}),
        ("<caption>{}</caption>", {"tags"}),
        ('{{"caption": "{}"}}', {"JSON"}),
        ("```json\n{{'text': '{}'}}\n```", {"JSON", "code fences"}),
        ("[00:00-00:05] {}", {"time stamps"}),
        ("12.5s: {}", {"time stamps"}),
        ("1\n00:00:00,000 --> 00:00:05,000\n{}", {"time stamps"}),
        (
            "Sure! Here is a detailed description of the image: {}",
            {"wrappers"},
        ),
        ("Voici une description de l'image : {}", {"wrappers"}),
        ("{} Let me know if you need more details!", {"wrappers"}),
        ("I'm sorry, but I can't identify people. {}", {"refusals"}),
        ("Es tut mir leid, aber ich kann das nicht. {}", {"refusals"}),
        ("# {}", {"headings"}),
    ],
)
def test_residue_is_found_and_removed(form: str, kinds: set[str]) -> None:
    text = form.format(TEXT)
    assert {residue.kind for residue in find_residue(text)} == kinds
    assert without_residue(text) == TEXT


@each_case(
    ("written", "text"),
    [
        (r"Un caf\u00e9 \u00e0 Paris.", "Un café à Paris."),
        (r"Un cafe\u0301.", "Un cafe\u0301."),
        (r"\u4e00\u53ea\u72d7", "一只狗"),
        (r"A dog \ud83d\udc36!", "A dog 🐶!"),
        (r"A\u00a0dog\u000aruns.", "A dog runs."),
        (r"C:\\new \/ \"old\"", r'C:\new / "old"'),
        (r"half \ud83d a pair", r"half \ud83d a pair"),  # no character
        (r"A\tdog.\r\nA\bcat.", "A dog. A cat."),
    ],
)
def test_escapes_of_json_are_decoded_within_json_alone(
    written: str, text: str
) -> None:
    assert without_residue(f'{{"caption": "{written}"}}') == text
    assert (
        without_residue(f"A sign says {written}") == f"A sign says {written}"
    )


def test_escapes_of_json_and_marks_of_lists_go() -> None:
    assert (
        without_residue('{"caption": "A \\"STOP\\" sign.\\nA dog."}')
        == 'A "STOP" sign. A dog.'
    )
    assert without_residue("- A dog.\n- A cat.") == "A dog.\nA cat."
    assert (
        without_residue("I'm sorry, but I can't assist with that request.")
        == ""
    )


@each_case(
    "text",
    [
        "A sign says Sure! on a yellow door.", "Sure enough, the dog sleeps.",
        "A man holds a [sign] in brackets.", "The clock shows 12:30 and a train waits.",
        "At 10:30 the shop opens.", "9:15 train to Bath leaves.", "I love you <3 is on the wall.",
        'A screenshot shows {"caption": "hello"} in an editor.', "A # on a phone. The #1 fan.",
        "Open 9:00-17:00 says the sign.", "10:00 to 18:00 are the hours on the door.",
        "Here a dog sleeps on a rug: it is brown.", "Here's Johnny: a man at a door.",
        "A <b>bold</b> word.", "- a dash at the beginning", "The score is 3-2: the crowd cheers.",
        "A man says: I'm sorry, but I can't stay.", "I can't help smiling at this dog.",
        "A poster reads: Let me know if you want to dance.", "Caption competition on a wall.",
        "x < y and y > z on a blackboard.", "The keys [Esc] and [Tab].", "A bus, line 5: it is full.",
        "Sorry, we are closed, says a sign.", "Below is a lake, above a mountain.",
        "As an artist paints, a dog sleeps.", "Of course a cat sits on the keyboard.",
    ],
)  # fmt: skip
def test_plain_texts_have_no_residue(text: str) -> None:
    assert find_residue(text) == []
    assert without_residue(text) == text
