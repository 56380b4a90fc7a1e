"""Keeps every configuration of the Triton kernels that Inductor chooses among while it compiles a package.

    import record_configurations
    record_configurations.aoti_compile_and_package(program, package_path="model.pt2", inductor_configs=...)

does as record_kernels.aoti_compile_and_package does; in MODEL.json each Triton kernel then has `configurations`, null
or a list in the order of the attempts, of objects with
    config        its settings, by name: `XBLOCK`, `num_warps`, ...
    printed       the same as Triton prints it
    file          its binary (cubin), from the folder of MODEL.json: MODEL.cubins/NAME-NUMBER.cubin
    symbol        the kernel's name in it
    grid          blocks that the kernel runs with there, for the operands that it was tuned with: three numbers
    warps         of each block
    shared_bytes  dynamic shared memory of each block
    chosen        whether Inductor chose it

Inductor's memory of earlier choices is not looked into meanwhile: configurations that it remembers are compiled alone.
"""

import contextlib
import functools
import json
import os
import sys

import record_kernels


class Configurations:
    def __init__(self, folder):
        self.folder = folder
        self._kernels = {}

    def of(self, kernel):
        """A list; None: no kernel of that name ran."""
        return self._kernels.get(kernel)

    def keep(self, autotuner, arguments):
        """After the kernel ran, which it does when the choice has been made."""
        name = autotuner.inductor_meta.get("kernel_name")
        if name is None or name in self._kernels:
            return
        (launcher,) = autotuner.launchers
        kept = []
        for number, result in enumerate(autotuner.compile_results):
            file = os.path.join(self.folder, f"{name}-{number}.cubin")
            described = describe(autotuner, result, arguments)
            os.makedirs(self.folder, exist_ok=True)
            with open(file, "wb") as stream:
                stream.write(result.kernel.asm["cubin"])
            kept.append({**described, "file": file, "chosen": result.config == launcher.config})
        self._kernels[name] = kept


def describe(autotuner, result, arguments):
    """`result`: of compiling one configuration."""
    from torch._inductor.runtime.triton_heuristics import config_to_dict

    facts = result.kernel.metadata
    if getattr(facts, "global_scratch_size", 0) or getattr(facts, "num_ctas", 1) != 1:
        raise NotImplementedError("a kernel that wants memory of its own, or clusters")
    _, grid = autotuner._interpret_args_grid(arguments, result.config)
    return {
        "config": {name: value for name, value in config_to_dict(result.config).items() if value},
        "printed": str(result.config),
        "symbol": facts.name,
        "grid": [int(blocks) for blocks in grid],
        "warps": facts.num_warps,
        "shared_bytes": facts.shared,
    }


@contextlib.contextmanager
def recorded(folder):
    from torch._inductor import config
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    configurations = Configurations(folder)
    original = CachingAutotuner.run

    @functools.wraps(original)
    def watched(self, *arguments, **options):
        result = original(self, *arguments, **options)
        try:
            configurations.keep(self, arguments)
        except Exception as error:  # the compilation must not end by any of them
            name = self.inductor_meta.get("kernel_name")
            told = f"the configurations of {name} are not kept: {type(error).__name__}: {error}"
            print("pace: " + told, file=sys.stderr, flush=True)
        return result

    CachingAutotuner.run = watched
    try:
        with config.patch(autotune_local_cache=False, autotune_remote_cache=False, use_static_triton_launcher=False):
            yield configurations
    finally:
        CachingAutotuner.run = original


def aoti_compile_and_package(program, package_path, **options):
    """As record_kernels.aoti_compile_and_package, with the configurations."""
    with recorded(os.path.splitext(package_path)[0] + ".cubins") as configurations:
        package, path = record_kernels.aoti_compile_and_package(program, package_path, **options)
    with open(path) as file:
        facts = json.load(file)
    for kernel in facts["kernels"] or []:
        kept = configurations.of(kernel["name"])
        here = os.path.dirname(path)
        kernel["configurations"] = kept and [
            {**each, "file": os.path.relpath(each["file"], here or ".")} for each in kept
        ]
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w") as file:
        file.write(json.dumps(facts, indent=1) + "\n")
    os.replace(temporary, path)
    return package, path
