#!/usr/bin/env python3
"""bench/real_machine: its kernels on this processor, and every experiment on a machine emulated by sleeping tasks.

The machine may be busy with other things, so nothing here is compared with a time: that the model predicts what the
emulated machine does is for whoever runs the experiments on a quiet one."""
import csv
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["REAL_MACHINE"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
EMULATED = SOURCE / "bench" / "real_machine" / "emulated.toml"
POLICIES = {"best-fit", "random", "load-balance", "jsq", "min-completion-time", "round-robin", "map", "optimal", "mis", "weighted"}


def run(*words, status=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=300)
    assert done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def rows(folder, name):
    with open(pathlib.Path(folder) / name, newline="") as file:
        return list(csv.DictReader(file))


class RealMachine(unittest.TestCase):
    def test_kernels_agree_with_plain_computations(self):
        small = ["--picture", "64x48", "--products", 2, "--matrix", 48, "--keys", 5000, "--steps", 2000]
        said = run("check", "--cpu-servers", 2, *small)
        for work in ("product", "sort", "interpret"):
            self.assertIn(work, said)
        self.assertNotIn("WRONG", said)
        self.assertIn("tasks per second", run("load", "--pair", "sort,cpu", "--warm-up", 0.05, "--seconds", 0.1, *small))

    def test_mistakes_are_named(self):
        self.assertIn("there is no command", run("dance", status=2))
        self.assertIn("positive number", run("check", "--seconds", "soon", status=2))
        self.assertIn("TYPE,RESOURCE", run("load", "--pair", "sort", "--emulate", EMULATED, status=2))
        self.assertIn("nowhere.toml", run("measure", "--emulate", "nowhere.toml", status=1))

    def test_every_experiment_runs_on_an_emulated_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            run("all", "--emulate", EMULATED, "--out", folder, "--seconds", 0.08, "--warm-up", 0.12, "--repeats", 1, "--placements", 30)
            for name, least in (("rates.csv", 9), ("disciplines.csv", 20), ("predictions.csv", 30), ("gantt.csv", 1), ("optima.csv", 3)):
                self.assertGreaterEqual(len(rows(folder, name)), least, name)
            self.assertEqual({(row["workload"], row["policy"]) for row in rows(folder, "policies.csv")},
                             {(workload, policy) for workload in ("even", "pictures", "numbers") for policy in POLICIES})
            asked = [float(row["asked"]) for row in rows(folder, "shares.csv") if row["policy"] == "weighted"]
            self.assertAlmostEqual(sum(asked), 3)
            for row in rows(folder, "predictions.csv"):
                self.assertGreater(float(row["predicted"]), 0, row)

    def test_servers_are_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            run("servers", "--emulate", EMULATED, "--out", folder, "--seconds", 0.2, "--warm-up", 0.1)
            self.assertEqual({row["servers"] for row in rows(folder, "servers.csv") if row["resource"] == "cpu"}, {"1", "2", "4"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
