// The scenario being edited. It may be wrong, as long as somebody is typing: fields hold what was typed, and the library
// says what is the matter with them.
import type {Diagnostic, ScenarioFile} from './answers';
import {resourceFields, taskFields, type DraftResource, type DraftTask, type FieldInfo} from './fields';

/** A number, or the text that was typed instead of one. Absent: not given. */
export type Field = number | string | undefined;

export interface Draft {
  name: string;
  resources: DraftResource[];
  tasks: DraftTask[];
  /** What the page does not edit but must not lose: threads, population, arrivals. */
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
const kStepped = ['servers', 'count'];
export const isNumber = ({kind}: FieldInfo): boolean => kind === 'number' || kind === 'whole';
export const isStepped = ({key}: FieldInfo): boolean => kStepped.includes(key);

/** An entry of the file with every field of its table, by what it says. */
function entryOf(fields: FieldInfo[], file: Record<string, unknown>): Record<string, unknown> {
  const field = (value: unknown): Field => (typeof value === 'number' || typeof value === 'string' ? value : undefined);
  return Object.fromEntries(
    fields.map((info) => [
      info.key,
      isNumber(info) ? field(file[info.key] ?? (isStepped(info) ? info.default : undefined)) : String(file[info.key] ?? info.default ?? ''),
    ]),
  );
}

export const newResource = (name: string): DraftResource => entryOf(resourceFields, {name}) as unknown as DraftResource;

const taskOf = (file: Record<string, unknown>, rates: Field[]): DraftTask =>
  ({...entryOf(taskFields, file), rates}) as unknown as DraftTask;

/** From a scenario that the library has read, so it has the shape that it should. */
export function draftOf(file: ScenarioFile): Draft {
  const {name, resources, tasks, ...rest} = file;
  const rate = (value: unknown): Field => (typeof value === 'number' || typeof value === 'string' ? value : undefined);
  const drafts = resources.map((resource) => entryOf(resourceFields, resource) as unknown as DraftResource);
  return {
    name: name ?? '',
    resources: drafts,
    tasks: tasks.map((task) =>
      taskOf(task, drafts.map(({name: resource}) => rate((task.rates as Record<string, unknown> | undefined)?.[resource]))),
    ),
    rest,
    preset: '',
    isEdited: false,
  };
}

const withoutAbsent = (entries: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined && value !== ''));

export function fileOf(draft: Draft): ScenarioFile {
  return {
    ...(draft.name === '' ? {} : {name: draft.name}),
    resources: draft.resources.map(({name, ...resource}) => ({name, ...withoutAbsent({...resource})})),
    tasks: draft.tasks.map(({name, rates, ...task}) => ({
      name,
      ...withoutAbsent({...task}),
      rates: Object.fromEntries(
        draft.resources.flatMap((resource, j) => (rates[j] === undefined ? [] : [[resource.name, rates[j]]])),
      ),
    })),
    ...draft.rest,
  };
}

export const textOf = (draft: Draft): string => JSON.stringify(fileOf(draft));

/** Where a diagnostic belongs: a key such as `tasks.1.rates.0`, `resources.0.servers` or `` for the whole. */
export function placeOf(draft: Draft, diagnostic: Diagnostic): string {
  const match = /^(tasks|resources)(?:\[(\d+)\])?(?:\.(.*))?$/s.exec(diagnostic.place);
  if (match === null) return '';
  const [, list, index, path = ''] = match;
  if (index === undefined) return '';
  const rate = /^rates\.(?:"((?:[^"\\]|\\.)*)"|(.*))$/s.exec(path);
  if (rate !== null) {
    const name = rate[1]?.replace(/\\(.)/g, '$1') ?? rate[2];
    const j = draft.resources.findIndex((resource) => resource.name === name);
    return j < 0 ? `${list}.${index}` : `${list}.${index}.rates.${j}`;
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

export const withTask = (draft: Draft, i: number, change: Partial<DraftTask>): Draft => ({
  ...draft,
  tasks: draft.tasks.map((task, at) => (at === i ? {...task, ...change} : task)),
});

export const withRate = (draft: Draft, i: number, j: number, rate: Field): Draft =>
  withTask(draft, i, {rates: draft.tasks[i]!.rates.map((old, at) => (at === j ? rate : old))});

/** A rate one step up or down, of its second digit; where there is none, up to the median of its row. */
export function stepRate(draft: Draft, i: number, j: number, direction: 1 | -1): Draft {
  const rates = draft.tasks[i]!.rates.map((rate) => numberOf(rate, 0));
  const rate = rates[j]!;
  if (!(rate > 0)) {
    const others = rates.filter((other) => other > 0).sort((a, b) => a - b);
    return direction > 0 ? withRate(draft, i, j, others[Math.floor(others.length / 2)] ?? 1) : draft;
  }
  const unit = 10 ** (Math.floor(Math.log10(rate)) - 1);
  return withRate(draft, i, j, Number((Math.round(rate / unit + direction) * unit).toPrecision(12)));
}

export const addResource = (draft: Draft): Draft => ({
  ...draft,
  resources: [...draft.resources, newResource(freeName(draft.resources.map(({name}) => name), 'resource '))],
  tasks: draft.tasks.map((task) => ({...task, rates: [...task.rates, 1]})),
});

export const removeResource = (draft: Draft, j: number): Draft => ({
  ...draft,
  resources: draft.resources.filter((_, at) => at !== j),
  tasks: draft.tasks.map((task) => ({
    ...task,
    home: task.home === draft.resources[j]?.name ? '' : task.home,
    rates: task.rates.filter((_, at) => at !== j),
  })),
});

export const addTask = (draft: Draft): Draft => ({
  ...draft,
  tasks: [
    ...draft.tasks,
    taskOf(
      {
        name: freeName(draft.tasks.map(({name}) => name), 'task '),
        count: 1,
        ...(hasPriorities(draft) ? {priority: 1} : {}),
      },
      draft.resources.map((resource) => (resource.kind === 'sa' ? undefined : 1)),
    ),
  ],
});

export const removeTask = (draft: Draft, i: number): Draft => ({...draft, tasks: draft.tasks.filter((_, at) => at !== i)});

export const hasPriorities = (draft: Draft): boolean => draft.tasks.some((task) => task.priority !== undefined);

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
