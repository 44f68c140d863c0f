// Fields that numbers are typed into, with what is wrong with them.
import type {ComponentChildren} from 'preact';
import {useState} from 'preact/hooks';
import type {FieldInfo} from './fields';
import {Act} from './parts';
import {numberOf, parseField, showField, type Field} from './scenario';

/** What is wrong with a field, below it. */
export function Mark({id, messages}: {id: string; messages: string[] | undefined}) {
  if (messages === undefined) return null;
  return (
    <span class="mark" id={`mark-${id}`}>
      {messages.join('; ')}
    </span>
  );
}

export interface FieldProps {
  place: string;
  label: string;
  value: Field;
  marks: Map<string, string[]>;
  onInput: (value: Field) => void;
  /** By an arrow key; with Alt, where arrow keys alone move from cell to cell. */
  onStep?: (direction: 1 | -1) => void;
  withAlt?: boolean;
  onPaste?: (event: ClipboardEvent) => void;
  placeholder?: string;
}

/** A number that may be typed, or stepped with the arrow keys. */
export function NumberField({place, label, value, marks, onInput, onStep, withAlt = false, onPaste, placeholder}: FieldProps) {
  // While it is being typed the text stays as it is, "1." is on its way to "1.5"; unless the value has come from elsewhere since.
  const [text, setTyped] = useState<string | null>(null);
  const typed = text !== null && parseField(text) === value ? text : null;
  const messages = marks.get(place);
  const onKeyDown = (event: KeyboardEvent) => {
    if (onStep === undefined || event.altKey !== withAlt || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    setTyped(null);
    onStep(event.key === 'ArrowUp' ? 1 : -1);
  };
  return (
    <input
      type="text"
      inputMode="decimal"
      id={place}
      data-typed={typed !== null}
      title={showField(value).length > 8 ? showField(value) : undefined}
      aria-label={label}
      aria-invalid={messages !== undefined}
      aria-describedby={messages === undefined ? undefined : `mark-${place}`}
      value={typed ?? showField(value)}
      placeholder={placeholder}
      onInput={(event) => {
        setTyped(event.currentTarget.value);
        onInput(parseField(event.currentTarget.value));
      }}
      onBlur={() => setTyped(null)}
      onKeyDown={onKeyDown}
      onPaste={onPaste}
      autocomplete="off"
    />
  );
}

/** A whole number with buttons for one more and one less, which the keyboard has arrow keys for. */
export function Stepper(props: FieldProps & {least: number}) {
  const {least, ...field} = props;
  const step = (direction: 1 | -1) => field.onInput(Math.max(least, Math.round(numberOf(field.value, least)) + direction));
  return (
    <span class="stepper">
      <Act tabIndex={-1} data-pointer aria-label={`${field.label}: one less`} isOff={numberOf(field.value, least) <= least} onClick={() => step(-1)}>−</Act>
      <NumberField {...field} onStep={step} />
      <Act tabIndex={-1} data-pointer aria-label={`${field.label}: one more`} onClick={() => step(1)}>+</Act>
    </span>
  );
}

export function Row({label, children}: {label: string; children: ComponentChildren}) {
  return (
    <label class="pair">
      <span>{label}</span>
      {children}
    </label>
  );
}

/** As in "idle power, W". */
export const labelOf = ({key, unit}: FieldInfo): string => key.replaceAll('_', ' ') + (unit === '' ? '' : `, ${unit}`);

interface DetailsProps {
  fields: FieldInfo[];
  entry: Record<string, unknown>;
  name: string;
  place: string;
  marks: Map<string, string[]>;
  set: (change: Record<string, Field>, field: string) => void;
}

export function Details({fields, entry, name, place, marks, set}: DetailsProps) {
  return (
    <>
      {fields.map((info) => (
        <span key={info.key} title={info.help}>
          <Row label={labelOf(info)}>
            <NumberField
              place={`${place}.${info.key}`}
              label={`${labelOf(info)} of ${name}`}
              value={entry[info.key] as Field}
              marks={marks}
              placeholder={info.default === null ? 'none' : String(info.default)}
              onInput={(value) => set({[info.key]: value}, info.key)}
            />
          </Row>
          <Mark id={`${place}.${info.key}`} messages={marks.get(`${place}.${info.key}`)} />
        </span>
      ))}
    </>
  );
}
