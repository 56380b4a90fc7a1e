"""Input files: regular ones and pipes, without waiting for data that never comes."""

import io
import os
import re
import select
import stat

from report import gather

# As for the programs that measure (include/pace/os/read_file.hpp).
TIMEOUT_VARIABLE = "PACE_PIPE_TIMEOUT"
LONGEST_SILENCE = 30.0


def _timeout():
    """Seconds that a pipe may be silent. Throws OSError if the variable holds no number of them."""
    given = os.environ.get(TIMEOUT_VARIABLE, "")
    if not given:
        return LONGEST_SILENCE
    if not re.fullmatch(r"\d+(\.\d*)?|\.\d+", given, re.ASCII) or float(given) > 1e6:
        raise OSError(0, f"{TIMEOUT_VARIABLE}: invalid value '{given}'; expected a number of seconds from 0 to 1000000")
    return float(given)


class _Pipe(io.RawIOBase):
    """Reads a pipe, and throws OSError where nothing comes for too long."""

    def __init__(self, file):
        self._file, self._timeout = file, _timeout()
        self._poll, self._began = select.poll(), False
        self._poll.register(file, select.POLLIN)

    def readable(self):
        return True

    def fileno(self):
        return self._file.fileno()

    def readinto(self, buffer):
        if not self._poll.poll(1e3 * self._timeout):
            what = "whose writer has sent nothing" if self._began else "to which no program has written"
            raise OSError(0, f"is a pipe {what} for {self._timeout:g} s ({TIMEOUT_VARIABLE}=SECONDS changes that)")
        count = self._file.readinto(buffer)
        self._began = True
        return count

    def close(self):
        self._file.close()
        super().close()


def open_input(path):
    """Opens a regular file, a member of an archive, or a pipe, such as a shell's `<(...)`, to be read as bytes. Throws
    OSError for everything else, and for files that cannot be opened; reading a pipe throws it, too."""
    if isinstance(path, gather.Packed):
        return path.open()
    # Without O_NONBLOCK, opening a named pipe waits for a writer, without a limit.
    more_flags = os.O_NONBLOCK | os.O_NOCTTY
    file = open(path, "rb", buffering=0, opener=lambda name, flags: _open_file(name, flags | more_flags))
    is_pipe = stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)
    return io.BufferedReader(_Pipe(file) if is_pipe else file)


def _open_file(path, flags):
    descriptor = os.open(path, flags)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or stat.S_ISFIFO(mode):
        return descriptor
    os.close(descriptor)
    raise OSError(0, "is a folder" if stat.S_ISDIR(mode) else "is neither a regular file nor a pipe")
