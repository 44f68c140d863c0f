#!/usr/bin/env python3
"""What Python costs: `solve` from arrays, `simulate` against the command, policies and live dispatch.

usage: crossing.py COMMAND      (PYTHONPATH must lead to the module)

All times are of the processor, not of the wall: other programs may be running.
"""
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import time
import timeit

import numpy as np

import allot

SCENARIO = pathlib.Path(__file__).resolve().parents[2] / "examples/paper-2gp1sa.toml"
ROUNDS = 9


def solving():
    machine = allot.load(SCENARIO)
    rates, counts = machine.rates, machine.counts
    plain = allot.Scenario(rates, counts)
    calls = {
        "Scenario(rates, counts)": lambda: allot.Scenario(rates, counts),
        "solve(scenario)": lambda: allot.solve(plain),
        "solve(Scenario(rates, counts)).assignment": lambda: allot.solve(allot.Scenario(rates, counts)).assignment,
        "the solver alone, by its own clock": None,
    }
    print(f"MAP, {len(machine.resources)} resources, {machine.population} threads; microseconds a call, best and median")
    for name, call in calls.items():
        if call is None:
            times = [allot.solve(plain).seconds for _ in range(20_000)]
        else:
            number = 5000
            times = [seconds / number for seconds in timeit.repeat(call, timer=time.process_time, number=number, repeat=ROUNDS)]
        print(f"  {name:45s} {1e6 * min(times):7.2f} {1e6 * statistics.median(times):7.2f}")


def children_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def simulating(command):
    """The same work in turns: the call in Python, and the command from its start to its end."""
    completions = 3_000_000
    mine, theirs = [], []
    for _ in range(ROUNDS):
        began = time.process_time()
        run = allot.simulate(SCENARIO, "jsq", completions=completions, replications=1, jobs=1)
        mine.append(time.process_time() - began)
        words = [command, "simulate", SCENARIO, "--policy", "jsq", "--completions", completions, "--replications", 1]
        before = children_time()
        done = subprocess.run([*map(str, words), "--jobs", "1", "--json"], capture_output=True, check=True)
        theirs.append(children_time() - before)
        native = json.loads(done.stdout)
        assert native["throughput"]["mean"] == run.throughput.mean
    print(f"\nsimulate, jsq, one thread, {completions:,} completions; seconds, best and median")
    for name, times in (("Python", mine), ("command", theirs)):
        print(f"  {name:45s} {min(times):7.3f} {statistics.median(times):7.3f}")
    print(f"  speed from Python: {min(theirs) / min(mine):.1%} of native by the best, ", end="")
    print(f"{statistics.median(theirs) / statistics.median(mine):.1%} by the median")


def deciding():
    machine = allot.load(SCENARIO)

    def jsq(state, task):
        able = np.flatnonzero(state.rates[task])
        return able[np.argmin(state.totals[able])]

    def home(state, task):
        return task

    print("\na policy in Python; completions per second")
    for policy in (home, jsq):
        began = time.process_time()
        run = allot.simulate(machine, policy, completions=200_000, replications=1)
        rate = run.completions_per_second * run.wall_seconds / (time.process_time() - began)
        print(f"  {run.policy:45s} {rate:9,.0f}")


def dispatching():
    """A task that ends at once and is followed by the next, with seven others in flight."""
    machine = allot.load(SCENARIO)
    dispatcher = allot.Dispatcher(machine, background=False)
    for _ in range(7):
        dispatcher.place(0)
    task = machine.tasks[0]

    def by_hand():
        dispatcher.complete(dispatcher.place(task), 1e-3)

    def in_a_context():
        with dispatcher.task(task):
            pass

    print("\nlive dispatch; microseconds a task, best and median")
    for name, call in (("place(name), complete(ticket, seconds)", by_hand), ("with task(name)", in_a_context)):
        number = 20_000
        times = [seconds / number for seconds in timeit.repeat(call, timer=time.process_time, number=number, repeat=ROUNDS)]
        print(f"  {name:45s} {1e6 * min(times):7.2f} {1e6 * statistics.median(times):7.2f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(f"allot {allot.__version__} ({allot.__commit__}), NumPy {np.__version__}, Python {sys.version.split()[0]}\n")
    solving()
    simulating(sys.argv[1])
    deciding()
    dispatching()
