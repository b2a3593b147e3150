"""The human-judgment sets that beholder knows: where each is published, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beholder.kinds.agreement import published, published_long, tables
from beholder.records import Item


@dataclass(frozen=True)
class HumanSet:
    """A published set of human judgments.

    Attributes:
        name: Name on the command line.
        what: What people judged, one line.
        where: Where it is published.
        licence: As its source states it.
        read: Reads the published files in a folder; None where it is a table on the hub.
        hub: Name, configuration and split on the Hugging Face hub; None where it is not there.
        row: Items of one row of that table.
        mapped: As ``read``, of files whose columns have to be named.
    """

    name: str
    what: str
    where: str
    licence: str
    read: Callable[[Path], Iterator[Item]] | None = None
    hub: tuple[str, str | None, str] | None = None
    row: Callable[[int, Mapping[str, Any]], Iterator[Item]] | None = None
    mapped: Callable[[Path, Mapping[str, str]], Iterator[Item]] | None = None


_FLICKR = "Flickr8k is for non-commercial research"
_HUB = "huggingface.co/datasets"
_DETAIL = f"{_HUB}/zyxhhnkh/DetailVerifyBench"
_IIW = "github.com/google/imageinwords, datasets"

SETS: Mapping[str, HumanSet] = {
    found.name: found
    for found in (
        HumanSet(
            "flickr8k_expert",
            "three experts rate short captions 1..4",
            "flickr8k.json of github.com/Yebin46/FLEUR (Flickr8k, Hodosh et al. 2013)",
            _FLICKR,
            read=published.flickr8k_expert,
        ),
        HumanSet(
            "flickr8k_cf",
            "crowd workers say whether a caption describes the picture",
            "Flickr8k_text.zip (Hodosh et al. 2013): CrowdFlowerAnnotations, Flickr8k.token",
            _FLICKR,
            read=published.flickr8k_cf,
        ),
        HumanSet(
            "composite",
            "crowd workers rate correctness and thoroughness of captions 1..5",
            "Aditya et al. 2015, AMT_eval CSV files; captions of Flickr8k, Flickr30k, COCO",
            "states none",
            read=published.composite,
        ),
        HumanSet(
            "pascal50s",
            "which of two short captions is better",
            "annotations/pascal_50s.json of github.com/Yebin46/FLEUR (Vedantam et al. 2015)",
            "states none",
            read=published.pascal50s,
        ),
        HumanSet(
            "thumb_mscoco",
            "precision, recall and penalties of captions by a rubric",
            "github.com/jungokasai/THumB, mscoco (Kasai et al. 2022)",
            "states none; COCO captions CC BY 4.0",
            read=published.thumb_v1,
        ),
        HumanSet(
            "vatex_eval",
            "three people rate captions of short videos 1..5",
            "VATEX-EVAL (Shi et al. 2022), vid_cans_score_dict.json",
            "VATEX annotations CC BY 4.0",
            read=published.vatex_eval,
        ),
        HumanSet(
            "sugarcrepe",
            "a true caption against a hard false one",
            "github.com/RAIVNLab/sugar-crepe, data (Hsieh et al. 2023)",
            "MIT; COCO captions CC BY 4.0",
            read=published.sugarcrepe,
        ),
        HumanSet(
            "iiw400_sxs",
            "long descriptions, model against human, five questions",
            f"{_IIW}/IIW-400 (Garg et al. 2024)",
            "CC BY 4.0",
            read=published.iiw400_sxs,
        ),
        HumanSet(
            "docci_test_sxs",
            "long descriptions, DOCCI against IIW, five questions",
            f"{_IIW}/DOCCI_Test (Garg et al. 2024)",
            "CC BY 4.0",
            read=published.docci_test_sxs,
        ),
        HumanSet(
            "docent_coarse",
            "which of two long descriptions has fewer mistakes, omissions, is better",
            "hf:amitha/docent-eval-coarse (the PoSh paper)",
            "see its page; pictures and references CC0",
            hub=("amitha/docent-eval-coarse", None, "test"),
            row=tables.docent_coarse,
        ),
        HumanSet(
            "docent_granular",
            "spans of mistakes and omissions in long descriptions",
            "hf:amitha/docent-eval-granular (the PoSh paper)",
            "see its page; pictures and references CC0",
            hub=("amitha/docent-eval-granular", None, "test"),
            row=tables.docent_granular,
        ),
        HumanSet(
            "caparena",
            "which of two long descriptions is better",
            "caparena_annots_eval.json, linked from github.com/njucckevin/CapArena",
            "see its page",
            read=published.caparena,
        ),
        HumanSet(
            "detailcaps",
            "GPT-4's scores of long captions (no people)",
            "hf:foundation-multimodal-models/DetailCaps-4870 (Dong et al. 2024)",
            "CC BY-NC-SA 4.0",
            hub=("foundation-multimodal-models/DetailCaps-4870", None, "test"),
            row=tables.detailcaps,
        ),
        HumanSet(
            "polaris",
            "crowd workers score short captions",
            "hf:yuwd/Polaris (Wada et al. 2024)",
            "Clear BSD",
            hub=("yuwd/Polaris", None, "test"),
            row=tables.polaris,
        ),
        HumanSet(
            "wiki_imagereview",
            "three people rank five reviews of a picture",
            "hf:naist-nlp/Wiki-ImageReview1.0 (the image-review-ranking paper)",
            "other: OpenAI's terms of use, each picture its own",
            hub=("naist-nlp/Wiki-ImageReview1.0", "en", "train"),
            row=tables.wiki_imagereview,
        ),
        HumanSet(
            "longcap_arena",
            "people score long captions: descriptiveness, relevance, fluency",
            f"{_HUB}/Ka2ukiMatsuda/LongCap-Arena, data/test.* (Matsuda et al. 2025)",
            "BSD 3-Clause Clear",
            read=published_long.longcap_arena,
        ),
        HumanSet(
            "docci_critique",
            "five people say of each sentence of a long caption whether it is factual",
            f"{_HUB}/google/DOCCI-Critique (Gordon et al. 2025)",
            "see its page",
            mapped=published_long.docci_critique,
        ),
        HumanSet(
            "detailverifybench",
            "marked hallucinations in long captions of a model",
            f"{_DETAIL}, data/real_test.jsonl (Wang et al. 2026)",
            "CC BY 4.0",
            read=published_long.detailverifybench,
        ),
        HumanSet(
            "detailverifybench_synthetic",
            "hallucinations that a model put into long captions (no people)",
            f"{_DETAIL}, data/synthetic_test.jsonl (Wang et al. 2026)",
            "CC BY 4.0",
            read=published_long.detailverifybench_synthetic,
        ),
        HumanSet(
            "caparena_auto",
            "GPT-4o says which of two long descriptions is better (no people)",
            "caparena_auto, linked from github.com/njucckevin/CapArena (Cheng et al. 2025)",
            "see its page",
            read=published_long.caparena_auto,
        ),
    )
}
