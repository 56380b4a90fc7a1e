"""Files that are written, and the program in a page that draws pictures."""

import contextlib
import fcntl
import os
import pathlib
import stat


def vega():
    """The program that draws the pictures, which the build took from vl-convert-python."""
    path = pathlib.Path(__file__).with_name("vega.js")
    return path.read_text("utf-8")


def _has_name(handle, name):
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(name))
    except FileNotFoundError:
        return False


def _open_beside(name):
    """Opens a file of that name, once no other run writes to it. A killed run may have left it."""
    while True:
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if _has_name(handle, name):
                return handle
        except BaseException:
            os.close(handle)
            raise
        # The other run has moved or removed it meanwhile.
        os.close(handle)


@contextlib.contextmanager
def written(path):
    """A file for text, which takes the place of `path` at the end of the block, and leaves nothing if that throws.
    A run that is killed leaves `path` as it was, and a file whose name ends with `.new` for the next run."""
    if os.path.exists(path) and not os.path.isfile(path):
        # A pipe or a device, such as /dev/stdout.
        with open(path, "w", encoding="utf-8", newline="") as file:
            yield file
        return
    target = os.path.realpath(path)
    new = target + ".new"
    handle = _open_beside(new)
    try:
        os.ftruncate(handle, 0)
        # A copy is closed, which may report an error, and the lock stays until the file has its place.
        with open(os.dup(handle), "w", encoding="utf-8", newline="") as file:
            yield file
        with contextlib.suppress(FileNotFoundError):
            os.fchmod(handle, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(new, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(new)
        # Calls on an open file name none.
        if isinstance(error, OSError) and error.filename is None:
            error.filename = path
        raise
    finally:
        os.close(handle)


def write(path, text):
    """Writes the file whole or not at all."""
    with written(path) as file:
        file.write(text)
