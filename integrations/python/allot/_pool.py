"""The threads of an executor: each is a server that runs what the feed hands it."""
from __future__ import annotations

import concurrent.futures
import logging
import math
import sys
import threading
import time
import weakref
from typing import Any, Callable, List, Optional

from . import _native
from ._native import Scenario

Future = concurrent.futures.Future
_log = logging.getLogger("allot")


class _Pool:
    """What the threads of an executor hold: no executor, so that one which is forgotten ends."""

    def __init__(self, feed: _native.Feed, machine: Scenario, place_for: Callable[[str], Any]) -> None:
        self.feed = feed
        self.broken: Optional[str] = None
        self.killed = False
        self.place_for = place_for  # returns the object that calls the functions for a worker; None: its
                                    # thread calls them
        self.places: List[Any] = []
        self.threads: List[threading.Thread] = []
        server = 0
        for place, (name, servers) in enumerate(zip(machine.resources, machine.servers)):
            for number in range(int(servers)):
                self.threads.append(
                    threading.Thread(target=self.serve, args=(server, place, name), name=f"allot-{name}-{number}")
                )
                server += 1
        _pools.add(self)
        for thread in self.threads:
            thread.start()

    def serve(self, server: int, place: int, name: str) -> None:
        worker = None
        try:
            worker = self.place_for(name)
            if worker is not None:
                self.places.append(worker)
                if self.killed:
                    worker.kill()
        except BaseException as error:
            self.give_up(f"the initializer of a worker of {name!r} raised {error!r}")
        _serve(self.feed, server, place, None if worker is None else worker.call, self)
        if worker is not None:
            worker.close()

    def give_up(self, why: str) -> None:
        self.broken = why
        for work in self.feed.cancel_waiting():
            _fail(work[0], concurrent.futures.BrokenExecutor(why))

    def cancel(self) -> None:
        for work in self.feed.cancel_waiting():
            if work[0].cancel():
                work[0].set_running_or_notify_cancel()

    def kill(self) -> None:
        """What runs in processes ends now; what runs in threads cannot be ended. Nothing begins any more."""
        self.killed = True
        self.broken = "the executor was interrupted"
        for place in self.places:
            place.kill()

    def join(self) -> None:
        for thread in self.threads:
            if thread is not threading.current_thread():
                thread.join()


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
    interrupted = issubclass(getattr(sys, "last_type", None) or Exception, KeyboardInterrupt)
    pools = list(_pools)
    for pool in pools:
        if interrupted:
            pool.cancel()
            pool.kill()
        pool.feed.close()
    for pool in pools:
        pool.join()


# Called before Python waits for threads, which is before atexit functions are called.
getattr(threading, "_register_atexit")(_at_exit)
