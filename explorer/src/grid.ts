// One stop of the Tab key for a whole table: the arrow keys move within it, as in a spreadsheet.
import type {JSX} from 'preact';
import {useLayoutEffect, useRef, type MutableRef} from 'preact/hooks';

/** The attribute of a cell that is part of the grid. Its headers are at -1. */
export const at = (i: number, j: number): {'data-at': string} => ({'data-at': `${i}.${j}`});

const kControls = ':is(input, select, button):not([aria-hidden], [data-pointer])';
const kSteps: Record<string, [number, number]> = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Enter: [1, 0]};

const placeOf = (cell: HTMLElement): [number, number] => cell.dataset.at!.split('.').map(Number) as [number, number];
const cellOf = (target: EventTarget | null): HTMLElement | null => (target as HTMLElement).closest<HTMLElement>('[data-at]');

/** Whether the key moves the caret, or chooses, within the control itself. */
function isTaken(control: HTMLElement, key: string): boolean {
  if (control instanceof HTMLSelectElement) return key !== 'Enter';
  if (control instanceof HTMLButtonElement) return key === 'Enter';
  if (!(control instanceof HTMLInputElement)) return true;
  if (control.type !== 'text') return control.type === 'range';
  const [start, end, length] = [control.selectionStart ?? 0, control.selectionEnd ?? 0, control.value.length];
  const isWhole = start === 0 && end === length;
  if (key === 'ArrowLeft') return !isWhole && (start > 0 || end > 0);
  return key === 'ArrowRight' && !isWhole && start < length;
}

interface GridProps {
  ref: MutableRef<HTMLTableElement | null>;
  onKeyDown: (event: JSX.TargetedKeyboardEvent<HTMLTableElement>) => void;
  onFocusCapture: (event: JSX.TargetedFocusEvent<HTMLTableElement>) => void;
  onBlurCapture: (event: JSX.TargetedFocusEvent<HTMLTableElement>) => void;
}

/** For the table: cells carry `at(i, j)`. Of a header, the controls of the current row or column can be reached with Tab. */
export function useGrid(): GridProps {
  const table = useRef<HTMLTableElement>(null);
  const here = useRef<[number, number]>([0, 0]);
  const hasFocus = useRef(false);

  const mark = () => {
    const cells = [...table.current!.querySelectorAll<HTMLElement>('[data-at]')];
    const places = cells.map(placeOf);
    const last = [0, 1].map((axis) => Math.max(0, ...places.map((place) => place[axis]!)));
    const [row, column] = (here.current = here.current.map((value, axis) => Math.min(value, last[axis]!)) as [number, number]);
    cells.forEach((cell, k) => {
      const [i, j] = places[k]!;
      const index = (i < 0 || i === row) && (j < 0 || j === column) ? 0 : -1;
      for (const control of cell.querySelectorAll<HTMLElement>(kControls)) if (control.tabIndex !== index) control.tabIndex = index;
    });
  };
  useLayoutEffect(() => {
    if (table.current === null) return;
    mark();
    // What had the focus was removed: its neighbour gets it.
    if (hasFocus.current && document.activeElement === document.body) table.current.querySelector<HTMLElement>(`[data-at="${at(...here.current)['data-at']}"] ${kControls}`)?.focus();
  });

  return {
    ref: table,
    // What is removed loses the focus while the page is drawn, which ends before this does.
    onBlurCapture: () => setTimeout(() => { hasFocus.current = table.current?.contains(document.activeElement) ?? false; }),
    onFocusCapture: ({target}) => {
      hasFocus.current = true;
      const cell = cellOf(target);
      if (cell === null) return;
      const [i, j] = placeOf(cell);
      here.current = [i < 0 ? here.current[0] : i, j < 0 ? here.current[1] : j];
      mark();
    },
    onKeyDown: (event) => {
      const [cell, step] = [cellOf(event.target), kSteps[event.key]];
      if (cell === null || step === undefined || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTaken(event.target as HTMLElement, event.key)) return;
      const [i, j] = placeOf(cell);
      const next = table.current!.querySelector<HTMLElement>(`[data-at="${i + step[0]}.${j + step[1]}"]`)?.querySelector<HTMLElement>(kControls);
      if (!next) return;
      event.preventDefault();
      next.focus();
      if (next instanceof HTMLInputElement) next.select();
    },
  };
}
