// Two policies at work on the same tasks, side by side: one that holds its target, and one that drifts off.
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {isRefusal, type Question, type Solution} from './answers';
import {number, percent, plural} from './format';
import type {Library} from './library';
import {useListing} from './listing';
import {Chip} from './parts';
import {Playback} from './playback';
import {QueueDrawing} from './queues';
import {useLatest} from './study';
import type {Benches} from './workbench';

interface AnimationProps {
  library: Library;
  benches: Benches;
  hasPriorities: boolean;
  text: string;
  map: Solution;
  certificate: Solution | null;
  /** Whether completions count differently, so that the proven bound is not one of throughput. */
  worths: boolean;
}

/** Enough for a minute at the greatest speed that an eye can follow. */
const kCompletions = 3000;

interface Stage {
  playback: Playback;
  drawing: QueueDrawing;
}

interface Figures {
  time: number;
  completions: number;
  throughput: number;
  off: number;
  ended: boolean;
}

const figuresOf = (playback: Playback, target: number[][]): Figures => ({
  time: playback.time,
  completions: playback.completions,
  throughput: playback.time > 0 ? playback.completions / playback.time : 0,
  off: playback.offTarget(target),
  ended: playback.ended,
});

export function Animation({library, benches, hasPriorities, text, map, certificate, worths}: AnimationProps) {
  const listing = useListing(library);
  const [open, setOpen] = useState(false);
  const [policies, setPolicies] = useState<[string, string]>(['map', 'jsq']);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(0.45); // of the slider: tasks per second, logarithmic
  const [seed, setSeed] = useState(1);
  const [figures, setFigures] = useState<(Figures | null)[]>([null, null]);
  const canvases = [useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)];
  const stages = useRef<(Stage | null)[]>([]);
  const clock = useRef(0);
  const bound = worths ? null : (certificate?.upper_bound ?? null);
  const reference = Math.max(bound ?? map.throughput, 1e-300);
  const best = useMemo(
    () => ((certificate !== null && certificate.value > map.value * (1 + 1e-9) ? certificate : map).assignment ?? []),
    [certificate, map],
  );
  const tasksPerSecond = 10 ** (-0.3 + 3 * speed);
  const tooMany = map.population > 400;
  const isWanted = open && !tooMany && map.population > 0;

  const questionOf = (policy: string) =>
    useMemo<Question<'replay'> | null>(
      () => (isWanted ? {command: 'replay', scenario: text, options: {policy, seed, completions: kCompletions}} : null),
      [isWanted, text, policy, seed],
    );
  const left = useLatest(benches.left, questionOf(policies[0]));
  const right = useLatest(benches.right, questionOf(policies[1]));
  const replays = [left, right];
  const isReady = left !== undefined && right !== undefined;

  const standing = () => stages.current.filter((stage) => stage !== null);
  const show = (ease: number) => {
    for (const {drawing} of standing()) drawing.draw(ease);
    setFigures(stages.current.map((stage) => stage && figuresOf(stage.playback, best)));
  };
  const advance = () => {
    for (const {playback} of standing()) playback.advance(clock.current);
  };

  const begin = () => {
    clock.current = 0;
    stages.current = replays.map((replay, at) => {
      const canvas = canvases[at]!.current;
      if (!replay || isRefusal(replay) || canvas === null) return null;
      const playback = new Playback(replay, map.tasks.length, best);
      const drawing = new QueueDrawing(canvas, playback, best, map.resources);
      return {playback, drawing};
    });
    show(1);
  };
  // Before anybody can press a button of what is shown.
  useLayoutEffect(begin, [left, right, best]);

  useEffect(() => {
    if (!playing || !isReady) return undefined;
    let frame = 0;
    let last = performance.now();
    let told = 0;
    const tick = (now: number) => {
      const elapsed = Math.min(0.1, (now - last) / 1000);
      last = now;
      clock.current += (elapsed * tasksPerSecond) / reference;
      advance();
      const ease = 1 - Math.exp(-elapsed * Math.max(8, 2 * tasksPerSecond));
      const ended = standing().every(({playback}) => playback.ended);
      if (ended || now - told > 100) {
        told = now;
        show(ease);
      } else {
        for (const {drawing} of standing()) drawing.draw(ease);
      }
      if (ended) setPlaying(false);
      else frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [playing, isReady, tasksPerSecond, reference, best]);

  // What is drawn on a canvas follows neither the width nor the colours of the page by itself.
  useEffect(() => {
    const redraw = () => show(1);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const observer = new MutationObserver(redraw);
    observer.observe(document.documentElement, {attributeFilter: ['data-theme']});
    dark.addEventListener('change', redraw);
    window.addEventListener('resize', redraw);
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', redraw);
      window.removeEventListener('resize', redraw);
    };
  }, [best]);

  const play = () => {
    if (!playing && standing().every(({playback}) => playback.ended)) begin();
    setPlaying(!playing);
  };
  const step = () => {
    setPlaying(false);
    const next = standing().map(({playback}) => playback.nextCompletion()).filter((time) => time !== null);
    if (next.length === 0) return;
    clock.current = Math.min(...next);
    advance();
    show(1);
  };
  const restart = () => {
    setPlaying(false);
    setSeed((old) => old + 1);
  };

  return (
    <section class="card" aria-labelledby="animation-title">
      <h2 id="animation-title">Watch the queues</h2>
      <p class="quiet">
        Every dot is a task; its letter and colour are its type. Rings are the places of the best assignment; a policy that keeps to it
        fills them. Squares are tasks in the wrong place, and pale ones wait.
      </p>
      {map.population === 0 ? (
        <p class="quiet">There are no threads, so there is nothing to watch.</p>
      ) : tooMany ? (
        <p class="quiet">With {plural(map.population, 'thread')} there would be too many dots to see anything.</p>
      ) : !open ? (
        <button type="button" class="primary" id="watch" onClick={() => { setOpen(true); setPlaying(!matchMedia('(prefers-reduced-motion: reduce)').matches); }}>
          Start watching
        </button>
      ) : (
        <>
          <div class="settings">
            <span class="group">
              <button type="button" class="primary" id="play" disabled={!isReady} onClick={play}>{playing ? 'Pause' : 'Play'}</button>
              <button type="button" id="step" disabled={!isReady} onClick={step}>Step</button>
              <button type="button" onClick={restart}>Restart with other tasks</button>
            </span>
            <label class="speed">
              <span>Speed</span>
              <input type="range" min="0" max="1" step="0.01" value={speed} aria-valuetext={`${number(tasksPerSecond, 2)} tasks a second`} onInput={(event) => setSpeed(Number(event.currentTarget.value))} />
              <span class="quiet" aria-hidden="true">about {number(tasksPerSecond, 2)} tasks a second</span>
            </label>
          </div>
          <ul class="legend" aria-label="Task types">
            {map.tasks.map((name, i) => (
              <li key={name}><Chip type={i} /> {name}</li>
            ))}
          </ul>
          <div class="stages">
            {policies.map((policy, at) => {
              const replay = replays[at];
              const shown = figures[at] ?? null;
              const part = (shown?.throughput ?? 0) / reference;
              const against = bound !== null ? 'the bound' : 'what MAP predicts';
              const words =
                shown === null
                  ? ''
                  : `${policy}: ${number(shown.throughput, 3)} tasks per second so far, ${percent(part)} of ${against}; ${plural(shown.off, 'task')} off the best assignment`;
              return (
                <div class="stage" key={at} data-policy={policy} data-off={shown?.off} data-completions={shown?.completions} data-throughput={shown?.throughput}>
                  <label>
                    <span class="hidden">{at === 0 ? 'Left' : 'Right'} policy</span>
                    <select
                      value={policy}
                      onChange={(event) => {
                        const chosen = event.currentTarget.value;
                        setPolicies((old) => (at === 0 ? [chosen, old[1]] : [old[0], chosen]));
                      }}
                    >
                      {listing.policies
                        .filter(({needs_shares}) => hasPriorities || !needs_shares)
                        .map(({name}) => <option key={name} value={name}>{name}</option>)}
                    </select>
                  </label>
                  {replay === undefined && <p class="quiet">Simulating…</p>}
                  {replay && isRefusal(replay) && <p class="wrong" role="alert">{replay.diagnostics.map(({message}) => message).join('; ')}</p>}
                  <canvas ref={canvases[at]} role="img" aria-label={words || `The queues under ${policy}`} />
                  {shown !== null && (
                    <dl>
                      <div><dt>tasks/s so far</dt><dd>{number(shown.throughput, 3)}</dd></div>
                      <div><dt>of {against}, {number(reference, 3)}</dt><dd><meter min="0" max="1" low={0.85} high={0.95} optimum={1} value={Math.min(1, part)}>{percent(part)}</meter> {percent(part)}</dd></div>
                      <div><dt>off the best assignment</dt><dd>{shown.off} of {map.population}</dd></div>
                      <div><dt>done</dt><dd>{plural(shown.completions, 'task')} in {number(shown.time, 3)} s{shown.ended ? ', the end' : ''}</dd></div>
                    </dl>
                  )}
                  {!playing && <p class="hidden" role="status">{words}</p>}
                </div>
              );
            })}
          </div>
        </>
      )}
    </section>
  );
}
