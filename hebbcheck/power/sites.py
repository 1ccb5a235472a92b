"""Where a claim's functions can be changed: every expression with what surrounds it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .source import Source, Step

RELATIONS = ("at_least", "at_most", "equal", "scales_as")
MATHS = ("sqrt", "log", "exp", "abs", "min", "max", "sum", "mean", *RELATIONS)
PRODUCTS = (ast.Mult, ast.Div)
SUMS = (ast.Add, ast.Sub)


@dataclass(frozen=True)
class Site:
    """An expression of a function.

    `parent`: the node around it.  `argument`: its place among the parent's arguments.  `call`: the innermost function
    around it ("" for none).  `roots`: how many square roots it is under.
    """

    function: str
    node: ast.expr
    path: tuple[Step, ...] = ()
    parent: ast.AST | None = None
    argument: int | None = None
    call: str = ""
    roots: int = 0

    @property
    def is_product(self) -> bool:
        return isinstance(self.node, ast.BinOp) and isinstance(self.node.op, PRODUCTS)

    @property
    def is_sum(self) -> bool:
        return isinstance(self.node, ast.BinOp) and isinstance(self.node.op, SUMS)

    @property
    def is_factor(self) -> bool:
        """Whether it is a whole factor of a product or quotient, or all of a bound."""
        around = self.parent
        if isinstance(around, ast.BinOp) and isinstance(around.op, PRODUCTS):
            return not self.is_product
        a_bound = isinstance(around, ast.Call) and called(around) in RELATIONS and self.argument == 1
        return a_bound and not self.is_product and not self.is_sum

    @property
    def is_term(self) -> bool:
        around = self.parent
        return isinstance(around, ast.BinOp) and isinstance(around.op, SUMS) and not self.is_sum


def sites(source: Source) -> Iterator[Site]:
    """Every expression that says something about numbers: no subscripts, exponents, options or docstrings."""
    for name, tree in source.trees.items():
        for index, statement in enumerate(tree.body):
            if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
                yield from _below(Site(name, ast.Constant(0)), statement, (("body", index),))


def called(node: ast.AST) -> str:
    """The name of the function that a call calls, without its module."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _below(around: Site, node: ast.AST, path: tuple[Step, ...]) -> Iterator[Site]:
    site = around
    if isinstance(node, ast.expr):
        site = replace(around, node=node, path=path)
        yield site
    name = called(node)
    inside = replace(
        site,
        parent=node,
        argument=None,
        call=name or site.call,
        roots=site.roots + (name == "sqrt"),
    )
    for field, index, child in _children(node):
        place = index if isinstance(node, ast.Call) and field == "args" else None
        yield from _below(replace(inside, argument=place), child, (*path, (field, index)))


def _children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    for field, value in ast.iter_fields(node):
        hidden = (
            (isinstance(node, ast.Subscript) and field == "slice")
            or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and field == "right")
            or (isinstance(node, ast.Call) and field in ("keywords", "func"))
            or (isinstance(node, ast.JoinedStr))
        )
        if hidden:
            continue
        if isinstance(value, ast.AST):
            yield field, None, value
        elif isinstance(value, list):
            yield from ((field, i, child) for i, child in enumerate(value) if isinstance(child, ast.AST))
