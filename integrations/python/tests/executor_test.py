"""The executor: tasks run once, where they can, whatever else happens."""
import asyncio
import concurrent.futures
import functools
import gc
import threading
import time
import traceback
import weakref

import pytest

import allot


@pytest.fixture
def executor():
    with allot.Executor(resources={"cpu": 3, "gpu": 1}) as made:
        yield made


def settled(executor, ended, patience=30):
    """The statistics once so many tasks have ended, which is told a moment after their futures."""
    until = time.monotonic() + patience
    while True:
        seen = executor.statistics()
        if seen.completed.sum() + seen.failed.sum() >= ended or time.monotonic() > until:
            return seen
        time.sleep(0.005)


# ---- as concurrent.futures


def test_submit_map_as_completed_and_wait(executor):
    assert executor.submit(pow, 2, 5).result() == 32
    assert executor.submit(int, "11", base=2).result() == 3
    assert list(executor.map(lambda a, b: a + b, range(50), range(50))) == [2 * k for k in range(50)]
    futures = [executor.submit(abs, -k) for k in range(20)]
    assert sorted(f.result() for f in concurrent.futures.as_completed(futures, timeout=60)) == list(range(20))
    assert concurrent.futures.wait(futures, timeout=60).not_done == set()
    assert isinstance(executor, concurrent.futures.Executor)


def test_kinds_run_where_they_can(executor):
    where = executor.kind("where", cpu=lambda: "cpu", gpu=lambda: "gpu")
    only = executor.kind("only", gpu=lambda: "gpu")
    assert {where.submit().result() for _ in range(200)} <= {"cpu", "gpu"}
    assert {executor.submit("only").result() for _ in range(20)} == {"gpu"}
    seen = settled(executor, 220)
    assert seen.completed[seen.kinds.index("only")].tolist() == [0, 20] and seen.completed.sum() == 220
    assert seen.to_frame().completed.sum() == 220 and repr(only) == "Kind('only')"
    assert executor.plan().scenario.tasks[:2] == ("where", "only")
    assert "where" in executor.estimates().tasks


def test_marked_functions(executor):
    @allot.task(cpu=True, gpu=lambda x: ("gpu", x), worth=3)
    def shows(x):
        return "cpu", x

    @allot.task
    def anywhere():
        return 1

    assert shows(1) == ("cpu", 1)
    assert [x for _, x in executor.map(shows, range(30))] == list(range(30))
    assert executor.submit(anywhere).result() == 1
    assert {"shows" in name or "anywhere" in name for name in executor.statistics().kinds} == {True}


def test_marked_functions_of_one_name_are_one_kind(executor):
    def made(k, **places):
        @allot.task(**places)
        def marked():
            return k

        return marked

    assert [executor.submit(made(k)).result(60) for k in range(400)] == list(range(400))
    assert len(executor.statistics().kinds) == 1
    with pytest.raises(allot.InvalidInput, match="other resources"):
        executor.submit(made(1, gpu=True))
    start = threading.Barrier(4)

    @allot.task(name="raced")
    def raced():
        return 1

    def submits():
        start.wait()
        return executor.submit(raced).result(60)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert [f.result(60) for f in [pool.submit(submits) for _ in range(4)]] == [1] * 4


def test_functions_without_a_kind_run_on_the_first_resource(executor):
    class Callable:
        def __call__(self):
            return threading.current_thread().name

        __hash__ = None

    for function in (lambda: threading.current_thread().name, Callable(), functools.partial(Callable())):
        assert executor.submit(function).result().startswith("allot-cpu-")
    for k in range(300):  # not a kind each
        exec(f"def f{k}(): return {k}", globals())
        assert executor.submit(globals().pop(f"f{k}")).result() == k
    assert len(executor.statistics().kinds) < 100


def test_a_function_that_is_marked_later_runs_where_its_mark_says(executor):
    def where():
        return threading.current_thread().name

    assert executor.submit(where).result(60).startswith("allot-cpu-")
    again = allot.task(gpu=True)(where)
    assert executor.submit(again).result(60).startswith("allot-gpu-")
    assert executor.statistics().kinds == (where.__qualname__, f"{where.__qualname__} (2)")


def test_a_kind_may_have_the_name_of_a_function(executor):
    def decode():
        return "function"

    decode.__qualname__ = "decode"
    assert executor.submit(decode).result(60) == "function"
    executor.kind("decode", gpu=lambda: "kind")
    assert [executor.submit(one).result(60) for one in (decode, "decode")] == ["function", "kind"]
    box = allot.Scenario({"decode": {"cpu": 100.0, "gpu": 50.0}}, 1)
    with allot.Executor(box) as other:
        assert other.submit(decode).result(60) == "function"
        other.kind("decode", gpu=lambda: "kind")
        assert [other.submit(one).result(60) for one in (decode, "decode")] == ["function", "kind"]


def test_a_scenario_brings_kinds_and_rates():
    box = allot.Scenario({"sort": {"cpu": 100.0, "gpu": 50.0}, "fft": {"gpu": 80.0}}, 2, servers={"cpu": 2})
    with allot.Executor(box, policy="map") as executor:
        executor.kind("sort", cpu=lambda: 1, gpu=lambda: 1)
        executor.kind("fft", gpu=lambda: 2)
        executor.kind("more", cpu=lambda: 3)
        assert [executor.submit(name).result() for name in ("sort", "fft", "more")] == [1, 2, 3]
        with pytest.raises(allot.InvalidInput, match="the scenario says"):
            allot.Executor(box).kind("sort", cpu=len, worth=2.0)


@pytest.mark.parametrize("policy", ["planned", "map", "jsq", "round-robin", "optimal", "best-fit"])
def test_policies_by_name(policy):
    with allot.Executor(resources={"cpu": 2, "gpu": 1}, policy=policy) as executor:
        for name in ("a", "b"):
            executor.kind(name, cpu=lambda x: x, gpu=lambda x: x)
        futures = [executor.submit("ab"[k % 2], k) for k in range(200)]
        assert [future.result() for future in futures] == list(range(200))


def test_needs_hold_tasks_back():
    """Of a capacity for one, two tasks never run at once, though there are workers for them."""
    inside, most = [0], [0]
    lock = threading.Lock()

    def work():
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        time.sleep(0.002)
        with lock:
            inside[0] -= 1

    with allot.Executor(resources={"cpu": 4}, capacities={"memory": 8}) as executor:
        executor.kind("large", cpu=work, needs={"cpu": {"memory": 6}})
        for future in [executor.submit("large") for _ in range(20)]:
            future.result(60)
    assert most[0] == 1


def test_more_worth_goes_first():
    """While one worker is held, what is worth more waits less."""
    order = []
    with allot.Executor(resources={"cpu": 1}) as executor:
        gate = threading.Event()
        for name, worth in (("plain", 1), ("dear", 100)):
            executor.kind(name, cpu=functools.partial(order.append, name), worth=worth, rates={"cpu": 1000.0})
        executor.kind("gate", cpu=gate.wait, rates={"cpu": 1000.0})
        executor.submit("gate")
        futures = [executor.submit(name) for name in ["plain"] * 50 + ["dear"] * 50]
        time.sleep(0.3)  # for a plan that knows them
        gate.set()
        concurrent.futures.wait(futures, timeout=60)
    assert sum(order[:50].count(name) for name in ("dear",)) >= 40, order


def test_asyncio(executor):
    async def main():
        answers = await asyncio.gather(*(executor.asubmit(pow, k, 2) for k in range(20)))
        with pytest.raises(ZeroDivisionError):
            await executor.asubmit(lambda: 1 // 0)
        return answers

    assert asyncio.run(main()) == [k * k for k in range(20)]


def test_one_initializer_for_each_worker():
    calls = []
    with allot.Executor(resources={"cpu": 3, "gpu": 2}, initializer=calls.append, initargs=(7,)) as executor:
        executor.submit(len, "")
    assert calls == [7] * 5


def test_an_initializer_that_fails_breaks_the_executor():
    def fails():
        raise OSError("no device")

    with allot.Executor(resources={"cpu": 2}, initializer=fails) as executor:
        for _ in range(3):  # by the future, or at once where it is known already
            with pytest.raises(concurrent.futures.BrokenExecutor, match="no device"):
                executor.submit(len, "").result(60)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: allot.Executor(resources={"cpu": 0}),
        lambda: allot.Executor(resources="cpu"),
        lambda: allot.Executor(resources=["cpu"], policy="fastest"),
        lambda: allot.Executor(resources=["cpu"], objective="speed"),
        lambda: allot.Executor(resources=["cpu"], processes=True, mp_context="fork"),
        lambda: allot.Executor(resources=["cpu"]).kind("a"),
        lambda: allot.Executor(resources=["cpu"]).kind("a", tpu=len),
        lambda: allot.Executor(resources=["cpu"]).kind("a", cpu=3),
        lambda: allot.Executor(resources=["cpu"]).kind("a", cpu=len, worth=-1),
        lambda: allot.Executor(resources=["cpu"]).kind("a", cpu=len, needs={"cpu": {"memory": 1}}),
        lambda: allot.Executor(resources=["cpu"]).submit("no such kind"),
        lambda: allot.Executor(resources=["cpu"]).submit(3),
    ],
)
def test_mistakes_are_told(wrong):
    with pytest.raises(allot.InvalidInput):
        wrong()


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda box, cpu: allot.Executor(box).submit("decode", 1), r"'decode' has no function yet: give it one with kind\('decode', cpu=...\)"),
        (lambda box, cpu: allot.Executor(box).kind("fft", cpu=len), "in the scenario, 'fft' runs on gpu"),
        (lambda box, cpu: cpu.submit("fast"), "there is no kind 'fast'. Did you mean 'fats'?"),
        (lambda box, cpu: cpu.kind("a", cpu=len, wort=3), "wort: .* Did you mean 'worth'\\? There are cpu, disk."),
        (lambda box, cpu: cpu.kind("a", gpu=len), "gpu: is not a resource of this executor.* There are cpu, disk."),
        (lambda box, cpu: allot.Executor({"cpu": 1}), r"did you mean resources=\{'cpu': 1\}\?"),
        (lambda box, cpu: allot.Executor(policy="jqs"), "Did you mean 'jsq'"),
        (lambda box, cpu: allot.Executor(objective="trougput"), "Did you mean 'throughput'"),
        (lambda box, cpu: allot.Executor(resources={}), "resource"),
    ],
)
def test_mistakes_are_told_with_what_would_be_right(wrong, words):
    box = allot.Scenario({"decode": {"cpu": 100.0, "gpu": 50.0}, "fft": {"gpu": 10.0}}, 1)
    with allot.Executor(resources=["cpu", "disk"]) as cpu:
        cpu.kind("fats", cpu=len)
        with pytest.raises(allot.InvalidInput, match=words):
            wrong(box, cpu)


def test_resources_by_a_series():
    pandas = pytest.importorskip("pandas")
    with allot.Executor(resources=pandas.Series({"cpu": 2, "gpu": 1})) as executor:
        assert executor.plan().scenario.servers.tolist() == [2, 1] and executor.resources == ("cpu", "gpu")
    with allot.Executor(resources=pandas.Series(["cpu", "gpu"])) as executor:
        assert executor.resources == ("cpu", "gpu")
    with pytest.raises(allot.InvalidInput, match="names as its index"):
        allot.Executor(resources=pandas.Series([1, 2]))
    tasks = pandas.Series({"a": 3, "b": 4})
    with allot.Dispatcher(resources=["cpu"], tasks=tasks, background=False) as dispatcher:
        assert dispatcher.tasks == ("a", "b") and dispatcher.plan().scenario.counts.tolist() == [3, 4]


# ---- faults


def test_exceptions_have_their_tracebacks(executor):
    def deep():
        raise KeyError("lost")

    future = executor.submit(lambda: deep())
    with pytest.raises(KeyError) as raised:
        future.result(60)
    assert "in deep" in "".join(traceback.format_exception(raised.value))
    for error in (SystemExit(3), KeyboardInterrupt(), StopIteration()):
        def throws(error=error):
            raise error

        with pytest.raises(type(error)):
            executor.submit(throws).result(60)
    assert executor.submit(len, "ab").result(60) == 2
    assert settled(executor, 5).failed.sum() == 4


def test_a_kind_that_always_fails_holds_nobody_up(executor):
    executor.kind("bad", cpu=lambda: 1 // 0, gpu=lambda: 1 // 0)
    executor.kind("good", cpu=lambda: 1, gpu=lambda: 1)
    bad = [executor.submit("bad") for _ in range(200)]
    good = [executor.submit("good") for _ in range(200)]
    assert sum(f.result(60) for f in good) == 200
    assert all(isinstance(f.exception(60), ZeroDivisionError) for f in bad)


def test_many_queued_tasks_and_cancelling_them():
    gate = threading.Event()
    with allot.Executor(resources={"cpu": 2}) as executor:
        for _ in range(2):
            executor.submit(gate.wait)
        futures = [executor.submit(abs, k) for k in range(100_000)]
        assert futures[70].cancel()
        gate.set()
        assert sum(f.result(120) for f in futures if not f.cancelled()) == sum(range(100_000)) - 70
    gate.clear()
    executor = allot.Executor(resources={"cpu": 2})
    running = [executor.submit(gate.wait) for _ in range(2)]
    while not all(future.running() for future in running):
        time.sleep(0.001)
    futures = [executor.submit(abs, k) for k in range(10_000)]
    executor.shutdown(wait=False, cancel_futures=True)
    assert sum(f.cancelled() for f in futures) >= 9_998
    gate.set()
    executor.shutdown()
    assert concurrent.futures.wait(running + futures, timeout=60).not_done == set()
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(len, "")


def test_submits_from_callbacks_and_nested_submits(executor):
    done = threading.Semaphore(0)

    def again(left, _=None):
        if left == 0:
            done.release()
        else:
            executor.submit(abs, left).add_done_callback(functools.partial(again, left - 1))

    for _ in range(4):
        again(200)
    for _ in range(4):
        assert done.acquire(timeout=60)

    def fib(n):  # waits for others of its kind, on no more workers than there are
        return n if n < 2 else executor.submit(fib, n - 1).result() + n - 2

    assert executor.submit(fib, 3).result(60) == 2


def test_callbacks_that_raise_harm_nobody(executor, caplog):
    future = executor.submit(len, "")
    future.add_done_callback(lambda _: 1 // 0)
    future.result(60)
    strange = executor.submit(time.sleep, 0.05)
    while not strange.running():
        time.sleep(0.001)
    strange.set_result(None)  # by somebody who should not
    assert [executor.submit(abs, k).result(60) for k in range(8)] == list(range(8))


def test_nothing_is_kept():
    class Large:
        pass

    with allot.Executor(resources={"cpu": 2}) as executor:
        argument, seen = Large(), []
        seen.append(weakref.ref(argument))
        future = executor.submit(lambda given: Large(), argument)
        seen.append(weakref.ref(future.result()))

        def raises(given):
            raise ValueError

        failing = executor.submit(raises, argument)
        assert failing.exception(60)
        seen.append(weakref.ref(failing))
        del argument, future, failing
        until = time.monotonic() + 10
        while any(ref() is not None for ref in seen) and time.monotonic() < until:
            gc.collect()
            time.sleep(0.01)
        assert [ref() for ref in seen] == [None] * 3


def test_a_forgotten_executor_ends():
    executor = allot.Executor(resources={"cpu": 2})
    future = executor.submit(time.sleep, 0.05)
    threads = executor._pool.threads
    gone = weakref.ref(executor)
    del executor
    gc.collect()
    assert gone() is None
    future.result(60)
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


# ---- other numbers of workers


def test_shutdown_waits_for_what_runs_on_workers_that_were_replaced():
    executor = allot.Executor(resources={"cpu": 1, "gpu": 1})
    gate = threading.Event()
    executor.kind("held", gpu=gate.wait)
    running = [executor.submit(gate.wait), executor.submit("held")]
    while not all(future.running() for future in running):
        time.sleep(0.001)
    waiting = [executor.submit(abs, -k) for k in range(20)]
    for cpus in (2, 3):
        executor._resize({"cpu": cpus, "gpu": 1})
    assert [future.result(60) for future in waiting] == list(range(20))
    assert executor.statistics().running.sum() == 2
    threading.Timer(0.3, gate.set).start()
    executor.shutdown(wait=True)
    assert all(future.done() for future in running)


def test_statistics_drained_resources_and_kinds_are_kept():
    with allot.Executor(resources={"cpu": 1, "gpu": 1}) as executor:
        executor.kind("both", cpu=lambda: "cpu", gpu=lambda: "gpu")
        functions = {}
        for k in range(80):  # more than get kinds of their own
            exec(f"def function{k}(): return {k}", functions)
            assert executor.submit(functions[f"function{k}"]).result(60) == k
        executor.submit("both").result(60)
        seen = settled(executor, 81)
        executor.drain("gpu")
        gate = threading.Event()
        executor.submit(gate.wait)
        waiting = [executor.submit(functions[f"function{k}"]) for k in (3, 79)]
        for cpus in (2, 1, 2):
            executor._resize({"cpu": cpus, "gpu": 1})
        gate.set()
        assert [future.result(60) for future in waiting] == [3, 79]
        assert executor.submit(functions["function79"]).result(60) == 79
        assert {executor.submit("both").result(60) for _ in range(50)} == {"cpu"}
        after = settled(executor, 81 + 4 + 50)
        assert after.completed.sum() == 81 + 4 + 50 and after.waiting.sum() == 0
        assert set(after.kinds) >= set(seen.kinds) and after.seconds > seen.seconds
        executor._resize({"cpu": 1, "gpu": 1})  # by now, the others have ended
        assert executor.statistics().completed.sum() == 81 + 4 + 50 and not executor.statistics().completed.flags.writeable
        assert len(executor._replaced) < 4
        executor.restore("gpu")
        assert "gpu" in {executor.submit("both").result(60) for _ in range(200)}
