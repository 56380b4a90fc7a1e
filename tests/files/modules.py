"""Modules that tests export."""

import torch


class Classifier(torch.nn.Module):
    """Takes indices, a pair, a number and a keyword argument; returns a tuple, with None and a number among it."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 16)
        self.linear = torch.nn.Linear(16, 4)

    def forward(self, indices, pair, times: int, bias):
        hidden = self.embedding(indices).mean(1) * times
        return None, self.linear(hidden) + bias, 7, {"sum": hidden * pair[0] + pair[1], "nothing": None}


def classifier():
    torch.manual_seed(0)
    pair = (torch.rand(16), torch.rand(16))
    return Classifier().eval(), (torch.randint(50, (8, 12)), pair, 3), {"bias": torch.rand(4)}


class Cache(torch.nn.Module):
    """Writes to the next row of a buffer in each call, as a cache of keys does."""

    def __init__(self):
        super().__init__()
        self.register_buffer("position", torch.zeros(1, dtype=torch.int64))
        self.register_buffer("cache", torch.zeros(64, 16))
        self.register_buffer("scale", torch.rand(16))
        self.linear = torch.nn.Linear(16, 16)

    def forward(self, x):
        self.cache.index_copy_(0, self.position, self.linear(x))
        self.position.add_(1)
        return self.cache.sum(0) * self.scale


def cache():
    torch.manual_seed(0)
    return Cache().eval(), (torch.randn(1, 16),)


class Grown(torch.nn.Module):
    """Appends to a buffer in each call, as a cache of keys without a limit does."""

    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(2, 4))

    def forward(self, x):
        self.cache = torch.cat([self.cache, x])
        return self.cache.sum(0)


def grown():
    torch.manual_seed(0)
    return Grown().eval(), (torch.randn(2, 4),)


class Placed(torch.nn.Module):
    """Writes where it is told to, and keeps the place: the first call writes a 0 over a 0."""

    def __init__(self):
        super().__init__()
        self.register_buffer("position", torch.zeros(1, dtype=torch.int64))
        self.register_buffer("cache", torch.zeros(64, 16))

    def forward(self, x, position):
        self.position.copy_(position)
        self.cache.index_copy_(0, position, x)
        return self.cache.sum(0)


def placed():
    torch.manual_seed(0)
    return Placed().eval(), (torch.randn(1, 16), torch.zeros(1, dtype=torch.int64))


class Fused(torch.nn.Module):
    """Calls an operator of a library."""

    def forward(self, a, b):
        return torch.ops.myops.fused(a, b)


def fused():
    torch.library.define("myops::fused", "(Tensor a, Tensor b) -> Tensor")
    torch.library.impl("myops::fused", "CompositeExplicitAutograd", lambda a, b: torch.relu(a * b))
    torch.library.register_fake("myops::fused", lambda a, b: torch.empty_like(a))
    return Fused(), (torch.randn(8, 16), torch.randn(8, 16))
