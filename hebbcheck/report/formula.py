"""LaTeX to MathML, without a script in the page."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser

import math_core
from markupsafe import Markup

MACROS = {"widetilde": r"\tilde{#1}", "widehat": r"\hat{#1}"}
TOKENS = {"mi", "mn", "mo", "ms", "mspace", "mtext"}
LAYOUT = {"math", "menclose", "merror", "mfrac", "mpadded", "mphantom", "mroot", "mrow", "msqrt", "mstyle"}
SCRIPTS = {"mmultiscripts", "mover", "mprescripts", "msub", "msubsup", "msup", "munder", "munderover"}
ELEMENTS = TOKENS | LAYOUT | SCRIPTS | {"mtable", "mtd", "mtr"}


class _Guard(HTMLParser):
    """Notes every element, comment or attribute that is not plain MathML."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ELEMENTS:
            self.foreign.append(tag)
        self.foreign += [name for name, _ in attrs if name.startswith("on") or name in ("href", "src")]

    def handle_comment(self, data: str) -> None:
        self.foreign.append("comment")

    def handle_decl(self, decl: str) -> None:
        self.foreign.append("declaration")

    def handle_pi(self, data: str) -> None:
        self.foreign.append("instruction")


@cache
def _converter() -> math_core.LatexToMathML:
    return math_core.LatexToMathML(macros=MACROS, fancy_error=False)


def mathml(latex: str) -> Markup | None:
    """The formula in display style, or None where the converter does not know a command.

    The converter escapes what it copies; its output is checked all the same, since statements come from files
    that other people wrote.
    """
    try:
        markup = _converter().convert_with_local_state(latex, displaystyle=True)
    except math_core.LatexError:
        return None
    guard = _Guard()
    guard.feed(markup)
    guard.close()
    return None if guard.foreign else Markup(markup)
