"""What the page shows, from what was read: verdicts, what stands out, means, sweeps, comparisons, kernels."""

import math

from report import charts, figures, gather, repeat, schema, statistics, svg, sweeps

_BADNESS = {"passed": 0, "undecided": 1, "invalid": 2, "failed": 3}
# Outcomes by which a program fails, as its exit code says (42).
FAULTS = ("wrong", "threw", "crashed", "timed out", "out of memory")

# More would make a page that no browser opens quickly; what is wrong comes first, and all of it is counted.
MOST_COMPARISONS = 1000
MOST_CHANGES = 12

# Characters of a name that stand in a table; the whole of it is below the comparison's heading.
LONGEST_NAME = 160


def short(name):
    """A name as it stands in a line: without line ends, and not endless."""
    text = name.replace("\n", "⏎").replace("\t", " ")
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def worst_verdict(row):
    """The worst verdict of a row, or an empty text."""
    return max((each["verdict"] for each in row["expectations"]), key=lambda each: _BADNESS.get(each, 4), default="")


def _closed(row):
    """Expectations of the row by which its gate is closed."""
    return [each for each in row["expectations"] if each["acceptable"] is False and not each["deferred"]]


def _proven(row):
    """`faster`, `slower` or nothing: what the interval of the speed-up leaves no doubt about."""
    interval = (row["speedup"] or {}).get("interval")
    if not interval:
        return ""
    return "faster" if interval["low"] > 1 else "slower" if interval["high"] < 1 else ""


def _question(result):
    """What a speed-up answers: another baseline, other inputs or another clock are another question."""
    baseline = next((row["name"] for row in result["implementations"] if row["baseline"]), "")
    return {"baseline": baseline, "inputs": result["inputs"], "clock": result["clock"]}


class View:
    """Everything that the template reads."""

    def __init__(self, inputs, paths):
        self.problems = inputs.problems
        self.notes = inputs.notes
        self.paths = paths
        self.runs = [self._run(i, run, len(inputs.runs)) for i, run in enumerate(inputs.runs)]
        pairs = [(i, result) for i, run in enumerate(inputs.runs) for result in run.results]
        self.results = [result for _, result in pairs]
        self._results_of_run = [{result["name"]: result for result in run.results} for run in inputs.runs]
        self._count()
        self.exit_code, self.exit_meaning = self._exit()
        self.suite_rate = self._suite_rate(inputs.runs)
        shown = self._shown(pairs)
        self.left_out = len(pairs) - len(shown)
        self.several_runs = len(inputs.runs) > 1
        self.datasets = {}
        shares = charts.shares([result for _, result in shown], charts.MOST_VALUES)
        # One axis for all lines of the list, so that they can be compared with each other.
        leads = [row["speedup"] for _, result in shown for row in result["implementations"] if row["speedup"]]
        self._list_axis = svg.list_axis([each for each in leads if each["median"] > 0], 140)
        self.comparisons = [
            self._comparison(place, i, result, shares[place]) for place, (i, result) in enumerate(shown)
        ]
        self._places = {id(result): place for place, (_, result) in enumerate(shown)}
        self.attention, self.attention_more = self._cut(self._attention(pairs))
        self.changes, self.changes_more = self._cut(self._changes(pairs))
        self.groups = self._groups(inputs.runs)
        self.sweeps = self._sweeps(inputs.runs)
        self.between = self._between(inputs.runs)
        self.judged = [self._judged(each) for each in inputs.between]
        self.kernels = [self._kernels(each) for each in inputs.kernels]
        self.whole_calls = inputs.whole_calls
        self.roofline = self._roofline(pairs)
        self.title = self._title()

    # ---- the head

    def _run(self, index, run, count):
        environment = run.header["environment"]
        name = gather.label_of(run.path, environment.get("command_line", ""))
        commit = environment.get("commit", "")
        facts = [
            ("file", run.path if gather.lasts(run.path) else ""),
            ("measured", environment.get("date_utc", "")),
            ("commit", commit),
            ("machine", environment.get("hostname", "")),
            ("processor", f"{environment.get('cpu', '')}, {environment.get('cores', '')} cores"),
        ]
        if environment.get("gpu"):
            facts.append(("GPU", f"{environment['gpu']}, driver {environment.get('gpu_driver', 'unknown')}"))
        facts += [("LibTorch", environment.get("libtorch", "")), ("pace", run.header["pace_version"])]
        shown = {"date_utc", "commit", "hostname", "cpu", "cores", "gpu", "gpu_driver", "libtorch", "command_line"}
        more = [(key, value) for key, value in environment.items() if key not in shown]
        more += [(f"option {key}", value) for key, value in (run.header["options"] or {}).items()]
        more += [(f"configuration {key}", value) for key, value in (run.header["configuration"] or {}).items()]
        if run.header["suite_alpha"] is not None:
            more.append(("suite_alpha", figures.significant(run.header["suite_alpha"])))
        warnings = []
        if environment.get("optimized") == "no":
            warnings.append("The program was compiled without optimisation.")
        if environment.get("governor") not in (None, "", "performance"):
            warnings.append(f"The governor {environment['governor']} changes the processor's frequency.")
        load, cores = environment.get("load_average_1min"), environment.get("cores")
        try:
            if float(load) > float(cores):
                warnings.append(f"When the run began, {load} threads were runnable on {cores} cores.")
        except (TypeError, ValueError):
            pass
        return {
            "index": index,
            "label": short(f"{index + 1}: {name}" if count > 1 else name),
            "number": index + 1,
            "facts": [(key, value) for key, value in facts if value.strip(", ")],
            "more": more,
            "command": environment.get("command_line", ""),
            "commit": commit[:10],
            "warnings": warnings,
            "comparisons": len(run.results),
        }

    def _count(self):
        self.verdicts = {each: 0 for each in ("failed", "invalid", "undecided", "passed")}
        self.outcomes = {}
        self.implementations = 0
        for result in self.results:
            for row in result["implementations"]:
                self.implementations += 1
                self.outcomes[row["outcome"]] = self.outcomes.get(row["outcome"], 0) + 1
                for each in row["expectations"]:
                    self.verdicts[each["verdict"]] = self.verdicts.get(each["verdict"], 0) + 1
        self.expectations = sum(self.verdicts.values())

    def _exit(self):
        rows = [row for result in self.results for row in result["implementations"]]
        if not rows:
            return None, ""
        faults = sum(row["outcome"] in FAULTS for row in rows)
        closed = sum(len(_closed(row)) for row in rows)
        lost = any(result["lost_device"] for result in self.results)
        if faults or closed or lost:
            parts = []
            if closed:
                parts.append(f"{figures.count(closed, 'gate')} closed")
            if faults:
                parts.append(f"{figures.count(faults, 'implementation')} wrong, crashed, hung or out of memory")
            if lost:
                parts.append("a device lost")
            return 42, ", ".join(parts)
        open_ = sum(bool(each["unresolved"]) for row in rows for each in row["expectations"])
        unreached = sum(row["outcome"] == "unreached" for row in rows)
        if open_ or unreached:
            parts = [f"{figures.count(open_, 'guard')} let through without a proof"] if open_ else []
            if unreached:
                parts.append(f"{figures.count(unreached, 'implementation')} not reached in time")
            return 43, ", ".join(parts)
        if not any(row["outcome"] == "measured" for row in rows):
            return 4, "nothing was measured"
        return 0, "everything that was expected is met" if self.expectations else "nothing was expected"

    @staticmethod
    def _suite_rate(runs):
        """What the gates of all runs may err by together, as a sentence; empty without a rate for a whole suite."""
        rates = [run.header["suite_alpha"] for run in runs]
        if not rates or None in rates:
            return ""
        if len(rates) == 1:
            return f"All gates together err with a rate of at most {figures.significant(rates[0])}."
        return (
            f"Each of {len(rates)} runs has an error rate of its own for its gates; those of all runs together err "
            f"with a rate of at most {figures.significant(min(sum(rates), 1))}, the sum."
        )

    def _title(self):
        if self.results:
            names = " → ".join(run["label"] for run in self.runs[:3]) + (" …" if len(self.runs) > 3 else "")
            return f"{figures.count(len(self.results), 'comparison')} · {names}"
        if self.judged:
            return "results compared: " + ", ".join(short(gather.label_of(each["path"])) for each in self.judged[:3])
        if self.kernels:
            return "kernels of " + ", ".join(short(each["call"]) for each in self.kernels[:3])
        return "no results"

    def _shown(self, pairs):
        if len(pairs) <= MOST_COMPARISONS:
            return pairs

        def rank(pair):
            rows = pair[1]["implementations"]
            return max(
                [
                    3 if row["outcome"] in FAULTS or _closed(row) else _BADNESS.get(worst_verdict(row), 0)
                    for row in rows
                ],
                default=0,
            )

        kept = sorted(range(len(pairs)), key=lambda i: (-rank(pairs[i]), i))[:MOST_COMPARISONS]
        return [pairs[i] for i in sorted(kept)]

    # ---- what stands out

    @staticmethod
    def _cut(entries):
        return entries[:MOST_CHANGES], max(len(entries) - MOST_CHANGES, 0)

    def _entry(self, run, result, row, **more):
        return {
            "id": self._places.get(id(result)),
            "comparison": short(result["name"]),
            "implementation": short(row["name"]) if row else "",
            "run": self.runs[run]["number"] if self.several_runs else None,
            **more,
        }

    def _attention(self, pairs):
        found = []
        for run, result in pairs:
            if result["lost_device"]:
                found.append(
                    (0, self._entry(run, result, None, kind="failed", what="device lost", text=result["lost_device"]))
                )
            for row in result["implementations"]:
                if row["outcome"] in FAULTS:
                    found.append(
                        (0, self._entry(run, result, row, kind="failed", what=row["outcome"], text=row["message"]))
                    )
                elif impossible := schema.objection(row, "impossible"):
                    found.append(
                        (1, self._entry(run, result, row, kind="invalid", what="invalid", text=impossible))
                    )
                for each in _closed(row):
                    rank = 0 if each["verdict"] == "failed" else 2
                    found.append(
                        (
                            rank,
                            self._entry(
                                run, result, row, kind=each["verdict"], what=each["verdict"], text=each["message"]
                            ),
                        )
                    )
                for each in row["expectations"]:
                    if each["unresolved"]:
                        found.append(
                            (
                                3,
                                self._entry(
                                    run, result, row, kind="undecided", what="let through", text=each["message"]
                                ),
                            )
                        )
            for disturbance in result["conditions"]["disturbances"]:
                found.append(
                    (4, self._entry(run, result, None, kind="undecided", what="disturbed", text=disturbance))
                )
        return [entry for _, entry in sorted(found, key=lambda each: each[0])]

    def _changes(self, pairs):
        found = []
        for run, result in pairs:
            for row in result["implementations"]:
                way = _proven(row)
                if way:
                    summary = row["speedup"]
                    found.append(
                        (
                            abs(math.log(summary["median"])) if summary["median"] > 0 else 0.0,
                            self._entry(run, result, row, kind=way, what=way, speedup=self._speedup(summary)),
                        )
                    )
        return [entry for _, entry in sorted(found, key=lambda each: -each[0])]

    @staticmethod
    def _speedup(summary):
        if not summary:
            return None
        return {
            "value": summary["median"],
            "text": figures.ratio(summary["median"]),
            "interval": figures.ratio_interval(summary["interval"]),
        }

    # ---- over comparisons

    def _groups(self, runs):
        """Geometric means by run, the first part of the name, and implementation."""
        groups = {}
        for i, run in enumerate(runs):
            for result in run.results:
                # Phases are parts of comparisons that are counted.
                if repeat.whole_of(result, self._results_of_run[i]) is not result:
                    continue
                first = result["name"].split("/")[0] if "/" in result["name"] else "all"
                for row in result["implementations"]:
                    summary = row["speedup"]
                    # Outputs that could not be compared may be wrong.
                    if summary and summary["median"] > 0 and not row["uncompared"]:
                        interval = summary["interval"] or {"low": None, "high": None}
                        for group in {first, "all"}:
                            groups.setdefault((group != "all", group, row["name"], i), []).append(
                                (summary["median"], interval["low"], interval["high"])
                            )
        found = []
        for (_, group, implementation, i), speedups in sorted(
            groups.items(), key=lambda each: (each[0][0], each[0][1], each[0][2], each[0][3])
        ):
            # A group that is all there is would stand there twice.
            if len(speedups) < 2 or (group != "all" and len(speedups) == len(groups[False, "all", implementation, i])):
                continue
            centre, interval = statistics.geometric_mean(speedups)
            ends = {"low": interval[0], "high": interval[1]} if interval else None
            found.append(
                {
                    "group": short(group),
                    "implementation": short(implementation),
                    "run": self.runs[i]["number"] if self.several_runs else None,
                    "count": len(speedups),
                    "summary": {"median": centre, "interval": ends},
                    "speedup": self._speedup({"median": centre, "interval": ends}),
                }
            )
        axis = svg.speedup_axis([each["summary"] for each in found], [], 220)
        for each in found:
            each["picture"] = svg.speedup(each["summary"], axis, [], "", 220)
        return found

    def _sweeps(self, runs):
        found = []
        for i, run in enumerate(runs):
            for sweep in sweeps.find(run.results, worst_verdict):
                two = sweep.rows != [""]
                cells = {at: (value, verdict) for at, (value, verdict, *_) in sweep.cells.items()}
                key = f"s{len(found)}"
                letters = ["m", "n"] if two else ["n"]
                series = [
                    {
                        "size": column,
                        "series": f"{'n' if two else sweep.implementation}{f' = {row}' if two else ''}",
                        "speedup": charts.rounded(value),
                        "low": charts.rounded(low if low else value),
                        "high": charts.rounded(high if high else value),
                        "comparison": short(name),
                    }
                    for (row, column), (value, _, low, high, name) in sweep.cells.items()
                    if value and value > 0 and column > 0
                ]
                self.datasets[key] = {
                    "kind": "sizes",
                    "values": series,
                    "axis": letters[0],
                    "sizes": sweep.columns,
                    "range": charts.speedup_range(series),
                }
                found.append(
                    {
                        "title": short(sweep.title),
                        "implementation": short(sweep.implementation),
                        "run": self.runs[i]["number"] if self.several_runs else None,
                        "picture": svg.heat_map(
                            sweep.columns, sweep.rows, cells, f"{letters[0]} →", "n ↓" if two else ""
                        ),
                        "crossings": sweep.crossings,
                        "key": key,
                    }
                )
        return found

    def _between(self, runs):
        """Rows that several files have: the speed-up over the baseline of the same run, which other machines leave."""
        if len(runs) < 2:
            return []
        known = {}
        for i, run in enumerate(runs):
            for result in run.results:
                for row in result["implementations"]:
                    known.setdefault((result["name"], row["name"]), {}).setdefault(i, (result, row))
        found = []
        for (comparison, implementation), by_run in known.items():
            # Those of baselines are the times that a change of machine changes.
            if len(by_run) < 2 or not any(row["speedup"] for _, row in by_run.values()):
                continue
            cells, first, asked = [], None, None
            largest, way = 0.0, ""
            for i in range(len(runs)):
                result, row = by_run.get(i, (None, None))
                if row is None or not (row["time"] or row["speedup"]):
                    cells.append(None)
                    continue
                summary, time = row["speedup"], row["time"]
                question = _question(result)
                other = ", ".join(f"another {key}" for key in question if asked and question[key] != asked[key])
                change = ""
                known = first and summary and first["speedup"] and summary["interval"] and first["speedup"]["interval"]
                if known and not other:
                    if summary["interval"]["low"] > first["speedup"]["interval"]["high"]:
                        change = "faster"
                    elif summary["interval"]["high"] < first["speedup"]["interval"]["low"]:
                        change = "slower"
                    if change and summary["median"] > 0 and first["speedup"]["median"] > 0:
                        size = abs(math.log(summary["median"] / first["speedup"]["median"]))
                        if size >= largest:
                            largest, way = size, change
                first, asked = first or row, asked or question
                cells.append(
                    {
                        "time": figures.time(time["median_ns"]) if time else "–",
                        "speedup": self._speedup(summary),
                        "change": change,
                        "other": other.replace("another inputs", "other inputs"),
                        "id": self._places.get(id(result)),
                        "device": short(result["device"]),
                    }
                )
            found.append(
                {
                    "comparison": short(comparison),
                    "implementation": short(implementation),
                    "cells": cells,
                    "way": way,
                    "size": largest,
                }
            )
        found.sort(key=lambda each: -each["size"])
        return found

    def _judged(self, run):
        """What //tools/compare_results judged; what is not acceptable comes first."""
        header, rows = run.header, []
        order = sorted(
            run.results,
            key=lambda row: (row["acceptable"] is not False, not row["change_proven"], not row["unresolved"]),
        )
        speedups = [{"median": row["factor"], "interval": row["interval"]} for row in run.results if row["factor"]]
        limits = []
        if header["limit"] and header["limit"] > 0:
            limits = [1 / header["limit"] if header["guard"] else header["limit"]]
        axis = svg.speedup_axis(speedups, limits, 150)
        for row in order:
            summary = (
                {"median": row["factor"], "interval": row["interval"]}
                if row["factor"] and row["factor"] > 0
                else None
            )
            rows.append(
                {
                    "step": row["step"],
                    "comparison": short(row["comparison"]),
                    "implementation": short(row["implementation"]),
                    "then": figures.time(row["then_ns"]),
                    "now": figures.time(row["now_ns"]),
                    "speedup": self._speedup(summary),
                    "picture": svg.speedup(summary, axis, limits, row["verdict"], 150) if summary else "",
                    "verdict": row["verdict"],
                    "fate": (
                        "not acceptable" if row["acceptable"] is False else "let through" if row["unresolved"] else ""
                    ),
                    "message": row["message"] if row["verdict"] != "passed" else "",
                }
            )
        sides = [
            [
                ", ".join(
                    short(each["path"]) + (f" ({each['commit'][:10]})" if each["commit"] else "")
                    for each in step[side] or []
                )
                for side in ("old", "new")
            ]
            for step in header["steps"]
        ]
        return {
            "path": run.path,
            "expectation": header["expectation"],
            "compared": int(header["compared"] if header["compared"] is not None else len(rows)),
            "exit_code": int(header["exit_code"]) if header["exit_code"] is not None else None,
            "sides": sides,
            "several": len(sides) > 1,
            "rows": rows,
        }

    def _roofline(self, pairs):
        points, peak = [], 0.0
        for _, result in pairs:
            for row in result["implementations"]:
                if row["bytes"] and row["flops"] and row["gflop_per_s"] and row["gb_per_s"]:
                    points.append(
                        {
                            "comparison": short(result["name"]),
                            "implementation": short(row["name"]),
                            "intensity": charts.rounded(row["flops"] / row["bytes"]),
                            "gflops": charts.rounded(row["gflop_per_s"]),
                            "gbs": charts.rounded(row["gb_per_s"]),
                        }
                    )
                    peak = max(peak, row["gb_per_s"])
        if not points:
            return None
        ends = [min(each["intensity"] for each in points) / 2, max(each["intensity"] for each in points) * 2]
        most = max(each["gflops"] for each in points)
        bend = most / peak
        roof = [
            {"intensity": x, "gflops": charts.rounded(min(x * peak, most))}
            for x in sorted({ends[0], min(max(bend, ends[0]), ends[1]), ends[1]})
        ]
        self.datasets["roofline"] = {"kind": "roofline", "values": points, "roof": roof}
        return points

    # ---- one comparison

    def _comparison(self, place, run, result, most):
        rows = result["implementations"]
        limits = sorted({limit for row in rows for limit in self._limits(row)})
        speedups = [row["speedup"] for row in rows if row["speedup"] and row["speedup"]["median"] > 0]
        rates = [
            (key, title)
            for key, title in (("gb_per_s", "GB/s"), ("gflop_per_s", "GFLOP/s"), ("share_of_peak", "of peak"))
            if any(row[key] for row in rows)
        ]
        # Columns more leave less room for pictures.
        widths = {"time": 80, "speedup": 100} if rates else {"time": 130, "speedup": 150}
        speedup_axis = svg.speedup_axis(speedups, limits, widths["speedup"])
        times = [row["time"] for row in rows if row["time"]]
        time_axis = svg.time_axis(times, widths["time"]) if times else None
        unit = figures.time_unit(min(time["median_ns"] for time in times)) if times else (1.0, "ns")
        views = [
            self._row(row, speedup_axis, time_axis, unit, colour, widths)
            for row, colour in zip(rows, charts.colours(rows))
        ]
        verdicts = [worst_verdict(row) for row in rows]
        verdict = max(verdicts, key=lambda each: _BADNESS.get(each, 4 if each else -1), default="")
        faults = [row["outcome"] for row in rows if row["outcome"] in FAULTS]
        status = "failed" if faults else verdict or ("measured" if times else "without figures")
        values = charts.values_of(result, most)
        if values:
            self.datasets[f"c{place}"] = {"kind": "comparison", **values}
        ratios = [row["speedup"]["median"] for row in rows if row["speedup"]]
        run_view = self.runs[run]
        modes = [mode["name"] for row in rows for mode in row["modes"]]
        return {
            "id": place,
            "name": short(result["name"]),
            "full_name": result["name"] if short(result["name"]) != result["name"] else "",
            "run": run_view,
            "status": status,
            "badge": faults[0] if faults else status,
            "rows": views,
            "lead": next((each for each in views if each["speedup"]), None),
            "sort_speedup": min(ratios) if ratios else "",
            "sort_time": min((time["median_ns"] for time in times), default=""),
            "words": " ".join([result["name"], result["device"], status, *(row["name"] for row in rows)]).lower()[
                :2000
            ],
            "facts": self._facts(result),
            "notes": result["notes"]
            + ([f"The device is missing: {result['missing_device']}"] if result["missing_device"] else [])
            + ([f"The device was lost: {result['lost_device']}"] if result["lost_device"] else []),
            "disturbances": result["conditions"]["disturbances"],
            "conditions": self._conditions(result["conditions"]),
            "controls": [
                {
                    "injected": figures.ratio(each["injected"]),
                    "speedup": self._speedup(each["speedup"]),
                    "proven": (
                        "proven slower"
                        if each["proven_slower"]
                        else "proven faster" if each["proven_faster"] else "no difference proven"
                    ),
                    "expected": each["injected"] == 1,
                }
                for each in result["controls"]
            ],
            "modes": list(dict.fromkeys(modes)),
            "rates": rates,
            "clock": result["clock"],
            "has_memory": any(row["device_memory"] or row["device_counts"] for row in rows),
            "has_instructions": any(row["instructions"] for row in rows),
            "has_counts": any(row["counts"] or row["instructions"] for row in rows),
            "without_evidence": self._without_evidence(rows),
            "has_expectations": any(row["expectations"] for row in rows),
            "data": f"c{place}" if values else None,
            "left_out": values["left_out"] if values else False,
            "pictures": self._pictures(values),
            "command": repeat.command(run_view["command"], result, self._results_of_run[run]),
        }

    @staticmethod
    def _without_evidence(rows):
        """Expectations of which there is no picture of the evidence, by the reason."""
        found = {}
        for row in rows:
            for each in row["expectations"]:
                if why := charts.why_no_evidence(row, each):
                    found.setdefault(why, []).append(f"{short(row['name'])}: {short(each['expectation'])}")
        return [{"why": why, "expectations": "; ".join(dict.fromkeys(texts))} for why, texts in found.items()]

    @staticmethod
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

    @staticmethod
    def _limits(row):
        """Limits of the row's expectations, as speed-ups."""
        found = []
        for each in row["expectations"]:
            demand = each["demanded_speed"]
            if demand and demand["limit"] and demand["limit"] > 0:
                found.append(1 / demand["limit"] if demand["guard"] else demand["limit"])
        return found

    def _row(self, row, speedup_axis, time_axis, unit, colour, widths):
        time, summary, limits = row["time"], row["speedup"], self._limits(row)
        verdict = worst_verdict(row)
        css = "baseline" if row["baseline"] else "candidate"
        drawn = summary if summary and summary["median"] > 0 else None
        error = row["max_abs_error"]
        if row["outcome"] == "wrong":
            check = "wrong"
        elif row["outcome"] != "measured":
            check = row["outcome"]
        else:
            check = "correct" if row["checked"] else "unchecked"
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
        return {
            "name": short(row["name"]),
            "baseline": bool(row["baseline"]),
            "colour": colour,
            "outcome": row["outcome"],
            "message": row["message"],
            "check": check,
            "good": check == "correct",
            "fault": check in FAULTS,
            "error": "" if error is None or not row["checked"] or row["baseline"] else figures.significant(error),
            "error_value": error,
            "time": (
                {
                    "value": time["median_ns"],
                    "text": figures.time(time["median_ns"], unit),
                    "interval": figures.time_interval(time["interval"], unit),
                    "picture": svg.time(time, time_axis, colour, css, widths["time"]),
                    "spread": figures.percent(time["spread"]),
                    "samples": figures.whole(time["samples"]),
                    "extremes": f"{figures.time(time['min_ns'], unit)} … {figures.time(time['max_ns'], unit)}",
                }
                if time
                else None
            ),
            "speedup": self._speedup(summary),
            "speedup_picture": (
                svg.speedup(drawn, speedup_axis, limits, verdict, widths["speedup"]) if drawn else ""
            ),
            "small_picture": svg.speedup(drawn, self._list_axis, limits, verdict, 140, 18) if drawn else "",
            "observations": figures.whole(summary["observations"]) if summary else "",
            "verdict": verdict,
            "expectations": [
                {
                    **each,
                    "closed": each["acceptable"] is False,
                    "fate": (
                        "decided by several processes together"
                        if each["deferred"]
                        else (
                            "closes the gate"
                            if each["acceptable"] is False
                            else "let through without a proof" if each["unresolved"] else "gate open"
                        )
                    ),
                }
                for each in row["expectations"]
            ],
            "first_call": figures.time(row["first_call_ns"]) if row["first_call_ns"] is not None else "–",
            "gb_per_s": figures.significant(row["gb_per_s"]) if row["gb_per_s"] else "–",
            "gflop_per_s": figures.significant(row["gflop_per_s"]) if row["gflop_per_s"] else "–",
            "share_of_peak": figures.percent(row["share_of_peak"]) if row["share_of_peak"] else "–",
            "modes": {mode["name"]: self._mode(mode) for mode in row["modes"]},
            "memory": row["device_memory"]
            and {
                "peak": figures.bytes_(row["device_memory"]["peak_bytes"]),
                "reserved": figures.bytes_(row["device_memory"]["reserved_bytes"]),
                "allocations": figures.whole(row["device_memory"]["allocations"]),
            },
            "device_counts": row["device_counts"]
            and {key: figures.whole(value) for key, value in row["device_counts"].items()},
            "counts": row["counts"]
            and {
                "calls": figures.whole(row["counts"]["operator_calls"]),
                "allocations": figures.whole(row["counts"]["allocations"]),
                "bytes": figures.bytes_(row["counts"]["bytes_allocated"]),
            },
            "why_uncounted": row["why_uncounted"],
            "instructions": row["instructions"]
            and {
                "text": figures.whole(row["instructions"]["low"])
                + (
                    ""
                    if row["instructions"]["low"] == row["instructions"]["high"]
                    else f" to {figures.whole(row['instructions']['high'])}"
                ),
                "ratio": figures.ratio(row["instructions"]["ratio_low"]) if row["instructions"]["ratio_low"] else "",
                "counter": row["instructions"]["counter"],
            },
            "warnings": warnings,
        }

    def _mode(self, mode):
        return {
            "time": figures.time(mode["time"]["median_ns"]) if mode["time"] else "–",
            "value": mode["time"]["median_ns"] if mode["time"] else "",
            "speedup": self._speedup(mode["speedup"]),
            "missing": mode["missing"],
        }

    @staticmethod
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
                ),
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

    @staticmethod
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
        gpu = conditions["gpu"]
        if gpu:
            # What the driver does not report is 0.
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
        return found

    # ---- kernels

    def _kernels(self, report):
        kinds = list(dict.fromkeys(kernel["category"] for kernel in report["kernels"]))
        parts, whole, rows = [], report["whole_ns"], []
        total = sum(
            kernel["in_place"]["median_ns"] * (kernel["runs"] or 1)
            for kernel in report["kernels"]
            if kernel["in_place"]
        )
        whole = whole or total or 1.0
        for kernel in report["kernels"]:
            time = kernel["in_place"]
            share = kernel["share"] if kernel["share"] is not None else time["median_ns"] / whole if time else None
            if share:
                parts.append((short(kernel["name"]), share, kinds.index(kernel["category"])))
            of_peak = None
            if kernel["bytes_per_s"] and report["peak_bytes_per_s"]:
                of_peak = kernel["bytes_per_s"] / report["peak_bytes_per_s"]
            unit = figures.time_unit(time["median_ns"]) if time else None
            rows.append(
                {
                    "name": short(kernel["name"]),
                    "symbol": short(kernel["symbol"]) if kernel["symbol"] != kernel["name"] else "",
                    "category": kernel["category"],
                    "colour": svg.kind_colour(kinds.index(kernel["category"])),
                    "runs": figures.significant(kernel["runs"]) if kernel["runs"] is not None else "–",
                    "time": figures.time(time["median_ns"], unit) if time else "–",
                    "value": time["median_ns"] if time else "",
                    "extremes": (
                        f"[{figures.significant(time['least_ns'] / unit[0])}, "
                        f"{figures.significant(time['most_ns'] / unit[0])}]"
                        if time and time["least_ns"] is not None and time["most_ns"] is not None
                        else ""
                    ),
                    "hot": figures.time(kernel["hot"]["median_ns"]) if kernel["hot"] else "–",
                    "cold": figures.time(kernel["cold"]["median_ns"]) if kernel["cold"] else "–",
                    "share": figures.percent(share),
                    "bytes": figures.bytes_(kernel["bytes"]),
                    "gb_per_s": figures.significant(kernel["bytes_per_s"] / 1e9) if kernel["bytes_per_s"] else "–",
                    "of_peak": figures.percent(of_peak) if of_peak else "–",
                    "of_peak_picture": svg.share_bar(of_peak) if of_peak else "",
                    "why": kernel["why_not_alone"],
                }
            )
        unlisted = {"name": "not in any listed kernel", "time": "", "share": ""}
        if report["unlisted_share"]:
            parts.append((unlisted["name"], report["unlisted_share"], None))
            unlisted["time"] = figures.time(report["unlisted_ns"])
            unlisted["share"] = figures.percent(report["unlisted_share"])
        covered = sum(share for _, share, _ in parts)
        if covered < 0.995:
            # Of kernels on the CPU, --kernel may have left out some.
            on_cpu = report["unlisted_share"] is not None
            parts.append(("other kernels" if on_cpu else "between kernels", 1 - covered, None))
        return {
            "path": report["path"],
            "call": short(report["call"]),
            "device": report["device"],
            "whole": figures.time(report["whole_ns"]),
            "explained": figures.percent(report["explained"]),
            "peak": (
                figures.significant(report["peak_bytes_per_s"] / 1e9) + " GB/s" if report["peak_bytes_per_s"] else ""
            ),
            "picture": svg.kernels_bar(parts),
            "kinds": [{"name": kind, "colour": svg.kind_colour(i)} for i, kind in enumerate(kinds)],
            "rows": rows,
            "unlisted": unlisted,
            "notes": report["notes"],
            "has_alone": any(kernel["hot"] or kernel["cold"] for kernel in report["kernels"]),
        }
