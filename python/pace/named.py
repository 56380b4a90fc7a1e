"""Functions and arguments of Python files, by FILE.py:NAME. The command lines share it; it imports nothing of pace."""

from __future__ import annotations

import copy
import dataclasses
import importlib.util
import inspect
import pathlib
import sys
import traceback
import unicodedata
from typing import Any, Callable


class Unusable(Exception):
    """A file, or a name in it, that cannot be used. The text says which, and why."""


_modules: dict[pathlib.Path, Any] = {}
_folders: list[pathlib.Path] = []
_on_path: set[pathlib.Path] = set()
_imported_before: set[str] = set()


def find(path: str, name: str) -> Any:
    """The value `name` of a file, which is run once. Raises Unusable."""
    # As Python reads names in sources.
    name = unicodedata.normalize("NFKC", name)
    if not name.isidentifier():
        raise Unusable(f"{path}: '{name}' is no name in a Python file; expected FILE.py:NAME")
    file = pathlib.Path(path).resolve()
    if file not in _modules:
        _modules[file] = _run(path, file)
    module = _modules[file]
    if not hasattr(module, name):
        others = [each for each, value in vars(module).items()
                  if callable(value) and getattr(value, "__module__", None) == file.stem]
        raise Unusable(f"{path}: has no '{name}'" + (f"; it has: {', '.join(others)}" if others else ""))
    return getattr(module, name)


def _run(path: str, file: pathlib.Path) -> Any:
    if not file.is_file():
        raise Unusable(f"{path}: there is no such file")
    folder = file.parent
    if not _folders:
        _imported_before.update(sys.modules)
    if folder not in _folders:
        _folders.append(folder)
    for other in _folders:
        if other != folder:
            _set_aside(other)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    # So that its own imports, and what compiles its functions, find it by its name.
    if folder not in _on_path:
        sys.path.insert(0, str(folder))
        _on_path.add(folder)
    sys.modules.setdefault(file.stem, module)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise Unusable(f"{path}: cannot be run: {_described(error, file)}") from error
    finally:
        # With several folders, a later import could find another folder's module of that name.
        if len(_folders) > 1:
            _set_aside(folder)
    return module


def _set_aside(folder: pathlib.Path) -> None:
    """Gives the modules of a folder names of their own, so that files of other folders import theirs. Code that knows
    them keeps them, and what looks up a function's module by `__name__`, as torch.compile does, finds it. A later
    `import` does not."""

    def lies_there(name: str, module: Any) -> bool:
        if "." in name or "@" in name or name in _imported_before:
            return False
        places = [*(getattr(module, "__path__", None) or []), getattr(module, "__file__", None)]
        return any(isinstance(place, str) and pathlib.Path(place).resolve().parent == folder for place in places)

    # A second entry is the user's, such as the current folder.
    if folder in _on_path and str(folder) in sys.path:
        sys.path.remove(str(folder))
    _on_path.discard(folder)
    of_folder = {name for name, module in list(sys.modules.items()) if lies_there(name, module)}
    for name, module in list(sys.modules.items()):
        top, _, rest = name.partition(".")
        if top not in of_folder:
            continue
        del sys.modules[name]
        own = f"{top}@{_folders.index(folder)}" + (f".{rest}" if rest else "")
        module.__name__ = own
        sys.modules[own] = module


def _described(error: BaseException, file: pathlib.Path) -> str:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, SyntaxError):
        return text
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"{text} (line {lines[-1]})" if lines else text


def function(path: str, name: str) -> Callable:
    """A function of a file that can be compared. Raises Unusable."""
    made = find(path, name)
    if why := why_not(made):
        raise Unusable(f"{path}:{name}: {why}")
    return made


def why_not(made: Any) -> str:
    """Why something cannot be compared as a function; empty: it can."""
    if not callable(made):
        return f"a value of the type '{type(made).__qualname__}' is no function; expected a callable"
    for of in (made, getattr(made, "forward", None), getattr(type(made), "__call__", None)):
        if inspect.iscoroutinefunction(of) or inspect.isasyncgenfunction(of):
            return "an async function returns before it computes; expected an ordinary one"
        if inspect.isgeneratorfunction(of):
            return "a generator computes only when it is read; expected an ordinary function"
    return ""


def arguments(path: str, name: str, device: str | None = None) -> tuple[tuple, dict[str, Any]]:
    """The positional and named arguments that `name` holds or returns, moved to `device`. Raises Unusable."""
    made = find(path, name)
    place = f"{path}:{name}"
    if callable(made):
        if (why := why_not(made)) or inspect.isclass(made):
            raise Unusable(f"{place}: {why or 'a class is no value'}")
        try:
            made = made()
        except (Exception, SystemExit) as error:
            raise Unusable(f"{place}: {_described(error, pathlib.Path(path).resolve())}") from error
    if made is None or inspect.isgenerator(made) or inspect.iscoroutine(made):
        found = "None" if made is None else f"a {type(made).__qualname__}"
        raise Unusable(f"{place}: holds or returns {found}; expected a tuple or list of arguments, a dict of named "
                       "ones, a single value, or a function that returns one of these")
    if device is not None:
        try:
            made = _moved(made, device)
        except (RuntimeError, AssertionError) as error:
            raise Unusable(f"--device {device}: {error}") from error
    if isinstance(made, dict):
        if not all(isinstance(key, str) for key in made):
            raise Unusable(f"{place}: is a dict with a key that is no string; expected the names of arguments")
        return (), made
    return (tuple(made), {}) if type(made) in (tuple, list) else ((made,), {})


def _moved(made: Any, device: str) -> Any:
    """The same with its tensors on `device`, also those in dataclasses, however deep."""
    import torch
    from torch.utils import _pytree as pytree

    def move(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return leaf.to(device)
        if not dataclasses.is_dataclass(leaf) or isinstance(leaf, type):
            return leaf
        moved = copy.copy(leaf)
        # Attributes that are no fields, too. A frozen dataclass refuses setattr().
        names = dict.fromkeys([*(field.name for field in dataclasses.fields(leaf)), *getattr(leaf, "__dict__", ())])
        for name in names:
            if hasattr(leaf, name):
                object.__setattr__(moved, name, pytree.tree_map(move, getattr(leaf, name)))
        return moved

    return pytree.tree_map(move, made)
