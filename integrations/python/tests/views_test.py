"""How results look: text, HTML, frames, plots."""
import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import allot
from conftest import SOURCE

SMALL = dict(completions=500, replications=3)


def results(machine):
    return {
        "Scenario": machine,
        "Solution": allot.solve(machine),
        "Pareto": allot.pareto(machine),
        "WhatIf": allot.whatif(machine),
        "Simulation": allot.simulate(machine, "map", **SMALL),
        "Comparison": allot.compare(machine, **SMALL),
        "Analysis": allot.analyze(machine, "jsq", optimal_control=True),
    }


KINDS = ["Scenario", "Solution", "Pareto", "WhatIf", "Simulation", "Comparison", "Analysis"]


@pytest.mark.parametrize("kind", KINDS)
def test_text_html_frame_and_plot(machine, kind):
    result = results(machine)[kind]
    assert type(result) is getattr(allot, kind) and type(result).__module__ == "allot"
    text, page = repr(result), result._repr_html_()
    assert len(text.splitlines()) >= 3 and "nan" not in text
    assert page.count("<tr>") == page.count("</tr>") >= 2
    frame = result.to_frame()
    assert len(frame) >= 2
    figure, ax = plt.subplots()
    assert result.plot(ax) is ax and (ax.patches or ax.lines or ax.images)
    figure.canvas.draw()
    own = result.plot()
    assert own is not ax
    plt.close("all")


def test_value_is_shown_where_it_differs_from_throughput():
    dear = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4], worths=[1, 20], priorities=[1, 1])
    stages = dear.to_dict()
    for task in stages["tasks"]:
        del task["count"], task["priority"]
        task.pop("worth", None)
    stages["threads"] = [{"count": 3, "sequence": ["t0", "t1"], "worth": 2.0}]
    pipeline = allot.Scenario.from_dict(stages)
    for scenario in (dear, pipeline):
        shown = [
            allot.solve(scenario, service="planned"),
            allot.whatif(scenario),
            allot.simulate(scenario, "jsq", **SMALL),
            allot.compare(scenario, ["jsq", "random"], **SMALL),
        ]
        if scenario is dear:
            shown += [allot.solve(dear), allot.analyze(dear, "jsq", optimal_control=True), allot.pareto(dear)]
        for result in shown:
            assert "value" in repr(result) and "value" in result._repr_html_()
            result.plot()
            plt.close("all")
    frontier = allot.pareto(dear)
    assert frontier.plot().get_xlabel() == "value per second"
    assert frontier.to_frame()["value"].is_monotonic_decreasing
    compared = allot.compare(dear, ["jsq", "map"], **SMALL)
    frame = compared.to_frame()
    assert frame.loc["map", "value_difference"] == compared.differences[0].value.mean
    assert allot.solve(pipeline).to_frame().to_numpy() == pytest.approx(allot.solve(pipeline).time_shares)


def test_needs_are_shown():
    box = allot.load(SOURCE / "examples/plans/needs.toml")
    assert "decode on gpu: 1 cpu, 3 memory, 0.6 bus" in repr(box) and "24 memory, 1 bus (shared)" in repr(box)
    plan = allot.solve(box, service="planned")
    assert "Whole tasks reach at most 528" in repr(plan) and "in service" in plan._repr_html_()
    assert "Approximate" in repr(allot.solve(box)) and "Approximate" in repr(allot.whatif(box))
    assert "approximate" in repr(allot.compare(box, ["map", "planned"], **SMALL))
    plain = allot.Scenario([[1.0, 2.0]], [4])
    for result in (plain, allot.solve(plain), allot.solve(plain, service="planned"), allot.whatif(plain)):
        assert "needs" not in repr(result) and "pproximate" not in repr(result) and "Whole tasks" not in repr(result)


def test_large_tables_are_clipped():
    large = allot.generate(gps=100, sas=0, threads=100)
    for result in (large, allot.solve(large)):
        assert len(repr(result).splitlines()) < 50 and max(map(len, repr(result).splitlines())) < 200
        assert "…" in repr(result) and result._repr_html_().count("<tr>") < 50


def test_names_are_escaped():
    scenario = allot.Scenario([[1.0]], [1], tasks=["<b>"], name="<i>")
    assert "<b>&lt;b&gt;" not in scenario._repr_html_() and "&lt;i&gt;" in scenario._repr_html_()
    assert "<th><b>" not in scenario._repr_html_()


def test_numbers_of_the_frames(machine):
    found = results(machine)
    answer = found["Solution"]
    assert answer.to_frame().loc["sort", "cpu"] == answer.assignment[0, 0]
    assert found["Pareto"].to_frame()["throughput"].tolist() == found["Pareto"].throughputs.tolist()
    assert found["WhatIf"].to_frame()["gain"].tolist() == [change.gain for change in found["WhatIf"].changes]
    run = found["Simulation"]
    assert run.to_frame().loc["sort", "throughput"] == run.throughput_by_task.mean[0]
    table = found["Comparison"].to_frame()
    assert table.loc["map", "throughput"] == found["Comparison"]["map"].throughput.mean
    assert found["Analysis"].to_frame().to_numpy().sum() == pytest.approx(8)


def test_figures_of_the_objects(machine):
    answer = allot.solve(machine)
    assert answer.scenario == machine and answer.solver == "best" and answer.objective == "throughput"
    assert answer.throughput_by_task.sum() == pytest.approx(answer.throughput)
    assert answer.throughput_by_resource.sum() == pytest.approx(answer.throughput)
    assert answer.response_time == pytest.approx(8 / answer.throughput)
    assert answer.proven_optimal and answer.gap < 1e-9 and not answer.approximate and answer.binding == []
    assert allot.solve(machine, solver="map").upper_bound is None
    relaxed = allot.solve(machine, solver="slsqp")
    assert relaxed.relaxed_throughput >= relaxed.throughput * (1 - 1e-6) and relaxed.relaxed_assignment.shape == (2, 2)
    weighted = allot.solve(machine, solver="weighted")
    assert weighted.priority_error == pytest.approx(0, abs=1e-12)
    assert weighted.throughput_by_pair.sum() == pytest.approx(weighted.throughput)
    assert (weighted.time_shares >= 0).all() and weighted.shares.tolist() == pytest.approx([0.25, 0.75])
    frontier = allot.pareto(machine)
    assert frontier.assignments.shape == (len(frontier), 2, 2) and frontier.exhaustive
    assert machine.throughput(frontier.assignments[0]) == pytest.approx(frontier.throughputs[0])
    assert frontier.weighted.throughput == weighted.throughput
    change = allot.whatif(machine).changes[0]
    assert change.change in ("server", "thread", "rate") and change.gain > 0
    run = allot.simulate(machine, "jsq", **SMALL)
    assert float(run.throughput) == run.throughput.mean and "±" in repr(run.throughput)
    assert len(run.throughput_by_task) == 2 and run.utilization.shape == (2,)
    assert run.little == pytest.approx(run.population, rel=0.1) and run.little_residual < 1e-9
    assert run.p50 < run.p95 < run.p99 and run.completions_per_second > 0


def test_plots_without_intervals_or_work(machine):
    """One replication has no interval by type; a scenario without threads has nothing to show."""
    one = dict(completions=500, replications=1)
    empty = allot.Scenario([[1.0, 2.0]], [0])
    for result in (
        allot.simulate(machine, "map", **one),
        allot.compare(machine, ["map", "jsq"], **one),
        allot.simulate(empty, "map", **SMALL),
        allot.compare(empty, ["map", "jsq"], **SMALL),
        allot.simulate(allot.Scenario([[1.0], [1.0]], [2, 0]), "jsq", **SMALL),
        allot.solve(empty),
        allot.whatif(empty),
        empty,
    ):
        result.plot().figure.canvas.draw()
        plt.close("all")


def overlaps(labels, renderer):
    boxes = [label.get_window_extent(renderer) for label in labels if label.get_text()]
    flat = [box for box, label in zip(boxes, labels) if label.get_rotation() == 0]
    return any(a.overlaps(b) for k, a in enumerate(flat) for b in flat[:k])


def test_plots_can_be_read(machine):
    """Every plot has a title, and no name of an axis lies on another."""
    long = allot.Scenario(
        np.ones((9, 9)) + np.eye(9),
        9 * [3],
        tasks=[f"a task with a long name {i}" for i in range(9)],
        resources=[f"a resource with a long name {j}" for j in range(9)],
        priorities=1.0,
    )
    many = allot.generate(gps=60, sas=0, threads=600, rule="none")
    plan = allot.Dispatcher(machine, background=False).plan()
    shown = [*results(machine).values(), plan, many, allot.solve(many), allot.simulate(many, "jsq", **SMALL)]
    for result in [*shown, long, allot.solve(long), allot.simulate(long, "jsq", **SMALL), allot.whatif(long)]:
        ax = result.plot()
        figure = ax.figure
        figure.canvas.draw()
        renderer = figure.canvas.get_renderer()
        assert ax.get_title(), type(result)
        for axis in (ax.xaxis, ax.yaxis):
            assert not overlaps(axis.get_ticklabels(), renderer), type(result)
        plt.close("all")


def test_types_that_complete_nothing():
    run = allot.simulate(allot.Scenario([[1.0], [1.0]], [2, 0]), "jsq", **SMALL)
    assert np.isnan(run.response_time_by_task.mean[1]) and run.response_time_by_task.mean[0] > 0
    nothing = allot.simulate(allot.Scenario([[1.0]], [0]), "jsq", **SMALL)
    assert nothing.response_time is None and nothing.p50 is None and nothing.edp is None and nothing.notes
    repr(nothing), nothing.to_frame(), nothing._repr_html_()
    empty = allot.solve(allot.Scenario([[1.0]], [0]))
    assert empty.response_time is None and empty.shares is None
    repr(empty)
    assert allot.analyze(allot.Scenario([[1.0]], [0]), "jsq").response_time is None
