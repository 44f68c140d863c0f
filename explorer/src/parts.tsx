// Small parts that several places of the page are made of.
import type {ComponentChildren, JSX} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import {inkOn, typeColour, typeLetter} from './colours';

/** The colour and the letter of a task type. */
export function Chip({type}: {type: number}) {
  return (
    <span class="chip" style={{background: typeColour(type), color: inkOn(typeColour(type))}} aria-hidden="true">
      {typeLetter(type)}
    </span>
  );
}

/** A box that scrolls sideways; a stop for the keyboard only where there is something to scroll. */
export function Scroller({label, children}: {label: string; children: ComponentChildren}) {
  const box = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const look = () => setScrolls(box.current!.scrollWidth > box.current!.clientWidth);
    const observer = new ResizeObserver(look);
    observer.observe(box.current!);
    for (const child of box.current!.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} class="scroll" role="group" aria-label={label} tabIndex={scrolls ? 0 : undefined}>
      {children}
    </div>
  );
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
