// Simulations, in a worker: the page stays awake, and a click ends them.
import {dot, ruleX, ruleY, type PlotOptions} from '@observablehq/plot';
import {useCallback, useMemo, useState} from 'preact/hooks';
import {isRefusal, type Comparison, type Listing} from './answers';
import {Chart} from './chart';
import {duration, interval, number, percent, plural} from './format';
import type {Library} from './library';
import {hasPriorities, type Draft} from './scenario';
import {Cancelled, type Workbench} from './workbench';

interface SimulationProps {
  library: Library;
  bench: Workbench;
  draft: Draft;
  text: string;
  bound: number | null;
}

interface Settings {
  policies: string[];
  distribution: string;
  parameters: string;
  completions: string;
  replications: string;
  seed: string;
}

/** Those that need what a page cannot give: an assignment, a file. */
const kElsewhere = ['fixed', 'trace'];
const kNeedPriorities = ['mis', 'weighted'];

export const useListing = (library: Library): Listing =>
  useMemo(() => {
    const answer = library.ask({command: 'list'});
    return isRefusal(answer) ? {solvers: [], policies: [], distributions: []} : answer;
  }, [library]);

const wholeOf = (text: string): number | string => (/^\d+$/.test(text.trim()) ? Number(text) : text);

export function SimulationPanel({library, bench, draft, text, bound}: SimulationProps) {
  const listing = useListing(library);
  const [settings, setSettings] = useState<Settings>({
    policies: ['map', 'best-fit', 'jsq', 'random'], distribution: 'exponential', parameters: '', completions: '100000', replications: '10', seed: '1',
  });
  const [progress, setProgress] = useState<number | null>(null);
  const [result, setResult] = useState<{comparison: Comparison; text: string; bound: number | null} | null>(null);
  const [message, setMessage] = useState('');
  const priorities = hasPriorities(draft);
  const policies = listing.policies.filter(({name}) => !kElsewhere.includes(name));
  const usable = (name: string) => priorities || !kNeedPriorities.includes(name);
  const distribution = listing.distributions.find(({name}) => name === settings.distribution);
  const set = (change: Partial<Settings>) => setSettings((old) => ({...old, ...change}));

  const run = async () => {
    setMessage('');
    setProgress(0);
    const spec = settings.distribution + (settings.parameters.trim() === '' ? '' : `:${settings.parameters.trim()}`);
    const options = {
      // MAP first, where it is: the others are compared with it.
      policies: ['map', ...policies.map(({name}) => name).filter((name) => name !== 'map')].filter(
        (name) => settings.policies.includes(name) && usable(name),
      ),
      distribution: spec,
      completions: wholeOf(settings.completions),
      replications: wholeOf(settings.replications),
      seed: wholeOf(settings.seed),
    };
    try {
      const answer = await bench.ask({command: 'compare', scenario: text, options}, setProgress);
      if (isRefusal(answer)) setMessage(answer.diagnostics.map(({place, message: what}) => `${place}: ${what}`).join('; '));
      else setResult({comparison: answer, text, bound});
    } catch (error) {
      setMessage(error instanceof Cancelled ? 'Cancelled.' : `The simulation failed: ${String(error)}`);
    }
    setProgress(null);
  };

  return (
    <section class="card" aria-labelledby="simulation-title">
      <h2 id="simulation-title">Simulate</h2>
      <p class="quiet">What policies do when tasks come one by one, on the same random numbers. They are compared with MAP, or else with the first one chosen.</p>
      <fieldset class="policies" disabled={progress !== null}>
        <legend>Policies</legend>
        {policies.map(({name, summary}) => (
          <label key={name} title={summary} class={usable(name) ? '' : 'off'}>
            <input
              type="checkbox"
              value={name}
              disabled={!usable(name)}
              checked={settings.policies.includes(name) && usable(name)}
              onChange={(event) =>
                set({policies: event.currentTarget.checked ? [...settings.policies, name] : settings.policies.filter((other) => other !== name)})
              }
            />
            {name}
          </label>
        ))}
      </fieldset>
      <div class="settings">
        <label>
          <span>Task sizes</span>
          <select id="distribution" value={settings.distribution} onChange={(event) => set({distribution: event.currentTarget.value, parameters: ''})}>
            {listing.distributions.filter(({name}) => !kElsewhere.includes(name)).map(({name, summary}) => (
              <option key={name} value={name} title={summary}>{name}</option>
            ))}
          </select>
        </label>
        {distribution?.parameters !== undefined && (
          <label>
            <span>with</span>
            <input type="text" value={settings.parameters} placeholder={distribution.parameters} onInput={(event) => set({parameters: event.currentTarget.value})} />
          </label>
        )}
        <label><span>Completions</span><input type="text" id="completions" inputMode="numeric" value={settings.completions} onInput={(event) => set({completions: event.currentTarget.value})} /></label>
        <label><span>Replications</span><input type="text" id="replications" inputMode="numeric" value={settings.replications} onInput={(event) => set({replications: event.currentTarget.value})} /></label>
        <label><span>Seed</span><input type="text" id="seed" inputMode="numeric" value={settings.seed} onInput={(event) => set({seed: event.currentTarget.value})} /></label>
        <span class="go">
          {progress === null ? (
            <button type="button" class="primary" id="run" onClick={run} disabled={!settings.policies.some(usable)}>Run</button>
          ) : (
            <button type="button" class="primary" id="cancel" onClick={() => bench.cancel()}>Cancel</button>
          )}
          {progress !== null && <progress max="1" value={progress} aria-label="Progress of the simulation">{percent(progress)}</progress>}
        </span>
      </div>
      <p role="status" id="simulation-message" class={message === '' || message === 'Cancelled.' ? 'quiet' : 'wrong'}>{message}</p>
      {result !== null && <Outcome {...result} isCurrent={result.text === text} />}
    </section>
  );
}

function Outcome({comparison, bound, isCurrent}: {comparison: Comparison; bound: number | null; isCurrent: boolean}) {
  const rows = useMemo(
    () =>
      comparison.policies.map(({policy, throughput}) => ({
        policy, mean: throughput.mean, low: throughput.mean - (throughput.half_width ?? 0), high: throughput.mean + (throughput.half_width ?? 0),
      })),
    [comparison],
  );
  const options = useCallback(
    (width: number): PlotOptions => ({
      height: 66 + 28 * rows.length,
      marginBottom: 42,
      marginLeft: Math.min(150, 24 + 7 * Math.max(...rows.map(({policy}) => policy.length))),
      marginRight: 20,
      x: {label: 'tasks per second, with 95% intervals', grid: true, nice: true, ticks: Math.max(3, Math.floor(width / 90))},
      y: {label: null, domain: rows.map(({policy}) => policy)},
      marks: [
        ...(bound !== null ? [ruleX([bound], {stroke: '#d55e00', strokeDasharray: '5,3', strokeWidth: 1.5, title: () => `no assignment completes more than ${number(bound)}`})] : []),
        ruleY(rows, {y: 'policy', x1: 'low', x2: 'high', stroke: 'var(--accent)', strokeWidth: 4, strokeOpacity: 0.45}),
        dot(rows, {x: 'mean', y: 'policy', r: 4, fill: 'var(--accent)', title: (row) => `${row.policy}: ${number(row.mean, 6)}`}),
      ],
    }),
    [rows, bound],
  );
  const first = comparison.policies[0];
  if (first === undefined) return null;
  const notes = [...new Set(comparison.policies.flatMap(({policy, notes: own}) => own.map((note) => `${policy}: ${note}`)))];
  return (
    <div class={isCurrent ? '' : 'stale'} id="outcome">
      {!isCurrent && <p class="quiet">The scenario has changed since.</p>}
      <Chart
        label={`Throughput by policy: ${rows.map(({policy, mean}) => `${policy} ${number(mean)}`).join(', ')} tasks per second`}
        options={options}
      />
      {bound !== null && <p class="quiet">The dashed line is the proven bound, {number(bound)} tasks/s: under PS no policy completes more.</p>}
      <div class="scroll" tabIndex={0} role="group" aria-label="Results of the simulation">
        <table class="plain numbers" id="simulated">
          <thead>
            <tr>
              <th scope="col">policy</th><th scope="col">tasks/s</th><th scope="col">against {first.policy}</th><th scope="col">mean response</th>
              <th scope="col">95% up to</th><th scope="col">busy</th><th scope="col">J a task</th>
            </tr>
          </thead>
          <tbody>
            {comparison.policies.map((simulation) => {
              const difference = comparison.differences.find(({policy}) => policy === simulation.policy);
              return (
                <tr key={simulation.policy} data-policy={simulation.policy} data-throughput={simulation.throughput.mean} data-response={simulation.response_time.mean ?? ''}>
                  <th scope="row">{simulation.policy}</th>
                  <td>{interval(simulation.throughput.mean, simulation.throughput.half_width)}</td>
                  <td>
                    {difference === undefined ? '–' : `${difference.throughput.mean > 0 ? '+' : ''}${interval(difference.throughput.mean, difference.throughput.half_width)}`}
                    {difference !== undefined && !difference.significant && <small> not significant</small>}
                  </td>
                  <td>{duration(simulation.response_time.mean)}</td>
                  <td>{duration(simulation.response_time.p95)}</td>
                  <td>{simulation.utilization.map((share) => `${Math.round(100 * share)}%`).join(' ')}</td>
                  <td>{simulation.energy_per_task === null ? '–' : number(simulation.energy_per_task, 3)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="quiet">
        {plural(first.replications, 'replication')} of {plural(first.completions, 'completion')}, {first.distribution} sizes, seed {first.seed}.
        “Busy” is by resource: {comparison.resources.join(', ')}.
      </p>
      {notes.map((note) => <p class="quiet" key={note}>Note: {note}</p>)}
    </div>
  );
}
