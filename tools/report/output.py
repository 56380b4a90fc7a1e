"""A page as a file, and the program in it that draws pictures."""

import os
import pathlib
import tempfile


def vega():
    """The program that draws the pictures, which the build took from vl-convert-python."""
    path = pathlib.Path(__file__).with_name("vega.js")
    return path.read_text("utf-8")


def write(path, text):
    """Writes the file whole or not at all."""
    if os.path.exists(path) and not os.path.isfile(path):
        # A pipe or a device, such as /dev/stdout.
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    folder = os.path.dirname(os.path.realpath(path))
    handle, new = tempfile.mkstemp(dir=folder, prefix=".report", suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(new, 0o666 & ~mask)
        os.replace(new, os.path.realpath(path))
    except BaseException:
        os.unlink(new)
        raise
