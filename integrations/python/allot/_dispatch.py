"""Live scheduling: the native dispatcher with a Python interface."""
from __future__ import annotations

import functools
import threading
from typing import Any, List, Literal, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy as np

from . import _native
from ._errors import InvalidInput, Unavailable
from ._inputs import ScenarioLike, scenario_of
from ._native import Scenario, Ticket
from ._questions import PolicyFunction, PolicyName

#: How fast one type is on each resource: a sequence, with NaN or None for an unknown rate and 0 where it cannot run; or
#: by name (a mapping or a pandas Series), without resources where it cannot run. None: all unknown.
RatesLike = Any


def _names(option: str, values: Union[Mapping[str, int], Sequence[str]]) -> Tuple[List[str], List[Any]]:
    """Names, and a number for each: as a mapping has them, or a pandas Series with names as its index; or 1."""
    if isinstance(values, Mapping):
        return list(values), list(values.values())
    if hasattr(values, "items") and hasattr(values, "index"):
        labels, numbers = list(getattr(values, "index")), list(getattr(values, "array"))
        if all(isinstance(label, str) for label in labels):
            return labels, numbers
        if not all(isinstance(number, str) for number in numbers):
            raise InvalidInput([(option, f"a Series must have names as its index or its values, has the index {labels!r}")])
        return numbers, [1] * len(numbers)
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InvalidInput([(option, f"must be a list or a dict of names, is {values!r}")])
    names = list(values)
    return names, [1] * len(names)


class _Task:
    """Places a task on entry and gives its ticket back on exit. It holds one task at a time."""

    __slots__ = ("_dispatcher", "_task", "_resource", "_ticket", "_free")

    def __init__(self, dispatcher: _native.Dispatcher, task: Union[str, int], resource: Union[str, int, None]) -> None:
        self._dispatcher = dispatcher
        self._task = task
        self._resource = resource
        self._free = [True]  # taken by a pop, which is atomic

    def __enter__(self) -> Ticket:
        try:
            self._free.pop()
        except IndexError:
            raise InvalidInput([("task", "this context is in use; call `task` for each task")]) from None
        ticket: Optional[Ticket] = None
        try:
            if self._resource is not None:
                ticket = self._dispatcher.place_at(self._task, self._resource)
            else:
                ticket = self._dispatcher.place(self._task)
        finally:
            if ticket is None:
                self._free.append(True)
        if ticket is None:
            raise Unavailable(f"nothing that could run {self._task!r} is available")
        self._ticket = ticket
        return ticket

    def __exit__(self, kind: Optional[Type[BaseException]], *_: Any) -> None:
        ticket = self._ticket
        self._free.append(True)
        if ticket.open:
            self._dispatcher.complete(ticket, None, kind is None)


class Dispatcher(_native.Dispatcher):
    """Places tasks that really run, learns the rates from their completions, and plans in the background.

    It is made from a scenario, or from resources (names, or a dict of names and servers) and tasks (names of the types,
    or a dict of names and numbers of tasks in flight). Nothing else need be known:

    >>> import allot
    >>> dispatcher = allot.Dispatcher(resources={"cpu": 2, "gpu": 1}, tasks={"decode": 6, "fft": 4})
    >>> with dispatcher.task("decode") as ticket:
    ...     place = ticket.resource  # run it there
    >>> place in dispatcher.resources
    True
    >>> dispatcher.statistics().ended
    1

    rates: known rates, as a matrix, a pandas frame or a dict of dicts, in tasks per second of one server. 0 (or absent): the
    type cannot run there; NaN (or None): it can, but the rate is unknown. None: the rates of the scenario; without a
    scenario, all are unknown. worth: how many completions a given rate counts for; 0: it only says that the type can run
    there.

    >>> known = allot.Dispatcher(allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4]), background=False)
    >>> known.plan().target
    array([[1, 3],
           [0, 4]])

    Plans count the needs and capacities of a scenario, but `place` does not hold tasks back: the caller must let a task
    wait until it has what it needs.

    policy: one of `allot.policies()`, or a function of the state and the task type, as in `simulate`. The function sees
        the tasks in flight, and is called by one thread at a time.
    assignment, probabilities, shares: as in `simulate`.
    background: plan in a separate thread, which never needs the interpreter; False: plan when `solve()` is called.
    solve_limit: maximum seconds for one plan.
    look_every: seconds between two looks at new completions.
    exploration: the fraction of all busy time for trying pairs that the plan does not use.
    memory: completions after which a sample counts 1/e.
    breaker_failures, breaker_hold: a pair that fails this many times in a row is avoided for this many seconds, then for
        longer.
    room: how many types and resources may be added later.
    seed: random seed, for policies that draw random numbers.

    A dispatcher is a context manager: on exit it is closed, and its planner ends.

    >>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4])
    >>> with allot.Dispatcher(machine, policy=lambda state, task: "r1", exploration=0.0) as live:
    ...     live.place("t0").resource
    'r1'
    >>> live.closed
    True

    All methods may be called from any thread. `place` and `complete` never wait; methods that wait or solve let other
    Python threads run. After a fork, make a new dispatcher: the planner is not copied.
    """

    def __init__(
        self,
        scenario: Optional[ScenarioLike] = None,
        *,
        resources: Union[Mapping[str, int], Sequence[str], None] = None,
        tasks: Union[Mapping[str, int], Sequence[str], None] = None,
        rates: Optional[RatesLike] = None,
        worth: float = 10.0,
        policy: Union[PolicyName, PolicyFunction] = "map",
        assignment: Optional[Any] = None,
        probabilities: Optional[Any] = None,
        shares: Literal["exact", "floor"] = "exact",
        background: bool = True,
        solve_limit: float = 0.2,
        look_every: float = 0.005,
        exploration: float = 0.01,
        memory: float = 50.0,
        breaker_failures: int = 5,
        breaker_hold: float = 5.0,
        room: int = 16,
        seed: int = 1,
    ) -> None:
        if scenario is not None:
            if resources is not None or tasks is not None:
                raise TypeError("a scenario has its resources and tasks; give no others")
            machine = scenario_of(scenario)
            known = machine.rates if rates is None else rates
        else:
            if resources is None or tasks is None:
                raise TypeError("a dispatcher needs a scenario, or resources and tasks")
            types, counts = _names("tasks", tasks)
            devices, servers = _names("resources", resources)
            anywhere = np.ones((len(types), len(devices)))
            machine = Scenario(anywhere, counts, tasks=types, resources=devices, servers=servers)
            known = rates
        name = "jsq" if callable(policy) else policy  # it needs no plans
        super().__init__(
            machine, known, worth, name, assignment, probabilities, shares, background, solve_limit, look_every,
            exploration, memory, breaker_failures, breaker_hold, room, seed,
        )
        if callable(policy):
            setattr(self, "place", functools.partial(self._decide, threading.Lock(), policy))

    def _decide(self, one_at_a_time: threading.Lock, function: PolicyFunction, task: Union[str, int]) -> Optional[Ticket]:
        with one_at_a_time:
            return self._place_by(function, task)

    def __enter__(self) -> Dispatcher:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def task(self, task: Union[str, int], resource: Union[str, int, None] = None) -> _Task:
        """A context in which a task runs. It is placed on entry and completed on exit, as failed if an exception is raised.

        The time of the body counts as the task's time, or only the part after the ticket's `start()`: call that when the
        task has a server of its resource to itself. resource: choose the resource yourself. Raises `Unavailable` if the
        task can go nowhere now.

        >>> import allot
        >>> dispatcher = allot.Dispatcher(resources=["cpu"], tasks=["decode"])
        >>> try:
        ...     with dispatcher.task("decode") as ticket:
        ...         raise OSError("no such file")
        ... except OSError:
        ...     print(ticket, dispatcher.statistics().failures)
        Ticket('decode' on 'cpu', explores, given back) [[1]]
        >>> dispatcher.drain("cpu")
        >>> with dispatcher.task("decode"):
        ...     pass
        Traceback (most recent call last):
        ...
        allot.Unavailable: nothing that could run 'decode' is available
        """
        return _Task(self, task, resource)

    def add_task_type(
        self,
        name: str,
        count: int = 1,
        *,
        rates: Optional[RatesLike] = None,
        **fields: Any,
    ) -> None:
        """Adds a task type. rates: for each resource, as in the constructor; None: all unknown. fields: those of a
        task type in a scenario file, such as priority, floor, home and needs.

        >>> import allot
        >>> dispatcher = allot.Dispatcher(resources=["cpu", "gpu"], tasks=["decode"])
        >>> dispatcher.add_task_type("fft", 4, rates={"gpu": 120.0})
        >>> dispatcher.tasks, dispatcher.allows("fft", "cpu")
        (('decode', 'fft'), False)
        """
        self._add_task_type(rates, {"name": name, "count": count, **fields})

    def add_resource(
        self,
        name: str,
        servers: int = 1,
        *,
        rates: Optional[RatesLike] = None,
        **fields: Any,
    ) -> None:
        """Adds a resource. rates: for each task type, as in the constructor; None: all unknown. fields: those of a
        resource in a scenario file, such as kind, discipline and power.

        >>> import allot
        >>> dispatcher = allot.Dispatcher(resources=["cpu"], tasks=["decode"])
        >>> dispatcher.add_resource("gpu", rates={"decode": None})
        >>> dispatcher.estimates().rate.shape
        (1, 2)
        """
        self._add_resource(rates, {"name": name, "servers": servers, **fields})

    def __repr__(self) -> str:
        if self.closed:
            return "Dispatcher: closed"
        seen = self.statistics()
        placed = f"{seen.placed:,} placed, {seen.placed - seen.ended:,} in flight"
        return f"Dispatcher: {len(self.tasks)} task types, {len(self.resources)} resources, {placed}\n{self.plan()!r}"


# Users find it in the package.
Dispatcher.__module__ = "allot"
