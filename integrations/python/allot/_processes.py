"""A process that runs tasks for a thread: one after the other, and replaced when it dies."""
from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import threading
import traceback
from multiprocessing.reduction import ForkingPickler
from typing import Any, Callable, Optional, Tuple

_starting = threading.Lock()

#: Seconds between two looks whether a process that does not answer is still there.
LOOK = 1.0


class WorkerDied(RuntimeError):
    """The process that ran a task has died; another one takes its place. exitcode: as in multiprocessing, -N for a
    signal.

    >>> import allot, os
    >>> with allot.Executor(resources=["cpu"], processes=True) as executor:
    ...     try:
    ...         executor.submit(os._exit, 3).result()
    ...     except allot.WorkerDied as died:
    ...         print(died.exitcode)
    3
    """

    def __init__(self, message: str, exitcode: Optional[int] = None) -> None:
        super().__init__(message)
        self.exitcode = exitcode


class RemoteTraceback(Exception):
    """Where an exception was raised in another process: the cause of that exception."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", function))


def _pickled(value: Any, what: str) -> bytes:
    try:
        return bytes(ForkingPickler.dumps(value))
    except Exception as error:
        raise pickle.PicklingError(f"{what} cannot be pickled, which processes=True needs: {error}") from error


def _answer(call: bytes) -> bytes:
    try:
        function, args, kwargs = pickle.loads(call)
        return _pickled((True, function(*args, **kwargs)), f"the result of {_name(function)}")
    except BaseException as error:
        text = traceback.format_exc()
        try:
            answer = _pickled((False, (error, text)), "an exception")
            pickle.loads(answer)  # some objects can be pickled but not unpickled
            return answer
        except Exception:
            return _pickled((False, (RuntimeError(f"{type(error).__name__}: {error}"), text)), "an exception")


def _main(connection: Any, start: bytes) -> None:
    """The life of the process. It ends with its parent, whose end of the pipe is closed then."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    os.register_at_fork(after_in_child=connection.close)  # its end of the pipe is the end of this process
    begun = _answer(start)
    try:
        connection.send_bytes(begun)
        while True:
            connection.send_bytes(_answer(connection.recv_bytes()))
    except (EOFError, OSError):
        pass


class ProcessPlace:
    """A process for one worker. Not thread-safe, but for `kill`."""

    def __init__(self, context: str, start: Callable[[], Any], resource: str) -> None:
        self._context: Any = multiprocessing.get_context(context)
        self._start = start
        self._resource = resource
        self._is_killed = False
        self._connection: Any = None
        self._process: Any = None
        self.lost = False  # the process has died; `start` replaces it

    def start(self) -> None:
        """Starts a process, or another one. Raises what the initializer raises."""
        self.lost = False
        work = _pickled((self._start, (), {}), "the initializer")
        with _starting:
            if self._connection is not None:
                self._connection.close()
            self._connection, other = self._context.Pipe()
            process = self._context.Process(target=_main, args=(other, work), name=f"allot-{self._resource}")
            process.start()
            self._process = process
            other.close()
        if self._is_killed:
            process.kill()
        self._result("the initializer")

    def _result(self, what: str) -> Any:
        # A process that the process has forked may hold its end of the pipe, so the process is looked at, too.
        while not multiprocessing.connection.wait([self._connection, self._process.sentinel], LOOK):
            if self._process.exitcode is not None:
                break
        try:
            if not self._connection.poll():
                raise EOFError
            ok, value = pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            self._process.join()
            self.lost = True
            code = self._process.exitcode
            how = f"exit code {code}" if code is None or code >= 0 else signal.Signals(-code).name
            raise WorkerDied(f"the process that ran {what} on {self._resource!r} died ({how})", code) from None
        if ok:
            return value
        error, text = value
        raise error from RemoteTraceback(text)

    def call(self, function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Any) -> Any:
        what = _name(function)
        work = _pickled((function, args, kwargs), f"the function or an argument of {what}")
        try:
            self._connection.send_bytes(work)
        except OSError:
            pass  # the process has died; the missing answer shows it
        return self._result(what)

    def kill(self, hard: bool = False) -> None:
        """Ends the process; hard: even if it ignores SIGTERM."""
        self._is_killed = True
        if self._process is not None:
            (self._process.kill if hard else self._process.terminate)()

    def close(self) -> None:
        if self._process is not None:
            self._connection.close()
            self._process.join()


WorkerDied.__module__ = "allot"
