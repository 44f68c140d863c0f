// What tasks draw on besides the servers of the resource where they run, and how much each takes of it.
import {useState} from 'preact/hooks';
import {capacityFields} from './fields';
import {at, useGrid} from './grid';
import {Mark, NumberField} from './inputs';
import {Chip, Fit} from './parts';
import {NameField} from './rates';
import {capacityNames, removeCapacity, withCapacity, withNeed, type Draft} from './scenario';

interface NeedsProps {
  draft: Draft;
  marks: Map<string, string[]>;
  onChange: (draft: Draft, field: string) => void;
}

const helpOf = (key: string): string => capacityFields.find((info) => info.key === key)!.help;

function Capacities({draft, marks, onChange}: NeedsProps) {
  if (draft.capacities.length === 0) return null;
  return (
    <div class="capacities">
      {draft.capacities.map((capacity, k) => {
        const place = `capacities.${k}`;
        const set = (change: Partial<typeof capacity>, field: string) => onChange(withCapacity(draft, k, change), `${place}.${field}`);
        return (
          <div class="capacity" role="group" aria-label={`Capacity ${capacity.name}`} key={k}>
            <span class="named">
              <NameField place={`${place}.name`} label={`Name of capacity ${k + 1}`} value={capacity.name} marks={marks} onInput={(name) => set({name}, 'name')} />
              <button type="button" class="remove" aria-label={`Remove capacity ${capacity.name}`} onClick={() => onChange(removeCapacity(draft, k), '')}>
                ×
              </button>
            </span>
            <label class="pair" title={helpOf('amount')}>
              <span>amount</span>
              <NumberField
                place={`${place}.amount`} label={`Amount of ${capacity.name}`} value={capacity.amount} marks={marks} placeholder="1"
                onInput={(amount) => set({amount}, 'amount')}
              />
            </label>
            <label class="check" title={helpOf('shared')}>
              <input type="checkbox" checked={capacity.shared} onChange={(event) => set({shared: event.currentTarget.checked}, '')} />
              shared
            </label>
            {['name', 'amount', 'shared'].map((key) => <Mark key={key} id={`${place}.${key}`} messages={marks.get(`${place}.${key}`)} />)}
            <Mark id={place} messages={marks.get(place)} />
          </div>
        );
      })}
    </div>
  );
}

/** With more pairs, only those are shown of which something is said. */
const kFewPairs = 12;

/** A row for every pair that can run, a column for everything that it may take. */
export function Needs({draft, marks, onChange}: NeedsProps) {
  const names = capacityNames(draft);
  const grid = useGrid();
  const width = draft.resources.length;
  const [opened, setOpened] = useState<string[]>([]);
  const isSaid = ({i, j}: {i: number; j: number}) => draft.tasks[i]!.needs[j]!.some((amount) => amount !== undefined);
  const possible = draft.tasks
    .flatMap(({rates}, i) => draft.resources.map((_, j) => ({i, j, key: `${i} ${j}`, runs: rates[j] !== undefined && rates[j] !== 0})))
    .filter((pair) => pair.runs || isSaid(pair));
  const isShown = (pair: (typeof possible)[number]) => possible.length <= kFewPairs || isSaid(pair) || opened.includes(pair.key);
  const pairs = possible.filter(isShown);
  const hidden = possible.filter((pair) => !isShown(pair));
  const wordsOf = ({i, j}: {i: number; j: number}) => `${draft.tasks[i]!.name} on ${draft.resources[j]!.name}`;
  return (
    <div class="needs" id="needs">
      <h3>What a task needs</h3>
      <p class="quiet">
        A task in service takes one server of its resource, unless you enter another number, and what you enter here. Others wait for
        what it holds; a shared capacity that is used up slows down all tasks that draw on it.
      </p>
      <Capacities draft={draft} marks={marks} onChange={onChange} />
      {pairs.length > 0 && <Fit label="What a task takes, by task type, resource and capacity">
        <table class="plain taken" {...grid}>
          <thead>
            <tr>
              <th scope="col">task, where</th>
              {names.map((name, r) => (
                <th scope="col" key={r} title={r < width ? `servers of ${name}` : name}>
                  <span class="brief">{name}</span>
                  <small>{r < width ? 'servers' : draft.capacities[r - width]!.shared ? 'shared' : 'held'}</small>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {pairs.map(({i, j, key}, row) => {
              const [task, resource] = [draft.tasks[i]!, draft.resources[j]!];
              return (
                <tr key={key}>
                  <th scope="row" title={wordsOf({i, j})}>
                    <Chip type={i} /><span class="brief">{task.name}</span> <span class="where">on {resource.name}</span>
                  </th>
                  {names.map((name, r) => {
                    const place = `tasks.${i}.needs.${j}.${r}`;
                    return (
                      <td key={r} {...at(row, r)}>
                        <NumberField
                          place={place} label={`${name} taken by ${task.name} on ${resource.name}`} value={task.needs[j]![r]} marks={marks}
                          placeholder={r === j ? '1' : '–'} onInput={(amount) => onChange(withNeed(draft, i, j, r, amount), place)}
                        />
                        <Mark id={place} messages={marks.get(place)} />
                      </td>
                    );
                  })}
                </tr>
              );
            })}
          </tbody>
        </table>
      </Fit>}
      {hidden.length > 0 && (
        <select aria-label="Say what another task needs" value="" onChange={(event) => setOpened([...opened, event.currentTarget.value])}>
          <option value="" disabled>+ needs of …</option>
          {hidden.map((pair) => <option key={pair.key} value={pair.key}>{wordsOf(pair)}</option>)}
        </select>
      )}
    </div>
  );
}
