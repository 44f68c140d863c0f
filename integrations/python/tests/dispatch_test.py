"""The live dispatcher: learns, follows its target, counts exactly under threads, and says what is wrong."""
import gc
import os
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import allot
from conftest import Ticking


def two_by_two(**options):
    """Rates are known: cpu 8 and 2, gpu 7.5 and 6 tasks per second."""
    scenario = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4], tasks=["sort", "search"], resources=["cpu", "gpu"])
    return allot.Dispatcher(scenario, background=False, **options)


def test_a_pool_of_sleeping_tasks_learns_the_rates_and_follows_the_target():
    """Each resource has one unit; a task sleeps while it has it. Each type has a place of its own, by a factor that a busy
    machine does not blur."""
    sleeps = {("a", "x"): 0.004, ("a", "y"): 0.040, ("b", "x"): 0.080, ("b", "y"): 0.008}
    best = [[4, 0], [0, 4]]
    dispatcher = allot.Dispatcher(resources=["x", "y"], tasks={"a": 4, "b": 4})
    units = {name: threading.Lock() for name in dispatcher.resources}
    over = threading.Event()

    def keep_running(task):
        while not over.is_set():
            with dispatcher.task(task) as ticket:
                with units[ticket.resource]:
                    ticket.start()
                    time.sleep(sleeps[task, ticket.resource])

    with ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(keep_running, task) for task in "abababab"]
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                time.sleep(0.05)
                known = dispatcher.estimates().known.all()
                if known and dispatcher.statistics().ended > 200 and dispatcher.plan().target.tolist() == best:
                    break
            before = dispatcher.statistics()
            while time.monotonic() < deadline and dispatcher.statistics().ended < before.ended + 200:
                time.sleep(0.05)
            after = dispatcher.statistics()
        finally:
            over.set()
        for run in runs:
            run.result()

    rates = dispatcher.estimates()
    for (task, resource), seconds in sleeps.items():
        estimate = dispatcher.estimate(task, resource)
        # Never faster than the sleep; slower by what the machine adds.
        assert estimate.known and 0.9 * seconds < estimate.seconds < 10 * seconds, (task, resource, estimate)
        assert estimate.seconds_low <= estimate.seconds <= estimate.seconds_high
        assert estimate.rate == pytest.approx(1 / estimate.seconds)
        i, j = rates.tasks.index(task), rates.resources.index(resource)
        assert rates.rate[i, j] == pytest.approx(estimate.rate, rel=0.5)
    assert dispatcher.plan().target.tolist() == best
    # What the target has no place for is tried, but rarely.
    done = after.completions - before.completions
    assert done.sum() >= 200 and np.trace(done) >= 0.8 * done.sum(), done
    assert dispatcher.statistics().in_flight.sum() == 0


def test_the_target_is_reached():
    dispatcher = two_by_two()
    tickets = [dispatcher.place(task) for task in ["sort", "search"] * 4]
    target = dispatcher.plan().target
    assert (dispatcher.statistics().in_flight == target).all()
    assert (target == allot.solve(dispatcher.plan().scenario).assignment).all()
    counts = np.zeros((2, 2), int)
    for ticket in tickets:
        counts[ticket.task_index, ticket.resource_index] += 1
        assert dispatcher.tasks[ticket.task_index] == ticket.task
        assert dispatcher.resources[ticket.resource_index] == ticket.resource
    assert (counts == target).all()


def test_counts_are_exact_under_threads():
    dispatcher = allot.Dispatcher(resources=["r0", "r1", "r2"], tasks={"t0": 8, "t1": 8}, look_every=0.001)
    rounds, threads = 600, 8
    failed = []
    changing = threading.Event()

    def work(thread):
        try:
            for k in range(rounds):
                ticket = dispatcher.place(k % 2)
                if ticket is None:
                    ticket = dispatcher.place_at(k % 2, 0)
                if k % 3 == 0:
                    dispatcher.complete(ticket, 1e-3 * (1 + thread), ok=k % 6 != 0)
                elif k % 3 == 1:
                    dispatcher.complete(ticket)
                else:
                    dispatcher.cancel(ticket)
        except BaseException as error:  # a thread of the test must not die in silence
            failed.append(error)

    def change():
        try:
            while not changing.is_set():
                dispatcher.drain("r1")
                dispatcher.set_counts([4, 12])
                dispatcher.plan()
                dispatcher.estimates()
                dispatcher.solve(always=True)
                dispatcher.doubt(2)
                dispatcher.restore("r1")
                dispatcher.statistics()
        except BaseException as error:
            failed.append(error)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    other = threading.Thread(target=change)
    for thread in [other, *workers]:
        thread.start()
    for thread in workers:
        thread.join()
    changing.set()
    other.join()
    assert not failed
    seen = dispatcher.statistics()
    assert seen.placed == seen.ended == threads * rounds * 2 // 3
    assert (seen.in_flight == 0).all()
    assert seen.failures.sum() == threads * rounds // 6
    assert seen.completions.sum() == threads * rounds // 2
    assert seen.little == pytest.approx(1, abs=1e-6)


def test_planning_lets_other_threads_run():
    """solve and doubt wait for solvers, not for the interpreter: the other thread ticks on."""
    scenario = allot.generate(gps=24, sas=0, threads=2000, rule="none", seed=5)
    dispatcher = allot.Dispatcher(scenario, background=False, policy="optimal", solve_limit=0.3)
    with Ticking(0.005) as other:
        assert dispatcher.solve(always=True)
        dispatcher.doubt(2)
        assert other.ticks >= 3


def test_the_context_times_its_body_and_tells_failures():
    dispatcher = allot.Dispatcher(resources=["cpu"], tasks=["work"], background=False)
    for _ in range(3):  # the first is not counted
        with dispatcher.task("work") as ticket:
            assert ticket.open and ticket.resource == "cpu"
            time.sleep(0.5)  # waits
            ticket.start()
            time.sleep(0.01)
        assert not ticket.open
    dispatcher.solve()
    assert 0.01 <= dispatcher.estimate("work", "cpu").seconds < 0.5
    with pytest.raises(ZeroDivisionError):
        with dispatcher.task("work"):
            1 / 0
    with dispatcher.task("work") as ticket:
        dispatcher.cancel(ticket)
    with dispatcher.task("work", "cpu") as ticket:
        assert not ticket.explores
    seen = dispatcher.statistics()
    assert seen.completions.tolist() == [[4]] and seen.failures.tolist() == [[1]] and seen.placed == 5
    dispatcher.lose("cpu")
    with pytest.raises(allot.Unavailable, match="'work'"):
        with dispatcher.task("work"):
            pass


def test_a_context_holds_one_task_at_a_time():
    dispatcher = two_by_two()
    context = dispatcher.task("sort")
    with context:
        with pytest.raises(allot.InvalidInput, match="in use"):
            with context:
                pass
    with context as ticket:  # again, now that it is free
        assert ticket.open
    dispatcher.drain("cpu")
    dispatcher.drain("gpu")
    for _ in range(2):
        with pytest.raises(allot.Unavailable):
            with context:
                pass
    seen = dispatcher.statistics()
    assert seen.in_flight.sum() == 0 and seen.placed == seen.ended == 2


def test_a_context_that_threads_share_leaks_no_ticket():
    dispatcher = two_by_two()
    context = dispatcher.task("sort")
    entered = []

    def work():
        for _ in range(300):
            try:
                with context as ticket:
                    entered.append(ticket)
                    time.sleep(0)
            except allot.InvalidInput:
                pass

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seen = dispatcher.statistics()
    assert seen.in_flight.sum() == 0 and seen.placed == seen.ended == len(entered)


def test_what_changes_counts_at_once():
    dispatcher = two_by_two()
    number = dispatcher.plan().number
    dispatcher.drain("gpu")
    assert not dispatcher.allows("sort", "gpu")
    assert {dispatcher.place("search").resource for _ in range(4)} == {"cpu"}
    assert dispatcher.solve() and not dispatcher.solve()
    plan = dispatcher.plan()
    assert plan.number == number + 1 and plan.target.tolist() == [[4, 0], [4, 0]]
    dispatcher.restore("gpu")
    dispatcher.disable("sort", "gpu")
    dispatcher.set_counts({"search": 9})
    dispatcher.solve()
    plan = dispatcher.plan()
    assert plan.scenario.counts.tolist() == [4, 9] and plan.target[0].tolist() == [4, 0] and plan.target[1, 1] > 0
    dispatcher.set_priorities({"sort": 1, "search": 3})
    dispatcher.solve()
    assert dispatcher.plan().scenario.shares.tolist() == [0.25, 0.75]
    dispatcher.add_resource("npu", 2, rates={"search": 50.0})
    dispatcher.add_task_type("fft", 2, rates=[np.nan, 0, 3.0], priority=1)
    assert dispatcher.tasks[2] == "fft" and dispatcher.resources[2] == "npu"
    assert not dispatcher.allows("sort", "npu") and not dispatcher.allows("fft", "gpu") and dispatcher.allows("fft", "cpu")
    assert dispatcher.statistics().completions.shape == (3, 3)
    dispatcher.remove_task_type("fft")
    assert dispatcher.place("fft") is None


def test_known_and_unknown_rates():
    dispatcher = allot.Dispatcher(
        resources={"cpu": 4, "gpu": 1},
        tasks={"decode": 6, "fft": 4, "index": 2},
        rates={"decode": {"cpu": 40, "gpu": None}, "fft": {"gpu": 90}, "index": None},
        background=False,
    )
    known = dispatcher.estimates()
    assert known.known.tolist() == [[True, False], [False, True], [False, False]]
    assert known.rate[0, 0] == pytest.approx(40) and known.rate[1, 1] == pytest.approx(90)
    assert known.seconds_high[2, 0] == np.inf and known.breaker.tolist() == [["closed", "closed"]] * 3
    assert dispatcher.allows("decode", "gpu") and not dispatcher.allows("fft", "cpu")
    assert dispatcher.plan().scenario.servers.tolist() == [4, 1]
    frame = known.to_frame()
    assert frame.loc[("fft", "gpu"), "rate"] == known.rate[1, 1] and len(frame) == 6
    # Rates that only say what can run.
    only = two_by_two(worth=0)
    assert not only.estimates().known.any() and only.allows("sort", "cpu")
    assert dispatcher.doubt().draws == 8


def test_what_a_pair_that_only_fails_looks_like():
    dispatcher = allot.Dispatcher(
        resources=["good", "bad"], tasks=["t"], rates=[[5.0, 50.0]], background=False, breaker_failures=3, breaker_hold=100
    )
    for _ in range(3):
        dispatcher.complete(dispatcher.place_at("t", "bad"), 0.01, ok=False)
    dispatcher.solve()
    assert dispatcher.estimate("t", "bad").breaker == "open" and not dispatcher.allows("t", "bad")
    assert dispatcher.place("t").resource == "good"


def test_weighted_plans_have_time_shares():
    scenario = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4], priorities=[1, 3])
    plan = allot.Dispatcher(scenario, policy="weighted", background=False).plan()
    assert plan.time_shares.shape == (2, 2) and (plan.time_shares.sum(axis=0) <= 1 + 1e-9).all()
    assert plan.predicted.shares == pytest.approx([0.25, 0.75])
    assert allot.Dispatcher(scenario, policy="jsq", background=False).plan().target is None


def test_plans_count_needs():
    """On the gpu a task of train holds a core and 41 of 80 GB, so that the plan has one there at a time."""
    scenario = allot.Scenario(
        [[1.0, 40.0], [5.0, 0.0]], [4, 8], tasks=["train", "pack"], resources=["cpu", "gpu"], servers=[4, 2],
        needs={"train": {"gpu": {"cpu": 1, "bus": 0.8, "memory": 41}}, "pack": {"cpu": {"cpu": 2}}},
        capacities={"memory": 80, "bus": {"amount": 1.0, "shared": True}},
    )
    for policy in ("map", "jsq", "planned"):
        dispatcher = allot.Dispatcher(scenario, policy=policy, background=False, exploration=0)
        assert dispatcher.place("train").resource in ("cpu", "gpu")
    dispatcher = allot.Dispatcher(scenario, background=False)
    assert dispatcher.plan().predicted.throughput == pytest.approx(scenario.throughput(dispatcher.plan().target))
    unknown = allot.Dispatcher(scenario, rates=[[np.nan, 0], [np.nan, 0]], background=False)
    assert not unknown.allows("train", "gpu")
    # A resource that comes later, and a type with needs of it and of what was there before.
    dispatcher.add_resource("npu", 2, rates={"pack": 3.0})
    more = {"npu": {"npu": 2, "memory": 50}, "cpu": {"bus": 0.5}}
    dispatcher.add_task_type("infer", 2, rates={"npu": 100.0, "cpu": 1.0}, needs=more, power={"npu": 30.0})
    assert dispatcher.solve()
    known = {"train", "pack", "infer"}
    assert set(dispatcher.tasks) == known and dispatcher.place("infer") is not None
    grown = dispatcher.plan().target
    assert grown.sum(axis=1).tolist() == [4, 8, 2]
    told = allot.Scenario(
        [[1.0, 40.0, 0], [5.0, 0.0, 3.0], [1.0, 0.0, 100.0]], [4, 8, 2], tasks=["train", "pack", "infer"],
        resources=["cpu", "gpu", "npu"], servers=[4, 2, 2], needs={**scenario.needs, "infer": more}, capacities=scenario.capacities,
    )
    assert dispatcher.plan().predicted.throughput == pytest.approx(told.throughput(grown))
    for wrong in ({"npu": {"disk": 1}}, {"npu": 3}, 3, {"npu": {"memory": 90}}):
        with pytest.raises(allot.InvalidInput, match="needs"):
            dispatcher.add_task_type("wrong", 2, rates={"npu": 100.0}, needs=wrong)
        assert set(dispatcher.tasks) == known


def test_plans_show_themselves():
    import matplotlib

    matplotlib.use("Agg")
    dispatcher = two_by_two()
    plan = dispatcher.plan()
    assert repr(plan).startswith("Plan 1: 14.64 tasks/s predicted") and "search" in plan._repr_html_()
    assert plan.to_frame().loc["sort", "gpu"] == 3
    assert plan.predicted.throughput == pytest.approx(plan.scenario.throughput(plan.target))
    assert plan.predicted.response_time_by_task.shape == (2,) and plan.time_shares is None and plan.note == ""
    assert plan.plot() is not None
    assert "2 task types, 2 resources, 0 placed" in repr(dispatcher)
    planned = two_by_two(policy="planned").plan()
    assert planned.target is None and planned.time_shares.shape == (2, 2)
    assert repr(planned).startswith("Plan 1: ") and "time shares" in repr(planned) and "search" in repr(planned)
    assert planned.to_frame().loc["sort", "cpu"] == planned.time_shares[0, 0] and planned.plot() is not None
    assert pickle.loads(pickle.dumps(planned)) == planned
    without = two_by_two(policy="jsq")
    assert "no target" in repr(without.plan()) and without.plan().predicted is None
    assert without.plan().to_frame() is None and without.plan().plot() is not None


@pytest.mark.parametrize(
    "wrong, place",
    [
        (lambda d: d.place("nobody"), "task"),
        (lambda d: d.place(2), "task"),
        (lambda d: d.place(-1), "task"),
        (lambda d: d.place(None), "task"),
        (lambda d: d.place_at("sort", "tpu"), "resource"),
        (lambda d: d.drain("tpu"), "resource"),
        (lambda d: d.disable("sort", 7), "resource"),
        (lambda d: d.estimate("nobody", 0), "task"),
        (lambda d: d.set_counts([1]), "counts"),
        (lambda d: d.set_counts([1, -1]), "counts"),
        (lambda d: d.set_counts({"nobody": 1}), "counts"),
        (lambda d: d.set_counts(3), "counts"),
        (lambda d: d.set_priorities([1]), "priorities"),
        (lambda d: d.set_priorities({"sort": 1}), "priorities"),
        (lambda d: d.set_priorities(["much", 1]), "priorities"),
        (lambda d: d.report_running("sort", "cpu", [-1.0]), "seconds"),
        (lambda d: d.doubt(0), "draws"),
        (lambda d: d.add_resource("new", rates=[1.0]), "rates"),
        (lambda d: d.add_resource("new", servers=0), "servers"),
        (lambda d: d.add_task_type("new", rates=[1.0, -1.0]), "rates"),
        (lambda d: d.complete(d.place("sort"), -1.0), "seconds"),
        (lambda d: d.complete(d.place("sort"), float("nan")), "seconds"),
        (lambda d: d.complete(two_by_two().place("sort")), "ticket"),
        (lambda d: two_by_two(policy="magic"), "policy"),
        (lambda d: two_by_two(policy="fixed"), "assignment"),
        (lambda d: two_by_two(exploration=2), "exploration"),
        (lambda d: two_by_two(solve_limit=0), "solve_limit"),
        (lambda d: two_by_two(memory=float("nan")), "memory"),
        (lambda d: two_by_two(worth=-1), "worth"),
        (lambda d: two_by_two(room=10**9), "room"),
        (lambda d: two_by_two(rates=[[1, 2], [3, -4]]), "rates"),
    ],
)
def test_what_is_wrong_is_told(wrong, place):
    dispatcher = two_by_two()
    with pytest.raises(allot.InvalidInput) as raised:
        wrong(dispatcher)
    assert raised.value.diagnostics[0].place == place


def test_what_is_wrong_with_the_shape_is_told():
    dispatcher = two_by_two()
    for wrong in (
        lambda: dispatcher.add_resource("cpu"),  # the name is taken
        lambda: two_by_two(rates=[[1, 2]]),
        lambda: allot.Dispatcher(resources=["r"], tasks=["a"], rates={"b": {"r": 1}}),
        lambda: allot.Dispatcher(resources=["r"], tasks=["a"], rates={"a": {"s": 1}}),
        lambda: allot.Dispatcher(resources=["r", "r"], tasks=[]),
        lambda: allot.Dispatcher(resources=["r"], tasks={"a": 1}, rates=[[0]]),
        lambda: two_by_two(room=0).add_resource("more"),
    ):
        with pytest.raises(ValueError):
            wrong()
    for wrong in (
        lambda: allot.Dispatcher(),
        lambda: allot.Dispatcher(resources=["r"]),
        lambda: allot.Dispatcher(allot.generate(), tasks=["a"]),
    ):
        with pytest.raises(TypeError):
            wrong()


def test_a_ticket_is_given_back_once():
    dispatcher = two_by_two()
    ticket = dispatcher.place("sort")
    dispatcher.complete(ticket, 0.1)
    for again in (dispatcher.complete, dispatcher.cancel):
        with pytest.raises(allot.InvalidInput, match="given back before"):
            again(ticket)
    assert dispatcher.statistics().ended == 1 and dispatcher.statistics().in_flight.sum() == 0
    # One that was refused for its time is still open.
    ticket = dispatcher.place("sort")
    with pytest.raises(ValueError):
        dispatcher.complete(ticket, float("inf"))
    assert ticket.open
    dispatcher.cancel(ticket)
    # A ticket outlives its dispatcher.
    ticket = two_by_two().place("search")
    gc.collect()
    assert ticket.task == "search"


def test_a_fork_may_drop_what_it_inherited():
    dispatcher = allot.Dispatcher(resources=["cpu"], tasks=["t"])
    child = os.fork()
    if child == 0:
        del dispatcher
        gc.collect()
        os._exit(0)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert status == 0
    assert dispatcher.place("t") is not None


def test_service_order():
    order = allot.ServiceOrder(["a", "b", "c"])
    order.set_weights({"a": 1, "b": 1, "c": 2})
    received = dict.fromkeys("abc", 0.0)
    seconds = {"a": 1.0, "b": 3.0, "c": 0.5}
    for now in range(600):
        task = order.next([1, 1, 1], float(now))
        received[task] += seconds[task]
        order.served(task, seconds[task])
    total = sum(received.values())
    assert [received[t] / total for t in "abc"] == pytest.approx([0.25, 0.25, 0.5], abs=0.05)
    assert order.next({}) is None and order.next({"b": 2}) == "b"
    idle = allot.ServiceOrder(["a"], "idle")
    idle.set_weights([0.5])
    assert idle.next([1], 0.0) == "a"
    idle.served("a", 1.0)
    assert idle.next([1], 1.0) is None and idle.idle_until > 1.0
    for wrong in (
        lambda: allot.ServiceOrder([]),
        lambda: allot.ServiceOrder(["a"], "sleep"),
        lambda: order.set_weights([1]),
        lambda: order.set_weights([1, 2, -1]),
        lambda: order.next({"d": 1}),
        lambda: order.served("d", 1.0),
        lambda: order.served("a", -1.0),
    ):
        with pytest.raises(allot.InvalidInput):
            wrong()
