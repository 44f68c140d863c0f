// What the library advises, and why.
import {barX, ruleX, stackX, text, type PlotOptions} from '@observablehq/plot';
import {useCallback, useMemo, useState} from 'preact/hooks';
import {views, type View} from './address';
import {isRefusal, type Solution} from './answers';
import {Chart, namesAxis, numbersAxis} from './chart';
import {inkOn, typeColour, typeLetter} from './colours';
import {duration, interval, number, percent, perSecond, signed} from './format';
import {Frontier} from './frontier';
import type {Library} from './library';
import {Chip, Scroller} from './parts';
import {hasPriorities, numberOf, sharesOf, type Draft} from './scenario';
import {flowsOf, solverOf, useAnswer, type FirstAnswer} from './study';
import type {Benches, Workbench} from './workbench';

interface ResultsProps {
  library: Library;
  benches: Benches;
  /** What the answer is about. */
  draft: Draft;
  answer: FirstAnswer;
  /** Whether the answer is that of the scenario as it stands, or of the last one that was right. */
  isCurrent: boolean;
  view: View;
  onView: (view: View) => void;
  /** Undefined while it is being worked on. */
  certificate: Solution | null | undefined;
}

const kWords: Record<View, {label: string; summary: string}> = {
  throughput: {label: 'Throughput', summary: 'MAP: the most tasks per second'},
  priority: {label: 'Priority', summary: 'MIS: completions shared out as the priorities ask'},
  weighted: {label: 'Weighted', summary: 'exact shares, by resources that divide their time unevenly'},
};

/** How good the throughput is, as far as it is proven. */
function verdict(solution: Solution, certificate: Solution | null | undefined): string {
  if (solution.population === 0) return 'There are no threads, so there is nothing to place.';
  if (solution.outcome === 'infeasible') return `${solution.reason ?? 'nothing is known about why'}.`;
  if (certificate === undefined) return 'Looking for a proof…';
  if (certificate === null || certificate.upper_bound === null)
    return solution.approximate || certificate?.approximate
      ? 'Nothing can be proven here: tasks that wait for several FCFS servers have no exact formula.'
      : 'Nothing is proven.';
  const bound = certificate.upper_bound;
  const gap = bound > 0 ? Math.max(0, (bound - solution.throughput) / bound) : 0;
  if (gap < 1e-9) return `Proven optimal: no assignment completes more than ${perSecond(bound)}.`;
  return certificate.proven_optimal
    ? `${percent(gap)} below the proven optimum of ${perSecond(bound)}.`
    : `Proven within ${percent(gap)} of the optimum: no assignment completes more than ${perSecond(bound)}.`;
}

interface Cell {
  i: number;
  j: number;
}

const noRate = (task: string, resource: string): string => `“${task}” cannot run on ${resource}: it has no rate there.`;

/** What moving one task to or from a cell would change, in sentences. */
function reasons(solution: Solution, {i, j}: Cell, isAble: boolean): string[] {
  const task = solution.tasks[i]!;
  const resource = solution.resources[j]!;
  const placements = (solution.explanation ?? []).filter((placement) => placement.task === task);
  const effect = (gain: number, error: number, allowed: boolean) =>
    `would ${gain >= 0 ? 'gain' : 'lose'} ${perSecond(Math.abs(gain), 3)} (${signed((100 * gain) / Math.max(solution.throughput, 1e-300), 2)}%)` +
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
  if (!isAble) return [noRate(task, resource)];
  const towards = placements.flatMap((placement) =>
    placement.alternatives
      .filter((alternative) => alternative.resource === resource)
      .map(({gain, error_change, allowed}) => `Moving one “${task}” here from ${placement.resource} ${effect(gain, error_change, allowed)}.`),
  );
  return towards.length > 0 ? towards : [`There is no “${task}” to move here.`];
}

const canRun = (draft: Draft, {i, j}: Cell): boolean => numberOf(draft.tasks[i]?.rates[j], 0) > 0;

function Matrix({solution, draft, selected, onSelect}: {
  solution: Solution;
  draft: Draft;
  selected: Cell | null;
  onSelect: (cell: Cell) => void;
}) {
  const most = Math.max(1, ...solution.assignment.flat());
  return (
    <Scroller label="The assignment">
      <table class="assignment" id="assignment">
        <thead>
          <tr>
            <th scope="col" class="corner">threads at</th>
            {solution.resources.map((name) => <th scope="col" key={name}><span class="brief" title={name}>{name}</span></th>)}
          </tr>
        </thead>
        <tbody>
          {solution.tasks.map((name, i) => (
            <tr key={name}>
              <th scope="row" title={name}><Chip type={i} /><span class="brief">{name}</span></th>
              {solution.resources.map((resource, j) => {
                const count = solution.assignment[i]![j]!;
                const isAble = canRun(draft, {i, j});
                const share = solution.time_shares?.[i]?.[j];
                return (
                  <td key={resource}>
                    <button
                      type="button"
                      class={`cell ${count > 0 ? '' : isAble ? 'free' : 'never'}`}
                      style={{'--part': `${(100 * count) / most}%`, '--colour': typeColour(i)}}
                      aria-pressed={selected?.i === i && selected.j === j}
                      aria-label={`${name} on ${resource}: ${count > 0 ? `${count}. Why here?` : isAble ? 'none. Why not here?' : 'cannot run there.'}`}
                      onClick={() => onSelect({i, j})}
                    >
                      <b>{count > 0 ? count : isAble ? '·' : ''}</b>
                      {share !== undefined && share > 0 && <small>{number(share, 3)} units</small>}
                    </button>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

function ThroughputChart({solution, flows}: {solution: Solution; flows: number[][]}) {
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

function ResponseChart({solution}: {solution: Solution}) {
  const rows = useMemo(
    () => solution.tasks.map((task, i) => {
      const seconds = solution.response_time_by_task[i] ?? null;
      const hasThreads = solution.assignment[i]!.some((count) => count > 0);
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
      x: numbersAxis('seconds from being placed to being done', width),
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

/** With more threads, a glance at JSQ would take too long. */
const kMostSimulated = 20_000;

function Beside({answer, solution, nameOfShown, certificate, bench}: {
  answer: FirstAnswer;
  /** The one that is shown above. */
  solution: Solution;
  /** Whether it is a point of the trade-off. */
  /** Of a solution that no solver of the page gave. */
  nameOfShown: string | null;
  certificate: Solution | null | undefined;
  bench: Workbench;
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
  const jsq = useAnswer(bench, question);
  const bound = certificate?.upper_bound ?? null;
  const best = Math.max(bound ?? 0, answer.map?.throughput ?? 0, solution.throughput, answer.bestFit?.throughput ?? 0, 1e-300);
  const rows: {key: string; name: string; value: number | null; words: string}[] = [];
  if (answer.map !== null) rows.push({key: 'map', name: 'MAP', value: answer.map.throughput, words: number(answer.map.throughput)});
  if (nameOfShown !== null || solution.solver !== 'map') {
    const name = nameOfShown ?? (solution.solver === 'mis' ? 'MIS' : 'Weighted');
    rows.push({key: 'shown', name, value: solution.throughput, words: number(solution.throughput)});
  }
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

export function Results({library, benches, draft, answer, isCurrent, view, onView, certificate}: ResultsProps) {
  const [selected, setSelected] = useState<Cell | null>(null);
  const [choice, setChoice] = useState<{text: string; assignment: number[][]} | null>(null);
  const priorities = hasPriorities(draft);
  // A point belongs to the scenario that it was chosen for.
  const chosen = choice !== null && choice.text === answer.text && view === 'priority' ? choice.assignment : null;

  // The search for a proof may find more than MAP did: the page then shows that.
  const isBeaten =
    view === 'throughput' && !!certificate && isCurrent && answer.shown !== null && certificate.throughput > answer.shown.throughput * (1 + 1e-9);
  const elsewhere = chosen ?? (isBeaten ? certificate.assignment : null);

  const evaluated = useMemo(() => {
    if (elsewhere === null) return null;
    const result = library.ask({command: 'evaluate', scenario: answer.text, options: {assignment: elsewhere}});
    return isRefusal(result) ? null : result;
  }, [library, answer.text, elsewhere]);
  const solution = evaluated ?? answer.shown;
  const flows = useMemo(() => (solution === null ? [] : flowsOf(library, answer.text, solution)), [library, answer.text, solution]);
  const cell = solution !== null && selected !== null && selected.i < solution.tasks.length && selected.j < solution.resources.length ? selected : null;

  return (
    <section class={`card results ${isCurrent ? '' : 'stale'}`} id="results" tabIndex={-1} aria-labelledby="results-title">
      <div class="title">
        <h2 id="results-title">Where each task should run</h2>
        <fieldset class="views">
          <legend class="hidden">What to aim for</legend>
          {views.map((entry) => (
            <label key={entry} class={view === entry ? 'chosen' : ''} title={kWords[entry].summary}>
              <input
                type="radio"
                name="view"
                value={entry}
                checked={view === entry}
                disabled={entry !== 'throughput' && !priorities}
                onChange={() => {
                  setChoice(null);
                  onView(entry);
                }}
              />
              {kWords[entry].label}
            </label>
          ))}
        </fieldset>
      </div>
      {!priorities && <p class="quiet">Tick “priorities” above to aim for shares of the completions.</p>}
      {answer.problem !== null && <p class="wrong" role="status">{answer.problem}</p>}
      {solution !== null && (
        <>
          <p class="headline">
            <strong id="throughput" data-value={solution.throughput}>{perSecond(solution.throughput)}</strong>
            {solution.response_time !== null && <span>, each done after {duration(solution.response_time)} on average</span>}
            {solution.priority_error !== null && view !== 'throughput' && (
              <span>, priority error <span id="priority-error" data-value={solution.priority_error}>{number(solution.priority_error, 3)}</span></span>
            )}
            {solution.outcome === 'infeasible' && <span class="wrong">; no feasible answer was found, this is the nearest</span>}
          </p>
          <p
            class="verdict"
            id="verdict"
            role="status"
            data-bound={certificate?.upper_bound ?? ''}
            data-done={certificate !== undefined}
          >
            {chosen !== null ? 'The point chosen on the trade-off. ' : isBeaten ? 'Better than MAP: ' : view === 'weighted' ? '' : `${solverOf[view].toUpperCase()}: `}
            {view === 'weighted' ? weightedWords(solution) : verdict(solution, certificate)}
          </p>
          <div class="columns">
            <div class="wide">
              <h3>Assignment</h3>
              <p class="quiet">Choose a cell to ask “why here?”</p>
              <Matrix solution={solution} draft={draft} selected={cell} onSelect={setSelected} />
              <div class="why" id="why" aria-live="polite">
                {cell !== null && (
                  <>
                    <h4>Why {solution.assignment[cell.i]![cell.j]! > 0 ? 'here' : 'not here'}? “{solution.tasks[cell.i]}” on {solution.resources[cell.j]}</h4>
                    <ul>
                      {(view === 'weighted' && evaluated === null
                        ? weightedReasons(solution, cell, canRun(draft, cell))
                        : reasons(solution, cell, canRun(draft, cell))
                      ).map((line) => <li key={line}>{line}</li>)}
                    </ul>
                  </>
                )}
              </div>
            </div>
            <div>
              <h3>Side by side</h3>
              <Beside answer={answer} solution={solution} nameOfShown={chosen !== null ? 'The point chosen' : isBeaten ? 'The best found' : null} certificate={certificate} bench={benches.glance} />
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
            {priorities && answer.isStatic && (
              <Frontier
                bench={benches.tradeoff}
                text={answer.text}
                chosen={chosen}
                shown={answer.shown}
                onChoose={(assignment) => {
                  setChoice(assignment === null ? null : {text: answer.text, assignment});
                  if (view !== 'priority') onView('priority');
                }}
              />
            )}
          </div>
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

function weightedReasons(solution: Solution, {i, j}: Cell, isAble: boolean): string[] {
  const [task, resource] = [solution.tasks[i]!, solution.resources[j]!];
  if (!isAble) return [noRate(task, resource)];
  const share = solution.time_shares?.[i]?.[j] ?? 0;
  return [
    share > 0
      ? `${number(share, 3)} units of ${resource} work on “${task}” on average, the time share that the linear programme gives it.`
      : `No time of ${resource} goes to “${task}”: the shares are met with more throughput without it.`,
    ...(solution.binding ?? []).map((line) => `What holds the throughput back: ${line}.`),
  ];
}

function Shares({solution, draft}: {solution: Solution; draft: Draft}) {
  const asked = sharesOf(draft);
  return (
    <Scroller label="Shares of the completions">
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
    </Scroller>
  );
}

/** Drawn when somebody opens it. */
function FlowTable({solution, flows}: {solution: Solution; flows: number[][]}) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {open && (
        <Scroller label="Throughput by task type and resource">
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
        </Scroller>
      )}
    </details>
  );
}
