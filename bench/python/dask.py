#!/usr/bin/env python3
"""allot.dask.Executor beside Dask's own placement, with resource tags that are chosen by first fit.

    PYTHONPATH=build/release/integrations/python bench/python/dask.py [--tasks 1000]

Four workers, three with the tag CPU and one with GPU, run tasks of three kinds that sleep for as long as they would run.
First fit goes through the tasks in their order: each goes to the GPU if that is free, else to a CPU that is free, else the
first that becomes free. allot is told no rates. Both see the same tasks in the same order.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.pop(0)  # this file is called as the package is
import distributed

import allot
import allot.dask

SECONDS = {"parse": {"cpu": 0.03, "gpu": 0.06}, "detect": {"cpu": 0.2, "gpu": 0.04}, "train": {"cpu": 0.4, "gpu": 0.06}}
TAGS = {"cpu": "CPU", "gpu": "GPU"}


def first_fit(client, tasks):
    free = {"gpu": 1, "cpu": 3}
    sent = distributed.as_completed()
    places = {}

    def send(task):
        place = "gpu" if free["gpu"] else "cpu"
        free[place] -= 1
        future = client.submit(time.sleep, SECONDS[task][place], resources={TAGS[place]: 1}, pure=False)
        places[future] = place
        sent.add(future)

    waiting = list(reversed(tasks))
    for _ in range(4):
        send(waiting.pop())
    for future in sent:
        free[places.pop(future)] += 1
        if waiting:
            send(waiting.pop())


def ours(client, tasks):
    with allot.dask.Executor(client, TAGS) as executor:
        for name, seconds in SECONDS.items():
            executor.kind(name, **{place: lambda s=s: time.sleep(s) for place, s in seconds.items()})
        for future in [executor.submit(task) for task in tasks]:
            future.result()


def main(count):
    tasks = random.Random(1).choices(list(SECONDS), [6, 3, 1], k=count)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None, processes=True) as cluster:
        words = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, "--nthreads", "1"]
        words += ["--no-nanny", "--no-dashboard", "--resources"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        workers = [subprocess.Popen([*words, tag], **quiet) for tag in ("CPU=1", "CPU=1", "CPU=1", "GPU=1")]
        try:
            with distributed.Client(cluster) as client:
                client.wait_for_workers(4)
                took = {}
                for name, run in (("first fit", first_fit), ("allot", ours)):
                    began = time.perf_counter()
                    run(client, tasks)
                    took[name] = time.perf_counter() - began
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
    for name, seconds in took.items():
        print(f"{name:12}{seconds:8.2f} s {count / seconds:8.1f} tasks/s {took['first fit'] / seconds:8.2f}x")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main(given.tasks)
