// The scenario, to be edited: resources across, task types down, rates in between.
import type {ComponentChildren} from 'preact';
import {memo} from 'preact/compat';
import {useCallback, useRef, useState} from 'preact/hooks';
import {linesOf, type Diagnostic} from './answers';
import {resourceFields, taskFields, type FieldInfo} from './fields';
import {percent} from './format';
import {Chip, Scroller, Slider} from './parts';
import {
  addResource, addTask, hasPriorities, isNumber, isStepped, kMostPairs, numberOf, pairsOf, parseField, placeOf, removeResource, removeTask, sharesOf, showField,
  stepRate, withPriorities, withRate, withResource, withTask, type Draft, type Field,
} from './scenario';

interface EditorProps {
  draft: Draft;
  marks: Map<string, string[]>;
  diagnostics: Diagnostic[];
  notes: string[];
  onChange: (draft: Draft, field: string) => void;
}

/** What is wrong with a field, below it. */
function Mark({id, messages}: {id: string; messages: string[] | undefined}) {
  if (messages === undefined) return null;
  return (
    <span class="mark" id={`mark-${id}`}>
      {messages.join('; ')}
    </span>
  );
}

interface FieldProps {
  place: string;
  label: string;
  value: Field;
  marks: Map<string, string[]>;
  onInput: (value: Field) => void;
  /** By an arrow key. */
  onStep?: (direction: 1 | -1) => void;
  placeholder?: string;
}

/** A number that may be typed, or stepped with the arrow keys. */
function NumberField({place, label, value, marks, onInput, onStep, placeholder}: FieldProps) {
  // While it is being typed the text stays as it is, "1." is on its way to "1.5"; unless the value has come from elsewhere since.
  const [text, setTyped] = useState<string | null>(null);
  const typed = text !== null && parseField(text) === value ? text : null;
  const messages = marks.get(place);
  const onKeyDown = (event: KeyboardEvent) => {
    if (onStep === undefined || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    setTyped(null);
    onStep(event.key === 'ArrowUp' ? 1 : -1);
  };
  return (
    <input
      type="text"
      inputMode="decimal"
      id={place}
      data-typed={typed !== null}
      title={showField(value).length > 8 ? showField(value) : undefined}
      aria-label={label}
      aria-invalid={messages !== undefined}
      aria-describedby={messages === undefined ? undefined : `mark-${place}`}
      value={typed ?? showField(value)}
      placeholder={placeholder}
      onInput={(event) => {
        setTyped(event.currentTarget.value);
        onInput(parseField(event.currentTarget.value));
      }}
      onBlur={() => setTyped(null)}
      onKeyDown={onKeyDown}
      autocomplete="off"
    />
  );
}

/** A whole number with buttons for one more and one less. */
function Stepper(props: FieldProps & {least: number}) {
  const {least, ...field} = props;
  const step = (direction: 1 | -1) => field.onInput(Math.max(least, Math.round(numberOf(field.value, least)) + direction));
  return (
    <span class="stepper">
      <button type="button" aria-label={`${field.label}: one less`} disabled={numberOf(field.value, least) <= least} onClick={() => step(-1)}>
        −
      </button>
      <NumberField {...field} onStep={step} />
      <button type="button" aria-label={`${field.label}: one more`} onClick={() => step(1)}>
        +
      </button>
    </span>
  );
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
  marks: Map<string, string[]>;
  onRate: (i: number, j: number, rate: Field) => void;
  onStep: (i: number, j: number, direction: 1 | -1) => void;
}

/** One rate. There are many of them, and an edit concerns one: the others are not drawn anew. */
const RateCell = memo(
  ({i, j, label, rate, scale, marks, onRate, onStep}: RateCellProps) => {
    const place = `tasks.${i}.rates.${j}`;
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
      </td>
    );
  },
  (before, after) => {
    const place = `tasks.${after.i}.rates.${after.j}`;
    return (
      before.rate === after.rate && before.scale === after.scale && before.label === after.label && before.onRate === after.onRate &&
      before.onStep === after.onStep && before.i === after.i && before.j === after.j && String(before.marks.get(place)) === String(after.marks.get(place))
    );
  },
);

function Row({label, children}: {label: string; children: ComponentChildren}) {
  return (
    <label class="pair">
      <span>{label}</span>
      {children}
    </label>
  );
}

/** The numbers that have no place of their own: hidden unless somebody wants all, or one of them is wrong. */
const detailsOf = (fields: FieldInfo[]): FieldInfo[] => fields.filter((info) => isNumber(info) && !isStepped(info) && info.key !== 'priority');
const kResourceDetails = detailsOf(resourceFields);
const kTaskDetails = detailsOf(taskFields);
const kDetails = [...kResourceDetails, ...kTaskDetails].map(({key}) => key).concat('home');
const kShown = [...resourceFields, ...taskFields].map(({key}) => key).concat('rates');

/** As in "idle power, W". */
const labelOf = ({key, unit}: FieldInfo): string => key.replaceAll('_', ' ') + (unit === '' ? '' : `, ${unit}`);

interface DetailsProps {
  fields: FieldInfo[];
  entry: Record<string, unknown>;
  name: string;
  place: string;
  marks: Map<string, string[]>;
  set: (change: Record<string, Field>, field: string) => void;
}

function Details({fields, entry, name, place, marks, set}: DetailsProps) {
  return (
    <>
      {fields.map((info) => (
        <span key={info.key} title={info.help}>
          <Row label={labelOf(info)}>
            <NumberField
              place={`${place}.${info.key}`}
              label={`${labelOf(info)} of ${name}`}
              value={entry[info.key] as Field}
              marks={marks}
              placeholder={info.default === null ? 'none' : String(info.default)}
              onInput={(value) => set({[info.key]: value}, info.key)}
            />
          </Row>
          <Mark id={`${place}.${info.key}`} messages={marks.get(`${place}.${info.key}`)} />
        </span>
      ))}
    </>
  );
}

export function Editor({draft, marks, diagnostics, notes, onChange}: EditorProps) {
  const [wanted, setWanted] = useState(false);
  const isNeeded = [...marks.keys()].some((place) => kDetails.includes(place.split('.')[2] ?? ''));
  const more = wanted || isNeeded;
  const withShares = hasPriorities(draft);
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
  const step = useCallback(
    (i: number, j: number, direction: 1 | -1) => onChange(stepRate(latest.current, i, j, direction), `tasks.${i}.rates.${j}`),
    [onChange],
  );
  const isFull = (next: Draft) => pairsOf(next) > kMostPairs;
  // Those that no field can show.
  const loose = diagnostics.filter((diagnostic) => {
    const [list = '', index, key] = placeOf(draft, diagnostic).split('.');
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
          <input type="checkbox" checked={more} disabled={isNeeded} onChange={(event) => setWanted(event.currentTarget.checked)} />
          all fields
        </label>
      </div>
      <p class="quiet">
        Rates are in tasks per second. Type them, step them with the arrow keys, or drag the bar below; leave a rate empty where a
        type cannot run.
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
                    {more && (
                      <span class="details">
                        <Details fields={kResourceDetails} entry={{...resource}} name={resource.name} place={place} marks={marks} set={set} />
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
                    {more && (
                      <span class="details">
                        <Row label="home">
                          <select value={task.home} aria-label={`Home of ${task.name}`} onChange={(event) => set({home: event.currentTarget.value}, 'home')}>
                            <option value="">the fastest</option>
                            {draft.resources.map(({name}) => (
                              <option key={name} value={name}>
                                {name}
                              </option>
                            ))}
                          </select>
                        </Row>
                        <Details fields={kTaskDetails} entry={{...task}} name={task.name} place={place} marks={marks} set={set} />
                        <Mark id={`${place}.home`} messages={marks.get(`${place}.home`)} />
                      </span>
                    )}
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
                      marks={marks}
                      onRate={setRate}
                      onStep={step}
                    />
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroller>
      <p class="group">
        <button type="button" disabled={isFull(addTask(draft))} onClick={() => onChange(addTask(draft), '')}>
          + task type
        </button>
        <button type="button" disabled={isFull(addResource(draft))} onClick={() => onChange(addResource(draft), '')}>
          + resource
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
