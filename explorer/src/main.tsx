// Opens the page: compiles the library, then shows the explorer. What fails is said, never a blank page.
import binary from 'allot-wasm/binary';
import {render} from 'preact';
import {App} from './app';
import {Library} from './library';
import {Workbench} from './workbench';
import './style.css';

const page = document.getElementById('page')!;

async function open(): Promise<void> {
  const code = await WebAssembly.compile(Uint8Array.from(atob(binary), (c) => c.charCodeAt(0)));
  const library = await Library.start(code);
  render(
    <App library={library} proofs={new Workbench(code)} studies={new Workbench(code)} simulations={new Workbench(code)} />,
    page,
  );
}

open().catch((error: unknown) => {
  const message = document.createElement('p');
  message.className = 'loading';
  message.setAttribute('role', 'alert');
  message.textContent = `The library could not be started in this browser: ${String(error)}`;
  page.replaceChildren(message);
});
