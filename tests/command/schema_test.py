#!/usr/bin/python3
"""The JSON Schemas that editors use, by another program's validator: every valid file of the project passes, every file whose shape
is wrong fails, and the schema of sweeps has the keys that the reader has."""
import concurrent.futures
import copy
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import tomllib
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALLOT = str(pathlib.Path(os.environ.get("ALLOT", ROOT / "build" / "allot")).resolve())
REFERENCE = ROOT / "docs" / "reference"
# Cases of the books that are not of shape, so that a schema takes them: the values are wrong beside other values of the file,
# in a language of their own (commands, templates), beside other files, or as text before they are values.
NOT_OF_SHAPE = {
    "scenarios.toml.cases": """
        accelerator-two-types arrivals-task-runs-nowhere arrivals-unknown-task count-missing home-cannot-run home-unknown
        name-resource-twice name-task-twice population-below-zero population-below-zero-out-of-order population-beyond-limit
        population-task-runs-nowhere population-unknown-task priority-all-zero priority-for-some rate-unknown-resource rates-all-zero
        rates-empty rates-missing threads-task-runs-nowhere threads-too-many threads-with-counts
        count-float servers-float
        arrivals-nan-rate floor-nan rate-nan""",
    "scenarios.json.cases": """
        accelerator-two-types name-twice rate-unknown-resource
        duplicate-keys duplicate-root-keys syntax-lone-surrogate syntax-nan""",
    "jobs.cases": """
        accelerator-two-commands command-unknown-resource home-unknown home-without-command output-many-clashes output-same-path
        output-same-path-across-types priority-all-zero priority-some rates-unknown-resource rates-without-command
        resource-name-twice task-name-twice
        command-lone-brace command-needs-shell command-out-without-output command-unclosed-quote command-unknown-column
        command-unknown-placeholder command-variable env-unknown-placeholder launch-shell output-folder output-own-out output-slot
        shell-arithmetic shell-backquotes shell-heredoc shell-single-quotes shell-unclosed
        inputs-from-bad-csv inputs-from-csv-columns inputs-from-empty-list inputs-from-folder inputs-from-missing inputs-match-nothing
        json-duplicate-key
        floor-nan""",
    "sweeps.cases": """
        distribution-unknown generate-nothing generate-rates-reversed generate-threads-too-few scenario-not-found
        solver-needs-priorities too-many-rows vary-field-unknown vary-label-twice vary-step-wrong-way vary-value-makes-no-system""",
}
BOOKS = {"scenarios.toml.cases": "scenario", "scenarios.json.cases": "scenario", "jobs.cases": "jobs", "sweeps.cases": "sweep"}
# What the readers say of values that are wrong beside other values.
BESIDE_OTHERS = re.compile(r"unknown (resource|task|capacity) |needs '(count|priority)'|run nowhere|would take the count|must not be below 'low'|"
                           r"'home' must be a resource|available of '|would both write|where there is no command|no other task type has a 'from'|has no 'output' to use|these tasks could never start")


def validator(name):
    schema = json.loads((REFERENCE / f"{name}.schema.json").read_text())
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, resolver=jsonschema.RefResolver((REFERENCE / f"{name}.schema.json").as_uri(), schema))


def content(text, name):
    return tomllib.loads(text) if name.endswith(".toml") else json.loads(text)


def book(name):
    """The files of a book of tests/malformed: name, text, diagnostics."""
    cases, text = [], True
    for line in (ROOT / "tests" / "malformed" / name).read_text(encoding="utf-8", errors="surrogateescape").split("\n"):
        if line.startswith("==== "):
            cases.append((line[5:], [], []))
            text = True
        elif line in ("----", "---- no newline"):
            text = False
        elif cases:
            cases[-1][1 if text else 2].append(line)
    return [(name, "\n".join(lines), [d for d in diagnostics if d]) for name, lines, diagnostics in cases if not name.endswith("(beside)")]


# ---- files with every key, and with one value changed

MUTATIONS = int(os.environ.get("ALLOT_SCHEMA_MUTATIONS", 200))
VALUES = [None, True, False, 0, 1, -1, 2.5, 1e101, 1e-101, 10**9, 10**9 + 1, 10**5 + 1, "", "x", "1s", "-1s", "5 min", "0s", "1.5h", "\x01", "\0", [], [1],
          ["x"], [""], ["", "x"], {}, {"x": 1}, {"cpu": 1}, {"cpu": "x"}, {"cpu": {"x": 1}}, {"cpu": True}, {"": "x"}, {"ALLOT_X": "x"}, "gp", "fcfs"]
GONE = object()
CPU_GPU = [{"name": "cpu", "kind": "gp", "servers": 2, "discipline": "ps", "min_depth": 1, "power": 1, "idle_power": 0}, {"name": "gpu"}]
STATIC = {"name": "n", "power_cap": 1e6, "resources": CPU_GPU, "capacities": [{"name": "mem", "amount": 4, "shared": False}], "tasks": [
    {"name": "a", "count": 2, "home": "cpu", "priority": 1, "floor": 0.001, "worth": 2, "max_response": 100, "power": {"cpu": 1},
     "needs": {"cpu": {"mem": 1}}, "rates": {"cpu": 3, "gpu": 4}}, {"name": "b", "count": 1, "priority": 1, "rates": {"cpu": 1}}]}
GROUPS = {"resources": CPU_GPU, "tasks": [{"name": "a", "rates": {"cpu": 3, "gpu": 4}}, {"name": "b", "rates": {"cpu": 1}}],
          "threads": [{"name": "t", "count": 2, "sequence": ["a", "b"], "worth": 2, "max_response": 100}],
          "measured": [{"task": "a", "resource": "cpu", "low": 1, "high": 4, "runs": 3, "alone": 2, "mixed": 3, "converged": True}]}
CHANGING = {"resources": [{"name": "cpu"}], "tasks": [{"name": "a", "count": 2, "rates": {"cpu": 3}}],
            "population": [{"at": 3, "task": "a", "change": 1}], "arrivals": [{"task": "a", "rate": 0.1}]}
JOB = {"name": "n", "outputs_anywhere": True, "record_env": False, "capacities": [{"name": "mem", "amount": 4, "shared": False, "per": "all"}],
       "resources": [{"name": "cpu", "kind": "gp", "servers": 2, "env": {"A": "1"}}, {"name": "gpu", "launch": ["env"]}], "tasks": [
           {"name": "a", "count": 2, "inputs": ["x", "y"], "command": {"cpu": ["cat", "{}"], "gpu": "cat {}"}, "shell": False, "output": "o/{}", "timeout": "3s",
            "retries": 1, "env": {"B": "2"}, "directory": "/tmp", "rates": {"cpu": 3}, "home": "cpu", "priority": 1, "floor": 0.001, "worth": 2,
            "needs": {"cpu": {"mem": 1}}, "at_most": 3, "keep": True},
           {"name": "b", "from": "a", "command": ["cat", "{}"], "priority": 1}, {"name": "c", "repeat": 2, "after": ["a"], "command": ["true"], "priority": 1}]}
FILES = [("scenario", ("solve", "--time-limit", "1"), [STATIC, GROUPS]),
         ("scenario", ("simulate", "--policy", "jsq", "--completions", "10", "--replications", "1", "--jobs", "1"), [CHANGING]),
         ("jobs", ("run", "--dry-run", "--json", "--journal", "none.journal"), [JOB])]


def places(value, place=()):
    """Every place in it."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield place + (key,)
        yield from places(inner, place + (key,))


def changes(file):
    """The file with another value, or none, in one place: all of them."""
    for place in places(file):
        for value in [*VALUES, GONE]:
            changed = copy.deepcopy(file)
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            if value is GONE:
                del inner[place[-1]]
            else:
                inner[place[-1]] = value
            yield changed


class Schemas(unittest.TestCase):
    def test_every_valid_file_passes(self):
        folders = {"scenario": ["examples/*.toml", "examples/plans/*.toml", "tests/golden/*.toml"], "jobs": ["examples/jobs/*.toml"],
                   "sweep": ["examples/sweeps/*.toml"]}
        for kind, patterns in folders.items():
            checker = validator(kind)
            paths = [path for pattern in patterns for path in ROOT.glob(pattern)]
            self.assertTrue(paths)
            for path in paths:
                with self.subTest(path=path.name):
                    checker.validate(content(path.read_text(), path.name))
        with tempfile.TemporaryDirectory() as folder:
            for words, kind in (([], "scenario"), (["--jobs"], "jobs")):
                text = subprocess.run([ALLOT, "init", "-", *words], cwd=folder, capture_output=True, text=True, check=True).stdout
                validator(kind).validate(tomllib.loads(text))
            for seed in range(20):
                out = subprocess.run([ALLOT, "generate", "--priorities", "--powers", "--seed", str(seed), "--json"], capture_output=True, text=True, check=True)
                validator("scenario").validate(json.loads(out.stdout))

    def test_every_example_in_the_help_and_the_pages_passes(self):
        blocks = []
        for topic in ("scenario", "jobs", "sweep", "objectives", "policies", "exit-status"):
            shown = subprocess.run([ALLOT, "help", topic], capture_output=True, text=True, check=True).stdout
            name, block = re.search(r"(?m)^Example: (\S+)\n\n((?:    .*\n|\n)+)", shown).groups()
            blocks.append((f"help {topic}", "\n".join(line[4:] for line in block.splitlines() if not line.startswith("    $ ")), name))
        for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
            for ending in ("toml", "json"):
                for block in re.findall(rf"(?ms)^```{ending}\n(.*?)^```", page.read_text()):
                    blocks.append((page.name, block, "x." + ending))
        count = 0
        for place, block, name in blocks:
            value = content(block, name)
            is_whole = isinstance(value, dict) and all(isinstance(one, dict) for key in ("tasks", "resources") for one in value.get(key, [None]))
            if "vary" in value:
                kind = "sweep"
            elif is_whole:
                kind = "jobs" if any("command" in task for task in value["tasks"]) else "scenario"
            else:
                continue  # a part of a file
            count += 1
            with self.subTest(place=place, block=block):
                # The tutorial shows one file with mistakes.
                self.assertEqual([error.message for error in validator(kind).iter_errors(value)][:1],
                                 ["0 is less than the minimum of 1"] if "servers = 0" in block else [])
        self.assertGreater(count, 14)

    def test_every_file_of_wrong_shape_fails(self):
        for name, kind in BOOKS.items():
            checker = validator(kind)
            cases = [case for case in book(name) if case[2]]
            others = set(NOT_OF_SHAPE[name].split())
            self.assertEqual(others - {file.rpartition(".")[0] for file, _, _ in cases}, set(), "no such case")
            for file, text, diagnostics in cases:
                try:
                    value = content(text, file)
                except (ValueError, RecursionError):  # not TOML, not JSON
                    continue
                with self.subTest(file=file, diagnostics=diagnostics):
                    self.assertEqual(checker.is_valid(value), file.rpartition(".")[0] in others)

    def test_the_reader_and_the_schema_agree_on_files_with_one_value_changed(self):
        changed = [(kind, words, value) for kind, words, files in FILES for file in files for value in changes(file)]
        chosen = random.Random(23).sample(changed, min(MUTATIONS, len(changed)))
        checkers = {kind: validator(kind) for kind in ("scenario", "jobs")}
        folder = tempfile.TemporaryDirectory(prefix="allot-schema-")
        self.addCleanup(folder.cleanup)

        def compared(at):
            kind, words, value = chosen[at]
            path = pathlib.Path(folder.name, f"{at}.json")
            path.write_text(json.dumps(value))
            # A system with an enormous rate is taken, and simulated for ever.
            done = subprocess.run(["timeout", "20", ALLOT, *words, path.name], cwd=folder.name, capture_output=True, text=True)
            is_refused = done.returncode == 3 and "--" not in done.stderr.partition(".json")[0]
            if is_refused == checkers[kind].is_valid(value) and not (is_refused and BESIDE_OTHERS.search(done.stderr)):
                return f"{json.dumps(value)}\nreader: {done.returncode} {done.stderr}"
            return None

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.maxDiff = None
            self.assertEqual([text for text in pool.map(compared, range(len(chosen))) if text], [])

    def keys_known_to_the_reader(self, text):
        """How many keys the reader says that it allows, where it is given one that it does not know; and those that it names."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "s.toml").write_text(text)
            err = subprocess.run([ALLOT, "sweep", "s.toml"], cwd=folder, capture_output=True, text=True).stderr
        named, more = re.search(r"unknown key 'zzz' \(allowed here: (.*?)(?: and (\d+) more)?\)", err).groups()
        return set(named.split(", ")), len(named.split(", ")) + int(more or 0), err

    def test_the_schema_of_sweeps_has_the_keys_of_the_reader(self):
        schema = json.loads((REFERENCE / "sweep.schema.json").read_text())
        properties = {key: value for key, value in schema["properties"].items() if key != "$schema"}
        places = {"": properties, "generate": properties["generate"]["properties"], "vary": properties["vary"]["items"]["properties"]}
        for place, keys in places.items():
            head = {"": "", "generate": "policies = ['map']\n[generate]\n", "vary": "policies = ['map']\n[generate]\n[[vary]]\n"}[place]
            named, count, _ = self.keys_known_to_the_reader(head + "zzz = 1\n")
            self.assertEqual(count, len(keys), place)
            self.assertLessEqual(named, set(keys), place)
            for key in keys:
                _, _, err = self.keys_known_to_the_reader(head + f"zzz = 1\n{key} = {{ zzz = 1 }}\n")
                self.assertNotIn(f"unknown key '{key}'", err)

    def test_sweeps_of_right_shape_pass(self):
        checker = validator("sweep")
        good = {"policies": ["map"], "scenario": "box.toml", "vary": [{"field": "tasks.a.count", "values": [1, 2]}]}
        system = {"resources": [{"name": "c"}], "tasks": [{"name": "t", "count": 1, "rates": {"c": 1}}]}
        for right in ({}, {"scenario": system}, {"title": ""}, {"seed": 0}, {"seeds": 10000}, {"seeds": [3, 1]}, {"warmup": "auto"}, {"warmup": 0}, {"vary": []},
                      {"vary": [{"field": "rates.a.\"my gpu\"", "from": 3, "to": 1, "step": -1}]}, {"distributions": ["weibull:shape=2"]},
                      {"vary": [{"field": ["tasks.a.count", "tasks.b.count"], "from": 1, "to": 8, "points": 3, "scale": "log", "whole": True, "label": "both"}]}):
            checker.validate({**good, **right})
        checker.validate({"solvers": ["exact"], "generate": {"gps": 3, "rates": [0, 1.5]}, "vary": [{"field": "generate.threads", "values": [8]}]})


if __name__ == "__main__":
    unittest.main(verbosity=2)
