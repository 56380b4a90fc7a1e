"""A module that the program of this folder compares in two formats, as a test."""

import torch


class TwoLayers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(64, 128)
        self.norm = torch.nn.BatchNorm1d(128)
        self.second = torch.nn.Linear(128, 64)

    def forward(self, x, scale):
        return self.second(torch.relu(self.norm(self.first(x)))) * scale


def pair():
    torch.manual_seed(0)
    return TwoLayers().eval(), (torch.randn(32, 64), torch.rand(64) + 0.5)
