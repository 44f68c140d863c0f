#!/usr/bin/env python3
"""Manual pages and topics: pages that groff and mandoc have nothing to say about, examples that run."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ALLOT = str(pathlib.Path(os.environ.get("ALLOT", pathlib.Path(__file__).resolve().parents[2] / "build" / "allot")).resolve())
TOPICS = ["scenario", "jobs", "sweep", "objectives", "policies", "exit-status"]


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, **options)


class Help(unittest.TestCase):
    def setUp(self):
        self.commands = json.loads(run(ALLOT, "help", "--json").stdout)

    def test_every_command_has_json_or_says_why_not(self):
        for command in self.commands:
            has = any(option["option"] == "--json" for option in command["options"])
            self.assertNotEqual(has, bool(command["no_json"]), command["command"])
            if not has:
                shown = run(ALLOT, "help", command["command"]).stdout
                self.assertIn("There is no --json. " + command["no_json"], " ".join(shown.split()))
                words = {"export": ["trace", "x"], "completion": ["bash"], "plot": ["x"]}.get(command["command"], [])
                asked = run(ALLOT, command["command"], *words, "--json")
                self.assertEqual(asked.returncode, 2)
                self.assertIn("there is no --json. " + command["no_json"], asked.stderr)

    def test_json_is_of_the_topic_that_was_named(self):
        solve = json.loads(run(ALLOT, "help", "solve", "--json").stdout)
        self.assertEqual(solve, next(command for command in self.commands if command["command"] == "solve"))
        topic = json.loads(run(ALLOT, "help", "--json", "scenario").stdout)
        self.assertEqual(list(topic), ["topic", "title", "text"])
        self.assertEqual(topic["text"], run(ALLOT, "help", "scenario").stdout)
        both = json.loads(run(ALLOT, "help", "sweep", "--json").stdout)
        self.assertEqual((both["command"], both["topic"]), ("sweep", "sweep"))
        unknown = run(ALLOT, "help", "nonsense", "--json")
        self.assertEqual((unknown.returncode, unknown.stdout), (2, ""))
        self.assertIn("there is no command or topic 'nonsense'", unknown.stderr)

    def test_every_page_is_clean_and_says_what_the_help_says(self):
        for command in [None] + self.commands:
            words = [command["command"]] if command else []
            page = run(ALLOT, "help", "--man", *words)
            self.assertEqual(page.returncode, 0, page.stderr)
            with self.subTest(page=words):
                groff = run("groff", "-man", "-Tutf8", "-ww", "-Kutf8", "-z", input=page.stdout) if shutil.which("preconv") else \
                    run("groff", "-man", "-Tutf8", "-ww", "-z", input=page.stdout)
                self.assertEqual((groff.returncode, groff.stderr), (0, ""))
                if shutil.which("mandoc"):
                    lint = run("mandoc", "-T", "lint", "-W", "warning", input=page.stdout)
                    complaints = [line for line in lint.stdout.splitlines() if "missing date" not in line]
                    self.assertEqual(complaints, [])
                text = run("groff", "-man", "-Tascii", "-P-cbou", "-rLL=500n", input=page.stdout).stdout
                for option in command["options"] if command else []:
                    self.assertIn(option["option"], text)
                    if option["help"].isascii():
                        self.assertIn(" ".join(option["help"].split()), " ".join(text.split()))
                if command:
                    for line in command["example"].splitlines():
                        self.assertIn(line.strip(), text)
                else:
                    for other in self.commands:
                        self.assertIn(f"allot-{other['command']}(1)", text)

    def test_topics_are_listed_and_explained(self):
        general = run(ALLOT, "help")
        self.assertEqual(general.stdout, run(ALLOT, "--help").stdout)
        for topic in TOPICS:
            self.assertRegex(general.stdout, rf"(?m)^  {topic} ")
            shown = run(ALLOT, "help", topic)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
            self.assertLessEqual(max(map(len, shown.stdout.splitlines())), 100)
            self.assertNotIn("@", shown.stdout)
        for command in self.commands:
            explained = run(ALLOT, command["command"], "--help").stdout
            shown = run(ALLOT, "help", command["command"]).stdout
            self.assertTrue(shown.startswith(explained))
            self.assertEqual(shown != explained, command["command"] in TOPICS)  # 'sweep' is both
        unknown = run(ALLOT, "help", "scenaro")
        self.assertEqual((unknown.returncode, unknown.stdout), (2, ""))
        self.assertIn("scenario", unknown.stderr)

    def test_every_key_of_a_file_is_in_its_topic(self):
        reference = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference"
        for topic, file in (("scenario", "scenario.schema.json"), ("jobs", "jobs.schema.json"), ("sweep", "sweep.schema.json")):
            schema = json.loads((reference / file).read_text())
            shown = run(ALLOT, "help", topic).stdout
            # `measured` is written by `allot profile`, and by nobody else.
            tables = [schema] + [entry["items"] for key, entry in schema["properties"].items() if "items" in entry and key != "measured"]
            tables += [entry for entry in schema["properties"].values() if "properties" in entry]
            for table in tables:
                for key in table.get("properties", {}).keys() - {"$schema"}:  # which is for editors
                    self.assertRegex(shown, rf"(?m)^  {key}\b", topic)

    def test_the_examples_of_topics_run(self):
        for topic in TOPICS:
            with self.subTest(topic=topic), tempfile.TemporaryDirectory(prefix="allot-topic-") as folder:
                shown = run(ALLOT, "help", topic).stdout
                name, block = re.search(r"(?m)^Example: (\S+)\n\n((?:    .*\n|\n)+)", shown).groups()
                lines = [line[4:] for line in block.splitlines()]
                commands = [line[2:] for line in lines if line.startswith("$ ")]
                content = "\n".join(line for line in lines if not line.startswith("$ "))
                self.assertTrue(commands)
                pathlib.Path(folder, name).write_text(content + "\n")
                pathlib.Path(folder, "allot").symlink_to(ALLOT)
                for command in commands:
                    done = run("bash", "-c", command, cwd=folder, env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]})
                    self.assertEqual(done.returncode, 0, f"{topic}: {command}\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
