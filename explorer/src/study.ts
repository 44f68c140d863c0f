// What the library says about the scenario: at once what takes microseconds, and from workers what may take longer.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {isRefusal, linesOf, type Command, type Answers, type Diagnostic, type Question, type Refusal, type Solution} from './answers';
import type {Aim, View} from './address';
import type {Library} from './library';
import type {Workbench} from './workbench';

/** The answers that come at once. */
export interface FirstAnswer {
  text: string;
  toml: string;
  notes: string[];
  /** Whether counts that do not change over time are all the work there is. */
  isStatic: boolean;
  /** Why only planned service can answer, where that is so. */
  whyPlanned: string | null;
  service: Aim['service'];
  /** Of even sharing; null where that cannot answer. */
  map: Solution | null;
  bestFit: Solution | null;
  /** The one that the view or the objective is about; null where there is none, and `problem` says why. */
  shown: Solution | null;
  problem: string | null;
}

export const solverOf: Record<View, string> = {throughput: 'map', priority: 'mis', weighted: 'weighted'};

/** Of the solvers whose answers are shown. */
export const labelOf: Record<string, string> = {map: 'MAP', mis: 'MIS', weighted: 'Weighted', 'best-fit': 'Best Fit'};

/** Seconds after which a worker answers with the best it has. Tests that compare with the command set another, before the page. */
export const studySeconds = (globalThis as {allotStudySeconds?: number}).allotStudySeconds ?? 10;

/** The page stands still meanwhile; all but huge scenarios take milliseconds. */
const kMostSeconds = 1;

/** The options of `solve` for planned service. */
const planOptions = ({objective, keep}: Aim): Record<string, unknown> => ({
  service: 'planned',
  objective,
  ...(objective === 'energy' ? {keep: partOf(keep)} : {}),
});

/** What is no number is left to the library to refuse. */
const partOf = (percent: string): number | string => (/^\d+(\.\d*)?$/.test(percent.trim()) ? Number(percent) / 100 : percent);

export function firstAnswer(library: Library, text: string, aim: Aim): FirstAnswer | Diagnostic[] {
  const read = library.ask({command: 'read', scenario: text});
  if (isRefusal(read)) return read.diagnostics;
  const solve = (options: Record<string, unknown>): Solution | Diagnostic[] => {
    const answer = library.ask({command: 'solve', scenario: text, options: {...options, time_limit: kMostSeconds}});
    return isRefusal(answer) ? answer.diagnostics : answer;
  };
  const {static: isStatic, planned: whyPlanned} = read;
  const service = whyPlanned !== null ? 'planned' : aim.service;
  const first: FirstAnswer = {
    text, toml: read.toml, notes: read.notes, isStatic, whyPlanned, service, map: null, bestFit: null, shown: null, problem: null,
  };
  if (!isStatic && whyPlanned === null) {
    first.problem = 'The work of this scenario changes over time: no single assignment fits it, but it can be simulated.';
    return first;
  }
  const isMap = service === 'even' && aim.view === 'throughput';
  if (whyPlanned === null) {
    const map = solve({solver: solverOf.throughput, objective: 'throughput', explain: isMap});
    const bestFit = solve({solver: 'best-fit', objective: 'throughput'});
    if (!Array.isArray(map)) first.map = map;
    if (!Array.isArray(bestFit)) first.bestFit = bestFit;
    if (isMap) {
      if (Array.isArray(map)) first.problem = linesOf(map).join('; ');
      first.shown = first.map;
      return first;
    }
  }
  const shown = solve(
    service === 'planned' ? {...planOptions(aim), explain: true} : {solver: solverOf[aim.view], objective: 'priority', explain: true},
  );
  if (Array.isArray(shown)) first.problem = linesOf(shown).join('; ');
  else first.shown = shown;
  return first;
}

/** What the least-served type or group has, relative to its priority. */
export function leastOf(library: Library, text: string, {throughput_by_task, rounds}: Solution): number | null {
  const answer = library.ask({command: 'least', scenario: text, options: {completions: throughput_by_task, ...(rounds ? {rounds} : {})}});
  return isRefusal(answer) ? null : answer.least;
}

/** X_ij of a solution: from its time shares where it has some. */
export function flowsOf(library: Library, text: string, solution: Solution): number[][] {
  const {assignment, time_shares} = solution;
  const answer = library.ask({command: 'flows', scenario: text, options: time_shares ? {time_shares} : {assignment}});
  return isRefusal(answer) ? solution.tasks.map(() => solution.resources.map(() => 0)) : answer;
}

/** The answer to the latest question: undefined while it is being worked on, null where nothing is asked. The bench is for it alone. */
export function useLatest<C extends Command>(bench: Workbench, question: Question<C> | null): Answers[C] | Refusal | null | undefined {
  const key = useMemo(() => (question === null ? '' : JSON.stringify(question)), [question]);
  const [known, setKnown] = useState<{key: string; answer: Answers[C] | Refusal | null}>({key: '', answer: null});
  useEffect(() => {
    if (key === '') return undefined;
    let wanted = true;
    bench
      .latest(JSON.parse(key) as Question<C>)
      .catch((error: unknown): Refusal => ({diagnostics: [{place: 'worker', message: String(error)}]}))
      .then((answer) => wanted && setKnown({key, answer}));
    return () => {
      wanted = false;
    };
  }, [bench, key]);
  if (key === '') return null;
  return known.key === key ? known.answer : undefined;
}

/** The same where it does not matter why an answer was refused: null then too. */
export function useAnswer<C extends Command>(bench: Workbench, question: Question<C> | null): Answers[C] | null | undefined {
  const answer = useLatest(bench, question);
  return answer && isRefusal(answer) ? null : (answer as Answers[C] | null | undefined);
}
