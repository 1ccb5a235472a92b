"""The whole page, and the file it is written to."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..errors import HebbcheckError
from ..order import natural
from . import embed
from .claims import SORT_KEYS, claim_views, ordered
from .constants import constants_view
from .errata import errata_view
from .figures import figure_view
from .graph import graph_view
from .outcomes import MEANING
from .summary import attention, summary

if TYPE_CHECKING:
    from ..store import Store


def render(verdicts: list[dict], figures: list[dict], runs: list[dict]) -> str:
    """The complete page, from records alone: equal records give an equal page, in whatever order they come."""
    claims = claim_views(verdicts)
    drawn = [figure_view(f) for f in sorted(figures, key=lambda f: natural(f["id"]))]
    has_charts = any(c["chart"] for c in claims) or any(f["charts"] for f in drawn)
    scripts = [embed.first_script(), embed.behaviour()]
    if has_charts:
        scripts.append(embed.chart_library())
    ranked = ordered(verdicts)
    return (
        _environment()
        .get_template("page.html")
        .render(
            summary=summary(ranked, figures, runs),
            attention=attention(ranked),
            claims=claims,
            graph=graph_view(verdicts),
            errata=errata_view(verdicts),
            constants=constants_view(verdicts),
            figures=drawn,
            filters=_filters(claims),
            columns=list(SORT_KEYS),
            meaning={outcome.value: text for outcome, text in MEANING.items()},
            has_charts=has_charts,
            policy=embed.content_policy(scripts),
            embed=embed,
        )
    )


def write(store: Store, out_dir: str | os.PathLike) -> Path:
    """Write index.html into a folder, made if need be; whoever reads it sees the old page or the new, never a part."""
    target = Path(out_dir) / "index.html"
    page = render(store.verdicts(), store.figures(), store.runs())
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, page)
    except OSError as error:
        raise HebbcheckError(
            f"the report cannot be written to {target} ({error.strerror}); "
            "it needs a folder that can be written to; try another with --out"
        ) from error
    return target


def _replace(target: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=target.parent, suffix=".part", delete=False
    ) as part:
        try:
            part.write(text)
            part.flush()
            os.fsync(part.fileno())
            os.chmod(part.name, 0o644)
            os.replace(part.name, target)
        except BaseException:
            os.unlink(part.name)
            raise


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("hebbcheck.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _filters(claims: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The menus above the table: their name in the address, and each choice with its count."""
    passed = ("yes" if c["passed"] else "no" for c in claims)
    words = {"yes": "as expected", "no": "not as expected"}
    quantifiers = {c["quantifier"]: c["quantifier_words"] for c in claims}
    return [
        _menu("outcome", "Outcome", (c["outcome"] for c in claims)),
        _menu("passed", "Expected", passed, words),
        _menu("theme", "Theme", (c["theme"] for c in claims)),
        _menu("quantifier", "Quantifier", (c["quantifier"] for c in claims), quantifiers),
    ]


def _menu(
    name: str, title: str, values: Iterable[str], words: dict[str, str] | None = None
) -> dict[str, Any]:
    counts = Counter(value for value in values if value)
    choices = [(v, (words or {}).get(v, v), counts[v]) for v in sorted(counts, key=natural)]
    return {"name": name, "title": title, "choices": choices}
