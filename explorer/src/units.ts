// Rates as people have them: tasks per second, or seconds per task.
import type {Field} from './scenario';

const kScales: Record<string, number> = {'': 1, s: 1, ms: 1e-3, us: 1e-6, 'µs': 1e-6, min: 60, h: 3600};

/** Seconds, also as in "50 ms"; anything else stays as typed, for the library to refuse. */
function secondsOf(field: Field): Field {
  if (typeof field !== 'string') return field;
  const [, digits, unit] = /^(\d+\.?\d*|\.\d+)\s*(s|ms|us|µs|min|h)$/.exec(field) ?? [];
  return digits === undefined ? field : Number(digits) * kScales[unit!]!;
}

/** With as many digits as survive being turned over twice. */
const inverse = (value: number): number => Number((1 / value).toPrecision(15));

/** The rate that was meant by what was typed. */
export function rateOf(typed: Field, asSeconds: boolean): Field {
  if (!asSeconds) return typed;
  const seconds = secondsOf(typed);
  return typeof seconds === 'number' && seconds > 0 ? 1 / seconds : seconds === 0 ? '0 seconds' : seconds;
}

/** The rate as it is shown. */
export const shownRate = (rate: Field, asSeconds: boolean): Field => (asSeconds && typeof rate === 'number' && rate > 0 ? inverse(rate) : rate);
