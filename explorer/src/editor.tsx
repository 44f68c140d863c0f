// The scenario, to be edited: resources across, task types down, rates in between.
import type {ComponentChildren} from 'preact';
import {memo} from 'preact/compat';
import {useCallback, useRef, useState} from 'preact/hooks';
import type {Diagnostic} from './answers';
import {inkOn, typeColour, typeLetter} from './colours';
import {
  addResource, addTask, hasPriorities, numberOf, parseField, placeOf, removeResource, removeTask, showField, withPriorities, withRate,
  withResource, withTask, type Draft, type Field,
} from './scenario';
import {percent} from './format';

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
  /** One step up or down from the value. */
  step?: (value: number, direction: 1 | -1) => number;
  placeholder?: string;
  class?: string;
  style?: Record<string, string>;
}

/** A number that may be typed, or stepped with the arrow keys. */
function NumberField({place, label, value, marks, onInput, step, placeholder, class: className, style}: FieldProps) {
  // While it is being typed the text stays as it is: "1." is on its way to "1.5".
  const [typed, setTyped] = useState<string | null>(null);
  const messages = marks.get(place);
  const onKeyDown = (event: KeyboardEvent) => {
    if (step === undefined || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    setTyped(null);
    onInput(step(numberOf(value, 0), event.key === 'ArrowUp' ? 1 : -1));
  };
  return (
    <input
      type="text"
      inputMode="decimal"
      id={place}
      class={className}
      style={style}
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
  const step = (value: number, direction: 1 | -1) => Math.max(least, Math.round(value) + direction);
  const press = (direction: 1 | -1) => field.onInput(step(numberOf(field.value, least), direction));
  return (
    <span class="stepper">
      <button type="button" aria-label={`${field.label}: one less`} disabled={numberOf(field.value, least) <= least} onClick={() => press(-1)}>
        −
      </button>
      <NumberField {...field} step={step} />
      <button type="button" aria-label={`${field.label}: one more`} onClick={() => press(1)}>
        +
      </button>
    </span>
  );
}

const stepRate = (rate: number, direction: 1 | -1): number => {
  const unit = 10 ** (Math.floor(Math.log10(Math.max(rate, 1e-6))) - 1);
  return Math.max(0, Number((Math.round(rate / unit + direction) * unit).toPrecision(12)));
};

interface RateCellProps {
  i: number;
  j: number;
  label: string;
  rate: Field;
  largest: number;
  marks: Map<string, string[]>;
  onRate: (i: number, j: number, rate: Field) => void;
}

/** One rate. There are many of them, and an edit concerns one: the others are not drawn anew. */
const RateCell = memo(
  ({i, j, label, rate, largest, marks, onRate}: RateCellProps) => {
    const place = `tasks.${i}.rates.${j}`;
    const heat = Math.round(60 * Math.sqrt(largest > 0 ? Math.max(0, numberOf(rate, 0)) / largest : 0));
    return (
      <td class="rate" style={{'--heat': `${heat}%`}}>
        <NumberField place={place} label={label} value={rate} marks={marks} step={stepRate} placeholder="–" onInput={(value) => onRate(i, j, value)} />
        {rate !== undefined && (
          <input
            type="range"
            class="drag"
            tabIndex={-1}
            aria-hidden="true"
            min="0"
            max={Math.max(1e-9, 1.5 * largest)}
            step="any"
            value={numberOf(rate, 0)}
            onInput={(event) => onRate(i, j, Number(Number(event.currentTarget.value).toPrecision(3)))}
          />
        )}
        <Mark id={place} messages={marks.get(place)} />
      </td>
    );
  },
  (before, after) => {
    const place = `tasks.${after.i}.rates.${after.j}`;
    return (
      before.rate === after.rate && before.largest === after.largest && before.label === after.label && before.onRate === after.onRate &&
      before.i === after.i && before.j === after.j && String(before.marks.get(place)) === String(after.marks.get(place))
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

export function Editor({draft, marks, diagnostics, notes, onChange}: EditorProps) {
  const [more, setMore] = useState(false);
  const withShares = hasPriorities(draft);
  const largest = Math.max(0, ...draft.tasks.flatMap(({rates}) => rates.map((rate) => numberOf(rate, 0))));
  const weights = draft.tasks.map(({priority}) => Math.max(0, numberOf(priority, 0)));
  const weightSum = weights.reduce((sum, weight) => sum + weight, 0);
  const latest = useRef(draft);
  latest.current = draft;
  const setRate = useCallback(
    (i: number, j: number, rate: Field) => onChange(withRate(latest.current, i, j, rate), `tasks.${i}.rates.${j}`),
    [onChange],
  );
  const placed = new Set<string>(['name', 'servers', 'kind', 'discipline', 'count', 'priority', 'min_depth', 'power', 'idle_power', 'floor', 'home', 'rates']);
  // Those that no field can show.
  const loose = diagnostics.filter((diagnostic) => {
    const [list = '', index, key] = placeOf(draft, diagnostic).split('.');
    return list === '' || (index !== undefined && key !== undefined && !placed.has(key));
  });

  return (
    <section class="card" aria-labelledby="editor-title">
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
          <input type="checkbox" checked={more} onChange={(event) => setMore(event.currentTarget.checked)} />
          all fields
        </label>
      </div>
      <p class="quiet">
        Rates are in tasks per second. Type them, step them with the arrow keys, or drag the bar below; leave a rate empty where a
        type cannot run.
      </p>
      <div class="scroll" tabIndex={0} role="group" aria-label="Rates by task type and resource">
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
                  <th scope="col" key={j} class="resource">
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
                        value={resource.discipline}
                        onChange={(event) => set({discipline: event.currentTarget.value}, 'discipline')}
                      >
                        <option value="ps">PS</option>
                        <option value="fcfs">FCFS</option>
                      </select>
                    </span>
                    <Mark id={`${place}.kind`} messages={marks.get(`${place}.kind`)} />
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
                        {(['min_depth', 'power', 'idle_power'] as const).map((field) => (
                          <span key={field}>
                            <Row label={{min_depth: 'least depth', power: 'busy watts', idle_power: 'idle watts'}[field]}>
                              <NumberField
                                place={`${place}.${field}`}
                                label={`${{min_depth: 'Least depth', power: 'Busy watts', idle_power: 'Idle watts'}[field]} of ${resource.name}`}
                                value={resource[field]}
                                marks={marks}
                                placeholder={{min_depth: '1', power: '1', idle_power: '0'}[field]}
                                onInput={(value) => set({[field]: value}, field)}
                              />
                            </Row>
                            <Mark id={`${place}.${field}`} messages={marks.get(`${place}.${field}`)} />
                          </span>
                        ))}
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
                  <th scope="row" class="task">
                    <span class="named">
                      <span class="chip" style={{background: typeColour(i), color: inkOn(typeColour(i))}} aria-hidden="true">
                        {typeLetter(i)}
                      </span>
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
                          <input
                            type="range"
                            id={`${place}.priority`}
                            min="0"
                            max={Math.max(1, ...weights)}
                            step={Math.max(1, ...weights) / 100}
                            value={numberOf(task.priority, 0)}
                            aria-label={`Priority of ${task.name}`}
                            aria-valuetext={percent(weightSum > 0 ? weights[i]! / weightSum : 0)}
                            onInput={(event) => set({priority: Number(event.currentTarget.value)}, 'priority')}
                          />
                        </label>
                        <output>{percent(weightSum > 0 ? weights[i]! / weightSum : 0)}</output>
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
                        <Row label="floor, tasks/s">
                          <NumberField
                            place={`${place}.floor`}
                            label={`Floor of ${task.name}, in tasks per second`}
                            value={task.floor}
                            marks={marks}
                            placeholder="none"
                            onInput={(floor) => set({floor}, 'floor')}
                          />
                        </Row>
                        <Mark id={`${place}.floor`} messages={marks.get(`${place}.floor`)} />
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
                      largest={largest}
                      marks={marks}
                      onRate={setRate}
                    />
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="group">
        <button type="button" onClick={() => onChange(addTask(draft), '')}>
          + task type
        </button>
        <button type="button" onClick={() => onChange(addResource(draft), '')}>
          + resource
        </button>
      </p>
      <div aria-live="polite">
        {diagnostics.length > 0 && (
          <p class="wrong">
            {diagnostics.length === 1 ? 'One thing is' : `${diagnostics.length} things are`} wrong; the results below are those of the last
            scenario that was right.
          </p>
        )}
        {loose.length > 0 && (
          <ul class="wrong">
            {loose.map(({place, message}) => (
              <li key={place + message}>
                {place}: {message}
              </li>
            ))}
          </ul>
        )}
        {diagnostics.length === 0 && notes.map((note) => <p class="quiet" key={note}>Note: {note}</p>)}
      </div>
    </section>
  );
}
