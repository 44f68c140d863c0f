"""Python and the command are the same library: every result equals what the command prints, to the last bit."""
import json

import pytest

import allot
from conftest import command, scenario_files, varying_files, without_times

FILES = scenario_files()
# Enumeration of large systems takes long, and proves nothing about the binding.
FEW_STATES = 1e6


def same(result, *arguments):
    expected = without_times(command(*arguments))
    assert without_times(result.to_dict()) == expected
    assert without_times(json.loads(result.to_json())) == expected


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def path(request):
    return request.param


def has_priorities(path):
    return allot.load(path).shares is not None


def test_solve(path):
    scenario = allot.load(path)
    same(allot.solve(scenario), "solve", path)
    same(allot.solve(scenario, explain=True), "solve", path, "--explain")
    for entry in allot.listing()["solvers"]:
        for objective in entry["objectives"]:
            if objective == "priority" and not has_priorities(path):
                continue
            limit = {"max_states": FEW_STATES} if entry["name"] == "exhaustive" else {}
            same(
                allot.solve(scenario, objective, entry["name"], **limit),
                *("solve", path, "--objective", objective, "--solver", entry["name"]),
                *(("--max-states", FEW_STATES) if limit else ()),
            )


def test_certify(path):
    same(allot.certify(path), "certify", path)


def test_pareto(path):
    same(allot.pareto(path, service="planned", points=4), "pareto", path, "--points", 4, "--service", "planned")
    if has_priorities(path):
        same(allot.pareto(path, points=7), "pareto", path, "--points", 7)
    else:
        with pytest.raises(allot.InvalidInput, match="priorit"):
            allot.pareto(path)


def test_whatif(path):
    same(allot.whatif(path), "whatif", path)


def test_simulate_as_many_completions_as_by_default(path):
    policy = allot.policies()[FILES.index(path) % 5]  # those that need nothing
    same(
        allot.simulate(path, policy, replications=2, seed=17),
        *("simulate", path, "--policy", policy, "--replications", 2, "--seed", 17),
    )


def test_compare(path):
    same(
        allot.compare(path, completions=1000, replications=3, distribution="bounded-pareto"),
        *("compare", path, "--completions", 1000, "--replications", 3, "--distribution", "bounded-pareto"),
    )


@pytest.mark.parametrize("policy", ["jsq", "random", "map", "round-robin"])
def test_analyze(policy):
    for path in [path for path in FILES if "paper" in path.stem]:
        if allot.load(path).population <= 18:
            same(
                allot.analyze(path, policy, optimal_control=policy == "jsq"),
                *("analyze", path, "--policy", policy, *(["--optimal-control"] if policy == "jsq" else [])),
            )


@pytest.mark.parametrize("path", varying_files(), ids=lambda path: path.stem)
def test_work_that_varies(path):
    same(
        allot.simulate(path, "map", completions=2000, replications=3),
        *("simulate", path, "--policy", "map", "--completions", 2000, "--replications", 3),
    )
    if "population" in path.stem:
        with pytest.raises(allot.InvalidInput, match="'solve' does not support"):
            allot.solve(path)
    else:
        answer = allot.solve(path)
        assert answer.service == "planned" and answer.proven_optimal and answer.assignment is None
        same(answer, "solve", path)


def test_what_policies_are_told(machine, tmp_path):
    scenario = tmp_path / "machine.json"
    scenario.write_text(machine.to_text("json"))
    answer = allot.solve(machine)
    (tmp_path / "a.json").write_text(answer.to_json())
    (tmp_path / "p.json").write_text("[[0.25, 0.75], [0.5, 0.5]]")
    options = ["--completions", 1000, "--replications", 2]
    for assignment in (answer, answer.assignment, answer.to_dict(), tmp_path / "a.json"):
        same(
            allot.simulate(machine, "fixed", assignment=assignment, completions=1000, replications=2),
            *("simulate", scenario, "--policy", "fixed", "--assignment", tmp_path / "a.json", *options),
        )
    same(
        allot.simulate(machine, "random", probabilities=[[0.25, 0.75], [0.5, 0.5]], completions=1000, replications=2),
        *("simulate", scenario, "--policy", "random", "--probabilities", tmp_path / "p.json", *options),
    )
    same(
        allot.simulate(machine, "weighted", shares="floor", start="listed", completions=1000, replications=2),
        *("simulate", scenario, "--policy", "weighted", "--shares", "floor", "--start", "listed", *options),
    )
    same(
        allot.simulate(machine, "jsq", precision=0.02, max_replications=30, warmup=100, jobs=1, completions=500),
        *("simulate", scenario, "--policy", "jsq", "--precision", 0.02, "--max-replications", 30),
        *("--warmup", 100, "--completions", 500),
    )


def test_trace(machine, tmp_path):
    scenario = tmp_path / "machine.json"
    scenario.write_text(machine.to_text("json"))
    mine, theirs = tmp_path / "mine.csv", tmp_path / "theirs.csv"
    same(
        allot.simulate(machine, "jsq", completions=200, replications=1, trace=mine),
        *("simulate", scenario, "--policy", "jsq", "--completions", 200, "--replications", 1, "--trace", theirs),
    )
    assert mine.read_text() == theirs.read_text()
    assert len(mine.read_text().splitlines()) > 200
    with pytest.raises(OSError):
        allot.simulate(machine, "jsq", trace=tmp_path / "no" / "folder.csv")


@pytest.mark.parametrize("rule", ["row", "column", "ordered", "none"])
def test_generate(rule):
    scenario = allot.generate(gps=3, sas=2, threads=40, rule=rule, rates=(1, 10), priorities=True, powers=True, seed=9)
    arguments = ["--gps", 3, "--sas", 2, "--threads", 40, "--rule", rule, "--rates", "1,10", "--seed", 9]
    for mine, theirs in ((scenario, command("generate", *arguments, "--priorities", "--powers")), (allot.generate(), command("generate"))):
        assert theirs.pop("$schema").endswith("scenario.schema.json")  # for editors
        assert mine.to_dict() == theirs


def test_list():
    assert allot.listing() == command("list")
    assert allot.solvers() == [entry["name"] for entry in command("list")["solvers"]]
    assert "exponential" in allot.distributions() and "fcfs" in allot.disciplines() and "jsq" in allot.policies()


def test_version():
    import subprocess

    from conftest import COMMAND

    said = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True).stdout
    assert allot.__version__ in said
