"""Functions of a file for tests: right ones, and each fault that a function or inputs can have."""

import itertools
import os

import torch

calls_of_third, calls_of_counting, calls_of_compiled = itertools.count(1), itertools.count(), itertools.count()


def eager(x):
    return torch.softmax(x, -1)


def steps(x):
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


def with_gradient(x):
    leaf = x.detach().requires_grad_(True)
    torch.softmax(leaf, -1).sum().backward()
    return torch.softmax(x, -1), leaf.grad


def nested(x, weights, *, scale=None):
    return x * weights["a"] + weights["b"][1] * scale


def wrong(x):
    return torch.softmax(x, -1) * 1.01


def nothing(x):
    pass


def third(x):
    if next(calls_of_third) == 3:
        raise ValueError("no third call")
    return torch.softmax(x, -1)


def counting(x):
    return torch.softmax(x, -1) + next(calls_of_counting)


def random(x):
    return torch.rand_like(x)


def memory(x):
    raise MemoryError("no room today")


def closes(x):
    os.closerange(3, 100)
    return torch.softmax(x, -1)


def closes_all(x):
    os.closerange(0, 100)
    return torch.softmax(x, -1)


def größe(x):
    return torch.softmax(x, -1)


def generator(x):
    yield x


async def later(x):
    return x


def ends(x):
    raise SystemExit(0)


compiled = torch.compile(lambda x, name: torch.softmax(x, -1) if name != "none" else x, backend="eager")
torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 1_000_000


def compiled_anew(x):
    return compiled(x, str(next(calls_of_compiled)))


single = torch.randn(16, 32)
several = (single,)
named = {"x": single}
of_nested = {"x": single, "weights": {"a": torch.randn(32), "b": [1, 2.5]}, "scale": 3}
large = 2**70
empty = None


def made():
    return (single,)


def unmade():
    raise ValueError("no inputs today")
