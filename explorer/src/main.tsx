// Opens the page: compiles the library, then shows the explorer. What fails is said, never a blank page.
import binary from 'allot-wasm/binary';
import {render} from 'preact';
import {App} from './app';
import {Library} from './library';
import {benchesOf} from './workbench';
import './style.css';

const page = document.getElementById('page')!;

/** The library's code, which is kept compressed, as base64 text. */
function codeOf(base64: string): Promise<Response> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; ++at) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return Promise.resolve(new Response(stream, {headers: {'Content-Type': 'application/wasm'}}));
}

async function open(): Promise<void> {
  const code = await WebAssembly.compileStreaming(codeOf(binary));
  const library = await Library.start(code);
  page.replaceChildren();
  render(<App library={library} benches={benchesOf(code)} />, page);
}

open().catch((error: unknown) => {
  const message = document.createElement('p');
  message.className = 'loading';
  message.setAttribute('role', 'alert');
  message.textContent = `The library could not be started in this browser: ${String(error)}`;
  page.replaceChildren(message);
});
