// The state in the address, after the #, so that a link shares it and no server ever sees it.

/** What to aim for with even sharing. */
export const views = ['throughput', 'priority', 'weighted'] as const;
export type View = (typeof views)[number];

/** What to aim for with planned service, in the words of the command. */
export const objectives = ['throughput', 'priority', 'max-min', 'proportional', 'energy'] as const;
export type Objective = (typeof objectives)[number];

export interface Aim {
  service: 'even' | 'planned';
  view: View;
  objective: Objective;
  /** Of the objective `energy`: the part of the value to keep, in percent, as typed. */
  keep: string;
}

export const usualAim: Aim = {service: 'even', view: 'throughput', objective: 'throughput', keep: '90'};

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

/** What stands behind the #, with it; null for a scenario that is too large for an address. */
export function writeAddress(scenario: string, {service, view, objective, keep}: Aim): string | null {
  if (scenario.length > kLongest) return null;
  // Some scenarios have planned service though nobody has asked for it.
  const said = {service, objective, ...(objective === 'energy' ? {keep} : {})};
  const unusual = Object.entries(said).filter(([key, value]) => value !== usualAim[key as keyof Aim]);
  const planned = unusual.map(([key, value]) => `&${key}=${encodeURIComponent(value)}`).join('');
  const hash = `#view=${view}${planned}&scenario=${encode(scenario)}`;
  return hash.length > kLongest ? null : hash;
}

/** The scenario's text and the aim; null for an address without any. Throws for one that is broken. */
export function readAddress(hash: string): {scenario: string; aim: Aim} | null {
  if (hash === '' || hash === '#') return null;
  const parameters = new URLSearchParams(hash.slice(1));
  const scenario = parameters.get('scenario');
  if (scenario === null) throw new Error('it holds no scenario');
  const known = <Word extends string>(words: readonly Word[], key: string, usual: Word): Word =>
    words.find((candidate) => candidate === parameters.get(key)) ?? usual;
  const aim: Aim = {
    service: known(['even', 'planned'] as const, 'service', usualAim.service),
    view: known(views, 'view', usualAim.view),
    objective: known(objectives, 'objective', usualAim.objective),
    keep: parameters.get('keep') ?? usualAim.keep,
  };
  try {
    return {scenario: decode(scenario), aim};
  } catch {
    throw new Error('a part of it is missing or was changed');
  }
}
