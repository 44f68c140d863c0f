#!/usr/bin/env python3
"""`allot export trace` of real runs and of simulations: every attempt is there, slots do one thing at a time, names are data."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from live import LiveTest, main, wait_until  # noqa: E402

BOX = ('[[resources]]\nname = "c,pu"\nservers = 2\n[[resources]]\nname = "gpu"\ndiscipline = "fcfs"\n[[tasks]]\nname = "a\\"b"\ncount = 4\n'
       'rates = { "c,pu" = 3.0, gpu = 2.0 }\n[[tasks]]\nname = "t"\ncount = 3\nrates = { "c,pu" = 2.0, gpu = 5.0 }\n')


class Trace(LiveTest):
    def trace(self, path, *more):
        _, out, _ = self.run_allot("export", "trace", path, *more)
        return self.checked(json.loads(out))

    def checked(self, document):
        """By the format's own rules (the Trace Event Format of Chromium)."""
        events = document["traceEvents"]
        processes, threads, last = {}, {}, {}
        for event in events:
            self.assertIsInstance(event["name"], str)
            self.assertIsInstance(event["pid"], int)
            self.assertIsInstance(event["tid"], int)
            self.assertIn(event["ph"], "MXCi")
            if event["ph"] == "M":
                kind, value = next(iter(event["args"].items()))
                self.assertEqual({"process_name": "name", "thread_name": "name"}.get(event["name"], "sort_index"), kind)
                if event["name"] == "process_name":
                    processes[event["pid"]] = value
                elif event["name"] == "thread_name":
                    self.assertNotIn(event["tid"], threads)
                    threads[event["tid"]] = value
                continue
            self.assertGreaterEqual(event["ts"], 0)
            self.assertIn(event["pid"], processes)
            if event["ph"] == "X":
                self.assertIn(event["tid"], threads)
                self.assertGreaterEqual(event["dur"], 0)
                begin = round(event["ts"] * 1000)
                self.assertGreaterEqual(begin, last.get(event["tid"], 0), "slices on one slot overlap")
                last[event["tid"]] = begin + round(event["dur"] * 1000)
            elif event["ph"] == "C":
                self.assertGreaterEqual(event["args"]["tasks"], 0)
        return events, processes, threads

    def test_every_attempt_is_a_slice_of_its_slot(self):
        self.job({"cpu": {"servers": 3}, "g\"p<u>": {}},
                 {"good": {"repeat": 20, "command": {"cpu": ["sleep", "0.01"], "g\"p<u>": ["sleep", "0.02"]}},
                  "bad": {"repeat": 2, "command": {"cpu": ["sh", "-c", "exit 3"]}},
                  "slow": {"repeat": 1, "retries": 0, "timeout": "0.2s", "command": {"cpu": ["sleep", "60"]}}})
        self.run_allot("run", "job.toml", expect=1)
        events, processes, threads = self.trace("job.toml.journal")
        self.assertEqual(list(processes.values())[0], "runs")
        slices = {event["args"]["sequence"]: event for event in events if event.get("cat") == "attempt"}
        log = self.log()
        self.assertEqual(len(slices), len(log))
        begin = min(min(row["start_unix"] for row in log), next(e for e in events if e.get("cat") == "run")["args"]["start_unix"])
        for row in log:
            one = slices[row["sequence"]]
            self.assertEqual(processes[one["pid"]], row["resource"])
            self.assertEqual(threads[one["tid"]], f"{row['resource']}:{row['slot']}")
            self.assertEqual(one["name"], row["type"])
            self.assertAlmostEqual(one["ts"] / 1e6, row["start_unix"] - begin, places=5)
            self.assertLessEqual(one["dur"] / 1e6, row["wall_s"] + 1e-5)
            for key in ("task", "attempt", "status", "run"):
                self.assertEqual(one["args"][key], row[key])
            self.assertEqual(one["args"]["waited_s"], row["queue_s"])
        counters = {}
        for event in events:
            if event["ph"] == "C":
                counters.setdefault(event["name"], []).append(event["args"]["tasks"])
        for name in ("good", "bad", "slow"):
            self.assertEqual(counters["running: " + name][-1], 0)
            self.assertEqual(counters["waiting: " + name][-1], 0)
        self.assertEqual([counters["waiting: " + name][0] for name in ("good", "bad", "slow")], [20, 2, 1])
        self.assertLessEqual(max(counters["running: good"]), 4)

    def test_what_runs_and_what_was_lost_is_shown_as_such(self):
        self.job({"cpu": {"servers": 2}}, {"t": {"repeat": 2, "command": ["sh", "-c", "touch up; while ! [ -e go ]; do sleep 0.05; done"]}})
        process = self.start("run", "job.toml")
        self.assertTrue(wait_until(lambda: (self.folder / "up").exists()
                                   and [row["status"] for row in self.log()] == ["started"] * 2, 120))
        events, _, _ = self.trace("job.toml.journal")
        slices = [event for event in events if event.get("cat") == "attempt"]
        self.assertEqual([event["args"]["status"] for event in slices], ["started"] * 2)
        self.assertTrue(all("still running" in event["args"]["end"] for event in slices))
        run, = (event for event in events if event.get("cat") == "run")
        self.assertIsNone(run["args"]["outcome"])
        process.kill()
        process.communicate()
        (self.folder / "go").touch()
        self.run_allot("run", "job.toml")
        events, _, _ = self.trace("job.toml.journal")
        slices = [event for event in events if event.get("cat") == "attempt"]
        self.assertEqual(sorted(event["args"]["status"] for event in slices), ["lost", "lost", "ok", "ok"])
        self.assertTrue(all("end" in event["args"] for event in slices if event["args"]["status"] == "lost"))
        self.assertEqual(sum(event.get("cat") == "run" for event in events), 2)

    def test_a_simulation_has_a_slice_per_completion(self):
        self.write("box.toml", BOX)
        options = ["--completions", "300", "--replications", "1", "--warmup", "50", "--seed", "3"]
        self.run_allot("simulate", "box.toml", "--policy", "map", *options, "--trace", "events.csv")
        events, processes, _ = self.trace("events.csv", "-o", "-")
        slices = [event for event in events if event["ph"] == "X"]
        self.assertEqual(sum(event["args"]["status"] == "ok" for event in slices), 300)
        self.assertLessEqual(set(processes.values()), {"tasks", "c,pu", "gpu"})
        self.assertEqual({event["name"] for event in slices}, {'a"b', "t"})
        # Seven threads, each with one task in the system.
        totals = {}
        for event in sorted((event for event in events if event["ph"] == "C"), key=lambda event: event["ts"]):
            totals[event["name"]] = event["args"]["tasks"]
            self.assertLessEqual(sum(totals.values()), 7 + 2)
        self.run_allot("compare", "box.toml", "--policies", "map,jsq", *options, "--trace", "both.csv")
        _, processes, _ = self.trace("both.csv")
        self.assertEqual({name.split(": ")[0] for name in processes.values()}, {"map", "jsq"})

    def test_files_are_told_apart_and_refused_with_a_reason(self):
        self.write("box.toml", BOX)
        self.write("bad.csv", "time,event,task,thread,type,resource,size,response\n1,place,0,0,t,c,1,\nx,start,0,0,t,c,1,\n")
        for name, said in (("box.toml", "journal"), ("bad.csv", "line 3"), ("none", "none"), (".", "error")):
            _, out, err = self.run_allot("export", "trace", name, expect=3)
            self.assertEqual(out, "")
            self.assertIn(said, err)
        self.run_allot("export", "spreadsheet", "box.toml", expect=2)
        self.job({"cpu": {}}, {"t": {"repeat": 1, "command": ["true"]}})
        self.run_allot("run", "job.toml")
        self.run_allot("export", "trace", "job.toml.journal", "-o", "no/such/folder", expect=1)
        _, out, _ = self.run_allot("export", "trace", "job.toml.journal", "-o", "trace.json")
        self.assertEqual(out, "trace.json\n")
        self.assertEqual((self.folder / "trace.json").stat().st_mode & 0o777, 0o600)
        self.checked(json.loads((self.folder / "trace.json").read_text()))


if __name__ == "__main__":
    main()
