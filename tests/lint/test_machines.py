"""What models and programs write, beside descriptions that look like it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder.lint import lint
from beholder.lint.linting import summary
from beholder.lint.occurrence import Occurrence, identity
from beholder.lint.outputs import as_json, markdown, page, text
from beholder.lint.rates import rates

REPORTED = {
    "ALT101": (
        "20230514_153012 | _DSC4410 | FB_IMG_1609459200000 | AdobeStock_123456789"
        " | thumbnail_IMG_2231 | image001 | IMG-20230514-WA0003 | 2021-03-22_14-38-02"
        " | Capture d’écran 2023-03-01 à 10.20.30 | Skärmavbild 2023-03-01 kl. 10.20.30"
        " | 截屏2024-05-01 10.20.30 | Снимок экрана 2023-03-01 в 10.20.30 | Picture1 | image (12)"
        " | ChatGPT Image May 3, 2025, 10_20_30 AM | hero-banner_v2_final | 6a00d8341c-800wi"
    ),
    "ALT102": (
        "<?= $alt ?> | %ALT% | $alt | {% trans 'Logo' %} | Array | #REF! | false | alt=\"\""
        " | [object Object] | {alt} | %(title)s | props.alt | @Model.Alt | #¡VALOR! | =IMAGE(A1)"
        " | Photo of {name} at work | Logo null | [Your alt text] | Describe the image here"
    ),
    "ALT103": "图片 | 画像 | चित्र | صورة | 사진 | εικόνα | kuva | Featured image | product photo",
    "ALT104": (
        "This image features a cat. | In this image, a cat sleeps. | The image depicts a cat."
        " | This photo captures a cat on a guitar. | The image you've provided shows a cat."
        " | Das Bild zeigt eine Katze. | Cette image montre un chat. | La imagen muestra un gato."
        " | L'immagine mostra un gatto. | A imagem mostra um gato. | De afbeelding toont een kat."
        " | Bilden visar en katt. | Zdjęcie przedstawia kota. | 这张图片显示一只猫"
    ),
    "ALT107": (
        "1girl, solo, long hair, blue eyes, smile | masterpiece, best quality, 1boy, forest"
        " | a knight (detailed face:1.2) in a wood | A castle on a hill --ar 16:9 --v 6"
        " | long_hair blue_eyes school_uniform sitting_on_chair"
    ),
    "ALT112": (
        "**Subject:** A cat. **Setting:** A room. | A cat with a `red` collar | __A cat__ on a mat"
        " | A cat on a [guitar](page.html)"
    ),
    "ALT114": (
        "A boat AI-generated content may be incorrect. | Automatisch generierte Beschreibung"
        " | KI-generierte Inhalte können fehlerhaft sein. | Description générée automatiquement"
        " | Le contenu généré par l’IA peut être incorrect. | Descrição gerada automaticamente"
        " | O conteúdo gerado por IA pode estar incorreto. | Descripción generada automáticamente"
        " | Il contenuto generato dall'IA potrebbe non essere corretto."
        " | Door AI gegenereerde inhoud is mogelijk onjuist. | Opis wygenerowany automatycznie"
        " | AI 生成的内容可能不正确。 | Peut être une image de 2 personnes"
    ),
    "ALT115": (
        "I'm sorry, but I can't assist with that request. | I cannot identify the person here."
        " | As an AI language model, I can't view images. | Please upload the image again."
        " | Es tut mir leid, aber ich kann das nicht. | Non posso descrivere questa immagine."
        " | Przepraszam, nie mogę opisać tego obrazu. | The image could not be loaded."
    ),
    "ALT116": (
        "Here is the alt text: A cat. | Sure! A cat on a mat. | Alt text: A cat."
        " | A cat on a mat. Let me know if you need more details! | A cat.</s>"
        ' | <think>A cat?</think>A cat. | {"alt": "A cat on a mat."} | A cat (24 characters)'
        " | Option 1: A cat. Option 2: A tabby. | Oto tekst alternatywny: kot na gitarze."
    ),
    "ALT117": (
        "A cat. The overall mood is calm. | A street at dusk, creating a peaceful atmosphere."
        " | A beach, evoking a feeling of tranquility. | A tower, a testament to old skill."
        " | Eine Straße. Die Stimmung ist ruhig. | Una calle, creando una atmósfera tranquila."
    ),
}
PASSED = (
    "P-38 fighter airplane on a runway | A car with the licence plate SAM1234 before a bank"
    " | Room 101 | Opened 1904 | ISO 9001 certificate | Array of solar panels | False teeth"
    " | A $20 note on a table | A sign with 50% off | Logo of the Red Cross | Product demonstration"
    " | An image sensor on a board | The picture frame is empty | Icon of Saint Nicholas on gold"
    " | The man in the picture shows his hand | Two people look at a picture"
    " | Lee Harper, Ann Harper and Sam Harper, with Jo Harper, in a hall"
    " | Woman in flowered dress and woman in flowered hat next to flower arrangements"
    " | 2 * 3 * 4 on a blackboard | AI-generated portraits on a gallery wall"
    " | A child cannot reach the top shelf | Sorry, closed: a note on a door | Of course it rains"
    " | A thermometer shows the atmosphere in a greenhouse | A calm sea | A sad clown in a tent"
    " | Members of the National Council of Negro Women | Boy holding an Eskimo Pie"
    ' | Association for the Blind, front view | Sign reading "Sure!" | # of visitors by year'
)


def lint_texts(
    folder: Path, texts: list[str], **columns: str
) -> list[set[str]]:
    """The rules that report each text."""
    path = folder / "rows.jsonl"
    rows = ({"image": f"{at}.jpg", "alt": alt} for at, alt in enumerate(texts))
    path.write_text("".join(json.dumps(row | columns) + "\n" for row in rows))
    rules_by_line: list[set[str]] = [set() for _ in texts]
    for finding in lint([path]).findings:
        rules_by_line[(finding.line or 0) - 1].add(finding.rule)
    return rules_by_line


@pytest.mark.parametrize("rule", REPORTED)
def test_what_machines_write_is_reported(tmp_path: Path, rule: str) -> None:
    texts = REPORTED[rule].split(" | ")
    found = zip(texts, lint_texts(tmp_path, texts), strict=True)
    assert [alt for alt, rules in found if rule not in rules] == []


def test_descriptions_that_look_like_it_pass(tmp_path: Path) -> None:
    texts = PASSED.split(" | ")
    found = zip(texts, lint_texts(tmp_path, texts), strict=True)
    assert {alt: rules for alt, rules in found if rules} == {}


@pytest.mark.parametrize(
    ("alt", "rule"),
    [
        ("red-boat-on-sand", True),
        ("20230514_153012", True),
        ("red boat on sand", False),
    ],
)
def test_the_size_of_a_file_does_not_count(
    tmp_path: Path, alt: str, rule: bool
) -> None:
    for end in ("", "-1024x768", "-scaled", "-scaled-300x200"):
        image = f"/u/{alt.replace(' ', '-')}{end}.jpg"
        (rules,) = lint_texts(tmp_path, [alt], image=image)
        assert ("ALT101" in rules) == rule, image
        assert identity(image) == f"/u/{alt.replace(' ', '-')}.jpg"


def test_a_term_in_a_name_is_no_finding_and_one_beside_a_name_is(
    tmp_path: Path,
) -> None:
    texts = [
        "Two Negro men on a bench",
        "The Negro League at play",
        "A wheelchair-bound man named Ann Lee",
        "School for the Deaf, front view",
        "Help for the deaf and their dogs",
    ]
    found = ["ALT301" in rules for rules in lint_texts(tmp_path, texts)]
    assert found == [True, False, True, False, True]


def test_texts_of_several_systems_are_compared_within_each(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        "image,alt,group.system\n"
        "a.jpg,A cat sleeps on a mat,x\na.jpg,A tabby sleeps on a rug,y\n"
        "b.jpg,Image of a red boat,x\nb.jpg,A cat sleeps on a mat,y\n"
        "c.jpg,Image of a red boat,x\nc.jpg,Three men row,y\n"
    )
    report = lint([path])
    found = [(finding.rule, finding.line) for finding in report.findings]
    assert [line for rule, line in found if rule == "ALT401"] == [4, 6]
    assert "ALT402" not in dict(found)
    assert summary(report).startswith("3 pictures with 6 texts of 2 systems")
    shares = {
        rate.value: rate.rate
        for rate in rates(report)
        if rate.by == "group.system" and not rate.rule
    }
    assert shares == {"x": 2 / 3, "y": 0.0}
    # Another heading of the system is mapped, as for score.
    path.write_text(path.read_text().replace("group.system", "model", 1))
    unmapped = lint([path])
    unused = "model (2 values; --map group.system=model?)"
    assert f"Not used: {unused}" in str(unmapped.notes)
    for write in (page, markdown, text, as_json):
        assert unused in write(unmapped)
    mapped = lint([path], columns={"group.system": "model"})
    assert [(hit.rule, hit.line) for hit in mapped.findings] == found


@pytest.mark.slow
def test_the_number_of_workers_changes_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    ends = ("", ", a testament to skill", " --ar 16:9", "🎉", "</s>", "")
    path.write_text(
        "image,alt\n"
        + "".join(
            f"{at % 900}.jpg,Image of boat {at % 700}{ends[at % 6]}\n"
            for at in range(1_200)
        )
    )
    one, two = (lint([path], workers=workers) for workers in (1, 2))
    assert as_json(one) == as_json(two)
    assert text(one) == text(two)


def test_derived_texts_are_derived_again(tmp_path: Path) -> None:
    picture = Occurrence(file="a.html", raw=" A  cat ")
    assert picture.fold == "a cat"
    picture.forget()
    assert picture.text == "A cat"
