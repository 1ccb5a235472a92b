"""A claim's function and the helpers of its module that it calls, as syntax trees that can be changed and run."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from .. import functions
from ..claim import Claim, at_least, at_most, equal

Step = tuple[str, int | None]
"""A field of a node, and an index where the field is a list."""
ADDED = {
    f"_{function.__name__}": function
    for function in (functions.sqrt, functions.log, functions.min, functions.max, at_least, at_most, equal)
}
"""What changed functions may call, whatever their module calls it."""


@dataclass(frozen=True)
class Edit:
    """The expression at a path of one of the functions, replaced by another."""

    function: str
    path: tuple[Step, ...]
    new: ast.expr


@dataclass(frozen=True)
class Source:
    """The function of a claim (first) and its helpers: trees by name, and where they look up other names."""

    function: FunctionType
    trees: dict[str, ast.FunctionDef]

    @property
    def main(self) -> str:
        return next(iter(self.trees))

    @property
    def names(self) -> dict[str, Any]:
        """What the names in the functions stand for (builtins left out)."""
        return _names(self.function)

    def instance_of(self, function: str) -> str:
        """What a function calls its first argument."""
        arguments = self.trees[function].args
        first = [*arguments.posonlyargs, *arguments.args][:1]
        return first[0].arg if first else ""

    def changed(self, edits: Iterable[Edit]) -> dict[str, ast.FunctionDef]:
        """The trees after the edits."""
        trees = dict(self.trees)
        for edit in edits:
            if trees[edit.function] is self.trees[edit.function]:
                trees[edit.function] = copy.deepcopy(trees[edit.function])
            _put(trees[edit.function], edit.path, copy.deepcopy(edit.new))
        return trees

    def compiled(self, edits: Iterable[Edit]) -> tuple[Callable, str]:
        """(the claim's function after the edits, the text of all functions)."""
        trees = self.changed(edits)
        module = ast.Module(list(trees.values()), type_ignores=[])
        for tree in trees.values():
            ast.fix_missing_locations(tree)
        names = {**self.names, **ADDED}
        exec(compile(module, self.function.__code__.co_filename, "exec", dont_inherit=True), names)
        return names[self.main], "\n".join(ast.unparse(tree) for tree in trees.values())


def source_of(claim: Claim) -> Source | None:
    """The source of a claim; None for one whose function is no `def` in a file that can be read."""
    function = claim.function
    if not isinstance(function, FunctionType):
        return None
    trees: dict[str, ast.FunctionDef] = {}
    waiting: list[FunctionType] = [function]
    while waiting:
        current = waiting.pop(0)
        tree = _tree(current.__code__)
        if tree is None or current.__name__ in trees:
            if current is function:
                return None
            continue
        trees[current.__name__] = tree
        known = _names(function)
        for node in ast.walk(tree):
            called = known.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(called, FunctionType) and _beside(called, function):
                waiting.append(called)
    return Source(function, trees)


def _beside(helper: FunctionType, function: FunctionType) -> bool:
    """Whether a helper is a plain function of the claim's own module."""
    return (
        helper.__code__.co_filename == function.__code__.co_filename
        and helper.__globals__ is function.__globals__
        and not helper.__closure__
    )


def _names(function: FunctionType) -> dict[str, Any]:
    """What the names in a function stand for."""
    return {**function.__globals__, **inspect.getclosurevars(function).nonlocals}


def _tree(code: CodeType) -> ast.FunctionDef | None:
    """The bare definition of a function: no decorators, no annotations."""
    path = Path(code.co_filename)
    try:
        definitions = _definitions(path, path.stat().st_mtime_ns)
    except (OSError, SyntaxError, ValueError):
        return None
    found = definitions.get((code.co_name, code.co_firstlineno))
    if found is None:
        return None
    tree = copy.deepcopy(found)
    tree.decorator_list, tree.returns = [], None
    for argument in ast.walk(tree.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return tree


@lru_cache(maxsize=64)
def _definitions(path: Path, _modified: int) -> dict[tuple[str, int], ast.FunctionDef]:
    """Every function of a file by its name and first line (a decorator's, where there is one)."""
    return {
        (node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])): node
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef)
    }


def _put(tree: ast.AST, path: tuple[Step, ...], new: ast.expr) -> None:
    node: Any = tree
    for name, index in path[:-1]:
        node = getattr(node, name) if index is None else getattr(node, name)[index]
    name, index = path[-1]
    if index is None:
        setattr(node, name, new)
    else:
        getattr(node, name)[index] = new
