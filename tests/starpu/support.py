"""What the tests of this folder share. The machine may be busy with other things: what is compared has several tries."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "starpu"))
import cases  # noqa: E402,F401

TRIES = 4
#: Where tasks take so much longer than told, others have the cores, and a comparison says nothing.
BUSY = 1.15
POLICIES = ["allot-map", "allot-mis", "allot-weighted"]
EXAMPLES = pathlib.Path("/usr/lib/x86_64-linux-gnu/starpu")


class Busy(Exception):
    pass


class Case(unittest.TestCase):
    def best_of_tries(self, attempt):
        """attempt() returns what is wrong, or nothing. Skipped where the machine was too busy every time."""
        problems = []
        for _ in range(TRIES):
            try:
                problem = attempt()
                if problem is None:
                    return
                problems.append(problem)
            except Busy as busy:
                problem = busy
            print(f"  once more: {problem}", flush=True)
        if not problems:
            self.skipTest("the machine is too busy to compare anything on it")
        self.fail("\n".join(problems))

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
