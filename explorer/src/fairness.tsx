// What fairness costs: the most value of a plan against what the least-served type completes.
import {dot, line, text as words, type PlotOptions} from '@observablehq/plot';
import {useCallback, useMemo, useState} from 'preact/hooks';
import type {Solution} from './answers';
import {Chart, numbersAxis} from './chart';
import {axisWords, number, percent, valueWords} from './format';
import type {Library} from './library';
import type {ValueUnit} from './scenario';
import {leastOf, useAnswer} from './study';
import type {Workbench} from './workbench';

interface FairnessProps {
  library: Library;
  bench: Workbench;
  text: string;
  plan: Solution;
  /** The best of even sharing, where that can answer. */
  even: Solution | null;
  valueUnit: ValueUnit;
  priorities: boolean;
  /** Makes the level a floor of every type. */
  onLevel: (level: number) => void;
}

interface Marked {
  name: string;
  least: number;
  value: number;
}

const kPoints = 11;

export function Fairness({library, bench, text, plan, even, valueUnit, priorities, onLevel}: FairnessProps) {
  const question = useMemo(() => ({command: 'fairness' as const, scenario: text, options: {points: kPoints}}), [text]);
  const trade = useAnswer(bench, question);
  const points = useMemo(() => trade?.points ?? [], [trade]);
  const [level, setLevel] = useState(0);
  const at = Math.min(level, points.length - 1);
  const isRounds = (plan.rounds?.length ?? 0) > 0;
  const marked = useMemo(() => {
    const solutions: [string, Solution | null][] = [['this plan', plan], ['even sharing', even]];
    return solutions.flatMap(([name, solution]): Marked[] => {
      const least = solution === null || solution.outcome === 'infeasible' ? null : leastOf(library, text, solution);
      return least === null ? [] : [{name, least, value: solution!.value}];
    });
  }, [library, text, plan, even]);

  const unit = isRounds ? 'rounds/s' : `tasks/s${priorities ? ' per unit of share' : ''}`;
  const options = useCallback(
    (width: number): PlotOptions => ({
      height: Math.min(320, Math.max(230, width / 2)),
      marginLeft: 58,
      marginTop: 30,
      marginBottom: 42,
      marginRight: 24,
      insetBottom: 16,
      x: {...numbersAxis(`${unit} of the least-served →`, width), nice: true, zero: true},
      y: {...numbersAxis(`↑ ${axisWords[valueUnit]}`, width), ticks: 5, nice: true},
      marks: [
        line(points, {x: 'least', y: 'value', stroke: 'var(--accent)', strokeWidth: 1.5, curve: 'linear'}),
        dot(points, {
          x: 'least', y: 'value', r: 3.5, fill: 'var(--surface)', stroke: 'var(--accent)', strokeWidth: 1.5,
          title: ({least, value}) => `at least ${number(least)} ${unit}: ${valueWords(value, valueUnit)}`,
        }),
        ...(at > 0 ? [dot([points[at]!], {x: 'least', y: 'value', r: 8, fill: 'var(--accent)', stroke: 'var(--surface)', strokeWidth: 2})] : []),
        dot(marked, {
          x: 'least', y: 'value', r: 6.5, symbol: (_: Marked, mark: number) => (mark === 0 ? 'diamond' : 'square'), fill: (_: Marked, mark: number) => (mark === 0 ? 'var(--strong)' : '#d55e00'),
        }),
        ...marked.map((mark, which) => {
          // Beside its mark, away from the curve, which falls to the right: what lies below it has room to the left, if there is any.
          const part = mark.least / (points.at(-1)?.least || 1);
          const isRight = which === 0 ? part > 0.6 : part * (width - 82) > 85;
          return words([mark], {
            x: 'least', y: 'value', text: 'name', fill: 'currentColor', stroke: 'var(--surface)', strokeWidth: 4,
            textAnchor: isRight ? 'end' : 'start', dx: isRight ? -11 : 11, dy: which === 0 && !isRight ? -7 : 11,
          });
        }),
      ],
    }),
    [points, marked, at, unit, valueUnit],
  );

  const first = points[0];
  const point = points[at];
  const last = points.at(-1);
  return (
    <div class="frontier" id="fairness" data-points={JSON.stringify(points.map(({least, value}) => [least, value]))} data-marked={JSON.stringify(marked)}>
      <h3>Value against the least-served type</h3>
      {first === undefined || point === undefined || last === undefined ? (
        <p class="quiet">{trade === undefined ? 'Searching…' : 'There is nothing to choose from.'}</p>
      ) : (
        <>
          <p class="quiet">
            {points.length === 1
              ? `Fairness costs nothing here: with the most value, every ${isRounds ? 'group' : 'type'} completes at least ${number(last.least)} ${unit}.`
              : `The most value if every type completes at least a given amount; no policy is above the curve. ◆ is this plan${marked.length > 1 ? ', ■ the best of even sharing' : ''}.`}
          </p>
          {points.length > 1 && <Chart
            label={`The most value against what the least-served completes: from ${valueWords(first.value, valueUnit)} with no limit down to ${valueWords(last.value, valueUnit)} with at least ${number(last.least)} ${unit}. ${marked.map(({name, least, value}) => `${name}: ${valueWords(value, valueUnit)}, the least-served ${number(least)} ${unit}`).join('. ')}`}
            options={options}
          />}
          {points.length > 1 && (
            <>
              <div class="slide">
                <span class="quiet">most value</span>
                <input
                  type="range" id="level" min="0" max={points.length - 1} step="1" value={at}
                  aria-label="What the least-served has, from the most value to the fairest"
                  aria-valuetext={`at least ${number(point.least)} ${unit}: ${valueWords(point.value, valueUnit)}`}
                  onInput={(event) => setLevel(Number(event.currentTarget.value))}
                />
                <span class="quiet">fairest</span>
              </div>
              <p id="price-of-fairness" role="status">
                {at === 0
                  ? `The most value: ${valueWords(first.value, valueUnit)}.`
                  : `Every ${isRounds ? 'group' : 'type'} completes at least ${number(point.least)} ${unit}: ${valueWords(point.value, valueUnit)}, ${percent(1 - point.value / first.value)} less than the most.`}
              </p>
              {at > 0 && !isRounds && <button type="button" id="make-floors" onClick={() => onLevel(point.least)}>Make these the floors</button>}
            </>
          )}
        </>
      )}
    </div>
  );
}
