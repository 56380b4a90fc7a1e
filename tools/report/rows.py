"""The page's view of one row: an implementation in a comparison."""

from report import figures, schema, svg, words


def limits(row):
    """Limits of the row's expectations, as speed-ups."""
    found = []
    for each in row["expectations"]:
        demand = each["demanded_speed"]
        if demand and demand["limit"] and demand["limit"] > 0:
            found.append(1 / demand["limit"] if demand["guard"] else demand["limit"])
    return found


def view(row, axes, unit, colour, widths):
    """Returns the values that the template reads. `axes` and `widths`: of the pictures; `unit`: of all times of the
    comparison."""
    time, summary = row["time"], row["speedup"]
    verdict, check = words.worst_verdict(row), _check(row)
    drawn = summary if summary and summary["median"] > 0 else None
    error = row["max_abs_error"]

    def picture(axis, *size):
        return svg.speedup(drawn, axis, limits(row), verdict, *size) if drawn else ""

    return {
        "name": words.short(row["name"]),
        "baseline": bool(row["baseline"]),
        "colour": colour,
        "outcome": row["outcome"],
        "message": row["message"],
        "check": check,
        "good": check == "correct",
        "fault": check in words.FAULTS,
        "error": "" if error is None or not row["checked"] or row["baseline"] else figures.significant(error),
        "error_value": error,
        "time": _time(row, axes["time"], unit, colour, widths["time"]) if time else None,
        "speedup": words.speedup(summary),
        "speedup_picture": picture(axes["speedup"], widths["speedup"]),
        "small_picture": picture(axes["list"], 140, 18),
        "observations": figures.whole(summary["observations"]) if summary else "",
        "verdict": verdict,
        "expectations": [_expectation(each) for each in row["expectations"]],
        "first_call": figures.time(row["first_call_ns"]) if row["first_call_ns"] is not None else "–",
        "gb_per_s": figures.significant(row["gb_per_s"]) if row["gb_per_s"] else "–",
        "gflop_per_s": figures.significant(row["gflop_per_s"]) if row["gflop_per_s"] else "–",
        "share_of_peak": figures.percent(row["share_of_peak"]) if row["share_of_peak"] else "–",
        "modes": {mode["name"]: _mode(mode) for mode in row["modes"]},
        "why_uncounted": row["why_uncounted"],
        **_counted(row),
        "warnings": _warnings(row),
    }


def _check(row):
    """The finding about the outputs, in one word."""
    if row["outcome"] != "measured":
        return row["outcome"]
    return "correct" if row["checked"] else "unchecked"


def _warnings(row):
    time, summary = row["time"], row["speedup"]
    warnings = [schema.objection(row, each["severity"]) for each in row["context"]["objections"]]
    if row["outcome"] == "measured" and row["warm_up_iterations"] and row["warmed_up"] is False:
        warnings.append("Its times had not settled when the warm-up ended.")
    if time and time["mean_ns"] and time["median_ns"]:
        # As the table of the terminal has it: a median says nothing of calls that seldom take long.
        if time["mean_ns"] > 1.05 * time["median_ns"] or (time["q99_ns"] or 0) > 1.5 * time["median_ns"]:
            text = f"mean {figures.time(time['mean_ns'])}, 99 % quantile {figures.time(time['q99_ns'])}"
            if summary and summary["mean"]:
                text += f", speed-up of the means {figures.ratio(summary['mean'])}"
            warnings.append(f"Seldom calls take long: {text}.")
    return warnings


def _time(row, axis, unit, colour, width):
    time = row["time"]
    return {
        "value": time["median_ns"],
        "text": figures.time(time["median_ns"], unit),
        "interval": figures.time_interval(time["interval"], unit),
        "picture": svg.time(time, axis, colour, "baseline" if row["baseline"] else "candidate", width),
        "spread": figures.percent(time["spread"]),
        "samples": figures.whole(time["samples"]),
        "extremes": f"{figures.time(time['min_ns'], unit)} … {figures.time(time['max_ns'], unit)}",
    }


def _expectation(expectation):
    closed = expectation["acceptable"] is False
    if expectation["deferred"]:
        fate = "decided by several processes together"
    elif closed:
        fate = "closes the gate"
    else:
        fate = "let through without a proof" if expectation["unresolved"] else "gate open"
    return {**expectation, "closed": closed, "fate": fate}


def _mode(mode):
    return {
        "time": figures.time(mode["time"]["median_ns"]) if mode["time"] else "–",
        "value": mode["time"]["median_ns"] if mode["time"] else "",
        "speedup": words.speedup(mode["speedup"]),
        "missing": mode["missing"],
    }


def _energy(energy):
    """The energy of a call and its ratio to the baseline's, each with its interval."""
    between = lambda interval, unit: (
        f" [{figures.significant(interval['low'], 4)}{unit}, {figures.significant(interval['high'], 4)}{unit}]"
        if interval
        else ""
    )
    if energy["missing"] or not energy["millijoules"]:
        return {"each": energy["missing"] or "–", "ratio": "–"}
    ratio = energy["ratio"]
    return {
        "each": f"{figures.significant(energy['millijoules'], 4)} mJ" + between(energy["interval"], ""),
        "ratio": figures.significant(ratio, 4) + "x" + between(energy["ratio_interval"], "x") if ratio else "–",
    }


def _counter(counter):
    """A counter's figure of one call with its unit, and its ratio to the baseline's."""
    if counter["missing"]:
        return {"name": counter["name"], "each": counter["missing"], "ratio": "–"}
    text = {
        "bytes": figures.bytes_,
        "percent": lambda value: figures.percent(value / 100),
    }.get(counter["unit"], lambda value: figures.significant(value, 4))
    ends = dict.fromkeys(text(counter[key] or 0) for key in ("low", "high"))
    baseline = (counter["baseline_low"] or 0) + (counter["baseline_high"] or 0)
    own = (counter["low"] or 0) + (counter["high"] or 0)
    return {
        "name": counter["name"],
        "each": " to ".join(ends),
        "ratio": figures.significant(own / baseline, 4) + "x" if baseline else "–",
    }


def _counted(row):
    """The counts beside times: memory and activities of a device, calls, allocations, instructions."""
    memory, activities, counts, instructions = (
        row[key] for key in ("device_memory", "device_counts", "counts", "instructions")
    )
    return {
        "memory": memory
        and {
            "peak": figures.bytes_(memory["peak_bytes"]),
            "reserved": figures.bytes_(memory["reserved_bytes"]),
            "allocations": figures.whole(memory["allocations"]),
        },
        "energy": row["energy"] and _energy(row["energy"]),
        "counters": [_counter(each) for each in row["counters"]],
        "device_counts": activities and {key: figures.whole(value) for key, value in activities.items()},
        "counts": counts
        and {
            "calls": figures.whole(counts["operator_calls"]),
            "allocations": figures.whole(counts["allocations"]),
            "bytes": figures.bytes_(counts["bytes_allocated"]),
            "peak": figures.bytes_(counts["peak_bytes"]),
        },
        "instructions": instructions
        and {
            "text": " to ".join(figures.whole(each) for each in sorted({instructions["low"], instructions["high"]})),
            "ratio": figures.ratio(instructions["ratio_low"]) if instructions["ratio_low"] else "",
            "counter": instructions["counter"],
        },
    }
