"""fleet replicates: the gates of one test, run on several machines, judged with the machine as a factor."""

import collections
import dataclasses
import math
import statistics
import sys

from fleet import factor, origin
from fleet.options import command, number
from report import read, schema
from report.options import file_name, user_path

DESCRIPTION = (
    "Judges the gates of one test that has run on several machines, such as by --runs_per_test: a row for each machine "
    "and one for all, and whether it is slower everywhere or on some of them."
)
EPILOG = (
    "Exit code: 0 if every gate is open, 42 if one is closed, 43 if a guard is let through undecided, 1 if the results "
    "cannot be judged together, 2 for a bad command line."
)

PASSED, FAILED, UNDECIDED, NOT_PROVEN = "passed", "failed", "undecided", "not proven"

CLOSED, OPEN_QUESTION = 42, 43

# No number of processes mends these.
_AT_FAULT = ("wrong", "threw", "crashed", "timed out", "out of memory")

# gate::least_excess: speed-ups up to so many times as large as on unseen values are not held against a row.
_LEAST_EXCESS = 1.05

# Machines are said to differ if so large a difference were this rare between equal ones.
DIFFERENT = 0.01


@dataclasses.dataclass(frozen=True)
class Demand:
    """A gate on a speed-up over the baseline."""

    comparison: str
    implementation: str
    expectation: str
    baseline: str
    guard: bool
    limit: float
    alpha: float
    beta: float
    closes_when_undecided: bool
    allowed_undecided: bool

    @property
    def threshold(self):
        """The limit that ln(baseline time / own time) must lie above."""
        return (-1 if self.guard else 1) * math.log(self.limit)

    @property
    def pass_level(self):
        return self.beta if self.guard else self.alpha

    @property
    def fail_level(self):
        return self.alpha if self.guard else self.beta


@dataclasses.dataclass
class Gate:
    demand: Demand
    # Numbers of processes by machine: ln(baseline time / own time), by the median over rounds.
    numbers: dict
    # Reasons by machine, one for each process that has no number.
    without: dict
    # Machines where a process says that the gate cannot be proven, for any numbers of the others.
    refused: set
    # Reasons by machine, one for each process that left out a check without which no claim passes.
    unchecked: dict

    @property
    def silent(self):
        """Machines that have measured, without a number from any process."""
        return sorted({*self.without} - {*self.numbers} - self.refused)


@dataclasses.dataclass(frozen=True)
class Judged:
    gate: Gate
    layout: factor.Layout
    by_machine: dict
    """Verdicts by machine."""
    whole: str
    verdict: str
    acceptable: bool
    unresolved: bool
    different: list
    """Machines that differ from the others."""


def add_to(commands):
    parser = command(commands, "replicates", DESCRIPTION, EPILOG, run)
    add = parser.add_argument
    add("files", nargs="+", type=file_name, metavar="FILE", help="results, or the folder of one test in bazel-testlogs")
    several = number(2, 100_000, "a whole number", whole=True)
    add("--machines", type=several, required=True, metavar="N", help="refuse results of fewer machines")
    limits = parser.add_mutually_exclusive_group()
    limit = number(1e-6, 1e6, "a factor")
    limits.add_argument(
        "--no-slower-than",
        type=limit,
        metavar="FACTOR",
        help="judge every candidate by this guard, in place of the gates of the test",
    )
    limits.add_argument(
        "--speedup-at-least", type=limit, metavar="FACTOR", help="judge every candidate by this claim instead"
    )
    add(
        "--process-spread",
        type=number(1e-9, 1, "a share"),
        metavar="SHARE",
        help="standard deviation between processes of one machine, where it is known (default: estimated)",
    )
    add("--allow-undecided", action="store_true", help="exit code 0, not 43")


def _baseline(result):
    return next((each["name"] for each in result["implementations"] if each["baseline"]), "")


def _demand(result, row, expectation):
    """Returns the demand of an expectation on the speed-up over the baseline, or None."""
    speed = expectation["demanded_speed"]
    if not speed:
        return None
    return Demand(
        result["name"],
        row["name"],
        expectation["expectation"],
        _baseline(result),
        speed["guard"],
        speed["limit"],
        speed["alpha"],
        speed["beta"],
        bool(speed["closes_when_undecided"]),
        bool(speed["allowed_undecided"]),
    )


def _stated(runs):
    """Returns the demands of each row that a run states, by comparison and name, with the path of the first such run. A
    row that was not measured has its expectations without their demands, so that another run has to state them."""
    found = {}
    for run in runs:
        for result in run.results:
            for row in result["implementations"]:
                demands = [each for each in (_demand(result, row, of) for of in row["expectations"]) if each]
                if demands:
                    found.setdefault((result["name"], row["name"]), (demands, run.path))
    return found


def _demands(result, row, stated, options):
    """Returns the demands on a row: the options' demands, or its own ones. `stated`: those that some run has."""
    guard, limit = options.no_slower_than, options.no_slower_than or options.speedup_at_least
    if limit:
        text = f"time of at most {limit:.3g}x the baseline's" if guard else f"speed-up of at least {limit:.3g}x"
        of = (result["name"], row["name"], text, _baseline(result))
        return [Demand(*of, bool(guard), limit, 1e-3, 1e-2, not guard, False)]
    known = {each.expectation: dataclasses.replace(each, baseline=_baseline(result)) for each in stated}
    found = (_demand(result, row, each) or known.get(each["expectation"]) for each in row["expectations"])
    return [each for each in found if each]


def _number(result, row):
    """Returns the number of a process, and why there is none."""
    if row["outcome"] != "measured":
        return None, row["message"] or row["outcome"]
    if result["conditions"]["disturbances"]:
        return None, result["conditions"]["disturbances"][0]
    ratios = row["log_ratios"]
    if not ratios:
        return None, "has no cycles"
    # Nobody knows whether an operand that stays excuses a smaller figure on unseen values, as in gate::centre_of().
    unseen = row["speedup_on_unseen_values"]
    if unseen and not unseen["interval"] and statistics.median(ratios) > math.log(_LEAST_EXCESS * unseen["median"]):
        return None, schema.objection(row, "unchecked") or "its figure on unseen values has no interval"
    # The part of the rounds that is due to values that calls had seen does not count, as in ReplicateSink.
    return statistics.median(ratios) - math.log(row["context"]["excess_in_rounds"] or 1), ""


def _impossible(result, row):
    """Returns why the times of a row, or of the baseline that it is compared with, cannot be true."""
    both = (row, *(each for each in result["implementations"] if each["baseline"]))
    return next(filter(None, (schema.objection(each, "impossible") for each in both)), "")


def _refuses(result, row, demand):
    """Returns why no number of processes proves a gate of a row, or an empty text. ReplicateSink, in
    include/pace/runner/replicate_sink.hpp, has the same rule."""
    if row["outcome"] == "refused":
        return f"it was refused: {row['message']}"
    why = _impossible(result, row) or ("" if demand.guard else schema.objection(row, "unproven"))
    return why or next(
        (
            each["message"] or "its verdict is invalid"
            for each in row["expectations"]
            if each["verdict"] == "invalid" and _demand(result, row, each) == demand
        ),
        "",
    )


def _require_budget(run, result):
    """Throws Refused for rounds that have ended by their own verdict, and not by a fault that an audit has found."""
    if result["stop_reason"] != "rule" or any(row["outcome"] in _AT_FAULT for row in result["implementations"]):
        return
    raise origin.Refused(
        f"{run.path}: the rounds of '{result['name']}' ended once their gates were decided, which they do where chance "
        "has led the ratio away from the limit: the medians of such processes are biased; expected --stop budget, with "
        "a --budget that is long enough for a verdict"
    )


@dataclasses.dataclass
class Collected:
    """The gates of all runs."""

    gates: dict = dataclasses.field(default_factory=dict)
    """By their demand, in the order of the first run that has them."""
    faults: list = dataclasses.field(default_factory=list)
    """Sentences about what no further process mends: implementations at fault, gates that each process judges by
    itself, times that cannot be true and claims that are not proven."""
    left_open: dict = dataclasses.field(default_factory=dict)
    """Names of the machines, one for each process, by a guard of another kind that these let through undecided."""
    used: set = dataclasses.field(default_factory=set)
    """Paths of the runs that have a number of any gate."""
    machines: set = dataclasses.field(default_factory=set)
    """Names of the machines that these were measured on."""


def collect(runs, options):
    """Returns the Collected of runs; some of these may have no results. Throws Refused where they ask different
    questions, or have ended by their own verdict.
    """
    found, stated, asked, at_fault = Collected(), _stated(runs), {}, []
    for run in runs:
        name = origin.machine(run)
        for result in run.results:
            if result["lost_device"]:
                found.faults.append(f"{name}: '{result['name']}': the device was lost: {result['lost_device']}")
            for row in result["implementations"]:
                case = (result["name"], row["name"])
                known = stated.get(case, ([], ""))[0]
                demands = [] if row["baseline"] else _demands(result, row, known, options)
                if row["outcome"] in _AT_FAULT:
                    why = f"{row['outcome']}: {row['message']}"
                    found.faults.append(f"{name}: '{result['name']}': '{row['name']}' {why}")
                    at_fault += [(name, demand, why) for demand in demands]
                    continue
                _add_judgements(found, name, result, row, {each.expectation for each in known})
                if row["baseline"]:
                    continue
                first, path = asked.setdefault(case, (demands, run.path))
                if demands != first:
                    raise origin.Refused(
                        f"{path} and {run.path}: '{row['name']}' in '{result['name']}' has other gates or another "
                        f"baseline: {_in_words(first)} and {_in_words(demands)}; expected one question"
                    )
                if demands:
                    _require_budget(run, result)
                for demand in demands:
                    _add_number(found, name, run, result, row, demand)
    for name, demand, why in at_fault:
        if demand in found.gates:
            _add_without(found, name, demand, why)
    processes = collections.Counter(map(origin.machine, runs))
    for gate in found.gates.values():
        for name in processes.keys() - gate.numbers.keys() - gate.without.keys():
            gate.without[name] = ["its results have no such row"] * processes[name]
    return found


def _gate(found, demand):
    return found.gates.setdefault(demand, Gate(demand, {}, {}, set(), {}))


def _add_without(found, name, demand, why):
    _gate(found, demand).without.setdefault(name, []).append(why)


def _add_judgements(found, name, result, row, gates):
    """Adds the judgements that a process makes by itself. `gates`: expectations that all processes judge together."""
    at = f"{name}: '{result['name']}': '{row['name']}'"
    if impossible := schema.objection(row, "impossible"):
        found.faults.append(f"{at}: {impossible}")
    for each in row["expectations"]:
        if each["demanded_speed"] or each["expectation"] in gates:
            continue
        if each["acceptable"] is False:
            found.faults.append(f"{name}: {each['message'] or each['expectation']}")
        elif each["unresolved"]:
            key = (result["name"], row["name"], each["expectation"])
            found.left_open.setdefault(key, []).append(name)


def _add_number(found, name, run, result, row, demand):
    """Adds the number of a process to a gate, or why it has none."""
    gate = _gate(found, demand)
    number, why = _number(result, row)
    if refusal := _refuses(result, row, demand):
        gate.refused.add(name)
        number, why = None, refusal
        if refusal != _impossible(result, row):
            found.faults.append(
                f"{name}: '{result['name']}': '{row['name']}': {demand.expectation} is not proven: {refusal}"
            )
    if number is None:
        _add_without(found, name, demand, why)
    else:
        if (unchecked := schema.objection(row, "unchecked")) and not demand.guard:
            gate.unchecked.setdefault(name, []).append(unchecked)
        gate.numbers.setdefault(name, []).append(number)
        found.used.add(run.path)
        found.machines.add(name)


def _in_words(demands):
    return "; ".join(f"{each.expectation} ('{each.baseline}')" for each in demands) or "none"


def require_machines(gates, wanted):
    """Throws Refused if a gate has figures of fewer machines. A machine that refuses it has answered, too."""
    for gate in gates:
        if len({*gate.numbers, *gate.refused}) >= wanted:
            continue
        demand = gate.demand
        missing = "".join(
            f"; none of '{name}': {why[0]}" for name, why in gate.without.items() if name not in gate.numbers
        )
        names = ", ".join(f"'{name}'" for name in sorted(gate.numbers)) or "none"
        raise origin.Refused(
            f"--machines {wanted}: '{demand.implementation}' in '{demand.comparison}' has figures of "
            f"{len(gate.numbers)}: {names}{missing}"
        )


def _verdict(estimate, demand, share):
    if estimate is None:
        return UNDECIDED
    if estimate.above(demand.threshold) <= demand.pass_level * share:
        return PASSED
    return FAILED if estimate.below(demand.threshold) <= demand.fail_level * share else UNDECIDED


def _share(layout):
    """Returns one machine's part of the gate's error rates: the machines have half of them, the whole has the other."""
    return 0.5 / len(layout.machines)


def judge(gate, spread=None):
    """Judges one gate. Half of each error rate is the whole's, the other half is shared by the machines (Bonferroni):
    all of them together err no more often than one gate may. A gate does not pass without a figure of each
    machine, nor where a process left out a question that a claim rests on."""
    demand = gate.demand
    layout = factor.lay_out(gate.numbers, spread)
    by_machine = {each.name: _verdict(each.own, demand, _share(layout)) for each in layout.machines}
    whole = _verdict(layout.whole, demand, 0.5)
    by_machine |= {name: UNDECIDED for name in gate.silent}
    # As Replicates::judge in include/pace/gate: the figures alone are no proof then.
    by_machine |= {name: UNDECIDED for name in gate.unchecked if by_machine[name] == PASSED}
    if gate.unchecked and whole == PASSED:
        whole = UNDECIDED
    verdicts = set(by_machine.values())
    if FAILED in verdicts or whole == FAILED:
        verdict = FAILED
    else:
        # A machine without a figure may be the slow one.
        verdict = PASSED if verdicts == {PASSED} or (whole == PASSED and not gate.silent) else UNDECIDED
    acceptable = verdict == PASSED or (verdict == UNDECIDED and not demand.closes_when_undecided)
    different = []
    if layout.p_equal is not None and layout.p_equal <= DIFFERENT:
        different = [each.name for each in factor.outliers(layout, 0, DIFFERENT)]
    unresolved = verdict == UNDECIDED and acceptable and not demand.allowed_undecided
    return Judged(gate, layout, by_machine, whole, verdict, acceptable, unresolved, sorted(different))


def _names(names):
    return ", ".join(f"'{name}'" for name in names)


def answer(judged):
    """Returns in sentences where the gate fails, and whether machines differ."""
    demand, layout = judged.gate.demand, judged.layout
    of = {
        verdict: [name for name, each in judged.by_machine.items() if each == verdict]
        for verdict in (PASSED, FAILED, UNDECIDED)
    }
    bad = "Slower" if demand.guard else "Not fast enough"
    good = "within the limit" if demand.guard else "fast enough"
    if not of[PASSED] + of[UNDECIDED]:
        where = f"{bad} on every machine."
    elif of[FAILED]:
        where = f"{bad} on {_names(of[FAILED])} of {len(judged.by_machine)} machines"
        where += f"; {good} on {_names(of[PASSED])}" if of[PASSED] else ""
        where += f"; undecided on {_names(of[UNDECIDED])}." if of[UNDECIDED] else "."
    elif judged.whole == FAILED:
        where = f"{bad} on the whole; proven of no machine by itself."
    elif not of[UNDECIDED]:
        where = f"{good.capitalize()} on every machine."
    else:
        on = "every machine" if not of[PASSED] else _names(of[UNDECIDED])
        where = f"Undecided on {on}" + (f"; {good} on the whole." if judged.whole == PASSED else ".")
    if judged.gate.silent:
        where += f" No process of {_names(judged.gate.silent)} has a figure."
    if layout.p_equal is None and layout.scatter is not None:
        return (
            f"{where} Whether machines differ is not known: the processes of each machine have one number, by a clock "
            "too coarse to show how far they scatter; expected --process-spread, or longer samples."
        )
    if layout.p_equal is None:
        fewest = factor.FEWEST_FREEDOM + len(layout.machines)
        return (
            f"{where} Whether machines differ is not known: {layout.processes} processes were measured; expected "
            f"{fewest} at least, or --process-spread."
        )
    test = "Cochran's Q" if math.isinf(layout.freedom) else "F test"
    p = f"{test}: p = {layout.p_equal:.2g}"
    if layout.p_equal > DIFFERENT:
        return f"{where} No difference between machines is proven ({p})."
    which = f": {_names(judged.different)}" if judged.different else ", no single one from all others"
    return f"{where} Machines differ{which} ({p})."


def rows(judged):
    """Returns the table of one gate: a list of texts for each machine, and one for all of them."""
    demand, layout = judged.gate.demand, judged.layout
    share = _share(layout)

    def figures(estimate, mean, part):
        low_high = ""
        if estimate is not None:
            ends = estimate.interval(demand.pass_level * part, demand.fail_level * part)
            low_high = "[{:.4g}, {:.4g}]".format(*map(math.exp, ends))
        return [f"{math.exp(mean):.4g}x", low_high]

    found = [["machine", "processes", "speed-up", "interval", "verdict", ""]]
    for each in layout.machines:
        remark = "differs from the others" if each.name in judged.different else ""
        found.append(
            [
                each.name,
                str(len(each.numbers)),
                *figures(each.own, each.mean, share),
                judged.by_machine[each.name],
                remark,
            ]
        )
    found += [[name, "0", "", "", judged.by_machine[name], "has no figure"] for name in judged.gate.silent]
    if layout.whole is not None:
        count = f"{f'{len(layout.machines)} of' if judged.gate.silent else 'all'} {len(judged.by_machine)} machines"
        found.append([count, str(layout.processes), *figures(layout.whole, layout.whole.centre, 0.5), judged.whole, ""])
    return found


def _without(gate):
    """Returns a line for each reason why processes of a machine have no number."""
    for name, reasons in sorted(gate.without.items()):
        for why, count in collections.Counter(reasons).items():
            yield f"  without {count} {'process' if count == 1 else 'processes'} of '{name}': {why}"


def _unchecked(gate):
    """Returns a line for each check that processes of a machine left out."""
    for name, reasons in sorted(gate.unchecked.items()):
        for why, count in collections.Counter(reasons).items():
            yield f"  no claim rests on {count} {'process' if count == 1 else 'processes'} of '{name}': {why}"


def lines_of(table, indent="  "):
    """Returns the lines of a table whose first row are its titles."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    return [(indent + "  ".join(each.ljust(width) for each, width in zip(row, widths))).rstrip() for row in table]


def read_runs(names):
    """Returns the runs of files and folders. At least one of them has results. Throws Refused if anything of them
    cannot be read."""
    inputs = read.read([user_path(name) for name in names])
    for note in inputs.notes:
        print(f"fleet: {note}", file=sys.stderr)
    if inputs.problems:
        raise origin.Refused("; ".join(inputs.problems))
    if not any(run.results for run in inputs.runs):
        raise origin.Refused(f"{', '.join(map(schema.text_of, names))}: no file has results of a comparison")
    return inputs.runs


def run(options):
    all_runs = read_runs(options.files)
    runs = [each for each in all_runs if each.results]
    origin.require_same_code(runs)
    origin.require_each_once(runs)
    collected = collect(all_runs, options)
    gates, faults = [*collected.gates.values()], collected.faults
    if not gates and not faults and not collected.left_open:
        raise origin.Refused(
            "no implementation has a gate on its speed-up; state one: --no-slower-than FACTOR or --speedup-at-least "
            "FACTOR"
        )
    require_machines(gates, options.machines)
    commit = runs[0].header["environment"].get("commit", "")
    print(
        f"commit {commit or 'unknown (PACE_COMMIT names it)'}, "
        f"{f'{len(collected.used)} of ' if len(collected.used) < len(runs) else ''}{len(runs)} processes on "
        f"{len(collected.machines)} machines"
    )
    found = []
    for gate in gates:
        demand = gate.demand
        judged = judge(gate, options.process_spread) if gate.numbers else None
        verdict = NOT_PROVEN if gate.refused else judged.verdict
        print(f"\n{demand.comparison}: {demand.implementation}, {demand.expectation}: {verdict}")
        if judged:
            found.append(judged)
            print("\n".join(lines_of(rows(judged))))
        for line in [*_without(gate), *_unchecked(gate)]:
            print(line)
        # The findings of the others are no answer where one process refuses the gate.
        if not gate.refused:
            print(f"  {answer(judged)}")
    for (comparison, implementation, expectation), names in collected.left_open.items():
        print(
            f"\n{comparison}: {implementation}, {expectation}: undecided in {len(names)} of {len(runs)} processes, "
            f"and each judges it by itself: {_names(sorted(set(names)))}"
        )
    for fault in faults:
        print(f"\n{fault}")
    if faults or not all(each.acceptable for each in found):
        return CLOSED
    unresolved = collected.left_open or any(each.unresolved for each in found)
    return OPEN_QUESTION if unresolved and not options.allow_undecided else 0
