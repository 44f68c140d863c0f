#!/usr/bin/python3
"""The figures and tables of several streams: streams.py RESULTS FIGURES

Reads what `real_machine share` and `race` wrote to the folder RESULTS, draws SVG files into the folder FIGURES, and prints
the tables as Markdown. Needs Matplotlib (Debian: python3-matplotlib)."""
import pathlib
import statistics
import sys

from figures import MARKERS, WORKLOAD_COLOURS, interval, plt, rows, save

# How the page calls them, in the order in which they are drawn.
ENTRANTS = {"planned": "`planned`", "map": "`map`", "optimal": "`optimal`", "held-map": "placement of `map`, held",
            "held-local": "placement of `local`, held", "held-map-alone": "placement as if nothing were shared, held",
            "earliest-finish-in-order": "earliest finish, in the order of service", "earliest-finish": "earliest finish (dmda's rule)",
            "least-loaded": "least loaded", "first-fit": "first fit by preference (HyperQueue's)", "round-robin": "round robin",
            "planned-shares": "`planned`, with shares"}


def within(errors, part):
    return sum(error <= part for error in errors)


# Folders of predictions under the results, and what each is.
SETS = {".": "first machine", "refit": "first machine, fitted anew", "again": "second machine", "again/refit": "second machine, fitted anew",
        "third": "third machine"}
# Ways to predict: a column and how the page calls it.
WAYS = {"alone_error": "nothing shared", "error": "fit", "corrected_error": "fit, corrected by earlier runs"}


def summary(errors):
    errors = sorted(map(abs, errors))
    return f"{statistics.median(errors):.1%}, {within(errors, 0.1)} ({within(errors, 0.1) / len(errors):.0%}), {errors[-1]:.1%}"


def known(row, at):
    """The error of the throughput if that of one resource were predicted as it was measured."""
    by = [tuple(map(float, pair.split(":"))) for pair in row["by_station"].split()]
    return sum(real if k == at else said for k, (said, real) in enumerate(by)) / sum(real for _, real in by) - 1


def predictions(results, figures):
    tables = {name: rows(results / name, "predictions.csv") for name in SETS if (results / name / "predictions.csv").exists()}
    print("### Predictions: median error, placements within 10%, worst\n\n| data | streams | placements | " + " | ".join(WAYS.values()) + " |\n"
          "| --- | --- | --- | " + " | ".join("---" for _ in WAYS) + " |")
    for name, table in tables.items():
        for streams in dict.fromkeys(row["streams"] for row in table):
            chosen = [row for row in table if row["streams"] == streams]
            cells = [summary(float(row[way]) for row in chosen) if way in chosen[0] else "" for way in WAYS]
            print(f"| {SETS[name]} | {streams} | {len(chosen)} | " + " | ".join(cells) + " |")
    print("\n### Four streams, if one resource were predicted as it was measured\n\n| data | cpu | gpu | jpeg |\n| --- | --- | --- | --- |")
    for name, table in tables.items():
        chosen = [row for row in table if row["streams"] == "4"]
        print(f"| {SETS[name]} | " + " | ".join(summary(known(row, at) for row in chosen) for at in range(3)) + " |")
    newest = [row for row in list(tables.values())[-1] if row["streams"] == "4"]
    print("\n### The worst of four streams\n\n| data | workload | placement | counts | predicted | measured | error | corrected | by resource, predicted:measured |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, table in tables.items():
        four = [row for row in table if row["streams"] == "4" and "corrected_error" in row]
        for row in sorted(four, key=lambda row: -abs(float(row["corrected_error"])))[:4]:
            print(f"| {SETS[name]} | {row['workload']} | {row['placement']} | {row['counts']} | {float(row['predicted']):,.0f} | {float(row['measured']):,.0f} | "
                  f"{float(row['error']):+.1%} | {float(row['corrected_error']):+.1%} | {row['by_station']} |")
    print()
    figure, panels = plt.subplots(1, 3, figsize=(14, 5), sharey=True)
    largest = max(float(row["measured"]) for row in newest) * 1.1
    for panel, column, title in zip(panels, ("alone", "predicted", "corrected"), ("nothing shared", "what is shared, fitted", "corrected by the runs before")):
        panel.fill_between([0, largest], [0, largest * 0.9], [0, largest * 1.1], color="0.88", label="within 10%")
        panel.plot([0, largest], [0, largest], color="0.4", linewidth=1)
        for workload, colour in zip(dict.fromkeys(row["workload"] for row in newest), WORKLOAD_COLOURS):
            for origin in dict.fromkeys(row["placement"] for row in newest):
                chosen = [row for row in newest if row["workload"] == workload and row["placement"] == origin]
                panel.scatter([float(row["measured"]) for row in chosen], [float(row[column]) for row in chosen], color=colour, s=28,
                              marker=MARKERS.get(origin, "^"), label=workload if origin == "random" else None, zorder=3)
        panel.set(xlim=(0, largest), ylim=(0, largest * 1.6), xlabel="measured (tasks per second)", title=title)
    panels[0].set_ylabel("predicted (tasks per second)")
    panels[2].legend(loc="upper left", frameon=False)
    figure.tight_layout()
    save(figure, figures, "streams-predictions.svg")


def fits(results):
    table = [row for row in rows(results, "fits.csv") if row["streams"] == "4"]
    kinds = list(dict.fromkeys(row["what"] for row in table))
    print("### The fit with four streams\n\n| pair | " + " | ".join(f"{kind} (95% interval)" for kind in kinds) + " |\n| --- |" + " --- |" * len(kinds))
    for pair in dict.fromkeys((row["type"], row["resource"]) for row in table):
        cells = []
        for kind in kinds:
            row = next(row for row in table if (row["type"], row["resource"], row["what"]) == (*pair, kind))
            value, low, high = (float(row[key]) for key in ("value", "low", "high"))
            cells.append("0" if high == 0 else f"{value:,.0f} ({low:,.0f} to {high:,.0f})" if kind == "rate" else f"{value:.2f} ({low:.2f} to {high:.2f})")
        print(f"| {' on '.join(pair)} | " + " | ".join(cells) + " |")
    print("\n| streams | mixes | left out | shared capacities | median error | within 10% | worst |\n| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows(results, "errors.csv"):
        print(f"| {row['streams']} | {row['mixes']} | {'yes' if row['what'] == 'left_out' else 'no, all seen'} | {row['capacities']} | "
              f"{float(row['median']):.1%} | {float(row['within_tenth']):.0%} | {float(row['worst']):.0%} |")
    print()


def race(results, figures):
    found = {}
    for row in rows(results, "race.csv"):
        found.setdefault((row["entrant"], row["streams"]), {}).setdefault(row["workload"], []).append(float(row["throughput"]))
    workloads = sorted({workload for by in found.values() for workload in by})
    ways = [(name, streams) for streams in ("4", "1") for name in ENTRANTS if (name, streams) in found]
    best_one = {w: max(statistics.mean(found[way][w]) for way in ways if way[1] == "1") for w in workloads}
    best_held = {w: max(statistics.mean(by[w]) for way, by in found.items() if way[0].startswith("held-") and w in by) for w in workloads}
    print("### The race\n\nTasks per second, 95% intervals of "
          f"{min(len(values) for by in found.values() for values in by.values())} repeats; in brackets: times the best policy with one stream.\n\n| entrant | "
          + " | ".join(workloads) + " |\n| --- |" + " --- |" * len(workloads))
    for way in sorted(ways, key=lambda way: (way[1] == "1", -sum(statistics.mean(v) for v in found[way].values()) / len(found[way]))):
        cells = []
        for w in workloads:
            if w not in found[way]:
                cells.append("")
                continue
            mean, half = interval(found[way][w])
            cells.append(f"{mean:,.0f} ± {half:,.0f} ({mean / best_one[w]:.2f})")
        print(f"| {ENTRANTS[way[0]]}, {way[1]} stream{'s' if way[1] != '1' else ''} | " + " | ".join(cells) + " |")
    print()
    for name in ("planned", "map", "optimal"):
        print(f"{name}: of the best placement held, " + ", ".join(f"{statistics.mean(found[name, '4'][w]) / best_held[w]:.1%} ({w})" for w in workloads))
    shares = rows(results, "shares.csv")
    farthest = max(shares, key=lambda row: abs(float(row["got"]) - float(row["asked"])))
    print(f"\nShares of planned: farthest of {len({(row['repeat'], row['workload']) for row in shares})} runs "
          f"{100 * abs(float(farthest['got']) - float(farthest['asked'])):.2f} points ({farthest['workload']}, {farthest['type']}).\n")
    figure, panels = plt.subplots(1, len(workloads), figsize=(12, 5.6), sharey=True)
    for panel, w in zip(panels, workloads):
        for at, way in enumerate(ways):
            if w not in found[way]:
                continue
            mean, half = interval(found[way][w])
            colour = "#0072B2" if way[0] in ("planned", "map", "optimal") else "#009E73" if way[0].startswith("held") else "#D55E00" if way[0] == "planned-shares" else "0.6"
            panel.barh(at, mean, xerr=half, color=colour, alpha=1 if way[1] == "4" else 0.5, error_kw={"linewidth": 1, "capsize": 2})
        panel.set(title=w, xlabel="tasks per second", yticks=range(len(ways)),
                  yticklabels=[f"{ENTRANTS[name].replace('`', '')}, {streams}" for name, streams in ways])
        panel.tick_params(axis="y", labelsize=8)
    panels[0].invert_yaxis()
    figure.suptitle("with four streams, and with one (pale)")
    figure.tight_layout()
    save(figure, figures, "streams-race.svg")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results, figures = map(pathlib.Path, sys.argv[1:])
    figures.mkdir(parents=True, exist_ok=True)
    predictions(results, figures)
    fits(results)
    race(results, figures)


if __name__ == "__main__":
    main()
