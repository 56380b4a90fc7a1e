"""Arguments of the compared functions, taken apart into tensors and put together again."""

from __future__ import annotations

import dataclasses
from typing import Any, Sequence

import torch
from torch.utils import _pytree as pytree

from pace._native import native


class Arguments:
    """Positional and named arguments. Tensors may be in lists, tuples, dicts and dataclasses, however deep."""

    def __init__(self, args: tuple, kwargs: dict[str, Any]):
        self._leaves, self._structure = pytree.tree_flatten((_take_apart(args), _take_apart(kwargs)))
        self._places = [i for i, leaf in enumerate(self._leaves) if isinstance(leaf, torch.Tensor)]
        self.tensors: list[torch.Tensor] = [self._leaves[i] for i in self._places]

    def rebuild(self, tensors: Sequence[torch.Tensor]) -> tuple[tuple, dict[str, Any]]:
        """The arguments with other tensors in their places."""
        leaves = list(self._leaves)
        for place, tensor in zip(self._places, tensors):
            leaves[place] = tensor
        args, kwargs = pytree.tree_unflatten(leaves, self._structure)
        return _put_together(args), _put_together(kwargs)

    def describe(self) -> str:
        """Types and sizes of tensors, and other values, as pace writes inputs."""
        return ", ".join(_describe(leaf) for leaf in self._leaves)


def _is_dataclass(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _take_apart(value: Any) -> Any:
    if _is_dataclass(value) and type(value) not in pytree.SUPPORTED_NODES:
        # Attributes that are no fields, too, such as those that __post_init__ sets.
        names = dict.fromkeys([*(field.name for field in dataclasses.fields(value)), *getattr(value, "__dict__", ())])
        fields = {name: _take_apart(getattr(value, name)) for name in names if hasattr(value, name)}
        return {"": _Maker(type(value)), **fields}
    if type(value) in (list, tuple):
        return type(value)(_take_apart(each) for each in value)
    if type(value) is dict:
        return {key: _take_apart(each) for key, each in value.items()}
    return value


class _Maker:
    """Stands for the class of a dataclass among its fields."""

    def __init__(self, of: type):
        self.of = of

    def make(self, fields: dict[str, Any]) -> Any:
        made = object.__new__(self.of)
        for name, value in fields.items():
            object.__setattr__(made, name, value)
        return made


def _put_together(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(_put_together(each) for each in value)
    if type(value) is dict:
        parts = {key: _put_together(each) for key, each in value.items()}
        maker = parts.get("")
        if isinstance(maker, _Maker):
            del parts[""]
            return maker.make(parts)
        return parts
    return value


def _describe(leaf: Any) -> str:
    if isinstance(leaf, _Maker):
        return leaf.of.__qualname__
    if not isinstance(leaf, torch.Tensor):
        return repr(leaf) if isinstance(leaf, (bool, int, float, complex, str, type(None))) else type(leaf).__qualname__
    return native.describe_tensor(leaf)
