"""Policies written in Python: simulated, compared and analysed like the built-in ones."""
import numpy as np
import pytest

import allot


def jsq(state, task):
    """The fewest tasks, the lowest index among equals: what the built-in 'jsq' does."""
    able = np.flatnonzero(state.rates[task])
    return able[np.argmin(state.totals[able])]


def best_fit(state, task):
    return state.scenario.homes[task]


@allot.policy(name="in-turn", memory_size=3)
def round_robin(state, task):
    """One pointer per type over the resources that can run it: what the built-in 'round-robin' does."""
    able = np.flatnonzero(state.rates[task])
    at = state.memory[task]
    state.memory[task] = (at + 1) % len(able)
    return int(able[at])


@allot.policy(looks_at_sizes=True)
def load_balance(state, task):
    able = np.flatnonzero(state.rates[task])
    return int(able[np.argmin(state.remaining[able])])


@pytest.mark.parametrize("mine, theirs", [(jsq, "jsq"), (best_fit, "best-fit"), (round_robin, "round-robin")])
def test_the_same_decisions_give_the_same_result(mine, theirs):
    scenario = allot.generate(seed=4)
    a = allot.simulate(scenario, mine, completions=3000, replications=3)
    b = allot.simulate(scenario, theirs, completions=3000, replications=3)
    assert (a.throughput_by_replication == b.throughput_by_replication).all()
    assert a.response_time.mean == b.response_time.mean and a.warmup == b.warmup


def test_it_sees_sizes_when_it_asks_for_them():
    scenario = allot.generate(seed=4)
    both = allot.compare(scenario, [load_balance, "load-balance"], completions=3000, replications=3)
    assert both.differences[0].throughput.mean == pytest.approx(0, abs=0.02 * both["load-balance"].throughput.mean)


def test_compared_on_the_same_random_numbers():
    scenario = allot.generate(seed=4)
    result = allot.compare(scenario, ["jsq", jsq_again, "map"], completions=2000, replications=4)
    assert [run.policy for run in result.policies] == ["jsq", "jsq_again", "map"]
    assert result.differences[0].throughput.mean == 0 and result.differences[0].throughput.half_width == 0
    assert not result.differences[0].significant
    assert result["map"].throughput.mean == allot.simulate(scenario, "map", completions=2000, replications=4).throughput.mean


def jsq_again(state, task):
    return jsq(state, task)


def test_analysed_exactly():
    scenario = allot.Scenario([[3.0, 1.0], [1.0, 2.0], [2.0, 2.0]], [2, 2, 1])
    mine, theirs = allot.analyze(scenario, jsq), allot.analyze(scenario, "jsq")
    assert mine.throughput == theirs.throughput and mine.states == theirs.states
    assert (mine.occupancy == theirs.occupancy).all() and mine.policy == "jsq"
    assert allot.analyze(scenario, round_robin).states == allot.analyze(scenario, "round-robin").states


def test_where_the_population_changes():
    scenario = allot.Scenario.from_dict(
        {
            "resources": [{"name": "cpu"}, {"name": "gpu"}],
            "tasks": [{"name": "a", "count": 4, "rates": {"cpu": 3, "gpu": 1}}],
            "population": [{"at": 5.0, "task": "a", "change": 3}],
        }
    )

    class Watcher:
        def __init__(self):
            self.seen = []

        def set_population(self, counts):
            self.seen.append(counts.tolist())

        def __call__(self, state, task):
            return jsq(state, task)

    watcher = Watcher()
    mine = allot.simulate(scenario, watcher, completions=500, replications=2)
    theirs = allot.simulate(scenario, "jsq", completions=500, replications=2)
    assert mine.policy == "Watcher"
    assert (mine.throughput_by_replication == theirs.throughput_by_replication).all()
    assert [4] in watcher.seen and [7] in watcher.seen


def test_random_numbers_are_the_policys_own_and_depend_on_the_seed(machine):
    def coin(state, task):
        return int(state.random() < 0.5)

    def run(seed):
        return allot.simulate(machine, coin, completions=500, replications=2, seed=seed).throughput.mean

    assert run(1) == run(1) != run(2)
    with pytest.raises(allot.InvalidInput, match="draws no random numbers"):
        allot.analyze(machine, coin)


def test_what_it_keeps_is_harmless(machine):
    kept = []

    def keeper(state, task):
        kept.append(state)
        with pytest.raises(ValueError):
            state.counts[0, 0] = 5
        return task

    allot.simulate(machine, keeper, completions=50, replications=1, warmup=0)
    assert kept[0].counts.shape == (2, 2) and kept[0].totals.sum() == 7
    assert not hasattr(kept[0], "remaining") and len(kept[0].memory) == 0
    with pytest.raises(RuntimeError, match="during a decision"):
        kept[0].random()


class Broken(Exception):
    pass


@pytest.mark.parametrize("run", [allot.simulate, allot.analyze, lambda s, p: allot.compare(s, ["map", p], completions=500)])
@pytest.mark.parametrize("at", [0, 7])
def test_its_exceptions_propagate(machine, run, at):
    calls = []

    def broken(state, task):
        calls.append(task)
        if len(calls) > at:
            raise Broken("here")
        return jsq(state, task)

    with pytest.raises(Broken, match="here"):
        run(machine, broken)
    assert len(calls) == at + 1  # and it was not asked again


@pytest.mark.parametrize(
    "answer, error, message",
    [
        (2, ValueError, "no resource"),
        (-1, ValueError, "no resource"),
        (2**80, ValueError, "no resource"),
        ("tpu", ValueError, "no resource"),
        (None, ValueError, "must return a resource"),
        (0.0, ValueError, "must return a resource"),
    ],
)
def test_wrong_answers(machine, answer, error, message):
    with pytest.raises(error, match=message):
        allot.simulate(machine, lambda state, task: answer)


def test_it_may_not_place_where_the_type_cannot_run():
    scenario = allot.Scenario([[1.0, 0.0]], [2])
    with pytest.raises(ValueError, match="'t0' on 1, where it cannot run"):
        allot.simulate(scenario, lambda state, task: 1)


def test_the_plan_is_carried_out():
    machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4], worths=[1.0, 5.0])
    plan = allot.solve(machine, service="planned")
    run = allot.simulate(machine, "planned", completions=20_000)
    value = float(np.dot([1.0, 5.0], [x.mean for x in run.throughput_by_task]))
    assert value == pytest.approx(plan.value, rel=0.02)


def test_one_that_binds_late_serves_what_waits():
    """First come, first served by one server of each resource: a resource that is free takes the longest line."""

    @allot.policy(binds_late=True, name="longest", memory_size=1)
    def longest(state, resource):
        state.memory[0] += 1
        assert not hasattr(state, "remaining") and state.now >= 0
        able = np.where(state.rates[:, resource] > 0, state.waiting, 0)
        return int(able.argmax()) if able.any() else None

    machine = allot.Scenario([[1.0]], [3])
    run = allot.simulate(machine, longest, completions=20_000)
    assert run.policy == "longest"
    assert run.throughput.mean == pytest.approx(1.0, rel=0.03)
    assert run.response_time.mean == pytest.approx(3.0, rel=0.05)
    idle = allot.policy(lambda state, resource: None, binds_late=True, name="idle")
    assert np.isnan(allot.simulate(machine, idle, completions=100).throughput.mean) or any(
        "completes" in note for note in allot.simulate(machine, idle, completions=100).notes
    )


@pytest.mark.parametrize("answer, problem", [(1, "no task waits"), (7, "not a task type"), ("x", "not a task type"), (1.5, "must return"),
                                             (2, "cannot run")])
def test_what_nobody_can_take_is_refused(answer, problem):
    machine = allot.Scenario([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], [3, 1, 1])
    strange = allot.policy(lambda state, resource: answer if resource == 0 and state.waiting[1] == 0 else
                           next((i for i in (1, 0, 2) if state.waiting[i] and state.rates[i, resource]), None),
                           binds_late=True, name="strange")
    with pytest.raises(allot.InvalidInput, match=problem):
        allot.simulate(machine, strange, completions=100, replications=1)


def test_the_exact_chain_refuses_one_that_binds_late():
    late = allot.policy(lambda state, resource: 0, binds_late=True, name="late")
    with pytest.raises(allot.InvalidInput, match="simulate it"):
        allot.analyze(allot.Scenario([[1.0]], [3]), late)
