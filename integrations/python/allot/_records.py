"""Rows of results."""
from __future__ import annotations

from typing import NamedTuple, Optional

from ._native import Estimate


class Change(NamedTuple):
    """One more server, one more thread, or a pair 10% faster, and what it would be worth."""

    change: str
    resource: Optional[str]
    task: Optional[str]
    throughput: float
    gain: float
    approximate: bool


class Difference(NamedTuple):
    """The throughput of a policy less that of another, on the same random numbers."""

    policy: str
    against: str
    throughput: Estimate
    significant: bool


# Users know them by the package.
Change.__module__ = Difference.__module__ = "allot"
