// Two machines side by side: one that was kept, and the one being edited, for the same aim.
import {useMemo} from 'preact/hooks';
import type {Aim} from './address';
import type {ScenarioFile, Solution} from './answers';
import {capital, duration, number, percent, valueWords} from './format';
import type {Library} from './library';
import {Fit} from './parts';
import {draftOf, valueUnit} from './scenario';
import {firstAnswer, type FirstAnswer} from './study';

interface MachinesProps {
  library: Library;
  /** The scenario that was kept, as JSON. */
  other: string;
  answer: FirstAnswer;
  aim: Aim;
  onSwap: () => void;
  onEnd: () => void;
}

interface Row {
  /** Of a type: with its name, which is as people write it. */
  what: string;
  isName?: boolean;
  values: (number | null)[];
  words: (value: number) => string;
}

const rowsOf = (machines: Solution[], worths: string): Row[] => {
  const all = (pick: (solution: Solution) => number | null | undefined) => machines.map((solution) => pick(solution) ?? null);
  const types = [...new Set(machines.flatMap(({tasks}) => tasks))];
  return [
    ...(worths === 'value/s' ? [{what: 'value per second', values: all(({value}) => value), words: number}] : []),
    {what: 'tasks per second', values: all(({throughput}) => throughput), words: number},
    {what: 'mean response time', values: all(({response_time}) => response_time), words: duration},
    {what: 'mean power, W', values: all(({mean_power}) => mean_power), words: number},
    ...types.map((type) => ({what: `${type}, tasks/s`, isName: true, values: all(({tasks, throughput_by_task}) => throughput_by_task[tasks.indexOf(type)]), words: number})),
  ].filter(({values}) => values.some((value) => value !== null));
};

export function Machines({library, other, answer, aim, onSwap, onEnd}: MachinesProps) {
  const kept = useMemo(() => firstAnswer(library, other, aim), [library, other, aim]);
  const files = [other, answer.text].map((text) => JSON.parse(text) as ScenarioFile);
  const names = files.map(({name}, at) => name || (at === 0 ? 'kept' : 'edited'));
  const [first, second] = [Array.isArray(kept) ? null : kept.shown, answer.shown];
  const unit = files.some((file) => valueUnit(draftOf(file)) === 'value/s') ? 'value/s' : valueUnit(draftOf(files[1]!));
  const gain = first !== null && second !== null && first.value > 0 ? second.value / first.value - 1 : null;
  return (
    <section class="card" id="machines" aria-labelledby="machines-title">
      <h2 id="machines-title">Two machines</h2>
      <p>
        {gain === null
          ? 'One of the two has no answer for this aim.'
          : `The machine being edited reaches ${valueWords(second!.value, unit)}: ${gain === 0 ? 'as much as' : `${percent(Math.abs(gain))} ${gain > 0 ? 'more' : 'less'} than`} the one that was kept.`}
      </p>
      {first !== null && second !== null && (
        <Fit label="Two machines side by side">
          <table class="plain" id="two-machines">
            <thead><tr><th scope="col">with the same aim</th><th scope="col">kept: {names[0]}</th><th scope="col">edited: {names[1]}</th><th scope="col">change</th></tr></thead>
            <tbody>
              {rowsOf([first, second], unit).map(({what, isName, values: [a = null, b = null], words}) => (
                <tr key={what} data-what={what} data-kept={a ?? ''} data-edited={b ?? ''}>
                  <th scope="row">{isName ? what : capital(what)}</th>
                  <td>{a === null ? '–' : words(a)}</td>
                  <td>{b === null ? '–' : words(b)}</td>
                  <td>{a === null || b === null || a === 0 ? '–' : `${b > a ? '+' : ''}${percent(b / a - 1)}`}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Fit>
      )}
      <p class="group">
        <button type="button" id="swap" onClick={onSwap}>Swap: edit the other one</button>
        <button type="button" id="end-comparison" onClick={onEnd}>End the comparison</button>
      </p>
    </section>
  );
}
