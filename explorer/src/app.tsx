// The page: its state, and how its parts hang together.
import notices from 'notices';
import {useCallback, useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {objectives} from './fields';
import {usualAim, usualSettings, writeAddress, type Aim, type Settings} from './address';
import {Animation} from './animation';
import {Editor} from './editor';
import {begin, edit, redo, undo, type History} from './history';
import type {Choice} from './even';
import type {Library} from './library';
import {Machines} from './machines';
import {presetDraft, readDraft, readLocation, readTable, type Notice} from './opening';
import {Results} from './results';
import {hasPriorities, marksOf, textOf, valueUnit, type Draft} from './scenario';
import {SimulationPanel} from './simulation';
import {firstAnswer, studySeconds, useAnswer, type FirstAnswer} from './study';
import {Toolbar} from './toolbar';
import {Tour, useTour} from './tour';
import type {Benches} from './workbench';

interface AppProps {
  library: Library;
  benches: Benches;
}

/** The licences of what the page is made of; drawn when somebody asks for them. */
function Notices() {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Licences of the software inside</summary>
      {open && notices.map(([who, terms]) => (
        <div key={who}>
          <h3>{who}</h3>
          <pre>{terms}</pre>
        </div>
      ))}
    </details>
  );
}

/** Whether Ctrl+Z belongs to the text that is being typed there. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement && target.type === 'text' && target.dataset.typed !== 'false';

export function App({library, benches}: AppProps) {
  const opening = useMemo(() => readLocation(library), [library]);
  const opened = opening !== null && 'draft' in opening ? opening : null;
  const [history, setHistory] = useState<History<Draft>>(() => begin(opened?.draft ?? presetDraft(library, 'paper', 1)));
  const [wanted, setWanted] = useState<Aim>(opened?.aim ?? usualAim);
  const [choice, setChoice] = useState<Choice | null>(opened?.choice ?? null);
  const [settings, setSettings] = useState<Settings>(opened?.settings ?? usualSettings);
  const [asSeconds, setAsSeconds] = useState(opened?.asSeconds ?? false);
  const [other, setOther] = useState<string | null>(opened?.other ?? null);
  const [step, setStep] = useTour();
  const [notice, setNotice] = useState<Notice | null>(opening !== null && 'lines' in opening ? opening : null);
  const draft = history.present;
  const text = useMemo(() => textOf(draft), [draft]);
  const aim = useMemo((): Aim => {
    if (hasPriorities(draft)) return wanted;
    return {...wanted, view: 'throughput', objective: objectives[wanted.objective].needsShares ? usualAim.objective : wanted.objective};
  }, [draft, wanted]);
  const setAim = useCallback((change: Partial<Aim>) => setWanted((old) => ({...old, ...change})), []);

  const change = useCallback((next: Draft, field: string) => {
    setHistory((old) => edit(old, {...next, isEdited: true}, field, performance.now()));
  }, []);
  const replace = useCallback((next: Draft, meant?: Partial<Aim>) => {
    setNotice(null);
    if (meant !== undefined) setAim(meant);
    setHistory((old) => edit(old, next, '', 0));
  }, [setAim]);

  const openTable = useCallback((name: string, cells: string[][]) => {
    const read = readTable(library, name, cells, asSeconds);
    if ('title' in read) setNotice(read);
    else replace(read);
  }, [library, asSeconds, replace]);
  const pasteTable = useCallback((cells: string[][]) => openTable('pasted', cells), [openTable]);

  // The last answer stays while the scenario is wrong, so that the page does not jump about.
  const answer = useMemo(() => firstAnswer(library, text, aim), [library, text, aim]);
  const isRight = !Array.isArray(answer);
  const lastGood = useRef<{answer: FirstAnswer; draft: Draft} | null>(null);
  if (isRight) lastGood.current = {answer, draft};
  const good = lastGood.current;
  const diagnostics = useMemo(() => (isRight ? [] : answer), [answer]);
  const marks = useMemo(() => marksOf(draft, diagnostics), [draft, diagnostics]);

  const solvable = good !== null && good.answer.map !== null ? good.answer.text : null;
  const certificate = useAnswer(
    benches.proof,
    useMemo(() => (solvable === null ? null : {command: 'certify' as const, scenario: solvable, options: {time_limit: studySeconds}}), [solvable]),
  );

  // In the address, a moment after the last edit. `address` is what it held when the page last wrote or read it.
  const [address, setAddress] = useState(location.hash);
  const point = choice !== null && choice.text === text && aim.view === 'priority' ? choice.assignment : null;
  const hash = useMemo(
    () => writeAddress({scenario: text, aim, point, settings, asSeconds, other}),
    [text, aim, point, settings, asSeconds, other],
  );
  useEffect(() => {
    if (!isRight || hash === null || hash === address) return undefined;
    const timer = setTimeout(() => {
      if (location.hash !== address) return; // somebody else has changed it, which is about to be read
      window.history.replaceState(null, '', hash);
      setAddress(hash);
    }, 150);
    return () => clearTimeout(timer);
  }, [hash, address, isRight]);

  useEffect(() => {
    const onHash = () => {
      setAddress(location.hash);
      const next = readLocation(library);
      if (next === null) return;
      setNotice('lines' in next ? next : null);
      if ('lines' in next) return;
      setWanted(next.aim);
      setChoice(next.choice);
      setSettings(next.settings);
      setAsSeconds(next.asSeconds);
      setOther(next.other);
      setHistory((old) => (textOf(old.present) === textOf(next.draft) ? old : edit(old, next.draft, '', 0)));
    };
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || isTyping(event.target)) return;
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
        toml={good?.answer.toml ?? ''}
        hash={hash}
        isValid={isRight}
        canUndo={history.past.length > 0}
        canRedo={history.future.length > 0}
        onUndo={() => setHistory(undo)}
        onRedo={() => setHistory(redo)}
        onOpen={replace}
        onTable={openTable}
        onNotice={setNotice}
        onKeep={() => setOther(text)}
        onTour={() => setStep(0)}
      />
      <div id="answer" class={isRight ? '' : 'stale'} role="region" aria-label="The answer" />
      <main data-address={address === hash ? 'written' : 'pending'}>
        {notice !== null && (
          <div class="notice" role="alert">
            <strong>{notice.title}</strong>
            <ul>{notice.lines.slice(0, 12).map((line) => <li key={line}>{line}</li>)}</ul>
            {notice.lines.length > 12 && <p>and {notice.lines.length - 12} more</p>}
            <button type="button" onClick={() => setNotice(null)}>Close this message</button>
          </div>
        )}
        <div class={`together ${draft.resources.length <= 3 ? 'few' : ''}`}>
          <Editor
            draft={draft} marks={marks} diagnostics={diagnostics} notes={good?.answer.notes ?? []} asSeconds={asSeconds} onSeconds={setAsSeconds}
            onChange={change} onTable={pasteTable}
          />
          {good !== null && (
            <Results
              library={library}
              benches={benches}
              draft={good.draft}
              answer={good.answer}
              isCurrent={isRight}
              aim={aim}
              onAim={setAim}
              choice={choice}
              onChoice={setChoice}
              onDraft={(next) => change(next, '')}
              certificate={certificate}
            />
          )}
          <SimulationPanel
            library={library}
            bench={benches.simulation}
            draft={draft}
            settings={settings}
            onSettings={setSettings}
            text={isRight ? text : null}
            threads={good !== null && good.answer.isStatic ? (good.answer.shown?.population ?? null) : null}
            bound={good !== null && valueUnit(good.draft) === 'tasks/s' ? (certificate?.upper_bound ?? null) : null}
          />
        </div>
        {good !== null && other !== null && (
          <Machines
            library={library} other={other} answer={good.answer} aim={aim} onEnd={() => setOther(null)}
            onSwap={() => {
              const kept = readDraft(library, other, 'json');
              if (Array.isArray(kept)) return;
              setOther(good.answer.text);
              replace(kept);
            }}
          />
        )}
        {good !== null && good.answer.isStatic && good.answer.map !== null && (
          <Animation
            library={library}
            benches={benches}
            hasPriorities={hasPriorities(good.draft)}
            text={good.answer.text}
            map={good.answer.map}
            certificate={certificate ?? null}
            worths={valueUnit(good.draft) !== 'tasks/s'}
          />
        )}
      </main>
      <footer>
        <p>
          The allot library, compiled to WebAssembly, computes everything here in your browser. Nothing is sent anywhere.
        </p>
        <Notices />
      </footer>
      {step !== null && <Tour step={step} onStep={setStep} />}
    </>
  );
}
