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
  /** watts, the mean power of the whole machine is at most this */
  power_cap: Field;
}

export const fileFields: FieldInfo[] = [
  {"key": "name", "kind": "text", "unit": "", "help": "a title", "default": "", "words": [], "least": 0},
  {"key": "power_cap", "kind": "number", "unit": "W", "help": "watts, the mean power of the whole machine is at most this", "default": null, "words": [], "least": 0},
];

export interface DraftResource {
  /** a resource is known by it */
  name: string;
  /** a general processor runs every type that has a rate on it; on a specialised accelerator at most one type may have one */
  kind: string;
  /** identical units behind one queue */
  servers: Field;
  /** the tasks there share it evenly, or are served first come, first served */
  discipline: string;
  /** it gets no task or at least this many: a device with launch latency wants 2 */
  min_depth: Field;
  /** watts of one busy server */
  power: Field;
  /** watts of one idle server */
  idle_power: Field;
}

export const resourceFields: FieldInfo[] = [
  {"key": "name", "kind": "text", "unit": "", "help": "a resource is known by it", "default": "", "words": [], "least": 0},
  {"key": "kind", "kind": "word", "unit": "", "help": "a general processor runs every type that has a rate on it; on a specialised accelerator at most one type may have one", "default": "gp", "words": ["gp", "sa"], "least": 0},
  {"key": "servers", "kind": "whole", "unit": "", "help": "identical units behind one queue", "default": 1, "words": [], "least": 1},
  {"key": "discipline", "kind": "word", "unit": "", "help": "the tasks there share it evenly, or are served first come, first served", "default": "ps", "words": ["ps", "fcfs"], "least": 0},
  {"key": "min_depth", "kind": "whole", "unit": "", "help": "it gets no task or at least this many: a device with launch latency wants 2", "default": 1, "words": [], "least": 1},
  {"key": "power", "kind": "number", "unit": "W", "help": "watts of one busy server", "default": 1.0, "words": [], "least": 0},
  {"key": "idle_power", "kind": "number", "unit": "W", "help": "watts of one idle server", "default": 0.0, "words": [], "least": 0},
];

export interface DraftCapacity {
  /** a capacity is known by it; no resource has the same name */
  name: string;
  /** how much of it there is */
  amount: Field;
  /** whether all go on, more slowly, when it is overdrawn; else who does not get it waits */
  shared: boolean;
}

export const capacityFields: FieldInfo[] = [
  {"key": "name", "kind": "text", "unit": "", "help": "a capacity is known by it; no resource has the same name", "default": "", "words": [], "least": 0},
  {"key": "amount", "kind": "number", "unit": "", "help": "how much of it there is", "default": 1.0, "words": [], "least": 0},
  {"key": "shared", "kind": "flag", "unit": "", "help": "whether all go on, more slowly, when it is overdrawn; else who does not get it waits", "default": false, "words": [], "least": 0},
];

export interface DraftTask {
  /** a task is known by it */
  name: string;
  /** the number of threads whose tasks are of this type */
  count: Field;
  /** where the type belongs; it must be able to run there */
  home: string;
  /** weight of its desired share of all completions; for all types or for none, not all 0. Weights are divided by their sum */
  priority: Field;
  /** at least this many completions per second */
  floor: Field;
  /** the value of one completion */
  worth: Field;
  /** mean seconds from ready to done, at most this */
  max_response: Field;
  /** watts of a server at work on this type, by resource in their order */
  power: Field[];
  /** for each resource where it can run: what a task takes of capacities while it is in service. The name of a resource stands for its servers; by resource, then by capacity: the servers of every resource, then the others */
  needs: Field[][];
  /** tasks per second of one unit that works on nothing else; absent or 0: it cannot run there. A rate > 0 is at least 1e-100, by resource in their order */
  rates: Field[];
}

export const taskFields: FieldInfo[] = [
  {"key": "name", "kind": "text", "unit": "", "help": "a task is known by it", "default": "", "words": [], "least": 0},
  {"key": "count", "kind": "whole", "unit": "", "help": "the number of threads whose tasks are of this type", "default": 0, "words": [], "least": 0},
  {"key": "home", "kind": "resource", "unit": "", "help": "where the type belongs; it must be able to run there", "default": null, "words": [], "least": 0},
  {"key": "priority", "kind": "number", "unit": "", "help": "weight of its desired share of all completions; for all types or for none, not all 0. Weights are divided by their sum", "default": null, "words": [], "least": 0},
  {"key": "floor", "kind": "number", "unit": "tasks/s", "help": "at least this many completions per second", "default": null, "words": [], "least": 0},
  {"key": "worth", "kind": "number", "unit": "", "help": "the value of one completion", "default": 1.0, "words": [], "least": 0},
  {"key": "max_response", "kind": "number", "unit": "s", "help": "mean seconds from ready to done, at most this", "default": null, "words": [], "least": 0},
  {"key": "power", "kind": "by_resource", "unit": "W", "help": "watts of a server at work on this type", "default": null, "words": [], "least": 0},
  {"key": "needs", "kind": "needs", "unit": "", "help": "for each resource where it can run: what a task takes of capacities while it is in service. The name of a resource stands for its servers", "default": null, "words": [], "least": 0},
  {"key": "rates", "kind": "by_resource", "unit": "tasks/s", "help": "tasks per second of one unit that works on nothing else; absent or 0: it cannot run there. A rate > 0 is at least 1e-100", "default": null, "words": [], "least": 0},
];

export interface DraftGroup {
  /** what the group is called */
  name: string;
  /** how many such threads; at most 1,000,000,000 over all groups */
  count: Field;
  /** the task types that each thread runs, over and over */
  sequence: string[];
  /** the value of one round through the sequence */
  worth: Field;
  /** mean seconds of one round, at most this */
  max_response: Field;
}

export const groupFields: FieldInfo[] = [
  {"key": "name", "kind": "text", "unit": "", "help": "what the group is called", "default": "", "words": [], "least": 0},
  {"key": "count", "kind": "whole", "unit": "", "help": "how many such threads; at most 1,000,000,000 over all groups", "default": 1, "words": [], "least": 1},
  {"key": "sequence", "kind": "tasks", "unit": "", "help": "the task types that each thread runs, over and over", "default": null, "words": [], "least": 0},
  {"key": "worth", "kind": "number", "unit": "", "help": "the value of one round through the sequence", "default": 1.0, "words": [], "least": 0},
  {"key": "max_response", "kind": "number", "unit": "s", "help": "mean seconds of one round, at most this", "default": null, "words": [], "least": 0},
];
