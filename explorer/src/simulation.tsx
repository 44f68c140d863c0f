// Simulations, in a worker: the page stays awake, and a click ends them.
import {dot, ruleX, ruleY, type PlotOptions} from '@observablehq/plot';
import {useCallback, useMemo, useState} from 'preact/hooks';
import {sizesOf, type Settings} from './address';
import {isRefusal, linesOf, type Comparison} from './answers';
import {Chart, namesAxis, numbersAxis} from './chart';
import {duration, interval, number, percent, perSecond, plural} from './format';
import type {Library} from './library';
import {useListing} from './listing';
import {Act, Fit} from './parts';
import {hasPriorities, type Draft} from './scenario';
import {SaveComparison} from './summary';
import {Cancelled, type Workbench} from './workbench';

interface SimulationProps {
  library: Library;
  bench: Workbench;
  draft: Draft;
  settings: Settings;
  onSettings: (settings: Settings) => void;
  /** Null while the scenario is wrong. */
  text: string | null;
  /** Null where they change over time. */
  threads: number | null;
  /** The proven one of the scenario as it stands. */
  bound: number | null;
}

/** What is no whole number is left to the library to refuse. */
const wholeOf = (text: string): number | string => (/^\d+$/.test(text.trim()) ? Number(text) : text);

export function SimulationPanel({library, bench, draft, settings, onSettings, text, threads, bound}: SimulationProps) {
  const listing = useListing(library);
  const [progress, setProgress] = useState<number | null>(null);
  const [result, setResult] = useState<{comparison: Comparison; text: string} | null>(null);
  const [message, setMessage] = useState('');
  const priorities = hasPriorities(draft);
  const usable = (name: string) => priorities || !listing.policies.find((policy) => policy.name === name)?.needs_shares;
  const obstacle =
    text === null
      ? 'Something in the scenario is wrong. Correct it first.'
      : threads === 0
        ? 'There are no threads, so there is nothing to simulate.'
        : settings.policies.some(usable)
          ? ''
          : 'Choose a policy first.';
  const distribution = listing.distributions.find(({name}) => name === settings.distribution);
  const set = (change: Partial<Settings>) => onSettings({...settings, ...change});

  const run = async () => {
    if (text === null) return;
    const inexact = (['completions', 'replications', 'seed'] as const).find((field) => Number(settings[field]) > Number.MAX_SAFE_INTEGER);
    if (inexact !== undefined) {
      setMessage(`${inexact}: a page takes numbers up to ${Number.MAX_SAFE_INTEGER}; the command takes larger ones`);
      return;
    }
    setMessage('');
    setProgress(0);
    const options = {
      // MAP first, where it is: the others are compared with it.
      policies: ['map', ...listing.policies.map(({name}) => name).filter((name) => name !== 'map')].filter(
        (name) => settings.policies.includes(name) && usable(name),
      ),
      distribution: sizesOf(settings),
      completions: wholeOf(settings.completions),
      replications: wholeOf(settings.replications),
      seed: wholeOf(settings.seed),
    };
    try {
      const answer = await bench.ask({command: 'compare', scenario: text, options}, setProgress);
      if (isRefusal(answer)) setMessage(linesOf(answer.diagnostics).join('; '));
      else setResult({comparison: answer, text});
    } catch (error) {
      setMessage(error instanceof Cancelled ? 'Cancelled.' : `The simulation failed: ${String(error)}`);
    }
    setProgress(null);
  };

  return (
    <section class="card simulation" aria-labelledby="simulation-title">
      <h2 id="simulation-title">Simulate</h2>
      <p class="quiet">Run scheduling policies on the same random tasks. Each is compared with MAP, or with the first one that you choose.</p>
      <fieldset class="policies" disabled={progress !== null}>
        <legend>Policies</legend>
        {listing.policies.map(({name, summary}) => (
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
      <details>
        <summary>What the policies do</summary>
        <dl class="meanings">
          {listing.policies.map(({name, summary}) => <div key={name}><dt>{name}</dt><dd>{summary}</dd></div>)}
        </dl>
      </details>
      <div class="settings">
        <label>
          <span>Task sizes</span>
          <select id="distribution" value={settings.distribution} onChange={(event) => set({distribution: event.currentTarget.value, parameters: {}})}>
            {listing.distributions.map(({name, summary}) => (
              <option key={name} value={name} title={summary}>{name}</option>
            ))}
          </select>
        </label>
        {(distribution?.parameters?.split(',') ?? []).map((parameter) => {
          const [key = '', usual = ''] = parameter.split('=');
          return (
            <label key={key}>
              <span>{key}</span>
              <input
                type="text" id={`parameter-${key}`} class="short" inputMode="decimal" value={settings.parameters[key] ?? ''} placeholder={usual}
                onInput={(event) => set({parameters: {...settings.parameters, [key]: event.currentTarget.value}})}
              />
            </label>
          );
        })}
        <label><span>Completions</span><input type="text" id="completions" inputMode="numeric" value={settings.completions} onInput={(event) => set({completions: event.currentTarget.value})} /></label>
        <label><span>Replications</span><input type="text" id="replications" inputMode="numeric" value={settings.replications} onInput={(event) => set({replications: event.currentTarget.value})} /></label>
        <label><span>Seed</span><input type="text" id="seed" inputMode="numeric" value={settings.seed} onInput={(event) => set({seed: event.currentTarget.value})} /></label>
        <span class="go">
          <Act class="primary" id="run" onClick={() => void run()} isOff={progress !== null || obstacle !== ''}>Run</Act>
          {progress !== null && <button type="button" id="cancel" onClick={() => bench.cancel()}>Cancel</button>}
          {progress !== null && <progress max="1" value={progress} aria-label="Progress of the simulation">{percent(progress)}</progress>}
        </span>
      </div>
      <p role="status" id="simulation-message" class={message === '' || message === 'Cancelled.' ? 'quiet' : 'wrong'}>{obstacle || message}</p>
      {result !== null && (
        <Outcome comparison={result.comparison} isCurrent={result.text === text} bound={result.text === text ? bound : null} />
      )}
    </section>
  );
}

/** From the least to the most; where they differ by rounding errors alone, no magnifying glass. */
function spread(values: number[]): {domain: [number, number]; nice: boolean} {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const pad = most - least > 1e-6 * Math.abs(most) ? 0 : 0.05 * Math.abs(most) || 1;
  return {domain: [least - pad, most + pad], nice: true};
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
      ...namesAxis(rows.map(({policy}) => policy), 20),
      height: 66 + 28 * rows.length,
      marginBottom: 42,
      marginRight: 28,
      x: {...numbersAxis('tasks per second, with 95% intervals', width), ...spread([...rows.flatMap(({low, high}) => [low, high]), ...(bound === null ? [] : [bound])])},
      marks: [
        ...(bound !== null ? [ruleX([bound], {stroke: '#d55e00', strokeDasharray: '5,3', strokeWidth: 1.5, title: () => `no assignment completes more than ${perSecond(bound)}`})] : []),
        ruleY(rows, {y: 'policy', x1: 'low', x2: 'high', stroke: 'var(--accent)', strokeWidth: 4, strokeOpacity: 0.45}),
        dot(rows, {x: 'mean', y: 'policy', r: 4, fill: 'var(--accent)', title: (row) => `${row.policy}: ${number(row.mean, 6)}`}),
      ],
    }),
    [rows, bound],
  );
  const first = comparison.policies[0];
  if (first === undefined) return null;
  // Where completions count differently.
  const hasValues = comparison.policies.some(({value, throughput}) => value !== undefined && Math.abs(value.mean - throughput.mean) > 1e-9 * throughput.mean);
  const notes = [...new Set(comparison.policies.flatMap(({policy, notes: own}) => own.map((note) => `${policy}: ${note}`)))];
  return (
    <div class={isCurrent ? '' : 'stale'} id="outcome">
      {!isCurrent && <p class="quiet">The scenario has changed since.</p>}
      <Chart
        label={`Throughput by policy: ${rows.map(({policy, mean}) => `${policy} ${number(mean)}`).join(', ')} tasks per second`}
        options={options}
      />
      {bound !== null && <p class="quiet">The dashed line is the proven bound, {perSecond(bound)}: under PS no policy completes more.</p>}
      <Fit label="Results of the simulation">
        <table class="plain" id="simulated">
          <thead>
            <tr>
              <th scope="col">policy</th>{hasValues && <th scope="col">value/s</th>}<th scope="col">tasks/s</th><th scope="col">against {first.policy}</th><th scope="col">mean response</th>
              <th scope="col">95% up to</th><th scope="col">busy, %</th><th scope="col">J a task</th>
            </tr>
          </thead>
          <tbody>
            {comparison.policies.map((simulation) => {
              const difference = comparison.differences.find(({policy}) => policy === simulation.policy);
              return (
                <tr key={simulation.policy} data-policy={simulation.policy} data-throughput={simulation.throughput.mean} data-response={simulation.response_time.mean ?? ''}>
                  <th scope="row">{simulation.policy}</th>
                  {hasValues && <td>{simulation.value === undefined ? '–' : interval(simulation.value.mean, simulation.value.half_width)}</td>}
                  <td>{interval(simulation.throughput.mean, simulation.throughput.half_width)}</td>
                  <td>
                    {difference === undefined ? '–' : `${difference.throughput.mean > 0 ? '+' : ''}${interval(difference.throughput.mean, difference.throughput.half_width)}`}
                    {difference !== undefined && !difference.significant && <small> not significant</small>}
                  </td>
                  <td>{duration(simulation.response_time.mean)}</td>
                  <td>{duration(simulation.response_time.p95)}</td>
                  <td>{simulation.utilization.map((share) => Math.round(100 * share)).join(' ')}</td>
                  <td>{simulation.energy_per_task === null ? '–' : number(simulation.energy_per_task, 3)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Fit>
      <p class="quiet">
        {plural(first.replications, 'replication')} of {plural(first.completions, 'completion')}, {first.distribution} sizes, seed {first.seed}.
        “Busy” is by resource: {comparison.resources.join(', ')}.
      </p>
      <SaveComparison comparison={comparison} />
      {notes.map((note) => <p class="quiet" key={note}>Note: {note}</p>)}
    </div>
  );
}
