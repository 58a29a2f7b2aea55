"""The one door from a configuration to objects: `build` makes what a leaf's `_target_` names, and nothing foreign.

A leaf inside a leaf arrives in the constructor as a factory, because only the constructor knows the sizes its parts
need: `Attention(query_size=8, memory_size=8, score=Additive, ...)` in a test and `score: {_target_: ...Additive}` in a
yaml are the same thing.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

from nmt.config import check_keys, nearest, read_plain
from nmt.errors import UserError

ALLOWED = ("nmt.data.corpora.", "nmt.model.", "nmt.train.", "torch.nn.", "torch.optim.")


def build(leaf: Mapping[str, Any], path: str, **given: Any) -> Any:
    """The object that the leaf at `path` describes, with `given` for what its neighbours decide.

    Raises UserError naming the key: unknown or missing arguments, values that the class refuses.
    """
    target = find(leaf, path)
    arguments = {key: _argument(value, f"{path}.{key}") for key, value in leaf.items() if key != "_target_"}
    _check_arguments(target, {*arguments, *given}, arguments, path)
    _check_kinds(target, arguments, path)
    try:
        return target(**arguments, **given)
    except UserError:
        raise
    except (ValueError, TypeError, RuntimeError, IndexError) as error:
        raise UserError(f"{path}: {error}") from error


def find(leaf: Mapping[str, Any], path: str) -> Any:
    """The class that the leaf names, from this package's or torch's modules alone."""
    name = leaf.get("_target_")
    if not isinstance(name, str):
        raise UserError(f"{path}._target_ is missing: it names the class to build")
    if not name.startswith(ALLOWED):
        raise UserError(f"{path}._target_ is {name!r}: allowed are classes below {', '.join(ALLOWED)}")
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UserError(f"{path}._target_ is {name!r}: there is no such class") from error
    if not (isinstance(found, type) and found.__module__.startswith(ALLOWED)):  # what a module only imported is foreign
        raise UserError(f"{path}._target_ is {name!r}: this is no class of {module}")
    return found


def _argument(value: Any, path: str) -> Any:
    if isinstance(value, Mapping):
        if "_target_" in value:
            return functools.partial(build, value, path)
        return {key: _argument(inner, f"{path}.{key}") for key, inner in value.items()}
    return value


def _check_arguments(target: Any, names: set[str], written: Mapping[str, Any], path: str) -> None:
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = {name: p for name, p in inspect.signature(target).parameters.items() if p.kind not in variadic}
    # `params` is the first argument of every torch optimizer, and never a key of ours
    check_keys(written, [name for name in parameters if name not in ("self", "params")], path)
    missing = [n for n, p in parameters.items() if p.default is p.empty and n not in names and n != "self"]
    if missing:
        raise UserError(f"{path}.{missing[0]} is missing: {path}._target_ needs it{nearest(missing[0], written)}")


def _check_kinds(target: Any, written: Mapping[str, Any], path: str) -> None:
    """Nothing is converted: YAML's `no` is a text on the command line, and as a `bool` it would be true."""
    kinds = _kinds(target)
    for name, value in written.items():
        kind = kinds.get(name)
        if typing.get_origin(kind) is Callable and not callable(value):
            raise UserError(f"{path}.{name} is {value!r}: a section that names a class (_target_) belongs there")
        if kind in (int, float, str, bool):
            read_plain(kind, value, f"{path}.{name}")


def _kinds(target: Any) -> dict[str, Any]:
    """What our classes declare; of torch's, which declare little, their defaults' kinds (0 may be a float's)."""
    if target.__module__.startswith("nmt."):
        parameters = inspect.signature(target, eval_str=True).parameters
        return {name: parameter.annotation for name, parameter in parameters.items()}
    kinds = {int: float, float: float, bool: bool}
    defaults = {name: type(p.default) for name, p in inspect.signature(target).parameters.items()}
    return {name: kinds[kind] for name, kind in defaults.items() if kind in kinds}
