// The scenario being edited. It may be wrong, as long as somebody is typing: fields hold what was typed, and the library
// says what is the matter with them.
import type {Diagnostic, ScenarioFile} from './answers';
import {
  capacityFields, groupFields, resourceFields, taskFields, type DraftCapacity, type DraftFile, type DraftGroup, type DraftResource,
  type DraftTask as FileTask, type FieldInfo,
} from './fields';

/** A number, or the text that was typed instead of one. Absent: not given. */
export type Field = number | string | undefined;

export interface DraftTask extends FileTask {
  /** How many come from outside each second: a file has them in a table of their own. */
  arrivals: Field;
}

export interface Draft extends DraftFile {
  resources: DraftResource[];
  /** What tasks draw on besides the servers of resources. */
  capacities: DraftCapacity[];
  tasks: DraftTask[];
  /** Threads that run several task types, one after the other. */
  groups: DraftGroup[];
  /** What the page does not edit but must not lose: population, measured. */
  rest: Record<string, unknown>;
  /** The preset that it began as, or ``; and whether it was edited since. */
  preset: string;
  isEdited: boolean;
}

/** With more pairs of task types and resources, edits would no longer be answered at once. */
export const kMostPairs = 256;

export const pairsOf = ({tasks, resources}: Draft): number => tasks.length * resources.length;

export const parseField = (text: string): Field => {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const value = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(trimmed) ? Number(trimmed) : Infinity;
  return Number.isFinite(value) ? value : trimmed;
};

export const showField = (field: Field): string => (field === undefined ? '' : String(field));

export const numberOf = (field: Field, otherwise: number): number => (typeof field === 'number' ? field : otherwise);

/** Numbers that are shown though nobody has given them. */
const kStepped = ['servers', 'count', 'amount'];
export const isNumber = ({kind}: FieldInfo): boolean => kind === 'number' || kind === 'whole';
export const isStepped = ({key}: FieldInfo): boolean => kStepped.includes(key);

const fieldOf = (value: unknown): Field => (typeof value === 'number' || typeof value === 'string' ? value : undefined);

type Entry = Record<string, unknown>;

/** What tasks can draw on, in the order of the library: the servers of every resource, then the other capacities. */
export const capacityNames = ({resources, capacities}: Pick<Draft, 'resources' | 'capacities'>): string[] =>
  [...resources, ...capacities].map(({name}) => name);

/** An entry of the file with every field of its table, by what it says. */
function entryOf(fields: FieldInfo[], file: Entry, resources: string[] = [], capacities: string[] = []): Entry {
  const valueOf = (info: FieldInfo): unknown => {
    const value = file[info.key];
    if (isNumber(info)) return fieldOf(value ?? (isStepped(info) ? info.default : undefined));
    if (info.kind === 'by_resource') return resources.map((name) => fieldOf((value as Entry | undefined)?.[name]));
    if (info.kind === 'needs') {
      const taken = (name: string): Entry | undefined => (value as Record<string, Entry> | undefined)?.[name];
      return resources.map((name) => capacities.map((capacity) => fieldOf(taken(name)?.[capacity])));
    }
    if (info.kind === 'flag') return Boolean(value ?? info.default);
    if (info.kind === 'tasks') return value ?? [];
    return String(value ?? info.default ?? '');
  };
  return Object.fromEntries(fields.map((info) => [info.key, valueOf(info)]));
}

const newResource = (name: string): DraftResource => entryOf(resourceFields, {name}) as unknown as DraftResource;

const taskOf = (file: Entry, resources: string[], capacities: string[], arrivals: Field): DraftTask =>
  ({...entryOf(taskFields, file, resources, capacities), arrivals}) as unknown as DraftTask;

/** From a scenario that the library has read, so it has the shape that it should. */
export function draftOf(file: ScenarioFile): Draft {
  const {name, power_cap, resources, capacities = [], tasks, threads = [], arrivals = [], ...rest} = file;
  const others = (capacities as Entry[]).map((capacity) => entryOf(capacityFields, capacity) as unknown as DraftCapacity);
  const names = resources.map((resource) => String(resource.name));
  // Streams of one type add up.
  const arriving = (task: unknown): Field => {
    const streams = (arrivals as {task: string; rate: number}[]).filter((stream) => stream.task === task);
    return streams.length === 0 ? undefined : streams.reduce((sum, {rate}) => sum + rate, 0);
  };
  return {
    name: name ?? '',
    power_cap: fieldOf(power_cap),
    resources: resources.map((resource) => entryOf(resourceFields, resource) as unknown as DraftResource),
    capacities: others,
    tasks: tasks.map((task) => taskOf(task, names, [...names, ...others.map((capacity) => capacity.name)], arriving(task.name))),
    groups: (threads as Entry[]).map((group) => entryOf(groupFields, group) as unknown as DraftGroup),
    rest,
    preset: '',
    isEdited: false,
  };
}

const withoutAbsent = (entries: Entry): Entry =>
  Object.fromEntries(
    Object.entries(entries).filter(([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)),
  );

function fileOf(draft: Draft): ScenarioFile {
  const byResource = (values: Field[]): Entry =>
    Object.fromEntries(draft.resources.flatMap((resource, j) => (values[j] === undefined ? [] : [[resource.name, values[j]]])));
  const names = capacityNames(draft);
  const taken = (amounts: Field[]): Entry | undefined => {
    const given = amounts.flatMap((amount, r) => (amount === undefined ? [] : [[names[r]!, amount]]));
    return given.length === 0 ? undefined : Object.fromEntries(given);
  };
  const byPair = (needs: Field[][]): Entry =>
    withoutAbsent(Object.fromEntries(draft.resources.map((resource, j) => [resource.name, taken(needs[j] ?? [])])));
  return {
    ...withoutAbsent({name: draft.name, power_cap: draft.power_cap}),
    resources: draft.resources.map(({name, ...resource}) => ({name, ...withoutAbsent({...resource})})),
    ...withoutAbsent({capacities: draft.capacities.map(({name, shared, ...capacity}) => ({name, ...withoutAbsent({...capacity}), ...(shared ? {shared} : {})}))}),
    tasks: draft.tasks.map(({name, rates, power, needs, arrivals: _, ...task}) => ({
      name,
      ...withoutAbsent({...task}),
      ...(power.some((watts) => watts !== undefined) ? {power: byResource(power)} : {}),
      ...(hasAny(needs) ? {needs: byPair(needs)} : {}),
      rates: byResource(rates),
    })),
    ...withoutAbsent({
      threads: draft.groups.map(({sequence, ...group}) => ({...withoutAbsent({...group}), sequence})),
      arrivals: streamsOf(draft).map(({name, arrivals}) => ({task: name, rate: arrivals})),
    }),
    ...draft.rest,
  };
}

const hasAny = (needs: Field[][]): boolean => needs.some((amounts) => amounts.some((amount) => amount !== undefined));

/** Whether some task takes anything but one server of the resource where it runs. */
export const hasNeeds = ({tasks}: Draft): boolean => tasks.some(({needs}) => hasAny(needs));

export const textOf = (draft: Draft): string => JSON.stringify(fileOf(draft));

/** The task types with arrivals, in the order of the file. */
const streamsOf = (draft: Draft): DraftTask[] => draft.tasks.filter(({arrivals}) => arrivals !== undefined);

/** Resource and capacity of a place below the needs of a task; null where there is none such. */
function needOf(draft: Draft, path: string): string | null {
  const names = [...path.matchAll(/(?:^|\.)(?:"((?:[^"\\]|\\.)*)"|([^."]+))/gs)].map((part) => part[1]?.replace(/\\(.)/g, '$1') ?? part[2]);
  if (names[0] !== 'needs') return null;
  const j = draft.resources.findIndex(({name}) => name === names[1]);
  const r = capacityNames(draft).indexOf(names[2] ?? '');
  return j < 0 || r < 0 ? null : `${j}.${r}`;
}

/** Where a diagnostic belongs: a key such as `tasks.1.rates.0`, `resources.0.servers`, `power_cap` or `` for the whole. */
export function placeOf(draft: Draft, diagnostic: Diagnostic): string {
  if (diagnostic.place === 'power_cap') return 'power_cap';
  const match = /^(tasks|resources|capacities|threads|arrivals)(?:\[(\d+)\])?(?:\.(.*))?$/s.exec(diagnostic.place);
  if (match === null) return '';
  const [, list, index, path = ''] = match;
  if (index === undefined) return '';
  if (list === 'arrivals') {
    const i = draft.tasks.indexOf(streamsOf(draft)[Number(index)]!);
    return i < 0 ? '' : `tasks.${i}.arrivals`;
  }
  if (list === 'threads') return path.startsWith('sequence') ? `groups.${index}.sequence` : `groups.${index}${path === '' ? '' : `.${path}`}`;
  const need = list === 'tasks' ? needOf(draft, path) : null;
  if (need !== null) return `tasks.${index}.needs.${need}`;
  const pair = /^(rates|power)\.(?:"((?:[^"\\]|\\.)*)"|(.*))$/s.exec(path);
  if (pair !== null && list === 'tasks') {
    const name = pair[2]?.replace(/\\(.)/g, '$1') ?? pair[3];
    const j = draft.resources.findIndex((resource) => resource.name === name);
    return j < 0 ? `${list}.${index}` : `${list}.${index}.${pair[1]}.${j}`;
  }
  return path === '' ? `${list}.${index}` : `${list}.${index}.${path}`;
}

/** All messages by place. */
export function marksOf(draft: Draft, diagnostics: Diagnostic[]): Map<string, string[]> {
  const marks = new Map<string, string[]>();
  for (const diagnostic of diagnostics) {
    const place = placeOf(draft, diagnostic);
    const messages = marks.get(place) ?? [];
    messages.push(diagnostic.message);
    marks.set(place, messages);
  }
  return marks;
}

const freeName = (taken: string[], stem: string): string => {
  let number = taken.length + 1;
  while (taken.includes(`${stem}${number}`)) number += 1;
  return `${stem}${number}`;
};

// Edits: each returns a new draft.

export const withResource = (draft: Draft, j: number, change: Partial<DraftResource>): Draft => {
  const renamed = change.name !== undefined ? draft.resources[j]?.name : undefined;
  return {
    ...draft,
    resources: draft.resources.map((resource, at) => (at === j ? {...resource, ...change} : resource)),
    tasks: draft.tasks.map((task) =>
      renamed !== undefined && renamed !== '' && task.home === renamed ? {...task, home: change.name!} : task,
    ),
  };
};

/** The lists that name task types, with another name for one of them, or without it. */
function renamedIn(draft: Draft, old: string, name: string | null): Pick<Draft, 'groups' | 'rest'> {
  const entries = (list: unknown): unknown =>
    Array.isArray(list) ? (list as Entry[]).flatMap((entry) => (entry.task !== old ? [entry] : name === null ? [] : [{...entry, task: name}])) : list;
  return {
    groups: draft.groups.map((group) => ({
      ...group,
      sequence: group.sequence.flatMap((task) => (task !== old ? [task] : name === null ? [] : [name])),
    })),
    rest: Object.fromEntries(Object.entries(draft.rest).map(([key, list]) => [key, entries(list)])),
  };
}

export const withTask = (draft: Draft, i: number, change: Partial<DraftTask>): Draft => {
  const old = draft.tasks[i]!.name;
  // While two types have the same name, nobody knows which is meant.
  const isRenamed = change.name !== undefined && change.name !== '' && old !== '' && draft.tasks.filter(({name}) => name === old).length === 1;
  return {
    ...draft,
    ...(isRenamed ? renamedIn(draft, old, change.name!) : {}),
    tasks: draft.tasks.map((task, at) => (at === i ? {...task, ...change} : task)),
  };
};

/** Of the numbers that a type has by resource, one. */
export const withPair = (draft: Draft, key: 'rates' | 'power', i: number, j: number, value: Field): Draft =>
  withTask(draft, i, {[key]: draft.tasks[i]![key].map((old, at) => (at === j ? value : old))});

/** A number of the row one step up or down, of its second digit; where there is none, up to the median of the row. */
export function stepped(row: number[], at: number, direction: 1 | -1): number | null {
  const value = row[at]!;
  if (!(value > 0)) {
    const others = row.filter((other) => other > 0).sort((a, b) => a - b);
    return direction > 0 ? (others[Math.floor(others.length / 2)] ?? 1) : null;
  }
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Number((Math.round(value / unit + direction) * unit).toPrecision(12));
}

export const addResource = (draft: Draft): Draft => ({
  ...draft,
  resources: [...draft.resources, newResource(freeName(draft.resources.map(({name}) => name), 'resource '))],
  tasks: draft.tasks.map((task) => ({
    ...task,
    rates: [...task.rates, 1],
    power: [...task.power, undefined],
    needs: withCapacityAt([...task.needs, nothingOf(draft)], draft.resources.length),
  })),
});

const nothingOf = (draft: Draft): Field[] => capacityNames(draft).map(() => undefined);

/** One more capacity, of which nothing is taken as yet. */
const withCapacityAt = (needs: Field[][], at: number): Field[][] =>
  needs.map((amounts) => [...amounts.slice(0, at), undefined, ...amounts.slice(at)]);
const withoutCapacityAt = (needs: Field[][], at: number): Field[][] => needs.map((amounts) => amounts.filter((_, r) => r !== at));

export const removeResource = (draft: Draft, j: number): Draft => ({
  ...draft,
  resources: draft.resources.filter((_, at) => at !== j),
  tasks: draft.tasks.map((task) => ({
    ...task,
    home: task.home === draft.resources[j]?.name ? '' : task.home,
    rates: task.rates.filter((_, at) => at !== j),
    power: task.power.filter((_, at) => at !== j),
    needs: withoutCapacityAt(task.needs.filter((_, at) => at !== j), j),
  })),
});

export const addTask = (draft: Draft): Draft => {
  const rates = Object.fromEntries(draft.resources.flatMap(({name, kind}) => (kind === 'sa' ? [] : [[name, 1]])));
  const task = {
    name: freeName(draft.tasks.map(({name}) => name), 'task '),
    count: draft.groups.length > 0 ? 0 : 1,
    ...(hasPriorities(draft) ? {priority: 1} : {}),
    rates,
  };
  return {...draft, tasks: [...draft.tasks, taskOf(task, draft.resources.map(({name}) => name), capacityNames(draft), undefined)]};
};

/** What a task takes of a capacity at a resource. */
export const withNeed = (draft: Draft, i: number, j: number, r: number, amount: Field): Draft =>
  withTask(draft, i, {
    needs: draft.tasks[i]!.needs.map((amounts, at) => (at === j ? amounts.map((old, other) => (other === r ? amount : old)) : amounts)),
  });

export const addCapacity = (draft: Draft): Draft => ({
  ...draft,
  capacities: [
    ...draft.capacities,
    entryOf(capacityFields, {name: freeName(draft.capacities.map(({name}) => name), 'capacity '), amount: 1}) as unknown as DraftCapacity,
  ],
  tasks: draft.tasks.map((task) => ({...task, needs: withCapacityAt(task.needs, capacityNames(draft).length)})),
});

export const withCapacity = (draft: Draft, k: number, change: Partial<DraftCapacity>): Draft => ({
  ...draft,
  capacities: draft.capacities.map((capacity, at) => (at === k ? {...capacity, ...change} : capacity)),
});

export const removeCapacity = (draft: Draft, k: number): Draft => ({
  ...draft,
  capacities: draft.capacities.filter((_, at) => at !== k),
  tasks: draft.tasks.map((task) => ({...task, needs: withoutCapacityAt(task.needs, draft.resources.length + k)})),
});

export const removeTask = (draft: Draft, i: number): Draft => ({
  ...draft,
  ...renamedIn(draft, draft.tasks[i]!.name, null),
  tasks: draft.tasks.filter((_, at) => at !== i),
});

/** One more group, which visits every type once. Threads, worth and limits are those of groups from then on, so the types give them up. */
export function addGroup(draft: Draft): Draft {
  const threads = draft.tasks.reduce((sum, {count}) => sum + numberOf(count, 0), 0);
  const group = {
    name: freeName(draft.groups.map(({name}) => name), 'job '),
    count: threads > 0 ? threads : 8,
    sequence: draft.tasks.map(({name}) => name),
  };
  return {
    ...draft,
    tasks: draft.tasks.map((task) => ({...task, count: 0, worth: undefined, max_response: undefined})),
    groups: [...draft.groups, entryOf(groupFields, group) as unknown as DraftGroup],
  };
}

export const withGroup = (draft: Draft, k: number, change: Partial<DraftGroup>): Draft => ({
  ...draft,
  groups: draft.groups.map((group, at) => (at === k ? {...group, ...change} : group)),
});

export const removeGroup = (draft: Draft, k: number): Draft => ({...draft, groups: draft.groups.filter((_, at) => at !== k)});

export const hasPriorities = (draft: Draft): boolean => draft.tasks.some((task) => task.priority !== undefined);

/** What value is counted in: tasks or rounds where each counts 1. */
export type ValueUnit = 'tasks/s' | 'rounds/s' | 'value/s';
export function valueUnit({tasks, groups}: Draft): ValueUnit {
  if ([...tasks, ...groups].some(({worth}) => numberOf(worth, 1) !== 1)) return 'value/s';
  if (groups.length === 0) return 'tasks/s';
  return tasks.some(({arrivals}) => arrivals !== undefined) ? 'value/s' : 'rounds/s';
}

/** The shares that the priorities ask for. */
export function sharesOf(draft: Draft): number[] {
  const weights = draft.tasks.map(({priority}) => Math.max(0, numberOf(priority, 0)));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => (sum > 0 ? weight / sum : 0));
}

export const withPriorities = (draft: Draft, wanted: boolean): Draft => ({
  ...draft,
  tasks: draft.tasks.map((task) => ({...task, priority: wanted ? (task.priority ?? 1) : undefined})),
});

/** Floors that give everybody the level, times its priority: rounded down to four digits, so that they can be kept. */
export function withLevel(draft: Draft, level: number): Draft {
  const floorOf = ({floor, count, priority}: DraftTask): Field => {
    const wanted = level * numberOf(priority, 1);
    if (!(wanted > 0) || numberOf(count, 0) === 0) return floor;
    const unit = 10 ** (Math.floor(Math.log10(wanted)) - 3);
    return Math.max(numberOf(floor, 0), Number((Math.floor(wanted / unit) * unit).toPrecision(4)));
  };
  return {...draft, tasks: draft.tasks.map((task) => ({...task, floor: floorOf(task)}))};
}
