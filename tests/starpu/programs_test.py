#!/usr/bin/env python3
"""Programs that know nothing of allot, under its policies: they end as they should, and no task is left in the books."""
import unittest

from support import EXAMPLES, POLICIES, Case, cases

ONE_AND_ONE = {"STARPU_NCPU": 1, "STARPU_NOPENCL": 1, "POCL_DEVICES": "basic"}

#: Debian's examples: words, and a pattern of what a correct run says (-check: it would abort).
PROGRAMS = {
    "vector_scal": (["vector_scal"], "Computation is correct"),
    "minmax_reduction": (["minmax_reduction"], r"Min : 8.701104e-05\nMax : 9.999869e-01"),
    "cholesky_implicit": (["cholesky_implicit", "-size", 640, "-nblocks", 8, "-check"], r"\n640\t"),
    "cholesky_tag": (["cholesky_tag", "-size", 640, "-nblocks", 4], r"\n640\t"),
    "lu_implicit_example_double": (["lu_implicit_example_double", "-size", 320, "-nblocks", 4, "-check"],
                                   r"\|A-LU\|\| / .* : \d\.\d+e-(1[2-9]|2\d)\n"),
    "sched_ctx": (["sched_ctx"], "64 out of 64"),
    "incrementer": (["incrementer"], "array -> 5.000000, "),
    "tasks_overhead": (["tasks_overhead", "-i", 20000], "Per task"),
}


class Programs(Case):
    @unittest.skipUnless((EXAMPLES / "examples").is_dir(), "Debian's starpu-examples are not here")
    def test_unmodified_examples_end_correctly_with_nothing_left(self):
        home = cases.Home()
        for name, (words, said) in PROGRAMS.items():
            for policy in POLICIES if name in ("vector_scal", "minmax_reduction", "cholesky_implicit") else POLICIES[:1]:
                with self.subTest(program=name, policy=policy):
                    printed, _ = home.run([EXAMPLES / "examples" / words[0], *words[1:]], policy, errors=True, **ONE_AND_ONE)
                    self.assertRegex(printed, said)
                    ended = self.assert_nothing_left(home, f"{name} under {policy}")
                    self.assertGreater(sum(ended.values()), 0)
                    print(f"  {name} under {policy}: tasks {ended}", flush=True)

    def test_kernels_compute_what_they_should(self):
        home = cases.Home()
        for policy in POLICIES:
            with self.subTest(policy):
                printed, _ = home.run([cases.PROGRAMS / "kernels", "--seconds", 2], policy, ALLOT_TYPES="symbol")
                self.assertIn(" 0 wrong values", printed)
                self.assert_nothing_left(home, policy)

    def test_a_graph_with_a_critical_path_ends(self):
        home = cases.Home()
        for policy in POLICIES:
            with self.subTest(policy):
                printed, _ = home.run([cases.PROGRAMS / "cholesky", "--tiles", 6, "--repeat", 3], policy)
                self.assertEqual(len(printed.split()), 3)
                self.assert_nothing_left(home, policy)


if __name__ == "__main__":
    unittest.main(verbosity=2)
