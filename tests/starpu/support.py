"""What the tests of this folder share. The machine may be busy with other things: what is compared has three tries."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "starpu"))
import cases  # noqa: E402,F401

TRIES = 3
POLICIES = ["allot-map", "allot-mis", "allot-weighted"]
EXAMPLES = pathlib.Path("/usr/lib/x86_64-linux-gnu/starpu")


class Case(unittest.TestCase):
    def best_of_tries(self, attempt):
        """attempt() returns what is wrong, or nothing."""
        problems = []
        for _ in range(TRIES):
            problem = attempt()
            if problem is None:
                return
            problems.append(problem)
            print(f"  once more: {problem}", flush=True)
        self.fail("\n".join(problems))

    def assert_nothing_left(self, home, what):
        """Every task that was placed in the latest run has ended, in every rank and context; returns how many."""
        files = home.all_statistics()
        self.assertTrue(files, f"{what}: no statistics were written")
        for name, stats in files.items():
            left = (sum(map(sum, stats["in_flight"])), stats["unfinished"], stats["placed"] - stats["ended"])
            self.assertEqual(left, (0, 0, 0), f"{what}, {name}: {stats}")
        return {name: stats["ended"] for name, stats in files.items()}
