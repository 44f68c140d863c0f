"""Long work: Ctrl-C, deadlines, progress, and other threads that run meanwhile."""
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import allot
from conftest import Ticking

# Work for many seconds, whatever the function.
LARGE = dict(gps=48, sas=0, threads=8000, rule="none", priorities=True, seed=5)
MANY_STATES = dict(gps=3, sas=0, threads=60)


def interrupted(work):
    """Runs the work in a fresh interpreter and interrupts it; what the interpreter says about it."""
    program = textwrap.dedent(
        f"""
        import allot, sys, threading, os, signal, time
        large = allot.generate(**{LARGE!r})
        small = allot.generate()
        states = allot.generate(**{MANY_STATES!r})
        def slow(state, task):
            return state.scenario.homes[task]
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        try:
            {work}
            print("finished")
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - began < 60)
        """
    )
    # A shell in the background has its children ignore the signal; here they must not.
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    return done.stdout.strip() or done.stderr


@pytest.mark.parametrize(
    "work",
    [
        "allot.certify(large, time_limit=None)",
        "allot.solve(large, solver='local', start=None) and allot.certify(large, time_limit=None)",
        "allot.pareto(large) and allot.certify(large, time_limit=None)",
        "allot.whatif(large)",
        "allot.simulate(small, 'jsq', completions=10**12)",
        "allot.compare(small, completions=10**12)",
        "allot.simulate(small, slow, completions=10**12)",
        "allot.analyze(states, 'random', max_states=10**8)",
        "allot.Dispatcher(large, policy='optimal', solve_limit=1000.0)",
    ],
)
def test_ctrl_c_raises_keyboard_interrupt(work):
    assert interrupted(work) == "interrupted True"


def test_a_signal_handler_that_returns_lets_the_work_go_on():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(True))
    try:
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        run = allot.simulate(allot.generate(), "jsq", completions=10**9, time_limit=0.6)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [True] and run.partial


def test_deadlines():
    large = allot.generate(**LARGE)
    assert allot.certify(large, time_limit=0.2).outcome in ("time_limit", "optimal")
    assert allot.whatif(large, time_limit=0.2).outcome == "time_limit"
    run = allot.simulate(large, "jsq", completions=10**10, time_limit=0.2)
    assert run.partial and run.wall_seconds < 60
    mine = allot.simulate(allot.generate(), lambda state, task: state.scenario.homes[task], completions=10**9, time_limit=0.2)
    assert mine.partial
    assert len(allot.compare(allot.generate(), completions=10**9, time_limit=0.2)) < len(allot.policies())
    with pytest.raises(TimeoutError):
        allot.analyze(allot.generate(**MANY_STATES), "random", max_states=10**8, time_limit=0.2)


@pytest.mark.parametrize("policy", ["jsq", lambda state, task: state.scenario.homes[task]])
def test_progress_of_simulations(policy):
    shares = []
    who = set()

    def progress(share):
        shares.append(share)
        who.add(threading.current_thread())

    allot.simulate(allot.generate(), policy, completions=30_000, replications=5, progress=progress)
    assert shares == sorted(shares) and shares[-1] == 1.0 and shares[0] > 0
    assert who == {threading.current_thread()}
    allot.compare(allot.generate(), ["map", policy] if policy != "map" else ["map"], completions=1000, progress=progress)
    assert shares[-1] == 1.0


def test_progress_of_proofs():
    seen = []
    scenario = allot.generate(gps=12, sas=0, threads=288, rule="none", seed=5)
    answer = allot.certify(scenario, progress=lambda best, bound: seen.append((best, bound)))
    assert seen and seen[-1][0] <= answer.throughput and seen[-1][1] >= answer.throughput


SEARCHED = dict(gps=12, sas=0, threads=400, rule="none", priorities=True, seed=5)


@pytest.mark.parametrize(
    "work, shares",
    [
        (lambda progress: allot.solve(allot.generate(), progress=progress), False),
        (lambda progress: allot.solve(allot.generate(**SEARCHED), solver="local", progress=progress), False),
        (lambda progress: allot.solve(allot.generate(), solver="exhaustive", progress=progress), False),
        (lambda progress: allot.solve(allot.generate(**SEARCHED), "priority", progress=progress), False),
        (lambda progress: allot.certify(allot.generate(), progress=progress), False),
        (lambda progress: allot.pareto(allot.generate(priorities=True), progress=progress), True),
        (lambda progress: allot.pareto(allot.generate(**SEARCHED), progress=progress), True),
        (lambda progress: allot.whatif(allot.generate(), progress=progress), True),
        (lambda progress: allot.simulate(allot.generate(), "jsq", completions=1000, progress=progress), True),
        (lambda progress: allot.compare(allot.generate(), ["map", "jsq"], completions=1000, progress=progress), True),
    ],
)
def test_whatever_may_take_long_tells_how_far_it_is(work, shares):
    seen = []
    answer = work(lambda *told: seen.append(told))
    assert seen
    if shares:
        done = [share for (share,) in seen]
        assert done == sorted(done) and done[-1] == 1.0
    else:
        assert seen[-1][0] == answer.throughput and seen[-1][1] == answer.upper_bound


@pytest.mark.parametrize("policy", ["random", lambda state, task: state.scenario.homes[task]])
def test_progress_of_analyses(policy):
    seen = []
    exact = allot.analyze(allot.generate(threads=24), policy, progress=seen.append)
    assert seen and seen == sorted(seen) and seen[-1] == exact.states


def test_progress_is_a_sign_of_life():
    """A solver that has nothing new to say is heard all the same, and can be stopped."""
    heard = []

    def progress(best, bound):
        heard.append(best)
        if len(heard) == 5:
            raise Broken

    with pytest.raises(Broken):
        allot.certify(allot.generate(**LARGE), time_limit=None, progress=progress)
    assert len(heard) == 5


class Broken(Exception):
    pass


@pytest.mark.parametrize("policy", ["jsq", lambda state, task: state.scenario.homes[task]])
def test_exceptions_of_progress_functions_propagate(policy):
    calls = []

    def progress(share):
        calls.append(share)
        raise Broken

    with pytest.raises(Broken):
        allot.simulate(allot.generate(), policy, completions=10**12, progress=progress)
    assert len(calls) == 1


@pytest.mark.parametrize("policy", ["jsq", lambda state, task: state.scenario.homes[task]])
def test_other_threads_run_meanwhile(policy):
    with Ticking(0.01) as other:
        for _ in range(20):  # on a busy machine the other thread may be out of luck for a second
            other.ticks = 0
            allot.simulate(allot.generate(), policy, completions=10**10, time_limit=1.0)
            if other.ticks >= 5:
                break
        assert other.ticks >= 5


def test_several_threads_at_once():
    scenario = allot.generate(seed=6)
    expected = allot.simulate(scenario, "map", completions=2000).throughput.mean
    found = []

    def work():
        for _ in range(5):
            found.append(allot.simulate(scenario, "map", completions=2000).throughput.mean)
            found.append(allot.simulate(scenario, "map", completions=2000).throughput.mean if allot.solve(scenario) else 0)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [expected] * 40
