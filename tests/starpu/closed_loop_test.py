#!/usr/bin/env python3
"""allot's policies in closed loops of sleeping StarPU tasks: where tasks go, how much gets done, and who gets how much."""
import unittest

from support import Case, cases


def parts(result, by):
    """The part of each type's completions on each resource (by='type'), or of each resource's of each type."""
    done = {name: kind["done"] for name, kind in result["types"].items()}
    if by == "type":
        return {name: [n / max(sum(row), 1) for n in row] for name, row in done.items()}
    totals = [max(sum(column), 1) for column in zip(*done.values())]
    return {name: [n / total for n, total in zip(row, totals)] for name, row in done.items()}


class ClosedLoops(Case):
    def test_s1_more_is_done_than_under_dmda(self):
        self.assert_gain(cases.ClosedLoop(cases.CASES["S1"]), 1.2, seconds=4)

    def test_s1_without_models_the_rates_are_learnt(self):
        self.assert_gain(cases.ClosedLoop(cases.CASES["S1"]), 1.2, seconds=4, warmup=2, models=False)

    def test_s1_the_device_is_kept_for_the_type_that_gains_most(self):
        """Solved: all of B and most of A on the processor, one A on the device."""
        loop = cases.ClosedLoop(cases.CASES["S1"])
        self.assertEqual(loop.promise()["assignment"], [[5, 1], [6, 0]])

        def attempt():
            ours = self.run_undisturbed(loop, "allot-map", seconds=4)
            device = parts(ours, "resource")["A"][1]
            processor = parts(ours, "type")["B"][0]
            print(f"  {device:.3f} of the device's tasks are A, {processor:.3f} of B on the processor", flush=True)
            return None if device >= 0.85 and processor >= 0.7 else f"{ours['types']}"

        self.best_of_tries(attempt)

    def test_s2_each_type_on_the_resource_solved_for_it(self):
        loop = cases.ClosedLoop(cases.CASES["S2"])
        self.assertEqual(loop.promise()["assignment"], [[0, 6, 0], [0, 0, 6], [6, 0, 0]])

        def attempt():
            ours = self.run_undisturbed(loop, "allot-map", seconds=3)
            part = parts(ours, "type")
            at_home = {"A": part["A"][1], "B": part["B"][2], "C": part["C"][0]}
            print("  at home: " + ", ".join(f"{t} {p:.3f}" for t, p in at_home.items()), flush=True)
            return None if min(at_home.values()) >= 0.9 else f"{ours['types']}"

        self.best_of_tries(attempt)

    def test_s3_nothing_runs_where_it_cannot(self):
        loop = cases.ClosedLoop(cases.CASES["S3"])

        def attempt():
            ours, _ = loop.run("allot-map", seconds=3)
            self.assert_nothing_left(loop.home, "S3")
            done = {name: kind["done"] for name, kind in ours["types"].items()}
            self.assertEqual([done["A"][1], done["A"][2], done["B"][2], done["C"][1]], [0, 0, 0, 0])
            self.refuse_if_busy(loop, ours)
            part = parts(ours, "type")
            print(f"  B {part['B'][0]:.3f} on the processor, C {part['C'][2]:.3f} on the second device", flush=True)
            return None if part["C"][2] >= 0.9 and part["B"][0] > 0.02 else f"{done}"

        self.best_of_tries(attempt)

    def test_weighted_gives_each_type_its_share(self):
        for name in ("S1", "S2", "S3"):
            with self.subTest(name):
                case = cases.CASES[name]
                loop = cases.ClosedLoop(case)

                def attempt(case=case, loop=loop, name=name):
                    ours = self.run_undisturbed(loop, "allot-weighted", seconds=4, warmup=2, ALLOT_SHARES=cases.named_text(case["shares"]))
                    off = {t: ours["types"][t]["share"] - p for t, p in case["shares"].items()}
                    print(f"  {name}: " + ", ".join(f"{t} {100 * d:+.2f} points" for t, d in off.items()), flush=True)
                    return f"{name}: {off}" if max(map(abs, off.values())) > 0.03 else None

                self.best_of_tries(attempt)

    def test_mis_comes_closer_to_the_shares_than_map(self):
        case = cases.CASES["S1"]
        loop = cases.ClosedLoop(case)
        shares = {"A": 0.5, "B": 0.5}

        def error(result):
            return sum((result["types"][t]["share"] - p) ** 2 for t, p in shares.items())

        def attempt():
            mis = self.run_undisturbed(loop, "allot-mis", seconds=3, ALLOT_SHARES=cases.named_text(shares))
            plain = self.run_undisturbed(loop, "allot-map", seconds=3)
            print(f"  squared error {error(mis):.4f}, of allot-map {error(plain):.4f}", flush=True)
            return None if error(mis) < error(plain) else "no closer"

        self.best_of_tries(attempt)


if __name__ == "__main__":
    unittest.main(verbosity=2)
