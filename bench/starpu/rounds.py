"""Why a round of sleeping tasks stays below its plan: tasks that took longer than asked, tasks that are not the plan's, servers
without a task; and the plans that were in force, with the beliefs that made them.

The price of a server's second is what the plan earns with it. With n tasks of worth w of a pair, which were asked to take t and
took t', on a server with price y, what the plan promises and was not completed is exactly the sum of

  late    y n (t' - t)            tasks took longer than asked: the machine was busy
  other   n (y t - w)             tasks of pairs that the plan does not have, or another mix: learning, or a wrong plan
  idle    y (time - n t' of all)  servers without a task; in part because they were ready and had no core
"""
import math

import cases

PARTS = ("late", "other", "idle")
#: A plan that would earn so much less than the best, at the times asked for, is wrong.
WRONG = 0.98
#: Rounds below this part of the median are explained.
LOW = 0.95


class Plan:
    """The plan of a case under a policy at the times asked for, and its prices. `value` is per second."""

    def __init__(self, loop, policy, worths=False):
        self.case, self.late_binding = loop.case, policy == "allot-planned"
        self.names = cases.resources(loop.case)
        self.servers = [loop.case["cpus"] if name == "cpu" else 1 for name in self.names]
        self.told = {name: [None if ms is None else ms / 1000 for ms in times] for name, (_, times) in cases.parsed(loop.case).items()}
        self.worths = loop.case["worths"] if worths else dict.fromkeys(self.told, 1)
        solver = ["--solver", "planned"] if self.late_binding else []
        solution = cases.solved(cases.scenario(loop.case, worths=worths and self.late_binding), *solver)
        shares = solution["time_shares"] if self.late_binding else shares_of_target(solution["assignment"], self.servers)
        self.earned = self.earnings(shares)
        self.value = sum(self.earned)
        self.prices = [earned / servers for earned, servers in zip(self.earned, self.servers)]
        self.pairs = {(name, j) for name, row in zip(self.told, shares) for j, share in enumerate(row) if share > 1e-6}

    def earnings(self, shares):
        """Of each resource, with these parts of its time for the types, at the times asked for."""
        return [sum(self.worths[name] * servers * row[j] / self.told[name][j] for name, row in zip(self.told, shares) if row[j] > 0)
                for j, servers in enumerate(self.servers)]

    def made(self, statistics):
        """The plans in the statistics, with types and resources as in the case."""
        types = [statistics["types"].index(name) for name in self.told if name in statistics["types"]]
        places = [statistics["resources"].index(name.replace("ocl", "opencl")) for name in self.names]

        def sorted_out(matrix):
            rows = [[matrix[i][j] for j in places] for i in types if i < len(matrix)]
            return rows + [[0] * len(places)] * (len(self.told) - len(rows))

        return [{**plan, **{key: sorted_out(plan[key]) for key in ("parts", "task_seconds")}} for plan in statistics["plans"]]

    def worth_of(self, made):
        """What a plan from the statistics would earn at the times asked for, relative to this one."""
        parts = made["parts"] if self.late_binding else shares_of_target(made["parts"], self.servers)
        return sum(self.earnings(parts)) / self.value

    def losses(self, counted, seconds):
        """{part: of the plan's value in that time}; counted: a result of the program, or one of its slices."""
        lost = dict.fromkeys((*PARTS, "no_core"), 0.0)
        for j, (price, servers) in enumerate(zip(self.prices, self.servers)):
            busy = late = 0.0
            for name, kind in counted["types"].items():
                n, took, told = kind["done"][j], kind["ms"][j] / 1000, self.told[name][j]
                if n == 0:
                    continue
                busy += n * took
                late += n * (took - told)
                lost["other"] += n * (price * told - self.worths[name])
            idle = servers * seconds - busy
            lost["late"] += price * late
            lost["idle"] += price * idle
            # Who sleeps too long had no core, either: that is in the lateness of the tasks.
            lost["no_core"] += price * min(max(0.0, counted["waited_s"][j] - max(0.0, late)), max(0.0, idle))
        return {part: value / (self.value * seconds) for part, value in lost.items()}

    def others(self, counted):
        """Tasks of pairs that the plan does not have, as text."""
        return ", ".join(f"{kind['done'][j]} {name} on {self.names[j]}" for name, kind in counted["types"].items()
                         for j in range(len(self.names)) if kind["done"][j] > 0 and (name, j) not in self.pairs)

    def wrong_spans(self, result, made):
        """[(begin, end, worth, plan)] within the time that was measured, in seconds from the first task."""
        end = result["slices"][-1]["end"]
        begin = end - result["seconds"]
        spans = []
        for plan, following in zip(made, [*made[1:], {"seconds": end}]):
            first, last = max(begin, plan["seconds"]), min(end, following["seconds"])
            worth = self.worth_of(plan)
            if last <= first or worth >= WRONG:
                continue
            if spans and spans[-1][1] == first and abs(spans[-1][2] - worth) < 0.01:
                spans[-1] = (spans[-1][0], last, *spans[-1][2:])
            else:
                spans.append((first, last, worth, plan))
        return spans

    def belief(self, result, begin, plan):
        """What the plan was most wrong about: the pair, and what its tasks took shortly before."""
        wrong = [(abs(math.log(believed / told)), name, j, believed)
                 for (name, times), row in zip(self.told.items(), plan["task_seconds"])
                 for j, (told, believed) in enumerate(zip(times, row)) if told and believed > 0]
        if not wrong:
            return "nothing was known"
        _, name, j, believed = max(wrong)
        earlier = [s for s in result["slices"] if s["begin"] <= begin and s["types"][name]["done"][j] > 0]
        took = f", took {earlier[-1]['types'][name]['ms'][j]:.1f} just before" if earlier else ""
        return f"{name} on {self.names[j]} was believed to take {1000 * believed:.1f} ms (asked {1000 * self.told[name][j]:.1f}{took})"


def shares_of_target(target, servers):
    """Parts of each resource's time for the types, if the tasks there share it evenly."""
    there = [sum(row[j] for row in target) for j in range(len(servers))]
    return [[min(1.0, there[j] / servers[j]) * n / there[j] if there[j] > 0 else 0.0 for j, n in enumerate(row)] for row in target]


def percent(part):
    return f"{100 * part:4.1f}%"


def told(lost):
    return (f"{percent(lost['late'])} late, {percent(lost['other'])} other tasks than planned,"
            f" {percent(lost['idle'])} idle ({percent(lost['no_core'])} ready without a core)")


def explain(plan, results, statistics, every=False):
    """Prints where the rounds lost against the plan: the mean, and each low round, or each one at all."""
    rates = [sum(plan.worths[name] * kind["throughput"] for name, kind in result["types"].items()) for result in results]
    middle = sorted(rates)[len(rates) // 2]
    lost = [plan.losses(result, result["seconds"]) for result in results]
    mean = {part: sum(each[part] for each in lost) / len(lost) for part in lost[0]}
    print(f"   below the plan, mean      {percent(1 - sum(rates) / len(rates) / plan.value)} = {told(mean)}")
    for number, (rate, result, seen, each) in enumerate(zip(rates, results, statistics, lost), 1):
        if not every and rate >= LOW * middle:
            continue
        print(f"   round {number:2}: {rate / middle:.3f} of the median; below the plan {percent(1 - rate / plan.value)} = {told(each)}")
        if others := plan.others(result):
            print(f"      not of the plan: {others}; {seen['explored']} tasks of the whole run were tries")
        for begin, end, worth, made in plan.wrong_spans(result, plan.made(seen)):
            print(f"      {end - begin:.2f} s from {begin:.2f} s on a plan worth {worth:.2f} of the best: {plan.belief(result, begin, made)}")
    return lost
