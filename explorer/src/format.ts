// Numbers for people.

// Making a format takes far longer than using it.
const formats = new Map<string, Intl.NumberFormat>();
function fixed(value: number, least: number, most: number): string {
  const key = `${least} ${most}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat('en', {minimumFractionDigits: least, maximumFractionDigits: most});
    formats.set(key, format);
  }
  return format.format(value).replace('-', '−');
}

export function number(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return '–';
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude >= 1e7 || magnitude < 1e-4)) return value.toExponential(digits - 2).replace('e', ' × 10^').replace('+', '');
  const decimals = magnitude === 0 ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(magnitude)));
  return fixed(value, 0, Math.min(decimals, 10));
}

export const signed = (value: number, digits = 3): string => (value > 0 ? `+${number(value, digits)}` : number(value, digits));

export function percent(share: number): string {
  const value = 100 * share;
  if (value === 0) return '0%';
  const magnitude = Math.abs(value);
  if (magnitude < 0.001) return '<0.001%'.replace('<', value < 0 ? '>−' : '<');
  return `${number(value, magnitude < 10 ? 2 : 3)}%`;
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–';
  for (const [scale, unit] of [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs']] as const) {
    if (seconds >= scale) return `${number(seconds / scale, 3)} ${unit}`;
  }
  return `${number(seconds, 3)} s`;
}

/** A mean with its interval, at two digits of the latter. */
export function interval(mean: number, halfWidth: number | null): string {
  if (halfWidth === null || !(halfWidth > 0)) return number(mean);
  const decimals = Math.min(8, Math.max(0, 1 - Math.floor(Math.log10(halfWidth))));
  return `${fixed(mean, decimals, decimals)} ± ${fixed(halfWidth, decimals, decimals)}`;
}

export const plural = (count: number, word: string): string => `${fixed(count, 0, 0)} ${word}${count === 1 ? '' : 's'}`;

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
