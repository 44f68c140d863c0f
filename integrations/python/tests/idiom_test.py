"""What people who know Python, NumPy and pandas expect without reading."""
import copy
import inspect
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import threading

import numpy as np
import pandas
import pytest

import allot
from conftest import SOURCE


@pytest.fixture
def box():
    return allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4], tasks=["sort", "search"], resources=["cpu", "gpu"])


# ---- what goes in


def test_a_series_with_whole_numbers_is_taken_by_its_labels():
    rates = [[8.0, 7.5], [2.0, 6.0]]
    named = allot.Scenario(rates, pandas.Series({0: 3, 1: 5}), tasks=["1", "0"], resources=["7", "8"])
    assert named.counts.tolist() == [5, 3]
    assert named.with_counts(pandas.Series([9, 2])).counts.tolist() == [2, 9]
    assert allot.Scenario(rates, [1, 1], resources=["1", "0"], servers=pandas.Series([4, 2])).servers.tolist() == [2, 4]
    frame = pandas.DataFrame(rates)  # counts from 0
    assert allot.Scenario(frame, [1, 1], tasks=["1", "0"]).rates.tolist() == rates[::-1]
    # Names that are no numbers: the labels count.
    assert allot.Scenario(rates, pandas.Series([3, 5]), tasks=["a", "b"]).counts.tolist() == [3, 5]
    with pytest.raises(allot.InvalidInput):
        allot.Scenario(rates, [1, 1], servers=pandas.Series([3]))


def test_rates_by_name(box):
    by_name = {"sort": {"cpu": 8.0, "gpu": 7.5}, "search": {"gpu": 6.0, "cpu": 2.0}}
    assert allot.Scenario(by_name, {"search": 4, "sort": 4}) == box
    partly = allot.Scenario({"a": {"x": 1.0}, "b": {"y": 2.0}}, 1)
    assert partly.resources == ("x", "y") and partly.rates.tolist() == [[1, 0], [0, 2]]
    assert allot.Scenario(by_name, 1, tasks=["search", "sort"]).rates[0].tolist() == [2, 6]
    with pytest.raises(allot.InvalidInput, match="rates"):
        allot.Scenario({"a": [1.0]}, 1)


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    missing = tmp_path / "nothing.toml"
    for ask in (allot.load, allot.solve, allot.Scenario.from_file):
        with pytest.raises(FileNotFoundError) as raised:
            ask(missing)
        assert str(raised.value.filename) == str(missing)
    with pytest.raises(FileNotFoundError):
        allot.Scenario([[1.0]], [1]).throughput(tmp_path / "no.json")


def test_sizes_from_an_array_and_from_quantiles(box):
    same = allot.simulate(box, "map", distribution=np.full(7, 3.0), completions=2000, replications=2)
    assert same.throughput.mean == allot.simulate(box, "map", distribution="deterministic", completions=2000, replications=2).throughput.mean

    class Uniform:  # as scipy.stats has them
        @staticmethod
        def ppf(part):
            return part

    drawn = allot.simulate(box, "map", distribution=Uniform(), completions=2000)
    known = allot.simulate(box, "map", distribution="uniform", completions=2000)
    assert drawn.distribution == "Uniform" and abs(drawn.throughput.mean / known.throughput.mean - 1) < 0.05
    both = allot.compare(box, ["map", "jsq"], distribution=[1.0, 2.0], completions=1000)
    assert both[0].distribution == both[1].distribution
    for wrong in ([], [1.0, -1.0], [1.0, float("nan")], [[1.0]], 3, ["a"]):
        with pytest.raises(allot.InvalidInput, match="distribution"):
            allot.simulate(box, "map", distribution=wrong)


def test_sizes_of_scipy(box):
    stats = pytest.importorskip("scipy.stats")
    run = allot.simulate(box, "map", distribution=stats.expon(), completions=5000)
    assert run.distribution == "expon"
    assert abs(run.throughput.mean / allot.simulate(box, "map", completions=5000).throughput.mean - 1) < 0.05


# ---- scenarios are values


def test_replace_every_field(box):
    changes = {
        "rates": [[1.0, 2.0], [0.0, 4.0]], "counts": [5, 6], "tasks": ("a", "b"), "resources": ("x", "y"), "kinds": ["sa", "gp"],
        "servers": [2, 3], "disciplines": "fcfs", "min_depths": [1, 2], "powers": [5.0, 6.0], "idle_powers": [1.0, 2.0],
        "homes": ["y", "y"], "priorities": [3.0, 1.0], "floors": [0.25, 0.5], "worths": [2.0, 7.0], "max_responses": [10.0, 20.0],
        "power_cap": 900.0, "name": "other",
    }
    new = box.replace(**changes)
    for key, value in changes.items():
        got = getattr(new, key)
        wanted = [value] * 2 if key == "disciplines" else value
        assert np.array_equal(got, wanted), key
    assert set(changes) | {"needs", "capacities", "self"} == set(inspect.signature(allot.Scenario.__init__).parameters)
    assert new.replace(worths=None, priorities=None).priorities is None
    assert box.replace(counts={"search": 9}).counts.tolist() == [4, 9]
    assert new.to_dict()["power_cap"] == 900 and new.replace(power_cap=None).power_cap is None
    held = box.replace(capacities={"memory": 8}, needs={"sort": {"gpu": {"memory": 2}}})
    assert held.needs == {"sort": {"gpu": {"memory": 2.0}}}
    assert held.replace(rates=[[8.0, 0.0], [2.0, 6.0]]).needs == {}
    assert box.replace() == box and box.counts.tolist() == [4, 4]
    varying = allot.load(SOURCE / "tests/golden/simulator-arrivals.toml")
    assert varying.replace(name="x").to_dict()["arrivals"] == varying.to_dict()["arrivals"]


def test_replace_names_every_problem(box):
    with pytest.raises(TypeError, match="colour"):
        box.replace(colour=1)
    with pytest.raises(allot.InvalidInput) as raised:
        box.replace(servers=[0, 1], counts=[1], worths={"none": 1})
    assert len(raised.value.diagnostics) == 3


def test_save_and_load(box, tmp_path):
    for name in ("box.toml", "box.json"):
        box.save(tmp_path / name)
        assert allot.load(tmp_path / name) == box
    with pytest.raises(allot.InvalidInput, match="toml or .json"):
        box.save(tmp_path / "box.txt")


def test_priorities_read_back(box):
    assert box.priorities is None
    assert box.replace(priorities=[3, 1]).priorities.tolist() == [3, 1]
    assert np.array_equal(box.replace(priorities={"sort": 2.0, "search": 0.5}).priorities, [2, 0.5])


# ---- results are values and collections


def test_pareto_and_whatif_are_sequences(box):
    frontier = allot.pareto(box.replace(priorities=[1, 3]))
    points = list(frontier)
    assert len(points) == len(frontier) > 1
    assert [p.throughput for p in points] == frontier.throughputs.tolist()
    assert np.array_equal(frontier[-1].assignment, frontier.assignments[-1]) and frontier[0].time_shares is None
    planned = allot.pareto(box.replace(priorities=[1, 3]), service="planned")
    assert planned[0].assignment is None and np.array_equal(planned[0].time_shares, planned.time_shares[0])
    result = allot.whatif(box)
    assert list(result) == result.changes and result[0] == result.changes[0] and result[-1].gain <= result[0].gain
    for sequence in (frontier, result):
        with pytest.raises(IndexError):
            sequence[len(sequence)]


def test_estimates_unpack_compare_and_format(box):
    estimate = allot.simulate(box, "map", completions=1000, replications=4).throughput
    mean, half_width = estimate
    assert (mean, half_width) == (estimate.mean, estimate.half_width)
    assert estimate > mean - 1 and estimate < mean + 1 and estimate >= mean and 0 < estimate and estimate != mean + 1
    assert estimate == copy.copy(estimate) and hash(estimate) == hash(copy.copy(estimate))
    assert f"{estimate:.2f}" == f"{mean:.2f} ± {half_width:.2f}" and f"{estimate}" == str(estimate)[9:-1]
    assert max(allot.compare(box, ["jsq", "map"], completions=1000), key=lambda run: run.throughput).policy == "map"
    with pytest.raises(TypeError):
        estimate < "1"  # noqa: B015


def test_results_are_equal_by_value(box):
    box = box.replace(priorities=[1, 3])
    for ask in (
        lambda seed: allot.solve(box, seed=seed),
        lambda seed: allot.certify(box, seed=seed),
        lambda seed: allot.pareto(box),
        lambda seed: allot.whatif(box),
        lambda seed: allot.simulate(box, "map", completions=500, seed=seed, trace=True),
        lambda seed: allot.compare(box, ["map", "jsq"], completions=500, seed=seed),
        lambda seed: allot.analyze(box, "jsq"),
        lambda seed: allot.simulate(box, "map", completions=500, seed=seed).throughput_by_task,
    ):
        one, other = ask(1), ask(1)
        assert one == other and not one != other and one == pickle.loads(pickle.dumps(one))
        assert one != 3
    assert allot.simulate(box, "map", completions=500, seed=1) != allot.simulate(box, "map", completions=500, seed=2)
    assert allot.solve(box) != allot.solve(box.replace(name="other"))
    with allot.Dispatcher(box, background=False) as live:
        assert live.plan() == live.plan()


def test_traces_in_memory(box, tmp_path):
    run = allot.simulate(box, "jsq", completions=3000, replications=2, trace=True)
    allot.simulate(box, "jsq", completions=3000, replications=2, trace=tmp_path / "trace.csv")
    kept, written = pandas.DataFrame(run.trace), pandas.read_csv(tmp_path / "trace.csv")
    pandas.testing.assert_frame_equal(kept, written[list(kept.columns)], check_dtype=False)
    ended = kept[kept.event == "complete"]
    p = run.percentiles_by_task([50, 95])
    assert p.shape == (2, 2) and p[1, 0] == np.percentile(ended[ended.type == "sort"].response, 95)
    assert run.percentiles_by_task(50).shape == (2,)
    plain = allot.simulate(box, "jsq", completions=100)
    assert plain.trace is None and allot.simulate(box, "jsq", completions=100, trace=False).trace is None
    with pytest.raises(allot.InvalidInput, match="trace=True"):
        plain.percentiles_by_task(50)


# ---- policies and dispatchers


def test_a_state_refuses_what_was_not_asked_for(box):
    for name in ("remaining", "waiting"):
        def looks(state, task, name=name):
            return int(getattr(state, name).argmin())

        with pytest.raises(AttributeError, match="@allot.policy"):
            allot.simulate(box, looks, completions=100)


def test_a_dispatcher_is_a_context(box):
    with allot.Dispatcher(box) as live:
        live.complete(live.place("sort"), 0.1)
        assert not live.closed
    live.close()
    assert live.closed and repr(live) == "Dispatcher: closed"
    for call in (lambda: live.place("sort"), live.plan, live.statistics, live.solve):
        with pytest.raises(RuntimeError, match="closed"):
            call()
    with pytest.raises(KeyError), allot.Dispatcher(box) as other:
        raise KeyError("leaves")
    assert other.closed


def test_closing_beside_other_threads(box):
    """No crash: whoever is in a call ends it, whoever comes later is told."""
    for _ in range(20):
        live = allot.Dispatcher(box)

        def work():
            with pytest.raises(RuntimeError, match="closed"):
                while True:
                    live.complete(live.place("sort"), 0.001)
                    live.plan()
                    live.solve(always=True)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        live.close()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()


def test_a_function_places_live_tasks(box):
    @allot.policy(memory_size=1)
    def in_turn(state, task):
        state.memory[0] += 1
        assert state.counts.sum() == state.totals.sum() == in_flight
        return int(state.memory[0]) % 2

    with allot.Dispatcher(box, policy=in_turn, background=False, exploration=0.0) as live:
        in_flight = 0
        tickets = []
        for _ in range(6):
            tickets.append(live.place("search"))
            in_flight += 1
        assert [t.resource for t in tickets] == ["gpu", "cpu"] * 3
        for ticket in tickets:
            live.complete(ticket, 0.1)
        live.drain("gpu")
        in_flight = 0
        live.complete(live.place("search"), 0.1)
        assert live.place("search").resource == "cpu"


def test_a_function_that_fails_is_heard(box):
    with allot.Dispatcher(box, policy=lambda state, task: 1 // 0, background=False, exploration=0.0) as live:
        with pytest.raises(ZeroDivisionError):
            live.place("sort")
    with allot.Dispatcher(box, policy=lambda state, task: "tpu", background=False, exploration=0.0) as live:
        with pytest.raises(allot.InvalidInput, match="no resource"):
            live.place("sort")


# ---- installing


def test_setup_says_what_is_missing(tmp_path):
    """Without the tools, the names of Debian's packages are told."""
    code = (
        "import sys, runpy; sys.argv = ['setup.py', '--version']\n"
        "module = runpy.run_path('setup.py', run_name='setup')\n"
        "module['missing_packages'].__globals__['missing_packages'] = lambda: ['libfmt-dev', 'g++']\n"
        "module['run']('false')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=SOURCE, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "missing" in done.stderr and "libfmt-dev g++" in done.stderr


def test_a_compiled_module_that_is_missing_is_named_with_the_command_that_builds_it(tmp_path):
    package = pathlib.Path(allot.__file__).parent
    shutil.copytree(package, tmp_path / "allot", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", "import allot"], env=environment, cwd=tmp_path, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: allot: the compiled module '_native' is missing") and "'make python' builds it" in last
