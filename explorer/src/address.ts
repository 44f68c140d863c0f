// The state of the page in its address, after the #, so that a link shares it and no server ever sees it.

import {objectiveNames, type Objective} from './fields';

/** What to aim for with even sharing. */
export const views = ['throughput', 'priority', 'weighted'] as const;
export type View = (typeof views)[number];

export interface Aim {
  service: 'even' | 'planned';
  view: View;
  objective: Objective;
  /** Of the objective `energy`: the part of the value to keep, in percent, as typed. */
  keep: string;
}

export const usualAim: Aim = {service: 'even', view: 'throughput', objective: 'throughput', keep: '90'};

/** What to simulate, as typed. */
export interface Settings {
  policies: string[];
  distribution: string;
  /** Those of the distribution that were given. */
  parameters: Record<string, string>;
  completions: string;
  replications: string;
  seed: string;
}

export const usualSettings: Settings = {
  policies: ['map', 'best-fit', 'jsq', 'random'], distribution: 'exponential', parameters: {}, completions: '100000', replications: '10', seed: '1',
};

/** The distribution with its parameters, as the command takes it. */
export function sizesOf({distribution, parameters}: Settings): string {
  const given = Object.entries(parameters).filter(([, value]) => value.trim() !== '').map(([key, value]) => `${key}=${value.trim()}`);
  return distribution + (given.length === 0 ? '' : `:${given.join(',')}`);
}

/** Everything that a link keeps. */
export interface Link {
  /** As JSON. */
  scenario: string;
  aim: Aim;
  /** The point chosen on the trade-off: its assignment. */
  point: number[][] | null;
  settings: Settings;
  /** Whether rates are shown as seconds per task. */
  asSeconds: boolean;
  /** The scenario to compare with. */
  other: string | null;
}

/** Browsers cut longer addresses, or refuse to open them. */
const kLongest = 1_000_000;

const encode = (text: string): string => {
  const bytes = new TextEncoder().encode(text);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};

const decode = (text: string): string => {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return new TextDecoder('utf-8', {fatal: true}).decode(Uint8Array.from(binary, (c) => c.charCodeAt(0)));
};

/** What is not said in an address unless it differs from the usual. */
const wordsOf = ({aim, point, settings, asSeconds, other}: Link): Record<string, string> => ({
  service: aim.service,
  objective: aim.objective,
  keep: aim.objective === 'energy' ? aim.keep : usualAim.keep,
  point: point === null ? '' : point.map((row) => row.join('.')).join('_'),
  policies: settings.policies.join(','),
  sizes: sizesOf(settings),
  completions: settings.completions,
  replications: settings.replications,
  seed: settings.seed,
  rates: asSeconds ? 'seconds' : '',
  other: other === null ? '' : encode(other),
});

const usualWords = wordsOf({scenario: '', aim: usualAim, point: null, settings: usualSettings, asSeconds: false, other: null});

/** What stands behind the #, with it; null for a scenario that is too large for an address. */
export function writeAddress(link: Link): string | null {
  if (link.scenario.length > kLongest) return null;
  const unusual = Object.entries(wordsOf(link)).filter(([key, value]) => value !== usualWords[key]);
  const words = unusual.map(([key, value]) => `&${key}=${encodeURIComponent(value)}`).join('');
  const hash = `#view=${link.aim.view}${words}&scenario=${encode(link.scenario)}`;
  return hash.length > kLongest ? null : hash;
}

function settingsOf(said: (key: string) => string): Settings {
  const [distribution, given = ''] = said('sizes').split(/:(.*)/s);
  const parameters = given.split(',').flatMap((part) => (part.includes('=') ? [part.split(/=(.*)/s).slice(0, 2) as [string, string]] : []));
  return {
    policies: said('policies').split(',').filter((name) => name !== ''),
    distribution: distribution!,
    parameters: Object.fromEntries(parameters),
    completions: said('completions'),
    replications: said('replications'),
    seed: said('seed'),
  };
}

/** Null for an address without any scenario. Throws for one that is broken. */
export function readAddress(hash: string): Link | null {
  if (hash === '' || hash === '#') return null;
  const parameters = new URLSearchParams(hash.slice(1));
  const scenario = parameters.get('scenario');
  if (scenario === null) throw new Error('it holds no scenario');
  const said = (key: string): string => parameters.get(key) ?? usualWords[key] ?? '';
  const known = <Word extends string>(words: readonly Word[], key: string, usual: Word): Word => words.find((candidate) => candidate === said(key)) ?? usual;
  try {
    return {
      scenario: decode(scenario),
      aim: {
        service: known(['even', 'planned'] as const, 'service', usualAim.service),
        view: known(views, 'view', usualAim.view),
        objective: known(objectiveNames, 'objective', usualAim.objective),
        keep: said('keep'),
      },
      point: said('point') === '' ? null : said('point').split('_').map((row) => row.split('.').map(Number)),
      settings: settingsOf(said),
      asSeconds: said('rates') === 'seconds',
      other: said('other') === '' ? null : decode(said('other')),
    };
  } catch {
    throw new Error('a part of it is missing or was changed');
  }
}
