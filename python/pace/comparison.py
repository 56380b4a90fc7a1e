"""Comparison: several implementations of one computation, checked against each other and timed side by side."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterable

import torch

from pace._native import native
from pace.compilation import noting_compilation, tuning_notes
from pace.named import why_not
from pace.operands import Arguments
from pace.result import Result


def compare(name: str, /, *args: Any, **kwargs: Any) -> Comparison:
    """Returns a comparison without implementations. `name` is its name in tables and files.

    `args` and `kwargs` are the arguments of every implementation: tensors, numbers, and lists, tuples, dicts and
    dataclasses of them. Each implementation gets equal tensors in memory of its own.
    """
    return Comparison(name, Arguments(args, kwargs))


@dataclasses.dataclass(frozen=True)
class TrainingStep:
    """Forward and backward of a model, as an implementation of a comparison: training_step()."""

    parameters: list[torch.Tensor]
    forward: Callable


def training_step(parameters: Iterable[torch.Tensor], forward: Callable) -> TrainingStep:
    """A training step without the optimiser. Forward and backward are timed apart, and all gradients are compared.

    `forward` takes the arguments of the comparison. It returns a loss, or outputs, the first of which gets a fixed
    gradient. `parameters`, such as `model.parameters()`, are leaves that require gradients. Each implementation needs
    its own, with equal values. Raises pace.Error for other ones.
    """
    parameters = list(parameters)
    for number, each in enumerate(parameters):
        if not isinstance(each, torch.Tensor) or not each.requires_grad or not each.is_leaf:
            raise native.Error(f"training_step: parameter {number} (counted from 0) is no leaf that requires gradients"
                               "; expected tensors such as those of model.parameters()")
    return TrainingStep(parameters, forward)


class Comparison:
    """Collects implementations, expectations and declarations; run() measures. Functions return the comparison."""

    def __init__(self, name: str, arguments: Arguments):
        self._arguments = arguments
        self._native = native.Comparison(name, arguments.tensors, arguments.rebuild)
        self._native.inputs(arguments.describe())
        self._owners: dict[int, str] = {}
        self._threads = 1

    def baseline(self, name: str, function: Callable | TrainingStep) -> Comparison:
        """Adds the implementation that the others are compared with. It returns tensors, numbers or None, or tuples,
        lists, dicts or dataclasses of them. If it returns None, it must write to an argument."""
        return self._add(name, function, self._native.baseline, self._native.baseline_step)

    def candidate(self, name: str, function: Callable | TrainingStep) -> Comparison:
        """Adds an implementation to compare with the baseline; any number."""
        return self._add(name, function, self._native.candidate, self._native.candidate_step)

    def refused(self, name: str, reason: str) -> Comparison:
        """Adds a row for a candidate that could not be made, with the reason."""
        self._native.refused(name, reason)
        return self

    def expect(self, *what: Any) -> Comparison:
        """States an expectation: of every candidate, `expect(pace.no_slower_than(1.02))`, or of one,
        `expect("mine", pace.speedup_at_least(1.2))`. The rounds end as soon as every expectation is decided."""
        name, expectation = ("", *what) if len(what) == 1 else what if len(what) == 2 else ("", None)
        if not isinstance(name, str) or not isinstance(expectation, native.Expectation):
            raise native.Error(f"expect({', '.join(map(repr, what))}); expected an expectation, such as "
                               "pace.no_slower_than(1.02), or the name of an implementation and one")
        self._native.expect(name, expectation)
        return self

    def options(self, *, threads: int | None = None, **options: Any) -> Comparison:
        """Sets options of the measurement; times in seconds. `budget` 1: time of the rounds. `threads` 1: threads of an
        operator on the CPU, as torch.set_num_threads() sets them, only during run(). `audit` "standard": "off",
        "standard" or "strict". `clock`, for a GPU: "cold", "hot", "graph" or "host". `isolate` "none": "sides" gives
        each implementation a process of its own, on the CPU. Raises pace.Error, with all names,
        for an unknown one."""
        if threads is not None:
            if not isinstance(threads, int) or threads < 1:
                raise native.Error(f"threads={threads!r}; expected a whole number from 1 on")
            self._threads = threads
        self._native.options(options)
        return self

    def check(self, **options: Any) -> Comparison:
        """Sets how outputs are compared: `rtol`, `atol`, `method` ("allclose", "cosine", "bitwise", "none"),
        `reduction_length`, `equal_nan`, `edge_values`, `autograd`, `unseen_values`."""
        self._native.check(options)
        return self

    def compare_outputs(self, function: Callable[[Any, Any], str | None]) -> Comparison:
        """Compares outputs by `function(expected, actual)`, which returns the fault as text, or None."""
        self._native.compare_outputs(_checked("compare_outputs", function))
        return self

    def order_free(self) -> Comparison:
        """Rows of outputs may come in any order."""
        self._native.order_free()
        return self

    def sign_free(self, output: int | None = None, dim: int = -1) -> Comparison:
        """Vectors of an output, such as eigenvectors, are determined up to their signs."""
        if output is None:
            self._native.sign_free()
        else:
            self._native.sign_free_of(output, dim)
        return self

    def ties(self, dim: int = -1, operand: int = 0) -> Comparison:
        """Integer outputs are indices along `dim` of tensor `operand`; indices of equal values are equally right."""
        self._native.ties(dim, operand)
        return self

    def random(self) -> Comparison:
        """Outputs are random numbers, which are compared by their distribution."""
        self._native.random()
        return self

    def scratch(self, tensor: int) -> Comparison:
        """Tensor argument `tensor`, counted from 0, is a workspace, whose contents are not compared."""
        self._native.scratch(tensor)
        return self

    def constant(self, tensor: int) -> Comparison:
        """Tensor argument `tensor`, counted from 0, stays the same between calls, as weights do."""
        self._native.constant(tensor)
        return self

    def captures(self) -> Comparison:
        """The functions compute from tensors that they hold themselves, such as a module's parameters."""
        self._native.captures()
        return self

    def reuses_outputs(self, implementation: str = "") -> Comparison:
        """Each output is read before the next call, so that calls may return the same memory, as CUDA graphs do."""
        self._native.reuses_outputs(implementation)
        return self

    def float64_reference(self, function: Callable | None = None) -> Comparison:
        """Compares with a float64 result: the baseline's on float64 arguments, or the result of `function`."""
        self._native.float64_reference(function and _checked("float64_reference", function))
        return self

    def renew_each_round(self, write: Callable) -> Comparison:
        """Before each round, `write(*args, **kwargs)` writes other values into the tensors, untimed. run() raises what
        it raises."""
        self._native.renew_each_round(_checked("renew_each_round", write))
        return self

    def bytes(self, count: float) -> Comparison:
        """Bytes that one call reads and writes, for a bandwidth."""
        self._native.bytes(count)
        return self

    def flops(self, count: float) -> Comparison:
        """Floating-point operations of one call, for a computing rate."""
        self._native.flops(count)
        return self

    def inputs(self, text: str) -> Comparison:
        """Describes the arguments, to tell apart comparisons of one name."""
        self._native.inputs(text)
        return self

    def note(self, sentence: str) -> Comparison:
        """Adds a sentence to the result."""
        self._native.note(sentence)
        return self

    def run(self) -> Result:
        """Checks, times and judges the implementations. One that is wrong or raises becomes a row of the result.
        Raises pace.Error if the comparison is ill-formed, and KeyboardInterrupt."""
        devices = {tensor.device.type for tensor in self._arguments.tensors}
        if "cuda" in devices and not native.has_cuda:
            raise native.Error(
                "tensors are on a GPU, and pace was built without CUDA; try: pip install --force-reinstall --no-deps . "
                "in pace's folder, with a torch for CUDA 13 or newer")
        with noting_compilation(self._native.note_compiled):
            made = self._native.run(self._threads)
        return Result(made, self._native.exceptions(), self._native.settings(self._threads))

    def _add(self, name: str, what: Callable | TrainingStep, add: Callable, add_step: Callable) -> Comparison:
        if isinstance(what, TrainingStep):
            function = _checked(name, what.forward)
            for parameter in what.parameters:
                if (owner := self._owners.setdefault(id(parameter), name)) != name:
                    raise native.Error(f"'{name}': has a parameter of '{owner}', and both would write to its gradient; "
                                       "expected parameters of its own with equal values; try: copy.deepcopy(model)")
            add_step(name, function, what.parameters)
        else:
            function = _checked(name, what)
            add(name, function)
        self._native.late_notes(lambda: tuning_notes(name, function))
        return self


def _checked(name: str, function: Callable) -> Callable:
    """Refuses what cannot be compared as a function."""
    if why := why_not(function):
        raise native.Error(f"'{name}': {why}")
    return function
