// A short tour of the page, on first opening and at the press of a button.
import {useEffect, useState} from 'preact/hooks';

const kSteps: [selector: string, title: string, text: string][] = [
  ['.scenario', 'Your machine and its work', 'Resources across, task types down, rates in between. Change a rate: the answer follows at once.'],
  ['#answer', 'The answer', 'How much the machine completes with the best plan. It stays in sight while you edit.'],
  ['.results', 'Where tasks go, and why', 'Choose a cell to ask why its tasks are there. Above it, choose how the machine is shared and what to aim for.'],
  ['.simulation', 'Try it', 'Simulate scheduling policies on the same random tasks, with 95% intervals. Below, watch their queues.'],
  ['.tools', 'Yours', 'Start from an example, or open your own file: TOML, JSON or CSV. The link in the address bar keeps everything.'],
];

const kSeen = 'allot-tour';

/** Where a browser keeps nothing, the tour is not forced on anybody twice. */
function isFirst(): boolean {
  try {
    return localStorage.getItem(kSeen) === null;
  } catch {
    return false;
  }
}

function remember(): void {
  try {
    localStorage.setItem(kSeen, 'seen');
  } catch {
    // Then it is shown again.
  }
}

/** The step of the tour, and how to begin it; null while there is none. Who follows a link wants to see what it shows. */
export function useTour(): [number | null, (step: number | null) => void] {
  const [step, setStep] = useState<number | null>(() => (location.hash === '' && isFirst() ? 0 : null));
  return [step, (next) => {
    if (next === null) remember();
    setStep(next);
  }];
}

export function Tour({step, onStep}: {step: number; onStep: (step: number | null) => void}) {
  const [selector, title, text] = kSteps[step]!;
  useEffect(() => {
    const target = document.querySelector(selector);
    target?.classList.add('toured');
    if (step > 0) target?.scrollIntoView({block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth'});
    return () => target?.classList.remove('toured');
  }, [step]);
  const isLast = step === kSteps.length - 1;
  const end = () => {
    onStep(null);
    document.getElementById('tour')?.focus();
  };
  return (
    <aside class="tour" aria-label="A short tour" onKeyDown={(event) => { if (event.key === 'Escape') end(); }}>
      <div aria-live="polite">
        <p class="quiet">{step + 1} of {kSteps.length}</p>
        <h2>{title}</h2>
        <p>{text}</p>
      </div>
      <p class="group">
        {step > 0 && <button type="button" onClick={() => onStep(step - 1)}>Back</button>}
        <button type="button" class="primary" id="tour-next" onClick={() => (isLast ? end() : onStep(step + 1))}>{isLast ? 'Done' : 'Next'}</button>
        {!isLast && <button type="button" id="tour-end" onClick={end}>End the tour</button>}
      </p>
    </aside>
  );
}
