// Questions to a worker, one after the other. A question can be given up at once, whatever the library is doing: its
// worker is ended and another one started, which takes no time because the code is compiled already.
import type {Answers, Command, Question, Refusal} from './answers';
import type {FromWorker, ToWorker} from './worker';
import AllotWorker from './worker?worker&inline';

export class Cancelled extends Error {}

/** A question of `latest` that is older than this is given up when the next one comes. */
const kPatience = 100; // milliseconds

interface Open {
  since: number;
  resolve: (answer: object) => void;
  reject: (reason: Error) => void;
  onProgress?: (share: number) => void;
}

export class Workbench {
  private worker: Worker | undefined;
  private readonly open = new Map<number, Open>();
  private last = 0;

  constructor(private readonly code: WebAssembly.Module) {}

  ask<C extends Command>(question: Question<C>, onProgress?: (share: number) => void): Promise<Answers[C] | Refusal> {
    const worker = (this.worker ??= this.start());
    const id = ++this.last;
    return new Promise<object>((resolve, reject) => {
      this.open.set(id, {since: performance.now(), resolve, reject, onProgress});
      worker.postMessage({id, question} satisfies ToWorker);
    }) as Promise<Answers[C] | Refusal>;
  }

  /** Asks where only the last answer matters: whatever was asked here before and takes long is given up. */
  latest<C extends Command>(question: Question<C>): Promise<Answers[C] | Refusal> {
    const [oldest] = this.open.values();
    if (oldest !== undefined && performance.now() - oldest.since > kPatience) this.cancel();
    return this.ask(question);
  }

  /** Gives up whatever is being asked. */
  cancel(): void {
    if (this.open.size === 0) return;
    this.worker?.terminate();
    this.worker = undefined;
    const givenUp = [...this.open.values()];
    this.open.clear();
    for (const {reject} of givenUp) reject(new Cancelled('cancelled'));
  }

  private start(): Worker {
    const worker = new AllotWorker();
    worker.postMessage({code: this.code} satisfies ToWorker);
    worker.onmessage = ({data}: MessageEvent<FromWorker>) => this.receive(data);
    worker.onerror = (event) => this.fail(new Error(event.message || 'the worker failed'));
    return worker;
  }

  private receive(message: FromWorker): void {
    const open = this.open.get(message.id);
    if (open === undefined) return;
    if ('progress' in message) {
      open.onProgress?.(message.progress);
      return;
    }
    this.open.delete(message.id);
    if ('failure' in message) open.reject(new Error(message.failure));
    else open.resolve(message.answer);
  }

  private fail(error: Error): void {
    this.worker?.terminate();
    this.worker = undefined;
    for (const {reject} of this.open.values()) reject(error);
    this.open.clear();
  }
}

/** A worker for each kind of question, started by the first: none waits for another, or is given up for it. */
export type Benches = Record<'proof' | 'glance' | 'tradeoff' | 'simulation' | 'left' | 'right', Workbench>;

export function benchesOf(code: WebAssembly.Module): Benches {
  const bench = () => new Workbench(code);
  return {proof: bench(), glance: bench(), tradeoff: bench(), simulation: bench(), left: bench(), right: bench()};
}
