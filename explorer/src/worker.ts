// The library in a thread of its own, for work that takes a while.
import type {Question} from './answers';
import {Library} from './library';

export type ToWorker = {code: WebAssembly.Module} | {id: number; question: Question};
export type FromWorker = {id: number; answer: object} | {id: number; progress: number} | {id: number; failure: string};

let library: Promise<Library> | undefined;
let current = 0;
let told = 0;

const tell = (message: FromWorker) => self.postMessage(message);

function onProgress(share: number): void {
  const now = performance.now();
  if (now - told < 50) return; // a person sees no more
  told = now;
  tell({id: current, progress: share});
}

self.onmessage = async ({data}: MessageEvent<ToWorker>) => {
  if ('code' in data) {
    library = Library.start(data.code, onProgress);
    return;
  }
  const {id, question} = data;
  try {
    const started = await library!;
    current = id;
    tell({id, answer: started.ask(question)});
  } catch (error) {
    tell({id, failure: String(error)});
  }
};
