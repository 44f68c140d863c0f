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

And a `Dispatcher` places tasks that really run, learning the rates as they end.

The guide is docs/guides/python.md in the source tree.
"""
from __future__ import annotations

import functools
import os
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, TypeVar, Union, cast, overload

from . import _native
from ._dispatch import Dispatcher
from ._errors import Diagnostic, InvalidInput, Unavailable
from ._inputs import ScenarioLike, scenario_of as _scenario
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
from ._records import Change, Difference, DispatchStatistics, PlanDoubt, Prediction, RateEstimate, RateEstimates
from . import _views as _views  # gives the native classes their looks

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
    "InvalidInput",
    "Pareto",
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
    "analyze",
    "certify",
    "compare",
    "disciplines",
    "distributions",
    "generate",
    "listing",
    "load",
    "pareto",
    "policies",
    "policy",
    "simulate",
    "solve",
    "solvers",
    "whatif",
]

__version__: str = _native.version()
__commit__: str = _native.build_commit()

#: A policy of one's own: the resource (by index or name) for a task of a type (by index) in a state.
PolicyFunction = Callable[[State, int], Union[int, str]]
#: An assignment: a matrix, a result that holds one, the content of a file with one, or its path.
AssignmentLike = Any

_Function = TypeVar("_Function", bound=Callable[..., Any])


def load(path: Union[str, "os.PathLike[str]"]) -> Scenario:
    """The scenario of a .toml or .json file; InvalidInput with every problem of the file.

    >>> import allot, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "machine.toml")
    ...     _ = path.write_text(allot.generate().to_text())
    ...     allot.load(path) == allot.generate()
    True
    """
    return Scenario.from_file(path)


def solve(
    scenario: ScenarioLike,
    objective: Optional[str] = None,
    solver: Optional[str] = None,
    *,
    time_limit: Optional[float] = None,
    seed: int = 1,
    explain: bool = False,
    start: Optional[AssignmentLike] = None,
    shares: str = "exact",
    sensitivity: str = "exact",
    map_moves: str = "bulk",
    mis_moves: str = "both",
    max_states: float = 1e9,
    slsqp_occupied: bool = True,
    progress: Optional[Callable[[Optional[float], Optional[float]], None]] = None,
) -> Solution:
    """Where each task should run.

    objective: 'throughput' (default) or 'priority'. solver: 'best' is the default for throughput, 'mis' for priority;
    `allot.solvers()` names them all. After time_limit seconds the best so far is the answer. explain: let `to_dict`
    say what moving a task elsewhere would change. start: an assignment to begin from. progress: called with the best
    throughput and the proven bound so far, None where there is none. The others are details of single solvers, as in
    `allot solve --help`.

    >>> import allot
    >>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4], priorities=[3, 1])
    >>> allot.solve(machine).proven_optimal
    True
    >>> allot.solve(machine, solver="map").outcome
    'converged'
    >>> allot.solve(machine, "priority").shares.round(2)
    array([0.77, 0.23])
    """
    return _native.solve(
        _scenario(scenario), objective, solver, time_limit, seed, explain, start, shares, sensitivity, map_moves,
        mis_moves, max_states, None, slsqp_occupied, progress,
    )


def certify(
    scenario: ScenarioLike,
    *,
    time_limit: Optional[float] = 10.0,
    seed: int = 1,
    gap: Optional[float] = None,
    progress: Optional[Callable[[Optional[float], Optional[float]], None]] = None,
) -> Solution:
    """The best assignment found, and proof of how good it is.

    gap: be content when proven within this part of the optimum. progress: called with the best throughput and the
    proven bound so far.

    >>> import allot
    >>> proof = allot.certify(allot.generate(seed=3))
    >>> proof.proven_optimal, proof.upper_bound <= proof.throughput * (1 + 1e-9)
    (True, True)
    """
    return _native.solve(
        _scenario(scenario), "throughput", "exact", time_limit, seed, False, None, "exact", "exact", "bulk", "both",
        1e9, gap, True, progress,
    )


def pareto(
    scenario: ScenarioLike,
    *,
    points: int = 20,
    time_limit: Optional[float] = None,
    seed: int = 1,
    progress: Optional[Callable[[float], None]] = None,
) -> Pareto:
    """What matching the priorities costs: at most `points` assignments that no other beats in both throughput and
    priority error, from the fastest on. progress: called with the share of the work done, 0 to 1.

    >>> import allot
    >>> frontier = allot.pareto(allot.generate(priorities=True, seed=3))
    >>> bool((frontier.throughputs[:-1] > frontier.throughputs[1:]).all())
    True
    """
    return _native.pareto(_scenario(scenario), points, time_limit, seed, progress)


def whatif(
    scenario: ScenarioLike,
    *,
    time_limit: Optional[float] = None,
    seed: int = 1,
    progress: Optional[Callable[[float], None]] = None,
) -> WhatIf:
    """What one more server, one more thread, or a pair 10% faster would be worth, the largest gain first. progress:
    called with the share of the work done, 0 to 1.

    >>> import allot
    >>> allot.whatif(allot.Scenario([[8.0, 2.0]], [4])).changes[0].change
    'server'
    """
    return _native.whatif(_scenario(scenario), time_limit, seed, progress)


def simulate(
    scenario: ScenarioLike,
    policy: Union[str, PolicyFunction],
    *,
    distribution: str = "exponential",
    completions: int = 100_000,
    warmup: Union[int, str, None] = None,
    replications: int = 10,
    precision: Optional[float] = None,
    max_replications: int = 1000,
    start: str = "random",
    seed: int = 1,
    threads: Optional[int] = None,
    assignment: Optional[AssignmentLike] = None,
    probabilities: Optional[Any] = None,
    shares: str = "exact",
    trace: Optional[Union[str, "os.PathLike[str]"]] = None,
    time_limit: Optional[float] = None,
    progress: Optional[Callable[[float], None]] = None,
) -> Simulation:
    """What a policy does, event by event, and how sure that is.

    policy: a name (`allot.policies()` has them all) or a function of the state and the task type, see `allot.policy`.
    warmup: completions that are not counted; None or 'auto': found by a pilot run. precision: replicate until the
    throughput's 95% interval is within this part of it. assignment: what 'fixed' holds. probabilities: where 'random'
    places each type, a row per type. trace: a CSV file for every event of the first replication. After time_limit
    seconds the result is a partial one, of NaN where nothing was measured by then. progress: called with the share of
    the work done, 0 to 1. The rest is as in `allot simulate --help`; the same seed gives the same result.

    >>> import allot
    >>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4])
    >>> run = allot.simulate(machine, "map", completions=10_000, seed=7)
    >>> abs(run.throughput.mean - allot.solve(machine).throughput) < 3 * run.throughput.half_width
    True
    """
    return _native.simulate(
        _scenario(scenario), policy, distribution, completions, warmup, replications, precision, max_replications,
        start, seed, threads, assignment, probabilities, shares, trace, time_limit, progress,
    )


def compare(
    scenario: ScenarioLike,
    policies: Optional[Iterable[Union[str, PolicyFunction]]] = None,
    *,
    distribution: str = "exponential",
    completions: int = 100_000,
    warmup: Union[int, str, None] = None,
    replications: int = 10,
    precision: Optional[float] = None,
    max_replications: int = 1000,
    start: str = "random",
    seed: int = 1,
    threads: Optional[int] = None,
    assignment: Optional[AssignmentLike] = None,
    probabilities: Optional[Any] = None,
    shares: str = "exact",
    trace: Optional[Union[str, "os.PathLike[str]"]] = None,
    time_limit: Optional[float] = None,
    progress: Optional[Callable[[float], None]] = None,
) -> Comparison:
    """Several policies on the same random numbers, with the differences from the first and their intervals.

    policies: names and functions; None: all built-in ones that suit the scenario. Functions of the same name, as
    lambdas are, get numbers: '<lambda>', '<lambda> (2)'; `allot.policy(function, name=...)` gives them names. Policies
    that do not get a turn before the time limit are named in `missing`. The rest is as in `simulate`.

    >>> import allot
    >>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4])
    >>> both = allot.compare(machine, ["map", "random"], completions=5000)
    >>> both.differences[0].significant
    True
    """
    return _native.compare(
        _scenario(scenario), policies, distribution, completions, warmup, replications, precision, max_replications,
        start, seed, threads, assignment, probabilities, shares, trace, time_limit, progress,
    )


def analyze(
    scenario: ScenarioLike,
    policy: Union[str, PolicyFunction],
    *,
    optimal_control: bool = False,
    start: str = "random",
    max_states: int = 200_000,
    assignment: Optional[AssignmentLike] = None,
    probabilities: Optional[Any] = None,
    shares: str = "exact",
    time_limit: Optional[float] = None,
    progress: Optional[Callable[[int], None]] = None,
) -> Analysis:
    """The long run of a policy, exactly: the Markov chain for exponential sizes.

    A policy of one's own must decide by the state, the type and its memory alone. optimal_control: also find the best
    that any policy could reach. TimeoutError after time_limit seconds: a chain that is not solved says nothing.
    progress: called with the number of states found so far.

    >>> import allot
    >>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [2, 2])
    >>> exact = allot.analyze(machine, "jsq")
    >>> exact.states
    3
    >>> run = allot.simulate(machine, "jsq", seed=5)
    >>> abs(run.throughput.mean - exact.throughput) < 3 * run.throughput.half_width
    True
    """
    return _native.analyze(
        _scenario(scenario), policy, optimal_control, start, max_states, assignment, probabilities, shares, time_limit,
        progress,
    )


def generate(
    *,
    gps: int = 2,
    sas: int = 1,
    threads: int = 18,
    rule: str = "row",
    rates: Union[Tuple[float, float], Sequence[float]] = (0.0, 1.0),
    priorities: bool = False,
    powers: bool = False,
    seed: int = 1,
) -> Scenario:
    """A random scenario in the shape of the paper's: general processors, accelerators with a task type of their own.

    rule: 'row' (each type is fastest at home), 'column', 'ordered' or 'none'. rates: between which they are drawn.

    >>> import allot
    >>> allot.generate(gps=3, sas=1, threads=12).rates.shape
    (4, 4)
    """
    return _native.generate(gps, sas, threads, rule, rates, priorities, powers, seed)


@overload
def policy(
    function: _Function, *, name: Optional[str] = ..., memory_size: int = ..., looks_at_sizes: bool = ...
) -> _Function: ...
@overload
def policy(
    *, name: Optional[str] = ..., memory_size: int = ..., looks_at_sizes: bool = ...
) -> Callable[[_Function], _Function]: ...
def policy(
    function: Optional[_Function] = None,
    *,
    name: Optional[str] = None,
    memory_size: int = 0,
    looks_at_sizes: bool = False,
) -> Union[_Function, Callable[[_Function], _Function]]:
    """Marks a function of (state, task) as a policy; needed only for what a plain function cannot say.

    The function returns the resource, by index or by name, for a task of type `task` (an index) in `state`, an
    `allot.State`. It may draw `state.random()`. name: what results call it. memory_size: so many whole numbers are
    kept in `state.memory` for each run. looks_at_sizes: `state.remaining` holds the seconds of work left at each
    resource. Whatever can be called will do as well: an object, a method, a functools.partial. Where it has a method
    `set_population(counts)`, that is called before the first decision and whenever the numbers of threads change. What
    is given stays as it is; the marked one is returned.

    >>> import allot
    >>> @allot.policy(name="in-turn", memory_size=1)
    ... def in_turn(state, task):
    ...     state.memory[0] = (state.memory[0] + 1) % 2
    ...     return int(state.memory[0])
    >>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [2, 2])
    >>> allot.simulate(machine, in_turn, completions=1000, replications=2).policy
    'in-turn'
    """

    def mark(chosen: _Function) -> _Function:
        @functools.wraps(chosen, updated=())
        def marked(state: State, task: int) -> Union[int, str]:
            answer: Union[int, str] = chosen(state, task)
            return answer

        about: Dict[str, Any] = {
            "policy_function": getattr(chosen, "policy_function", chosen),  # what is really called
            "policy_name": name if name is not None else _native.policy_name(chosen),
            "memory_size": memory_size,
            "looks_at_sizes": looks_at_sizes,
        }
        if hasattr(chosen, "set_population"):
            about["set_population"] = chosen.set_population
        vars(marked).update(about)
        return cast(_Function, marked)

    return mark if function is None else mark(function)


def listing() -> Dict[str, List[Dict[str, Any]]]:
    """Everything built in, with a line on each: what `allot list --json` prints.

    >>> import allot
    >>> sorted(allot.listing())
    ['disciplines', 'distributions', 'policies', 'solvers']
    """
    return _native.listing()


def _names(kind: str) -> List[str]:
    return [entry["name"] for entry in listing()[kind]]


def solvers() -> List[str]:
    """The names of all solvers.

    >>> import allot
    >>> "map" in allot.solvers()
    True
    """
    return _names("solvers")


def policies() -> List[str]:
    """The names of all built-in policies.

    >>> import allot
    >>> {"map", "jsq", "random"} <= set(allot.policies())
    True
    """
    return _names("policies")


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
