"""Machines as a factor: the figure of each, their common figure, and whether they differ.

The model is a one-way layout with random effects (Searle, Casella and McCulloch, "Variance Components", 1992, chapter
3). The number of a process is the pool's mean, plus an effect of its machine, plus an effect of the process. All are
independent and normal, with one variance for machines and one for the processes of a machine. Rounds of one process
share its machine and its memory; so a process has one number, and no rounds enter here.
"""

import dataclasses
import math
import statistics

import numpy
from scipy import special

# Fewer degrees of freedom estimate no deviation that Student's distribution at one in a thousand can use; the same
# number as in include/pace/report/processes.hpp.
FEWEST_FREEDOM = 3

# Means of equal log ratios differ by no more than this, by the rounding of their sums.
_ROUNDING = 1e-12


def _tail(distance, freedom):
    """Returns the probability that Student's t exceeds `distance`; of infinite degrees of freedom, a normal number."""
    return float(special.ndtr(-distance) if math.isinf(freedom) else special.stdtr(freedom, -distance))


def _quantile(level, freedom):
    """Returns the value that Student's t exceeds with probability `level`."""
    return -float(special.ndtri(level) if math.isinf(freedom) else special.stdtrit(freedom, level))


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A normal estimate with Student's degrees of freedom; infinite ones make it exactly normal.

    An error of 0 comes from numbers which are all equal. Normal numbers never are: a clock was too coarse to show how
    far they scatter, so that nothing is proven.
    """

    centre: float
    error: float
    freedom: float

    def above(self, threshold):
        """Returns the p-value of "the true centre is at or below the threshold"."""
        if not self.error > 0:
            return 1.0
        return _tail((self.centre - threshold) / self.error, self.freedom)

    def below(self, threshold):
        """Returns the p-value of "the true centre is at or above the threshold"."""
        return Estimate(-self.centre, self.error, self.freedom).above(-threshold)

    def interval(self, low_level, high_level):
        """Returns the limits that the true centre is below or above with at most these probabilities."""
        if not self.error > 0:
            return -math.inf, math.inf
        return (
            self.centre - self.error * _quantile(low_level, self.freedom),
            self.centre + self.error * _quantile(high_level, self.freedom),
        )


@dataclasses.dataclass(frozen=True)
class Machine:
    name: str
    numbers: tuple
    mean: float
    # None where too few processes were measured to say how far the processes of one machine scatter.
    own: Estimate | None


@dataclasses.dataclass(frozen=True)
class Layout:
    machines: tuple
    # The mean of the machines' means, for the pool; None for one machine.
    whole: Estimate | None
    # Standard deviation of the processes of one machine, and how it is known.
    scatter: float | None
    freedom: float
    # The p-value of "all machines have one mean" by Fisher's test; None where it cannot be made.
    p_equal: float | None

    @property
    def processes(self):
        return sum(len(each.numbers) for each in self.machines)


def lay_out(numbers, spread=None):
    """Returns the Layout of numbers by the name of their machine, which must not be empty lists.

    `spread`: standard deviation of the processes of a machine where it is known; otherwise it is pooled over all
    machines, if that leaves FEWEST_FREEDOM degrees of freedom.

    The whole is judged by the means of the machines alone, each counted once, with one degree of freedom less than
    there are machines. That is exact where each machine has as many processes, whatever their variance: it makes
    machines a random factor. With a known spread the means count as scattering no less than such processes make them,
    also where all of them are equal. The F test of the analysis of variance judges whether machines have one mean. With
    a known spread its limit does, the chi-squared test known as Cochran's Q.
    """
    names = sorted(numbers)
    means = {name: float(numpy.mean(numbers[name])) for name in names}
    squares = sum((each - means[name]) ** 2 for name in names for each in numbers[name])
    count, several = sum(len(numbers[name]) for name in names), len(names)
    freedom = math.inf if spread is not None else count - several
    scatter = spread
    if spread is None and freedom >= FEWEST_FREEDOM:
        scatter = _deviation(math.sqrt(squares / freedom))
    machines = []
    for name in names:
        error = None if scatter is None else scatter / math.sqrt(len(numbers[name]))
        own = None if error is None else Estimate(means[name], error, freedom)
        machines.append(Machine(name, tuple(numbers[name]), means[name], own))
    whole = None
    if several > 1:
        deviation = _deviation(float(numpy.std(list(means.values()), ddof=1)))
        if spread is not None:
            deviation = max(deviation, spread * math.sqrt(statistics.fmean(1 / len(numbers[name]) for name in names)))
        whole = Estimate(sum(means.values()) / several, deviation / math.sqrt(several), several - 1)
    return Layout(tuple(machines), whole, scatter, freedom, _p_equal(numbers, means, scatter, freedom))


def _deviation(value):
    return value if value > _ROUNDING else 0.0


def _p_equal(numbers, means, scatter, freedom):
    if scatter is None or len(means) < 2:
        return None
    count = sum(len(each) for each in numbers.values())
    centre = sum(len(numbers[name]) * means[name] for name in means) / count
    between = sum(len(numbers[name]) * (means[name] - centre) ** 2 for name in means)
    if not scatter > 0:
        return None if _deviation(math.sqrt(between)) else 1.0
    if math.isinf(freedom):
        return float(special.chdtrc(len(means) - 1, between / scatter**2))
    return float(special.fdtrc(len(means) - 1, freedom, between / (len(means) - 1) / scatter**2))


@dataclasses.dataclass(frozen=True)
class Outlier:
    """A machine that differs from the others by more than a margin."""

    name: str
    # Its mean less the mean of the others' means.
    difference: float
    # The p-value of "it differs by at most the margin", times the machines of its step (Bonferroni).
    p: float


def outliers(layout, margin, level):
    """Returns the machines that differ from all others by more than `margin`, the farthest one first. Any of equal
    machines is named with a probability of at most `level`.

    The machine farthest from the median of the machines' means is compared with the mean of the others (two t tests,
    with the pooled deviation of processes). It is named if the difference is beyond the margin. It is taken out before
    the next one is looked at, since it would move the others' mean. Of the last two that differ none is the odd one:
    both are named. None for a layout without an estimate, or whose machines differ while their processes do not scatter
    at all.
    """
    if layout.scatter is None or (layout.p_equal is None and len(layout.machines) > 1):
        return None
    left, found = list(layout.machines), []
    while len(left) > 1:
        centre = statistics.median(each.mean for each in left)
        farthest = max(left, key=lambda each: abs(each.mean - centre))
        named = [farthest] if len(left) > 2 else left
        steps = [_beside(each, left, margin, layout.freedom) for each in named]
        if any(each.p > level for each in steps):
            break
        found += steps
        left = [each for each in left if each not in named]
    return found


def _beside(machine, all_, margin, freedom):
    others = [each for each in all_ if each is not machine]
    difference = machine.mean - statistics.fmean(each.mean for each in others)
    variance = machine.own.error**2 + sum(each.own.error**2 for each in others) / len(others) ** 2
    estimate = Estimate(difference, math.sqrt(variance), freedom)
    p = 2 * min(estimate.above(margin), estimate.below(-margin))
    return Outlier(machine.name, difference, min(1.0, len(all_) * p))


def at_least(count, tries, rate):
    """Returns the probability of so many events or more, if each of the tries is one with probability `rate`."""
    return float(special.bdtrc(count - 1, tries, rate)) if count else 1.0


def holm(p_values):
    """Returns p-values by name, adjusted by Holm's step-down procedure."""
    adjusted, least = {}, 0.0
    for place, (name, value) in enumerate(sorted(p_values.items(), key=lambda each: each[1])):
        least = max(least, min(1.0, (len(p_values) - place) * value))
        adjusted[name] = least
    return adjusted
