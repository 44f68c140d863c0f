#!/usr/bin/python3
"""`allot run --metrics`: what monitoring reads, by its own parsers; against the journal, and against the reference."""
import pathlib
import re
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from live import LiveTest, main, wait_until  # noqa: E402

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics  # noqa: E402
from prometheus_client.parser import text_string_to_metric_families as classic  # noqa: E402

REFERENCE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "metrics.md"


def samples(text):
    """(name, labels as a frozen set) -> value; both parsers must take the text and agree."""
    found = {(s.name, frozenset(s.labels.items())): s.value for family in open_metrics(text) for s in family.samples}
    other = {(s.name, frozenset(s.labels.items())): s.value for family in classic(text) for s in family.samples}
    assert {k: float(v) for k, v in found.items()} == {k: float(v) for k, v in other.items()}
    return found


class Metrics(LiveTest):
    def read(self, name="m.prom"):
        return samples((self.folder / name).read_text(encoding="utf-8"))

    def value(self, found, metric, **labels):
        return found[metric, frozenset(labels.items())]

    def test_the_numbers_are_those_of_the_journal(self):
        self.job({"cpu": {"servers": 2}, "gpu": {}},
                 {"good": {"repeat": 12, "command": {"cpu": ["true"], "gpu": ["true"]}},
                  "bad": {"repeat": 3, "retries": 1, "command": {"cpu": ["false"]}},
                  "slow": {"repeat": 1, "retries": 0, "timeout": "0.2s", "command": {"gpu": ["sleep", "60"]}}})
        self.run_allot("run", "job.toml", "--metrics", "m.prom", expect=1)
        found = self.read()
        log = self.log()
        for type_name, resource in (("good", "cpu"), ("good", "gpu"), ("bad", "cpu"), ("slow", "gpu")):
            rows = [row for row in log if (row["type"], row["resource"]) == (type_name, resource)]
            for status in ("ok", "failed", "timeout", "killed", "lost"):
                count = sum(row["status"] == status for row in rows)
                self.assertEqual(self.value(found, "allot_attempts_total", type=type_name, resource=resource, status=status), count)
            where = {"type": type_name, "resource": resource}
            self.assertEqual(self.value(found, "allot_attempt_seconds_count", **where), len(rows))
            self.assertAlmostEqual(self.value(found, "allot_attempt_seconds_sum", **where), sum(row["wall_s"] for row in rows), places=6)
            self.assertAlmostEqual(self.value(found, "allot_wait_seconds_sum", **where), sum(row["queue_s"] for row in rows), places=6)
            self.assertEqual(self.value(found, "allot_attempts_running", **where), 0)
        states = {"good": (12, 0), "bad": (0, 3), "slow": (0, 1)}
        for type_name, (done, failed) in states.items():
            for state, count in (("done", done), ("failed", failed), ("running", 0), ("waiting", 0)):
                self.assertEqual(self.value(found, "allot_tasks", type=type_name, state=state), count)
        self.assertEqual(self.value(found, "allot_retries_total"), sum(row["attempt"] > 1 for row in log))
        self.assertEqual(self.value(found, "allot_slots", resource="cpu"), 2)
        self.assertEqual(self.value(found, "allot_run_phase", phase="over"), 1)
        self.assertGreater(self.value(found, "allot_rate", type="good", resource="cpu"), 0)
        self.assertGreaterEqual(self.value(found, "allot_busy_seconds_total", resource="gpu"), 0.2)
        run, = (dict(labels) for name, labels in found if name == "allot_run")
        self.assertEqual((run["job"], run["objective"]), ("job.toml", "finish"))

    def test_a_reader_sees_whole_files_and_counters_that_never_fall(self):
        self.job({"cpu": {"servers": 4}}, {"t": {"repeat": 12, "command": ["sh", "-c", "while ! [ -e go ]; do sleep 0.05; done"]}})
        process = self.start("run", "job.toml", "--metrics", "m.prom")
        self.assertTrue(wait_until(lambda: (self.folder / "m.prom").exists(), 120))
        # While the first four wait for `go`, the file says so.
        self.assertTrue(wait_until(lambda: self.value(self.read(), "allot_slots_busy", resource="cpu") == 4, 120))
        before = self.read()
        self.assertEqual(self.value(before, "allot_tasks", type="t", state="running"), 4)
        self.assertEqual(self.value(before, "allot_tasks", type="t", state="waiting"), 8)
        self.assertEqual(self.value(before, "allot_slots_up", resource="cpu"), 4)
        self.assertEqual(self.value(before, "allot_run_phase", phase="running"), 1)
        seen = []
        reading = threading.Event()

        def read_on():
            while not reading.is_set():
                seen.append(self.read())

        reader = threading.Thread(target=read_on)
        reader.start()
        (self.folder / "go").touch()
        process.communicate(timeout=240)
        reading.set()
        reader.join()
        self.assertEqual(process.returncode, 0)
        for old, new in zip([before] + seen, seen + [self.read()]):
            for key, value in old.items():
                if key[0].endswith(("_total", "_count", "_sum")):
                    self.assertGreaterEqual(new[key], value, key)
        self.assertEqual(self.value(self.read(), "allot_tasks", type="t", state="done"), 12)
        self.assertEqual([path.name for path in self.folder.glob("*.part")], [])

    def test_names_are_data(self):
        for name in ('g"pu', "back\\slash", "gpu} 1", "# EOF", "é\u2028", "{x=\"y\"}", " ", "a,b"):
            with self.subTest(name=name):
                for old in self.folder.glob("*"):
                    if old.is_file():
                        old.unlink()
                self.job({name: {}}, {name + "2": {"repeat": 1, "command": ["true"]}})
                status, _, err = self.run_allot("run", "job.toml", "--metrics", "m.prom", expect=None)
                if status == 3:
                    self.assertIn("name", err)  # refused, then
                    continue
                self.assertEqual(status, 0, err)
                self.assertEqual(self.value(self.read(), "allot_attempts_total", type=name + "2", resource=name, status="ok"), 1)

    def test_a_file_that_cannot_be_written_is_refused_before_anything_starts(self):
        self.job({"cpu": {}}, {"t": {"repeat": 1, "command": ["touch", "ran"]}})
        _, _, err = self.run_allot("run", "job.toml", "--metrics", "no/such/folder/m.prom", expect=5)
        self.assertIn("--metrics", err)
        self.assertFalse((self.folder / "ran").exists())

    def test_it_replaces_no_file_of_the_run(self):
        text = self.job({"cpu": {}}, {"t": {"repeat": 1, "command": ["true"]}}).read_text()
        for name in ("job.toml", "./job.toml", "job.toml.journal"):
            self.run_allot("run", "job.toml", "--metrics", name, expect=2)
        self.assertEqual((self.folder / "job.toml").read_text(), text)

    def test_the_reference_names_them_all(self):
        self.job({"cpu": {}}, {"t": {"repeat": 2, "command": ["true"]}})
        self.run_allot("run", "job.toml", "--metrics", "m.prom")
        text = (self.folder / "m.prom").read_text()
        table = dict(re.findall(r"^\| `(allot_\w+)` \| (\w+) \|", REFERENCE.read_text(), re.MULTILINE))
        written = {}
        for family in open_metrics(text):
            written[family.name + ("_total" if family.type == "counter" else "")] = family.type
            self.assertTrue(family.documentation)
        self.assertEqual(table, written)


if __name__ == "__main__":
    main()
