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

    def assert_nothing_left(self, stats, what):
        self.assertIsNotNone(stats, f"{what}: no statistics were written")
        self.assertEqual(stats["in_flight"], 0, f"{what}: {stats}")
