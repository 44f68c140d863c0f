// What to aim for: how the machine is shared, and for what.
import {views, type Aim, type View} from './address';
import {objectiveNames, objectives, type Objective} from './fields';

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

const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1);

const wordsOf = (objective: Objective): Words => ({
  label: objective === 'priority' ? 'Shares' : capital(objective),
  summary: capital(objectives[objective].summary) + '.',
});
const kObjectives = Object.fromEntries(objectiveNames.map((name) => [name, wordsOf(name)])) as Record<Objective, Words>;

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
            name="objective" legend="What to aim for" words={kObjectives} all={objectiveNames} chosen={aim.objective}
            isOff={(word) => objectives[word].needsShares && !priorities} onChoose={(objective) => onAim({objective})}
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
        {whyPlanned !== null && ` (${capital(whyPlanned)}.)`}
        {!priorities && ' Tick “shares” in the scenario to aim for shares of the completions.'}
      </p>
    </div>
  );
}
