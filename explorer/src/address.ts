// The state in the address, after the #, so that a link shares it and no server ever sees it.

export const views = ['throughput', 'priority', 'weighted'] as const;
export type View = (typeof views)[number];

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
export function writeAddress(scenario: string, view: View): string | null {
  if (scenario.length > kLongest) return null;
  const hash = `#view=${view}&scenario=${encode(scenario)}`;
  return hash.length > kLongest ? null : hash;
}

/** The scenario's text and the view; null for an address without any. Throws for one that is broken. */
export function readAddress(hash: string): {scenario: string; view: View} | null {
  if (hash === '' || hash === '#') return null;
  const parameters = new URLSearchParams(hash.slice(1));
  const scenario = parameters.get('scenario');
  if (scenario === null) throw new Error('it holds no scenario');
  const view = views.find((candidate) => candidate === parameters.get('view')) ?? 'throughput';
  try {
    return {scenario: decode(scenario), view};
  } catch {
    throw new Error('a part of it is missing or was changed');
  }
}
