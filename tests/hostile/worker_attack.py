#!/usr/bin/env python3
"""A remote worker that lies: its records, its name, its last words. One mutation is one record."""
import json
import math
import subprocess
import sys
import time

from hostile import ALLOT, MUTATIONS, SEED, Attack, Texts

FAKE = str(__import__("pathlib").Path(__file__).with_name("fake_worker.py"))
TASKS = 250  # of one run


def job(seed, mode, tasks):
    launch = json.dumps([sys.executable, FAKE, str(seed), mode])
    return (f'[[resources]]\nname = "far"\nservers = 4\nlaunch = {launch}\n'
            f'[[tasks]]\nname = "t"\nrepeat = {tasks}\ncommand = ["true"]\nretries = 0\ntimeout = 30\n')


def check_log(attack, seed, folder, began, ended):
    done = subprocess.run([ALLOT, "log", "job.toml.journal", "--json"], cwd=folder, capture_output=True, timeout=60)
    if done.returncode != 0:
        attack.complain(seed, f"the journal cannot be read: {done.stderr!r}")
        return
    for line in done.stdout.splitlines():
        row = json.loads(line)
        times = [row[key] for key in ("start_unix", "queue_s", "wall_s", "user_s", "sys_s")]
        if not all(isinstance(value, (int, float)) and math.isfinite(value) and value >= 0 for value in times):
            attack.complain(seed, f"times: {times}")
        elif not (began - 1 <= row["start_unix"] and row["start_unix"] + row["wall_s"] <= ended + 1):
            attack.complain(seed, f"not within the run: {row['start_unix']} + {row['wall_s']}, {began} to {ended}")
        if row["status"] == "killed":
            attack.complain(seed, "killed, but this run did not ask for that")
        if row["status"] == "ok" and row["exit"] != 0:
            attack.complain(seed, f"ok with exit {row['exit']}")
        if len((row["error"] or "").encode()) > 4200:
            attack.complain(seed, f"an error of {len(row['error'])} characters")


def main():
    attack = Attack("worker")
    texts = Texts(SEED)
    while attack.mutations < MUTATIONS:
        seed = attack.next_seed(texts)
        mode = "records" if texts.random.random() < 0.8 else "frames"
        folder = attack.folder()
        tasks = min(TASKS, MUTATIONS)
        (folder / "job.toml").write_text(job(seed, mode, tasks))
        began = time.time()
        # Failed tasks are what is to be expected: 1; 6 would be a halt.
        options = [] if texts.random.random() < 0.5 else ["--print", "grouped"]
        attack.run(seed, ["run", "job.toml", "--requeues", "2", *options], folder, {0, 1})
        check_log(attack, seed, folder, began, time.time())
        attack.run(seed, ["log", "job.toml.journal", "--last", "0"], folder, {0})
        attack.run(seed, ["plot", "job.toml.journal"], folder, {0})
        attack.check_folder(seed, folder)
        attack.mutations += tasks
    attack.end()


main()
