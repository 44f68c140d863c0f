// Undo and redo. Edits of one field in quick succession, as in typing or dragging, are undone together.

export interface History<T> {
  past: T[];
  present: T;
  future: T[];
  /** What was edited last, and when. */
  field: string;
  time: number;
}

const kTogether = 800; // milliseconds
const kMost = 200;

export const begin = <T>(present: T): History<T> => ({past: [], present, future: [], field: '', time: 0});

export function edit<T>(history: History<T>, present: T, field: string, time: number): History<T> {
  const together = field !== '' && field === history.field && time - history.time < kTogether;
  const past = together ? history.past : [...history.past, history.present].slice(-kMost);
  return {past, present, future: [], field, time};
}

export function undo<T>(history: History<T>): History<T> {
  const present = history.past.at(-1);
  if (present === undefined) return history;
  return {past: history.past.slice(0, -1), present, future: [history.present, ...history.future], field: '', time: 0};
}

export function redo<T>(history: History<T>): History<T> {
  const [present, ...future] = history.future;
  if (present === undefined) return history;
  return {past: [...history.past, history.present], present, future, field: '', time: 0};
}
