"""Workers of compile_packages.py, with a compiler that never ends; nothing is compiled. inductor_script_test.sh runs
this."""

import errno
import io
import os
import select
import signal
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

import compile_packages

# Far longer than the awaited event takes on any machine. Only a failing test waits this long.
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
        self.manifest["device"] = "cpu"
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


def parent_of_kernel_compiler(case, manifest, scratch):
    """Whether Inductor's pool has been asked for a process, and whether those are children of the worker."""
    from torch._inductor.async_compile import AsyncCompile

    asked = AsyncCompile._ready_future is not None
    return {"asked": asked, "forked": AsyncCompile.process_pool().submit(os.getppid).result(A_LONG_TIME) == os.getpid()}


class KernelCompilers(Workers):
    """The arguments of a case for a GPU; none is needed to fork them."""

    def setUp(self):
        super().setUp()
        self.manifest["device"] = "cuda"

    def test_workers_have_them(self):
        import torch._inductor.async_compile as async_compile
        from torch._inductor import config

        with config.patch(compile_threads=2, worker_start_method="fork"):
            worker = compile_packages.Worker(self.manifest, parent_of_kernel_compiler)
        self.addCleanup(worker.stop)
        worker.give(0)
        self.assertTrue(worker.connection.poll(A_LONG_TIME))
        self.assertEqual(worker.connection.recv(), {"asked": True, "forked": True})


class SharedParts(unittest.TestCase):
    """Headers and Inductor's runtime, compiled ahead of the cases that need them."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.done = []
        self.manifest = {"scratch": scratch.name, "device": "cuda", "options": {}, "cases": [{"kind": "inference"}]}
        for name, stand_in in {"Worker": self.worker, "compile_all": lambda *_: self.done.append("cases")}.items():
            replaced = mock.patch.object(compile_packages, name, stand_in)
            replaced.start()
            self.addCleanup(replaced.stop)
        self.answer, self.problem = {"status": "ok"}, None

    def worker(self, manifest, compile_case):
        self.assertIs(compile_case, compile_packages.compile_shared_parts)
        made = mock.Mock()
        made.give.side_effect = lambda _: self.done.append("shared")
        made.stop.side_effect = lambda: self.done.append("stop")
        made.connection.poll.return_value = True
        made.connection.poll.side_effect = self.problem
        made.connection.recv.side_effect = [self.answer] if self.answer else EOFError
        return made

    def run_once(self, **other):
        self.done.clear()
        compile_packages.compile_beside_shared_parts({**self.manifest, **other}, None)
        return self.done

    def test_they_are_made_once_for_the_same_options(self):
        self.assertEqual(self.run_once(), ["shared", "cases", "stop"])
        self.assertEqual(self.run_once(), ["cases"])
        self.assertEqual(self.run_once(options={"max_autotune": True}), ["shared", "cases", "stop"])

    def test_what_failed_is_made_again(self):
        self.answer = None
        self.assertEqual(self.run_once(), ["shared", "cases", "stop"])
        self.assertEqual(self.run_once(), ["shared", "cases", "stop"])

    def test_a_worker_that_is_ended_while_it_compiles_them_ends_no_run(self):
        self.problem = ConnectionResetError("the other side has gone")
        self.assertEqual(self.run_once(), ["shared", "cases", "stop"])
        self.problem = None
        self.assertEqual(self.run_once(), ["shared", "cases", "stop"])
        self.assertEqual(self.run_once(), ["cases"])

    def test_a_connection_that_fails_among_the_cases_is_no_failure_of_theirs_to_hide(self):
        with mock.patch.object(compile_packages, "compile_all", mock.Mock(side_effect=EOFError)):
            with self.assertRaises(EOFError):
                self.run_once()
        self.assertEqual(self.done, ["shared", "stop"])

    def test_programs_and_packages_for_a_cpu_have_none(self):
        self.assertEqual(self.run_once(cases=[{"kind": "exported"}]), ["cases"])
        self.assertEqual(self.run_once(device="cpu"), ["cases"])


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)
        return file.name

    def read(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return file.read()

    def test_what_killed_processes_have_left_goes_and_what_is_being_written_stays(self):
        for name in ("a.pt2", "a.json", "a.pt2.12.tmp", "b.json.3.tmp", "notes.tmp"):
            self.write(name, "left")
        with compile_packages.beside(os.path.join(self.folder, "b.json")) as file:
            compile_packages.remove_left(self.folder)
            file.write(b"whole")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.json", "a.pt2", "b.json", "notes.tmp"])
        self.assertEqual(self.read("b.json"), "whole")

    def test_a_package_is_put_in_place_on_its_disk_or_another_one(self):
        replace = os.replace

        def over_disks(source, target):
            if not source.endswith(".tmp"):
                raise OSError(errno.EXDEV, "Invalid cross-device link")
            replace(source, target)

        for name, function in (("a", replace), ("b", over_disks)):
            made = self.write("made", f"package {name}")
            with mock.patch.object(os, "replace", function):
                compile_packages.put_in_place(made, self.folder, name)
            self.assertEqual(self.read(name + ".pt2"), f"package {name}")
        self.assertEqual(sorted(set(os.listdir(self.folder)) - {"made"}), ["a.pt2", "b.pt2"])


class Headers(unittest.TestCase):
    """The precompiled headers; the stand-in for the compiler writes the file that `-o` names."""

    def setUp(self):
        from torch._inductor import codecache, cpp_builder

        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name in ("_HEADER_DIR", "_HEADER_LOCK_DIR", "CppBuilder"):
            replaced = mock.patch.object(codecache, name, getattr(codecache, name))
            replaced.start()
            self.addCleanup(replaced.stop)
        compile_packages.share_precompiled_headers(folder.name, {})
        self.codecache, self.cpp_builder = codecache, cpp_builder
        self.header = os.path.join(folder.name, "headers", "h.h")
        os.makedirs(os.path.dirname(self.header))

    def build(self, compiler):
        options = self.cpp_builder.BuildOptionsBase(compiler="g++", precompiling=True)
        builder = self.codecache.CppBuilder(name=self.header, sources=self.header, BuildOption=options)
        with mock.patch.object(self.cpp_builder, "run_compile_cmd", compiler):
            builder.build()

    @staticmethod
    def write_output(command, text):
        words = command.split()
        with open(words[words.index("-o") + 1], "w") as file:
            file.write(text)

    def test_half_of_one_is_not_taken_for_a_whole_one(self):
        def ended(command, cwd):
            self.write_output(command, "half")
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.build(ended)
        self.assertFalse(os.path.exists(self.header + ".gch"))
        self.build(lambda command, cwd: self.write_output(command, "whole"))
        with open(self.header + ".gch") as file:
            self.assertEqual(file.read(), "whole")
        self.assertEqual(sorted(os.listdir(os.path.dirname(self.header))), ["h.h.gch"])


class OtherInductor(unittest.TestCase):
    """A version of Inductor whose compiler is another one is left as it is."""

    def test_no_compiler_of_the_known_kind(self):
        class Builder:
            build = None

        for codecache in (types.SimpleNamespace(), types.SimpleNamespace(CppBuilder=Builder)):
            with mock.patch.object(sys, "stderr", io.StringIO()) as said:
                compile_packages.write_headers_whole(codecache, "folder")
            self.assertIn("has no CppBuilder of the kind that is known", said.getvalue())
            self.assertIn(getattr(codecache, "CppBuilder", None), (None, Builder))


class VectorCode(unittest.TestCase):
    def tried(self, device):
        """The instruction sets that are tried on a processor that has all of them."""
        from torch._inductor import cpu_vec_isa

        tried, candidates = [], list(cpu_vec_isa.supported_vec_isa_list)
        for function in (cpu_vec_isa.VecISA._VecISA__bool__impl, cpu_vec_isa.VecAMX.__bool__):
            function.cache_clear()
            self.addCleanup(function.cache_clear)
        with (
            mock.patch.object(cpu_vec_isa, "x86_isa_checker", lambda: ["avx2", "avx512", "avx512_vnni", "amx_tile"]),
            mock.patch.object(cpu_vec_isa.VecISA, "check_build", lambda isa, code: not tried.append(str(isa))),
            mock.patch.object(cpu_vec_isa, "supported_vec_isa_list", candidates),
            mock.patch.object(cpu_vec_isa, "subprocess"),
        ):
            compile_packages.check_vector_code_by_fork({}, device)
        return tried

    def test_code_for_a_gpu_tries_the_width_alone(self):
        self.assertEqual(set(self.tried("cuda")), {"avx512"})
        self.assertEqual(self.tried("cpu")[0], "avx512 avx512_vnni amx_tile")


if __name__ == "__main__":
    unittest.main()
