"""fleet pool: the self-test of the machines of a pool as one table, with those that differ from the others."""

import dataclasses
import math
import statistics

from fleet import factor, origin
from fleet.options import command, number
from fleet.replicates import lines_of, read_runs
from report import figures
from report.options import file_name

DESCRIPTION = (
    "Shows what the self-test //benches/selftest:pool_NAME has measured on each machine of a pool: which margins it "
    "supports, how many gates between identical code raised an alarm, and in what it differs from the others."
)
EPILOG = (
    "Exit code: 0 if no machine differs, 42 if one does or raises more false alarms than promised, 43 if too little "
    "was measured to know, or a machine was disturbed throughout or supports no margin, 1 if results cannot be "
    "compared, 2 for a bad command line."
)

DIFFERENT, NOT_KNOWN = 42, 43

# Names of comparisons: pool/WORK/REPEAT.
PREFIX = "pool/"

# A margin is supported if so many of the gates pass within their time.
SUPPORTED = 0.99

_EXPECTED = "expected what //benches/selftest:pool_NAME has measured"

# Facts that machines of one pool have in common.
_FACTS = (
    "cpu",
    "cores",
    "cpu_quota",
    "governor",
    "turbo",
    "kernel",
    "gpu",
    "gpu_driver",
    "libtorch_cpu_capability",
    "variables",
)


@dataclasses.dataclass
class Machine:
    """The findings of all processes of one machine."""

    name: str
    facts: dict
    processes: int = 0
    comparisons: int = 0
    alarms: int = 0
    # The cause of each disturbed comparison.
    disturbances: list = dataclasses.field(default_factory=list)
    # Passed gates by margin, and all.
    passed: dict = dataclasses.field(default_factory=dict)
    gates: dict = dataclasses.field(default_factory=dict)
    # ln of nanoseconds by work, and of the deviation of log ratios: one number for each process.
    times: dict = dataclasses.field(default_factory=dict)
    noise: list = dataclasses.field(default_factory=list)

    @property
    def margin(self):
        """The least margin that is supported; None for none."""
        good = [each for each in self.gates if self.passed.get(each, 0) >= SUPPORTED * self.gates[each]]
        return min(good, default=None)


@dataclasses.dataclass(frozen=True)
class Difference:
    machine: str
    what: str


def add_to(commands):
    add = command(commands, "pool", DESCRIPTION, EPILOG, run).add_argument
    add("files", nargs="+", type=file_name, metavar="FILE", help="results, or a folder of bazel-testlogs")
    several = number(2, 100_000, "a whole number", whole=True)
    add("--machines", type=several, required=True, metavar="N", help="refuse results of fewer machines")
    add(
        "--margin",
        type=number(0, 100, "a share"),
        default=0.02,
        metavar="SHARE",
        help="differences of times up to this are let be (default: 0.02)",
    )
    add(
        "--noise",
        type=number(1, 1000, "a factor"),
        default=2.0,
        metavar="FACTOR",
        help="and factors between deviations up to this (default: 2)",
    )
    add(
        "--level",
        type=number(1e-9, 0.5, "a rate"),
        default=0.01,
        metavar="RATE",
        help="probability that any machine of equal ones is named (default: 0.01)",
    )
    add(
        "--process-spread",
        type=number(1e-9, 1, "a share"),
        metavar="SHARE",
        help="standard deviation of times between processes of one machine, where it is known (default: estimated)",
    )


def collect(runs):
    """Returns the machines by their names. Throws Refused for results of other tests."""
    machines, pools = {}, {}
    for run in runs:
        environment = run.header["environment"]
        name = origin.machine(run)
        pools.setdefault(environment.get("pool", ""), run.path)
        if len(pools) > 1:
            (pool, path), (other, second) = pools.items()
            raise origin.Refused(
                f"{path} is of pool '{pool}' and {second} of pool '{other}'; expected the machines of one pool"
            )
        facts = {key: environment.get(key, "") for key in _FACTS}
        machine = machines.setdefault(name, Machine(name, facts))
        if facts != machine.facts:
            changed = next(key for key in _FACTS if facts[key] != machine.facts[key])
            raise origin.Refused(
                f"{run.path}: machine '{name}' has {changed} '{facts[changed]}', and '{machine.facts[changed]}' in "
                "another file; expected names that no two machines share"
            )
        _add(machine, run)
    return machines


def _add(machine, run):
    machine.processes += 1
    times, deviations = {}, []
    for result in run.results:
        parts = result["name"].split("/")
        if not result["name"].startswith(PREFIX) or len(parts) != 3 or len(result["implementations"]) != 2:
            raise origin.Refused(
                f"{run.path}: '{result['name']}' is no comparison of a pool's self-test; expected results of "
                "//benches/selftest:pool_NAME alone"
            )
        baseline, other = result["implementations"]
        if not baseline["time"]:
            raise origin.Refused(f"{run.path}: '{result['name']}': time of '{baseline['name']}' is null; {_EXPECTED}")
        if other["outcome"] != "measured" or len(other["log_ratios"]) < 2 or not baseline["time"]["median_ns"] > 0:
            raise origin.Refused(f"{run.path}: '{result['name']}' was not measured: {other['message'] or 'no cycles'}")
        machine.comparisons += 1
        machine.disturbances += result["conditions"]["disturbances"][:1]
        machine.alarms += any(each["verdict"] == "failed" for each in other["expectations"])
        for each in other["expectations"]:
            if not each["demanded_speed"]:
                raise origin.Refused(
                    f"{run.path}: '{result['name']}': demanded_speed of '{each['expectation']}' is null; {_EXPECTED}"
                )
            margin = round(each["demanded_speed"]["limit"] - 1, 9)
            machine.gates[margin] = machine.gates.get(margin, 0) + 1
            machine.passed[margin] = machine.passed.get(margin, 0) + (each["verdict"] == "passed")
        times.setdefault(parts[1], []).append(math.log(baseline["time"]["median_ns"]))
        # As robust as the median that verdicts are about.
        centre = statistics.median(other["log_ratios"])
        deviation = 1.4826 * statistics.median(abs(each - centre) for each in other["log_ratios"])
        deviations.append(math.log(max(deviation, 1e-9)))
    for work, each in times.items():
        machine.times.setdefault(work, []).append(statistics.fmean(each))
    machine.noise.append(statistics.fmean(deviations))


def _facts(machines):
    """Returns differences from most machines."""
    for key in _FACTS:
        values = [each.facts[key] for each in machines.values()]
        most = statistics.mode(values)
        if values.count(most) == len(values):
            continue
        if 2 * values.count(most) <= len(values):
            # There is no majority to differ from.
            for each in machines.values():
                yield Difference(each.name, f"{key} is '{each.facts[key] or 'nothing'}', and not so on all machines")
            continue
        for each in machines.values():
            if each.facts[key] != most:
                yield Difference(
                    each.name, f"{key} is '{each.facts[key] or 'nothing'}', elsewhere '{most or 'nothing'}'"
                )


def differences(machines, options, alpha):
    """Returns the differences of machines, whether times could be tested, and whether deviations could. Times of each
    kind of work, deviations and alarms share the level equally (Bonferroni)."""
    found, known = list(_facts(machines)), True
    work = sorted({each for machine in machines.values() for each in machine.times})
    level = options.level / (len(work) + 2)
    for name in work:
        without = [each.name for each in machines.values() if name not in each.times]
        found += [Difference(each, f"has not run '{name}'") for each in without]
        numbers = {each.name: each.times[name] for each in machines.values() if name in each.times}
        if len(numbers) < 2:
            continue
        slow = factor.outliers(factor.lay_out(numbers, options.process_spread), math.log1p(options.margin), level)
        known = known and slow is not None
        found += [
            Difference(
                each.name,
                f"'{name}' takes {math.exp(each.difference):.3g}x the others' time (t test, p = {each.p:.1g})",
            )
            for each in slow or []
        ]
    # A known spread of times says nothing of deviations, whose scatter only several processes show.
    noise = factor.lay_out({each.name: each.noise for each in machines.values()})
    noisy = factor.outliers(noise, math.log(options.noise), level)
    found += [
        Difference(
            each.name,
            f"its log ratios scatter {math.exp(each.difference):.3g}x as much as the others' "
            f"(t test, p = {each.p:.1g})",
        )
        for each in noisy or []
    ]
    chances = factor.holm(
        {each.name: factor.at_least(each.alarms, each.comparisons, alpha) for each in machines.values()}
    )
    found += [
        Difference(
            each.name,
            f"{each.alarms} of {each.comparisons} comparisons of identical code failed, promised is {alpha:g} "
            f"(binomial test, p = {chances[each.name]:.1g})",
        )
        for each in machines.values()
        if chances[each.name] <= level
    ]
    return found, known, noisy is not None


def _unanswered(machines, runs):
    """Returns sentences about machines that no figure compares with the others."""
    for name in sorted({origin.machine(each) for each in runs} - machines.keys()):
        yield f"'{name}' has no results: its files hold no comparison"
    for each in machines.values():
        if len(each.disturbances) == each.comparisons:
            yield f"'{each.name}' was disturbed in all of its {each.comparisons} comparisons: {each.disturbances[0]}"
        if each.margin is None:
            gates = f"{sum(each.passed.values())} of {sum(each.gates.values())} gates passed"
            yield f"'{each.name}' supports none of the margins: {gates}"


def _option(run, name, default):
    """Returns a number of the header's options, which are texts."""
    text = run.header["options"].get(name) or default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise origin.Refused(f"{run.path}: options: {name} is '{text}'; expected a number")
    return value


def table(machines, found):
    """Returns the table: its titles, and a row for each machine."""
    work = sorted({each for machine in machines.values() for each in machine.times})
    rows = [["machine", "processes", "CPU", "GPU, driver", "margin", "alarms", "scatter", *work, ""]]
    names = {each.machine for each in found}
    for each in machines.values():
        gpu = ", ".join(part for part in (each.facts["gpu"], each.facts["gpu_driver"]) if part)
        margin = each.margin
        rows.append(
            [
                each.name,
                str(each.processes),
                f"{each.facts['cpu']}, {each.facts['cores']} cores",
                gpu or "none",
                "none" if margin is None else f"{100 * margin:g} %",
                f"{each.alarms} of {each.comparisons}",
                f"{100 * math.exp(statistics.mean(each.noise)):.2g} %",
                *(
                    figures.time(math.exp(statistics.mean(each.times[name]))) if name in each.times else "none"
                    for name in work
                ),
                "differs" if each.name in names else "",
            ]
        )
    return rows


def run(options):
    all_runs = read_runs(options.files)
    runs = [each for each in all_runs if each.results]
    origin.require_same_code(runs)
    origin.require_each_once(runs)
    machines = dict(sorted(collect(runs).items()))
    if len(machines) < options.machines:
        names = ", ".join(f"'{name}'" for name in machines)
        raise origin.Refused(f"--machines {options.machines}: results of {len(machines)}: {names}")
    budget = _option(runs[0], "budget_ns", 0) / 1e9
    found, times_known, scatter_known = differences(machines, options, _option(runs[0], "alpha", 0.001))
    pool = runs[0].header["environment"].get("pool", "")
    print(f"pool {pool or 'without a name'}: {len(machines)} machines, {len(runs)} processes")
    print("\n".join(lines_of(table(machines, found), indent="")))
    print(
        f"A margin is supported if {100 * SUPPORTED:g} % of the gates between identical code pass within {budget:g} s; "
        "the least of those that were tried."
    )
    for each in found:
        print(f"'{each.machine}' differs: {each.what}")
    unanswered = list(_unanswered(machines, all_runs))
    print("".join(f"{each}\n" for each in unanswered), end="")
    if found:
        return DIFFERENT
    fewest = (
        f"{len(machines) + factor.FEWEST_FREEDOM} processes at least whose figures are not all equal (--runs_per_test)"
    )
    if not times_known:
        print(f"Whether machines differ is not known: expected {fewest}, or --process-spread")
    elif not scatter_known:
        print(
            f"Whether log ratios scatter more on a machine is not known: expected {fewest}; --process-spread is about "
            "times alone"
        )
    if unanswered or not times_known or not scatter_known:
        return NOT_KNOWN
    print(
        f"No machine is proven to differ: by more than {100 * options.margin:g} % in a time, or by a factor of "
        f"{options.noise:g} in its scatter"
    )
    return 0
