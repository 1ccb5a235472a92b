"""Families of instances: samplers and Hypothesis strategies from one declaration."""

from .capacities import capacity
from .custom import family
from .facts import facts
from .figures import figure
from .files import file
from .kernels import kernels, preconditioned
from .mlps import mlps
from .pairs import vectors
from .shapes import anything, clustered, gaussian, low_rank, sphere, spiked, tied, tight_frame
from .single import instance

__all__ = [
    "anything",
    "capacity",
    "clustered",
    "facts",
    "family",
    "figure",
    "file",
    "gaussian",
    "instance",
    "kernels",
    "low_rank",
    "mlps",
    "preconditioned",
    "sphere",
    "spiked",
    "tied",
    "tight_frame",
    "vectors",
]
