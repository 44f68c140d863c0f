"""The threads of an executor: each is a server that runs what the feed hands it."""
from __future__ import annotations

import concurrent.futures
import functools
import logging
import math
import sys
import threading
import time
import weakref
from typing import Any, Callable, Iterable, List, Optional

from . import _native
from ._native import Scenario

Future = concurrent.futures.Future
_log = logging.getLogger("allot")

#: Seconds that an interrupted process gets to end by SIGTERM before SIGKILL.
GRACE = 2.0


class ThreadPlace:
    """Where a worker's functions run: here in its own thread. Others run them in a process, or on Dask."""

    call: Optional[Callable[..., Any]] = None  # None: the worker calls the functions itself
    lost = False  # nothing runs functions there until `start` is called again

    def __init__(self, start: Callable[[], Any], _: str) -> None:
        self.start = start  # makes it ready

    def kill(self, hard: bool = False) -> None:
        """Ends what runs there, if that is possible."""

    def close(self) -> None:
        """Nothing runs there any more."""


class _Worker(threading.Thread):
    """Its `over` says that it has ended: after a join that Ctrl-C has interrupted, `is_alive` does not."""

    def __init__(self, name: str, target: Callable[..., Any], *args: Any) -> None:
        super().__init__(target=target, args=args, name=name)
        self.over = threading.Event()

    def run(self) -> None:
        try:
            super().run()
        finally:
            self.over.set()


class _Pool:
    """What the threads of an executor hold: no executor, so that one which is forgotten ends."""

    def __init__(self, feed: _native.Feed, machine: Scenario, place_for: Callable[[str], Any]) -> None:
        self.feed = feed
        self.broken: Optional[str] = None
        self.killed = False
        self.place_for = place_for  # by the name of a resource: a new ThreadPlace, or similar
        self.places: List[Any] = []
        self.threads: List[_Worker] = []
        server = 0
        for place, (name, servers) in enumerate(zip(machine.resources, machine.servers)):
            for number in range(int(servers)):
                self.threads.append(_Worker(f"allot-{name}-{number}", self.serve, server, place, name))
                server += 1
        _pools.add(self)
        for thread in self.threads:
            thread.start()

    def serve(self, server: int, place: int, name: str) -> None:
        worker = self.place_for(name)
        self.places.append(worker)  # before its initializer runs, which may have to be ended
        self.start(worker, name)
        _serve(self.feed, server, place, worker.call and functools.partial(self.call, worker, name), self)
        worker.close()

    def start(self, worker: Any, name: str) -> None:
        try:
            if not self.killed:
                worker.start()
        except BaseException as error:
            self.give_up(f"the initializer of a worker of {name!r} raised {error!r}")

    def call(self, worker: Any, name: str, *work: Any) -> Any:
        try:
            return worker.call(*work)
        finally:
            if worker.lost:
                self.start(worker, name)

    def give_up(self, why: str) -> None:
        self.broken = self.broken or why
        for work in self.feed.cancel_waiting():
            _fail(work[0], concurrent.futures.BrokenExecutor(why))

    def cancel(self) -> None:
        for work in self.feed.cancel_waiting():
            if work[0].cancel():
                work[0].set_running_or_notify_cancel()

    def join(self, until: float = math.inf) -> None:
        for thread in self.threads:
            if thread is not threading.current_thread():
                if thread.over.wait(None if until == math.inf else max(0.0, until - time.monotonic())):
                    thread.join()

    @property
    def ended(self) -> bool:
        return all(thread.over.is_set() for thread in self.threads)


def interrupt(pools: Iterable[_Pool]) -> None:
    """Nothing begins any more. What waits is cancelled. What runs in processes is ended, what runs in threads cannot be."""
    pools = [pool for pool in pools if not pool.ended]
    for pool in pools:
        pool.killed = True
        pool.broken = "the executor was interrupted"
        pool.cancel()
        pool.feed.close()
    places = [place for pool in pools for place in list(pool.places) if place.call is not None]
    for place in places:
        place.kill()
    try:
        until = time.monotonic() + GRACE
        for pool in pools if places else ():
            pool.join(until)
    finally:
        for place in places:
            place.kill(hard=True)


def _fail(future: Future[Any], error: BaseException) -> None:
    if future.set_running_or_notify_cancel():
        future.set_exception(error)


def _serve(
    feed: _native.Feed, server: int, place: int, call: Optional[Callable[..., Any]], pool: _Pool, clock: Any = time.perf_counter
) -> None:
    """The life of a server: runs what the feed hands it. The end of a task is told when its callbacks have run, since
    nothing else is to be handed to this thread before."""
    following = feed.next
    seconds, failed = math.nan, False
    while True:
        work = following(server, seconds, failed)
        if work is None:
            return
        future, functions, args, kwargs, _ = work
        del work
        seconds, failed = math.nan, False
        try:
            if not future.set_running_or_notify_cancel():
                continue
            began = clock()
            try:
                if pool.broken is not None:
                    raise concurrent.futures.BrokenExecutor(pool.broken)
                if call is None:
                    result = functions[place](*args, **kwargs)
                else:
                    result = call(functions[place], args, kwargs)
            except BaseException as error:
                seconds, failed = clock() - began, True
                future.set_exception(error)
            else:
                seconds = clock() - began
                future.set_result(result)
                del result
        except BaseException:  # other code has set the future
            _log.critical("the future of a task could not be set", exc_info=True)
        finally:
            # A traceback holds this frame, so the frame must not hold the future that has the exception.
            del future, functions, args, kwargs, _


_pools: weakref.WeakSet[_Pool] = weakref.WeakSet()


def _at_exit() -> None:
    """As other executors: what was submitted is done, unless Ctrl-C ends the program."""
    pools = list(_pools)
    if issubclass(getattr(sys, "last_type", None) or Exception, KeyboardInterrupt):
        interrupt(pools)
    for pool in pools:
        pool.feed.close()
    for pool in pools:
        pool.join()


# Called before Python waits for threads, which is before atexit functions are called.
getattr(threading, "_register_atexit")(_at_exit)
