"""Files that are written, and the program in a page that draws pictures."""

import contextlib
import os
import pathlib
import stat
import tempfile


def vega():
    """The program that draws the pictures, which the build took from vl-convert-python."""
    path = pathlib.Path(__file__).with_name("vega.js")
    return path.read_text("utf-8")


@contextlib.contextmanager
def written(path):
    """A file for text, which takes the place of `path` at the end of the block, and leaves nothing if that throws."""
    if os.path.exists(path) and not os.path.isfile(path):
        # A pipe or a device, such as /dev/stdout.
        with open(path, "w", encoding="utf-8", newline="") as file:
            yield file
        return
    target = os.path.realpath(path)
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    handle, new = tempfile.mkstemp(dir=os.path.dirname(target), prefix="." + os.path.basename(target)[:100] + ".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            yield file
        os.chmod(new, mode)
        os.replace(new, target)
    except BaseException:
        os.unlink(new)
        raise


def write(path, text):
    """Writes the file whole or not at all."""
    with written(path) as file:
        file.write(text)
