#!/usr/bin/env python3
"""Times models as torch.compile compiles them in Python, and in turn with it the same models as pace compiles them.

    third_party/bazel run --config=cuda //benches/models -- --performance --inference --backend nativert \\
        --compile-to PROGRAMS
    python3 benches/models/beside_torch_compile.py PROGRAMS RESULTS.csv -- bazel-bin/benches/models/models \\
        --performance --inference --backend aot_inductor --backend aot_inductor_cuda_graph

PROGRAMS is a folder of the programs that the back end `nativert` exports: the operators that the C++ model calls, so
that both sides compute the same. Parameters, buffers and inputs of Python's side are drawn here; parameters and buffers
belong to a module, as a model's do. Each model has a process of its own, which compiles it by `torch.compile` and, on a
GPU, by `torch.compile(mode="reduce-overhead")`; all of them wait when they have done so. Then the command behind `--`
runs `--turns` times for each model, with `--only MODEL --output FILE --tf32 on|off`, and that process times eager calls
and compiled ones, interleaved. The host's clock runs from a device that waits to a device that waits, as in pace.
Without a command Python's side is timed alone. Both sides have TF32 in convolutions and products, or in neither.

RESULTS.csv gets a row for each model, side, turn and way to run it. It holds median, quartiles and number of the times,
in milliseconds; the seconds of the first call, which compiles; and the seconds of its process until then. The ratios
are printed: pace's median over Python's, of each model the geometric mean of its turns, then of all models with the 95
% interval of their mean.

Exit codes: 0; 1 if a model failed on one of the sides; 2 for a wrong command line; 4 if nothing was measured.
"""

import argparse
import csv
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

# The ways to run a model, and which of pace's back ends each is compared with.
COUNTERPARTS = {"eager": "eager", "compiled": "aot_inductor", "graphs": "aot_inductor_cuda_graph"}
FROM_PACE = {"milliseconds": "abs_latency", "compile_seconds": "compile_seconds"}
COLUMNS = "model side turn way milliseconds low high samples compile_seconds process_seconds".split()


def exported_programs(folder):
    """Paths of the packages by the names of their models. Raises ValueError where there is none."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path) as file:
            record = json.load(file)
        name = re.fullmatch(r"(\S+) \(exported\)", record.get("name", ""))
        if name and record.get("status") == "ok":
            found[name.group(1)] = path.removesuffix(".json") + ".pt2"
    if not found:
        raise ValueError(f"{folder}: expected programs of the back end nativert, found none")
    return found


# The process of one model.


def operator(node):
    """Its name without the overload's; the output has none."""
    return "" if isinstance(node.target, str) else node.target.__name__.split(".")[0]


def is_state(node):
    """Whether an operand is a buffer rather than an input: statistics of a batch norm, or an operand that nothing
    reads."""
    return all(operator(user) == "batch_norm" and node in user.args[3:5] for user in node.users)


def bound_of(node, seen):
    """Below which number whole numbers have to be that are used as indices: the fewest rows that they select from."""
    import torch

    lowest = math.inf
    for user in node.users:
        if user in seen or not isinstance(value := user.meta.get("val"), (torch.Tensor, tuple, list)):
            continue
        seen.add(user)
        name, args = operator(user), user.args
        if name in ("embedding", "embedding_bag", "index_select") and node in args[1:]:
            lowest = min(lowest, args[0].meta["val"].shape[args[1] if name == "index_select" else 0])
        elif name == "cross_entropy_loss" and node is args[1]:
            lowest = min(lowest, args[0].meta["val"].shape[1])
        elif isinstance(value, torch.Tensor) and not value.dtype.is_floating_point:
            lowest = min(lowest, bound_of(user, seen))
    return lowest


def draw(node):
    """A tensor for an operand of the program. Raises ValueError for whole numbers whose use is not known."""
    import torch

    like = node.meta["val"]
    made = torch.empty_strided(like.shape, like.stride(), dtype=like.dtype, device=like.device)
    if like.dtype.is_floating_point:
        # A factor near one, a variance above zero, and matrices with products that neither vanish nor overflow.
        return made.uniform_(0.5, 1.5) if like.dim() == 1 else made.normal_(0, 0.02)
    if not node.users:
        return made.zero_()
    bound = bound_of(node, set())
    if not math.isfinite(bound):
        raise ValueError(f"operand {node.name}: expected indices into a tensor, found another use of {like.dtype}")
    return made.random_(0, bound)


def module_of(path, parameters):
    """The program of a package as a module, and inputs. `parameters`: how many of its operands, the first, are such."""
    import logging

    import torch

    # Example inputs that have no values are read with a warning.
    logging.getLogger("torch._export.serde.serialize").setLevel(logging.CRITICAL)
    program = torch.export.load(path)
    nodes = [node for node in program.graph.nodes if node.op == "placeholder"]

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.program = program.graph_module
            self.order, inputs = [], []
            for position, node in enumerate(nodes):
                if position < parameters:
                    self.register_parameter(f"own{position}", torch.nn.Parameter(draw(node)))
                elif is_state(node):
                    self.register_buffer(f"own{position}", draw(node))
                else:
                    inputs.append(draw(node))
                self.order.append(f"own{position}" if hasattr(self, f"own{position}") else None)
            self.inputs = tuple(inputs)

        def forward(self, *inputs):
            given = iter(inputs)
            return self.program(*[next(given) if name is None else getattr(self, name) for name in self.order])

    model = Model().eval()
    return model, model.inputs


def run_model(path, parameters, compiler, tf32):
    """Answers each line of standard input by a line: `compile WAY` by its seconds, `time N` by N times of each way."""
    began = time.monotonic()
    import torch

    def answer(value):
        print(json.dumps(value), flush=True)

    def compiled(way):
        mode = "reduce-overhead" if way == "graphs" else None
        function = torch.compile(model, backend=compiler, mode=mode, fullgraph=True)
        start = time.monotonic()
        found = function(*inputs)
        wait()
        now = time.monotonic()
        for ours, theirs in zip(found, expected):
            likeness = torch.cosine_similarity(ours.double().flatten(), theirs.double().flatten(), dim=0)
            if ours.numel() > 1 and not likeness > 0.999:
                raise ValueError(f"{way}: its outputs are not eager's: a cosine similarity of {likeness:.4f}")
        return function, {"compile_seconds": now - start, "process_seconds": now - began}

    def one_time(call):
        torch.compiler.cudagraph_mark_step_begin()
        wait()
        start = time.perf_counter()
        call(*inputs)
        wait()
        return 1e3 * (time.perf_counter() - start)

    with torch.no_grad():
        torch.manual_seed(0)
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = tf32 == "on"
        model, inputs = module_of(path, parameters)
        on_gpu = inputs[0].is_cuda
        wait = torch.cuda.synchronize if on_gpu else lambda: None
        ways = {"eager": model}
        expected = model(*inputs)
        wait()
        answer({"ways": ["compiled", "graphs"][: 2 if on_gpu else 1]})
        for line in sys.stdin:
            command, what = line.split()
            if command == "compile":
                ways[what], seconds = compiled(what)
                answer(seconds)
                continue
            times = {way: [] for way in ways}
            for i in range(-5, int(what)):  # the first five warm up
                for way, call in ways.items():
                    taken = one_time(call)
                    if i >= 0:
                        times[way].append(taken)
            answer(times)


class PythonSide:
    """The process of one model, from the outside. `problem`: why it has ended, if it has."""

    def __init__(self, name, path, scratch, compiler, tf32):
        self.name, self.compiled, self.problem = name, {"eager": {}}, None
        with open(path.removesuffix(".pt2") + ".json") as file:
            parameters = re.search(r": (\d+) parameters", json.load(file)["signature"]).group(1)
        self.log = open(os.path.join(scratch, name + ".log"), "w+")
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--model", path, parameters, compiler, tf32],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": os.path.join(scratch, "cache-" + name)},
        )
        self.ways = self.read().get("ways", [])

    def read(self):
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self.process.wait()
        self.log.seek(0)
        last = (self.log.read().strip().splitlines() or ["no message"])[-1]
        self.problem = f"Python ended with exit code {self.process.returncode}: {last[:300]}"
        return {}

    def ask(self, *words):
        """The answer; without anything in it where the process has ended."""
        if self.problem:
            return {}
        try:
            self.process.stdin.write(" ".join(words) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # reading finds out why
        return self.read()

    def compile(self, way):
        if way in self.ways and (seconds := self.ask("compile", way)):
            self.compiled[way] = seconds

    def end(self):
        for pipe in (self.process.stdin, self.process.stdout, self.log):
            pipe.close()
        self.process.wait()


def compile_side_by_side(programs, scratch, jobs, compiler, tf32):
    """The processes of all models, `jobs` at a time until each has compiled; then the other way to compile, if any."""
    from concurrent.futures import ThreadPoolExecutor

    # Each has its share of the processors for Triton's kernels.
    share = len(os.sched_getaffinity(0)) // min(jobs, len(programs))
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", str(max(1, share)))

    def start(item):
        side = PythonSide(*item, scratch, compiler, tf32)
        side.compile("compiled")
        return side

    with ThreadPoolExecutor(jobs) as pool:
        began = time.monotonic()
        sides = list(pool.map(start, programs.items()))
        seconds = time.monotonic() - began
        print(f"{len(sides)} models, {jobs} at a time, compiled by Python in {seconds:.1f} s", flush=True)
        list(pool.map(lambda side: side.compile("graphs"), sides))
    for side in sides:
        seconds = (f"{way} {each['compile_seconds']:.1f} s" for way, each in side.compiled.items() if each)
        print(f"  {side.name}: {side.problem or ', '.join(seconds)}", flush=True)
    return sides


def of_pace(command, model, path):
    """The measurements of pace's program, written to `path`: by back end the columns that are kept. Raises ValueError
    with the last line that it printed."""
    done = subprocess.run(
        [*command, "--only", model, "--output", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if not os.path.exists(path):
        last = (done.stdout.strip().splitlines() or ["nothing"])[-1]
        raise ValueError(f"pace ended with exit code {done.returncode}: {last[:300]}")
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    # The file of a single back end has no column with its name.
    alone = dict(zip(command, command[1:])).get("--backend", "aot_inductor")
    wrong = [f"{row.get('backend', alone)}: {row['status']}" for row in rows if row["status"] != "pass"]
    if wrong or not rows:
        raise ValueError("pace: " + (", ".join(wrong) or "no rows"))
    found = {
        row.get("backend", alone): {key: float(row[column]) for key, column in FROM_PACE.items()} for row in rows
    }
    found["eager"] = {"milliseconds": float(rows[0]["eager_latency"])}
    return found


# Student's t has these quantiles for a probability of 95 %, by degrees of freedom; the last one serves all above.
STUDENT = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131]
STUDENT += [2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042]


def mean_with_interval(ratios):
    """The geometric mean, and the 95 % interval of it over models; without an interval for one alone."""
    mean = statistics.geometric_mean(ratios)
    if len(ratios) < 2:
        return f"{mean:.3f}"
    width = STUDENT[min(len(ratios) - 2, len(STUDENT) - 1)] * statistics.stdev(map(math.log, ratios))
    factor = math.exp(width / math.sqrt(len(ratios)))
    return f"{mean:.3f} [{mean / factor:.3f}, {mean * factor:.3f}]"


def ratios_of(rows):
    """Of each way, by model: the geometric mean over turns of pace's time over Python's."""
    times = {(r["model"], r["way"], r["turn"], r["side"]): r["milliseconds"] for r in rows}
    ratios = {}
    for (model, way, turn, side), milliseconds in times.items():
        if side == "pace" and (other := times.get((model, way, turn, "python"))):
            ratios.setdefault(way, {}).setdefault(model, []).append(milliseconds / other)
    return {way: {model: statistics.geometric_mean(turns) for model, turns in of.items()} for way, of in ratios.items()}


def print_ratios(ratios):
    ways = [way for way in COUNTERPARTS if way in ratios]
    models = sorted({model for way in ways for model in ratios[way]})
    if not models:
        return
    width = max(map(len, [*models, "geometric mean"]))
    print("pace's time over Python's".ljust(width), *(way.rjust(24) for way in ways))
    for model in models:
        cells = (f"{ratios[way][model]:.3f}" if model in ratios[way] else "-" for way in ways)
        print(model.ljust(width), *(cell.rjust(24) for cell in cells))
    print("geometric mean".ljust(width), *(mean_with_interval(list(ratios[way].values())).rjust(24) for way in ways))


def measure(sides, command, turns, repeat, scratch, take):
    """Hands each row to `take`; returns the failures, a line each."""
    problems = []
    for side in sides:
        for turn in range(turns):
            rows, path = [], os.path.join(scratch, f"pace-{side.name}-{turn}.csv")
            try:
                for backend, figures in (of_pace(command, side.name, path) if command else {}).items():
                    way = next((way for way, other in COUNTERPARTS.items() if other == backend), backend)
                    rows.append({"side": "pace", "way": way, **figures})
            except ValueError as problem:
                problems.append(f"{side.name}: {problem}")
            for way, times in side.ask("time", str(repeat)).items():
                low, middle, high = statistics.quantiles(times, n=4) if len(times) > 1 else times * 3
                figures = {"milliseconds": middle, "low": low, "high": high, "samples": len(times)}
                rows.append({"side": "python", "way": way, **side.compiled[way], **figures})
            for row in rows:
                take({"model": side.name, "turn": turn, **row})
        if side.problem:
            problems.append(f"{side.name}: {side.problem}")
    return problems


def parse(arguments):
    own, _, command = arguments, None, []
    if "--" in arguments:
        own, command = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def at_least_1(text):
        if int(text) < 1:
            raise argparse.ArgumentTypeError(f"expected at least 1, found {text}")
        return int(text)

    parser.add_argument("programs", help="a folder of exported programs")
    parser.add_argument("results", help="the CSV file to write")
    parser.add_argument("--models", help="a regular expression; default: all that are there", default="")
    parser.add_argument("--turns", type=at_least_1, default=2, help="how often both sides of a model are timed")
    parser.add_argument("--repeat", type=at_least_1, default=30, help="times of each in a turn")
    parser.add_argument("--jobs", type=at_least_1, default=os.cpu_count(), help="models compiled at a time")
    parser.add_argument("--tf32", choices=["on", "off"], default="on", help="in products and convolutions; default: on")
    parser.add_argument("--compiler", help="back end of torch.compile", default="inductor")
    parser.add_argument("--cache", help="a folder for Inductor's caches, logs and pace's files; default: none is kept")
    options = parser.parse_args(own)
    try:
        programs = exported_programs(options.programs)
        programs = {name: path for name, path in programs.items() if re.search(options.models, name)}
        if not programs:
            raise ValueError(f"--models: no program's model matches '{options.models}'")
    except (OSError, ValueError, re.error) as problem:
        parser.error(str(problem))
    return options, programs, [*command, "--tf32", options.tf32] if command else []


def main():
    if sys.argv[1:2] == ["--model"]:
        run_model(sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
        return 0
    options, programs, command = parse(sys.argv[1:])
    rows = []
    with tempfile.TemporaryDirectory() as temporary, open(options.results, "w", newline="") as file:
        scratch = options.cache or temporary
        os.makedirs(scratch, exist_ok=True)
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()

        def take(row):
            rows.append(row)
            writer.writerow(row)
            file.flush()

        sides = compile_side_by_side(programs, scratch, options.jobs, options.compiler, options.tf32)
        problems = measure(sides, command, options.turns, options.repeat, scratch, take)
        for side in sides:
            side.end()
    print_ratios(ratios_of(rows))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 4 if not rows else 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
