"""The parts of the page, from the files read: verdicts, remarkable rows, means, sweeps, comparisons, kernels."""

import math

from report import charts, comparison, figures, gather, kernels, repeat, schema, statistics, svg, sweeps, words

# More would make a page that no browser opens quickly. Failures come first, and all of them are counted.
MOST_COMPARISONS = 1000
MOST_CHANGES = 12


def _closed(row):
    """Expectations of the row that close its gate."""
    return [each for each in row["expectations"] if each["acceptable"] is False and not each["deferred"]]


def _proven(row):
    """`faster`, `slower` or nothing: the side that the interval of the speed-up leaves no doubt about."""
    interval = (row["speedup"] or {}).get("interval")
    if not interval:
        return ""
    return "faster" if interval["low"] > 1 else "slower" if interval["high"] < 1 else ""


def _question(result):
    """The question of a speed-up: another baseline, other inputs or another clock are another question."""
    baseline = next((row["name"] for row in result["implementations"] if row["baseline"]), "")
    return {"baseline": baseline, "inputs": result["inputs"], "clock": result["clock"]}


def _other_variables(runs):
    """A sentence for each run with other variables of the environment than the first one: times may differ by them."""
    if not runs:
        return []
    first = runs[0].header["environment"].get("variables", "")
    found = []
    for run in runs[1:]:
        own = run.header["environment"].get("variables", "")
        if own != first:
            found.append(
                f"{run.path} was measured with these variables: {own or 'none'}; {runs[0].path} with: "
                f"{first or 'none'}. Times may differ by them."
            )
    return found


class View:
    """Everything that the template reads."""

    def __init__(self, inputs, paths):
        self.problems = inputs.problems
        self.notes = inputs.notes + _other_variables(inputs.runs)
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
        self.kernels = [kernels.view(each) for each in inputs.kernels]
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
        if environment.get("variables"):
            facts.append(("variables", environment["variables"]))
        shown = {
            *("date_utc", "commit", "hostname", "cpu", "cores", "gpu", "gpu_driver", "libtorch", "command_line"),
            "variables",
        }
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
            "label": words.short(f"{index + 1}: {name}" if count > 1 else name),
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
        """The exit code, or None where the results do not say it, and its meaning."""
        rows = [row for result in self.results for row in result["implementations"]]
        if not rows:
            return None, ""
        faults = sum(row["outcome"] in words.FAULTS for row in rows)
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
        if any(each["deferred"] for row in rows for each in row["expectations"]):
            return None, (
                "Several processes decide the gates together (--processes). The program printed their verdicts, which "
                "are not in these files"
            )
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
        """The error rate of the gates of all runs together, as a sentence; empty without a rate for a whole suite."""
        rates = [run.header["suite_alpha"] for run in runs]
        if not rates or None in rates:
            return ""
        if len(rates) == 1:
            return f"All gates together err with a rate of at most {figures.significant(rates[0])}."
        return (
            f"Each of {len(rates)} runs has an error rate of its own for its gates. The gates of all runs together err "
            f"with a rate of at most {figures.significant(min(sum(rates), 1))}, the sum."
        )

    def _title(self):
        if self.results:
            names = " → ".join(run["label"] for run in self.runs[:3]) + (" …" if len(self.runs) > 3 else "")
            return f"{figures.count(len(self.results), 'comparison')} · {names}"
        if self.judged:
            names = (words.short(gather.label_of(each["path"])) for each in self.judged[:3])
            return f"results compared: {', '.join(names)}"
        if self.kernels:
            return "kernels of " + ", ".join(words.short(each["call"]) for each in self.kernels[:3])
        return "no results"

    def _shown(self, pairs):
        if len(pairs) <= MOST_COMPARISONS:
            return pairs

        def badness(row):
            if row["outcome"] in words.FAULTS or _closed(row):
                return 3
            return words.BADNESS.get(words.worst_verdict(row), 0)

        def rank(pair):
            return max(map(badness, pair[1]["implementations"]), default=0)

        kept = sorted(range(len(pairs)), key=lambda i: (-rank(pairs[i]), i))[:MOST_COMPARISONS]
        return [pairs[i] for i in sorted(kept)]

    # ---- what stands out

    @staticmethod
    def _cut(entries):
        return entries[:MOST_CHANGES], max(len(entries) - MOST_CHANGES, 0)

    def _entry(self, run, result, row, **more):
        return {
            "id": self._places.get(id(result)),
            "comparison": words.short(result["name"]),
            "implementation": words.short(row["name"]) if row else "",
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
                if row["outcome"] in words.FAULTS:
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
                            self._entry(run, result, row, kind=way, what=way, speedup=words.speedup(summary)),
                        )
                    )
        return [entry for _, entry in sorted(found, key=lambda each: -each[0])]

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
                    "group": words.short(group),
                    "implementation": words.short(implementation),
                    "run": self.runs[i]["number"] if self.several_runs else None,
                    "count": len(speedups),
                    "summary": {"median": centre, "interval": ends},
                    "speedup": words.speedup({"median": centre, "interval": ends}),
                }
            )
        axis = svg.speedup_axis([each["summary"] for each in found], [], 220)
        for each in found:
            each["picture"] = svg.speedup(each["summary"], axis, [], "", 220)
        return found

    def _sweeps(self, runs):
        found = []
        for i, run in enumerate(runs):
            for sweep in sweeps.find(run.results, words.worst_verdict):
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
                        "comparison": words.short(name),
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
                        "title": words.short(sweep.title),
                        "implementation": words.short(sweep.implementation),
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
            # The baselines' trends are the times that a change of machine changes.
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
                        "speedup": words.speedup(summary),
                        "change": change,
                        "other": other.replace("another inputs", "other inputs"),
                        "id": self._places.get(id(result)),
                        "device": words.short(result["device"]),
                    }
                )
            found.append(
                {
                    "comparison": words.short(comparison),
                    "implementation": words.short(implementation),
                    "cells": cells,
                    "way": way,
                    "size": largest,
                }
            )
        found.sort(key=lambda each: -each["size"])
        return found

    def _judged(self, run):
        """The judgements of //tools/compare_results; the unacceptable ones come first."""
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
                    "comparison": words.short(row["comparison"]),
                    "implementation": words.short(row["implementation"]),
                    "then": figures.time(row["then_ns"]),
                    "now": figures.time(row["now_ns"]),
                    "speedup": words.speedup(summary),
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
                    words.short(each["path"]) + (f" ({each['commit'][:10]})" if each["commit"] else "")
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
                            "comparison": words.short(result["name"]),
                            "implementation": words.short(row["name"]),
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

    def _comparison(self, place, run, result, most):
        of_run = self._results_of_run[run]
        view, values = comparison.view(place, self.runs[run], of_run, result, most, self._list_axis)
        if values:
            self.datasets[f"c{place}"] = {"kind": "comparison", **values}
        return view
