"""The registry: names, refusals, and classes of outside packages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from beholder.base.registry import Registry
from beholder.errors import ConfigError, UnknownNameError
from beholder.judges import JUDGES
from beholder.metrics import METRICS, Metric, metric


class Base:
    pass


class Good(Base):
    pass


def _registry() -> Registry[Base]:
    return Registry("thing", Base, {"lost": "json:Missing"}, "beholder.test")


def test_a_registered_class_is_found_by_its_name() -> None:
    registry = _registry()
    registry.register("good")(Good)
    assert registry.get("good") is Good
    assert registry.names() == ["lost", "good"]


def test_a_taken_name_is_refused() -> None:
    registry = _registry()
    registry.register("good")(Good)
    with pytest.raises(ConfigError, match="'good' is taken"):
        registry.register("good")(Good)


def test_a_class_of_another_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="not a subclass of Base"):
        _registry().register("int")(int)  # type: ignore[arg-type]


def test_an_unknown_name_says_the_closest_and_what_lists_all() -> None:
    for name, message in (
        ("vsc", "no metric is called 'vsc'; did you mean 'vcs' or 'spice'? "),
        ("zzz", "no metric is called 'zzz'. "),
    ):
        with pytest.raises(UnknownNameError) as caught:
            METRICS.get(name)
        assert str(caught.value) == f"{message}`beholder metrics` lists all"
    # Few names fit into the message.
    with pytest.raises(UnknownNameError, match="There are: builtin"):
        JUDGES.get("zzz")


def test_an_unknown_parameter_says_the_closest_and_all() -> None:
    with pytest.raises(
        ConfigError,
        match=r"no parameter 'rule'; did you mean 'rules'\? It has: rules",
    ):
        metric("vcs(rule='paper')")


def test_a_metric_of_an_outside_package_is_loaded_by_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(
        "[beholder.metrics]\nwords = acme_words:AcmeWords\n"
    )
    (tmp_path / "acme_words.py").write_text(
        "from dataclasses import dataclass\n"
        "from toy.metric import WordCount\n"
        "@dataclass(frozen=True)\n"
        "class AcmeWords(WordCount):\n"
        "    registered_name = 'acme/words'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "acme/words" in METRICS.names()
    assert (
        "acme_words" not in sys.modules
    )  # only a name that is asked for is imported
    built = metric("acme/words(factor=2)")
    assert isinstance(built, Metric)
    assert built.name == "acme/words(factor=2)"
    assert built.score_text("one two three", "").values == {"words": 6}
