#!/usr/bin/python3
"""The figures and tables of an experiment: figures.py RESULTS FIGURES

Reads the CSV files that real_machine wrote to the folder RESULTS, draws SVG files into the folder FIGURES, and prints the
tables as Markdown. Needs Matplotlib (Debian: python3-matplotlib)."""
import collections
import csv
import gzip
import math
import pathlib
import statistics
import sys
import tomllib

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "allot"  # the same data give the same file
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402

# Two-sided 95% quantiles of Student's t, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
# Okabe and Ito's colours, which colour-blind people can tell apart.
COLOURS = {"decode": "#0072B2", "product": "#E69F00", "sort": "#009E73", "interpret": "#CC79A7"}
WORKLOAD_COLOURS = ["#0072B2", "#D55E00", "#009E73"]
MARKERS = {"map": "*", "best-fit": "s", "random": "o"}


def rows(folder, name):
    """Of a table, which may be compressed, as the longest of those in `results` is."""
    packed = folder / (name + ".gz")
    with gzip.open(packed, "rt", newline="") if packed.exists() else open(folder / name, newline="") as file:
        return list(csv.DictReader(file))


def interval(values):
    """Mean and half width of its 95% interval."""
    if len(values) < 2:
        return values[0], math.nan
    return statistics.mean(values), STUDENT[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))


def save(figure, folder, name):
    figure.savefig(folder / name, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def profiled(profile, row, at):
    """Throughput of a resource under processor sharing by the profile's rates: its servers in use at the mean rate of its tasks."""
    resource = profile["resources"][at]
    counts = [int(n) for n in row["counts"].split()][at :: len(profile["resources"])]
    rates = [task["rates"].get(resource["name"], 0) for task in profile["tasks"]]
    tasks = sum(counts)
    return min(tasks, resource.get("servers", 1)) * sum(n * rate for n, rate in zip(counts, rates)) / tasks if tasks else 0


def predictions(results, figures):
    table = rows(results, "predictions.csv")
    workloads = list(dict.fromkeys(row["workload"] for row in table))
    figure, axes = plt.subplots(figsize=(6, 5.2))
    largest = max(max(float(row["profiled"]), float(row["measured"])) for row in table) * 1.05
    axes.fill_between([0, largest], [0, largest * 0.95], [0, largest * 1.05], color="0.88", label="within 5%")
    axes.plot([0, largest], [0, largest], color="0.4", linewidth=1)
    for workload, colour in zip(workloads, WORKLOAD_COLOURS):
        for origin, marker in MARKERS.items():
            chosen = [row for row in table if row["workload"] == workload and row["placement"] == origin]
            axes.scatter([float(row["measured"]) for row in chosen], [float(row["profiled"]) for row in chosen], color=colour,
                         marker=marker, s=90 if marker == "*" else 28, label=workload if origin == "random" else None, zorder=3)
    axes.set(xlim=(0, largest), ylim=(0, largest), xlabel="measured (tasks per second)", ylabel="predicted (tasks per second)",
             title=f"{len(table)} placements held fixed (star: map, square: best-fit)")
    axes.set_aspect("equal")
    axes.legend(loc="upper left", frameon=False)
    save(figure, figures, "predictions.svg")

    print("### Predictions\n\n| rates | median error | worst | within 5% |\n| --- | --- | --- | --- |")
    for column, name in (("profiled_error", "of the profile"), ("error", "updated by earlier runs")):
        errors = sorted(abs(float(row[column])) for row in table)
        print(f"| {name} | {statistics.median(errors):.1%} | {errors[-1]:.1%} | {sum(e <= 0.05 for e in errors)} of {len(errors)} |")
    best = {(row["workload"], row["placement"]): float(row["measured"]) for row in table if row["placement"] != "random"}
    print("\nHeld fixed: " + "; ".join(f"{placement}, {workload}: {x:,.0f}" for (workload, placement), x in best.items()))
    profile = tomllib.loads((results / "scenario.toml").read_text(encoding="utf-8"))
    print("\n| resource | rates of the profile: median error | worst | updated by earlier runs: median error | worst |\n| --- | --- | --- | --- | --- |")
    for at, resource in enumerate(profile["resources"]):
        name = resource["name"]
        cells = []
        for predicted in (lambda row: profiled(profile, row, at), lambda row: float(row[f"{name}_predicted"])):
            errors = sorted(abs(predicted(row) / float(row[f"{name}_measured"]) - 1) for row in table if float(row[f"{name}_measured"]) > 0)
            cells += [f"{statistics.median(errors):.1%}", f"{errors[-1]:.1%}"]
        print(f"| {name} | " + " | ".join(cells) + " |")
    little = [abs(float(row["little"]) - 1) for row in table]
    print(f"\nLittle's law over these runs: X E[T] / tasks in flight differs from 1 by {statistics.median(little):.2%} in the median, "
          f"{max(little):.2%} at the most.\n")


def policies(results, figures):
    optima = {row["workload"]: float(row["best"]) for row in rows(results, "optima.csv")}
    found = {}
    for row in rows(results, "policies.csv"):
        found.setdefault((row["workload"], row["policy"], row["order"]), []).append(float(row["throughput"]))

    def worth(key):
        return sum(interval(found[(workload, *key)])[0] / best for workload, best in optima.items())

    ways = sorted({key[1:] for key in found}, key=worth, reverse=True)
    labels = [policy if order == "service" else f"{policy}, as they come" for policy, order in ways]
    figure, axes = plt.subplots(1, len(optima), figsize=(11, 5), sharey=True)
    for panel, (workload, best) in zip(axes, optima.items()):
        for at, (policy, order) in enumerate(ways):
            mean, half = interval(found[workload, policy, order])
            colour = "#0072B2" if policy in ("map", "optimal") else "#D55E00" if policy in ("mis", "weighted") else "0.6" if order == "service" else "0.8"
            panel.barh(at, mean, xerr=half, color=colour, error_kw={"linewidth": 1, "capsize": 2})
        panel.axvline(best, color="black", linewidth=1, linestyle=":")
        panel.set(title=f"{workload}\n(dotted: certified optimum)", xlabel="tasks per second", yticks=range(len(ways)), yticklabels=labels)
    axes[0].invert_yaxis()
    figure.tight_layout()
    save(figure, figures, "policies.svg")

    print("### Policies\n\n| policy | " + " | ".join(optima) + " |\n| --- |" + " --- |" * len(optima))
    for (policy, order), label in zip(ways, labels):
        cells = []
        for workload, best in optima.items():
            mean, half = interval(found[workload, policy, order])
            cells.append(f"{mean:,.0f} ± {half:,.0f} ({mean / best:.0%})")
        print(f"| {label.replace(policy, f'`{policy}`')} | " + " | ".join(cells) + " |")
    print("| certified optimum of the profile | " + " | ".join(f"{best:,.0f}" for best in optima.values()) + " |\n")
    little = sorted((abs(float(row["little"]) - 1), row["policy"]) for row in rows(results, "policies.csv"))
    print(f"Little's law over these runs: off by {statistics.median(x for x, _ in little):.2%} in the median, {little[-1][0]:.2%} at the most; "
          f"over 2% in {sum(x > 0.02 for x, _ in little)} of {len(little)}.\n")


def shares(results):
    found = {}
    for row in rows(results, "shares.csv"):
        if row["order"] == "service":
            found.setdefault((row["workload"], row["policy"], row["type"], float(row["asked"])), []).append(float(row["got"]))
    types = list(dict.fromkeys(key[2] for key in found))
    print("### Shares\n\n| workload | policy | " + " | ".join(types) + " | farthest |\n| --- | --- |" + " --- |" * (len(types) + 1))
    for workload, policy in dict.fromkeys((key[0], key[1]) for key in found):
        if policy not in ("weighted", "mis", "map"):
            continue
        cells, worst = [], 0
        for name in types:
            asked, got = next((key[3], values) for key, values in found.items() if key[:3] == (workload, policy, name))
            cells.append(f"{statistics.mean(got):.1%} of {asked:.1%}")
            worst = max(worst, max(abs(x - asked) for x in got))
        print(f"| {workload} | `{policy}` | " + " | ".join(cells) + f" | {100 * worst:.1f} points |")
    print()


def resources(results):
    """Tables of what was measured of the resources alone: servers, disciplines, rates."""
    print("### Servers\n")
    for name in ("servers-4-streams.csv", "servers.csv"):
        if not (results / name).exists():
            continue
        table = rows(results, name)
        widths = sorted({int(row["servers"]) for row in table})
        print(f"| {name}, tasks/s with so many in use | " + " | ".join(map(str, widths)) + " |\n| --- |" + " --- |" * len(widths))
        for pair in dict.fromkeys((row["type"], row["resource"]) for row in table):
            found = {int(row["servers"]): float(row["throughput"]) for row in table if (row["type"], row["resource"]) == pair}
            print(f"| {' on '.join(pair)} | " + " | ".join(f"{found[w]:,.0f}" if w in found else "" for w in widths) + " |")
        print()
    print("### Disciplines\n\n| order | model | median error | worst |\n| --- | --- | --- | --- |")
    table = rows(results, "disciplines.csv")
    for order, model in (("service", "model_ps"), ("arrival", "model_fcfs")):
        errors = [abs(float(row["throughput"]) / float(row[model]) - 1) for row in table if row["order"] == order]
        print(f"| {order} | {model} | {statistics.median(errors):.1%} | {max(errors):.1%} |")
    print("\n### Rates\n\n| pair | alone | under load | 95% interval | alone / under load |\n| --- | --- | --- | --- | --- |")
    for row in rows(results, "rates.csv"):
        alone, low, loaded, high = (float(row[key]) for key in ("alone", "loaded_low", "loaded", "loaded_high"))
        print(f"| {row['type']} on {row['resource']} | {alone:,.0f} | {loaded:,.0f} | {low:,.0f} to {high:,.0f} | {alone / loaded:.2f} |")
    print()


def plans(results):
    """What policies with a plan completed of what their last plan said."""
    print("### Plans\n\n| policy | workload | completed, of what the plan said |\n| --- | --- | --- |")
    found = {}
    for row in rows(results, "policies.csv"):
        if float(row["predicted"]) > 0:
            found.setdefault((row["policy"], row["workload"]), []).append(float(row["throughput"]) / float(row["predicted"]))
    for (policy, workload), parts in sorted(found.items()):
        print(f"| `{policy}` | {workload} | {min(parts):.1%} to {max(parts):.1%} |")
    print()


def gantt(results, figures):
    table = rows(results, "gantt.csv")
    print("### One second\n\n| policy | resource | tasks by type | idle |\n| --- | --- | --- | --- |")
    for policy, resource in dict.fromkeys((row["policy"], row["resource"]) for row in table):
        chosen = [row for row in table if (row["policy"], row["resource"]) == (policy, resource)]
        servers = len({row["server"] for row in table if row["resource"] == resource})
        busy = sum(min(1, float(row["end"])) - max(0, float(row["start"])) for row in chosen)
        kinds = collections.Counter(row["type"] for row in chosen)
        print(f"| `{policy}` | {resource} | " + ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common()) + f" | {1 - busy / servers:.1%} |")
    print()
    names = list(dict.fromkeys(row["policy"] for row in table))
    lanes = list(dict.fromkeys((row["resource"], int(row["server"])) for row in sorted(table, key=lambda row: (row["resource"], int(row["server"])))))
    figure, axes = plt.subplots(len(names), 1, figsize=(11, 3.1 * len(names)), sharex=True)
    for panel, policy in zip(axes, names):
        chosen = [row for row in table if row["policy"] == policy]
        for lane, key in enumerate(lanes):
            for work, colour in COLOURS.items():
                spans = [(float(row["start"]), float(row["end"]) - float(row["start"])) for row in chosen
                         if (row["resource"], int(row["server"])) == key and row["type"] == work]
                panel.broken_barh(spans, (lane - 0.42, 0.84), facecolors=colour, edgecolor="white", linewidth=0.1, rasterized=True)
        labels = [f"{resource} {server + 1}" if sum(r == resource for r, _ in lanes) > 1 else resource for resource, server in lanes]
        panel.set(title=f"{policy}: {len(chosen):,} tasks in this second", yticks=range(len(lanes)), yticklabels=labels, xlim=(0, 1))
        panel.tick_params(axis="y", labelsize=7)
        panel.invert_yaxis()
    axes[-1].set_xlabel("seconds")
    figure.legend(handles=[Patch(color=colour, label=work) for work, colour in COLOURS.items()], loc="lower center", ncol=4, frameon=False)
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    save(figure, figures, "gantt.svg")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results, figures = map(pathlib.Path, sys.argv[1:])
    figures.mkdir(parents=True, exist_ok=True)
    predictions(results, figures)
    policies(results, figures)
    shares(results)
    plans(results)
    resources(results)
    gantt(results, figures)


if __name__ == "__main__":
    main()
