// What the library advises, and why.
import {barX, ruleX, text, type PlotOptions} from '@observablehq/plot';
import {useCallback, useEffect, useMemo, useState} from 'preact/hooks';
import type {View} from './address';
import {isRefusal, type Solution} from './answers';
import {Chart} from './chart';
import {inkOn, typeColour, typeLetter} from './colours';
import {duration, interval, number, percent, signed} from './format';
import {Frontier} from './frontier';
import type {Library} from './library';
import {hasPriorities, numberOf, type Draft} from './scenario';
import {flowsOf, solverOf, useLatest, type FirstAnswer} from './study';
import type {Workbench} from './workbench';

interface ResultsProps {
  library: Library;
  studies: Workbench;
  draft: Draft;
  answer: FirstAnswer;
  /** Whether the answer is that of the scenario as it stands, or of the last one that was right. */
  isCurrent: boolean;
  view: View;
  onView: (view: View) => void;
  /** Undefined while it is being worked on. */
  certificate: Solution | null | undefined;
}

const kViews: {view: View; label: string; summary: string}[] = [
  {view: 'throughput', label: 'Throughput', summary: 'MAP: the most tasks per second'},
  {view: 'priority', label: 'Priority', summary: 'MIS: completions shared out as the priorities ask'},
  {view: 'weighted', label: 'Weighted', summary: 'exact shares, by resources that divide their time unevenly'},
];

/** How good the throughput is, as far as it is proven. */
export function verdict(solution: Solution, certificate: Solution | null | undefined): string {
  if (solution.outcome === 'infeasible') return `No feasible assignment was found: ${solution.reason ?? ''}`;
  if (certificate === undefined) return 'Looking for a proof…';
  if (certificate === null || certificate.upper_bound === null)
    return solution.approximate || certificate?.approximate
      ? 'Nothing can be proven here: tasks that wait for several FCFS servers have no exact formula.'
      : 'Nothing is proven.';
  const bound = certificate.upper_bound;
  const gap = bound > 0 ? Math.max(0, (bound - solution.throughput) / bound) : 0;
  if (gap < 1e-9) return `Proven optimal: no assignment completes more than ${number(bound)} tasks/s.`;
  return certificate.proven_optimal
    ? `${percent(gap)} below the proven optimum of ${number(bound)} tasks/s.`
    : `Proven within ${percent(gap)} of the optimum: no assignment completes more than ${number(bound)} tasks/s.`;
}

interface Cell {
  i: number;
  j: number;
}

/** What moving one task to or from a cell would change, in sentences. */
function reasons(solution: Solution, {i, j}: Cell, canRun: boolean): string[] {
  const task = solution.tasks[i]!;
  const resource = solution.resources[j]!;
  const placements = (solution.explanation ?? []).filter((placement) => placement.task === task);
  const effect = (gain: number, error: number, allowed: boolean) =>
    `would ${gain >= 0 ? 'gain' : 'lose'} ${number(Math.abs(gain), 3)} tasks/s (${signed((100 * gain) / Math.max(solution.throughput, 1e-300), 2)}%)` +
    (solution.priority_error !== null ? ` and change the priority error by ${signed(error, 2)}` : '') +
    (allowed ? '' : ', but would leave a resource below its least depth');
  const count = solution.assignment[i]![j]!;
  if (count > 0) {
    const own = placements.find((placement) => placement.resource === resource);
    if (own === undefined || own.alternatives.length === 0) return [`“${task}” can run nowhere else.`];
    return own.alternatives.map(
      ({resource: other, gain, error_change, allowed}) => `Moving one “${task}” from ${resource} to ${other} ${effect(gain, error_change, allowed)}.`,
    );
  }
  if (!canRun) return [`“${task}” cannot run on ${resource}: it has no rate there.`];
  const towards = placements.flatMap((placement) =>
    placement.alternatives
      .filter((alternative) => alternative.resource === resource)
      .map(({gain, error_change, allowed}) => `Moving one “${task}” here from ${placement.resource} ${effect(gain, error_change, allowed)}.`),
  );
  return towards.length > 0 ? towards : [`There is no “${task}” to move here.`];
}

function Matrix({solution, draft, selected, onSelect}: {
  solution: Solution;
  draft: Draft;
  selected: Cell | null;
  onSelect: (cell: Cell) => void;
}) {
  const most = Math.max(1, ...solution.assignment.flat());
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="The assignment">
      <table class="assignment" id="assignment">
        <thead>
          <tr>
            <th scope="col" class="corner">threads at</th>
            {solution.resources.map((name) => <th scope="col" key={name}>{name}</th>)}
          </tr>
        </thead>
        <tbody>
          {solution.tasks.map((name, i) => (
            <tr key={name}>
              <th scope="row">
                <span class="chip" style={{background: typeColour(i), color: inkOn(typeColour(i))}} aria-hidden="true">{typeLetter(i)}</span>
                {name}
              </th>
              {solution.resources.map((resource, j) => {
                const count = solution.assignment[i]![j]!;
                const canRun = numberOf(draft.tasks[i]?.rates[j], 0) > 0;
                const share = solution.time_shares?.[i]?.[j];
                return (
                  <td key={resource}>
                    <button
                      type="button"
                      class={`cell ${count > 0 ? 'taken' : canRun ? 'free' : 'never'}`}
                      style={{'--part': `${(100 * count) / most}%`, '--colour': typeColour(i)}}
                      aria-pressed={selected?.i === i && selected.j === j}
                      aria-label={`${name} on ${resource}: ${count}. Why here?`}
                      onClick={() => onSelect({i, j})}
                    >
                      <b>{count > 0 ? count : canRun ? '·' : ''}</b>
                      {share !== undefined && share > 0 && <small>{number(share, 3)} units</small>}
                    </button>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ThroughputChart({solution, flows}: {solution: Solution; flows: number[][]}) {
  const bars = useMemo(
    () => flows.flatMap((row, i) => row.map((x, j) => ({resource: solution.resources[j]!, i, x}))).filter(({x}) => x > 0),
    [solution, flows],
  );
  const options = useCallback(
    (width: number): PlotOptions => ({
      height: 60 + 32 * solution.resources.length,
      marginBottom: 42,
      marginLeft: Math.min(120, 24 + 7 * Math.max(...solution.resources.map((name) => name.length))),
      marginRight: 44,
      x: {label: 'tasks per second', grid: true, ticks: Math.max(3, Math.floor(width / 90))},
      y: {label: null, domain: solution.resources},
      marks: [
        barX(bars, {
          x: 'x', y: 'resource', fill: (bar) => typeColour(bar.i), stroke: 'var(--surface)', insetTop: 2, insetBottom: 2,
          title: (bar) => `${solution.tasks[bar.i]} on ${bar.resource}: ${number(bar.x)} tasks/s`,
        }),
        text(solution.resources, {
          x: (_, j) => solution.throughput_by_resource[j] ?? 0, y: (name) => name, text: (_, j) => number(solution.throughput_by_resource[j] ?? 0, 3),
          textAnchor: 'start', dx: 5, fill: 'currentColor',
        }),
        ruleX([0]),
      ],
    }),
    [bars, solution],
  );
  const label = `Throughput by resource: ${solution.resources.map((name, j) => `${name} ${number(solution.throughput_by_resource[j] ?? 0, 3)}`).join(', ')} tasks per second`;
  return <Chart label={label} options={options} />;
}

function ResponseChart({solution}: {solution: Solution}) {
  const rows = useMemo(
    () => solution.tasks.map((task, i) => ({task, i, seconds: solution.response_time_by_task[i] ?? null})),
    [solution],
  );
  const options = useCallback(
    (width: number): PlotOptions => ({
      height: 60 + 28 * rows.length,
      marginBottom: 42,
      marginLeft: Math.min(120, 24 + 7 * Math.max(...solution.tasks.map((name) => name.length))),
      marginRight: 60,
      x: {label: 'seconds from being placed to being done', grid: true, ticks: Math.max(3, Math.floor(width / 90))},
      y: {label: null, domain: solution.tasks},
      marks: [
        barX(rows, {x: (row) => row.seconds ?? 0, y: 'task', fill: (row) => typeColour(row.i), insetTop: 2, insetBottom: 2}),
        text(rows, {
          x: (row) => row.seconds ?? 0, y: 'task', text: (row) => (row.seconds === null ? 'never done' : duration(row.seconds)),
          textAnchor: 'start', dx: 5, fill: 'currentColor',
        }),
        ruleX([0]),
      ],
    }),
    [rows, solution],
  );
  const label = `Mean response time by type: ${rows.map(({task, seconds}) => `${task} ${duration(seconds)}`).join(', ')}`;
  return <Chart label={label} options={options} />;
}

/** With more threads, a glance at JSQ would take too long. */
const kMostSimulated = 20_000;

function Beside({answer, certificate, studies}: {
  answer: FirstAnswer;
  certificate: Solution | null | undefined;
  studies: Workbench;
}) {
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
  const jsq = useLatest(studies, question);
  const bound = certificate?.upper_bound ?? null;
  const best = Math.max(bound ?? 0, answer.map?.throughput ?? 0, answer.shown?.throughput ?? 0, answer.bestFit?.throughput ?? 0, 1e-300);
  const shown = answer.shown;
  const rows: {key: string; name: string; value: number | null; words: string}[] = [];
  if (answer.map !== null) rows.push({key: 'map', name: 'MAP', value: answer.map.throughput, words: number(answer.map.throughput)});
  if (shown !== null && shown.solver !== 'map')
    rows.push({key: 'shown', name: shown.solver === 'mis' ? 'MIS' : shown.solver, value: shown.throughput, words: number(shown.throughput)});
  if (answer.bestFit !== null) rows.push({key: 'best-fit', name: 'Best Fit', value: answer.bestFit.throughput, words: number(answer.bestFit.throughput)});
  rows.push({
    key: 'jsq',
    name: 'JSQ, simulated',
    value: jsq?.throughput.mean ?? null,
    words: jsq === undefined ? '…' : jsq === null ? '–' : interval(jsq.throughput.mean, jsq.throughput.half_width),
  });
  return (
    <table class="beside" id="beside">
      <caption>Tasks per second{bound !== null ? `, of at most ${number(bound)}` : ''}</caption>
      <tbody>
        {rows.map(({key, name, value, words}) => (
          <tr key={key} data-key={key} data-value={value ?? ''}>
            <th scope="row">{name}</th>
            <td class="meter" aria-hidden="true"><span style={{width: `${Math.min(100, (100 * (value ?? 0)) / best)}%`}} /></td>
            <td class="value">{words}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Results({library, studies, draft, answer, isCurrent, view, onView, certificate}: ResultsProps) {
  const [selected, setSelected] = useState<Cell | null>(null);
  const [chosen, setChosen] = useState<number[][] | null>(null);
  const priorities = hasPriorities(draft);
  useEffect(() => setChosen(null), [answer.text, view]);

  const evaluated = useMemo(() => {
    if (chosen === null || view !== 'priority') return null;
    const result = library.ask({command: 'evaluate', scenario: answer.text, options: {assignment: chosen}});
    return isRefusal(result) ? null : result;
  }, [library, answer.text, chosen, view]);
  const solution = evaluated ?? answer.shown;
  const flows = useMemo(() => (solution === null ? [] : flowsOf(library, answer.text, solution)), [library, answer.text, solution]);
  const cell = solution !== null && selected !== null && selected.i < solution.tasks.length && selected.j < solution.resources.length ? selected : null;

  return (
    <section class={`card results ${isCurrent ? '' : 'stale'}`} id="results" tabIndex={-1} aria-labelledby="results-title">
      <div class="title">
        <h2 id="results-title">Where each task should run</h2>
        <fieldset class="views">
          <legend class="hidden">What to aim for</legend>
          {kViews.map((entry) => (
            <label key={entry.view} class={view === entry.view ? 'chosen' : ''} title={entry.summary}>
              <input
                type="radio"
                name="view"
                value={entry.view}
                checked={view === entry.view}
                disabled={entry.view !== 'throughput' && !priorities && view !== entry.view}
                onChange={() => onView(entry.view)}
              />
              {entry.label}
            </label>
          ))}
        </fieldset>
      </div>
      {!priorities && <p class="quiet">Tick “priorities” above to aim for shares of the completions.</p>}
      {answer.problem !== null && <p class="wrong" role="status">{answer.problem}</p>}
      {solution !== null && (
        <>
          <p class="headline">
            <strong><output id="throughput" data-value={solution.throughput}>{number(solution.throughput)}</output> tasks/s</strong>
            {solution.response_time !== null && <span>, each done after {duration(solution.response_time)} on average</span>}
            {solution.priority_error !== null && view !== 'throughput' && (
              <span>, priority error <output id="priority-error" data-value={solution.priority_error}>{number(solution.priority_error, 3)}</output></span>
            )}
          </p>
          <p
            class="verdict"
            id="verdict"
            role="status"
            data-bound={certificate?.upper_bound ?? ''}
            data-done={certificate !== undefined}
          >
            {evaluated !== null ? 'The point chosen on the trade-off. ' : `${view === 'weighted' ? '' : `${solverOf[view].toUpperCase()}: `}`}
            {view === 'weighted' ? weightedWords(solution) : verdict(solution, certificate)}
          </p>
          <div class="columns">
            <div>
              <h3>Assignment</h3>
              <p class="quiet">Choose a cell to ask “why here?”</p>
              <Matrix solution={solution} draft={draft} selected={cell} onSelect={setSelected} />
              <div class="why" id="why" aria-live="polite">
                {cell !== null && (
                  <>
                    <h4>Why {solution.assignment[cell.i]![cell.j]! > 0 ? 'here' : 'not here'}? “{solution.tasks[cell.i]}” on {solution.resources[cell.j]}</h4>
                    <ul>
                      {(view === 'weighted' && evaluated === null
                        ? weightedReasons(solution, cell)
                        : reasons(solution, cell, numberOf(draft.tasks[cell.i]?.rates[cell.j], 0) > 0)
                      ).map((line) => <li key={line}>{line}</li>)}
                    </ul>
                  </>
                )}
              </div>
            </div>
            <div>
              <h3>Side by side</h3>
              <Beside answer={answer} certificate={certificate} studies={studies} />
              {solution.shares !== null && priorities && <Shares solution={solution} draft={draft} />}
            </div>
            <div>
              <h3>Throughput by resource</h3>
              <ThroughputChart solution={solution} flows={flows} />
              <FlowTable solution={solution} flows={flows} />
            </div>
            <div>
              <h3>Response time by type</h3>
              <ResponseChart solution={solution} />
            </div>
          </div>
          {priorities && answer.isStatic && (
            <Frontier
              studies={studies}
              text={answer.text}
              chosen={chosen}
              shown={answer.shown}
              onChoose={(assignment) => {
                if (view !== 'priority') onView('priority');
                // After the view has changed, which forgets the point chosen before.
                setTimeout(() => setChosen(assignment), 0);
              }}
            />
          )}
        </>
      )}
    </section>
  );
}

function weightedWords(solution: Solution): string {
  if (solution.outcome === 'infeasible') return `The shares cannot be met: ${solution.reason ?? ''}`;
  const binding = solution.binding ?? [];
  return 'Every type completes exactly its share. ' + (binding.length > 0 ? `What holds it back: ${binding.join('; ')}.` : '');
}

function weightedReasons(solution: Solution, {i, j}: Cell): string[] {
  const share = solution.time_shares?.[i]?.[j] ?? 0;
  return [
    share > 0
      ? `${number(share, 3)} units of ${solution.resources[j]} work on “${solution.tasks[i]}” on average, the time share that the linear programme gives it.`
      : `No time of ${solution.resources[j]} goes to “${solution.tasks[i]}”: the shares are met with more throughput without it.`,
    ...(solution.binding ?? []).map((line) => `What holds the throughput back: ${line}.`),
  ];
}

function Shares({solution, draft}: {solution: Solution; draft: Draft}) {
  const weights = draft.tasks.map(({priority}) => Math.max(0, numberOf(priority, 0)));
  const sum = weights.reduce((a, b) => a + b, 0);
  return (
    <table class="plain">
      <caption>Shares of the completions</caption>
      <thead><tr><th scope="col">type</th><th scope="col">asked</th><th scope="col">got</th></tr></thead>
      <tbody>
        {solution.tasks.map((name, i) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{percent(sum > 0 ? (weights[i] ?? 0) / sum : 0)}</td>
            <td>{percent(solution.shares?.[i] ?? 0)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function FlowTable({solution, flows}: {solution: Solution; flows: number[][]}) {
  return (
    <details>
      <summary>As a table</summary>
      <div class="scroll">
        <table class="plain" id="flows">
          <thead><tr><th scope="col">tasks/s</th>{solution.resources.map((name) => <th scope="col" key={name}>{name}</th>)}<th scope="col">all</th></tr></thead>
          <tbody>
            {solution.tasks.map((name, i) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {solution.resources.map((resource, j) => <td key={resource}>{number(flows[i]?.[j] ?? 0, 3)}</td>)}
                <td>{number(solution.throughput_by_task[i] ?? 0, 3)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
