"""How the programs in tools/ end."""

import os
import signal
import sys


def run(name, main):
    """Returns the exit code of the program: the one that `main()` returns, or 1 if the output cannot be written. A
    reader that has closed its end of the pipe, such as `head`, and an interrupt end it without a message. The codes are
    those that a shell gives to programs which these signals end."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            # A locale need not have every character of a name.
            stream.reconfigure(errors="backslashreplace")
    try:
        if sys.stdout is None:
            raise OSError(0, "is closed")
        try:
            code = main()
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        discard_output()
        return 128 + signal.SIGPIPE
    except OSError as error:
        discard_output()
        where = "the standard output" if error.filename is None else error.filename
        print(f"{name}: {where}: {error.strerror or error}; expected a place to write to", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def discard_output():
    """Sends all further output nowhere. Otherwise Python would report at its end that it cannot write it."""
    if sys.stdout is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
