// Answers side by side, by what they reach.
import {useMemo} from 'preact/hooks';
import type {Simulation} from './answers';
import {axisWords, capital, interval, number} from './format';
import type {ValueUnit} from './scenario';
import {useAnswer, type FirstAnswer} from './study';
import type {Workbench} from './workbench';

export interface Row {
  key: string;
  name: string;
  value: number | null;
  words: string;
}

export const rowOf = (key: string, name: string, value: number): Row => ({key, name, value, words: number(value)});

export function Beside({rows, bound, unit}: {rows: Row[]; bound: number | null; unit: ValueUnit}) {
  const best = Math.max(bound ?? 0, ...rows.map(({value}) => value ?? 0), 1e-300);
  return (
    <table class="beside" id="beside">
      <caption>{capital(axisWords[unit])}{bound !== null ? `, of at most ${number(bound)}` : ''}</caption>
      <tbody>
        {rows.map(({key, name, value, words}) => (
          <tr key={key} data-key={key} data-value={value ?? ''}>
            <th scope="row">
              {name}
              <span class="meter" style={{'--part': `${Math.min(100, (100 * (value ?? 0)) / best)}%`}} aria-hidden="true" />
            </th>
            <td>{words}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** With more threads, a glance at JSQ would take too long. */
const kMostSimulated = 20_000;

/** What JSQ reaches, as a short simulation has it. */
export function useJsq(bench: Workbench, answer: FirstAnswer, worths: boolean): Row {
  const population = answer.map?.population ?? 0;
  const question = useMemo(
    () =>
      population > 0 && population <= kMostSimulated
        ? {
            command: 'simulate' as const,
            scenario: answer.text,
            options: {policy: 'jsq', completions: 1000, warmup: Math.min(20_000, 10 * population), replications: 10},
          }
        : null,
    [answer.text, population],
  );
  const jsq: Simulation | null | undefined = useAnswer(bench, question);
  const estimate = jsq && (worths ? jsq.value : jsq.throughput);
  return {
    key: 'jsq',
    name: 'JSQ, simulated',
    value: estimate?.mean ?? null,
    words: jsq === undefined ? '…' : !estimate ? '–' : interval(estimate.mean, estimate.half_width),
  };
}
