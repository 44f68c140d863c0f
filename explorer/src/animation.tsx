// Two policies at work on the same tasks, side by side: one that holds its target, and one that drifts off.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {isRefusal, type Replay, type Solution} from './answers';
import {inkOn, typeColour, typeLetter} from './colours';
import {number, percent, plural} from './format';
import type {Library} from './library';
import {Playback} from './playback';
import {QueueDrawing} from './queues';
import {hasPriorities, type Draft} from './scenario';
import {useListing} from './simulation';

interface AnimationProps {
  library: Library;
  draft: Draft;
  text: string;
  map: Solution;
  certificate: Solution | null;
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

export function Animation({library, draft, text, map, certificate}: AnimationProps) {
  const listing = useListing(library);
  const [open, setOpen] = useState(false);
  const [policies, setPolicies] = useState<[string, string]>(['map', 'jsq']);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(0.45); // of the slider: tasks per second, logarithmic
  const [seed, setSeed] = useState(1);
  const [figures, setFigures] = useState<(Figures | null)[]>([null, null]);
  const canvases = [useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)];
  const stages = useRef<Stage[]>([]);
  const priorities = hasPriorities(draft);
  const bound = certificate?.upper_bound ?? map.throughput;
  const best = useMemo(
    () => (certificate !== null && certificate.throughput > map.throughput * (1 + 1e-9) ? certificate.assignment : map.assignment),
    [certificate, map],
  );
  const tasksPerSecond = 10 ** (-0.3 + 3 * speed);
  const clock = useRef(0);
  const tooMany = map.population > 400;

  const replays = useMemo<(Replay | string)[]>(() => {
    if (!open || tooMany) return [];
    return policies.map((policy) => {
      const answer = library.ask({command: 'replay', scenario: text, options: {policy, seed, completions: kCompletions}});
      return isRefusal(answer) ? answer.diagnostics.map(({message}) => message).join('; ') : answer;
    });
  }, [open, tooMany, library, text, seed, policies]);

  const show = (ease: number) => {
    for (const {drawing} of stages.current) drawing.draw(ease);
    setFigures(stages.current.map(({playback}) => figuresOf(playback, best)));
  };

  useEffect(() => {
    clock.current = 0;
    stages.current = [];
    replays.forEach((replay, at) => {
      const canvas = canvases[at]!.current;
      if (typeof replay === 'string' || canvas === null) return;
      const playback = new Playback(replay, map.tasks.length, best);
      const drawing = new QueueDrawing(canvas, playback, best, map.resources);
      canvas.style.height = `${drawing.height}px`;
      stages.current.push({playback, drawing});
    });
    show(1);
  }, [replays, best]);

  useEffect(() => {
    if (!playing) return undefined;
    let frame = 0;
    let last = performance.now();
    let told = 0;
    const tick = (now: number) => {
      const elapsed = Math.min(0.1, (now - last) / 1000);
      last = now;
      clock.current += (elapsed * tasksPerSecond) / Math.max(bound, 1e-300);
      for (const {playback} of stages.current) playback.advance(clock.current);
      const ease = 1 - Math.exp(-elapsed * Math.max(8, 2 * tasksPerSecond));
      for (const {drawing} of stages.current) drawing.draw(ease);
      if (now - told > 100) {
        told = now;
        setFigures(stages.current.map(({playback}) => figuresOf(playback, best)));
      }
      if (stages.current.every(({playback}) => playback.ended)) setPlaying(false);
      else frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [playing, tasksPerSecond, bound, best]);

  useEffect(() => {
    const redraw = () => show(1);
    window.addEventListener('resize', redraw);
    return () => window.removeEventListener('resize', redraw);
  });

  const step = () => {
    setPlaying(false);
    const next = stages.current.map(({playback}) => playback.nextCompletion()).filter((time) => time !== null);
    if (next.length === 0) return;
    clock.current = Math.min(...next);
    for (const {playback} of stages.current) playback.advance(clock.current);
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
        Every dot is a task; its letter and colour are its type. Rings are the places of the best assignment: a policy that holds it keeps
        them filled. Squares are tasks that it would have elsewhere; pale ones wait.
      </p>
      {tooMany ? (
        <p class="quiet">With {plural(map.population, 'thread')} there would be too many dots to see anything.</p>
      ) : !open ? (
        <button type="button" class="primary" id="watch" onClick={() => { setOpen(true); setPlaying(!matchMedia('(prefers-reduced-motion: reduce)').matches); }}>
          Start watching
        </button>
      ) : (
        <>
          <div class="settings">
            <span class="group">
              <button type="button" class="primary" id="play" onClick={() => setPlaying(!playing)}>{playing ? 'Pause' : 'Play'}</button>
              <button type="button" id="step" onClick={step}>Step</button>
              <button type="button" onClick={restart}>Start again, other tasks</button>
            </span>
            <label class="speed">
              <span>Speed</span>
              <input type="range" min="0" max="1" step="0.01" value={speed} aria-valuetext={`${number(tasksPerSecond, 2)} tasks a second`} onInput={(event) => setSpeed(Number(event.currentTarget.value))} />
              <output>about {number(tasksPerSecond, 2)} tasks a second</output>
            </label>
          </div>
          <ul class="legend" aria-label="Task types">
            {map.tasks.map((name, i) => (
              <li key={name}><span class="chip" style={{background: typeColour(i), color: inkOn(typeColour(i))}}>{typeLetter(i)}</span> {name}</li>
            ))}
          </ul>
          <div class="stages">
            {policies.map((policy, at) => {
              const replay = replays[at];
              const shown = figures[at];
              const words =
                shown === null || shown === undefined
                  ? ''
                  : `${policy}: ${number(shown.throughput, 3)} tasks per second so far, ${percent(shown.throughput / bound)} of the bound; ${plural(shown.off, 'task')} off the best assignment`;
              return (
                <div class="stage" key={at} data-policy={policy} data-off={shown?.off ?? ''} data-completions={shown?.completions ?? ''} data-throughput={shown?.throughput ?? ''}>
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
                        .filter(({name}) => name !== 'fixed' && (priorities || (name !== 'mis' && name !== 'weighted')))
                        .map(({name}) => <option key={name} value={name}>{name}</option>)}
                    </select>
                  </label>
                  {typeof replay === 'string' && <p class="wrong" role="alert">{replay}</p>}
                  <canvas ref={canvases[at]} role="img" aria-label={words || `The queues under ${policy}`} />
                  {shown !== null && shown !== undefined && (
                    <dl>
                      <div><dt>tasks/s so far</dt><dd>{number(shown.throughput, 3)}</dd></div>
                      <div><dt>of the bound {number(bound, 3)}</dt><dd><meter min="0" max="1" low={0.85} high={0.95} optimum={1} value={Math.min(1, shown.throughput / bound)}>{percent(shown.throughput / bound)}</meter> {percent(shown.throughput / bound)}</dd></div>
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
