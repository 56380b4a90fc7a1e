"""Loads the extension module, which fits one minor version of torch."""

import torch


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


try:
    from pace import _pace as native
except ImportError as error:
    raise ImportError(
        f"pace's extension cannot be loaded with torch {torch.__version__}: {error}\n"
        "try: build it for this torch: pip install --force-reinstall --no-deps . in pace's folder") from error

if _minor(native.built_for) != _minor(torch.__version__):
    raise ImportError(f"pace was built for torch {native.built_for}, and this is torch {torch.__version__}\n"
                      "try: pip install --force-reinstall --no-deps . in pace's folder")
