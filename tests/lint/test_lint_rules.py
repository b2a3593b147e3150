"""Each rule on texts and elements that it finds and that it passes, labelled from the specification."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder.errors import DataError
from beholder.lint import LintFinding, lint
from beholder.lint.context import vocabulary
from beholder.lint.linting import Choice
from beholder.lint.rules import PROFILES, LintSetting, Profile, rules
from toy.cases import each_case

CASES = [
    line.split(" ", 3)
    for line in Path(__file__)
    .with_name("cases.txt")
    .read_text(encoding="utf-8")
    .splitlines()
]


def find(path: Path, profile: Profile = "web") -> list[LintFinding]:
    return lint([path], LintSetting(profile, terms=vocabulary(()))).findings


def table(folder: Path, *rows: str) -> Path:
    path = folder / "alts.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@each_case(("sign", "rule", "profile", "source"), CASES)
def test_each_rule_reports_its_cases_and_no_others(
    tmp_path: Path, sign: str, rule: str, profile: Profile, source: str
) -> None:
    page = tmp_path / "page.html"
    page.write_text(source, encoding="utf-8")
    assert (
        f"ALT{rule}" in {finding.rule for finding in find(page, profile)}
    ) == (sign == "+")


@pytest.mark.parametrize(
    ("profile", "n_characters", "severity"),
    [
        ("web", 150, None),
        ("web", 151, "note"),
        ("web", 251, "warning"),
        ("social", 500, None),
        ("social", 1001, "warning"),
        ("social", 1501, "error"),
    ],
)
def test_lengths_in_characters_have_the_severity_of_their_profile(
    tmp_path: Path, profile: Profile, n_characters: int, severity: str | None
) -> None:
    text = ("A red door in a wall of old stone, " * 60)[
        : n_characters - 1
    ] + "."
    path = table(tmp_path, "image,alt", f'a.jpg,"{text}"')
    levels = [
        finding.severity
        for finding in find(path, profile)
        if finding.rule == "ALT105"
    ]
    assert levels == ([] if severity is None else [severity])


@pytest.mark.parametrize(
    ("n", "severity"), [(30, None), (31, "note"), (61, "warning")]
)
def test_limits_of_museums_in_words(
    tmp_path: Path, n: int, severity: str | None
) -> None:
    path = table(tmp_path, "image,alt", "a.jpg," + " ".join(["stone"] * n))
    levels = [
        finding.severity
        for finding in find(path, "museum")
        if finding.rule == "ALT105"
    ]
    assert levels == ([] if severity is None else [severity])


LONG = (
    "A wide view of the old harbour of Genoa with boats, cranes and houses under the hill,"
    " and of the ridges behind the town that {} carries up to the monastery"
)


@pytest.mark.parametrize(
    ("lengths", "cut"),
    [
        # A field of 100 characters cuts all longer texts.
        ([100] * 12 + list(range(40, 80)), 12),
        # Complete texts of 100 characters by chance: longer ones are as many.
        ([100] * 3 + list(range(60, 140)), 0),
        ([100] * 12 + [101 + at // 3 for at in range(60)], 0),
    ],
)
def test_texts_are_cut_where_their_lengths_pile_up(
    tmp_path: Path, lengths: list[int], cut: int
) -> None:
    texts = [
        f"View {at:03}: {LONG.format('path')}"[: length - 1] + "s"
        for at, length in enumerate(lengths)
    ]
    rows = [f'{at}.jpg,"{text}"' for at, text in enumerate(texts)]
    path = table(tmp_path, "image,alt", *rows)
    found = [finding for finding in find(path) if finding.rule == "ALT113"]
    assert len(found) == cut
    assert all(len(finding.text) == 100 for finding in found)


def test_a_single_text_that_breaks_off_at_a_usual_limit(
    tmp_path: Path,
) -> None:
    start = LONG[:86]  # up to "hill,"
    ends = ("and of the rdg", "and the hills.", "and of Jonesyx")
    rows = [f'{end[-3:]}.jpg,"{start}{end}"' for end in ends]
    assert {len(start + end) for end in ends} == {100}
    path = table(tmp_path, "image,alt", *rows)
    assert [
        finding.line for finding in find(path) if finding.rule == "ALT113"
    ] == [2]


@each_case(
    ("text", "date", "hit"),
    [
        ("A street in 1920 with carts", "1955", True),
        ("A woman in an 1890s dress", "1820-1830", True),
        ("A kitchen of the 1950s with a stove", "1955", False),
        ("Poster of Expo 1967 in a hall", "1966", False),
        ("A church of the 19th century", "1850", False),
        ("A church of the 19th century", "1950", True),
        ("A nineteenth-century church", "1950", True),
        ("A church of the fourteenth century", "1390", False),
        ("Ein Haus des 18. Jahrhunderts", "1955", True),
        ("A street in the sixties", "1905", True),
        ("A street in the sixties", "1905-1961", False),
        ("A bus in the '60s", "1985", True),
        ("A woman in her sixties on a bench", "1905", False),
        ("A street in 1914-18 with carts", "1955", True),
        ("A street in 1952-55 with carts", "1955", False),
        ("A street on 3 May 1920", "1955-05-03", True),
        ("A street in 1855 with carts", "1850-60", False),
        ("A street in 1855 with carts", "before 1900", False),
        ("A street in 1955 with carts", "after 1900", False),
        ("Fireworks on Christmas Day 1920", "1955", True),
        ("Ein Markt in Weimar im Jahr 1890", "1926", True),
        ("A boat on Lake Garda in Summer 1920", "1955", True),
        ("Plakat der Expo 1958 in Brüssel", "1955", False),
        ("A cellar with about 1800 barrels", "1952", False),
        ("A crowd of 1500 workers", "1910", False),
        ("A plane at 1500 feet", "1955", False),
        ("A house at 1847 Elm Street", "1921", False),
        ("A label for lot 1912", "1986", False),
        ("Runner 1742 at the finish", "2015", False),
        ("A 1957 Chevrolet at a rally", "2015", False),
        ("The ferry Twentieth Century at a pier", "1898", False),
        ("A party in 1920s style", "2019", False),
        ("A house built in 1890 with a garden", "1955", False),
        ("Ada Lovelace (1815-1852) with a fan", "1970", False),
        ("A monument to the revolution of 1848", "1955", False),
        ("A street at the turn of the 20th century", "1895", False),
        ("A church between 1914 and 1955", "1930", False),
        ("Trams of the 19th and 20th centuries", "1890", False),
        ("Church of 1890 photographed in 1955", "1955", False),
        ("A street around 1890", "1895", False),
        ("A tram after 1945", "1955", False),
        ("A tram before 1914", "1955", True),
        ("A street around 1900", "1955", True),
        ("A camp from 1914 to 1918", "1955", True),
        ("A 1936 poster for a circus", "1966", True),
        ("A street scene 1936", "1890", True),
        ("A street in 1926", "189X", True),
        ("A street in 1926", "192X", False),
        ("A street in 1926", "19XX", False),
        ("A harbour in the mid-1930s", "1890", True),
        ("Une église du XIXe siècle", "1955", True),
        ("Una calle del siglo XVIII", "1955", True),
        ("A 19th c. street", "1955", True),
        # Numbers of houses, groups and things.
        ("A wreck at the 2100 block of Mill Avenue", "1941", False),
        ("A wreck at the 2100 north block of Mill", "1941", False),
        ("A grocery at street nos. 1829-1831", "c. 1955", False),
        ("A house at address 1721", "1959", False),
        ("Scouts of troop 1303 with cookies", "February 1959", False),
        ("Crew of lorry 1944", "1921", False),
        ("Members of Local 1089 at a table", "1959", False),
        ("Clergymen: Dr. V. C. Hall and Rev. J. Moss", "1952", False),
        # Years of groups and offices.
        ("Officers of the youth council for 1954", "December 1953", False),
        ("Graduates of the class of 1935 at a table", "1925", False),
        ("A map of Phoenix of 1886 on a wall", "1950", False),
        ("A wall calendar for 1957", "1951", True),
        # Years of other calendars, and other digits.
        ("A coin dated 1284 AH", "1866", False),
        ("A tile dated 1307 (AH)", "1890", False),
        ("A street in 1920", "1284 AH", False),
        ("شارع عام ١٨٩٥", "1890", True),
        ("شارع عام ١٨٩٥", "1895", False),
        ("1895年的街道", "1890", True),
        ("1895年的街道", "1895", False),
        # Records as archives write them.
        ("A man in 1897", "1896-7", False),
        ("A man in 1899", "1896-7", True),
        ("A street in 1920", "n.d.", False),
        ("A street in 1920", "1890 (printed 1920)", False),
        ("A street in 1895", "[1890?]", False),
        ("A street in 1920", "[1890?]", True),
        ("A street in 1920", "late 19th century", True),
        ("A street in 1900", "19th century", False),
        ("A street in 1920", "7. März 1890", True),
        ("A street in 1880", "before 1890", False),
    ],
)
def test_dates_of_the_record(
    tmp_path: Path, text: str, date: str, hit: bool
) -> None:
    path = table(tmp_path, "image,alt,date", f"a.jpg,{text},{date}")
    assert ("ALT207" in {finding.rule for finding in find(path)}) == hit


@pytest.mark.parametrize(
    ("n_same", "n", "hit"), [(40, 60, True), (10, 60, False), (25, 200, False)]
)
def test_boilerplate_is_reported_from_its_threshold(
    tmp_path: Path, n_same: int, n: int, hit: bool
) -> None:
    same = [
        f"{k}.jpg,Black and white photograph showing house {k} of a row"
        for k in range(n_same)
    ]
    other_rows = [
        f"{k}.jpg,w{k} x{k} y{k} z{k} v{k} stone" for k in range(n_same, n)
    ]
    path = table(tmp_path, "image,alt", *same, *other_rows)
    assert ("ALT404" in {finding.rule for finding in find(path)}) == hit


@pytest.mark.parametrize(("n_named", "hit"), [(30, True), (10, False)])
def test_race_is_named_for_some_people_only(
    tmp_path: Path, n_named: int, hit: bool
) -> None:
    naming_rows = [
        f"{k}.jpg,A Black woman reads book {k}" for k in range(n_named)
    ]
    plain = [f"{k}.jpg,A woman reads letter {k}" for k in range(n_named, 40)]
    path = table(tmp_path, "image,alt", *naming_rows, *plain)
    assert (
        "ALT403" in {finding.rule for finding in find(path, "museum")}
    ) == hit


@pytest.mark.parametrize(
    ("n_black", "n_white", "hit"),
    [
        # The example of the protocol: 32 of 40 against 6 of 60, difference .70.
        ((32, 40), (6, 60), True),
        # 9 of 45 against 0 of 45 is just .20; its interval (by hand .20 +- 1.96 * .06) is above 0.
        ((9, 45), (0, 45), True),
        ((8, 45), (0, 45), False),  # .18
        ((9, 20), (4, 20), False),  # .25, but .25 - 1.96 * .143 is below 0
        ((32, 40), (0, 19), False),  # too few mentions of one label
    ],
)
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_race_is_named_for_one_label_only(
    tmp_path: Path,
    n_black: tuple[int, int],
    n_white: tuple[int, int],
    hit: bool,
    form: str,
) -> None:
    rows = [
        (
            f"{label}{k}.jpg",
            f"A {label if k < n_named else 'tall'} woman reads book {k}",
            label,
        )
        for label, (n_named, n) in {"Black": n_black, "white": n_white}.items()
        for k in range(n)
    ]
    if form == "csv":
        path = table(tmp_path, "image,alt,group.race", *map(",".join, rows))
    else:
        path = tmp_path / "rows.jsonl"
        lines = [
            {"image": a, "alt": b, "group": {"race": c}} for a, b, c in rows
        ]
        path.write_text("\n".join(map(json.dumps, lines)))
    messages = [
        finding.message
        for finding in find(path, "museum")
        if finding.rule == "ALT403"
    ]
    assert len(messages) == hit
    if n_white == (6, 60):
        assert (
            '32 of 40 people labelled "Black" and 6 of 60 labelled "white"'
            in messages[0]
        )


@pytest.mark.parametrize(
    ("field", "naming_rows", "plain"),
    [
        (
            "race",
            "A Black woman reads. The woman smiles.",
            "A woman reads. The person smiles.",
        ),
        ("gender", "A woman reads.", "A person reads."),
        ("age", "An elderly man reads.", "A man reads."),
        ("skin", "A dark-skinned man reads.", "A man reads."),
    ],
)
def test_each_attribute_has_its_own_markers(
    tmp_path: Path, field: str, naming_rows: str, plain: str
) -> None:
    rows = [
        f"{k}.jpg,{naming_rows if k < 20 else plain},{'x' if k < 20 else 'y'}"
        for k in range(40)
    ]
    path = table(tmp_path, f"image,alt,group.{field}", *rows)
    (finding,) = [
        finding for finding in find(path, "museum") if finding.rule == "ALT403"
    ]
    # Two mentions of one person count once, so that each text has one.
    assert (
        f'{field} is named for 20 of 20 people labelled "x" and 0 of 20'
        in finding.message.lower()
    )


VOCABULARY = (
    "id\tterm\tforms\tlanguage\tkind\tseverity\tsuggestion\twhy\texceptions\n"
)


@each_case(
    ("terms", "text", "hit"),
    [
        ("zorble\tzorbles", "A zorble beside the river", "zorble"),
        ("zorble\tzorbles", "Two zorbles beside the river", "zorbles"),
        ("zorble\t", "A Zorble beside the river", "Zorble"),
        ("\tzorble | zorbling", "A zorbling beside the river", "zorbling"),
        ("zorble\tzorbles", "A zorbler beside the river", None),
        ("Zorblestraße\t", "The Zorblestraße in the rain", "Zorblestraße"),
        ("big  zorble\t", "A big zorble in the rain", "big zorble"),
        ("zorbline\t", "A zorblıne in the rain", None),  # a dotless letter
    ],
)
@each_case("mark", ["", "\ufeff"])
def test_terms_of_a_vocabulary_file_and_their_forms(
    tmp_path: Path, terms: str, text: str, hit: str | None, mark: str
) -> None:
    vocabulary_file = tmp_path / "terms.tsv"
    vocabulary_file.write_text(
        f"{mark}{VOCABULARY}Z1\t{terms}\ten\tdated\tW\twobble\t\t\n",
        encoding="utf-8",
    )
    path = table(tmp_path, "image,alt", f"a.jpg,{text}")
    report = lint(
        [path], LintSetting("web", terms=vocabulary((str(vocabulary_file),)))
    )
    assert not report.bad
    spans = [
        finding.text[slice(*finding.span)]
        for finding in report.findings
        if finding.rule == "ALT301" and finding.span
    ]
    assert spans == ([] if hit is None else [hit])


@pytest.mark.parametrize("column", ["term", "forms"])
def test_a_vocabulary_needs_terms_or_forms(
    tmp_path: Path, column: str
) -> None:
    vocabulary_file = tmp_path / "terms.tsv"
    vocabulary_file.write_text(f"id\t{column}\nZ1\tzorble\n")
    assert [
        term.form for term in vocabulary(("none", str(vocabulary_file)))
    ] == ["zorble"]
    vocabulary_file.write_text("id\tword\nZ1\tzorble\n")
    with pytest.raises(DataError, match="no column 'term' or 'forms'"):
        vocabulary((str(vocabulary_file),))


def test_one_text_on_many_pictures_is_reported_at_each_place(
    tmp_path: Path,
) -> None:
    rows = [f"{k}.jpg,Product photo" for k in range(12)]
    places = [
        finding
        for finding in find(table(tmp_path, "image,alt", *rows))
        if finding.rule == "ALT401"
    ]
    assert [finding.line for finding in places] == list(range(2, 14))
    assert "12 different pictures" in places[0].message


def test_the_covering_finding_is_shown_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<a href="/"><img src="dog.jpg" alt="dog.jpg"></a>')
    assert {finding.rule for finding in find(page)} == {"ALT101"}


def test_every_rule_says_what_to_do() -> None:
    assert len(rules()) == 46
    assert all(
        rule.condition and rule.next.endswith((".", 'alt="".'))
        for rule in rules().values()
    )
    assert all(
        covered_rule in rules()
        for rule in rules().values()
        for covered_rule in rule.covers
    )


def test_the_page_lists_every_rule_with_its_severities() -> None:
    page = (Path(__file__).parents[2] / "docs" / "lint.md").read_text("utf-8")
    *of_pictures, of_cues = PROFILES
    for rule in rules().values():
        profiles = [of_cues] if rule.id > "ALT5" else of_pictures
        cells = (
            rule.id,
            rule.name,
            *(rule.severities[profile] for profile in profiles),
            rule.condition,
        )
        assert f"| {' | '.join(cells)} |" in page


def test_a_year_in_the_caption_is_no_other_number(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [
        ("Two men row past a shop", "Street, 1953"),
        ("Three men at a bar", "Two men at a bar"),
    ]
    path.write_text(
        "".join(
            json.dumps({"image": c, "alt": a, "caption": c}) + "\n"
            for a, c in rows
        )
    )
    assert [
        finding.line for finding in find(path) if finding.rule == "ALT206"
    ] == [2]


def test_a_rule_that_is_left_out_still_covers(tmp_path: Path) -> None:
    path = table(tmp_path, "image,alt", "a.jpg,IMG_2041")
    for choice in (
        Choice(ignore=frozenset(["ALT101"])),
        Choice(severity={"ALT101": "off"}),
    ):
        assert lint([path], choice=choice).findings == []


def test_a_dated_word_is_found_before_every_noun_for_people(
    tmp_path: Path,
) -> None:
    texts = {
        "A coloured servant opens a door": True,
        "Two colored women in a field": True,
        "Coloured troops on the march": True,
        "A woman with coloured glass": False,
        "Colored pencils for children": False,
    }
    rows = "\n".join(f"{n}.jpg,{text}" for n, text in enumerate(texts))
    path = table(tmp_path, "image,alt", rows)
    marked_texts = {f.text for f in find(path) if f.rule == "ALT301"}
    assert marked_texts == {
        text for text, expected in texts.items() if expected
    }
