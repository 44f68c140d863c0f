"""What the tests of this folder share. The machine may be busy with other things: what is compared has several tries."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "starpu"))
import cases  # noqa: E402,F401

TRIES = 4
#: Where tasks take so much longer than told, others have the cores, and a comparison says nothing.
BUSY = 1.15
POLICIES = ["allot-map", "allot-mis", "allot-weighted", "allot-planned"]
EXAMPLES = cases.examples()


class Busy(Exception):
    pass


class Case(unittest.TestCase):
    def best_of_tries(self, attempt):
        """attempt() returns what is wrong, or nothing. Skipped, and said why, where the machine was too busy every time."""
        problems, disturbed = [], []
        for _ in range(TRIES):
            try:
                problem = attempt()
                if problem is None:
                    return
                problems.append(problem)
            except Busy as busy:
                problem = busy
                disturbed.append(str(busy))
            print(f"  once more: {problem}", flush=True)
        if problems:
            self.fail("\n".join(problems))
        why = f"not compared, for the machine was busy {TRIES} times: {'; '.join(disturbed)}"
        print(f"  SKIPPED: {why}", flush=True)
        self.skipTest(why)

    def assert_gain(self, loop, least, **options):
        """allot-map completes `least` times as much as dmda. Compared until the machine was quiet, a few times; on one that is
        always busy, which slows both, the comparisons that were disturbed count as well."""
        seen = []
        for _ in range(TRIES):
            ours, _ = loop.run("allot-map", **options)
            self.assert_nothing_left(loop.home, "allot-map")
            theirs, _ = loop.run("dmda", seconds=options["seconds"])
            seen.append((max(loop.stretch(ours), loop.stretch(theirs)), ours["throughput"] / theirs["throughput"]))
            print(f"  allot-map {ours['throughput']:.1f}/s, dmda {theirs['throughput']:.1f}/s: {seen[-1][1]:.3f};"
                  f" tasks took up to {seen[-1][0]:.2f} times as long as told", flush=True)
            if seen[-1][0] <= BUSY and seen[-1][1] >= least:
                return
        quiet = [gain for stretch, gain in seen if stretch <= BUSY]
        self.assertGreaterEqual(max(quiet or [gain for _, gain in seen]), least, f"(stretch, gain): {seen}")

    def run_undisturbed(self, loop, policy, **options):
        """What a closed loop of the policy did, with nothing left in its books."""
        result, _ = loop.run(policy, **options)
        if policy.startswith("allot-"):
            self.assert_nothing_left(loop.home, policy)
        self.refuse_if_busy(loop, result)
        return result

    def refuse_if_busy(self, loop, result):
        if loop.stretch(result) > BUSY:
            raise Busy(f"tasks took {loop.stretch(result):.2f} times as long as told: the machine is busy")

    def assert_nothing_left(self, home, what):
        """Every task that was placed in the latest run has ended, in every rank and context; returns how many."""
        files = home.all_statistics()
        self.assertTrue(files, f"{what}: no statistics were written")
        for name, stats in files.items():
            left = (sum(map(sum, stats["in_flight"])), stats["unfinished"], stats["placed"] - stats["ended"])
            self.assertEqual(left, (0, 0, 0), f"{what}, {name}: {stats}")
        return {name: stats["ended"] for name, stats in files.items()}
