// Scenarios to begin with: the examples of the command, and random ones.
import type {Aim} from './address';
import type {Question} from './answers';
import bigLittle from '../../examples/biglittle.toml?raw';
import fcfsDiffers from '../../examples/fcfs-differs.toml?raw';
import paper from '../../examples/paper-2gp1sa.toml?raw';
import priorities from '../../examples/priorities.toml?raw';
import fair from '../../examples/plans/fair.toml?raw';
import latency from '../../examples/plans/latency.toml?raw';
import load from '../../examples/plans/load.toml?raw';
import needs from '../../examples/plans/needs.toml?raw';
import power from '../../examples/plans/power.toml?raw';
import stages from '../../examples/plans/stages.toml?raw';
import worth from '../../examples/plans/worth.toml?raw';
import workstation from '../../examples/workstation.toml?raw';

export interface Preset {
  id: string;
  label: string;
  /** What to look at. */
  hint: string;
  question: (seed: number) => Question<'read'> | Question<'generate'>;
  /** What it is about. */
  aim: Partial<Aim>;
}

const file = (id: string, label: string, hint: string, scenario: string, aim: Partial<Aim> = {service: 'even'}): Preset => ({
  id,
  label,
  hint,
  aim,
  question: () => ({command: 'read', scenario, format: 'toml'}),
});

const random = (id: string, label: string, hint: string, options: Record<string, unknown>): Preset => ({
  id,
  label,
  hint,
  aim: {service: 'even'},
  question: (seed) => ({command: 'generate', options: {...options, seed}}),
});

const planned: Partial<Aim> = {service: 'planned', objective: 'throughput'};

/** Those of the guides "Say what you want" and "Tasks that need several things". */
export const guided: Preset[] = [
  file('worth', 'This type is worth more', 'A “detect” is worth ten “resize”: change its worth, and see who gets the GPU.', worth, planned),
  file('latency', 'Stay below this latency', '“search” must finish within 50 ms on average: “Limits” says what that costs.', latency, planned),
  file('fair', 'Be fair', 'Drag the slider of “Value against the least-served type”: what fairness costs.', fair, {service: 'planned', objective: 'max-min'}),
  file('power', 'Stay below this power', 'Raise the power cap, or choose “Energy”.', power, planned),
  file('stages', 'Decode, then detect, then encode', 'Finished frames count: change the stages of a round.', stages, planned),
  file('load', 'Will it carry that load?', 'Tasks arrive from outside: the plan says how many times this load the machine can carry.', load, planned),
  file('needs', 'Tasks that need several things', 'GPU tasks hold a core and memory, and share the bus: change what a task takes, or how much there is.', needs, planned),
];

export const presets: Preset[] = [
  file('paper', "The paper's 2 GP + 1 SA", 'MAP moves tasks away from their fastest processor: one keeps it as busy as four would.', paper),
  file('bigLittle', 'Best Fit loses: big.LITTLE', 'Every type is fastest on the big cores, so Best Fit leaves the little ones idle.', bigLittle),
  file('fcfs', 'FCFS and PS differ', 'Change the discipline of “cpu” and “gpu” to PS: the best place of “report” changes.', fcfsDiffers),
  file('priorities', 'Exact shares are expensive', 'Choose “Shares” and drag the point along the trade-off.', priorities),
  file('workstation', 'A workstation', 'Several servers, different powers.', workstation),
  random('random', 'Random: 2 GP + 1 SA', 'Drawn anew each time.', {rates: [0, 10], priorities: true}),
  random('randomLarge', 'Random: 6 GP + 2 SA, 128 threads', 'Eight resources, eight task types: too many states to try them all.', {
    gps: 6,
    sas: 2,
    threads: 128,
    rates: [0, 10],
    priorities: true,
  }),
];
