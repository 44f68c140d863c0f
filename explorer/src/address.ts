// The state in the address, after the #, so that a link shares it and no server ever sees it.

export type View = 'throughput' | 'priority' | 'weighted';

const kViews: View[] = ['throughput', 'priority', 'weighted'];

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

export const writeAddress = (scenario: string, view: View): string => `#view=${view}&scenario=${encode(scenario)}`;

/** The scenario's text and the view; null for an address without any. Throws for one that is broken. */
export function readAddress(hash: string): {scenario: string; view: View} | null {
  if (hash === '' || hash === '#') return null;
  const parameters = new URLSearchParams(hash.slice(1));
  const scenario = parameters.get('scenario');
  if (scenario === null) throw new Error('it holds no scenario');
  const view = kViews.find((candidate) => candidate === parameters.get('view')) ?? 'throughput';
  try {
    return {scenario: decode(scenario), view};
  } catch {
    throw new Error('a part of it is missing or was changed');
  }
}
