"""A program and all processes that it starts, run with tests/killed/nth_call.c: one call of theirs fails or kills."""

import ctypes
import dataclasses
import errno
import fcntl
import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import time

# As in nth_call.c.
KINDS = ("create", "write", "rename", "sync", "truncate", "unlink", "fork", "map")

_LAYOUT = struct.Struct(f"={len(KINDS)}Qii32s4096s")

_PR_SET_CHILD_SUBREAPER = 36

# A program that needs longer has hung. None takes a tenth of it, unless the machine is very busy.
LONGEST = 300.0

# Processes that the end of another one ends are gone in milliseconds.
GONE = 20.0


@dataclasses.dataclass(frozen=True)
class Call:
    """The n-th call of a kind, and what becomes of it."""

    kind: str
    number: int
    how: str
    error: int = errno.EIO

    def __str__(self):
        name = f", {errno.errorcode[self.error]}" if self.how in ("error", "full", "half") else ""
        return f"{self.kind} {self.number} ({self.how}{name})"

    @property
    def kills(self):
        return self.how in ("kill", "torn", "after", "end")


@dataclasses.dataclass
class Ended:
    code: int
    """Of the first process; below 0: minus the signal that killed it."""
    said: str
    """Its standard output and standard error."""
    calls: dict
    """The number of calls by kind."""
    hit: str
    """The call that failed or killed, such as `rename /tmp/x/a.json`; empty: there was none."""
    left: list
    """Processes that did not end with the first one."""
    hung: bool = False


def be_reaper():
    """Makes processes whose parents have ended children of this one."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _stat(process):
    """Returns the parent and the state of a process, or None if there is none."""
    try:
        text = pathlib.Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The name may hold anything.
    words = text[text.rindex(")") + 1 :].split()
    return int(words[1]), words[0]


def descendants():
    """Returns the processes below this one that have not ended."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := _stat(name)):
            parents[int(name)] = found
    below = {os.getpid()}
    while more := {each for each, (parent, _) in parents.items() if parent in below} - below:
        below |= more
    return [each for each in below - {os.getpid()} if parents[each][1] not in "ZX"]


def _reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] > 0:
            pass
    except ChildProcessError:
        pass


def _described(process):
    try:
        words = pathlib.Path(f"/proc/{process}/cmdline").read_text("utf-8", "replace").split("\0")
    except OSError:
        return str(process)
    return f"{process} ({' '.join(words)[:80].strip()})"


def _left_processes():
    """Waits until the processes that the first one has left are gone. Returns those that stay, and ends them."""
    end = time.monotonic() + GONE
    while True:
        _reap()
        found = descendants()
        if not found or time.monotonic() > end:
            break
        time.sleep(0.01)
    left = [_described(each) for each in found]
    for each in found:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            pass
    _reap()
    return left


def run(words, box, environment, library, call=None):
    """Runs a program in the folder `box`, whose files are watched. Without `call`, counts its calls; none fails.
    be_reaper() must have been called."""
    with tempfile.TemporaryDirectory() as folder:
        counters, said = os.path.join(folder, "counters"), os.path.join(folder, "said")
        with open(counters, "wb") as file:
            file.write(bytes(_LAYOUT.size))
        more = {"LD_PRELOAD": library, "PACE_NTH_COUNTERS": counters, "PACE_NTH_FOLDER": os.path.realpath(box)}
        if call:
            more |= {
                "PACE_NTH_KIND": call.kind,
                "PACE_NTH_NUMBER": str(call.number),
                "PACE_NTH_HOW": call.how,
                "PACE_NTH_ERROR": str(call.error),
            }
        with open(said, "wb") as file:
            first = subprocess.Popen(
                words,
                cwd=box,
                env={**environment, **more},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        hung = False
        try:
            first.wait(LONGEST)
        except subprocess.TimeoutExpired:
            hung = True
            first.kill()
            first.wait()
        left = _left_processes()
        with open(counters, "rb") as file:
            *numbers, _, hit, name, path = _LAYOUT.unpack(file.read(_LAYOUT.size))
        name, path = (os.fsdecode(each.split(b"\0")[0]) for each in (name, path))
        with open(said, encoding="utf-8", errors="replace") as file:
            text = file.read()
    return Ended(
        first.returncode, text, dict(zip(KINDS, numbers, strict=True)), f"{name} {path}" if hit else "", left, hung
    )


def is_locked(path):
    """Returns whether a process holds a lock (flock) on the file."""
    with open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
