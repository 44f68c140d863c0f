"""Live scheduling: the native dispatcher with what is pleasant in Python around it."""
from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Type, Union

import numpy as np

from . import _native
from ._errors import Unavailable
from ._inputs import ScenarioLike, scenario_of
from ._native import Scenario, Ticket

#: How fast one type is on each resource: a sequence, NaN where that is unknown and 0 where it cannot run; or a dict by
#: name, None where it is unknown, without those where it cannot run. None: all unknown.
RatesLike = Any


def _row(rates: RatesLike, names: Sequence[str]) -> Any:
    if rates is None:
        return np.full(len(names), np.nan)
    if not isinstance(rates, Mapping):
        return rates
    for name in rates:
        if name not in names:
            raise ValueError(f"rates: there is no {name!r}")
    row = [rates.get(name, 0.0) for name in names]
    return [np.nan if rate is None else rate for rate in row]


def _matrix(rates: RatesLike, tasks: Sequence[str], resources: Sequence[str]) -> Any:
    if isinstance(rates, Mapping):
        if set(rates) != set(tasks):
            raise ValueError(f"rates: must have a row for each of {', '.join(tasks)}")
        rates = [_row(rates[task], resources) for task in tasks]
    try:
        matrix = np.asarray(rates, dtype=float)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (len(tasks), len(resources)):
        raise ValueError(f"rates: must be a matrix of numbers, {len(tasks)} task types by {len(resources)} resources")
    return matrix


def _by_name(values: Union[Mapping[str, int], Sequence[str]]) -> Dict[str, int]:
    return dict(values) if isinstance(values, Mapping) else {name: 1 for name in values}


class _Task:
    """Places a task on entry and gives its ticket back on exit."""

    __slots__ = ("_dispatcher", "_task", "_resource", "_ticket")

    def __init__(self, dispatcher: _native.Dispatcher, task: Union[str, int], resource: Union[str, int, None]) -> None:
        self._dispatcher = dispatcher
        self._task = task
        self._resource = resource

    def __enter__(self) -> Ticket:
        if self._resource is not None:
            ticket: Optional[Ticket] = self._dispatcher.place_at(self._task, self._resource)
        else:
            ticket = self._dispatcher.place(self._task)
        if ticket is None:
            raise Unavailable(f"nothing that could run {self._task!r} is available")
        self._ticket = ticket
        return ticket

    def __exit__(self, kind: Optional[Type[BaseException]], *_: Any) -> None:
        if self._ticket.open:
            self._dispatcher.complete(self._ticket, None, kind is None)


class Dispatcher(_native.Dispatcher):
    """Places tasks that really run, learns the rates from their completions, and plans in the background.

    Made from a scenario, or from resources (names, or a dict of names and servers) and tasks (names of the types, or a
    dict of names and how many tasks are kept in flight) of which nothing need be known:

    >>> import allot
    >>> dispatcher = allot.Dispatcher(resources={"cpu": 2, "gpu": 1}, tasks={"decode": 6, "fft": 4})
    >>> with dispatcher.task("decode") as ticket:
    ...     place = ticket.resource  # run it there
    >>> place in dispatcher.resources
    True
    >>> dispatcher.statistics().ended
    1

    rates: what is known beforehand, a matrix or a dict of dicts, in tasks per second of one server: 0 (or not there)
    where a type cannot run, NaN (or None) where it can but nobody knows how fast. None: the scenario's; without a
    scenario, all unknown. worth: how many completions such a rate counts like; 0: a rate only says that a type can run
    there.

    >>> known = allot.Dispatcher(allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4]), background=False)
    >>> known.plan().target
    array([[1, 3],
           [0, 4]])

    policy: one of `allot.policies()`; assignment, probabilities and shares are as in `simulate`. background: plan in a
    thread of its own, which never needs the interpreter; False: when `solve()` is called. solve_limit: seconds for one
    plan. look_every: seconds between two looks at what has completed. exploration: part of all busy time that may go
    into trying again what the plan does not use. memory: completions after which a sample counts 1/e. A pair that fails
    breaker_failures times in a row is left alone for breaker_hold seconds, then for longer. room: how many types and
    resources may be added later. seed: of policies that draw.

    All methods may be called from any thread. `place` and `complete` never wait; whatever may wait or solves lets other
    Python threads run. After a fork, make a new one: the planner is not copied.
    """

    def __init__(
        self,
        scenario: Optional[ScenarioLike] = None,
        *,
        resources: Union[Mapping[str, int], Sequence[str], None] = None,
        tasks: Union[Mapping[str, int], Sequence[str], None] = None,
        rates: Optional[RatesLike] = None,
        worth: float = 10.0,
        policy: str = "map",
        assignment: Optional[Any] = None,
        probabilities: Optional[Any] = None,
        shares: str = "exact",
        background: bool = True,
        solve_limit: float = 0.2,
        look_every: float = 0.005,
        exploration: float = 0.02,
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
            known = machine.rates if rates is None else _matrix(rates, machine.tasks, machine.resources)
        else:
            if resources is None or tasks is None:
                raise TypeError("a dispatcher needs a scenario, or resources and tasks")
            servers, counts = _by_name(resources), _by_name(tasks)
            shape = (len(counts), len(servers))
            known = np.full(shape, np.nan) if rates is None else _matrix(rates, list(counts), list(servers))
            machine = Scenario(
                np.where(np.isnan(known), 1.0, known),
                list(counts.values()),
                tasks=list(counts),
                resources=list(servers),
                servers=list(servers.values()),
            )
        super().__init__(
            machine, known, worth, policy, assignment, probabilities, shares, background, solve_limit, look_every,
            exploration, memory, breaker_failures, breaker_hold, room, seed,
        )

    def task(self, task: Union[str, int], resource: Union[str, int, None] = None) -> _Task:
        """A context in which a task runs: it is placed on entry and completed on exit, failed where an exception leaves.

        The time of the body is the task's, from the ticket's `start()` on where that is called: call it when the task
        has a unit of its resource to itself. resource: a place of your own choice. `Unavailable` is raised when the
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
        priority: Optional[float] = None,
        floor: Optional[float] = None,
        home: Union[str, int, None] = None,
    ) -> None:
        """One more type of task. rates: for each resource, as in the constructor; None: all unknown.

        >>> import allot
        >>> dispatcher = allot.Dispatcher(resources=["cpu", "gpu"], tasks=["decode"])
        >>> dispatcher.add_task_type("fft", 4, rates={"gpu": 120.0})
        >>> dispatcher.tasks, dispatcher.allows("fft", "cpu")
        (('decode', 'fft'), False)
        """
        self._add_task_type(name, count, _row(rates, self.resources), priority, floor, home)

    def add_resource(
        self,
        name: str,
        servers: int = 1,
        *,
        rates: Optional[RatesLike] = None,
        kind: str = "gp",
        discipline: str = "ps",
        min_depth: int = 1,
    ) -> None:
        """One more resource. rates: for each task type, as in the constructor; None: all unknown.

        >>> import allot
        >>> dispatcher = allot.Dispatcher(resources=["cpu"], tasks=["decode"])
        >>> dispatcher.add_resource("gpu", rates={"decode": None})
        >>> dispatcher.estimates().rate.shape
        (1, 2)
        """
        self._add_resource(name, servers, _row(rates, self.tasks), kind, discipline, min_depth)

    def __repr__(self) -> str:
        seen = self.statistics()
        placed = f"{seen.placed:,} placed, {seen.placed - seen.ended:,} in flight"
        return f"Dispatcher: {len(self.tasks)} task types, {len(self.resources)} resources, {placed}\n{self.plan()!r}"


# Users know it by the package.
Dispatcher.__module__ = "allot"
