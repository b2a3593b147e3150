"""Signatures change with all code and data that a number depends on, and with nothing else."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from training import identity

from beholder.base import code_digest, fingerprint
from beholder.base.registry import versioned_identity
from beholder.judges.operations import Verify
from beholder.kinds.scores.door import score
from beholder.metrics import METRICS, Tools, metric
from toy import recorded
from toy.cases import each_case

PACKAGE = fingerprint.PACKAGE


def test_the_manifest_is_that_of_the_code_and_data() -> None:
    written = fingerprint.MANIFEST.read_text(encoding="utf-8")
    assert written == identity.as_text(identity.manifest()), (
        "signatures are right, but take a second longer: code or data changed; run make identity"
    )


def test_without_a_manifest_digests_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_manifest = fingerprint.digest_modules("beholder.judges.llm")
    monkeypatch.setattr(fingerprint, "MANIFEST", PACKAGE / "no such file")
    fingerprint.clear_caches()
    assert fingerprint.digest_modules("beholder.judges.llm") == with_manifest
    monkeypatch.undo()
    fingerprint.clear_caches()


def test_a_manifest_that_another_version_of_the_rules_wrote_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = PACKAGE / "base" / "rounding.py"
    right = fingerprint.read_module(path)
    rows = {"base/rounding.py": [right.raw, "of other rules", [], []]}
    monkeypatch.setattr(fingerprint, "MANIFEST", tmp_path / "manifest.json")
    for rules, code in (
        (fingerprint.digest_rules(), "of other rules"),
        ("0" * 64, right.code),
    ):
        fingerprint.MANIFEST.write_text(
            json.dumps({"rules": rules, "code": rows}), "utf-8"
        )
        fingerprint.clear_caches()
        assert fingerprint.read_module(path).code == code
    monkeypatch.undo()
    fingerprint.clear_caches()


def test_the_built_in_judge_covers_weights_tables_and_word_lists() -> None:
    files = {
        path.relative_to(PACKAGE).as_posix()
        for path in fingerprint.file_digests("beholder.judges.builtin.judge")
    }
    assert (
        {name for name in files if not name.endswith(".py")}
        == {
            "embed/static_model/model.safetensors",
            "embed/static_model/tokenizer.json",
            "embed/minilm_model/encoder.onnx",
            "embed/minilm_model/entailment.onnx",
            "embed/minilm_model/tokens.onnx",  # vectors of word pieces, which the parser reads
            "embed/minilm_model/minilm_tokenizer.json",
            "judges/builtin/classes.txt",
            "judges/builtin/inference.txt",
            "judges/builtin/numbers.json",
            "judges/builtin/predicates.txt",
            "language/certainty.json",
            "language/english.onnx",  # weights of the parser
            "language/english_relations.onnx",
            "language/english_words.onnx",
            "language/lemmas.txt",
            "language/lexicon.txt",
            "language/tokens.json",
            "language/unseen.txt",
            "text/languages.txt",
            "text/word_frequencies.txt",
            "text/wordnet/kinds.txt.xz",
        }
    )
    parts = {
        path.name for path in (PACKAGE / "judges/builtin").glob("*.py")
    } - {"__init__.py"}
    assert {f"judges/builtin/{name}" for name in parts} <= files
    other_digests = {
        "language/coreference.py",
        "text/kinds.py",
        "embed/static.py",
        "judges/grades.py",
    }
    assert other_digests <= files


BEFORE = '''
"""A module."""
from a import b

LIMIT = 0.5
"""A limit."""

def f(x: int) -> bool:
    """Whether."""
    return x * LIMIT > b(x)

@dataclass
class C:
    """A class."""
    width: int = 1
'''


@each_case(
    ("old", "new", "same"),
    [
        ("A module.", "The module.", True),
        ("A limit.", "The limit.", True),
        ("Whether.", "If.", True),
        ("x: int", "x: float", True),
        ("LIMIT = 0.5", "LIMIT = 0.5  # of one", True),
        ("LIMIT = 0.5", "LIMIT: float = 0.5", True),
        ("LIMIT = 0.5", "LIMIT=(\n    0.5\n)", True),
        ("LIMIT = 0.5", "other: int\nLIMIT = 0.5", True),
        ("    return", "    n: int\n    return", True),
        ("from a import b", "from typing import Any\nfrom a import b", True),
        (
            "from a import b",
            "if TYPE_CHECKING:\n    import c\nfrom a import b",
            True,
        ),
        ("    width: int = 1", "    width: float = 1", True),
        (
            "    width: int = 1",
            "    width = 1",
            False,
        ),  # no field of the dataclass any more
        ("    width: int = 1", "    width: int = 1\n    height: int", False),
        ("LIMIT = 0.5", "LIMIT = 0.6", False),
        ("x * LIMIT > b(x)", "x * LIMIT >= b(x)", False),
        ("x * LIMIT > b(x)", "x / LIMIT > b(x)", False),
        ("from a import b", "from c import b", False),
    ],
)
def test_words_about_the_code_are_no_other_code(
    old: str, new: str, same: bool
) -> None:
    after = BEFORE.replace(old, new)
    assert after != BEFORE
    written = [
        code_digest.digest_code(ast.parse(text)) for text in (BEFORE, after)
    ]
    assert (written[0] == written[1]) is same


def test_a_tree_is_written_as_text_in_the_same_way_by_all_versions_of_python() -> (
    None
):
    # By hand, from the grammar of the module ast, without fields that are empty. Python 3.12 gives
    # type parameters to functions, 3.13 shows empty fields, and the versions of Unicode differ in
    # which characters are printable.
    source = """def f(x, *, y=None):\n    return f"{x:{y}} é" + [u"\u1c89"]"""
    assert code_digest._dump_tree(ast.parse(source)) == (
        "Module(body=[FunctionDef(name='f',args=arguments(args=[arg(arg='x')],"
        "kwonlyargs=[arg(arg='y')],kw_defaults=[Constant()]),"
        "body=[Return(value=BinOp(left=JoinedStr(values=[FormattedValue(value=Name(id='x'),"
        "conversion=-1,format_spec=JoinedStr(values=[FormattedValue(value=Name(id='y'),"
        "conversion=-1)])),Constant(value=' \\xe9')]),op=Add(),"
        "right=List(elts=[Constant(value='\\u1c89')])))])])"
    )


def test_the_empty_text_that_some_versions_add_to_a_format_is_no_other_code() -> (
    None
):
    # Python 3.12.1 parses f"{x:{y}}" with an empty constant at the end of the format.
    def tree(*end: ast.expr) -> ast.Module:
        value = ast.FormattedValue(ast.Name("y"), -1)
        spec = ast.JoinedStr([value, *end])
        format_node = ast.FormattedValue(ast.Name("x"), -1, spec)
        return ast.Module([ast.Expr(ast.JoinedStr([format_node]))], [])

    assert code_digest.digest_code(
        tree(ast.Constant(""))
    ) == code_digest.digest_code(tree())
    assert code_digest.digest_code(
        tree(ast.Constant("8"))
    ) != code_digest.digest_code(tree())


OTHER_PYTHONS: list[Path] = sorted(
    path
    for minor in (11, 12, 13, 14)
    if minor != sys.version_info.minor
    for path in Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")
)


@pytest.mark.slow  # parses all modules with each version
@pytest.mark.skipif(not OTHER_PYTHONS, reason="pyenv has no other Python")
def test_all_modules_have_the_same_digest_in_all_versions_of_python() -> None:
    code = (
        "import ast, importlib.util, pathlib, sys\n"
        "place = pathlib.Path(sys.argv[1])\n"
        "spec = importlib.util.spec_from_file_location('code_digest', place / 'base' / 'code_digest.py')\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "sys.modules['code_digest'] = module\n"
        "spec.loader.exec_module(module)\n"
        "for path in sorted(place.rglob('*.py')):\n"
        "    print(path, module.digest_code(ast.parse(path.read_bytes())))\n"
    )
    printed = {
        subprocess.run(
            [str(python), "-c", code, str(PACKAGE)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for python in (sys.executable, *OTHER_PYTHONS)
    }
    assert len(printed) == 1


# A copy of the package: big files are links, so that a test can change any file of it.


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("copy")
    for folder, _, names in os.walk(PACKAGE):
        target = root / "beholder" / Path(folder).relative_to(PACKAGE)
        target.mkdir(parents=True)
        for name in names:
            if not name.endswith(".pyc"):
                (target / name).symlink_to(Path(folder, name))
    return root


def _signatures(root: Path) -> dict[str, str]:
    code = (
        "import json; from beholder.metrics import Tools, metric\n"
        "def sign(spec):\n    made = metric(spec); return made.signature(made.identities(Tools()))\n"
        f"print(json.dumps({{spec: sign(spec) for spec in {list(CHANGES)!r}}}))"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    signatures: dict[str, str] = json.loads(done.stdout)
    return signatures


CHANGES = {
    "capture": {"language/lexicon.txt", "language/scene.py"},
    "meteor": {"text/wordnet/synonyms.txt.xz"},
    "token_f1": {"text/word_frequencies.txt"},
    "vcs_short": {
        "text/word_frequencies.txt",
        "metrics/vcs/stop_words_english.txt",
    },
    "length": {"text/tokenize.py"},
}
"""Files that change the numbers of a metric; a file that is not listed with it does not."""


@pytest.mark.parametrize("file", sorted(set().union(*CHANGES.values())))
def test_a_changed_file_changes_the_signatures_that_depend_on_it(
    copied: Path, file: str
) -> None:
    before = {spec: _signature(spec) for spec in CHANGES}
    target = copied / "beholder" / file
    content = target.read_bytes()
    target.unlink()
    target.write_bytes(content + b"\nCHANGED = 1\n")
    after = _signatures(copied)
    target.unlink()
    target.symlink_to(PACKAGE / file)
    changed = {spec for spec in CHANGES if after[spec] != before[spec]}
    depending = {spec for spec, files in CHANGES.items() if file in files}
    # All of these metrics cut texts into words.
    assert changed >= depending
    if file.endswith(
        (".xz", "stop_words_english.txt", "word_frequencies.txt")
    ):
        # Evidence of English, in ``text.languages``, counts frequent words.
        more = (
            {"capture", "meteor"}
            if file == "text/word_frequencies.txt"
            else {"capture"}
        )
        assert changed == depending | (more if file != STOP_WORDS else set())


STOP_WORDS = "metrics/vcs/stop_words_english.txt"


def _signature(spec: str) -> str:
    built = metric(spec)
    return built.signature(built.identities(Tools()))


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ("capture", ("parser", "embedder")),
        ("spice", ("parser",)),
        ("softspice", ("parser", "embedder")),
        ("sg_embed", ("parser", "embedder")),
        ("chair", ("parser",)),
        ("posh", ("judge", "parser", "coref", "encoder")),
        ("dsg", ("judge",)),
        ("vcs", ("embedder", "splitter")),
        ("meteor", ("tokenizer", "synonyms")),
        ("token_f1", ("tokenizer", "weights", "embedder")),
        ("vcs_short", ("stop_words", "embedder")),
    ],
)
def test_what_a_parameter_names_is_stated_with_a_digest(
    spec: str, fields: tuple[str, ...]
) -> None:
    parts = dict(
        part.split(":", 1) for part in _signature(spec).split("|")[1:]
    )
    for field in fields:
        assert re.search(
            r"@[0-9a-f]{12}(\+tokenizers@[\d.]+)?$", parts[field]
        ), parts


def test_the_graphs_of_posh_are_covered_with_a_model_as_judge() -> None:
    parts = dict(
        part.split(":", 1)
        for part in _signature("posh(judge='oracle:model')").split("|")[1:]
    )
    builtin = dict(
        part.split(":", 1) for part in _signature("posh").split("|")[1:]
    )
    assert parts["parser"] == builtin["parser"] != "builtin"
    assert parts["coref"] == builtin["coref"] != "builtin"


UNCOVERED = (
    # make, name and store: they compute nothing
    "judges/decisions/notes.py",
    "fingerprints.json",
    "aio.py",
    "errors.py",
    "records.py",
    *(
        f"base/{name}.py"
        for name in (
            "code_digest",
            "files",
            "fingerprint",
            "optional",
            "registry",
            "spec",
            "threads",
        )
    ),
    # refuse options, numbers and lists of a wrong form
    "options.py",
    "base/ranges.py",
    # send questions: what is sent and what came back is what the judge's identity is about
    "backends/",
    # registries: each tool has an identity
    *("embed/__init__.py", "judges/__init__.py", "text/__init__.py"),
    # by operation, in prompts@ (tests/judges/test_templates.py)
    "judges/prompts/",
    # tells which language a text is in, so that a tool may refuse it
    *("text/languages.py", "text/languages.txt"),
)
"""What a score runs or reads and no signature has to cover."""


def _evidence_of(*names: str) -> dict[str, dict[str, bool]]:
    done = subprocess.run(
        [sys.executable, "-m", "toy.evidence_of_code", *names],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr, done.stderr
    evidence: dict[str, dict[str, bool]] = json.loads(done.stdout)
    return evidence


@pytest.fixture(scope="module")
def evidence() -> dict[str, dict[str, bool]]:
    return _evidence_of()


@pytest.mark.nightly
@pytest.mark.slow  # scores with each metric, each in a fork that has read nothing
@pytest.mark.parametrize("name", METRICS.builtin())
def test_the_signature_covers_all_that_a_score_reads_and_runs(
    evidence: dict[str, dict[str, bool]], name: str
) -> None:
    if name in recorded.NOT_RECORDED:
        pytest.skip(recorded.NOT_RECORDED[name])
    _check_evidence(name, evidence[name])


@pytest.mark.slow  # as the one above, of three metrics, so that CI has some
def test_three_signatures_cover_all_that_a_score_reads_and_runs() -> None:
    # One that compares words, one that embeds, one that asks a judge.
    for name, files in _evidence_of("meteor", "vcs_short", "clair").items():
        _check_evidence(name, files)


def _check_evidence(name: str, files: dict[str, bool]) -> None:
    assert "metrics/base.py" in files
    frame = (
        {
            "judges/asking.py",
            "judges/answers.py",
        }
        if not judged(name)
        else set()
    )
    missed = [
        file
        for file, is_covered in files.items()
        if not (is_covered or file.startswith(UNCOVERED) or file in frame)
    ]
    assert not missed


def judged(name: str) -> bool:
    """Return whether a metric asks a judge; others only pass through the list of its questions."""
    return any(
        spec.startswith(name) and "oracle" in spec
        for spec in recorded.settings()
    )


# Code of others


METRIC = """
from dataclasses import dataclass
from beholder.metrics import Metric, ValueInfo, param
from beholder.records import ItemScore
{imports}

@dataclass(frozen=True)
class Colours(Metric[float]):
    registered_name = "colours"
    values = (ValueInfo("colours", "colours", high=99.0),)
    required_fields = frozenset()

    async def gather(self, item, tools):
        return {formula}

    def score_item(self, item, evidence):
        return ItemScore({{"colours": evidence}})
"""

Write = Callable[..., type]


@pytest.fixture
def load_metric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Write]:
    """Write a module below a folder, import it as a new process does, and return its class."""
    names: set[str] = set()

    def forget() -> None:
        for name in [
            loaded
            for loaded in sys.modules
            if loaded.partition(".")[0] in names
        ]:
            del sys.modules[name]
        fingerprint.clear_caches()

    def write(root: str, files: dict[str, str], module: str) -> type:
        names.update(
            {Path(name).parts[0].removesuffix(".py") for name in files}
        )
        for name, text in files.items():
            path = tmp_path / root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        monkeypatch.syspath_prepend(str(tmp_path / root))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        forget()
        cls: type = getattr(  # noqa: B009
            __import__(module, fromlist=["Colours"]), "Colours"
        )
        return cls

    yield write
    forget()


def _metric(formula: str, imports: str = "") -> str:
    return METRIC.format(formula=formula, imports=imports)


OWN_CHANGES = {
    "its own file": ({"loose_colours.py": _metric("1.0")}, "loose_colours"),
    "a file beside it": (
        {
            "loose_colours.py": _metric("N", "from numbers_of import N"),
            "numbers_of.py": "N = 1.0",
        },
        "loose_colours",
    ),
    "another module of its package": (
        {
            "colour_pkg/__init__.py": "",
            "colour_pkg/inner/__init__.py": "",
            "colour_pkg/inner/colours.py": _metric(
                "N", "from ..numbers import N"
            ),
            "colour_pkg/numbers.py": "N = 1.0",
        },
        "colour_pkg.inner.colours",
    ),
    "a file of data beside it": (
        {
            "loose_colours.py": _metric(
                "float((__import__('pathlib').Path(__file__).parent / 'n.txt').read_text())"
            ),
            "n.txt": "1.0",
        },
        "loose_colours",
    ),
}


@pytest.mark.parametrize("case", OWN_CHANGES)
@pytest.mark.parametrize(
    ("root", "differs"), [("src", True), ("site-packages", False)]
)
def test_a_changed_formula_changes_the_digest_unless_a_version_identifies_it(
    load_metric: Write, case: str, root: str, differs: bool
) -> None:
    files, module = OWN_CHANGES[case]
    before = fingerprint.digest_classes(load_metric(root, files, module))
    assert (
        fingerprint.digest_classes(load_metric(root, files, module)) == before
    )
    changed = {
        name: text.replace("1.0", "2.0") for name, text in files.items()
    }
    after = fingerprint.digest_classes(load_metric(root, changed, module))
    assert (after != before) is differs


def test_what_another_package_imports_of_ours_is_in_its_digest(
    load_metric: Write,
) -> None:
    imports = "from beholder.text import words"
    files = {"pkg_of_words.py": _metric("len(words(item.candidate))", imports)}
    cls = load_metric("site-packages", files, "pkg_of_words")
    names = {path.name for path in fingerprint.file_digests(cls.__module__)}
    assert "tokenize.py" in names
    assert "pkg_of_words.py" not in names


NOTEBOOK = """
FACTOR = {factor}

def scaled(number):
    return number * FACTOR

class Cell:
    limit = {limit}
    def count(self, text):
        '''{words}'''
        return scaled(len(text)) {sign} 1
"""


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({}, False),
        ({"factor": 3}, True),  # in a function that it calls
        ({"limit": 5}, True),
        ({"sign": "-"}, True),
    ],
)
def test_a_class_without_a_file_is_identified_by_its_code(
    change: dict[str, object], differs: bool
) -> None:
    def digest(values: dict[str, object]) -> str:
        cell: dict[str, object] = {"__name__": "a_notebook_without_file"}
        exec(NOTEBOOK.format(**values), cell)
        cls = cell["Cell"]
        assert isinstance(cls, type)
        return fingerprint.digest_classes(cls)

    plain: dict[str, object] = {
        "factor": 2,
        "limit": 4,
        "sign": "+",
        "words": "Count.",
    }
    assert (digest(plain | change) != digest(plain)) is differs


def test_operations_of_another_package_are_in_the_signature(
    load_metric: Write,
) -> None:
    @dataclass(frozen=True)
    class Asking(METRICS.get("length")):  # type: ignore[misc]
        needs = (Verify,)

    plain = METRICS.get("length")()
    assert (
        f"code:{fingerprint.digest_classes(Asking, Verify)}|"
        in Asking().signature()
    )
    assert plain.signature() != Asking().signature()


def test_tools_of_others_are_signed_with_their_code(
    load_metric: Write,
) -> None:
    text = "class Colours:\n    identity = 'mine'\n    n = 1.0\n"
    signed = []
    for factor in ("1.0", "2.0"):
        cls = load_metric(
            "src", {"loose_tool.py": text.replace("1.0", factor)}, "loose_tool"
        )
        signed.append(versioned_identity(cls(), "mine"))
    assert signed[0] != signed[1]
    assert all(signature.startswith("mine@") for signature in signed)


SCRIPT = """
import sys
from pathlib import Path
import beholder
from beholder.metrics import METRICS
{metric}
METRICS.register("colours")(Colours)
run = beholder.score([{{"candidate": "a dog"}}], ["colours"], out=Path(sys.argv[1]))
print(run.summary["colours"].values["colours"].mean)
"""


def test_a_run_of_a_script_is_not_continued_with_another_formula(
    tmp_path: Path,
) -> None:
    script = tmp_path / "mine.py"

    def start(formula: str) -> subprocess.CompletedProcess[str]:
        script.write_text(SCRIPT.format(metric=_metric(formula)), "utf-8")
        command = [sys.executable, str(script), str(tmp_path / "run")]
        return subprocess.run(
            command, capture_output=True, text=True, check=False
        )

    assert start("1.0").stdout.strip() == "1.0"
    assert start("1.0").stdout.strip() == "1.0"
    changed = start("2.0")
    assert changed.returncode != 0
    assert "Part code is a digest of the code" in changed.stderr


def test_a_run_is_not_continued_when_a_word_list_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"candidate": "A dog runs.", "references": ["A dog ran."]}]
    score(rows, ["spice"], out=tmp_path / "run")
    digest = fingerprint.digest_data_file
    changed = PACKAGE / "language" / "lexicon.txt"
    monkeypatch.setattr(
        fingerprint,
        "digest_data_file",
        lambda path: digest(path) + "!" * (path == changed),
    )
    fingerprint.digest_classes.cache_clear()
    fingerprint.digest_modules.cache_clear()
    with pytest.raises(
        Exception, match=r"parser was builtin@\S+, now builtin@\S+"
    ):
        score(rows, ["spice"], out=tmp_path / "run")
    monkeypatch.undo()
    fingerprint.clear_caches()
