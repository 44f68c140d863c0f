// What the library advises with even sharing, and why.
import {useMemo, useState} from 'preact/hooks';
import type {View} from './address';
import {isRefusal, type Solution} from './answers';
import {Beside, rowOf, useJsq} from './beside';
import {FlowTable, ResponseChart, Shares, ThroughputChart} from './charts';
import {duration, number, percent, perSecond, signed, valueWords} from './format';
import {Frontier} from './frontier';
import {Headline} from './headline';
import type {Library} from './library';
import {canRun, Matrix, noRate, type Cell} from './matrix';
import {hasPriorities, valueUnit, type Draft, type ValueUnit} from './scenario';
import {flowsOf, labelOf, solverOf, type FirstAnswer} from './study';
import {SaveSolution} from './summary';
import type {Benches} from './workbench';

/** A point belongs to the scenario that it was chosen for. */
export interface Choice {
  text: string;
  assignment: number[][];
}

interface EvenProps {
  library: Library;
  benches: Benches;
  /** What the answer is about. */
  draft: Draft;
  answer: FirstAnswer;
  isCurrent: boolean;
  view: View;
  /** The point of the trade-off that was chosen, where one was. */
  choice: Choice | null;
  onChoice: (choice: Choice | null) => void;
  /** Undefined while it is being worked on. */
  certificate: Solution | null | undefined;
}

/** How good the value is, as far as it is proven. */
function verdict(solution: Solution, certificate: Solution | null | undefined, unit: ValueUnit): string {
  if (solution.population === 0) return 'There are no threads, so there is nothing to place.';
  if (solution.outcome === 'infeasible') return `${solution.reason ?? 'nothing is known about why'}.`;
  if (certificate === undefined) return 'Looking for a proof…';
  if (certificate === null || certificate.upper_bound === null)
    return solution.approximate || certificate?.approximate
      ? 'Nothing can be proven here: there is no exact formula for tasks that wait for several FCFS servers.'
      : 'Nothing is proven.';
  const bound = certificate.upper_bound;
  const most = `no assignment ${unit === 'value/s' ? 'has' : 'completes'} more than ${valueWords(bound, unit)}`;
  const gap = bound > 0 ? Math.max(0, (bound - solution.value) / bound) : 0;
  if (gap < 1e-9) return `Proven optimal: ${most}.`;
  return certificate.proven_optimal
    ? `${percent(gap)} below the proven optimum of ${valueWords(bound, unit)}.`
    : `Proven within ${percent(gap)} of the optimum: ${most}.`;
}

/** What moving one task to or from a cell would change, in sentences. */
function reasons(solution: Solution, {i, j}: Cell, isAble: boolean, unit: ValueUnit): string[] {
  const task = solution.tasks[i]!;
  const resource = solution.resources[j]!;
  const placements = (solution.explanation ?? []).filter((placement) => placement.task === task);
  const effect = (gain: number, error: number, allowed: boolean) =>
    `would ${gain >= 0 ? 'gain' : 'lose'} ${valueWords(Math.abs(gain), unit, 3)} (${signed((100 * gain) / Math.max(solution.value, 1e-300), 2)}%)` +
    (solution.priority_error !== null ? ` and change the share error by ${signed(error, 2)}` : '') +
    (allowed ? '' : ', but would miss a minimum depth, a floor or a limit on the response time');
  const count = solution.assignment?.[i]?.[j] ?? 0;
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

export function EvenResults({library, benches, draft, answer, isCurrent, view, choice, onChoice, certificate}: EvenProps) {
  const [selected, setSelected] = useState<Cell | null>(null);
  const priorities = hasPriorities(draft);
  const chosen = choice !== null && choice.text === answer.text && view === 'priority' ? choice.assignment : null;

  // The search for a proof may find more than MAP did: the page then shows that.
  const isBeaten = view === 'throughput' && !!certificate && isCurrent && answer.shown !== null && certificate.value > answer.shown.value * (1 + 1e-9);
  const elsewhere = chosen ?? (isBeaten ? certificate.assignment : null);

  const evaluated = useMemo(() => {
    if (elsewhere === null) return null;
    const result = library.ask({command: 'evaluate', scenario: answer.text, options: {assignment: elsewhere}});
    return isRefusal(result) ? null : result;
  }, [library, answer.text, elsewhere]);
  const solution = evaluated ?? answer.shown;
  const flows = useMemo(() => (solution === null ? [] : flowsOf(library, answer.text, solution)), [library, answer.text, solution]);
  const cell = solution !== null && selected !== null && selected.i < solution.tasks.length && selected.j < solution.resources.length ? selected : null;

  const unit = valueUnit(draft);
  const worths = unit === 'value/s';
  const jsq = useJsq(benches.glance, answer, worths);
  if (solution === null) return null;
  const nameOfShown = chosen !== null ? 'The point chosen' : isBeaten ? 'The best found' : labelOf[solution.solver] ?? solution.solver;
  const rows = [
    ...(answer.map !== null ? [rowOf('map', labelOf.map!, answer.map.value)] : []),
    ...(elsewhere !== null || solution.solver !== solverOf.throughput ? [rowOf('shown', nameOfShown, solution.value)] : []),
    ...(answer.bestFit !== null ? [rowOf('best-fit', labelOf['best-fit']!, answer.bestFit.value)] : []),
    jsq,
  ];

  return (
    <>
      <Headline>
        {worths && <><strong id="value" data-value={solution.value}>{valueWords(solution.value, unit)}</strong>, </>}
        <strong id="throughput" class={worths ? 'lesser' : ''} data-value={solution.throughput}>{perSecond(solution.throughput)}</strong>
        {solution.response_time !== null && <span>, each done after {duration(solution.response_time)} on average</span>}
        {solution.priority_error !== null && view !== 'throughput' && (
          <span>, share error <span id="priority-error" data-value={solution.priority_error}>{number(solution.priority_error, 3)}</span></span>
        )}
        {solution.outcome === 'infeasible' && <span class="wrong">; no feasible answer was found, this is the nearest</span>}
      </Headline>
      <p
        class="verdict"
        id="verdict"
        role="status"
        data-bound={certificate?.upper_bound ?? ''}
        data-done={certificate !== undefined}
      >
        {chosen !== null ? 'The point chosen on the trade-off. ' : isBeaten ? 'Better than MAP: ' : view === 'weighted' ? '' : `${labelOf[solverOf[view]]}: `}
        {view === 'weighted' ? weightedWords(solution) : verdict(solution, certificate, unit)}
      </p>
      <SaveSolution solution={solution} flows={flows} name={draft.name} />
      <div class="columns">
        <div class="wide">
          <h3>Assignment</h3>
          <p class="quiet">Choose a cell to ask “why here?”</p>
          <Matrix solution={solution} draft={draft} selected={cell} onSelect={setSelected} />
          <div class="why" id="why" aria-live="polite">
            {cell !== null && (
              <>
                <h4>Why {(solution.assignment?.[cell.i]?.[cell.j] ?? 0) > 0 ? 'here' : 'not here'}? “{solution.tasks[cell.i]}” on {solution.resources[cell.j]}</h4>
                <ul>
                  {(view === 'weighted' && evaluated === null
                    ? weightedReasons(solution, cell, canRun(draft, cell))
                    : reasons(solution, cell, canRun(draft, cell), unit)
                  ).map((line) => <li key={line}>{line}</li>)}
                </ul>
              </>
            )}
          </div>
        </div>
        <div>
          <h3>Side by side</h3>
          <Beside rows={rows} bound={certificate?.upper_bound ?? null} unit={unit} />
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
            unit={unit}
            onChoose={(assignment) => onChoice(assignment === null ? null : {text: answer.text, assignment})}
          />
        )}
      </div>
    </>
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
      ? `${number(share, 3)} servers of ${resource} work on “${task}” on average, as the linear program decides.`
      : `No time of ${resource} goes to “${task}”: the shares are met with more throughput without it.`,
    ...(solution.binding ?? []).map((line) => `What holds the throughput back: ${line}.`),
  ];
}
