"""The executor on processes, and at the end of the program: interrupts, exits and forks."""
import concurrent.futures
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import traceback

import pytest

import allot


def where_am_i(*_):
    return os.getpid()


def dies(how):
    if how == "abort":
        os.abort()
    os._exit(how)


def fails(text):
    raise ValueError(text)


class Unreadable(Exception):
    def __init__(self, a, b):
        super().__init__(a)


def raises_unreadable():
    raise Unreadable(1, 2)


MARK = []


def mark(value):
    MARK.append(value)


def marks():
    return MARK


def test_processes():
    with allot.Executor(resources={"cpu": 2}, processes=True, initializer=mark, initargs=(5,)) as executor:
        pids = {executor.submit(where_am_i).result(60) for _ in range(30)}
        assert os.getpid() not in pids and 1 <= len(pids) <= 2
        assert executor.submit(marks).result(60) == [5] and MARK == []
        with pytest.raises(ValueError, match="wrong") as raised:
            executor.submit(fails, "wrong").result(60)
        assert 'raise ValueError(text)' in "".join(traceback.format_exception(raised.value))
        with pytest.raises(pickle.PicklingError, match="processes=True"):
            executor.submit(lambda: 1).result(60)
        with pytest.raises(pickle.PicklingError, match="the result of"):
            executor.submit(open, os.devnull).result(60)
        with pytest.raises(RuntimeError, match="Unreadable"):
            executor.submit(raises_unreadable).result(60)
        for how, code in ((3, 3), ("abort", -signal.SIGABRT)):
            with pytest.raises(allot.WorkerDied) as died:
                executor.submit(dies, how).result(60)
            assert died.value.exitcode == code
        others = [executor.submit(where_am_i) for _ in range(20)]
        assert all(f.result(60) for f in others)
        left = executor._pool.places
    assert not any(place._process.is_alive() for place in left)


def forks_and_dies():
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
    os.kill(os.getpid(), signal.SIGSEGV)


@pytest.mark.parametrize("context", ["forkserver", "spawn"])
def test_a_process_that_dies_is_noticed_while_a_child_of_it_lives(context):
    with allot.Executor(resources={"cpu": 1}, processes=True, mp_context=context) as executor:
        executor.submit(where_am_i).result(60)
        began = time.monotonic()
        with pytest.raises(allot.WorkerDied, match="SIGSEGV"):
            executor.submit(forks_and_dies).result(60)
        assert time.monotonic() - began < 25
        assert executor.submit(where_am_i).result(60)


def starts_once(path):
    with open(path, "x"):
        pass


def test_a_process_that_cannot_start_again_breaks_the_executor(tmp_path):
    with allot.Executor(resources={"cpu": 1}, processes=True, initializer=starts_once, initargs=(tmp_path / "once",)) as executor:
        assert executor.submit(where_am_i).result(60)
        with pytest.raises(allot.WorkerDied):
            executor.submit(dies, 3).result(60)
        for _ in range(2):
            with pytest.raises(concurrent.futures.BrokenExecutor, match="initializer .* FileExistsError"):
                executor.submit(where_am_i).result(60)


# ---- ends


def run_program(text, *, expect=0, patience=120, interrupt=None):
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        if interrupt is not None:
            assert program.stdout.readline() == "ready\n"
            program.send_signal(interrupt)
        out, err = program.communicate(timeout=patience)
    finally:
        program.kill()
    assert program.returncode == expect, (program.returncode, out, err)
    return out, err


def test_the_interpreter_may_end_at_any_time():
    """Without shutdown, what was submitted is done; with threads that go on submitting, nothing hangs or aborts."""
    out, err = run_program("""
        import allot, time
        executor = allot.Executor(resources={"cpu": 2, "gpu": 1})
        kind = executor.kind("a", cpu=lambda: print("ran", flush=True), gpu=lambda: print("ran", flush=True))
        for _ in range(10): kind.submit()
    """)
    assert out.count("ran") == 10 and err == ""
    _, err = run_program("""
        import allot, threading, time
        executor = allot.Executor(resources={"cpu": 2})
        def again(_=None):
            try: executor.submit(abs, 1).add_done_callback(again)
            except RuntimeError: pass
        for _ in range(4): again()
        def more():
            while True:
                try: executor.submit(time.sleep, 0.0001)
                except RuntimeError: return
        for _ in range(2): threading.Thread(target=more, daemon=True).start()
        time.sleep(0.2)
        executor.shutdown(wait=False, cancel_futures=True)
    """)
    assert "Fatal" not in err and "terminate" not in err
    _, err = run_program("""
        import allot, sys, time
        executor = allot.Executor(resources={"cpu": 2})
        executor.submit(time.sleep, 0.1)
        sys.exit(7)
    """, expect=7)
    assert err == ""


@pytest.mark.parametrize("processes", [False, True])
def test_ctrl_c_ends_it(processes):
    """What waits is cancelled; processes are ended at once, threads when their task ends."""
    _, err = run_program(f"""
        import allot, time
        with allot.Executor(resources={{"cpu": 2}}, processes={processes}) as executor:
            futures = [executor.submit(time.sleep, {60 if processes else 0.5}) for _ in range(1000)]
            while not any(f.running() for f in futures): time.sleep(0.01)
            print("ready", flush=True)
            futures[-1].result()
    """, expect=-signal.SIGINT, interrupt=signal.SIGINT, patience=50)
    assert "KeyboardInterrupt" in err and "Fatal" not in err


@pytest.mark.parametrize(
    "options, task",
    [
        ("processes=True", 'executor.submit(time.sleep, 100)'),
        ("processes=True, initializer=time.sleep, initargs=(100,)", "None"),
        ("processes=True, initializer=signal.signal, initargs=(signal.SIGTERM, signal.SIG_IGN)", 'executor.submit(time.sleep, 100)'),
        ("", '[executor.submit(time.sleep, 0.5) for _ in range(1000)][0]'),
    ],
    ids=["task", "initializer", "no SIGTERM", "threads"],
)
def test_ctrl_c_at_the_end_of_with(options, task):
    """While `with` waits for its tasks, or its workers begin: the program ends with the status that it wants."""
    out, err = run_program(f"""
        import allot, signal, sys, threading, time
        try:
            with allot.Executor(resources={{"cpu": 1}}, {options}) as executor:
                first = {task}
                while first is not None and not first.running(): time.sleep(0.01)
                executor.submit(time.sleep, 100)
                def ready():
                    time.sleep(1.5)
                    print("ready", flush=True)
                threading.Thread(target=ready).start()
        except KeyboardInterrupt:
            sys.exit(130)
    """, expect=130, interrupt=signal.SIGINT, patience=50)
    assert err == ""


def test_sys_exit_and_cancelled_coroutines():
    """As in concurrent.futures, sys.exit waits. Ctrl-C cancels the main task of asyncio, and so what waits in `with`."""
    out, _ = run_program("""
        import allot, sys, time
        with allot.Executor(resources={"cpu": 1}) as executor:
            for k in range(5): executor.submit(lambda: (time.sleep(0.05), print("ran", flush=True)))
            sys.exit(3)
    """, expect=3)
    assert out.count("ran") == 5
    run_program("""
        import allot, asyncio, time
        async def main():
            with allot.Executor(resources={"cpu": 1}, processes=True) as executor:
                futures = [executor.asubmit(time.sleep, 100) for _ in range(3)]
                while executor.statistics().running.sum() == 0: await asyncio.sleep(0.01)
                print("ready", flush=True)
                await asyncio.gather(*futures)
        asyncio.run(main())
    """, expect=-signal.SIGINT, interrupt=signal.SIGINT, patience=50)


def test_a_fork_is_told():
    out, err = run_program("""
        import allot, os
        executor = allot.Executor(resources={"cpu": 1})
        executor.submit(len, "").result()
        child = os.fork()
        if child == 0:
            try: executor._pool.feed.put(0, None)
            except RuntimeError as error: print(error, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
    """)
    assert "fork" in out, err
