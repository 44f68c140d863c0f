"""An executor on Dask workers: allot decides which task runs on which kind of worker, and when; Dask moves it there.

    import allot.dask, distributed
    client = distributed.Client("tcp://...")          # workers started with --resources "CPU=1" or "GPU=1"
    with allot.dask.Executor(client, resources={"cpu": "CPU", "gpu": "GPU"}) as executor:
        decode = executor.kind("decode", cpu=decode_on_cpu, gpu=decode_on_gpu)
        futures = [executor.submit(decode, path) for path in paths]

The guide is docs/guides/dask.md in the source tree.
"""
from __future__ import annotations

import importlib
import logging
import threading
import uuid
import weakref
from typing import Any, Callable, Dict, Mapping, Tuple

from . import _executor
from ._errors import InvalidInput
from ._processes import WorkerDied

_log = logging.getLogger("allot")

#: Seconds between two checks of the cluster's workers.
LOOK = 0.5


class _Membership:
    """How many tasks of each tag the cluster's workers take at once."""

    def __init__(self, client: Any, tags: Mapping[str, str]) -> None:
        self.client = client
        self.tags = dict(tags)
        self.servers: Dict[str, int] = {}
        self.look()

    def look(self) -> Dict[str, int]:
        workers = self.client.scheduler_info()["workers"].values()
        self.servers = {
            name: int(sum(worker.get("resources", {}).get(tag, 0) for worker in workers)) for name, tag in self.tags.items()
        }
        return self.servers


class _DaskPlace:
    """Runs functions on any of Dask's workers that has the tag, and waits for each."""

    lost = False

    def __init__(self, members: _Membership, resource: str) -> None:
        self._members = members
        self._resource = resource
        self._killed = threading.Event()

    def call(self, function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Any) -> Any:
        distributed: Any = importlib.import_module("distributed")
        tag = self._members.tags[self._resource]
        # Dask's `submit` would take some keywords of the function for itself, such as `key` and `priority`.
        dask: Any = importlib.import_module("dask.utils")
        key = f"{dask.funcname(function)}-{uuid.uuid4()}"
        sent = self._members.client.submit(dask.apply, function, list(args), kwargs, key=key, resources={tag: 1}, pure=False)
        try:
            while True:
                try:
                    distributed.wait(sent, timeout=LOOK)
                    return sent.result()
                except distributed.TimeoutError:
                    if self._killed.is_set():
                        raise WorkerDied("the executor was interrupted") from None
                    if self._members.servers[self._resource] == 0:
                        raise WorkerDied(f"no worker with {tag!r} is left") from None
        finally:
            sent.release()

    def start(self) -> None:
        pass

    def kill(self, hard: bool = False) -> None:
        self._killed.set()

    def close(self) -> None:
        pass


class Executor(_executor.Executor):
    """Like `allot.Executor`, with Dask workers instead of threads.

    client: a `distributed.Client`. resources: for each resource, the tag with which its workers were started
    (`dask worker --resources "GPU=1"`). The servers of a resource are the sum of the tags of its workers, which may
    join and leave. Dask pickles functions, arguments and results. All other options are those of `allot.Executor`.
    """

    def __init__(self, client: Any, resources: Mapping[str, str], **options: Any) -> None:
        if not isinstance(resources, Mapping) or not resources:
            raise InvalidInput([("resources", f"must be a dict of names and tags, is {resources!r}")])
        for word in ("processes", "mp_context", "initializer", "initargs"):
            if word in options:
                raise TypeError(f"Dask starts the workers: {word!r} is not for this executor")
        members = _Membership(client, resources)
        if not any(members.servers.values()):
            raise InvalidInput([("resources", f"no worker has any of the tags {', '.join(resources.values())}")])
        super().__init__(resources={name: max(1, count) for name, count in members.servers.items()}, **options)
        self._place_for = lambda name: _DaskPlace(members, name)
        self._over = threading.Event()
        watch = threading.Thread(target=_watch, args=(weakref.ref(self), members, self._over), daemon=True, name="allot-dask")
        self._resize(members.servers)
        watch.start()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As in `allot.Executor`. The client and its workers stay."""
        self._over.set()
        super().shutdown(wait, cancel_futures=cancel_futures)


def _watch(executor: Any, members: _Membership, over: threading.Event) -> None:
    """Tells the executor of workers that join and leave."""
    before = dict(members.servers)
    while not over.wait(LOOK):
        try:
            now = members.look()
        except Exception:  # the scheduler is away, or the client closed: Dask reports it to waiting callers
            continue
        alive = executor()
        if alive is None:
            return
        try:
            if now != before:
                alive._resize(now)
                before = dict(now)
        except Exception:
            _log.exception("the new workers are not used yet")
        del alive
