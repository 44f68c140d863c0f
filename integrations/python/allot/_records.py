"""Rows of results."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Optional, Sequence, Tuple, cast

import numpy as np
from numpy.typing import NDArray

from . import _frames
from ._native import Estimate

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class Change(NamedTuple):
    """A change (one more server, unit of a capacity or thread, or a pair 10% faster) and what it would gain.

    price: with planned service, at most what more of a capacity adds, per unit; else None.

    >>> import allot
    >>> best = allot.whatif(allot.Scenario([[8.0, 2.0]], [4])).changes[0]
    >>> best.change, best.resource, best.task, round(best.gain, 3)
    ('server', 'r0', None, 0.8)
    """

    # fields of Change, by tools/fields
    change: str  # 'server', 'capacity', 'thread' or 'rate'.
    resource: Optional[str]  # Of a server or a rate.
    task: Optional[str]  # Of a thread or a rate.
    throughput: float  # Tasks per second after the change.
    gain: float  # In value, relative to the base.
    approximate: bool  # Whether the changed state has no exact formula.
    value: float  # Value per second after the change.
    capacity: Optional[str]  # Of one more unit of it.
    price: Optional[float]  # Planned service: at most what more of a capacity adds, per unit.
    whole_gain: Optional[float]  # Planned service, if tasks have needs: the gain in the most that whole tasks can reach.
    # end of Change


class ParetoPoint(NamedTuple):
    """A point of a frontier. priority_error: None without priorities. assignment: None for planned service; time_shares,
    rounds and least_served: None for any other.

    >>> import allot
    >>> frontier = allot.pareto(allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4], priorities=[1, 3]))
    >>> fastest, *_, fairest = frontier
    >>> fastest.throughput > fairest.throughput, fastest.priority_error > fairest.priority_error
    (True, True)
    """

    # fields of ParetoPoint, by tools/fields
    throughput: float  # Tasks per second.
    value: float  # Value per second.
    priority_error: Optional[float]  # None without priorities.
    assignment: Optional[Counts]  # None for planned service.
    time_shares: Optional[Floats]  # Planned service: units of each resource at work on each type.
    rounds: Optional[Floats]  # Planned service: rounds per second of each group of threads.
    least_served: Optional[float]  # Planned service: the fewest completions relative to the priority.
    # end of ParetoPoint


class Difference(NamedTuple):
    """The difference between two policies in throughput and value, with the same random numbers.

    significant: the 95% interval of the throughput's difference excludes 0. value_significant: that of the value's.

    >>> import allot
    >>> allot.compare(allot.generate(), ["map", "jsq"], completions=1000).differences[0].against
    'map'
    """

    # fields of Difference, by tools/fields
    policy: str  # The name of the policy.
    against: str  # The policy that it is compared with.
    throughput: Estimate  # Of the paired differences.
    significant: bool  # Whether the interval of the throughput excludes 0.
    value: Estimate  # Of the paired differences.
    value_significant: bool  # Whether the interval of the value excludes 0.
    # end of Difference


class Prediction(NamedTuple):
    """What the model says about the target of a plan: completions per second, seconds, shares of the completions.

    >>> import allot
    >>> dispatcher = allot.Dispatcher(allot.Scenario([[8.0, 2.0]], [2]), background=False)
    >>> dispatcher.plan().predicted.throughput_by_resource
    array([8., 2.])
    """

    throughput: float
    throughput_by_task: Floats
    throughput_by_resource: Floats
    response_time: Optional[float]
    response_time_by_task: Floats
    shares: Optional[Floats]
    priority_error: Optional[float]


class RateEstimate(NamedTuple):
    """What a dispatcher knows about a pair: busy seconds per task, and the rate, 1 / seconds, with 95% intervals.

    Without a completion, `seconds` is the best guess (0 if there is none), and the interval is 0 to infinity. weight:
    the effective number of completions behind it. outliers: completions that were left out. resets: how often older
    samples were dropped because they no longer agreed. breaker: 'closed'; 'open' while the pair only fails; 'half-open'
    while one task tests whether it works again.

    >>> import allot
    >>> dispatcher = allot.Dispatcher(allot.Scenario([[8.0, 2.0]], [2]), background=False)
    >>> known = dispatcher.estimate("t0", "r1")
    >>> round(known.rate, 6), known.known, known.completions
    (2.0, True, 0)
    """

    seconds: float
    seconds_low: float
    seconds_high: float
    rate: float
    rate_low: float
    rate_high: float
    weight: float
    completions: int
    failures: int
    outliers: int
    resets: int
    breaker: str

    @property
    def known(self) -> bool:
        """Whether it is based on more than a guess."""
        return self.weight > 0


class RateEstimates(NamedTuple):
    """What a dispatcher knows about all pairs, as `RateEstimate`: arrays, a row per task type, a column per resource.

    >>> import allot
    >>> dispatcher = allot.Dispatcher(allot.Scenario([[8.0, 2.0]], [2]), background=False)
    >>> dispatcher.estimates().rate.round(6)
    array([[8., 2.]])
    """

    tasks: Tuple[str, ...]
    resources: Tuple[str, ...]
    seconds: Floats
    seconds_low: Floats
    seconds_high: Floats
    rate: Floats
    rate_low: Floats
    rate_high: Floats
    weight: Floats
    completions: Counts
    failures: Counts
    outliers: Counts
    resets: Counts
    breaker: NDArray[np.str_]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which pairs are based on more than a guess."""
        return self.weight > 0

    def to_frame(self) -> "DataFrame":
        """A pandas frame, a row per pair."""
        return _frames.rate_estimates(self)


class DispatchStatistics(NamedTuple):
    """What has happened since a dispatcher was made. Each number is exact; together they are of about one moment.

    completions (successful), failures and in_flight have a row per task type and a column per resource. placed: the
    cancelled not counted. ended: successful or not. explored: placements that were made to learn a rate. unseen:
    completions that no estimator saw, because more came than the planner took. throughput: successful completions per
    second; departures: all that ended. little: departures * mean_response / mean_in_flight; what stays below 1 is
    tickets that were never given back.

    >>> import allot
    >>> dispatcher = allot.Dispatcher(resources=["cpu"], tasks=["sort"])
    >>> with dispatcher.task("sort"):
    ...     pass
    >>> dispatcher.statistics().completions
    array([[1]])
    """

    completions: Counts
    failures: Counts
    in_flight: Counts
    placed: int
    ended: int
    explored: int
    unseen: int
    seconds: float
    throughput: float
    departures: float
    mean_response: float
    mean_in_flight: float
    little: float


class PlanDoubt(NamedTuple):
    """Whether other rates inside their intervals would have led to another plan.

    would_change: one of the draws has another target that is better by more than 1%. at_stake: the most that this
    target would lose against the other, a part of the throughput.

    >>> import allot
    >>> allot.Dispatcher(allot.Scenario([[8.0, 2.0]], [2]), background=False).doubt(4).draws
    4
    """

    draws: int
    would_change: bool
    at_stake: float


class ExecutorStatistics(NamedTuple):
    """What an executor has done so far. A task counts here a moment after its future is done.

    completed, failed (with an exception), running and busy_seconds have a row per kind and a column per resource; waiting
    is by kind, busy (workers now) by resource. seconds: since the first task.

    >>> import allot
    >>> with allot.Executor(resources=["cpu"]) as executor:
    ...     _ = executor.submit(len, "abc").result()
    >>> executor.statistics().completed
    array([[1]])
    """

    kinds: Tuple[str, ...]
    resources: Tuple[str, ...]
    completed: Counts
    failed: Counts
    running: Counts
    busy_seconds: Floats
    waiting: Counts
    busy: Counts
    seconds: float

    def to_frame(self) -> "DataFrame":
        """A pandas frame, a row per kind and resource."""
        return _frames.executor_statistics(self)


def total(parts: Sequence[ExecutorStatistics]) -> ExecutorStatistics:
    """The sum of statistics of the same resources. The last part knows all kinds."""
    last = parts[-1]
    if len(parts) == 1:
        return last
    sums: Dict[str, Any] = {}
    for name in ("completed", "failed", "running", "busy_seconds", "waiting"):
        sums[name] = np.zeros_like(getattr(last, name))
        for part in parts:
            sums[name][[last.kinds.index(kind) for kind in part.kinds]] += getattr(part, name)
    sums["busy"] = np.sum([part.busy for part in parts], axis=0)
    for array in sums.values():
        array.flags.writeable = False
    return last._replace(**sums)


def _same(self: Tuple[Any, ...], other: object, /) -> bool:
    """By value: arrays by their elements, and NaN equals NaN."""
    if not isinstance(other, tuple):
        return cast(bool, NotImplemented)
    return len(self) == len(other) and all(_equal(*pair) for pair in zip(self, other))


def _differs(self: Tuple[Any, ...], other: object, /) -> bool:
    return not _same(self, other) if isinstance(other, tuple) else cast(bool, NotImplemented)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other) or bool(
            np.shape(one) == np.shape(other) and np.all((one == other) | ((one != one) & (other != other)))
        )
    return bool(one == other or (one != one and other != other))


# Users find them in the package.
for _record in (Change, ParetoPoint, Difference, Prediction, RateEstimate, RateEstimates, DispatchStatistics, ExecutorStatistics, PlanDoubt):
    _record.__module__ = "allot"
    setattr(_record, "__eq__", _same)
    setattr(_record, "__ne__", _differs)
