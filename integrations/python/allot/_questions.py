"""What can be asked. Written by tools/fields from the library's questions."""
from __future__ import annotations

import os
from typing import Any, Callable, Dict, Iterable, Literal, Optional, Sequence, Union

from . import _native
from ._inputs import ScenarioLike, scenario_of
from ._native import Analysis, Comparison, Pareto, Scenario, Simulation, Solution, WhatIf, State

#: Your own policy: returns the resource (by index or name) for a task of a type (by index) in a state; or, if it binds
#: late, the type that a free server of a resource takes, or None.
PolicyFunction = Callable[[State, int], Union[int, str, None]]
SolverName = Literal["best-fit", "map", "local", "exhaustive", "slsqp", "exact", "best", "mis", "weighted", "planned"]
PolicyName = Literal["best-fit", "random", "load-balance", "jsq", "map", "mis", "optimal", "weighted", "fixed", "round-robin", "power-of-two", "fastest-free", "min-completion-time", "planned"]
#: What live work can aim for.
ObjectiveName = Literal["throughput", "priority", "max-min", "proportional"]
#: An assignment: a matrix, a result that holds one, the content of a file with one, or its path.
AssignmentLike = Any

__all__ = ["solve", "certify", "pareto", "whatif", "simulate", "compare", "analyze", "generate", "listing"]


def solve(
    scenario: ScenarioLike,
    objective: Optional[Literal["throughput", "priority", "max-min", "proportional", "energy"]] = None,
    solver: Optional[SolverName] = None,
    *,
    service: Optional[Literal["even", "planned"]] = None,
    time_limit: Optional[float] = None,
    seed: int = 1,
    explain: bool = False,
    start: Optional[AssignmentLike] = None,
    sensitivity: Literal["exact", "derivative"] = "exact",
    map_moves: Literal["bulk", "single"] = "bulk",
    max_states: float = 1000000000.0,
    slsqp_occupied: bool = True,
    mis_moves: Literal["both", "forward"] = "both",
    shares: Literal["exact", "floor"] = "exact",
    keep: float = 0.9,
    progress: Optional[Callable[[Optional[float], Optional[float]], None]] = None,
) -> Solution:
    """Find where each task should run.

    progress: called with the best throughput and the proven bound so far, or None.

    objective: maximise value per second; match the shares that the priorities ask for; max-min fairness: raise the task
        type with the fewest completions for its priority, then the next; proportional fairness: maximise the sum of
        priority times log of completions; minimise power while keeping most of the value.
    solver: solver to use, see 'allot list'; None: 'best' for throughput, 'mis' for priority, 'planned' for planned
        service; or the solver that another option belongs to.
    service: even: tasks at a resource share it evenly; planned: each free server takes what the plan says; None:
        'planned' if there are threads, arrivals or a power_cap, or if the objective needs it.
    time_limit: stop after this time with the best answer so far, e.g. 30 or 10m; None: no limit.
    seed: random seed; the same seed gives the same result.
    explain: show what moving a task would change, or what relaxing a limit would gain.
    start: an assignment to begin from.
    sensitivity: map, mis: score a move by the exact difference or by the derivative.
    map_moves: map: several starts, moving many tasks and two types at once, or one task at a time from home, as in the
        paper.
    max_states: exhaustive: refuse systems with more states than this.
    slsqp_occupied: False: slsqp: let the relaxation leave resources almost empty.
    mis_moves: mis: move tasks both ways or only towards the more sensitive resource.
    shares: weighted: each type gets exactly its share, or at least its share of the highest common level.
    keep: planned: with --objective energy, the fraction of the maximum value to keep.

    >>> import allot
    >>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4], priorities=[3, 1])
    >>> allot.solve(machine).proven_optimal
    True
    >>> allot.solve(machine, solver="map").outcome
    'converged'
    >>> allot.solve(machine, "priority").shares.round(2)
    array([0.77, 0.23])
    """
    answer: Solution = _native.ask("solve", scenario_of(scenario), {
        "objective": objective,
        "solver": solver,
        "service": service,
        "time_limit": time_limit,
        "seed": seed,
        "explain": explain,
        "start": start,
        "sensitivity": sensitivity,
        "map_moves": map_moves,
        "max_states": max_states,
        "slsqp_occupied": slsqp_occupied,
        "mis_moves": mis_moves,
        "shares": shares,
        "keep": keep,
    }, progress)
    return answer


def certify(
    scenario: ScenarioLike,
    *,
    service: Optional[Literal["even", "planned"]] = None,
    time_limit: Optional[float] = 10.0,
    seed: int = 1,
    gap: float = 1e-10,
    progress: Optional[Callable[[Optional[float], Optional[float]], None]] = None,
) -> Solution:
    """Find the best assignment and prove how good it is.

    progress: called with the best throughput and the proven bound so far, or None.

    service: even: tasks at a resource share it evenly; planned: each free server takes what the plan says; None:
        'planned' if there are threads, arrivals or a power_cap, or if the objective needs it.
    time_limit: stop after this time with the bound proven so far.
    seed: random seed; the same seed gives the same result.
    gap: stop once proven within this gap of the optimum, e.g. 0.1%.

    >>> import allot
    >>> proof = allot.certify(allot.generate(seed=3))
    >>> proof.proven_optimal, proof.upper_bound <= proof.throughput * (1 + 1e-9)
    (True, True)
    """
    answer: Solution = _native.ask("certify", scenario_of(scenario), {
        "service": service,
        "time_limit": time_limit,
        "seed": seed,
        "gap": gap,
    }, progress)
    return answer


def pareto(
    scenario: ScenarioLike,
    *,
    points: int = 20,
    time_limit: Optional[float] = None,
    service: Optional[Literal["even", "planned"]] = None,
    seed: int = 1,
    progress: Optional[Callable[[float], None]] = None,
) -> Pareto:
    """Show what matching the priorities costs in throughput.

    The answer has the assignments (with planned service, the plans) that no other beats in both value and
    priority error, from the fastest to the fairest.

    points: show at most N points, including both ends.
    time_limit: stop after this time with the points found so far; None: no limit.
    service: even: tasks at a resource share it evenly; planned: each free server takes what the plan says; None:
        'planned' if there are threads, arrivals or a power_cap, or if the objective needs it.
    seed: random seed; the same seed gives the same result.
    progress: called with the share of the work done, 0 to 1.

    >>> import allot
    >>> frontier = allot.pareto(allot.generate(priorities=True, seed=3))
    >>> bool((frontier.throughputs[:-1] > frontier.throughputs[1:]).all())
    True
    """
    answer: Pareto = _native.ask("pareto", scenario_of(scenario), {
        "points": points,
        "time_limit": time_limit,
        "service": service,
        "seed": seed,
    }, progress)
    return answer


def whatif(
    scenario: ScenarioLike,
    *,
    time_limit: Optional[float] = None,
    service: Optional[Literal["even", "planned"]] = None,
    seed: int = 1,
    progress: Optional[Callable[[float], None]] = None,
) -> WhatIf:
    """Show what one more server, thread or unit of a capacity, or a 10% higher rate, would gain.

    The largest gain comes first.

    time_limit: stop after this time with the changes tried so far; None: no limit.
    service: even: tasks at a resource share it evenly; planned: each free server takes what the plan says; None:
        'planned' if there are threads, arrivals or a power_cap, or if the objective needs it.
    seed: random seed; the same seed gives the same result.
    progress: called with the share of the work done, 0 to 1.

    >>> import allot
    >>> allot.whatif(allot.Scenario([[8.0, 2.0]], [4])).changes[0].change
    'server'
    """
    answer: WhatIf = _native.ask("whatif", scenario_of(scenario), {
        "time_limit": time_limit,
        "service": service,
        "seed": seed,
    }, progress)
    return answer


def simulate(
    scenario: ScenarioLike,
    policy: Union[PolicyName, PolicyFunction],
    *,
    distribution: Any = "exponential",
    completions: int = 100_000,
    warmup: Union[int, str, None] = None,
    replications: int = 10,
    precision: Optional[float] = None,
    max_replications: int = 1000,
    start: Literal["random", "listed"] = "random",
    seed: int = 1,
    jobs: Optional[int] = None,
    assignment: Optional[AssignmentLike] = None,
    probabilities: Optional[Any] = None,
    shares: Literal["exact", "floor"] = "exact",
    objective: Literal["throughput", "priority", "max-min", "proportional", "energy"] = "throughput",
    trace: Optional[Union[bool, str, "os.PathLike[str]"]] = None,
    time_limit: Optional[float] = None,
    progress: Optional[Callable[[float], None]] = None,
    threads: Optional[int] = None,
) -> Simulation:
    """Simulate a policy, with confidence intervals.

    A policy may also be a function of the state and the task type, see `allot.policy`. After the time limit the result is
    partial; its figures are NaN if nothing was measured.

    policy: policy to use, see 'allot list'.
    distribution: distribution of task sizes, e.g. 'bounded-pareto:alpha=1.5,ratio=1000' or 'trace:sizes.txt'; see
        'allot list'; or an array of sizes, or a distribution with quantiles, such as scipy.stats.gamma(2).
    completions: completions per replication, after the warm-up.
    warmup: completions to discard first; 'auto' determines it in a pilot run.
    replications: independent runs; with 1, the interval comes from batch means.
    precision: replicate until the 95% interval of the throughput is within P, e.g. 0.5% or 0.005.
    max_replications: give up on '--precision' after this many.
    start: threads enter in random order or in the order of the file.
    seed: random seed; the same seed gives the same result.
    jobs: worker threads; results do not depend on this; None: all cores.
    assignment: the assignment for the policy 'fixed', as printed by 'solve --json'.
    probabilities: placement probabilities for the policy 'random': a matrix [[0.5, 0.5], ...], one row per type; None:
        uniform over the resources that can run the type.
    shares: weighted: each type gets exactly its share, or at least its share of the highest common level.
    objective: planned: the objective of the plan, as in 'solve'.
    trace: write every event of the first replication, after the warm-up, to this file; True: keep them, as `trace` of
        the result.
    time_limit: stop after this time with the results so far; None: no limit.
    threads: the old name of jobs.
    progress: called with the share of the work done, 0 to 1.

    >>> import allot
    >>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4])
    >>> run = allot.simulate(machine, "map", completions=10_000, seed=7)
    >>> abs(run.throughput.mean - allot.solve(machine).throughput) < 3 * run.throughput.half_width
    True
    """
    answer: Simulation = _native.ask("simulate", scenario_of(scenario), {
        "policy": policy,
        "distribution": distribution,
        "completions": completions,
        "warmup": warmup,
        "replications": replications,
        "precision": precision,
        "max_replications": max_replications,
        "start": start,
        "seed": seed,
        "jobs": jobs,
        "assignment": assignment,
        "probabilities": probabilities,
        "shares": shares,
        "objective": objective,
        "trace": trace,
        "time_limit": time_limit,
        "threads": threads,
    }, progress)
    return answer


def compare(
    scenario: ScenarioLike,
    policies: Optional[Iterable[Union[PolicyName, PolicyFunction]]] = None,
    *,
    distribution: Any = "exponential",
    completions: int = 100_000,
    warmup: Union[int, str, None] = None,
    replications: int = 10,
    precision: Optional[float] = None,
    max_replications: int = 1000,
    start: Literal["random", "listed"] = "random",
    seed: int = 1,
    jobs: Optional[int] = None,
    assignment: Optional[AssignmentLike] = None,
    probabilities: Optional[Any] = None,
    shares: Literal["exact", "floor"] = "exact",
    objective: Literal["throughput", "priority", "max-min", "proportional", "energy"] = "throughput",
    trace: Optional[Union[str, "os.PathLike[str]"]] = None,
    time_limit: Optional[float] = None,
    progress: Optional[Callable[[float], None]] = None,
    threads: Optional[int] = None,
) -> Comparison:
    """Compare policies by simulation, with common random numbers.

    Policies may be functions, see `allot.policy`. Functions of the same name, such as lambdas, get numbers: '<lambda>',
    '<lambda> (2)'; `allot.policy(function, name=...)` gives them names. `missing` names the policies that were not
    simulated before the time limit.

    policies: policies to compare; the first is the reference; None: all that apply to the scenario.
    distribution: distribution of task sizes, e.g. 'bounded-pareto:alpha=1.5,ratio=1000' or 'trace:sizes.txt'; see
        'allot list'; or an array of sizes, or a distribution with quantiles, such as scipy.stats.gamma(2).
    completions: completions per replication, after the warm-up.
    warmup: completions to discard first; 'auto' determines it in a pilot run.
    replications: independent runs; with 1, the interval comes from batch means.
    precision: replicate until the 95% interval of the throughput is within P, e.g. 0.5% or 0.005.
    max_replications: give up on '--precision' after this many.
    start: threads enter in random order or in the order of the file.
    seed: random seed; the same seed gives the same result.
    jobs: worker threads; results do not depend on this; None: all cores.
    assignment: the assignment for the policy 'fixed', as printed by 'solve --json'.
    probabilities: placement probabilities for the policy 'random': a matrix [[0.5, 0.5], ...], one row per type; None:
        uniform over the resources that can run the type.
    shares: weighted: each type gets exactly its share, or at least its share of the highest common level.
    objective: planned: the objective of the plan, as in 'solve'.
    trace: write every event of the first replication, after the warm-up, to this file.
    time_limit: stop after this time with the results so far; None: no limit.
    threads: the old name of jobs.
    progress: called with the share of the work done, 0 to 1.

    >>> import allot
    >>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4])
    >>> both = allot.compare(machine, ["map", "random"], completions=5000)
    >>> both.differences[0].significant
    True
    """
    answer: Comparison = _native.ask("compare", scenario_of(scenario), {
        "policies": policies,
        "distribution": distribution,
        "completions": completions,
        "warmup": warmup,
        "replications": replications,
        "precision": precision,
        "max_replications": max_replications,
        "start": start,
        "seed": seed,
        "jobs": jobs,
        "assignment": assignment,
        "probabilities": probabilities,
        "shares": shares,
        "objective": objective,
        "trace": trace,
        "time_limit": time_limit,
        "threads": threads,
    }, progress)
    return answer


def analyze(
    scenario: ScenarioLike,
    policy: Union[PolicyName, PolicyFunction],
    *,
    optimal_control: bool = False,
    start: Literal["random", "listed"] = "random",
    max_states: int = 200_000,
    assignment: Optional[AssignmentLike] = None,
    probabilities: Optional[Any] = None,
    shares: Literal["exact", "floor"] = "exact",
    time_limit: Optional[float] = None,
    progress: Optional[Callable[[int], None]] = None,
) -> Analysis:
    """Solve the exact Markov chain of a policy (exponential task sizes).

    Your own policy, see `allot.policy`, may use only the state, the type and its memory. Raises TimeoutError if the chain
    was not solved within the time limit. progress: called with the number of states found so far.

    policy: policy to use, see 'allot list'.
    optimal_control: also find the optimum over all policies.
    start: threads enter in random order or in the order of the file.
    max_states: refuse chains with more states than this.
    assignment: the assignment for the policy 'fixed', as printed by 'solve --json'.
    probabilities: placement probabilities for the policy 'random': a matrix [[0.5, 0.5], ...], one row per type; None:
        uniform over the resources that can run the type.
    shares: weighted: each type gets exactly its share, or at least its share of the highest common level.
    time_limit: give up after this time; None: no limit.

    >>> import allot
    >>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [2, 2])
    >>> exact = allot.analyze(machine, "jsq")
    >>> exact.states
    3
    >>> run = allot.simulate(machine, "jsq", seed=5)
    >>> abs(run.throughput.mean - exact.throughput) < 3 * run.throughput.half_width
    True
    """
    answer: Analysis = _native.ask("analyze", scenario_of(scenario), {
        "policy": policy,
        "optimal_control": optimal_control,
        "start": start,
        "max_states": max_states,
        "assignment": assignment,
        "probabilities": probabilities,
        "shares": shares,
        "time_limit": time_limit,
    }, progress)
    return answer


def generate(
    *,
    gps: int = 2,
    sas: int = 1,
    threads: int = 18,
    rule: Literal["row", "column", "ordered", "none"] = "row",
    rates: Sequence[float] = (0.0, 1.0),
    priorities: bool = False,
    powers: bool = False,
    seed: int = 1,
) -> Scenario:
    """Generate a random scenario.

    It has general processors, and accelerators with their own task types, as in the paper.

    gps: number of general processors.
    sas: number of accelerators, each with its own task type.
    threads: total threads, at least one per task type.
    rule: row: each type is fastest at home; column: each resource is fastest for its own type; ordered: every type is
        fastest on the first resource, then the second, ...; none: as drawn.
    rates: range of the random rates, in tasks per second.
    priorities: also draw priorities.
    powers: also draw the power of each resource.
    seed: random seed; the same seed gives the same result.

    >>> import allot
    >>> allot.generate(gps=3, sas=1, threads=12).rates.shape
    (4, 4)
    """
    answer: Scenario = _native.ask("generate", None, {
        "gps": gps,
        "sas": sas,
        "threads": threads,
        "rule": rule,
        "rates": rates,
        "priorities": priorities,
        "powers": powers,
        "seed": seed,
    }, None)
    return answer


def listing() -> Dict[str, Any]:
    """List the solvers, policies, distributions and disciplines.

    What `allot list --json` prints.

    >>> import allot
    >>> sorted(allot.listing())
    ['disciplines', 'distributions', 'policies', 'solvers']
    """
    answer: Dict[str, Any] = _native.ask("list", None, {}, None)
    return answer
