#!/usr/bin/env python3
"""From a machine to a picture in five minutes: solve, prove, choose, write a policy, compare it.

usage: tutorial.py [PICTURE.png]      (default: tutorial.png)
"""
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import allot

# A machine: how fast each type of task runs on each resource, in tasks per second, and how many threads run it.
machine = allot.Scenario(
    rates=[[40, 150, 320], [45, 480, 0], [14, 120, 0], [30, 0, 0]],
    counts=[6, 6, 6, 4],
    tasks=["decode", "resize", "detect", "index"],
    resources=["cpu", "gpu", "jpeg"],
    servers=[6, 1, 1],
    kinds=["gp", "gp", "sa"],
    priorities=[3, 3, 3, 1],
)
print(machine, end="\n\n")

# Where should each task run? MAP answers in microseconds, and the exact solver proves how good that is.
answer = allot.solve(machine, solver="map")
proof = allot.certify(machine)
print(answer, end="\n\n")
print(f"MAP reaches {answer.throughput / proof.upper_bound:.2%} of the proven optimum.", end="\n\n")

# What do the priorities cost, and what would help more than any scheduling?
frontier = allot.pareto(machine)
print(f"Within the shares asked for: {frontier.throughputs[-1]:.0f} instead of {frontier.throughputs[0]:.0f} tasks/s.")
best = allot.whatif(machine).changes[0]
print(f"Best investment: one more {best.change} of {best.resource}, {best.gain:+.1%}.", end="\n\n")


# A policy of our own: the resource on which the new task would have the largest speed to itself.
def greedy(state, task):
    speed = state.rates[task] * machine.servers / np.maximum(state.totals + 1, machine.servers)
    return int(np.argmax(speed))


# On the same random numbers as the built-in ones: heavy-tailed sizes, ten replications.
result = allot.compare(
    machine,
    ["map", "best-fit", "jsq", "random", "min-completion-time", greedy],
    distribution="bounded-pareto",
    completions=20_000,
)
print(result)

figure, axes = plt.subplots(2, 2, figsize=(12, 8), layout="constrained")
machine.plot(axes[0, 0]).set_title("how fast each type runs")
answer.plot(axes[0, 1])
frontier.plot(axes[1, 0]).set_title("what the priorities cost")
result.plot(axes[1, 1]).set_title("policies in simulation, heavy-tailed sizes")
picture = sys.argv[1] if len(sys.argv) > 1 else "tutorial.png"
figure.savefig(picture, dpi=110)
print("\nThe picture is in", picture)
