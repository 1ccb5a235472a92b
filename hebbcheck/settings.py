"""How a run is made: profile, seed, backend."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from .arrays import Backend
from .errors import HebbcheckError

PROFILES = ("quick", "standard", "paper")
LEVEL = 1e-4
"""The level of each statistical verdict, whatever else is run."""


@dataclass(frozen=True)
class Settings:
    """Everything besides the claim that a result depends on."""

    profile: str = "quick"
    seed: int = 0
    backend: str = "numpy"
    device: str = "cpu"
    dtype: str = "float64"

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise HebbcheckError(f"profile {self.profile!r} is unknown; choose one of {', '.join(PROFILES)}")

    @property
    def arrays(self) -> Backend:
        return Backend(self.backend, self.device, self.dtype)

    def by_profile(self, quick, standard, paper=None):
        """The value for this run's profile (the paper's is the standard one unless given)."""
        return {"quick": quick, "standard": standard, "paper": standard if paper is None else paper}[
            self.profile
        ]

    def as_dict(self) -> dict:
        return asdict(self)
