// What concerns the machine or several task types at once: jobs of several stages, and the power of the whole machine.
import {fileFields, groupFields} from './fields';
import {Details, labelOf, Mark, NumberField, Stepper} from './inputs';
import {Chip} from './parts';
import {isNumber, isStepped, removeGroup, withGroup, type Draft} from './scenario';

interface PartProps {
  draft: Draft;
  marks: Map<string, string[]>;
  onChange: (draft: Draft, field: string) => void;
}

const kPowerCap = fileFields.find(({key}) => key === 'power_cap')!;
const kDetails = groupFields.filter((info) => isNumber(info) && !isStepped(info));

export function PowerCap({draft, marks, onChange}: PartProps) {
  return (
    <div class="cap">
      <label class="pair" title={kPowerCap.help}>
        <span>{labelOf(kPowerCap)}</span>
        <NumberField
          place="power_cap"
          label="power cap of the whole machine, W"
          value={draft.power_cap}
          marks={marks}
          placeholder="none"
          onInput={(power_cap) => onChange({...draft, power_cap}, 'power_cap')}
        />
      </label>
      <Mark id="power_cap" messages={marks.get('power_cap')} />
    </div>
  );
}

/** The task types of a round, in order: each can be taken out, and others added at the end. */
function Sequence({draft, k, marks, onChange}: PartProps & {k: number}) {
  const {name, sequence} = draft.groups[k]!;
  const place = `groups.${k}.sequence`;
  const set = (next: string[]) => onChange(withGroup(draft, k, {sequence: next}), '');
  return (
    <div class="sequence" role="group" aria-label={`Stages of ${name}`}>
      {sequence.map((task, at) => {
        const i = draft.tasks.findIndex((candidate) => candidate.name === task);
        return (
          <span class="visit" key={`${at} ${task}`}>
            {i >= 0 && <Chip type={i} />}
            <span class="brief" title={task}>{task}</span>
            <button type="button" class="remove" aria-label={`Remove ${task}, stage ${at + 1}, from ${name}`} onClick={() => set(sequence.filter((_, other) => other !== at))}>
              ×
            </button>
          </span>
        );
      })}
      <select aria-label={`Add a stage to ${name}`} value="" onChange={(event) => set([...sequence, event.currentTarget.value])}>
        <option value="" disabled>+ stage</option>
        {draft.tasks.map((task, i) => <option key={i} value={task.name}>{task.name}</option>)}
      </select>
      <Mark id={place} messages={marks.get(place)} />
    </div>
  );
}

export function Stages({draft, marks, onChange}: PartProps) {
  if (draft.groups.length === 0) return null;
  return (
    <div class="groups">
      <h3>Work of several stages</h3>
      <p class="quiet">Each thread of a group runs the task types of its round one after another, over and over. Finished rounds count.</p>
      {draft.groups.map((group, k) => {
        const place = `groups.${k}`;
        const set = (change: Partial<typeof group>, field: string) => onChange(withGroup(draft, k, change), `${place}.${field}`);
        return (
          <div class="job" key={k}>
            <span class="named">
              <input
                type="text"
                id={`${place}.name`}
                aria-label={`Name of group ${k + 1}`}
                placeholder={`group ${k + 1}`}
                aria-invalid={marks.has(`${place}.name`)}
                value={group.name}
                onInput={(event) => set({name: event.currentTarget.value}, 'name')}
              />
              <button type="button" class="remove" aria-label={`Remove group ${group.name}`} onClick={() => onChange(removeGroup(draft, k), '')}>
                ×
              </button>
            </span>
            <Mark id={`${place}.name`} messages={marks.get(`${place}.name`)} />
            <Sequence draft={draft} k={k} marks={marks} onChange={onChange} />
            <div class="numbers">
              <span class="servers">
                <span aria-hidden="true">threads</span>
                <Stepper place={`${place}.count`} label={`Threads of ${group.name}`} value={group.count} marks={marks} least={1} onInput={(count) => set({count}, 'count')} />
              </span>
              <Details fields={kDetails} entry={{...group}} name={group.name} place={place} marks={marks} set={set} />
            </div>
            <Mark id={`${place}.count`} messages={marks.get(`${place}.count`)} />
            <Mark id={place} messages={marks.get(place)} />
          </div>
        );
      })}
    </div>
  );
}
