"""What the tests share: where the project and the built command are."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import time

import pytest

import allot

SOURCE = pathlib.Path(__file__).resolve().parents[3]
COMMAND = os.environ.get("ALLOT_COMMAND", str(SOURCE / "build/allot"))
TIME_FIELDS = {"seconds", "wall_seconds", "completions_per_second"}


SCRATCH = tempfile.TemporaryDirectory(prefix="allot-python-")


def scenario_files():
    """Every scenario of the project whose counts are constant. The cases hold theirs with the answers; here they get
    files of their own."""
    files = []
    for case in sorted((SOURCE / "tests/cases").glob("*.json")):
        files.append(pathlib.Path(SCRATCH.name, case.name))
        files[-1].write_text(json.dumps(json.loads(case.read_text())["scenario"]))
    assert len(files) >= 20
    return [*files, *sorted((SOURCE / "examples").glob("*.toml"))]


def varying_files():
    """Scenarios for simulation only."""
    return sorted((SOURCE / "tests/golden").glob("simulator-*.toml"))


def malformed_files(book):
    """(name, bytes, diagnostics) of every file in a book of tests/malformed; how it is written stands at its top."""
    folder = SOURCE / "tests/malformed"
    _, *entries = re.split(r"^==== ", (folder / book).read_text(), flags=re.MULTILINE)
    files = []
    for entry in entries:
        head, rest = entry.split("\n", 1)
        name = head.removesuffix(" (beside)")
        text, mark, diagnostics = re.split(r"^----(.*)\n", rest, maxsplit=1, flags=re.MULTILINE)
        content = (text[:-1] if mark else text).encode() if name == head else (folder / name).read_bytes()
        files.append((name, content, diagnostics.splitlines()))
    return files


def command(*arguments):
    """What the built command prints with --json."""
    words = [COMMAND, *map(str, arguments), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(entry) for key, entry in value.items() if key not in TIME_FIELDS}
    if isinstance(value, list):
        return [without_times(entry) for entry in value]
    return value


class Ticking:
    """Another thread that counts `ticks` while the body runs, if the interpreter lets it."""

    def __init__(self, seconds):
        self.ticks = 0
        self._seconds = seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick)

    def _tick(self):
        while not self._over.is_set():
            self.ticks += 1
            time.sleep(self._seconds)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


@pytest.fixture
def machine():
    """Two types, two resources, with priorities; every type runs everywhere."""
    return allot.Scenario(
        [[8.0, 7.5], [2.0, 6.0]], [4, 4], tasks=["sort", "search"], resources=["cpu", "gpu"], priorities=[1, 3]
    )
