// What concerns the scenario as a whole: presets, files, links, undo, light and dark.
import {useRef, useState} from 'preact/hooks';
import {writeAddress, type View} from './address';
import {readDraft, type Notice} from './app';
import type {Library} from './library';
import {presets} from './presets';
import type {Draft} from './scenario';

interface ToolbarProps {
  library: Library;
  draft: Draft;
  text: string;
  toml: string;
  view: View;
  isValid: boolean;
  canUndo: boolean;
  canRedo: boolean;
  onUndo: () => void;
  onRedo: () => void;
  onPreset: (id: string, seed: number) => void;
  onOpen: (draft: Draft) => void;
  onNotice: (notice: Notice) => void;
}

function save(name: string, content: string, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

type Theme = 'auto' | 'light' | 'dark';

export function Toolbar(props: ToolbarProps) {
  const {library, draft, text, toml, view, isValid} = props;
  const chooser = useRef<HTMLInputElement>(null);
  const [preset, setPreset] = useState('');
  const [copied, setCopied] = useState('');
  const [theme, setTheme] = useState<Theme>('auto');
  const fileName = (draft.name || 'scenario').replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '').toLowerCase() || 'scenario';

  const choose = (id: string) => {
    setPreset(id);
    props.onPreset(id, 1 + Math.floor(Math.random() * 1e6));
  };
  const open = async (file: File) => {
    const refused = (lines: string[]) => props.onNotice({title: `“${file.name}” could not be opened.`, lines});
    const format = /\.json$/i.test(file.name) ? 'json' : /\.toml$/i.test(file.name) ? 'toml' : null;
    if (format === null) return refused(['The file must be a scenario, and its name end in .toml or .json.']);
    if (file.size > 16 * 1024 * 1024) return refused(['It is larger than 16 MiB.']);
    const read = readDraft(library, await file.text(), format);
    if (Array.isArray(read)) return refused(read.map(({place, message}) => `${place}: ${message}`));
    setPreset('');
    return props.onOpen(read);
  };
  const copy = async () => {
    const link = location.href.replace(/#.*$/s, '') + writeAddress(text, view);
    try {
      await navigator.clipboard.writeText(link);
      setCopied('The link is copied.');
    } catch {
      window.history.replaceState(null, '', link);
      setCopied('The link is in the address bar.');
    }
    setTimeout(() => setCopied(''), 3000);
  };
  const changeTheme = (next: Theme) => {
    setTheme(next);
    if (next === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
  };
  const hint = presets.find(({id}) => id === preset)?.hint;

  return (
    <header class="bar">
      <h1>
        allot <span>explorer</span>
      </h1>
      <div class="tools" role="toolbar" aria-label="Scenario">
        <label>
          <span class="quiet">Start from</span>
          <select id="preset" value={preset} onChange={(event) => choose(event.currentTarget.value)}>
            <option value="" disabled>
              choose a scenario…
            </option>
            {presets.map(({id, label}) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {preset.startsWith('random') && (
          <button type="button" onClick={() => choose(preset)}>
            Draw again
          </button>
        )}
        <span class="group">
          <button type="button" onClick={props.onUndo} disabled={!props.canUndo} aria-keyshortcuts="Control+Z">
            Undo
          </button>
          <button type="button" onClick={props.onRedo} disabled={!props.canRedo} aria-keyshortcuts="Control+Shift+Z">
            Redo
          </button>
        </span>
        <span class="group">
          <button type="button" onClick={() => chooser.current?.click()}>
            Open…
          </button>
          <button type="button" disabled={!isValid} onClick={() => save(`${fileName}.toml`, toml, 'application/toml')}>
            Save TOML
          </button>
          <button
            type="button"
            disabled={!isValid}
            onClick={() => save(`${fileName}.json`, `${JSON.stringify(JSON.parse(text), null, 2)}\n`, 'application/json')}
          >
            Save JSON
          </button>
          <button type="button" disabled={!isValid} onClick={copy}>
            Copy link
          </button>
        </span>
        <label>
          <span class="quiet">Colours</span>
          <select value={theme} onChange={(event) => changeTheme(event.currentTarget.value as Theme)}>
            <option value="auto">as the system</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
        </label>
        <input
          ref={chooser}
          id="file"
          type="file"
          accept=".toml,.json"
          hidden
          aria-label="Open a scenario file"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            event.currentTarget.value = '';
            if (file !== undefined) void open(file);
          }}
        />
      </div>
      <p class="hint" role="status">
        {copied || hint || ''}
      </p>
    </header>
  );
}
