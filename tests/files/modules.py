"""Modules that tests export."""

import torch


class Classifier(torch.nn.Module):
    """Takes indices, a pair, a number and a keyword argument; returns a tuple."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 16)
        self.linear = torch.nn.Linear(16, 4)

    def forward(self, indices, pair, times: int, bias):
        hidden = self.embedding(indices).mean(1) * times
        return self.linear(hidden) + bias, hidden * pair[0] + pair[1]


def classifier():
    torch.manual_seed(0)
    pair = (torch.rand(16), torch.rand(16))
    return Classifier().eval(), (torch.randint(50, (8, 12)), pair, 3), {"bias": torch.rand(4)}


class Fused(torch.nn.Module):
    """Calls an operator of a library."""

    def forward(self, a, b):
        return torch.ops.myops.fused(a, b)


def fused():
    torch.library.define("myops::fused", "(Tensor a, Tensor b) -> Tensor")
    torch.library.impl("myops::fused", "CompositeExplicitAutograd", lambda a, b: torch.relu(a * b))
    torch.library.register_fake("myops::fused", lambda a, b: torch.empty_like(a))
    return Fused(), (torch.randn(8, 16), torch.randn(8, 16))
