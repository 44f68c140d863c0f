#!/usr/bin/env python3
"""Two ranks of a StarPU-MPI program with the policy on both: Debian's distributed Cholesky factorisation, which checks itself."""
import shutil
import subprocess
import unittest

from support import EXAMPLES, Case, cases

PROGRAM = EXAMPLES / "mpi" / "mpi_cholesky"


class Mpi(Case):
    @unittest.skipUnless(PROGRAM.exists() and shutil.which("mpirun"), "no mpirun, or no StarPU-MPI example")
    def test_two_ranks_end_correctly_with_the_policy_on_both(self):
        home = cases.Home()
        environment = home.environment("allot-map", home.path / "stats.json", STARPU_NCPU=1, STARPU_NOPENCL=0, OMPI_ALLOW_RUN_AS_ROOT=1,
                                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
        preload = environment.pop("LD_PRELOAD")  # mpirun itself has no use for it
        done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", "-x", f"LD_PRELOAD={preload}", str(PROGRAM), "-size", "640",
                               "-nblocks", "8", "-check"], env=environment, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("comparing results", done.stdout + done.stderr)
        ended = self.assert_nothing_left(home, "two ranks")
        print(f"  tasks {ended}", flush=True)
        self.assertEqual(set(ended), {"stats.rank0.json", "stats.rank1.json"})
        self.assertGreater(min(ended.values()), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
