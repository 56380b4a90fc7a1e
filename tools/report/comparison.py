"""The page's view of one comparison: its rows, facts, conditions and pictures."""

from report import charts, figures, repeat, rows, svg, words


def view(place, run, of_run, result, most, list_axis):
    """Returns the values that the template reads, and the values of the pictures, or None without any.

    `run`: the view of its run; `of_run`: that run's results by their names; `most`: samples and ratios that it may
    show. `list_axis`: the axis of the pictures in the list of all comparisons.
    """
    all_rows = result["implementations"]
    rates = _rates(all_rows)
    times = [row["time"] for row in all_rows if row["time"]]
    views = _rows(all_rows, times, rates, list_axis)
    status, badge = _status(all_rows, times)
    values = charts.values_of(result, most)
    ratios = [row["speedup"]["median"] for row in all_rows if row["speedup"]]
    modes = [mode["name"] for row in all_rows for mode in row["modes"]]
    name, names = words.short(result["name"]), [row["name"] for row in all_rows]
    return {
        "id": place,
        "name": name,
        "full_name": result["name"] if name != result["name"] else "",
        "run": run,
        "status": status,
        "badge": badge,
        "rows": views,
        "lead": next((each for each in views if each["speedup"]), None),
        "sort_speedup": min(ratios) if ratios else "",
        "sort_time": min((time["median_ns"] for time in times), default=""),
        "words": " ".join([result["name"], result["device"], status, *names]).lower()[:2000],
        "facts": _facts(result),
        "notes": _notes(result),
        "disturbances": result["conditions"]["disturbances"],
        "conditions": _conditions(result["conditions"]),
        "controls": [_control(each) for each in result["controls"]],
        "modes": list(dict.fromkeys(modes)),
        "rates": rates,
        "clock": result["clock"],
        "has_energy": any(row["energy"] for row in all_rows),
        "has_counters": any(row["counters"] for row in all_rows),
        "has_memory": any(row["device_memory"] or row["device_counts"] for row in all_rows),
        "has_instructions": any(row["instructions"] for row in all_rows),
        "has_counts": any(row["counts"] or row["instructions"] for row in all_rows),
        "without_evidence": _without_evidence(all_rows),
        "has_expectations": any(row["expectations"] for row in all_rows),
        "data": f"c{place}" if values else None,
        "left_out": values["left_out"] if values else False,
        "pictures": _pictures(values),
        "command": repeat.command(run["command"], result, of_run),
    }, values


def _rates(all_rows):
    """The columns of rates that any row has, with their titles."""
    titles = (("gb_per_s", "GB/s"), ("gflop_per_s", "GFLOP/s"), ("share_of_peak", "of peak"))
    return [(key, title) for key, title in titles if any(row[key] for row in all_rows)]


def _rows(all_rows, times, rates, list_axis):
    """The rows, whose pictures have one axis."""
    # Columns more leave less room for pictures.
    widths = {"time": 80, "speedup": 100} if rates else {"time": 130, "speedup": 150}
    speedups = [row["speedup"] for row in all_rows if row["speedup"] and row["speedup"]["median"] > 0]
    axes = {
        "time": svg.time_axis(times, widths["time"]) if times else None,
        "speedup": svg.speedup_axis(
            speedups, sorted({limit for row in all_rows for limit in rows.limits(row)}), widths["speedup"]
        ),
        "list": list_axis,
    }
    unit = figures.time_unit(min(time["median_ns"] for time in times)) if times else (1.0, "ns")
    return [rows.view(row, axes, unit, colour, widths) for row, colour in zip(all_rows, charts.colours(all_rows))]


def _status(all_rows, times):
    """The outcome of the comparison, and the word of its badge, which names a fault."""
    verdicts = [words.worst_verdict(row) for row in all_rows]
    verdict = max(verdicts, key=lambda each: words.BADNESS.get(each, 4 if each else -1), default="")
    faults = [row["outcome"] for row in all_rows if row["outcome"] in words.FAULTS]
    status = "failed" if faults else verdict or ("measured" if times else "without figures")
    return status, faults[0] if faults else status


def _notes(result):
    lost = [f"The device is missing: {result['missing_device']}"] if result["missing_device"] else []
    lost += [f"The device was lost: {result['lost_device']}"] if result["lost_device"] else []
    return result["notes"] + lost


def _control(control):
    proven = "slower" if control["proven_slower"] else "faster" if control["proven_faster"] else ""
    return {
        "injected": figures.ratio(control["injected"]),
        "speedup": words.speedup(control["speedup"]),
        "proven": f"proven {proven}" if proven else "no difference proven",
        "expected": control["injected"] == 1,
    }


def _without_evidence(rows):
    """Expectations whose evidence has no picture, by the reason."""
    found = {}
    for row in rows:
        for each in row["expectations"]:
            if why := charts.why_no_evidence(row, each):
                found.setdefault(why, []).append(f"{words.short(row['name'])}: {words.short(each['expectation'])}")
    return [{"why": why, "expectations": "; ".join(dict.fromkeys(texts))} for why, texts in found.items()]


def _pictures(values):
    if not values:
        return []
    kinds = ["rounds", "strip", "ecdf"]
    if values["ratios"]:
        kinds.append("ratios")
    if values["evidence"]:
        kinds.append("evidence")
    return [
        {"kind": kind, **{key: charts.SPECIFICATIONS[kind][key] for key in ("title", "about")}} for kind in kinds
    ]


def _facts(result):
    facts = [
        ("device", result["device"] or "CPU"),
        ("operands", result["inputs"]),
        (
            "clock",
            result["clock"]
            + (
                f", resolution {figures.time(result['clock_resolution_ns'])}"
                if result["clock_resolution_ns"]
                else ""
            )
            + _overhead(result["implementations"]),
        ),
        (
            "rounds",
            (
                f"{figures.whole(result['rounds'])} of {figures.count(result['iterations'] or 0, 'iteration')}"
                if result["rounds"]
                else ""
            ),
        ),
        (
            "ended by",
            result["stop_reason"]
            + (f" after {figures.time(result['elapsed_ns'])}" if result["elapsed_ns"] else ""),
        ),
        (
            "seeds",
            (
                f"{int(result['seed'])}, checks {int(result['check_seed'] or 0)}"
                if result["seed"] is not None
                else ""
            ),
        ),
        ("gate number", figures.whole(result["gate_number"]) if result["gate_number"] else ""),
    ]
    return [(key, value) for key, value in facts if value]


def _overhead(all_rows):
    """What the clock adds to each call, in words; nothing where it adds nothing."""
    for row in all_rows:
        if overhead := row["time"] and row["time"]["clock_overhead"]:
            added, error = figures.time(overhead["added_ns"]), figures.time(overhead["error_ns"])
            return f"; adds {added} ± {error} to each call, which times are shown without"
    return ""


def _conditions(conditions):
    shares = (
        ("steal", "given to others by the hypervisor"),
        ("others", "used by other processes"),
        ("waiting", "waited for a core"),
        ("throttled", "quota used up"),
    )
    found = [
        (text, figures.percent(round(conditions[key], 6)))
        for key, text in shares
        if conditions.get(key) is not None
    ]
    if conditions.get("involuntary_switches") is not None:
        found.append(("put aside", f"{figures.whole(conditions['involuntary_switches'])} times"))
    if conditions.get("interrupted_cycles"):
        left_out = figures.whole(conditions["interrupted_cycles"])
        found.append(("cycles left out, with another process in a sample", left_out))
    if conditions.get("median_cycle_ns"):
        found.append(
            (
                "cycles",
                f"median {figures.time(conditions['median_cycle_ns'])}, "
                f"longest {figures.time(conditions['longest_cycle_ns'])}",
            )
        )
    if conditions.get("clock_error_ns"):
        found.append(("clock against the hardware counter", figures.time(conditions["clock_error_ns"])))
    return found + (_gpu(conditions["gpu"]) if conditions["gpu"] else [])


def _gpu(gpu):
    """The driver's facts of the GPU, each with its words; 0 stands for a fact that it does not report."""
    found = []
    if gpu["highest_clock_mhz"]:
        ends = [figures.significant(gpu[key] or 0, 4) for key in ("lowest_clock_mhz", "highest_clock_mhz")]
        found.append(("GPU clock", " to ".join(dict.fromkeys(ends)) + " MHz"))
    if gpu["hottest_celsius"]:
        found.append(("GPU temperature", f"{figures.significant(gpu['hottest_celsius'])} °C"))
    if gpu["most_power_watts"]:
        found.append(("GPU power", f"{figures.significant(gpu['most_power_watts'])} W"))
    if gpu["readings"]:
        found.append(("at its power limit", figures.percent(gpu["power_limited"] or 0)))
    if gpu["slowed"]:
        found.append(("slowed by heat or hardware", figures.percent(gpu["slowed"])))
    if gpu["suspect_cycles"]:
        found.append(("cycles in which its clock changed", figures.whole(gpu["suspect_cycles"])))
    if gpu["dropped_cycles"]:
        found.append(("cycles left out, at other clocks", figures.whole(gpu["dropped_cycles"])))
    if gpu["paused_ns"]:
        found.append(("rests to cool the GPU", figures.time(gpu["paused_ns"])))
    if gpu["sharing"]:
        found.append(("the GPU is shared", "; ".join(gpu["sharing"])))
    return found
