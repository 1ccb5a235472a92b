"""The fragments of the page's address, which work without a script too."""

from urllib.parse import quote


def claim_anchor(claim_id: str) -> str:
    """The fragment that leads to a claim's card."""
    return f"claim={_quoted(claim_id)}"


def graph_anchor(claim_id: str) -> str:
    """The fragment that shows what a claim rests on, and what rests on it, in the proof graph."""
    return f"graph={_quoted(claim_id)}"


def _quoted(text: str) -> str:
    return quote(text, safe="!'()*-._~")
