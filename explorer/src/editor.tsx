// The scenario, to be edited: resources across, task types down, rates in between.
import {memo} from 'preact/compat';
import {useCallback, useRef, useState} from 'preact/hooks';
import {linesOf, type Diagnostic} from './answers';
import {resourceFields, taskFields, type FieldInfo} from './fields';
import {percent} from './format';
import {Details, Mark, NumberField, Stepper} from './inputs';
import {Needs} from './needs';
import {Chip, Scroller, Slider} from './parts';
import {
  addCapacity, addGroup, addResource, addTask, hasNeeds, hasPriorities, isNumber, isStepped, kMostPairs, numberOf, pairsOf, placeOf, removeResource, removeTask, sharesOf,
  showField, stepRate, withPair, withPriorities, withRate, withResource, withTask, type Draft, type Field,
} from './scenario';
import {PowerCap, Stages} from './stages';
import {arrivalsField, Wishes} from './wishes';

interface EditorProps {
  draft: Draft;
  marks: Map<string, string[]>;
  diagnostics: Diagnostic[];
  notes: string[];
  onChange: (draft: Draft, field: string) => void;
}

/** The end of the sliders, and what the heat of a rate is measured by: it changes seldom, because every cell depends on it. */
function scaleFor(largest: number): number {
  if (!(largest > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(1.25 * largest));
  return power * (1.25 * largest > 5 * power ? 10 : 1.25 * largest > 2 * power ? 5 : 2);
}

interface RateCellProps {
  i: number;
  j: number;
  label: string;
  rate: Field;
  scale: number;
  /** Watts of a server at work on the type; null where nobody wants to see them. */
  power: {value: Field; usual: string; label: string} | null;
  marks: Map<string, string[]>;
  onRate: (i: number, j: number, rate: Field) => void;
  onPower: (i: number, j: number, power: Field) => void;
  onStep: (i: number, j: number, direction: 1 | -1) => void;
}

/** One rate. There are many of them, and an edit concerns one: the others are not drawn anew. */
const RateCell = memo(
  ({i, j, label, rate, scale, power, marks, onRate, onPower, onStep}: RateCellProps) => {
    const place = `tasks.${i}.rates.${j}`;
    const powerPlace = `tasks.${i}.power.${j}`;
    const heat = Math.round(75 * Math.sqrt(Math.min(1, Math.max(0, numberOf(rate, 0)) / scale)));
    return (
      <td class="rate" style={{'--heat': `${heat}%`}}>
        <NumberField
          place={place}
          label={label}
          value={rate}
          marks={marks}
          placeholder="–"
          onInput={(value) => onRate(i, j, value)}
          onStep={(direction) => onStep(i, j, direction)}
        />
        {rate !== undefined && (
          <Slider class="drag" tabIndex={-1} aria-hidden="true" max={scale} value={numberOf(rate, 0)} onInput={(value) => onRate(i, j, value)} />
        )}
        <Mark id={place} messages={marks.get(place)} />
        {power !== null && (rate !== undefined || power.value !== undefined) && (
          <label class="watts" title="power of a server while it runs this type">
            <NumberField place={powerPlace} label={power.label} value={power.value} marks={marks} placeholder={power.usual} onInput={(value) => onPower(i, j, value)} />
            <span aria-hidden="true">W</span>
          </label>
        )}
        <Mark id={powerPlace} messages={marks.get(powerPlace)} />
      </td>
    );
  },
  (before, after) => {
    const said = ({i, j, marks}: RateCellProps) => `${marks.get(`tasks.${i}.rates.${j}`)} ${marks.get(`tasks.${i}.power.${j}`)}`;
    return (
      before.rate === after.rate && before.scale === after.scale && before.label === after.label && before.onRate === after.onRate &&
      before.onStep === after.onStep && before.i === after.i && before.j === after.j && before.power?.value === after.power?.value &&
      before.power?.usual === after.power?.usual && said(before) === said(after)
    );
  },
);

/** The numbers that have no place of their own: hidden unless somebody wants all, one of them is wrong, or a task type has them. */
const detailsOf = (fields: FieldInfo[]): FieldInfo[] => fields.filter((info) => isNumber(info) && !isStepped(info) && info.key !== 'priority');
const kResourceDetails = detailsOf(resourceFields);
const kTaskDetails = [...detailsOf(taskFields), arrivalsField];
const kDetails = [...kResourceDetails, ...kTaskDetails].map(({key}) => key).concat('home');
const kShown = [...resourceFields, ...taskFields, arrivalsField].map(({key}) => key);
const kPowers = ['power', 'idle_power'];

export function Editor({draft, marks, diagnostics, notes, onChange}: EditorProps) {
  const [wanted, setWanted] = useState(false);
  const isNeeded = [...marks.keys()].some((place) => kDetails.includes(place.split('.')[2] ?? ''));
  const more = wanted || isNeeded;
  const withShares = hasPriorities(draft);
  const hasGroups = draft.groups.length > 0;
  // What has been given stays in sight, also while somebody clears it to type another.
  const seen = useRef(new Set<string>());
  if (!draft.isEdited) seen.current.clear();
  const isInUse = (key: string, value: boolean): boolean => (value ? seen.current.add(key) : seen.current).has(key);
  const taskDetails = kTaskDetails.filter(({key}) => isInUse(key, draft.tasks.some((task) => task[key as 'worth'] !== undefined)) || more);
  const hasCap = isInUse('power_cap', draft.power_cap !== undefined);
  const hasPowers = isInUse('powers', draft.tasks.some(({power}) => power.some((watts) => watts !== undefined))) || hasCap;
  const drawsOn = isInUse('needs', draft.capacities.length > 0 || hasNeeds(draft)) || more;
  const resourceDetails = kResourceDetails.filter(({key}) => more || (hasPowers && kPowers.includes(key)));
  const largest = Math.max(0, ...draft.tasks.flatMap(({rates}) => rates.map((rate) => numberOf(rate, 0))));
  const scale = scaleFor(largest);
  const shares = sharesOf(draft);
  const priorityScale = scaleFor(Math.max(0, ...draft.tasks.map(({priority}) => numberOf(priority, 0))));
  const latest = useRef(draft);
  latest.current = draft;
  const setRate = useCallback(
    (i: number, j: number, rate: Field) => onChange(withRate(latest.current, i, j, rate), `tasks.${i}.rates.${j}`),
    [onChange],
  );
  const setPower = useCallback(
    (i: number, j: number, power: Field) => onChange(withPair(latest.current, 'power', i, j, power), `tasks.${i}.power.${j}`),
    [onChange],
  );
  const step = useCallback(
    (i: number, j: number, direction: 1 | -1) => onChange(stepRate(latest.current, i, j, direction), `tasks.${i}.rates.${j}`),
    [onChange],
  );
  const isFull = (next: Draft) => pairsOf(next) > kMostPairs;
  // Those that no field can show.
  const loose = diagnostics.filter((diagnostic) => {
    const [list = '', index, key] = placeOf(draft, diagnostic).split('.');
    if (list === 'groups' || list === 'capacities' || list === 'power_cap') return false;
    return list === '' || (index !== undefined && key !== undefined && !kShown.includes(key));
  });

  return (
    <section class="card scenario" aria-labelledby="editor-title">
      <div class="title">
        <h2 id="editor-title">Scenario</h2>
        <input
          type="text"
          class="name"
          aria-label="Name of the scenario"
          placeholder="without a name"
          value={draft.name}
          onInput={(event) => onChange({...draft, name: event.currentTarget.value}, 'name')}
        />
        <label class="check">
          <input type="checkbox" checked={withShares} onChange={(event) => onChange(withPriorities(draft, event.currentTarget.checked), '')} />
          priorities
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={more}
            disabled={isNeeded}
            onChange={(event) => {
              seen.current.clear();
              setWanted(event.currentTarget.checked);
            }}
          />
          all fields
        </label>
      </div>
      <p class="quiet">
        Rates are in tasks per second. Type them, step them with the arrow keys, or drag the bar below; leave a rate empty where a
        type cannot run. Tick “all fields” to say what a type is worth and needs, its limits, arrivals and powers.
      </p>
      <Scroller label="Rates by task type and resource">
        <table class="editor">
          <thead>
            <tr>
              <th scope="col" class="corner">
                task type
              </th>
              {draft.resources.map((resource, j) => {
                const place = `resources.${j}`;
                const set = (change: Partial<typeof resource>, field: string) => onChange(withResource(draft, j, change), `${place}.${field}`);
                return (
                  <th scope="col" key={j} class="resource" aria-label={resource.name}>
                    <span class="named">
                      <input
                        type="text"
                        id={`${place}.name`}
                        aria-label={`Name of resource ${j + 1}`}
                        aria-invalid={marks.has(`${place}.name`)}
                        aria-describedby={marks.has(`${place}.name`) ? `mark-${place}.name` : undefined}
                        value={resource.name}
                        onInput={(event) => set({name: event.currentTarget.value}, 'name')}
                      />
                      <button
                        type="button"
                        class="remove"
                        aria-label={`Remove resource ${resource.name}`}
                        disabled={draft.resources.length <= 1}
                        onClick={() => onChange(removeResource(draft, j), '')}
                      >
                        ×
                      </button>
                    </span>
                    <Mark id={`${place}.name`} messages={marks.get(`${place}.name`)} />
                    <span class="selects">
                      <select
                        aria-label={`Kind of ${resource.name}`}
                        aria-invalid={marks.has(`${place}.kind`)}
                        value={resource.kind}
                        onChange={(event) => set({kind: event.currentTarget.value}, 'kind')}
                      >
                        <option value="gp">GP</option>
                        <option value="sa">SA</option>
                      </select>
                      <select
                        aria-label={`Discipline of ${resource.name}`}
                        aria-invalid={marks.has(`${place}.discipline`)}
                        value={resource.discipline}
                        onChange={(event) => set({discipline: event.currentTarget.value}, 'discipline')}
                      >
                        <option value="ps">PS</option>
                        <option value="fcfs">FCFS</option>
                      </select>
                    </span>
                    <Mark id={`${place}.kind`} messages={marks.get(`${place}.kind`)} />
                    <Mark id={`${place}.discipline`} messages={marks.get(`${place}.discipline`)} />
                    <span class="servers">
                      <span aria-hidden="true">servers</span>
                      <Stepper
                        place={`${place}.servers`}
                        label={`Servers of ${resource.name}`}
                        value={resource.servers}
                        marks={marks}
                        least={1}
                        onInput={(servers) => set({servers}, 'servers')}
                      />
                    </span>
                    <Mark id={`${place}.servers`} messages={marks.get(`${place}.servers`)} />
                    {resourceDetails.length > 0 && (
                      <span class="details">
                        <Details fields={resourceDetails} entry={{...resource}} name={resource.name} place={place} marks={marks} set={set} />
                      </span>
                    )}
                    <Mark id={place} messages={marks.get(place)} />
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {draft.tasks.map((task, i) => {
              const place = `tasks.${i}`;
              const set = (change: Partial<typeof task>, field: string) => onChange(withTask(draft, i, change), `${place}.${field}`);
              return (
                <tr key={i}>
                  <th scope="row" class="task" aria-label={task.name}>
                    <span class="named">
                      <Chip type={i} />
                      <input
                        type="text"
                        id={`${place}.name`}
                        aria-label={`Name of task type ${i + 1}`}
                        aria-invalid={marks.has(`${place}.name`)}
                        aria-describedby={marks.has(`${place}.name`) ? `mark-${place}.name` : undefined}
                        value={task.name}
                        onInput={(event) => set({name: event.currentTarget.value}, 'name')}
                      />
                      <button
                        type="button"
                        class="remove"
                        aria-label={`Remove task type ${task.name}`}
                        disabled={draft.tasks.length <= 1}
                        onClick={() => onChange(removeTask(draft, i), '')}
                      >
                        ×
                      </button>
                    </span>
                    <Mark id={`${place}.name`} messages={marks.get(`${place}.name`)} />
                    {(!hasGroups || task.count !== 0) && (
                      <span class="servers">
                        <span aria-hidden="true">threads</span>
                        <Stepper
                          place={`${place}.count`}
                          label={`Threads of ${task.name}`}
                          value={task.count}
                          marks={marks}
                          least={0}
                          onInput={(count) => set({count}, 'count')}
                        />
                      </span>
                    )}
                    <Mark id={`${place}.count`} messages={marks.get(`${place}.count`)} />
                    {withShares && (
                      <span class="priority">
                        <label>
                          <span>priority</span>
                          <Slider
                            id={`${place}.priority`}
                            max={priorityScale}
                            value={numberOf(task.priority, 0)}
                            aria-label={`Priority of ${task.name}`}
                            aria-valuetext={percent(shares[i]!)}
                            onInput={(priority) => set({priority}, 'priority')}
                          />
                        </label>
                        <span class="share">{percent(shares[i]!)}</span>
                      </span>
                    )}
                    <Mark id={`${place}.priority`} messages={marks.get(`${place}.priority`)} />
                    <Mark id={place} messages={marks.get(place)} />
                    <Mark id={`${place}.rates`} messages={marks.get(`${place}.rates`)} />
                  </th>
                  {draft.resources.map((resource, j) => (
                    <RateCell
                      key={j}
                      i={i}
                      j={j}
                      label={`Rate of ${task.name} on ${resource.name}, tasks per second`}
                      rate={task.rates[j]}
                      scale={scale}
                      power={
                        more || hasPowers
                          ? {value: task.power[j], usual: showField(resource.power ?? 1), label: `Power of ${resource.name} at work on ${task.name}, W`}
                          : null
                      }
                      marks={marks}
                      onRate={setRate}
                      onPower={setPower}
                      onStep={step}
                    />
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroller>
      <Wishes draft={draft} fields={taskDetails} withHome={more} marks={marks} onChange={onChange} />
      {drawsOn && <Needs draft={draft} marks={marks} onChange={onChange} />}
      {(more || hasCap) && <PowerCap draft={draft} marks={marks} onChange={onChange} />}
      <Stages draft={draft} marks={marks} onChange={onChange} />
      <p class="group">
        <button type="button" disabled={isFull(addTask(draft))} onClick={() => onChange(addTask(draft), '')}>
          + task type
        </button>
        <button type="button" disabled={isFull(addResource(draft))} onClick={() => onChange(addResource(draft), '')}>
          + resource
        </button>
        <button
          type="button" title="Something that tasks draw on besides the resource where they run: cores, memory, a bus"
          onClick={() => onChange(addCapacity(draft), '')}
        >
          + capacity
        </button>
        <button type="button" title="Threads that run several task types, one after the other" onClick={() => onChange(addGroup(draft), '')}>
          + stages
        </button>
      </p>
      {(isFull(addTask(draft)) || isFull(addResource(draft))) && (
        <p class="quiet">A page takes up to {kMostPairs} pairs of task types and resources; the command takes more.</p>
      )}
      <div aria-live="polite">
        {diagnostics.length > 0 && (
          <p class="wrong">
            {diagnostics.length === 1 ? 'One thing is' : `${diagnostics.length} things are`} wrong; the results below are those of the last
            scenario that was right.
          </p>
        )}
        {loose.length > 0 && (
          <ul class="wrong">
            {linesOf(loose).map((line) => <li key={line}>{line}</li>)}
          </ul>
        )}
        {diagnostics.length === 0 && notes.map((note) => <p class="quiet" key={note}>Note: {note}</p>)}
      </div>
    </section>
  );
}
