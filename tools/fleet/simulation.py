"""The time of a suite on a fleet, by drawing comparisons as they were measured and handing shards to machines."""

import dataclasses
import heapq
import math
import random
import statistics


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A comparison as it was measured."""

    seconds: float
    """All that it took, checks included."""
    bytes: int
    """Length of its line in the results file."""


@dataclasses.dataclass(frozen=True)
class Fleet:
    """The machines that run the suite."""

    machines: int
    per_shard: int
    """Comparisons of one shard, which is one action."""
    start_seconds: float
    """What each shard takes before its first comparison: its files, its process, LibTorch."""
    spread: float
    """Standard deviation of the logarithms of the machines' speeds."""
    losses_per_hour: float
    """How often a machine is lost while it works; what it had begun is begun again by another run."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """One simulated suite."""

    makespan: float
    """Seconds from the first shard's beginning to the last one's end, those that were lost measured again."""
    busy: float
    """Share of the machines' time in which they measured."""
    lost: int
    """Shards that were lost and begun again."""
    bytes: int
    """Length of all results."""


# A shard that is begun more often is none that anything could measure.
MOST_TIMES = 1000


class Endless(Exception):
    """A shard would be begun more than MOST_TIMES times before a machine outlives it."""

    def __init__(self, seconds, times):
        super().__init__(seconds, times)
        self.seconds = seconds
        self.times = times


def _require_end(shards, speeds, fleet):
    longest = max(map(_seconds, shards))
    lengths = [fleet.start_seconds + longest * each for each in speeds]
    survives = statistics.fmean(math.exp(-each * fleet.losses_per_hour / 3600) for each in lengths)
    if survives * MOST_TIMES < 1:
        raise Endless(statistics.median(lengths), 1 / survives if survives else math.inf)


def _seconds(shard):
    return sum(each.seconds for each in shard)


def simulate(known, comparisons, fleet, rng):
    """Draws a suite of so many comparisons from `known`, with replacement, and runs it once. Shards are handed out in
    their order, each to the machine that is free first, as an engine with one queue does. Throws Endless where machines
    are lost so often that the suite would not end."""
    drawn = rng.choices(known, k=comparisons)
    speeds = [math.exp(rng.gauss(0, fleet.spread)) for _ in range(fleet.machines)]
    shards = [drawn[first : first + fleet.per_shard] for first in range(0, comparisons, fleet.per_shard)]
    _require_end(shards, speeds, fleet)
    free = [(0.0, machine) for machine in range(fleet.machines)]
    work, lost, end = 0.0, 0, 0.0
    waiting = shards
    while waiting:
        again = []
        # A second run begins when the first has ended: only then the missing parts are known.
        free = [(end, machine) for _, machine in free]
        heapq.heapify(free)
        for shard in waiting:
            begun, machine = heapq.heappop(free)
            seconds = fleet.start_seconds + _seconds(shard) * speeds[machine]
            survives = rng.expovariate(fleet.losses_per_hour / 3600) if fleet.losses_per_hour else math.inf
            if survives < seconds:
                again.append(shard)
                lost += 1
                seconds = survives
            work += seconds
            end = max(end, begun + seconds)
            heapq.heappush(free, (begun + seconds, machine))
        waiting = again
    return Outcome(end, work / (end * fleet.machines), lost, sum(each.bytes for each in drawn))


@dataclasses.dataclass(frozen=True)
class Summary:
    """Many simulated suites: means, and the makespan that one in twenty exceeds."""

    makespan: float
    makespan_q95: float
    busy: float
    lost: float
    bytes: float


def summarize(outcomes):
    """Returns means of the outcomes; there is at least one."""
    spans = sorted(each.makespan for each in outcomes)
    return Summary(
        makespan=statistics.fmean(spans),
        makespan_q95=spans[min(math.ceil(0.95 * len(spans)), len(spans)) - 1],
        busy=statistics.fmean(each.busy for each in outcomes),
        lost=statistics.fmean(each.lost for each in outcomes),
        bytes=statistics.fmean(each.bytes for each in outcomes),
    )


def run(known, comparisons, fleet, runs, seed):
    """Returns the summary of so many simulated suites. Equal seeds give equal summaries. Throws Endless."""
    rng = random.Random(seed)
    return summarize([simulate(known, comparisons, fleet, rng) for _ in range(runs)])


def any_false_alarm(alpha, gates):
    """Returns the probability that at least one of so many gates errs, if each errs with probability `alpha`
    independently of the others."""
    return -math.expm1(gates * math.log1p(-alpha)) if alpha < 1 else 1.0
