// One page with everything inside: script, styles, the library as WebAssembly. It asks the network for nothing.
import {createHash} from 'node:crypto';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {deflateSync} from 'node:zlib';
import {defineConfig, type Plugin} from 'vite';
import {viteSingleFile} from 'vite-plugin-singlefile';

// Where `cmake --preset wasm` builds the library.
const library = process.env.ALLOT_WASM ?? fileURLToPath(new URL('../build/wasm/integrations/wasm', import.meta.url));

/** `allot-wasm` is the library's loader, `allot-wasm/binary` its code, compressed, as base64 text. */
function embeddedLibrary(): Plugin {
  return {
    name: 'embedded-library',
    enforce: 'pre',
    resolveId: (id) =>
      id === 'allot-wasm' ? `${library}/allot.mjs` : id === 'allot-wasm/binary' ? '\0allot-wasm/binary' : undefined,
    load: (id) =>
      id === '\0allot-wasm/binary'
        ? `export default ${JSON.stringify(deflateSync(readFileSync(`${library}/allot.wasm`), {level: 9}).toString('base64'))}`
        : undefined,
  };
}

/** What the library is made of besides itself, and where Debian keeps the terms. */
const compiledIn: [string, string][] = [
  ['toml++', '/usr/share/doc/libtomlplusplus-dev/copyright'],
  ['nlohmann-json', '/usr/share/doc/nlohmann-json3-dev/copyright'],
  ['Random123', '/usr/share/doc/librandom123-dev/copyright'],
  ['musl', '/usr/share/emscripten/system/lib/libc/musl/COPYRIGHT'],
];

/** `notices`: the licences of everything inside the page, each text once: [who, text]. */
function notices(): Plugin {
  const collect = (): [string, string][] => {
    const lock = JSON.parse(readFileSync(new URL('package-lock.json', import.meta.url), 'utf8')) as {
      packages: Record<string, {dev?: boolean; version?: string}>;
    };
    const whoHas = new Map<string, string[]>();
    const add = (who: string, text: string) => whoHas.set(text, [...(whoHas.get(text) ?? []), who]);
    for (const [folder, {dev, version}] of Object.entries(lock.packages)) {
      if (folder === '' || dev === true) continue;
      const place = fileURLToPath(new URL(folder, import.meta.url));
      const file = readdirSync(place).find((name) => /^licen[sc]e/i.test(name));
      if (file === undefined) throw new Error(`${folder} comes without a licence`);
      add(`${folder.replace(/^.*node_modules\//, '')} ${version}`, readFileSync(`${place}/${file}`, 'utf8'));
    }
    add('emscripten', 'Copyright (c) 2010-2014 Emscripten authors. MIT licence or University of Illinois/NCSA licence.');
    for (const [who, file] of compiledIn) if (existsSync(file)) add(who, readFileSync(file, 'utf8'));
    return [...whoHas].map(([text, who]) => [who.join(', '), text]);
  };
  return {
    name: 'notices',
    resolveId: (id) => (id === 'notices' ? '\0notices' : undefined),
    load: (id) => (id === '\0notices' ? `export default ${JSON.stringify(collect())}` : undefined),
  };
}

/** The page's content security policy, made when everything is inside: this very script and these very styles, no others. */
function contentSecurityPolicy(): Plugin {
  const hashes = (page: string, tag: string): string =>
    [...page.matchAll(new RegExp(`<${tag}\\b[^>]*>([\\s\\S]*?)</${tag}>`, 'g'))]
      .map(([, text]) => `'sha256-${createHash('sha256').update(text!).digest('base64')}'`)
      .join(' ');
  return {
    name: 'content-security-policy',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const page = bundle['index.html'];
        if (page?.type !== 'asset') throw new Error('there is no page');
        const text = page.source.toString();
        const policy =
          `default-src 'none'; script-src ${hashes(text, 'script')} 'wasm-unsafe-eval'; worker-src blob:; ` +
          `style-src ${hashes(text, 'style')}; img-src data:; base-uri 'none'; form-action 'none'`;
        page.source = text.replace(
          '<meta charset="utf-8">',
          () => `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">`,
        );
      },
    },
  };
}

export default defineConfig({
  plugins: [embeddedLibrary(), notices(), viteSingleFile(), contentSecurityPolicy()],
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
