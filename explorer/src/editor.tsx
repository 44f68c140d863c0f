// The scenario, to be edited: its grid of rates, what is wanted of each type, and what tasks need.
import {useRef, useState} from 'preact/hooks';
import {linesOf, type Diagnostic} from './answers';
import {resourceFields, taskFields, type FieldInfo} from './fields';
import {Needs} from './needs';
import {Act} from './parts';
import {Rates} from './rates';
import {
  addCapacity, addGroup, addResource, addTask, hasNeeds, hasPriorities, isNumber, isStepped, kMostPairs, pairsOf, placeOf, withPriorities, type Draft,
} from './scenario';
import {PowerCap, Stages} from './stages';
import {arrivalsField, Requests} from './requests';

interface EditorProps {
  draft: Draft;
  marks: Map<string, string[]>;
  diagnostics: Diagnostic[];
  notes: string[];
  /** Whether rates are shown as seconds per task. */
  asSeconds: boolean;
  onSeconds: (asSeconds: boolean) => void;
  onChange: (draft: Draft, field: string) => void;
  onTable: (cells: string[][]) => void;
}

/** The numbers that have no place of their own: hidden unless somebody wants all, one of them is wrong, or a task type has them. */
const detailsOf = (fields: FieldInfo[]): FieldInfo[] => fields.filter((info) => isNumber(info) && !isStepped(info) && info.key !== 'priority');
const kResourceDetails = detailsOf(resourceFields);
const kTaskDetails = [...detailsOf(taskFields), arrivalsField];
const kDetails = [...kResourceDetails, ...kTaskDetails].map(({key}) => key).concat('home');
const kShown = [...resourceFields, ...taskFields, arrivalsField].map(({key}) => key);
const kPowers = ['power', 'idle_power'];

export function Editor({draft, marks, diagnostics, notes, asSeconds, onSeconds, onChange, onTable}: EditorProps) {
  const [wanted, setWanted] = useState(false);
  const isNeeded = [...marks.keys()].some((place) => kDetails.includes(place.split('.')[2] ?? ''));
  const more = wanted || isNeeded;
  const withShares = hasPriorities(draft);
  // What has been given stays in sight, also while somebody clears it to type another.
  const seen = useRef(new Set<string>());
  if (!draft.isEdited) seen.current.clear();
  const isInUse = (key: string, value: boolean): boolean => (value ? seen.current.add(key) : seen.current).has(key);
  const taskDetails = kTaskDetails.filter(({key}) => isInUse(key, draft.tasks.some((task) => task[key as 'worth'] !== undefined)) || more);
  const hasCap = isInUse('power_cap', draft.power_cap !== undefined);
  const hasPowers = isInUse('powers', draft.tasks.some(({power}) => power.some((watts) => watts !== undefined))) || hasCap;
  const drawsOn = isInUse('needs', draft.capacities.length > 0 || hasNeeds(draft)) || more;
  const resourceDetails = kResourceDetails.filter(({key}) => more || (hasPowers && kPowers.includes(key)));
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
          rates in
          <select id="rates-in" value={asSeconds ? 'seconds' : 'rates'} onChange={(event) => onSeconds(event.currentTarget.value === 'seconds')}>
            <option value="rates">tasks per second</option>
            <option value="seconds">seconds per task</option>
          </select>
        </label>
        <label class="check">
          <input type="checkbox" checked={withShares} onChange={(event) => onChange(withPriorities(draft, event.currentTarget.checked), '')} />
          shares
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
        Type rates, paste them from a spreadsheet, or drag the bars. Leave a rate empty where a type cannot run. Arrow keys move from cell to cell;
        Alt with an arrow key steps a rate. Tick “all fields” for worth, floors, limits, arrivals, power and needs.
      </p>
      <Rates
        draft={draft} marks={marks} asSeconds={asSeconds} details={resourceDetails} withPowers={more || hasPowers} onChange={onChange} onTable={onTable}
      />
      <Requests draft={draft} fields={taskDetails} withHome={more} marks={marks} onChange={onChange} />
      {drawsOn && <Needs draft={draft} marks={marks} onChange={onChange} />}
      {(more || hasCap) && <PowerCap draft={draft} marks={marks} onChange={onChange} />}
      <Stages draft={draft} marks={marks} onChange={onChange} />
      <p class="group">
        <Act isOff={isFull(addTask(draft))} onClick={() => onChange(addTask(draft), '')}>+ task type</Act>
        <Act isOff={isFull(addResource(draft))} onClick={() => onChange(addResource(draft), '')}>+ resource</Act>
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
            {diagnostics.length === 1 ? 'One thing is' : `${diagnostics.length} things are`} wrong. The results are those of the last scenario that
            was right.
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
