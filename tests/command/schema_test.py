#!/usr/bin/python3
"""The JSON Schemas that editors use, by another program's validator: every valid file of the project passes, every file whose shape
is wrong fails, and the schema of sweeps has the keys that the reader has."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import tomllib
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALLOT = str(pathlib.Path(os.environ.get("ALLOT", ROOT / "build" / "allot")).resolve())
REFERENCE = ROOT / "docs" / "reference"
# What the readers say of a file whose shape is wrong: keys, kinds of values, ranges of numbers.
SHAPE = re.compile(r"unknown key|must be (a|an) (string|array|table|object|whole number)|must be (true or false|one of)|"
                   r"must be a finite number >= 0( \(tasks per second\))?, is (-|the string|a table|an array|null)|must be at most 1e")


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

    def test_every_file_of_wrong_shape_fails(self):
        count = 0
        for name, kind in (("scenarios.toml.cases", "scenario"), ("scenarios.json.cases", "scenario"), ("jobs.cases", "jobs")):
            checker = validator(kind)
            for file, text, diagnostics in book(name):
                # A schema takes 6.0 for a whole number; the readers do not.
                if not any(SHAPE.search(line) and not re.search(r"is -?\d+\.0$", line) for line in diagnostics):
                    continue
                try:
                    value = content(text, file)
                except ValueError:
                    continue
                count += 1
                with self.subTest(file=file, diagnostics=diagnostics):
                    self.assertFalse(checker.is_valid(value))
        self.assertGreater(count, 80)

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

    def test_sweeps_of_wrong_shape_fail(self):
        checker = validator("sweep")
        good = {"policies": ["map"], "scenario": "box.toml", "vary": [{"field": "tasks.a.count", "values": [1, 2]}]}
        checker.validate(good)
        checker.validate({**good, "scenario": {"resources": [{"name": "c"}], "tasks": [{"name": "t", "count": 1, "rates": {"c": 1}}]}})
        for wrong in ({"polices": []}, {"policies": "map"}, {"seeds": 0}, {"seeds": []}, {"seed": -1}, {"completions": 0}, {"start": "here"}, {"warmup": "none"},
                      {"vary": {}}, {"vary": [{}]}, {"vary": [{"field": 3}]}, {"vary": [{"field": "a", "scale": "cubic"}]}, {"scenario": 3},
                      {"scenario": {"resources": 3}}, {"generate": {"rule": "diagonal"}}, {"generate": {"gpus": 1}}):
            self.assertFalse(checker.is_valid({**good, **wrong}), wrong)


if __name__ == "__main__":
    unittest.main(verbosity=2)
