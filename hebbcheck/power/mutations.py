"""The wrong variants of a claim, by kind; each is one mistake that a paper or its typist might make.

A kind is a function of a claim and its source that yields mutations.  Which variants are wrong is decided elsewhere
(`arguments`, the judges, `witness`): some weaken the claim, and some say the same in other words.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ..claim import Claim
from .sites import MATHS, Site, called, sites
from .source import Edit, Source

LONGEST = 48
"""Longer expressions are cut in the words of a mutation."""
FLIPPED = {"at_least": "at_most", "at_most": "at_least", "equal": "at_least"}
SWAPPED = {"min": "max", "max": "min"}
QUARTERS = {2: "1/2", 1: "1/4", -1: "-1/4", -2: "-1/2"}
"""Shifts of an exponent, in quarters."""
SIZES = ("F", "d", "m", "n")


@dataclass(frozen=True)
class Mutation:
    """One change of a claim.  `dropped`: an assumption that is left out; `allowance`: a factor of `fails_at_most`."""

    kind: str
    words: str
    edits: tuple[Edit, ...] = ()
    dropped: str | None = None
    allowance: float = 1.0


Kind = Callable[[Claim, Source], Iterator[Mutation]]


def mutations(claim: Claim, source: Source | None) -> list[Mutation]:
    """All of a claim's mutations, in a fixed order, no two with the same words."""
    found = [*dropped_assumptions(claim)]
    if source is not None:
        for kind in KINDS:
            found += kind(claim, source)
    found += allowances(claim)
    seen: Counter[str] = Counter()
    numbered = []
    for mutation in found:
        seen[mutation.words] += 1
        nth = seen[mutation.words]
        words = mutation.words if nth == 1 else f"{mutation.words} ({nth})"
        numbered.append(replace(mutation, words=words))
    return numbered


def dropped_assumptions(claim: Claim) -> Iterator[Mutation]:
    """Each assumption forgotten."""
    for name in claim.given:
        yield Mutation("assumption dropped", f"drop the assumption {name}", dropped=name)


def allowances(claim: Claim) -> Iterator[Mutation]:
    """Twice and half the failure probability that is allowed."""
    if claim.fails_at_most is not None:
        yield Mutation("failure probability", "double what may fail", allowance=2.0)
        yield Mutation("failure probability", "halve what may fail", allowance=0.5)


def flips(claim: Claim, source: Source) -> Iterator[Mutation]:
    """A relation the other way round; an equality becomes an inequality."""
    for site in sites(source):
        name = called(site.node)
        if name in FLIPPED and isinstance(site.node, ast.Call) and len(site.node.args) == 2:
            turned = ast.Call(_renamed(source, site.node.func, FLIPPED[name]), site.node.args, [])
            words = f"flip {_said(source, site.function, site.node.args[0])} {_sign(name)} ..."
            yield Mutation("relation flipped", words, (_edit(site, turned),))


def factors(claim: Claim, source: Source) -> Iterator[Mutation]:
    """A factor left out, or squared."""
    for site in _factors(claim, source):
        said = _said(source, site.function, site.node)
        yield Mutation("factor dropped", f"drop {said}", (_edit(site, ast.Constant(1)),))
        if site.call != "log":
            squared = ast.BinOp(site.node, ast.Pow(), ast.Constant(2))
            yield Mutation("factor squared", f"square {said}", (_edit(site, squared),))


def terms(claim: Claim, source: Source) -> Iterator[Mutation]:
    """A summand left out."""
    for site in sites(source):
        if site.is_term and not isinstance(site.node, ast.Constant) and not _only_a_number_left(site):
            words = f"drop the term {_said(source, site.function, site.node)}"
            yield Mutation("term dropped", words, (_edit(site, ast.Constant(0)),))


def extremes(claim: Claim, source: Source) -> Iterator[Mutation]:
    """A minimum for a maximum, in a function's or an attribute's name."""
    for site in sites(source):
        node, name = site.node, called(site.node)
        if isinstance(node, ast.Call) and name in SWAPPED:
            swapped: ast.expr = ast.Call(_renamed(source, node.func, SWAPPED[name]), node.args, node.keywords)
        elif isinstance(node, ast.Attribute) and (other := _other_extreme(node.attr)):
            if not hasattr(claim.family.instance_type, other):
                continue
            swapped = ast.Attribute(node.value, other, ast.Load())
        else:
            continue
        words = f"{_said(source, site.function, swapped)} for {_said(source, site.function, node)}"
        yield Mutation("min and max swapped", words, (_edit(site, swapped),))


def sizes(claim: Claim, source: Source) -> Iterator[Mutation]:
    """Two sizes exchanged, wherever they stand."""
    known = [name for name in SIZES if name in claim.family.sizes]
    for a, b in itertools.combinations(known, 2):
        turned = {a: b, b: a}
        edits = []
        for site in sites(source):
            node = site.node
            if isinstance(node, ast.Attribute) and node.attr in turned and _of_the_instance(source, site):
                edits.append(_edit(site, ast.Attribute(node.value, turned[node.attr], ast.Load())))
        if edits:
            yield Mutation("sizes swapped", f"swap {a} and {b}", tuple(edits))


def exponents(claim: Claim, source: Source) -> Iterator[Mutation]:
    """The exponent of a factor shifted by 1/2 or 1/4, up and down; under a root by as much more."""
    for site in _factors(claim, source):
        base = _base(site.node)
        if site.call == "log" or isinstance(base, ast.Constant):
            continue
        for quarters, shift in QUARTERS.items():
            power = _power(base, abs(quarters) * 2**site.roots)
            operator = ast.Mult() if quarters > 0 else ast.Div()
            words = f"{_said(source, site.function, site.node)} with its exponent shifted by {shift}"
            yield Mutation("exponent shifted", words, (_edit(site, ast.BinOp(site.node, operator, power)),))


def logarithms(claim: Claim, source: Source) -> Iterator[Mutation]:
    """A logarithm left out: 1 in its place, or nothing where it is a summand."""
    for site in sites(source):
        is_L = isinstance(site.node, ast.Attribute) and site.node.attr == "L"
        if (is_L and _of_the_instance(source, site)) or called(site.node) == "log":
            nothing = ast.Constant(0 if site.is_term else 1)
            words = f"drop the logarithm {_said(source, site.function, site.node)}"
            yield Mutation("logarithm dropped", words, (_edit(site, nothing),))


def constants(claim: Claim, source: Source) -> Iterator[Mutation]:
    """An explicit constant halved."""
    for site in sites(source):
        node = site.node
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, int | float) and value and value is not True and site.call in ("", *MATHS):
            half = value // 2 if isinstance(value, int) and value % 2 == 0 else value / 2
            around = _said(source, site.function, site.parent) if site.parent is not None else ""
            words = f"halve {value} in {around}"
            yield Mutation("constant halved", words, (_edit(site, ast.Constant(half)),))


def doubled_probability(claim: Claim, source: Source) -> Iterator[Mutation]:
    """The bound for a failure probability of 2 delta, stated for delta."""
    edits = []
    for site in sites(source):
        node = site.node
        if not (isinstance(node, ast.Attribute) and _of_the_instance(source, site)):
            continue
        if node.attr == "delta":
            edits.append(_edit(site, ast.BinOp(ast.Constant(2), ast.Mult(), node)))
        elif node.attr == "L":
            log2 = ast.Call(ast.Name("_log", ast.Load()), [ast.Constant(2)], [])
            edits.append(_edit(site, ast.BinOp(node, ast.Sub(), log2)))
    if edits:
        yield Mutation("failure probability", "double delta in the bound", tuple(edits))


KINDS: tuple[Kind, ...] = (
    flips,
    factors,
    terms,
    extremes,
    sizes,
    logarithms,
    constants,
    doubled_probability,
    exponents,
)


def _factors(claim: Claim, source: Source) -> Iterator[Site]:
    """Factors that are neither numbers nor the claim's open constants."""
    for site in sites(source):
        open_constant = isinstance(site.node, ast.Name) and site.node.id in claim.constants
        if site.is_factor and not isinstance(site.node, ast.Constant) and not open_constant:
            yield site


def _only_a_number_left(site: Site) -> bool:
    """Whether a difference would become minus a number, which no bound is."""
    around = site.parent
    return (
        isinstance(around, ast.BinOp)
        and isinstance(around.op, ast.Sub)
        and site.node is around.left
        and isinstance(around.right, ast.Constant)
    )


def _edit(site: Site, new: ast.expr) -> Edit:
    return Edit(site.function, site.path, new)


def _of_the_instance(source: Source, site: Site) -> bool:
    """Whether an attribute is one of the function's instance."""
    value = getattr(site.node, "value", None)
    return isinstance(value, ast.Name) and value.id == source.instance_of(site.function)


def _renamed(source: Source, function: ast.expr, name: str) -> ast.expr:
    """Another function of the same module: `hc.max` beside `hc.min`, and the builtin `max` beside the builtin `min`."""
    if isinstance(function, ast.Attribute):
        return ast.Attribute(function.value, name, ast.Load())
    imported = getattr(function, "id", "") in source.names
    return ast.Name(f"_{name}" if imported else name, ast.Load())


def _other_extreme(name: str) -> str | None:
    for end, other in SWAPPED.items():
        if name.endswith(f"_{end}"):
            return name.removesuffix(end) + other
    return None


def _base(node: ast.expr) -> ast.expr:
    """What a power or a root is of; any other expression itself."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return node.left
    if isinstance(node, ast.Call) and called(node) == "sqrt" and len(node.args) == 1:
        return node.args[0]
    return node


def _power(base: ast.expr, quarters: int) -> ast.expr:
    """base^(quarters / 4) for a power of two of quarters, written with roots, which every backend and balls have."""
    if quarters == 4:
        return base
    if quarters > 4:
        half = _power(base, quarters // 2)
        return ast.BinOp(half, ast.Mult(), half)
    return ast.Call(ast.Name("_sqrt", ast.Load()), [_power(base, 2 * quarters)], [])


def _sign(name: str) -> str:
    return {"at_least": ">=", "at_most": "<="}.get(name, "=")


def _said(source: Source, function: str, node: ast.AST) -> str:
    """An expression in words: without the instance's name, and cut where it is long."""
    text = " ".join(ast.unparse(node).split())
    instance = source.instance_of(function)
    for mark in (f"{instance}.", "hc."):
        text = _without(text, mark)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _without(text: str, mark: str) -> str:
    """The text without a name and its dot, where it begins a word."""
    parts = text.split(mark)
    kept = parts[0]
    for part in parts[1:]:
        kept += (mark if kept and (kept[-1].isalnum() or kept[-1] in "_.") else "") + part
    return kept
