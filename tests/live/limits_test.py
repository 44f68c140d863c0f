#!/usr/bin/env python3
"""`allot run` at its limits: tasks that cannot be killed, workers that do not report, a machine that stands still, a
program that is replaced, rows and limits that are too large or too small. Nothing here depends on how long things
take."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from live import ALLOT, LiveTest, main, processes_with, wait_until  # noqa: E402

# Passes on what the real worker says, but for its records.
DEAF = """#!/usr/bin/env python3
import os, struct, subprocess, sys, threading
worker = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def feed():
    while part := os.read(0, 65536):
        worker.stdin.write(part)
        worker.stdin.flush()
    worker.stdin.close()
threading.Thread(target=feed, daemon=True).start()
os.write(1, worker.stdout.read(12))
while len(head := worker.stdout.read(4)) == 4:
    frame = worker.stdout.read(struct.unpack("<I", head)[0])
    if frame[0] != 4:
        os.write(1, head + frame)
"""


def descendants(process):
    """The process and all below it."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents.setdefault(int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]), []).append(int(entry.name))
            except OSError:
                pass
    found = [process]
    for one in found:
        found += parents.get(one, [])
    return found


def freeze(process):
    """Stops the process and all below it, also what is started meanwhile; those that it stopped. Some may end before their turn."""
    frozen = {}
    while new := [one for one in descendants(process) if one not in frozen]:
        for one in new:
            try:
                os.kill(one, signal.SIGSTOP)
                frozen[one] = True
            except ProcessLookupError:
                frozen[one] = False
    return [one for one, stopped in frozen.items() if stopped]


class Limits(LiveTest):
    def deaf(self):
        path = self.write("deaf", DEAF)
        path.chmod(0o755)
        return {"servers": 1, "launch": [str(path)]}

    def test_a_time_limit_is_enforced_here_when_the_worker_does_not(self):
        self.job({"far": self.deaf()}, {"t": {"repeat": 1, "timeout": "0.5s", "command": ["sleep", "0.1"]}})
        _, out, err = self.run_allot("run", "job.toml", "--requeues", "0", expect=1)
        self.assertRegex(out, r"could not be killed; process \d+ may still be running")
        self.assertIn("is given up", err)
        self.assertEqual([r["status"] for r in self.log()], ["lost"])

    def test_interrupts_end_a_run_whose_worker_does_not_report(self):
        self.job({"far": self.deaf()}, {"t": {"repeat": 1, "command": ["sh", "-c", "touch began; sleep 0.1"]}})
        process = self.start("run", "job.toml")
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(lambda: (self.folder / "began").exists()))
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        _, err = process.communicate()
        self.assertEqual(process.returncode, 130, err)

    def test_when_everything_stands_still_nothing_is_lost(self):
        self.job({"cpu": {"servers": 2}, "far": {"servers": 2, "launch": ["env"]}},
                 {"t": {"repeat": 6, "command": ["sh", "-c", "touch began-$1; sleep 1", "sh", "{}"]}})
        process = self.start("run", "job.toml", "--lane-timeout", "3")
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(lambda: len(list(self.folder.glob("began-*"))) >= 3))
        frozen = freeze(process.pid)
        time.sleep(9)  # three times what counts as silence
        for one in reversed(frozen):  # the run is the last to wake, so that nobody is silent before its eyes
            try:
                os.kill(one, signal.SIGCONT)
            except ProcessLookupError:
                pass
        _, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        rows = self.log()
        self.assertEqual({r["status"] for r in rows}, {"ok"}, rows)
        self.assertEqual(len(rows), 6)

    def test_killing_the_run_and_its_worker_together_leaves_nobody(self):
        marker = f"allot-test-{uuid.uuid4().hex}"
        self.job({"cpu": {"servers": 2}}, {"t": {"repeat": 9, "env": {"MARK": marker},
                 "command": ["sh", "-c", "setsid sh -c 'sleep 98 & sleep 97' & (setsid sleep 96 &) ; sleep 95"]}})
        process = self.start("run", "job.toml")
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(lambda: len(processes_with(marker)) >= 8))
        worker = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()[0]
        # Stopped first, so that neither sees the other die.
        for one in (process.pid, int(worker)):
            os.kill(one, signal.SIGSTOP)
        for one in (process.pid, int(worker)):
            os.kill(one, signal.SIGKILL)
        process.communicate()
        self.assertTrue(wait_until(lambda: not processes_with(marker), 20), processes_with(marker))

    def test_a_row_that_no_worker_takes_fails_itself_also_on_resume(self):
        self.write("rows.txt", "a\n" + "x" * (17 << 20) + "\nb\n")
        self.job({"cpu": {"servers": 1}}, {"t": {"inputs_from": "rows.txt", "command": ["true", "{}"]}})
        for _ in range(2):
            self.run_allot("run", "job.toml", expect=1)
            statuses = sorted(r["status"] for r in self.log())
            self.assertEqual(statuses, ["failed", "ok", "ok"])

    def test_more_lanes_than_open_files_are_refused_before_the_start(self):
        self.job({"far": {"servers": 400, "launch": ["env"]}}, {"t": {"repeat": 1, "command": ["true"]}})
        script = f'ulimit -n 1024; exec "{ALLOT}" run job.toml'
        done = subprocess.run(["sh", "-c", script], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"need \d+ open files, and the limit is 1024")

    def test_the_program_may_be_replaced_during_a_run(self):
        program = self.folder / "program"
        shutil.copy(ALLOT, program)
        self.job({"far": {"servers": 1, "launch": ["env"]}},
                 {"t": {"repeat": 6, "command": ["sh", "-c", "touch began; sleep 0.3"]}})
        process = subprocess.Popen([program, "run", "job.toml"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(lambda: (self.folder / "began").exists()))
        shutil.copy(ALLOT, self.folder / "next")
        os.replace(self.folder / "next", program)
        worker = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()[0]
        os.kill(int(worker), signal.SIGKILL)
        _, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(len(self.finals()), 6)


if __name__ == "__main__":
    main()
