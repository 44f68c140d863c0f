#!/usr/bin/env python3
"""Faults that attacks have found, one test each: what ran, was written, was shown or was taken that should not have been."""
import json
import os
import pathlib
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "live"))
import hostile  # noqa: E402
from live import ALLOT, LiveTest, job_text, main, wait_until  # noqa: E402

CPU = {"cpu": {"servers": 2}}
BOX = '[[resources]]\nname = "a"\n[[resources]]\nname = "b"\n[[tasks]]\nname = "t"\ncount = 3\nrates = { a = 2.0, b = 1.0 }\n'
FAKE = str(pathlib.Path(__file__).with_name("fake_worker.py"))


class Sweeps(LiveTest):
    def sweep(self, text):
        self.write("box.toml", BOX)
        self.write("s.toml", 'scenario = "box.toml"\npolicies = ["map"]\ncompletions = 50\nreplications = 2\n' + text)
        self.run_allot("sweep", "s.toml", "--out", "report")
        self.assertFalse((self.folder / "HIT").exists())
        return (self.folder / "report" / "index.html").read_text()

    def test_a_title_is_not_executed(self):
        self.write("box.toml", BOX)
        self.write("s.toml", 'title = "`id > HIT`"\nscenario = "box.toml"\npolicies = ["map"]\ncompletions = 50\nreplications = 2\n')
        self.run_allot("sweep", "s.toml", "--out", "report")
        self.assertFalse((self.folder / "HIT").exists())

    def test_a_label_is_not_executed(self):
        self.sweep('[[vary]]\nfield = "tasks.t.count"\nlabel = "`id>HIT`"\nvalues = [1, 2]\n')

    def test_a_value_is_not_executed(self):
        page = self.sweep('[[vary]]\nfield = "name"\nlabel = "what"\nvalues = ["`id>HIT`", "$(id>HIT)", "<script>alert(1)</script>"]\n')
        self.assertNotIn("<script", page)

    def test_no_program_is_needed_to_draw(self):
        self.write("box.toml", BOX)
        self.write("s.toml", 'scenario = "box.toml"\npolicies = ["map"]\ncompletions = 50\nreplications = 2\n[[vary]]\nfield = "tasks.t.count"\nvalues = [1, 2]\n')
        self.run_allot("sweep", "s.toml", "--out", "report", env={"PATH": "/nowhere"})
        self.assertTrue(list((self.folder / "report" / "figures").glob("*.svg")))


class Files(LiveTest):
    def test_a_lock_of_somebody_else_is_left_alone(self):
        self.job(CPU, {"t": {"repeat": 2, "command": ["true"]}})
        self.write("poetry.lock", "[[package]]\n")
        self.run_allot("run", "job.toml", "--journal", "poetry")
        self.assertEqual((self.folder / "poetry.lock").read_text(), "[[package]]\n")

    def test_links_at_names_that_can_be_foreseen_are_not_followed(self):
        self.job(CPU, {"t": {"repeat": 1, "command": ["sh", "-c", "echo new; echo new >&2"], "output": "OUT"},
                       "u": {"repeat": 1, "command": ["sh", "-c", "echo new; echo new >&2"]}})
        for name in ("job.toml.journal.lock", ".allot-1-OUT", "job.toml.journal.html.part", "job.toml.journal.out/2.1.out",
                     "job.toml.journal.out/1.1.err", "job.toml.journal.out/2.1.err"):
            self.write("precious", "mine")
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.symlink_to(self.folder / "precious")
        self.run_allot("run", "job.toml")
        self.run_allot("plot", "job.toml.journal")
        self.assertEqual((self.folder / "precious").read_text(), "mine")
        self.assertEqual((self.folder / "OUT").read_text(), "new\n")
        self.assertFalse((self.folder / "job.toml.journal.out" / "2.1.out").is_symlink())

    def test_a_folder_that_is_a_link_is_refused(self):
        self.job(CPU, {"t": {"repeat": 1, "command": ["echo", "x"]}})
        (self.folder / "elsewhere").mkdir()
        (self.folder / "job.toml.journal.out").symlink_to(self.folder / "elsewhere")
        self.run_allot("run", "job.toml", expect=5)
        self.assertEqual(list((self.folder / "elsewhere").iterdir()), [])

    def test_journals_and_what_tasks_print_are_for_their_owner(self):
        self.job(CPU, {"t": {"repeat": 1, "command": ["sh", "-c", "echo out; echo err >&2"], "env": {"TOKEN": "hunter2"}}})
        self.run_allot("run", "job.toml", "--log", "log.jsonl")
        self.run_allot("plot", "job.toml.journal")
        for path in [self.folder / "job.toml.journal", self.folder / "job.toml.journal.html", self.folder / "log.jsonl",
                     self.folder / "job.toml.journal.out", *(self.folder / "job.toml.journal.out").iterdir()]:
            self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, path)
        self.assertNotIn(b"hunter2", (self.folder / "job.toml.journal").read_bytes())

    def test_env_values_are_recorded_if_asked_for_and_a_change_is_seen_in_any_case(self):
        task = {"repeat": 1, "command": ["true"], "env": {"TOKEN": "hunter2"}}
        self.job(CPU, {"t": task})
        self.run_allot("run", "job.toml")
        text = job_text(CPU, {"t": task})
        self.write("job.toml", "record_env = true\n" + text)
        self.run_allot("run", "job.toml")
        self.assertIn(b"hunter2", (self.folder / "job.toml.journal").read_bytes())
        self.write("job.toml", text.replace("hunter2", "hunter3"))
        self.run_allot("run", "job.toml", expect=4)

    def test_two_runs_with_one_output_refuse_each_other(self):
        flag = self.folder / "flag"
        self.job(CPU, {"t": {"repeat": 1, "command": ["sh", "-c", f"echo one; while [ ! -e {flag} ]; do sleep 0.05; done; echo one"], "output": "OUT"}})
        self.job(CPU, {"t": {"repeat": 1, "command": ["echo", "two"], "output": "OUT"}}, name="other.toml")
        first = self.start("run", "job.toml")
        self.assertTrue(wait_until(lambda: any(self.folder.glob(".allot-*-OUT"))))
        _, _, err = self.run_allot("run", "other.toml", expect=4)
        self.assertIn("OUT", err)
        self.assertIn(str(first.pid), err)
        flag.touch()
        first.communicate(timeout=30)
        self.assertEqual((self.folder / "OUT").read_text(), "one\none\n")
        self.run_allot("run", "other.toml", "--overwrite")
        self.assertEqual((self.folder / "OUT").read_text(), "two\n")

    def test_outputs_stay_inside(self):
        self.write("rows.txt", "../../x\n")
        job = job_text(CPU, {"t": {"inputs_from": "rows.txt", "command": ["echo", "x"], "output": "a/out/{}"}})
        (self.folder / "deep").mkdir()
        self.write("deep/rows.txt", "../../../x\n")
        self.write("deep/job.toml", job)
        _, _, err = self.run_allot("run", "deep/job.toml", expect=3)
        self.assertIn("outputs_anywhere", err)
        self.assertFalse((self.folder / "x").exists())
        self.write("deep/job.toml", "outputs_anywhere = true\n" + job)
        self.run_allot("run", "deep/job.toml")
        self.assertTrue((self.folder / "x").exists())

    def test_outputs_stay_inside_although_a_link_lies_on_the_way(self):
        """`out/a/../../x` reads as x, and is not where the link behind `out` leads."""
        (self.folder / "deep").mkdir()
        (self.folder / "else" / "where").mkdir(parents=True)
        (self.folder / "deep" / "out").symlink_to(self.folder / "else" / "where")
        self.write("deep/rows.txt", "a/../../x\n")
        self.write("deep/job.toml", job_text(CPU, {"t": {"inputs_from": "rows.txt", "command": ["echo", "x"], "output": "out/{}"}}))
        self.run_allot("run", "deep/job.toml", expect=None)
        self.assertEqual(sorted(p.name for p in (self.folder / "else").rglob("*")), ["where"])

    def test_a_file_that_is_named_like_an_option_is_none(self):
        (self.folder / "keep").mkdir()
        self.write("-rf", "")
        self.job(CPU, {"t": {"inputs": "-*", "command": ["rm", "{}", "keep"]}})
        self.run_allot("run", "job.toml", expect=1)
        self.assertTrue((self.folder / "keep").exists())
        self.assertFalse((self.folder / "-rf").exists())


class Terminals(LiveTest):
    def shown(self, *arguments):
        ran = hostile.run_on_terminal([ALLOT, *arguments], self.folder)
        self.assertEqual(list(hostile.terminal_complaints(ran.output)), [])
        return ran.output

    def test_a_worker_cannot_write_to_the_terminal(self):
        for seed in range(3):
            self.write("job.toml", job_text({"far": {"servers": 2, "launch": [sys.executable, FAKE, str(seed), "frames"]}},
                                            {"t": {"repeat": 60, "command": ["true"], "retries": 0}}))
            self.shown("run", "job.toml", "--requeues", "0", "--fresh")
            self.shown("log", "job.toml.journal", "--last", "0")

    def test_inputs_and_what_failed_commands_say(self):
        line = "\u202e\x1b[2J5 of 5 done\x9b\x07"
        self.write("in.txt", "\x1b[2Ja\r\x9b31mb\u202e\n" + "n" * 100_000 + "\n")
        self.job(CPU, {"t": {"inputs_from": "in.txt", "command": ["sh", "-c", f"printf '%s' '{line}' >&2; printf '%s' \"$1\"; exit 1", "sh", "{}"], "retries": 0}})
        output = self.shown("run", "job.toml", "--print", "grouped")
        self.assertLess(len(output), 500_000)
        self.shown("run", "job.toml", "--dry-run")
        self.shown("log", "job.toml.journal")

    def test_a_long_name_is_cut(self):
        self.write("box.json", json.dumps({"resources": [{"name": "r"}], "tasks": [{"name": "n" * 3_000_000, "count": 1, "rates": {"r": 1}}]}))
        ran = hostile.run_on_terminal([ALLOT, "solve", "box.json"], self.folder)
        self.assertLess(len(ran.output), 100_000)

    def test_json_on_a_terminal_is_the_same_json(self):
        name = "a\u202eb\u2066c"
        self.write("box.json", json.dumps({"resources": [{"name": name}], "tasks": [{"name": "t", "count": 1, "rates": {name: 1}}]}))
        output = self.shown("solve", "box.json", "--json")
        self.assertEqual(json.loads(output)["resources"], [name])
        _, out, _ = self.run_allot("solve", "box.json", "--json")
        self.assertEqual(json.loads(out)["resources"], [name])


class Resources(LiveTest):
    def limited(self, *arguments, gigabytes=2, **options):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))
        return self.run_allot(*arguments, preexec_fn=limit, **options)

    def poisoned(self, sql):
        self.job(CPU, {"t": {"repeat": 3, "command": ["true"]}})
        self.run_allot("run", "job.toml", "--fresh")
        database = sqlite3.connect(self.folder / "job.toml.journal")
        database.executescript(sql)
        database.close()

    def test_a_plot_of_times_that_cannot_be_ends(self):
        for value in ("1e300", "-1e300", "9e999", "1e18", "-5", "4e12"):
            self.poisoned(f"UPDATE attempts SET start_unix = {value} WHERE sequence = 2; UPDATE attempts SET wall_s = {value} WHERE sequence = 3; "
                          f"UPDATE predictions SET throughput = {value}, time_unix = {value}; UPDATE runs SET start_unix = {value}")
            self.run_allot("plot", "job.toml.journal", timeout=20)
            self.run_allot("log", "job.toml.journal", timeout=20)

    def test_views_and_triggers_are_refused(self):
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        columns = "1 AS task, 1 AS type, 1 AS final, 1 AS seal"
        for sql in (f"ALTER TABLE tasks RENAME TO hidden; CREATE VIEW tasks AS {endless} SELECT i AS id, {columns} FROM n",
                    f"CREATE TRIGGER g AFTER INSERT ON runs BEGIN INSERT INTO events (run, time_unix, kind, text) SELECT i, 1, 'a', 'b' FROM "
                    f"({endless} SELECT i FROM n); END"):
            self.poisoned(sql)
            self.run_allot("log", "job.toml.journal", expect=3, timeout=20)
            self.run_allot("plot", "job.toml.journal", expect=3, timeout=20)
            self.run_allot("run", "job.toml", expect=4, timeout=20)

    def test_pareto_of_large_counts_can_be_interrupted(self):
        text = "".join(f'[[resources]]\nname = "r{j}"\ndiscipline = "fcfs"\nservers = 1000000000\n' for j in range(3))
        rates = [[3.55, 17.1, 15.5], [5.85, 10.4, 9.54]]
        for i in range(2):
            text += f'[[tasks]]\nname = "t{i}"\ncount = 1000000000\npriority = {i + 1}\nrates = {{ ' + ", ".join(f"r{j} = {rates[i][j]}" for j in range(3)) + " }\n"
        self.write("box.toml", text)
        process = self.start("pareto", "box.toml")
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        process.communicate(timeout=30)
        self.assertLess(time.monotonic() - began, 10)

    def test_replications_cost_little(self):
        self.write("box.toml", BOX)
        ran = hostile.run_on_terminal([ALLOT, "simulate", "box.toml", "--policy", "map", "--replications", "20000", "--completions", "1", "--warmup", "0"],
                                      self.folder)
        self.assertEqual(ran.status, 0)
        self.assertLess(ran.memory_kb, 200 << 10)

    def test_what_does_not_fit_is_refused_with_the_estimate(self):
        self.write("box.toml", BOX.replace("count = 3", "count = 1000000000"))
        _, out, err = self.limited("simulate", "box.toml", "--policy", "map", expect=3, timeout=30)
        self.assertEqual(out, "")
        self.assertIn("GiB", err)
        self.write("groups.toml", BOX.replace("count = 3\n", "") + '[[threads]]\ncount = 500000000\nsequence = ["t"]\n' * 2)
        _, _, err = self.limited("simulate", "groups.toml", "--policy", "jsq", expect=3, timeout=30)
        self.assertIn("would take about", err)

    def test_tasks_that_pile_up_end_in_words(self):
        self.write("box.toml", BOX + '[[arrivals]]\ntask = "t"\nrate = 1e15\n')
        _, _, err = self.limited("simulate", "box.toml", "--policy", "jsq", "--replications", "1", "--threads", "1", gigabytes=1, expect=3, timeout=200)
        self.assertIn("more arrive than complete", err)

    def test_what_is_printed_is_not_held_in_memory(self):
        self.job(CPU, {"t": {"repeat": 1, "command": ["sh", "-c", "head -c 300000000 /dev/zero | tr '\\\\0' x"]}})
        with open(self.folder / "printed", "wb") as sink:
            process = subprocess.Popen([ALLOT, "run", "job.toml", "--print", "grouped"], cwd=self.folder, stdout=sink, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        self.assertGreater((self.folder / "printed").stat().st_size, 299_000_000)
        self.assertLess(usage.ru_maxrss, 100 << 10)


class Launchers(LiveTest):
    def test_a_path_with_blanks_goes_through_ssh(self):
        """A stand-in for ssh does what ssh does: joins its words and hands them to a shell."""
        place = self.folder / "a b; touch HIT"
        place.mkdir()
        program = place / "allot"
        program.symlink_to(os.path.realpath(ALLOT))
        real = place / "real allot"
        real.write_bytes(pathlib.Path(ALLOT).read_bytes())
        real.chmod(0o755)
        ssh = self.write("ssh", '#!/bin/sh\nshift\nexec sh -c "$*"\n')
        ssh.chmod(0o755)
        self.write("job.toml", job_text({"far": {"launch": [str(ssh), "host"]}}, {"t": {"repeat": 2, "command": ["true"]}}))
        done = subprocess.run([str(real), "run", "job.toml"], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((self.folder / "HIT").exists())


if __name__ == "__main__":
    main()
