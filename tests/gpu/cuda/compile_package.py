"""Compiles a small model for the GPU with Inductor and Triton: `compile_package.py MODEL.pt2`.

Beside the package stand model.json and the binaries of all configurations, by
benches/files/aot/record_configurations.py. The model has a product for cuBLAS, kernels that are fused around it, and a
state that it multiplies in place.
"""

import sys

import torch
import torch._inductor  # its functions are not loaded with torch

import record_configurations


class Block(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = torch.nn.Linear(size, size)

    def forward(self, x, state):
        y = torch.nn.functional.gelu(self.linear(x * 2 + 1))
        state.mul_(1.5)
        return torch.nn.functional.layer_norm(y + x, (x.shape[1],)), y.sum(0)


def main():
    torch.manual_seed(0)
    with torch.no_grad():
        block = Block(512).cuda().eval()
        operands = (torch.randn(2048, 512, device="cuda"), torch.ones(1 << 20, device="cuda"))
        program = torch.export.export(block, operands)
        record_configurations.aoti_compile_and_package(
            program,
            package_path=sys.argv[1],
            inductor_configs={"max_autotune_pointwise": True, "triton.autotune_at_compile_time": True},
        )


main()
