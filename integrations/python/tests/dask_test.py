"""The executor on Dask's workers: processes with tags, which may die and join."""
import os
import signal
import subprocess
import sys
import time

import pytest

distributed = pytest.importorskip("distributed")

import allot
import allot.dask


def worker(address, tags):
    """A worker in a process of its own."""
    words = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--resources", tags, "--nthreads", "1"]
    return subprocess.Popen([*words, "--no-nanny", "--no-dashboard"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def until(what, patience=60):
    end = time.monotonic() + patience
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """Two workers for CPU; one process more for each call of `join`."""
    monkeypatch.chdir(tmp_path)
    started = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, resources={"CPU": 1}, dashboard_address=None
    ) as local, distributed.Client(local) as client:

        def join(tags):
            before = len(client.scheduler_info()["workers"])
            started.append(worker(local.scheduler_address, tags))
            until(lambda: len(client.scheduler_info()["workers"]) > before)
            return started[-1]

        client.join = join
        try:
            yield client
        finally:
            for process in started:
                process.kill()
                process.wait()


def test_workers_die_and_join(cluster):
    def where(tag):
        def function(k):
            time.sleep(0.002)
            return tag, k, os.getpid()

        return function

    gpu = cluster.join("GPU=1")
    with allot.dask.Executor(cluster, {"cpu": "CPU", "gpu": "GPU"}) as executor:
        both = executor.kind("both", cpu=where("cpu"), gpu=where("gpu"))
        only = executor.kind("only", gpu=where("gpu"))
        answers = [f.result(60) for f in [executor.submit(both, k) for k in range(60)]]
        assert [k for _, k, _ in answers] == list(range(60)) and {tag for tag, _, _ in answers} == {"cpu", "gpu"}
        assert os.getpid() not in {pid for _, _, pid in answers}
        assert {only.submit(k).result(60)[0] for k in range(5)} == {"gpu"}
        with pytest.raises(ZeroDivisionError):
            executor.submit(lambda: 1 // 0).result(60)

        # The only worker of its tag dies: what runs there is told, what can run elsewhere does.
        held = executor.kind("held", gpu=lambda: time.sleep(600))
        lost = held.submit()
        until(lost.running)
        time.sleep(0.5)
        gpu.send_signal(signal.SIGKILL)
        with pytest.raises(allot.WorkerDied, match="GPU"):
            lost.result(120)
        assert {f.result(60)[0] for f in [executor.submit(both, k) for k in range(20)]} == {"cpu"}

        # Another one joins: it takes what waits for it.
        waits = only.submit(7)
        cluster.join("GPU=2")
        assert waits.result(120)[:2] == ("gpu", 7)
        until(lambda: executor._servers == [2, 2])
        assert len({f.result(60)[1] for f in [executor.submit(both, k) for k in range(40)]}) == 40


def test_mistakes_are_told(cluster):
    for wrong in ({"gpu": "GPU"}, {}, ["CPU"]):
        with pytest.raises(allot.InvalidInput, match="resources"):
            allot.dask.Executor(cluster, wrong)
    with pytest.raises(TypeError, match="processes"):
        allot.dask.Executor(cluster, {"cpu": "CPU"}, processes=True)


def test_keywords_are_the_functions_own(cluster):
    def keywords(*args, **given):
        return args, given

    given = dict(key="a", workers=3, priority=1, retries=4, pure=2, resources=7, actor=1, allow_other_workers=9, fifo_timeout=0)
    with allot.dask.Executor(cluster, {"cpu": "CPU"}) as executor:
        assert executor.submit(keywords, len, **given).result(60) == ((len,), given)
        three = cluster.submit(abs, -3)
        assert executor.submit(keywords, three, x=three, y=[three]).result(60) == ((3,), {"x": 3, "y": [3]})


def test_shutdown_waits_after_workers_have_joined(cluster):
    executor = allot.dask.Executor(cluster, {"cpu": "CPU"})
    held = executor.submit(time.sleep, 8)
    until(held.running)
    cluster.join("CPU=1")
    until(lambda: executor._servers == [3])
    executor.shutdown(wait=True)
    assert held.done() and held.exception() is None


def test_the_watch_goes_on_after_an_error(cluster, caplog):
    with allot.dask.Executor(cluster, {"cpu": "CPU"}) as executor:
        executor.submit(len, "").result(60)
        right, errors = executor._resize, [KeyError("function")]

        def resize(servers):
            if errors:
                raise errors.pop()
            right(servers)

        executor._resize = resize
        cluster.join("CPU=1")
        until(lambda: executor._servers == [3])
    assert "the new workers are not used yet" in caplog.text
