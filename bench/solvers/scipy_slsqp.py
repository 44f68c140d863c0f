#!/usr/bin/env python3
"""SciPy's SLSQP on the relaxed problem, and the best rounding: a rival of bench_solvers, which starts this script.

usage: scipy_slsqp.py [--limit SECONDS] [--budget SECONDS] [--ftol TOLERANCE] SCENARIO.json...

The same problem as `allot solve --solver slsqp`: maximise X over real n_ij >= 0, row sums N_i, column sums at least 1,
from the home start and from an even spread, with analytic gradients. One JSON object per scenario on standard output,
as soon as it is done: CPU seconds of the searches and of the rounding, the relaxed value, the rounded assignment.
It ends early after a scenario that took too long, or when the budget is spent.
For single ps servers without floors and depths, which is what the benchmark generates.
"""
import argparse
import json
import sys
import time

import numpy as np
import scipy
from scipy.optimize import minimize


class OutOfTime(Exception):
    pass


class Relaxation:
    def __init__(self, scenario):
        names = [resource["name"] for resource in scenario["resources"]]
        tasks = scenario["tasks"]
        self.counts = np.array([task["count"] for task in tasks], dtype=float)
        self.rates = np.array([[task["rates"].get(name, 0.0) for name in names] for task in tasks])
        self.homes = [
            names.index(task["home"]) if "home" in task else int(np.argmax(row)) for task, row in zip(tasks, self.rates)
        ]
        self.types, self.resources = np.nonzero(self.rates)  # of each variable
        self.mu = self.rates[self.types, self.resources]
        self.rows = (self.types[None, :] == np.arange(len(tasks))[:, None]).astype(float)
        self.columns = (self.resources[None, :] == np.arange(len(names))[:, None]).astype(float)

    def value_and_gradient(self, n):
        """-X and its gradient."""
        tasks = np.bincount(self.resources, n, len(self.columns))
        rates = np.bincount(self.resources, n * self.mu, len(self.columns))
        waiting = np.maximum(tasks, 1.0)  # min(n_j, 1) / n_j = 1 / max(n_j, 1)
        mean = rates / waiting
        slope = (self.mu - np.where(tasks >= 1.0, mean, 0.0)[self.resources]) / waiting[self.resources]
        return -mean.sum(), -slope

    def starts(self):
        """Every task at home, and every type spread evenly; the second moved towards the first where a column has
        less than one task. (In the benchmark every type has a thread, and every resource is some type's home.)"""
        home = self.counts[self.types] * (np.array(self.homes)[self.types] == self.resources)
        even = self.counts[self.types] / self.rows.sum(axis=1)[self.types]
        here = self.columns @ even
        there = self.columns @ home
        few = here < 1
        blend = ((1 - here[few]) / (there[few] - here[few])).max(initial=0.0)
        return [home, even + blend * (home - even)]

    def search(self, start, deadline, ftol):
        evaluations = 0

        def objective(n):
            nonlocal evaluations
            evaluations += 1
            if time.process_time() > deadline:
                raise OutOfTime
            return self.value_and_gradient(n)

        constraints = [
            {"type": "eq", "fun": lambda n: self.rows @ n - self.counts, "jac": lambda n: self.rows},
            {"type": "ineq", "fun": lambda n: self.columns @ n - 1.0, "jac": lambda n: self.columns},
        ]
        result = minimize(
            objective,
            start,
            jac=True,
            method="SLSQP",
            bounds=[(0.0, count) for count in self.counts[self.types]],
            constraints=constraints,
            options={"maxiter": 1000, "ftol": ftol},
        )
        return np.clip(result.x, 0.0, None), evaluations

    def matrix(self, n):
        matrix = np.zeros_like(self.rates)
        matrix[self.types, self.resources] = n
        return matrix

    # ---- rounding

    def throughput(self, matrix):
        tasks = matrix.sum(axis=0)
        return float(((matrix * self.rates).sum(axis=0) / np.maximum(tasks, 1)).sum())

    def best_rounding(self, n):
        matrix = self.matrix(n)
        floors = np.floor(matrix + 1e-6).astype(int)
        fractions = np.where(matrix - floors > 1e-6, matrix - floors, 0.0)
        left = self.counts.astype(int) - floors.sum(axis=1)
        for i in np.nonzero(left < 0)[0]:  # rounding errors of the search
            floors[i, np.argmax(floors[i])] += left[i]
            left[i] = 0
        candidates = [self.largest_remainders(floors, fractions, left), self.greatest_gains(floors, fractions, left)]
        return max((self.improved(c, floors, fractions) for c in candidates), key=self.throughput)

    @staticmethod
    def largest_remainders(floors, fractions, left):
        result = floors.copy()
        for i, up in enumerate(left):
            result[i, np.argsort(-fractions[i], kind="stable")[:up]] += 1
        return result

    def greatest_gains(self, floors, fractions, left):
        result = floors.copy()
        left = left.copy()
        open_ = fractions > 0
        open_[np.arange(len(left)), self.homes] |= left > open_.sum(axis=1)
        while left.any():
            tasks = result.sum(axis=0)
            rates = (result * self.rates).sum(axis=0)
            before = rates / np.maximum(tasks, 1)
            gains = (rates + self.rates) / (tasks + 1) - before
            gains[~open_ | (left <= 0)[:, None]] = -np.inf
            i, j = np.unravel_index(np.argmax(gains), gains.shape)
            if not np.isfinite(gains[i, j]):
                i = int(np.argmax(left))
                j = self.homes[i]
            result[i, j] += 1
            open_[i, j] = False
            left[i] -= 1
        return result

    def improved(self, result, floors, fractions):
        """Single moves between the floors and the ceilings of a row, while they help."""
        result = result.copy()
        moved = True
        while moved:
            moved = False
            for i in range(len(result)):
                choices = np.nonzero(fractions[i] > 0)[0]
                for a in choices:
                    for b in choices:
                        if a == b or result[i, a] <= floors[i, a] or result[i, b] > floors[i, b]:
                            continue
                        before = self.throughput(result)
                        result[i, a] -= 1
                        result[i, b] += 1
                        if self.throughput(result) > before * (1 + 1e-12):
                            moved = True
                        else:
                            result[i, a] += 1
                            result[i, b] -= 1
        return result


def solve(scenario, limit, ftol):
    relaxation = Relaxation(scenario)
    began = time.process_time()
    best, best_value, evaluations, finished = None, -np.inf, 0, True
    try:
        for start in relaxation.starts():
            n, steps = relaxation.search(start, began + limit, ftol)
            evaluations += steps
            value = -relaxation.value_and_gradient(n)[0]
            if value > best_value:
                best, best_value = n, value
    except OutOfTime:
        finished = False
    searched = time.process_time()
    result = {"scenario": scenario["name"], "finished": finished, "seconds": searched - began}
    if best is None:
        return result
    assignment = relaxation.best_rounding(best)
    result["rounding_seconds"] = time.process_time() - searched
    result["evaluations"] = evaluations
    result["relaxed_throughput"] = best_value
    result["throughput"] = relaxation.throughput(assignment)
    result["assignment"] = assignment.tolist()
    return result


def check_gradient(scenario):
    """The largest difference between the gradient and a central difference, at a random point."""
    relaxation = Relaxation(scenario)
    n = np.random.default_rng(1).uniform(0.2, 2, len(relaxation.mu))
    gradient = relaxation.value_and_gradient(n)[1]
    worst = 0.0
    for v in range(len(n)):
        step = np.zeros(len(n))
        step[v] = 1e-6
        difference = relaxation.value_and_gradient(n + step)[0] - relaxation.value_and_gradient(n - step)[0]
        worst = max(worst, abs(difference / 2e-6 - gradient[v]))
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=20.0, help="CPU seconds a scenario may take")
    parser.add_argument("--budget", type=float, default=float("inf"), help="CPU seconds for all scenarios")
    parser.add_argument("--ftol", type=float, default=1e-9, help="SciPy's own default is 1e-6")
    parser.add_argument("--version", action="version", version=f"SciPy {scipy.__version__}, NumPy {np.__version__}")
    parser.add_argument("scenarios", nargs="+")
    arguments = parser.parse_args()
    with open(arguments.scenarios[0], encoding="utf-8") as file:
        if (error := check_gradient(json.load(file))) > 1e-6:
            sys.exit(f"the gradient is off by {error}")
    for path in arguments.scenarios:
        with open(path, encoding="utf-8") as file:
            result = solve(json.load(file), arguments.limit, arguments.ftol)
        print(json.dumps(result), flush=True)
        if not result["finished"] or time.process_time() > arguments.budget:
            break


if __name__ == "__main__":
    main()
