R"""py(
Compiles TorchScript modules into AOTInductor packages, many in one go.

    python compile_packages.py MANIFEST.json

The manifest names an output directory and the cases; each case has a key, a TorchScript file and the metadata of its
input tensors. For each case this writes KEY.json (a record: status, seconds, route, reason) and, when the status is
`ok`, before it KEY.pt2. The record of one that is `ok` also holds the records of record_kernels.py. That file and
share_runtime.py must stand beside this one. Lines of output that start with `pace: ` are messages of progress.

The cases run in forked workers, so that one that crashes the compiler, or never ends, costs only itself. Everything
expensive that all share (imports, the choice of vector instructions) happens once, before the fork.

The first line and the last make this file a C++ raw string literal as well. package_key.hpp includes it as text, so a
program needs no path to it at run time.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import multiprocessing
import multiprocessing.connection
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback

import record_kernels
import share_runtime


def say(text):
    print("pace: " + text, flush=True)


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


TEMPORARY = re.compile(r".*\.[0-9]+\.tmp")


def lock_of_new(file, name):
    """Locks a file that remove_left() may take for one that is left. Returns whether it has not."""
    fcntl.flock(file, fcntl.LOCK_EX)
    return os.path.exists(name) and os.path.samestat(os.fstat(file.fileno()), os.stat(name))


@contextlib.contextmanager
def beside(path):
    """A file for bytes, which is moved to `path` at the end: a reader sees the old file or the new one, never half of
    one."""
    temporary = f"{path}.{os.getpid()}.tmp"
    file = open(temporary, "wb")
    while not lock_of_new(file, temporary):
        file.close()
        file = open(temporary, "wb")
    with file:
        yield file
        file.flush()
        os.replace(temporary, path)


def remove_left(folder):
    """Removes files that killed processes have left unfinished: nobody holds their locks."""
    for name in os.listdir(folder):
        if not TEMPORARY.fullmatch(name):
            continue
        with contextlib.suppress(OSError), open(os.path.join(folder, name), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(os.path.join(folder, name))


def write_whole(path, text):
    with beside(path) as file:
        file.write(text.encode())


def check_vector_code_by_fork(options, device):
    """Inductor tries each vector instruction set by loading a library in a new Python that imports torch again: two to
    five seconds each, in every process. A fork of this process, which has torch already, finds out as much at once.
    Inductor also compiles that library for each of them, seconds each, to take the first that works. The others need no
    trial, unless someone asks for a width or a capability by name. Code for a GPU has few loops for the host, so that
    it gets the width alone: each further extension (VNNI, AMX) takes trials of its own."""
    import ctypes
    import subprocess

    from torch._inductor import cpu_vec_isa

    class Subprocess:
        DEVNULL = subprocess.DEVNULL

        @staticmethod
        def check_call(command, **options):
            library = re.search(r'LoadLibrary\("(.*?)"\)', command[-1])
            if library is None:
                return subprocess.check_call(command, **options)
            child = os.fork()
            if child == 0:
                try:
                    ctypes.CDLL(library.group(1))
                    os._exit(0)
                finally:
                    os._exit(1)
            if os.waitpid(child, 0)[1] != 0:
                raise subprocess.CalledProcessError(1, command)
            return 0

    cpu_vec_isa.subprocess = Subprocess
    if "cpp.simdlen" not in options and "ATEN_CPU_CAPABILITY" not in os.environ:
        supported = cpu_vec_isa.x86_isa_checker()
        candidates = cpu_vec_isa.supported_vec_isa_list
        plain = [isa for isa in candidates if type(isa) in (cpu_vec_isa.VecAVX512, cpu_vec_isa.VecAVX2)]
        for isa in list(candidates if device == "cpu" else plain):
            if all(flag in supported for flag in str(isa).split()) and isa:
                candidates[:] = [isa]
                break
    cpu_vec_isa.pick_vec_isa()  # remembers the answer, which the workers inherit


def make_inputs(tensors, fake):
    """Tensors of the case's metadata. Compiling needs no values, so fake ones (no memory) serve wherever they work."""
    import contextlib

    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() if fake else contextlib.nullcontext():
        return tuple(
            torch.empty_strided(t["sizes"], t["strides"], dtype=getattr(torch, t["dtype"]), device=t["device"])
            for t in tensors
        )


def graph_module(script, substitutes={}):
    """A module that makes the calls of a TorchScript graph of plain operators, one by one. `substitutes` maps kinds of
    nodes to the functions that replace them."""
    import torch

    graph = script.forward.graph if hasattr(script, "forward") else script.graph

    def overload_of(node):
        space, base = node.kind().split("::")
        overload = re.match(r"[\w:]+(?:\.(\w+))?\(", node.schema()).group(1) or "default"
        return getattr(getattr(getattr(torch.ops, space), base), overload)

    def as_number(constant):
        """A number that was given for a tensor stands in the graph as a tensor without dimensions. The operator gets
        the number back, which Inductor writes into the code instead of loading it."""
        return constant.item() if isinstance(constant, torch.Tensor) and constant.dim() == 0 else constant

    def as_long_as(length, numbers):
        """One number may stand for a list of them: C++ gives `int[2] dilation=1` so. Inductor wants all."""
        return numbers * length if length and isinstance(numbers, list) and len(numbers) == 1 else numbers

    # Their values are read here, where tensors are real yet.
    constants = {n.output().debugName(): as_number(n.output().toIValue()) for n in graph.findAllNodes("prim::Constant")}

    class Graph(torch.nn.Module):
        def forward(self, *tensors):
            values = {value.debugName(): tensor for value, tensor in zip(list(graph.inputs())[1:], tensors)}
            for node in graph.nodes():
                inputs = [values[value.debugName()] for value in node.inputs()]
                outputs = list(node.outputs())
                if node.kind() in substitutes:
                    result = substitutes[node.kind()](*inputs)
                    results = [result] if len(outputs) == 1 else result
                elif node.kind() == "prim::Constant":
                    results = [constants[node.output().debugName()]]
                elif node.kind() == "prim::ListConstruct":
                    results = [inputs]
                elif node.kind() == "prim::TupleConstruct":
                    results = [tuple(inputs)]
                elif node.kind() in ("prim::ListUnpack", "prim::TupleUnpack"):
                    results = list(inputs[0])
                elif node.kind() == "prim::NumToTensor":
                    results = inputs  # a size, which stays a number
                elif node.kind() in ("aten::Int", "aten::ScalarImplicit") and isinstance(inputs[0], int):
                    results = inputs
                elif node.kind().startswith("aten::"):
                    overload = overload_of(node)
                    parameters = overload._schema.arguments
                    inputs = [as_long_as(p.N, v) for p, v in zip(parameters, inputs)]
                    positional = [v for p, v in zip(parameters, inputs) if not p.kwarg_only]
                    named = {p.name: v for p, v in zip(parameters, inputs) if p.kwarg_only}
                    result = overload(*positional, **named)
                    results = [result] if len(outputs) == 1 else result
                else:
                    raise NotImplementedError(f"a graph with {node.kind()}")
                values.update((output.debugName(), result) for output, result in zip(outputs, results))
            return values[next(graph.outputs()).debugName()]

    return Graph()


def by_graph(script, tensors):
    """The direct route: shapes stay as they are, and every operator stays the one in the graph."""
    import torch

    return torch.export.export(graph_module(script), make_inputs(tensors, fake=True), strict=False)


def by_converter(script, tensors):
    """PyTorch's converter, which also knows control flow. It makes every dimension dynamic; exporting its module once
    more takes the shapes as they are, so that the compiled code is made for them."""
    import torch
    from torch._export.converter import TS2EPConverter

    inputs = make_inputs(tensors, fake=False)
    program = TS2EPConverter(script, inputs).convert()
    return torch.export.export(program.module(), inputs, strict=False)


def may_pass(error):
    """Whether the failure is one of the machine's state, such as a full disk, and not of the case."""
    signs = (
        "No space left", "Cannot allocate memory", "InvalidCxxCompiler", "No working C++ compiler", "Killed signal",
    )
    return isinstance(error, (OSError, MemoryError)) or any(sign in str(error) for sign in signs)


def put_in_place(package, folder, key):
    place = os.path.join(folder, key + ".pt2")
    try:
        os.replace(package, place)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with open(package, "rb") as source, beside(place) as file:
            shutil.copyfileobj(source, file)


def problem(error, route, step):
    """The record of an exception that is being handled."""
    return {
        "route": route.__name__,
        "step": step,
        "reason": f"{type(error).__name__}: {error}"[:2000],
        "details": traceback.format_exc()[-4000:],
        "transient": may_pass(error),
    }


def failure(problems):
    transient = any(problem["transient"] for problem in problems)
    return {"status": "failed", "reason": problems[-1]["reason"], "transient": transient, "attempts": problems}


def compile_case(case, manifest, scratch):
    """Writes the package; the rest of the record is the result."""
    import torch
    import torch._inductor

    torch.set_num_threads(manifest["threads"])  # the number is compiled in
    problems = []
    for route in (by_graph, by_converter):
        program, started = None, time.monotonic()
        try:
            torch._dynamo.reset()
            program = route(torch.jit.load(case["script"]), case["tensors"])
            exported = time.monotonic()
            temporary = os.path.join(scratch, "package.pt2")
            with record_kernels.recorded() as recording:
                torch._inductor.aoti_compile_and_package(
                    program, package_path=temporary, inductor_configs=manifest["options"]
                )
            compiled = time.monotonic()
            size = os.path.getsize(temporary)
            put_in_place(temporary, manifest["out"], case["key"])
            return {
                "status": "ok",
                "route": route.__name__,
                "export_seconds": round(exported - started, 2),
                "compile_seconds": round(compiled - exported, 2),
                "package_bytes": size,
                "inputs": case["tensors"],
                **recording.facts(),
            }
        except Exception as error:  # a case that cannot be compiled is a result, for any exception of the compiler
            problems.append(problem(error, route, "export" if program is None else "compile"))
            if program is not None:
                break  # the other route would hand the compiler the same calls
    return failure(problems)


def share_precompiled_headers(folder, options):
    """Header precompilation takes about five seconds and serves every later case. Inductor keeps the results in the
    machine's temporary folder, even if its cache is elsewhere, and names them with the help of `openssl`."""
    from torch._inductor import codecache

    if shutil.which("openssl") is None:
        options.setdefault("aot_inductor.precompile_headers", False)
    for name, place in (("_HEADER_DIR", "headers"), ("_HEADER_LOCK_DIR", "header_locks")):
        if hasattr(codecache, name):
            setattr(codecache, name, os.path.join(folder, place))
    write_headers_whole(codecache, os.path.join(folder, "headers"))


def write_headers_whole(codecache, folder):
    """A compiler that is ended half-way leaves half of its output, and Inductor takes a header that exists for a whole
    one. The compiler writes each to another name, which is changed when the header is whole. One such name is enough.
    Inductor holds a lock on the header while it is compiled, and overwrites the rest of an ended compiler. Another
    version of Inductor, whose compiler has other methods, is left as it is: a line on standard error says so."""
    builder = getattr(codecache, "CppBuilder", None)
    if not all(hasattr(builder, name) for name in ("get_target_file_path", "get_command_line", "build")):
        print(
            "pace: this version of Inductor has no CppBuilder of the kind that is known: a compiler that is ended "
            "half-way may leave half of a precompiled header",
            file=sys.stderr,
            flush=True,
        )
        return

    class WholeFile(builder):
        def names(self):
            whole = self.get_target_file_path()
            return whole, whole + ".partial"

        def get_command_line(self):
            whole, partial = self.names()
            command = super().get_command_line()
            return command.replace(f" {whole}", f" {partial}") if whole.startswith(folder + os.sep) else command

        def build(self):
            super().build()
            whole, partial = self.names()
            if os.path.exists(partial):
                os.replace(partial, whole)

    codecache.CppBuilder = WholeFile


def fork_kernel_compilers():
    """Processes that compile Triton kernels while the graph of a case is still being lowered. They are forked now,
    before this process has a graph, and so need no imports of their own. None where a case has one processor alone."""
    from torch._inductor.async_compile import AsyncCompile, get_compile_threads

    if get_compile_threads() > 1:
        AsyncCompile.use_process_pool()


def compile_shared_parts(case, manifest, scratch):
    """Compiles a product of two matrices for the device of the cases. That makes the parts common to all packages
    (headers, Inductor's runtime), beside the first steps of the first cases, which need them at their end."""
    import torch

    class Product(torch.nn.Module):
        def forward(self, a, b):
            return a @ b

    operand = {"sizes": [8, 8], "strides": [8, 1], "dtype": "float32", "device": manifest["device"]}
    program = torch.export.export(Product(), make_inputs([operand, operand], fake=True), strict=False)
    package = os.path.join(scratch, "shared.pt2")
    torch._inductor.aoti_compile_and_package(program, package_path=package, inductor_configs=manifest["options"])
    return {"status": "ok"}


def end_with_parent(parent, number):
    """From here on this process gets the signal `number` when `parent`, which started it, has ended, however it
    ended."""
    import ctypes

    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def work(manifest, connection, compile_case, parent):
    """One worker: takes case numbers, sends back records, until there are no more."""
    # A worker that is stopped, or has lost its parent, takes its compilers along.
    os.setsid()
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
    end_with_parent(parent, signal.SIGTERM)
    share_precompiled_headers(manifest["scratch"], manifest["options"])
    share_runtime.share(manifest["scratch"])
    # A cache of its own for the sources and objects (2 MB a case), because that can be emptied after each case.
    scratch = os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp(prefix="worker-", dir=manifest["run"])
    connection.send(scratch)
    if manifest["device"] != "cpu" and compile_case is not compile_shared_parts:
        fork_kernel_compilers()
    try:
        while True:
            index = connection.recv()
            connection.send(compile_case(manifest["cases"][index], manifest, scratch))
            # Folders with short names hold files that later cases include; folders with long names belong to one case.
            for name in os.listdir(scratch):
                if len(name) > 20:
                    shutil.rmtree(os.path.join(scratch, name), ignore_errors=True)
    except EOFError:
        pass


class Worker:
    def __init__(self, manifest, compile_case):
        self.connection, other = multiprocessing.Pipe()
        # No daemon, since those may not have processes of their own; compile_all ends all workers.
        self.process = multiprocessing.get_context("fork").Process(
            target=work, args=(manifest, other, compile_case, os.getpid())
        )
        self.process.start()
        other.close()
        self.scratch = self.connection.recv()
        self.case = None
        self.started = None

    def give(self, case):
        self.case, self.started = case, time.monotonic()
        self.connection.send(case)

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self.process.kill()
        self.process.join()
        shutil.rmtree(self.scratch, ignore_errors=True)


def compile_all(manifest, compile_case):
    cases, began = manifest["cases"], time.monotonic()
    waiting, workers, done = list(range(len(cases))), [], 0
    base = {"torch": manifest["torch"], "format": 1}

    def finish(worker, record):
        nonlocal done
        done += 1
        case = cases[worker.case]
        record["seconds"] = round(time.monotonic() - worker.started, 2)
        record["time"] = int(time.time())
        record.update(base, key=case["key"], name=case["name"], signature=case["signature"])
        write_whole(os.path.join(manifest["out"], case["key"] + ".json"), json.dumps(record, indent=1) + "\n")
        outcome = "" if record["status"] == "ok" else " (failed: " + record["reason"].split("\n")[0][:160] + ")"
        elapsed = time.monotonic() - began
        say(f"compiled {done} of {len(cases)}, {elapsed:.0f} s: {case['name']} {record['seconds']:.1f} s{outcome}")
        worker.case = None

    def replace(worker, reason):
        worker.stop()
        workers.remove(worker)
        finish(worker, {"status": "failed", "reason": reason, "transient": True})

    try:
        while waiting or workers:
            while waiting and len(workers) < manifest["workers"]:
                workers.append(Worker(manifest, compile_case))
                workers[-1].give(waiting.pop(0))
            ready = multiprocessing.connection.wait([w.connection for w in workers], timeout=1)
            for worker in list(workers):
                if worker.connection in ready:
                    try:
                        record = worker.connection.recv()
                    except (EOFError, OSError):
                        worker.process.join()
                        replace(worker, f"the compiler process ended with exit code {worker.process.exitcode}")
                        continue
                    finish(worker, record)
                    if waiting:
                        worker.give(waiting.pop(0))
                    else:
                        worker.stop()
                        workers.remove(worker)
                elif time.monotonic() - worker.started > manifest["timeout_s"]:
                    replace(worker, f"compiling took more than {manifest['timeout_s']} s")
    finally:
        for worker in workers:
            worker.stop()


def compile_beside_shared_parts(manifest, compile_case):
    """As compile_all, with a worker for the shared parts unless a run before this one has made them."""
    made = os.path.join(manifest["scratch"], f"shared-{manifest['device']}-" + digest(manifest["options"]))
    exported_alone = all(case.get("kind") == "exported" for case in manifest["cases"])
    if manifest["device"] == "cpu" or exported_alone or os.path.exists(made):
        compile_all(manifest, compile_case)
        return
    worker = Worker(manifest, compile_shared_parts)
    try:
        worker.give(0)
        compile_all(manifest, compile_case)
        if are_made(worker):
            write_whole(made, "")
    finally:
        worker.stop()


def are_made(worker):
    """Waits for the shared parts, which the next run would begin anew. Returns whether all are made."""
    try:
        return worker.connection.poll(60) and worker.connection.recv()["status"] == "ok"
    except (EOFError, OSError):  # the worker failed or was ended, and each case has compiled its parts
        return False


def main(compile_case=compile_case):
    # The program that waits for this one ends it by its own end; a shell script may stand in between.
    end_with_parent(os.getppid(), signal.SIGKILL)
    with open(sys.argv[1]) as file:
        manifest = json.load(file)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(manifest["scratch"], "inductor")
    # Each of the cases that are compiled side by side has its share of the processors, for Triton's kernels.
    share = 1 if manifest["device"] == "cpu" else len(os.sched_getaffinity(0)) // manifest["workers"]
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", str(max(1, share)))
    os.environ.setdefault("TORCHINDUCTOR_WORKER_START", "fork")
    os.environ["TORCH_WARM_POOL"] = "0"  # workers have them, not this process
    if manifest["device"] != "cpu":
        # Forks of a process that has asked CUDA for devices cannot use them. The imports ask; this makes them ask NVML.
        os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    os.makedirs(manifest["out"], exist_ok=True)
    remove_left(manifest["out"])
    cases = manifest["cases"]
    say(
        f"compiling {len(cases)} package{'s' * (len(cases) != 1)} ({manifest['workers']} at a time; "
        "the first takes longest)"
    )
    import torch

    version = torch.__version__.split("+")[0]
    if version != manifest["torch"]:
        sys.exit(
            f"{sys.executable} has torch {version} (in {torch.__file__}), but this program runs LibTorch "
            f"{manifest['torch']}"
        )
    import torch._inductor.compile_fx
    import torch.export

    check_vector_code_by_fork(manifest["options"], manifest["device"])
    compile_beside_shared_parts(manifest, compile_case)


if __name__ == "__main__":
    main()
#)""py"
