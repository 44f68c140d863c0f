#!/usr/bin/env python3
"""Two ranks of a StarPU-MPI program with the policy on both: Debian's distributed Cholesky factorisation, which checks itself."""
import json
import shutil
import subprocess
import unittest

from support import EXAMPLES, Case, cases

PROGRAM = EXAMPLES / "mpi" / "mpi_cholesky"


class Mpi(Case):
    @unittest.skipUnless(PROGRAM.exists() and shutil.which("mpirun"), "no mpirun, or no StarPU-MPI example")
    def test_two_ranks_end_correctly_with_the_policy_on_both(self):
        home = cases.Home()
        environment = home.environment("allot-map", STARPU_NCPU=1, STARPU_NOPENCL=0, OMPI_ALLOW_RUN_AS_ROOT=1,
                                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
        # mpirun itself has no use for the library; each rank has a file of its own.
        preload = environment.pop("LD_PRELOAD")
        rank = f'export ALLOT_STATS="{home.path}/rank-$OMPI_COMM_WORLD_RANK.json"; LD_PRELOAD="{preload}" exec "$@"'
        done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", "sh", "-c", rank, "rank", str(PROGRAM), "-size", "640", "-nblocks",
                               "8", "-check"], env=environment, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("comparing results", done.stdout + done.stderr)
        for name in ("rank-0.json", "rank-1.json"):
            stats = json.loads((home.path / name).read_text(encoding="utf-8"))
            self.assert_nothing_left(stats, name)
            self.assertGreater(stats["completed"], 0, name)
            print(f"  {name}: {stats['completed']} tasks", flush=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
