// A chart that fills its box and says in words what it shows.
import {plot, type PlotOptions, type ScaleOptions} from '@observablehq/plot';
import {useEffect, useRef, useState} from 'preact/hooks';
import {brief, tick} from './format';
import {Saves} from './parts';
import {fileName, pngOf, save, svgOf} from './saving';

interface ChartProps {
  /** For those who cannot see it. */
  label: string;
  options: (width: number) => PlotOptions;
}

export const numbersAxis = (label: string, width: number): ScaleOptions => ({
  label, grid: true, ticks: Math.max(3, Math.floor(width / 90)), tickFormat: tick,
});

/** How much larger than usual people want their text. */
export const zoom = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** The axis of names, and the room that it needs. */
export const namesAxis = (names: string[], most = 14): {y: ScaleOptions; marginLeft: number} => ({
  y: {label: null, domain: names, tickFormat: (name: string) => brief(name, most)},
  marginLeft: 24 + 7 * zoom() * Math.max(...names.map((name) => [...brief(name, most)].length)),
});

export function Chart({label, options}: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (width < 50) return;
    const drawing = plot({
      width,
      style: {background: 'transparent', fontSize: '0.75rem', fontFamily: 'inherit', overflow: 'visible'},
      ...options(width),
    });
    // The page's policy allows its own styles only; style.css has these, too.
    for (const style of drawing.querySelectorAll('style')) style.remove();
    // The chart has one description; names of its parts, such as "rule", say nothing.
    for (const part of drawing.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label');
    drawing.setAttribute('role', 'img');
    drawing.setAttribute('aria-label', label);
    box.current!.replaceChildren(drawing);
  }, [width, options, label]);
  const svg = () => box.current!.querySelector<SVGSVGElement>('svg[role=img]')!;
  const [what = label] = label.split(':');
  return (
    <>
      <div ref={box} class="chart" />
      <Saves
        what={`the chart “${what}”`}
        ways={{
          SVG: () => save(`${fileName(what)}.svg`, svgOf(svg()), 'image/svg+xml'),
          PNG: async () => save(`${fileName(what)}.png`, await pngOf(svg()), 'image/png'),
        }}
      />
    </>
  );
}
