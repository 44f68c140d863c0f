"""allot decides where each task runs on a heterogeneous machine: solvers, simulation, exact analysis, live dispatch.

>>> import allot
>>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4], tasks=["sort", "search"], resources=["cpu", "gpu"])
>>> answer = allot.solve(machine)
>>> answer.assignment
array([[1, 3],
       [0, 4]])
>>> round(answer.throughput, 3)
14.643

A policy of your own is a function of the state and the task type; it is simulated like the built-in ones:

>>> def shortest(state, task):
...     return min((j for j in range(2) if state.rates[task, j] > 0), key=lambda j: state.totals[j])
>>> both = allot.compare(machine, ["map", shortest], completions=2000, replications=4)
>>> both["map"].throughput.mean > both["shortest"].throughput.mean
True

A `Dispatcher` places tasks that really run and learns their rates. An `Executor` also runs them.

The guide is docs/guides/python.md in the source tree.
"""
from __future__ import annotations

import functools
import os
import sys
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, TypeVar, Union, cast, overload

try:
    from . import _native
except ImportError as error:
    raise ImportError(
        f"allot: the compiled module '_native' is missing, or it was built for another Python than {sys.executable}. In the "
        "source tree of allot, 'make python' builds it for /usr/bin/python3, in build/release/integrations/python."
    ) from error
from . import _questions
from ._dispatch import Dispatcher
from ._executor import Executor, Kind, task
from ._errors import Diagnostic, InvalidInput, Unavailable
from ._processes import WorkerDied
from ._inputs import ScenarioLike as ScenarioLike
from ._questions import *  # a function for each
from ._questions import (
    AssignmentLike as AssignmentLike,
    ObjectiveName as ObjectiveName,
    PolicyFunction as PolicyFunction,
    PolicyName as PolicyName,
    SolverName as SolverName,
)
from ._native import (
    Analysis,
    Comparison,
    Estimate,
    Estimates,
    Pareto,
    Plan,
    Scenario,
    ServiceOrder,
    Simulation,
    Solution,
    State,
    Ticket,
    WhatIf,
)
from ._records import (
    Change,
    Difference,
    DispatchStatistics,
    ExecutorStatistics,
    ParetoPoint,
    PlanDoubt,
    Prediction,
    RateEstimate,
    RateEstimates,
)
from . import _views as _views  # adds string forms and tables to the native classes

__all__ = [
    "Analysis",
    "Change",
    "Comparison",
    "Diagnostic",
    "Difference",
    "DispatchStatistics",
    "Dispatcher",
    "Estimate",
    "Estimates",
    "Executor",
    "ExecutorStatistics",
    "InvalidInput",
    "Kind",
    "Pareto",
    "ParetoPoint",
    "Plan",
    "PlanDoubt",
    "Prediction",
    "RateEstimate",
    "RateEstimates",
    "Scenario",
    "ServiceOrder",
    "Simulation",
    "Solution",
    "State",
    "Ticket",
    "Unavailable",
    "WhatIf",
    "WorkerDied",
    "disciplines",
    "distributions",
    "load",
    "policies",
    "policy",
    "solvers",
    "task",
]
__all__ += _questions.__all__

__version__: str = _native.version()
__commit__: str = _native.build_commit()

_Function = TypeVar("_Function", bound=Callable[..., Any])


def load(path: Union[str, "os.PathLike[str]"]) -> Scenario:
    """Reads a scenario from a .toml or .json file. Raises InvalidInput with all errors of the file, or FileNotFoundError.

    >>> import allot, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "machine.toml")
    ...     _ = path.write_text(allot.generate().to_text())
    ...     allot.load(path) == allot.generate()
    True
    """
    return Scenario.from_file(path)


@overload
def policy(
    function: _Function,
    *,
    name: Optional[str] = ...,
    memory_size: int = ...,
    looks_at_sizes: bool = ...,
    binds_late: bool = ...,
) -> _Function: ...
@overload
def policy(
    *, name: Optional[str] = ..., memory_size: int = ..., looks_at_sizes: bool = ..., binds_late: bool = ...
) -> Callable[[_Function], _Function]: ...
def policy(
    function: Optional[_Function] = None,
    *,
    name: Optional[str] = None,
    memory_size: int = 0,
    looks_at_sizes: bool = False,
    binds_late: bool = False,
) -> Union[_Function, Callable[[_Function], _Function]]:
    """Marks a function of (state, task) as a policy. A plain function needs no mark unless it uses one of these options.

    The function returns the resource, by index or by name, for a task of type `task` (an index) in `state`, an
    `allot.State`. It may draw `state.random()`. Any callable works: an object, a method, a functools.partial. If it has
    a method `set_population(counts)`, that is called before the first decision and whenever the numbers of threads
    change. The given function stays as it is; a marked copy is returned.

    name: the name in results.
    memory_size: how many whole numbers are kept in `state.memory` for each run.
    looks_at_sizes: `state.remaining` holds the seconds of work left at each resource.
    binds_late: ready tasks wait in one line for each type, `state.waiting`. The function of (state, resource) returns
        the type that a free server of that resource takes, by index or by name, or None to stay idle until something
        changes.

    >>> import allot
    >>> @allot.policy(name="in-turn", memory_size=1)
    ... def in_turn(state, task):
    ...     state.memory[0] = (state.memory[0] + 1) % 2
    ...     return int(state.memory[0])
    >>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [2, 2])
    >>> allot.simulate(machine, in_turn, completions=1000, replications=2).policy
    'in-turn'
    >>> @allot.policy(binds_late=True)
    ... def longest_line(state, resource):
    ...     return int(state.waiting.argmax()) if state.waiting.any() else None
    >>> allot.simulate(machine, longest_line, completions=1000, replications=2).policy
    'longest_line'
    """

    def mark(chosen: _Function) -> _Function:
        @functools.wraps(chosen, updated=())
        def marked(state: State, which: int) -> Union[int, str, None]:
            answer: Union[int, str, None] = chosen(state, which)
            return answer

        about: Dict[str, Any] = {
            "policy_function": getattr(chosen, "policy_function", chosen),  # the function that is called
            "policy_name": name if name is not None else _native.policy_name(chosen),
            "memory_size": memory_size,
            "looks_at_sizes": looks_at_sizes,
            "binds_late": binds_late,
        }
        if hasattr(chosen, "set_population"):
            about["set_population"] = chosen.set_population
        vars(marked).update(about)
        return cast(_Function, marked)

    return mark if function is None else mark(function)


def _names(kind: str) -> List[str]:
    return [entry["name"] for entry in listing()[kind]]


def solvers() -> List[SolverName]:
    """The names of all solvers.

    >>> import allot
    >>> "map" in allot.solvers()
    True
    """
    return cast(List[SolverName], _names("solvers"))


def policies() -> List[PolicyName]:
    """The names of all built-in policies.

    >>> import allot
    >>> {"map", "jsq", "random"} <= set(allot.policies())
    True
    """
    return cast(List[PolicyName], _names("policies"))


def distributions() -> List[str]:
    """The names of all distributions of task sizes.

    >>> import allot
    >>> "exponential" in allot.distributions()
    True
    """
    return _names("distributions")


def disciplines() -> List[str]:
    """The names of all disciplines.

    >>> import allot
    >>> allot.disciplines()
    ['ps', 'fcfs']
    """
    return _names("disciplines")
