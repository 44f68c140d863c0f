// One page with everything inside: script, styles, the library as WebAssembly. It asks the network for nothing.
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {defineConfig, type Plugin} from 'vite';
import {viteSingleFile} from 'vite-plugin-singlefile';

// Where `cmake --preset wasm` builds the library.
const library = process.env.ALLOT_WASM ?? fileURLToPath(new URL('../build/wasm/integrations/wasm', import.meta.url));

/** `allot-wasm` is the library's loader, `allot-wasm/binary` its code as base64 text. */
function embeddedLibrary(): Plugin {
  return {
    name: 'embedded-library',
    enforce: 'pre',
    resolveId: (id) =>
      id === 'allot-wasm' ? `${library}/allot.mjs` : id === 'allot-wasm/binary' ? '\0allot-wasm/binary' : undefined,
    load: (id) =>
      id === '\0allot-wasm/binary'
        ? `export default ${JSON.stringify(readFileSync(`${library}/allot.wasm`).toString('base64'))}`
        : undefined,
  };
}

export default defineConfig({
  plugins: [embeddedLibrary(), viteSingleFile()],
  worker: {plugins: () => [embeddedLibrary()]},
  esbuild: {jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none'},
  build: {
    target: 'es2022',
    outDir: process.env.ALLOT_EXPLORER_OUT ?? '../build/explorer',
    emptyOutDir: true,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4096,
  },
});
