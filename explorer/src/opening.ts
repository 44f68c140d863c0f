// Where a scenario comes from: a preset, a file, or the address.
import {readAddress, type Link} from './address';
import {isRefusal, linesOf, type Diagnostic, type ScenarioFile} from './answers';
import type {Choice} from './even';
import type {Library} from './library';
import {guided, presets} from './presets';
import {scenarioOf} from './sheet';
import {draftOf, kMostPairs, pairsOf, textOf, type Draft, type Field} from './scenario';

/** Something that was refused, and why. */
export interface Notice {
  title: string;
  lines: string[];
}

/** A draft from the text of a file; or why there is none. */
export function readDraft(library: Library, scenario: string, format: 'json' | 'toml'): Draft | Diagnostic[] {
  const answer = library.ask({command: 'read', scenario, format});
  if (isRefusal(answer)) return answer.diagnostics;
  const draft = draftOf(JSON.parse(answer.json) as ScenarioFile);
  const pairs = pairsOf(draft);
  if (pairs <= kMostPairs) return draft;
  return [{place: 'size', message: `${pairs} pairs of task types and resources are too many for a page, which takes ${kMostPairs}; the command takes them`}];
}

/** The text of a file that somebody chose; or why it cannot be read. */
export async function textOfFile(file: File): Promise<string | string[]> {
  if (!/\.(json|toml|csv|tsv)$/i.test(file.name)) return ['The name of the file must end in .toml, .json or .csv.'];
  if (file.size > 16 * 1024 * 1024) return ['It is larger than 16 MiB.'];
  try {
    return new TextDecoder('utf-8', {fatal: true}).decode(await file.arrayBuffer());
  } catch (error) {
    return [error instanceof TypeError ? 'It is not text in UTF-8.' : `It could not be read: ${String(error)}`];
  }
}

/** A draft from a table of rates; or why there is none. */
export function readTable(library: Library, name: string, cells: string[][], asSeconds: boolean): Draft | Notice {
  const title = 'This table is not a scenario.';
  if (cells.length < 2 || cells[0]!.length < 2) return {title, lines: ['Its first row must name the resources, and its first column the task types.']};
  const draft = readDraft(library, JSON.stringify(scenarioOf(name, cells, asSeconds)), 'json');
  return Array.isArray(draft) ? {title, lines: linesOf(draft)} : draft;
}

export function presetDraft(library: Library, id: string, seed: number): Draft {
  const preset = [...presets, ...guided].find((candidate) => candidate.id === id) ?? presets[0]!;
  const answer = library.ask(preset.question(seed));
  if (isRefusal(answer)) throw new Error(linesOf(answer.diagnostics).join('; '));
  if ('json' in answer) return {...draftOf(JSON.parse(String(answer.json)) as ScenarioFile), preset: preset.id};
  // Nobody wants to read sixteen digits of a random number. It is then no longer what the seed gives.
  const short = (field: Field): Field => (typeof field === 'number' ? Number(field.toPrecision(3)) : field);
  const random = draftOf(answer as ScenarioFile);
  return {
    ...random,
    name: 'random',
    tasks: random.tasks.map((task) => ({...task, priority: short(task.priority), rates: task.rates.map(short)})),
    preset: preset.id,
  };
}

/** What a link opens. */
interface Opening extends Pick<Link, 'aim' | 'settings' | 'asSeconds' | 'other'> {
  draft: Draft;
  choice: Choice | null;
}

/** What the address holds: null for nothing, or a notice of what is wrong with it. */
export function readLocation(library: Library): Opening | Notice | null {
  const title = 'The address of this page holds a scenario that cannot be read.';
  try {
    const link = readAddress(location.hash);
    if (link === null) return null;
    const draft = readDraft(library, link.scenario, 'json');
    if (Array.isArray(draft)) return {title, lines: linesOf(draft)};
    const {aim, settings, asSeconds, point} = link;
    // A machine to compare with that cannot be read is left out: the scenario can still be shown.
    const other = link.other !== null && !Array.isArray(readDraft(library, link.other, 'json')) ? link.other : null;
    return {draft, aim, settings, asSeconds, other, choice: point === null ? null : {text: textOf(draft), assignment: point}};
  } catch (error) {
    return {title, lines: [error instanceof Error ? error.message : String(error)]};
  }
}
