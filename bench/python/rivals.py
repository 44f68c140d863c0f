#!/usr/bin/env python3
"""What people use now against allot, on the same scenario: SciPy's SLSQP for the assignment, SimPy for the simulation.

usage: rivals.py [SCENARIO]      (default: examples/paper-2gp1sa.toml; PYTHONPATH must lead to the module)

Both rivals are written as one would write them, and the same as in the other benchmarks: the relaxed problem with
gradients and the best rounding of its answer (bench/solvers), a process per thread and processor sharing in virtual time
(bench/simulate/rivals). For single ps servers without floors and depths. All times are of the processor, not of the wall:
other programs may be running.
"""
import os
import pathlib
import random
import statistics
import sys
import time

# Threads of the linear algebra would wait for each other, and their waiting would count against SciPy.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "solvers"), str(HERE.parent / "simulate/rivals")]

import simpy
from scipy_slsqp import solve as solve_by_scipy
from simpy_network import Shared

import allot

COMPLETIONS = 20_000
REPLICATIONS = 5


def timed(work, rounds):
    """The result, and the best of some times in seconds."""
    times = []
    for _ in range(rounds):
        began = time.process_time()
        result = work()
        times.append(time.process_time() - began)
    return result, min(times)


def simulate_by_simpy(machine, seed):
    """Join the shortest queue in SimPy, threads entering as listed. Throughput after a tenth of warm-up."""
    env = simpy.Environment()
    rng = random.Random(seed)
    stations = [Shared(env) for _ in machine.resources]
    present = [0] * len(stations)
    able = [[j for j, rate in enumerate(row) if rate > 0] for row in machine.rates]
    rates = machine.rates.tolist()
    marks = []
    warm = COMPLETIONS // 10
    done = env.event()
    completed = 0

    def thread(task):
        nonlocal completed
        while True:
            j = min(able[task], key=present.__getitem__)
            present[j] += 1
            yield stations[j].serve(rng.expovariate(1.0) / rates[task][j])
            present[j] -= 1
            completed += 1
            if completed == warm or completed == warm + COMPLETIONS:
                marks.append(env.now)
            if completed == warm + COMPLETIONS:
                done.succeed()

    for task, count in enumerate(machine.counts):
        for _ in range(count):
            env.process(thread(task))
    env.run(until=done)
    return COMPLETIONS / (marks[1] - marks[0])


def main(path):
    machine = allot.load(path)
    print(f"{machine.name or path}: {len(machine.tasks)} types, {len(machine.resources)} resources, {machine.population} threads\n")
    proof = allot.certify(machine)
    print(f"{'assignment':34s} {'tasks/s':>9s} {'of optimum':>11s} {'time':>12s}")

    def show(name, throughput, seconds):
        print(f"{name:34s} {throughput:9.4f} {throughput / proof.upper_bound:11.2%} {1e6 * seconds:9.1f} us")

    scenario = machine.to_dict()
    scenario.setdefault("name", str(path))
    scipy, seconds = timed(lambda: solve_by_scipy(scenario, 60.0, 1e-9), 20)
    show("SciPy SLSQP, rounded", scipy["throughput"], seconds)
    for solver in ("map", "slsqp", "exact"):
        answer, seconds = timed(lambda: allot.solve(machine, solver=solver), 200)
        show(f"allot {solver}" + (", proven optimal" if answer.proven_optimal else ""), answer.throughput, seconds)

    print(f"\n{'simulation of jsq':34s} {'tasks/s':>9s} {'':11s} {'completions/s':>13s}")
    runs, seconds = timed(lambda: [simulate_by_simpy(machine, seed) for seed in range(REPLICATIONS)], 1)
    half_width = 2.776 * statistics.stdev(runs) / REPLICATIONS**0.5  # Student's t, 4 degrees of freedom
    work = REPLICATIONS * COMPLETIONS
    print(f"{'SimPy ' + simpy.__version__:34s} {statistics.mean(runs):9.4f} ± {half_width:<9.4f} {1.1 * work / seconds:13,.0f}")
    options = dict(completions=100 * COMPLETIONS, replications=REPLICATIONS, jobs=1, start="listed")
    run, seconds = timed(lambda: allot.simulate(machine, "jsq", **options), 1)
    x = run.throughput
    print(f"{'allot, one thread':34s} {x.mean:9.4f} ± {x.half_width:<9.4f} {run.completions_per_second * run.wall_seconds / seconds:13,.0f}")
    print(f"{'allot analyze, exact':34s} {allot.analyze(machine, 'jsq', start='listed').throughput:9.4f}")


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:] == ["--help"]:
        sys.exit(__doc__)
    main(sys.argv[1] if len(sys.argv) == 2 else HERE.parents[1] / "examples/paper-2gp1sa.toml")
