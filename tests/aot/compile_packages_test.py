"""Workers of compile_packages.py, with a compiler that never ends; nothing is compiled. inductor_script_test.sh runs this."""

import os
import select
import signal
import subprocess
import tempfile
import unittest
from unittest import mock

import compile_packages

# Far longer than what is waited for takes on any machine; only a failing test waits for it.
A_LONG_TIME = 120


def never_ends(case, manifest, scratch):
    compiler = subprocess.Popen(["sleep", "1000"], close_fds=False)
    os.write(manifest["begun"], b"x")
    compiler.wait()


class Workers(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        # Every process inherits its writing end, so that its end comes when the last of them has gone.
        self.reading, writing = os.pipe()
        os.set_inheritable(writing, True)
        self.manifest = {"scratch": scratch.name, "run": scratch.name, "options": {}, "cases": [None], "begun": writing}
        for target in ("share_precompiled_headers", "share_runtime.share"):
            replaced = mock.patch.object(*self.named(target), lambda *_: None)
            replaced.start()
            self.addCleanup(replaced.stop)

    @staticmethod
    def named(target):
        holder, _, name = target.rpartition(".")
        return (getattr(compile_packages, holder) if holder else compile_packages), name

    def start(self):
        """A process that compiles with two workers; returns when both have started their compilers."""
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            try:
                compile_packages.end_with_parent(parent, signal.SIGKILL)
                for _ in range(2):
                    compile_packages.Worker(self.manifest, never_ends).give(0)
                signal.pause()
            finally:
                os._exit(1)
        os.close(self.manifest["begun"])
        begun = b""
        while len(begun) < 2:
            self.assertTrue(self.comes(), "no compiler was started")
            begun += os.read(self.reading, 1)
        return child

    def comes(self):
        return bool(select.select([self.reading], [], [], A_LONG_TIME)[0])

    def check_all_gone(self):
        self.assertTrue(self.comes(), "a worker or its compiler goes on")
        self.assertEqual(os.read(self.reading, 1), b"")

    def test_compilers_end_when_the_process_that_compiles_is_killed(self):
        child = self.start()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        self.check_all_gone()

    def test_the_process_that_compiles_ends_with_the_one_that_waits_for_it(self):
        """Though a shell may stand in between: here a process that starts it and is killed."""
        between = os.fork()
        if between == 0:
            self.start()
            os.kill(os.getpid(), signal.SIGKILL)
        os.close(self.manifest["begun"])
        os.waitpid(between, 0)
        self.check_all_gone()


if __name__ == "__main__":
    unittest.main()
