"""An executor: tasks are functions, which threads or processes run where the plan puts them."""
from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import os
import threading
import time
import weakref
from typing import Any, Callable, Dict, List, Literal, Mapping, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union, cast, get_args, overload

import numpy as np

from . import _native
from ._dispatch import _names
from ._errors import InvalidInput, did_you_mean
from ._inputs import ScenarioLike, scenario_of
from ._native import Plan, Scenario
from ._pool import ThreadPlace, _Pool, interrupt
from ._processes import ProcessPlace
from ._questions import ObjectiveName, PolicyName
from ._records import ExecutorStatistics, RateEstimates, total

Future = concurrent.futures.Future
_Function = TypeVar("_Function", bound=Callable[..., Any])

#: Functions without a mark get a kind each, by name, up to this number; further ones share one.
MOST_PLAIN_KINDS = 64
PLAIN = "other functions"
#: What ends the body of a `with` and all that runs. Under asyncio, Ctrl-C cancels the main task.
INTERRUPTS = (KeyboardInterrupt, asyncio.CancelledError)


class _Marks(NamedTuple):
    """What `allot.task` says of a function."""

    name: str
    functions: Mapping[str, Callable[..., Any]]
    fields: Mapping[str, Any]


@overload
def task(function: _Function, /) -> _Function: ...
@overload
def task(
    *,
    name: Optional[str] = ...,
    worth: float = ...,
    priority: Optional[float] = ...,
    needs: Optional[Mapping[str, Mapping[str, float]]] = ...,
    rates: Optional[Mapping[str, Optional[float]]] = ...,
    **functions: Union[Callable[..., Any], bool],
) -> Callable[[_Function], _Function]: ...
def task(
    function: Optional[_Function] = None,
    /,
    *,
    name: Optional[str] = None,
    worth: float = 1.0,
    priority: Optional[float] = None,
    needs: Optional[Mapping[str, Mapping[str, float]]] = None,
    rates: Optional[Mapping[str, Optional[float]]] = None,
    **functions: Union[Callable[..., Any], bool],
) -> Union[_Function, Callable[[_Function], _Function]]:
    """Marks a function as a kind of task: `executor.submit(function, ...)` runs it where the plan puts it.

    functions: the function for each resource, by the resource's name, or True for the marked function itself; without
    any, the marked function runs everywhere. Other options are as in `Executor.kind`. The function stays as it is.

    >>> import allot
    >>> def on_gpu(x):
    ...     return x * x
    >>> @allot.task(cpu=True, gpu=on_gpu, worth=10)
    ... def square(x):
    ...     return x * x
    >>> with allot.Executor(resources={"cpu": 2, "gpu": 1}) as executor:
    ...     list(executor.map(square, range(4)))
    [0, 1, 4, 9]
    """

    def mark(chosen: _Function) -> _Function:
        places = {place: chosen if given is True else given for place, given in functions.items() if given is not False}
        fields = {"worth": worth, "priority": priority, "needs": needs, "rates": rates}
        setattr(chosen, "allot_task", _Marks(name or chosen.__qualname__, cast(Any, places), fields))
        return chosen

    return mark if function is None else mark(function)


class Kind:
    """A kind of task of an executor: what `Executor.kind` returns and `Executor.submit` takes.

    >>> import allot
    >>> with allot.Executor(resources=["cpu"]) as executor:
    ...     double = executor.kind("double", cpu=lambda x: 2 * x)
    ...     double.submit(21).result()
    42
    """

    __slots__ = {
        "_name": "What it is called.",
        "_functions": "By resource; None: the function that is submitted.",
        "_said": "Worth, priority, needs and rates.",
        "_index": "In the feed; -1: it does not know it yet.",
        "_executor": "Whose it is.",
    }

    def __init__(
        self, executor: Executor, name: str, functions: Optional[Tuple[Any, ...]], fields: Mapping[str, Any]
    ) -> None:
        self._name = name
        self._functions = functions
        self._said = fields
        self._index = -1
        self._executor = executor

    @property
    def name(self) -> str:
        """The name of the kind."""
        return self._name

    def submit(self, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Like `Executor.submit` with this kind."""
        return self._executor.submit(self, *args, **kwargs)

    def __repr__(self) -> str:
        return f"Kind({self.name!r})"


class Executor(concurrent.futures.Executor):
    """Runs tasks of several kinds on threads or processes that belong to resources, where the plan puts them.

    It is a `concurrent.futures.Executor`. resources: names, or a dict of names and numbers of workers; or a scenario,
    which also has kinds, rates, worths and needs. A kind of task has a function for each resource that can run it. The
    executor learns their rates while tasks run.

    >>> import allot
    >>> with allot.Executor(resources={"cpu": 4, "gpu": 1}) as executor:
    ...     detect = executor.kind("detect", cpu=lambda x: ("cpu", x), gpu=lambda x: ("gpu", x), worth=10)
    ...     futures = [executor.submit(detect, k) for k in range(20)]
    ...     sorted(future.result()[1] for future in futures) == list(range(20))
    True
    >>> int(executor.statistics().completed.sum())
    20

    Functions without a kind run on the first resource. `submit`, `map`, `as_completed`, `wait` and `shutdown` are as in
    `concurrent.futures`; `asubmit` is for asyncio.

    policy: one of `allot.policies()`.
    objective: the objective of the policy 'planned'.
    capacities: what tasks need besides workers.
    processes: each worker has its own process. Functions, arguments and results are pickled. If a process dies, its task
        ends with `WorkerDied`, and the process is replaced.
    mp_context: how processes are started, 'forkserver' or 'spawn'.
    initializer: called with initargs once in each worker.
    exploration: the fraction of all time for trying pairs that the plan does not use.
    trace: how many of the latest tasks `trace()` returns.
    seed: random seed, for policies that draw random numbers.
    """

    def __init__(
        self,
        scenario: Optional[ScenarioLike] = None,
        *,
        resources: Union[Mapping[str, int], Sequence[str], None] = None,
        capacities: Optional[Mapping[str, Any]] = None,
        policy: PolicyName = "planned",
        objective: ObjectiveName = "throughput",
        processes: bool = False,
        mp_context: Literal["forkserver", "spawn"] = "forkserver",
        initializer: Optional[Callable[..., Any]] = None,
        initargs: Tuple[Any, ...] = (),
        exploration: float = 0.01,
        trace: int = 0,
        seed: int = 1,
    ) -> None:
        if scenario is not None and (resources is not None or capacities is not None):
            raise TypeError("a scenario has its resources and capacities; give no others")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        words = (("policy", policy, get_args(PolicyName)), ("objective", objective, get_args(ObjectiveName)))
        wrong = [
            (key, f"must be one of {', '.join(known)}, is {word!r}.{did_you_mean(word, known)}") for key, word, known in words if word not in known
        ]
        if wrong:
            raise InvalidInput(wrong)
        if mp_context not in ("forkserver", "spawn"):
            raise InvalidInput([("mp_context", f"must be 'forkserver' or 'spawn', is {mp_context!r}: threads do not survive a fork")])
        if isinstance(scenario, Mapping) and scenario and all(isinstance(number, int) for number in scenario.values()):
            raise InvalidInput([("scenario", f"is a dict of names and numbers; did you mean resources={dict(scenario)!r}?")])
        self._machine = None if scenario is None else scenario_of(scenario)
        if self._machine is not None:
            self.resources = self._machine.resources
            self._servers: Any = self._machine.servers
            self._capacities: Any = self._machine.capacities
        else:
            names, self._servers = _names("resources", {"cpu": len(os.sched_getaffinity(0))} if resources is None else resources)
            self.resources = tuple(names)
            self._capacities = capacities
        self._options = (policy, objective, exploration, 4 * MOST_PLAIN_KINDS, trace, seed)
        start: Callable[[], Any] = functools.partial(initializer or _nothing, *initargs)
        self._place_for: Callable[[str], Any] = functools.partial(ThreadPlace, start)
        if processes:
            self._place_for = functools.partial(ProcessPlace, mp_context, start)
        self._kinds: Dict[Any, Kind] = {}  # by itself, its name, and the marked function
        self._lock = threading.Lock()
        self._marking = threading.Lock()
        self._pool: Optional[_Pool] = None
        self._replaced: List[_Pool] = []  # their tasks still run
        self._past: List[ExecutorStatistics] = []  # of those whose tasks have ended
        self._began: Optional[float] = None  # if there were others: when the first task was submitted
        self._absent: List[str] = []  # resources without a worker at present
        self._drained: Dict[str, None] = {}  # by the user
        self._closed = False
        self._plain = Kind(self, PLAIN, None, {})
        self._plain_kinds: Dict[str, Kind] = {}
        if self._machine is None:  # reports errors at once
            self._system([self._plain])

    # ---- kinds

    def kind(
        self,
        name: str,
        /,
        *,
        worth: float = 1.0,
        priority: Optional[float] = None,
        needs: Optional[Mapping[str, Mapping[str, float]]] = None,
        rates: Optional[Mapping[str, Optional[float]]] = None,
        **functions: Callable[..., Any],
    ) -> Kind:
        """Adds a kind of task. functions: the function for each resource, by the resource's name.

        worth: the value of one completion. priority: the weight of its share, for policies and objectives with shares.
        needs: what a task needs of capacities while it runs, by resource. rates: tasks per second of one worker, if they
        are known. For a kind of the executor's scenario, give only the functions; it runs where it has one.

        >>> import allot
        >>> with allot.Executor(resources={"cpu": 2, "gpu": 1}, capacities={"memory": 8}) as executor:
        ...     train = executor.kind("train", gpu=lambda: "trained", needs={"gpu": {"memory": 6}}, worth=3)
        ...     executor.submit("train").result()
        'trained'
        """
        if not isinstance(name, str) or not name:
            raise InvalidInput([("name", f"must be a name, is {name!r}")])
        problems = []
        for place, function in functions.items():
            if place not in self.resources:
                meant = did_you_mean(place, ("worth", "priority", "needs", "rates"))
                problems.append((place, f"is not a resource of this executor.{meant} There are {', '.join(self.resources)}."))
            elif not callable(function):
                problems.append((place, f"must be a function, is {function!r}"))
        if not functions:
            problems.append(("functions", "must be given for at least one resource"))
        if problems:
            raise InvalidInput(problems)
        fields = {"worth": worth, "priority": priority, "needs": needs, "rates": rates}
        with self._lock:
            if name in self._kinds:
                raise InvalidInput([("name", f"there is a kind {name!r} already")])
            told = f"{name} (2)" if name in self._plain_kinds else name  # in reports
            kind = Kind(self, told, tuple(functions.get(place) for place in self.resources), fields)
            known = self._machine is not None and name in self._machine.tasks
            if known and fields != {"worth": 1.0, "priority": None, "needs": None, "rates": None}:
                raise InvalidInput([("name", f"the scenario says all of {name!r} but its functions")])
            if known and self._machine is not None:
                places = [place for place, rate in zip(self.resources, self._machine.rates[self._machine.tasks.index(name)]) if rate > 0]
                if not set(places) & set(functions):
                    raise InvalidInput([("functions", f"in the scenario, {name!r} runs on {', '.join(places)}")])
            self._add(kind)
            self._kinds[name] = self._kinds[kind] = kind
        return kind

    def _add(self, kind: Kind) -> None:
        """Makes it known to the feed, if there is one."""
        if self._machine is not None and kind.name in self._machine.tasks:
            kind._index = self._machine.tasks.index(kind.name)
            for name, function in zip(self.resources, kind._functions or ()):
                if function is None and self._pool is not None:
                    self._pool.feed.dispatcher.disable(kind.name, name)
        elif self._pool is not None:
            fields = {key: kind._said.get(key) for key in ("worth", "priority", "needs")}
            kind._index = self._pool.feed.add_kind(self._rates(kind), {"name": kind.name, "count": 1, **fields})
        else:  # reports errors at once
            self._system([kind])

    def _rates(self, kind: Kind) -> Dict[str, Optional[float]]:
        """Of the resources that can run it; None where nobody knows how fast."""
        if kind._functions is None:
            return {self.resources[0]: None}
        known = kind._said.get("rates") or {}
        return {name: known.get(name) for name, f in zip(self.resources, kind._functions) if f is not None}

    def _system(self, kinds: Sequence[Kind]) -> Scenario:
        rates = [[1.0 if name in self._rates(kind) else 0.0 for name in self.resources] for kind in kinds]
        priorities = [kind._said.get("priority") for kind in kinds]
        needs = {kind.name: kind._said["needs"] for kind in kinds if kind._said.get("needs")}
        return Scenario(
            rates, [1] * len(kinds), tasks=[kind.name for kind in kinds], resources=self.resources, servers=self._servers,
            worths=[kind._said.get("worth", 1.0) for kind in kinds],
            priorities=None if all(p is None for p in priorities) else priorities,
            needs=needs or None, capacities=self._capacities,
        )

    def _feed_of(self, machine: Scenario, kinds: Optional[Sequence[Kind]]) -> _native.Feed:
        if kinds is None:
            rates: Any = machine.rates
        else:
            rates = [[self._rates(kind).get(name, 0.0) for name in self.resources] for kind in kinds]
        return _native.Feed(machine, rates, *self._options)

    def _begun(self) -> _Pool:
        """Made when it is first needed, for all kinds that are known by then. Under the lock."""
        if self._pool is None:
            if self._machine is not None:
                machine, feed = self._machine, self._feed_of(self._machine, None)
                later = [kind for name, kind in self._kinds.items() if isinstance(name, str)]
            else:
                kinds = [kind for name, kind in self._kinds.items() if isinstance(name, str)] + list(self._plain_kinds.values())
                if self._plain._index >= 0 or not kinds:
                    kinds.append(self._plain)
                machine, later = self._system(kinds), []
                feed = self._feed_of(machine, kinds)
                for index, kind in enumerate(kinds):
                    kind._index = index
            self._pool = _Pool(feed, machine, self._place_for)
            weakref.finalize(self, feed.close).atexit = False
            for kind in later:
                self._add(kind)
            for place in {**dict.fromkeys(self._absent), **self._drained}:
                feed.dispatcher.drain(place)
        return self._pool

    def _pools(self) -> List[_Pool]:
        """All whose tasks may run."""
        return self._replaced + ([] if self._pool is None else [self._pool])

    def _resize(self, servers: Mapping[str, int]) -> None:
        """Other numbers of workers from now on; 0: none for the time being. What runs goes on where it is, what waits is
        taken over, and so are the rates that are known."""
        with self._lock:
            before = self._pool
            if self._closed or (before is not None and before.broken is not None):
                return
            self._servers = [max(1, servers[name]) for name in self.resources]
            self._absent = [name for name in self.resources if servers[name] == 0]
            if before is None:
                return
            known = before.feed.dispatcher.estimates()
            seen = before.feed.statistics()
            if self._began is None and seen.seconds > 0:
                self._began = time.monotonic() - seen.seconds
            kinds = {kind for kind in [*self._kinds.values(), *self._plain_kinds.values(), self._plain] if kind._index >= 0}
            for kind in kinds:
                row = known.tasks.index(kind._name)
                rates = {name: known.rate[row, j] for j, name in enumerate(known.resources) if known.known[row, j]}
                kind._said = {**kind._said, "rates": rates}
            self._pool = None
            try:
                pool = self._begun()
            except BaseException:
                self._pool = before
                raise
            indices = {kind._name: kind._index for kind in kinds}
            for work in before.feed.cancel_waiting():
                pool.feed.put(indices[work[4]], work)
            before.feed.close()
            self._replaced.append(before)
            ended = [other for other in self._replaced if other.ended]
            if ended:
                self._replaced = [other for other in self._replaced if other not in ended]
                self._past = [total([*self._past, *(other.feed.statistics() for other in ended)])]

    def _kind_of(self, fn: Any) -> Tuple[Kind, Optional[Tuple[Any, ...]]]:
        """Of what is no kind yet: a marked function, or any other. With its functions, if they are not those of the kind."""
        marks = getattr(fn, "allot_task", None)
        if marks is not None:
            functions = marks.functions or dict.fromkeys(self.resources, fn)
            there = {place: f for place, f in functions.items() if place in self.resources}
            if not there:
                raise InvalidInput([("fn", f"{marks.name!r} runs on none of {', '.join(self.resources)}")])
            with self._marking:
                kind = self._kinds.get(marks.name) or self.kind(marks.name, **marks.fields, **there)
            wanted = tuple(there.get(place) for place in self.resources)
            if kind._functions == wanted:
                self._kinds[fn] = kind
                return kind, None
            # Another function of the same name, for example one created anew for each call: the same kind of task.
            if [f is None for f in wanted] != [f is None for f in kind._functions or ()]:
                raise InvalidInput([("fn", f"there is a kind {marks.name!r} already, which runs on other resources")])
            return kind, wanted
        if isinstance(fn, str) and self._machine is not None and fn in self._machine.tasks:
            how = f"kind({fn!r}, {self.resources[0]}=...)"
            raise InvalidInput([("fn", f"{fn!r} has no function yet: give it one with {how}")])
        if isinstance(fn, str):
            names = [name for name in self._kinds if isinstance(name, str)]
            raise InvalidInput([("fn", f"there is no kind {fn!r}.{did_you_mean(fn, names)}")])
        if not callable(fn):
            raise InvalidInput([("fn", f"must be a kind, the name of one, or a function, is {fn!r}")])
        name = getattr(getattr(fn, "func", fn), "__qualname__", type(fn).__qualname__)
        with self._lock:
            kind = self._plain_kinds.get(name, self._plain)
            taken = name in self._kinds or (self._machine is not None and name in self._machine.tasks)
            if kind is self._plain and len(self._plain_kinds) < MOST_PLAIN_KINDS and not taken:
                kind = self._plain_kinds[name] = Kind(self, name, None, {})
            self._begun()
            if kind._index < 0:
                self._add(kind)
        return kind, None

    # ---- tasks

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submits a task with these arguments and returns its future. fn: a kind, its name, a function marked by
        `allot.task`, or any other function, which runs on the first resource.

        >>> import allot
        >>> with allot.Executor(resources=["cpu"]) as executor:
        ...     executor.submit(pow, 2, 10).result()
        1024
        """
        functions = None
        try:
            kind = self._kinds.get(fn)
            if kind is None and not hasattr(fn, "allot_task"):
                kind = self._plain_kinds.get(fn.__qualname__)
        except (TypeError, AttributeError):
            kind = None
        if kind is None:
            kind, functions = self._kind_of(fn)
        future: Future[Any] = Future()
        functions = functions or kind._functions or (fn,)
        with self._lock:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            pool = self._pool or self._begun()
            if pool.broken is not None:
                raise concurrent.futures.BrokenExecutor(pool.broken)
            pool.feed.put(kind._index, (future, functions, args, kwargs, kind._name))
        return future

    def asubmit(self, fn: Any, /, *args: Any, **kwargs: Any) -> asyncio.Future[Any]:
        """Like `submit`, for `await` in the running event loop. Cancelling it cancels the task if it still waits.

        >>> import allot, asyncio
        >>> async def main(executor):
        ...     return await executor.asubmit(pow, 2, 10)
        >>> with allot.Executor(resources=["cpu"]) as executor:
        ...     asyncio.run(main(executor))
        1024
        """
        return asyncio.wrap_future(self.submit(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stops accepting tasks. Waiting tasks are run, or cancelled with cancel_futures. wait: return when all have ended."""
        with self._lock:
            self._closed = True
            pools = self._pools()
        for pool in pools:
            if cancel_futures:
                pool.cancel()
            pool.feed.close()
        for pool in pools if wait else ():
            pool.join()

    def __exit__(self, kind: Any, *_: Any) -> Optional[bool]:
        try:
            if kind is not None and issubclass(kind, INTERRUPTS):
                self._interrupt()
            self.shutdown(wait=True)
        except BaseException:  # Ctrl-C while it waits
            self._interrupt()
            raise
        return None

    def _interrupt(self) -> None:
        self.shutdown(wait=False, cancel_futures=True)
        interrupt(self._pools())

    # ---- reports

    def _running(self) -> _Pool:
        with self._lock:
            return self._begun()

    def statistics(self) -> ExecutorStatistics:
        """How many tasks of each kind have run on each resource, how many wait, and how long workers were busy."""
        with self._lock:
            pools = [*self._replaced, self._begun()]
            seen = total([*self._past, *(pool.feed.statistics() for pool in pools)])
        return seen if self._began is None else seen._replace(seconds=time.monotonic() - self._began)

    def plan(self) -> Plan:
        """The latest plan."""
        return self._running().feed.dispatcher.plan()

    def estimates(self) -> RateEstimates:
        """How fast each kind is on each resource, as far as known."""
        return self._running().feed.dispatcher.estimates()

    def drain(self, resource: Union[str, int]) -> None:
        """Starts no new tasks on the resource until `restore`."""
        with self._lock:
            self._begun().feed.dispatcher.drain(resource)
            self._drained[self._name_of(resource)] = None

    def restore(self, resource: Union[str, int]) -> None:
        """The resource takes tasks again."""
        with self._lock:
            dispatcher = self._begun().feed.dispatcher
            dispatcher.restore(resource)
            self._drained.pop(self._name_of(resource), None)
            for place in self._absent:
                dispatcher.drain(place)

    def _name_of(self, resource: Union[str, int]) -> str:
        return resource if isinstance(resource, str) else self.resources[resource]

    def metrics(self) -> str:
        """The numbers as OpenMetrics text, for Prometheus."""
        return self._running().feed.metrics()

    def trace(self) -> str:
        """The latest tasks as JSON for ui.perfetto.dev, where `trace` says how many are kept."""
        return self._running().feed.trace()

    def __repr__(self) -> str:
        state = "closed" if self._closed else "idle" if self._pool is None else "running"
        return f"Executor({', '.join(self.resources)}; {state})"


def _nothing(*_: Any) -> None:
    """Where no initializer is given."""


# Users find them in the package.
for _class in (Executor, Kind):
    _class.__module__ = "allot"
