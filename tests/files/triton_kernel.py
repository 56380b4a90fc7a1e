"""Compiles a kernel as Triton's cache has it, for a GPU that need not be there: `triton_kernel.py FOLDER CAPABILITY`.

Triton writes FOLDER/axpy.json, .cubin and .ptx; they are empty where this Python has no Triton.
"""

import pathlib
import shutil
import sys
import tempfile

try:
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
except ImportError:
    triton = None

if triton is not None:

    @triton.jit
    def axpy(x, y, out, n, alpha, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = i < n
        tl.store(out + i, alpha * tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


def compile_axpy(cache, capability):
    """Compiles axpy into the cache, with a block of 1024 elements; returns the folder of its files."""
    triton.knobs.cache.dir = cache
    signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "alpha": "fp32", "BLOCK": "constexpr"}
    source = ASTSource(fn=axpy, signature=signature, constexprs={(5,): 1024})
    triton.compile(source, target=GPUTarget("cuda", capability, 32))
    return next(pathlib.Path(cache).glob("*/axpy.json")).parent


def main():
    folder, capability = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    names = ["axpy.json", "axpy.cubin", "axpy.ptx"]
    if triton is None:
        for name in names:
            (folder / name).touch()
        return
    with tempfile.TemporaryDirectory() as cache:
        compiled = compile_axpy(cache, capability)
        for name in names:
            shutil.copyfile(compiled / name, folder / name)


if __name__ == "__main__":
    main()
