// The grid of the scenario: resources across, task types down, rates in between.
import {memo} from 'preact/compat';
import {useCallback, useRef} from 'preact/hooks';
import type {FieldInfo} from './fields';
import {percent} from './format';
import {at, useGrid} from './grid';
import {Details, Mark, NumberField, Stepper, type FieldProps} from './inputs';
import {Act, Chip, Fit, Slider} from './parts';
import {
  hasPriorities, numberOf, removeResource, removeTask, sharesOf, showField, stepped, withPair, withResource, withTask, type Draft, type Field,
} from './scenario';
import {cellsOf, isTable, withBlock} from './sheet';
import {rateOf, shownRate} from './units';

interface RatesProps {
  draft: Draft;
  marks: Map<string, string[]>;
  asSeconds: boolean;
  /** The fields of a resource that have no place of their own. */
  details: FieldInfo[];
  /** Whether to show the watts of each pair. */
  withPowers: boolean;
  onChange: (draft: Draft, field: string) => void;
  /** A table with names was pasted. */
  onTable: (cells: string[][]) => void;
}

/** The end of the sliders, and what the heat of a rate is measured by: it changes seldom, because every cell depends on it. */
function scaleFor(largest: number): number {
  if (!(largest > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(1.25 * largest));
  return power * (1.25 * largest > 5 * power ? 10 : 1.25 * largest > 2 * power ? 5 : 2);
}

interface RateCellProps extends Pick<FieldProps, 'label' | 'marks'> {
  i: number;
  j: number;
  rate: Field;
  scale: number;
  asSeconds: boolean;
  /** Watts of a server at work on the type; null where nobody wants to see them. */
  power: {value: Field; usual: string; label: string} | null;
  onRate: (i: number, j: number, rate: Field) => void;
  onPower: (i: number, j: number, power: Field) => void;
  onStep: (i: number, j: number, direction: 1 | -1) => void;
  onPaste: (i: number, j: number, event: ClipboardEvent) => void;
}

/** One rate. There are many of them, and an edit concerns one: the others are not drawn anew. */
const RateCell = memo(
  ({i, j, label, rate, scale, asSeconds, power, marks, onRate, onPower, onStep, onPaste}: RateCellProps) => {
    const place = `tasks.${i}.rates.${j}`;
    const powerPlace = `tasks.${i}.power.${j}`;
    const heat = Math.round(75 * Math.sqrt(Math.min(1, Math.max(0, numberOf(rate, 0)) / scale)));
    return (
      <td class="rate" {...at(i, j)} style={{'--heat': `${heat}%`}}>
        <NumberField
          place={place}
          label={label}
          value={shownRate(rate, asSeconds)}
          marks={marks}
          placeholder="–"
          onInput={(value) => onRate(i, j, rateOf(value, asSeconds))}
          onStep={(direction) => onStep(i, j, direction)}
          withAlt
          onPaste={(event) => onPaste(i, j, event)}
        />
        {rate !== undefined && (
          <Slider class="drag" tabIndex={-1} aria-hidden="true" max={scale} value={numberOf(rate, 0)} onInput={(value) => onRate(i, j, value)} />
        )}
        <Mark id={place} messages={marks.get(place)} />
        {power !== null && (rate !== undefined || power.value !== undefined) && (
          <label class="watts" title="watts of a server at work on this type">
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
    const same = ['rate', 'scale', 'label', 'asSeconds', 'onRate', 'onStep', 'onPaste', 'i', 'j'] as const;
    return (
      same.every((key) => before[key] === after[key]) && before.power?.value === after.power?.value && before.power?.usual === after.power?.usual &&
      said(before) === said(after)
    );
  },
);

interface NameProps {
  place: string;
  label: string;
  value: string;
  marks: Map<string, string[]>;
  onInput: (name: string) => void;
}

export function NameField({place, label, value, marks, onInput}: NameProps) {
  const isWrong = marks.has(place);
  return (
    <input
      type="text" id={place} aria-label={label} aria-invalid={isWrong} aria-describedby={isWrong ? `mark-${place}` : undefined} value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

function ResourceHead({draft, j, marks, details, onChange}: RatesProps & {j: number}) {
  const resource = draft.resources[j]!;
  const place = `resources.${j}`;
  const set = (change: Partial<typeof resource>, field: string) => onChange(withResource(draft, j, change), `${place}.${field}`);
  const mark = (key: string) => <Mark id={`${place}.${key}`} messages={marks.get(`${place}.${key}`)} />;
  const choice = (key: 'kind' | 'discipline', label: string, words: Record<string, string>) => (
    <select
      aria-label={`${label} of ${resource.name}`} aria-invalid={marks.has(`${place}.${key}`)} value={resource[key]}
      onChange={(event) => set({[key]: event.currentTarget.value}, key)}
    >
      {Object.entries(words).map(([word, shown]) => <option key={word} value={word}>{shown}</option>)}
    </select>
  );
  return (
    <th scope="col" class="resource" aria-label={resource.name} {...at(-1, j)}>
      <span class="named">
        <NameField place={`${place}.name`} label={`Name of resource ${j + 1}`} value={resource.name} marks={marks} onInput={(name) => set({name}, 'name')} />
        <Act class="remove" aria-label={`Remove resource ${resource.name}`} isOff={draft.resources.length <= 1} onClick={() => onChange(removeResource(draft, j), '')}>×</Act>
      </span>
      {mark('name')}
      <span class="selects">
        {choice('kind', 'Kind', {gp: 'GP', sa: 'SA'})}
        {choice('discipline', 'Discipline', {ps: 'PS', fcfs: 'FCFS'})}
      </span>
      {mark('kind')}
      {mark('discipline')}
      <span class="servers">
        <span aria-hidden="true">servers</span>
        <Stepper place={`${place}.servers`} label={`Servers of ${resource.name}`} value={resource.servers} marks={marks} least={1} onInput={(servers) => set({servers}, 'servers')} />
      </span>
      {mark('servers')}
      {details.length > 0 && (
        <span class="details">
          <Details fields={details} entry={{...resource}} name={resource.name} place={place} marks={marks} set={set} />
        </span>
      )}
      <Mark id={place} messages={marks.get(place)} />
    </th>
  );
}

function TaskHead({draft, i, marks, shareScale, onChange}: RatesProps & {i: number; shareScale: number}) {
  const task = draft.tasks[i]!;
  const place = `tasks.${i}`;
  const set = (change: Partial<typeof task>, field: string) => onChange(withTask(draft, i, change), `${place}.${field}`);
  const mark = (key: string) => <Mark id={`${place}.${key}`} messages={marks.get(`${place}.${key}`)} />;
  const share = percent(sharesOf(draft)[i]!);
  return (
    <th scope="row" class="task" aria-label={task.name} {...at(i, -1)}>
      <span class="named">
        <Chip type={i} />
        <NameField place={`${place}.name`} label={`Name of task type ${i + 1}`} value={task.name} marks={marks} onInput={(name) => set({name}, 'name')} />
        <Act class="remove" aria-label={`Remove task type ${task.name}`} isOff={draft.tasks.length <= 1} onClick={() => onChange(removeTask(draft, i), '')}>×</Act>
      </span>
      {mark('name')}
      {(draft.groups.length === 0 || task.count !== 0) && (
        <span class="servers">
          <span aria-hidden="true">threads</span>
          <Stepper place={`${place}.count`} label={`Threads of ${task.name}`} value={task.count} marks={marks} least={0} onInput={(count) => set({count}, 'count')} />
        </span>
      )}
      {mark('count')}
      {hasPriorities(draft) && (
        <span class="priority">
          <label>
            <span>share</span>
            <Slider
              id={`${place}.priority`} max={shareScale} value={numberOf(task.priority, 0)} aria-label={`Share of ${task.name}`} aria-valuetext={share}
              onInput={(priority) => set({priority}, 'priority')}
            />
          </label>
          <span class="share">{share}</span>
        </span>
      )}
      {mark('priority')}
      <Mark id={place} messages={marks.get(place)} />
      {mark('rates')}
    </th>
  );
}

export function Rates(props: RatesProps) {
  const {draft, marks, asSeconds, withPowers, onChange, onTable} = props;
  const scale = scaleFor(Math.max(0, ...draft.tasks.flatMap(({rates}) => rates.map((rate) => numberOf(rate, 0)))));
  const shareScale = scaleFor(Math.max(0, ...draft.tasks.map(({priority}) => numberOf(priority, 0))));
  const latest = useRef(props);
  latest.current = props;
  const setPair = (key: 'rates' | 'power', i: number, j: number, value: Field) => onChange(withPair(latest.current.draft, key, i, j, value), `tasks.${i}.${key}.${j}`);
  const setRate = useCallback((i: number, j: number, rate: Field) => setPair('rates', i, j, rate), [onChange]);
  const setPower = useCallback((i: number, j: number, power: Field) => setPair('power', i, j, power), [onChange]);
  const step = useCallback((i: number, j: number, direction: 1 | -1) => {
    const {draft: {tasks}, asSeconds: inSeconds} = latest.current;
    const shown = tasks[i]!.rates.map((rate) => numberOf(shownRate(rate, inSeconds), 0));
    const next = stepped(shown, j, direction);
    if (next !== null) setPair('rates', i, j, rateOf(next, inSeconds));
  }, [onChange]);
  const paste = useCallback((i: number, j: number, event: ClipboardEvent) => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (!isTable(text)) return;
    event.preventDefault();
    const cells = cellsOf(text);
    const hasNames = cells[0]!.slice(1).some((cell) => /^\p{L}/u.test(cell));
    if (hasNames) onTable(cells);
    else onChange(withBlock(latest.current.draft, i, j, cells, latest.current.asSeconds), '');
  }, [onChange, onTable]);
  return (
    <Fit label="Rates by task type and resource">
      <table class="editor" {...useGrid()}>
        <thead>
          <tr>
            <th scope="col" class="corner">task type</th>
            {draft.resources.map((_, j) => <ResourceHead key={j} {...props} j={j} />)}
          </tr>
        </thead>
        <tbody>
          {draft.tasks.map((task, i) => (
            <tr key={i}>
              <TaskHead {...props} i={i} shareScale={shareScale} />
              {draft.resources.map((resource, j) => (
                <RateCell
                  key={j} i={i} j={j} rate={task.rates[j]} scale={scale} asSeconds={asSeconds} marks={marks}
                  label={asSeconds ? `Seconds per task of ${task.name} on ${resource.name}` : `Rate of ${task.name} on ${resource.name}, tasks per second`}
                  power={
                    withPowers
                      ? {value: task.power[j], usual: showField(resource.power ?? 1), label: `Power of ${resource.name} at work on ${task.name}, W`}
                      : null
                  }
                  onRate={setRate} onPower={setPower} onStep={step} onPaste={paste}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Fit>
  );
}
