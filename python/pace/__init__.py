"""Benchmarks with verdicts for PyTorch: several implementations of one computation, checked and timed side by side.

    import pace, torch

    result = (pace.compare("softmax/4096", torch.randn(64, 4096))
              .baseline("eager", lambda x: torch.softmax(x, -1))
              .candidate("mine", my_softmax)
              .expect("mine", pace.speedup_at_least(1.1))
              .run())
    assert result.as_expected(), result.message

The samples, statistics, checks and verdicts come from the C++ library; this package passes it Python callables.
"""

from __future__ import annotations

from pace._native import native as _pace
from pace.comparison import Comparison, TrainingStep, compare, training_step
from pace.result import Result, Row, write_results

__all__ = [
    "Comparison", "Error", "Expectation", "Result", "Row", "TrainingStep", "at_most", "compare", "counter_at_most",
    "energy_at_most", "exactly", "faster_than", "mean_no_slower_than", "no_slower_than", "peak_memory_at_most",
    "quantile_no_slower_than", "speedup_at_least", "training_step", "within_time", "write_results",
]

__version__ = _pace.version
Error = _pace.Error
Expectation = _pace.Expectation


def speedup_at_least(factor: float) -> Expectation:
    """A claim: the baseline takes at least `factor` times the candidate's time. Passes only if that is proven."""
    return _pace.speedup_at_least(factor)


def faster_than(implementation: str, factor: float = 1.0) -> Expectation:
    """A claim: the candidate is faster than `implementation`, by at least `factor`."""
    return _pace.faster_than(implementation, factor)


def within_time(seconds: float) -> Expectation:
    """A claim: the median time of a call is at most `seconds`."""
    return _pace.within_time(seconds)


def no_slower_than(factor: float) -> Expectation:
    """A guard: fails only if the candidate is proven to take more than `factor` times the baseline's time."""
    return _pace.no_slower_than(factor)


def mean_no_slower_than(factor: float) -> Expectation:
    """As no_slower_than(), for the mean time."""
    return _pace.mean_no_slower_than(factor)


def quantile_no_slower_than(q: float, factor: float) -> Expectation:
    """As no_slower_than(), for the quantile `q` of the samples, such as 0.99."""
    return _pace.quantile_no_slower_than(q, factor)


def energy_at_most(ratio: float) -> Expectation:
    """One call on a GPU takes at most `ratio` times the baseline's energy."""
    return _pace.energy_at_most(ratio)


def counter_at_most(name: str, ratio: float) -> Expectation:
    """One call has at most `ratio` times the baseline's events of "instructions", "branches" or "page_faults"."""
    return _pace.counter_at_most(name, ratio)


def at_most(count: str, limit: int) -> Expectation:
    """One call has at most `limit` of `count`, such as "operator_calls", "allocations" or "kernels"."""
    return _pace.at_most(count, limit)


def peak_memory_at_most(ratio: float) -> Expectation:
    """One call holds at most `ratio` times as many bytes of LibTorch's allocators at once as the baseline's."""
    return _pace.peak_memory_at_most(ratio)


def exactly(count: str, number: int) -> Expectation:
    """One call has exactly `number` of `count`."""
    return _pace.exactly(count, number)
