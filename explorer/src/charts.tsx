// What a solution comes to, by resource and by type.
import {barX, ruleX, stackX, text, type PlotOptions} from '@observablehq/plot';
import {useCallback, useMemo, useState} from 'preact/hooks';
import type {Solution} from './answers';
import {Chart, namesAxis, numbersAxis} from './chart';
import {inkOn, typeColour, typeLetter} from './colours';
import {duration, number, percent, perSecond} from './format';
import {Fit} from './parts';
import {sharesOf, type Draft} from './scenario';

export function ThroughputChart({solution, flows}: {solution: Solution; flows: number[][]}) {
  const bars = useMemo(
    () => flows.flatMap((row, i) => row.map((x, j) => ({resource: solution.resources[j]!, i, x}))).filter(({x}) => x > 0),
    [solution, flows],
  );
  const options = useCallback(
    (width: number): PlotOptions => {
      const names = namesAxis(solution.resources);
      const marginRight = 64;
      const largest = Math.max(...solution.throughput_by_resource);
      // Colours repeat and are hard to tell apart: where there is room, the letter of the type too.
      const isWide = ({x}: {x: number}) => (x / largest) * (width - names.marginLeft - marginRight) > 14;
      return {
        ...names,
        height: 60 + 32 * solution.resources.length,
        marginBottom: 42,
        marginRight,
        x: numbersAxis('tasks per second', width),
        marks: [
          barX(bars, {
            x: 'x', y: 'resource', fill: (bar) => typeColour(bar.i), stroke: 'var(--surface)', insetTop: 2, insetBottom: 2,
            title: (bar) => `${solution.tasks[bar.i]} on ${bar.resource}: ${perSecond(bar.x)}`,
          }),
          text(bars, stackX({
            x: 'x', y: 'resource', fill: (bar) => inkOn(typeColour(bar.i)), fontWeight: 700, text: (bar) => (isWide(bar) ? typeLetter(bar.i) : ''),
          })),
          text(solution.resources, {
            x: (_, j) => solution.throughput_by_resource[j] ?? 0, y: (name) => name, text: (_, j) => number(solution.throughput_by_resource[j] ?? 0, 3),
            textAnchor: 'start', dx: 5, fill: 'currentColor',
          }),
          ruleX([0]),
        ],
      };
    },
    [bars, solution],
  );
  const label = `Throughput by resource: ${solution.resources.map((name, j) => `${name} ${number(solution.throughput_by_resource[j] ?? 0, 3)}`).join(', ')} tasks per second`;
  return <Chart label={label} options={options} />;
}

export function ResponseChart({solution}: {solution: Solution}) {
  const rows = useMemo(
    () => solution.tasks.map((task, i) => {
      const seconds = solution.response_time_by_task[i] ?? null;
      const hasThreads = solution.assignment === null || solution.assignment[i]!.some((count) => count > 0);
      return {task, i, seconds, words: seconds !== null ? duration(seconds) : hasThreads ? 'never done' : 'no threads'};
    }),
    [solution],
  );
  const options = useCallback(
    (width: number): PlotOptions => ({
      ...namesAxis(solution.tasks),
      height: 60 + 28 * rows.length,
      marginBottom: 42,
      marginRight: 76,
      x: numbersAxis('mean response time, seconds', width),
      marks: [
        barX(rows, {x: (row) => row.seconds ?? 0, y: 'task', fill: (row) => typeColour(row.i), insetTop: 2, insetBottom: 2}),
        text(rows, {
          x: (row) => row.seconds ?? 0, y: 'task', text: 'words', textAnchor: 'start', dx: 5, fill: 'currentColor',
        }),
        ruleX([0]),
      ],
    }),
    [rows, solution],
  );
  const label = `Mean response time by type: ${rows.map(({task, words}) => `${task} ${words}`).join(', ')}`;
  return <Chart label={label} options={options} />;
}

export function Shares({solution, draft}: {solution: Solution; draft: Draft}) {
  const asked = sharesOf(draft);
  return (
    <Fit label="Shares of the completions">
      <table class="plain">
        <caption>Shares of the completions</caption>
        <thead><tr><th scope="col">type</th><th scope="col">asked</th><th scope="col">got</th></tr></thead>
        <tbody>
          {solution.tasks.map((name, i) => (
            <tr key={name}>
              <th scope="row" title={name}><span class="brief">{name}</span></th>
              <td>{percent(asked[i] ?? 0)}</td>
              <td>{percent(solution.shares?.[i] ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Fit>
  );
}

/** Drawn when somebody opens it. */
export function FlowTable({solution, flows}: {solution: Solution; flows: number[][]}) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {open && (
        <Fit label="Throughput by task type and resource">
          <table class="plain" id="flows">
            <thead>
              <tr>
                <th scope="col">tasks/s</th>
                {solution.resources.map((name) => <th scope="col" key={name} title={name}><span class="brief">{name}</span></th>)}
                <th scope="col">all</th>
              </tr>
            </thead>
            <tbody>
              {solution.tasks.map((name, i) => (
                <tr key={name}>
                  <th scope="row" title={name}><span class="brief">{name}</span></th>
                  {solution.resources.map((resource, j) => <td key={resource}>{number(flows[i]?.[j] ?? 0, 3)}</td>)}
                  <td>{number(solution.throughput_by_task[i] ?? 0, 3)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Fit>
      )}
    </details>
  );
}
