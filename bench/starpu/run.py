#!/usr/bin/env python3
"""Does allot's StarPU policy get more done than StarPU's own? Closed loops of sleeping tasks, shares, worths, rates that have to
be learnt, random boxes, the cost of an empty task, and a task graph, which is not what it is made for. Medians of shuffled rounds.

  bench/starpu/run.py [--rounds N] [--seconds S] [--cases S1,S2] [--json FILE] [PART...]

PART: loops shares values learning boxes overhead graph kernels
"""
import argparse
import json
import pathlib
import platform
import random
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cases  # noqa: E402
import rounds  # noqa: E402

EXAMPLES = cases.examples() / "examples"
#: Of a measurement in which tasks took over 3% longer than told, which nobody can tell where their lengths are drawn.
TRIES = 3
#: Not below these times dmda.
BAR_AGAINST_DMDA = {"S1": 1.35, "S2": 0.98, "S3": 1.04, "S4": 0.98}


def shuffled_rounds(ways, rounds):
    """{name: [result of each round]}; every round runs all, in an order of its own."""
    results = {name: [] for name in ways}
    order = random.Random(1)
    for round_ in range(rounds):
        for name in order.sample(list(ways), len(ways)):
            results[name].append(ways[name](round_))
    return results


def verdict(value, bar):
    return f"{value:6.3f}  (bar {bar}: {'met' if value >= bar else 'MISSED'})"


def median(values):
    return statistics.median(values)


def loops(options):
    answer = {}
    for name in options.cases.split(","):
        case = cases.CASES[name]
        loop = cases.ClosedLoop(case)

        tries = 1 if cases.drawn(case) else TRIES

        def run(policy, loop=loop, tries=tries, **settings):
            return lambda round_: loop.quietest(lambda: loop.run(policy, options.seconds, seed=round_ + 1, **settings)[0], tries)

        ways = {policy: run(policy) for policy in cases.RIVALS}
        ways["allot-map"] = run("allot-map")
        ways["allot-map, depth 2"] = run("allot-map", ALLOT_DEPTH=2)
        ways["allot-map, no models"] = run("allot-map", models=False)
        got = shuffled_rounds(ways, options.rounds)
        promise = {depth: loop.promise(depth)["throughput"] for depth in (1, 2)}
        rate = {policy: median([r["throughput"] for r in results]) for policy, results in got.items()}
        # Where sleepers are woken late, the machine has the rates that were measured, not those it was told.
        fulfilled = {}
        for policy, depth in (("allot-map", 1), ("allot-map, depth 2", 2)):
            fulfilled[policy] = median([r["throughput"] / loop.promise(depth, measured=loop.measured(r))["throughput"] for r in got[policy]])
        print(f"== {name}  {case['cpus']} CPU  {' '.join(case['types'])}  {' '.join(case.get('options', []))}")
        print(f"   the model promises {promise[1]:.1f}/s, with minimum depth 2 {promise[2]:.1f}/s")
        for policy, results in got.items():
            values = [r["throughput"] for r in results]
            by_type = "  ".join(f"{t} {median([r['types'][t]['throughput'] for r in results]):6.1f}" for t in results[0]["types"])
            print(f"   {policy:22} {rate[policy]:8.1f}/s  [{min(values):7.1f} {max(values):7.1f}]  {rate[policy] / rate['dmda']:5.3f} x dmda"
                  f"   {by_type}   tasks took {median([loop.stretch(r) for r in results]):.3f} x as told")
        print(f"   against dmda              {verdict(rate['allot-map'] / rate['dmda'], BAR_AGAINST_DMDA[name])}")
        best = max(cases.RIVALS, key=rate.get)
        print(f"   against the best ({best:6})  {verdict(rate['allot-map'] / rate[best], 1.0 if name in ('S1', 'S3') else 0.98)}")
        print(f"   of the promise            {verdict(rate['allot-map'] / promise[1], 0.92)}   at the times measured {fulfilled['allot-map']:.3f}")
        print(f"   of the promise, depth 2   {verdict(rate['allot-map, depth 2'] / promise[2], 0.95)}   at the times measured"
              f" {fulfilled['allot-map, depth 2']:.3f}", flush=True)
        answer[name] = {"promise": promise, "throughput": rate, "fulfilled_at_measured_times": fulfilled, "runs": got}
    return answer


def shares(options):
    answer = {}
    for name in ("S1", "S2", "S3"):
        case = cases.CASES[name]
        loop = cases.ClosedLoop(case)
        wanted = case["shares"]
        got = shuffled_rounds({"allot-weighted": lambda _, loop=loop, wanted=wanted: loop.run(
            "allot-weighted", options.seconds, ALLOT_SHARES=cases.named_text(wanted))[0]}, options.rounds)["allot-weighted"]
        reached = {t: median([r["types"][t]["share"] for r in got]) for t in wanted}
        worst = max(abs(reached[t] - wanted[t]) for t in wanted)
        promise = {s: loop.promise(1, wanted, None, "--objective", "priority", "--solver", "weighted", "--shares", s)["throughput"]
                   for s in ("exact", "floor")}
        rate = median([r["throughput"] for r in got])
        print(f"== {name} allot-weighted: {rate:.1f}/s (the plan: exact shares {promise['exact']:.1f}/s, floors {promise['floor']:.1f}/s)")
        print("   " + "  ".join(f"{t} {100 * reached[t]:.2f}% of {100 * wanted[t]:.0f}%" for t in wanted)
              + f"   worst {100 * worst:.2f} points (bar 2: {'met' if worst <= 0.02 else 'MISSED'})", flush=True)
        answer[name] = {"wanted": wanted, "reached": reached, "throughput": rate, "promise": promise}
    return answer


def values(options):
    """Types of different worth: what is completed counts by it."""
    answer = {}
    for name in options.cases.split(","):
        case = cases.CASES[name]
        loop = cases.ClosedLoop(case)
        tries = 1 if cases.drawn(case) else TRIES

        def run(policy, loop=loop, tries=tries, **settings):
            return lambda round_: loop.quietest(lambda: loop.run(policy, options.seconds, seed=round_ + 1, **settings)[0], tries)

        ways = {policy: run(policy) for policy in [*options.against.split(","), "allot-map"]}
        ways["allot-planned"] = run("allot-planned", ALLOT_WORTHS=cases.named_text(case["worths"]))
        got = shuffled_rounds(ways, options.rounds)
        value = {policy: median([loop.value(r) for r in results]) for policy, results in got.items()}
        promise = loop.planned_value()
        fulfilled = {policy: median([loop.value(r) / loop.planned_value(loop.measured(r)) for r in results]) for policy, results in got.items()}
        print(f"== {name}  worths {cases.named_text(case['worths'])}: the plan promises {promise:.1f}/s")
        for policy, results in got.items():
            each = [loop.value(r) for r in results]
            by_type = "  ".join(f"{t} {median([r['types'][t]['throughput'] for r in results]):6.1f}" for t in results[0]["types"])
            print(f"   {policy:22} {value[policy]:8.1f}/s  [{min(each):7.1f} {max(each):7.1f}]  {value[policy] / value['dmda']:5.3f} x dmda"
                  f"   {fulfilled[policy]:.3f} of the plan at the times measured   {by_type}")
        print(f"   against dmda              {verdict(value['allot-planned'] / value['dmda'], 1.0)}")
        print(f"   against allot-map         {verdict(value['allot-planned'] / value['allot-map'], 1.0)}")
        print(f"   of the plan               {verdict(value['allot-planned'] / promise, 0.95)}   at the times measured {verdict(fulfilled['allot-planned'], 0.95)}", flush=True)
        answer[name] = {"promise": promise, "value": value, "fulfilled_at_measured_times": fulfilled, "runs": got}
    return answer


def learning(options):
    """No calibrated models: no round may end far below the others."""
    answer = {}
    for name in options.cases.split(","):
        loop = cases.ClosedLoop(cases.CASES[name])
        for policy in ("allot-map", "allot-planned"):
            got = [loop.run(policy, options.seconds, seed=round_ + 1, models=False) for round_ in range(options.rounds)]
            results = [result for result, _ in got]
            rates = [result["throughput"] for result in results]
            # Where sleepers are woken late a round is slow under every plan: what is left is the policy's.
            solver = ["--solver", "planned"] if policy == "allot-planned" else []
            of_plan = [result["throughput"] / loop.promise(1, None, loop.measured(result), *solver)["throughput"] for result in results]
            middle = median(rates)
            print(f"== {name} without models, {policy}, {options.rounds} rounds: median {middle:.1f}/s  [{min(rates):.1f} {max(rates):.1f}]"
                  f"   tasks took {min(map(loop.stretch, results)):.3f} to {max(map(loop.stretch, results)):.3f} x as told")
            print(f"   the worst of the median   {verdict(min(rates) / middle, 0.95)}   of the plan at the times measured"
                  f" {verdict(min(of_plan), 0.95)}, median {median(of_plan):.3f}", flush=True)
            statistics_ = [each for _, each in got]
            lost = rounds.explain(rounds.Plan(loop, policy), results, statistics_, options.reasons)
            answer[f"{name} {policy}"] = {"throughput": rates, "lost": lost, "statistics": statistics_}
    return answer


def boxes(options):
    """Random boxes: the value of the plan, at the times that were measured."""
    parts = []
    for seed in range(options.rounds):
        case = cases.random_box(seed)
        loop = cases.ClosedLoop(case)
        result = loop.quietest(lambda loop=loop, case=case: loop.run(
            "allot-planned", options.seconds, ALLOT_WORTHS=cases.named_text(case["worths"]))[0], TRIES)
        parts.append(loop.value(result) / loop.planned_value(loop.measured(result)))
        print(f"   box {seed:2}  {case['cpus']} CPU  {' '.join(case['types'])}  worths {cases.named_text(case['worths'])}: {parts[-1]:.3f} of the plan",
              flush=True)
    print(f"== {len(parts)} random boxes, of the plan: mean {statistics.mean(parts):.3f}, worst {verdict(min(parts), 0.95)}", flush=True)
    return parts


def overhead(options):
    """Microseconds per empty task."""
    policies = ["eager", "lws", "dmda", "allot-map"]
    scenes = {
        "closed loop, 1 CPU worker, 1 type": {"cpus": 1, "types": ["A:16:0"]},
        "closed loop, 1 CPU + 1 OpenCL worker, 3 types": {"cpus": 1, "types": ["A:8:0,0", "B:8:0,0", "C:8:0,0"]},
    }
    answer = {}
    for name, case in scenes.items():
        loop = cases.ClosedLoop(case)
        ways = {p: lambda _, p=p, loop=loop: 1e6 / loop.run(p, options.seconds)[0]["throughput"] for p in policies}
        answer[name] = report_overhead(name, shuffled_rounds(ways, options.rounds))
    if (EXAMPLES / "tasks_overhead").exists():
        home = cases.Home()

        def per_task(policy):
            printed, _ = home.run([EXAMPLES / "tasks_overhead", "-i", 100000], policy, errors=True, STARPU_NCPU=1, STARPU_NOPENCL=0)
            return float(printed.split("Per task:")[1].split()[0])

        ways = {p: lambda _, p=p: per_task(p) for p in policies}
        name = "StarPU's tasks_overhead, 100,000 tasks at once, 1 CPU worker"
        answer[name] = report_overhead(name, shuffled_rounds(ways, options.rounds))
    return answer


def report_overhead(name, got):
    us = {policy: median(values) for policy, values in got.items()}
    print(f"== empty tasks, us per task: {name}")
    for policy, value in us.items():
        print(f"   {policy:22} {value:8.3f} us   {value / us['dmda']:5.3f} x dmda")
    ratio = us["allot-map"] / us["dmda"]
    print(f"   against dmda              {ratio:6.3f}  (bar 1.3: {'met' if ratio <= 1.3 else 'MISSED'})", flush=True)
    return us


def graph(options):
    """The counter-case: a graph with a critical path, milliseconds to its end."""
    policies = ["dmda", "dmdas", "lws", "eager", "allot-map"]
    answer = {}
    home = cases.Home()
    home.run([cases.PROGRAMS / "cholesky", "--calibrate"])
    for tiles in (6, 12):
        ways = {p: lambda _, p=p, tiles=tiles: median([float(t) for t in home.run(
            [cases.PROGRAMS / "cholesky", "--tiles", tiles, "--repeat", 5], p)[0].split()]) for p in policies}
        name = f"Cholesky graph, {tiles} x {tiles} tiles, sleeping, 2 CPU + 1 OpenCL"
        answer[name] = report_graph(name, shuffled_rounds(ways, options.rounds))
    if (EXAMPLES / "cholesky_implicit").exists():
        real = cases.Home()
        words = [EXAMPLES / "cholesky_implicit", "-size", 1920, "-nblocks", 12]
        cpus = {"STARPU_NCPU": 2, "STARPU_NOPENCL": 0}
        for _ in range(3):
            real.run(words, "dmda", STARPU_CALIBRATE=1, **cpus)
        ways = {p: lambda _, p=p: float(real.run(words, p, errors=True, **cpus)[0].split("GFlop/s\n")[1].split()[1]) for p in policies}
        name = "StarPU's cholesky_implicit, 12 x 12 tiles of 160, 2 CPU"
        answer[name] = report_graph(name, shuffled_rounds(ways, options.rounds))
    return answer


def report_graph(name, got):
    ms = {policy: median(values) for policy, values in got.items()}
    print(f"== {name}: milliseconds")
    for policy, value in ms.items():
        print(f"   {policy:22} {value:8.1f} ms  [{min(got[policy]):7.1f} {max(got[policy]):7.1f}]  {value / ms['dmda']:5.3f} x dmda")
    sys.stdout.flush()
    return ms


def kernels(options):
    """Real kernels: they want the cores that the workers poll on, so this is as much about the machine."""
    home = cases.Home()
    words = [cases.PROGRAMS / "kernels", "--seconds", options.seconds, "--json"]
    home.run(words, "dmda", STARPU_CALIBRATE=1)
    ways = {p: lambda _, p=p: json.loads(home.run(words, p)[0]) for p in [*cases.RIVALS, "allot-map"]}
    equal = {"ALLOT_SHARES": "scale=1,product=1,collatz=1"}
    ways["allot-weighted, equal"] = lambda _: json.loads(home.run(words, "allot-weighted", **equal)[0])
    got = shuffled_rounds(ways, options.rounds)
    rate = {policy: median([r["throughput"] for r in results]) for policy, results in got.items()}
    print("== kernels: scale, product and Collatz, 6 tasks of each in flight, 1 CPU + 1 OpenCL worker")
    for policy, results in got.items():
        values = [r["throughput"] for r in results]
        by_type = "  ".join(f"{t} {median([r['types'][t]['throughput'] for r in results]):7.1f}" for t in results[0]["types"])
        print(f"   {policy:22} {rate[policy]:8.1f}/s  [{min(values):7.1f} {max(values):7.1f}]  {rate[policy] / rate['dmda']:5.3f} x dmda   {by_type}")
    sys.stdout.flush()
    return rate


def main():
    parts = {"loops": loops, "shares": shares, "values": values, "learning": learning, "boxes": boxes, "overhead": overhead, "graph": graph, "kernels": kernels}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--cases", default=",".join(cases.CASES), help="of the loops (default: %(default)s)")
    parser.add_argument("--against", default="dmda,dmdas", help="of values: StarPU's policies, dmda among them (default: %(default)s)")
    parser.add_argument("--reasons", action="store_true", help="of learning: say of every round where it lost against the plan, not only of low ones")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("part", nargs="*", help=", ".join(parts) + "; all of them if none is named")
    options = parser.parse_args()
    unknown = set(options.part) - set(parts)
    if unknown:
        parser.error(f"no part {' '.join(sorted(unknown))}; there are {', '.join(parts)}")
    answer = {"machine": platform.platform(),
              "starpu": cases.package("--modversion", "starpu-1.3")}
    for name in options.part or parts:
        answer[name] = parts[name](options)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(answer, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
