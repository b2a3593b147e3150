"""Rules of the classical metrics, by hand calculation."""

from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path

import pytest

from beholder.errors import ConfigError, DataError, RunError
from beholder.kinds.scores.door import score
from beholder.metrics import metric
from beholder.metrics.classical import Frequencies
from beholder.metrics.classical.meteor import (
    align,
    meteor_score,
    meteor_statistics,
)
from beholder.metrics.classical.overlap import lcs_lengths
from beholder.metrics.classical.tokens import tokenize
from beholder.records import Item, ItemFailure, ItemScore
from beholder.text.synonyms import are_synonyms
from toy.cases import each_case


def value(text: str, candidate: str, *references: str) -> float:
    built = metric(text)
    return built.score_text(candidate, references).values[built.values[0].name]


class TestTokens:
    def test_words_of_any_script_without_punctuation(self) -> None:
        assert tokenize("Don't panic, it's 3.5 km!") == (
            "don't",
            "panic",
            "it's",
            "3.5",
            "km",
        )
        assert tokenize("猫が座る。") == ("猫", "が", "座", "る")

    def test_space_keeps_the_tokens_as_given(self) -> None:
        assert tokenize("A dog , it runs", "space") == (
            "A",
            "dog",
            ",",
            "it",
            "runs",
        )

    @each_case("name", ["bleu", "rouge", "meteor", "chrf"])
    @each_case(
        ("candidate", "reference"),
        [
            ("एक लाल स्कूटर सड़क पर खड़ी है।", "एक लाल स्कूटर सड़क के किनारे खड़ी है।"),
            (
                "白い猫が椅子の上に座っている。",
                "黒い猫が椅子の上に座っている。",
            ),
        ],
    )
    def test_hindi_and_japanese_do_not_score_0(
        self, name: str, candidate: str, reference: str
    ) -> None:
        assert value(name, candidate, reference) > 0.01

    def test_a_text_without_words_is_refused(self) -> None:
        (outcome,) = metric("bleu").score([Item("a", "!!!", ("a dog",))])
        assert isinstance(outcome, ItemFailure)
        assert outcome.message == "the candidate has no words"
        (outcome,) = metric("bleu").score([Item("a", "a dog", ("a cat", "?"))])
        assert isinstance(outcome, ItemFailure)
        assert outcome.message == "reference 2 has no words"


# "A woman in a red dress stands beside a car.", without and with spaces between the words.
UNSPACED = {
    "Thai": ("ผู้หญิงสวมชุดสีแดงยืนอยู่ข้างรถยนต์", "ผู้หญิง สวม ชุด สี แดง ยืน อยู่ ข้าง รถยนต์"),
    "Lao": ("ແມ່ຍິງໃສ່ຊຸດສີແດງຢືນຢູ່ຂ້າງລົດ", "ແມ່ຍິງ ໃສ່ ຊຸດ ສີແດງ ຢືນ ຢູ່ ຂ້າງ ລົດ"),
    "Khmer": ("ស្ត្រីពាក់រ៉ូបក្រហមឈរក្បែរឡាន", "ស្ត្រី ពាក់ រ៉ូប ក្រហម ឈរ ក្បែរ ឡាន"),
    "Burmese": (
        "အမျိုးသမီးတစ်ဦးကားဘေးမှာရပ်နေသည်",
        "အမျိုးသမီး တစ်ဦး ကား ဘေး မှာ ရပ် နေ သည်",
    ),
}


class TestLanguages:
    @pytest.mark.parametrize("script", UNSPACED)
    @pytest.mark.parametrize(
        "name", ["bleu", "rouge", "meteor", "ter", "length"]
    )
    def test_a_script_without_spaces_is_refused_with_the_cause(
        self, name: str, script: str
    ) -> None:
        whole, spaced = UNSPACED[script]
        (outcome,) = metric(name).score([Item("a", whole, (whole,))])
        assert isinstance(outcome, ItemFailure)
        assert "the candidate has no spaces between words" in outcome.message
        assert script in outcome.message
        assert "tokenizer='space'" in outcome.message
        (outcome,) = metric(f"{name}(tokenizer='space')").score(
            [Item("a", spaced, (spaced,))]
        )
        assert isinstance(outcome, ItemScore)

    @each_case(
        ("text", "is_read"),
        [
            ("แมว", True),  # cat
            (
                "รถยนต์",
                True,
            ),  # car, 6 characters: the longest run that may be a word
            ("แมวดำนอน", False),  # cat black sleeps
            ("หมาวิ่งในสวน", False),  # dog runs in garden: 12 characters
            ("ປະເທດລາວ", False),  # country Laos
            ("ตลาดน้ำ เช้า", True),  # two runs, of 7 and 4 characters
        ],
    )
    def test_a_short_text_of_one_run(
        self, text: str, *, is_read: bool
    ) -> None:
        for name in ("bleu", "rouge"):
            (outcome,) = metric(name).score([Item("a", text, (text,))])
            assert isinstance(outcome, ItemScore) is is_read, name

    def test_tibetan_is_cut_into_syllables(self) -> None:
        # "Cat on bed": its syllables end with the sign tsheg.
        candidate, reference = "ཞི་མི་ཉལ་ཁྲི", "ཞི་མི་ནག་པོ་ཉལ་ཁྲི"
        # Four of six syllables in order: precision 1, recall 2/3, beta 1.2.
        f = (1 + 1.44) * (2 / 3) / (2 / 3 + 1.44)
        assert value("rouge", candidate, reference) == pytest.approx(f)

    @pytest.mark.parametrize("script", UNSPACED)
    def test_words_between_spaces_are_words_in_every_script(
        self, script: str
    ) -> None:
        whole, spaced = UNSPACED[script]
        assert value("rouge", spaced, spaced) == 1.0
        assert value("chrf", whole, whole) == 1.0, "characters need no words"

    @pytest.mark.parametrize(
        "text",
        [
            "한국어를공부하는학생이책을읽고있다",
            "Donaudampfschifffahrtsgesellschaft",
        ],
    )
    def test_a_long_word_of_another_script_is_a_word(self, text: str) -> None:
        assert value("rouge", text, text) == 1.0

    @pytest.mark.parametrize("language", ["th", "Hindi", "de", "zh-CN", "fr"])
    def test_meteor_refuses_rows_of_a_language_that_it_is_not_made_for(
        self, language: str
    ) -> None:
        item = Item(
            "a", "a red dog", ("a red dog",), group={"language": language}
        )
        (outcome,) = metric("meteor").score([item])
        assert isinstance(outcome, ItemFailure)
        assert "stemmer='english' and synonyms='wordnet'" in outcome.message
        (outcome,) = metric("meteor(stemmer='none', synonyms='none')").score(
            [item]
        )
        assert isinstance(outcome, ItemScore)
        assert outcome.values["meteor"] == 1.0

    @each_case(
        ("language", "spec", "is_read"),
        [
            ("en", "meteor", True),
            ("en-GB", "meteor(stemmer='porter')", True),
            ("", "meteor", True),
            ("hi", "meteor(stemmer='hindi', synonyms='none')", True),
            ("hi", "meteor(stemmer='hindi')", False),
            ("hi", "meteor(stemmer='german', synonyms='none')", False),
            ("nl", "meteor(stemmer='dutch_porter', synonyms='none')", True),
            ("unknown to us", "meteor", True),
        ],
    )
    def test_meteor_reads_the_language_of_its_stemmer(
        self, language: str, spec: str, is_read: bool
    ) -> None:
        item = Item(
            "a", "a red dog", ("a red dog",), group={"language": language}
        )
        (outcome,) = metric(spec).score([item])
        assert isinstance(outcome, ItemScore) == is_read


class TestRouge:
    def test_longest_common_subsequences_have_the_right_length(self) -> None:
        # a b c b d a b against b d c a b a: 4, Cormen et al., Introduction to Algorithms
        assert lcs_lengths(
            tuple("abcbdab"), [tuple("bdcaba"), tuple("xyz"), ("a",)]
        ) == [4, 0, 1]

    def test_f_of_words_and_pairs(self) -> None:
        values = (
            metric("rouge")
            .score_text("the cat sat", ["the cat sat down", "a dog"])
            .values
        )
        assert values["rouge_1"] == pytest.approx(2 * 3 / (3 + 4))
        assert values["rouge_2"] == pytest.approx(2 * 2 / (2 + 3))
        # P = 1, R = 3/4, beta 1.2
        assert values["rouge_l"] == pytest.approx(
            (1 + 1.44) * 0.75 / (0.75 + 1.44)
        )
        assert values["rouge_l_f1"] == pytest.approx(2 * 0.75 / 1.75)


class TestCider:
    ITEMS = [
        Item("1", "red dog", ("red dog",)),
        Item("2", "blue dog", ("green cat", "blue cat")),
    ]

    def test_by_hand_over_two_images(self) -> None:
        # 1: idf of red, dog, "red dog" is log 2; orders 3 and 4 have nothing: (1 + 1) / 4 * 10.
        # 2: dog occurs in one image (idf log 2), blue too. Candidate (blue, dog), references
        # (green, cat) and (blue, cat), all of weight log 2: cosines 0 and 1/2; pairs share nothing.
        first, second = metric("cider").score(self.ITEMS)
        assert isinstance(first, ItemScore)
        assert isinstance(second, ItemScore)
        assert first.values["cider"] == pytest.approx(5.0)
        assert second.values["cider"] == pytest.approx(10 * (0 + 0.5) / 2 / 4)

    def test_cider_d_clips_repeats_and_punishes_length(self) -> None:
        items = [
            Item("1", "red red red", ("red dog",)),
            Item("2", "a", ("b",)),
        ]
        outcome = metric("cider_d").score(items)[0]
        assert isinstance(outcome, ItemScore)
        # word order: weights 3 log 2 against (log 2, log 2): min(3, 1) * 1 / (3 * sqrt 2);
        # lengths in pairs 2 and 1: exp(-1 / 72); three empty orders.
        expected = 10 * (1 / (3 * math.sqrt(2))) * math.exp(-1 / 72) / 4
        assert outcome.values["cider_d"] == pytest.approx(expected)

    @pytest.mark.parametrize("name", ["cider", "cider_d"])
    def test_repeats_rare_words_and_new_words_follow_the_formula(
        self, name: str
    ) -> None:
        """The definition of Vedantam et al. 2015, one run of words at a time."""
        rng = random.Random(0)
        vocabulary = [
            "the",
            "a",
            "dog",
            "cat",
            "runs",
            "sits",
            "on",
            "red",
            "big",
        ]

        def text(words: list[str]) -> str:
            return " ".join(rng.choices(words, k=rng.randint(1, 12)))

        items = [
            Item(
                str(i),
                text([*vocabulary, "new"]),
                tuple(text(vocabulary) for _ in range(1 + i % 3)),
            )
            for i in range(40)
        ]

        def grams(text: str, n: int) -> Counter[tuple[str, ...]]:
            words = text.split()
            return Counter(
                tuple(words[i : i + n]) for i in range(len(words) - n + 1)
            )

        def idf(gram: tuple[str, ...]) -> float:
            n = len(gram)
            having = sum(
                any(gram in grams(r, n) for r in item.references)
                for item in items
            )
            return math.log(len(items) / max(1, having))

        def formula(candidate: str, reference: str) -> float:
            total = 0.0
            for n in (1, 2, 3, 4):
                ours = {g: c * idf(g) for g, c in grams(candidate, n).items()}
                reference_weights = {
                    g: c * idf(g) for g, c in grams(reference, n).items()
                }
                dot = sum(
                    (min(w, reference_weights[g]) if name == "cider_d" else w)
                    * reference_weights[g]
                    for g, w in ours.items()
                    if g in reference_weights
                )
                norms = [
                    math.sqrt(sum(w * w for w in v.values()))
                    for v in (ours, reference_weights)
                ]
                if norms[0] and norms[1]:
                    total += dot / norms[0] / norms[1]
            gap = len(candidate.split()) - len(reference.split())
            return (
                total
                / 4
                * (math.exp(-(gap**2) / 72) if name == "cider_d" else 1.0)
            )

        expected = [
            10
            * sum(formula(item.candidate, r) for r in item.references)
            / len(item.references)
            for item in items
        ]
        values = [
            outcome.values[name]
            for outcome in metric(name).score(items)
            if isinstance(outcome, ItemScore)
        ]
        assert values == pytest.approx(expected, abs=1e-9)

    def test_one_image_scores_0_with_a_warning(self) -> None:
        with pytest.warns(UserWarning, match="over one image is 0"):
            assert value("cider", "a dog", "a dog") == 0.0

    def test_references_shared_by_items_are_one_document(self) -> None:
        table = Frequencies.from_references(
            [("a dog",), ("a dog",), ("a cat", "the cat")]
        )
        assert table.n_documents == 2
        assert (
            table.counts["a"],
            table.counts["cat"],
            table.counts["the cat"],
        ) == (2, 1, 1)

    def test_scores_of_other_data_are_never_mixed(
        self, tmp_path: Path
    ) -> None:
        items = [*self.ITEMS, Item("3", "a horse", ("a horse",))]
        run = score(items[:2], ["cider"], out=tmp_path)
        assert "|df:run:2docs@" in run.summary["cider"].signature
        with pytest.raises(RunError, match="holds scores of cider"):
            score(items, ["cider"], out=tmp_path)

    def test_a_table_of_another_tokenizer_is_refused(
        self, tmp_path: Path
    ) -> None:
        path = str(tmp_path / "df.json.gz")
        Frequencies.from_references([("a dog",)], "space").save(path)
        with pytest.raises(
            ConfigError, match="was made with tokenizer='space'"
        ):
            metric(f"cider(df={path!r})").score(self.ITEMS)

    def test_a_file_that_is_not_a_table_is_refused(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "x.gz").write_bytes(b"no table")
        with pytest.raises(
            DataError, match="not a table of document frequencies"
        ):
            metric("cider", df=str(tmp_path / "x.gz")).score(self.ITEMS)

    def test_a_table_round_trips(self, tmp_path: Path) -> None:
        table = Frequencies.from_references([("a dog",), ("the cat",)])
        table.save(tmp_path / "df.gz")
        loaded = Frequencies.load(tmp_path / "df.gz")
        assert (loaded.n_documents, loaded.counts, loaded.identity) == (
            2,
            table.counts,
            table.identity,
        )

    def test_an_unprepared_metric_says_what_to_do(self) -> None:
        from beholder.aio import run_sync
        from beholder.metrics import Tools

        with pytest.raises(ConfigError, match="prepare"):
            run_sync(metric("cider").evaluate(self.ITEMS[0], Tools()))


class TestMeteor:
    def test_synonyms_share_a_sense_whatever_their_form(self) -> None:
        assert are_synonyms("cars", "automobile")
        assert are_synonyms("children", "kid")
        assert are_synonyms("couch", "sofa")
        assert not are_synonyms("dog", "cat")
        assert not are_synonyms("skooter", "xyzzy")

    def test_the_alignment_prefers_fewer_chunks(self) -> None:
        # candidate "the cat the mat", reference "the mat the cat": each "the" goes with its noun
        options = [
            [(0, 1.0), (2, 1.0)],
            [(3, 1.0)],
            [(0, 1.0), (2, 1.0)],
            [(1, 1.0)],
        ]
        matches = [
            (match.candidate, match.reference)
            for match in align(options, cover=True)
        ]
        assert matches == [(0, 2), (1, 3), (2, 0), (3, 1)]

    def test_a_doubtful_stem_is_matched_where_it_costs_no_chunk(self) -> None:
        # As METEOR 1.5 (run on these pairs) aligns: "dogs" has a stem and a synonym match with
        # "dog". "x dogs" against "y dog": left out, score 0. "x dogs cup" against "y z dog cup":
        # matched as a stem, since it joins "cup": score 0.1985120673339535 (all content words).
        assert value("meteor", "xx dogs", "yy dog") == 0.0
        assert value(
            "meteor(matching='cover')", "xx dogs", "yy dog"
        ) == pytest.approx(0.12)
        meteor_value = value("meteor", "xx dogs cup", "yy zz dog cup")
        assert meteor_value == pytest.approx(0.1985120673339535)

    def test_the_alignment_covers_most_words_first(self) -> None:
        # taking place 1 for the first word would leave the second without a match
        options = [[(0, 1.0), (1, 1.0)], [(1, 1.0)]]
        assert [match.reference for match in align(options, cover=True)] == [
            0,
            1,
        ]

    def test_values_equal_those_computed_by_hand(self) -> None:
        # "black dogs" against "black dog": black exact 1, dogs by stem 0.6, all content words.
        # P = R = (1 + 0.6) / 2 = 0.8; one chunk covers both: no penalty.
        assert value(
            "meteor(synonyms='none')", "black dogs", "black dog"
        ) == pytest.approx(0.8)
        # "the dog sleeps" against "the dog": P = (0.75 + 0.25) / (1.5 + 0.25), R = 1,
        # F = P R / (0.85 P + 0.15 R), penalty 0.6 (1/2)^0.2
        precision = 1 / 1.75
        f = precision / (0.85 * precision + 0.15)
        expected = f * (1 - 0.6 * 0.5**0.2)
        assert value("meteor", "the dog sleeps", "the dog") == pytest.approx(
            expected
        )

    def test_synonyms_weigh_less_than_the_same_word(self) -> None:
        same = value("meteor", "red car", "red car")
        synonym = value("meteor", "red car", "red automobile")
        assert same == pytest.approx(1.0)
        assert synonym == pytest.approx((1 + 0.8) / 2)
        assert (
            value("meteor(synonyms='none')", "red car", "red automobile")
            < synonym
        )

    def test_the_best_reference_counts(self) -> None:
        alone = value("meteor", "a dog", "a dog")
        assert value("meteor", "a dog", "xyz", "a dog") == alone == 1.0

    def test_nothing_in_common_is_0(self) -> None:
        assert meteor_score(meteor_statistics(("a",), ("b",), [])) == 0.0

    def test_an_unknown_stemmer_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="stemmer='klingon'"):
            metric("meteor(stemmer='klingon')")


class TestOthers:
    def test_length_counts_words_and_characters(self) -> None:
        outcome = metric("length").score([Item("a", "A dog, running.")])[0]
        assert isinstance(outcome, ItemScore)
        assert outcome.values == {"words": 3.0, "characters": 15.0}

    def test_ter_refuses_texts_that_would_take_minutes(self) -> None:
        (outcome,) = metric("ter").score([Item("a", "dog " * 501, ("a dog",))])
        assert isinstance(outcome, ItemFailure)
        assert "501 words" in outcome.message

    @each_case(
        "text",
        ["bleu(rules='x')", "rouge(beta=0)", "chrf(char_order=0)", "bleu(tokenizer='x')",
         "cosine(references='x')", "token_f1(weights='x')", "ngram_embed(n=0)", "ter(max_words=0)"],
    )  # fmt: skip
    def test_a_bad_parameter_is_refused(self, text: str) -> None:
        with pytest.raises(ConfigError):
            metric(text)
