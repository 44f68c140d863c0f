#!/usr/bin/env python3
"""`allot profile` on sleeping tasks of known rates, and what `solve` and `run` make of its file."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from live import ALLOT, LiveTest, main, wait_until  # noqa: E402

SLEEP = {"cpu": 0.2, "gpu": 0.05}


class Profile(LiveTest):
    def sleeping_job(self, **keys):
        self.job({"cpu": {"servers": 2}, "gpu": {}},
                 {"t": {"repeat": 40, "command": {r: ["sleep", str(s)] for r, s in SLEEP.items()}, **keys},
                  "u": {"repeat": 10, "command": {"cpu": ["sleep", "0.1"]}}})

    def test_rates_are_those_of_the_sleeps_and_are_read_by_solve_and_run(self):
        self.sleeping_job()
        _, out, _ = self.run_allot("profile", "job.toml", "--json", "--min-time", "0.5", "--mixed-time", "1")
        pairs = {(p["task"], p["resource"]): p for p in json.loads(out)["pairs"]}
        self.assertEqual(set(pairs), {("t", "cpu"), ("t", "gpu"), ("u", "cpu")})
        for (task, resource), seconds in ((("t", "cpu"), 0.2), (("t", "gpu"), 0.05), (("u", "cpu"), 0.1)):
            pair = pairs[task, resource]
            # A sleep may be late, but never early; launching, which is subtracted, is a few milliseconds.
            self.assertGreater(pair["alone"]["rate"], 0, pair)
            self.assertLess(pair["alone"]["rate"] * seconds, 1.15, pair)
            self.assertGreaterEqual(pair["alone"]["runs"], 10)
        scenario = (self.folder / "job.rates.toml").read_text()
        self.assertIn("[[measured]]", scenario)
        _, out, _ = self.run_allot("solve", "job.rates.toml", "--json")
        self.assertGreater(json.loads(out)["throughput"], 0)
        _, out, _ = self.run_allot("run", "job.toml", "--dry-run")
        self.assertIn("Predicted", out)
        _, out, _ = self.run_allot("run", "job.toml", "--json")
        self.assertEqual(json.loads(out)["done"], 50)

    def test_what_tasks_share_is_found_and_written(self):
        # On the GPU one type holds a lock while it sleeps, so its tasks take turns; nothing else is shared.
        lock = str(self.folder / "lock")
        self.job({"cpu": {"servers": 2}, "gpu": {"servers": 3}},
                 {"locked": {"repeat": 9, "command": {"cpu": ["sleep", "0.1"], "gpu": ["flock", lock, "sleep", "0.06"]}},
                  "free": {"repeat": 9, "command": {"cpu": ["sleep", "0.08"], "gpu": ["sleep", "0.06"]}}})
        quick = ["--min-time", "0.2", "--min-runs", "3", "--max-time", "1", "--mixed-time", "0", "--sharing", "--mix-time", "0.3"]
        _, out, _ = self.run_allot("profile", "job.toml", "--json", *quick)
        sharing = json.loads(out)["sharing"]
        self.assertGreaterEqual(sharing["mixes"], 20)
        self.assertGreaterEqual(sharing["capacities"], 1)
        need = max((n for n in sharing["needs"] if (n["task"], n["resource"]) == ("locked", "gpu")), key=lambda n: n["value"])
        # It is all of it, but for the time in which the next one starts; a busy machine makes that longer.
        self.assertGreater(need["value"], 0.5, sharing)
        self.assertLessEqual(need["low"], need["value"])
        self.assertGreaterEqual(need["high"], need["value"])
        self.assertLess(sharing["left_out"][sharing["capacities"]]["median"], sharing["left_out"][0]["worst"])
        self.assertIn("[[capacities]]", (self.folder / "job.rates.toml").read_text())
        _, out, _ = self.run_allot("solve", "job.rates.toml", "--json")
        solution = json.loads(out)
        self.assertLess(solution["assignment"][solution["tasks"].index("locked")][1], 4, "most of them would wait for the lock")
        _, out, _ = self.run_allot("run", "job.toml", "--json")
        self.assertEqual(json.loads(out)["done"], 18)

    def test_failures_never_enter_the_timings_and_are_said(self):
        self.job({"a": {}, "b": {}, "c": {}},
                 {"t": {"repeat": 5, "command": {"a": ["sleep", "0.05"], "b": ["sh", "-c", "echo broken >&2; exit 9"],
                                                 "c": ["no-such-command-anywhere"]}}})
        _, out, _ = self.run_allot("profile", "job.toml", "--min-time", "0.2", "--mixed-time", "0", expect=1)
        self.assertIn("exit 9: broken", out)
        self.assertIn("no-such-command-anywhere", out)
        _, out, _ = self.run_allot("solve", "job.rates.toml", "--json")
        self.assertEqual(json.loads(out)["resources"], ["a", "b", "c"])

    def test_what_does_not_settle_is_called_so(self):
        # Durations of 10 to 160 ms, drawn by the process id: no interval is within 1% after a second.
        self.job({"a": {}}, {"t": {"repeat": 5, "command": ["sh", "-c", "sleep 0.$(( ($$ * 7919 % 16 + 1) * 10 + 100 ))"]}})
        _, out, _ = self.run_allot("profile", "job.toml", "--precision", "0.1%", "--max-time", "1", "--mixed-time", "0")
        self.assertIn("not converged", out)
        self.assertIn("converged = false", (self.folder / "job.rates.toml").read_text())

    def test_an_interrupt_keeps_what_was_measured(self):
        self.sleeping_job()
        process = self.start("profile", "job.toml", "--min-time", "60", "--max-time", "600")
        self.addCleanup(process.kill)
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.run_allot("solve", "job.rates.toml")


if __name__ == "__main__":
    main()
