// What concerns the scenario as a whole: presets, files, links, undo, light and dark.
import {useRef, useState} from 'preact/hooks';
import type {Aim} from './address';
import type {Library} from './library';
import {linesOf} from './answers';
import {presetDraft, readDraft, textOfFile, type Notice} from './opening';
import {Act} from './parts';
import {guided, presets, type Preset} from './presets';
import {fileName, jsonOf, save} from './saving';
import type {Draft} from './scenario';
import {cellsOf} from './sheet';

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
  /** A table of rates. */
  onTable: (name: string, cells: string[][]) => void;
  onNotice: (notice: Notice) => void;
  /** Keeps the scenario, to compare others with it. */
  onKeep: () => void;
  onTour: () => void;
}

type Theme = 'auto' | 'light' | 'dark';

export function Toolbar(props: ToolbarProps) {
  const {library, draft, text, toml, hash, isValid} = props;
  const chooser = useRef<HTMLInputElement>(null);
  const [copied, setCopied] = useState('');
  const [theme, setTheme] = useState<Theme>('auto');
  const all = [...presets, ...guided];
  const preset = all.find(({id}) => id === draft.preset);
  const file = fileName(draft.name);

  const choose = (id: string) => props.onOpen(presetDraft(library, id, 1 + Math.floor(Math.random() * 1e6)), all.find((known) => known.id === id)?.aim);
  const open = async (chosen: File) => {
    const refuse = (lines: string[]) => props.onNotice({title: `“${chosen.name}” could not be opened.`, lines});
    const content = await textOfFile(chosen);
    if (Array.isArray(content)) return refuse(content);
    const [name = '', ending = ''] = chosen.name.split(/\.(\w+)$/);
    if (/[ct]sv/i.test(ending)) return props.onTable(name, cellsOf(content));
    const read = readDraft(library, content, ending.toLowerCase() === 'json' ? 'json' : 'toml');
    return Array.isArray(read) ? refuse(linesOf(read)) : props.onOpen(read);
  };
  const copy = async () => {
    if (hash === null) {
      props.onNotice({title: 'This scenario has no link.', lines: ['It is too large for an address. Save it as a file.']});
      return;
    }
    try {
      await navigator.clipboard.writeText(location.href.replace(/#.*$/s, '') + hash);
      setCopied('Link copied.');
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
            <optgroup label="Say what you want">{guided.map(optionOf)}</optgroup>
          </select>
        </label>
        {draft.preset.startsWith('random') && (
          <button type="button" onClick={() => choose(draft.preset)}>
            Draw again
          </button>
        )}
        <span class="group">
          <Act onClick={props.onUndo} isOff={!props.canUndo} aria-keyshortcuts="Control+Z">Undo</Act>
          <Act onClick={props.onRedo} isOff={!props.canRedo} aria-keyshortcuts="Control+Shift+Z">Redo</Act>
        </span>
        <span class="group">
          <button type="button" onClick={() => chooser.current?.click()}>Open…</button>
          <Act isOff={!isValid} onClick={() => save(`${file}.toml`, toml, 'application/toml')}>Save TOML</Act>
          <Act isOff={!isValid} onClick={() => save(`${file}.json`, jsonOf(JSON.parse(text)), 'application/json')}>Save JSON</Act>
          <Act isOff={!isValid} onClick={copy}>Copy link</Act>
        </span>
        <span class="group">
          <Act id="keep-machine" isOff={!isValid} title="Keep this machine, and compare it with what you edit or open next" onClick={props.onKeep}>Compare</Act>
          <button type="button" id="tour" onClick={props.onTour}>Tour</button>
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
          accept=".toml,.json,.csv,.tsv"
          hidden
          aria-label="Open a scenario file"
          onChange={(event) => {
            const [chosen] = event.currentTarget.files ?? [];
            event.currentTarget.value = '';
            if (chosen !== undefined) void open(chosen);
          }}
        />
      </div>
      <p class="hint" role="status">
        {copied || (preset?.hint ?? '')}
      </p>
    </header>
  );
}
