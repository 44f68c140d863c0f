// Small parts that several places of the page are made of.
import type {ComponentChildren, JSX} from 'preact';
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {inkOn, typeColour, typeLetter} from './colours';

/** The colour and the letter of a task type. */
export function Chip({type}: {type: number}) {
  return (
    <span class="chip" style={{background: typeColour(type), color: inkOn(typeColour(type))}} aria-hidden="true">
      {typeLetter(type)}
    </span>
  );
}

type ActProps = Omit<JSX.IntrinsicElements['button'], 'disabled' | 'onClick'> & {isOff?: boolean; onClick: () => void};

/** A button that keeps the focus while it is off: one that is disabled would lose it. */
export function Act({isOff = false, onClick, ...rest}: ActProps) {
  return <button type="button" {...rest} aria-disabled={isOff} onClick={() => isOff || onClick()} />;
}

/** Ways to save something, behind one word. */
export function Saves({what, ways}: {what: string; ways: Record<string, () => unknown>}) {
  return (
    <details class="saves">
      <summary>Save <span class={what.startsWith('the chart') ? 'hidden' : ''}>{what}</span></summary>
      <span class="group">
        {Object.entries(ways).map(([way, onClick]) => (
          <button key={way} type="button" aria-label={`Save ${what} as ${way}`} onClick={() => void onClick()}>{way}</button>
        ))}
      </span>
    </details>
  );
}

/** A box around a table. Where the table is too wide for it, its rows are stacked, every cell with the name of its column: no column is out of sight. */
export function Fit({label, children}: {label: string; children: ComponentChildren}) {
  const box = useRef<HTMLDivElement>(null);
  /** The columns and their fields when it was last looked at whether they fit. */
  const measured = useRef(0);
  const [isStacked, setStacked] = useState(false);
  useEffect(() => {
    const look = () => {
      const {scrollWidth, clientWidth} = box.current!;
      if (scrollWidth > clientWidth + 1) setStacked(true);
    };
    let width = window.innerWidth;
    const again = () => {
      if (window.innerWidth !== width) setStacked(false);
      width = window.innerWidth;
    };
    const observer = new ResizeObserver(look);
    observer.observe(box.current!);
    for (const child of box.current!.children) observer.observe(child);
    window.addEventListener('resize', again);
    return () => {
      observer.disconnect();
      window.removeEventListener('resize', again);
    };
  }, []);
  useLayoutEffect(() => {
    const [head, ...rows] = box.current!.querySelectorAll('tr');
    const names = [...(head?.cells ?? [])].map((cell) => cell.getAttribute('aria-label') ?? [...cell.childNodes].map((part) => part.textContent).join(' '));
    const size = names.length + (head?.querySelectorAll('input').length ?? 0);
    if (size !== measured.current) setStacked(false);
    measured.current = size;
    if (!isStacked) return;
    for (const row of rows) [...row.cells].forEach((cell, k) => { cell.dataset.label = names[k]; });
  });
  return <div ref={box} class={`fit ${isStacked ? 'stacked' : ''}`} role="group" aria-label={label}>{children}</div>;
}

interface SliderProps extends Omit<JSX.IntrinsicElements['input'], 'max' | 'value' | 'onInput'> {
  max: number;
  value: number;
  onInput: (value: number) => void;
}

/** A slider from 0. Its end stays where it is while it is dragged: one that follows the value would run away from the pointer. */
export function Slider({max, value, onInput, ...rest}: SliderProps) {
  const [held, setHeld] = useState<number | null>(null);
  const hold = () => {
    setHeld(max);
    const released = new AbortController();
    const release = () => {
      setHeld(null);
      released.abort();
    };
    for (const end of ['pointerup', 'pointercancel']) window.addEventListener(end, release, {signal: released.signal});
  };
  return (
    <input
      {...rest}
      type="range"
      min="0"
      max={held ?? max}
      step="any"
      value={value}
      onPointerDown={hold}
      onInput={(event) => onInput(Number(Number(event.currentTarget.value).toPrecision(3)))}
    />
  );
}
