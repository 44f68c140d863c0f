declare module 'allot-wasm' {
  /** The emscripten module of integrations/wasm. */
  export interface AllotModule {
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    _allot_answer(command: number, scenario: number, isJson: number, options: number): number;
    UTF8ToString(pointer: number): string;
    stringToUTF8(text: string, pointer: number, bytes: number): void;
    lengthBytesUTF8(text: string): number;
  }
  interface Settings {
    instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void): object;
    onProgress?(share: number): void;
  }
  export default function createAllot(settings: Settings): Promise<AllotModule>;
}
declare module 'notices' {
  /** Who, and the text of the licence. */
  const notices: [string, string][];
  export default notices;
}
declare module 'allot-wasm/binary' {
  /** Of the code, compressed by zlib. */
  const base64: string;
  export default base64;
}
