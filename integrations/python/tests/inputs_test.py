"""What callers give: labels, masks, mappings, frames of the module's own, and everything that is wrong with a value."""
import collections
import types

import numpy as np
import pandas
import pytest

import allot


def problems(call):
    with pytest.raises(allot.InvalidInput) as caught:
        call()
    return [problem.place for problem in caught.value.diagnostics]


def named(**options):
    """Two types, three resources."""
    return allot.Scenario(
        [[8.0, 7.5, 1.0], [2.0, 6.0, 3.0]], [4, 5], tasks=["sort", "search"], resources=["cpu", "gpu", "npu"], **options
    )


# ---- by label


def test_series_and_mappings_are_taken_by_label():
    rates = pandas.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=["a", "b"], columns=["x", "y"])
    swapped = dict(
        counts=pandas.Series({"b": 6, "a": 5}),
        servers=pandas.Series({"y": 3, "x": 2}),
        priorities=pandas.Series({"b": 1.0, "a": 3.0}),
        homes={"b": "x"},
    )
    counts = swapped.pop("counts")
    scenario = allot.Scenario(rates, counts, **swapped)
    assert scenario.counts.tolist() == [5, 6] and scenario.servers.tolist() == [2, 3]
    assert scenario.shares.tolist() == [0.75, 0.25] and scenario.homes == ("y", "x")
    assert allot.Scenario(rates, {"b": 6, "a": 5}).counts.tolist() == [5, 6]
    assert allot.Scenario(rates, collections.OrderedDict(b=6, a=5)).counts.tolist() == [5, 6]
    # Without labels of their own, by position; integers that are no names are positions.
    assert allot.Scenario(rates, pandas.Series([5, 6])).counts.tolist() == [5, 6]
    assert allot.Scenario(rates, pandas.Series([6, 5], index=[1, 0])).counts.tolist() == [5, 6]
    assert allot.Scenario([[1.0], [2.0]], {"t1": 6, "t0": 5}).counts.tolist() == [5, 6]
    assert scenario.with_counts(pandas.Series({"b": 9})).counts.tolist() == [5, 9]
    assert problems(lambda: allot.Scenario(rates, {"a": 1, "c": 2})) == ["counts"]
    assert problems(lambda: allot.Scenario(rates, {"a": 1})) == ["tasks[1]"]


def test_frames_keep_the_names_that_are_not_given():
    frame = pandas.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=["a", "b"], columns=["x", "y"])
    assert allot.Scenario(frame, [1, 2], tasks=["c", "d"]).resources == ("x", "y")
    assert allot.Scenario(frame, [1, 2], tasks=["c", "d"]).tasks == ("c", "d")
    assert allot.Scenario(frame, [1, 2], resources=["u", "v"]).tasks == ("a", "b")
    # The same names in another order: by label.
    turned = allot.Scenario(frame, [1, 2], tasks=["b", "a"], resources=["y", "x"])
    assert turned.rates.tolist() == [[4, 3], [2, 1]] and turned.tasks == ("b", "a")


def test_labels_that_are_numbers():
    assert allot.Scenario(pandas.DataFrame([[1.0, 2.0]]), [1]).resources == ("r0", "r1")
    scenario = allot.Scenario(pandas.DataFrame([[1.0, 2.0]], columns=[10, 20]), [1], servers={20: 3, 10: 2})
    assert scenario.resources == ("10", "20") and scenario.servers.tolist() == [2, 3]


def test_the_modules_own_frames_come_back():
    scenario = named()
    answer = allot.solve(scenario)
    frame = answer.to_frame()
    turned = frame.loc[["search", "sort"], ["npu", "cpu", "gpu"]]
    for given in (frame, turned, answer, answer.assignment, frame.T.to_dict()):
        assert scenario.throughput(given) == answer.throughput
    assert allot.solve(scenario, start=turned).throughput == answer.throughput
    runs = [allot.simulate(scenario, "fixed", assignment=a, completions=200, replications=2) for a in (answer, turned)]
    assert runs[0].throughput.mean == runs[1].throughput.mean
    assert allot.Scenario(scenario.to_frame(), scenario.counts).rates.tolist() == scenario.rates.tolist()
    dispatcher = allot.Dispatcher(scenario, rates=scenario.to_frame().loc[["search", "sort"]], background=False)
    assert dispatcher.estimates().rate[0] == pytest.approx([8.0, 7.5, 1.0])
    assert scenario.throughput(dispatcher.plan()) == pytest.approx(dispatcher.plan().predicted.throughput)
    chances = pandas.DataFrame([[0.0, 0.0, 1.0], [0.5, 0.5, 0.0]], index=["search", "sort"], columns=scenario.resources)
    exact = allot.analyze(scenario.with_counts([1, 1]), "random", probabilities=chances)
    assert exact.occupancy[0].tolist() == pytest.approx([0.5, 0.5, 0], abs=0.1) and exact.occupancy[1, 2] == pytest.approx(1)
    frame.iloc[0, 0] += 1  # the caller's own
    assert problems(lambda: allot.simulate(scenario, "fixed", assignment=frame)) == ["assignment[0]"]
    assert problems(lambda: scenario.throughput(frame.rename(columns={"cpu": "tpu"}))) == ["assignment"]


def test_masks_are_not_lost():
    rates = np.ma.masked_array([[1.0, 2.0]], mask=[[False, True]])
    assert problems(lambda: allot.Scenario(rates, [1])) == ["tasks[0].rates.r1"]
    assert problems(lambda: allot.Scenario([[1.0], [2.0]], np.ma.masked_array([1, 2], mask=[0, 1]))) == ["tasks[1]"]
    floors = np.ma.masked_array([0.5, 7.0], mask=[0, 1])
    assert np.isnan(allot.Scenario([[1.0], [2.0]], [1, 1], floors=floors).floors[1])
    assert allot.Scenario(np.ma.masked_array([[1.0, 2.0]]), [1]).rates.tolist() == [[1, 2]]
    # In a dispatcher, what is masked is unknown.
    known = allot.Dispatcher(resources=["a", "b"], tasks=["t"], rates=rates, background=False).estimates().known
    assert known.tolist() == [[True, False]]


def test_every_mapping_is_a_dict():
    content = types.MappingProxyType(
        {"resources": [{"name": "cpu"}], "tasks": [types.MappingProxyType({"name": "a", "count": 2, "rates": {"cpu": 3}})]}
    )
    assert allot.solve(content).throughput == allot.Scenario.from_dict(content).throughput([[2]]) == 3
    rates = pandas.Series({"cpu": 3.0})
    table = {"resources": [{"name": "cpu"}], "tasks": [{"name": "a", "count": 2, "rates": rates}]}
    assert allot.Scenario.from_dict(table).rates.tolist() == [[3]]
    dispatcher = allot.Dispatcher(content, background=False)
    dispatcher.set_counts(types.MappingProxyType({"a": 4}))
    dispatcher.set_priorities(pandas.Series({"a": 1.0}))


# ---- numbers are numbers


@pytest.mark.parametrize(
    "rates",
    [
        [["1.5"]],
        np.array([["1.5"]]),
        [[True]],
        np.array([[True]]),
        np.array([["1.5"]], dtype=object),
        [[None]],
        [[[1.0]]],
    ],
)
def test_rates_of_other_types_are_refused(rates):
    assert problems(lambda: allot.Scenario(rates, [1])) == ["tasks[0].rates.r0"]


@pytest.mark.parametrize("rates", [[[1 + 2j]], np.array([[1 + 2j]]), np.array([["2020-01-01"]], dtype="M8[D]"), [[{1}]]])
def test_rates_of_other_kinds_are_refused(rates):
    assert problems(lambda: allot.Scenario(rates, [1])) == ["rates[0][0]"]


@pytest.mark.parametrize(
    "rates, counts",
    [
        (np.array([[1, 2.0]], dtype=object), range(3, 4)),
        (pandas.DataFrame([[1, 2.0]]), np.array([3], dtype=np.uint8)),
        (collections.deque([[1, 2]]), collections.deque([3])),
        (np.array([[1, 2]], dtype=np.float16), [np.int8(3)]),
        ([np.array([1, 2])], [3.0]),
    ],
)
def test_whatever_holds_numbers_will_do(rates, counts):
    assert allot.Scenario(rates, counts) == allot.Scenario([[1.0, 2.0]], [3])


@pytest.mark.parametrize("counts", [[True], np.array([True]), ["3"], np.array(["3"]), [3.5], [-1], [2**80], [None]])
def test_counts_of_other_types_are_refused(counts):
    assert problems(lambda: allot.Scenario([[1.0]], counts))[0].startswith("tasks[0]")


# ---- all problems, each with its place


def test_a_wrong_length_hides_no_other_problem():
    def wrong():
        allot.Scenario([[1.0, -1.0]], [1, 2], servers=[1, 2, 3], tasks=["a", "b"], powers=[1, object()], kinds="xp", name=5)

    assert problems(wrong) == [
        *("name", "tasks", "servers", "powers[1]", "counts"),
        *("resources[0].kind", "resources[1].kind", "tasks[0].rates.r1"),
    ]
    assert problems(lambda: allot.Scenario.from_dict({"tasks": [{"count": object()}]})) == ["tasks[0].count"]
    assert problems(lambda: allot.Scenario([[1.0]], [1], tasks="a")) == ["tasks"]


# ---- one kind of error


@pytest.mark.parametrize(
    "call, place",
    [
        (lambda s: allot.solve(s, seed=-1), "seed"),
        (lambda s: allot.solve(s, seed=2**64), "seed"),
        (lambda s: allot.solve(s, seed="1"), "seed"),
        (lambda s: allot.solve(s, time_limit="3"), "time_limit"),
        (lambda s: allot.solve(s, time_limit=float("nan")), "time_limit"),
        (lambda s: allot.solve(s, time_limit=True), "time_limit"),
        (lambda s: allot.solve(s, 3), "objective"),
        (lambda s: allot.solve(s, solver=3), "solver"),
        (lambda s: allot.solve(s, explain="yes"), "explain"),
        (lambda s: allot.solve(s, max_states=None), "max_states"),
        (lambda s: allot.solve(s, progress=3), "progress"),
        (lambda s: allot.solve(s, start=[[1]]), "start"),
        (lambda s: allot.solve(5), "scenario"),
        (lambda s: allot.certify(s, gap="x"), "gap"),
        (lambda s: allot.pareto(s, points=2.5), "points"),
        (lambda s: allot.whatif(s, seed=0.5), "seed"),
        (lambda s: allot.simulate(s, 3), "policy"),
        (lambda s: allot.simulate(s, None), "policy"),
        (lambda s: allot.simulate(s, "map", seed=-1), "seed"),
        (lambda s: allot.simulate(s, "map", warmup="soon"), "warmup"),
        (lambda s: allot.simulate(s, "map", precision="x"), "precision"),
        (lambda s: allot.simulate(s, "map", distribution=3), "distribution"),
        (lambda s: allot.simulate(s, "map", start=3), "start"),
        (lambda s: allot.simulate(s, "map", shares=3), "shares"),
        (lambda s: allot.simulate(s, "map", trace=3), "trace"),
        (lambda s: allot.simulate(s, "map", completions=True), "completions"),
        (lambda s: allot.compare(s, "map"), "policies"),
        (lambda s: allot.compare(s, lambda state, task: 0), "policies"),
        (lambda s: allot.compare(s, 3), "policies"),
        (lambda s: allot.compare(s, ["map", 3]), "policies"),
        (lambda s: allot.analyze(s, 3), "policy"),
        (lambda s: allot.analyze(s, "jsq", optimal_control=1), "optimal_control"),
        (lambda s: allot.generate(gps=-1), "gps"),
        (lambda s: allot.generate(rates=3), "rates"),
        (lambda s: allot.generate(rates=(0, "x")), "rates"),
        (lambda s: allot.generate(priorities="no"), "priorities"),
        (lambda s: allot.policy(3), "policy"),
        (lambda s: s.with_servers("cpu", 2.5), "servers"),
        (lambda s: s.with_rate("sort", "cpu", "fast"), "rate"),
        (lambda s: s.with_counts(3), "counts"),
        (lambda s: s.to_text(3), "format"),
        (lambda s: allot.Scenario.from_text(3), "text"),
        (lambda s: allot.Scenario.from_dict([]), "content"),
        (lambda s: allot.load(3), "path"),
        (lambda s: allot.load("a\0b.toml"), "path"),
        (lambda s: allot.Dispatcher(s, seed=-1), "seed"),
        (lambda s: allot.Dispatcher(s, solve_limit="x"), "solve_limit"),
        (lambda s: allot.Dispatcher(s, background=3), "background"),
        (lambda s: allot.Dispatcher(s, policy=3), "policy"),
        (lambda s: allot.Dispatcher(s, rates={"sort": {"tpu": 1}}), "rates"),
        (lambda s: allot.Dispatcher(s, rates=[[1, 2, "x"], [1, 2, 3]]), "rates"),
        (lambda s: allot.Dispatcher(resources="cpu", tasks=["a"]), "resources"),
        (lambda s: allot.Dispatcher(resources=["cpu"], tasks="sort"), "tasks"),
        (lambda s: allot.Dispatcher(resources=["cpu"], tasks=3), "tasks"),
        (lambda s: allot.Dispatcher(resources=["cpu", "cpu"], tasks=["a"]), "resources[1].name"),
        (lambda s: allot.Dispatcher(resources=["cpu"], tasks=["a", "a"]), "tasks[1].name"),
        (lambda s: allot.Dispatcher(s, background=False).complete("x"), "ticket"),
        (lambda s: allot.Dispatcher(s, background=False).add_task_type(3), "name"),
        (lambda s: allot.Dispatcher(s, background=False).add_resource("new", kind=3), "kind"),
        (lambda s: allot.ServiceOrder("ab"), "tasks"),
        (lambda s: allot.ServiceOrder(["a", "a"]), "tasks"),
        (lambda s: allot.ServiceOrder(["a"]).next([1], "now"), "now"),
        # Half of a character, in every kind of string.
        (lambda s: allot.Scenario([[1.0]], [1], tasks=["\ud800"]), "tasks[0]"),
        (lambda s: allot.Scenario([[1.0]], [1], name="\ud800"), "name"),
        (lambda s: allot.Scenario.from_dict({"\ud800": 1}), "$"),
        (lambda s: allot.Scenario.from_text("\ud800"), "text"),
        (lambda s: allot.solve(s, solver="\ud800"), "solver"),
        (lambda s: allot.simulate(s, "\ud800"), "policy"),
        (lambda s: allot.simulate(s, lambda state, task: "\ud800"), "policy"),
        (lambda s: s.with_rate("\ud800", 0, 1.0), "task"),
        (lambda s: allot.load("\ud800.toml"), "path"),
        (lambda s: allot.Dispatcher(s, background=False).place("\ud800"), "task"),
        (lambda s: allot.Dispatcher(s, background=False).add_task_type("\ud800"), "name"),
    ],
)
def test_what_is_wrong_is_told_in_one_way(call, place):
    assert problems(lambda: call(named(priorities=[1, 3]))) == [place]


def test_what_the_sentences_say(machine):
    for call, words in [
        (lambda: allot.solve(machine, seed=-1), "seed: must be a whole number from 0 to 18446744073709551615, is -1"),
        (lambda: allot.solve(machine, time_limit="3"), "time_limit: must be a number, is '3'"),
        (lambda: allot.compare(machine, "map"), "a list of names and functions, is 'map'; 'simulate' runs a single one"),
        (lambda: machine.with_servers("cpu", 2.5), "servers: must be a whole number from 1 to 1000000000, is 2.5"),
        (lambda: allot.Scenario([[1.0]], [1], servers=[1, 2]), "servers: must have 1 values, has 2"),
    ]:
        with pytest.raises(ValueError) as caught:
            call()
        assert words in str(caught.value)


def test_words_and_floats_that_are_whole_numbers(machine):
    few = dict(completions=1e3, replications=2.0, seed=np.int64(3))
    a = allot.simulate(machine, "map", warmup="auto", **few)
    assert a.throughput.mean == allot.simulate(machine, "map", completions=1000, replications=2, seed=3).throughput.mean


def test_a_file_that_is_not_there_may_have_any_name(tmp_path):
    name = (str(tmp_path).encode() + b"/\xff.toml").decode("utf-8", "surrogateescape")
    with pytest.raises(FileNotFoundError, match="toml"):
        allot.load(name)


def test_misspelt_words_are_told(machine):
    with pytest.raises(TypeError, match="argument 'worth'. Did you mean 'worths'"):
        allot.Scenario([[1.0]], [1], worth=[2])
    with pytest.raises(TypeError, match="argument 'worth'. Did you mean 'worths'"):
        machine.replace(worth=2)
    with pytest.raises(allot.InvalidInput, match="no policy 'jqs'. Did you mean 'jsq'"):
        allot.simulate(machine, "jqs")
    with pytest.raises(allot.InvalidInput, match="no policy 'jqs'. Did you mean 'jsq'"):
        allot.Dispatcher(machine, policy="jqs")
    with pytest.raises(allot.InvalidInput, match="'foo', which is no resource. There are 'cpu', 'gpu'"):
        allot.simulate(machine, lambda state, task: "foo")
