"""Names of languages, and texts that are not English; sentences by hand."""

from __future__ import annotations

from beholder.text import languages
from beholder.text.expected_language import other_language
from beholder.text.languages import has_blanks, language_named, not_english
from toy.cases import each_case


@each_case(
    ("written", "name"),
    [
        ("hi", "Hindi"),
        ("HI", "Hindi"),
        ("en-GB", "English"),
        ("zh_Hant", "Chinese"),
        (" hindi ", "Hindi"),
        ("mai", "Maithili"),
        ("", None),
        ("Hindi and more", None),
        ("mixed", None),
        ("other", None),
    ],
)
def test_only_known_names_and_codes_name_a_language(
    written: str, name: str | None
) -> None:
    assert language_named(written) == name


def test_some_languages_have_no_blanks_between_words() -> None:
    assert has_blanks("Hindi")
    assert not has_blanks("Japanese")


@each_case(
    ("text", "why"),
    [
        ("एक लाल स्कूटर है।", "letters are not Latin"),
        ("犬が走る。", "letters are not Latin"),
        ("Ein Hund läuft im Park.", "German ('ein', 'im')"),
        ("Un chien court dans le parc.", "French ('un', 'dans', 'le')"),
        ("Un perro corre por el parque.", "Spanish ('un', 'por', 'el')"),
        ("Zwei Kinder spielen auf der Wiese.", "German ('zwei', 'auf', 'der')"),
        ("Kaksi lasta leikkii jalkapalloa vihreällä nurmikolla puiston laidalla.", "0 of its 8 words"),
    ],
)  # fmt: skip
def test_texts_in_other_languages_are_told(text: str, why: str) -> None:
    evidence = not_english(text)
    assert evidence is not None
    assert why in evidence


@each_case(
    "text",
    [
        "A dog runs.",
        "dog grass",
        "",
        "12:30",
        "The Museo de la Ciudad de México seen from el Zócalo.",
        "A statue of la Virgen de la Paz above the Rue de la Paix.",
        "A sign reads 出口 above the door.",
        "Ein Hund.",  # too short to tell
        "A man holds a bat as a ball comes, and as he does no one moves.",
        "Kristoffersen Krzyżanowski Włodarczyk",
    ],
)
def test_english_with_foreign_names_passes(text: str) -> None:
    assert not_english(text) is None


def test_a_text_of_half_latin_letters_passes() -> None:
    assert not_english("ab 犬犬") is None
    assert not_english("ab 犬犬犬") is not None


def test_little_words_must_be_a_fifth_of_all() -> None:
    # two signs of ten words, then of eleven; all others are known English words
    ten = "ein dog auf grass red blue house tree man woman"
    assert not_english(ten) == "it looks German ('ein', 'auf')"
    assert not_english(f"{ten} child") is None


def test_one_english_little_word_is_outweighed_by_five_foreign_ones_only() -> (
    None
):
    five = "ein der auf mit dem the dog red house tree"
    assert not_english(five) == "it looks German ('ein', 'der', 'auf')"
    assert not_english(five.replace("dem", "cat")) is None


def test_signs_that_are_no_letters_count_for_no_alphabet() -> None:
    # Five letters of which two are Latin; the sign for "times" and a full-width bracket are none.
    assert not_english("ab × × ［ где") == "3 of its 5 letters are not Latin"
    assert not_english("abc × × ［ где") is None


def test_what_is_remembered_of_texts_has_a_limit() -> None:
    long = "A dog runs over the grass. " * 1000
    before = languages._remembered.cache_info().currsize
    assert not_english(long) is None
    assert languages._remembered.cache_info().currsize == before
    assert not_english(long[:19_999] + "?") is None
    assert languages._remembered.cache_info().currsize == before + 1


@each_case(
    ("text", "page", "is_other"),
    [
        (
            "Un grupo de hombres está en la plaza con sus caballos y una carreta",
            "French",
            True,
        ),
        ("Brązowy pies śpi na kanapie przy oknie", "English", True),
        ("Snötäckta berg bakom en stuga av trä", "German", True),
        ("Gato negro sentado bajo un árbol", "English", True),
        (
            "Kahverengi bir köpek pencerenin yanındaki kanepede uyuyor",
            "English",
            True,
        ),
        ("Oude kaart met de haven en drie schepen", "Dutch", False),
        ("A façade beside the café in the old town", "English", False),
        ("A skydiver does acrobatic stunts over the town", "English", False),
        ("Una donna con un cane sulla spiaggia", "Italian", False),
    ],
)
def test_another_language_than_expected(
    text: str, page: str, is_other: bool
) -> None:
    assert (other_language(text, page) is not None) == is_other


@each_case(
    ("text", "language", "script", "why"),
    [
        ("Ek aadmi lal topi mein baitha hai", "Hindi", "Latn", None),
        ("A man in a red hat sits on a horse", "Hindi", "Latn", "English"),
        ("A man in a red hat sits on a horse", "Hindi", "", "Latin"),
        ("एक आदमी लाल टोपी में बैठा है", "Hindi", "Latn", "Latin"),
        ("لال ٹوپی میں ایک آدمی بیٹھا ہے", "Punjabi", "Arab", None),
        ("A man in a red hat sits on a horse", "Punjabi", "Arab", "Latin"),
        ("Човек са шеширом седи на коњу", "Serbian", "Latn", "Latin"),
        ("Čovek sa šeširom sedi na konju", "Serbian", "Latn", None),
        ("Čovek sa šeširom sedi na konju", "Serbian", "Cyrl", "Latin"),
        ("Човек седи на коњу во поле", "Macedonian", "", None),
    ],
)
def test_the_script_of_a_tag_says_which_letters_are_expected(
    text: str, language: str, script: str, why: str | None
) -> None:
    evidence = other_language(text, language, script)
    assert (evidence is None) == (why is None)
    assert (why or "") in (evidence or "")
