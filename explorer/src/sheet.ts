// Tables of rates from elsewhere: pasted from a spreadsheet, or opened as CSV.
import type {ScenarioFile} from './answers';
import {addResource, addTask, kMostPairs, pairsOf, parseField, withPair, type Draft, type Field} from './scenario';
import {rateOf} from './units';

/** The cells of a table: separated by tabs, semicolons or commas, whichever its first line has; quoted as in CSV. */
export function cellsOf(text: string): string[][] {
  const [first = ''] = text.split('\n');
  const separator = ['\t', ';', ','].find((candidate) => first.includes(candidate)) ?? '\t';
  const rows: string[][] = [[]];
  const cell = new RegExp(`("(?:[^"]|"")*"|[^${separator}\\r\\n]*)(${separator}|\\r?\\n|\\r|$)`, 'g');
  for (const [, raw = '', end = ''] of text.replace(/^\ufeff/, '').replace(/[\r\n]+$/, '').matchAll(cell)) {
    const value = raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw;
    rows.at(-1)!.push(value.trim());
    if (end === '') break;
    if (end !== separator) rows.push([]);
  }
  // Where commas do not separate cells, they may separate decimals.
  return separator === ',' ? rows : rows.map((row) => row.map((value) => value.replace(/^([-+]?\d+),(\d+)$/, '$1.$2')));
}

export const isTable = (text: string): boolean => /[\t\n]/.test(text.trim());

/** A block of rates whose first cell is that of type i on resource j. Types and resources are added where it is larger than the grid. */
export function withBlock(draft: Draft, i: number, j: number, cells: string[][], asSeconds: boolean): Draft {
  let next = draft;
  const [rows, columns] = [i + cells.length, j + Math.max(...cells.map((row) => row.length))];
  while (next.resources.length < columns && pairsOf(addResource(next)) <= kMostPairs) next = addResource(next);
  while (next.tasks.length < rows && pairsOf(addTask(next)) <= kMostPairs) next = addTask(next);
  cells.forEach((row, down) => row.forEach((cell, right) => {
    if (i + down < next.tasks.length && j + right < next.resources.length) next = withPair(next, 'rates', i + down, j + right, rateOf(parseField(cell), asSeconds));
  }));
  return next;
}

/** Columns of a table that are not resources, as the file calls them. */
const kColumns: Record<string, string> = {threads: 'count', count: 'count', worth: 'worth', share: 'priority', priority: 'priority', floor: 'floor', max_response: 'max_response'};

/** Task types down, resources across, with names in the first column and the first row. */
export function scenarioOf(name: string, [head = [], ...rows]: string[][], asSeconds: boolean): ScenarioFile {
  const columns = head.map((title, k) => ({title, k, key: kColumns[title.toLowerCase().replaceAll(' ', '_')]})).slice(1).filter(({title}) => title !== '');
  const resources = columns.filter(({key}) => key === undefined);
  const given = (pairs: [string, Field][]) => Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
  return {
    name,
    resources: resources.map(({title}) => ({name: title})),
    tasks: rows.filter((row) => row.some((cell) => cell !== '')).map((row) => ({
      name: row[0] ?? '',
      ...given(columns.flatMap(({key, k}): [string, Field][] => (key === undefined ? [] : [[key, parseField(row[k] ?? '')]]))),
      ...(columns.some(({key}) => key === 'count') ? {} : {count: 1}),
      rates: given(resources.map(({title, k}) => [title, rateOf(parseField(row[k] ?? ''), asSeconds)])),
    })),
  };
}
