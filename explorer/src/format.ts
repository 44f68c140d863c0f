// Numbers for people.
import type {ValueUnit} from './scenario';

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

const timesTen = (power: number): string =>
  ` × 10${[...String(power)].map((digit) => (digit === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)])).join('')}`;

/** The power of ten by which numbers of this size are written; 0 where they are written plainly. */
const powerOf = (size: number): number => (size !== 0 && (size >= 1e7 || size < 1e-4) ? Math.floor(Math.log10(size)) : 0);

const limited = (decimals: number, most: number): number => Math.min(most, Math.max(0, decimals));

export function number(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return '–';
  const magnitude = Math.abs(value);
  if (powerOf(magnitude) !== 0) {
    const [mantissa, power] = value.toExponential(digits - 1).split('e');
    return fixed(Number(mantissa), 0, digits - 1) + timesTen(Number(power));
  }
  return fixed(value, 0, magnitude === 0 ? 0 : limited(digits - 1 - Math.floor(Math.log10(magnitude)), 10));
}

export const signed = (value: number, digits = 3): string => (value > 0 ? `+${number(value, digits)}` : number(value, digits));

export function perSecond(throughput: number, digits = 4): string {
  const words = number(throughput, digits);
  return `${words} ${words === '1' ? 'task' : 'tasks'}/s`;
}

/** The value, in what it is counted in. */
export const valueWords = (value: number, unit: ValueUnit, digits = 4): string =>
  unit === 'tasks/s' ? perSecond(value, digits) : unit === 'rounds/s' ? `${number(value, digits)} rounds/s` : `${number(value, digits)} of value per second`;

/** On an axis. */
export const axisWords: Record<ValueUnit, string> = {'tasks/s': 'tasks per second', 'rounds/s': 'rounds per second', 'value/s': 'value per second'};

export function percent(share: number): string {
  const value = 100 * share;
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0%';
  const magnitude = Math.abs(value);
  if (magnitude < 0.001) return value < 0 ? '>−0.001%' : '<0.001%';
  return `${number(value, magnitude < 10 ? 2 : 3)}%`;
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–';
  for (const [scale, unit] of [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']] as const) {
    if (seconds >= scale) return `${number(seconds / scale, 3)} ${unit}`;
  }
  return `${number(seconds, 3)} s`;
}

/** A mean with its interval, at two digits of the latter, both to the same power of ten. */
export function interval(mean: number, halfWidth: number | null): string {
  const size = Math.max(Math.abs(mean), halfWidth ?? 0);
  if (halfWidth === null || !(halfWidth > 1e-9 * size)) return number(mean);
  const power = powerOf(size);
  const scale = 10 ** power;
  const decimals = limited(1 - Math.floor(Math.log10(halfWidth / scale)), 10);
  const words = `${fixed(mean / scale, decimals, decimals)} ± ${fixed(halfWidth / scale, decimals, decimals)}`;
  return power === 0 ? words : `(${words})${timesTen(power)}`;
}

/** The ticks of an axis: all to the same power of ten, with as many digits as tell them apart. */
export function tick(value: number, _: number, all: number[] = [value]): string {
  const size = Math.max(...all.map(Math.abs));
  const step = Math.min(...all.slice(1).map((other, at) => Math.abs(other - all[at]!)), size);
  if (value === 0 || !(step > 0)) return number(value, 3);
  const power = size >= 1e5 || size < 1e-2 ? Math.floor(Math.log10(size)) : 0;
  const scale = 10 ** power;
  const decimals = limited(-Math.floor(Math.log10(step / scale) + 1e-6), 10);
  return fixed(value / scale, decimals, decimals) + (power === 0 ? '' : timesTen(power).replaceAll(' ', ''));
}

export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

export const plural = (count: number, word: string): string => `${fixed(count, 0, 0)} ${word}${count === 1 ? '' : 's'}`;

/** A name where there is little room. */
export function brief(name: string, most: number): string {
  const letters = [...name];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : name;
}
