// What the shares that were asked for cost: a curve of choices, and a point on it to drag.
import {dot, line, text as words, type PlotOptions} from '@observablehq/plot';
import {useCallback, useMemo} from 'preact/hooks';
import type {Solution} from './answers';
import {Chart, numbersAxis} from './chart';
import {axisWords, number, percent, valueWords} from './format';
import type {ValueUnit} from './scenario';
import {studySeconds, useAnswer} from './study';
import type {Workbench} from './workbench';

interface FrontierProps {
  bench: Workbench;
  text: string;
  /** The assignment of the point, where one is chosen. */
  chosen: number[][] | null;
  shown: Solution | null;
  unit: ValueUnit;
  onChoose: (assignment: number[][] | null) => void;
}

const same = (a: number[][], b: number[][]): boolean => JSON.stringify(a) === JSON.stringify(b);

export function Frontier({bench, text, chosen, shown, unit, onChoose}: FrontierProps) {
  const question = useMemo(() => ({command: 'pareto' as const, scenario: text, options: {points: 40, time_limit: studySeconds}}), [text]);
  const pareto = useAnswer(bench, question);
  const points = useMemo(() => pareto?.points ?? [], [pareto]);
  const at = chosen === null ? -1 : points.findIndex(({assignment}) => same(assignment, chosen));
  const weighted = pareto?.weighted?.outcome === 'optimal' ? pareto.weighted : null;

  const options = useCallback(
    (width: number): PlotOptions => ({
      height: Math.min(320, Math.max(220, width / 2)),
      marginLeft: 58,
      marginTop: 30,
      marginBottom: 42,
      x: {...numbersAxis(`${axisWords[unit]} →`, width), nice: true},
      y: {...numbersAxis('↑ share error', width), ticks: 5, nice: true, zero: true},
      marks: [
        line(points, {x: 'value', y: 'priority_error', stroke: 'var(--accent)', strokeWidth: 1.5, curve: 'linear'}),
        dot(points, {x: 'value', y: 'priority_error', r: 4, fill: 'var(--surface)', stroke: 'var(--accent)', strokeWidth: 1.5}),
        ...(shown !== null && shown.priority_error !== null && chosen === null
          ? [dot([shown], {x: 'value', y: 'priority_error', r: 7, symbol: 'diamond', fill: 'var(--strong)', title: () => 'the assignment above'})]
          : []),
        ...(weighted !== null
          ? [
              dot([weighted], {x: 'value', y: 'priority_error', r: 6, symbol: 'square', fill: '#d55e00'}),
              words([weighted], {
                x: 'value', y: 'priority_error', text: () => 'weighted', textAnchor: 'start', dx: 10, dy: -8, fill: 'currentColor',
                stroke: 'var(--surface)', strokeWidth: 4,
              }),
            ]
          : []),
        ...(at >= 0 ? [dot([points[at]!], {x: 'value', y: 'priority_error', r: 9, fill: 'var(--accent)', stroke: 'var(--surface)', strokeWidth: 2})] : []),
      ],
    }),
    [points, weighted, at, shown, chosen, unit],
  );

  const choose = (index: number) => {
    const point = points[index];
    if (point !== undefined && index !== at) onChoose(point.assignment);
  };

  // Wherever the pointer goes while it is down, the nearest point is chosen.
  const onPointer = (event: PointerEvent) => {
    if (event.type === 'pointermove' && event.buttons === 0) return;
    const box = event.currentTarget as HTMLElement;
    const drawing = box.querySelector('svg[role="img"]') as (SVGSVGElement & {scale?: (name: string) => {apply: (value: number) => number}}) | null;
    if (drawing === null || drawing.scale === undefined || points.length === 0) return;
    const frame = drawing.getBoundingClientRect();
    const [x, y] = [drawing.scale('x'), drawing.scale('y')];
    const distance = (index: number) =>
      Math.hypot(
        x.apply(points[index]!.value) - (event.clientX - frame.left),
        y.apply(points[index]!.priority_error) - (event.clientY - frame.top),
      );
    let nearest = 0;
    for (let index = 1; index < points.length; ++index) if (distance(index) < distance(nearest)) nearest = index;
    choose(nearest);
  };

  const fastest = points[0];
  const aim = unit === 'value/s' ? 'value' : 'throughput';
  const point = at >= 0 ? points[at]! : null;
  return (
    <div class="frontier">
      <h3 id="frontier-title">The trade-off</h3>
      <p class="quiet">
        {pareto === undefined
          ? 'Searching…'
          : points.length === 0
            ? 'There is nothing to choose from.'
            : points.length === 1
              ? `No assignment${pareto?.exhaustive ? '' : ' that was found'} is better than this one in ${aim} or in share error.`
              : `No assignment${pareto?.exhaustive ? '' : ' that was found'} is better than any of these ${points.length} in both ${aim} and share error. Drag the point, or use the slider; ◆ is the assignment above, ■ what weighted service achieves.`}
      </p>
      {fastest !== undefined && (
        <>
          <div
            class="draggable"
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId);
              onPointer(event);
            }}
            onPointerMove={onPointer}
          >
            <Chart label={`The trade-off between ${aim} and share error: ${points.length} points, from ${number(fastest.value)} ${axisWords[unit]} down to ${number(points.at(-1)!.value)}`} options={options} />
          </div>
          <div class="slide">
            <button type="button" id="fastest" onClick={() => choose(0)}>{points.length === 1 ? 'choose it' : 'fastest'}</button>
            {points.length > 1 && (
              <>
                <input
                  type="range"
                  id="frontier"
                  min="0"
                  max={points.length - 1}
                  step="1"
                  value={at >= 0 ? at : 0}
                  aria-label="Point on the trade-off, from the fastest to the fairest"
                  aria-valuetext={point === null ? 'none chosen' : `${valueWords(point.value, unit)}, error ${number(point.priority_error, 3)}`}
                  onInput={(event) => choose(Number(event.currentTarget.value))}
                  onClick={(event) => choose(Number(event.currentTarget.value))}
                />
                <button type="button" onClick={() => choose(points.length - 1)}>fairest</button>
              </>
            )}
          </div>
          <p id="bargain" role="status" data-points={JSON.stringify(points.map(({throughput, priority_error}) => [throughput, priority_error]))}>
            {point === null
              ? 'No point is chosen: the assignment above is the solver’s.'
              : at === 0
                ? `The ${unit === 'value/s' ? 'most value' : 'fastest'}: ${valueWords(point.value, unit)}.`
                : `Giving up ${percent(1 - point.value / fastest.value)} of the ${aim} cuts the error by ${percent(fastest.priority_error > 0 ? 1 - point.priority_error / fastest.priority_error : 0)}.`}
          </p>
          {point !== null && <button type="button" id="unchoose" onClick={() => onChoose(null)}>Back to the solver’s assignment</button>}
        </>
      )}
    </div>
  );
}
