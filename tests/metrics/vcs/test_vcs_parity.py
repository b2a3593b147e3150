"""Every published number: outputs of video-comprehension-score 1.0.0, of its repository head, and
of the paper's formulas, as recorded in tests/vectors (its README says how)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from beholder import VCS
from beholder.errors import ItemError
from beholder.metrics.vcs.order import mapping_windows, similarity_band
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


CASES = load_vectors("vcs")["cases"]
SCORED = [case for case in CASES if "raises" not in case["expected"]]
"""Cases for which the package gives values; for the others it raises."""


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


def differing_values(
    case: dict[str, Any],
    score: ItemScore,
    expected: dict[str, float | None],
    names: dict[str, str],
) -> list[str]:
    """Values that are further from the expected ones than the tolerance of the case's vectors."""
    pairs = [
        (value_name, score.values[value_name], expected[package_name])
        for value_name, package_name in names.items()
        if expected.get(package_name) is not None
    ]
    ours = np.array([value for _, value, _ in pairs], dtype=float)
    package_values = np.array([value for _, _, value in pairs], dtype=float)
    differs = ~(
        np.abs(ours - package_values) <= TOLERANCE[case["dtype"]]
    )  # also of NaN
    return [f"{case['id']}: {pairs[at]}" for at in np.flatnonzero(differs)]


@pytest.fixture(scope="module")
def package_scores() -> dict[str, ItemScore]:
    """Scores by the package's rules, by id of the case."""
    return {case["id"]: score(case, "package") for case in SCORED}


def test_cases_without_chunks_fail() -> None:
    refused = [case for case in CASES if "raises" in case["expected"]]
    assert refused
    for case in refused:
        for rules in ("package", "head", "paper"):
            with pytest.raises(ItemError, match="has no chunk"):
                score(case, rules)


def test_package_values_are_those_of_the_package(
    package_scores: dict[str, ItemScore],
) -> None:
    differing = [
        difference
        for case in SCORED
        for difference in differing_values(
            case,
            package_scores[case["id"]],
            case["expected"]["metrics"],
            PACKAGE_NAMES,
        )
    ]
    assert differing == []


def test_package_windows_and_matches_are_those_of_the_package(
    package_scores: dict[str, ItemScore],
) -> None:
    for case in SCORED:
        detail, expected = package_scores[case["id"]].detail, case["expected"]
        for side in ("precision", "recall"):
            windows = detail["windows"][side].tolist()
            assert windows == expected["windows"][side], (case["id"], side)
        by_candidate = [
            [j, int(i)] for j, i in enumerate(detail["matches"]["precision"])
        ]
        by_reference = [
            [int(j), i] for i, j in enumerate(detail["matches"]["recall"])
        ]
        assert by_candidate == expected["matches"]["precision"], case["id"]
        assert by_reference == expected["matches"]["recall"], case["id"]


def test_candidate_matches_and_ideal_paths_are_those_of_the_package(
    package_scores: dict[str, ItemScore],
) -> None:
    for case in SCORED:
        expected, case_id = case["expected"], case["id"]
        similarity = package_scores[case_id].detail["similarity"]
        bands = mapping_windows(*similarity.shape, exact=False)
        for side, oriented, band in zip(
            ("precision", "recall"),
            (similarity.T, similarity),
            bands,
            strict=True,
        ):
            least = similarity_band(
                oriented.max(axis=1), case["cutoff"], case["window_ctrl"]
            )
            candidates = [
                np.flatnonzero(row >= low).tolist()
                for row, low in zip(oriented, least, strict=True)
            ]
            assert candidates == expected["candidates"][side], (case_id, side)
            line = expected["nas_l"][side]
            assert band.floor_path.tolist() == [
                y for _, y in line["floor_path"]
            ], (case_id, side)
            assert band.ceil_path.tolist() == [
                y for _, y in line["ceil_path"]
            ], (case_id, side)
            assert band.floor == pytest.approx(line["floor"], abs=1e-9), (
                case_id,
                side,
            )
            assert band.ceil == pytest.approx(line["ceil"], abs=1e-9), (
                case_id,
                side,
            )


def test_head_values_are_those_of_the_repository_head() -> None:
    differing = []
    for case in SCORED:
        differing += differing_values(
            case, score(case, "head"), case["head"]["metrics"], HEAD_NAMES
        )
        for variant in case["head"]["variants"]:
            names = ("nas_blend_factor", "nas_coverage_cutoff")
            variant_score = score(
                case, "head", **{name: variant[name] for name in names}
            )
            differing += differing_values(
                case, variant_score, variant, HEAD_NAMES
            )
    assert differing == []


def test_paper_values_follow_the_papers_formulas() -> None:
    differing = [
        difference
        for case in SCORED
        for difference in differing_values(
            case, score(case, "paper"), case["paper"], PAPER_NAMES
        )
    ]
    assert differing == []


def test_float32_vectors_are_compared_in_float32(
    package_scores: dict[str, ItemScore],
) -> None:
    types = {case["id"]: case["dtype"] for case in SCORED}
    assert {
        name: str(score.detail["similarity"].dtype)
        for name, score in package_scores.items()
    } == types
    assert set(types.values()) == {"float64", "float32"}
