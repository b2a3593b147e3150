"""Instructions for annotators as a page, in the language of the texts."""

from __future__ import annotations

from dataclasses import dataclass

from beholder.errors import ConfigError
from beholder.report.plain_page import render_page


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
