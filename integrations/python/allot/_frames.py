"""Results as pandas frames. pandas is looked for when a frame is asked for, and only then."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _records

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import]


def pandas() -> Any:
    try:
        import pandas as module
    except ImportError as error:
        raise ImportError("to_frame() needs pandas; to_dict() needs nothing") from error
    return module


def by_pair(scenario: Any, values: Any) -> "DataFrame":
    """A row per task type, a column per resource."""
    frame = pandas().DataFrame(values.copy(), index=list(scenario.tasks), columns=list(scenario.resources))
    return frame.rename_axis(index="task", columns="resource")


def pareto(frontier: Any) -> "DataFrame":
    """The frontier as a pandas frame, a row per point."""
    columns = {"throughput": frontier.throughputs, "priority_error": frontier.priority_errors, "value": frontier.values}
    columns["least_served"] = frontier.least_served
    for name in _records.ParetoPoint._fields:
        column = [getattr(point, name) for point in frontier]
        if name not in columns and column and isinstance(column[0], (int, float)):
            columns[name] = column
    columns = {name: column for name, column in columns.items() if column is not None}
    return pandas().DataFrame(columns).rename_axis(index="point")


def changes(result: Any) -> "DataFrame":
    """The changes as a pandas frame, a row each."""
    return pandas().DataFrame(result.changes, columns=_records.Change._fields)


def simulation(run: Any) -> "DataFrame":
    """Throughput and response time as a pandas frame, a row per task type."""
    throughput = run.throughput_by_task
    response = run.response_time_by_task
    return pandas().DataFrame(
        {
            "throughput": throughput.mean,
            "throughput_half_width": throughput.half_width,
            "response_time": response.mean,
            "response_time_half_width": response.half_width,
        },
        index=pandas().Index(run.scenario.tasks, name="task"),
    )


def comparison(result: Any) -> "DataFrame":
    """The policies as a pandas frame, a row each."""
    differences = {difference.policy: difference for difference in result.differences}
    rows = []
    for run in result.policies:
        difference = differences.get(run.policy)
        rows.append(
            {
                "policy": run.policy,
                "throughput": run.throughput.mean,
                "throughput_half_width": run.throughput.half_width,
                "response_time": run.response_time.mean if run.response_time else None,
                "p95": run.p95,
                "energy_per_task": run.energy_per_task,
                "difference": difference.throughput.mean if difference else None,
                "difference_half_width": difference.throughput.half_width if difference else None,
                "significant": difference.significant if difference else None,
                "value": run.value.mean,
                "value_half_width": run.value.half_width,
                "value_difference": difference.value.mean if difference else None,
                "value_difference_half_width": difference.value.half_width if difference else None,
                "value_significant": difference.value_significant if difference else None,
            }
        )
    return pandas().DataFrame(rows).set_index("policy")


def rate_estimates(estimates: Any) -> "DataFrame":
    """The estimates as a pandas frame, a row per pair."""
    pairs = pandas().MultiIndex.from_product([estimates.tasks, estimates.resources], names=["task", "resource"])
    numbers = [name for name in estimates._fields if name not in ("tasks", "resources")]
    columns = {name: getattr(estimates, name).ravel() for name in numbers}
    return pandas().DataFrame(columns, index=pairs)


def executor_statistics(seen: Any) -> "DataFrame":
    """A pandas frame, a row per kind and resource."""
    pairs = pandas().MultiIndex.from_product([seen.kinds, seen.resources], names=["kind", "resource"])
    columns = {name: getattr(seen, name).ravel() for name in ("completed", "failed", "running", "busy_seconds")}
    return pandas().DataFrame(columns, index=pairs)
