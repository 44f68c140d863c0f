#!/usr/bin/env python3
"""allot.Executor beside concurrent.futures: what a task costs, and what a box earns.

    PYTHONPATH=build/release/integrations/python bench/python/executor.py [--seconds 20] [--rounds 5]

Costs are processor time of the whole process per empty task, submitted at once and waited for, the best of some rounds in
turns. The box is that of the README: eight cores, a GPU, thumbnails and detections that are worth ten. Its tasks sleep for
as long as they would run, eight times as long as there, so that the machine's own noise counts less; sixteen tasks are in
flight, and each submits the next of its kind. Sleeps take longer than they are told to where the machine is busy: the second plan is
for the times that they took. Rivals are two thread pools: by first fit (the GPU if it is free, else the cores) and in turns.
"""
import argparse
import pathlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import allot

BOX = pathlib.Path(__file__).resolve().parents[2] / "examples/plans/worth.toml"
SLOWER = 8


def empty():
    pass


def cost(pool, tasks=20_000):
    """Microseconds of processor time per task."""
    with pool:
        for _ in range(200):
            pool.submit(empty).result()
        began = time.process_time()
        for future in [pool.submit(empty) for _ in range(tasks)]:
            future.result()
        return 1e6 * (time.process_time() - began) / tasks


def costs(rounds):
    makers = {
        "ThreadPoolExecutor(4)": lambda: ThreadPoolExecutor(4),
        "allot.Executor, 4 workers": lambda: allot.Executor(resources={"cpu": 4}),
        "allot.Executor, 3 + 1 workers": lambda: allot.Executor(resources={"cpu": 3, "gpu": 1}),
    }
    best = {name: min(cost(make()) for _ in range(rounds)) for name, make in makers.items()}
    base = best["ThreadPoolExecutor(4)"]
    for name, microseconds in best.items():
        print(f"{name:32}{microseconds:8.2f} us a task {microseconds / base:8.2f}x")


class TwoPools:
    """Two thread pools, and where a task goes when it is submitted."""

    def __init__(self, servers, seconds, choose):
        self.pools = {name: ThreadPoolExecutor(count) for name, count in servers.items()}
        self.servers, self.seconds, self.choose = servers, seconds, choose
        self.backlog = dict.fromkeys(servers, 0)
        self.submitted = 0
        self.lock = threading.Lock()

    def submit(self, task):
        with self.lock:
            place = self.choose(self)
            self.backlog[place] += 1
            self.submitted += 1
        return self.pools[place].submit(self.run, task, place)

    def run(self, task, place):
        time.sleep(self.seconds[task, place])
        with self.lock:
            self.backlog[place] -= 1

    def shutdown(self):
        for pool in self.pools.values():
            pool.shutdown(wait=True, cancel_futures=True)


def first_fit(pools):
    return "gpu" if pools.backlog["gpu"] == 0 else "cpu"


def in_turns(pools):
    return ("gpu", "cpu")[pools.submitted % 2]


def earned(pool, box, seconds, warm_up):
    """Value per second of the box's threads, each of which has one task after the other."""
    ended = dict.fromkeys(box.tasks, 0)
    lock = threading.Lock()
    over = threading.Event()

    def again(task):
        if not over.is_set():
            pool.submit(task).add_done_callback(lambda _: (count(task), again(task)))

    def count(task):
        with lock:
            ended[task] += 1

    for task, threads in zip(box.tasks, box.counts):
        for _ in range(threads):
            again(task)
    time.sleep(warm_up)
    before, began = dict(ended), time.perf_counter()
    time.sleep(seconds)
    after, passed = dict(ended), time.perf_counter() - began
    over.set()
    pool.shutdown()
    return sum(w * (after[t] - before[t]) for t, w in zip(box.tasks, box.worths)) / passed


def box(seconds):
    machine = allot.load(BOX)
    machine = machine.replace(rates=machine.rates / SLOWER)
    plan = allot.solve(machine, service="planned").value
    times = {(t, r): 1 / rate for t, row in zip(machine.tasks, machine.rates) for r, rate in zip(machine.resources, row)}
    executor = allot.Executor(resources=dict(zip(machine.resources, map(int, machine.servers))))
    for task, worth in zip(machine.tasks, machine.worths):
        executor.kind(task, worth=worth, **{r: lambda s=times[task, r]: time.sleep(s) for r in machine.resources})
    servers = dict(zip(machine.resources, map(int, machine.servers)))
    results = {"allot.Executor, told no rates": earned(executor, machine, seconds, 8)}
    seen = executor.statistics()
    took = np.where(seen.completed > 9, seen.completed / np.maximum(seen.busy_seconds, 1e-9), machine.rates)
    really = allot.solve(machine.replace(rates=took), service="planned").value
    results["first fit, two pools"] = earned(TwoPools(servers, times, first_fit), machine, seconds, 1)
    results["in turns, two pools"] = earned(TwoPools(servers, times, in_turns), machine, seconds, 1)
    print(f"{'plan':32}{plan:8.1f} of value a second")
    print(f"{'plan for the times that it took':32}{really:8.1f} of value a second")
    ours = results["allot.Executor, told no rates"]
    for name, value in results.items():
        print(f"{name:32}{value:8.1f} of value a second {value / plan:8.1%} of the plan, {value / really:6.1%} of the second {ours / value:8.2f}x")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    costs(given.rounds)
    box(given.seconds)
