// The library in this thread: a question in, an answer out.
import createAllot, {type AllotModule} from 'allot-wasm';
import type {Answers, Command, Question, Refusal} from './answers';

export class Library {
  private constructor(private readonly module: AllotModule) {}

  static async start(code: WebAssembly.Module, onProgress?: (share: number) => void): Promise<Library> {
    const module = await createAllot({
      instantiateWasm(imports, done) {
        void WebAssembly.instantiate(code, imports).then(done);
        return {};
      },
      onProgress,
    });
    return new Library(module);
  }

  ask<C extends Command>(question: Question<C>): Answers[C] | Refusal {
    const {command, scenario = '', format = 'json', options = {}} = question;
    const texts = [command, scenario, JSON.stringify(options)].map((text) => this.put(text));
    const answer = this.module._allot_answer(texts[0]!, texts[1]!, format === 'json' ? 1 : 0, texts[2]!);
    try {
      return JSON.parse(this.module.UTF8ToString(answer)) as Answers[C] | Refusal;
    } finally {
      for (const pointer of [...texts, answer]) this.module._free(pointer);
    }
  }

  private put(text: string): number {
    const bytes = this.module.lengthBytesUTF8(text) + 1;
    const pointer = this.module._malloc(bytes);
    this.module.stringToUTF8(text, pointer, bytes);
    return pointer;
  }
}
