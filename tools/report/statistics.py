"""The sequential test of gates, recomputed from the samples of a results file, and means over comparisons.

Wealth, SequentialTest and MeanTest are the classes of include/pace/stats; tests compare both on the same numbers.
"""

import bisect
import collections
import math

PLAYERS = 8
SMALLEST_STAKE = 0.025
PREFERENCE = 1.15
WINDOW = 63
LARGEST_SCORE = 2
FAR = 2.33
WEALTH_SHARE = 0.99
LARGE_DEVIATION_SHARE = 0.01
LARGE_DEVIATION = math.log(10)
BY_CHANCE = 0.01
SLOW_SIDE_NS = 100e6
MEDIAN_SHARE = 0.8
SUSPICION = 0.1
LEVELS = (2, 8, 32, 128, 512, 2048)
STAKES = (0.9, 0.25, 0.06)


class Wealth:
    """The wealth of a bettor against the hypothesis that the centre is at or below 0."""

    def __init__(self):
        money = [PREFERENCE**i for i in range(PLAYERS)]
        self._money = [each / sum(money) for each in money]
        self._log_scale = self.log_now = 0.0

    def bet(self, score):
        odds = math.exp(-2 * SMALLEST_STAKE * score)
        for i in range(PLAYERS):
            self._money[i] *= 2 / (1 + odds)
            odds *= odds
        total = sum(self._money)
        if total > 1e100 or total < 1e-100:
            self._money = [each / total for each in self._money]
            self._log_scale += math.log(total)
            total = 1
        self.log_now = self._log_scale + math.log(total)

    def p_value(self):
        return math.exp(-max(self.log_now, 0.0))


class RecentMedian:
    """The median of the latest numbers."""

    def __init__(self):
        self._sorted, self._in_order = [], collections.deque()

    def add(self, number):
        if len(self._in_order) == WINDOW:
            self._sorted.pop(bisect.bisect_left(self._sorted, self._in_order.popleft()))
        bisect.insort_right(self._sorted, number)
        self._in_order.append(number)

    def __len__(self):
        return len(self._sorted)

    def value(self):
        size = len(self._sorted)
        return (self._sorted[(size - 1) // 2] + self._sorted[size // 2]) / 2 if size else 0.0


class RecentSpread:
    """The median of the latest differences between neighbours, scaled to a standard deviation."""

    def __init__(self):
        self._differences, self._last = RecentMedian(), None

    def add(self, observation):
        if self._last is not None:
            self._differences.add(abs(observation - self._last))
        self._last = observation

    def value(self):
        if len(self._differences) < 3:
            return 0.0
        return 1 / (0.6744897501960817 * 1.4142135623730951) * self._differences.value()


def _sign(deviation):
    return 1 if deviation > 0 else -1


def _score(deviation, spread):
    if spread > 0:
        return min(max(deviation / spread, -LARGEST_SCORE), LARGEST_SCORE)
    return 1 if deviation > 0 else -1 if deviation < 0 else 0


class _FarObservations:
    def __init__(self):
        self._middle, self._above, self._below = RecentMedian(), 0, 0

    def add(self, observation, spread):
        if spread > 0:
            distance = observation - self._middle.value()
            self._above += distance > LARGEST_SCORE * spread
            self._below += distance < -LARGEST_SCORE * spread
        self._middle.add(observation)

    def skewed(self):
        both = self._above + self._below
        return both > 0 and abs(self._above - self._below) >= FAR * math.sqrt(both)


class _LargeDeviationBet:
    def __init__(self):
        self._unbroken, self._p_value = True, 1.0

    def add(self, deviation, slow):
        self._unbroken = self._unbroken and slow and deviation > LARGE_DEVIATION
        self._p_value = self._p_value * BY_CHANCE if self._unbroken else 1.0

    def p_value(self):
        return self._p_value


class SequentialTest:
    """Whether log ratios lie above a threshold, or below it; valid after each of them."""

    def __init__(self, threshold):
        self._threshold = threshold
        self._sides = [(Wealth(), Wealth(), _LargeDeviationBet()) for _ in range(2)]
        self._far, self._spread = _FarObservations(), RecentSpread()

    def add(self, observation, slow=False):
        if not math.isfinite(observation):
            return
        deviation, spread = observation - self._threshold, self._spread.value()
        for (wealth, signs, large), side in zip(self._sides, (deviation, -deviation)):
            wealth.bet(_score(side, spread))
            signs.bet(_sign(side))
            large.add(side, slow)
        self._far.add(observation, spread)
        self._spread.add(observation)

    def p_above(self):
        return self._p_value(*self._sides[0])

    def p_below(self):
        return self._p_value(*self._sides[1])

    def _p_value(self, wealth, signs, large):
        by_signs = signs.p_value() if self._far.skewed() else signs.p_value() ** 2
        by_wealth = min(1.0, max(wealth.p_value(), by_signs) / WEALTH_SHARE)
        return min(by_wealth, large.p_value() / LARGE_DEVIATION_SHARE)


class MeanTest:
    """Whether the mean time is proven to be more than a multiple of the reference's."""

    def __init__(self, limit):
        self._limit, self._typical = limit, RecentMedian()
        self._logs = [[0.0] * len(STAKES) for _ in LEVELS]

    def add(self, reference, own):
        if not (math.isfinite(reference) and math.isfinite(own)):
            return
        typical = self._typical.value()
        if typical > 0:
            for level, logs in zip(LEVELS, self._logs):
                most = level * typical
                excess = (min(own, self._limit * most) - self._limit * min(reference, most)) / (self._limit * most)
                for i, stake in enumerate(STAKES):
                    logs[i] += math.log1p(stake * excess)
        self._typical.add(reference)

    def p_slower(self):
        wealth = 0.0
        for logs in self._logs:
            most = max(logs)
            log = most + math.log(sum(math.exp(each - most) for each in logs) / len(STAKES))
            # Beyond this a double overflows; the picture ends far below it.
            wealth += math.exp(min(log, 600.0)) / len(LEVELS)
        return 1 / max(wealth, 1.0)


def _cycles(times, rounds):
    return [times[first : first + rounds] for first in range(0, len(times) - rounds + 1, rounds)]


def evidence(demand, log_ratios, reference, own, rounds_per_cycle, iterations):
    """Returns the p-values after each cycle, of refuting the demand and of meeting it.

    `demand` is `demanded_speed` of a results file, and `log_ratios` are from its row. `reference` and `own` are the
    times of the baseline's samples and of its own in ns per iteration. The result is a list of (p_above, p_below): of
    "the limit is not met", which a pass rejects, and of "the limit is met", which a failure rejects.
    """
    limit, guard = demand["limit"], demand["guard"]
    test = SequentialTest(-math.log(limit) if guard else math.log(limit))
    of_mean = MeanTest(limit)
    rounds = max(rounds_per_cycle, 1)
    own_cycles, reference_cycles = _cycles(own, rounds), _cycles(reference, rounds)
    paired = len(own) == len(reference) and len(own_cycles) == len(log_ratios)
    points = []
    for i, ratio in enumerate(log_ratios):
        slow = False
        if paired and all(each > 0 for each in own_cycles[i]):
            log_time = sum(math.log(each) for each in own_cycles[i]) / rounds
            slow = math.exp(log_time + max(ratio, 0.0)) * rounds * iterations >= SLOW_SIDE_NS
        test.add(ratio, slow)
        p_above, p_below = test.p_above(), test.p_below()
        if guard:
            if paired:
                of_mean.add(sum(reference_cycles[i]) / rounds, sum(own_cycles[i]) / rounds)
            slower = of_mean.p_slower()
            p_above = 1.0 if slower <= SUSPICION else p_above
            p_below = min(1.0, p_below / MEDIAN_SHARE, slower / (1 - MEDIAN_SHARE))
        points.append((p_above, p_below))
    return points


def geometric_mean(speedups):
    """Returns the geometric mean of speed-ups and its interval, or None as the interval where one of them has none.

    `speedups` are (median, low, high). Comparisons are measured apart, so the half-widths of their logarithms are
    independent and add up by their squares.
    """
    logs = [math.log(median) for median, _, _ in speedups]
    centre = sum(logs) / len(logs)
    if any(low is None or not low > 0 for _, low, _ in speedups):
        return math.exp(centre), None
    below = math.sqrt(sum((math.log(median / low)) ** 2 for median, low, _ in speedups)) / len(logs)
    above = math.sqrt(sum((math.log(high / median)) ** 2 for median, _, high in speedups)) / len(logs)
    return math.exp(centre), (math.exp(centre - below), math.exp(centre + above))


def thin(values, most):
    """Returns at most `most` of the values, in their order and evenly spread, and whether some were left out."""
    if len(values) <= most:
        return list(values), False
    if most <= 0:
        return [], True
    return [values[i * len(values) // most] for i in range(most)], True
