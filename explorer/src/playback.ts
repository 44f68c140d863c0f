// The events of a simulation, played forward: who is where at a moment, and what has been completed until then.
import type {Replay, ReplayEvent} from './answers';

const enum What {
  placed = 0,
  started = 1,
  completed = 2,
}

/** Tasks of one type at one resource, in the order in which they came. */
export interface Row {
  type: number;
  resource: number;
  threads: number[];
}

export class Playback {
  readonly rows: Row[];
  /** Whether the thread's task is being worked on, or waits. */
  readonly running = new Map<number, boolean>();
  completions = 0;
  time = 0;
  private next = 0;
  private readonly rowAt = new Map<number, Row>();
  private readonly rowOf = new Map<number, Row>();

  constructor(private readonly replay: Replay, private readonly types: number, target: number[][]) {
    const used = new Set<number>(replay.events.map((event) => this.key(event[4], event[5])));
    target.forEach((row, i) => row.forEach((n, j) => n > 0 && used.add(this.key(i, j))));
    this.rows = [...used].sort((a, b) => a - b).map((key) => ({type: key % types, resource: Math.floor(key / types), threads: []}));
    for (const row of this.rows) this.rowAt.set(this.key(row.type, row.resource), row);
    this.advance(0);
  }

  get ended(): boolean {
    return this.next >= this.replay.events.length;
  }

  /** Everything up to the moment, itself included. */
  advance(time: number): void {
    while (!this.ended && this.event()[1] <= time) this.apply(this.event());
    this.time = this.ended ? Math.min(time, this.replay.events.at(-1)?.[1] ?? 0) : time;
  }

  /** When the next task will be done; null at the end. */
  nextCompletion(): number | null {
    for (let at = this.next; at < this.replay.events.length; ++at) {
      const event = this.replay.events[at]!;
      if (event[0] === What.completed) return event[1];
    }
    return null;
  }

  /** Tasks that are somewhere else than the target has them. */
  offTarget(target: number[][]): number {
    return this.rows.reduce((sum, {type, resource, threads}) => sum + Math.max(0, threads.length - (target[type]?.[resource] ?? 0)), 0);
  }

  private key(type: number, resource: number): number {
    return resource * this.types + type;
  }

  private event(): ReplayEvent {
    return this.replay.events[this.next]!;
  }

  private apply([what, , , thread, type, resource]: ReplayEvent): void {
    this.next += 1;
    if (what === What.started) {
      this.running.set(thread, true);
      return;
    }
    const old = this.rowOf.get(thread);
    if (old !== undefined) old.threads.splice(old.threads.indexOf(thread), 1);
    this.rowOf.delete(thread);
    if (what === What.completed) {
      this.completions += 1;
      return;
    }
    const row = this.rowAt.get(this.key(type, resource))!;
    row.threads.push(thread);
    this.rowOf.set(thread, row);
    this.running.set(thread, false);
  }
}
