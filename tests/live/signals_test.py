#!/usr/bin/env python3
"""Signals: drain, terminate, kill; stop and continue; no orphan after kill -9."""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from live import LiveTest, main, processes_with, wait_until  # noqa: E402

CPU = {"cpu": {"servers": 2}}


class Signals(LiveTest):
    def running(self):
        """A run of slow tasks that has begun."""
        process = self.start("run", "job.toml")
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(lambda: (self.folder / "began").exists()), "no task has begun")
        return process

    def slow_job(self, script):
        self.job(CPU, {"t": {"repeat": 50, "command": ["sh", "-c", f"touch began; {script}"]}})

    def test_the_first_interrupt_drains(self):
        self.slow_job("sleep 1")
        process = self.running()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("no new ones start", err)
        statuses = [r["status"] for r in self.log()]
        self.assertEqual(set(statuses), {"ok"})
        self.assertLess(len(statuses), 10)

    def test_hang_up_drains_with_its_own_status(self):
        self.slow_job("sleep 1")
        process = self.running()
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 129)

    def test_the_second_interrupt_terminates_and_the_third_kills(self):
        self.slow_job("trap '' TERM; sleep 100; sleep 100")
        process = self.running()
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("killed", err)
        self.assertEqual({r["status"] for r in self.log()}, {"killed"})

    def test_terminate_gives_a_grace_and_the_run_can_be_resumed(self):
        self.slow_job("trap 'exit 1' TERM; test -e fast || sleep 100 & wait")
        process = self.running()
        process.terminate()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 143)
        (self.folder / "fast").touch()
        self.run_allot("run", "job.toml")
        self.assertEqual(len(self.finals()), 50)

    def test_stopped_time_is_in_no_rate(self):
        self.job({"cpu": {"servers": 1}}, {"t": {"repeat": 3, "command": ["sh", "-c", "touch began; sleep 1"]}})
        begin = time.monotonic()
        process = self.running()
        process.send_signal(signal.SIGTSTP)
        stat = pathlib.Path(f"/proc/{process.pid}/stat")
        self.assertTrue(wait_until(lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "T"))
        time.sleep(2.5)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        rows = self.log()
        self.assertEqual(len(rows), 3)
        self.assertFalse(rows[0]["counted"])
        # However late things are: the time stopped is in nobody's time.
        self.assertLess(sum(r["wall_s"] for r in rows), time.monotonic() - begin - 2.4, rows)

    def test_no_orphan_survives_kill_9(self):
        marker = f"allot-test-{uuid.uuid4().hex}"
        # Children, grandchildren, a daemon in a session of its own.
        self.job(CPU, {"t": {"repeat": 50, "env": {"MARK": marker},
                             "command": ["sh", "-c", "touch began; sleep 99 & setsid sh -c 'sleep 98 & sleep 97' & "
                                                     "(setsid sleep 96 &) ; sleep 95"]}})
        process = self.running()
        self.assertTrue(wait_until(lambda: len(processes_with(marker)) >= 5))
        process.kill()
        process.communicate()
        self.assertTrue(wait_until(lambda: not processes_with(marker), 10), processes_with(marker))

    def test_what_a_dead_worker_leaves_is_gone_before_its_tasks_run_again(self):
        marker = f"allot-test-{uuid.uuid4().hex}"
        self.job({"cpu": {"servers": 1}}, {"t": {"repeat": 1, "env": {"MARK": marker},
                 "command": ["sh", "-c", "touch began; echo $$ >> starts; setsid sleep 93 & sleep 92"]}})
        process = self.running()
        worker = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()[0]
        os.kill(int(worker), signal.SIGKILL)
        self.assertTrue(wait_until(lambda: len((self.folder / "starts").read_text().split()) == 2), "not run again")
        self.assertTrue(wait_until(lambda: len(processes_with(marker)) <= 3), processes_with(marker))
        process.kill()
        process.communicate()
        self.assertTrue(wait_until(lambda: not processes_with(marker), 10), processes_with(marker))

    def test_nothing_is_left_after_a_normal_end(self):
        marker = f"allot-test-{uuid.uuid4().hex}"
        self.job(CPU, {"t": {"repeat": 4, "env": {"MARK": marker}, "command": ["sh", "-c", "(setsid sleep 96 &) ; true"]}})
        self.run_allot("run", "job.toml")
        self.assertTrue(wait_until(lambda: not processes_with(marker), 5), processes_with(marker))


if __name__ == "__main__":
    main()
