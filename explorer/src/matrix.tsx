// Types down, resources across: where they run, and a cell to ask about.
import type {Solution} from './answers';
import {typeColour} from './colours';
import {number} from './format';
import {at, useGrid} from './grid';
import {Chip, Fit} from './parts';
import {hasNeeds, numberOf, type Draft} from './scenario';

export interface Cell {
  i: number;
  j: number;
}

/** Less than this is rounding. */
export const kLeastUnits = 5e-4;

export const noRate = (task: string, resource: string): string => `“${task}” cannot run on ${resource}: it has no rate there.`;

export const canRun = (draft: Draft, {i, j}: Cell): boolean => numberOf(draft.tasks[i]?.rates[j], 0) > 0;

/** What stands in each cell: tasks of an assignment, or servers of a plan. */
export function Matrix({solution, draft, selected, onSelect}: {
  solution: Solution;
  draft: Draft;
  selected: Cell | null;
  onSelect: (cell: Cell) => void;
}) {
  const {assignment, time_shares} = solution;
  const isPlan = assignment === null;
  const parts = assignment ?? time_shares ?? [];
  const most = Math.max(isPlan ? 1e-300 : 1, ...parts.flat());
  return (
    <Fit label={isPlan ? 'The plan' : 'The assignment'}>
      <table class="assignment" id="assignment" {...useGrid()}>
        <thead>
          <tr>
            <th scope="col" class="corner">{!isPlan ? 'threads at' : hasNeeds(draft) ? 'in service at' : 'servers at work'}</th>
            {solution.resources.map((name) => <th scope="col" key={name}><span class="brief" title={name}>{name}</span></th>)}
          </tr>
        </thead>
        <tbody>
          {solution.tasks.map((name, i) => (
            <tr key={name}>
              <th scope="row" title={name}><Chip type={i} /><span class="brief">{name}</span></th>
              {solution.resources.map((resource, j) => {
                const count = parts[i]![j]!;
                const isAble = canRun(draft, {i, j});
                const share = isPlan ? undefined : time_shares?.[i]?.[j];
                const has = isPlan ? count >= kLeastUnits : count > 0;
                const words = isPlan ? number(count, 3) : String(count);
                return (
                  <td key={resource} {...at(i, j)}>
                    <button
                      type="button"
                      class={`cell ${has ? '' : isAble ? 'free' : 'never'}`}
                      style={{'--part': `${(100 * Math.max(0, count)) / most}%`, '--colour': typeColour(i)}}
                      aria-pressed={selected?.i === i && selected.j === j}
                      aria-label={`${name} on ${resource}: ${has ? `${words}${isPlan ? ' servers' : ''}. Why here?` : isAble ? 'none. Why not here?' : 'cannot run there.'}`}
                      onClick={() => onSelect({i, j})}
                    >
                      <b>{has ? words : isAble ? '·' : ''}</b>
                      {share !== undefined && share > 0 && <small>{number(share, 3)} servers</small>}
                    </button>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Fit>
  );
}
