// What the library found, as files for other programs.
import type {Comparison, Solution} from './answers';
import {Saves} from './parts';
import {csvOf, fileName, jsonOf, save, type CsvValue} from './saving';

/** A row for each task type and resource. */
const solutionRows = ({tasks, resources, assignment, time_shares}: Solution, flows: number[][]): CsvValue[][] => [
  ['task type', 'resource', 'threads', 'servers', 'tasks per second'],
  ...tasks.flatMap((task, i) => resources.map((resource, j) => [task, resource, assignment?.[i]?.[j], time_shares?.[i]?.[j], flows[i]?.[j]])),
];

export function SaveSolution({solution, flows, name}: {solution: Solution; flows: number[][]; name: string}) {
  const file = `${fileName(name)}-${solution.service === 'planned' ? 'plan' : 'assignment'}`;
  return (
    <Saves
      what="the results"
      ways={{
        CSV: () => save(`${file}.csv`, csvOf(solutionRows(solution, flows)), 'text/csv'),
        JSON: () => save(`${file}.json`, jsonOf(solution), 'application/json'),
      }}
    />
  );
}

const comparisonRows = ({policies, resources}: Comparison): CsvValue[][] => [
  ['policy', 'tasks per second', '± 95%', 'value per second', 'mean response, s', '95% of responses up to, s', ...resources.map((name) => `busy: ${name}`), 'J per task'],
  ...policies.map(({policy, throughput, value, response_time, utilization, energy_per_task}): CsvValue[] => [
    policy, throughput.mean, throughput.half_width, value?.mean, response_time.mean, response_time.p95, ...utilization, energy_per_task,
  ]),
];

export const SaveComparison = ({comparison}: {comparison: Comparison}) => (
  <Saves
    what="the simulation"
    ways={{
      CSV: () => save('simulation.csv', csvOf(comparisonRows(comparison)), 'text/csv'),
      JSON: () => save('simulation.json', jsonOf(comparison), 'application/json'),
    }}
  />
);
