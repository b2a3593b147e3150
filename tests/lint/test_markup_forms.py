"""Pages, components and marked-up texts as tools write them: what is read, and what is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.lint import LintReport, lint
from toy.cases import each_case

XHTML = 'xmlns:{0}="http://www.w3.org/1999/xhtml"'
LABELLED = '<input type="image" src="go.png">'


def check(folder: Path, name: str, source: str | bytes) -> LintReport:
    path = folder / name
    data = source if isinstance(source, bytes) else source.encode()
    path.write_bytes(data)
    return lint([path])


def texts_of(report: LintReport) -> list[str | None]:
    return [
        None if place.raw is None else place.text
        for place in report.occurrences
    ]


def rules_of(report: LintReport) -> list[str]:
    return sorted(finding.rule for finding in report.findings)


def left_out_of(report: LintReport) -> dict[str, int]:
    return {entry.kind: entry.n for entry in report.left_out}


@each_case(
    ("source", "texts", "rules"),
    [
        # XHTML with a prefix, which any name may be
        (f'<h:html {XHTML.format("h")}><h:img src="b.jpg"/></h:html>', [None], ["ALT001"]),
        (f'<x:p {XHTML.format("x")}><x:img src="b.jpg" alt="A red door"/></x:p>', ["A red door"], []),
        ('<h:p xmlns:h="urn:other"><h:img src="b.jpg"/></h:p>', [], []),
        # ``image`` is ``img`` for browsers, except in drawings
        ('<image src="a.jpg" alt="A red door">', ["A red door"], []),
        ('<image src="a.jpg">', [None], ["ALT001"]),
        ('<svg aria-hidden="true"><image href="a.jpg"/></svg>', [], []),
        # labels name buttons
        (f"<label>Search {LABELLED}</label>", ["Search"], []),
        (f'<label for="b">Search</label>{LABELLED.replace(" src", " id=b src")}', ["Search"], []),
        (f"<label> {LABELLED}</label>", [None], ["ALT006"]),
        (f'<label for="c">Search</label>{LABELLED}', [None], ["ALT006"]),
        # parts of drawings
        ('<svg><circle role="img"><title>Sun over the harbour</title></circle></svg>', [None, "Sun over the harbour"], []),
        ('<svg><g role="img"><title> </title></g></svg>', [None, ""], ["ALT008", "ALT010"]),
        # the name of the file is what a download should say
        ('<a href="d/n.jpeg" download>Download <img src="n.jpeg" alt="n.jpeg"></a>', ["n.jpeg"], []),
        ('<a href="f" download="a b.png"><img src="n.jpeg" alt="a b.png"></a>', ["a b.png"], []),
        ('<a href="n.jpeg">See <img src="n.jpeg" alt="n.jpeg"></a>', ["n.jpeg"], ["ALT101"]),
        ('<a href="n.jpeg" download>See <img src="m.jpeg" alt="m.jpeg"></a>', ["m.jpeg"], ["ALT101"]),
        # a quotation mark ends the text
        ('<img src=a alt="A sign that says "STOP NOW" by the road">', ["A sign that says"], ["ALT113"]),
        ("<img src=a alt='A boat at sea, it's red'>", ["A boat at sea, it"], ["ALT113"]),
        ('<img alt="A disk of 5" on a wall" src=a>', ["A disk of 5"], ["ALT113"]),
        ("<img src=a.jpg alt=Boats lie on sand>", ["Boats"], ["ALT106", "ALT113"]),
        ('<img alt="A red door in a wall"title="Old" src=a>', ["A red door in a wall"], []),
        ("<img src=a alt='A door called \"Old\"' hidden-x>", ['A door called "Old"'], []),
        ('<img alt="A red door in a wall" <?php echo "x" ?> src=a>', ["A red door in a wall"], []),
        ('<img alt="First draft" alt="A hen in snow" src=a>', ["First draft"], ["ALT112"]),
        # frameworks that compute a text in pages
        ('<img :src="a" :alt="b"><img [src]="a" [alt]="b">', [], []),
    ],
)  # fmt: skip
def test_pages(
    tmp_path: Path, source: str, texts: list[str | None], rules: list[str]
) -> None:
    report = check(tmp_path, "a.html", source)
    assert (texts_of(report), rules_of(report)) == (texts, rules)


@each_case(
    "attribute",
    [
        *("data-src", "data-lazy-src", "data-original", "data-orig-src"),
        *("data-image", "data-img", "data-echo", "data-ezsrc", "data-cfsrc"),
        *("data-lazy", "data-lazyload", "data-bg-src", "data-hi-res-src"),
        *("data-flickity-lazyload", "data-pagespeed-lazy-src", "lazy-src"),
    ],
)
def test_a_picture_that_is_loaded_later_is_its_real_one(
    tmp_path: Path, attribute: str
) -> None:
    lazy = f'<img src="ph.gif" {attribute}="{{0}}.jpg" alt="{{1}}">'
    page = lazy.format("h", "A hill") + lazy.format("m", "A mill by a brook")
    report = check(tmp_path, "a.html", page)
    assert [place.identity for place in report.occurrences] == [
        str(tmp_path / "h.jpg"),
        str(tmp_path / "m.jpg"),
    ]
    assert rules_of(report) == []


def test_other_attributes_are_not_the_picture(tmp_path: Path) -> None:
    page = (
        '<img src="a.jpg" data-hover-src="b.jpg" data-page-url="c.html"'
        ' data-image=\'{"id": "d.jpg"}\' data-title-image="A hill" alt="A hill">'
        '<img src="e.gif" srcset="w_30,h_20/f.jpg 1x,g.jpg 2x" alt="A mill by a brook">'
    )
    first, second = check(tmp_path, "a.html", page).occurrences
    assert (Path(first.picture).name, first.pictures) == ("a.jpg", ())
    assert [
        address.removeprefix(f"{tmp_path}/") for address in second.pictures
    ] == ["w_30,h_20/f.jpg", "g.jpg"]


@pytest.mark.parametrize(
    ("page", "n"),
    [
        ('<img src="p.gif" data-srcset="h.jpg 1x" alt="A hill"><noscript><img src="h.jpg" alt="A hill"></noscript>', 1),
        ('<img src="p.gif" data-x="h" alt="A hill"> <!-- x --> <noscript><img src="h.jpg" alt="A hill"></noscript>', 1),
        ('<noscript><img src="h.jpg" alt="A hill"></noscript><img src="p.gif" data-x="h" alt="A hill">', 1),
        ('<a href="h"><img src="p.gif" alt="A hill"></a><noscript><a href="h"><img src="h.jpg" alt="A hill"></a></noscript>', 1),
        ('<img src="p.gif" alt="A hill"><p>Text<p><noscript><img src="h.jpg" alt="A hill"></noscript>', 2),
        ('<img src="p.gif" alt="A hill"><noscript><img src="h.jpg" alt="A mill"></noscript>', 2),
        ('<noscript><img src="h.jpg" alt="A hill"></noscript>', 1),
    ],
)  # fmt: skip
def test_a_noscript_beside_a_picture_is_its_copy(
    tmp_path: Path, page: str, n: int
) -> None:
    report = check(tmp_path, "a.html", page)
    assert len(report.occurrences) == n
    if n == 1:
        assert report.occurrences[0].identity == str(tmp_path / "h.jpg")


def test_pictures_in_templates_are_counted(tmp_path: Path) -> None:
    page = (
        '<template><img src="a.jpg"><p alt="x"></template>'
        '<div><template shadowrootmode="open"><img src="b.jpg" alt="A hill"></template></div>'
    )
    report = check(tmp_path, "a.html", page)
    assert (texts_of(report), left_out_of(report)) == (
        ["A hill"],
        {"template": 1},
    )


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ('<?xml version="1.0" encoding="koi8-r"?>\n', "koi8-r"),
        ("<?xml version='1.0' encoding='windows-1251'?>", "cp1251"),
        ('<?xml version="1.0"?><meta charset="koi8-r">', "koi8-r"),
        ('<?xml version="1.0" encoding="UTF-8"?>', "utf-8"),
        ("", "utf-8"),
    ],
)
def test_the_declaration_of_xml_says_the_encoding(
    tmp_path: Path, head: str, encoding: str
) -> None:
    page = (
        f'{head}<html lang="ru"><img src="a.jpg" alt="Лодка на песке"/></html>'
    )
    report = check(tmp_path, "a.xhtml", page.encode(encoding))
    assert (texts_of(report), rules_of(report)) == (["Лодка на песке"], [])


COMPONENTS = {
    # a text that is written out is read
    '<Image src={hero} alt="A lighthouse in fog" />': ("A lighthouse in fog", 0),
    "<img src={hero} alt='A lighthouse in fog' />": ("A lighthouse in fog", 0),
    '<Image\n  src={{ a: "}" }}\n  alt={"A lighthouse in fog"}\n/>': ("A lighthouse in fog", 0),
    "<NextImage src={a} alt={`A lighthouse in fog`} {...rest} />": ("A lighthouse in fog", 0),
    '<Cld.Image src="a" aria-label="A lighthouse in fog" />': ("A lighthouse in fog", 0),
    '<Teaser alt="A lighthouse in fog">': ("A lighthouse in fog", 0),
    '<v-img src={a} alt="A lighthouse in fog" />': ("A lighthouse in fog", 0),
    # one that is missing is missing
    "<Image src={hero} />": (None, 0),
    # one that an expression gives is counted
    "<img src={hero} alt={props.alt} />": ("", 1),
    "<Image src={hero} alt={`${a} in fog`} />": ("", 1),
    '<Image src={hero} alt={t("fog, {a}")} />': ("", 1),
    "<Image {...props} />": ("", 1),
    "<Image src={hero} {alt} />": ("", 1),
    # no pictures
    "<ImageProvider value={a} />": ("", 0),
    "<Tabs items={a}></Tabs>": ("", 0),
}  # fmt: skip


@each_case("name", ["a.mdx", "a.md", "a.astro", "a.jsx", "a.tsx", "a.svelte"])
@each_case("source", COMPONENTS)
def test_components(tmp_path: Path, name: str, source: str) -> None:
    text, n_expressions = COMPONENTS[source]
    report = check(tmp_path, name, f"\n {source}\n")
    assert texts_of(report) == ([] if text == "" else [text])
    assert left_out_of(report) == (
        {"expression": n_expressions} if n_expressions else {}
    )
    assert [place.line for place in report.occurrences] == [2] * (text != "")
    assert rules_of(report) == (["ALT001"] if text is None else [])


@each_case(
    ("name", "source", "texts", "left_out"),
    [
        ("a.vue", '<template>\n<img :src="a" alt="A red door"/><img :src="a" :alt="b"/></template>', ["A red door"], {"expression": 1}),
        ("a.vue", "<NuxtImg src=\"a.png\" :alt=\"'A red door'\" />", ["A red door"], {}),
        ("a.vue", '<script>const a = "<img src=b>"</script><!-- <img src=c> -->', [], {}),
        ("a.vue", '<img src="a.png"><img alt="" src="b.png">', [None, None], {}),
        ("a.svelte", '<img {src} alt="A dance of {people}"/>', [], {"expression": 1}),
        ("a.svelte", '<img {src} alt="A red door"/>', ["A red door"], {}),
        ("a.astro", '---\nconst a = "<img src=b>";\n---\n<Picture src={a} alt="A red door"/>', ["A red door"], {}),
        ("a.jsx", 'const a = b < c;\n// <img src="x">\nreturn <p>{/* <img src="y"/> */}<img src={z} alt="A red door"/></p>', ["A red door"], {}),
        ("a.tsx", "const f = <T,>(a: Map<string, T>) => a;\n<input type='image' src={a}/>", [None], {}),
        ("a.jsx", '<a href="/"><img src={a} alt=""/></a><a href="/">Home <img src={a} alt=""/></a>', [None, None], {}),
        ("a.mdx", "import A from 'a'\n\n`<Image src={a}/>`\n\n```jsx\n<Image src={a}/>\n```\n\n![A red door](b.png)\n", ["A red door"], {}),
        ("a.md", 'Text <Image src={a} alt="A red door"/> and ![A hill](b.png)\n', ["A red door", "A hill"], {}),
        ("a.md", '<Image src={a} alt="A red door"/> ![A hill](b.png)\n', ["A red door", "A hill"], {}),
        ("a.md", 'a {b} <img src="c.png" alt="A red door">\n', ["A red door"], {}),
    ],
)  # fmt: skip
def test_forms_of_frameworks(
    tmp_path: Path,
    name: str,
    source: str,
    texts: list[str | None],
    left_out: dict[str, int],
) -> None:
    report = check(tmp_path, name, source)
    assert (texts_of(report), left_out_of(report)) == (texts, left_out)


def test_links_in_components_need_a_name(tmp_path: Path) -> None:
    links = (
        '<a href="/"><img src={a} alt=""/></a>\n<Link href="/"> <Image src={a} alt=""></Image> </Link>\n'
        '<a href="/">Home <img src={a} alt=""/></a>\n<Link href="/" aria-label="Home"><Image src={a} alt=""/></Link>'
    )
    report = check(tmp_path, "a.jsx", links)
    assert [(finding.rule, finding.line) for finding in report.findings] == [
        ("ALT003", 1),
        ("ALT003", 2),
    ]


@pytest.mark.parametrize(
    ("front", "texts"),
    [
        ("---\ncover:\n  image: a.png\n  alt: cover.jpg\n---\n", ["cover.jpg"]),
        ('---\nimages:\n  - src: a\n    alt: "A red door"\n  - alt: A hill\n---\n', ["A red door", "A hill"]),
        ("---\nfeatured_image_alt: A red door\ncoverAlt: 'A hill'\n---\n", ["A red door", "A hill"]),
        ("---\ncover:\n  alt: >-\n    A red door\n    in a wall\n  x: 1\n---\n", ["A red door in a wall"]),
        ('+++\n[cover]\nalt = "A red door"\n+++\n', ["A red door"]),
        ("---\ndefault: A hill\nsalt: A mill\naltitude: 3\n---\n", []),
    ],
)  # fmt: skip
def test_front_matter_at_any_depth(
    tmp_path: Path, front: str, texts: list[str]
) -> None:
    assert texts_of(check(tmp_path, "a.md", front + "\nText\n")) == texts


RST = """
.. image:: a.png

.. image:: b.png
   :width: 200
   :alt: A red door
      in a wall

.. figure:: c.png
   :alt: A hill

   The hill in 1890

   More words.

.. |icon| image:: d.png
   :alt:

- .. image:: e.png
     :alt: IMG_2041
     :target: https://example.org/

.. code-block:: rst

   .. image:: no.png

Like this::

   .. image:: no.png

.. A comment

   .. image:: no.png

.. note::

   .. image:: f.png
      :alt: A mill

.. raw:: html

   <p>
   <img src="g.png">
"""

ADOC = """
image::a.png[]

.The mill in 1890
image::b.png[A mill, 300]

image::c.png["A red door, in a wall",link="https://example.org/"]
An image:d.png[alt=A hill] inside. image:e.png[alt=""]
[alt="A boat",width=3]
image::f.png[]

// image::no.png[]
----
image::no.png[]
----

++++
<img src="g.png">
++++
"""


def test_restructured_text(tmp_path: Path) -> None:
    report = check(tmp_path, "a.rst", RST)
    assert [
        (place.line, Path(place.picture).name, place.raw)
        for place in report.occurrences
    ] == [
        (2, "a.png", None),
        (4, "b.png", "A red door in a wall"),
        (9, "c.png", "A hill"),
        (16, "d.png", ""),
        (19, "e.png", "IMG_2041"),
        (37, "f.png", "A mill"),
        (43, "g.png", None),
    ]
    assert report.occurrences[2].caption == "The hill in 1890"
    assert report.occurrences[4].link == "https://example.org/"
    assert rules_of(report) == ["ALT001", "ALT001", "ALT101"]


def test_asciidoc(tmp_path: Path) -> None:
    report = check(tmp_path, "a.adoc", ADOC)
    assert [
        (place.line, Path(place.picture).name, place.raw)
        for place in report.occurrences
    ] == [
        (2, "a.png", None),
        (5, "b.png", "A mill"),
        (7, "c.png", "A red door, in a wall"),
        (8, "d.png", "A hill"),
        (8, "e.png", ""),
        (10, "f.png", "A boat"),
        (18, "g.png", None),
    ]
    assert report.occurrences[1].caption == "The mill in 1890"
    assert report.occurrences[2].link == "https://example.org/"
    assert rules_of(report) == ["ALT001", "ALT001"]


def test_an_empty_text_of_markdown_is_a_note(tmp_path: Path) -> None:
    page = "![](a.png)\n\n[![](b.png)](c)\n\n<img src='d.png' alt=''>\n"
    report = check(tmp_path, "a.md", page)
    assert [
        (finding.rule, finding.severity, finding.line)
        for finding in report.findings
    ] == [("ALT001", "note", 1), ("ALT003", "error", 3)]
