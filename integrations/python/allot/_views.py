"""How scenarios and results look: as text, as tables in Jupyter, as frames, as plots.

The functions here become methods of the native classes.
"""
from __future__ import annotations

import html
import operator
import os
from typing import Any, Callable, List, NamedTuple, Optional, Sequence

import numpy as np

from . import _frames, _native, _plots
from ._errors import InvalidInput


MOST_ROWS = 40
MOST_COLUMNS = 16


def _clipped(entries: Sequence[Any], most: int, gap: Any) -> List[Any]:
    """The first and the last, where there are too many to look at."""
    if len(entries) <= most:
        return list(entries)
    return [*entries[: most // 2], gap, *entries[len(entries) - (most - most // 2 - 1) :]]


class View(NamedTuple):
    """A line, a table and some notes. A large table is clipped in the middle."""

    title: str
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()

    def table(self) -> List[List[str]]:
        """The header and the rows to show."""
        gap = ["…"] * len(self.header)
        return [_clipped(row, MOST_COLUMNS, "…") for row in [self.header, *_clipped(self.rows, MOST_ROWS, gap)]]

    def text(self) -> str:
        lines = [self.title]
        if self.rows:
            table = self.table()
            widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
            for row in table:
                cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
                lines.append("  " + "  ".join(cells).rstrip())
        return "\n".join([*lines, *self.notes])

    def html(self) -> str:
        parts = [f"<p><b>{html.escape(self.title)}</b></p>"]
        if self.rows:
            header, *rows = self.table()
            head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>")
            for row in rows:
                cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:])
                parts.append(f"<tr><th>{html.escape(row[0])}</th>{cells}</tr>")
            parts.append("</tbody></table>")
        parts += [f"<p>{html.escape(note)}</p>" for note in self.notes]
        return "".join(parts)


def _number(value: Optional[float]) -> str:
    return "" if value is None or value != value else format(value, ".4g")


def _or_zero(value: float) -> float:
    return value if value == value else 0.0


def _percent(part: float) -> str:
    return format(100 * part, ".3g") + "%"


def _estimate(mean: float, half_width: Optional[float]) -> str:
    if half_width is None or half_width != half_width or mean != mean:
        return _number(mean)
    return f"{_number(mean)} ± {half_width:.2g}"


def _goal(solution: Any, by_value: bool) -> str:
    return f"{_number(solution.value)} of value/s" if by_value else f"{_number(solution.throughput)} tasks/s"


def _pairs(scenario: Any, values: Any, number: Callable[[Any], str]) -> List[List[str]]:
    """A row of cells per task type: '-' where it cannot run, '·' for nothing."""
    cells = []
    for rates, row in zip(scenario.rates, values):
        cells.append(["-" if rate == 0 else number(value) if value else "·" for rate, value in zip(rates, row)])
    return cells


def _needs(scenario: Any) -> List[str]:
    """What tasks take besides one server, and what there is of it, a line each."""
    needs = [
        f"{task} on {resource}: " + ", ".join(f"{_number(amount)} {capacity}" for capacity, amount in draws.items())
        for task, by_resource in scenario.needs.items()
        for resource, draws in by_resource.items()
    ]
    there = [f"{_number(c['amount'])} {name}" + " (shared)" * c["shared"] for name, c in scenario.capacities.items()]
    lines = [("needs", needs, "; "), ("capacities", there, ", ")]
    return [f"{key}: " + joint.join(_clipped(entries, MOST_COLUMNS, "…")) for key, entries, joint in lines if entries]


def _approximate(scenario: Any) -> str:
    if scenario.needs:
        return "Approximate: this counts fractions of tasks; whole tasks may get less."
    return "Approximate: where tasks wait for several fcfs servers there is no exact formula."


def _view_of_scenario(self: Any) -> View:
    name = f" '{self.name}'" if self.name else ""
    title = f"Scenario{name}: {len(self.tasks)} task types, {len(self.resources)} resources, {self.population} threads"
    pairs = _pairs(self, self.rates, _number)
    shares = self.shares
    header = ["tasks/s", *self.resources, "threads"] + ([] if shares is None else ["share"])
    rows = []
    for i, task in enumerate(self.tasks):
        rows.append([task, *pairs[i], str(self.counts[i])] + ([] if shares is None else [_percent(shares[i])]))
    return View(title, header, rows, [*_needs(self), *self.notes])


def _view_of_solution(self: Any) -> View:
    value = f"value {_number(self.value)} per second, " if _plots.tells_value(self.scenario, self.rounds) else ""
    title = f"Solution by {self.solver} ({self.outcome}): {value}{_number(self.throughput)} tasks/s"
    if self.response_time is not None:
        title += f", mean response time {_number(self.response_time)} s"
    if self.priority_error is not None:
        title += f", priority error {_number(self.priority_error)}"
    notes = [self.reason] if self.reason else []
    if self.proven_optimal:
        notes.append("Proven optimal.")
    elif self.gap is not None:
        notes.append(f"Within {_percent(self.gap)} of the optimum, proven.")
    if self.approximate:
        notes.append(_approximate(self.scenario))
    if self.packing_bound is not None and self.packing_bound < self.value * (1 - 1e-6):
        notes.append(f"Whole tasks reach at most {_number(self.packing_bound)}: what they hold cannot be split.")
    is_planned = self.assignment is None
    pairs = _pairs(self.scenario, self.time_shares, _number) if is_planned else _pairs(self.scenario, self.assignment, str)
    rows = [
        [task, *row, _number(x), _number(t)]
        for task, row, x, t in zip(self.scenario.tasks, pairs, self.throughput_by_task, self.response_time_by_task)
    ]
    rows.append(["tasks/s", *map(_number, self.throughput_by_resource), _number(self.throughput), ""])
    header = ["tasks" if not is_planned else "in service" if self.scenario.needs else "units", *self.scenario.resources, "tasks/s", "response s"]
    return View(title, header, rows, notes)


def _view_of_planned_pareto(self: Any) -> View:
    fair = self.least_served if self.priority_errors is None else self.priority_errors
    rows = [[str(k), _number(v), _number(f)] for k, (v, f) in enumerate(zip(self.values, fair))]
    kind = "proven" if self.exhaustive else "as found"
    second = "least served" if self.priority_errors is None else "priority error"
    return View(f"Frontier of planned service, {kind} ({self.outcome})", ["point", "value/s", second], rows, [])


def _view_of_pareto(self: Any) -> View:
    if self.service == "planned":
        return _view_of_planned_pareto(self)
    by_value = _plots.tells_value(self.scenario)
    rows = []
    for k, (v, x, e) in enumerate(zip(self.values, self.throughputs, self.priority_errors)):
        rows.append([str(k), *([_number(v)] if by_value else []), _number(x), _number(e)])
    notes = []
    if self.weighted is not None and self.weighted.outcome != "infeasible":
        notes.append(
            f"Weighted service: {_goal(self.weighted, by_value)} "
            f"with an error of {_number(self.weighted.priority_error)}."
        )
    kind = "complete" if self.exhaustive else "as found"
    header = ["point", *(["value/s"] if by_value else []), "tasks/s", "priority error"]
    return View(f"Pareto frontier, {kind} ({self.outcome})", header, rows, notes)


def _view_of_what_if(self: Any) -> View:
    top = 20
    by_value = _plots.tells_value(self.scenario, self.base.rounds)
    rows = [
        [_plots.describe(c), _number(c.value if by_value else c.throughput), f"{100 * c.gain:+.2f}%" + " ~" * c.approximate]
        for c in self.changes[:top]
    ]
    more = len(self) - len(rows)
    notes = [f"... and {more} more, none worth more than these"] if more > 0 else []
    if any(c.approximate for c in self.changes[:top]):
        notes.append("~ " + _approximate(self.scenario))
    today = "No feasible answer today; the nearest reaches" if self.base.outcome == "infeasible" else "Today at best"
    title = f"{today} {_goal(self.base, by_value)}. What would help ({self.outcome}):"
    return View(title, ["change", "value/s" if by_value else "tasks/s", "gain"], rows, notes)


def _view_of_simulation(self: Any) -> View:
    by_value = _plots.tells_value(self.scenario, self.rounds)
    value = f"value {_estimate(self.value.mean, self.value.half_width) or 'unknown'} per second, " if by_value else ""
    title = (
        f"Simulation of {self.policy}, {self.distribution}: "
        f"{value}{_estimate(self.throughput.mean, self.throughput.half_width) or 'unknown'} tasks/s"
    )
    if self.response_time is not None:
        title += f", mean response time {_estimate(self.response_time.mean, self.response_time.half_width)} s"
    x, t = self.throughput_by_task, self.response_time_by_task
    rows = [
        [task, _estimate(*a), _estimate(*b)]
        for task, a, b in zip(self.scenario.tasks, zip(x.mean, x.half_width), zip(t.mean, t.half_width))
    ]
    effort = f"{self.replications} replications of {self.completions:,} completions after {self.warmup:,} of warm-up"
    busy = [f"{name} {_percent(u)}" for name, u in zip(self.scenario.resources, self.utilization) if u == u]
    notes = [effort + (" (partial)" if self.partial else "")]
    if self.rounds is not None:
        for k, (group, rounds) in enumerate(zip(self.scenario.to_dict()["threads"], self.rounds)):
            name = group.get("name") or f"group {k + 1}"
            notes.append(f"{name}: {_estimate(rounds.mean, rounds.half_width) or 'unknown'} rounds/s")
    if busy:
        notes.append("busy: " + ", ".join(_clipped(busy, MOST_COLUMNS, "…")))
    notes += self.notes
    return View(title, ["task", "tasks/s", "response s"], rows, notes)


def _view_of_comparison(self: Any) -> View:
    by_value = _plots.tells_value(self.scenario, self[0].rounds)
    differences = {d.policy: d for d in self.differences}
    rows: List[List[str]] = []
    for run in sorted(self, key=lambda run: _or_zero((run.value if by_value else run.throughput).mean), reverse=True):
        difference = differences.get(run.policy)
        against = ""
        if difference is not None and by_value:
            against = f"{difference.value.mean:+.3g}" + " *" * difference.value_significant
        elif difference is not None:
            against = f"{difference.throughput.mean:+.3g}" + " *" * difference.significant
        response = _number(run.response_time.mean) if run.response_time else ""
        goals = [run.throughput, run.value] if by_value else [run.throughput]
        rows.append([run.policy, *(_estimate(goal.mean, goal.half_width) for goal in goals), against, response])
    first = self[0].policy
    of = " in value" if by_value else ""
    notes = [*self.notes, *(f"{run.policy}: {note}" for run in self for note in run.notes if note not in self.notes)]
    notes = [*notes, f"* beyond chance: the 95% interval of the difference{of} excludes 0"]
    if self.best_assignment_throughput is not None:
        proven = ", proven" if self.best_assignment_proven else ""
        best = self.best_assignment_value if by_value else self.best_assignment_throughput
        notes.append(f"best constant assignment: {_number(best)} {'value/s' if by_value else 'tasks/s'}{proven}")
    header = ["policy", "tasks/s", *(["value/s"] if by_value else []), f"against {first}{of}", "response s"]
    return View(f"Comparison of {len(self)} policies, {self[0].distribution}", header, rows, notes)


def _view_of_analysis(self: Any) -> View:
    by_value = _plots.tells_value(self.scenario)
    value = f"value {_number(self.value)} per second, " if by_value else ""
    title = f"Analysis of {self.policy}, {self.states:,} state{'' if self.states == 1 else 's'}: {value}{_number(self.throughput)} tasks/s"
    if self.response_time is not None:
        title += f", mean response time {_number(self.response_time)} s"
    pairs = _pairs(self.scenario, self.occupancy, lambda mean: format(mean, ".2f"))
    rows = [[t, *row, _number(x)] for t, row, x in zip(self.scenario.tasks, pairs, self.throughput_by_task)]
    unit = "per second" if by_value else "tasks/s"
    notes = [f"The best state {'is worth' if by_value else 'completes'} {_number(self.best_state_value)} {unit}."]
    if self.optimal_control_value is not None:
        notes.append(f"Optimal control: {_number(self.optimal_control_value)} {unit}.")
    if self.note:
        notes.append(self.note)
    return View(title, ["mean tasks", *self.scenario.resources, "tasks/s"], rows, notes)


def _view_of_plan(self: Any) -> View:
    title = f"Plan {self.number}"
    notes = [self.note] if self.note else []
    if self.predicted is None:
        notes.append("The policy holds no target.")
        return View(title, notes=notes)
    title += f": {_number(self.predicted.throughput)} tasks/s predicted"
    is_planned = self.target is None
    pairs = _pairs(self.scenario, self.time_shares, _number) if is_planned else _pairs(self.scenario, self.target, str)
    rows = [[t, *row, _number(x)] for t, row, x in zip(self.scenario.tasks, pairs, self.predicted.throughput_by_task)]
    return View(title, ["time shares" if is_planned else "target", *self.scenario.resources, "tasks/s"], rows, notes)


def _methods_of(native: type, view: Callable[[Any], View], frame: Callable[[Any], Any], plot: Callable[..., Any]) -> None:
    def __repr__(self: Any) -> str:
        return view(self).text()

    def _repr_html_(self: Any) -> str:
        return view(self).html()

    def to_frame(self: Any) -> Any:
        return frame(self)

    to_frame.__doc__ = frame.__doc__
    plot.__name__ = "plot"
    for function in (__repr__, _repr_html_, to_frame, plot):
        function.__qualname__ = f"{native.__name__}.{function.__name__}"
        setattr(native, function.__name__, function)


def _frame_of_rates(self: Any) -> Any:
    """The rates as a pandas frame, a row per task type, a column per resource."""
    return _frames.by_pair(self, self.rates)


def _frame_of_assignment(self: Any) -> Any:
    """The assignment as a pandas frame, or the time shares of planned service, a row per task type, a column per
    resource."""
    return _frames.by_pair(self.scenario, self.time_shares if self.assignment is None else self.assignment)


def _frame_of_occupancy(self: Any) -> Any:
    """The mean numbers of tasks as a pandas frame, a row per task type, a column per resource."""
    return _frames.by_pair(self.scenario, self.occupancy)


def _frame_of_target(self: Any) -> Any:
    """The target as a pandas frame, or the time shares of planned service, a row per task type, a column per resource;
    None without either."""
    values = self.time_shares if self.target is None else self.target
    return None if values is None else _frames.by_pair(self.scenario, values)


def _plot_scenario(self: Any, ax: Optional[Any] = None) -> Any:
    """A heat map of the rates, on the given Matplotlib axes or new ones, which are returned."""
    return _plots.matrix(self, self.rates, _plots.titled(self, "rates"), "tasks per second", ".3g", ax)


def _plot_solution(self: Any, ax: Optional[Any] = None) -> Any:
    """Throughput by resource, stacked by task type, on the given Matplotlib axes or new ones, which are returned."""
    return _plots.solution(self, ax)


def _plot_pareto(self: Any, ax: Optional[Any] = None) -> Any:
    """Priority error over throughput, on the given Matplotlib axes or new ones, which are returned."""
    return _plots.pareto(self, ax)


def _plot_what_if(self: Any, ax: Optional[Any] = None, *, top: int = 15) -> Any:
    """The largest gains, on the given Matplotlib axes or new ones, which are returned."""
    return _plots.changes(self, ax, top)


def _plot_simulation(self: Any, ax: Optional[Any] = None) -> Any:
    """Throughput by task type with intervals, on the given Matplotlib axes or new ones, which are returned."""
    return _plots.simulation(self, ax)


def _plot_comparison(self: Any, ax: Optional[Any] = None) -> Any:
    """Throughput by policy with intervals, on the given Matplotlib axes or new ones, which are returned."""
    return _plots.comparison(self, ax)


def _plot_analysis(self: Any, ax: Optional[Any] = None) -> Any:
    """A heat map of the mean numbers of tasks, on the given Matplotlib axes or new ones, which are returned."""
    title = _plots.titled(self.scenario, f"{_number(self.throughput)} tasks/s by {self.policy}, exact")
    return _plots.matrix(self.scenario, self.occupancy, title, "mean number of tasks", ".2f", ax)


def _plot_plan(self: Any, ax: Optional[Any] = None) -> Any:
    """A heat map of the target, of the time shares of planned service, or of the rates without either, on the given
    Matplotlib axes or new ones, which are returned."""
    if self.predicted is None:
        return _plot_scenario(self.scenario, ax)
    title = f"Plan {self.number}: {_number(self.predicted.throughput)} tasks/s predicted"
    if self.target is None:
        return _plots.matrix(self.scenario, self.time_shares, title, "servers that work on it", ".2f", ax)
    return _plots.matrix(self.scenario, self.target, title, "tasks to keep there", "d", ax)


def _save(self: Any, path: Any) -> None:
    """Writes a scenario file, .toml or .json by its name, which `load` reads."""
    suffix = os.path.splitext(os.fspath(path))[1]
    if suffix not in (".toml", ".json"):
        raise InvalidInput([("path", f"must end in .toml or .json, is {os.fspath(path)!r}")])
    with open(path, "w", encoding="utf-8") as file:
        file.write(self.to_text(suffix[1:]))


def _trace(self: Any) -> Any:
    """The events of the first replication, kept by `trace=True`, as a dict of arrays, which pandas.DataFrame takes; else
    None. Columns: time, event ('place', 'start', 'complete'), task, thread, type, resource, size, response (NaN but for
    'complete')."""
    if self._trace is None:
        return None
    what, time, task, thread, kind, place, size, response = self._trace
    return {
        "time": time,
        "event": np.array(["place", "start", "complete"])[what],
        "task": task,
        "thread": thread,
        "type": np.array(self.scenario.tasks)[kind],
        "resource": np.array(self.scenario.resources)[place],
        "size": size,
        "response": np.where(what == 2, response, np.nan),
    }


def _percentiles_by_task(self: Any, percent: Any) -> Any:
    """Percentiles of the response time of each task type, in seconds, from the events that `trace=True` keeps: NaN where
    nothing completed. For several percentages, a row each."""
    if self._trace is None:
        raise InvalidInput([("trace", "no events were kept: simulate with trace=True")])
    what, _, _, _, kind, _, _, response = self._trace
    columns = [response[(what == 2) & (kind == i)] for i in range(len(self.scenario.tasks))]
    nothing = np.full(np.shape(percent), np.nan)
    return np.stack([np.percentile(column, percent) if len(column) else nothing for column in columns], axis=-1)


for _class, _method, _function in (
    (_native.Scenario, "save", _save),
    (_native.Simulation, "percentiles_by_task", _percentiles_by_task),
):
    _function.__name__, _function.__qualname__ = _method, f"{_class.__name__}.{_method}"
    setattr(_class, _method, _function)
setattr(_native.Simulation, "trace", property(_trace))

_methods_of(_native.Scenario, _view_of_scenario, _frame_of_rates, _plot_scenario)
_methods_of(_native.Solution, _view_of_solution, _frame_of_assignment, _plot_solution)
_methods_of(_native.Pareto, _view_of_pareto, _frames.pareto, _plot_pareto)
_methods_of(_native.WhatIf, _view_of_what_if, _frames.changes, _plot_what_if)
_methods_of(_native.Simulation, _view_of_simulation, _frames.simulation, _plot_simulation)
_methods_of(_native.Comparison, _view_of_comparison, _frames.comparison, _plot_comparison)
_methods_of(_native.Analysis, _view_of_analysis, _frame_of_occupancy, _plot_analysis)
_methods_of(_native.Plan, _view_of_plan, _frame_of_target, _plot_plan)


def _repr_of_estimate(self: Any) -> str:
    return f"Estimate({_estimate(self.mean, self.half_width)})"


def _repr_of_estimates(self: Any) -> str:
    return f"Estimates({', '.join(_estimate(*pair) for pair in zip(self.mean, self.half_width))})"


def _format_of_estimate(self: Any, spec: str) -> str:
    """The mean and, where it is known, the half-width, each by the format."""
    if not spec:
        return _estimate(self.mean, self.half_width)
    return format(self.mean, spec) + ("" if self.half_width is None else f" ± {format(self.half_width, spec)}")


def _comparison_of_estimates(name: str) -> Callable[[Any, Any], Any]:
    """By the means; another estimate is equal if its half-width is as well."""
    compare = getattr(operator, name)

    def method(self: Any, other: Any, /) -> Any:
        if isinstance(other, _native.Estimate):
            is_equality = name in ("eq", "ne")
            return compare(tuple(self), tuple(other)) if is_equality else compare(self.mean, other.mean)
        return compare(self.mean, other) if isinstance(other, (int, float)) else NotImplemented

    return method


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(_native.Estimate, f"__{_name}__", _comparison_of_estimates(_name))
setattr(_native.Estimate, "__hash__", lambda self: hash(tuple(self)))
setattr(_native.Estimate, "__format__", _format_of_estimate)
setattr(_native.Estimate, "__repr__", _repr_of_estimate)
setattr(_native.Estimates, "__repr__", _repr_of_estimates)


def _with_slices(element: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, at: Any, /) -> Any:
        return list(self)[at] if isinstance(at, slice) else element(self, at)

    return method


setattr(_native.Pareto, "__getitem__", _with_slices(_native.Pareto.__getitem__))
setattr(_native.WhatIf, "__getitem__", _with_slices(_native.WhatIf.__getitem__))
