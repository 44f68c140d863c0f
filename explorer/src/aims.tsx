// What to aim for: how the machine is shared, and for what.
import {objectives, views, type Aim, type Objective, type View} from './address';

interface AimsProps {
  aim: Aim;
  /** The service that is shown. */
  service: Aim['service'];
  /** Why only planned service can answer, where that is so. */
  whyPlanned: string | null;
  priorities: boolean;
  onAim: (change: Partial<Aim>) => void;
}

interface Words {
  label: string;
  summary: string;
}

const kServices: Record<Aim['service'], Words> = {
  even: {label: 'Even sharing', summary: 'You choose where tasks go. Each resource shares itself evenly among its tasks.'},
  planned: {label: 'Planned service', summary: 'You choose which task each free server takes next, so each resource divides its time by the plan.'},
};

const kViews: Record<View, Words> = {
  throughput: {label: 'Throughput', summary: 'MAP: the most tasks per second, or the most value where types have a worth.'},
  priority: {label: 'Shares', summary: 'MIS: completions as near as possible to the shares that you ask for.'},
  weighted: {label: 'Weighted', summary: 'Exactly the shares that you ask for: resources divide their time unevenly.'},
};

const kObjectives: Record<Objective, Words> = {
  throughput: {label: 'Throughput', summary: 'The most value per second: tasks per second where every completion is worth 1.'},
  priority: {label: 'Shares', summary: 'The most completions in exactly the shares that you ask for.'},
  'max-min': {label: 'Max-min', summary: 'The most for the type that completes least relative to its share, then for the next, and so on.'},
  proportional: {label: 'Proportional', summary: 'Proportional fairness: the largest sum of share times the logarithm of completions.'},
  energy: {label: 'Energy', summary: 'The least power that keeps most of the value.'},
};

function Choices<Word extends string>({name, legend, words, all, chosen, isOff, onChoose}: {
  name: string;
  legend: string;
  words: Record<Word, Words>;
  all: readonly Word[];
  chosen: Word;
  isOff: (word: Word) => boolean;
  onChoose: (word: Word) => void;
}) {
  return (
    <fieldset class="views">
      <legend class="hidden">{legend}</legend>
      {all.map((word) => (
        <label key={word} class={chosen === word ? 'chosen' : ''} title={words[word].summary}>
          <input type="radio" name={name} value={word} checked={chosen === word} disabled={isOff(word)} onChange={() => onChoose(word)} />
          {words[word].label}
        </label>
      ))}
    </fieldset>
  );
}

export function Aims({aim, service, whyPlanned, priorities, onAim}: AimsProps) {
  const isPlanned = service === 'planned';
  const words = isPlanned ? kObjectives[aim.objective] : kViews[aim.view];
  return (
    <div class="aims">
      <div class="title">
        <Choices
          name="service" legend="How the machine is shared" words={kServices} all={['even', 'planned'] as const} chosen={service}
          isOff={(word) => word === 'even' && whyPlanned !== null} onChoose={(word) => onAim({service: word})}
        />
        {isPlanned ? (
          <Choices
            name="objective" legend="What to aim for" words={kObjectives} all={objectives} chosen={aim.objective}
            isOff={(word) => word === 'priority' && !priorities} onChoose={(objective) => onAim({objective})}
          />
        ) : (
          <Choices
            name="view" legend="What to aim for" words={kViews} all={views} chosen={aim.view}
            isOff={(word) => word !== 'throughput' && !priorities} onChoose={(view) => onAim({view})}
          />
        )}
        {isPlanned && aim.objective === 'energy' && (
          <label class="keep">
            keep
            <input type="text" id="keep" inputMode="decimal" value={aim.keep} aria-label="Part of the value to keep, in percent" onInput={(event) => onAim({keep: event.currentTarget.value})} />
            % of the value
          </label>
        )}
      </div>
      <p class="quiet" id="aim">
        {kServices[service].summary} {words.summary}
        {whyPlanned !== null && ` (${whyPlanned[0]!.toUpperCase()}${whyPlanned.slice(1)}.)`}
        {!priorities && ' Tick “shares” in the scenario to aim for shares of the completions.'}
      </p>
    </div>
  );
}
