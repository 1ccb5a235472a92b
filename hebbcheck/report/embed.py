"""What is put into the page: scripts, styles, the font and data, each in a form that cannot end its element."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

import vl_convert
from markupsafe import Markup

from ..verdict import strict_json

ASSETS = files("hebbcheck.report") / "assets"
STYLES = (
    "base.css",
    "summary.css",
    "claims.css",
    "card.css",
    "graph.css",
    "tables.css",
    "figures.css",
    "print.css",
)
SCRIPTS = ("address.js", "page.js", "claims.js", "graph.js", "charts.js")


def asset(name: str) -> str:
    return (ASSETS / name).read_text("utf-8")


@cache
def style() -> Markup:
    """All style sheets and the maths font, as the text of one <style> element."""
    font = base64.b64encode((ASSETS / "math.woff2").read_bytes()).decode()
    face = (
        "/* A subset of STIX Two Math, (c) 2001-2020 The STIX Fonts Project Authors, SIL Open Font License 1.1 */\n"
        f'@font-face {{ font-family: "report math"; src: url("data:font/woff2;base64,{font}") format("woff2"); }}\n'
    )
    return _raw(face + "\n".join(map(asset, STYLES)), "style")


@cache
def chart_library() -> Markup:
    """Vega, Vega-Lite and vega-embed in one script (0.9 MB)."""
    return _raw(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"), "script")


@cache
def behaviour() -> Markup:
    return _raw("\n".join(map(asset, SCRIPTS)), "script")


@cache
def first_script() -> Markup:
    """Run before anything is drawn, so that a page in the other theme does not flash."""
    return _raw(asset("theme.js"), "script")


def data(value: Any) -> Markup:
    """JSON for a <script type="application/json"> element, whatever its strings hold."""
    text = json.dumps(strict_json(value), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))


def content_policy(scripts: list[Markup]) -> str:
    """The page may run exactly these scripts and load nothing: the browser enforces that it is self-contained."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _raw(text: str, element: str) -> Markup:
    lowered = text.lower()
    if f"</{element}" in lowered or "<!--" in lowered:
        raise ValueError(f"an asset would end its <{element}> element")
    return Markup(text)
