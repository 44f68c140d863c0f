#!/usr/bin/env python3
"""The network of bench_simulate in SimPy: a process per thread.

usage: simpy_network.py ps|fcfs COMPLETIONS   prints: X SECONDS CPU_SECONDS
       simpy_network.py --version
"""
import heapq
import random
import sys
import time

import simpy

THREADS = 6  # at each resource
RATES = [8.0, 7.0, 9.0]


class Shared:
    """Processor sharing, which SimPy lacks: in virtual time a task's finish is fixed when it enters."""

    def __init__(self, env):
        self.env = env
        self.tasks = []  # (virtual finish, number, event)
        self.virtual = 0.0
        self.updated = 0.0
        self.entered = 0
        self.alarm = None

    def serve(self, work):
        self._advance()
        done = self.env.event()
        self.entered += 1
        heapq.heappush(self.tasks, (self.virtual + work, self.entered, done))
        self._set_alarm()
        return done

    def _advance(self):
        if self.tasks:
            self.virtual += (self.env.now - self.updated) / len(self.tasks)
        self.updated = self.env.now

    def _set_alarm(self):
        if not self.tasks:
            self.alarm = None
            return
        delay = max(0.0, (self.tasks[0][0] - self.virtual) * len(self.tasks))
        self.alarm = self.env.timeout(delay)
        self.alarm.callbacks.append(self._ring)

    def _ring(self, alarm):
        if alarm is not self.alarm:
            return  # somebody entered meanwhile
        self.virtual, _, done = heapq.heappop(self.tasks)
        self.updated = self.env.now
        done.succeed()
        self._set_alarm()


def main(discipline, wanted):
    env = simpy.Environment()
    rng = random.Random(1)
    all_done = env.event()
    completions = 0

    def count():
        nonlocal completions
        completions += 1
        if completions == wanted:
            all_done.succeed()

    def thread_shared(resource, rate):
        while True:
            yield resource.serve(rng.expovariate(rate))
            count()

    def thread_in_order(resource, rate):
        while True:
            with resource.request() as turn:
                yield turn
                yield env.timeout(rng.expovariate(rate))
            count()

    for rate in RATES:
        resource = Shared(env) if discipline == "ps" else simpy.Resource(env, capacity=1)
        for _ in range(THREADS):
            env.process((thread_shared if discipline == "ps" else thread_in_order)(resource, rate))
    start, cpu = time.perf_counter(), time.process_time()
    env.run(until=all_done)
    print(completions / env.now, time.perf_counter() - start, time.process_time() - cpu)


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print("SimPy", simpy.__version__, "on Python", sys.version.split()[0])
    elif len(sys.argv) == 3 and sys.argv[1] in ("ps", "fcfs"):
        main(sys.argv[1], int(sys.argv[2]))
    else:
        sys.exit(__doc__)
