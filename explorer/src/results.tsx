// What the library advises, and why.
import type {Aim} from './address';
import {Aims} from './aims';
import type {Solution} from './answers';
import {EvenResults, type Choice} from './even';
import type {Library} from './library';
import {PlanResults} from './plan';
import {hasPriorities, type Draft} from './scenario';
import type {FirstAnswer} from './study';
import type {Benches} from './workbench';

interface ResultsProps {
  library: Library;
  benches: Benches;
  /** What the answer is about. */
  draft: Draft;
  answer: FirstAnswer;
  /** Whether the answer is that of the scenario as it stands, or of the last one that was right. */
  isCurrent: boolean;
  aim: Aim;
  onAim: (change: Partial<Aim>) => void;
  /** The point of the trade-off that was chosen, where one was. */
  choice: Choice | null;
  onChoice: (choice: Choice | null) => void;
  onDraft: (draft: Draft) => void;
  /** Of even sharing: undefined while it is being worked on, null where there is none. */
  certificate: Solution | null | undefined;
}

export function Results({library, benches, draft, answer, isCurrent, aim, onAim, choice, onChoice, onDraft, certificate}: ResultsProps) {
  const choose = (next: Choice | null) => {
    onChoice(next);
    if (aim.view !== 'priority') onAim({view: 'priority'});
  };
  const isPlanned = answer.service === 'planned';
  return (
    <section class={`card results ${isCurrent ? '' : 'stale'}`} id="results" tabIndex={-1} aria-labelledby="results-title">
      <h2 id="results-title">{isPlanned ? 'How the machine should work' : 'Where each task should run'}</h2>
      <Aims
        aim={aim}
        service={answer.service}
        whyPlanned={answer.whyPlanned}
        priorities={hasPriorities(draft)}
        onAim={(change) => {
          onChoice(null);
          onAim(change);
        }}
      />
      {answer.problem !== null && <p class="wrong" role="status" id="problem">{answer.problem}</p>}
      {isPlanned ? (
        answer.shown !== null && (
          <PlanResults library={library} benches={benches} draft={draft} answer={answer} plan={answer.shown} even={certificate} onAim={onAim} onDraft={onDraft} />
        )
      ) : (
        <EvenResults
          library={library} benches={benches} draft={draft} answer={answer} isCurrent={isCurrent} view={aim.view} choice={choice} onChoice={choose}
          certificate={certificate}
        />
      )}
    </section>
  );
}
