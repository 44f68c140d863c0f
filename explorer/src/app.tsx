// The page: its state, and how its parts hang together.
import notices from 'notices';
import {useCallback, useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {readAddress, writeAddress, type View} from './address';
import {Animation} from './animation';
import {isRefusal, type Diagnostic, type ScenarioFile} from './answers';
import {Editor} from './editor';
import {begin, edit, redo, undo, type History} from './history';
import type {Library} from './library';
import {presets} from './presets';
import {Results} from './results';
import {draftOf, marksOf, textOf, type Draft, type Field} from './scenario';
import {SimulationPanel} from './simulation';
import {firstAnswer, useLatest, type FirstAnswer} from './study';
import {Toolbar} from './toolbar';
import type {Workbench} from './workbench';

export interface AppProps {
  library: Library;
  proofs: Workbench;
  studies: Workbench;
  simulations: Workbench;
}

/** Something that was refused, and why. */
export interface Notice {
  title: string;
  lines: string[];
}

interface Opening {
  draft: Draft;
  view: View;
  notice: Notice | null;
}

const linesOf = (diagnostics: Diagnostic[]): string[] => diagnostics.map(({place, message}) => `${place}: ${message}`);

/** With more pairs of task types and resources, edits would no longer be answered at once. */
const kMostPairs = 1024;

/** A draft from the text of a file; or why there is none. */
export function readDraft(library: Library, scenario: string, format: 'json' | 'toml'): Draft | Diagnostic[] {
  const answer = library.ask({command: 'read', scenario, format});
  if (isRefusal(answer)) return answer.diagnostics;
  const draft = draftOf(JSON.parse(answer.json) as ScenarioFile);
  const pairs = draft.tasks.length * draft.resources.length;
  if (pairs <= kMostPairs) return draft;
  return [{place: 'size', message: `${pairs} pairs of task types and resources are too many for a page, which takes ${kMostPairs}; the command takes them`}];
}

function presetDraft(library: Library, id: string, seed: number): Draft {
  const preset = presets.find((candidate) => candidate.id === id) ?? presets[0]!;
  const answer = library.ask(preset.question(seed));
  if (isRefusal(answer)) throw new Error(linesOf(answer.diagnostics).join('; '));
  if ('json' in answer) return draftOf(JSON.parse(String(answer.json)) as ScenarioFile);
  // Nobody wants to read sixteen digits of a random number.
  const short = (field: Field): Field => (typeof field === 'number' ? Number(field.toPrecision(3)) : field);
  const random = draftOf(answer as ScenarioFile);
  return {
    ...random,
    tasks: random.tasks.map((task) => ({...task, priority: short(task.priority), rates: task.rates.map(short)})),
  };
}

function fromAddress(library: Library): Opening | null {
  const title = 'The address of this page holds a scenario that cannot be read.';
  try {
    const address = readAddress(location.hash);
    if (address === null) return null;
    const draft = readDraft(library, address.scenario, 'json');
    if (!Array.isArray(draft)) return {draft, view: address.view, notice: null};
    return {draft: presetDraft(library, 'paper', 1), view: 'throughput', notice: {title, lines: linesOf(draft)}};
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {draft: presetDraft(library, 'paper', 1), view: 'throughput', notice: {title, lines: [reason]}};
  }
}

/** The licences of what the page is made of; drawn when somebody asks for them. */
function Notices() {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Licences of what is inside</summary>
      {open && notices.map(([who, terms]) => (
        <div key={who}>
          <h3>{who}</h3>
          <pre>{terms}</pre>
        </div>
      ))}
    </details>
  );
}

export function App({library, proofs, studies, simulations}: AppProps) {
  const opening = useMemo(
    () => fromAddress(library) ?? {draft: presetDraft(library, 'paper', 1), view: 'throughput' as View, notice: null},
    [library],
  );
  const [history, setHistory] = useState<History<Draft>>(() => begin(opening.draft));
  const [view, setView] = useState<View>(opening.view);
  const [notice, setNotice] = useState<Notice | null>(opening.notice);
  const draft = history.present;
  const text = useMemo(() => textOf(draft), [draft]);

  const change = useCallback((next: Draft, field: string) => {
    setHistory((old) => edit(old, next, field, performance.now()));
  }, []);
  const replace = useCallback(
    (next: Draft) => {
      setNotice(null);
      change(next, '');
    },
    [change],
  );

  // The last answer stays while the scenario is wrong, so that the page does not jump about.
  const answer = useMemo(() => firstAnswer(library, text, view), [library, text, view]);
  const lastGood = useRef<FirstAnswer | null>(null);
  if (!Array.isArray(answer)) lastGood.current = answer;
  const diagnostics = Array.isArray(answer) ? answer : [];
  const good = lastGood.current;
  const marks = useMemo(() => marksOf(draft, diagnostics), [draft, answer]);

  const solvable = good !== null && good.isStatic ? good.text : null;
  const certificate = useLatest(
    proofs,
    useMemo(() => (solvable === null ? null : {command: 'certify' as const, scenario: solvable, options: {time_limit: 10}}), [solvable]),
  );

  // In the address, a moment after the last edit.
  const written = useRef('');
  useEffect(() => {
    if (Array.isArray(answer)) return undefined;
    const timer = setTimeout(() => {
      const hash = writeAddress(text, view);
      if (hash === location.hash) return;
      written.current = hash;
      window.history.replaceState(null, '', hash);
    }, 150);
    return () => clearTimeout(timer);
  }, [text, view, answer]);

  useEffect(() => {
    const onHash = () => {
      if (location.hash === written.current) return;
      const opened = fromAddress(library);
      if (opened === null) return;
      setNotice(opened.notice);
      if (opened.notice !== null) return;
      setView(opened.view);
      setHistory((old) => edit(old, opened.draft, '', 0));
    };
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLInputElement && event.target.type === 'text';
      if (!(event.ctrlKey || event.metaKey) || typing) return;
      const key = event.key.toLowerCase();
      if (key === 'z' && !event.shiftKey) setHistory(undo);
      else if (key === 'y' || (key === 'z' && event.shiftKey)) setHistory(redo);
      else return;
      event.preventDefault();
    };
    window.addEventListener('hashchange', onHash);
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('hashchange', onHash);
      window.removeEventListener('keydown', onKey);
    };
  }, [library]);

  return (
    <>
      <a class="skip" href="#results" onClick={(event) => { event.preventDefault(); document.getElementById('results')?.focus(); }}>
        Skip to the results
      </a>
      <Toolbar
        library={library}
        draft={draft}
        text={text}
        toml={good?.toml ?? ''}
        view={view}
        isValid={diagnostics.length === 0}
        canUndo={history.past.length > 0}
        canRedo={history.future.length > 0}
        onUndo={() => setHistory(undo)}
        onRedo={() => setHistory(redo)}
        onPreset={(id, seed) => replace(presetDraft(library, id, seed))}
        onOpen={replace}
        onNotice={setNotice}
      />
      <main>
        {notice !== null && (
          <div class="notice" role="alert">
            <strong>{notice.title}</strong>
            <ul>{notice.lines.slice(0, 12).map((line) => <li key={line}>{line}</li>)}</ul>
            {notice.lines.length > 12 && <p>and {notice.lines.length - 12} more</p>}
            <button type="button" onClick={() => setNotice(null)}>Close this message</button>
          </div>
        )}
        <div class={`together ${draft.resources.length <= 4 ? 'few' : ''}`}>
          <div class="side">
            <Editor draft={draft} marks={marks} diagnostics={diagnostics} notes={good?.notes ?? []} onChange={change} />
          </div>
          {good !== null && (
            <Results
              library={library}
              studies={studies}
              draft={draft}
              answer={good}
              isCurrent={!Array.isArray(answer)}
              view={view}
              onView={setView}
              certificate={certificate}
            />
          )}
        </div>
        <SimulationPanel
          library={library}
          bench={simulations}
          draft={draft}
          text={good?.text ?? text}
          bound={certificate?.upper_bound ?? null}
        />
        {good !== null && good.isStatic && good.map !== null && (
          <Animation library={library} draft={draft} text={good.text} map={good.map} certificate={certificate ?? null} />
        )}
      </main>
      <footer>
        <p>
          Everything on this page is computed in it, by the allot library compiled to WebAssembly. Nothing leaves it.
        </p>
        <Notices />
      </footer>
    </>
  );
}
