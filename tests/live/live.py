"""What the tests of live work share: job files in temporary folders, runs of the command, a look at what is left."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ALLOT = os.environ.get("ALLOT", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "allot"))


def toml(value):
    """A value as TOML: JSON's syntax fits all that is used here but tables."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return json.dumps(value)


def job_text(resources, tasks):
    """resources and tasks: dicts by name of dicts of keys."""
    lines = []
    for kind, entries in (("resources", resources), ("tasks", tasks)):
        for name, keys in entries.items():
            lines.append(f"[[{kind}]]\nname = {json.dumps(name)}")
            lines += [f"{key} = {toml(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


class LiveTest(unittest.TestCase):
    """A temporary folder for each test, and nothing left running afterwards."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="allot-live-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def job(self, resources, tasks, name="job.toml"):
        return self.write(name, job_text(resources, tasks))

    def start(self, *arguments, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("cwd", self.folder)
        return subprocess.Popen([ALLOT, *map(str, arguments)], text=True, **options)

    def run_allot(self, *arguments, expect=0, timeout=240, **options):
        process = self.start(*arguments, **options)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.fail(f"{arguments} did not end within {timeout} s:\n{out}\n{err}")
        if expect is not None:
            self.assertEqual(process.returncode, expect, f"{arguments}\n{out}\n{err}")
        return process.returncode, out, err

    def log(self, journal="job.toml.journal"):
        _, out, _ = self.run_allot("log", journal, "--json")
        return [json.loads(line) for line in out.splitlines()]

    def finals(self, journal="job.toml.journal"):
        """task -> its attempts that ended well."""
        done = {}
        for row in self.log(journal):
            if row["status"] == "ok":
                done.setdefault(row["task"], []).append(row)
        return done


def processes_with(marker):
    """Processes whose environment or command line has the marker: what a test started and did not end."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            text = (entry / "environ").read_bytes() + b"\0" + command
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:  # it has ended meanwhile
            continue
        if marker.encode() in text and state != "Z":
            found.append((int(entry.name), command.replace(b"\0", b" ").decode(errors="replace")))
    return found


def wait_until(condition, seconds=20.0, step=0.02):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(step)
    return condition()


def main():
    unittest.main(verbosity=2)
