#!/usr/bin/env python3
"""Tasks that hold several things, in a real run that is killed once and resumed: at every moment, the sums of what is held, by
the journal, and the slots of which tasks were told, by the tasks themselves."""
import collections
import json
import math
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from live import LiveTest, job_text, main, processes_with, wait_until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESOURCES = {"cpu": {"servers": 4}, "gpu": {"servers": 2}, "node": {"servers": 3, "launch": ["env"]}}
CAPACITIES = {"memory": (10, "machine"), "licence": (2, "all")}
NEEDS = {
    "narrow": {"cpu": {"memory": 3}, "node": {"memory": 4, "licence": 1}},
    "wide": {"cpu": {"cpu": 3, "licence": 1}, "node": {"node": 2}},
    "most": {"gpu": {"gpu": 0.6, "cpu": 1, "memory": 2}},
    "rest": {"gpu": {"gpu": 0.4, "cpu": 0.5}},
    "both": {"gpu": {"gpu": 1.5, "licence": 2}},
}
REPEAT = {"narrow": 40, "wide": 10, "most": 20, "rest": 24, "both": 3}
# Begins and ends, with the slots: one line each, written at once.
SCRIPT = 'echo "b $ALLOT_TASK $ALLOT_ATTEMPT $ALLOT_RESOURCE $CPU $GPU $NODE $(date +%s.%N)" >> told\nsleep $1\n' \
         'echo "e $ALLOT_TASK $ALLOT_ATTEMPT - - - - $(date +%s.%N)" >> told\n'
SLOTS = {"CPU": "[{%cpu}]", "GPU": "[{%gpu}]", "NODE": "[{%node}]"}


def amounts_of(task_type, resource):
    """What a task holds: amount by name; what is there for each machine, by name and machine."""
    held = {resource: 1, **NEEDS[task_type][resource]}
    machine = "node" if resource == "node" else "here"
    return {(name, machine) if name in CAPACITIES and CAPACITIES[name][1] == "machine" else name: amount
            for name, amount in held.items()}


def amount_there(name):
    return CAPACITIES[name[0]][0] if isinstance(name, tuple) else CAPACITIES[name][0] if name in CAPACITIES \
        else RESOURCES[name]["servers"]


class Needs(LiveTest):
    def check_sums(self, intervals):
        """intervals: (begin, end, amounts). At equal times, ends come first."""
        events = sorted((when, sign, n) for n, (begin, end, _) in enumerate(intervals) for when, sign in ((begin, 1), (end, -1)))
        held = collections.Counter()
        for when, sign, n in events:
            for name, amount in intervals[n][2].items():
                held[name] += sign * amount
                self.assertLessEqual(held[name], amount_there(name) * (1 + 1e-9), f"of {name} at {when}")

    def check_slots(self, intervals):
        """Whole slots are held alone, and parts of a slot are at most one."""
        by_slot = collections.defaultdict(list)
        for begin, end, task_type, resource, slots in intervals:
            for name in RESOURCES:
                needed = amounts_of(task_type, resource).get(name, 0)
                self.assertEqual(len(slots[name]), math.ceil(needed), f"{task_type} on {resource} is told of {slots}")
                for slot in slots[name]:
                    # A task that holds 1.5 may share one of its two.
                    by_slot[name, slot].append((begin, end, needed if needed < 1 else needed - int(needed) or 1))
        for (name, slot), uses in by_slot.items():
            events = sorted((when, sign, part) for begin, end, part in uses for when, sign in ((begin, 1), (end, -1)))
            held = 0
            for when, sign, part in events:
                held += sign * part
                self.assertLessEqual(held, 1 + 1e-9, f"slot {slot} of {name} at {when}")

    def told(self, ends_of_run):
        """The intervals that the tasks wrote. One that was killed ends with its run at the latest."""
        begun, ended = {}, {}
        for line in (self.folder / "told").read_text().splitlines():
            kind, task, attempt, resource, cpu, gpu, node, when = line.split()
            if kind == "b":
                begun[task, attempt] = (float(when), resource, {"cpu": json.loads(cpu), "gpu": json.loads(gpu), "node": json.loads(node)})
            else:
                ended[task, attempt] = float(when)
        return [(begin, ended.get(key, min(end for end in ends_of_run if end > begin)), key[0].split(":")[0], resource, slots)
                for key, (begin, resource, slots) in begun.items()]

    def test_nothing_is_overdrawn_before_and_after_a_kill(self):
        tasks = {name: {"repeat": REPEAT[name], "needs": needs, "env": SLOTS,
                        "command": {resource: ["sh", "-c", SCRIPT, "sh", "0.15"] for resource in needs}}
                 for name, needs in NEEDS.items()}
        text = job_text(RESOURCES, tasks)
        for name, (amount, per) in CAPACITIES.items():
            text += f"[[capacities]]\nname = {json.dumps(name)}\namount = {amount}\nper = {json.dumps(per)}\n"
        self.write("job.toml", text)
        first = self.start("run", "job.toml", env={**os.environ, "NEEDS_TEST": str(self.folder)})
        self.assertTrue(wait_until(lambda: (self.folder / "told").exists()
                                   and (self.folder / "told").read_text().count("e ") >= 25))
        os.kill(first.pid, signal.SIGKILL)
        first.communicate()
        self.assertTrue(wait_until(lambda: not processes_with(str(self.folder))))
        killed = time.time()
        self.run_allot("run", "job.toml", timeout=60)
        rows = self.log()
        self.assertEqual(collections.Counter(row["type"] for row in rows if row["status"] == "ok"), REPEAT)
        self.check_sums([(row["start_unix"], row["start_unix"] + row["wall_s"], amounts_of(row["type"], row["resource"]))
                         for row in rows if row["status"] == "ok"])
        told = self.told([killed, math.inf])
        self.assertGreaterEqual(len(told), sum(REPEAT.values()))
        self.check_sums([(begin, end, amounts_of(task_type, resource)) for begin, end, task_type, resource, _ in told])
        self.check_slots(told)

    def test_the_example_shares_gpus(self):
        self.write("job.toml", (ROOT / "examples" / "jobs" / "gpus.toml").read_text())
        self.run_allot("run", "job.toml")
        texts = collections.Counter(path.read_text().strip() for path in (self.folder / "job.toml.journal.out").glob("*.out"))
        self.assertEqual(set(texts), {"0", "1", "0,1"})
        self.assertEqual(texts["0,1"], 2, "only the two that need both")


if __name__ == "__main__":
    main()
