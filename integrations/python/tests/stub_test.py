"""The stub file says what the module is, and the package is typed as it says."""
import os
import pathlib
import subprocess
import sys

import pytest

import allot

PACKAGE = pathlib.Path(allot.__file__).parent


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """What mypy knows of NumPy is read once."""
    os.environ["MYPY_CACHE_DIR"] = str(tmp_path_factory.mktemp("mypy"))
    yield
    del os.environ["MYPY_CACHE_DIR"]


def mypy(tmp_path, *arguments):
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check(tmp_path):
    """The arguments of the check. pybind11's classes have a metaclass of their own, and where there is no constructor one
    that says so."""
    allowed = tmp_path / "allowed"
    allowed.write_text(r"""
allot\._native\.[A-Z][A-Za-z]+
allot\._native\.(?!Scenario|ServiceOrder)[A-Z][A-Za-z]+\.__init__
""")
    return ["mypy.stubtest", "allot._native", "--allowlist", str(allowed), "--ignore-unused-allowlist"]


def test_stub_and_module_agree(tmp_path):
    assert "Success" in mypy(tmp_path, *check(tmp_path))


def test_a_missing_word_is_noticed(tmp_path):
    """The check above can fail: without a property in the stub it does."""
    copy = tmp_path / "allot"
    copy.mkdir()
    for file in PACKAGE.iterdir():
        if file.suffix == ".so":
            (copy / file.name).symlink_to(file.resolve())
        elif file.is_file():
            (copy / file.name).write_text(file.read_text())
    stub = copy / "_native.pyi"
    stub.write_text(stub.read_text().replace("def population(self)", "def populaton(self)"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "MYPYPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", *check(tmp_path)], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )
    assert done.returncode != 0 and "population" in done.stdout and "error" in done.stdout


def test_the_package_is_type_checked(tmp_path):
    mypy(tmp_path, "mypy", "--strict", "-p", "allot")


def test_users_are_type_checked(tmp_path):
    right = tmp_path / "right.py"
    right.write_text(
        "import allot\n"
        "machine = allot.Scenario([[1.0, 2.0]], [3])\n"
        "answer: allot.Solution = allot.solve(machine, solver='map')\n"
        "total: int = int(answer.assignment.sum())\n"
        "def mine(state: allot.State, task: int) -> int:\n"
        "    return int(state.totals.argmin())\n"
        "run: allot.Simulation = allot.simulate(machine, mine, completions=10)\n"
        "dispatcher = allot.Dispatcher(resources={'cpu': 2}, tasks=['sort'])\n"
        "with dispatcher.task('sort') as ticket:\n"
        "    where: str = ticket.resource\n"
        "ended: int = dispatcher.statistics().ended\n"
        "@allot.policy(name='first', memory_size=1)\n"
        "def first(state: allot.State, task: int) -> int:\n"
        "    return 0\n"
        "place: int = first(allot.State.__new__(allot.State), 0)\n"
        "both = allot.compare(machine, (first, 'map', allot.policy(mine, name='second')), completions=100)\n"
        "means: list[float] = [run.throughput.mean for run in both]\n"
        "one: allot.Simulation = both[0] if 'map' in both else both['map']\n"
        "widths = [estimate.half_width for estimate in one.throughput_by_task]\n"
        "import collections, types\n"
        "import numpy as np\n"
        "more = allot.Scenario(np.ones((1, 2)), {'a': 3}, tasks=('a',), servers=np.array([1, 2]), floors=[None])\n"
        "same = allot.Scenario.from_dict(types.MappingProxyType(more.to_dict()))\n"
        "allot.simulate(machine, 'map', warmup='auto', completions=10)\n"
        "dispatcher.set_counts(collections.OrderedDict(sort=2))\n"
        "def best(scenario: allot.ScenarioLike, solver: allot.SolverName = 'map') -> float:\n"
        "    return allot.solve(scenario, solver=solver).throughput\n"
        "for name in allot.policies():\n"
        "    allot.simulate(machine, name, completions=10)\n"
        "by_name = allot.Scenario({'a': {'x': 1.0}}, 1).replace(worths=[2.0])\n"
        "point: allot.ParetoPoint = allot.pareto(machine)[0]\n"
        "points: list[allot.ParetoPoint] = allot.pareto(machine)[:2]\n"
        "changes: list[allot.Change] = allot.whatif(machine)[1:]\n"
        "words = allot.Scenario([[1.0]], 1, kinds='gp', disciplines=np.array(['ps']))\n"
        "words = words.replace(kinds={'r0': 'sa'}, disciplines=['ps'], name='words', rates=[[2.0]], counts={'t0': 2})\n"
        "allot.Dispatcher(resources=['cpu'], tasks=['a'], policy='map', shares='floor')\n"
        "with allot.Dispatcher(machine, policy=mine) as live:\n"
        "    live.place(0)\n"
    )
    mypy(tmp_path, "mypy", "--strict", "--follow-imports=silent", str(right))


@pytest.mark.parametrize(
    "line, words",
    [
        ("allot.policy(3)", "policy"),
        ("allot.Scenario([[1.0]], [1]).rates.nothing", "nothing"),
        ("allot.compare('x', 3)", "compare"),
        ("allot.solve('x', 'speed')", "solve"),
        ("allot.solve('x', solver='fastest')", "solve"),
        ("allot.simulate('x', 'no-policy')", "simulate"),
        ("allot.Executor(mp_context='fork')", "mp_context"),
        ("allot.Dispatcher('x', policy='no-such')", "policy"),
        ("allot.Dispatcher('x', shares='most')", "shares"),
        ("allot.Scenario([[1.0]], [1], kinds='nope')", "kinds"),
        ("allot.Scenario([[1.0]], [1], disciplines=['lifo'])", "lifo"),
        ("allot.Scenario([[1.0]], [1]).replace(colour=1)", "colour"),
        ("allot.Scenario([[1.0]], [1]).replace(disciplines={'cpu': 'lifo'})", "lifo"),
    ],
)
def test_mistakes_of_users_are_found(tmp_path, line, words):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(f"import allot\n{line}\n")
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(wrong)],
        capture_output=True, text=True, env=environment, cwd=tmp_path, check=False,
    )
    assert done.returncode == 1 and words in done.stdout
