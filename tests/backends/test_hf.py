"""The hf backend with tiny models built here: random weights, a tokenizer trained on the spot."""

from __future__ import annotations

import asyncio
import io
import math
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as PILImage

from beholder import judges
from beholder.backends import Image, Message, Request, Sampling
from beholder.backends.hf import HF
from beholder.errors import ConfigError, ItemError
from beholder.judges import Question

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

CORPUS = [
    "A tall man holds a red cup on a bench near the river.",
    "Reply with the single digit 1 2 3 4 5 and nothing else.",
    "The picture is good, and the light could be better.",
]
TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>"
    "{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for p in m.content %}{% if p.type == 'image' %}<image>{% else %}{{ p.text }}{% endif %}"
    "{% endfor %}{% endif %}<end>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
PROMPT = "Write a review."
TEXTS = ["The light is good.", "A cup.", "The river could be better, and the man near it, too."]


def make_tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    raw = Tokenizer(models.BPE(unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    special = ["<unk>", "<s>", "<end>", "<pad>", "<image>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    raw.train_from_iterator(CORPUS, trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="<end>",
        pad_token="<pad>",
        extra_special_tokens={"image_token": "<image>"},
    )


def text_config(tokenizer: Any) -> Any:
    return transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.5,  # far from uniform: a wrong token shows
    )


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("llama")
    tokenizer = make_tokenizer()
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    transformers.LlamaForCausalLM(text_config(tokenizer)).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def llava(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("llava")
    tokenizer = make_tokenizer()
    vision = transformers.CLIPVisionConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=16,
        patch_size=8,
        projection_dim=16,
        initializer_range=0.5,
    )
    config = transformers.LlavaConfig(
        vision_config=vision,
        text_config=text_config(tokenizer),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_select_strategy="default",
        vision_feature_layer=-1,
    )
    torch.manual_seed(1)
    model = transformers.LlavaForConditionalGeneration(config)
    with torch.no_grad():  # the projector starts near zero: make pictures matter
        for parameter in model.model.multi_modal_projector.parameters():
            parameter.normal_(std=0.5)
    model.save_pretrained(folder)
    pictures = transformers.CLIPImageProcessor(
        size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16}
    )
    transformers.LlavaProcessor(
        image_processor=pictures,
        tokenizer=tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    ).save_pretrained(folder)
    return str(folder)


def picture(colour: tuple[int, int, int]) -> Image:
    data = io.BytesIO()
    PILImage.new("RGB", (20, 16), colour).save(data, "PNG")
    return Image(data.getvalue(), "image/png")


RED, BLUE = picture((250, 20, 10)), picture((0, 30, 240))


def loss_by_hand(model: Any, ids: list[int], n_prompt: int, **more: Any) -> float:
    """One unbatched forward pass; sum of -log p over the tokens after the prompt."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids]), **more).logits[0].double()
    total = 0.0
    for place in range(n_prompt, len(ids)):
        row = logits[place - 1]
        total -= float(row[ids[place]] - torch.logsumexp(row, dim=0))
    return total


def test_perplexity_of_text_equals_a_forward_pass_by_hand(llama: str) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(llama)
    model = transformers.AutoModelForCausalLM.from_pretrained(llama).eval()
    prompt = tokenizer(f"<|user|>{PROMPT}<end><|assistant|>", add_special_tokens=False)["input_ids"]
    for batch_size in (1, 2, 8):
        judge = judges.judge(f"hf:{llama}", batch_size=batch_size)
        found = asyncio.run(judge.perplexity(TEXTS, prompt=PROMPT))
        for text, perplexity in zip(TEXTS, found, strict=True):
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            expected = loss_by_hand(model, prompt + ids, len(prompt))
            assert perplexity.nll == pytest.approx(expected, rel=1e-5)
            assert (perplexity.n_tokens, perplexity.n_characters) == (len(ids), len(text))


def test_perplexity_with_a_picture_equals_a_forward_pass_by_hand(llava: str) -> None:
    processor = transformers.AutoProcessor.from_pretrained(llava)
    model = transformers.AutoModelForImageTextToText.from_pretrained(llava).eval()
    rendered = f"<|user|><image>{PROMPT}<end><|assistant|>"
    with PILImage.open(io.BytesIO(RED.data)) as opened:
        encoded = processor(text=[rendered], images=[opened.convert("RGB")], return_tensors="pt")
    prompt = encoded["input_ids"][0].tolist()
    assert prompt.count(processor.tokenizer.convert_tokens_to_ids("<image>")) == 4  # 2 x 2 patches
    judge = judges.judge(f"hf:{llava}", batch_size=2)
    found = asyncio.run(judge.perplexity(TEXTS, prompt=PROMPT, images=[RED]))
    for text, perplexity in zip(TEXTS, found, strict=True):
        ids = processor.tokenizer(text, add_special_tokens=False)["input_ids"]
        expected = loss_by_hand(
            model, prompt + ids, len(prompt), pixel_values=encoded["pixel_values"]
        )
        assert perplexity.nll == pytest.approx(expected, rel=1e-5)


def test_perplexity_of_a_qwen2_vl_equals_a_forward_pass_by_hand(tmp_path: Path) -> None:
    # Its positions have three dimensions and go on after the picture: not like a LLaVA's.
    pytest.importorskip("torchvision", reason="its processor needs torchvision")
    raw = make_tokenizer().backend_tokenizer
    pad, start, end = "<|image_pad|>", "<|vision_start|>", "<|vision_end|>"
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw,
        bos_token="<s>",
        eos_token="<end>",
        pad_token="<pad>",
        extra_special_tokens={"image_token": pad, "video_token": "<v>", "s": start, "e": end},
    )
    text = text_config(tokenizer).to_dict()
    known = ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"]
    known += ["num_key_value_heads", "max_position_embeddings", "vocab_size", "initializer_range"]
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}
    config = transformers.Qwen2VLConfig(
        text_config={**{name: text[name] for name in known}, "rope_parameters": rope},
        vision_config={"depth": 2, "embed_dim": 16, "hidden_size": 32, "num_heads": 2},
        image_token_id=tokenizer.convert_tokens_to_ids(pad),
        video_token_id=tokenizer.convert_tokens_to_ids("<v>"),
        vision_start_token_id=tokenizer.convert_tokens_to_ids(start),
        vision_end_token_id=tokenizer.convert_tokens_to_ids(end),
        eos_token_id=tokenizer.eos_token_id,
    )
    torch.manual_seed(2)
    transformers.Qwen2VLForConditionalGeneration(config).save_pretrained(tmp_path)
    transformers.Qwen2VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessor(min_pixels=784, max_pixels=784 * 16),
        tokenizer=tokenizer,
        video_processor=transformers.Qwen2VLVideoProcessor(),
        chat_template=TEMPLATE.replace("<image>", start + pad + end),
    ).save_pretrained(tmp_path)

    data = io.BytesIO()
    noise = PILImage.effect_noise((112, 84), 80).convert("RGB")
    noise.save(data, "PNG")
    model = transformers.AutoModelForImageTextToText.from_pretrained(tmp_path).eval()
    rendered = f"<|user|>{start}{pad}{end}{PROMPT}<end><|assistant|>"
    processor = transformers.AutoProcessor.from_pretrained(tmp_path)
    encoded = dict(processor(text=[rendered], images=[noise], return_tensors="pt"))
    prompt = encoded.pop("input_ids")[0].tolist()
    encoded.pop("attention_mask")
    types = encoded.pop("mm_token_type_ids", None)
    judge = judges.judge(f"hf:{tmp_path}", batch_size=2)
    shown = Image(data.getvalue(), "image/png")
    found = asyncio.run(judge.perplexity(TEXTS, prompt=PROMPT, images=[shown]))
    for sentence, perplexity in zip(TEXTS, found, strict=True):
        ids = processor.tokenizer(sentence, add_special_tokens=False)["input_ids"]
        more = dict(encoded)
        if types is not None:
            none = torch.zeros(1, len(ids), dtype=types.dtype)
            more["mm_token_type_ids"] = torch.cat([types, none], dim=1)
        expected = loss_by_hand(model, prompt + ids, len(prompt), **more)
        assert perplexity.nll == pytest.approx(expected, rel=1e-5)


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
    red = asyncio.run(judge.perplexity(TEXTS, prompt=PROMPT, images=[RED]))
    blue = asyncio.run(judge.perplexity(TEXTS, prompt=PROMPT, images=[BLUE]))
    assert n_encoded == 2
    assert all(abs(a.nll - b.nll) > 1e-3 for a, b in zip(red, blue, strict=True))


def towards_digits(path: str, folder: Path) -> str:
    """The Llama with digits on both sides of one direction: some are always among the likeliest."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    model = transformers.AutoModelForCausalLM.from_pretrained(path)
    digits = [tokenizer.convert_tokens_to_ids(str(d)) for d in range(1, 6)]
    with torch.no_grad():
        direction = 30.0 * model.lm_head.weight[digits[0]].clone()
        for digit, factor in zip(digits, (1.0, -1.0, 0.99, -0.99, 0.98), strict=True):
            model.lm_head.weight[digit] = factor * direction
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_grade_is_the_expectation_over_the_models_own_distribution(
    llama: str, tmp_path: Path
) -> None:
    llama = towards_digits(llama, tmp_path)
    judge = judges.judge(f"hf:{llama}", batch_size=4)
    questions = [Question("entity", text) for text in ("a cup", "the tall man near the river")]
    grades = asyncio.run(judge.presence(questions, "A tall man holds a red cup."))
    tokenizer = transformers.AutoTokenizer.from_pretrained(llama)
    model = transformers.AutoModelForCausalLM.from_pretrained(llama).eval()
    from beholder.judges.presence import render
    from beholder.judges.templates import Templates

    for question, grade in zip(questions, grades, strict=True):
        system, user = render(Templates()["presence"], question, "A tall man holds a red cup.")
        text = f"<|system|>{system.text}<end><|user|>{user.text}<end><|assistant|>"
        ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            logprobs = torch.log_softmax(model(ids).logits[0, -1].double(), dim=-1)
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
        answers = await asyncio.gather(*(backend.chat(request) for request in requests))
        return [answer.text for answer in answers]

    together = asyncio.run(ask(HF(llama, batch_size=8)))
    assert asyncio.run(ask(HF(llama, batch_size=1))) == together
    assert any(together)


def test_drawn_answers_follow_their_seed_and_leave_the_callers_alone(llama: str) -> None:
    backend = HF(llama)

    def draw(replicate: int) -> str:
        sampling = Sampling(temperature=1.0, max_tokens=12)
        request = Request((Message("user", ("Hi",)),), sampling, replicate=replicate)
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
    for shown in (RED, BLUE):
        request = Request((Message("user", (shown, "What is it?")),), Sampling(max_tokens=8))
        answer = asyncio.run(backend.chat(request))
        assert answer.usage.prompt > 10
        texts.add(answer.text)
    assert len(texts) == 2, "the picture matters"


def test_text_model_refuses_pictures_and_long_prompts_are_not_cut(llama: str) -> None:
    backend = HF(llama)
    seen = Request((Message("user", (RED, "What is it?")),))
    with pytest.raises(ConfigError, match="does not take pictures"):
        asyncio.run(backend.chat(seen))
    long = Request((Message("user", ("word " * 2000,)),), Sampling(max_tokens=8))
    tokenizer = transformers.AutoTokenizer.from_pretrained(llama)
    prompt = f"<|user|>{'word ' * 2000}<end><|assistant|>"
    whole = len(tokenizer(prompt, add_special_tokens=False)["input_ids"]) + 8
    with pytest.raises(ItemError, match=rf"has {whole} tokens.*takes 1024\. It is not cut"):
        asyncio.run(backend.chat(long))


def test_question_about_a_text_that_is_too_long_fails_and_the_others_do_not(
    llama: str, tmp_path: Path
) -> None:
    judge = judges.judge(f"hf:{towards_digits(llama, tmp_path)}", batch_size=2)
    cup = [Question("entity", "a cup")]

    async def ask() -> list[Any]:
        texts = ("A cup. " * 400, "A tall man holds a red cup.")
        asked = [judge.presence(cup, text) for text in texts]
        return list(await asyncio.gather(*asked, return_exceptions=True))

    failed, graded = asyncio.run(ask())
    assert isinstance(failed, ItemError)
    assert "shorten the text" in str(failed)
    assert 1.0 <= graded[0].value <= 5.0


def test_model_is_named_with_a_digest_of_its_weights(llama: str, llava: str) -> None:
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
