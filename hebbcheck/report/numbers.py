"""Numbers as a reader wants them: four significant digits, powers of ten as superscripts, nulls as a dash."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

MISSING = "–"
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: Any, digits: int = 4) -> str:
    """A number to `digits` significant digits; whole numbers in full; anything else as its text."""
    if value is None:
        return MISSING
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return MISSING if math.isnan(value) else ("∞" if value > 0 else "−∞")
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return _grouped(f"{value:.{digits}g}", value, digits)
    mantissa, exponent = f"{value:.{max(digits - 2, 1)}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".").replace("-", "−")
    factor = "" if mantissa == "1" else f"{mantissa} × "
    return f"{factor}10{str(int(exponent)).translate(SUPERSCRIPT)}"


def _grouped(text: str, value: float, digits: int) -> str:
    if "e" in text or abs(value) >= 10**digits:
        text = f"{value:,.0f}"
    return text.replace("-", "−")


def percent(share: float | None) -> str:
    """A share as a percentage that shows neither 0 nor 100 unless it is exactly that."""
    if share is None:
        return MISSING
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.001:
        return "under 0.1%"
    if share > 0.999:
        return "over 99.9%"
    return f"{100 * share:.3g}%"


def size(value: Any) -> str:
    """A number of facts or of dimensions: in full, or as a power of two where it is a large one."""
    if isinstance(value, int | float) and value > 1e5 and math.frexp(value)[0] == 0.5:
        return f"2{str(math.frexp(value)[1] - 1).translate(SUPERSCRIPT)}"
    whole = isinstance(value, float) and value.is_integer() and value < 1e5
    return number(int(value) if whole else value)


def interval(estimate: Mapping[str, Any], digits: int = 4) -> str:
    """The interval of {"value", "low", "high"}, an end that is null being infinite; empty where both are."""
    low, high = estimate.get("low"), estimate.get("high")
    if low is None and high is None:
        return ""
    least = "(−∞" if low is None else f"[{number(low, digits)}"
    return f"{least}, {'∞)' if high is None else f'{number(high, digits)}]'}"


def duration(seconds: float | None) -> str:
    """A time span in the largest units that matter."""
    if seconds is None:
        return MISSING
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def moment(value: str | float | None) -> datetime | None:
    """A time as the store has it: ISO 8601 text, or seconds since 1970; without a zone it is UTC."""
    if value is None:
        return None
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    parsed = datetime.fromisoformat(value)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def date(value: str | float | None) -> str:
    """A time in UTC, to the minute."""
    parsed = moment(value)
    return MISSING if parsed is None else _written(parsed.astimezone(UTC))


def _written(time: datetime) -> str:
    return f"{time.day} {time:%B %Y, %H:%M} UTC"
