"""Packages that come with an extra: import them on use, or say how to install them."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shlex
import shutil
import sys
from types import ModuleType
from typing import Any

from beholder.errors import MissingExtraError

SWITCHES = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "VLLM_NO_USAGE_STATS": "1",
}
"""Variables that keep onnxruntime, the hub of transformers and datasets, Ray and vLLM from sending
statistics of use. Each reads its own when it is imported or started, so later is too late."""

for _name, _value in SWITCHES.items():
    os.environ.setdefault(_name, _value)


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional module.

    Args:
        module: Dotted name of the module, for example ``"sentence_transformers"``.
        extra: The extra of beholder that installs it, for example ``"hf"``.
        purpose: Component that needs it, for the message: ``"the embedder 'st:...'"``.

    Raises:
        MissingExtraError: The package is not installed. A package that is installed but broken
            raises its own ImportError, so that its message is not hidden.
    """
    check_extra(module, extra, purpose)
    return importlib.import_module(module)


def check_extra(module: str, extra: str, purpose: str) -> None:
    """The check of ``require``, without the import."""
    message = missing_message(module, extra=extra, purpose=purpose)
    if message is not None:
        raise MissingExtraError(message)


def missing_message(module: str, *, extra: str, purpose: str) -> str | None:
    """Return the message that an optional module is missing, with the command that installs it.

    Args:
        module: As ``require`` takes it.
        extra: Likewise.
        purpose: Likewise.

    Returns:
        The words of the error that ``require`` would raise; None where the package is installed.
    """
    package = module.partition(".")[0]
    is_installed = importlib.util.find_spec(package) is not None
    # Several distributions share the namespace ``google``, so its presence proves nothing.
    if is_installed and package == "google":
        package = module
        is_installed = importlib.util.find_spec(package) is not None
    if is_installed:
        return None
    return (
        f"{purpose} needs the package {package!r}, which is not installed: "
        f"{install_command(extra)}"
    )


def install_command(extra: str) -> str:
    """The command that installs an extra here: environments that uv creates contain no pip."""
    command = f"pip install 'beholder[{extra}]'"
    if importlib.util.find_spec("pip") is not None:
        return command
    python = shlex.quote(sys.executable)
    if shutil.which("uv") is not None:
        return f"uv {command} --python {python}"
    return f"{python} -m ensurepip && {python} -m {command}"


def load_object(reference: str) -> Any:
    """The object that ``module:name`` names; the module is imported on use.

    Raises:
        ImportError: There is no such module.
        AttributeError: The module has no such name.
    """
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)
