"""Times GELU by steps and in one operator, at three sizes, by torch.utils.benchmark."""

import torch
from torch.utils import benchmark


def gelu_by_steps(x):
    return 0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def gelu_at_once(x):
    return torch.nn.functional.gelu(x, approximate="tanh")


results = []
for size in 1024, 8192, 65536:
    x = torch.randn(size)
    assert torch.allclose(gelu_by_steps(x), gelu_at_once(x), atol=1e-6)
    for function in gelu_by_steps, gelu_at_once:
        timer = benchmark.Timer("function(x)", globals={"function": function, "x": x}, label="gelu",
                                sub_label=str(size), description=function.__name__)
        results.append(timer.blocked_autorange(min_run_time=0.2))
benchmark.Compare(results).print()
