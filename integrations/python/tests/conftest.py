"""What the tests share: where the project and the built command are."""
import json
import os
import pathlib
import subprocess
import tempfile

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


@pytest.fixture
def machine():
    """Two types, two resources, with priorities; every type runs everywhere."""
    return allot.Scenario(
        [[8.0, 7.5], [2.0, 6.0]], [4, 4], tasks=["sort", "search"], resources=["cpu", "gpu"], priorities=[1, 3]
    )
