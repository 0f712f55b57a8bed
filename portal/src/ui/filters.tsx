/** Filters as chips; their values stand in the address (useFilters of core/address.ts). */
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react';
import { Icon } from './icons.tsx';
import { useUiTexts } from './texts.ts';

/** How often the filters were cleared: what is being typed then is not taken over. */
const Cleared = createContext(0);

export const Filters = ({ children, onClear }: { children: ReactNode; onClear?: () => void }) => {
  const texts = useUiTexts();
  const [cleared, setCleared] = useState(0);
  const clear = () => {
    setCleared(cleared + 1);
    onClear?.();
  };
  return (
    <search className="chips">
      <Cleared value={cleared}>{children}</Cleared>
      {onClear && (
        <button type="button" className="plain chip" onClick={clear}>
          <Icon name="close" size={12} /> {texts.clearFilters}
        </button>
      )}
    </search>
  );
};

type Choice = {
  label: string;
  value?: string;
  options: readonly { value: string; label: string }[];
  onChange: (value?: string) => void;
};

export function ChoiceFilter({ label, value, options, onChange }: Choice) {
  const texts = useUiTexts();
  return (
    <label className={value ? 'chip on' : 'chip'}>
      {label}
      <select value={value ?? ''} onChange={(event) => onChange(event.currentTarget.value || undefined)}>
        <option value="">{texts.all}</option>
        {options.map((one) => (
          <option key={one.value} value={one.value}>
            {one.label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Text that is taken over after a pause, on Enter, and on leaving. */
export function TextFilter({
  label,
  value = '',
  onChange,
}: {
  label: string;
  value?: string;
  onChange: (value?: string) => void;
}) {
  const [text, setText] = useState(value);
  /** What was said and has not come back in the address yet. */
  const said = useRef<string[]>([]);
  const known = useRef(value);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  const cleared = useContext(Cleared);
  const say = (next: string) => {
    clearTimeout(pause.current);
    if (next === (said.current.at(-1) ?? known.current)) return;
    said.current.push(next);
    onChange(next || undefined);
  };
  useEffect(() => {
    known.current = value;
    const at = said.current.indexOf(value);
    said.current.splice(0, at + 1);
    // What comes back is older than what is typed; another value is from a link or a step back.
    if (at < 0) setText(value);
  }, [value]);
  useEffect(() => {
    if (cleared === 0) return;
    clearTimeout(pause.current);
    said.current = [];
    setText('');
  }, [cleared]);
  useEffect(() => () => clearTimeout(pause.current), []);
  return (
    <label className={value ? 'chip on' : 'chip'}>
      {label}
      <input
        type="search"
        value={text}
        onChange={({ currentTarget: { value: typed } }) => {
          setText(typed);
          clearTimeout(pause.current);
          pause.current = setTimeout(() => say(typed), 400);
        }}
        onBlur={() => say(text)}
        onKeyDown={(event) => event.key === 'Enter' && say(text)}
      />
    </label>
  );
}
