// What the library plans, what it comes to, and what keeps it from being more.
import {useMemo, useState} from 'preact/hooks';
import type {Aim} from './address';
import type {CapacityUse, Solution} from './answers';
import {Beside, rowOf} from './beside';
import {FlowTable, ResponseChart, ThroughputChart} from './charts';
import {Fairness} from './fairness';
import {capital, duration, number, percent, perSecond, valueWords} from './format';
import {Headline} from './headline';
import type {Library} from './library';
import {canRun, kLeastUnits, Matrix, noRate, type Cell} from './matrix';
import {Chip, Fit} from './parts';
import {hasNeeds, hasPriorities, numberOf, sharesOf, showField, valueUnit, withLevel, type Draft, type ValueUnit} from './scenario';
import {flowsOf, type FirstAnswer} from './study';
import {SaveSolution} from './summary';
import type {Benches} from './workbench';

interface PlanProps {
  library: Library;
  benches: Benches;
  draft: Draft;
  answer: FirstAnswer;
  plan: Solution;
  /** The best of even sharing: undefined while it is being worked on, null where that cannot answer. */
  even: Solution | null | undefined;
  onAim: (change: Partial<Aim>) => void;
  onDraft: (draft: Draft) => void;
}

/** What one more of something brings, in the unit of the objective. */
function gainWords(plan: Solution, draft: Draft): {verb: 'adds' | 'saves'; unit: string} {
  switch (plan.objective) {
    case 'throughput':
      if (plan.population === 0 && draft.groups.length === 0) return {verb: 'adds', unit: 'times the load'};
      return {verb: 'adds', unit: valueUnit(draft)};
    case 'priority': return {verb: 'adds', unit: 'tasks/s'};
    case 'max-min': return {verb: 'adds', unit: 'to the least'};
    case 'proportional': return {verb: 'adds', unit: 'to the sum of logs'};
    case 'energy': return {verb: 'saves', unit: 'W'};
  }
}

function verdict(plan: Solution, unit: ValueUnit): string {
  if (plan.outcome !== 'optimal' || !plan.proven_optimal)
    return plan.reason ?? `The best plan found (${plan.outcome.replace('_', ' ')}); it is not proven to be the best there is.`;
  if (plan.upper_bound !== null && plan.objective === 'throughput')
    return `Proven optimal: no policy, however clever, ${unit === 'value/s' ? 'has' : 'completes'} more than ${valueWords(plan.upper_bound, unit)}.`;
  return 'Proven optimal: no plan does better for this objective.';
}

/** What a cell of the plan means, in sentences. */
function reasons(plan: Solution, flows: number[][], {i, j}: Cell, isAble: boolean, isAlone: boolean): string[] {
  const [task, resource] = [plan.tasks[i]!, plan.resources[j]!];
  if (!isAble) return [noRate(task, resource)];
  const units = plan.time_shares?.[i]?.[j] ?? 0;
  if (units < kLeastUnits) return [`No time of ${resource} goes to “${task}”: for this objective, the plan is no worse without it.`];
  const all = plan.throughput_by_task[i] ?? 0;
  const here = flows[i]?.[j] ?? 0;
  const who = isAlone ? `${number(units, 3)} servers of ${resource} work on “${task}”. They` : `${number(units, 3)} tasks of “${task}” are in service at ${resource}. They`;
  return [`On average ${who} complete ${perSecond(here)}, ${percent(here / Math.max(all, 1e-300))} of all “${task}”.`];
}

export function PlanResults({library, benches, draft, answer, plan, even, onAim, onDraft}: PlanProps) {
  const unit = valueUnit(draft);
  if (plan.outcome === 'infeasible') return <Conflict plan={plan} />;
  const {headroom} = plan;
  const isOpen = plan.population === 0 && draft.groups.length === 0;
  const isValued = unit !== 'tasks/s' && !isOpen;
  return (
    <>
      <Headline>
        {isValued && <><strong id="value" data-value={plan.value}>{valueWords(plan.value, unit)}</strong>, </>}
        <strong id="throughput" class={isValued ? 'lesser' : ''} data-value={plan.throughput}>{perSecond(plan.throughput)}</strong>
        {plan.response_time !== null && <span>, each done after {duration(plan.response_time)} on average</span>}
        {plan.priority_error !== null && plan.objective !== 'throughput' && (
          <span>, share error <span id="priority-error" data-value={plan.priority_error}>{number(plan.priority_error, 3)}</span></span>
        )}
      </Headline>
      {headroom !== undefined && (
        <p class={`headroom ${headroom < 1 ? 'wrong' : ''}`} id="headroom" data-value={headroom}>
          {headroom >= 1
            ? `The machine can carry ${number(headroom)} times the load that arrives.`
            : `The load cannot be carried: the machine completes ${percent(headroom)} of what arrives.`}
        </p>
      )}
      <p class="verdict" id="verdict" role="status" data-bound={plan.upper_bound ?? ''} data-done="true" data-objective={plan.objective_value}>
        {isOpen && headroom === undefined
          ? 'There are no threads, so there is nothing to plan.'
          : verdict(plan, unit)}
      </p>
      <Packed plan={plan} draft={draft} />
      <Unserved plan={plan} priorities={hasPriorities(draft)} onAim={onAim} />
      <Details library={library} benches={benches} draft={draft} answer={answer} plan={plan} even={even} onAim={onAim} onDraft={onDraft} />
    </>
  );
}

/** Limits that cannot be met together. */
function Conflict({plan}: {plan: Solution}) {
  return (
    <div id="conflict" role="status">
      <Headline><strong id="throughput" class="wrong" data-value={plan.throughput}>No plan meets all limits</strong></Headline>
      <p class="verdict" id="verdict" data-done="true" data-bound="">{capital(plan.reason ?? 'Nothing is known about why')}.</p>
      {(plan.conflict?.length ?? 0) > 0 && (
        <>
          <p>To get a plan, relax {plan.conflict!.length === 1 ? 'it' : 'one of them'}:</p>
          <ul>{plan.conflict!.map((limit) => <li key={limit}>{limit}</li>)}</ul>
        </>
      )}
      {plan.headroom !== undefined && <p>The machine could carry {percent(Math.min(1, plan.headroom))} of the arrivals.</p>}
    </div>
  );
}

/** What is held cannot be split: whole tasks may reach less than the plan. */
function Packed({plan, draft}: {plan: Solution; draft: Draft}) {
  if (!hasNeeds(draft) || plan.objective !== 'throughput') return null;
  const {packing_bound: most} = plan;
  if (most !== undefined && most >= plan.value * (1 - 1e-6)) return null;
  return (
    <p class="quiet" id="packed" data-bound={most ?? ''}>
      {most === undefined
        ? 'What tasks hold cannot be split: whole tasks cannot meet all limits.'
        : `What tasks hold cannot be split: whole tasks reach at most ${valueWords(most, valueUnit(draft))}.`}
    </p>
  );
}

/** Types that get nothing, and the ways out. */
function Unserved({plan, priorities, onAim}: {plan: Solution; priorities: boolean; onAim: (change: Partial<Aim>) => void}) {
  const names = (plan.unserved ?? []).map((name) => `“${name}”`);
  if (names.length === 0) return null;
  const list = names.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return (
    <div class="hint-box" id="unserved">
      <p>
        No task of {list} is completed: the plan has more value without {names.length === 1 ? 'it' : 'them'}. To change that, give{' '}
        {names.length === 1 ? 'it' : 'each'} a floor or a larger worth under “all fields”, or aim for fairness:
      </p>
      <p class="group">
        <button type="button" onClick={() => onAim({objective: 'max-min'})}>Aim for max-min</button>
        <button type="button" onClick={() => onAim({objective: 'proportional'})}>Aim for proportional</button>
        {priorities && <button type="button" onClick={() => onAim({objective: 'priority'})}>Aim for the shares</button>}
      </p>
    </div>
  );
}

function Details({library, benches, draft, answer, plan, even, onDraft}: PlanProps) {
  const [selected, setSelected] = useState<Cell | null>(null);
  const flows = useMemo(() => flowsOf(library, answer.text, plan), [library, answer.text, plan]);
  const cell = selected !== null && selected.i < plan.tasks.length && selected.j < plan.resources.length ? selected : null;
  const unit = valueUnit(draft);
  const hasClosed = plan.population > 0 || draft.groups.length > 0;
  const rows = [
    rowOf('shown', 'This plan', plan.value),
    ...(even && even.outcome !== 'infeasible' ? [rowOf('even', 'Even sharing, the best', even.value)] : []),
    ...(answer.bestFit !== null ? [rowOf('best-fit', 'Best Fit', answer.bestFit.value)] : []),
  ];
  return (
    <>
    <SaveSolution solution={plan} flows={flows} name={draft.name} />
    <div class="pieces">
      <div>
        <h3>Plan</h3>
        <p class="quiet">
          {hasNeeds(draft) ? 'How many tasks of each type are in service at a resource,' : 'How many servers of a resource work on each type,'} on average.
          Choose a cell to read it.
        </p>
        <Matrix solution={plan} draft={draft} selected={cell} onSelect={setSelected} />
        <div class="why" id="why" aria-live="polite">
          {cell !== null && reasons(plan, flows, cell, canRun(draft, cell), !hasNeeds(draft)).map((line) => <p key={line}>{line}</p>)}
        </div>
      </div>
      <Capacities plan={plan} draft={draft} />
      <ByType plan={plan} draft={draft} />
      <Limits plan={plan} draft={draft} />
      {(plan.rounds?.length ?? 0) > 0 && <Rounds plan={plan} draft={draft} />}
      {rows.length > 1 && (
        <div class="drawn">
          <h3>Side by side</h3>
          <Beside rows={rows} bound={plan.upper_bound} unit={unit} />
          {even?.outcome === 'infeasible' && <p class="quiet">Even sharing does not keep all limits: {even.reason}.</p>}
        </div>
      )}
      <div class="drawn">
        <h3>Throughput by resource</h3>
        <ThroughputChart solution={plan} flows={flows} />
        <FlowTable solution={plan} flows={flows} />
      </div>
      {plan.population > 0 && (
        <div class="drawn">
          <h3>Response time by type</h3>
          <ResponseChart solution={plan} />
        </div>
      )}
      {hasClosed && (
        <Fairness
          library={library} bench={benches.tradeoff} text={answer.text} plan={plan} even={even ?? null} valueUnit={unit}
          priorities={hasPriorities(draft)} onLevel={(level) => onDraft(withLevel(draft, level))}
        />
      )}
    </div>
    </>
  );
}

/** What is used of each capacity, and what one more unit of it would bring. */
function Capacities({plan, draft}: {plan: Solution; draft: Draft}) {
  const {verb, unit} = gainWords(plan, draft);
  const worthWords = verb === 'saves' ? 'would save' : unit.startsWith('to ') ? 'would add' : 'is worth';
  const capacities = plan.capacity_use ?? [];
  const showsPower =
    draft.power_cap !== undefined || plan.objective === 'energy' || draft.resources.some(({power, idle_power}) => (power ?? idle_power) !== undefined);
  const isDear = ({price}: CapacityUse) => price > 1e-9 * Math.abs(plan.objective_value);
  const hasOthers = capacities.length > plan.resources.length;
  const oneMore = (name: string) => (plan.resources.includes(name) ? `One more server of ${name}` : `One more unit of ${name}`);
  const dearest = capacities.reduce<CapacityUse | null>((best, use) => (isDear(use) && use.price > (best?.price ?? 0) ? use : best), null);
  return (
    <div>
      <h3>What one more is worth</h3>
      <Fit label="Use and price of the resources">
        <table class="plain" id="capacities">
          <thead>
            <tr>
              <th scope="col">{hasOthers ? 'capacity' : 'resource'}</th><th scope="col">{hasOthers ? 'units' : 'servers'}</th>
              <th scope="col">{hasOthers ? 'used' : 'busy'}</th><th scope="col">one more {verb}<br />{unit}</th>
            </tr>
          </thead>
          <tbody>
            {capacities.map((use) => (
              <tr key={use.name} data-name={use.name} data-price={use.price} data-used={use.used}>
                <th scope="row" title={use.name}><span class="brief">{use.name}</span></th>
                <td>{number(use.amount)}</td>
                <td>{percent(use.amount > 0 ? use.used / use.amount : 0)}</td>
                <td>{isDear(use) ? <b>{number(use.price)}</b> : '·'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Fit>
      <p class="quiet">
        {dearest === null
          ? `One more ${hasOthers ? 'unit' : 'server'} would change nothing that is optimised: threads or limits hold the plan back.`
          : `${oneMore(dearest.name)} ${worthWords} ${number(dearest.price)} ${unit}, as long as the same limits hold the plan back.`}
        {showsPower && plan.mean_power !== undefined && ` Mean power: ${number(plan.mean_power)} W${draft.power_cap === undefined ? '' : ` of at most ${showField(draft.power_cap)} W`}.`}
      </p>
    </div>
  );
}

/** What each type gets, and what was asked for it. */
function ByType({plan, draft}: {plan: Solution; draft: Draft}) {
  const hasValue = draft.tasks.some(({worth}) => worth !== undefined);
  const hasResponse = plan.population > 0;
  const priorities = hasPriorities(draft);
  const asked = sharesOf(draft);
  return (
    <div>
      <h3>By type</h3>
      <Fit label="What each task type gets">
        <table class="plain" id="by-type">
          <thead>
            <tr>
              <th scope="col">type</th>
              <th scope="col">tasks/s</th>
              {hasValue && <th scope="col">value/s</th>}
              {hasResponse && <th scope="col">response</th>}
              {priorities && <th scope="col">share</th>}
            </tr>
          </thead>
          <tbody>
            {plan.tasks.map((name, i) => {
              const {worth, floor, max_response, count} = draft.tasks[i]!;
              const x = plan.throughput_by_task[i] ?? 0;
              const seconds = plan.response_time_by_task[i];
              return (
                <tr key={name} data-name={name} data-throughput={x}>
                  <th scope="row" title={name}><Chip type={i} /><span class="brief">{name}</span></th>
                  <td>{number(x)}{floor !== undefined && <small>≥ {showField(floor)}</small>}</td>
                  {hasValue && <td>{number(numberOf(worth, 1) * x)}</td>}
                  {hasResponse && (
                    <td>
                      {seconds === null ? (numberOf(count, 0) > 0 ? 'never' : '–') : duration(seconds)}
                      {max_response !== undefined && <small>≤ {typeof max_response === 'number' ? duration(max_response) : max_response}</small>}
                    </td>
                  )}
                  {priorities && <td>{plan.shares === null ? '–' : percent(plan.shares[i] ?? 0)}<small>asked {percent(asked[i] ?? 0)}</small></td>}
                </tr>
              );
            })}
          </tbody>
        </table>
      </Fit>
    </div>
  );
}

/** As in "220 W", by what the limit is called. */
function amountWords(limit: string, amount: number): string {
  if (limit.includes('power_cap')) return `${number(amount)} W`;
  if (limit.includes('max_response')) return duration(amount);
  return limit.includes('floor') ? perSecond(amount) : number(amount);
}

/** Which limits bind, and what relaxing them would bring. */
function Limits({plan, draft}: {plan: Solution; draft: Draft}) {
  const {verb, unit} = gainWords(plan, draft);
  const limits = plan.limits ?? [];
  const isPriced = plan.objective !== 'max-min' && plan.objective !== 'proportional';
  const hasThreads = plan.population > 0 || draft.groups.length > 0;
  const hasAny =
    draft.power_cap !== undefined || draft.groups.some(({max_response}) => max_response !== undefined) ||
    draft.tasks.some(({floor, max_response, arrivals}) => (floor ?? max_response ?? (hasThreads ? arrivals : undefined)) !== undefined);
  if (!hasAny || !isPriced) return null;
  return (
    <div id="limits" class="drawn">
      <h3>Limits</h3>
      {limits.length === 0 && <p class="quiet">No limit restricts the plan: all are met with room to spare.</p>}
      <ul>
        {limits.map(({limit, amount, gain_if_relaxed}) => (
          <li key={limit} data-limit={limit} data-gain={gain_if_relaxed}>
            {capital(limit)} ({amountWords(limit, amount)}) binds: relaxed by 10%, it {verb} {number(gain_if_relaxed)} {unit}.
          </li>
        ))}
      </ul>
    </div>
  );
}

function Rounds({plan, draft}: {plan: Solution; draft: Draft}) {
  return (
    <div>
      <h3>Rounds</h3>
      <Fit label="Rounds per second by group">
        <table class="plain" id="rounds">
          <thead>
            <tr><th scope="col">group</th><th scope="col">rounds/s</th><th scope="col">value/s</th><th scope="col">a round takes</th></tr>
          </thead>
          <tbody>
            {draft.groups.map(({name, worth, count}, k) => {
              const rounds = plan.rounds?.[k] ?? 0;
              return (
                <tr key={k} data-rounds={rounds}>
                  <th scope="row">{name || `group ${k + 1}`}</th>
                  <td>{number(rounds)}</td>
                  <td>{number(numberOf(worth, 1) * rounds)}</td>
                  <td>{rounds > 0 ? duration(numberOf(count, 1) / rounds) : 'never done'}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Fit>
    </div>
  );
}
