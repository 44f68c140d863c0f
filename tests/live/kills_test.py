#!/usr/bin/env python3
"""kill -9 of `allot run` at random moments: no task lost, no recorded success run again, no orphan, and the journal
always opens.

The number is ALLOT_KILLS (300 by default); ALLOT_SEED, which is printed, draws the same moments again.
"""
import json
import os
import pathlib
import random
import sys
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from live import LiveTest, main, processes_with, wait_until  # noqa: E402

KILLS = int(os.environ.get("ALLOT_KILLS", "300"))
SEED = int(os.environ.get("ALLOT_SEED", random.randrange(1 << 30)))


class Kills(LiveTest):
    def test_kill_9_at_random_moments(self):
        print(f"{KILLS} kills, ALLOT_SEED={SEED}", flush=True)
        draw = random.Random(SEED)
        kills = 0
        batch = 0
        while kills < KILLS:
            kills += self.one_batch(draw, KILLS - kills, batch)
            batch += 1
        print(f"{kills} kills in {batch} batches", flush=True)

    def one_batch(self, draw, most, batch):
        """One job, killed time and again until it is done. Every execution leaves a line in a file of its own task."""
        marker = f"allot-test-{uuid.uuid4().hex}"
        name = f"job{batch}.toml"
        ran = self.folder / f"ran{batch}"
        ran.mkdir()
        tasks = 240
        self.job({"cpu": {"servers": 3}, "gpu": {"servers": 2}},
                 {"a": {"repeat": tasks // 2, "env": {"MARK": marker},
                        "command": {"cpu": ["sh", "-c", f"echo x >> {ran}/a$1; sleep 0.02", "sh", "{}"],
                                    "gpu": ["sh", "-c", f"echo x >> {ran}/a$1; sleep 0.01", "sh", "{}"]}},
                  "b": {"repeat": tasks // 2, "env": {"MARK": marker}, "output": f"out{batch}/{{}}",
                        "command": ["sh", "-c", f"echo x >> {ran}/b$1; (sleep 5 &); echo $1 > $2; sleep 0.02", "sh", "{}", "{out}"]}},
                 name=name)
        kills = 0
        # One in eight is killed before or while the journal is made and opened; the others somewhere on the way.
        while kills < most:
            recorded = self.recorded(name)
            process = self.start("run", name, "--progress", "none", "--requeues", "1000000")
            time.sleep(draw.uniform(0, 0.03) if draw.random() < 0.125 else draw.uniform(0.02, 0.45))
            ended = process.poll() is not None
            process.kill()
            out, err = process.communicate()
            if ended:
                self.assertEqual(process.returncode, 0, f"{out}\n{err}")
                break
            kills += 1
            self.assertTrue(wait_until(lambda: not processes_with(marker), 15), f"orphans: {processes_with(marker)}")
            # What was recorded before has not run again.
            for task, runs in recorded.items():
                self.assertEqual(self.runs(ran, task), runs, f"{task} ran again after its success was recorded")
        self.run_allot("run", name, "--progress", "none", "--requeues", "1000000")
        rows = self.log(f"{name}.journal")
        finals = {}
        for row in rows:
            if row["status"] == "ok":
                finals.setdefault(row["task"], []).append(row)
        self.assertTrue(all(len(f) == 1 for f in finals.values()), "a task with two successes")
        self.assertEqual(len(finals), tasks, "a task was lost")
        for task in finals:
            if task.startswith("b:"):
                number = task.split(":")[1]
                self.assertEqual((self.folder / f"out{batch}" / number).read_text().strip(), number)
        return kills

    def runs(self, ran, task):
        path = ran / task.replace(":", "")
        return len(path.read_text().split()) if path.exists() else 0

    def recorded(self, name):
        """task -> how often it has run, of those with a recorded success."""
        journal = self.folder / f"{name}.journal"
        if not journal.exists() or journal.stat().st_size == 0:
            return {}
        status, out, err = self.run_allot("log", journal, "--json", expect=None)
        self.assertEqual(status, 0, f"the journal does not open: {err}")
        ran = self.folder / f"ran{name.removeprefix('job').removesuffix('.toml')}"
        return {r["task"]: self.runs(ran, r["task"]) for r in map(json.loads, out.splitlines()) if r["status"] == "ok"}


if __name__ == "__main__":
    main()
