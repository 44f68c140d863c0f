#!/usr/bin/env python3
"""What `allot run` promises: one final record for each task, no recorded success run again, identities that survive
changes of the job file, retries, halting, and errors that say what is wrong."""
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from live import ALLOT, LiveTest, main, wait_until  # noqa: E402

CPU = {"cpu": {"servers": 2}}


class Promise(LiveTest):
    def test_every_task_runs_once_and_output_is_in_place(self):
        for name in ("a b", "c'd", 'e"f', "g$h", "-i", "ü"):
            self.write(f"in/{name}.txt", name)
        self.job(CPU, {"copy": {"inputs": "in/*.txt", "command": ["cp", "--", "{}", "{out}"], "output": "out/{/.}.copy"}})
        self.run_allot("run", "job.toml")
        self.assertEqual({p.name: p.read_text() for p in (self.folder / "out").iterdir()},
                         {f"{n}.copy": n for n in ("a b", "c'd", 'e"f', "g$h", "-i", "ü")})
        done = self.finals()
        self.assertEqual(len(done), 6)
        self.assertTrue(all(len(rows) == 1 for rows in done.values()))
        before = {p.name: p.stat().st_mtime_ns for p in (self.folder / "out").iterdir()}
        self.run_allot("run", "job.toml")  # nothing to do
        self.assertEqual(before, {p.name: p.stat().st_mtime_ns for p in (self.folder / "out").iterdir()})

    def test_without_out_the_output_is_what_the_task_prints(self):
        self.job(CPU, {"t": {"repeat": 3, "command": ["echo", "number", "{}"], "output": "out/{}.txt"}})
        self.run_allot("run", "job.toml")
        self.assertEqual((self.folder / "out" / "2.txt").read_text(), "number 2\n")
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir()), ["1.txt", "2.txt", "3.txt"])

    def test_a_new_input_in_front_is_run_and_the_others_are_not_repeated(self):
        count = self.folder / "count"
        command = ["sh", "-c", f'echo "$1" >> {count}', "sh", "{}"]
        self.write("list.txt", "b\nc\n")
        self.job(CPU, {"t": {"inputs_from": "list.txt", "command": command}})
        self.run_allot("run", "job.toml")
        self.write("list.txt", "a\nb\nb\nc\n")
        self.run_allot("run", "job.toml")
        self.assertEqual(sorted(count.read_text().split()), ["a", "b", "b", "c"])

    def test_a_changed_command_is_refused_unless_accepted(self):
        self.job(CPU, {"t": {"repeat": 3, "command": ["true"]}})
        self.run_allot("run", "job.toml")
        self.job(CPU, {"t": {"repeat": 4, "command": ["true", "again"]}})
        _, out, err = self.run_allot("run", "job.toml", expect=4)
        self.assertEqual(out, "")
        self.assertIn("again", err)
        self.assertIn("--accept-changed", err)
        self.run_allot("run", "job.toml", "--accept-changed")
        self.assertEqual(len(self.finals()), 4)

    def test_fresh_begins_anew_and_keeps_the_old_journal(self):
        self.job(CPU, {"t": {"repeat": 2, "command": ["true"]}})
        self.run_allot("run", "job.toml")
        self.run_allot("run", "job.toml", "--fresh")
        self.assertEqual(len(self.finals()), 2)
        self.assertEqual(len(self.finals("job.toml.journal.1")), 2)

    def test_a_failed_task_is_retried_elsewhere_and_then_final(self):
        self.job({"bad": {"servers": 1}, "good": {"servers": 1}},
                 {"t": {"repeat": 12, "command": {"bad": ["sh", "-c", "exit 3"], "good": ["true"]}}})
        self.run_allot("run", "job.toml")
        rows = self.log()
        self.assertTrue(any(r["resource"] == "bad" and r["status"] == "failed" and r["exit"] == 3 for r in rows))
        for row in rows:
            if row["attempt"] == 2:
                self.assertEqual(row["resource"], "good")
        self.assertEqual(len(self.finals()), 12)

    def test_failures_are_final_after_the_retries_and_can_be_asked_for_again(self):
        flag = self.folder / "flag"
        self.job(CPU, {"t": {"repeat": 2, "command": ["sh", "-c", f"test -e {flag} && exit 0; echo gone wrong >&2; exit 7"]}})
        _, out, _ = self.run_allot("run", "job.toml", "--retries", "2", expect=1)
        self.assertIn("exit 7", out)
        self.assertIn("gone wrong", out)
        self.assertEqual(len(self.log()), 6)
        self.run_allot("run", "job.toml", expect=1)  # nothing is tried again unasked
        self.assertEqual(len(self.log()), 6)
        flag.touch()
        self.run_allot("run", "job.toml", "--retry-failed")
        self.assertEqual(len(self.finals()), 2)

    def test_a_command_that_is_not_there_disables_the_pair_without_burning_retries(self):
        self.job({"a": {"servers": 1}, "b": {"servers": 1}},
                 {"t": {"repeat": 20, "retries": 0, "command": {"a": ["no-such-command-anywhere"], "b": ["true"]}}})
        _, _, err = self.run_allot("run", "job.toml")
        self.assertIn("cannot run on 'a'", err)
        self.assertEqual(len(self.finals()), 20)
        self.assertLessEqual(sum(r["resource"] == "a" for r in self.log()), 2)

    def test_a_type_that_nothing_can_run_fails_with_one_record_each(self):
        self.job(CPU, {"t": {"repeat": 5, "command": ["no-such-command-anywhere"]}, "u": {"repeat": 5, "command": ["true"]}})
        self.run_allot("run", "job.toml", expect=1)
        rows = [r for r in self.log() if r["task"].startswith("t:") and r["status"] == "failed"]
        self.assertEqual(len({r["task"] for r in rows}), 5)
        self.assertEqual(len(self.finals()), 5)

    def test_timeouts_end_the_whole_tree(self):
        self.job(CPU, {"t": {"repeat": 1, "retries": 0, "timeout": "0.3s",
                             "command": ["sh", "-c", "sleep 60 & sleep 60; true"]}})
        self.run_allot("run", "job.toml", expect=1, timeout=50)  # less than what it sleeps
        self.assertEqual([r["status"] for r in self.log()], ["timeout"])

    def test_halt_soon_and_now(self):
        tasks = {"t": {"repeat": 50, "retries": 0, "command": ["sh", "-c", "sleep 0.05; exit 1"]}}
        self.job(CPU, tasks)
        _, _, err = self.run_allot("run", "job.toml", "--halt", "soon,fail=3", expect=6)
        self.assertIn("halted", err)
        self.assertLess(len(self.log()), 10)
        self.job(CPU, {"t": tasks["t"], "slow": {"repeat": 1, "command": ["sleep", "1000"]}}, name="two.toml")
        self.run_allot("run", "two.toml", "--halt", "now,fail=2", expect=6)
        self.assertIn("killed", {r["status"] for r in self.log("two.toml.journal")})

    def test_values_reach_the_task_through_the_environment_and_placeholders(self):
        self.write("table.csv", 'name,size\n"a, b",3\nc,4\n')
        self.job({"cpu": {"servers": 1, "env": {"WHERE": "slot {%}"}}},
                 {"t": {"inputs_from": "table.csv",
                        "command": ["sh", "-c", 'echo "$1|$2|$3|$WHERE|$ALLOT_TASK|$ALLOT_ATTEMPT|$ALLOT_RESOURCE|$ALLOT_SLOT"',
                                    "sh", "{name}", "{size}", "{#}"]}})
        _, out, _ = self.run_allot("run", "job.toml", "--print", "grouped")
        lines = sorted(line for line in out.splitlines() if "|" in line)
        self.assertEqual(lines[0].split("|")[:4], ["a, b", "3", "1", "slot 0"])
        self.assertEqual(lines[1].split("|")[4:], ["t:c,4", "1", "cpu", "0"])

    def test_no_more_than_count_are_in_flight(self):
        self.job({"cpu": {"servers": 4}}, {"t": {"repeat": 6, "count": 1, "command": ["sleep", "0.1"]}})
        self.run_allot("run", "job.toml")
        rows = sorted(self.log(), key=lambda r: r["start_unix"])
        for before, after in zip(rows, rows[1:]):
            self.assertGreater(after["start_unix"], before["start_unix"] + before["wall_s"] - 0.02)

    def test_failures_without_an_attempt_halt_too(self):
        self.job(CPU, {"nf": {"repeat": 2, "command": ["no-such-command-anywhere"]}, "ok": {"repeat": 30, "command": ["sleep", "0.5"]}})
        self.run_allot("run", "job.toml", "--halt", "now,fail=1", expect=6)
        self.assertLess(sum(r["type"] == "ok" for r in self.log()), 4)

    def test_the_log_and_the_journal_agree(self):
        self.job(CPU, {"t": {"repeat": 7, "command": ["true"]}})
        self.run_allot("run", "job.toml", "--log", "log.jsonl")
        self.run_allot("run", "job.toml", "--fresh", "--log", "log.csv")
        lines = [json.loads(line) for line in (self.folder / "log.jsonl").read_text().splitlines()]
        self.assertEqual({r["task"] for r in lines}, {f"t:{n}" for n in range(1, 8)})
        self.assertEqual(set(lines[0]) & {"resource", "slot", "wall_s", "user_s", "maxrss_kb", "counted", "command"},
                         {"resource", "slot", "wall_s", "user_s", "maxrss_kb", "counted", "command"})
        self.assertEqual(len((self.folder / "log.csv").read_text().splitlines()), 8)

    def test_two_runs_at_once_are_refused(self):
        self.job(CPU, {"t": {"repeat": 1, "command": ["sleep", "30"]}})
        first = self.start("run", "job.toml")
        self.addCleanup(first.kill)
        self.assertTrue(wait_until(lambda: list(self.folder.glob("job.toml.journal.out/*.out"))))
        _, _, err = self.run_allot("run", "job.toml", expect=4)
        self.assertIn(str(first.pid), err)
        first.terminate()
        first.communicate(timeout=30)

    def test_summary_as_json(self):
        self.job({"cpu": {"servers": 2, "power": 50.0, "idle_power": 10.0}}, {"t": {"repeat": 8, "command": ["true"]}})
        _, out, _ = self.run_allot("run", "job.toml", "--json")
        summary = json.loads(out)
        self.assertEqual((summary["done"], summary["failed"], summary["outcome"]), (8, 0, "finished"))
        self.assertGreater(summary["energy_j"], 0)

    def test_dry_run_shows_commands_and_runs_nothing(self):
        self.job({"cpu": {}, "gpu": {}}, {"t": {"repeat": 2, "command": {"cpu": ["touch", "ran-{}"], "gpu": ["touch", "gpu {}"]},
                                                "rates": {"cpu": 2.0, "gpu": 8.0}}})
        _, out, _ = self.run_allot("run", "job.toml", "--dry-run")
        self.assertIn("touch 'gpu 1'", out)
        self.assertIn("10 tasks/s", out)
        self.assertFalse(list(self.folder.glob("ran-*")))
        self.assertFalse((self.folder / "job.toml.journal").exists())

    def test_a_full_disk_stops_dispatch_and_says_so(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], capture_output=True).returncode != 0:
            self.skipTest("no right to mount a small disk")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)])
        self.job(CPU, {"t": {"repeat": 100000, "command": ["true"]}})
        _, _, err = self.run_allot("run", "job.toml", "--journal", "disk/journal", "--time-limit", "120", expect=5)
        self.assertRegex(err, "full|written")
        (disk / "journal").stat()
        self.run_allot("log", "disk/journal", "--json")

    def test_invalid_files_name_every_problem_and_change_nothing(self):
        self.write("bad.toml", '[[resources]]\nname = "cpu"\nservers = 0\n[[tasks]]\nname = "t"\nrepeat = 2\ncommand = ["echo", "{nope}"]\n')
        _, out, err = self.run_allot("run", "bad.toml", expect=3)
        self.assertEqual(out, "")
        self.assertIn("bad.toml:3", err)
        self.assertIn("{nope}", err)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["bad.toml"])


if __name__ == "__main__":
    main()
