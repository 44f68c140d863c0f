// Written by tools/fields from the library's table of fields. Numbers are as typed: see scenario.ts.
import type {Field} from './scenario';

export interface FieldInfo {
  key: string;
  kind: string;
  unit: string;
  help: string;
  default: string | number | boolean | null;
  words: string[];
  least: number;
}

export interface DraftFile {
  /** a title */
  name: string;
  /** maximum mean power of the whole machine */
  power_cap: Field;
}

export const fileFields: FieldInfo[] = [
  {"key": "name", "kind": "text", "unit": "", "help": "a title", "default": "", "words": [], "least": 0},
  {"key": "power_cap", "kind": "number", "unit": "W", "help": "maximum mean power of the whole machine", "default": null, "words": [], "least": 0},
];

export interface DraftResource {
  /** a unique name */
  name: string;
  /** a general processor runs every type that has a rate on it; on a specialised accelerator at most one type may have one */
  kind: string;
  /** number of identical servers, such as cores or cards */
  servers: Field;
  /** `ps`: tasks share it evenly; `fcfs`: first come, first served */
  discipline: string;
  /** minimum tasks when used at all; 2 hides the launch latency of a device */
  min_depth: Field;
  /** power of a busy server */
  power: Field;
  /** power of an idle server */
  idle_power: Field;
}

export const resourceFields: FieldInfo[] = [
  {"key": "name", "kind": "text", "unit": "", "help": "a unique name", "default": "", "words": [], "least": 0},
  {"key": "kind", "kind": "word", "unit": "", "help": "a general processor runs every type that has a rate on it; on a specialised accelerator at most one type may have one", "default": "gp", "words": ["gp", "sa"], "least": 0},
  {"key": "servers", "kind": "whole", "unit": "", "help": "number of identical servers, such as cores or cards", "default": 1, "words": [], "least": 1},
  {"key": "discipline", "kind": "word", "unit": "", "help": "`ps`: tasks share it evenly; `fcfs`: first come, first served", "default": "ps", "words": ["ps", "fcfs"], "least": 0},
  {"key": "min_depth", "kind": "whole", "unit": "", "help": "minimum tasks when used at all; 2 hides the launch latency of a device", "default": 1, "words": [], "least": 1},
  {"key": "power", "kind": "number", "unit": "W", "help": "power of a busy server", "default": 1.0, "words": [], "least": 0},
  {"key": "idle_power", "kind": "number", "unit": "W", "help": "power of an idle server", "default": 0.0, "words": [], "least": 0},
];

export interface DraftCapacity {
  /** a unique name, also among resources */
  name: string;
  /** how much there is */
  amount: Field;
  /** `true`: when overdrawn, all tasks that use it slow down; `false`: tasks wait until it is free */
  shared: boolean;
}

export const capacityFields: FieldInfo[] = [
  {"key": "name", "kind": "text", "unit": "", "help": "a unique name, also among resources", "default": "", "words": [], "least": 0},
  {"key": "amount", "kind": "number", "unit": "", "help": "how much there is", "default": 1.0, "words": [], "least": 0},
  {"key": "shared", "kind": "flag", "unit": "", "help": "`true`: when overdrawn, all tasks that use it slow down; `false`: tasks wait until it is free", "default": false, "words": [], "least": 0},
];

export interface DraftTask {
  /** a unique name */
  name: string;
  /** number of threads; each always has one task of this type */
  count: Field;
  /** home resource, where the type must be able to run */
  home: string;
  /** desired share of all completions, as a weight (weights are divided by their sum); for all types or for none, not all 0 */
  priority: Field;
  /** minimum completions per second */
  floor: Field;
  /** value of one completion */
  worth: Field;
  /** maximum mean time from ready to done, in seconds, or a text such as 200ms */
  max_response: Field;
  /** power of a server while it runs this type, by resource in their order */
  power: Field[];
  /** for each resource, what a task needs of each capacity while it runs there; the name of a resource means its servers; by resource, then by capacity: the servers of every resource, then the others */
  needs: Field[][];
  /** tasks per second of one server that runs nothing else: 1 / seconds per task; absent or 0: it cannot run there. A rate > 0 is at least 1e-100, by resource in their order */
  rates: Field[];
}

export const taskFields: FieldInfo[] = [
  {"key": "name", "kind": "text", "unit": "", "help": "a unique name", "default": "", "words": [], "least": 0},
  {"key": "count", "kind": "whole", "unit": "", "help": "number of threads; each always has one task of this type", "default": 0, "words": [], "least": 0},
  {"key": "home", "kind": "resource", "unit": "", "help": "home resource, where the type must be able to run", "default": null, "words": [], "least": 0},
  {"key": "priority", "kind": "number", "unit": "", "help": "desired share of all completions, as a weight (weights are divided by their sum); for all types or for none, not all 0", "default": null, "words": [], "least": 0},
  {"key": "floor", "kind": "number", "unit": "tasks/s", "help": "minimum completions per second", "default": null, "words": [], "least": 0},
  {"key": "worth", "kind": "number", "unit": "", "help": "value of one completion", "default": 1.0, "words": [], "least": 0},
  {"key": "max_response", "kind": "number", "unit": "s", "help": "maximum mean time from ready to done, in seconds, or a text such as 200ms", "default": null, "words": [], "least": 0},
  {"key": "power", "kind": "by_resource", "unit": "W", "help": "power of a server while it runs this type", "default": null, "words": [], "least": 0},
  {"key": "needs", "kind": "needs", "unit": "", "help": "for each resource, what a task needs of each capacity while it runs there; the name of a resource means its servers", "default": null, "words": [], "least": 0},
  {"key": "rates", "kind": "by_resource", "unit": "tasks/s", "help": "tasks per second of one server that runs nothing else: 1 / seconds per task; absent or 0: it cannot run there. A rate > 0 is at least 1e-100", "default": null, "words": [], "least": 0},
];

export interface DraftGroup {
  /** name of the group */
  name: string;
  /** number of threads; at most 1,000,000,000 over all groups */
  count: Field;
  /** the task types that each thread runs in turn, over and over */
  sequence: string[];
  /** value of one round through the sequence */
  worth: Field;
  /** maximum mean time of one round */
  max_response: Field;
}

export const groupFields: FieldInfo[] = [
  {"key": "name", "kind": "text", "unit": "", "help": "name of the group", "default": "", "words": [], "least": 0},
  {"key": "count", "kind": "whole", "unit": "", "help": "number of threads; at most 1,000,000,000 over all groups", "default": 1, "words": [], "least": 1},
  {"key": "sequence", "kind": "tasks", "unit": "", "help": "the task types that each thread runs in turn, over and over", "default": null, "words": [], "least": 0},
  {"key": "worth", "kind": "number", "unit": "", "help": "value of one round through the sequence", "default": 1.0, "words": [], "least": 0},
  {"key": "max_response", "kind": "number", "unit": "s", "help": "maximum mean time of one round", "default": null, "words": [], "least": 0},
];

/** What planned service can aim for. */
export const objectives = {
  'throughput': {summary: "maximise value per second", needsShares: false},
  'priority': {summary: "match the shares that the priorities ask for", needsShares: true},
  'max-min': {summary: "max-min fairness: raise the task type with the fewest completions for its priority, then the next", needsShares: false},
  'proportional': {summary: "proportional fairness: maximise the sum of priority times log of completions", needsShares: false},
  'energy': {summary: "minimise power while keeping most of the value", needsShares: false},
} as const;
export type Objective = keyof typeof objectives;
export const objectiveNames = Object.keys(objectives) as Objective[];
