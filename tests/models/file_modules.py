"""Modules that tests of files as models export."""

import torch


class Reshaped(torch.nn.Module):
    """Its trace makes tensors of sizes, and sizes of these tensors again."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(6, 8)

    def forward(self, x):
        y = self.linear(x)
        return y.view(y.shape[0] * 2, y.shape[1] // 2).relu()


def reshaped():
    torch.manual_seed(0)
    return Reshaped().eval(), (torch.randn(4, 6),)
