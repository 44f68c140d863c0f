// Where a scenario comes from: a preset, a file, or the address.
import {readAddress, type Aim} from './address';
import {isRefusal, linesOf, type Diagnostic, type ScenarioFile} from './answers';
import type {Library} from './library';
import {presets, wishes} from './presets';
import {draftOf, kMostPairs, pairsOf, type Draft, type Field} from './scenario';

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

/** A draft from a file that somebody chose; or why there is none. */
export async function readFile(library: Library, file: File): Promise<Draft | string[]> {
  const format = /\.json$/i.test(file.name) ? 'json' : /\.toml$/i.test(file.name) ? 'toml' : null;
  if (format === null) return ['The file must be a scenario, and its name end in .toml or .json.'];
  if (file.size > 16 * 1024 * 1024) return ['It is larger than 16 MiB.'];
  let text: string;
  try {
    text = new TextDecoder('utf-8', {fatal: true}).decode(await file.arrayBuffer());
  } catch (error) {
    return [error instanceof TypeError ? 'It is not text in UTF-8.' : `It could not be read: ${String(error)}`];
  }
  const draft = readDraft(library, text, format);
  return Array.isArray(draft) ? linesOf(draft) : draft;
}

export function presetDraft(library: Library, id: string, seed: number): Draft {
  const preset = [...presets, ...wishes].find((candidate) => candidate.id === id) ?? presets[0]!;
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

/** What the address holds: null for nothing, or a notice of what is wrong with it. */
export function readLocation(library: Library): {draft: Draft; aim: Aim} | Notice | null {
  const title = 'The address of this page holds a scenario that cannot be read.';
  try {
    const address = readAddress(location.hash);
    if (address === null) return null;
    const draft = readDraft(library, address.scenario, 'json');
    return Array.isArray(draft) ? {title, lines: linesOf(draft)} : {draft, aim: address.aim};
  } catch (error) {
    return {title, lines: [error instanceof Error ? error.message : String(error)]};
  }
}
