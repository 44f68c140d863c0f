"""Scenarios: from arrays, dicts, frames and files, and everything that is wrong with them."""
import pickle

import numpy as np
import pandas
import pytest

import allot
from conftest import malformed_files, scenario_files


def problems(*arguments, **options):
    with pytest.raises(allot.InvalidInput) as caught:
        allot.Scenario(*arguments, **options)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == "\n".join(map(str, caught.value.diagnostics))
    return [problem.place for problem in caught.value.diagnostics]


def test_arrays_come_back():
    rates = np.array([[1.0, 2.0, 0.0], [0.0, 4.0, 5.0]])
    scenario = allot.Scenario(rates, np.array([3, 4]))
    assert (scenario.rates == rates).all() and scenario.rates.dtype == float
    assert scenario.counts.tolist() == [3, 4] and scenario.population == 7
    assert scenario.tasks == ("t0", "t1") and scenario.resources == ("r0", "r1", "r2")
    assert scenario.homes == ("r1", "r2") and scenario.shares is None and scenario.floors is None
    assert scenario.is_static


@pytest.mark.parametrize(
    "rates, counts",
    [
        ([[1, 2], [3, 4]], [5, 6]),
        (((1, 2), (3, 4)), (5.0, 6.0)),
        (np.array([[1, 2], [3, 4]], dtype=np.int8), np.array([5, 6], dtype=np.uint64)),
        (np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]), np.array([5, 0, 6])[::2]),
        (np.array([[1, 2], [3, 4]], dtype=np.float32), np.array([5.0, 6.0])),
    ],
)
def test_whatever_holds_the_same_numbers_is_the_same(rates, counts):
    assert allot.Scenario(rates, counts) == allot.Scenario([[1.0, 2.0], [3.0, 4.0]], [5, 6])


def test_a_power_cap_is_planned_with():
    options = {"servers": [8, 1], "powers": [11, 180], "idle_powers": [1.5, 18]}
    rates = [[45.0, 480.0], [14.0, 120.0]]
    free = allot.Scenario(rates, [8, 8], **options)
    capped = allot.Scenario(rates, [8, 8], **options, power_cap=150)
    assert free.power_cap is None and capped.power_cap == 150
    assert capped == free.replace(power_cap=150) == allot.Scenario.from_dict(capped.to_dict())
    plan = allot.solve(capped)
    assert plan.mean_power <= 150 * (1 + 1e-9)
    assert plan.throughput < allot.solve(free, service="planned").throughput
    assert problems(rates, [8, 8], power_cap=-1) == ["power_cap"]
    assert problems(rates, [8, 8], power_cap="much") == ["power_cap"]


def test_every_option_reaches_the_model():
    scenario = allot.Scenario(
        [[9.0, 2.0, 0.0], [1.5, 6.0, 20.0]],
        [6, 12],
        tasks=["sort", "filter"],
        resources=["cpu", "gpu", "conv"],
        servers=[4, 1, 1],
        kinds=["gp", "gp", "sa"],
        disciplines=["ps", "fcfs", "ps"],
        min_depths=[1, 2, 1],
        powers=[65, 250, 10],
        idle_powers=5.0,
        homes=["cpu", 1],
        priorities=[3, 1],
        floors=[None, 2.0],
        name="box",
    )
    assert scenario.to_dict() == {
        "name": "box",
        "resources": [
            {"name": "cpu", "servers": 4, "power": 65.0, "idle_power": 5.0},
            {"name": "gpu", "discipline": "fcfs", "min_depth": 2, "power": 250.0, "idle_power": 5.0},
            {"name": "conv", "kind": "sa", "power": 10.0, "idle_power": 5.0},
        ],
        "tasks": [
            {"name": "sort", "count": 6, "home": "cpu", "priority": 3.0, "rates": {"cpu": 9.0, "gpu": 2.0}},
            {
                **{"name": "filter", "count": 12, "home": "gpu", "priority": 1.0, "floor": 2.0},
                "rates": {"cpu": 1.5, "gpu": 6.0, "conv": 20.0},
            },
        ],
    }
    assert scenario.name == "box" and scenario.servers.tolist() == [4, 1, 1]
    assert scenario.kinds == ("gp", "gp", "sa") and scenario.disciplines == ("ps", "fcfs", "ps")
    assert scenario.min_depths.tolist() == [1, 2, 1] and scenario.powers.tolist() == [65, 250, 10]
    assert scenario.idle_powers.tolist() == [5, 5, 5] and scenario.shares.tolist() == [0.75, 0.25]
    assert np.isnan(scenario.floors[0]) and scenario.floors[1] == 2
    assert len(scenario.notes) == 1 and "filter" in scenario.notes[0]


def box(**changes):
    options = dict(
        tasks=["train", "pack"],
        resources=["cpu", "gpu"],
        servers=[4, 2],
        needs={"train": {"gpu": {"cpu": 1, "bus": 0.8, "memory": 41}}, "pack": {"cpu": {"cpu": 2}}},
        capacities={"memory": 80, "bus": {"amount": 1.0, "shared": True}},
    )
    return allot.Scenario([[0.0, 40.0], [5.0, 0.0]], [4, 8], **{**options, **changes})


def test_needs_and_capacities_come_back():
    scenario = box()
    assert scenario.needs == {"train": {"gpu": {"cpu": 1.0, "bus": 0.8, "memory": 41.0}}, "pack": {"cpu": {"cpu": 2.0}}}
    assert scenario.capacities == {"memory": {"amount": 80.0, "shared": False}, "bus": {"amount": 1.0, "shared": True}}
    assert box(needs=scenario.needs, capacities=scenario.capacities) == scenario
    assert box(needs=[scenario.needs["train"], scenario.needs["pack"]]) == scenario
    assert box(capacities=[{"name": "memory", "amount": 80}, {"name": "bus", "shared": True}]) == scenario
    assert allot.Scenario.from_dict(scenario.to_dict()) == scenario
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    plain = allot.Scenario([[1.0]], [1])
    assert plain.needs == {} and plain.capacities == {}


def test_needs_are_kept_by_copies():
    scenario = box()
    for copy in (scenario.with_counts([1, 2]), scenario.with_rate("train", "gpu", 3.0), scenario.with_servers("cpu", 6)):
        assert copy.needs == scenario.needs and copy.capacities == scenario.capacities
    more = scenario.with_capacity("bus", 2.5)
    assert more.capacities["bus"] == {"amount": 2.5, "shared": True} and more.needs == scenario.needs
    assert scenario.with_capacity(1, 2.5) == more
    with pytest.raises(allot.InvalidInput, match="memory"):
        scenario.with_capacity("memory", 40)
    with pytest.raises(allot.InvalidInput, match="capacity"):
        scenario.with_capacity("disk", 40)
    with pytest.raises(allot.InvalidInput, match="'cpu' is a resource: with_servers"):
        scenario.with_capacity("cpu", 5)


def test_where_a_task_cannot_run_it_needs_nothing():
    scenario = box().with_rate("train", "cpu", 5.0)
    without = scenario.with_rate("train", "gpu", 0)
    assert without.needs == {"pack": {"cpu": {"cpu": 2.0}}} and without.capacities == scenario.capacities
    assert without.with_rate("train", "gpu", 40.0).needs == without.needs


def test_wrong_needs_are_told():
    assert problems([[1.0]], [1], needs={"t0": {"r0": {"disk": 1}}}) == ["tasks[0].needs.r0.disk"]
    assert problems([[1.0]], [1], needs={"t0": {"r0": {"r0": 0}}}, capacities={"r0": 1}) == ["capacities[0].name", "tasks[0].needs.r0.r0"]
    assert problems([[1.0]], [1], capacities={"a": -1, "b": {"amount": "x"}}) == ["capacities[0].amount", "capacities[1].amount"]
    assert problems([[1.0]], [1], needs={"nobody": {}}) == ["needs"]


def test_plans_with_needs():
    answer = allot.solve(box(), service="planned")
    assert [use["name"] for use in answer.capacity_use] == ["cpu", "gpu", "memory", "bus"]
    assert answer.throughput == pytest.approx(40 * 1.25 + 5 * 2.75 / 2)
    assert answer.packing_bound == pytest.approx(40 + 5, abs=1e-4)  # one in memory at a time; two cores for the other
    assert pickle.loads(pickle.dumps(answer)).to_dict() == answer.to_dict()
    changes = {(c.change, c.capacity or c.resource): c for c in allot.whatif(box(), service="planned").changes if c.change in ("server", "capacity")}
    bus = changes["capacity", "bus"]
    assert bus.resource is None and bus.price == pytest.approx((40 - 2.5) / 0.8)
    assert 0 < bus.gain * answer.value <= bus.price
    whatif = allot.whatif(box(), service="planned")
    assert "one more unit of bus" in str(whatif) and set(whatif.to_frame()["capacity"].dropna()) == {"bus", "memory"}
    assert changes["server", "cpu"].price == pytest.approx(2.5) and changes["server", "cpu"].capacity is None


def test_completions_by_pair_with_needs():
    answer = allot.solve(box(), solver="map")
    assert answer.throughput_by_pair.sum(axis=1) == pytest.approx(answer.throughput_by_task)
    assert answer.throughput_by_pair.sum(axis=0) == pytest.approx(answer.throughput_by_resource)
    assert box().throughput(answer.assignment) == pytest.approx(answer.throughput)


def test_frames_bring_their_names():
    frame = pandas.DataFrame({"cpu": [1.0, 2.0], "gpu": [3.0, 4.0]}, index=["a", "b"])
    scenario = allot.Scenario(frame, [1, 2])
    assert scenario.tasks == ("a", "b") and scenario.resources == ("cpu", "gpu")
    assert scenario.to_frame().equals(frame.rename_axis(index="task", columns="resource"))


@pytest.mark.parametrize("path", scenario_files(), ids=lambda path: path.stem)
def test_round_trips(path):
    scenario = allot.load(path)
    assert allot.Scenario.from_dict(scenario.to_dict()) == scenario
    assert allot.Scenario.from_text(scenario.to_text()) == scenario
    assert allot.Scenario.from_text(scenario.to_text("json"), "json") == scenario
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert allot.Scenario.from_file(str(path)) == scenario


def test_dicts_may_hold_arrays():
    content = {
        "resources": ({"name": "cpu", "servers": np.int64(2)},),
        "tasks": [{"name": "a", "count": np.array(3), "rates": {"cpu": np.float32(0.5)}}],
    }
    scenario = allot.Scenario.from_dict(content)
    assert scenario.servers.tolist() == [2] and scenario.counts.tolist() == [3] and scenario.rates.tolist() == [[0.5]]
    assert allot.solve(content).throughput == 1.0


def test_changed_copies():
    scenario = allot.Scenario([[1.0, 2.0], [3.0, 4.0]], [5, 6], resources=["cpu", "gpu"])
    assert scenario.with_counts([1, 2]).counts.tolist() == [1, 2]
    assert scenario.with_rate("t1", "gpu", 9.0).rates.tolist() == [[1, 2], [3, 9]]
    assert scenario.with_rate(1, 1, 9.0) == scenario.with_rate("t1", "gpu", 9.0)
    assert scenario.with_servers("cpu", 3).servers.tolist() == [3, 1]
    assert scenario.counts.tolist() == [5, 6]
    for wrong in (
        lambda: scenario.with_rate("t9", 0, 1.0),
        lambda: scenario.with_rate(2, 0, 1.0),
        lambda: scenario.with_servers("cpu", 0),
        lambda: scenario.with_counts([1]),
        lambda: scenario.with_counts([1, -2]),
    ):
        with pytest.raises(allot.InvalidInput):
            wrong()


def test_how_rates_were_measured_is_kept():
    content = {
        "resources": [{"name": "cpu"}, {"name": "gpu"}],
        "tasks": [{"name": "a", "count": 4, "rates": {"cpu": 3.0, "gpu": 9.0}}],
        "measured": [
            {"task": "a", "resource": "cpu", "low": 2.5, "high": 3.5, "runs": 12, "alone": 4.0, "converged": False},
            {"task": "a", "resource": "gpu", "low": 8.5, "high": 9.5, "mixed": 7.0},
        ],
    }
    scenario = allot.Scenario.from_dict(content)
    assert scenario.to_dict()["measured"][0] == content["measured"][0]
    assert scenario.to_dict()["measured"][1].items() >= content["measured"][1].items()
    assert pickle.loads(pickle.dumps(scenario)) == scenario == allot.Scenario.from_text(scenario.to_text())
    assert scenario.with_counts([7]).to_dict()["measured"] == scenario.to_dict()["measured"]
    # Another rate is not what was measured.
    changed = scenario.with_rate("a", "cpu", 5.0)
    assert [entry["resource"] for entry in changed.to_dict()["measured"]] == ["gpu"] and changed != scenario
    with pytest.raises(allot.InvalidInput, match="measured"):
        allot.Scenario.from_dict({**content, "measured": [{"task": "b", "resource": "cpu", "low": 1, "high": 2}]})


def test_throughput_of_a_state():
    scenario = allot.Scenario([[8.0, 2.0], [2.0, 6.0]], [2, 2])
    assert scenario.throughput([[2, 0], [0, 2]]) == 14
    assert scenario.throughput(np.array([[1, 0], [1, 0]])) == 5
    answer = allot.solve(scenario)
    assert scenario.throughput(answer) == answer.throughput
    assert answer.throughput_by_pair.sum() == pytest.approx(answer.throughput, rel=1e-14)
    with pytest.raises(allot.InvalidInput):
        scenario.throughput([[1, 2, 3]])


def test_all_problems_are_told():
    assert problems([[1.0, -1.0], [np.nan, np.inf]], [1.5, -2]) == [
        "tasks[0].count",
        "tasks[0].rates.r1",
        "tasks[1].count",
        "tasks[1].rates.r0",
        "tasks[1].rates.r1",
    ]
    assert problems([[1.0, 1.0]], [1], servers=[0, 2.5], kinds="xp") == [
        "resources[0].kind",
        "resources[0].servers",
        "resources[1].kind",
        "resources[1].servers",
    ]
    assert problems([[1.0, 1.0]], [1], resources=["a", "a"]) == ["resources[1].name"]
    assert problems([[1.0], [1.0]], [1, 1], kinds="sa") == ["resources[0].kind"]
    assert problems([[1.0], [1.0]], [1, 1], priorities=[1, None]) == ["tasks[1]"]


@pytest.mark.parametrize(
    "arguments, options, place",
    [
        (([1.0, 2.0], [1]), {}, "rates"),
        (([[1.0], [2.0, 3.0]], [1, 1]), {}, "rates"),
        (([["x"]], [1]), {}, "tasks[0].rates.r0"),
        (([[1.0]], [1, 2]), {}, "counts"),
        (([[1.0]], "six"), {}, "tasks[0].count"),
        (([[1.0]], [2**70]), {}, "tasks[0].count"),
        ((np.zeros((0, 2)), []), {}, "tasks"),
        (([[1.0]], [1]), {"tasks": ["a", "b"]}, "tasks"),
        (([[1.0]], [1]), {"servers": object()}, "servers"),
        (([[1.0]], [1]), {"homes": ["gpu"]}, "tasks[0].home"),
    ],
)
def test_wrong_shapes(arguments, options, place):
    assert problems(*arguments, **options) == [place]


def test_wrong_files_and_dicts(tmp_path):
    refused = malformed_files("scenarios.toml.cases")
    assert len(refused) >= 120
    for name, content, expected in refused:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(allot.InvalidInput) as caught:
            allot.load(path)
        assert [problem.replace(f"{tmp_path}/", "") for problem in map(str, caught.value.diagnostics)] == expected, name
    with pytest.raises(allot.InvalidInput, match="unknown key"):
        allot.Scenario.from_dict({"resurces": []})
    with pytest.raises(allot.InvalidInput, match="a key must be a string"):
        allot.Scenario.from_dict({1: []})
    endless = {}
    endless["tasks"] = endless
    with pytest.raises(allot.InvalidInput, match="nested"):
        allot.Scenario.from_dict(endless)
    with pytest.raises(allot.InvalidInput, match="not int"):
        allot.solve(5)


def test_wrong_options(machine):
    for wrong in (
        lambda: allot.solve(machine, "speed"),
        lambda: allot.solve(machine, solver="magic"),
        lambda: allot.solve(machine, "priority", "map"),
        lambda: allot.solve(machine, time_limit=0),
        lambda: allot.solve(machine, start=[[1, 2]]),
        lambda: allot.solve(allot.generate(), "priority"),
        lambda: allot.certify(machine, gap=2.0),
        lambda: allot.pareto(machine, points=1),
        lambda: allot.simulate(machine, "magic"),
        lambda: allot.simulate(machine, "map", distribution="magic"),
        lambda: allot.simulate(machine, "map", completions=0),
        lambda: allot.simulate(machine, "map", completions=1.5),
        lambda: allot.simulate(machine, "map", replications=-1),
        lambda: allot.simulate(machine, "map", jobs=0),
        lambda: allot.simulate(machine, "map", threads=0),
        lambda: allot.simulate(machine, "map", jobs=1, threads=1),
        lambda: allot.simulate(machine, "map", assignment=[[4, 0], [0, 4]]),
        lambda: allot.simulate(machine, "fixed"),
        lambda: allot.simulate(machine, "fixed", assignment=[[4, 1], [0, 4]]),
        lambda: allot.simulate(machine, "random", probabilities=[[0.5, 0.6], [1, 0]]),
        lambda: allot.simulate(allot.generate(), "mis"),
        lambda: allot.compare(machine, []),
        lambda: allot.compare(machine, ["map", "map"]),
        lambda: allot.analyze(machine, "load-balance"),
        lambda: allot.analyze(machine, "jsq", max_states=1),
        lambda: allot.generate(threads=1),
        lambda: allot.generate(rule="diagonal"),
    ):
        with pytest.raises(allot.InvalidInput):
            wrong()
    with pytest.raises(allot.InvalidInput):
        allot.simulate(machine, 3)
