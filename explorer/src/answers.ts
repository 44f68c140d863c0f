// What the library answers: the JSON of the command (docs/reference/command.md).

import type {Objective} from './fields';

export interface Diagnostic {
  place: string;
  message: string;
}

export interface Refusal {
  diagnostics: Diagnostic[];
}

export interface Alternative {
  resource: string;
  gain: number;
  error_change: number;
  allowed: boolean;
}

export interface Placement {
  task: string;
  resource: string;
  count: number;
  alternatives: Alternative[];
}

/** The servers of a resource, or another capacity, under a plan. */
export interface CapacityUse {
  name: string;
  amount: number;
  used: number;
  /** What one more unit would add to what is optimised. */
  price: number;
}

/** A limit that a plan just meets, and what would be gained if it were relaxed by 10%. */
export interface BindingLimit {
  limit: string;
  amount: number;
  gain_if_relaxed: number;
}

export interface Solution {
  solver: string;
  objective: Objective;
  service: 'even' | 'planned';
  outcome: 'optimal' | 'converged' | 'time_limit' | 'budget' | 'interrupted' | 'infeasible';
  reason: string | null;
  tasks: string[];
  resources: string[];
  population: number;
  /** Null for planned service, which has time shares. */
  assignment: number[][] | null;
  /** Worth times completions; with groups of threads worth times rounds. */
  value: number;
  throughput: number;
  throughput_by_task: number[];
  throughput_by_resource: number[];
  response_time: number | null;
  response_time_by_task: (number | null)[];
  objective_value: number;
  /** Of the value. */
  upper_bound: number | null;
  gap: number | null;
  proven_optimal: boolean;
  shares: number[] | null;
  priority_error: number | null;
  approximate: boolean;
  time_shares?: number[][];
  binding?: string[];
  capacity_use?: CapacityUse[];
  /** No whole tasks have more value. */
  packing_bound?: number;
  limits?: BindingLimit[];
  rounds?: number[];
  headroom?: number;
  mean_power?: number;
  unserved?: string[];
  conflict?: string[];
  explanation?: Placement[];
}

export interface ParetoPoint {
  throughput: number;
  value: number;
  priority_error: number;
  assignment: number[][];
}

export interface Pareto {
  outcome: string;
  exhaustive: boolean;
  approximate: boolean;
  points: ParetoPoint[];
  weighted: Solution | null;
}

/** The most value of a plan where nobody has less than the level, at some levels. */
export interface Fairness {
  outcome: string;
  points: {least: number; value: number}[];
}

export interface Estimate {
  mean: number;
  half_width: number | null;
}

export interface Simulation {
  policy: string;
  distribution: string;
  seed: number;
  replications: number;
  completions: number;
  warmup: number;
  population: number;
  throughput: Estimate;
  value?: Estimate;
  response_time: {mean: number | null; half_width: number | null; p50: number | null; p95: number | null; p99: number | null};
  throughput_by_task: Estimate[];
  utilization: number[];
  energy_per_task: number | null;
  notes: string[];
  wall_seconds: number;
  completions_per_second: number;
}

export interface Comparison {
  tasks: string[];
  resources: string[];
  policies: Simulation[];
  differences: {policy: string; against: string; throughput: Estimate; significant: boolean}[];
}

/** [what (0 placed, 1 started, 2 completed), time, task, thread, type, resource] */
export type ReplayEvent = [number, number, number, number, number, number];

export interface Replay {
  policy: string;
  events: ReplayEvent[];
}

export interface Named {
  name: string;
  summary: string;
  parameters?: string;
  needs_shares?: true;
  needs_assignment?: true;
  needs_file?: true;
}

export interface Listing {
  policies: Named[];
  distributions: Named[];
}

interface ReadAnswer {
  json: string;
  toml: string;
  static: boolean;
  /** Why only planned service can answer, where that is so. */
  planned: string | null;
  notes: string[];
}

/** The scenario as a JSON file holds it. */
export interface ScenarioFile {
  name?: string;
  resources: Record<string, unknown>[];
  tasks: Record<string, unknown>[];
  [other: string]: unknown;
}

/** Each command with its answer. */
export interface Answers {
  list: Listing;
  read: ReadAnswer;
  solve: Solution;
  certify: Solution;
  evaluate: Solution;
  pareto: Pareto;
  flows: number[][];
  fairness: Fairness;
  least: {least: number};
  generate: ScenarioFile;
  simulate: Simulation;
  compare: Comparison;
  replay: Replay;
}
export type Command = keyof Answers;

export interface Question<C extends Command = Command> {
  command: C;
  scenario?: string;
  /** Of the scenario's text; JSON unless said otherwise. */
  format?: 'json' | 'toml';
  options?: Record<string, unknown>;
}

export const isRefusal = (answer: object): answer is Refusal => 'diagnostics' in answer;

/** As the command says them. */
export const linesOf = (diagnostics: Diagnostic[]): string[] => diagnostics.map(({place, message}) => `${place}: ${message}`);
