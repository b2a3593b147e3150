"""Every published number: outputs of video-comprehension-score 1.0.0, of its repository head, and
of the paper's formulas, as recorded in tests/vectors (its README says how)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from beholder import VCS
from beholder.errors import ItemError
from beholder.metrics.vcs.order import ideal_bands, similarity_band
from beholder.records import ItemScore
from toy.vectors import load_vectors

PACKAGE_NAMES = {
    "vcs": "VCS",
    "sas": "GAS-LAS-Scaled",
    "gas": "GAS",
    "las": "LAS",
    "las_precision": "Precision LAS",
    "las_recall": "Recall LAS",
    "nas_d": "NAS-D",
    "nas_d_precision": "Precision NAS-D",
    "nas_d_recall": "Recall NAS-D",
    "nas_l": "NAS-L",
    "nas_l_precision": "Precision NAS-L",
    "nas_l_recall": "Recall NAS-L",
    "nas_f1": "NAS-F1",
    "regularizer": "Window-Regularizer",
    "nas": "NAS",
}
PAPER_NAMES = PACKAGE_NAMES | {"sas": "SAS"}
HEAD_NAMES = {"regularizer": "Length-Regularizer", "nas": "NAS", "vcs": "VCS"}
TOLERANCE = {"float64": 1e-9, "float32": 2e-5}


def load_cases() -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in load_vectors("vcs")["cases"]]


def load_scored_cases() -> list[Any]:
    """Those for which the package gives values; for the others it raises."""
    return [case for case in load_cases() if "raises" not in case.values[0]["expected"]]


def vectors(case: dict[str, Any], key: str) -> np.ndarray:
    array = np.array(case[key], dtype=case["dtype"]).reshape(-1, case["dim"])
    if case["normalise"]:
        array = array / np.linalg.norm(array, axis=1, keepdims=True)
    return array


def score(case: dict[str, Any], rules: str, **options: Any) -> ItemScore:
    metric = VCS(
        rules=rules,  # type: ignore[arg-type]
        lct=case["lct"],
        chunk_size=case["chunk_size"],
        context_cutoff=case["cutoff"],
        context_window_control=case["window_ctrl"],
        **options,
    )
    whole = np.array(case["gas_emb"], dtype=case["dtype"])
    return metric.score_embeddings(
        vectors(case, "ref_emb"),
        vectors(case, "gen_emb"),
        whole[0],
        whole[1],
    )


def assert_values(
    found: ItemScore, expected: dict[str, float | None], names: dict[str, str], dtype: str
) -> None:
    for ours, theirs in names.items():
        value = expected.get(theirs)
        if value is not None:
            assert found.values[ours] == pytest.approx(value, rel=0, abs=TOLERANCE[dtype]), ours


@pytest.mark.parametrize("case", load_cases())
def test_package_values_windows_and_matches_are_those_of_the_package(case: dict[str, Any]) -> None:
    if "raises" in case["expected"]:
        with pytest.raises(ItemError, match="has no chunk"):
            score(case, "package")
        return
    found, expected = score(case, "package"), case["expected"]
    assert_values(found, expected["metrics"], PACKAGE_NAMES, case["dtype"])
    detail = found.detail
    for side in ("precision", "recall"):
        assert detail["windows"][side].tolist() == expected["windows"][side]
    by_candidate = [[j, int(i)] for j, i in enumerate(detail["matches"]["precision"])]
    by_reference = [[int(j), i] for i, j in enumerate(detail["matches"]["recall"])]
    assert by_candidate == expected["matches"]["precision"]
    assert by_reference == expected["matches"]["recall"]


@pytest.mark.parametrize("case", load_scored_cases())
def test_candidate_matches_and_ideal_paths_are_those_of_the_package(case: dict[str, Any]) -> None:
    expected = case["expected"]
    similarity = score(case, "package").detail["similarity"]
    bands = ideal_bands(*similarity.shape)
    for side, oriented, band in zip(
        ("precision", "recall"), (similarity.T, similarity), bands, strict=True
    ):
        least = similarity_band(oriented.max(axis=1), case["cutoff"], case["window_ctrl"])
        found = [
            np.flatnonzero(row >= low).tolist() for row, low in zip(oriented, least, strict=True)
        ]
        assert found == expected["candidates"][side]
        line = expected["nas_l"][side]
        assert band.floor_path.tolist() == [y for _, y in line["floor_path"]]
        assert band.ceil_path.tolist() == [y for _, y in line["ceil_path"]]
        assert band.floor == pytest.approx(line["floor"], abs=1e-9)
        assert band.ceil == pytest.approx(line["ceil"], abs=1e-9)


@pytest.mark.parametrize("case", load_cases())
def test_head_values_are_those_of_the_repository_head(case: dict[str, Any]) -> None:
    if "raises" in case["expected"]:
        with pytest.raises(ItemError, match="has no chunk"):
            score(case, "head")
        return
    assert_values(score(case, "head"), case["head"]["metrics"], HEAD_NAMES, case["dtype"])
    for variant in case["head"]["variants"]:
        names = ("nas_blend_factor", "nas_coverage_cutoff")
        found = score(case, "head", **{name: variant[name] for name in names})
        assert_values(found, variant, HEAD_NAMES, case["dtype"])


@pytest.mark.parametrize("case", load_cases())
def test_paper_values_follow_the_papers_formulas(case: dict[str, Any]) -> None:
    if "raises" in case["expected"]:
        with pytest.raises(ItemError, match="has no chunk"):
            score(case, "paper")
        return
    assert_values(score(case, "paper"), case["paper"], PAPER_NAMES, case["dtype"])


@pytest.mark.parametrize("case", load_scored_cases())
def test_float32_vectors_are_compared_in_float32(case: dict[str, Any]) -> None:
    assert score(case, "package").detail["similarity"].dtype == case["dtype"]
