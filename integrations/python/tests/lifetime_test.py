"""The module at the end of the interpreter and after a fork: no abort, no hang, but an exception that says what to do."""
import os
import subprocess
import sys
import textwrap

import pytest


def outcome(program, timeout=60):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=timeout)
    return done.returncode, done.stdout, done.stderr


DAEMONS = {
    "simulate": "allot.simulate(scenario, 'jsq', completions=10**12)",
    "python policy": "allot.simulate(scenario, lambda state, task: state.scenario.homes[task], completions=10**12)",
    "progress": "allot.simulate(scenario, 'jsq', completions=10**12, progress=lambda share: None)",
    "certify": "allot.certify(allot.generate(gps=20, sas=0, threads=2000, rule='none', seed=5))",
    "many simulations": "[allot.simulate(scenario, 'map', completions=100) for _ in iter(int, 1)]",
    "many solutions": "[allot.solve(scenario) for _ in iter(int, 1)]",
    "tickets": "[dispatcher.complete(dispatcher.place(0)) for _ in iter(int, 1)]",
    "plans": "[dispatcher.solve(always=True) for _ in iter(int, 1)]",
    "doubt": "[dispatcher.doubt(1000) for _ in iter(int, 1)]",
    "new dispatchers": "[allot.Dispatcher(scenario) for _ in iter(int, 1)]",
}


@pytest.mark.parametrize("work", DAEMONS.values(), ids=DAEMONS.keys())
def test_a_daemon_thread_does_not_abort_the_interpreter_at_its_end(work):
    for _ in range(3):
        code, _, errors = outcome(f"""
            import threading, time, allot
            scenario = allot.generate()
            dispatcher = allot.Dispatcher(scenario)
            for _ in range(3):
                threading.Thread(target=lambda: {work}, daemon=True).start()
            time.sleep(0.15)
        """)
        assert code == 0, errors
        assert "Fatal" not in errors and "terminate" not in errors, errors


def test_dispatchers_that_are_left_do_no_harm():
    code, _, errors = outcome("""
        import allot, builtins
        builtins.kept = [allot.Dispatcher(allot.generate(seed=seed)) for seed in range(4)]
        import sys
        sys.modules["kept"] = builtins.kept
    """)
    assert code == 0, errors


def test_what_comes_later_is_told_what_to_do():
    code, out, errors = outcome("""
        import atexit, sys
        def late():
            for call in (lambda: allot.simulate(scenario, "jsq"), lambda: dispatcher.place(0), lambda: dispatcher.solve()):
                try:
                    call()
                    print("went on")
                except RuntimeError as error:
                    print("ending" in str(error) and "join" in str(error))
        atexit.register(late)  # before the module's own: called after it
        import allot
        scenario = allot.generate()
        dispatcher = allot.Dispatcher(scenario)
    """)
    assert code == 0 and out.split() == ["True"] * 3, out + errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_an_inherited_dispatcher_says_so():
    code, out, errors = outcome("""
        import os, allot
        dispatcher = allot.Dispatcher(allot.generate(), look_every=0.001)
        ticket = dispatcher.place(0)
        calls = [lambda: dispatcher.place(0), lambda: dispatcher.complete(ticket), lambda: dispatcher.plan(), lambda: dispatcher.solve(),
                 lambda: dispatcher.statistics(), lambda: dispatcher.estimates(), lambda: dispatcher.drain(0), lambda: dispatcher.doubt()]
        for _ in range(50):
            child = os.fork()
            if child == 0:
                for call in calls:
                    try:
                        call()
                        os._exit(1)
                    except RuntimeError as error:
                        if "make a new one" not in str(error):
                            os._exit(2)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        print("told")
    """)
    assert code == 0 and out.strip() == "told", errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_can_work_and_end_while_other_threads_of_the_parent_worked():
    code, out, errors = outcome("""
        import os, threading, allot
        scenario = allot.generate()
        stop = threading.Event()
        def work():
            while not stop.is_set():
                allot.simulate(scenario, "map", completions=2000)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        for _ in range(40):
            child = os.fork()
            if child == 0:
                good = allot.solve(scenario).throughput > 0
                good = good and allot.Dispatcher(scenario).place(0) is not None
                if _ % 2: os._exit(0 if good else 1)
                raise SystemExit(0 if good else 1)  # the interpreter's own way out
            assert os.waitpid(child, 0)[1] == 0
        stop.set()
        for thread in threads: thread.join()
        print("fine")
    """)
    assert code == 0 and out.strip() == "fine", errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_in_the_midst_of_a_call_does_not_hang():
    code, out, errors = outcome("""
        import os, allot
        child = None
        def progress(share):
            global child
            if child is None:
                child = os.fork()
                if child:
                    raise KeyboardInterrupt
        try:
            allot.simulate(allot.generate(), "jsq", completions=10**12, progress=progress)
            os._exit(1)
        except KeyboardInterrupt:
            print("fine" if os.waitpid(child, 0)[1] == 0 else "bad")
        except RuntimeError as error:
            os._exit(0 if "fork" in str(error) else 2)
    """)
    assert code == 0 and out.strip() == "fine", errors
