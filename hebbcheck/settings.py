"""How a run is made: profile, seed, backend."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from .arrays import Backend
from .declarations import PROFILES
from .errors import HebbcheckError

Choice = TypeVar("Choice")

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
            raise HebbcheckError(
                f"profile {self.profile!r} is unknown; one of {', '.join(PROFILES)} is needed; try --profile quick"
            )
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise HebbcheckError(f"seed={self.seed!r} is no seed; a whole number is needed; try --seed 0")
        _ = self.arrays  # which says what is wrong with the backend, the device or the dtype

    @property
    def arrays(self) -> Backend:
        return Backend(self.backend, self.device, self.dtype)

    def by_profile(self, quick: Choice, standard: Choice, paper: Choice | None = None) -> Choice:
        """The value for this run's profile (the paper's is the standard one unless given)."""
        values = {"quick": quick, "standard": standard, "paper": standard if paper is None else paper}
        return values[self.profile]

    def as_dict(self) -> dict[str, Any]:
        """The settings as they are stored with every result."""
        return asdict(self)
