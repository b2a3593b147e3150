"""Loaders of human-judgment sets, on tiny files of our own in the published forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beholder.data.marks import MARKED
from beholder.errors import ConfigError, DataError
from beholder.kinds.agreement.load import SETS, load
from beholder.kinds.agreement.protocols import PROTOCOLS
from beholder.options import DataOptions


def write(path: Path, content: Any) -> None:
    path.write_text(
        content if isinstance(content, str) else json.dumps(content),
        encoding="utf-8",
    )


def lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_flickr8k_expert_groups_ratings_and_drops_own_captions(
    tmp_path: Path,
) -> None:
    rating = {"image_path": "Flickr8k_Dataset/p1.jpg"}
    judged = [
        {**rating, "caption": "a dog .", "rating": 1.0},
        {**rating, "caption": "a dog .", "rating": 2.0},
        {**rating, "caption": "own", "rating": 4.0},
    ]
    picture = {
        "image_path": "x/p1.jpg",
        "human_judgement": judged,
        "ground_truth": ["own "],
    }
    write(tmp_path / "flickr8k.json", {"p1": picture})
    (item,) = load("flickr8k_expert", str(tmp_path)).items
    assert (item.candidate, item.references, item.images) == (
        "a dog .",
        ("own",),
        ("p1.jpg",),
    )
    assert item.judgments == {"expert_ratings": [1.0, 2.0], "mean": 1.5}


def test_flickr8k_cf_leaves_a_caption_out_of_its_own_references(
    tmp_path: Path,
) -> None:
    write(
        tmp_path / "Flickr8k.token.txt",
        "p.jpg#0\ta cat\np.jpg#1\tthe cat\nq.jpg#0\ta dog\n",
    )
    write(
        tmp_path / "CrowdFlowerAnnotations.txt",
        "p.jpg\tp.jpg#0\t1.0\t3\t0\np.jpg\tq.jpg#0\t0.0\t0\t3\n",
    )
    first, second = load("flickr8k_cf", str(tmp_path)).items
    assert (first.candidate, first.references) == ("a cat", ("the cat",))
    assert second.references == ("a cat", "the cat")
    assert first.judgments == {"yes_fraction": 1.0, "yes": 3, "no": 0}


def test_composite_reads_both_questions(tmp_path: Path) -> None:
    head = "Input.image_url;Input.text1;Input.text2;Answer.Q1Answer;Answer.Q2Answer\n"
    write(
        tmp_path / "8k_correctness.csv",
        head + "http://x/p.jpg;a cat;a dog;5;1\n;;;;\n",
    )
    write(
        tmp_path / "8k_throughness.csv",
        head + "http://x/p.jpg;a cat;a dog;4;2\n",
    )
    write(tmp_path / "Flickr8k.token.txt", "p.jpg#0\ta cat\n")
    (item,) = load("composite", str(tmp_path)).items
    assert (item.candidate, item.references) == ("a dog", ("a cat",))
    assert item.judgments == {"correctness": 1.0, "thoroughness": 2.0}


def test_pascal50s_label_0_prefers_the_first(tmp_path: Path) -> None:
    pair = {"image": "V/p.jpg", "captions": ["a", "b"], "references": ["r"]}
    write(
        tmp_path / "pascal_50s.json",
        {"HC": [{**pair, "label": 0}, {**pair, "label": 1}]},
    )
    first, second = load("pascal50s", str(tmp_path)).items
    assert (first.judgments["preferred"], second.judgments["preferred"]) == (
        1,
        -1,
    )
    assert (first.meta["candidate_b"], first.judgments["category"]) == (
        "b",
        "HC",
    )


def test_thumb_joins_references(tmp_path: Path) -> None:
    row = {
        "SYS": "Up",
        "seg_id": "9",
        "hyp": "a",
        "image": "i.jpg",
        "P": 4,
        "R": 3,
    }
    write(
        tmp_path / "mscoco_THumB-1.0.jsonl",
        lines([{**row, "human_score": 3.5}]),
    )
    write(
        tmp_path / "mscoco_references.json",
        lines([{"seg_id": "9", "refs": ["r"]}]),
    )
    (item,) = load("thumb_mscoco", str(tmp_path)).items
    assert (item.id, item.references, item.judgments["total"]) == (
        "9/Up",
        ("r",),
        3.5,
    )
    assert item.group == {"system": "Up"}


def test_vatex_eval_reads_ratings_written_as_text(tmp_path: Path) -> None:
    entry = {
        "cands": ["a", "b"],
        "scores": "[[5.0, 4.0, 3.0], [1, 1, 1]]",
        "refs": [["r", "s"]],
    }
    write(tmp_path / "vid_cans_score_dict.json", {"v": entry})
    first, _ = load("vatex_eval", str(tmp_path)).items
    assert (first.id, first.video, first.references) == (
        "v/0",
        "v",
        ("r", "s"),
    )
    assert first.judgments == {"ratings": [5.0, 4.0, 3.0], "mean": 4.0}


def test_sugarcrepe_takes_other_captions_as_references(tmp_path: Path) -> None:
    write(
        tmp_path / "swap_att.json",
        {"0": {"filename": "p.jpg", "caption": "a", "negative_caption": "x"}},
    )
    write(
        tmp_path / "add_obj.json",
        {"0": {"filename": "p.jpg", "caption": "b", "negative_caption": "y"}},
    )
    first, second = load("sugarcrepe", str(tmp_path)).items
    assert (first.id, first.references, first.meta["candidate_b"]) == (
        "add_obj/0",
        ("a",),
        "y",
    )
    assert second.judgments == {"preferred": 1, "category": "swap_att"}


def test_foil_is_a_caption_against_each_of_its_false_versions(
    tmp_path: Path,
) -> None:
    # As in the published file: one id for a caption and its false versions, "foil" for which.
    rows = [
        {
            "id": 4,
            "image_id": 9,
            "caption": "A cat. ",
            "foil": False,
            "foil_word": "ORIG",
        },
        {
            "id": 4,
            "image_id": 9,
            "caption": "A dog.",
            "foil": True,
            "foil_word": "dog",
        },
        {
            "id": 4,
            "image_id": 9,
            "caption": "A cow.",
            "foil": True,
            "foil_word": "cow",
        },
        {"id": 5, "image_id": 9, "caption": "A car.", "foil": True},
    ]
    images = [{"id": 9, "file_name": "COCO_val2014_000000000009.jpg"}]
    path = tmp_path / "foilv1.0_test_2017.json"
    write(path, {"images": images, "annotations": rows})
    assert [item.references for item in load("foil", str(tmp_path)).items] == [
        (),
        (),
    ]
    captions = [
        {"image_id": 9, "caption": text} for text in ("A cat.", "A pet.")
    ]
    write(
        tmp_path / "captions_val2014.json",
        {"images": images, "annotations": captions},
    )
    first, second = load("foil", str(tmp_path)).items
    assert (first.candidate, first.meta["candidate_b"]) == ("A cat.", "A dog.")
    assert (first.references, first.judgments) == (
        ("A pet.",),
        {"preferred": 1},
    )
    assert (second.meta["candidate_b"], second.images[0]) == (
        "A cow.",
        images[0]["file_name"],
    )
    del rows[0]["foil"]
    write(path, {"images": images, "annotations": rows[:1]})
    with pytest.raises(
        DataError,
        match=r"no column 'foil'.*image_id, caption.*--map foil=COLUMN",
    ):
        load("foil", str(tmp_path))


def test_columns_of_a_table_can_be_named(tmp_path: Path) -> None:
    row = {"refs": ["r"], "text": "a", "human_score": 0.75, "file_name": "p"}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "test.parquet")
    with pytest.raises(
        DataError,
        match=r"no column 'mt'; the row has: refs, text.*--map mt=COL",
    ):
        load("nebula", str(tmp_path))
    (item,) = load(
        "nebula", str(tmp_path), DataOptions(map={"mt": "text"})
    ).items
    assert item.candidate == "a"


def test_side_by_side_is_positive_when_the_candidate_is_better(
    tmp_path: Path,
) -> None:
    answers = {
        "metrics/Comprehensiveness": "IIW-P5B is marginally better",
        "metrics/Hallucination": "IIW-Human is substantially better",
        "metrics/Human Like": "Neutral",
    }
    row = {
        "image/key": "k",
        "IIW": "human",
        "IIW-P5B": "model",
        "iiw-human-sxs-iiw-p5b": answers,
    }
    write(
        tmp_path / "data.jsonl",
        lines([row, {"image/key": "l", "IIW": "no judgment"}]),
    )
    (item,) = load("iiw400_sxs", str(tmp_path)).items
    assert (item.candidate, item.references) == ("model", ("human",))
    assert item.judgments == {
        "comprehensiveness": 1,
        "hallucination": -2,
        "human_like": 0,
    }

    docci = {
        "image": "d",
        "DOCCI": "short",
        "IIW": "long",
        "metrics/Specificity": "IIW is marginally better",
    }
    write(tmp_path / "data.jsonl", lines([docci]))
    (item,) = load("docci_test_sxs", str(tmp_path)).items
    assert item.judgments == {"specificity": -1}


def test_caparena_leaves_out_human_sides(tmp_path: Path) -> None:
    row = {"img": "p", "source1": "m1", "source2": "m2", "caption1": "a", "caption2": "b",
           "winner": "m2", "cluster": "c", "ref": "r"}  # fmt: skip
    write(
        tmp_path / "caparena_annots_eval.json",
        [row, {**row, "source1": "human"}, {**row, "winner": "bad"}],
    )
    won, tied = load("caparena", str(tmp_path)).items
    assert (won.judgments["preferred"], tied.judgments["preferred"]) == (-1, 0)


HUB_ROWS = {
    "docent_coarse": {"uuid": "u", "reference": "r", "model1": "m", "model2": "n", "model1_generation": "a",
                      "model2_generation": "b", "mistakes": "1_much_better", "omissions": "equal",
                      "overall_quality": "2_slightly_better"},
    "docent_granular": {"uuid": "u", "model": "m", "generation": "a b", "reference": "r",
                        "mistakes": '[{"start": 0, "end": 1}]', "omissions": "[]"},
    "polaris": {"refs": ["r"], "cand": "a", "human_score": 0.75},
    "nebula": {"file_name": "p", "refs": ["r"], "mt": "a", "human_score": 0.25},
    "detailcaps": {"image": "p", "source": "s", "GT_Caption_GPT4O": "r", "GT_Caption_GPT4V": "q",
                   "CogVLM": "a", "GPT4_Eval": '{"CogVLM": 4}', "binary": b"picture"},
    "wiki_imagereview": {"id": "p", "genre": "g", **{f"sentence_{i}": f"s{i}" for i in range(1, 6)},
                         "annotator_1": [1, 2, 3, 4, 5], "annotator_2": [5, 4, 3, 2, 1],
                         "annotator_3": [1, 2, 3, 5, 4]},
}  # fmt: skip
HUB_JUDGMENTS = {
    "docent_coarse": {
        "mistakes": 2,
        "omissions": 0,
        "overall_quality": -1,
        "model1": "m",
        "model2": "n",
    },
    "docent_granular": {"mistakes": [[0, 1]], "omissions": []},
    "polaris": {"score": 0.75},
    "nebula": {"score": 0.25},
    "detailcaps": {"score": 4.0},
    "wiki_imagereview": {"ranks": [-1, -1]},  # people 1 and 3 agree best
}


@pytest.mark.parametrize("name", HUB_ROWS)
def test_tables_of_the_hub_are_read_from_a_local_folder(
    name: str, tmp_path: Path
) -> None:
    pq.write_table(
        pa.Table.from_pylist([HUB_ROWS[name]]), tmp_path / "test.parquet"
    )
    items = load(name, str(tmp_path)).items
    assert items[0].judgments == HUB_JUDGMENTS[name]
    assert len(items) == (5 if name == "wiki_imagereview" else 1)


def test_rows_that_others_train_on_are_not_read(tmp_path: Path) -> None:
    # As on the card of Nebula: data/train-*, data/valid-* and data/test-*.
    for place, split in enumerate(("train", "valid", "test")):
        row = {
            "file_name": "p",
            "refs": ["r"],
            "mt": f"a {split}",
            "human_score": 0.25,
        }
        table = pa.Table.from_pylist([row] * (3 - place))
        (tmp_path / "data").mkdir(exist_ok=True)
        pq.write_table(
            table, tmp_path / "data" / f"{split}-00000-of-00001.parquet"
        )
    (item,) = load("nebula", str(tmp_path)).items
    assert item.candidate == "a test"


def test_detailcaps_has_an_item_per_scored_system_and_none_without_scores(
    tmp_path: Path,
) -> None:
    row = {"image": "p", "source": "s", "GT_Caption_GPT4O": "r", "GT_Caption_GPT4V": None,
           "CogVLM": "a", "LLaVA_v15": "b", "GPT4_Eval": '{"CogVLM": 4, "LLaVA_v15": "2.5", "note": 1}'}  # fmt: skip
    rows = [{**row, "GPT4_Eval": None}, row]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "d.parquet")
    first, second = load("detailcaps", str(tmp_path)).items
    assert (first.id, first.candidate, first.references) == (
        "1/CogVLM",
        "a",
        ("r",),
    )
    assert (second.candidate, second.judgments) == ("b", {"score": 2.5})


def test_every_set_says_where_it_is_and_can_be_read() -> None:
    for human_set in SETS.values():
        assert human_set.where
        assert human_set.licence
        assert human_set.form in ("folder", "columns", "rows")
        assert bool(human_set.hub) == (human_set.form == "rows")
    assert set(SETS) - set(PROTOCOLS) == set(MARKED)


def test_a_set_without_data_says_where_it_is_published() -> None:
    with pytest.raises(
        ConfigError, match=r"github\.com/Yebin46/FLEUR.*--data FOLDER"
    ):
        load("pascal50s")
    with pytest.raises(ConfigError, match="--data hf: fetches it"):
        load("polaris")
    with pytest.raises(ConfigError, match="neither a file nor a known set"):
        load("nonesuch")


def test_a_folder_without_the_published_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"pascal_50s.json: is missing"):
        load("pascal50s", str(tmp_path))
    with pytest.raises(DataError, match="is neither a file nor a folder"):
        load("pascal50s", str(tmp_path / "none"))


def test_a_file_of_the_one_schema_is_known_by_its_dataset(
    tmp_path: Path,
) -> None:
    row = {"dataset": "pascal50s", "id": "HC/1", "image": "p.jpg", "references": ["r"], "candidate": "a",
           "candidate_b": "b", "judgments": {"preferred": 1, "category": "HC"}}  # fmt: skip
    write(tmp_path / "any.jsonl", lines([row]))
    judged = load(str(tmp_path / "any.jsonl"))
    assert (judged.name, judged.has_protocol) == ("pascal50s", True)
    del row["dataset"]
    write(tmp_path / "any.jsonl", lines([row]))
    assert (
        load(str(tmp_path / "any.jsonl")).name,
        load(str(tmp_path / "any.jsonl")).has_protocol,
    ) == (
        "any",
        False,
    )
