"""How far nvbench's times are from CUPTI's, for the kernels of clock_accuracy, in one process.

    python3 nvbench_accuracy.py          needs a GPU, torch, and cuda-bench from PyPI

nvbench drives everything out of the cache before a "cold" call and times "batch" calls one after another. CUPTI, by
torch.profiler, gives the kernels' own durations in the same two situations.
"""

import json
import statistics
import sys
import tempfile

import cuda.bench as bench
import torch


def random(*sizes, dtype=torch.float32):
    return torch.randn(*sizes, device="cuda", dtype=dtype)


def subjects():
    """Name, and a maker of a call; one at a time, as they take memory."""
    yield from ((f"add {n} Mi", lambda n=n: binary(torch.add, n)) for n in (1, 2, 4, 8, 16, 64, 256, 1024))
    sizes = (256, 512, 1024, 2048, 4096, 8192)
    yield from ((f"bf16 product {n}", lambda n=n: product(n, torch.bfloat16)) for n in sizes)
    yield from ((f"float32 product {n}", lambda n=n: product(n, torch.float32)) for n in (512, 1024, 2048, 4096, 6144))
    yield from (
        (f"softmax {r}x{c}", lambda r=r, c=c: unary(lambda x, out: torch.softmax(x, 1, out=out), r, c))
        for r, c in ((128, 1024), (1024, 1024), (8192, 1024), (4096, 4096))
    )
    yield from (
        (f"gelu {n} Mi", lambda n=n: unary(lambda x, out: torch._C._nn.gelu(x, out=out), n << 20)) for n in (1, 32)
    )
    yield from ((f"transpose {n}", lambda n=n: unary(lambda x, out: out.copy_(x.t()), n, n)) for n in (1024, 4096))


def binary(function, n):
    a, b, out = (random(n << 20) for _ in range(3))
    return lambda: function(a, b, out=out)


def product(n, dtype):
    a, b, out = (random(n, n, dtype=dtype) for _ in range(3))
    return lambda: torch.mm(a, b, out=out)


def unary(function, *sizes):
    x, out = random(*sizes), random(*sizes)
    return lambda: function(x, out)


def cupti(call, flush, calls):
    """Median over `calls` of the time of one call's kernels, in us."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(calls):
            if flush is not None:
                flush.zero_()
            call()
        torch.cuda.synchronize()
    events = sorted(profile.profiler.kineto_results.events(), key=lambda event: event.start_ns())
    times = [event.duration_ns() for event in events if event.device_type() == torch.autograd.DeviceType.CUDA]
    group = len(times) // calls
    flushes = 0 if flush is None else 1  # each is one fill or memset, the first of its group
    return statistics.median(sum(times[i + flushes : i + group]) for i in range(0, len(times), group)) / 1000


def main():
    flush = torch.empty(3 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8, device="cuda")
    cases = list(subjects())

    def nvbench(state):
        call = cases[state.get_int64("case")][1]()
        stream = torch.cuda.ExternalStream(state.get_stream().addressof())

        def launch(launched):
            with torch.cuda.stream(stream):
                call()

        state.exec(launch)

    bench.register(nvbench).add_int64_axis("case", range(len(cases)))
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        bench.run_all_benchmarks([sys.argv[0], "--json", file.name, "--quiet"])
        states = json.load(open(file.name))["benchmarks"][0]["states"]
    errors = {"cold": [], "batch": []}
    print(f"{'':22s} {'CUPTI cold':>11s} {'nvbench':>9s} {'CUPTI hot':>11s} {'batch':>9s}   us")
    for (name, make), state in zip(cases, states):
        found = {summary["tag"]: summary for summary in state["summaries"]}
        call = make()
        truth = {"cold": cupti(call, flush, 50), "batch": cupti(call, None, 50)}
        row = {}
        for kind, error in errors.items():
            data = found.get(f"nv/{kind}/time/gpu/mean", {"data": []})["data"]
            row[kind] = next((1e6 * float(each["value"]) for each in data if each["name"] == "value"), float("nan"))
            if row[kind] == row[kind]:
                error.append((abs(row[kind] - truth[kind]), truth[kind]))
        print(f"{name:22s} {truth['cold']:11.2f} {row['cold']:9.2f} {truth['batch']:11.2f} {row['batch']:9.2f}")
        del call
    for kind, error in errors.items():
        within = sum(off <= max(0.2, 0.005 * truth) for off, truth in error)
        print(f"{kind}: median error {statistics.median(off for off, _ in error):.3f} us, "
              f"{100 * statistics.median(off / truth for off, truth in error):.2f} %, largest "
              f"{max(off for off, _ in error):.3f} us, within max(0.2 us, 0.5 %) {within} of {len(error)}")


if __name__ == "__main__":
    main()
