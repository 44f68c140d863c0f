// What is asked for each task type: worth, limits, load.
import type {FieldInfo} from './fields';
import {Details, Mark, Row} from './inputs';
import {Chip} from './parts';
import {withTask, type Draft} from './scenario';

interface RequestsProps {
  draft: Draft;
  /** The numbers that are shown. */
  fields: FieldInfo[];
  withHome: boolean;
  marks: Map<string, string[]>;
  onChange: (draft: Draft, field: string) => void;
}

/** A file has arrivals in a table of their own. */
export const arrivalsField: FieldInfo = {
  key: 'arrivals', kind: 'number', unit: 'tasks/s', help: 'tasks that arrive per second from outside and leave when done', default: null, words: [], least: 0,
};

export function Requests({draft, fields, withHome, marks, onChange}: RequestsProps) {
  if (fields.length === 0 && !withHome) return null;
  return (
    <div class="requests">
      <h3>Worth, limits and arrivals</h3>
      {draft.tasks.map((task, i) => {
        const place = `tasks.${i}`;
        const set = (change: Partial<typeof task>, field: string) => onChange(withTask(draft, i, change), `${place}.${field}`);
        return (
          <div class="request" role="group" aria-label={`Worth, limits and arrivals of ${task.name}`} key={i}>
            <span class="who" title={task.name}><Chip type={i} /><span class="brief">{task.name}</span></span>
            <Details fields={fields} entry={{...task}} name={task.name} place={place} marks={marks} set={set} />
            {withHome && (
              <span>
                <Row label="home">
                  <select value={task.home} aria-label={`Home of ${task.name}`} onChange={(event) => set({home: event.currentTarget.value}, 'home')}>
                    <option value="">the fastest</option>
                    {draft.resources.map(({name}) => <option key={name} value={name}>{name}</option>)}
                  </select>
                </Row>
                <Mark id={`${place}.home`} messages={marks.get(`${place}.home`)} />
              </span>
            )}
          </div>
        );
      })}
    </div>
  );
}
