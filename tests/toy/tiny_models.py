"""Tiny transformers models with random weights and a tokenizer trained on the spot; need torch."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image as PILImage

from beholder.backends import Image

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
QWEN_IMAGE = ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>")


def make_tokenizer() -> Any:
    """A byte-level tokenizer of 400 tokens."""
    import transformers

    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=_raw_tokenizer(),
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="<end>",
        pad_token="<pad>",
        extra_special_tokens={"image_token": "<image>"},
    )


def text_config(tokenizer: Any) -> Any:
    """A Llama of two layers."""
    import transformers

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


def save_llama(folder: Path, *, template: str | None = TEMPLATE) -> str:
    """A text model; without a template it has no chat form."""
    import torch
    import transformers

    tokenizer = make_tokenizer()
    if template is not None:
        tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    transformers.LlamaForCausalLM(text_config(tokenizer)).save_pretrained(
        folder
    )
    return str(folder)


def save_entailment(
    folder: Path, labels: Sequence[str], bias: Sequence[float] | None = None
) -> str:
    """A BERT that classifies pairs; with a bias its answer to every pair is that bias."""
    import torch
    import transformers

    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=64,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.5,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
    )
    torch.manual_seed(0)
    model = transformers.BertForSequenceClassification(config)
    if bias is not None:
        with torch.no_grad():
            model.classifier.weight.zero_()
            model.classifier.bias.copy_(torch.tensor(bias))
    model.save_pretrained(folder)
    return str(folder)


def save_llava(folder: Path) -> str:
    """A CLIP encoder of 16 x 16 pixels, a projector, and the Llama."""
    import torch
    import transformers

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
    with (
        torch.no_grad()
    ):  # the projector starts near zero: make pictures matter
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


def save_qwen2_vl(folder: Path) -> Any:
    """A Qwen2-VL, whose positions have three dimensions; gives its processor.

    The processor is not saved: reading it back needs torchvision, for videos.
    """
    import torch
    import transformers
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import (
        Qwen2VLImageProcessorPil,
    )

    start, pad, end = QWEN_IMAGE
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=_raw_tokenizer(),
        bos_token="<s>",
        eos_token="<end>",
        pad_token="<pad>",
        extra_special_tokens={
            "image_token": pad,
            "video_token": "<v>",
            "s": start,
            "e": end,
        },
    )
    text = text_config(tokenizer).to_dict()
    config_keys = [
        "hidden_size",
        "intermediate_size",
        "num_hidden_layers",
        "num_attention_heads",
    ]
    config_keys += [
        "num_key_value_heads",
        "max_position_embeddings",
        "vocab_size",
        "initializer_range",
    ]
    rope = {
        "rope_type": "default",
        "rope_theta": 10000.0,
        "mrope_section": [1, 1, 2],
    }
    config = transformers.Qwen2VLConfig(
        text_config={
            **{name: text[name] for name in config_keys},
            "rope_parameters": rope,
        },
        vision_config={
            "depth": 2,
            "embed_dim": 16,
            "hidden_size": 32,
            "num_heads": 2,
        },
        image_token_id=tokenizer.convert_tokens_to_ids(pad),
        video_token_id=tokenizer.convert_tokens_to_ids("<v>"),
        vision_start_token_id=tokenizer.convert_tokens_to_ids(start),
        vision_end_token_id=tokenizer.convert_tokens_to_ids(end),
        eos_token_id=tokenizer.eos_token_id,
    )
    torch.manual_seed(2)
    transformers.Qwen2VLForConditionalGeneration(config).save_pretrained(
        folder
    )
    tokenizer.save_pretrained(folder)

    class Processor(transformers.Qwen2VLProcessor):  # type: ignore[misc]
        """Without videos."""

        @classmethod
        def get_attributes(cls) -> list[str]:
            return ["image_processor", "tokenizer"]

        def __init__(
            self, image_processor: Any, tokenizer: Any, chat_template: str
        ) -> None:
            self.image_token, self.video_token = pad, "<v>"
            self.image_token_id = tokenizer.convert_tokens_to_ids(pad)
            self.video_token_id = tokenizer.convert_tokens_to_ids("<v>")
            transformers.ProcessorMixin.__init__(
                self, image_processor, tokenizer, chat_template=chat_template
            )

    return Processor(
        Qwen2VLImageProcessorPil(min_pixels=784, max_pixels=784 * 16),
        tokenizer,
        TEMPLATE.replace("<image>", "".join(QWEN_IMAGE)),
    )


def save_idefics3(folder: Path) -> str:
    """An Idefics3: pictures are cut into tiles, each of them some tokens."""
    import torch
    import transformers
    from transformers.models.idefics3.image_processing_pil_idefics3 import (
        Idefics3ImageProcessorPil,
    )

    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=_raw_tokenizer(),
        bos_token="<s>",
        eos_token="<end>",
        pad_token="<pad>",
        extra_special_tokens={"image_token": "<image>", "fake": "<fake_token_around_image>",
                              "global": "<global-img>", "end": "<end_of_utterance>"},
    )  # fmt: skip
    text = text_config(tokenizer).to_dict()
    config = transformers.Idefics3Config(
        vision_config={
            "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2,
            "num_attention_heads": 2, "image_size": 32, "patch_size": 8, "initializer_range": 0.5,
        },
        text_config={**text, "model_type": "llama"},
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        scale_factor=2,
        pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    torch.manual_seed(3)
    model = transformers.Idefics3ForConditionalGeneration(config)
    with torch.no_grad():
        for parameter in model.model.connector.parameters():
            parameter.normal_(std=0.5)
    model.save_pretrained(folder)
    transformers.Idefics3Processor(
        image_processor=Idefics3ImageProcessorPil(
            size={"longest_edge": 64}, max_image_size={"longest_edge": 32}
        ),
        tokenizer=tokenizer,
        image_seq_len=4,  # (32 / 8 / 2) squared
        chat_template=TEMPLATE,
    ).save_pretrained(folder)
    return str(folder)


def picture(
    colour: tuple[int, int, int], size: tuple[int, int] = (20, 16)
) -> Image:
    """A picture of one colour."""
    data = io.BytesIO()
    PILImage.new("RGB", size, colour).save(data, "PNG")
    return Image(data.getvalue(), "image/png")


def loss_by_hand(
    model: Any, ids: list[int], n_prompt: int, **more: Any
) -> float:
    """One unbatched forward pass; sum of -log p over the tokens after the prompt."""
    import torch

    with torch.no_grad():
        logits = (
            model(input_ids=torch.tensor([ids]), **more).logits[0].double()
        )
    total = 0.0
    for place in range(n_prompt, len(ids)):
        row = logits[place - 1]
        total -= float(row[ids[place]] - torch.logsumexp(row, dim=0))
    return total


def _raw_tokenizer() -> Any:
    from tokenizers import (
        Tokenizer,
        decoders,
        models,
        pre_tokenizers,
        trainers,
    )

    raw = Tokenizer(models.BPE(unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    special = ["<unk>", "<s>", "<end>", "<pad>", "<image>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=alphabet,
        show_progress=False,
    )
    raw.train_from_iterator(CORPUS, trainer)
    return raw
