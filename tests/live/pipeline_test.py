#!/usr/bin/env python3
"""Pipelines of `allot run`, with processes: streaming, failures and their reasons, outputs that are removed, doing things
again, and kill -9 at random moments.

ALLOT_PIPELINE_KILLS is the number of kills (8 by default); ALLOT_SEED, which is printed, draws the same moments again.
"""
import gzip
import json
import os
import pathlib
import random
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from live import LiveTest, main  # noqa: E402

KILLS = int(os.environ.get("ALLOT_PIPELINE_KILLS", "8"))
SEED = int(os.environ.get("ALLOT_SEED", random.randrange(1 << 30)))
ROOT = pathlib.Path(__file__).resolve().parents[2]
CPU = {"cpu": {"servers": 2}}


def stage(script, output=None, **keys):
    """A type whose task runs a script: $1 is the input, $2 the input of the first stage."""
    first = keys.pop("first", "{}")
    task = {"command": ["sh", "-c", script, "sh", "{}", first], **keys}
    return {**task, "output": output} if output else task


class Pipeline(LiveTest):
    def three(self, fails="none", items=6, **keys):
        """a -> b -> c, and a report after c. `fails`: a shell pattern of inputs that fail in the second stage."""
        self.job(CPU, {
            "a": stage("echo a $1", "tmp/{}.a", repeat=items, **keys),
            "b": stage(f"case $2 in {fails}) exit 3;; esac; cat $1; echo b", "tmp/{from}.b", first="{from}", retries=0, **{"from": "a"}, **keys),
            "c": stage("cat $1; echo c $2", "out/{from.from}.c", first="{from.from}", **{"from": "b"}),
            "report": stage("cat out/*.c", "report", repeat=1, after=["c"])})

    def files(self, folder):
        return sorted(p.name for p in (self.folder / folder).glob("*") if not p.name.startswith("."))

    def test_values_go_from_stage_to_stage(self):
        self.three()
        self.run_allot("run", "job.toml")
        self.assertEqual((self.folder / "out" / "4.c").read_text(), "a 4\nb\nc 4\n")
        self.assertEqual((self.folder / "report").read_text().count("\nb\n"), 6)
        self.assertEqual(len(self.finals()), 19)
        self.assertEqual(len(self.files("tmp")), 12)

    def test_a_stage_starts_when_its_first_input_is_there_and_a_report_when_all_are(self):
        self.three(items=40)
        self.run_allot("run", "job.toml")
        rows = {r["task"]: r for r in self.log()}
        for n in range(1, 41):
            for before, after in ((f"a:{n}", f"b:{n}"), (f"b:{n}", f"c:{n}")):
                self.assertLess(rows[before]["sequence"], rows[after]["sequence"])
        last_a = max(r["sequence"] for t, r in rows.items() if t.startswith("a:"))
        self.assertLess(min(r["sequence"] for t, r in rows.items() if t.startswith("c:")), last_a, "it does not stream")
        self.assertEqual(max(rows, key=lambda t: rows[t]["sequence"]), "report:1")

    def test_a_failure_fails_what_waits_for_it_with_the_reason_and_nothing_else(self):
        self.three(fails="2|5")
        _, out, _ = self.run_allot("run", "job.toml", expect=1)
        self.assertIn("c:2: failed: b:2, which it waited for, has failed", out)
        rows = {r["task"]: r for r in self.log()}
        for task in ("c:2", "c:5", "report:1"):
            self.assertEqual((rows[task]["status"], rows[task]["attempt"], rows[task]["final"]), ("failed", 0, True))
        self.assertEqual(self.files("out"), ["1.c", "3.c", "4.c", "6.c"])
        self.run_allot("run", "job.toml", expect=1)  # nothing more to do
        self.assertEqual(len(self.log()), len(rows))
        self.three()
        self.run_allot("run", "job.toml", "--retry-failed", "--accept-changed")
        self.assertEqual(len(self.files("out")), 6)
        again = [r for r in self.log() if r["status"] == "ok" and r["task"] in ("c:2", "c:5", "report:1")]
        self.assertEqual([r["attempt"] for r in again], [1, 1, 1], "a record without an attempt is not counted")

    def test_failures_that_follow_from_one_do_not_halt(self):
        self.three(fails="2")
        self.run_allot("run", "job.toml", "--halt", "soon,fail=2", expect=1)
        self.assertEqual(len(self.files("out")), 5)

    def test_outputs_that_served_are_removed_and_made_again_when_needed(self):
        self.three(fails="3", keep=False, at_most=2)
        self.run_allot("run", "job.toml", expect=1)
        self.assertEqual(self.files("tmp"), ["3.a"], "what somebody failed on stays")
        self.run_allot("run", "job.toml", "--redo", "missing", expect=1)
        self.assertEqual(len(self.log()), 19, "what was removed is not missing")
        self.three(keep=False, at_most=2)
        self.run_allot("run", "job.toml", "--retry-failed", "--accept-changed")
        self.assertEqual(self.files("tmp"), [])
        (self.folder / "out" / "4.c").unlink()
        _, out, _ = self.run_allot("run", "job.toml", "--redo", "missing", "-n", "--json")
        self.assertEqual(sorted(json.loads(out)["redo"]), ["a:4", "b:4", "c:4", "report:1"])
        self.run_allot("run", "job.toml", "--redo", "missing")
        self.assertEqual((self.folder / "out" / "4.c").read_text(), "a 4\nb\nc 4\n")
        self.assertEqual(self.files("tmp"), [])

    def test_what_is_done_again_takes_along_what_was_made_from_it(self):
        self.three()
        self.run_allot("run", "job.toml")
        _, out, _ = self.run_allot("run", "job.toml", "--redo", "a:2", "-n", "--json")
        self.assertEqual(sorted(json.loads(out)["redo"]), ["a:2", "b:2", "c:2", "report:1"])
        self.run_allot("run", "job.toml", "--redo", "a:2")
        self.assertEqual(len([r for r in self.log() if r["run"] == 2]), 4)

    def test_a_stage_that_is_added_later_gets_its_inputs(self):
        tasks = {"a": stage("echo $1", "tmp/{}", repeat=3, keep=False),
                 "b": stage("cat $1", "out/{from}.b", **{"from": "a"})}
        self.job(CPU, tasks)
        self.run_allot("run", "job.toml")
        self.assertEqual(self.files("tmp"), [])
        self.job(CPU, {**tasks, "c": stage("cat $1", "out/{from}.c", **{"from": "a"})})
        self.run_allot("run", "job.toml")
        self.assertEqual(self.files("out"), ["1.b", "1.c", "2.b", "2.c", "3.b", "3.c"])
        self.assertEqual(self.files("tmp"), [])
        self.assertEqual(len([r for r in self.log() if r["type"] == "b"]), 3, "what is done stays done")

    def test_log_plot_and_dry_run_show_stages(self):
        self.three()
        _, out, _ = self.run_allot("run", "job.toml", "-n")
        self.assertIn("a -> b -> c\n", out)
        self.assertIn("report after all of c\n", out)
        _, out, _ = self.run_allot("run", "job.toml", "--json")
        types = {t["name"]: t for t in json.loads(out)["types"]}
        self.assertEqual((types["b"]["from"], types["b"]["waiting"], types["a"]["from"]), ("a", 0, None))
        _, out, _ = self.run_allot("log", "job.toml.journal")
        self.assertRegex(out, r"type +tasks +done +failed +to do +from\n")
        _, out, _ = self.run_allot("plot", "job.toml.journal", "--out", "-")
        self.assertIn("Which stage ran when", out)

    def test_the_example_of_the_guide(self):
        guide = (ROOT / "docs" / "guides" / "run.md").read_text()
        text = re.search(r"```toml\n(# books.toml\n.*?)```", guide, re.S).group(1)
        self.write("books.toml", text)
        (self.folder / "books").mkdir()
        for name, words in (("emma", "the a the"), ("persuasion", "the sea")):
            with gzip.open(self.folder / "books" / f"{name}.txt.gz", "wt") as book:
                book.write(words)
        self.run_allot("run", "books.toml")
        self.assertEqual((self.folder / "report.txt").read_text().split()[:2], ["2", "the"])
        self.assertEqual(self.files("counts"), ["emma.txt", "persuasion.txt"])
        self.assertEqual(self.files("tmp"), [])

    def test_the_example_runs_anywhere(self):
        self.write("pipeline.toml", (ROOT / "examples" / "jobs" / "pipeline.toml").read_text())
        self.run_allot("run", "pipeline.toml")
        self.assertEqual((self.folder / "out" / "pipeline" / "report.txt").read_text().split(), ["30", "2"])

    def test_kill_9_loses_nothing(self):
        """Three stages of 300 items, of which one in fifty fails; every execution leaves a line in a file of its task."""
        print(f"{KILLS} kills, ALLOT_SEED={SEED}", flush=True)
        draw = random.Random(SEED)
        items = 300
        ran = self.folder / "ran"
        ran.mkdir()

        def work(name):
            return f"echo x >> {ran}/{name}$2; sleep 0.01; test $(($2 % 50)) -ne {7 + ord(name) - ord('a')} || exit 1; cat $1 2>&- || echo $1; echo {name}"

        self.job({"cpu": {"servers": 3}, "gpu": {"servers": 2}}, {
            "a": stage(work("a"), "tmp/{}.a", repeat=items, retries=0, keep=False, at_most=20),
            "b": stage(work("b"), "tmp/{from}.b", first="{from}", retries=0, keep=False, **{"from": "a"}),
            "c": stage(work("c"), "out/{from.from}.c", first="{from.from}", retries=0, **{"from": "b"})})
        run = ("run", "job.toml", "--progress", "none", "--requeues", "1000000")
        kills = 0
        while kills < KILLS:
            recorded = self.recorded(ran)
            process = self.start(*run)
            # In one of eight while the journal is made and opened; else so that all of them come before the end.
            time.sleep(draw.uniform(0, 0.05) if draw.random() < 0.125 else draw.uniform(0.1, min(0.6, 20 / KILLS)))
            if process.poll() is not None:
                process.communicate()
                break
            process.kill()
            process.communicate()
            kills += 1
            for task, runs in recorded.items():
                self.assertEqual(self.runs(ran, task), runs, f"{task} ran again after its end was recorded")
        self.run_allot(*run, expect=1)
        print(f"{kills} kills", flush=True)
        finals = {}
        for row in self.log():
            if row["final"]:
                self.assertNotIn(row["task"], finals, "two final records")
                finals[row["task"]] = row
        self.assertEqual(len(finals), 3 * items, "a task was lost")
        for n in range(1, items + 1):
            well = True
            for name in "abc":
                row = finals[f"{name}:{n}"]
                self.assertEqual(row["attempt"] == 0, not well, row)
                well &= n % 50 != 7 + ord(name) - ord("a")
                self.assertEqual(row["status"], "ok" if well else "failed", row)
            path = self.folder / "out" / f"{n}.c"
            self.assertEqual(path.read_text() if well else path.exists(), f"{n}\na\nb\nc\n" if well else False)
        left = {f"{n}.a" for n in range(1, items + 1) if n % 50 == 8} | {f"{n}.b" for n in range(1, items + 1) if n % 50 == 9}
        self.assertEqual(set(self.files("tmp")), left)

    def runs(self, ran, task):
        path = ran / task.replace(":", "")
        return len(path.read_text().split()) if path.exists() else 0

    def recorded(self, ran):
        """task -> how often it has run, of those with a final record."""
        journal = self.folder / "job.toml.journal"
        if not journal.exists() or journal.stat().st_size == 0:
            return {}
        return {r["task"]: self.runs(ran, r["task"]) for r in self.log() if r["final"]}


if __name__ == "__main__":
    main()
