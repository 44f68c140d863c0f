"""Results as Python objects: copied and pickled, walked through, read-only, never half made."""
import copy
import functools
import inspect
import pickle
import time

import numpy as np
import pytest

import allot

SMALL = dict(completions=500, replications=3)


def results(machine):
    """Of every kind."""
    return {
        "Scenario": machine,
        "Solution": allot.solve(machine, explain=True),
        "weighted": allot.solve(machine, solver="weighted"),
        "slsqp": allot.solve(machine, solver="slsqp"),
        "Pareto": allot.pareto(machine),
        "WhatIf": allot.whatif(machine),
        "Simulation": allot.simulate(machine, "map", **SMALL),
        "Comparison": allot.compare(machine, ["map", "jsq"], **SMALL),
        "Analysis": allot.analyze(machine, "jsq", optimal_control=True),
    }


def test_copies_and_pickles(machine):
    for kind, result in results(machine).items():
        for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
            assert type(again) is type(result) and again.to_dict() == result.to_dict(), kind
            assert repr(again) == repr(result)
            if kind != "Scenario":
                assert again.scenario == machine
    both = results(machine)["Comparison"]
    difference = pickle.loads(pickle.dumps(both)).differences[0]
    assert difference.throughput.mean == both.differences[0].throughput.mean
    estimates = pickle.loads(pickle.dumps(both[0].throughput_by_task))
    assert estimates.mean.tolist() == both[0].throughput_by_task.mean.tolist()
    assert pickle.loads(pickle.dumps(both.differences))[0].throughput.half_width == difference.throughput.half_width
    dispatcher = allot.Dispatcher(machine, background=False)
    plan = pickle.loads(pickle.dumps(dispatcher.plan()))
    assert repr(plan) == repr(dispatcher.plan()) and plan.predicted.throughput == dispatcher.plan().predicted.throughput
    assert pickle.loads(pickle.dumps(dispatcher.estimates())).rate.tolist() == dispatcher.estimates().rate.tolist()
    error = pickle.loads(pickle.dumps(allot.InvalidInput([("a", "b")])))
    assert error.diagnostics == (allot.Diagnostic("a", "b"),)


STAGES = """
[[resources]]
name = "cpu"
[[resources]]
name = "gpu"
[[tasks]]
name = "decode"
rates = { cpu = 4.0, gpu = 6.0 }
[[tasks]]
name = "detect"
rates = { cpu = 1.0, gpu = 5.0 }
[[threads]]
name = "frame"
count = 3
sequence = ["decode", "detect"]
worth = 2.5
"""


def test_value_and_rounds():
    worths = np.array([1.0, 20.0])
    dear = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4], worths=worths, priorities=[1, 1])
    run = allot.simulate(dear, "jsq", **SMALL)
    assert run.rounds is None
    assert run.value.mean == pytest.approx(worths @ run.throughput_by_task.mean)
    assert run.value_by_replication.mean() == pytest.approx(run.value.mean)
    assert f"value {run.value.mean:.4g}" in repr(run)
    exact = allot.analyze(dear, "jsq", optimal_control=True)
    assert exact.value == pytest.approx(worths @ exact.throughput_by_task)
    assert exact.optimal_control_value == pytest.approx(allot.certify(dear).value, rel=1e-8)
    both = allot.compare(dear, ["jsq", "map"], **SMALL)
    difference = both.differences[0]
    assert difference.value.mean == pytest.approx(both["map"].value.mean - both["jsq"].value.mean)
    assert both.best_assignment_value == pytest.approx(allot.certify(dear).value)
    assert "value/s" in repr(both) and "value/s" in repr(allot.pareto(dear)) and "value/s" in repr(allot.whatif(dear))
    stages = allot.Scenario.from_text(STAGES)
    run = allot.simulate(stages, "jsq", **SMALL)
    assert len(run.rounds) == 1
    assert run.value.mean == pytest.approx(2.5 * run.rounds[0].mean)
    assert "frame: " in repr(run) and "rounds/s" in repr(run)
    for result in (run, both, exact, allot.compare(stages, ["jsq", "random"], **SMALL)):
        again = pickle.loads(pickle.dumps(result))
        assert again.to_dict() == result.to_dict() and repr(again) == repr(result)
    plain = allot.simulate(allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4]), "jsq", **SMALL)
    assert plain.value.mean == plain.throughput.mean and plain.value.half_width == plain.throughput.half_width
    assert "value" not in repr(plain)


def test_a_broken_pickle_is_told(machine):
    scenario, state = allot.solve(machine).__getstate__()
    fresh = allot.Solution.__new__(allot.Solution)
    for broken in (b"", state[:20], state[:-1], b"x" * len(state)):
        with pytest.raises(allot.InvalidInput, match="pickle"):
            fresh.__setstate__((scenario, broken))


def test_comparisons_and_estimates_are_sequences(machine):
    both = allot.compare(machine, ["map", "jsq"], **SMALL)
    assert [run.policy for run in both] == ["map", "jsq"] and len(both) == 2
    assert both[0].policy == both[-2].policy == both["map"].policy == "map" and both[np.int64(1)].policy == "jsq"
    assert "map" in both and "random" not in both and 3 not in both
    for index, error in ((2, IndexError), (-3, IndexError), ("random", KeyError), (None, TypeError)):
        with pytest.raises(error):
            both[index]
    estimates = both[0].throughput_by_task
    assert [e.mean for e in estimates] == estimates.mean.tolist() and estimates[-1].half_width == estimates.half_width[-1]
    with pytest.raises(IndexError):
        estimates[2]


def test_arrays_cannot_be_written_to(machine):
    answer, run = allot.solve(machine), allot.simulate(machine, "map", **SMALL)
    dispatcher = allot.Dispatcher(machine, background=False)
    for array in (
        *(machine.rates, machine.counts, machine.servers, machine.shares),
        *(answer.assignment, answer.throughput_by_task, answer.throughput_by_pair, answer.response_time_by_task),
        *(allot.pareto(machine).assignments, run.utilization, run.throughput_by_task.mean, run.throughput_by_task.half_width),
        *(allot.analyze(machine, "jsq").occupancy, dispatcher.plan().target, dispatcher.estimates().rate),
        dispatcher.statistics().completions,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1
        array.copy()[...] = 1
    frame = answer.to_frame()
    frame.iloc[0, 0] = 7  # a frame is the caller's own
    assert answer.assignment[0, 0] != 7


@pytest.mark.parametrize(
    "kind, use",
    [
        (allot.Scenario, lambda o: o.rates),
        (allot.Solution, lambda o: o.assignment),
        (allot.Pareto, len),
        (allot.WhatIf, lambda o: o.changes),
        (allot.Estimate, float),
        (allot.Estimates, len),
        (allot.Simulation, lambda o: o.policy),
        (allot.Comparison, len),
        (allot.Analysis, lambda o: o.policy),
        (allot.State, lambda o: o.totals),
        (allot.Ticket, lambda o: o.task),
        (allot.Plan, lambda o: o.target),
        (allot.Dispatcher, lambda o: o.statistics()),
        (allot.ServiceOrder, lambda o: o.next([1])),
    ],
)
def test_nothing_is_used_before_it_is_made(kind, use):
    with pytest.raises(TypeError, match="holds nothing"):
        use(kind.__new__(kind))


def test_signatures_can_be_asked_for():
    assert list(inspect.signature(allot.Scenario).parameters)[:4] == ["rates", "counts", "tasks", "resources"]
    assert inspect.signature(allot.Scenario).parameters["name"].default == ""
    assert inspect.signature(allot.Scenario).parameters["tasks"].kind is inspect.Parameter.KEYWORD_ONLY
    for name in allot.__all__:
        thing = getattr(allot, name)
        if not isinstance(thing, type):
            inspect.signature(thing)
            continue
        for attribute, value in vars(thing).items():
            if not attribute.startswith("_") and callable(value):
                inspect.signature(getattr(thing, attribute))
    assert str(inspect.signature(allot.Dispatcher.complete)) == "(self, ticket, seconds=None, ok=True)"


# ---- time limits


def test_policies_without_a_turn_are_named(machine):
    def slow(state, task):
        time.sleep(0.01)
        return task

    late = allot.compare(machine, ["map", slow, "jsq", "random"], completions=2000, replications=2, time_limit=1.5)
    assert late.partial and late.missing[-2:] == ("jsq", "random") and late[0].policy == "map"
    assert "'jsq', 'random' did not get a turn" in " ".join(late.notes) and "did not get a turn" in repr(late)
    done = allot.compare(machine, ["map", "jsq"], **SMALL)
    assert not done.partial and done.missing == () and done.notes == []


def test_a_slow_policy_is_measured_within_the_time_there_is(machine):
    def slow(state, task):
        time.sleep(0.001)
        return task

    began = time.monotonic()
    run = allot.simulate(machine, slow, time_limit=3.0)
    assert run.partial and run.throughput.mean > 0 and run.p50 > 0
    assert time.monotonic() - began < 60  # not the minutes that a chunk of completions takes


def test_without_a_measurement_there_is_no_number(machine):
    def stuck(state, task):
        time.sleep(0.5)
        return task

    run = allot.simulate(machine, stuck, time_limit=0.2)
    assert run.partial and not run.precise and any("before anything was measured" in note for note in run.notes)
    assert np.isnan(run.throughput.mean) and np.isnan(run.throughput_by_task.mean).all() and run.response_time is None
    assert np.isnan(run.utilization).all() and run.to_dict()["precise"] is False
    assert "nan" not in repr(run) and "unknown" in repr(run)
    allot.compare(machine, [stuck, "map"], time_limit=0.2).to_frame()


# ---- policies as Python has them


def test_functions_of_the_same_name_are_numbered(machine):
    def to(place, state, task):
        return place

    both = allot.compare(machine, [lambda s, t: 0, lambda s, t: 1, functools.partial(to, 0), functools.partial(to, 1)], **SMALL)
    assert [run.policy for run in both] == ["<lambda>", "<lambda> (2)", "to", "to (2)"]
    assert both["to (2)"].throughput.mean == both["<lambda> (2)"].throughput.mean

    def map(state, task):
        return task

    assert [run.policy for run in allot.compare(machine, [map, "map"], **SMALL)] == ["map (2)", "map"]
    with pytest.raises(allot.InvalidInput, match="'to' is there twice"):
        twice = functools.partial(to, 0)
        allot.compare(machine, [twice, twice], **SMALL)


class Slotted:
    __slots__ = ("seen",)

    def __init__(self):
        self.seen = []

    def set_population(self, counts):
        self.seen.append(counts.tolist())

    def __call__(self, state, task):
        return task

    def place(self, state, task):
        return task


def test_a_mark_leaves_what_it_marks_alone(machine):
    def mine(state, task):
        return task

    marked = allot.policy(mine, name="other", memory_size=2)
    assert vars(mine) == {} and marked is not mine and allot.simulate(machine, mine, **SMALL).policy == "mine"
    again = allot.policy(marked, name="third")
    assert [run.policy for run in allot.compare(machine, [mine, marked, again], **SMALL)] == ["mine", "other", "third"]
    thing = Slotted()
    for chosen, name in ((thing, "Slotted"), (thing.place, "place"), (functools.partial(mine), "mine")):
        assert allot.simulate(machine, allot.policy(chosen, looks_at_sizes=True), **SMALL).policy == name
        assert allot.simulate(machine, allot.policy(name="called")(chosen), **SMALL).policy == "called"
    assert thing.seen and thing.seen[0] == [4, 4]
    assert pickle.loads(pickle.dumps(MARKED)) is MARKED and MARKED.__name__ == "MARKED"


@allot.policy(memory_size=1)
def MARKED(state, task):
    """Known by its name, as pickles need it."""
    return task


def test_records_compare_by_value(machine):
    def live(policy="map"):
        dispatcher = allot.Dispatcher(machine, policy=policy, background=False)
        return dispatcher.estimates(), dispatcher.plan().predicted

    assert live() == live() and not live() != live()
    assert live()[1] != live("jsq")[1] and live()[1] != live()[1]._replace(throughput=1.0)
    frontier = allot.pareto(machine)
    assert frontier[0] == allot.pareto(machine)[0] != frontier[-1]
    assert frontier[0] == tuple(frontier[0]) and frontier[0] != None and frontier[0] != 3  # noqa: E711
    assert allot.whatif(machine)[0] == allot.whatif(machine)[0]
    dispatcher = allot.Dispatcher(machine, background=False)
    seen = dispatcher.statistics()
    assert seen == seen._replace() != seen._replace(placed=1)
    unknown = seen._replace(little=float("nan"))
    assert unknown == unknown._replace(little=float("nan"))
    with allot.Executor(resources=["cpu"]) as executor:
        done = executor.statistics()
        assert done == done._replace(completed=done.completed.copy()) != done._replace(completed=done.completed + 1)
    holes = done._replace(busy_seconds=np.array([[np.nan, 1.0]]))
    assert holes == holes._replace(busy_seconds=np.array([[np.nan, 1.0]])) != holes._replace(busy_seconds=np.array([[np.nan]]))


def test_frontiers_and_changes_have_slices(machine):
    frontier, changes = allot.pareto(machine), allot.whatif(machine)
    assert frontier[0:2] == [frontier[0], frontier[1]] and frontier[::-1][0] == frontier[-1]
    assert changes[:2] == changes.changes[:2] and changes[len(changes) :] == []
