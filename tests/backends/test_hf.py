"""The hf backend with tiny models built here: random weights, a tokenizer trained on the spot."""

from __future__ import annotations

import asyncio
import io
import json
import math
import threading
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as PILImage

from beholder import judges
from beholder.backends import Answer, Image, Message, Request, Sampling
from beholder.backends.hf import HF
from beholder.errors import ConfigError, ItemError
from beholder.judges.operations import MeasureSurprisal, Presence, Question
from toy.tiny_models import (
    QWEN_IMAGE,
    loss_by_hand,
    picture,
    save_idefics3,
    save_llama,
    save_llava,
    save_qwen2_vl,
)

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

PROMPT = "Write a review."
TEXTS = [
    "The light is good.",
    "A cup.",
    "The river could be better, and the man near it, too.",
]


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_llama(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def llava(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_llava(tmp_path_factory.mktemp("llava"))


RED, BLUE = picture((250, 20, 10)), picture((0, 30, 240))


def test_perplexity_of_text_equals_a_forward_pass_by_hand(llama: str) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(llama)
    model = transformers.AutoModelForCausalLM.from_pretrained(llama).eval()
    prompt = tokenizer(
        f"<|user|>{PROMPT}<end><|assistant|>", add_special_tokens=False
    )["input_ids"]
    for batch_size in (1, 2, 8):
        judge = judges.judge(f"hf:{llama}", batch_size=batch_size)
        surprisals = asyncio.run(
            judge.ask(MeasureSurprisal(TEXTS, prompt=PROMPT))
        )
        for text, perplexity in zip(TEXTS, surprisals, strict=True):
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            expected = loss_by_hand(model, prompt + ids, len(prompt))
            assert perplexity.nll == pytest.approx(expected, rel=1e-5)
            assert (perplexity.n_tokens, perplexity.n_characters) == (
                len(ids),
                len(text),
            )


def test_perplexity_with_a_picture_equals_a_forward_pass_by_hand(
    llava: str,
) -> None:
    processor = transformers.AutoProcessor.from_pretrained(llava)
    model = transformers.AutoModelForImageTextToText.from_pretrained(
        llava
    ).eval()
    rendered = f"<|user|><image>{PROMPT}<end><|assistant|>"
    with PILImage.open(io.BytesIO(RED.data)) as opened:
        encoded = processor(
            text=[rendered],
            images=[opened.convert("RGB")],
            return_tensors="pt",
        )
    prompt = encoded["input_ids"][0].tolist()
    assert (
        prompt.count(processor.tokenizer.convert_tokens_to_ids("<image>")) == 4
    )  # 2 x 2 patches
    judge = judges.judge(f"hf:{llava}", batch_size=2)
    surprisals = asyncio.run(
        judge.ask(MeasureSurprisal(TEXTS, prompt=PROMPT, images=[RED]))
    )
    for text, perplexity in zip(TEXTS, surprisals, strict=True):
        ids = processor.tokenizer(text, add_special_tokens=False)["input_ids"]
        expected = loss_by_hand(
            model,
            prompt + ids,
            len(prompt),
            pixel_values=encoded["pixel_values"],
        )
        assert perplexity.nll == pytest.approx(expected, rel=1e-5)


def test_perplexity_of_a_qwen2_vl_equals_a_forward_pass_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its positions have three dimensions and go on after the picture: not like a LLaVA's.
    processor = save_qwen2_vl(tmp_path)
    monkeypatch.setattr(
        transformers.AutoProcessor,
        "from_pretrained",
        lambda *a, **k: processor,
    )
    data = io.BytesIO()
    noise = PILImage.effect_noise((112, 84), 80).convert("RGB")
    noise.save(data, "PNG")
    model = transformers.AutoModelForImageTextToText.from_pretrained(
        tmp_path
    ).eval()
    rendered = f"<|user|>{''.join(QWEN_IMAGE)}{PROMPT}<end><|assistant|>"
    encoded = dict(
        processor(text=[rendered], images=[noise], return_tensors="pt")
    )
    prompt = encoded.pop("input_ids")[0].tolist()
    assert (
        prompt.count(processor.image_token_id) == 12
    )  # 4 x 3 tokens of 28 x 28 pixels
    encoded.pop("attention_mask")
    types = encoded.pop("mm_token_type_ids", None)
    image = Image(data.getvalue(), "image/png")
    for batch_size in (1, 2, 8):
        judge = judges.judge(f"hf:{tmp_path}", batch_size=batch_size)
        surprisals = asyncio.run(
            judge.ask(MeasureSurprisal(TEXTS, prompt=PROMPT, images=[image]))
        )
        for sentence, perplexity in zip(TEXTS, surprisals, strict=True):
            ids = processor.tokenizer(sentence, add_special_tokens=False)[
                "input_ids"
            ]
            more = dict(encoded)
            if types is not None:
                none = torch.zeros(1, len(ids), dtype=types.dtype)
                more["mm_token_type_ids"] = torch.cat([types, none], dim=1)
            expected = loss_by_hand(model, prompt + ids, len(prompt), **more)
            assert perplexity.nll == pytest.approx(expected, rel=1e-5)


def test_perplexity_of_an_idefics3_equals_a_forward_pass_by_hand(
    tmp_path: Path,
) -> None:
    # Its pictures are cut into tiles, which the processor writes into the prompt.
    save_idefics3(tmp_path)
    processor = transformers.AutoProcessor.from_pretrained(tmp_path)
    model = transformers.AutoModelForImageTextToText.from_pretrained(
        tmp_path
    ).eval()
    image = picture((10, 200, 30), (60, 40))
    with PILImage.open(io.BytesIO(image.data)) as opened:
        rendered = f"<|user|><image>{PROMPT}<end><|assistant|>"
        encoded = dict(
            processor(
                text=[rendered], images=[opened.convert("RGB")], return_tensors="pt",
                add_special_tokens=False,
            )
        )  # fmt: skip
    prompt = encoded.pop("input_ids")[0].tolist()
    assert encoded["pixel_values"].shape[1] > 1  # more than one tile
    encoded.pop("attention_mask")
    for batch_size in (1, 2, 8):
        judge = judges.judge(f"hf:{tmp_path}", batch_size=batch_size)
        surprisals = asyncio.run(
            judge.ask(MeasureSurprisal(TEXTS, prompt=PROMPT, images=[image]))
        )
        for sentence, perplexity in zip(TEXTS, surprisals, strict=True):
            ids = processor.tokenizer(sentence, add_special_tokens=False)[
                "input_ids"
            ]
            expected = loss_by_hand(
                model, prompt + ids, len(prompt), **encoded
            )
            assert perplexity.nll == pytest.approx(expected, rel=1e-5)


def test_perplexity_without_a_chat_template_follows_the_stated_prompt(
    tmp_path: Path,
) -> None:
    save_llama(tmp_path, template=None)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    prompt = tokenizer(f"{PROMPT}\n\nAnswer:")["input_ids"]
    surprisals = asyncio.run(
        judges.judge(f"hf:{tmp_path}").ask(
            MeasureSurprisal(TEXTS, prompt=PROMPT)
        )
    )
    for text, perplexity in zip(TEXTS, surprisals, strict=True):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        expected = loss_by_hand(model, prompt + ids, len(prompt))
        assert perplexity.nll == pytest.approx(expected, rel=1e-5)


def test_another_instruction_changes_perplexity_only_through_conditioning(
    llava: str,
) -> None:
    # The loss stays on the same tokens: what it conditions on is all that differs.
    processor = transformers.AutoProcessor.from_pretrained(llava)
    model = transformers.AutoModelForImageTextToText.from_pretrained(
        llava
    ).eval()
    judge = judges.judge(f"hf:{llava}")
    other_prompt = "Say at length what could be better, and what is good about the light near the river."
    usual = asyncio.run(
        judge.ask(MeasureSurprisal(TEXTS, prompt=PROMPT, images=[RED]))
    )
    changed = asyncio.run(
        judge.ask(MeasureSurprisal(TEXTS, prompt=other_prompt, images=[RED]))
    )
    with PILImage.open(io.BytesIO(RED.data)) as opened:
        rendered = f"<|user|><image>{other_prompt}<end><|assistant|>"
        encoded = processor(
            text=[rendered],
            images=[opened.convert("RGB")],
            return_tensors="pt",
        )
    prompt = encoded["input_ids"][0].tolist()
    for text, before, after in zip(TEXTS, usual, changed, strict=True):
        ids = processor.tokenizer(text, add_special_tokens=False)["input_ids"]
        assert after.n_tokens == before.n_tokens == len(ids)
        assert abs(after.nll - before.nll) > 1e-3
        expected = loss_by_hand(
            model,
            prompt + ids,
            len(prompt),
            pixel_values=encoded["pixel_values"],
        )
        assert after.nll == pytest.approx(expected, rel=1e-5)


def test_another_picture_changes_perplexity_and_it_is_encoded_once(
    llava: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers.models.clip.modeling_clip import CLIPVisionModel

    n_encoded = 0
    forward = CLIPVisionModel.forward

    def counting(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal n_encoded
        n_encoded += 1
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(CLIPVisionModel, "forward", counting)
    judge = judges.judge(f"hf:{llava}", batch_size=1)
    red = asyncio.run(
        judge.ask(MeasureSurprisal(TEXTS, prompt=PROMPT, images=[RED]))
    )
    blue = asyncio.run(
        judge.ask(MeasureSurprisal(TEXTS, prompt=PROMPT, images=[BLUE]))
    )
    assert n_encoded == 2
    assert all(
        abs(a.nll - b.nll) > 1e-3 for a, b in zip(red, blue, strict=True)
    )


def towards_digits(path: str, folder: Path) -> str:
    """The Llama with digits on both sides of one direction: some are always among the likeliest."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    model = transformers.AutoModelForCausalLM.from_pretrained(path)
    digits = [tokenizer.convert_tokens_to_ids(str(d)) for d in range(1, 6)]
    with torch.no_grad():
        direction = 30.0 * model.lm_head.weight[digits[0]].clone()
        for digit, factor in zip(
            digits, (1.0, -1.0, 0.99, -0.99, 0.98), strict=True
        ):
            model.lm_head.weight[digit] = factor * direction
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_grade_is_the_expectation_over_the_models_own_distribution(
    llama: str, tmp_path: Path
) -> None:
    llama = towards_digits(llama, tmp_path)
    judge = judges.judge(f"hf:{llama}", batch_size=4)
    questions = [
        Question("entity", text)
        for text in ("a cup", "the tall man near the river")
    ]
    grades = asyncio.run(
        judge.ask(Presence(questions, "A tall man holds a red cup."))
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(llama)
    model = transformers.AutoModelForCausalLM.from_pretrained(llama).eval()
    from beholder.judges.operations.presence import render
    from beholder.judges.templates import Templates

    for question, grade in zip(questions, grades, strict=True):
        system, user = render(
            Templates()["presence"], question, "A tall man holds a red cup."
        )
        text = f"<|system|>{system.text}<end><|user|>{user.text}<end><|assistant|>"
        ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")[
            "input_ids"
        ]
        with torch.no_grad():
            logprobs = torch.log_softmax(
                model(ids).logits[0, -1].double(), dim=-1
            )
        top = set(logprobs.topk(20).indices.tolist())
        mass = dict.fromkeys(range(1, 6), 0.0)
        for token in top:
            word = tokenizer.decode([token]).strip()
            if word in {"1", "2", "3", "4", "5"}:
                mass[int(word)] += math.exp(float(logprobs[token]))
        total = sum(mass.values())
        assert total > 0
        expected = sum(digit * p for digit, p in mass.items()) / total
        assert grade.value == pytest.approx(expected, abs=1e-4)


def test_answers_do_not_depend_on_the_batch(llama: str) -> None:
    requests = [
        Request((Message("user", (text,)),), Sampling(max_tokens=12))
        for text in (*TEXTS, "x " * 40)
    ]

    async def ask(backend: HF) -> list[str]:
        answers = await asyncio.gather(
            *(backend.chat(request) for request in requests)
        )
        return [answer.text for answer in answers]

    together = asyncio.run(ask(HF(llama, batch_size=8)))
    assert asyncio.run(ask(HF(llama, batch_size=1))) == together
    assert any(together)


def test_drawn_answers_follow_their_seed_and_leave_the_callers_alone(
    llama: str,
) -> None:
    backend = HF(llama)

    def draw(replicate: int) -> str:
        sampling = Sampling(temperature=1.0, max_tokens=12)
        request = Request(
            (Message("user", ("Hi",)),), sampling, replicate=replicate
        )
        return asyncio.run(backend.chat(request)).text

    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    first = draw(0)
    assert torch.equal(torch.rand(1), expected)
    assert draw(0) == first
    assert len({draw(replicate) for replicate in range(5)}) > 1


def test_vision_model_chats_about_pictures(llava: str) -> None:
    backend = HF(llava)
    texts = set()
    for image in (RED, BLUE):
        request = Request(
            (Message("user", (image, "What is it?")),), Sampling(max_tokens=8)
        )
        answer = asyncio.run(backend.chat(request))
        assert answer.usage.prompt > 10
        texts.add(answer.text)
    assert len(texts) == 2, "the picture matters"


def test_text_model_refuses_pictures_and_long_prompts_are_not_cut(
    llama: str,
) -> None:
    backend = HF(llama)
    picture_request = Request((Message("user", (RED, "What is it?")),))
    with pytest.raises(ConfigError, match="does not take pictures"):
        asyncio.run(backend.chat(picture_request))
    long = Request(
        (Message("user", ("word " * 2000,)),), Sampling(max_tokens=8)
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(llama)
    prompt = f"<|user|>{'word ' * 2000}<end><|assistant|>"
    whole = len(tokenizer(prompt, add_special_tokens=False)["input_ids"]) + 8
    with pytest.raises(
        ItemError, match=rf"has {whole} tokens.*takes 1024\. It is not cut"
    ):
        asyncio.run(backend.chat(long))


def test_question_about_a_text_that_is_too_long_fails_and_the_others_do_not(
    llama: str, tmp_path: Path
) -> None:
    judge = judges.judge(f"hf:{towards_digits(llama, tmp_path)}", batch_size=2)
    cup = [Question("entity", "a cup")]

    async def ask() -> list[Any]:
        texts = ("A cup. " * 400, "A tall man holds a red cup.")
        questions = [judge.ask(Presence(cup, text)) for text in texts]
        return list(await asyncio.gather(*questions, return_exceptions=True))

    failed, graded = asyncio.run(ask())
    assert isinstance(failed, ItemError)
    assert "shorten the text" in str(failed)
    assert 1.0 <= graded[0].value <= 5.0


def test_model_is_named_with_a_digest_of_its_weights(
    llama: str, llava: str
) -> None:
    able = asyncio.run(HF(llama).capabilities())
    assert able.model.startswith(f"{llama}@")
    assert able.model.endswith(",float32")
    assert not able.images
    assert asyncio.run(HF(llava).capabilities()).images
    weights = Path(llama) / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(bytes(data))
    changed = asyncio.run(HF(llama).capabilities())
    data[-1] ^= 1
    weights.write_bytes(bytes(data))
    assert changed.model != able.model


def test_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be loaded"):
        asyncio.run(HF(str(tmp_path)).capabilities())


def test_sets_that_are_asked_together_get_what_each_gets_alone(
    llava: str,
) -> None:
    image_sets = [[RED], [BLUE], [], [RED]]
    texts = [TEXTS, TEXTS[:2], TEXTS, ["A red cup on a bench."]]

    async def together(batch_size: int) -> list[list[float]]:
        judge = judges.judge(f"hf:{llava}", batch_size=batch_size)
        surprisal_sets = await asyncio.gather(
            *(
                judge.ask(MeasureSurprisal(t, prompt=PROMPT, images=i))
                for t, i in zip(texts, image_sets, strict=True)
            )
        )
        return [[surprisal.nll for surprisal in row] for row in surprisal_sets]

    alone = [
        [surprisal.nll for surprisal in asyncio.run(judges.judge(f"hf:{llava}").ask(MeasureSurprisal(t, prompt=PROMPT, images=i)))]
        for t, i in zip(texts, image_sets, strict=True)
    ]  # fmt: skip
    for batch_size in (1, 4, 16):
        for row, expected in zip(
            asyncio.run(together(batch_size)), alone, strict=True
        ):
            assert row == pytest.approx(expected, rel=1e-5)


def test_one_set_that_cannot_be_scored_fails_alone(llama: str) -> None:
    judge = judges.judge(f"hf:{llama}")

    async def ask() -> list[object]:
        sets = (TEXTS, ["word " * 2000], [""])
        questions = (
            judge.ask(MeasureSurprisal(texts, prompt=PROMPT)) for texts in sets
        )
        return await asyncio.gather(*questions, return_exceptions=True)

    good, long, empty = asyncio.run(ask())
    assert isinstance(good, list)
    assert len(good) == len(TEXTS)
    assert isinstance(long, ItemError)
    assert "the model takes 1024" in str(long)
    assert isinstance(empty, ItemError)


def test_a_model_whose_cache_cannot_be_shared_gets_whole_passes(
    llava: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = asyncio.run(
        judges.judge(f"hf:{llava}").ask(
            MeasureSurprisal(TEXTS, prompt=PROMPT, images=[RED])
        )
    )
    for cls in transformers.DynamicCache.__mro__:
        if "batch_select_indices" in vars(cls):
            monkeypatch.delattr(cls, "batch_select_indices")
    surprisals = asyncio.run(
        judges.judge(f"hf:{llava}").ask(
            MeasureSurprisal(TEXTS, prompt=PROMPT, images=[RED])
        )
    )
    assert [p.nll for p in surprisals] == pytest.approx(
        [p.nll for p in usual], rel=1e-5
    )


QUESTIONS = [
    Question("entity", text)
    for text in (
        "a cup",
        "the tall man near the river",
        "a bench",
        "a dog",
        "a red thing",
        "water",
    )
]


def test_a_text_is_read_once_for_all_questions_about_it(
    llama: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from beholder.backends.hf_model import HFModel

    llama = towards_digits(llama, tmp_path)
    text = "A tall man holds a red cup on a bench near the river. " * 4
    alone = asyncio.run(
        judges.judge(f"hf:{llama}", batch_size=1).ask(
            Presence(QUESTIONS, text)
        )
    )
    passes: list[int] = []
    forward = HFModel.forward

    def counting(self: HFModel, **inputs: Any) -> Any:
        passes.append(inputs["input_ids"].numel())
        return forward(self, **inputs)

    monkeypatch.setattr(HFModel, "forward", counting)
    judge = judges.judge(f"hf:{llama}", batch_size=8)
    together = asyncio.run(judge.ask(Presence(QUESTIONS, text)))
    assert [grade.value for grade in together] == pytest.approx(
        [grade.value for grade in alone], abs=1e-4
    )
    shared, rest = (
        passes  # what comes before the question, then the six questions
    )
    assert shared > 4 * 12
    assert rest < 6 * 60


def test_batches_shrink_where_memory_runs_out(
    llama: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from beholder.backends.hf_model import HFModel

    room, sizes = 2, []
    answer = HFModel.answer

    def cramped(self: HFModel, requests: Any) -> Any:
        sizes.append(len(requests))
        if len(requests) > room:
            raise torch.OutOfMemoryError(
                "CUDA out of memory.\nTried to allocate"
            )
        return answer(self, requests)

    monkeypatch.setattr(HFModel, "answer", cramped)
    backend = HF(llama, batch_size=8)

    async def ask() -> list[Any]:
        requests = [
            Request((Message("user", (f"{n} cups",)),), Sampling(max_tokens=3))
            for n in range(5)
        ]
        answers = (backend.chat(request) for request in requests)
        return list(await asyncio.gather(*answers, return_exceptions=True))

    answers = asyncio.run(ask())
    assert [answer.usage.prompt > 0 for answer in answers] == [True] * 5
    assert sizes == [5, 2, 2, 1]
    room = 0
    failed = asyncio.run(ask())
    assert all(
        isinstance(error, ItemError) and "no memory" in str(error)
        for error in failed
    )


def test_an_answer_that_nobody_waits_for_is_not_written_to_its_end(
    llama: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import LlamaForCausalLM

    backend = HF(llama)
    request = Request(
        (Message("user", ("A cup.",)),), Sampling(max_tokens=800)
    )
    whole = asyncio.run(backend.chat(request)).usage.completion
    assert whole > 100
    passes = 0
    begun = threading.Event()
    forward = LlamaForCausalLM.forward

    def counting(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal passes
        passes += 1
        begun.set()
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(LlamaForCausalLM, "forward", counting)

    async def interrupted() -> None:
        task = asyncio.ensure_future(backend.chat(request))
        await asyncio.to_thread(begun.wait, 60)
        task.cancel()

    asyncio.run(interrupted())
    backend._batcher._thread.shutdown(wait=True)
    assert 0 < passes < whole


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "integer", "enum": [3, 7]},
                    "said": {"type": "string", "maxLength": 6},
                },
                "required": ["id", "said"],
                "additionalProperties": False,
            },
            "minItems": 2,
            "maxItems": 2,
        }
    },
    "required": ["rows"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_answers_are_held_to_a_schema_that_random_weights_would_never_keep(
    llama: str, temperature: float
) -> None:
    backend = HF(llama, device="cpu", batch_size=4)
    other_schema: dict[str, Any] = {
        "type": "object",
        "properties": {"n": {"enum": [41]}},
    }
    other_schema |= {"required": ["n"], "additionalProperties": False}
    sampling = Sampling(
        temperature=temperature, max_tokens=200, n=2 if temperature else 1
    )

    async def ask() -> list[Answer]:
        requests = [
            Request(
                (Message("user", (f"Thing {i}. " * (i + 1),)),),
                sampling,
                schema,
            )
            for i, schema in enumerate((SCHEMA, other_schema, SCHEMA))
        ]
        return list(await asyncio.gather(*map(backend.chat, requests)))

    assert asyncio.run(backend.capabilities()).structure == "schema"
    for i, answer in enumerate(asyncio.run(ask())):
        for sample in answer.samples:
            assert sample.finish == "stop"
            answer_json = json.loads(sample.text)
            if i == 1:
                assert answer_json == {"n": 41}
                continue
            assert [row["id"] in (3, 7) for row in answer_json["rows"]] == [
                True,
                True,
            ]
            assert all(len(row["said"]) <= 6 for row in answer_json["rows"])


def test_a_schema_that_cannot_be_enforced_is_the_fault_of_the_item(
    llama: str,
) -> None:
    request = Request(
        (Message("user", ("?",)),),
        Sampling(max_tokens=9),
        {"type": "no such type"},
    )
    with pytest.raises(ItemError, match="the schema cannot be enforced"):
        asyncio.run(HF(llama, device="cpu").chat(request))
