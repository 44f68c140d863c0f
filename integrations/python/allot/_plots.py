"""Results as Matplotlib plots. Matplotlib is looked for when a plot is asked for, and only then."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

# Okabe and Ito's colours, which colour-blind people can tell apart.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#000000"]
LIGHT = {"#E69F00", "#56B4E9", "#F0E442"}  # letters on these are black


def axes(ax: Optional[Any]) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt  # type: ignore[import]
    except ImportError as error:
        raise ImportError("plot() needs matplotlib") from error
    return plt.subplots(layout="constrained")[1]


def matrix(scenario: Any, values: Any, label: str, number: str, ax: Optional[Any]) -> Any:
    """A heat map, a row per task type, a column per resource; blank where a type cannot run."""
    ax = axes(ax)
    shown = np.ma.masked_where(scenario.rates == 0, values)
    image = ax.imshow(shown, cmap="cividis", aspect="auto", vmin=0)
    middle = np.max(values, initial=0.0) / 2
    for i, j in np.argwhere(scenario.rates > 0):
        colour = "black" if values[i, j] > middle else "white"
        ax.text(j, i, format(values[i, j], number), ha="center", va="center", color=colour)
    ax.set_xticks(range(len(scenario.resources)), scenario.resources)
    ax.set_yticks(range(len(scenario.tasks)), scenario.tasks)
    ax.figure.colorbar(image, ax=ax, label=label)
    return ax


def solution(answer: Any, ax: Optional[Any]) -> Any:
    """Throughput by resource, stacked by task type."""
    ax = axes(ax)
    scenario = answer.scenario
    bottom = np.zeros(len(scenario.resources))
    for i, (task, row) in enumerate(zip(scenario.tasks, answer.throughput_by_pair)):
        colour = COLOURS[i % len(COLOURS)]
        bars = ax.bar(scenario.resources, row, bottom=bottom, label=task, color=colour)
        counts = [str(n) if n else "" for n in answer.assignment[i]]
        letters = "black" if colour in LIGHT else "white"
        ax.bar_label(bars, counts, label_type="center", color=letters, fontweight="bold")
        bottom += row
    if bottom.max() > 0:
        ax.set_ylim(0, 1.08 * bottom.max())
    ax.set_ylabel("tasks per second")
    ax.set_title(f"{answer.solver}: {answer.throughput:.4g} tasks/s (numbers of tasks in the bars)")
    ax.legend(title="task type")
    return ax


def pareto(frontier: Any, ax: Optional[Any]) -> Any:
    ax = axes(ax)
    ax.plot(frontier.throughputs, frontier.priority_errors, "o-", color=COLOURS[0], label="assignments")
    weighted = frontier.weighted
    if weighted is not None and weighted.priority_error is not None:
        ax.plot(weighted.throughput, weighted.priority_error, "*", ms=14, color=COLOURS[3], label="weighted service")
    ax.set_xlabel("throughput, tasks per second")
    ax.set_ylabel("priority error")
    ax.legend()
    return ax


def changes(result: Any, ax: Optional[Any], top: int) -> Any:
    ax = axes(ax)
    rows = result.changes[:top][::-1]
    ax.barh([describe(change) for change in rows], [100 * change.gain for change in rows], color=COLOURS[0])
    ax.set_xlabel("gain in throughput, %")
    return ax


def describe(change: Any) -> str:
    if change.change == "server":
        return f"one more server at {change.resource}"
    if change.change == "thread":
        return f"one more {change.task} thread"
    return f"{change.task} 10% faster on {change.resource}"


def simulation(run: Any, ax: Optional[Any]) -> Any:
    """Throughput by task type, with intervals."""
    ax = axes(ax)
    estimates = run.throughput_by_task
    ax.bar(run.scenario.tasks, estimates.mean, yerr=estimates.half_width, capsize=4, color=COLOURS[0])
    ax.set_ylabel("tasks per second")
    ax.set_title(f"{run.policy}: {run.throughput.mean:.4g} tasks/s")
    return ax


def comparison(result: Any, ax: Optional[Any]) -> Any:
    """Throughput by policy, the largest on top, with intervals and the best constant assignment."""
    ax = axes(ax)
    runs = sorted(result.policies, key=lambda run: run.throughput.mean)
    errors = [run.throughput.half_width or 0.0 for run in runs]
    means = [run.throughput.mean for run in runs]
    bars = ax.barh([run.policy for run in runs], means, xerr=errors, capsize=3, color=COLOURS[0])
    ax.bar_label(bars, [f"{mean:.4g}" for mean in means], padding=6)
    best = result.best_assignment_throughput
    if best is not None:
        label = "best assignment" + (", proven" if result.best_assignment_proven else "")
        ax.axvline(best, color=COLOURS[3], linestyle="--", label=label)
        ax.legend(loc="lower right")
    ax.margins(x=0.18)
    ax.set_xlabel("throughput, tasks per second")
    return ax
