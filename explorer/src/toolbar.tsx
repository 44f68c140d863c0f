// What concerns the scenario as a whole: presets, files, links, undo, light and dark.
import {useRef, useState} from 'preact/hooks';
import type {Aim} from './address';
import type {Library} from './library';
import {presetDraft, readFile, type Notice} from './opening';
import {presets, wishes, type Preset} from './presets';
import type {Draft} from './scenario';

interface ToolbarProps {
  library: Library;
  draft: Draft;
  text: string;
  toml: string;
  /** What a link ends in; null where the scenario is too large for one. */
  hash: string | null;
  isValid: boolean;
  canUndo: boolean;
  canRedo: boolean;
  onUndo: () => void;
  onRedo: () => void;
  /** The aim is that of a preset. */
  onOpen: (draft: Draft, aim?: Partial<Aim>) => void;
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
  const {library, draft, text, toml, hash, isValid} = props;
  const chooser = useRef<HTMLInputElement>(null);
  const [copied, setCopied] = useState('');
  const [theme, setTheme] = useState<Theme>('auto');
  const all = [...presets, ...wishes];
  const preset = all.find(({id}) => id === draft.preset);
  const fileName = (draft.name || 'scenario').replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '').toLowerCase() || 'scenario';

  const choose = (id: string) => props.onOpen(presetDraft(library, id, 1 + Math.floor(Math.random() * 1e6)), all.find((known) => known.id === id)?.aim);
  const open = async (file: File) => {
    const read = await readFile(library, file);
    if (Array.isArray(read)) props.onNotice({title: `“${file.name}” could not be opened.`, lines: read});
    else props.onOpen(read);
  };
  const copy = async () => {
    if (hash === null) {
      props.onNotice({title: 'There is no link to this scenario.', lines: ['It is too large for an address: save it as a file.']});
      return;
    }
    try {
      await navigator.clipboard.writeText(location.href.replace(/#.*$/s, '') + hash);
      setCopied('The link is copied.');
    } catch {
      setCopied('The link is in the address bar.');
    }
    setTimeout(() => setCopied(''), 3000);
  };
  const changeTheme = (next: Theme) => {
    setTheme(next);
    if (next === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
  };

  const optionOf = ({id, label}: Preset) => <option key={id} value={id}>{label}</option>;

  return (
    <header class="bar">
      <h1>
        allot <span>explorer</span>
      </h1>
      <div class="tools" role="group" aria-label="Scenario">
        <label>
          <span class="quiet">Start from</span>
          <select id="preset" value={draft.isEdited ? '' : draft.preset} onChange={(event) => choose(event.currentTarget.value)}>
            <option value="" disabled>
              {preset === undefined ? 'choose a scenario…' : `${preset.label}, edited`}
            </option>
            {presets.map(optionOf)}
            <optgroup label="Say what you want">{wishes.map(optionOf)}</optgroup>
          </select>
        </label>
        {draft.preset.startsWith('random') && (
          <button type="button" onClick={() => choose(draft.preset)}>
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
          <select id="theme" value={theme} onChange={(event) => changeTheme(event.currentTarget.value as Theme)}>
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
        {copied || (preset?.hint ?? '')}
      </p>
    </header>
  );
}
