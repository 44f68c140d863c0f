// A chart that fills its box and says in words what it shows.
import {plot, type PlotOptions} from '@observablehq/plot';
import {useEffect, useRef, useState} from 'preact/hooks';

interface ChartProps {
  /** For those who cannot see it. */
  label: string;
  options: (width: number) => PlotOptions;
  /** Called with the drawing, to make it respond. */
  onDrawn?: (drawing: ReturnType<typeof plot>) => void;
  class?: string;
}

export function Chart({label, options, onDrawn, class: className}: ChartProps) {
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
      style: {background: 'transparent', fontSize: '12px', fontFamily: 'inherit', overflow: 'visible'},
      ...options(width),
    });
    drawing.setAttribute('role', 'img');
    drawing.setAttribute('aria-label', label);
    box.current!.replaceChildren(drawing);
    onDrawn?.(drawing);
  }, [width, options, label, onDrawn]);
  return <div ref={box} class={`chart ${className ?? ''}`} />;
}
