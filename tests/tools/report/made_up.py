"""Files of results with made-up times: as a program would have written them, from a seed and without measuring."""

import json
import math
import random


def objection(severity, why, remedy=""):
    """A reason against the figures of a row."""
    return {"severity": severity, "why": why, "remedy": remedy}


def _quantile(ascending, share):
    place = share * (len(ascending) - 1)
    low = int(place)
    high = min(low + 1, len(ascending) - 1)
    return ascending[low] + (place - low) * (ascending[high] - ascending[low])


def time_of(samples):
    if not samples:
        return None
    ascending = sorted(samples)
    median = _quantile(ascending, 0.5)
    deviations = sorted(abs(each - median) for each in samples)
    interval = None
    if len(samples) >= 6:
        half = 0.98 * math.sqrt(len(samples))
        low, high = int(max(len(samples) / 2 - half, 0)), int(min(len(samples) / 2 + half, len(samples) - 1))
        interval = {"low_ns": ascending[low], "high_ns": ascending[high], "confidence": 0.95}
    return {
        "median_ns": median,
        "interval": interval,
        "min_ns": ascending[0],
        "q20_ns": _quantile(ascending, 0.2),
        "q80_ns": _quantile(ascending, 0.8),
        "max_ns": ascending[-1],
        "q99_ns": _quantile(ascending, 0.99),
        "mean_ns": sum(samples) / len(samples),
        "spread": 1.4826 * _quantile(deviations, 0.5) / median,
        "samples": len(samples),
    }


def speedup_of(ratios, means=0.0):
    if not ratios:
        return None
    ascending = sorted(math.exp(each) for each in ratios)
    interval = None
    if len(ratios) >= 6:
        half = 1.6 * math.sqrt(len(ratios))
        low, high = int(max(len(ratios) / 2 - half, 0)), int(min(len(ratios) / 2 + half, len(ratios) - 1))
        interval = {"low": ascending[low], "high": ascending[high], "confidence": 0.95}
    return {
        "median": _quantile(ascending, 0.5),
        "interval": interval,
        "q20": _quantile(ascending, 0.2),
        "q80": _quantile(ascending, 0.8),
        "mean": means,
        "observations": len(ratios),
        "ties": 0,
        "anytime": True,
    }


def expectation(verdict, limit=1.05, guard=True, **more):
    text = f"time of at most {limit:.2f}x the baseline's" if guard else f"speed-up of at least {limit:.2f}x"
    return {
        "expectation": text,
        "verdict": verdict,
        "acceptable": verdict == "passed" or (verdict == "undecided" and guard),
        "unresolved": verdict == "undecided" and guard,
        "deferred": False,
        "message": f"the figures, and {text}: {verdict}",
        "demanded_speed": {
            "guard": guard,
            "limit": limit,
            "alpha": 0.001,
            "beta": 0.01,
            "closes_when_undecided": not guard,
            "allowed_undecided": False,
        },
        **more,
    }


def row(name, samples, baseline=None, **more):
    """A row with so many samples; `baseline` is the row that it is compared with."""
    reference = baseline["samples_ns"] if baseline else []
    ratios = [
        (math.log(reference[i]) + math.log(reference[i + 1]) - math.log(samples[i]) - math.log(samples[i + 1])) / 2
        for i in range(0, min(len(samples), len(reference)) - 1, 2)
    ]
    return {
        "name": name,
        "baseline": baseline is None,
        "outcome": "measured",
        "message": "",
        "checked": True,
        "uncompared": None,
        "max_abs_error": 0.0 if baseline is None else 4.76837158203125e-07,
        "first_call_ns": 30 * samples[0] if samples else 1000.0,
        "warm_up_iterations": 120,
        "warmed_up": True,
        "time": time_of(samples),
        "speedup": speedup_of(ratios, sum(reference) / sum(samples)) if ratios else None,
        "expectations": [],
        "modes": [],
        "device_memory": None,
        "device_counts": None,
        "counts": {"operator_calls": 2, "allocations": 1, "bytes_allocated": 65536},
        "why_uncounted": "",
        "instructions": None,
        "bytes": None,
        "flops": None,
        "share_of_peak": None,
        "gb_per_s": None,
        "gflop_per_s": None,
        "context": {
            "rounds_per_cycle": 2,
            "cycle_ns": 1e6,
            "alpha": 0.001,
            "beta": 0.01,
            "objections": [],
        },
        "samples_ns": samples,
        "log_ratios": ratios,
        **more,
    }


def result(name, rows, **more):
    return {
        "name": name,
        "iterations": 40,
        "rounds": len(rows[0]["samples_ns"]) if rows else 0,
        "stop_reason": "rule",
        "elapsed_ns": 203e6,
        "clock": "wall",
        "clock_resolution_ns": 20.0,
        "device": "",
        "inputs": "Float[64, 1024]",
        "confidence": 0.95,
        "seed": 39630,
        "check_seed": 2623656200821053387,
        "gate_number": 0,
        "conditions": {
            "steal": 0.0,
            "others": 0.031,
            "waiting": 0.002,
            "throttled": 0.0,
            "involuntary_switches": 11,
            "clock_error_ns": 0.0,
            "suspended_ns": 0.0,
            "longest_cycle_ns": 880450.0,
            "median_cycle_ns": 304212.0,
            "shortest_cycle_ns": 295559.0,
            "gpu": None,
            "disturbances": [],
        },
        "controls": [],
        "missing_device": "",
        "lost_device": "",
        "notes": [],
        "implementations": rows,
        **more,
    }


def header(**environment):
    return {
        "schema_version": 3,
        "pace_version": "0.2.0",
        "environment": {
            "date_utc": "2026-11-26T02:53:58Z",
            "hostname": "bench",
            "command_line": "bazel-bin/layer_norm_test --json results.json",
            "cpu": "AMD EPYC",
            "cores": 2,
            "governor": "",
            "load_average_1min": 0.4,
            "compiler": "GCC 12.2.0",
            "optimized": True,
            "commit": "b99b64a2b5fea05d08a4e098771ab3f8cfdce13d",
            "libtorch": "2.11.0",
            **environment,
        },
        "configuration": {},
        "options": {"alpha": 0.001, "beta": 0.01, "seed": 39630},
    }


def times(seed, count, median, spread=0.02, drift=0.0, stalls=0.0):
    """Times of so many samples, with a drift over all of them, and a share of stalls of the machine."""
    random_ = random.Random(seed)
    found = []
    for i in range(count):
        each = median * math.exp(random_.gauss(0, spread) + drift * i / max(count, 1))
        found.append(each * random_.uniform(3, 40) if random_.random() < stalls else each)
    return found


def comparison(name, speedup, verdict="", seed=1, count=120, median=8000.0, **more):
    """A comparison of two. The second one is `speedup` times as fast."""
    baseline = row("by_steps", times(seed, count, median, drift=0.04, stalls=0.01))
    own = row("fused", times(seed + 1, count, median / speedup, drift=0.04, stalls=0.01), baseline)
    if verdict:
        own["expectations"].append(expectation(verdict))
    return result(name, [baseline, own], **more)


def write(path, results, first=None):
    """Writes a results file; `results` are values, or texts that become lines as they are."""
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
        for line in [first or header(), *results]:
            file.write(line if isinstance(line, str) else json.dumps(line))
            file.write("\n")
    return str(path)
