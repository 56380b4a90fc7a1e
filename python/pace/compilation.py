"""What torch.compile and Triton compile during a comparison, and the configurations that Triton's autotuner chose."""

from __future__ import annotations

import contextlib
import inspect
import sys
from typing import Any, Callable, Iterator


@contextlib.contextmanager
def noting_compilation(note: Callable[[str], None]) -> Iterator[None]:
    """While it is entered, calls `note` with a description of everything that torch.compile or Triton compiles."""
    with contextlib.ExitStack() as stack:
        _note_dynamo(note, stack)
        _note_triton(note, stack)
        yield


def _note_dynamo(note: Callable[[str], None], stack: contextlib.ExitStack) -> None:
    # Importing it takes seconds, and what it has not compiled yet was not compiled before the rounds either.
    dynamo = sys.modules.get("torch._dynamo.callback")
    if dynamo is None:
        return
    handler = dynamo.callback_handler

    def started(args: Any) -> None:
        note(f"torch.compile, {args.callback_trigger.name.lower()}, compile id {args.compile_id}")

    def ended(args: Any) -> None:
        # Its worker processes would go on for seconds, beside the calls that are timed.
        workers = sys.modules.get("torch._inductor.async_compile")
        if workers is not None:
            workers.shutdown_compile_workers()

    handler.register_start_callback(started)
    handler.register_end_callback(ended)

    def forget() -> None:
        # torch._dynamo.reset() forgets all of them.
        with contextlib.suppress(ValueError):
            handler.remove_start_callback(started)
            handler.remove_end_callback(ended)

    stack.callback(forget)


def _note_triton(note: Callable[[str], None], stack: contextlib.ExitStack) -> None:
    triton = sys.modules.get("triton")
    runtime = getattr(getattr(triton, "knobs", None), "runtime", None)
    if runtime is None or not hasattr(runtime, "jit_post_compile_hook"):
        return
    before = runtime.jit_post_compile_hook

    def compiled(*args: Any, **kwargs: Any) -> Any:
        note(f"Triton, {getattr(kwargs.get('fn'), 'name', 'a kernel')}")
        return before(*args, **kwargs) if before is not None else None

    runtime.jit_post_compile_hook = compiled
    stack.callback(setattr, runtime, "jit_post_compile_hook", before)


def tuning_notes(name: str, function: Callable) -> list[str]:
    """A sentence for each autotuned Triton kernel that the implementation `name` can reach."""
    return [f"'{name}': Triton's autotuner chose {configuration} for {kernel}."
            for kernel, configuration in tuned_configurations(function)]


def tuned_configurations(function: Callable) -> list[tuple[str, str]]:
    """The names of the autotuned Triton kernels that `function` can reach, each with its chosen configuration."""
    autotuner = getattr(sys.modules.get("triton.runtime.autotuner"), "Autotuner", None)
    if autotuner is None:
        return []
    found: dict[str, str] = {}
    for value in _reachable(function):
        configuration = getattr(value, "best_config", None) if isinstance(value, autotuner) else None
        if configuration is not None:
            kernel = getattr(inspect.unwrap(getattr(value, "base_fn", None) or value.fn), "__name__", "a kernel")
            found[kernel] = str(configuration).rstrip(";")
    return sorted(found.items())


def _reachable(function: Any) -> list[Any]:
    """The values that a function names, and those named by the functions among them, three calls deep."""
    deepest = 3
    seen: dict[int, Any] = {}
    layer = [function]
    for _ in range(deepest + 1):
        following = []
        for value in layer:
            if id(value) in seen:
                continue
            seen[id(value)] = value
            of = inspect.unwrap(value) if callable(value) and not inspect.isclass(value) else value
            of = getattr(of, "__func__", getattr(of, "forward", of))
            code = getattr(of, "__code__", None)
            if code is None:
                continue
            names = {name: cell for name, cell in zip(code.co_freevars, of.__closure__ or ())}
            for cell in names.values():
                with contextlib.suppress(ValueError):
                    following.append(cell.cell_contents)
            following += [of.__globals__[name] for name in code.co_names if name in of.__globals__]
        layer = following
    return list(seen.values())
