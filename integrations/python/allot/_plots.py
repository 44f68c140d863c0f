"""Results as Matplotlib plots. Matplotlib is looked for when a plot is asked for, and only then."""
from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

# Okabe and Ito's colours, which colour-blind people can distinguish.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#000000"]
LIGHT = {"#E69F00", "#56B4E9", "#F0E442"}  # letters on these are black
# With more than this, names and numbers are too small to read.
MOST_NAMES = 40
MOST_CELLS = 400
MOST_IN_LEGEND = 16
LONGEST_NAME = 20


def axes(ax: Optional[Any]) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt  # type: ignore[import]
    except ImportError as error:
        raise ImportError("plot() needs matplotlib") from error
    return plt.subplots(layout="constrained")[1]


def name_ticks(axis: Any, names: Sequence[str]) -> None:
    """Names along an axis: those of the horizontal one are turned where they would run into each other, and some are
    left out where there are too many."""
    every = -(-len(names) // MOST_NAMES)
    most = LONGEST_NAME if axis.axis_name == "x" else 2 * LONGEST_NAME
    words = [name if len(name) <= most else name[: most - 8] + "…" + name[-7:] for name in names[::every]]
    axis.set_ticks(range(0, len(names), every), words)
    if axis.axis_name == "x" and sum(len(word) + 2 for word in words) > 50:
        axis.set_tick_params(rotation=45)
        for label in axis.get_ticklabels():
            label.set(ha="right", rotation_mode="anchor")
    if len(names) > 15:
        axis.set_tick_params(labelsize="small" if len(names) <= 25 else "x-small")


def legend(ax: Any, title: Optional[str] = None) -> None:
    """Beside the plot, so that it hides nothing of it; the first entries only where there are many."""
    handles, labels = ax.get_legend_handles_labels()
    if len(labels) > MOST_IN_LEGEND:
        labels = [*labels[: MOST_IN_LEGEND - 1], f"… {len(labels) - MOST_IN_LEGEND + 1} more"]
        handles = handles[:MOST_IN_LEGEND]
    ax.legend(handles, labels, title=title, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)


def intervals(ax: Any, at: Any, means: Any, half_widths: Any, across: bool = False) -> None:
    """Bars of uncertainty where there are some: a single replication has none for each type."""
    at, means, half_widths = (np.asarray(values, dtype=float) for values in (at, means, half_widths))
    known = np.isfinite(half_widths) & np.isfinite(means)
    if known.any():
        x, y = (means[known], at[known]) if across else (at[known], means[known])
        width = {"xerr" if across else "yerr": half_widths[known]}
        ax.errorbar(x, y, **width, fmt="none", capsize=3, color="black", elinewidth=1)


def titled(scenario: Any, words: str) -> str:
    """A title that says of what."""
    return f"{scenario.name}: {words}" if scenario.name else words[0].upper() + words[1:]


def matrix(scenario: Any, values: Any, title: str, label: str, number: str, ax: Optional[Any]) -> Any:
    """A heat map, a row per task type, a column per resource; blank where a type cannot run."""
    ax = axes(ax)
    shown = np.ma.masked_where(scenario.rates == 0, values)  # type: ignore[no-untyped-call]
    image = ax.imshow(shown, cmap="cividis", aspect="auto", vmin=0)
    middle = np.max(values, initial=0.0) / 2
    if values.size <= MOST_CELLS:
        size = "medium" if max(values.shape) <= 10 else "x-small"
        for i, j in np.argwhere(scenario.rates > 0):
            colour = "black" if values[i, j] > middle else "white"
            ax.text(j, i, format(values[i, j], number), ha="center", va="center", color=colour, fontsize=size)
    name_ticks(ax.xaxis, scenario.resources)
    name_ticks(ax.yaxis, scenario.tasks)
    ax.figure.colorbar(image, ax=ax, label=label)
    ax.set_title(title)
    return ax


def solution(answer: Any, ax: Optional[Any]) -> Any:
    """Throughput by resource, stacked by task type."""
    ax = axes(ax)
    scenario = answer.scenario
    places = np.arange(len(scenario.resources))
    parts = answer.throughput_by_pair
    total = parts.sum(axis=0)
    tallest = total.max(initial=0.0)
    bottom = np.zeros(len(places))
    for i, (task, row) in enumerate(zip(scenario.tasks, parts)):
        colour = COLOURS[i % len(COLOURS)]
        hatch = ["", "//", "..", "xx"][i // len(COLOURS) % 4]  # colours repeat, with another hatch
        bars = ax.bar(places, row, bottom=bottom, label=task, color=colour, hatch=hatch, edgecolor="white")
        # A number that is higher than its bar would overlap another.
        numbers = np.zeros(len(places), int) if answer.assignment is None else answer.assignment[i]
        counts = [str(n) if n and x > 0.045 * tallest else "" for n, x in zip(numbers, row)]
        letters = "black" if colour in LIGHT else "white"
        if len(places) <= MOST_NAMES // 2:
            ax.bar_label(bars, counts, label_type="center", color=letters, fontweight="bold")
        bottom += row
    if tallest > 0:
        ax.set_ylim(0, 1.08 * tallest)
    name_ticks(ax.xaxis, scenario.resources)
    ax.set_ylabel("tasks per second")
    words = titled(scenario, f"{answer.throughput:.4g} tasks/s by {answer.solver}")
    ax.set_title(words if answer.assignment is None else f"{words}\n(numbers of tasks in the bars)")
    legend(ax, "task type")
    return ax


def tells_value(scenario: Any, rounds: Optional[Any] = None) -> bool:
    """Whether value may differ from throughput: types have worths, or rounds are what counts."""
    return rounds is not None or bool((scenario.worths != 1).any())


def planned_pareto(frontier: Any, ax: Any) -> Any:
    no_priorities = frontier.priority_errors is None
    ax.plot(frontier.values, frontier.least_served if no_priorities else frontier.priority_errors, "o-", color=COLOURS[0])
    ax.set_xlabel("value per second")
    ax.set_ylabel("completions of the least served" if no_priorities else "priority error")
    ax.set_title(titled(frontier.scenario, "what fairness costs"))
    return ax


def pareto(frontier: Any, ax: Optional[Any]) -> Any:
    ax = axes(ax)
    if frontier.service == "planned":
        return planned_pareto(frontier, ax)
    by_value = tells_value(frontier.scenario)
    goals = frontier.values if by_value else frontier.throughputs
    ax.plot(goals, frontier.priority_errors, "o-", color=COLOURS[0], label="assignments")
    weighted = frontier.weighted
    if weighted is not None and weighted.priority_error is not None:
        goal = weighted.value if by_value else weighted.throughput
        ax.plot(goal, weighted.priority_error, "*", ms=14, color=COLOURS[3], label="weighted service")
    ax.set_xlabel("value per second" if by_value else "throughput, tasks per second")
    ax.set_ylabel("priority error")
    ax.set_title(titled(frontier.scenario, "what priorities cost"))
    ax.legend()
    return ax


def changes(result: Any, ax: Optional[Any], top: int) -> Any:
    ax = axes(ax)
    rows = result.changes[:top][::-1]
    places = range(len(rows))
    gains = [100 * change.gain for change in rows]
    ax.barh(places, gains, color=COLOURS[0])
    for place, gain in zip(places, gains):
        ax.annotate(f"{gain:+.2g}%", (max(gain, 0.0), place), (4, 0), textcoords="offset points", va="center")
    ax.margins(x=0.15)
    name_ticks(ax.yaxis, [describe(change) for change in rows])
    by_value = tells_value(result.scenario, result.base.rounds)
    today = f"{result.base.value:.4g} of value/s" if by_value else f"{result.base.throughput:.4g} tasks/s"
    ax.set_xlabel("gain in value, %" if by_value else "gain in throughput, %")
    ax.set_title(titled(result.scenario, f"what would help (today {today})"))
    return ax


def describe(change: Any) -> str:
    if change.change == "capacity":
        return f"one more unit of {change.capacity}"
    if change.change == "server":
        return f"one more server at {change.resource}"
    if change.change == "thread":
        return f"one more {change.task} thread"
    return f"{change.task} 10% faster on {change.resource}"


def simulation(run: Any, ax: Optional[Any]) -> Any:
    """Throughput by task type, with intervals."""
    ax = axes(ax)
    estimates = run.throughput_by_task
    places = np.arange(len(estimates))
    ax.bar(places, np.nan_to_num(estimates.mean), color=COLOURS[0])
    intervals(ax, places, estimates.mean, estimates.half_width)
    name_ticks(ax.xaxis, run.scenario.tasks)
    ax.set_ylabel("tasks per second")
    measured = f"{run.throughput.mean:.4g} tasks/s" if np.isfinite(run.throughput.mean) else "nothing measured"
    ax.set_title(titled(run.scenario, f"{measured} by {run.policy}"))
    return ax


def comparison(result: Any, ax: Optional[Any]) -> Any:
    """Throughput by policy, or value where it differs, the largest on top, with intervals and the best constant
    assignment."""
    ax = axes(ax)
    by_value = tells_value(result.scenario, result[0].rounds)

    def goal(run: Any) -> Any:
        return run.value if by_value else run.throughput

    runs = sorted(result, key=lambda run: float(np.nan_to_num(goal(run).mean)))
    places = np.arange(len(runs))
    means = np.array([goal(run).mean for run in runs])
    widths = np.array([np.nan if goal(run).half_width is None else goal(run).half_width for run in runs])
    ax.barh(places, np.nan_to_num(means), color=COLOURS[0])
    intervals(ax, places, means, widths, across=True)
    # Outside of the interval, so that it does not cover the text.
    pads = np.nan_to_num(widths)
    for place, mean, pad in zip(places, means, pads):
        words = f"{mean:.4g}" if np.isfinite(mean) else "nothing measured"
        ax.annotate(words, (np.nan_to_num(mean) + pad, place), (6, 0), textcoords="offset points", va="center")
    ax.margins(x=0.18)
    name_ticks(ax.yaxis, [run.policy for run in runs])
    best = result.best_assignment_value if by_value else result.best_assignment_throughput
    if best is not None:
        label = "best assignment" + (", proven" if result.best_assignment_proven else "")
        ax.axvline(best, color=COLOURS[3], linestyle="--", label=f"{label}: {best:.4g}")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    ax.set_xlim(0, 1.18 * max([best or 0.0, *np.nan_to_num(means + pads), 1e-300]))
    ax.set_xlabel("value per second" if by_value else "throughput, tasks per second")
    missing = f" ({len(result.missing)} missing)" if result.missing else ""
    ax.set_title(titled(result.scenario, f"policies, {result[0].distribution} sizes{missing}"))
    return ax
